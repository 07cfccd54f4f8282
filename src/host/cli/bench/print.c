#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/bench/bench.h"
#include "host/cli/cluster/cluster.h"
#include "host/cli/control.h"
#include "host/cli/machine.h"
#include "host/cli/statistics.h"

const char *bench_hostile_name(BenchHostile hostile) {
    static const char *const names[] = {"none", "nan", "wild"};
    return names[hostile];
}

static double rate(double ns) {
    return 1e9 / ns;
}

/* Spread of the repeats relative to the median. */
static double spread(const BenchRow *r) {
    return (r->ns_max - r->ns_min) / r->ns;
}

/* NaN if the peak is unknown. */
static double share_of_peak(const BenchRow *r) {
    return r->flops * rate(r->ns) / (r->peak > 0 ? r->peak : (double)NAN);
}

static CliText preset_of(const BenchRow *r) {
    return cli_option(&r->options, "preset");
}

static CliText line_search_of(const BenchRow *r) {
    return cli_option(&r->options, "line_search");
}

static CliText device_of(const BenchRow *r) {
    return cli_option(&r->options, "device");
}

static bool on_cpu(const BenchRow *r) {
    return r->where.device == SAP_DEVICE_CPU;
}

/* Number of lanes or threads, which only a CPU has. */
static CliText number_on_cpu(const BenchRow *r, int number, const char *otherwise) {
    CliText text;
    if (on_cpu(r))
        snprintf(text.text, sizeof text.text, "%d", number);
    else
        snprintf(text.text, sizeof text.text, "%s", otherwise);
    return text;
}

static json_t *json_on_cpu(const BenchRow *r, int number) {
    return on_cpu(r) ? json_integer(number) : json_null();
}

static const char *clock_name(const BenchPlan *plan) {
    return plan->processor_time ? "processor" : "wall";
}

/* ---- ratios between rows ---- */

/* The same scene and options; lanes as requested, because those that are chosen depend on worlds and threads. */
static bool same_case(const BenchRow *a, const BenchRow *b) {
    return a->scene_index == b->scene_index && a->preset_index == b->preset_index &&
           a->options.lanes == b->options.lanes && a->options.line_search == b->options.line_search;
}

static bool same_but_worlds(const BenchRow *a, const BenchRow *b) {
    return same_case(a, b) && a->threads == b->threads;
}

static bool same_but_threads(const BenchRow *a, const BenchRow *b) {
    return same_case(a, b) && a->worlds == b->worlds;
}

/* The row that matches `row` with the smallest number of worlds, at least 64, that fills lanes and threads. */
static const BenchRow *smallest_batch(const BenchRows *rows, const BenchRow *row) {
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

/* The row with the smaller batch to compare with; NULL if there is none. */
static const BenchRow *against_worlds(const BenchRows *rows, const BenchRow *row) {
    const BenchRow *base = smallest_batch(rows, row);
    return base && base->worlds < row->worlds && has_most_worlds(rows, row) ? base : NULL;
}

/* For a row with several threads, the row with one thread; NULL if there is none. */
static const BenchRow *against_threads(const BenchRows *rows, const BenchRow *row) {
    for (int i = 0; i < rows->count && row->threads > 1; i++)
        if (same_but_threads(&rows->row[i], row) && rows->row[i].threads == 1)
            return &rows->row[i];
    return NULL;
}

typedef const BenchRow *Against(const BenchRows *rows, const BenchRow *row);

static void print_against(const BenchRows *rows, Against *against, const char *title, bool by_worlds) {
    for (int i = 0; i < rows->count; i++) {
        const BenchRow *r = &rows->row[i], *base = against(rows, r);
        if (base == NULL)
            continue;
        if (title)
            printf("\n%s\n", title);
        title = NULL;
        printf("    %s, %s, ", r->scene, preset_of(r).text);
        if (on_cpu(r) && r->lanes == base->lanes)
            printf("lanes %d: ", r->lanes);
        else if (on_cpu(r))
            printf("lanes %d against %d: ", r->lanes, base->lanes);
        if (on_cpu(r) && by_worlds)
            printf("threads %d, ", r->threads);
        if (by_worlds)
            printf("%d to %d worlds: %.3f\n", r->worlds, base->worlds, r->ns / base->ns);
        else
            printf("worlds %d, %d threads to 1: %.3f\n", r->worlds, r->threads, base->ns / r->ns);
    }
}

static json_t *against_json(const BenchRows *rows, Against *against, bool by_worlds) {
    json_t *list = json_array();
    for (int i = 0; i < rows->count; i++) {
        const BenchRow *r = &rows->row[i], *base = against(rows, r);
        if (base)
            json_array_append_new(list, json_pack("{so ss so so si si so}", "scene", cli_json_text(r->scene), "preset",
                                                  preset_of(r).text, "lanes", json_on_cpu(r, r->lanes), "threads",
                                                  json_on_cpu(r, r->threads), "worlds", r->worlds, "against",
                                                  by_worlds ? base->worlds : 1, by_worlds ? "cost_ratio" : "speedup",
                                                  cli_json_real(by_worlds ? r->ns / base->ns : base->ns / r->ns)));
    }
    return list;
}

/* ---- as text ---- */

static void print_count(const BenchCount *c) {
    printf(" %7.2f %4d %4d", c->mean, c->p95, c->largest);
}

static void print_worlds(const char *what, const CliFailures *f) {
    if (f->total == 0)
        return;
    printf("    %s: %d worlds:", what, f->total);
    for (int i = 0; i < f->num_shown; i++)
        printf(" %d", f->shown[i]);
    puts(f->num_shown < f->total ? " ..." : "");
}

static void print_trouble(const BenchRow *r) {
    print_worlds("FAILED", &r->failures);
    for (int i = 0; i < CLI_NUM_FAILURES; i++)
        if (r->failures.count[i])
            printf("        %s: %d\n", cli_failures[i].words, r->failures.count[i]);
    print_worlds("CONTACTS DROPPED", &r->truncated);
    if (r->truncated.total)
        printf("        max_contacts is %d; a world needed %d\n", r->capacity, r->most_slots);
    print_worlds("not converged", &r->not_converged);
    if (!r->repeatable)
        puts("    NOT REPEATABLE: two passes over the same steps ended with different states");
}

static void print_human(const BenchPlan *plan, const BenchRow *r) {
    /* Speed and iterations. */
    printf("%-16s %-8s %7d %4s %5s %10.1f %6.1f%% %10s", r->scene, preset_of(r).text, r->worlds,
           number_on_cpu(r, r->threads, "-").text, number_on_cpu(r, r->lanes, "-").text, r->ns, 100 * spread(r),
           cli_si(rate(r->ns)).text);
    print_count(&r->contacts);
    print_count(&r->newton);
    print_count(&r->line);
    /* Why the solves stopped, and penetration. */
    fputs("\n    stopped by", stdout);
    for (int i = 0; i < CLI_NUM_STOPS; i++)
        printf("%s %s %.4g %%", i ? "," : "", cli_stops[i].words, 100 * r->stops[i]);
    if (!isnan(r->depth_most))
        printf("; penetration p95 %.3g mm, max %.3g mm", 1e3 * r->depth_p95, 1e3 * r->depth_most);
    /* Memory, start-up and device. */
    printf("\n    %.0f bytes per world (arrays %.0f); creation and first step %.3g s; %s; state hash %016llx\n",
           r->bytes, r->array_bytes, r->start_seconds, on_cpu(r) ? cli_isa(r->isa).text : "cuda",
           (unsigned long long)r->hash);
    if (!on_cpu(r)) {
        fputs("    on ", stdout);
        cli_gpu_print(&r->where);
        putchar('\n');
    }
    /* Hostile world and warnings. */
    if (!isnan(r->hostile_ratio))
        printf(
            "    with a hostile world (%s, up to %d Newton iterations): %+.2f %% time; bits of the other worlds: %s\n",
            bench_hostile_name(plan->hostile), r->hostile_newton, 100 * (r->hostile_ratio - 1),
            r->others_same ? "same" : "DIFFERENT");
    print_trouble(r);
}

/* ---- as CSV ---- */

static void csv_count_header(const char *name) {
    printf(",%s_mean,%s_p95,%s_most", name, name, name);
}

static void csv_header(const BenchPlan *plan) {
    fputs(
        "scene,preset,line_search,worlds,device,isa,lanes,threads,steps,warmup,passes,repeats,seed,control_noise,clock,"
        "ns_per_world_step,ns_min,ns_max,world_steps_per_second,world_steps_per_second_min,world_steps_per_second_max",
        stdout);
    csv_count_header("contacts");
    csv_count_header("newton");
    csv_count_header("line_search");
    for (int i = 0; i < CLI_NUM_STOPS; i++)
        printf(",stopped_by_%s", cli_stops[i].key);
    fputs(
        ",penetration_p95,penetration_most,failed,truncated,not_converged,bytes_per_world,array_bytes_per_world,"
        "resident_bytes_per_world,start_seconds,flops_per_world_step,peak_flops_per_second,share_of_peak,hostile_ratio,"
        "state_hash,cpu,cpus,compiler,version,commit,knobs",
        stdout);
    if (plan->profile)
        bench_profile_csv_header();
    putchar('\n');
}

static void csv_count(const BenchCount *c) {
    printf(",%.6g,%d,%d", c->mean, c->p95, c->largest);
}

static void csv_real(double x) {
    if (isfinite(x))
        printf(",%.6g", x);
    else
        putchar(',');
}

static void print_csv(const BenchPlan *plan, const BenchRow *r) {
    /* Case. */
    cli_csv_text(stdout, r->scene);
    printf(",%s,%s,%d,%s,%s,%s,%s,%d,%d,%d,%d,%llu,%g,%s", preset_of(r).text, line_search_of(r).text, r->worlds,
           device_of(r).text, on_cpu(r) ? cli_isa(r->isa).text : "", number_on_cpu(r, r->lanes, "").text,
           number_on_cpu(r, r->threads, "").text, plan->steps, plan->warmup, r->passes, plan->repeat,
           (unsigned long long)plan->seed, plan->control_noise, clock_name(plan));
    /* Speed. */
    printf(",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", r->ns, r->ns_min, r->ns_max, rate(r->ns), rate(r->ns_max),
           rate(r->ns_min));
    /* Contacts, iterations and penetration. */
    csv_count(&r->contacts);
    csv_count(&r->newton);
    csv_count(&r->line);
    for (int i = 0; i < CLI_NUM_STOPS; i++)
        csv_real(r->stops[i]);
    csv_real(r->depth_p95);
    csv_real(r->depth_most);
    /* Failures, memory and fractions of peak. */
    printf(",%d,%d,%d,%.6g,%.6g,%.6g,%.6g,%.6g", r->failures.total, r->truncated.total, r->not_converged.total,
           r->bytes, r->array_bytes, r->resident, r->start_seconds, r->flops);
    csv_real(r->peak);
    csv_real(share_of_peak(r));
    csv_real(r->hostile_ratio);
    /* Result, machine and options. */
    printf(",%016llx,", (unsigned long long)r->hash);
    cli_csv_text(stdout, cli_cpu_name().text);
    printf(",%d,%s,%s,%s,", cli_num_cpus(), cli_compiler(), sap_version(), cli_commit());
    cli_knobs_print(stdout, &r->options);
    if (plan->profile)
        bench_profile_csv(r);
    putchar('\n');
}

/* ---- as JSON ---- */

static json_t *count_json(const BenchCount *c) {
    return json_pack("{so si si}", "mean", cli_json_real(c->mean), "p95", c->p95, "largest", c->largest);
}

static json_t *worlds_json(const CliFailures *f, bool by_status) {
    json_t *first = json_array(), *bits = json_object(), *json = json_object();
    for (int i = 0; i < f->num_shown; i++)
        json_array_append_new(first, json_integer(f->shown[i]));
    for (int i = 0; i < CLI_NUM_FAILURES; i++)
        cli_json_put(&bits, cli_failures[i].key, json_integer(f->count[i]));
    cli_json_put(&json, "count", json_integer(f->total));
    cli_json_put(&json, "first", first);
    if (by_status)
        cli_json_put(&json, "by_status", bits);
    else
        json_decref(bits);
    return json;
}

static void put_speed(const BenchRow *r, json_t **json) {
    cli_json_put(json, "ns_per_world_step", cli_json_real(r->ns));
    cli_json_put(json, "ns_min", cli_json_real(r->ns_min));
    cli_json_put(json, "ns_max", cli_json_real(r->ns_max));
    cli_json_put(json, "world_steps_per_second", cli_json_real(rate(r->ns)));
    cli_json_put(json, "world_steps_per_second_min", cli_json_real(rate(r->ns_max)));
    cli_json_put(json, "world_steps_per_second_max", cli_json_real(rate(r->ns_min)));
    cli_json_put(json, "flops_per_world_step", cli_json_real(r->flops));
    cli_json_put(json, "peak_flops_per_second", cli_json_real(r->peak));
    cli_json_put(json, "share_of_peak", cli_json_real(share_of_peak(r)));
    cli_json_put(json, "start_seconds", cli_json_real(r->start_seconds));
}

static void put_physics(const BenchRow *r, json_t **json) {
    json_t *stops = json_object();
    for (int i = 0; i < CLI_NUM_STOPS; i++)
        cli_json_put(&stops, cli_stops[i].key, cli_json_real(r->stops[i]));
    cli_json_put(json, "contacts", count_json(&r->contacts));
    cli_json_put(json, "contacts_needed", json_integer(r->most_slots));
    cli_json_put(json, "contact_slots", json_integer(r->capacity));
    cli_json_put(json, "newton_iterations", count_json(&r->newton));
    cli_json_put(json, "line_search_iterations", count_json(&r->line));
    cli_json_put(json, "stopped_by", stops);
    cli_json_put(json, "penetration",
                 json_pack("{so so}", "p95", cli_json_real(r->depth_p95), "largest", cli_json_real(r->depth_most)));
    cli_json_put(json, "failed", worlds_json(&r->failures, true));
    cli_json_put(json, "truncated", worlds_json(&r->truncated, false));
    cli_json_put(json, "not_converged", worlds_json(&r->not_converged, false));
}

static json_t *row_json(const BenchPlan *plan, const BenchRow *r) {
    /* Case. */
    char hash[17];
    json_t *json = json_object();
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
    cli_json_put(&json, "scene", cli_json_text(r->scene));
    cli_json_put(&json, "preset", json_string(preset_of(r).text));
    cli_json_put(&json, "line_search", json_string(line_search_of(r).text));
    cli_json_put(&json, "knobs", cli_knobs_json(&r->options));
    cli_json_put(&json, "worlds", json_integer(r->worlds));
    cli_json_put(&json, "ranks", json_integer(cli_cluster_size()));
    cli_json_put(&json, "device", json_string(device_of(r).text));
    cli_json_put(&json, "isa", on_cpu(r) ? json_string(cli_isa(r->isa).text) : json_null());
    cli_json_put(&json, "lanes", json_on_cpu(r, r->lanes));
    cli_json_put(&json, "threads", json_on_cpu(r, r->threads));
    if (!on_cpu(r))
        cli_json_put(&json, "gpu", cli_gpu_json(&r->where));
    /* Speed and physics. */
    cli_json_put(&json, "passes", json_integer(r->passes));
    put_speed(r, &json);
    put_physics(r, &json);
    /* Memory and result. */
    cli_json_put(&json, "bytes_per_world", cli_json_real(r->bytes));
    cli_json_put(&json, "array_bytes_per_world", cli_json_real(r->array_bytes));
    cli_json_put(&json, "resident_bytes_per_world", cli_json_real(r->resident));
    cli_json_put(&json, "state_hash", json_string(hash));
    cli_json_put(&json, "repeatable", json_boolean(r->repeatable));
    /* Optional measurements. */
    if (plan->hostile != BENCH_HOSTILE_NONE)
        cli_json_put(&json, "hostile",
                     json_pack("{ss so sb si}", "kind", bench_hostile_name(plan->hostile), "time_ratio",
                               cli_json_real(r->hostile_ratio), "others_same", r->others_same, "newton_most",
                               r->hostile_newton));
    if (plan->profile)
        cli_json_put(&json, "profile", bench_profile_json(r));
    return json;
}

static json_t *plan_json(const BenchPlan *plan) {
    json_t *json = json_object();
    cli_json_put(&json, "steps", json_integer(plan->steps));
    cli_json_put(&json, "warmup", json_integer(plan->warmup));
    cli_json_put(&json, "repeat", json_integer(plan->repeat));
    cli_json_put(&json, "seed", json_integer((json_int_t)plan->seed));
    cli_json_put(&json, "control_noise", cli_json_real(plan->control_noise));
    cli_json_put(&json, "bodies", json_boolean(plan->bodies));
    cli_json_put(&json, "clock", json_string(clock_name(plan)));
    return json;
}

static bool print_json(const BenchPlan *plan, const BenchRows *rows) {
    json_t *list = json_array();
    for (int i = 0; i < rows->count; i++)
        json_array_append_new(list, row_json(plan, &rows->row[i]));
    return cli_json_print(json_pack("{ss ss s{so si ss} so so so so}", "version", sap_version(), "commit", cli_commit(),
                                    "machine", "cpu", cli_json_text(cli_cpu_name().text), "cpus", cli_num_cpus(),
                                    "compiler", cli_compiler(), "plan", plan_json(plan), "rows", list, "flatness",
                                    against_json(rows, against_worlds, true), "scaling",
                                    against_json(rows, against_threads, false)));
}

/* ---- whole output ---- */

static void human_header(const BenchPlan *plan) {
    printf("sapwood %s (%s), %s, %d CPUs, %s\n", sap_version(), cli_commit(), cli_cpu_name().text, cli_num_cpus(),
           cli_compiler());
    printf("%d steps measured %d times%s, after %d warm-up steps; ", plan->steps, plan->repeat,
           plan->processor_time ? " in processor time" : "", plan->warmup);
    if (plan->control_noise > 0)
        printf("target noise %g rad or %g m, new every %d steps", plan->control_noise, 0.1 * plan->control_noise,
               CLI_CONTROL_STEPS);
    else
        fputs("targets of the scene", stdout);
    printf("; seed %llu\n\n", (unsigned long long)plan->seed);
    printf("%-16s %-8s %7s %4s %5s %10s %7s %10s %17s %17s %17s\n", "", "", "", "", "", "", "", "", "contacts",
           "Newton", "line search");
    printf("%-16s %-8s %7s %4s %5s %10s %7s %10s", "scene", "preset", "worlds", "thr", "lanes", "ns/w-step", "spread",
           "w-steps/s");
    for (int i = 0; i < 3; i++)
        printf(" %7s %4s %4s", "mean", "p95", "max");
    putchar('\n');
}

void bench_print_header(BenchFormat format, const BenchPlan *plan) {
    if (format == BENCH_HUMAN)
        human_header(plan);
    else if (format == BENCH_CSV)
        csv_header(plan);
}

void bench_print_row(BenchFormat format, const BenchPlan *plan, const BenchRow *row) {
    if (format == BENCH_HUMAN)
        print_human(plan, row);
    else if (format == BENCH_CSV)
        print_csv(plan, row);
    fflush(stdout); /* a row may take seconds: show it at once, also in a pipe */
}

bool bench_print_end(BenchFormat format, const BenchPlan *plan, const BenchRows *rows) {
    if (format == BENCH_JSON)
        return print_json(plan, rows);
    if (format == BENCH_CSV)
        return true;
    print_against(rows, against_worlds, "cost per world in large batches against small ones (1 is flat)", true);
    print_against(rows, against_threads, "speed of several threads against one", false);
    for (int i = 0; i < rows->count && plan->profile; i++)
        bench_profile_print(&rows->row[i]);
    return true;
}
