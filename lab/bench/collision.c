/* `sapwood bench-collision`: the cost of collision detection in nanoseconds of processor time per world, on one thread.
 *
 *   pair    sap_collide of two bodies with one shape each, which touch or nearly touch, in random orientations. The row
 *           "none" is the same without the pair: loading and placing two bodies and two shapes
 *   scene   sap_collide, and the whole step, of a scene after SETTLE steps */
#include <math.h>
#include <string.h>

#include "host/cli/batch.h"
#include "host/cli/bench/bench.h"
#include "host/cli/interrupt.h"
#include "host/cli/model.h"
#include "host/cli/start.h"

enum { PAIR_WORLDS = 256, PAIR_SLOTS = 16, SCENE_WORLDS = 256, SETTLE = 200 };

static const double burst_seconds = 0.02; /* minimum duration of one measurement */

/* ---- command line ---- */

typedef struct CollisionArgs {
    CliSettings settings;
    int repeat;
    uint64_t seed;
    BenchFormat format;
} CollisionArgs;

enum { KEY_REPEAT = 256, KEY_SEED, KEY_FORMAT };

static const struct argp_option options[] = {
    {"repeat", KEY_REPEAT, "R", 0, "Number of measurements; the fastest is reported; default 5", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the poses; default 0", 1},
    {"format", KEY_FORMAT, "human|csv|json", 0, "Format of the table", 1},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    CollisionArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_REPEAT: a->repeat = cli_int(state, "--repeat", arg, 1, 1000); return 0;
    case KEY_SEED: a->seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_FORMAT: a->format = bench_format(state, arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- measurement ---- */

typedef bool Work(void *arg);

static bool time_calls(Work *work, void *arg, int calls, double *seconds) {
    double start = cli_processor_seconds();
    for (int i = 0; i < calls; i++)
        if (!work(arg))
            return false;
    *seconds = cli_processor_seconds() - start;
    return true;
}

/* Nanoseconds per call of the fastest repeat; each repeat makes enough calls to fill the duration. */
static bool measure(Work *work, void *arg, int repeat, double *ns) {
    double seconds = 0, fastest = INFINITY;
    int calls = 1;
    for (;; calls *= 2) {
        if (!time_calls(work, arg, calls, &seconds))
            return false;
        if (seconds > burst_seconds || calls >= 1 << 24)
            break;
    }
    for (int i = 0; i < repeat && (i == 0 || !cli_interrupted()); i++) {
        if (!time_calls(work, arg, calls, &seconds))
            return false;
        fastest = fmin(fastest, seconds);
    }
    *ns = 1e9 * fastest / calls;
    return true;
}

typedef struct Collide {
    SapSolver *solver;
    const SapState *state;
    SapContacts *contacts;
} Collide;

static bool collide(void *arg) {
    const Collide *c = arg;
    return cli_check(sap_collide(c->solver, c->state, c->contacts));
}

static bool step(void *arg) {
    return cli_batch_step(arg, 1);
}

static double mean_count(const SapContacts *c) {
    double sum = 0;
    for (int w = 0; w < c->num_worlds; w++)
        sum += c->count[w];
    return sum / c->num_worlds;
}

/* ---- rows ---- */

typedef struct Row {
    const char *kind; /* "pair" or "scene" */
    char name[CLI_TEXT_SIZE];
    bool f64;          /* precision of the geometry */
    double collide_ns; /* per world */
    double step_ns;    /* the whole step; NaN for pairs */
    double contacts;   /* per world */
} Row;

typedef struct Bench {
    const CollisionArgs *args;
    json_t *rows; /* for JSON */
} Bench;

static void print_header(BenchFormat format) {
    if (format == BENCH_HUMAN)
        printf("sapwood %s, collision on one thread, ns per world\n\n%-6s %-24s %9s %10s %10s %9s\n", sap_version(), "",
               "", "geometry", "collision", "step", "contacts");
    else if (format == BENCH_CSV)
        puts("kind,name,geometry,collision_ns,step_ns,contacts");
}

static void print_row(Bench *b, const Row *r) {
    const char *precision = r->f64 ? "f64" : "f32";
    char whole[32] = "";
    if (!isnan(r->step_ns))
        snprintf(whole, sizeof whole, b->args->format == BENCH_CSV ? "%.6g" : "%.0f", r->step_ns);
    if (b->args->format == BENCH_HUMAN)
        printf("%-6s %-24s %9s %10.0f %10s %9.2f\n", r->kind, r->name, precision, r->collide_ns, whole, r->contacts);
    else if (b->args->format == BENCH_CSV)
        printf("%s,%s,%s,%.6g,%s,%.6g\n", r->kind, r->name, precision, r->collide_ns, whole, r->contacts);
    else
        json_array_append_new(b->rows, json_pack("{ss ss ss so so so}", "kind", r->kind, "name", r->name, "geometry",
                                                 precision, "collision_ns", cli_json_real(r->collide_ns), "step_ns",
                                                 cli_json_real(r->step_ns), "contacts", cli_json_real(r->contacts)));
    fflush(stdout);
}

static bool bench_options(const CollisionArgs *args, bool f64, SapOptions *o) {
    if (!cli_check(sap_options_preset(f64 ? "approx64" : "approx32", o)) || !cli_settings_apply(&args->settings, o))
        return false;
    o->contact_geometry_f64 = f64;
    o->threads = 1;
    return true;
}

/* ---- pairs ---- */

/* Sizes that make all shapes about equally large. */
static const struct {
    SapShapeType type;
    double size[3];
} shapes[] = {{SAP_SHAPE_PLANE, {0}},
              {SAP_SHAPE_HEIGHT_FIELD, {2, 2, 0}},
              {SAP_SHAPE_SPHERE, {0.4, 0, 0}},
              {SAP_SHAPE_CAPSULE, {0.25, 0.25, 0}},
              {SAP_SHAPE_ELLIPSOID, {0.5, 0.4, 0.3}},
              {SAP_SHAPE_CYLINDER, {0.35, 0.35, 0}},
              {SAP_SHAPE_BOX, {0.35, 0.35, 0.35}},
              {SAP_SHAPE_CONE, {0.4, 0.4, 0}},
              {SAP_SHAPE_HULL, {0.4, 0.4, 0.4}}};
enum { NUM_SHAPES = sizeof shapes / sizeof shapes[0], FIRST_CONVEX = 2, FIELD_SIDE = 17, HULL_VERTICES = 20 };

/* A dodecahedron around the unit ball. */
static void hull_vertices(double vertex[HULL_VERTICES][3]) {
    const double g = 0.5 * (1 + sqrt(5)), scale = 1 / sqrt(3);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            vertex[i][k] = scale * (i >> k & 1 ? 1 : -1);
    for (int i = 0; i < 12; i++) {
        int axis = i / 4;
        vertex[8 + i][axis] = 0;
        vertex[8 + i][(axis + 1) % 3] = scale * (i & 1 ? 1 : -1) / g;
        vertex[8 + i][(axis + 2) % 3] = scale * (i & 2 ? 1 : -1) * g;
    }
}

static void field_heights(double height[FIELD_SIDE][FIELD_SIDE]) {
    for (int r = 0; r < FIELD_SIDE; r++)
        for (int c = 0; c < FIELD_SIDE; c++)
            height[r][c] = 0.08 * sin(0.9 * r) * cos(1.1 * c);
}

/* Two free bodies with one shape each; terrain is static. Without the pair, the two are filtered. */
static bool pair_model(int a, int b, bool with_pair, SapModel **out) {
    /* Bodies, joints and shapes. */
    int32_t joint[2] = {SAP_JOINT_FREE, SAP_JOINT_FREE}, parent[2] = {-1, -1}, child[2] = {0, 1};
    int32_t type[2] = {(int32_t)shapes[a].type, (int32_t)shapes[b].type}, mesh[2], filter[2] = {0, 1};
    int32_t body[2] = {a < FIRST_CONVEX ? -1 : 0, 1}, start[2] = {0, HULL_VERTICES}, grid[2] = {FIELD_SIDE, FIELD_SIDE};
    double mass[2] = {1, 1}, inertia[2][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    double size[2][3], gap[2] = {0.05, 0.05}, vertex[HULL_VERTICES][3], height[FIELD_SIDE][FIELD_SIDE];
    /* Geometry. */
    hull_vertices(vertex);
    field_heights(height);
    memcpy(size[0], shapes[a].size, sizeof size[0]);
    memcpy(size[1], shapes[b].size, sizeof size[1]);
    for (int i = 0; i < 2; i++)
        mesh[i] = type[i] == SAP_SHAPE_HULL || type[i] == SAP_SHAPE_HEIGHT_FIELD ? 0 : -1;
    /* The model. */
    SapModelArrays m;
    sap_model_arrays_default(&m);
    m.num_bodies = m.num_joints = m.num_shapes = 2;
    m.num_dofs = 12;
    m.num_coords = 14;
    m.joint_type = joint;
    m.joint_parent = parent;
    m.joint_child = child;
    m.body_mass = mass;
    m.body_inertia = inertia[0];
    m.shape_type = type;
    m.shape_body = body;
    m.shape_scale = size[0];
    m.shape_gap = gap;
    m.shape_mesh = mesh;
    m.num_meshes = m.num_height_fields = 1;
    m.num_mesh_vertices = HULL_VERTICES;
    m.mesh_start = start;
    m.mesh_vertices = vertex[0];
    m.num_heights = FIELD_SIDE * FIELD_SIDE;
    m.height_field_size = grid;
    m.heights = height[0];
    m.num_shape_filter_pairs = with_pair ? 0 : 1;
    m.shape_filter_pairs = filter;
    return cli_check(sap_model_create(&m, out));
}

/* A random direction of n numbers: uniform in a cube, then normalised. */
static void random_unit(uint64_t seed, int world, int first, int n, double *out) {
    double square = 0;
    for (int i = 0; i < n; i++) {
        out[i] = cli_random_unit(seed, (uint64_t)world, (uint64_t)(first + i));
        square += out[i] * out[i];
    }
    for (int i = 0; i < n; i++)
        out[i] /= sqrt(square);
}

/* Random orientations; the centres are 0.7 m apart, or 0.35 m above the ground. */
static void place_pair(double *q, bool on_ground, uint64_t seed, int world) {
    const double up[3] = {0, 0, 1};
    double direction[3];
    random_unit(seed, world, 0, 3, direction);
    random_unit(seed, world, 3, 4, q + 3);
    random_unit(seed, world, 7, 4, q + 10);
    for (int k = 0; k < 3; k++)
        q[7 + k] = on_ground ? 0.35 * up[k] : 0.7 * direction[k];
}

static bool measure_pair(const CollisionArgs *args, const SapModel *model, bool on_ground, Row *row) {
    SapOptions o;
    Collide c = {0};
    SapState *state = NULL;
    bool ok = bench_options(args, row->f64, &o) && cli_check(sap_solver_create(model, PAIR_WORLDS, &o, &c.solver)) &&
              cli_check(sap_state_create(model, PAIR_WORLDS, SAP_F64, &state)) &&
              cli_check(sap_contacts_create(PAIR_WORLDS, PAIR_SLOTS, row->f64 ? SAP_F64 : SAP_F32, &c.contacts));
    for (int w = 0; ok && w < PAIR_WORLDS; w++)
        place_pair((double *)state->joint_q + 14 * w, on_ground, args->seed, w);
    c.state = state;
    ok = ok && measure(collide, &c, args->repeat, &row->collide_ns);
    if (ok) {
        row->collide_ns /= PAIR_WORLDS;
        row->contacts = mean_count(c.contacts);
    }
    sap_contacts_destroy(c.contacts);
    sap_state_destroy(state);
    sap_solver_destroy(c.solver);
    return ok;
}

/* One pair of types in both precisions. */
static bool bench_pair(Bench *bench, int a, int b, bool with_pair) {
    SapModel *model = NULL;
    bool ok = pair_model(a, b, with_pair, &model);
    for (int f64 = 0; ok && f64 < 2; f64++) {
        Row row = {.kind = "pair", .name = "none", .f64 = f64, .step_ns = (double)NAN};
        if (with_pair)
            snprintf(row.name, sizeof row.name, "%s-%s", cli_shape_type((int32_t)shapes[a].type),
                     cli_shape_type((int32_t)shapes[b].type));
        ok = measure_pair(bench->args, model, a < FIRST_CONVEX, &row);
        if (ok)
            print_row(bench, &row);
    }
    sap_model_destroy(model);
    return ok;
}

static bool bench_pairs(Bench *bench) {
    bool ok = bench_pair(bench, FIRST_CONVEX, FIRST_CONVEX, false);
    for (int a = 0; ok && a < NUM_SHAPES; a++)
        for (int b = a < FIRST_CONVEX ? FIRST_CONVEX : a; ok && b < NUM_SHAPES && !cli_interrupted(); b++)
            ok = bench_pair(bench, a, b, true);
    return ok;
}

/* ---- scenes ---- */

static bool measure_batch(const CollisionArgs *args, CliBatch *batch, Row *row) {
    const SapContacts *own = batch->contacts;
    Collide c = {.solver = batch->solver, .state = batch->state};
    bool ok = cli_batch_perturb(batch, args->seed, 0.1) && cli_batch_step(batch, SETTLE) && cli_batch_pull(batch) &&
              cli_check(sap_contacts_create(own->num_worlds, own->capacity, own->dtype, &c.contacts)) &&
              measure(collide, &c, args->repeat, &row->collide_ns);
    if (ok)
        row->contacts = mean_count(c.contacts);
    ok = ok && measure(step, batch, args->repeat, &row->step_ns);
    row->collide_ns /= own->num_worlds;
    row->step_ns /= own->num_worlds;
    sap_contacts_destroy(c.contacts);
    return ok;
}

static bool bench_scene(Bench *bench, const char *name) {
    CliScene scene;
    bool ok = cli_scene_open(name, &bench->args->settings, &scene);
    for (int f64 = 0; ok && f64 < 2; f64++) {
        Row row = {.kind = "scene", .f64 = f64};
        SapOptions o;
        CliBatch batch = {0};
        snprintf(row.name, sizeof row.name, "%s", name);
        ok = bench_options(bench->args, f64, &o) &&
             cli_batch_create(scene.scene, &o, SCENE_WORLDS, f64 ? SAP_F64 : SAP_F32, false, &batch) &&
             measure_batch(bench->args, &batch, &row);
        if (ok)
            print_row(bench, &row);
        cli_batch_free(&batch);
    }
    cli_scene_close(&scene);
    return ok;
}

static bool bench_scenes(Bench *bench) {
    static const char *const names[] = {"cube", "stack5", "quadruped", "gripper", "humanoid"};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof names / sizeof names[0] && !cli_interrupted(); i++)
        ok = bench_scene(bench, names[i]);
    return ok;
}

static int bench_collision(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(0), 0, NULL, 0}, {0}};
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .doc = "Measures the time of collision detection, by pair of shape types and in scenes.",
                              .children = children};
    CollisionArgs args = {.repeat = 5};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    Bench bench = {.args = &args, .rows = json_array()};
    cli_catch_interrupt();
    print_header(args.format);
    bool ok = bench_pairs(&bench) && bench_scenes(&bench);
    if (ok && args.format == BENCH_JSON)
        ok = cli_json_print(json_pack("{ss sO}", "version", sap_version(), "rows", bench.rows));
    json_decref(bench.rows);
    return !ok ? CLI_EXIT_BAD : cli_interrupted() ? cli_exit_interrupted() : CLI_EXIT_OK;
}

int main(int argc, char **argv) {
    return cli_main("bench-collision", bench_collision, argc, argv);
}
