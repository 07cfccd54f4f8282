/* `sapwood info SCENE`: the robot and its surroundings, the cost of a step, and with --probe the number of contacts that
 * it needs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/cli/capabilities.h"
#include "host/cli/info_constraints.h"
#include "host/cli/info_loads.h"
#include "host/cli/info_robot.h"
#include "host/cli/machine.h"
#include "host/cli/machine_report.h"
#include "host/cli/model.h"
#include "host/cli/probe.h"
#include "host/cli/scene_list.h"

/* ---- command line ---- */

typedef struct InfoArgs {
    CliSettings settings;
    const char *scene;
    bool json, probe, capabilities, machine, all_options;
    const char *probe_only; /* an option that was given and requires --probe; NULL: none */
    CliProbe how;
} InfoArgs;

enum {
    KEY_JSON = 256,
    KEY_OPTIONS,
    KEY_PROBE,
    KEY_WORLDS,
    KEY_STEPS,
    KEY_SEED,
    KEY_NOISE,
    KEY_LIST,
    KEY_CAPABILITIES,
    KEY_MACHINE
};

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "Print as JSON", 0},
    {"options", KEY_OPTIONS, NULL, 0, "Also print the value of every option", 0},
    {"list", KEY_LIST, NULL, 0, "List the scenes of bench/scenes and exit", 0},
    {"capabilities", KEY_CAPABILITIES, NULL, 0, "Print what each contact_solver and device can do", 0},
    {"machine", KEY_MACHINE, NULL, 0, "Print version, system, CPU and GPUs, for a report of a bug", 0},
    {"probe", KEY_PROBE, NULL, 0, "Step some worlds, count their contacts, and propose max_contacts", 1},
    {"worlds", KEY_WORLDS, "N", 0, "Number of worlds of the probe; default 64", 1},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps of the probe; default 400", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise of the probe; default 0", 1},
    {"noise", KEY_NOISE, "X", 0, "Noise of the probe, as in `run`; default 0.1", 1},
    {0}};

/* Records that an option of the probe was given. */
static const char *of_probe(InfoArgs *a, const char *option) {
    a->probe_only = option;
    return option;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    InfoArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_JSON: a->json = true; return 0;
    case KEY_OPTIONS: a->all_options = true; return 0;
    case KEY_LIST: exit(cli_scene_list(&a->settings));
    case KEY_CAPABILITIES: a->capabilities = true; return 0;
    case KEY_MACHINE: a->machine = true; return 0;
    case KEY_PROBE: a->probe = true; return 0;
    case KEY_WORLDS: a->how.worlds = cli_int(state, of_probe(a, "--worlds"), arg, 1, 1000000); return 0;
    case KEY_STEPS: a->how.steps = cli_int(state, of_probe(a, "--steps"), arg, 1, 1000000); return 0;
    case KEY_SEED: a->how.seed = cli_u64(state, of_probe(a, "--seed"), arg); return 0;
    case KEY_NOISE: a->how.noise = cli_real(state, of_probe(a, "--noise"), arg, true); return 0;
    case ARGP_KEY_END:
        if (a->probe_only && !a->probe)
            argp_error(state, "%s is given without --probe", a->probe_only);
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (a->capabilities || a->machine)
            return 0;
        return cli_scene_argument(key, arg, state, &a->scene);
    default: return cli_scene_argument(key, arg, state, &a->scene);
    }
}

/* ---- data ---- */

enum { BATCH = 64 }; /* fills the lanes of any machine; a single world runs differently */

typedef struct Info {
    CliScene scene;
    SapSolverInfo solver; /* for at least BATCH worlds */
    int slots;            /* contact slots of a world in a batch */
    double flops;
    CliErrors errors;
    const CliProbe *probe; /* NULL: not requested */
} Info;

static bool collect(InfoArgs *args, Info *out) {
    if (!cli_scene_open(args->scene, &args->settings, &out->scene))
        return false;
    const SapScene *scene = out->scene.scene;
    int worlds = scene->num_worlds > BATCH ? scene->num_worlds : BATCH;
    SapSolver *solver = NULL;
    SapOptions o = scene->options;
    o.device = SAP_DEVICE_CPU; /* a solver runs on the CPU only */
    if (o.max_contacts == 0 && !cli_check(sap_batch_probe_contacts(scene->model, &o, &o.max_contacts)))
        return false;
    out->slots = o.max_contacts;
    bool ok = cli_check(sap_solver_create(scene->model, worlds, &o, &solver)) &&
              cli_check(sap_solver_info(solver, &out->solver)) && cli_step_flops(out->scene.arrays, &out->flops) &&
              cli_errors_measure(scene, &out->errors);
    sap_solver_destroy(solver);
    out->probe = args->probe ? &args->how : NULL;
    return ok && (!args->probe || cli_probe_run(scene, &args->how));
}

static double total_mass(const SapModelArrays *a) {
    double mass = 0;
    for (int i = 0; i < a->num_bodies; i++)
        mass += a->body_mass[i];
    return mass;
}

static int count_type(const int32_t *types, int count, int32_t type) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found += types[i] == type;
    return found;
}

/* Number of values per world in a SapState and a SapControl with all their arrays. */
static long long state_numbers(const SapModelArrays *a) {
    return (long long)a->num_coords + a->num_dofs + 13LL * a->num_bodies;
}

static long long control_numbers(const SapModelArrays *a) {
    return 4LL * a->num_dofs + 6LL * a->num_bodies;
}

static int num_dofs(const SapModelArrays *a, int joint) {
    return a->joint_qd_start[joint + 1] - a->joint_qd_start[joint];
}

static const char *broad_phase_name(const SapSolverInfo *s) {
    return s->broad_phase == SAP_BROAD_PHASE_SWEEP  ? "sweep"
           : s->broad_phase == SAP_BROAD_PHASE_TREE ? "tree"
                                                    : "listed";
}

/* ---- as text ---- */

typedef int32_t TypeAt(int i);
typedef const char *TypeName(int32_t type);

static void print_types(const char *label, const int32_t *types, int count, TypeAt *type_at, TypeName *name) {
    printf("%-18s %d", label, count);
    const char *separator = " (";
    for (int i = 0; type_at(i) >= 0; i++) {
        int found = count_type(types, count, type_at(i));
        if (found) {
            printf("%s%s %d", separator, name(type_at(i)), found);
            separator = ", ";
        }
    }
    puts(separator[0] == ',' ? ")" : "");
}

static void print_robot_size(const SapModelArrays *a) {
    printf("%-18s bodies %d, total mass %s, dofs %d\n", "robot", a->num_bodies, cli_mass_text(total_mass(a)).text,
           a->num_dofs);
    print_types("joints", a->joint_type, a->num_joints, sap_joint_type_at, cli_joint_type);
    print_types("shapes", a->shape_type, a->num_shapes, sap_shape_type_at, cli_shape_type);
}

/* With the law `lagged` a contact that is found in penetration has too much friction in an impact. */
static void print_contact_law(const Info *info) {
    const SapModelArrays *a = info->scene.arrays;
    const SapOptions *o = &info->scene.scene->options;
    double most = 0;
    for (int s = 0; s < a->num_shapes; s++)
        most = fmax(most, a->shape_gap[s]);
    if (o->contact_approximation == SAP_APPROXIMATION_SAP)
        return;
    bool is_late = o->contact_approximation == SAP_APPROXIMATION_LAGGED && most == 0;
    printf("%-18s %s%s\n", "contact law", cli_option(o, "contact_approximation").text,
           is_late ? "; all gaps are 0, so impacts have too much friction: set gaps to the motion of a step" : "");
}

static void print_contacts(const Info *info) {
    const SapModelArrays *a = info->scene.arrays;
    double least = INFINITY, most = 0;
    for (int s = 0; s < a->num_shapes; s++) {
        least = fmin(least, a->shape_material_mu[s]);
        most = fmax(most, a->shape_material_mu[s]);
    }
    if (a->num_shapes > 0)
        printf(least < most ? "%-18s %.3g .. %.3g\n" : "%-18s %.3g\n", "friction", least, most);
    print_contact_law(info);
    printf("%-18s %d that may touch, broad phase %s\n", "shape pairs", info->solver.shape_pairs,
           broad_phase_name(&info->solver));
    printf("%-18s %d per world, %s\n", "contact slots", info->slots,
           info->scene.scene->options.max_contacts ? "by max_contacts" : "chosen by a probe");
    if (info->probe)
        cli_probe_print(info->probe, info->slots, 18);
}

static void print_cost(const Info *info) {
    const SapModelArrays *a = info->scene.arrays;
    const SapSolverInfo *s = &info->solver;
    long long nv = a->num_dofs, dense = nv * (nv + 1) / 2;
    printf("%-18s about %s flops per world; factor %d nonzeros, %.0f %% of a dense one\n", "free motion",
           cli_si(info->flops).text, s->factor_nonzeros, 100.0 * s->factor_nonzeros / (double)dense);
    printf("%-18s state and control of a world %s in f32, %s in f64; scratch %s per thread\n", "memory",
           cli_bytes(4.0 * (double)(state_numbers(a) + control_numbers(a))).text,
           cli_bytes(8.0 * (double)(state_numbers(a) + control_numbers(a))).text,
           cli_bytes((double)s->scratch_bytes).text);
    printf("%-18s %s, lanes %d, threads %d\n", "runs on", cli_isa(s->isa).text, s->lanes, s->threads);
}

static void print_options(const SapOptions *o, bool all) {
    json_t *knobs = cli_knobs_json(o);
    printf("%-18s %s%s", "preset", cli_option(o, "preset").text, json_object_size(knobs) > 0 ? ", and " : "");
    json_decref(knobs);
    cli_knobs_print(stdout, o);
    puts(all ? "\noptions" : "; --options lists all options");
    for (const char *const *name = sap_options_names(); all && *name; name++)
        printf("  %-32s %s\n", *name, cli_option(o, *name).text);
}

static void print_warning(void *to, const char *text) {
    (void)to;
    printf("warning: %s\n", text);
}

static bool print_human(const Info *info, bool all_options) {
    const SapModelArrays *a = info->scene.arrays;
    const SapScene *scene = info->scene.scene;
    printf("%-18s %s (%s)\n", "scene", cli_shown(info->scene.path).text, cli_shown(a->name).text);
    print_robot_size(a);
    puts("");
    if (!cli_robot_print(a))
        return false;
    puts("");
    printf("%-18s %d, time step %.4g ms, gravity %g %g %g m/s^2, keyframes %d\n", "worlds", scene->num_worlds,
           1e3 * scene->dt, a->gravity[0], a->gravity[1], a->gravity[2], a->num_keyframes);
    print_contacts(info);
    cli_constraints_print(a, &info->errors);
    if (!cli_loads_warn(scene, print_warning, NULL))
        return false;
    print_cost(info);
    print_options(&scene->options, all_options);
    return true;
}

/* ---- as JSON ---- */

static json_t *types_json(const int32_t *types, int count, TypeAt *type_at, TypeName *name) {
    json_t *json = json_object();
    for (int i = 0; type_at(i) >= 0; i++) {
        int found = count_type(types, count, type_at(i));
        if (found)
            cli_json_put(&json, name(type_at(i)), json_integer(found));
    }
    return json;
}

static json_t *joints_json(const SapModelArrays *a) {
    json_t *list = json_array();
    for (int j = 0; j < a->num_joints; j++) {
        int parent = a->joint_parent[j];
        json_array_append_new(list, json_pack("{so ss si so so so}", "name", cli_json_text(a->joint_name[j]), "type",
                                              cli_joint_type(a->joint_type[j]), "dofs", num_dofs(a, j), "parent",
                                              parent < 0 ? json_null() : cli_json_text(a->body_name[parent]), "child",
                                              cli_json_text(a->body_name[a->joint_child[j]]), "mass",
                                              cli_json_real(a->body_mass[a->joint_child[j]])));
    }
    return list;
}

static json_t *options_json(const SapOptions *o) {
    json_t *json = json_object();
    cli_json_put(&json, "preset", json_string(cli_option(o, "preset").text));
    for (const char *const *name = sap_options_names(); *name; name++)
        cli_json_put(&json, *name, json_string(cli_option(o, *name).text));
    return json;
}

static void add_warning(void *list, const char *text) {
    json_array_append_new(list, cli_json_text(text));
}

static json_t *warnings_json(const SapScene *scene) {
    json_t *list = json_array();
    const char *warning;
    for (int i = 0; (warning = sap_model_warning(scene->model, i)) != NULL; i++)
        add_warning(list, warning);
    if (cli_loads_warn(scene, add_warning, list))
        return list;
    json_decref(list);
    return NULL;
}

static json_t *memory_json(const SapModelArrays *a, const SapSolverInfo *s) {
    json_int_t state = state_numbers(a), control = control_numbers(a);
    return json_pack("{sI sI sI sI sI sI sI}", "state_f32", 4 * state, "state_f64", 8 * state, "control_f32",
                     4 * control, "control_f64", 8 * control, "scratch_per_thread", (json_int_t)s->scratch_bytes,
                     "model", (json_int_t)s->model_bytes, "solver_total", (json_int_t)s->total_bytes);
}

static json_t *info_json(const Info *info) {
    /* Scene. */
    const SapModelArrays *a = info->scene.arrays;
    const SapScene *scene = info->scene.scene;
    const SapSolverInfo *s = &info->solver;
    json_int_t nv = a->num_dofs;
    json_t *json = json_object();
    cli_json_put(&json, "scene", cli_json_text(info->scene.path));
    cli_json_put(&json, "name", cli_json_text(a->name));
    cli_json_put(&json, "worlds", json_integer(scene->num_worlds));
    cli_json_put(&json, "dt", cli_json_real(scene->dt));
    cli_json_put(&json, "gravity", json_pack("[fff]", a->gravity[0], a->gravity[1], a->gravity[2]));
    /* Bodies, joints and shapes. */
    cli_json_put(&json, "bodies", json_integer(a->num_bodies));
    cli_json_put(&json, "total_mass", cli_json_real(total_mass(a)));
    cli_json_put(&json, "joints", json_integer(a->num_joints));
    cli_json_put(&json, "joints_by_type", types_json(a->joint_type, a->num_joints, sap_joint_type_at, cli_joint_type));
    cli_json_put(&json, "dofs", json_integer(nv));
    cli_json_put(&json, "coordinates", json_integer(a->num_coords));
    cli_json_put(&json, "shapes", json_integer(a->num_shapes));
    cli_json_put(&json, "shapes_by_type", types_json(a->shape_type, a->num_shapes, sap_shape_type_at, cli_shape_type));
    cli_json_put(&json, "shape_pairs", json_integer(s->shape_pairs));
    cli_json_put(&json, "broad_phase", json_string(broad_phase_name(s)));
    cli_json_put(&json, "meshes", json_pack("{si si}", "count", a->num_meshes, "vertices", a->num_mesh_vertices));
    cli_json_put(&json, "height_fields",
                 json_pack("{si si}", "count", a->num_height_fields, "heights", a->num_heights));
    cli_json_put(&json, "articulations", json_integer(a->num_articulations));
    cli_json_put(&json, "keyframes", json_integer(a->num_keyframes));
    cli_json_put(&json, "constraints", cli_constraints_json(a, &info->errors));
    cli_json_put(&json, "constraint_rows",
                 json_pack("{si si}", "count", info->errors.rows, "independent", info->errors.rank));
    cli_json_put(&json, "tendons", cli_tendons_json(a, &info->errors));
    cli_json_put(&json, "warnings", warnings_json(scene));
    /* Cost and device. */
    cli_json_put(&json, "factor",
                 json_pack("{si sI}", "nonzeros", s->factor_nonzeros, "dense", (json_int_t)(nv * (nv + 1) / 2)));
    cli_json_put(&json, "contact_slots", json_integer(info->slots));
    cli_json_put(&json, "flops_per_world_step", cli_json_real(info->flops));
    cli_json_put(&json, "bytes", memory_json(a, s));
    cli_json_put(&json, "isa", json_string(cli_isa(s->isa).text));
    cli_json_put(&json, "lanes", json_integer(s->lanes));
    cli_json_put(&json, "threads", json_integer(s->threads));
    /* Contacts, options and the kinematic tree. */
    if (info->probe)
        cli_json_put(&json, "probe", cli_probe_json(info->probe));
    cli_json_put(&json, "options", options_json(&scene->options));
    cli_json_put(&json, "tree", joints_json(a));
    return json;
}

int cli_info(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(CLI_SCENE_SETTINGS), 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "SCENE",
        .doc = "Shows the contents of SCENE, a file or a name in bench/scenes, and the cost of a step.",
        .children = children};
    InfoArgs args = {.how = {.worlds = 64, .steps = 400, .noise = 0.1}};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    if (args.capabilities)
        return cli_capabilities(args.json);
    if (args.machine)
        return cli_machine_report(args.json);
    Info info = {0};
    bool ok =
        collect(&args, &info) && (args.json ? cli_json_print(info_json(&info)) : print_human(&info, args.all_options));
    cli_errors_free(&info.errors);
    cli_scene_close(&info.scene);
    return !ok ? CLI_EXIT_BAD : args.how.failed ? CLI_EXIT_WORLDS_FAILED : CLI_EXIT_OK;
}
