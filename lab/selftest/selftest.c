/* `sapwood selftest`: every scene in every preset, on the requested device and on one CPU thread without SIMD. States,
 * statuses and counters must agree in every bit. On a GPU also every form of arithmetic instruction, alone, large
 * worlds with cuSOLVER, and the speed beside the predicted one. The report contains what is needed to analyse a
 * difference without access to the device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/batch.h"
#include "host/cli/interrupt.h"
#include "host/cli/machine.h"
#include "host/cli/scene_list.h"
#include "host/cli/start.h"
#include "lab/selftest/library.h"
#include "lab/selftest/speed.h"

enum { MAX_SCENES = 64 };
static const double noise = 0.1; /* of joint velocities, as in `run` */

/* ---- command line ---- */

typedef struct SelftestArgs {
    CliSettings settings;
    int num_scenes;
    char *scenes[MAX_SCENES]; /* allocated if they were found in a folder */
    bool found;
    int worlds, steps;
    int speed; /* worlds; 0 = as predicted, NO_SPEED = not measured, SPEED_OF_ALL = if all scenes run */
    uint64_t seed;
    bool json;
} SelftestArgs;
enum { NO_SPEED = -1, SPEED_OF_ALL = -2 };

enum { KEY_WORLDS = 256, KEY_STEPS, KEY_SEED, KEY_SPEED, KEY_PRESET, KEY_JSON };

static const struct argp_option options[] = {
    {"worlds", KEY_WORLDS, "N", 0, "Number of worlds; default 256", 1},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps; default 200", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise; default 0", 1},
    {"speed", KEY_SPEED, "N", 0,
     "On a GPU, also measure the speed with N worlds; 0: with the numbers of worlds of "
     "the predictions, the default if no SCENE is given",
     1},
    {"json", KEY_JSON, NULL, 0, "Print the report as JSON", 3},
    {"preset", KEY_PRESET, "P", OPTION_HIDDEN, NULL, 3},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    SelftestArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_WORLDS: a->worlds = cli_int(state, "--worlds", arg, 1, INT_MAX); return 0;
    case KEY_STEPS: a->steps = cli_int(state, "--steps", arg, 1, INT_MAX); return 0;
    case KEY_SEED: a->seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_SPEED: a->speed = cli_int(state, "--speed", arg, 0, INT_MAX); return 0;
    case KEY_JSON: a->json = true; return 0;
    case ARGP_KEY_ARG:
        if (a->num_scenes == MAX_SCENES)
            argp_error(state, "'%s': allowed: at most %d scenes", arg, MAX_SCENES);
        a->scenes[a->num_scenes++] = arg;
        return 0;
    case KEY_PRESET: argp_error(state, "--preset is '%s'; a self-test runs all presets", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- scenes ---- */

/* The scenes of bench/scenes, by name. */
static bool find_scenes(SelftestArgs *a) {
    CliSceneFiles files;
    if (!cli_scene_files(&files))
        return false;
    a->found = true;
    for (int i = 0; i < files.count && i < MAX_SCENES; i++)
        a->scenes[a->num_scenes++] = strndup(files.entry[i]->d_name, strlen(files.entry[i]->d_name) - strlen(".yaml"));
    cli_scene_files_free(&files);
    return a->num_scenes > 0 || cli_fail("the folder bench/scenes has no scene; name scenes to run");
}

static void free_scenes(SelftestArgs *a) {
    for (int i = 0; i < a->num_scenes && a->found; i++)
        free(a->scenes[i]);
}

/* ---- runs ---- */

typedef struct Side {
    uint64_t hash;
    double seconds;
    int failed, not_converged; /* worlds, in any step */
    SapBatchInfo where;
} Side;

typedef struct Row {
    const char *scene, *preset;
    Side expected, got;
} Row;

static void count_worlds(const CliBatch *b, Side *side) {
    for (int w = 0; w < b->state->num_worlds; w++) {
        side->failed += b->failed[w] != 0;
        side->not_converged += (b->seen[w] & SAP_WORLD_NOT_CONVERGED) != 0;
    }
}

/* Takes the steps in calls of at most CHUNK, so that an interruption ends soon. */
static bool run_steps(CliBatch *b, int steps, double *seconds) {
    enum { CHUNK = 256 };
    for (int done = 0, n; done < steps; done += n) {
        n = steps - done < CHUNK ? steps - done : CHUNK;
        double start = cli_now();
        if (cli_interrupted() || !cli_batch_step(b, n))
            return false;
        *seconds += cli_now() - start;
        if (!cli_batch_gather(b))
            return false;
    }
    return true;
}

/* The first step may include setup and is not timed. */
static bool run_batch(const SelftestArgs *a, CliBatch *b, Side *side) {
    double setup = 0;
    if (!cli_batch_perturb(b, a->seed, noise) || !run_steps(b, 1, &setup) ||
        !run_steps(b, a->steps - 1, &side->seconds))
        return false;
    side->where = b->where;
    side->hash = cli_batch_hash_all(b);
    count_worlds(b, side);
    return true;
}

static bool run_side(const SelftestArgs *a, const CliScene *scene, const SapOptions *o, Side *side) {
    CliBatch batch;
    if (!cli_batch_create(scene->scene, o, a->worlds, cli_default_dtype(o), true, &batch))
        return false;
    bool ok = run_batch(a, &batch, side);
    cli_batch_free(&batch);
    return ok;
}

static bool run_preset(const SelftestArgs *a, const CliScene *scene, Row *row) {
    SapOptions o = scene->scene->options, plain;
    if (!cli_check(sap_options_set(&o, "preset", row->preset)) || !cli_settings_apply(&a->settings, &o))
        return false;
    plain = o;
    plain.device = SAP_DEVICE_CPU;
    plain.isa = SAP_ISA_GENERIC;
    plain.lanes = plain.threads = 1;
    return run_side(a, scene, &o, &row->got) && run_side(a, scene, &plain, &row->expected);
}

/* ---- output ---- */

/* The report of a run on the device of the options. */
typedef struct Report {
    const SelftestArgs *args;
    bool on_gpu;
    SapDeviceInfo gpu;
    char arithmetic[1024]; /* message of the test of arithmetic if it fails; else empty */
    int forms;             /* of instructions that it tested */
    CliLibraryTest library;
    json_t *rows, *speed; /* NULL for text output */
    int cases, different;
} Report;

static double rate(const SelftestArgs *a, const Side *side) {
    return (double)a->worlds * (a->steps - 1) / side->seconds;
}

static void print_head(const Report *r) {
    printf("sapwood %s (%s), %s, %d CPUs, %s\n", sap_version(), cli_commit(), cli_cpu_name().text, cli_num_cpus(),
           cli_compiler());
    printf("self-test: %d worlds, %d steps\n", r->args->worlds, r->args->steps);
    if (r->on_gpu)
        printf("device: %s, compute capability %d.%d, %d multiprocessors, %zu MB, %d bytes of shared memory per block, "
               "driver for CUDA %d.%d\n",
               r->gpu.name, r->gpu.capability / 10, r->gpu.capability % 10, r->gpu.multiprocessors,
               r->gpu.memory_bytes >> 20, r->gpu.shared_bytes, r->gpu.driver_version / 1000,
               r->gpu.driver_version % 1000 / 10);
    else
        puts("device: cpu");
}

static void print_columns(void) {
    printf("%-18s %-10s %-8s %-16s %-16s %10s %10s %6s %7s\n", "scene", "preset", "bits", "hash", "hash of one lane",
           "steps/s", "one lane", "team", "failed");
}

static void print_row(const Report *r, const Row *row) {
    printf("%-18s %-10s %-8s %016llx %016llx %10s %10s %6d %7d\n", cli_shown(row->scene).text, row->preset,
           row->got.hash == row->expected.hash ? "same" : "DIFFER", (unsigned long long)row->got.hash,
           (unsigned long long)row->expected.hash, cli_si(rate(r->args, &row->got)).text,
           cli_si(rate(r->args, &row->expected)).text, row->got.where.team_size, row->got.failed);
    fflush(stdout);
}

static json_t *side_json(const SelftestArgs *a, const Side *side) {
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)side->hash);
    return json_pack("{ss so so si si}", "hash", hash, "seconds", cli_json_real(side->seconds),
                     "world_steps_per_second", cli_json_real(rate(a, side)), "failed", side->failed, "not_converged",
                     side->not_converged);
}

static json_t *row_json(const SelftestArgs *a, const Row *row) {
    const SapBatchInfo *w = &row->got.where;
    return json_pack("{so ss sb so so si si si si sI}", "scene", cli_json_text(row->scene), "preset", row->preset,
                     "same", row->got.hash == row->expected.hash, "device", side_json(a, &row->got), "one_lane",
                     side_json(a, &row->expected), "team_size", w->team_size, "worlds_per_block", w->worlds_per_block,
                     "blocks", w->blocks, "shared_bytes", w->shared_bytes, "workspace_bytes",
                     (json_int_t)w->workspace_bytes);
}

static json_t *device_json(const Report *r) {
    if (!r->on_gpu)
        return json_pack("{ss}", "kind", "cpu");
    return json_pack("{ss so si si si sI si}", "kind", "cuda", "name", cli_json_text(r->gpu.name), "compute_capability",
                     r->gpu.capability, "driver_version", r->gpu.driver_version, "multiprocessors",
                     r->gpu.multiprocessors, "memory_bytes", (json_int_t)r->gpu.memory_bytes, "shared_bytes",
                     r->gpu.shared_bytes);
}

static void add_row(Report *r, const Row *row) {
    r->cases++;
    r->different += row->got.hash != row->expected.hash;
    if (r->rows)
        json_array_append_new(r->rows, row_json(r->args, row));
    else
        print_row(r, row);
}

/* Whether the law of a preset supports the scene's model; SAP supports all. If not, prints why. */
static bool law_has(const CliScene *scene, const char *name, const char *preset) {
    SapOptions o = scene->scene->options;
    SapSolver *solver = NULL;
    if (!cli_check(sap_options_set(&o, "preset", preset)))
        return false;
    o.threads = 1;
    SapStatus status =
        o.contact_solver == SAP_SOLVER_MUJOCO ? sap_solver_create(scene->scene->model, 1, &o, &solver) : SAP_OK;
    if (status != SAP_OK)
        fprintf(stderr, "%s, %s: not run: %s\n", name, preset, sap_error_message());
    sap_solver_destroy(solver);
    return status == SAP_OK;
}

static bool run_scene(Report *r, const char *name) {
    const CliSettings none = {.asset_root = r->args->settings.asset_root};
    CliScene scene = {.scene = NULL};
    bool ok = cli_scene_open(name, &none, &scene);
    for (const char *const *preset = sap_preset_names(); *preset && ok; preset++) {
        Row row = {.scene = name, .preset = *preset};
        if (!law_has(&scene, name, *preset))
            continue;
        ok = run_preset(r->args, &scene, &row);
        if (ok)
            add_row(r, &row);
    }
    cli_scene_close(&scene);
    return ok;
}

/* Reports a missing device before anything else. */
static bool find_device(Report *r) {
    SapOptions o;
    if (!cli_check(sap_options_preset(NULL, &o)) || !cli_settings_apply(&r->args->settings, &o))
        return false;
    r->on_gpu = o.device == SAP_DEVICE_CUDA;
    return !r->on_gpu || cli_check(sap_device_info(o.cuda_device, &r->gpu));
}

/* Tests the forms of instructions of a GPU; a difference is a part of the report, and the scenes run all the same. */
static void test_arithmetic(Report *r) {
    SapOptions o;
    if (!r->on_gpu || !cli_check(sap_options_preset(NULL, &o)) || !cli_settings_apply(&r->args->settings, &o))
        return;
    bool same = sap_device_test(o.cuda_device, &r->forms) == SAP_OK;
    if (!same)
        snprintf(r->arithmetic, sizeof r->arithmetic, "%s", sap_error_message());
    r->cases++;
    r->different += !same;
    if (!r->rows && same)
        printf("arithmetic: %d forms of instructions compute as in C\n", r->forms);
    else if (!r->rows)
        printf("arithmetic: %s\n", r->arithmetic);
}

/* Large worlds on a GPU, with the first scene: whether their results are right. */
static bool test_library(Report *r) {
    CliLibraryTest *t = &r->library;
    if (!r->on_gpu || cli_interrupted())
        return true;
    if (!cli_selftest_library(&r->args->settings, r->args->scenes[0], t))
        return false;
    r->cases += t->ran;
    r->different += t->ran && !t->same;
    if (!r->rows && t->ran)
        printf("large worlds: %s: factor %s; positions differ from 'sparse' by %.1g%s\n", r->args->scenes[0],
               cli_shown(t->text).text, t->difference, t->same ? "" : ", which is TOO MUCH");
    else if (!r->rows)
        printf("large worlds: not run: %s\n", cli_shown(t->text).text);
    return true;
}

/* Measures the speed of a GPU if requested. */
static bool measure_speed(Report *r) {
    int wanted = r->args->speed == SPEED_OF_ALL ? (r->args->found ? 0 : NO_SPEED) : r->args->speed;
    if (!r->on_gpu || wanted == NO_SPEED || cli_interrupted())
        return true;
    return cli_selftest_speed(&r->args->settings, r->gpu.name, wanted, r->speed);
}

static json_t *arithmetic_json(const Report *r) {
    if (!r->on_gpu)
        return json_null();
    return json_pack("{si so}", "forms", r->forms, "difference",
                     r->arithmetic[0] ? cli_json_text(r->arithmetic) : json_null());
}

static json_t *library_json(const Report *r) {
    const CliLibraryTest *t = &r->library;
    if (!r->on_gpu)
        return json_null();
    return json_pack("{sb so so}", "ran", t->ran, "factor", cli_json_text(t->text), "difference",
                     t->ran ? cli_json_real(t->difference) : json_null());
}

static bool finish(Report *r) {
    if (!r->rows) {
        printf("%d cases, %d differ%s\n", r->cases, r->different, r->different ? ": please send this report" : "");
        return true;
    }
    return cli_json_print(json_pack("{ss ss s{so si ss} so so so si si si si so so}", "version", sap_version(),
                                    "commit", cli_commit(), "machine", "cpu", cli_json_text(cli_cpu_name().text),
                                    "cpus", cli_num_cpus(), "compiler", cli_compiler(), "device", device_json(r),
                                    "arithmetic", arithmetic_json(r), "large_worlds", library_json(r), "worlds",
                                    r->args->worlds, "steps", r->args->steps, "cases", r->cases, "different",
                                    r->different, "rows", json_incref(r->rows), "speed", json_incref(r->speed)));
}

static bool run_selftest(Report *r, SelftestArgs *a) {
    if (!find_device(r) || (a->num_scenes == 0 && !find_scenes(a)))
        return false;
    if (a->json && ((r->rows = json_array()) == NULL || (r->speed = json_array()) == NULL))
        return cli_fail("no memory for the report");
    if (!a->json)
        print_head(r);
    cli_catch_interrupt();
    test_arithmetic(r);
    if (!a->json)
        print_columns();
    for (int i = 0; i < a->num_scenes && !cli_interrupted(); i++)
        if (!run_scene(r, a->scenes[i]) && !cli_interrupted())
            return false;
    return test_library(r) && measure_speed(r) && finish(r);
}

static int selftest(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(CLI_DEVICE | CLI_ASSET_ROOT), 0, NULL, 0}, {0}};
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .args_doc = "[SCENE...]",
                              .doc =
                                  "Steps each SCENE (default: all of bench/scenes) in every preset on the device of "
                                  "--device and on one CPU thread without SIMD, and compares the bits of states, "
                                  "statuses and counters. On a GPU also tests each form of arithmetic instruction and "
                                  "the solution by cuSOLVER, and measures the speed beside the predicted one.",
                              .children = children};
    SelftestArgs args = {.worlds = 256, .steps = 200, .speed = SPEED_OF_ALL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    Report report = {.args = &args};
    bool ok = run_selftest(&report, &args);
    json_decref(report.rows);
    json_decref(report.speed);
    free_scenes(&args);
    return !ok                 ? CLI_EXIT_BAD
           : report.different  ? CLI_EXIT_DIFFERENT
           : cli_interrupted() ? cli_exit_interrupted()
                               : CLI_EXIT_OK;
}

int main(int argc, char **argv) {
    return cli_main("selftest", selftest, argc, argv);
}
