/* `sapwood run SCENE`: steps the worlds of a scene and prints a report. */
#include "host/cli/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/cli/cluster/cluster.h"
#include "host/cli/cluster/same_inputs.h"
#include "host/cli/interrupt.h"
#include "host/cli/scene_list.h"

/* ---- command line ---- */

enum {
    KEY_WORLDS = 256,
    KEY_STEPS,
    KEY_DT,
    KEY_SEED,
    KEY_NOISE,
    KEY_DTYPE,
    KEY_THREADS,
    KEY_LANES,
    KEY_TRAJECTORY,
    KEY_TRAJECTORY_WORLD,
    KEY_REPLAY,
    KEY_JSON,
    KEY_LIST
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Worlds:", 1},
    {"worlds", KEY_WORLDS, "N", 0, "Number of worlds; default: the scene's", 1},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps; default 400", 1},
    {"dt", KEY_DT, "H", 0, "Time step in seconds; default: the scene's", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise; default 0", 1},
    {"noise", KEY_NOISE, "X", 0,
     "Amplitude of the noise on the initial joint velocities of worlds 1, 2, ... (m/s, rad/s); default 0.1; with 0 all "
     "worlds are equal",
     1},
    {"dtype", KEY_DTYPE, "f32|f64", 0, "Storage type of states; default: the precision of the free motion", 1},
    {"threads", KEY_THREADS, "T", 0, "Worker threads; 0 (default) uses one per CPU", 2},
    {"lanes", KEY_LANES, "L", 0, "Worlds per SIMD pack: 1, 4, 8, 16 (avx512); 0 (default) selects automatically", 2},
    {NULL, 0, NULL, 0, "Output:", 3},
    {"trajectory", KEY_TRAJECTORY, "FILE.csv", 0, "Write coordinates and velocities of one world, one row per step", 3},
    {"trajectory-world", KEY_TRAJECTORY_WORLD, "W", 0, "World of the trajectory; default 0", 3},
    {"replay", KEY_REPLAY, "FILE.html", 0, "Write a page for a browser that shows the first worlds; needs Python", 3},
    {"json", KEY_JSON, NULL, 0, "Print the report as JSON", 3},
    {"list", KEY_LIST, NULL, 0, "List the scenes of bench/scenes and exit", 3},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    static const char *const dtypes[] = {"f32", "f64", NULL}; /* in the order of SapDtype */
    RunArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_WORLDS: a->worlds = cli_int(state, "--worlds", arg, 1, INT_MAX); return 0;
    case KEY_STEPS: a->steps = cli_int(state, "--steps", arg, 0, INT_MAX); return 0;
    case KEY_DT: a->dt = cli_real(state, "--dt", arg, false); return 0;
    case KEY_THREADS: cli_settings_add(state, &a->settings, "--threads", "threads", arg); return 0;
    case KEY_LANES: cli_settings_add(state, &a->settings, "--lanes", "lanes", arg); return 0;
    case KEY_SEED: a->seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_NOISE: a->noise = cli_real(state, "--noise", arg, true); return 0;
    case KEY_DTYPE: a->dtype = cli_choice(state, "--dtype", arg, dtypes); return 0;
    case KEY_TRAJECTORY: a->trajectory = arg; return 0;
    case KEY_TRAJECTORY_WORLD:
        a->trajectory_world = cli_int(state, "--trajectory-world", arg, 0, INT_MAX - 1);
        return 0;
    case KEY_REPLAY: a->replay = arg; return 0;
    case KEY_JSON: a->json = true; return 0;
    case KEY_LIST: exit(cli_scene_list(&a->settings));
    case ARGP_KEY_END:
        if (a->trajectory_world >= 0 && !a->trajectory)
            argp_error(state, "--trajectory-world is '%d' without --trajectory", a->trajectory_world);
        return 0;
    default: return cli_scene_argument(key, arg, state, &a->scene);
    }
}

/* ---- steps ---- */

static void show_progress(const Run *r) {
    enum { WIDTH = 30 };
    static const char bar[WIDTH + 1] = "##############################";
    int steps = r->args->steps, full = (int)((int64_t)WIDTH * r->done / steps);
    if (r->progress)
        fprintf(stderr, "\r[%-*.*s] %3d %%  step %d of %d  %s world-steps/s \x1b[K", WIDTH, full, bar,
                (int)(100 * (int64_t)r->done / steps), r->done, steps, cli_si(cli_run_rate(r)).text);
}

static void clear_progress(const Run *r) {
    if (r->progress)
        fputs("\r\x1b[K", stderr);
}

/* Takes n steps and measures their time. */
static bool run_chunk(Run *r, int n) {
    double start = cli_now();
    if (!cli_batch_step(&r->batch, n))
        return false;
    r->seconds += cli_now() - start;
    if (r->done == 0)
        r->first_step = cli_since_start();
    r->done += n;
    return cli_batch_gather(&r->batch) && cli_statistics_look(&r->statistics, &r->batch);
}

/* Number of steps of the next call. The last step is a separate call, because its gaps are recorded; statistics are
 * taken in at least about twenty steps. */
static int next_chunk(const Run *r, int chunk) {
    enum { LOOKS = 20 };
    int left = r->args->steps - r->done - 1, most = 1 + r->args->steps / LOOKS;
    chunk = chunk < most ? chunk : most;
    return left < 1 ? 1 : chunk < left ? chunk : left;
}

/* Steps in chunks that grow to about 50 ms, so that the clock and the progress bar cost nothing. A trajectory needs
 * every step. Several ranks take the same chunks, so that they sample the same steps. */
static bool run_steps(Run *r) {
    int chunk = cli_cluster_size() > 1 ? INT_MAX : 1, steps = r->args->steps;
    double last_shown = 0;
    bool trajectory = r->trajectory.file != NULL;
    if (trajectory && !cli_trajectory_row(&r->trajectory, &r->batch, 0))
        return false;
    while (r->done < steps && !cli_interrupted()) {
        double before = r->seconds;
        if (r->done == steps - 1 && !cli_statistics_record_gaps(&r->batch))
            return false;
        if (!run_chunk(r, next_chunk(r, chunk)))
            return false;
        if (trajectory && !cli_trajectory_row(&r->trajectory, &r->batch, r->done))
            return false;
        if (chunk < INT_MAX && !trajectory && r->seconds - before < 0.05 && chunk < 1 << 20)
            chunk *= 2;
        if (r->seconds - last_shown >= 0.05) {
            show_progress(r);
            last_shown = r->seconds;
        }
    }
    return true;
}

static bool open_trajectory(Run *r) {
    const RunArgs *a = r->args;
    int world = a->trajectory_world < 0 ? 0 : a->trajectory_world, own = world - r->batch.first;
    if (a->trajectory == NULL)
        return true;
    if (world >= r->batch.total)
        return cli_fail("--trajectory-world is '%d'; allowed: an integer 0 .. %d", world, r->batch.total - 1);
    if (own < 0 || own >= r->batch.state->num_worlds) /* another rank has it */
        return true;
    return cli_trajectory_open(a->trajectory, own, r->scene.arrays, &r->trajectory);
}

/* The arguments that all ranks must have in common. */
static bool check_ranks(const Run *r, int worlds, SapDtype dtype) {
    const RunArgs *a = r->args;
    char text[512];
    snprintf(text, sizeof text, "worlds: %d\nsteps: %d\ndt: %a\nseed: %llu\nnoise: %a\ndtype: %d\ntrajectory: %d\n",
             worlds, a->steps, r->scene.scene->dt, (unsigned long long)a->seed, a->noise, (int)dtype,
             a->trajectory != NULL);
    return cli_same_inputs("run", &r->scene, &r->scene.scene->options, text);
}

static bool prepare(Run *r) {
    const RunArgs *a = r->args;
    if (!cli_scene_open(a->scene, &a->settings, &r->scene))
        return false;
    SapScene *scene = r->scene.scene;
    if (a->dt > 0)
        scene->dt = a->dt;
    SapDtype dtype = a->dtype < 0 ? cli_default_dtype(&scene->options) : (SapDtype)a->dtype;
    int worlds = a->worlds ? a->worlds : scene->num_worlds;
    if (!check_ranks(r, worlds, dtype) || !cli_batch_create(scene, &scene->options, worlds, dtype, false, &r->batch))
        return false;
    if (!cli_batch_perturb(&r->batch, a->seed, a->noise))
        return false;
    r->progress = isatty(STDERR_FILENO) && cli_cluster_rank() == 0;
    r->energies = cli_allocate((size_t)r->batch.state->num_worlds, 4 * sizeof *r->energies);
    return r->energies && open_trajectory(r) && cli_batch_energies(&r->batch, r->energies);
}

static bool take_steps(Run *r) {
    if (cli_cluster_size() == 1)
        cli_catch_interrupt(); /* mpirun ends its ranks itself */
    bool ok = run_steps(r);
    clear_progress(r);
    if (!cli_trajectory_close(&r->trajectory) || !ok)
        return false;
    if (r->done > 0 && r->done == r->args->steps && !cli_statistics_look_at_gaps(&r->statistics, &r->batch))
        return false;
    cli_statistics_finish(&r->statistics, &r->batch);
    cli_statistics_gather(&r->statistics);
    r->seconds = cli_cluster_max(r->seconds);
    r->first_step = cli_cluster_max(r->first_step);
    r->bytes = cli_batch_bytes(&r->batch);
    double *end = r->energies + 2 * (size_t)r->batch.state->num_worlds;
    if (!cli_batch_energies(&r->batch, end))
        return false;
    r->failures = cli_batch_failures(&r->batch);
    r->start = cli_batch_summarise(&r->batch, r->energies);
    r->end = cli_batch_summarise(&r->batch, end);
    r->hash = cli_batch_hash(&r->batch);
    return true;
}

/* ---- the command ---- */

static int exit_code(const Run *r) {
    if (r->failures.total)
        return CLI_EXIT_WORLDS_FAILED;
    return r->done < r->args->steps ? cli_exit_interrupted() : CLI_EXIT_OK;
}

int cli_run(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(CLI_SCENE_SETTINGS), 0, NULL, 0}, {0}};
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .args_doc = "SCENE",
                              .doc = "Steps the worlds of SCENE, a file or a name of --list, and prints a report.",
                              .children = children};
    RunArgs args = {.steps = 400, .noise = 0.1, .dtype = -1, .trajectory_world = -1};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    Run r = {.args = &args};
    bool ok = prepare(&r) && take_steps(&r) && cli_run_report(&r);
    if (ok && args.replay && cli_cluster_rank() == 0)
        ok = cli_run_page(&r);
    int code = ok ? exit_code(&r) : CLI_EXIT_BAD;
    cli_trajectory_close(&r.trajectory);
    free(r.energies);
    cli_batch_free(&r.batch);
    cli_scene_close(&r.scene);
    return code;
}
