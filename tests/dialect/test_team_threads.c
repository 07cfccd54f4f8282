/* The kernels on a team of real threads with a real barrier: the same bits as on one thread, for every program and team
 * size, without contacts, with given ones and with those it finds, in one go and in stages, and everything that a solve
 * reports. Built with the thread sanitizer too, where a barrier that is missing shows itself as a race;
 * barrier_mutants.sh removes each barrier in turn to see that it does. SAPWOOD_TEST_SCALE below 0.01 is the short run
 * for that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "host/cpu/dispatch.h"
#include "host/plan/layout.h"
#include "support/kernel_contacts.h"
#include "support/lockstep_stages.h"
#include "kernels/data/dual.h"
#include "kernels/dialect/team_threads.h"
#include "support/random_model.h"
#include "support/shape_model.h"
#include "support/team_threads.h"
#include "support/work.h"

extern const SapKernels sap_kernels_team_x1_f32;
extern const SapKernels sap_kernels_team_x1_f64;

enum { WORLDS = 2 };

static bool short_run(void) {
    return work_scale() < 0.01;
}

/* f32, f64 */
extern const SapKernels sap_kernels_generic_x1_f32, sap_kernels_generic_x1_f64;
static const SapKernels *const team_kernels[2] = {&sap_kernels_team_x1_f32, &sap_kernels_team_x1_f64};
static const SapKernels *const plain_kernels[2] = {&sap_kernels_generic_x1_f32, &sap_kernels_generic_x1_f64};
extern const SapDualKernels sap_dual_kernels_team_x1_f64, sap_dual_kernels_generic_x1_f64;

/* ---- one job: the kinematics alone, an inspection of the free motion, and some steps ---- */

/* What inspection and the solve's report fill, of all worlds. */
typedef struct Output {
    double *memory;
    size_t count;
    int *ints;
    size_t num_ints;
    SapInspectArgs *inspect;
} Output;

/* The next `n` rows of `width` numbers. */
static double *take(double **next, size_t width) {
    double *at = *next;
    *next += WORLDS * width;
    return at;
}

/* Numbers of a world in the reports of constraints and tendons. */
static size_t constraint_numbers(const SapPlan *p) {
    return (size_t)(p->num_rows * (6 + p->nv) + 6 * (p->num_constraints + p->nb) + 1 + 8 * p->num_tendons);
}

static void report_constraints_into(const SapPlan *p, SapReportArgs *r, double **next) {
    size_t rows = (size_t)p->num_rows, nt = (size_t)p->num_tendons;
    r->row_impulse = take(next, rows);
    r->row_error = take(next, rows);
    r->row_velocity = take(next, rows);
    r->row_weight = take(next, rows);
    r->row_target = take(next, rows);
    r->row_R = take(next, rows);
    r->row_jacobian = take(next, rows * (size_t)p->nv);
    r->constraint_wrench = take(next, 6 * (size_t)p->num_constraints);
    r->body_constraint_wrench = take(next, 6 * (size_t)p->nb);
    r->constraint_residual = take(next, 1);
    r->tendon_length = take(next, nt);
    r->tendon_velocity = take(next, nt);
    r->tendon_force = take(next, nt);
    r->tendon_limit = take(next, nt);
    r->tendon_spring = take(next, nt);
    r->tendon_damper = take(next, nt);
    r->tendon_friction = take(next, nt);
    r->tendon_drive = take(next, nt);
}

static Output output_into(SapStepArgs *args) {
    size_t nv = (size_t)args->plan.nv, nb = (size_t)args->plan.nb, slots = (size_t)args->contacts.capacity;
    Output all = {.count = WORLDS * (3 * nv + nv * nv + 19 * nb + 2 + slots * (23 + 3 * nv) + 3 * nv +
                                     constraint_numbers(&args->plan)),
                  .num_ints = WORLDS * (3 + slots),
                  .inspect = calloc(1, sizeof *all.inspect)};
    double *next = all.memory = calloc(all.count, sizeof *next);
    all.inspect->v_star = take(&next, nv);
    all.inspect->tau = take(&next, nv);
    all.inspect->v0 = take(&next, nv);
    all.inspect->A = take(&next, nv * nv);
    all.inspect->body_pose = take(&next, 7 * nb);
    all.inspect->body_velocity = take(&next, 6 * nb);
    all.inspect->body_bias = take(&next, 6 * nb);
    args->inspect = all.inspect;

    SapReportArgs *r = &args->report;
    r->cost = take(&next, 1);
    r->residual = take(&next, 1);
    r->impulse = take(&next, 3 * slots);
    r->velocity = take(&next, 3 * slots);
    r->position = take(&next, 3 * slots);
    r->frame = take(&next, 9 * slots);
    r->gap = take(&next, slots);
    r->weight = take(&next, slots);
    r->pair = take(&next, 3 * slots);
    r->jacobian = take(&next, 3 * nv * slots);
    r->drive = take(&next, nv);
    r->limit = take(&next, nv);
    r->friction = take(&next, nv);
    report_constraints_into(&args->plan, r, &next);

    int *ints = all.ints = calloc(all.num_ints, sizeof *ints);
    r->iterations = ints;
    r->line_iterations = ints + WORLDS;
    r->f64_retries = ints + 2 * WORLDS;
    r->region = ints + 3 * WORLDS;
    return all;
}

/* The contact cache and the copies of problems, for solves in impulses: zeroed, and after the step a part of what is
 * compared. */
typedef struct DualOutput {
    SapDualRecord record;
    void *memory;
    size_t bytes;
} DualOutput;

static DualOutput dual_output_into(KernelBatch *k) {
    size_t nv = (size_t)k->args.plan.nv, slots = (size_t)k->args.contacts.capacity;
    size_t rows = (size_t)sap_dual_max_rows(&k->args.plan, k->args.contacts.capacity);
    size_t numbers = WORLDS * (6 * slots + 4 * nv + rows * rows + 5 * rows), ints = WORLDS * (3 * slots + 1 + rows);
    DualOutput d = {.bytes = numbers * sizeof(double) + ints * sizeof(int)};
    double *next = d.memory = calloc(1, d.bytes);
    k->args.report.cache = take(&next, 6 * slots);
    k->args.report.dof_cache = take(&next, 4 * nv);
    d.record = (SapDualRecord){.max_rows = (int)rows,
                               .W = take(&next, rows * rows),
                               .b = take(&next, rows),
                               .mu = take(&next, rows),
                               .lo = take(&next, rows),
                               .hi = take(&next, rows),
                               .impulse = take(&next, rows)};
    int *integers = (int *)next;
    k->args.report.cache_key = integers;
    d.record.num_blocks = integers + WORLDS * 3 * slots;
    d.record.kind = d.record.num_blocks + WORLDS;
    return d;
}

static void output_free(Output *output) {
    free(output->memory);
    free(output->ints);
    free(output->inspect);
}

typedef struct Job {
    const KernelBatch *batch, *without; /* the same; without poses and velocities of bodies */
    bool is_team;
} Job;

/* Scratch is used again by the next world, so the team has to be done with this one. */
static void run_program(const Job *job, const KernelBatch *batch, SapProgram *program) {
    for (int w = 0; w < WORLDS; w++) {
        kernel_batch_run(batch, program, w);
        if (job->is_team)
            team_wait();
    }
}

/* ---- a step in stages, with a library that is a few lines ---- */

static double get(SapBuffer rows, long long i) {
    return rows.is_f64 ? ((double *)rows.data)[i] : (double)((float *)rows.data)[i];
}

static void put(SapBuffer rows, long long i, double x) {
    if (rows.is_f64)
        ((double *)rows.data)[i] = x;
    else
        ((float *)rows.data)[i] = (float)x;
}

/* One column of L L' = H, and of L y = b. */
static void eliminate(SapBuffer H, SapBuffer b, long long h, long long x, int n, int j) {
    double pivot = sqrt(get(H, h + j * n + j));
    put(b, x + j, get(b, x + j) / pivot);
    for (int i = j; i < n; i++)
        put(H, h + i * n + j, get(H, h + i * n + j) / pivot);
    for (int i = j + 1; i < n; i++) {
        put(b, x + i, get(b, x + i) - get(H, h + i * n + j) * get(b, x + j));
        for (int k = j + 1; k <= i; k++)
            put(H, h + i * n + k, get(H, h + i * n + k) - get(H, h + i * n + j) * get(H, h + k * n + j));
    }
}

static void solve_system(const SapLibraryArgs *l, int world, int n) {
    long long h = world * l->matrix.stride, x = world * l->vector.stride;
    for (int j = 0; j < n; j++)
        eliminate(l->matrix, l->vector, h, x, n, j);
    for (int j = n - 1; j >= 0; j--) { /* L' x = y */
        double sum = get(l->vector, x + j);
        for (int i = j + 1; i < n; i++)
            sum -= get(l->matrix, h + i * n + j) * get(l->vector, x + i);
        put(l->vector, x + j, sum / get(l->matrix, h + j * n + j));
    }
}

static void wait_for_team(void) {
    if (sap_team_size > 0)
        team_wait();
}

static void program_stages(SapContext *ctx) {
    SapStepArgs args = *ctx->args;
    int world = ctx->pack->world[0];
    ctx->args = &args;
    args.newton.dense = 1;
    lockstep_begin(ctx);
    wait_for_team();
    for (;;) {
        lockstep_assemble(ctx);
        wait_for_team();
        if (!args.library.active[world])
            break;
        if (sap_team_rank == 0)
            solve_system(&args.library, world, args.plan.nv);
        wait_for_team();
        lockstep_advance(ctx);
        wait_for_team();
    }
    lockstep_finish(ctx);
}

static void library_create(SapStepArgs *args) {
    SapLibraryArgs *l = &args->library;
    size_t nv = (size_t)args->plan.nv;
    int is_f64 = args->newton.linear_is_f64;
    l->matrix = (SapBuffer){calloc(WORLDS * nv * nv, sizeof(double)), (long long)(nv * nv), is_f64};
    l->vector = (SapBuffer){calloc(WORLDS * nv, sizeof(double)), (long long)nv, is_f64};
    l->active = calloc(WORLDS, sizeof *l->active);
    l->info = calloc(WORLDS, sizeof *l->info);
}

static void library_free(const SapLibraryArgs *l) {
    free(l->matrix.data);
    free(l->vector.data);
    free(l->active);
    free(l->info);
}

/* Several steps of a call: each overwrites what the one before has read. */
static void program_steps(SapContext *ctx) {
    SapStepArgs args = *ctx->args;
    ctx->args = &args;
    args.num_steps = 2;
    sap_program_step(ctx);
}

static void run_job(void *arg) {
    const Job *job = arg;
    run_program(job, job->batch, sap_program_kinematics);
    run_program(job, job->batch, sap_program_inspect);
    if (job->batch->args.collide.enabled)
        run_program(job, job->batch, sap_program_collide);
    bool contacts = job->batch->args.contacts.count; /* which fewer steps keep */
    run_program(job, job->without, contacts ? sap_program_step : program_steps);
    if (contacts && !job->batch->args.dual)
        run_program(job, job->batch, program_stages);
    run_program(job, job->batch, sap_program_step); /* last: the status is the step's */
}

/* ---- comparison ---- */

typedef struct Case {
    const char *name;
    const SapModel *model;
    SapOptions options;
    bool contacts, rigid; /* rigid: all contacts have an infinite stiffness (f64) */
    bool fails;           /* the last world is too fast to step (f64) */
    bool collides;        /* worlds start near the model's state and find their contacts */
} Case;

/* What a case made happen, to know that it tests something. */
typedef struct Seen {
    int iterations, line_iterations, f64_retries;
    int contacts, dropped;
    uint32_t status;
} Seen;

static Seen look(const KernelBatch *k) {
    const SapReportArgs *r = &k->args.report;
    Seen seen = {0};
    for (int w = 0; w < WORLDS; w++) {
        seen.iterations += r->iterations[w];
        seen.line_iterations += r->line_iterations[w];
        seen.f64_retries += r->f64_retries[w];
        seen.status |= k->status[w];
    }
    return seen;
}

/* The model's coordinates, a little moved. */
static void place_worlds(KernelBatch *k) {
    const SapModelArrays *m = k->batch.m;
    for (int i = 0; i < WORLDS * m->num_coords; i++) {
        double moved = i % 7 < 3 ? 0.01 * sin(1.7 * i) : 0;
        number_put(k->batch.state.joint_q, k->batch.state.dtype, (size_t)i, m->joint_q[i % m->num_coords] + moved);
    }
}

static SapContacts *add_contacts(const Case *c, KernelBatch *k) {
    if (c->collides)
        place_worlds(k);
    return c->collides ? kernel_batch_collide(k) : c->contacts ? kernel_batch_add_contacts(k, 0, plain_kernels) : NULL;
}

static Seen run_case(const Case *c, const SapKernels *const *kernels, int team, uint64_t hash[WORLDS], Output *output) {
    SapKernels f64 = *kernels[1]; /* the solve in impulses takes the place of that in velocities */
    if (c->options.contact_solver != SAP_SOLVER_SAP)
        f64.solve = (team > 0 ? &sap_dual_kernels_team_x1_f64 : &sap_dual_kernels_generic_x1_f64)->step_solve;
    const SapKernels *const tables[2] = {kernels[0], &f64};
    SapOptions options = c->options;
    if (options.contact_solver == SAP_SOLVER_SAP) { /* scratch of their stages */
        options.factor_plan = SAP_FACTOR_LIBRARY;
        options.device = SAP_DEVICE_CUDA; /* only there it is allowed */
    }
    KernelBatch k = kernel_batch_create_with(c->model, WORLDS, &options, tables, 0.005);
    k.args.newton.dense = c->options.factor_plan != SAP_FACTOR_SPARSE;
    SapContacts *contacts = add_contacts(c, &k);
    int nv = k.batch.m->num_dofs;
    for (int i = 0; c->rigid && i < WORLDS * HASH_SLOTS; i++)
        ((double *)contacts->stiffness)[i] = INFINITY;
    for (int i = 0; c->fails && i < nv; i++)
        ((double *)k.batch.state.joint_qd)[(WORLDS - 1) * nv + i] = 1e200;
    *output = output_into(&k.args);
    library_create(&k.args);
    DualOutput dual = {0};
    if (k.args.dual) {
        dual = dual_output_into(&k);
        k.dual->record = &dual.record;
    }
    KernelBatch without = k;
    without.args.body_q.data = without.args.body_qd.data = NULL;
    Job job = {.batch = &k, .without = &without, .is_team = team > 0};
    if (team > 0)
        team_run(team, run_job, &job);
    else
        run_job(&job);
    Seen seen = look(&k);
    cr_assert_eq((seen.status & SAP_WORLD_FAILED) != 0, c->fails, "%s: status %#x", c->name, (unsigned)seen.status);
    for (int w = 0; w < WORLDS; w++)
        hash[w] = hash_world(&k.batch, w, k.status[w]);
    for (int w = 0; c->collides && w < WORLDS; w++) {
        hash[w] = hash_records(hash[w], contacts, w);
        seen.contacts += contacts->count[w];
        seen.dropped += contacts->dropped[w];
    }
    for (size_t i = 0; i < dual.bytes; i++) /* FNV-1a */
        hash[0] = (hash[0] ^ ((unsigned char *)dual.memory)[i]) * 1099511628211u;
    free(dual.memory);
    library_free(&k.args.library);
    kernel_batch_destroy(&k);
    sap_contacts_destroy(contacts);
    return seen;
}

static Seen check_case(const Case *c, const int *teams, int num_teams) {
    uint64_t expected[WORLDS], hash[WORLDS];
    Output plain, other;
    Seen seen = run_case(c, plain_kernels, 0, expected, &plain);
    for (int t = 0; t < num_teams; t++) {
        run_case(c, team_kernels, teams[t], hash, &other);
        for (int w = 0; w < WORLDS; w++)
            cr_assert_eq(hash[w], expected[w], "%s, team of %d: world %d differs", c->name, teams[t], w);
        cr_assert_arr_eq(other.memory, plain.memory, plain.count * sizeof *plain.memory,
                         "%s, team of %d: numbers differ", c->name, teams[t]);
        cr_assert_arr_eq(other.ints, plain.ints, plain.num_ints * sizeof *plain.ints, "%s, team of %d: counts differ",
                         c->name, teams[t]);
        output_free(&other);
    }
    output_free(&plain);
    return seen;
}

/* Teams of several sizes, or in a short run of one. */
static Seen check_teams(const Case *c) {
    const int teams[] = {1, 2, 3, 8}, one_team[] = {4};
    return check_case(c, short_run() ? one_team : teams, short_run() ? 1 : 4);
}

static void check_model(const char *name, SapModel *model) {
    for (int precision = short_run() ? 64 : 32; precision <= 64; precision += 32) {
        char text[64];
        snprintf(text, sizeof text, "%s, f%d", name, precision);
        Case c = {text, model, kernel_options(precision), false, false, false, false};
        Seen seen = check_teams(&c);
        cr_assert_eq(seen.status & SAP_WORLD_NOT_CONVERGED, 0, "%s: status %#x", text, (unsigned)seen.status);
    }
    sap_model_destroy(model);
}

/* ---- models ---- */

static void check_scene(const char *name) {
    char path[512];
    SapModel *model;
    snprintf(path, sizeof path, "%s/%s.yaml", SAPWOOD_SOURCE_DIR, name);
    cr_assert_eq(sap_model_load(path, &model), SAP_OK, "%s", sap_error_message());
    check_model(name, model);
}

Test(team_threads, random_forest) {
    check_model("random forest", random_forest(5, 14));
}

Test(team_threads, every_joint_type_in_a_chain) {
    if (!short_run())
        check_model("every joint type", random_chain_of_all(11));
}

Test(team_threads, every_scene) {
    const char *const scenes[] = {"quadruped", "humanoid", "gripper",         "arm3",
                                  "cartpole",  "cube",     "double_pendulum", "stack5"};
    for (int i = 0; i < 8 && !short_run(); i++) {
        char path[64];
        snprintf(path, sizeof path, "bench/scenes/%s", scenes[i]);
        check_scene(path);
    }
}

/* Constraints and tendons of every kind: also in short runs, which the thread sanitizer does. */
Test(team_threads, constraints_and_tendons) {
    check_scene("tests/scenes/linkages");
}

/* Joints computed as SAP Warp does have their own code. */
Test(team_threads, compat_joints) {
    SapModel *model = random_forest(6, 10);
    const int teams[] = {3, 8};
    Case c = {"random forest, compat", model, kernel_options(64), false, false, false, false};
    c.options.compat = SAP_COMPAT_SAP_WARP;
    if (!short_run())
        check_case(&c, teams, 2);
    sap_model_destroy(model);
}

/* Bodies of a world that fails are placed once more, where it was. */
Test(team_threads, a_world_that_fails) {
    SapModel *model = random_forest(5, 14);
    Case c = {"a failing world", model, kernel_options(64), false, false, true, false};
    check_teams(&c);
    sap_model_destroy(model);
}

/* ---- contacts ---- */

/* Drives, limits and friction, and contacts of which some couple two branches. */
static Seen check_contacts(const char *name, const SapOptions *options, bool rigid) {
    SapModel *model = hash_model_with_terms(random_forest(3, 8), 3);
    Case c = {name, model, *options, true, rigid, false, false};
    Seen seen = check_teams(&c);
    cr_assert(seen.iterations > 2 && seen.line_iterations > 0, "%s: %d iterations", name, seen.iterations);
    sap_model_destroy(model);
    return seen;
}

static void check_line_search(const char *name, SapLineSearch line_search) {
    for (int precision = short_run() ? 64 : 32; precision <= 64; precision += 32)
        for (int mode = 0; mode < (short_run() ? 1 : 2); mode++) {
            char text[64];
            SapOptions o = kernel_options(precision);
            o.line_search = line_search;
            o.contact_weight = mode ? SAP_DIAG_DELASSUS : SAP_BODY_INERTIA;
            o.contact_point = mode ? SAP_CONTACT_MIDPOINT : SAP_WITNESS_POINT;
            snprintf(text, sizeof text, "%s, f%d, weight mode %d", name, precision, mode);
            check_contacts(text, &o, false);
        }
}

ParameterizedTestParameters(team_threads, contacts_with_every_line_search) {
    static int searches[] = {SAP_MONOTONE_DECAY, SAP_ARMIJO_DECAY, SAP_EXACT_ROOT, SAP_WOLFE};
    return cr_make_param_array(int, searches, 3);
}

ParameterizedTest(const int *search, team_threads, contacts_with_every_line_search) {
    static const char *const names[] = {"monotone_decay", "armijo_decay", "exact_root", "wolfe"};
    check_line_search(names[*search], (SapLineSearch)*search);
}

/* Contacts so stiff that f32 cannot factor Newton's matrix. */
Test(team_threads, contacts_whose_f32_direction_is_taken_from_f64) {
    SapOptions o = kernel_options(64);
    o.linear_solve_precision = SAP_FP32;
    o.near_rigid = o.friction_regularization = 1e-6;
    Seen seen = check_contacts("f32 linear solve", &o, true);
    cr_assert_gt(seen.f64_retries, 0, "f32 gave every direction");
}

Test(team_threads, contacts_in_mixed_precision) {
    for (int bits = 0; bits < 32 && !short_run(); bits++) {
        SapOptions o = kernel_options(64);
        o.free_motion_precision = bits & 1 ? SAP_FP64 : SAP_FP32;
        o.contact_solve_precision = bits & 2 ? SAP_FP64 : SAP_FP32;
        o.linear_solve_precision = bits & 4 ? SAP_FP64 : SAP_FP32;
        o.contact_weight_precision = bits & 8 ? SAP_FP64 : SAP_FP32;
        o.contact_geometry_f64 = bits & 16;
        o.optimality_rel_tol = bits & 2 ? 1e-6 : 1e-4;
        char text[64];
        snprintf(text, sizeof text, "mixed precision %d", bits);
        check_contacts(text, &o, false);
    }
}

ParameterizedTestParameters(team_threads, contacts_in_impulses) {
    static int solvers[] = {SAP_SOLVER_CONE, SAP_SOLVER_PGS, SAP_SOLVER_ACTIVE_SET};
    return cr_make_param_array(int, solvers, 3);
}

ParameterizedTest(const int *solver, team_threads, contacts_in_impulses) {
    SapOptions o = kernel_options(64);
    o.contact_solver = (SapContactSolver)*solver;
    o.pgs_omega = 1;
    o.restitution = 0.2;
    o.push_factor = 0.2;
    o.max_push = 1;
    o.warm_start = true;
    SapModel *model = hash_model_with_terms(random_forest(3, 8), 3);
    Case c = {"in impulses", model, o, true, false, false, false};
    if (*solver == SAP_SOLVER_CONE || !short_run()) {
        Seen seen = check_teams(&c);
        cr_assert_gt(seen.iterations, 0);
    }
    sap_model_destroy(model);
}

/* ---- collision ---- */

/* Bodies that lie in a row on a plane, in touch with it and with their neighbours: more pairs than are worked on at a
 * time. Before them, in the air, as many as fill the first word of the broad phase with pairs that are not near: the
 * next word, of another thread, is read at once. */
static SapModel *row_of_shapes(void) {
    static const SapShapeType types[] = {SAP_SHAPE_BOX, SAP_SHAPE_SPHERE,   SAP_SHAPE_CAPSULE,
                                         SAP_SHAPE_BOX, SAP_SHAPE_CYLINDER, SAP_SHAPE_HULL};
    enum { IN_THE_AIR = 5, ON_THE_PLANE = 5 };
    ShapeModel m;
    shape_model_init(&m);
    for (int i = 0; i < IN_THE_AIR + ON_THE_PLANE; i++) {
        bool high = i < IN_THE_AIR;
        int body = shape_model_body(&m, (high ? 1 : 0.19) * i, 0, high ? 2 : 0.095);
        m.gap[shape_model_shape(&m, body, types[i % 6], 0.1, 0.1, 0.1)] = 0.02;
    }
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    for (int i = 0; i < IN_THE_AIR; i++) { /* static, under those in the air */
        int s = shape_model_shape(&m, -1, SAP_SHAPE_SPHERE, 0.1, 0, 0);
        m.pose[s][0] = i;
        m.pose[s][2] = 1.82;
    }
    return shape_model_create(&m);
}

static void check_collision(SapBroadPhase broad_phase, int slots) {
    SapModel *model = row_of_shapes();
    for (int precision = short_run() ? 64 : 32; precision <= 64; precision += 32) {
        char text[64];
        SapOptions o = kernel_options(precision);
        o.broad_phase = broad_phase;
        o.max_contacts = slots;
        snprintf(text, sizeof text, "collision, broad phase %d, %d slots, f%d", (int)broad_phase, slots, precision);
        Case c = {text, model, o, false, false, false, true};
        Seen seen = check_teams(&c);
        cr_assert(seen.contacts > WORLDS * 8 && seen.iterations > WORLDS, "%s: %d contacts", text, seen.contacts);
        cr_assert_eq(seen.dropped > 0, slots < 16, "%s: %d dropped", text, seen.dropped);
    }
    sap_model_destroy(model);
}

Test(team_threads, collision_with_all_pairs_listed) {
    check_collision(SAP_BROAD_PHASE_LISTED, 48);
}

Test(team_threads, collision_by_a_sweep) {
    check_collision(SAP_BROAD_PHASE_SWEEP, 48);
}

Test(team_threads, collision_with_a_tree_of_static_shapes) {
    check_collision(SAP_BROAD_PHASE_TREE, 48);
}

Test(team_threads, collision_with_too_few_slots) {
    if (!short_run())
        check_collision(SAP_BROAD_PHASE_LISTED, 12);
}
