/* Packs of worlds that are alike: the order has every world once, puts equal contacts together, and changes no
 * result. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/cpu/group.h"
#include "host/plan/formulation.h"
#include "kernels/mujoco/data.h"
#include "support/need.h"
#include "support/shape_model.h"

enum { CAPACITY = 3, MOST = 3000, BLOCK = 1024 };

static int count[MOST], shape[2][MOST * CAPACITY], iterations[MOST], order[MOST];

/* The model has no coordinates: their arrays are there, and nothing is read from them. */
static SapStepArgs args_of(int num_worlds) {
    static float state[1];
    SapStepArgs args;
    memset(&args, 0, sizeof args);
    args.num_worlds = num_worlds;
    args.q_in.data = args.qd_in.data = state;
    args.contacts.given_capacity = CAPACITY;
    args.contacts.count = count;
    for (int side = 0; side < 2; side++)
        args.contacts.shape[side] = shape[side];
    args.report.iterations = iterations;
    return args;
}

/* World w touches the ground, shape 0, with shape 1 + kind. */
static int kind_of(int w) {
    return w * 7 % 5;
}

static void fill(int num_worlds) {
    for (int w = 0; w < num_worlds; w++) {
        count[w] = 1;
        shape[0][w * CAPACITY] = 0;
        shape[1][w * CAPACITY] = 1 + kind_of(w);
        iterations[w] = w * 11 % 3;
    }
}

static void group(int num_worlds, int threads) {
    SapStepArgs args = args_of(num_worlds);
    SapPool *pool;
    need(sap_pool_create(threads, &pool));
    sap_group_worlds(pool, &args, order);
    sap_pool_destroy(pool);
}

static void check_permutation(int num_worlds) {
    static int seen[MOST];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < num_worlds; i++) {
        cr_assert(order[i] >= 0 && order[i] < num_worlds, "place %d has world %d of %d", i, order[i], num_worlds);
        cr_assert_eq(seen[order[i]]++, 0, "world %d is there twice", order[i]);
    }
}

Test(group, the_order_has_every_world_once) {
    for (int threads = 1; threads <= 3; threads++)
        for (int n = 1; n <= MOST; n = 3 * n + 1) {
            fill(n);
            group(n, threads);
            check_permutation(n);
        }
}

/* Worlds with the same contacts follow each other, those with the same iterations within them. */
Test(group, worlds_with_the_same_contacts_and_iterations_are_neighbours) {
    fill(MOST);
    group(MOST, 2);
    for (int first = 0; first < MOST; first += BLOCK) {
        int end = first + BLOCK < MOST ? first + BLOCK : MOST, changes = 0;
        for (int i = first + 1; i < end; i++)
            changes += kind_of(order[i]) != kind_of(order[i - 1]) || iterations[order[i]] != iterations[order[i - 1]];
        cr_assert_eq(changes, 5 * 3 - 1, "%d changes in the block of world %d", changes, first);
    }
}

/* The numbers of the last step may be anything: before the first step, or after a failed one. */
Test(group, numbers_out_of_range_do_no_harm) {
    const int bad[] = {-1, CAPACITY + 1, 1 << 30, -(1 << 30)};
    fill(MOST);
    for (int w = 0; w < MOST; w++) {
        count[w] = bad[w % 4];
        iterations[w] = bad[w / 4 % 4];
        for (int k = 0; k < CAPACITY; k++)
            shape[0][w * CAPACITY + k] = shape[1][w * CAPACITY + k] = bad[(w + k) % 4];
    }
    group(MOST, 2);
    check_permutation(MOST);
}

/* A dof at rest below its lower limit, one that moves beyond its upper limit within the step, and one that does
 * neither. */
Test(group, worlds_at_the_same_limits_are_neighbours) {
    static double q[MOST], qd[MOST];
    const int coord = 0;
    double numbers[SAP_MUJOCO_BLOCK_SIZE] = {[SAP_MUJOCO_LOWER] = -1, [SAP_MUJOCO_UPPER] = 1};
    SapModelConstraint block = {.kind = SAP_BLOCK_DOF, .coordinate = {0, -1}};
    SapMujocoArgs mujoco = {.number = {[SAP_MUJOCO_BLOCKS] = {{0}, {.data = numbers}}}};
    SapStepArgs args = args_of(MOST);
    args.mujoco = &mujoco;
    args.plan.formulation = sap_contact_solver(SAP_SOLVER_MUJOCO)->formulation;
    args.plan.num_blocks = 1;
    args.plan.block = &block;
    args.plan.dof_coord = &coord;
    args.h = 0.01;
    args.q_in = (SapBuffer){.data = q, .stride = 1, .is_f64 = 1};
    args.qd_in = (SapBuffer){.data = qd, .stride = 1, .is_f64 = 1};
    fill(MOST);
    for (int w = 0; w < MOST; w++) {
        order[w] = w;
        count[w] = iterations[w] = 0;
        q[w] = w % 3 == 0 ? -1.5 : w % 3 == 1 ? 0.99 : 0;
        qd[w] = w % 3 == 1 ? 2 : 0;
    }
    sap_group_list(&args, order, 300);
    for (int i = 0; i < 300; i++)
        cr_assert_eq(order[i] % 3 == 2, i < 100, "place %d has world %d", i, order[i]);
}

Test(group, one_pack_has_no_order) {
    cr_assert(!sap_group_pays(8, 8));
    cr_assert(!sap_group_pays(100, 1));
    cr_assert(sap_group_pays(9, 8));
}

/* ---- results ---- */

enum { WORLDS = 301, BALLS = 3 }; /* more than a group for each thread */

/* Balls that fall on the ground and on each other, from another height in every world. */
static SapBatch *balls(const SapModel *model, SapIsa isa) {
    SapOptions o;
    SapBatch *batch;
    SapArray q;
    need(sap_options_preset("mujoco32", &o));
    o.isa = isa;
    o.threads = 2;
    need(sap_batch_create(model, WORLDS, &o, &batch));
    need(sap_batch_array(batch, SAP_BATCH_JOINT_Q, &q));
    for (int w = 0; w < WORLDS; w++)
        for (int b = 0; b < BALLS; b++)
            ((float *)q.data)[(w * BALLS + b) * 7 + 2] += 0.0005f * (float)(w * 17 % WORLDS) * (float)(b + 1);
    return batch;
}

Test(group, results_do_not_depend_on_the_packs) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    for (int b = 0; b < BALLS; b++)
        shape_model_shape(&m, shape_model_body(&m, 0.05 * b, 0, 0.11 + 0.2 * b), SAP_SHAPE_SPHERE, 0.1, 0, 0);
    SapModel *model = shape_model_create(&m);
    SapBatch *one = balls(model, SAP_ISA_GENERIC), *many = balls(model, SAP_ISA_AUTO); /* generic has packs of one */
    for (int call = 0; call < 15; call++) {
        need(sap_batch_step(one, 0.005, 3));
        need(sap_batch_step(many, 0.005, 3));
        size_t bytes = sizeof(float) * 7 * BALLS * WORLDS;
        cr_assert_eq(memcmp(sap_batch_state(one)->joint_q, sap_batch_state(many)->joint_q, bytes), 0, "call %d", call);
    }
    sap_batch_destroy(one);
    sap_batch_destroy(many);
    sap_model_destroy(model);
}
