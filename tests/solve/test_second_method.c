/* A second law and a second method (tests/toy). The kernels and the layout of this test are built with them. Both must
 * solve their own equations: then the seams of the solve carry all that a law and a method need. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <lapacke.h>
#undef I /* of complex.h, which lapacke.h brings in */

#include <sapwood/sapwood.h>

#include "host/plan/layout.h"
#include "support/kernel_contacts.h"
#include "support/random_model.h"

extern const SapKernels sap_kernels_toy_x1_f32, sap_kernels_toy_x1_f64;
static const SapKernels *const toy[2] = {&sap_kernels_toy_x1_f32, &sap_kernels_toy_x1_f64};

enum { MAX_DOFS = 64, MODELS = 20 };
static const double h = 0.005;

/* One world, its contacts and what a step of it reports. */
typedef struct World {
    SapModel *model;
    KernelBatch batch;
    SapContacts *contacts;
    double jacobian[HASH_SLOTS * 3 * MAX_DOFS]; /* [slots][3][nv] */
    double impulse[HASH_SLOTS][3], velocity[HASH_SLOTS][3], weight[HASH_SLOTS];
} World;

static void world_create(World *w, uint64_t seed, int law, int method) {
    SapOptions o = kernel_options(64);
    o.optimality_rel_tol = 1e-12;
    o.contact_beta = 10; /* soft, so that gradient descent converges within its steps */
    o.contact_sigma = 0.5;
    memset(w, 0, sizeof *w);
    w->model = random_forest(seed, 2 + (int)(seed % 3));
    const SapModelArrays *m = sap_model_arrays(w->model);
    cr_assert_leq(m->num_dofs, MAX_DOFS);
    w->batch = kernel_batch_create_with(w->model, 1, &o, toy, h);
    SapStepArgs *args = &w->batch.args;
    args->contacts.law = law;
    args->method = method;
    cr_assert(sap_solve_layout(&args->plan, args->contacts.num_slots, 1, args, NULL));
    SapKernelSet set = kernel_set(toy);
    sap_scratch_free(&w->batch.scratch); /* the layout is another one */
    cr_assert_eq(sap_scratch_create(args, &set, &w->batch.scratch), SAP_OK);
    w->contacts = kernel_batch_add_contacts(&w->batch, seed, toy);
    args->report.jacobian = w->jacobian;
    args->report.impulse = w->impulse[0];
    args->report.velocity = w->velocity[0];
    args->report.weight = w->weight;
    args->contacts.capacity = HASH_SLOTS;
}

static void world_destroy(World *w) {
    kernel_batch_destroy(&w->batch);
    sap_contacts_destroy(w->contacts);
    sap_model_destroy(w->model);
}

/* A step that solves what there is to solve; a world whose contacts are all between static bodies moves freely. */
static void step(World *w) {
    kernel_batch_run(&w->batch, sap_program_step, 0);
    cr_assert_eq(*w->batch.status & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED), 0, "status %#x", *w->batch.status);
}

/* Row (c, axis) of the contacts' Jacobian. */
static const double *row(const World *w, int c, int axis) {
    return w->jacobian + (3 * c + axis) * w->batch.args.plan.nv;
}

/* v* + A^-1 J' gamma */
static void velocity_of_impulses(World *w, double *A, const double *v_star, double *v) {
    int nv = w->batch.args.plan.nv;
    memset(v, 0, (size_t)nv * sizeof *v);
    for (int c = 0; c < w->contacts->count[0]; c++)
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < nv; i++)
                v[i] += row(w, c, axis)[i] * w->impulse[c][axis];
    cr_assert_eq(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', nv, 1, A, nv, v, 1), 0);
    for (int i = 0; i < nv; i++)
        v[i] += v_star[i];
}

Test(second_method, a_second_law_solves_its_own_equations) {
    int contacts = 0;
    for (uint64_t seed = 1; seed <= MODELS; seed++) {
        World w;
        static double A[MAX_DOFS * MAX_DOFS];
        double v_star[MAX_DOFS], v[MAX_DOFS];
        world_create(&w, seed, SAP_LAW_spring, SAP_METHOD_newton);
        memset(A, 0, sizeof A);
        w.batch.args.A = A;
        w.batch.args.v_star = v_star;
        kernel_batch_run(&w.batch, sap_program_inspect, 0);
        step(&w);
        velocity_of_impulses(&w, A, v_star, v);
        for (int c = 0; c < w.contacts->count[0]; c++) {
            if (w.weight[c] == 0) /* between two static bodies: it acts on nothing */
                continue;
            contacts++;
            for (int axis = 0; axis < 3; axis++) {
                double vc = 0;
                for (int i = 0; i < w.batch.args.plan.nv; i++)
                    vc += row(&w, c, axis)[i] * v[i];
                double tolerance = 1e-9 * (1 + fabs(vc));
                cr_assert_float_eq(w.velocity[c][axis], vc, tolerance, "model %d", (int)seed);
                cr_assert_float_eq(w.impulse[c][axis], -w.velocity[c][axis] / w.weight[c], 1e-9 / w.weight[c]);
            }
        }
        world_destroy(&w);
    }
    cr_assert_gt(contacts, MODELS);
}

Test(second_method, a_second_method_finds_the_velocities_of_the_first) {
    for (uint64_t seed = 1; seed <= MODELS; seed++) {
        World newton, descent;
        world_create(&newton, seed, SAP_LAW_sap_contact, SAP_METHOD_newton);
        world_create(&descent, seed, SAP_LAW_sap_contact, SAP_METHOD_descent);
        step(&newton);
        step(&descent);
        for (int i = 0; i < newton.batch.args.plan.nv; i++) {
            double a = ((double *)newton.batch.batch.state.joint_qd)[i];
            double b = ((double *)descent.batch.batch.state.joint_qd)[i];
            cr_assert_float_eq(a, b, 1e-6 * (1 + fabs(a)), "model %d, dof %d: %.9g, %.9g", (int)seed, i, a, b);
        }
        world_destroy(&newton);
        world_destroy(&descent);
    }
}

Test(second_method, the_two_methods_take_different_ways) {
    World newton, descent;
    int iterations[2];
    world_create(&newton, 3, SAP_LAW_sap_contact, SAP_METHOD_newton);
    world_create(&descent, 3, SAP_LAW_sap_contact, SAP_METHOD_descent);
    newton.batch.args.report.iterations = &iterations[0];
    descent.batch.args.report.iterations = &iterations[1];
    step(&newton);
    step(&descent);
    cr_assert_gt(iterations[1], 5 * iterations[0]);
    world_destroy(&newton);
    world_destroy(&descent);
}
