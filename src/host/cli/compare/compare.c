/* `sapwood compare SCENE`: the effect of presets and of their options on a scene, in one step from the same states and
 * over a run. */
#include "host/cli/compare/compare.h"

#include <stdlib.h>

#include "host/cli/interrupt.h"

/* ---- command line ---- */

enum {
    KEY_WORLDS = 256,
    KEY_STEPS,
    KEY_SEED,
    KEY_NOISE,
    KEY_REFERENCE,
    KEY_STOPPING,
    KEY_PRESET,
    KEY_PLOT,
    KEY_JSON,
    MOST = 1000000
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Worlds:", 1},
    {"worlds", KEY_WORLDS, "N", 0, "Number of worlds; default 64", 1},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps; default 200", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise; default 0", 1},
    {"noise", KEY_NOISE, "X", 0,
     "Amplitude of the noise on the initial joint velocities of worlds 1, 2, ... (m/s, rad/s); default 0.1", 1},
    {NULL, 0, NULL, 0, "Presets:", 3},
    {"reference", KEY_REFERENCE, "P", 0,
     "The preset that moves the worlds, and whose options are changed one at a time; default approx64", 3},
    {"stopping", KEY_STOPPING, "tight|own", 0,
     "tight: every solve ends at rounding, so that stopping rules make no difference; own: each preset stops by its "
     "own rule; default tight",
     3},
    {NULL, 0, NULL, 0, "Output:", 4},
    {"plot", KEY_PLOT, "FILE.svg", 0, "Draw the differences of one step", 4},
    {"json", KEY_JSON, NULL, 0, "Print as JSON", 4},
    {"preset", KEY_PRESET, "P", OPTION_HIDDEN, NULL, 4},
    {0}};

/* The options of a preset are compared: setting one would change all variants except those that set it themselves. */
static void check(const struct argp_state *state, CompareArgs *args) {
    if (!args->reference)
        args->reference = "approx64";
    CliText value;
    const char *fixed = cli_compare_fixed_option(args, &value);
    if (fixed)
        argp_error(state, "--set %s is '%s'; compare varies the options of the presets itself", fixed, value.text);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    static const char *const rules[] = {"tight", "own", NULL};
    CompareArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_WORLDS: a->worlds = cli_int(state, "--worlds", arg, 1, MOST); return 0;
    case KEY_STEPS: a->steps = cli_int(state, "--steps", arg, 1, MOST); return 0;
    case KEY_SEED: a->seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_NOISE: a->noise = cli_real(state, "--noise", arg, true); return 0;
    case KEY_REFERENCE:
        a->reference = sap_preset_names()[cli_choice(state, "--reference", arg, sap_preset_names())];
        return 0;
    case KEY_STOPPING: a->own_stopping = cli_choice(state, "--stopping", arg, rules) == 1; return 0;
    case KEY_PRESET:
        argp_error(state, "--preset is '%s'; compare runs all presets, and --reference chooses the one to compare with",
                   arg);
        return 0;
    case KEY_PLOT: a->plot = arg; return 0;
    case KEY_JSON: a->json = true; return 0;
    case ARGP_KEY_END: check(state, a); return 0;
    default: return cli_scene_argument(key, arg, state, &a->scene);
    }
}

/* ---- the command ---- */

static bool any_failed(const Compare *c) {
    for (int i = 0; i < c->num_rows; i++)
        if (c->row[i].step_failed.total || c->row[i].run_failed.total)
            return true;
    return false;
}

static int compare_presets(Compare *c) {
    bool ok = cli_scene_open(c->args->scene, &c->args->settings, &c->scene) && cli_compare_variants(c) &&
              cli_compare_run(c) && (!c->args->plot || cli_compare_plot(c)) && cli_compare_print(c);
    if (!ok)
        return CLI_EXIT_BAD;
    if (any_failed(c))
        return CLI_EXIT_WORLDS_FAILED;
    return c->num_rows < c->num_variants ? cli_exit_interrupted() : CLI_EXIT_OK;
}

int cli_compare(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(CLI_DEVICE | CLI_ASSET_ROOT), 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "SCENE",
        .doc = "Takes the same steps of SCENE, a file or a name in bench/scenes, with every preset, and with one "
               "preset and one of its options changed at a time. Shows the differences of one step from the same "
               "states, and of runs.",
        .children = children};
    CompareArgs args = {.worlds = 64, .steps = 200, .noise = 0.1};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    Compare *c = cli_allocate(1, sizeof *c); /* too large for a stack */
    if (!c)
        return CLI_EXIT_BAD;
    c->args = &args;
    int code = compare_presets(c);
    sap_model_destroy(c->law_model);
    cli_scene_close(&c->scene);
    free(c);
    return code;
}
