#include "cli_bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *precision_name(SapPrecision precision) {
    return precision == SAP_FP64 ? "f64" : "f32";
}

static double rate(const BenchRow *r) {
    return 1e9 / r->ns;
}

/* Of the median: how far apart the repeats are. */
static double spread(const BenchRow *r) {
    return (r->ns_max - r->ns_min) / r->ns;
}

/* NaN if the peak is not known. */
static double share_of_peak(const BenchRow *r) {
    return r->flops * rate(r) / (r->peak > 0 ? r->peak : (double)NAN);
}

/* ---- the machine and the build ---- */

/* The CPU by the name it gives itself, or "unknown". */
static CliText cpu_name(void) {
    CliText out = {"unknown"};
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (value == NULL)
            continue;
        value[strcspn(value, "\n")] = '\0';
        snprintf(out.text, sizeof out.text, "%.*s", CLI_TEXT_SIZE - 1, value + strspn(value, ": "));
        break;
    }
    if (file)
        fclose(file);
    return out;
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
#if defined(__clang__)
static const char compiler[] = "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__);
#else
static const char compiler[] = "gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__);
#endif

/* ---- cost per world against the number of worlds ---- */

static bool same_but_worlds(const BenchRow *a, const BenchRow *b) {
    return a->scene_index == b->scene_index && a->precision == b->precision && a->lanes == b->lanes &&
           a->threads == b->threads;
}

/* The row like `row` with the fewest worlds that fill lanes and threads, at least 64. */
static const BenchRow *baseline(const BenchRows *rows, const BenchRow *row) {
    const BenchRow *best = NULL;
    for (int i = 0; i < rows->count; i++) {
        const BenchRow *r = &rows->row[i];
        if (same_but_worlds(r, row) && r->worlds >= 64 && (best == NULL || r->worlds < best->worlds))
            best = r;
    }
    return best;
}

static bool has_most_worlds(const BenchRows *rows, const BenchRow *row) {
    for (int i = 0; i < rows->count; i++)
        if (same_but_worlds(&rows->row[i], row) && rows->row[i].worlds > row->worlds)
            return false;
    return true;
}

/* A row and the smaller batch to compare it with; NULL if there is none. */
static const BenchRow *compared_with(const BenchRows *rows, const BenchRow *row) {
    const BenchRow *base = baseline(rows, row);
    return base && base->worlds < row->worlds && has_most_worlds(rows, row) ? base : NULL;
}

static void print_flatness(const BenchRows *rows) {
    bool any = false;
    for (int i = 0; i < rows->count; i++) {
        const BenchRow *r = &rows->row[i], *base = compared_with(rows, r);
        if (base == NULL)
            continue;
        if (!any)
            puts("\ncost per world in large batches against small ones (1 is flat)");
        any = true;
        printf("%-16s %s, lanes %d, threads %d: %d to %d worlds: %.3f\n", r->scene, precision_name(r->precision),
               r->lanes, r->threads, r->worlds, base->worlds, r->ns / base->ns);
    }
}

static json_t *flatness_json(const BenchRows *rows) {
    json_t *list = json_array();
    for (int i = 0; i < rows->count; i++) {
        const BenchRow *r = &rows->row[i], *base = compared_with(rows, r);
        if (base)
            json_array_append_new(list, json_pack("{so ss si si si si sf}", "scene", cli_json_text(r->scene),
                                                  "precision", precision_name(r->precision), "lanes", r->lanes,
                                                  "threads", r->threads, "worlds", r->worlds, "against", base->worlds,
                                                  "cost_ratio", r->ns / base->ns));
    }
    return list;
}

/* ---- rows ---- */

static void print_human(const BenchRow *r) {
    char failed[32] = "";
    if (r->failed)
        snprintf(failed, sizeof failed, "  %d FAILED", r->failed);
    printf("%-16s %8d %4s %7s %5d %7d %7d %10.1f %10.1f %7.1f%% %11s %7.1f%%%s\n", r->scene, r->worlds,
           precision_name(r->precision), cli_isa(r->isa).text, r->lanes, r->threads, r->steps, r->ns, r->ns_min,
           100 * spread(r), cli_si(rate(r)).text, 100 * share_of_peak(r), failed);
}

static void print_csv(const BenchRow *r) {
    cli_csv_text(stdout, r->scene);
    printf(",%d,%s,%s,%d,%d,%d,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.4g,%d\n", r->worlds, precision_name(r->precision),
           cli_isa(r->isa).text, r->lanes, r->threads, r->steps, r->repeats, r->ns, r->ns_min, r->ns_max, rate(r),
           r->flops, r->peak, share_of_peak(r), r->failed);
}

static json_t *row_json(const BenchRow *r) {
    json_t *json = json_object();
    cli_json_put(&json, "scene", cli_json_text(r->scene));
    cli_json_put(&json, "worlds", json_integer(r->worlds));
    cli_json_put(&json, "precision", json_string(precision_name(r->precision)));
    cli_json_put(&json, "isa", json_string(cli_isa(r->isa).text));
    cli_json_put(&json, "lanes", json_integer(r->lanes));
    cli_json_put(&json, "threads", json_integer(r->threads));
    cli_json_put(&json, "steps", json_integer(r->steps));
    cli_json_put(&json, "repeats", json_integer(r->repeats));
    cli_json_put(&json, "ns_per_world_step", cli_json_real(r->ns));
    cli_json_put(&json, "ns_min", cli_json_real(r->ns_min));
    cli_json_put(&json, "ns_max", cli_json_real(r->ns_max));
    cli_json_put(&json, "world_steps_per_second", cli_json_real(rate(r)));
    cli_json_put(&json, "flops_per_world_step", cli_json_real(r->flops));
    cli_json_put(&json, "peak_flops_per_second", cli_json_real(r->peak));
    cli_json_put(&json, "share_of_peak", cli_json_real(share_of_peak(r)));
    cli_json_put(&json, "failed", json_integer(r->failed));
    return json;
}

static bool print_json(const BenchRows *rows) {
    json_t *list = json_array();
    for (int i = 0; i < rows->count; i++)
        json_array_append_new(list, row_json(&rows->row[i]));
    return cli_json_print(json_pack("{ss s{so ss} so so}", "version", sap_version(), "machine", "cpu",
                                    cli_json_text(cpu_name().text), "compiler", compiler, "rows", list, "flatness",
                                    flatness_json(rows)));
}

/* ---- the whole ---- */

void bench_print_header(BenchFormat format) {
    if (format == BENCH_HUMAN) {
        printf("sapwood %s, whole steps, %s, %s\n\n", sap_version(), cpu_name().text, compiler);
        printf("%-16s %8s %4s %7s %5s %7s %7s %10s %10s %8s %11s %8s\n", "scene", "worlds", "fp", "isa", "lanes",
               "threads", "steps", "ns/w-step", "best", "spread", "w-steps/s", "of peak");
    } else if (format == BENCH_CSV) {
        puts("scene,worlds,precision,isa,lanes,threads,steps,repeats,ns_per_world_step,ns_min,ns_max,"
             "world_steps_per_second,flops_per_world_step,peak_flops_per_second,share_of_peak,failed");
    }
}

void bench_print_row(BenchFormat format, const BenchRow *row) {
    if (format == BENCH_HUMAN)
        print_human(row);
    else if (format == BENCH_CSV)
        print_csv(row);
    fflush(stdout); /* a row may take seconds: show it when it is there, in a pipe too */
}

bool bench_print_end(BenchFormat format, const BenchRows *rows) {
    if (format == BENCH_JSON)
        return print_json(rows);
    if (format == BENCH_HUMAN)
        print_flatness(rows);
    return true;
}
