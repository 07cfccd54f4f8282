/* `sapwood selftest`: every scene in every preset, on the requested device and on one CPU thread without SIMD. States,
 * statuses and counters must agree in every bit. On a GPU also every form of arithmetic instruction, alone, every kind of
 * kernel and of call, large worlds with cuSOLVER, and the speed beside the predicted one; each case in a process of its own,
 * because an error of a kernel makes its process useless. The report contains what is needed to analyse a difference without
 * access to the device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/batch.h"
#include "host/cli/interrupt.h"
#include "host/cli/machine.h"
#include "host/cli/scene_list.h"
#include "host/cli/start.h"
#include "lab/selftest/child.h"
#include "lab/selftest/kinds.h"
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
    const char *kinds;  /* a part of the names of the kinds to test; NULL: none, unless all scenes run */
    const char *report; /* file for the report; NULL: none */
    const char *only;   /* the case of a process of its own; NULL: all */
    int argc;
    char **argv;
} SelftestArgs;
enum { NO_SPEED = -1, SPEED_OF_ALL = -2 };

enum { KEY_WORLDS = 256, KEY_STEPS, KEY_SEED, KEY_SPEED, KEY_PRESET, KEY_JSON, KEY_KINDS, KEY_REPORT, KEY_CASE };

static const struct argp_option options[] = {
    {"worlds", KEY_WORLDS, "N", 0, "Number of worlds; default 256", 1},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps; default 200", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise; default 0", 1},
    {"speed", KEY_SPEED, "N", 0,
     "On a GPU, also measure the speed with N worlds; 0: with the numbers of worlds of "
     "the predictions, the default if no SCENE is given",
     1},
    {"kinds", KEY_KINDS, "TEXT", OPTION_ARG_OPTIONAL,
     "On a GPU, also test every kind of kernel and of call whose name has TEXT; all is the default if no SCENE is "
     "given",
     1},
    {"json", KEY_JSON, NULL, 0, "Print the report as JSON", 3},
    {"report", KEY_REPORT, "FILE", 0,
     "Also write the report as JSON to FILE; on a GPU without SCENE the default is sapwood-selftest.json", 3},
    {"case", KEY_CASE, "CASE", OPTION_HIDDEN, NULL, 3},
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
    case KEY_KINDS: a->kinds = arg ? arg : ""; return 0;
    case KEY_REPORT: a->report = arg; return 0;
    case KEY_CASE: a->only = arg; return 0;
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

/* ---- cases ---- */

static double rate(const SelftestArgs *a, const Side *side) {
    return (double)a->worlds * (a->steps - 1) / side->seconds;
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

/* Whether the law of a preset supports the scene's model; SAP supports all. If not, sets the reason. */
static bool law_has(const CliScene *scene, const char *preset, json_t **reason) {
    SapOptions o = scene->scene->options;
    SapSolver *solver = NULL;
    if (!cli_check(sap_options_set(&o, "preset", preset)))
        return false;
    o.threads = 1;
    SapStatus status =
        o.contact_solver == SAP_SOLVER_MUJOCO ? sap_solver_create(scene->scene->model, 1, &o, &solver) : SAP_OK;
    if (status != SAP_OK)
        *reason = json_pack("{so}", "skipped", cli_json_text(sap_error_message()));
    sap_solver_destroy(solver);
    return status == SAP_OK;
}

/* A scene in a preset: its row, {"skipped": reason}, or NULL after a message. */
static json_t *run_scene(const SelftestArgs *a, const char *name, const char *preset) {
    const CliSettings none = {.asset_root = a->settings.asset_root};
    CliScene scene = {.scene = NULL};
    Row row = {.scene = name, .preset = preset};
    json_t *result = NULL;
    if (cli_scene_open(name, &none, &scene) && law_has(&scene, preset, &result) && run_preset(a, &scene, &row))
        result = row_json(a, &row);
    cli_scene_close(&scene);
    return result;
}

/* The forms of instructions of a GPU. */
static json_t *test_arithmetic(const SelftestArgs *a) {
    SapOptions o;
    int forms = 0;
    if (!cli_check(sap_options_preset(NULL, &o)) || !cli_settings_apply(&a->settings, &o))
        return NULL;
    bool same = sap_device_test(o.cuda_device, &forms) == SAP_OK;
    return json_pack("{sb si so}", "same", same, "forms", forms, "difference",
                     same ? json_null() : cli_json_text(sap_error_message()));
}

/* Large worlds on a GPU: whether their results are right. */
static json_t *test_library(const SelftestArgs *a, const char *scene) {
    CliLibraryTest t;
    if (!cli_selftest_library(&a->settings, scene, &t))
        return NULL;
    return json_pack("{sb sb so so}", "ran", t.ran, "same", t.same, "factor", cli_json_text(t.text), "difference",
                     t.ran ? cli_json_real(t.difference) : json_null());
}

/* The cases: one that has an index, and one that also has a preset. */
typedef enum CaseKind { CASE_ARITHMETIC, CASE_SCENE, CASE_KIND, CASE_LARGE, CASE_SPEED } CaseKind;
typedef struct Case {
    CaseKind kind;
    int index;
    const char *preset;
} Case;

static int num_speed_worlds(const SelftestArgs *a) {
    return a->speed == SPEED_OF_ALL ? (a->found ? 0 : NO_SPEED) : a->speed;
}

static json_t *run_case(const SelftestArgs *a, Case c) {
    switch (c.kind) {
    case CASE_ARITHMETIC: return test_arithmetic(a);
    case CASE_SCENE: return run_scene(a, a->scenes[c.index], c.preset);
    case CASE_KIND: return selftest_kind(&a->settings, c.index);
    case CASE_LARGE: return test_library(a, a->scenes[c.index]);
    case CASE_SPEED: return selftest_speed(&a->settings, c.index, num_speed_worlds(a));
    }
    return NULL;
}

/* ---- processes ---- */

/* The case as text, "1 3 fast32": what --case has. */
static json_t *run_apart(const SelftestArgs *a, Case c) {
    enum { SECONDS = 1800 }; /* a driver may compile for minutes */
    char text[128];
    char **argv = calloc((size_t)a->argc + 3, sizeof *argv);
    if (!argv)
        return NULL;
    snprintf(text, sizeof text, "%d %d %s", (int)c.kind, c.index, c.preset ? c.preset : "");
    memcpy(argv, a->argv, (size_t)a->argc * sizeof *argv);
    argv[a->argc] = "--case";
    argv[a->argc + 1] = text;
    json_t *result = selftest_child(argv, SECONDS);
    free(argv);
    return result;
}

/* In a process of its own: the case that --case has; prints its result. */
static bool run_only(const SelftestArgs *a) {
    char preset[64] = "";
    int kind = -1;
    Case c = {.preset = preset};
    if (sscanf(a->only, "%d %d %63s", &kind, &c.index, preset) < 2)
        return cli_fail("--case is '%s'; it is for the processes of a self-test", a->only);
    c.kind = (CaseKind)kind;
    json_t *result = run_case(a, c);
    return result && cli_json_print(result);
}

/* ---- output ---- */

/* The report of a run on the device of the options. */
typedef struct Report {
    const SelftestArgs *args;
    bool on_gpu;
    SapDeviceInfo gpu;
    json_t *json; /* the report, and its arrays */
    json_t *rows, *kinds, *speed, *failed;
    int cases, different;
} Report;

static const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static int int_of(const json_t *object, const char *name) {
    return (int)json_integer_value(json_object_get(object, name));
}

static bool is_same(const json_t *result) {
    return json_is_true(json_object_get(result, "same"));
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

static void print_scene(const json_t *row) {
    const json_t *got = json_object_get(row, "device"), *expected = json_object_get(row, "one_lane");
    printf("%-18s %-10s %-8s %16s %16s %10s %10s %6d %7d\n", cli_shown(text_of(row, "scene")).text,
           text_of(row, "preset"), is_same(row) ? "same" : "DIFFER", text_of(got, "hash"), text_of(expected, "hash"),
           cli_si(json_number_value(json_object_get(got, "world_steps_per_second"))).text,
           cli_si(json_number_value(json_object_get(expected, "world_steps_per_second"))).text,
           int_of(row, "team_size"), int_of(got, "failed"));
}

static void print_library(const char *scene, const json_t *t) {
    if (json_is_true(json_object_get(t, "ran")))
        printf("large worlds: %s: factor %s; positions differ from 'sparse' by %.1g%s\n", scene,
               cli_shown(text_of(t, "factor")).text, json_number_value(json_object_get(t, "difference")),
               is_same(t) ? "" : ", which is TOO MUCH");
    else
        printf("large worlds: not run: %s\n", cli_shown(text_of(t, "factor")).text);
}

static void print_arithmetic(const json_t *t) {
    if (is_same(t))
        printf("arithmetic: %d forms of instructions compute as in C\n", int_of(t, "forms"));
    else
        printf("arithmetic: %s\n", cli_shown(text_of(t, "difference")).text);
}

static void print_kind(const json_t *t) {
    printf("%-28s %-8s %s %s\n", text_of(t, "kind"), is_same(t) ? "same" : "DIFFER", text_of(t, "kernel"),
           is_same(t) ? "" : text_of(t, "differs"));
}

static const char *name_of_case(const Report *r, Case c, char *text, size_t size) {
    static const char *const names[] = {"arithmetic", "", "", "large worlds", "speed"};
    if (c.kind == CASE_SCENE)
        snprintf(text, size, "%s, %s", r->args->scenes[c.index], c.preset);
    else
        snprintf(text, size, "%s", c.kind == CASE_KIND ? selftest_kind_name(c.index) : names[c.kind]);
    return text;
}

static void print_result(const Report *r, Case c, const json_t *result) {
    switch (c.kind) {
    case CASE_ARITHMETIC: print_arithmetic(result); break;
    case CASE_SCENE: print_scene(result); break;
    case CASE_KIND: print_kind(result); break;
    case CASE_LARGE: print_library(r->args->scenes[c.index], result); break;
    case CASE_SPEED: selftest_print_speed(r->gpu.name, result); break;
    }
    fflush(stdout);
}

/* Adds a result to the report, which takes it. */
static void keep(Report *r, Case c, json_t *result) {
    switch (c.kind) {
    case CASE_ARITHMETIC: json_object_set_new(r->json, "arithmetic", result); break;
    case CASE_SCENE: json_array_append_new(r->rows, result); break;
    case CASE_KIND: json_array_append_new(r->kinds, result); break;
    case CASE_LARGE: json_object_set_new(r->json, "large_worlds", result); break;
    case CASE_SPEED: json_array_append_new(r->speed, result); break;
    }
}

/* A case that has no result: it failed, or is not possible with this scene or on this machine. */
static void add_other(Report *r, const char *name, json_t *result) {
    bool skipped = json_object_get(result, "skipped") != NULL;
    if (skipped)
        fprintf(stderr, "%s: not run: %s\n", name, cli_shown(text_of(result, "skipped")).text);
    else if (!r->args->json)
        printf("%s: FAILED: %s: %s\n", name, text_of(result, "error"), cli_shown(text_of(result, "last_line")).text);
    json_object_set_new(result, "case", cli_json_text(name));
    json_array_append_new(r->failed, result);
    r->cases += !skipped;
    r->different += !skipped;
}

static void add(Report *r, Case c, json_t *result) {
    char name[256];
    bool counts = c.kind != CASE_SPEED && !(c.kind == CASE_LARGE && !json_is_true(json_object_get(result, "ran")));
    name_of_case(r, c, name, sizeof name);
    if (json_object_get(result, "skipped") || json_object_get(result, "error")) {
        add_other(r, name, result);
        return;
    }
    if (c.kind == CASE_KIND)
        json_object_set_new(result, "kind", json_string(name));
    r->cases += counts;
    r->different += counts && !is_same(result);
    if (!r->args->json)
        print_result(r, c, result);
    keep(r, c, result);
}

/* ---- the run ---- */

/* Runs a case: on a GPU in a process of its own, where it can only end itself. False: it cannot be reported. */
static bool run_and_add(Report *r, Case c) {
    if (cli_interrupted())
        return true;
    json_t *result = r->on_gpu ? run_apart(r->args, c) : run_case(r->args, c);
    if (!result || cli_interrupted()) {
        json_decref(result);
        return cli_interrupted();
    }
    add(r, c, result);
    return true;
}

static bool run_cases(Report *r, CaseKind kind, int count) {
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        ok = run_and_add(r, (Case){kind, i, NULL});
    return ok;
}

static bool run_scenes(Report *r) {
    bool ok = true;
    for (int i = 0; i < r->args->num_scenes && ok; i++)
        for (const char *const *preset = sap_preset_names(); *preset && ok; preset++)
            ok = run_and_add(r, (Case){CASE_SCENE, i, *preset});
    return ok;
}

static bool run_on_gpu(Report *r) {
    const SelftestArgs *a = r->args;
    bool ok = run_cases(r, CASE_ARITHMETIC, 1);
    const char *kinds = a->kinds ? a->kinds : a->found ? "" : NULL;
    for (int i = 0; i < selftest_num_kinds() && kinds && ok; i++)
        if (strstr(selftest_kind_name(i), kinds))
            ok = run_and_add(r, (Case){CASE_KIND, i, NULL});
    if (!a->json)
        print_columns();
    ok = ok && run_scenes(r) && run_cases(r, CASE_LARGE, 1);
    if (!ok || num_speed_worlds(a) == NO_SPEED)
        return ok;
    if (!a->json)
        selftest_print_speed_head(r->gpu.name);
    return run_cases(r, CASE_SPEED, selftest_num_speeds());
}

static bool run_on_cpu(Report *r) {
    if (!r->args->json)
        print_columns();
    return run_scenes(r);
}

/* Reports a missing device before anything else. */
static bool find_device(Report *r) {
    SapOptions o;
    if (!cli_check(sap_options_preset(NULL, &o)) || !cli_settings_apply(&r->args->settings, &o))
        return false;
    r->on_gpu = o.device == SAP_DEVICE_CUDA;
    return !r->on_gpu || cli_check(sap_device_info(o.cuda_device, &r->gpu));
}

static json_t *device_json(const Report *r) {
    if (!r->on_gpu)
        return json_pack("{ss}", "kind", "cpu");
    return json_pack("{ss so si si si sI si}", "kind", "cuda", "name", cli_json_text(r->gpu.name), "compute_capability",
                     r->gpu.capability, "driver_version", r->gpu.driver_version, "multiprocessors",
                     r->gpu.multiprocessors, "memory_bytes", (json_int_t)r->gpu.memory_bytes, "shared_bytes",
                     r->gpu.shared_bytes);
}

static bool begin_report(Report *r) {
    r->rows = json_array();
    r->kinds = json_array();
    r->speed = json_array();
    r->failed = json_array();
    r->json =
        json_pack("{ss ss s{so si ss} so sn sn si si so so so so}", "version", sap_version(), "commit", cli_commit(),
                  "machine", "cpu", cli_json_text(cli_cpu_name().text), "cpus", cli_num_cpus(), "compiler",
                  cli_compiler(), "device", device_json(r), "arithmetic", "large_worlds", "worlds", r->args->worlds,
                  "steps", r->args->steps, "rows", r->rows, "kinds", r->kinds, "speed", r->speed, "other", r->failed);
    return r->json || cli_fail("no memory for the report");
}

static bool write_report(const Report *r, const char *path) {
    if (json_dump_file(r->json, path, JSON_INDENT(1)) != 0)
        return cli_fail("'%s' cannot be written", path);
    if (!r->args->json)
        printf("the report is in %s: please send this file\n", path);
    return true;
}

static bool finish(Report *r) {
    const char *path = r->args->report;
    if (!path && r->on_gpu && r->args->found)
        path = "sapwood-selftest.json";
    json_object_set_new(r->json, "cases", json_integer(r->cases));
    json_object_set_new(r->json, "different", json_integer(r->different));
    if (!r->args->json)
        printf("%d cases, %d differ%s\n", r->cases, r->different, r->different ? ": please send this report" : "");
    if (path && !write_report(r, path))
        return false;
    return !r->args->json || cli_json_print(json_incref(r->json));
}

static bool run_selftest(Report *r, SelftestArgs *a) {
    if (!find_device(r) || (a->num_scenes == 0 && !find_scenes(a)))
        return false;
    cli_catch_interrupt();
    if (a->only)
        return run_only(a);
    if (!begin_report(r))
        return false;
    if (!a->json)
        print_head(r);
    return (r->on_gpu ? run_on_gpu(r) : run_on_cpu(r)) && finish(r);
}

static int selftest(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(CLI_DEVICE | CLI_ASSET_ROOT), 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[SCENE...]",
        .doc =
            "Steps each SCENE (default: all of bench/scenes) in every preset on the device of --device and on one CPU "
            "thread without SIMD, and compares the bits of states, statuses and counters. On a GPU also tests each "
            "form "
            "of arithmetic instruction, each kind of kernel and of call, and the solution by cuSOLVER, and measures "
            "the "
            "speed beside the predicted one; each case is a process of its own.",
        .children = children};
    SelftestArgs args = {.worlds = 256, .steps = 200, .speed = SPEED_OF_ALL, .argc = argc};
    args.argv = malloc((size_t)argc * sizeof *argv); /* argp changes the order */
    if (!args.argv)
        return CLI_EXIT_BAD;
    memcpy(args.argv, argv, (size_t)argc * sizeof *argv);
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    Report report = {.args = &args};
    bool ok = run_selftest(&report, &args);
    json_decref(report.json);
    free_scenes(&args);
    free(args.argv);
    return !ok                 ? CLI_EXIT_BAD
           : report.different  ? CLI_EXIT_DIFFERENT
           : cli_interrupted() ? cli_exit_interrupted()
                               : CLI_EXIT_OK;
}

int main(int argc, char **argv) {
    return cli_main("selftest", selftest, argc, argv);
}
