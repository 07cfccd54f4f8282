/* `sapwood bench`: throughput of steps over scenes, worlds, precisions, lanes and threads. */
#include "cli_bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_batch.h"
#include "cli_bench_collision.h"
#include "cli_model.h"
#include "cli_peak.h"

/* Worlds are put back to their start after so many steps: what lies at rest is no typical state, and what nothing holds falls
 * for ever. */
enum { PERIOD = 200, MAX_SCENES = 32 };

static const double noise = 0.1;          /* of joint velocities, as in `run` */
static const double repeat_seconds = 0.3; /* of one measurement, unless --steps is given */

/* ---- command line ---- */

typedef struct BenchArgs {
    CliSettings settings;
    int num_scenes;
    const char *scenes[MAX_SCENES];
    CliList worlds, precisions, lanes, threads;
    int steps; /* 0: chosen */
    int repeat;
    uint64_t seed;
    bool bodies, list, newton, collision;
    BenchFormat format;
} BenchArgs;

enum {
    KEY_SCENE = 256,
    KEY_WORLDS,
    KEY_STEPS,
    KEY_REPEAT,
    KEY_THREADS,
    KEY_PRECISION,
    KEY_LANES,
    KEY_SEED,
    KEY_BODIES,
    KEY_FORMAT,
    KEY_LIST,
    KEY_NEWTON,
    KEY_COLLISION
};

static const struct argp_option options[] = {
    {"scene", KEY_SCENE, "FILE|NAME", 0, "A scene; may be repeated; quadruped and humanoid unless given", 0},
    {"worlds", KEY_WORLDS, "LIST", 0, "Numbers of worlds; 1,64,4096,65536 unless given", 0},
    {"steps", KEY_STEPS, "N", 0, "Steps of one measurement; unless given, as many as take 0.3 s", 0},
    {"repeat", KEY_REPEAT, "R", 0, "Measurements, of which the median counts; 5 unless given", 0},
    {"threads", KEY_THREADS, "LIST", 0, "Worker threads, 0 is one per CPU; 1,0 unless given", 0},
    {"precision", KEY_PRECISION, "LIST", 0, "Of the free motion and of the states; f32,f64 unless given", 0},
    {"lanes", KEY_LANES, "LIST", 0, "Worlds per SIMD pack: 1, 4, 8; 0, the default, chooses", 0},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise that makes worlds differ; 0 unless given", 0},
    {"bodies", KEY_BODIES, NULL, 0, "Write poses and velocities of the bodies too", 0},
    {"format", KEY_FORMAT, "human|csv|json", 0, "Format of the table", 0},
    {"list", KEY_LIST, NULL, 0, "List the scenes of bench/scenes and end", 0},
    {"newton", KEY_NEWTON, NULL, 0, "Measure one Newton iteration over numbers of dofs and contacts instead of scenes",
     0},
    {"collision", KEY_COLLISION, NULL, 0, "Measure what finding contacts costs, by pair of shapes and in scenes", 0},
    {0}};

static CliList parse_lanes(const struct argp_state *state, const char *text) {
    static const char *const words[] = {"0", "1", "4", "8", NULL};
    static const int lanes[] = {0, 1, 4, 8};
    CliList list = cli_choice_list(state, "--lanes", text, words);
    for (int i = 0; i < list.count; i++)
        list.value[i] = lanes[list.value[i]];
    return list;
}

/* What the table runs over cannot also be set to one value. */
static void check_settings(const struct argp_state *state, const CliSettings *settings) {
    CliSettings preset = {.preset = settings->preset};
    SapOptions before, after;
    if (sap_options_preset(NULL, &before) != SAP_OK || !cli_settings_apply(&preset, &before))
        exit(CLI_EXIT_BAD);
    after = before;
    if (!cli_settings_apply(settings, &after))
        exit(CLI_EXIT_BAD);
    if (after.threads != before.threads)
        argp_error(state, "--set threads is '%d'; here, use --threads", after.threads);
    if (after.lanes != before.lanes)
        argp_error(state, "--set lanes is '%d'; here, use --lanes", after.lanes);
    if (after.free_motion_solve_precision != before.free_motion_solve_precision)
        argp_error(state, "--set free_motion_solve_precision is '%s'; here, use --precision",
                   cli_option(&after, "free_motion_solve_precision").text);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    static const char *const precisions[] = {"f32", "f64", NULL};        /* in the order of SapPrecision */
    static const char *const formats[] = {"human", "csv", "json", NULL}; /* in the order of BenchFormat */
    BenchArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_SCENE:
        if (a->num_scenes == MAX_SCENES)
            argp_error(state, "--scene '%s': allowed: at most %d scenes", arg, MAX_SCENES);
        a->scenes[a->num_scenes++] = arg;
        return 0;
    case KEY_WORLDS: a->worlds = cli_int_list(state, "--worlds", arg, 1, INT_MAX); return 0;
    case KEY_STEPS: a->steps = cli_int(state, "--steps", arg, 1, INT_MAX); return 0;
    case KEY_REPEAT: a->repeat = cli_int(state, "--repeat", arg, 1, 1000); return 0;
    case KEY_THREADS: a->threads = cli_int_list(state, "--threads", arg, 0, 1024); return 0;
    case KEY_PRECISION: a->precisions = cli_choice_list(state, "--precision", arg, precisions); return 0;
    case KEY_LANES: a->lanes = parse_lanes(state, arg); return 0;
    case KEY_SEED: a->seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_BODIES: a->bodies = true; return 0;
    case KEY_FORMAT: a->format = (BenchFormat)cli_choice(state, "--format", arg, formats); return 0;
    case KEY_LIST: a->list = true; return 0;
    case KEY_NEWTON: a->newton = true; return 0;
    case KEY_COLLISION: a->collision = true; return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many; a scene is given by --scene", arg); return 0;
    case ARGP_KEY_END: check_settings(state, &a->settings); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- --list ---- */

static int is_scene_file(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static bool list_scene(const char *file, const CliSettings *settings) {
    CliScene scene;
    if (!cli_scene_open(file, settings, &scene))
        return false;
    printf("%-24.*s bodies %3d, dofs %3d, shapes %3d  %s\n", (int)strlen(file) - 5, file, scene.arrays->num_bodies,
           scene.arrays->num_dofs, scene.arrays->num_shapes, scene.path);
    cli_scene_close(&scene);
    return true;
}

/* The scenes of the first folder that is there. */
static int list_scenes(const CliSettings *settings) {
    for (const char *const *folder = cli_scene_folders(); *folder; folder++) {
        struct dirent **entries;
        int count = scandir(*folder, &entries, is_scene_file, alphasort);
        bool ok = true;
        for (int i = 0; i < count; i++) {
            ok &= list_scene(entries[i]->d_name, settings);
            free(entries[i]);
        }
        if (count >= 0) {
            free(entries);
            return ok ? CLI_EXIT_OK : CLI_EXIT_BAD;
        }
    }
    cli_fail("--list: there is no folder bench/scenes here");
    return CLI_EXIT_BAD;
}

/* ---- one case ---- */

typedef struct Start {
    void *q, *qd; /* copies of the batch's first state */
} Start;

static bool put_back(CliBatch *b, const Start *start) {
    memcpy(b->state->joint_q, start->q, b->q_bytes);
    memcpy(b->state->joint_qd, start->qd, b->qd_bytes);
    return cli_batch_push(b);
}

/* Seconds of `steps` steps from the start. Failures last until worlds are put back, so that is when to look. */
static bool time_steps(CliBatch *b, const Start *start, int steps, double *seconds) {
    double t = cli_now();
    for (int done = 0; done < steps;) {
        int end = steps - done < PERIOD ? steps : done + PERIOD;
        if (!put_back(b, start) || !cli_batch_step(b, end - done) || !cli_batch_gather(b))
            return false;
        done = end;
    }
    *seconds = cli_now() - t;
    return true;
}

/* Doubles the steps until they take a tenth of a measurement, then reckons; warms up at the same time. */
static bool choose_steps(CliBatch *b, const Start *start, int *steps) {
    double seconds = 0;
    int n = 1;
    for (;; n *= 2) {
        if (!time_steps(b, start, n, &seconds))
            return false;
        if (seconds > 0.1 * repeat_seconds || n >= 1 << 28)
            break;
    }
    double wanted = n * repeat_seconds / seconds;
    *steps = wanted < 1 ? 1 : wanted > 1e9 ? 1000000000 : (int)wanted;
    return true;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(const BenchArgs *args, CliBatch *b, const Start *start, BenchRow *row) {
    double ns[1000], seconds; /* --repeat is at most 1000 */
    row->steps = args->steps;
    if (args->steps ? !time_steps(b, start, 1, &seconds) : !choose_steps(b, start, &row->steps))
        return false;
    for (int i = 0; i < args->repeat; i++) {
        if (!time_steps(b, start, row->steps, &seconds))
            return false;
        ns[i] = 1e9 * seconds / ((double)row->steps * row->worlds);
    }
    qsort(ns, (size_t)args->repeat, sizeof *ns, compare);
    row->repeats = args->repeat;
    row->ns = 0.5 * (ns[(args->repeat - 1) / 2] + ns[args->repeat / 2]);
    row->ns_min = ns[0];
    row->ns_max = ns[args->repeat - 1];
    row->failed = cli_batch_failures(b).total;
    return true;
}

static bool measure_batch(const BenchArgs *args, CliBatch *b, BenchRow *row) {
    if (!cli_batch_perturb(b, args->seed, noise))
        return false;
    Start start = {malloc(b->q_bytes), malloc(b->qd_bytes)};
    bool ok = start.q && start.qd;
    if (ok) {
        memcpy(start.q, b->state->joint_q, b->q_bytes);
        memcpy(start.qd, b->state->joint_qd, b->qd_bytes);
        ok = measure(args, b, &start, row);
    } else {
        cli_fail("no memory for the first state of %d worlds", row->worlds);
    }
    free(start.q);
    free(start.qd);
    return ok;
}

/* ---- all cases ---- */

typedef struct Bench {
    const BenchArgs *args;
    BenchRows rows;
} Bench;

/* The peak of that kind, from a row that has it already or measured now. */
static double peak(const BenchRows *rows, const SapSolverInfo *info, SapPrecision precision) {
    for (int i = 0; i < rows->count; i++) {
        const BenchRow *r = &rows->row[i];
        if (r->isa == info->isa && r->precision == precision && r->threads == info->threads)
            return r->peak;
    }
    return cli_peak_flops(info->isa, precision, info->threads);
}

/* Few worlds use fewer threads and lanes than asked for: such a case may have been measured already. */
static bool is_measured(const BenchRows *rows, const BenchRow *row) {
    for (int i = 0; i < rows->count; i++) {
        const BenchRow *r = &rows->row[i];
        if (r->scene_index == row->scene_index && r->worlds == row->worlds && r->precision == row->precision &&
            r->lanes == row->lanes && r->threads == row->threads)
            return true;
    }
    return false;
}

static bool add_row(BenchRows *rows, const BenchRow *row) {
    if (rows->count == rows->room) {
        int room = rows->room ? 2 * rows->room : 64;
        BenchRow *larger = realloc(rows->row, (size_t)room * sizeof *larger);
        if (larger == NULL)
            return cli_fail("no memory for %d rows", room);
        rows->row = larger;
        rows->room = room;
    }
    rows->row[rows->count++] = *row;
    return true;
}

static bool run_case(Bench *bench, const CliScene *scene, BenchRow row, int lanes, int threads) {
    SapOptions o = scene->scene->options;
    o.free_motion_solve_precision = row.precision;
    o.lanes = lanes;
    o.threads = threads;
    CliBatch batch;
    if (!cli_batch_create(scene->scene, &o, row.worlds, row.precision == SAP_FP64 ? SAP_F64 : SAP_F32,
                          bench->args->bodies, &batch))
        return false;
    row.isa = batch.info.isa;
    row.lanes = batch.info.lanes;
    row.threads = batch.info.threads;
    bool ok = true;
    if (!is_measured(&bench->rows, &row)) {
        row.peak = peak(&bench->rows, &batch.info, row.precision);
        ok = measure_batch(bench->args, &batch, &row) && add_row(&bench->rows, &row);
        if (ok)
            bench_print_row(bench->args->format, &row);
    }
    cli_batch_free(&batch);
    return ok;
}

/* "folder/quadruped.yaml" is shown as "quadruped". */
static void set_label(const char *path, char label[CLI_TEXT_SIZE]) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    int length = dot && dot > base ? (int)(dot - base) : CLI_TEXT_SIZE;
    snprintf(label, CLI_TEXT_SIZE, "%.*s", length, base);
}

static bool run_scene(Bench *bench, int index) {
    const BenchArgs *a = bench->args;
    CliScene scene;
    if (!cli_scene_open(a->scenes[index], &a->settings, &scene))
        return false;
    BenchRow row = {.scene_index = index};
    set_label(scene.path, row.scene);
    bool ok = cli_step_flops(scene.arrays, &row.flops);
    for (int p = 0; p < a->precisions.count && ok; p++)
        for (int l = 0; l < a->lanes.count && ok; l++)
            for (int t = 0; t < a->threads.count && ok; t++)
                for (int w = 0; w < a->worlds.count && ok; w++) {
                    row.precision = (SapPrecision)a->precisions.value[p];
                    row.worlds = a->worlds.value[w];
                    ok = run_case(bench, &scene, row, a->lanes.value[l], a->threads.value[t]);
                }
    cli_scene_close(&scene);
    return ok;
}

static int run_all(Bench *bench) {
    bool ok = true;
    bench_print_header(bench->args->format);
    for (int i = 0; i < bench->args->num_scenes && ok; i++)
        ok = run_scene(bench, i);
    if (!ok || !bench_print_end(bench->args->format, &bench->rows))
        return CLI_EXIT_BAD;
    for (int i = 0; i < bench->rows.count; i++)
        if (bench->rows.row[i].failed)
            return CLI_EXIT_WORLDS_FAILED;
    return CLI_EXIT_OK;
}

/* Of lists the grid takes the first; its own defaults are 1024 worlds and one thread. */
static int bench_newton(const BenchArgs *a) {
    const BenchNewton newton = {.settings = &a->settings,
                                .precisions = &a->precisions,
                                .worlds = a->worlds.count ? a->worlds.value[0] : 1024,
                                .threads = a->threads.count ? a->threads.value[0] : 1,
                                .lanes = a->lanes.value[0],
                                .repeat = a->repeat,
                                .seed = a->seed,
                                .format = a->format};
    return cli_bench_newton(&newton);
}

int cli_bench(int argc, char **argv) {
    const struct argp_child children[] = {{&cli_settings_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .doc = "Measures how many steps of how many worlds a second has.",
                              .children = children};
    BenchArgs args = {.precisions = {2, {SAP_FP32, SAP_FP64}}, .lanes = {1, {0}}, .repeat = 5};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    if (args.list)
        return list_scenes(&args.settings);
    if (args.collision)
        return cli_bench_collision(&(BenchCollision){&args.settings, args.repeat, args.seed, args.format});
    if (args.newton)
        return bench_newton(&args);
    if (args.worlds.count == 0)
        args.worlds = (CliList){4, {1, 64, 4096, 65536}};
    if (args.threads.count == 0)
        args.threads = (CliList){2, {1, 0}};
    if (args.num_scenes == 0) {
        args.scenes[args.num_scenes++] = "quadruped";
        args.scenes[args.num_scenes++] = "humanoid";
    }
    Bench bench = {.args = &args};
    int code = run_all(&bench);
    free(bench.rows.row);
    return code;
}
