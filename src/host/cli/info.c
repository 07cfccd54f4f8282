/* `sapwood info SCENE`: the contents of a scene, its cost, and with --probe the number of contacts it needs. */
#include <stdio.h>
#include <stdlib.h>

#include "host/cli/capabilities.h"
#include "host/cli/info_constraints.h"
#include "host/cli/model.h"
#include "host/cli/probe.h"
#include "host/cli/scene_list.h"

/* ---- command line ---- */

typedef struct InfoArgs {
    CliSettings settings;
    const char *scene;
    bool json, probe, capabilities;
    const char *probe_only; /* an option that was given and requires --probe; NULL: none */
    CliProbe how;
} InfoArgs;

enum { KEY_JSON = 256, KEY_PROBE, KEY_WORLDS, KEY_STEPS, KEY_SEED, KEY_NOISE, KEY_LIST, KEY_CAPABILITIES };

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "Print as JSON", 0},
    {"list", KEY_LIST, NULL, 0, "List the scenes of bench/scenes and exit", 0},
    {"capabilities", KEY_CAPABILITIES, NULL, 0, "Print what each contact_solver and device can do", 0},
    {"probe", KEY_PROBE, NULL, 0, "Step some worlds, count their contacts, and propose max_rigid_contact", 1},
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
    case KEY_LIST: exit(cli_scene_list(&a->settings));
    case KEY_CAPABILITIES: a->capabilities = true; return 0;
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
        if (a->capabilities)
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
    if (o.max_rigid_contact == 0 && !cli_check(sap_batch_probe_contacts(scene->model, &o, &o.max_rigid_contact)))
        return false;
    out->slots = o.max_rigid_contact;
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

/* ---- the tree ---- */

/* The joints in depth-first order: each after its parent and before its siblings' subtrees. */
typedef struct Tree {
    int *order; /* [nj] */
    int *depth; /* [nj] by joint */
    int *memory;
} Tree;

/* Visits `joint` and its subtree: down to the first child, otherwise to the next sibling of the nearest ancestor that
 * has one. */
static int visit(const int *first, const int *next, const int *up, int joint, int count, Tree *tree) {
    for (int at = joint;;) {
        tree->depth[at] = up[at] < 0 ? 0 : tree->depth[up[at]] + 1;
        tree->order[count++] = at;
        if (first[at] >= 0) {
            at = first[at];
            continue;
        }
        while (at != joint && next[at] < 0)
            at = up[at];
        if (at == joint)
            return count;
        at = next[at];
    }
}

static bool tree_create(const SapModelArrays *a, Tree *tree) {
    size_t n = (size_t)a->num_joints;
    tree->memory = cli_allocate(6 * n, sizeof *tree->memory);
    if (tree->memory == NULL)
        return false;
    tree->order = tree->memory;
    tree->depth = tree->memory + n;
    int *first = tree->memory + 2 * n, *next = first + n, *up = next + n, *joint_of = up + n;
    for (int j = 0; j < a->num_joints; j++) {
        joint_of[a->joint_child[j]] = j;
        first[j] = next[j] = up[j] = -1;
    }
    for (int j = a->num_joints - 1; j >= 0; j--)
        if (a->joint_parent[j] >= 0) {
            up[j] = joint_of[a->joint_parent[j]];
            next[j] = first[up[j]];
            first[up[j]] = j;
        }
    int count = 0;
    for (int j = 0; j < a->num_joints; j++)
        if (up[j] < 0)
            count = visit(first, next, up, j, count, tree);
    return true;
}

static bool print_tree(const SapModelArrays *a) {
    enum { MAX_INDENT = 40 }; /* indent of all deeper levels */
    Tree tree;
    if (!tree_create(a, &tree))
        return false;
    puts("tree");
    for (int i = 0; i < a->num_joints; i++) {
        int j = tree.order[i], depth = tree.depth[j] < MAX_INDENT ? tree.depth[j] : MAX_INDENT;
        printf("  %*s%s: %s, dofs %d, body %s, %.6g kg\n", 2 * depth, "", cli_shown(a->joint_name[j]).text,
               cli_joint_type(a->joint_type[j]), num_dofs(a, j), cli_shown(a->body_name[a->joint_child[j]]).text,
               a->body_mass[a->joint_child[j]]);
    }
    free(tree.memory);
    return true;
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

static void print_memory(const SapModelArrays *a, const SapSolverInfo *s) {
    long long state = state_numbers(a), control = control_numbers(a);
    printf("%-18s state %lld B in f32, %lld B in f64; control %lld B, %lld B; results 32 B\n", "memory per world",
           4 * state, 8 * state, 4 * control, 8 * control);
    printf("%-18s scratch %zu B per thread (%zu B per world of a pack), model %zu B; total %zu B for %d worlds\n",
           "memory of solver", s->scratch_bytes, s->scratch_bytes / (size_t)s->lanes, s->model_bytes, s->total_bytes,
           s->num_worlds);
}

static void print_options(const SapOptions *o) {
    printf("options            preset %s\n", cli_option(o, "contact_preset_variant").text);
    for (const char *const *name = sap_options_names(); *name; name++)
        printf("  %-32s %s\n", *name, cli_option(o, *name).text);
}

static bool print_human(const Info *info) {
    /* Scene. */
    const SapModelArrays *a = info->scene.arrays;
    const SapScene *scene = info->scene.scene;
    const SapSolverInfo *s = &info->solver;
    long long nv = a->num_dofs, dense = nv * (nv + 1) / 2;
    printf("%-18s %s\n%-18s %s\n", "scene", cli_shown(info->scene.path).text, "name", cli_shown(a->name).text);
    printf("%-18s %d, time step %g s, gravity %g %g %g m/s^2\n", "worlds", scene->num_worlds, scene->dt, a->gravity[0],
           a->gravity[1], a->gravity[2]);
    /* Bodies, joints and shapes. */
    printf("%-18s %d, total mass %.6g kg\n", "bodies", a->num_bodies, total_mass(a));
    print_types("joints", a->joint_type, a->num_joints, sap_joint_type_at, cli_joint_type);
    printf("%-18s %d, coordinates %d\n", "dofs", a->num_dofs, a->num_coords);
    print_types("shapes", a->shape_type, a->num_shapes, sap_shape_type_at, cli_shape_type);
    printf("%-18s %d that may touch, broad phase %s\n", "shape pairs", s->shape_pairs, broad_phase_name(s));
    printf("%-18s %d of %d vertices, height fields %d of %d heights\n", "meshes", a->num_meshes, a->num_mesh_vertices,
           a->num_height_fields, a->num_heights);
    printf("%-18s %d\n", "articulations", a->num_articulations);
    printf("%-18s %d\n", "keyframes", a->num_keyframes);
    printf("%-18s %d, tendons %d\n", "constraints", a->num_constraints, a->num_tendons);
    /* Cost and device. */
    printf("%-18s %d nonzeros, dense %lld (%.0f %%)\n", "factor", s->factor_nonzeros, dense,
           100.0 * s->factor_nonzeros / (double)dense);
    printf("%-18s about %s flops per world\n", "free motion", cli_si(info->flops).text);
    print_memory(a, s);
    printf("%-18s %s, lanes %d, threads %d\n", "runs on", cli_isa(s->isa).text, s->lanes, s->threads);
    /* Contacts, options and the kinematic tree. */
    printf("%-18s %d per world, %s\n", "contact slots", info->slots,
           scene->options.max_rigid_contact ? "by max_rigid_contact" : "chosen by a probe");
    if (info->probe)
        cli_probe_print(info->probe, info->slots, 18);
    print_options(&scene->options);
    cli_constraints_print(a, &info->errors);
    return print_tree(a);
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
    cli_json_put(&json, "preset", json_string(cli_option(o, "contact_preset_variant").text));
    for (const char *const *name = sap_options_names(); *name; name++)
        cli_json_put(&json, *name, json_string(cli_option(o, *name).text));
    return json;
}

static json_t *warnings_json(const SapModel *model) {
    json_t *list = json_array();
    const char *warning;
    for (int i = 0; (warning = sap_model_warning(model, i)) != NULL; i++)
        json_array_append_new(list, cli_json_text(warning));
    return list;
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
    cli_json_put(&json, "warnings", warnings_json(scene->model));
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
    const struct argp_child children[] = {{&cli_settings_argp, 0, NULL, 0}, {0}};
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
    Info info = {0};
    bool ok = collect(&args, &info) && (args.json ? cli_json_print(info_json(&info)) : print_human(&info));
    cli_errors_free(&info.errors);
    cli_scene_close(&info.scene);
    return !ok ? CLI_EXIT_BAD : args.how.failed ? CLI_EXIT_WORLDS_FAILED : CLI_EXIT_OK;
}
