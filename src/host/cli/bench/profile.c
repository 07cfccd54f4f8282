/* The stages of a step as shown by `bench --profile`. */
#include <stdio.h>
#include <string.h>

#include "host/cli/bench/bench.h"

static double share(const BenchRow *r, int stage) {
    return r->profile.ns[stage] / r->ns;
}

/* "free factor" is called free_factor in CSV and JSON. */
static CliText key_of(int stage) {
    CliText key;
    snprintf(key.text, sizeof key.text, "%s", sap_section_name((SapSection)stage));
    for (char *c = key.text; (c = strchr(c, ' '));)
        *c = '_';
    return key;
}

static void print_bar(double part) {
    static const char bar[] = "##################################################";
    printf("%.*s\n", (int)(part * 50 + 0.5), bar);
}

void bench_profile_print(const BenchRow *r) {
    printf("\n%s, %s, %d worlds, threads %d: %.1f ns per world-step (profiling overhead %+.1f %%)\n", r->scene,
           cli_option(&r->options, "preset").text, r->worlds, r->threads, r->ns, 100 * (r->profile.overhead - 1));
    for (int i = 0; i < SAP_NUM_SECTIONS; i++) {
        printf("    %-14s %9.1f ns %6.1f %%  ", sap_section_name((SapSection)i), r->profile.ns[i], 100 * share(r, i));
        print_bar(share(r, i));
    }
    printf("    of the peak of multiply-adds: free motion %.1f %%, factor %.1f %%\n", 100 * r->profile.free_motion,
           100 * r->profile.factor);
}

void bench_profile_csv_header(void) {
    for (int i = 0; i < SAP_NUM_SECTIONS; i++)
        printf(",ns_%s", key_of(i).text);
    fputs(",profile_overhead,free_motion_share_of_peak,factor_share_of_peak", stdout);
}

void bench_profile_csv(const BenchRow *r) {
    for (int i = 0; i < SAP_NUM_SECTIONS; i++)
        printf(",%.6g", r->profile.ns[i]);
    printf(",%.6g,%.4g,%.4g", r->profile.overhead, r->profile.free_motion, r->profile.factor);
}

json_t *bench_profile_json(const BenchRow *r) {
    json_t *stages = json_object();
    for (int i = 0; i < SAP_NUM_SECTIONS; i++)
        cli_json_put(&stages, key_of(i).text,
                     json_pack("{so so}", "ns", cli_json_real(r->profile.ns[i]), "share", cli_json_real(share(r, i))));
    return json_pack("{so so s{so so}}", "stages", stages, "overhead", cli_json_real(r->profile.overhead),
                     "share_of_peak", "free_motion", cli_json_real(r->profile.free_motion), "factor",
                     cli_json_real(r->profile.factor));
}
