/* Newton's method in lockstep (sap/lockstep.h) with LAPACK for the systems, against the solve of one world. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "host/cpu/dispatch.h"
#include "host/plan/factor_plan.h"
#include "host/plan/model_plan.h"
#include "support/kernel_contacts.h"
#include "support/lockstep.h"
#include "support/model_parts.h"
#include "support/need.h"
#include "support/random_model.h"

enum { WORLDS = 13, STEPS = 4 };
static const double H = 0.005;

/* Worlds with contacts, and what a step reports of them. */
typedef struct Worlds {
    KernelBatch k;
    SapContacts *contacts;
    int iterations[WORLDS], f64_retries[WORLDS];
} Worlds;

static void create_worlds(const SapModel *model, SapOptions o, SapFactorPlan plan, Worlds *out) {
    const SapKernels *kernels[2] = {sap_kernels_find(SAP_ISA_GENERIC, 1, SAP_FP32),
                                    sap_kernels_find(SAP_ISA_GENERIC, 1, SAP_FP64)};
    o.factor_plan = plan;
    o.device = SAP_DEVICE_CUDA; /* whose stages these are */
    o.max_contacts = HASH_SLOTS;
    out->k = kernel_batch_create_with(model, WORLDS, &o, kernels, H);
    out->contacts = kernel_batch_add_contacts(&out->k, 0, kernels);
    out->k.args.report.iterations = out->iterations;
    out->k.args.report.f64_retries = out->f64_retries;
}

static void destroy_worlds(Worlds *w) {
    kernel_batch_destroy(&w->k);
    sap_contacts_destroy(w->contacts);
}

static void step_lockstep(Worlds *w, int steps, int victim) {
    SapKernelSet set = kernel_set(w->k.kernels);
    Lockstep lockstep = lockstep_create(&w->k.args, &set);
    for (int i = 0; i < steps; i++)
        lockstep_step(&lockstep, victim);
    lockstep_destroy(&lockstep);
}

static double velocity(const Worlds *w, int i) {
    SapBuffer v = w->k.args.qd_out;
    return v.is_f64 ? ((double *)v.data)[i] : (double)((float *)v.data)[i];
}

/* The contacts of the first step stay. */
static void check_agreement(const SapModel *model) {
    const struct {
        const char *preset;
        double bound;
    } cases[] = {{"approx64", 1e-9}, {"drake", 1e-9}, {"approx32", 1e-4}};
    for (int i = 0; i < 3; i++) {
        Worlds library, built_in;
        SapOptions o;
        double most = 0;
        need(sap_options_preset(cases[i].preset, &o));
        o.line_search = SAP_EXACT_ROOT;
        create_worlds(model, o, SAP_FACTOR_LIBRARY, &library);
        create_worlds(model, o, SAP_FACTOR_SPARSE, &built_in);
        step_lockstep(&library, STEPS, -1);
        for (int w = 0; w < STEPS * WORLDS; w++)
            kernel_batch_run(&built_in.k, sap_program_step, w % WORLDS);
        for (int d = 0; d < WORLDS * sap_model_arrays(model)->num_dofs; d++) {
            double expected = velocity(&built_in, d);
            most = fmax(most, fabs(velocity(&library, d) - expected) / fmax(1, fabs(expected)));
        }
        cr_log_info("%s: %g", cases[i].preset, most);
        cr_assert_leq(most, cases[i].bound, "%s: %g", cases[i].preset, most);
        cr_assert_gt(library.iterations[0], 0);
        destroy_worlds(&library);
        destroy_worlds(&built_in);
    }
}

static SapModel *forest(void) {
    return hash_model_with_terms(random_forest(5, 9), 4);
}

Test(lockstep, agrees_with_the_built_in_factor) {
    SapModel *model = forest();
    check_agreement(model);
    sap_model_destroy(model);
}

/* The size for which the library is meant. */
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

/* Whether the library adds the contacts of worlds with so many slots. */
static bool adds_contacts(const SapModel *model, int slots) {
    const SapModelPlan *plan;
    need(sap_model_plan(model, SAP_SOLVER_SAP, SAP_BROAD_PHASE_AUTO, &plan));
    SapStepArgs args = {.plan = plan->plan.plan, .contacts = {.capacity = slots}};
    return sap_library_adds_contacts(&args);
}

/* A chain: its contacts touch most dofs, so that the library adds them to H. */
Test(lockstep, agrees_with_the_built_in_factor_where_the_library_adds_the_contacts) {
    SapModel *trees = forest();
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    for (int b = 1; b < 8; b++)
        parts_add(&parts, b - 1, SAP_JOINT_REVOLUTE, 0, 1);
    SapModel *model = hash_model_with_terms(parts_model(&parts), 4);
    cr_assert(adds_contacts(model, HASH_SLOTS));
    cr_assert_not(adds_contacts(model, 1 << 29), "more numbers than an int counts");
    cr_assert_not(adds_contacts(trees, HASH_SLOTS));
    check_agreement(model);
    sap_model_destroy(model);
    sap_model_destroy(trees);
}

/* The world with the most iterations: it has a system to fail on. */
static int find_victim(const Worlds *s) {
    int victim = 0;
    for (int w = 1; w < WORLDS; w++)
        if (s->iterations[w] > s->iterations[victim])
            victim = w;
    return victim;
}

static void check_failure(SapPrecision linear) {
    Worlds whole, broken;
    SapModel *model = forest();
    SapOptions o = kernel_options(64);
    o.linear_solve_precision = linear;
    create_worlds(model, o, SAP_FACTOR_LIBRARY, &whole);
    create_worlds(model, o, SAP_FACTOR_LIBRARY, &broken);
    step_lockstep(&whole, 1, -1);
    int victim = find_victim(&whole), nv = whole.k.args.plan.nv;
    cr_assert_gt(whole.iterations[victim], 0);
    step_lockstep(&broken, 1, victim);
    const double *a = whole.k.batch.state.joint_qd, *b = broken.k.batch.state.joint_qd;
    for (int w = 0; w < WORLDS; w++) {
        bool failed = w == victim && linear == SAP_FP64;
        cr_assert_eq((broken.k.status[w] & SAP_WORLD_NO_DESCENT) != 0, failed, "world %d: status %#x", w,
                     broken.k.status[w]);
        cr_assert_eq(broken.f64_retries[w] - whole.f64_retries[w], w == victim && linear == SAP_FP32, "world %d", w);
        if (w != victim)
            cr_assert_eq(memcmp(a + w * nv, b + w * nv, (size_t)nv * sizeof *a), 0, "world %d", w);
    }
    destroy_worlds(&whole);
    destroy_worlds(&broken);
    sap_model_destroy(model);
}

Test(lockstep, a_failed_factorisation_fails_its_world_only) {
    check_failure(SAP_FP64);
}

Test(lockstep, a_factorisation_that_fails_in_f32_is_done_in_f64) {
    check_failure(SAP_FP32);
}
