/* `sapwood bench`: throughput of whole steps over scenes, presets, line searches, numbers of worlds, threads and lanes.
 * docs/bench.md. */
#include "host/cli/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/cluster/cluster.h"
#include "host/cli/cluster/same_inputs.h"
#include "host/cli/control.h"
#include "host/cli/interrupt.h"
#include "host/cli/scene_list.h"

/* ---- command line ---- */

enum { MAX_SCENES = 64, MAX_PRESETS = 8 };

typedef struct BenchArgs {
    BenchPlan plan;
    CliSettings settings;
    int num_scenes, num_presets;
    char *scenes[MAX_SCENES];
    const char *presets[MAX_PRESETS]; /* NULL: the scene's preset */
    CliList worlds, lanes, threads, line_searches;
    BenchFormat format;
} BenchArgs;

enum {
    KEY_SCENE = 256,
    KEY_WORLDS,
    KEY_STEPS,
    KEY_WARMUP,
    KEY_REPEAT,
    KEY_CALL,
    KEY_PRESET,
    KEY_LINE_SEARCH,
    KEY_THREADS,
    KEY_LANES,
    KEY_SEED,
    KEY_CONTROL_NOISE,
    KEY_BODIES,
    KEY_PROCESSOR_TIME,
    KEY_PROFILE,
    KEY_HOSTILE,
    KEY_FORMAT,
    KEY_LIST
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Cases:", 1},
    {"scene", KEY_SCENE, "LIST", 0,
     "Scene files or names; may be repeated; \"all\" selects every scene of bench/scenes; default quadruped,humanoid",
     1},
    {"worlds", KEY_WORLDS, "LIST", 0, "Numbers of worlds; default 1,64,4096", 1},
    {"preset", KEY_PRESET, "LIST", 0, "Presets of solver options: " CLI_PRESETS "; default: the scene's", 1},
    {"line-search", KEY_LINE_SEARCH, "LIST", 0,
     "Line searches: monotone_decay, armijo_decay, exact_root, wolfe; default: the scene's", 1},
    {"threads", KEY_THREADS, "LIST", 0, "Worker threads; 0 (default) uses one per CPU", 1},
    {"lanes", KEY_LANES, "LIST", 0, "Worlds per SIMD pack: 1, 4, 8, 16 (avx512); 0 (default) selects automatically", 1},
    {"control-noise", KEY_CONTROL_NOISE, "X", 0,
     "Amplitude of the noise on joint targets: X rad, X/10 m for linear axes; default 0.3", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise; default 0", 1},
    {"bodies", KEY_BODIES, NULL, 0, "Also write body poses and velocities in each step", 1},
    {NULL, 0, NULL, 0, "Measurement:", 3},
    {"steps", KEY_STEPS, "N", 0, "Steps per pass; passes repeat until a measurement takes 0.3 s; default 48", 3},
    {"warmup", KEY_WARMUP, "N", 0, "Steps before the measurement; default 100", 3},
    {"steps-per-call", KEY_CALL, "N", 0, "Largest number of steps per call, 1 to 4; default 4", 3},
    {"repeat", KEY_REPEAT, "R", 0, "Number of measurements; the median is reported; default 5", 3},
    {"processor-time", KEY_PROCESSOR_TIME, NULL, 0, "Measure processor time instead of wall time, for a busy machine",
     3},
    {"profile", KEY_PROFILE, NULL, 0, "Show the time of each stage of a step", 3},
    {"hostile", KEY_HOSTILE, "nan|wild", 0, "Show the effect of one world with NaN or extreme states on the others", 3},
    {"format", KEY_FORMAT, "human|csv|json", 0, "Format of the table", 3},
    {"list", KEY_LIST, NULL, 0, "List the scenes of bench/scenes and exit", 4},
    {0}};

static CliList parse_lanes(const struct argp_state *state, const char *text) {
    static const char *const words[] = {"0", "1", "4", "8", "16", NULL};
    static const int lanes[] = {0, 1, 4, 8, 16};
    CliList list = cli_choice_list(state, "--lanes", text, words);
    for (int i = 0; i < list.count; i++)
        list.value[i] = lanes[list.value[i]];
    return list;
}

static void add_scene(const struct argp_state *state, BenchArgs *a, const char *name) {
    if (a->num_scenes == MAX_SCENES)
        argp_error(state, "--scene '%s': allowed: at most %d scenes", name, MAX_SCENES);
    if (*name == '\0')
        argp_error(state, "--scene: a name is empty; allowed: files or names separated by commas");
    a->scenes[a->num_scenes] = strdup(name);
    if (a->scenes[a->num_scenes++] == NULL)
        argp_failure(state, CLI_EXIT_BAD, 0, "no memory for the name of a scene");
}

static void add_all_scenes(const struct argp_state *state, BenchArgs *a) {
    CliSceneFiles files;
    if (!cli_scene_files(&files))
        exit(CLI_EXIT_BAD);
    for (int i = 0; i < files.count; i++)
        add_scene(state, a, files.entry[i]->d_name);
    cli_scene_files_free(&files);
}

static void add_scenes(const struct argp_state *state, BenchArgs *a, char *list) {
    for (char *name; (name = strsep(&list, ","));)
        if (strcmp(name, "all") == 0)
            add_all_scenes(state, a);
        else
            add_scene(state, a, name);
}

static void add_presets(const struct argp_state *state, BenchArgs *a, char *list) {
    SapOptions scratch;
    for (char *name; (name = strsep(&list, ","));) {
        if (sap_options_preset(name, &scratch) != SAP_OK)
            argp_error(state, "--preset: %s", sap_error_message());
        if (a->num_presets == MAX_PRESETS)
            argp_error(state, "--preset '%s': allowed: at most %d presets", name, MAX_PRESETS);
        a->presets[a->num_presets++] = name;
    }
}

/* Options that the table varies cannot also be set to one value. */
static void check_settings(const struct argp_state *state, const BenchArgs *a) {
    SapOptions before, after;
    if (sap_options_preset(NULL, &before) != SAP_OK)
        exit(CLI_EXIT_BAD);
    after = before;
    if (!cli_settings_apply(&a->settings, &after))
        exit(CLI_EXIT_BAD);
    if (after.threads != before.threads)
        argp_error(state, "--set threads is '%d'; here, use --threads", after.threads);
    if (after.lanes != before.lanes)
        argp_error(state, "--set lanes is '%d'; here, use --lanes", after.lanes);
    if (after.line_search != before.line_search && a->line_searches.count > 0)
        argp_error(state, "--set line_search is '%s', and --line-search is given; allowed: one of them",
                   cli_option(&after, "line_search").text);
    if (after.device != SAP_DEVICE_CPU && a->plan.profile)
        argp_error(state, "--profile is given with --device '%s'; allowed: --device cpu",
                   cli_option(&after, "device").text);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    /* Choices, in the order of their enums. */
    static const char *const hostiles[] = {"nan", "wild", NULL}; /* BenchHostile without the first */
    static const char *const searches[] = {"monotone_decay", "armijo_decay", "exact_root", "wolfe",
                                           NULL}; /* SapLineSearch */
    /* One case per option. */
    BenchArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_SCENE: add_scenes(state, a, arg); return 0;
    case KEY_PRESET: add_presets(state, a, arg); return 0;
    case KEY_LINE_SEARCH: a->line_searches = cli_choice_list(state, "--line-search", arg, searches); return 0;
    case KEY_WORLDS: a->worlds = cli_int_list(state, "--worlds", arg, 1, INT_MAX); return 0;
    case KEY_STEPS: a->plan.steps = cli_int(state, "--steps", arg, 1, 1000000); return 0;
    case KEY_WARMUP: a->plan.warmup = cli_int(state, "--warmup", arg, 0, 1000000); return 0;
    case KEY_CALL: a->plan.call = cli_int(state, "--steps-per-call", arg, 1, CLI_CONTROL_STEPS); return 0;
    case KEY_REPEAT: a->plan.repeat = cli_int(state, "--repeat", arg, 1, 1000); return 0;
    case KEY_THREADS: a->threads = cli_int_list(state, "--threads", arg, 0, 1024); return 0;
    case KEY_LANES: a->lanes = parse_lanes(state, arg); return 0;
    case KEY_SEED: a->plan.seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_CONTROL_NOISE: a->plan.control_noise = cli_real(state, "--control-noise", arg, true); return 0;
    case KEY_BODIES: a->plan.bodies = true; return 0;
    case KEY_PROCESSOR_TIME: a->plan.processor_time = true; return 0;
    case KEY_PROFILE: a->plan.profile = true; return 0;
    case KEY_HOSTILE: a->plan.hostile = (BenchHostile)(1 + cli_choice(state, "--hostile", arg, hostiles)); return 0;
    case KEY_FORMAT: a->format = bench_format(state, arg); return 0;
    case KEY_LIST: exit(cli_scene_list(&a->settings));
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many; a scene is given by --scene", arg); return 0;
    case ARGP_KEY_END: check_settings(state, a); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- all cases ---- */

typedef struct Bench {
    const BenchArgs *args;
    BenchRows rows;
} Bench;

/* With few worlds, fewer threads and lanes are used than requested, so the case may have been measured already. */
static bool is_measured(void *arg, const BenchRow *row) {
    const BenchRows *rows = arg;
    for (int i = 0; i < rows->count; i++) {
        const BenchRow *r = &rows->row[i];
        if (r->scene_index == row->scene_index && r->preset_index == row->preset_index && r->worlds == row->worlds &&
            r->lanes == row->lanes && r->threads == row->threads && r->options.line_search == row->options.line_search)
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

static bool run_case(Bench *bench, const CliScene *scene, BenchRow *row) {
    const BenchArgs *a = bench->args;
    if (!bench_case(&a->plan, scene, is_measured, &bench->rows, row))
        return false;
    if (row->ns <= 0) /* already measured */
        return true;
    if (bench->rows.count == 0) /* no header above an empty table */
        bench_print_header(a->format, &a->plan);
    bench_print_row(a->format, &a->plan, row);
    return add_row(&bench->rows, row);
}

/* Runs all combinations of threads, lanes and worlds. */
static bool run_options(Bench *bench, const CliScene *scene, const BenchRow *like) {
    const BenchArgs *a = bench->args;
    bool ok = true;
    for (int l = 0; l < a->lanes.count && ok; l++)
        for (int t = 0; t < a->threads.count && ok; t++)
            for (int w = 0; w < a->worlds.count && ok; w++) {
                BenchRow row = *like;
                row.options.lanes = a->lanes.value[l];
                row.options.threads = a->threads.value[t];
                row.worlds = a->worlds.value[w];
                ok = run_case(bench, scene, &row);
            }
    return ok;
}

/* "folder/quadruped.yaml" is shown as "quadruped". */
static void set_label(const char *path, char label[CLI_TEXT_SIZE]) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    int length = dot && dot > base ? (int)(dot - base) : CLI_TEXT_SIZE;
    snprintf(label, CLI_TEXT_SIZE, "%.*s", length, base);
    cli_printable(label);
}

static int put_list(char *text, size_t size, const char *name, const CliList *list) {
    int used = snprintf(text, size, "%s:", name);
    for (int i = 0; i < list->count; i++)
        used += snprintf(text + used, size - (size_t)used, " %d", list->value[i]);
    return used + snprintf(text + used, size - (size_t)used, "\n");
}

/* The arguments that all ranks must have in common. */
static bool check_ranks(const BenchArgs *a, const CliScene *scene) {
    const BenchPlan *p = &a->plan;
    char text[2048];
    int used = put_list(text, sizeof text, "worlds", &a->worlds);
    used += put_list(text + used, sizeof text - (size_t)used, "threads", &a->threads);
    used += put_list(text + used, sizeof text - (size_t)used, "lanes", &a->lanes);
    used += put_list(text + used, sizeof text - (size_t)used, "line searches", &a->line_searches);
    snprintf(text + used, sizeof text - (size_t)used,
             "scenes: %d\npresets: %d\nsteps: %d\nwarmup: %d\nrepeat: %d\nseed: %llu\ncontrol noise: %a\nbodies: "
             "%d\nprocessor time: %d\n",
             a->num_scenes, a->num_presets, p->steps, p->warmup, p->repeat, (unsigned long long)p->seed,
             p->control_noise, p->bodies, p->processor_time);
    return cli_same_inputs("bench", scene, &scene->scene->options, text);
}

static bool run_scene(Bench *bench, int scene_index, int preset_index) {
    const BenchArgs *a = bench->args;
    CliSettings settings = a->settings;
    settings.preset = a->presets[preset_index];
    CliScene scene;
    if (!cli_scene_open(a->scenes[scene_index], &settings, &scene))
        return false;
    BenchRow row = {.scene_index = scene_index, .preset_index = preset_index, .options = scene.scene->options};
    set_label(scene.path, row.scene);
    bool ok = true;
    ok = check_ranks(a, &scene);
    if (a->line_searches.count == 0 && ok)
        ok = run_options(bench, &scene, &row);
    for (int i = 0; i < a->line_searches.count && ok; i++) {
        row.options.line_search = (SapLineSearch)a->line_searches.value[i];
        ok = run_options(bench, &scene, &row);
    }
    cli_scene_close(&scene);
    return ok;
}

static int run_all(Bench *bench) {
    const BenchArgs *a = bench->args;
    bool ok = true;
    if (cli_cluster_size() == 1)
        cli_catch_interrupt(); /* mpirun ends its ranks itself */
    for (int s = 0; s < a->num_scenes && ok; s++)
        for (int p = 0; p < a->num_presets && ok; p++)
            ok = run_scene(bench, s, p);
    if (!ok && !cli_interrupted())
        return CLI_EXIT_BAD;
    if (!bench_print_end(a->format, &a->plan, &bench->rows))
        return CLI_EXIT_BAD;
    for (int i = 0; i < bench->rows.count; i++)
        if (bench_row_failed(&bench->rows.row[i]))
            return CLI_EXIT_WORLDS_FAILED;
    return ok ? CLI_EXIT_OK : cli_exit_interrupted(); /* the case that was interrupted is not shown */
}

static int bench_scenes(BenchArgs *a, const struct argp_state *state) {
    if (a->worlds.count == 0)
        a->worlds = cli_cluster_size() == 1 ? (CliList){3, {1, 64, 4096}} : (CliList){1, {4096}};
    if (a->threads.count == 0)
        a->threads = (CliList){1, {0}};
    if (a->num_presets == 0)
        a->num_presets = 1; /* NULL */
    if (a->num_scenes == 0) {
        add_scene(state, a, "quadruped");
        add_scene(state, a, "humanoid");
    }
    Bench bench = {.args = a};
    int code = run_all(&bench);
    free(bench.rows.row);
    return code;
}

static int run_bench(BenchArgs *a) {
    if (cli_cluster_size() > 1 && (a->plan.profile || a->plan.hostile)) {
        cli_fail("--%s runs in one process, and mpirun started %d", a->plan.profile ? "profile" : "hostile",
                 cli_cluster_size());
        return CLI_EXIT_BAD;
    }
    return bench_scenes(a, NULL);
}

int cli_bench(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(CLI_DEVICE | CLI_ASSET_ROOT), 0, NULL, 0}, {0}};
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .doc = "Measures throughput in world-steps per second.",
                              .children = children};
    BenchArgs args = {
        .plan = {.steps = 48, .warmup = 100, .repeat = 5, .call = CLI_CONTROL_STEPS, .control_noise = 0.3},
        .lanes = {1, {0}}};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    int code = run_bench(&args);
    for (int i = 0; i < args.num_scenes; i++)
        free(args.scenes[i]);
    return code;
}
