#include "lab/compare_solvers/solvers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/compare/mujoco_model.h"
#include "host/cli/start.h"

const SolverChoice solver_choices[NUM_SOLVER_CHOICES] = {{"sap", "sap", "convex"},
                                                         {"mujoco", "mujoco", "convex"},
                                                         {"cone", "cone", "convex"},
                                                         {"coulomb", "cone", "coulomb"},
                                                         {"pgs", "pgs", "convex"},
                                                         {"pgs_rows", "pgs_rows", "convex"},
                                                         {"active_set", "active_set", "convex"}};
const char *const solver_names[NUM_SOLVER_CHOICES + 1] = {"sap", "mujoco",   "cone",       "coulomb",
                                                          "pgs", "pgs_rows", "active_set", NULL};

/* ---- one solver on its worlds ---- */

/* A batch, and what its steps record of contacts and free motion. */
typedef struct SolverBatch {
    CliBatch batch;
    int capacity, nv;
    double push, max_push;                                       /* of the options */
    double *impulse, *velocity, *gap, *pair, *weight, *jacobian; /* SapContactReport */
    double *frame, *drive, *limit, *friction, *v_star, *A, *v_after;
    /* MuJoCo's law has its own model if the scene's has none, and rows in place of pair, drive, limit and friction */
    bool mujoco;
    SapModel *model;
    SapMujocoRows rows;
} SolverBatch;

static double *numbers(size_t worlds, size_t n) {
    return cli_allocate(worlds * n + 1, sizeof(double));
}

static bool record_rows(const SolversArgs *args, SolverBatch *b) {
    const SapModelArrays *m = b->batch.arrays;
    size_t n = (size_t)args->worlds, nv = (size_t)b->nv;
    b->rows.capacity = 3 * (b->capacity + b->nv) + 6 * m->num_constraints + 3 * m->num_tendons;
    size_t rows = n * (size_t)b->rows.capacity;
    b->rows.count = cli_allocate(n, sizeof *b->rows.count);
    b->rows.type = cli_allocate(rows, sizeof *b->rows.type);
    b->rows.state = cli_allocate(rows, sizeof *b->rows.state);
    b->rows.jacobian = numbers(rows, nv);
    b->rows.pos = numbers(rows, 1);
    b->rows.R = numbers(rows, 1);
    b->rows.aref = numbers(rows, 1);
    b->rows.force = numbers(rows, 1);
    return b->rows.count && b->rows.type && b->rows.state && b->rows.jacobian && b->rows.pos && b->rows.R &&
           b->rows.aref && b->rows.force && cli_check(sap_solver_record_rows(b->batch.solver, &b->rows));
}

/* The batch; with MuJoCo's law of the scene's model, or of one with the numbers of that law. */
static bool create_batch(const SapScene *scene, const SapOptions *o, const SolversArgs *args, SolverBatch *b) {
    SapScene own = *scene;
    b->mujoco = o->contact_solver == SAP_SOLVER_MUJOCO;
    if (b->mujoco && !sap_model_mujoco(scene->model)) {
        if (!cli_mujoco_model(scene->model, &b->model))
            return false;
        own.model = b->model;
    }
    return cli_batch_create(&own, o, args->worlds, SAP_F64, false, &b->batch);
}

static bool solver_batch_create(const SapScene *scene, const SapOptions *o, const SolversArgs *args, SolverBatch *b) {
    if (!create_batch(scene, o, args, b))
        return false;
    size_t n = (size_t)args->worlds, nv = (size_t)b->batch.arrays->num_dofs, slots = (size_t)b->batch.where.capacity;
    b->capacity = b->batch.where.capacity;
    b->nv = b->batch.arrays->num_dofs;
    b->push = o->push_factor;
    b->max_push = o->max_push;
    /* The arrays that its steps fill. */
    double **const all[] = {&b->impulse, &b->velocity, &b->gap,      &b->pair,   &b->weight, &b->jacobian, &b->frame,
                            &b->drive,   &b->limit,    &b->friction, &b->v_star, &b->A,      &b->v_after};
    const size_t size[] = {3 * slots, 3 * slots, slots, 3 * slots, slots, 3 * nv * slots, 9 * slots, nv,
                           nv,        nv,        nv,    nv * nv,   nv};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i] = numbers(n, size[i])))
            return false;
    /* Record them, and perturb the worlds. */
    SapContactReport report = {.impulse = b->impulse,
                               .velocity = b->velocity,
                               .gap = b->gap,
                               .pair = b->mujoco ? NULL : b->pair,
                               .weight = b->weight,
                               .jacobian = b->jacobian,
                               .frame = b->frame,
                               .drive = b->mujoco ? NULL : b->drive,
                               .limit = b->mujoco ? NULL : b->limit,
                               .friction = b->mujoco ? NULL : b->friction};
    return cli_check(sap_solver_record(b->batch.solver, &report)) && (!b->mujoco || record_rows(args, b)) &&
           cli_batch_perturb(&b->batch, args->seed, args->noise);
}

static void solver_batch_free(SolverBatch *b) {
    void *const all[] = {b->impulse, b->velocity,   b->gap,       b->pair,       b->weight,        b->jacobian,
                         b->frame,   b->drive,      b->limit,     b->friction,   b->v_star,        b->A,
                         b->v_after, b->rows.count, b->rows.type, b->rows.state, b->rows.jacobian, b->rows.pos,
                         b->rows.R,  b->rows.aref,  b->rows.force};
    cli_batch_free(&b->batch);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    sap_model_destroy(b->model);
}

static SapOptions options_of(const SapScene *scene, const SolverChoice *choice, bool *ok) {
    SapOptions o = scene->options;
    *ok = cli_check(sap_options_set(&o, "contact_solver", choice->contact_solver)) &&
          cli_check(sap_options_set(&o, "friction_law", choice->friction_law));
    return o;
}

/* ---- measures of one step ---- */

/* A contact in the scaled variables of docs/dual.md: x = impulse/d, z = d (J v - c), q = d (c - J v*). */
typedef struct Scaled {
    double x[3], z[3], q[3];
} Scaled;

/* c of a rigid contact. */
static double target(const SolverBatch *b, double gap, double h) {
    return gap > 0 ? -gap / h : fmin(-b->push * gap / h, b->max_push);
}

static Scaled scale_contact(const SolverBatch *b, int world, int k, double h) {
    size_t at = (size_t)world * (size_t)b->capacity + (size_t)k, nv = (size_t)b->nv;
    const double *J = b->jacobian + at * 3 * nv, *v_star = b->v_star + (size_t)world * nv;
    double mu = b->pair[3 * at], unit = 1 / sqrt(b->weight[at]), d[3] = {mu * unit, mu * unit, unit};
    double c[3] = {0, 0, target(b, b->gap[at], h)};
    Scaled s = {{0}, {0}, {0}};
    for (size_t a = 0; a < 3; a++) {
        double free = 0;
        for (size_t i = 0; i < nv; i++)
            free += J[a * nv + i] * v_star[i];
        s.x[a] = d[a] > 0 ? b->impulse[3 * at + a] / d[a] : 0;
        s.z[a] = d[a] * (b->velocity[3 * at + a] - c[a]);
        s.q[a] = d[a] * (c[a] - free);
    }
    return s;
}

/* |x - Proj(x - z)|^2, Proj on |p_t| <= p_n. */
static double natural2(const Scaled *s) {
    double p[3], t, g, sum = 0;
    for (int a = 0; a < 3; a++)
        p[a] = s->x[a] - s->z[a];
    t = hypot(p[0], p[1]);
    g = t <= p[2] ? 1 : t <= -p[2] ? 0 : 0.5 * (p[2] + t);
    for (int a = 0; a < 3; a++) {
        double inside = t <= p[2] ? p[a] : t <= -p[2] ? 0 : a == 2 ? g : g * p[a] / t;
        sum += (s->x[a] - inside) * (s->x[a] - inside);
    }
    return sum;
}

/* x of a contact in the axes of another frame. */
static void rotate_vector(const double *from, const double *to, double *x) {
    double world[3] = {0}, turned[3] = {0};
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            world[i] += from[3 * a + i] * x[a];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            turned[a] += to[3 * a + i] * world[i];
    memcpy(x, turned, sizeof turned);
}

/* Contacts of MuJoCo's law have other tangents and weights. They get another solver's at the same state, so that
 * all are measured alike. */
static void measure_as(const SolverBatch *other, SolverBatch *b, int worlds) {
    size_t slots = (size_t)b->capacity;
    for (size_t at = 0; at < (size_t)worlds * slots; at++) {
        if ((int)(at % slots) >= b->batch.contacts->count[at / slots])
            continue;
        rotate_vector(b->frame + 9 * at, other->frame + 9 * at, b->impulse + 3 * at);
        rotate_vector(b->frame + 9 * at, other->frame + 9 * at, b->velocity + 3 * at);
    }
    memcpy(b->gap, other->gap, (size_t)worlds * slots * sizeof *b->gap);
    memcpy(b->pair, other->pair, 3 * (size_t)worlds * slots * sizeof *b->pair);
    memcpy(b->weight, other->weight, (size_t)worlds * slots * sizeof *b->weight);
    memcpy(b->jacobian, other->jacobian, 3 * (size_t)worlds * slots * (size_t)b->nv * sizeof *b->jacobian);
}

/* The residual of the contacts of a world as rigid contacts; 0 without contacts. */
static double world_residual(const SolverBatch *b, int world, double h) {
    double error = 0, scale = 0;
    for (int k = 0; k < b->batch.contacts->count[world]; k++) {
        Scaled s = scale_contact(b, world, k, h);
        error += natural2(&s);
        scale += s.q[0] * s.q[0] + s.q[1] * s.q[1] + s.q[2] * s.q[2];
    }
    return scale > 0 ? sqrt(error / scale) : 0;
}

/* Generalised impulse i of all constraints of a world. */
static double impulse_on(const SolverBatch *b, size_t w, size_t i) {
    size_t nv = (size_t)b->nv;
    double sum = 0;
    if (b->mujoco) {
        size_t first = w * (size_t)b->rows.capacity;
        for (size_t k = first; k < first + (size_t)b->rows.count[w]; k++)
            sum += b->batch.dt * b->rows.jacobian[k * nv + i] * b->rows.force[k];
        return sum;
    }
    sum = b->drive[w * nv + i] + b->limit[w * nv + i] + b->friction[w * nv + i];
    for (int k = 0; k < b->batch.contacts->count[w]; k++) {
        size_t at = w * (size_t)b->capacity + (size_t)k;
        for (size_t a = 0; a < 3; a++)
            sum += b->jacobian[(at * 3 + a) * nv + i] * b->impulse[3 * at + a];
    }
    return sum;
}

/* |A (v - v*) - J' l| / max(|A v|, |J' l|) of a world: momentum that no impulse accounts for. */
static double world_momentum(const SolverBatch *b, int world) {
    size_t nv = (size_t)b->nv, w = (size_t)world;
    const double *A = b->A + w * nv * nv, *v = b->v_after + w * nv, *v_star = b->v_star + w * nv;
    double error = 0, momentum = 0, impulse = 0;
    for (size_t i = 0; i < nv; i++) {
        double gained = 0, total = 0, given = impulse_on(b, w, i);
        for (size_t j = 0; j < nv; j++) {
            gained += A[i * nv + j] * (v[j] - v_star[j]);
            total += A[i * nv + j] * v[j];
        }
        error += (gained - given) * (gained - given);
        momentum += total * total;
        impulse += given * given;
    }
    double scale = fmax(momentum, impulse);
    return scale > 0 ? sqrt(error / scale) : 0;
}

/* Root mean square over worlds of |x - y|, n numbers per world. */
static double difference(const double *x, const double *y, int worlds, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < (size_t)worlds * n; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum / worlds);
}

/* Largest difference of the impulses of corresponding contacts, root mean square over worlds. */
static double impulse_difference(const SolverBatch *a, const SolverBatch *b, int worlds) {
    double sum = 0;
    for (int w = 0; w < worlds; w++)
        for (int i = 0; i < 3 * a->batch.contacts->count[w]; i++) {
            size_t at = (size_t)w * 3 * (size_t)a->capacity + (size_t)i;
            sum += (a->impulse[at] - b->impulse[at]) * (a->impulse[at] - b->impulse[at]);
        }
    return sqrt(sum / worlds);
}

/* ---- the same states ---- */

static bool velocities(const SolverBatch *b, const SapState *state, const SapFreeMotion *out) {
    return cli_check(sap_free_motion(b->batch.solver, state, NULL, b->batch.dt, out));
}

/* One step of `b`, with its measures, from the state it has. The internal order of v comes from an inspection. */
static bool step_measured(SolverBatch *b, double *seconds) {
    SapFreeMotion before = {.v_star = b->v_star, .A = b->A}, after = {.joint_qd = b->v_after};
    if (!velocities(b, b->batch.state, &before))
        return false;
    double start = cli_processor_seconds();
    if (!cli_batch_step(&b->batch, 1))
        return false;
    *seconds += cli_processor_seconds() - start;
    uint32_t *status = cli_allocate((size_t)b->batch.state->num_worlds, sizeof *status);
    if (!status)
        return false;
    size_t bytes = (size_t)b->batch.state->num_worlds * sizeof *status;
    memcpy(status, b->batch.report.status, bytes); /* the inspection overwrites it */
    bool ok = velocities(b, b->batch.state, &after);
    memcpy((void *)(uintptr_t)b->batch.report.status, status, bytes);
    free(status);
    return ok;
}

static void add_measures(const SolverBatch *base, const SolverBatch *b, const SolversArgs *args, SolverRow *row) {
    row->v = fmax(row->v, difference(b->v_after, base->v_after, args->worlds, (size_t)b->nv));
    row->impulse = fmax(row->impulse, impulse_difference(base, b, args->worlds));
    for (int w = 0; w < args->worlds; w++) {
        uint32_t status = b->batch.report.status[w];
        if (status & SAP_WORLD_FAILED)
            continue;
        row->residual += world_residual(b, w, b->batch.dt) / ((double)args->worlds * args->steps);
        row->own_residual += b->batch.report.residual[w] / ((double)args->worlds * args->steps);
        row->momentum = fmax(row->momentum, world_momentum(b, w));
        row->not_converged += (status & SAP_WORLD_NOT_CONVERGED) != 0;
        cli_count_add(&row->iterations, b->batch.report.iterations[w]);
    }
}

static void add_all_measures(Solvers *s, SolverBatch *batches) {
    const SolversArgs *args = s->args;
    int other = 0;
    while (other + 1 < args->solvers.count && batches[other].mujoco)
        other++;
    for (int k = 0; k < args->solvers.count; k++)
        if (batches[k].mujoco && !batches[other].mujoco)
            measure_as(&batches[other], &batches[k], args->worlds);
    for (int k = 0; k < args->solvers.count; k++)
        add_measures(&batches[0], &batches[k], args, &s->row[k]);
}

/* Steps the first solver, and every other one from the states of the first. */
static bool run_together(Solvers *s, SolverBatch *batches) {
    const SolversArgs *args = s->args;
    double seconds[CLI_LIST_SIZE] = {0};
    for (int step = 0; step < args->steps; step++)
        for (int i = args->solvers.count - 1; i >= 0; i--) { /* the first last: it moves the common state */
            if (i > 0) {
                memcpy(batches[i].batch.state->joint_q, batches[0].batch.state->joint_q, batches[0].batch.q_bytes);
                memcpy(batches[i].batch.state->joint_qd, batches[0].batch.state->joint_qd, batches[0].batch.qd_bytes);
            }
            if (!step_measured(&batches[i], &seconds[i]))
                return false;
            if (i == 0)
                add_all_measures(s, batches);
        }
    for (int i = 0; i < args->solvers.count; i++)
        s->row[i].ns = 1e9 * seconds[i] / ((double)args->worlds * args->steps);
    return true;
}

/* ---- each solver alone ---- */

static double mean_energy(CliBatch *batch, double *energies) {
    if (!cli_batch_energies(batch, energies))
        return (double)NAN;
    CliEnergy e = cli_batch_summarise(batch, energies);
    return e.mean[0] + e.mean[1];
}

static void look_at_contacts(const SolverBatch *b, bool last, SolverRow *row) {
    for (int w = 0; w < b->batch.state->num_worlds; w++)
        for (int k = 0; k < b->batch.contacts->count[w]; k++) {
            size_t at = (size_t)w * (size_t)b->capacity + (size_t)k;
            row->depth = fmax(row->depth, -b->gap[at]);
            if (last && b->impulse[3 * at + 2] > 0)
                row->slip = fmax(row->slip, hypot(b->velocity[3 * at], b->velocity[3 * at + 1]));
        }
}

static bool run_alone(const SolversArgs *args, SolverBatch *b, SolverRow *row) {
    double *energies = cli_allocate(2 * (size_t)args->worlds, sizeof *energies);
    bool ok = energies && cli_check(sap_batch_reset(b->batch.batch, NULL, 0)) &&
              cli_batch_perturb(&b->batch, args->seed, args->noise);
    double start = ok ? mean_energy(&b->batch, energies) : 0;
    for (int step = 0; ok && step < args->steps; step++) {
        ok = cli_batch_step(&b->batch, 1) && cli_batch_gather(&b->batch);
        look_at_contacts(b, step >= args->steps - args->steps / 10 - 1, row);
    }
    if (ok)
        row->failed = cli_batch_failures(&b->batch);
    row->energy = ok ? mean_energy(&b->batch, energies) - start : 0;
    free(energies);
    return ok;
}

/* ---- the command ---- */

enum { KEY_SOLVERS = 256, KEY_WORLDS, KEY_STEPS, KEY_SEED, KEY_NOISE, KEY_PLOT, KEY_JSON, MOST = 1000000 };

static const struct argp_option options[] = {
    {"solvers", KEY_SOLVERS, "LIST", 0,
     "Solvers: sap, mujoco, cone, coulomb, pgs, pgs_rows, active_set; the first moves the worlds; default all", 1},
    {"worlds", KEY_WORLDS, "N", 0, "Number of worlds; default 64", 1},
    {"steps", KEY_STEPS, "N", 0, "Number of time steps; default 200", 1},
    {"seed", KEY_SEED, "S", 0, "Seed of the noise; default 0", 1},
    {"noise", KEY_NOISE, "X", 0,
     "Amplitude of the noise on the initial joint velocities of worlds 1, 2, ... (m/s, rad/s); default 0.1", 1},
    {"plot", KEY_PLOT, "FILE.svg", 0, "Draw accuracy against processor time", 3},
    {"json", KEY_JSON, NULL, 0, "Print as JSON", 3},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    SolversArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_SOLVERS: a->solvers = cli_choice_list(state, "--solvers", arg, solver_names); return 0;
    case KEY_WORLDS: a->worlds = cli_int(state, "--worlds", arg, 1, MOST); return 0;
    case KEY_STEPS: a->steps = cli_int(state, "--steps", arg, 1, MOST); return 0;
    case KEY_SEED: a->seed = cli_u64(state, "--seed", arg); return 0;
    case KEY_NOISE: a->noise = cli_real(state, "--noise", arg, true); return 0;
    case KEY_PLOT: a->plot = arg; return 0;
    case KEY_JSON: a->json = true; return 0;
    default: return cli_scene_argument(key, arg, state, &a->scene);
    }
}

static bool compare(Solvers *s, SolverBatch *batches) {
    const SolversArgs *args = s->args;
    if (!cli_scene_open(args->scene, &args->settings, &s->scene))
        return false;
    for (int i = 0; i < args->solvers.count; i++) {
        bool ok;
        SapOptions o = options_of(s->scene.scene, &solver_choices[args->solvers.value[i]], &ok);
        if (!ok || !solver_batch_create(s->scene.scene, &o, args, &batches[i]))
            return false;
    }
    if (!run_together(s, batches))
        return false;
    for (int i = 0; i < args->solvers.count; i++)
        if (!run_alone(args, &batches[i], &s->row[i]))
            return false;
    return true;
}

static int run_command(const SolversArgs *args) {
    Solvers *s = cli_allocate(1, sizeof *s);
    SolverBatch *batches = cli_allocate(CLI_LIST_SIZE, sizeof *batches);
    bool ok = s && batches;
    int failed = 0;
    if (ok)
        s->args = args;
    ok = ok && compare(s, batches) && solvers_print(s);
    for (int i = 0; s && batches && i < args->solvers.count; i++) {
        failed += s->row[i].failed.total;
        solver_batch_free(&batches[i]);
    }
    if (s)
        cli_scene_close(&s->scene);
    free(batches);
    free(s);
    return !ok ? CLI_EXIT_BAD : failed ? CLI_EXIT_WORLDS_FAILED : CLI_EXIT_OK;
}

static int compare_solvers(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(CLI_PRESET | CLI_ASSET_ROOT), 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "SCENE",
        .doc =
            "Compares contact solvers: in every step of SCENE, a file or a name in bench/scenes, each solves from the "
            "states of the first; then each runs the worlds by itself.",
        .children = children};
    SolversArgs args = {
        .worlds = 64, .steps = 200, .noise = 0.1, .solvers = {NUM_SOLVER_CHOICES, {0, 1, 2, 3, 4, 5, 6}}};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    return run_command(&args);
}

int main(int argc, char **argv) {
    return cli_main("compare-solvers", compare_solvers, argc, argv);
}
