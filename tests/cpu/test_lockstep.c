/* factor_plan = library: the solve in stages over the whole batch, with LAPACK for the Newton systems, against the
 * built-in one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/hash_contacts.h"
#include "support/hash_worlds.h"
#include "host/cpu/dispatch.h"
#include "host/cpu/lapack.h"
#include "host/plan/factor_plan.h"
#include "host/plan/model_plan.h"
#include "support/kernel_batch.h"
#include "support/kernel_contacts.h"
#include "support/model_parts.h"
#include "support/need.h"
#include "support/random_model.h"

enum { WORLDS = 13, STEPS = 4 };
static const double H = 0.005;

static SapModel *forest(void) {
    return hash_model_with_terms(random_forest(5, 9), 4);
}

static SapOptions options_of(const char *preset) {
    SapOptions o;
    need(sap_options_preset(preset, &o));
    o.line_search_variant = SAP_EXACT_ROOT;
    o.max_rigid_contact = HASH_SLOTS;
    o.factor_plan = SAP_FACTOR_LIBRARY;
    return o;
}

/* The velocities of all worlds after the steps; the caller frees them. Adds the Newton iterations to *iterations. */
static double *run(const SapModel *model, const SapOptions *options, int *iterations) {
    const SapModelArrays *m = sap_model_arrays(model);
    SapSolver *solver;
    SapContacts *contacts;
    SapWorldReport report;
    need(sap_solver_create(model, WORLDS, options, &solver));
    need(sap_solver_report(solver, &report));
    need(sap_contacts_create(WORLDS, HASH_SLOTS, SAP_F64, &contacts));
    HashBatch batch = hash_batch_create(m, WORLDS, SAP_F64);
    for (int w = 0; w < WORLDS; w++)
        hash_fill(&batch, w, (uint64_t)w);
    need(sap_forward_kinematics(solver, &batch.state));
    for (int step = 0; step < STEPS; step++) {
        for (int w = 0; w < WORLDS; w++)
            hash_fill_contacts(&batch, contacts, w, (uint64_t)w, step);
        need(sap_step(solver, &batch.state, &batch.control, contacts, H, &batch.state));
        for (int w = 0; w < WORLDS; w++) {
            cr_assert_eq(report.status[w] & SAP_WORLD_FAILED, 0, "world %d, step %d", w, step);
            *iterations += report.iterations[w];
        }
    }
    size_t bytes = (size_t)(WORLDS * m->num_dofs) * sizeof(double);
    double *v = malloc(bytes);
    memcpy(v, batch.state.joint_qd, bytes);
    hash_batch_destroy(&batch);
    sap_contacts_destroy(contacts);
    sap_solver_destroy(solver);
    return v;
}

/* The largest difference, relative to 1 or the number itself. */
static double difference(const double *a, const double *b, int n) {
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]) / fmax(1, fabs(b[i])));
    return most;
}

static void check_agreement(const SapModel *model) {
    const struct {
        const char *preset;
        double bound;
    } cases[] = {{"approx64", 1e-9}, {"drake", 1e-9}, {"approx32", 1e-4}};
    int n = WORLDS * sap_model_arrays(model)->num_dofs;
    for (int i = 0; i < 3; i++) {
        SapOptions library = options_of(cases[i].preset), built_in = library;
        built_in.factor_plan = SAP_FACTOR_SPARSE;
        int iterations[2] = {0};
        double *v = run(model, &library, &iterations[0]), *expected = run(model, &built_in, &iterations[1]);
        double found = difference(v, expected, n);
        cr_log_info("%s: %g, %d Newton iterations", cases[i].preset, found, iterations[0]);
        cr_assert_leq(found, cases[i].bound, "%s: %g", cases[i].preset, found);
        cr_assert_gt(iterations[0], WORLDS * STEPS);
        free(v);
        free(expected);
    }
}

Test(lockstep, agrees_with_the_built_in_factor) {
    SapModel *model = forest();
    check_agreement(model);
    sap_model_destroy(model);
}

/* As large as what it is for. */
Test(lockstep, agrees_with_the_built_in_factor_in_worlds_of_more_than_128_dofs) {
    ModelParts parts;
    parts_init(&parts);
    for (int b = 0; b < 25; b++)
        parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    SapModel *model = hash_model_with_terms(parts_model(&parts), 4);
    cr_assert_gt(sap_model_arrays(model)->num_dofs, 128);
    check_agreement(model);
    sap_model_destroy(model);
}

/* A chain: its contacts touch most dofs, so that the library adds them to H. */
static SapModel *chain(int links) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    for (int b = 1; b < links; b++)
        parts_add(&parts, b - 1, SAP_JOINT_REVOLUTE, 0, 1);
    return hash_model_with_terms(parts_model(&parts), 4);
}

/* Whether the library adds the contacts of worlds with so many slots. */
static bool adds_contacts(const SapModel *model, int slots) {
    const SapModelPlan *plan;
    need(sap_model_plan(model, SAP_BROAD_PHASE_AUTO, &plan));
    SapStepArgs args = {.plan = plan->plan.plan, .contacts = {.capacity = slots}};
    return sap_library_adds_contacts(&args);
}

Test(lockstep, agrees_with_the_built_in_factor_where_the_library_adds_the_contacts) {
    SapModel *model = chain(8), *trees = forest();
    cr_assert(adds_contacts(model, HASH_SLOTS));
    cr_assert_not(adds_contacts(model, 1 << 29), "more numbers than an int counts");
    cr_assert_not(adds_contacts(trees, HASH_SLOTS));
    check_agreement(model);
    sap_model_destroy(model);
    sap_model_destroy(trees);
}

static void check_sameness(SapModel *model) {
    const int lanes[] = {4, 8, 1}, threads[] = {1, 2, 3};
    size_t bytes = (size_t)(WORLDS * sap_model_arrays(model)->num_dofs) * sizeof(double);
    SapOptions o = options_of("approx32");
    int iterations = 0;
    o.lanes = o.threads = 1;
    double *expected = run(model, &o, &iterations);
    for (int i = 0; i < 3; i++) {
        o.lanes = lanes[i];
        o.threads = threads[i];
        double *v = run(model, &o, &iterations);
        cr_assert_eq(memcmp(v, expected, bytes), 0, "%d lanes, %d threads", lanes[i], threads[i]);
        free(v);
    }
    free(expected);
    sap_model_destroy(model);
}

Test(lockstep, gives_the_same_bits_for_any_lanes_and_threads) {
    check_sameness(forest());
}

Test(lockstep, gives_the_same_bits_for_any_lanes_and_threads_where_the_library_adds_the_contacts) {
    check_sameness(chain(8));
}

/* ---- factor_plan = auto ---- */

static SapFactorPlan chosen(SapOptions o, int nv, SapStatus (*find)(void), const char *reason) {
    o.factor_plan = SAP_FACTOR_AUTO;
    const char *text = sap_factor_plan_choose(&o, nv, find);
    cr_expect(strstr(text, reason), "%d dofs: '%s' instead of '%s'", nv, text, reason);
    return o.factor_plan;
}

static SapStatus find_none(void) {
    return SAP_ERROR_UNSUPPORTED;
}

Test(lockstep, auto_takes_the_library_for_large_worlds_on_a_GPU_only_and_says_why) {
    SapOptions o = options_of("approx32");
    cr_expect_eq(chosen(o, 1000, NULL, "on a CPU"), SAP_FACTOR_SPARSE);
    o.device = SAP_DEVICE_CUDA;
    cr_expect_eq(chosen(o, 1000, sap_lapack_load, "the worlds are large"), SAP_FACTOR_LIBRARY);
    cr_expect_eq(chosen(o, 30, sap_lapack_load, "so few dofs"), SAP_FACTOR_SPARSE);
    cr_expect_eq(chosen(o, 1000, find_none, "cannot be loaded"), SAP_FACTOR_SPARSE);
    o.sleep_steps = 5;
    cr_expect_eq(chosen(o, 1000, sap_lapack_load, "sleep"), SAP_FACTOR_SPARSE);
    o.sleep_steps = 0;
    o.contact_solver = SAP_SOLVER_CONE;
    cr_expect_eq(chosen(o, 1000, sap_lapack_load, "solver sap"), SAP_FACTOR_SPARSE);
}

/* The bits of what it stands for; those of the default are not touched. */
Test(lockstep, auto_gives_the_bits_of_its_choice) {
    SapModel *model = forest();
    size_t bytes = (size_t)(WORLDS * sap_model_arrays(model)->num_dofs) * sizeof(double);
    SapOptions o = options_of("approx32");
    int iterations = 0;
    o.factor_plan = SAP_FACTOR_SPARSE;
    double *expected = run(model, &o, &iterations);
    o.factor_plan = SAP_FACTOR_AUTO;
    double *v = run(model, &o, &iterations);
    cr_assert_eq(memcmp(v, expected, bytes), 0);
    free(v);
    free(expected);
    sap_model_destroy(model);
}

/* With one lane in f32 a real has four bytes: the state between the stages lies at odd multiples of four, too. */
Test(lockstep, an_f32_solve_of_one_lane_gives_the_same_bits_wherever_its_state_lies) {
    for (int joints = 1; joints <= 4; joints++) {
        ModelParts parts;
        parts_init(&parts);
        for (int j = 0; j < joints; j++)
            parts_add(&parts, -1, SAP_JOINT_REVOLUTE, 0, 1);
        SapModel *model = hash_model_with_terms(parts_model(&parts), 4);
        size_t bytes = (size_t)(WORLDS * sap_model_arrays(model)->num_dofs) * sizeof(double);
        SapOptions o = options_of("approx32");
        int iterations = 0;
        o.contact_solve_precision = SAP_FP32;
        o.lanes = 4;
        double *expected = run(model, &o, &iterations);
        o.lanes = 1;
        double *v = run(model, &o, &iterations);
        cr_assert_eq(memcmp(v, expected, bytes), 0, "%d joints", joints);
        free(v);
        free(expected);
        sap_model_destroy(model);
    }
}

Test(lockstep, several_steps_of_a_call_are_that_many_calls) {
    SapModel *model;
    SapBatch *batch[2];
    SapArray q[2];
    SapOptions o;
    need(sap_model_load(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml", &model));
    need(sap_options_preset("approx64", &o));
    o.factor_plan = SAP_FACTOR_LIBRARY;
    for (int i = 0; i < 2; i++)
        need(sap_batch_create(model, 3, &o, &batch[i]));
    need(sap_batch_step(batch[0], H, 60));
    for (int step = 0; step < 60; step++)
        need(sap_batch_step(batch[1], H, 1));
    for (int i = 0; i < 2; i++)
        need(sap_batch_array(batch[i], SAP_BATCH_JOINT_Q, &q[i]));
    cr_assert_eq(memcmp(q[0].data, q[1].data, (size_t)(q[0].shape[0] * q[0].strides[0])), 0);
    for (int i = 0; i < 2; i++)
        sap_batch_destroy(batch[i]);
    sap_model_destroy(model);
}

Test(lockstep, a_matrix_that_is_not_positive_definite_is_reported) {
    double good[4] = {4, 0, 2, 5}, bad[4] = {4, 0, 2, -5}, b[2] = {2, 9};
    need(sap_lapack_load());
    cr_assert_eq(sap_lapack_solve(1, 2, good, b), 0); /* rows of the lower triangle: 4; 2 5 */
    cr_assert_float_eq(b[0], -0.5, 1e-15);
    cr_assert_float_eq(b[1], 2, 1e-15);
    cr_assert_neq(sap_lapack_solve(1, 2, bad, b), 0);
}

/* ---- stages by hand ---- */

typedef struct Stages {
    SapModel *model;
    KernelBatch k;
    SapContacts *contacts;
    SapScratch scratch[WORLDS];
    SapKernelSet set;
    int iterations[WORLDS], f64_retries[WORLDS];
} Stages;

static void create_stages(Stages *s, SapPrecision linear) {
    SapOptions o = kernel_options(64);
    SapIsa isa;
    need(sap_lapack_load());
    need(sap_isa_resolve(SAP_ISA_AUTO, &isa));
    const SapKernels *kernels[2] = {sap_kernels_find(isa, 1, SAP_FP32), sap_kernels_find(isa, 1, SAP_FP64)};
    o.contact_linear_solve_precision = linear;
    o.factor_plan = SAP_FACTOR_LIBRARY;
    o.max_rigid_contact = HASH_SLOTS;
    s->model = forest();
    s->k = kernel_batch_create_with(s->model, WORLDS, &o, kernels, H);
    s->contacts = kernel_batch_add_contacts(&s->k, 0, kernels);
    s->set = kernel_set(kernels);
    SapLibraryArgs *l = &s->k.args.library;
    int nv = s->k.args.plan.nv, is_f64 = linear == SAP_FP64;
    l->matrix = (SapBuffer){calloc(WORLDS, (size_t)(nv * nv) * sizeof(double)), nv * nv, is_f64};
    l->vector = (SapBuffer){calloc(WORLDS, (size_t)nv * sizeof(double)), nv, is_f64};
    l->active = calloc(WORLDS, sizeof *l->active);
    l->info = calloc(WORLDS, sizeof *l->info);
    s->k.args.report.iterations = s->iterations;
    s->k.args.report.f64_retries = s->f64_retries;
    for (int w = 0; w < WORLDS; w++)
        need(sap_scratch_create(&s->k.args, &s->set, &s->scratch[w]));
}

static void destroy_stages(Stages *s) {
    SapLibraryArgs *l = &s->k.args.library;
    for (int w = 0; w < WORLDS; w++)
        sap_scratch_free(&s->scratch[w]);
    free(l->matrix.data);
    free(l->vector.data);
    free(l->active);
    free(l->info);
    kernel_batch_destroy(&s->k);
    sap_contacts_destroy(s->contacts);
    sap_model_destroy(s->model);
}

static void run_stage(Stages *s, SapProgram *program) {
    for (int w = 0; w < WORLDS; w++) {
        SapPack pack = sap_pack_at(w, WORLDS, 1);
        sap_program_run(program, &s->k.args, &pack, &s->set, &s->scratch[w]);
    }
}

static int solve_systems(Stages *s) {
    SapLibraryArgs *l = &s->k.args.library;
    size_t number = l->matrix.is_f64 ? sizeof(double) : sizeof(float), nv = (size_t)s->k.args.plan.nv;
    int active = 0;
    for (size_t w = 0; w < WORLDS; w++) {
        active += l->active[w];
        if (l->active[w])
            l->info[w] = sap_lapack_solve(l->matrix.is_f64, (int)nv, (char *)l->matrix.data + w * nv * nv * number,
                                          (char *)l->vector.data + w * nv * number);
    }
    return active;
}

/* A step in which the library says of world `victim` (-1 = none) that its first matrix is not positive definite. */
static void step_with_failure(Stages *s, int victim) {
    SapLibraryArgs *l = &s->k.args.library;
    run_stage(s, sap_program_lockstep_begin);
    for (int iteration = 0;; iteration++) {
        run_stage(s, sap_program_lockstep_assemble);
        if (solve_systems(s) == 0)
            break;
        if (iteration == 0 && victim >= 0)
            l->info[victim] = 1;
        run_stage(s, sap_program_lockstep_advance);
    }
    run_stage(s, sap_program_lockstep_finish);
}

/* The world with the most iterations: it has a system to fail on. */
static int find_victim(const Stages *s) {
    int victim = 0;
    for (int w = 1; w < WORLDS; w++)
        if (s->iterations[w] > s->iterations[victim])
            victim = w;
    return victim;
}

static void check_failure(SapPrecision linear) {
    Stages whole, broken;
    create_stages(&whole, linear);
    create_stages(&broken, linear);
    step_with_failure(&whole, -1);
    int victim = find_victim(&whole), nv = whole.k.args.plan.nv;
    cr_assert_gt(whole.iterations[victim], 0);
    step_with_failure(&broken, victim);
    const double *a = whole.k.batch.state.joint_qd, *b = broken.k.batch.state.joint_qd;
    for (int w = 0; w < WORLDS; w++) {
        bool failed = w == victim && linear == SAP_FP64;
        cr_assert_eq((broken.k.status[w] & SAP_WORLD_NO_DESCENT) != 0, failed, "world %d: status %#x", w,
                     broken.k.status[w]);
        cr_assert_eq(broken.f64_retries[w] - whole.f64_retries[w], w == victim && linear == SAP_FP32, "world %d", w);
        if (w != victim)
            cr_assert_eq(memcmp(a + w * nv, b + w * nv, (size_t)nv * sizeof *a), 0, "world %d", w);
    }
    destroy_stages(&whole);
    destroy_stages(&broken);
}

Test(lockstep, a_failed_factorisation_fails_its_world_only) {
    check_failure(SAP_FP64);
}

Test(lockstep, a_factorisation_that_fails_in_f32_is_done_in_f64) {
    check_failure(SAP_FP32);
}
