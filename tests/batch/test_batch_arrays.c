/* Arrays of a batch: their shapes, reading and writing, poses of bodies, contact forces and wrenches. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/base/fail.h"
#include "host/batch/backend.h"
#include "support/need.h"
#include "support/pose.h"
#include "support/scene_batch.h"

/* Rows are of MuJoCo's law, and trees of worlds that may sleep. */
static bool is_of_other_options(int field) {
    return (field >= SAP_BATCH_ROW_COUNT && field <= SAP_BATCH_ROW_FORCE) || field == SAP_BATCH_TREE_ASLEEP ||
           field == SAP_BATCH_TREE_REST;
}

Test(batch, every_array_has_its_shape_and_stays_where_it_is) {
    SapScene *scene = load("cube");
    SapBatch *batch = create(scene, 4, &scene->options);
    int capacity = sap_batch_contacts(batch)->capacity;
    void *first[SAP_BATCH_NUM_FIELDS];
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        SapArray view;
        if (is_of_other_options(f))
            continue;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &view), SAP_OK);
        cr_assert_neq(view.data, NULL, "field %d", f);
        cr_assert_eq(view.shape[0], 4);
        int64_t size = view.type == SAP_TYPE_F64 ? 8 : 4;
        cr_assert_eq(view.strides[view.ndim - 1], size);
        for (int i = 0; i + 1 < view.ndim; i++)
            cr_assert_eq(view.strides[i], view.strides[i + 1] * view.shape[i + 1]);
        if (f >= SAP_BATCH_CONTACT_SHAPE0 && f <= SAP_BATCH_CONTACT_FORCE)
            cr_assert_eq(view.shape[1], capacity, "field %d", f);
        first[f] = view.data;
    }
    cr_assert_eq(sap_batch_step(batch, scene->dt, 300), SAP_OK);
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        SapArray view;
        if (is_of_other_options(f))
            continue;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &view), SAP_OK);
        cr_assert_eq(view.data, first[f]);
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, contact_forces_of_a_cube_at_rest_add_up_to_its_weight) {
    SapScene *scene = load("cube");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 3, &scene->options);
    SapArray impulse;
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_CONTACT_IMPULSE, &impulse), SAP_OK);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 1000), SAP_OK);
    const double *gamma = impulse.data;
    for (int w = 0; w < 3; w++) {
        double sum = 0;
        for (int c = 0; c < sap_batch_contacts(batch)->count[w]; c++)
            sum += gamma[((int64_t)w * impulse.shape[1] + c) * 3 + 2];
        cr_assert_float_eq(sum, a->body_mass[0] * 9.81 * scene->dt, 2e-3 * sum, "world %d: %g", w, sum);
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, read_and_write_copy_whole_arrays_of_that_size_only) {
    SapScene *scene = load("cube");
    SapBatch *batch = create(scene, 3, &scene->options);
    SapArray view;
    float q[3][7], qd[3][6] = {{1, 2, 3, 4, 5, 6}};
    double gap[64];
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_JOINT_Q, q, sizeof q), SAP_OK);
    cr_assert_eq(memcmp(q, sap_batch_state(batch)->joint_q, sizeof q), 0);
    cr_assert_eq(sap_batch_write(batch, SAP_BATCH_JOINT_QD, qd, sizeof qd), SAP_OK);
    cr_assert_eq(memcmp(qd, sap_batch_state(batch)->joint_qd, sizeof qd), 0);
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_JOINT_Q, q, sizeof q - 4), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "bytes is 80; field 0 has 84"), "%s", sap_error_message());
    cr_assert_eq(sap_batch_write(batch, SAP_BATCH_JOINT_QD, qd, sizeof qd + 1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_NUM_FIELDS, q, 0), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_CONTACT_GAP, &view), SAP_OK);
    size_t bytes = (size_t)(view.shape[0] * view.strides[0]);
    cr_assert_leq(bytes, sizeof gap);
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_CONTACT_GAP, gap, bytes), SAP_OK);
    sap_batch_state(batch)->body_q = NULL;
    cr_assert_eq(sap_batch_read(batch, SAP_BATCH_BODY_Q, q, sizeof q), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "absent"), "%s", sap_error_message());
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, kinematics_of_chosen_worlds_leave_the_others) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 9, &scene->options);
    const uint8_t mask[9] = {0, 1, 0, 0, 0, 0, 0, 0, 7};
    SapState *s = sap_batch_state(batch);
    size_t row = 7 * (size_t)a->num_bodies;
    float *q = s->joint_q, *body_q = s->body_q;
    for (int w = 0; w < 9; w++)
        q[w * a->num_coords + 2] += 1;
    float before = body_q[2];
    cr_assert_eq(sap_batch_forward_kinematics(batch, mask), SAP_OK);
    for (size_t w = 0; w < 9; w++)
        cr_expect_float_eq(body_q[w * row + 2], before + (mask[w] ? 1 : 0), 1e-5, "world %zu", w);
    cr_assert_eq(sap_batch_forward_kinematics(batch, NULL), SAP_OK);
    for (size_t w = 0; w < 9; w++)
        cr_expect_float_eq(body_q[w * row + 2], before + 1, 1e-5, "world %zu", w);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, kinematics_tells_which_of_the_chosen_worlds_are_not_finite) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 9, &scene->options);
    const uint8_t mask[9] = {0, 1, 1, 1, 1, 1, 1, 1, 1};
    SapArray status;
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_STATUS, &status), SAP_OK);
    float *q = sap_batch_state(batch)->joint_q;
    q[0] = q[4 * a->num_coords] = NAN;
    cr_assert_eq(sap_batch_forward_kinematics(batch, mask), SAP_OK);
    for (int w = 0; w < 9; w++)
        cr_expect_eq(((uint32_t *)status.data)[w], w == 4 ? SAP_WORLD_NONFINITE_STATE : 0u, "world %d", w);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* Adds the force at `position`, times the sign, and its torque about `centre`. */
static void add_wrench(double *wrench, const double *force, double sign, const double *position, const double *centre) {
    double r[3];
    for (int i = 0; i < 3; i++)
        r[i] = position[i] - centre[i];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        wrench[i] += sign * force[i];
        wrench[3 + i] += sign * (r[j] * force[k] - r[k] * force[j]);
    }
}

static const double *doubles(SapBatch *batch, SapBatchField field) {
    SapArray view;
    cr_assert_eq(sap_batch_array(batch, field, &view), SAP_OK);
    cr_assert_eq(view.type, SAP_TYPE_F64);
    return view.data;
}

/* Force from impulse and frame, wrench from force and position, as batch.h says; bodies are where the step began. */
static void check_forces(SapBatch *batch, const SapModelArrays *a, double h, const double *start, double tolerance) {
    const SapContacts *c = sap_batch_contacts(batch);
    const double *impulse = doubles(batch, SAP_BATCH_CONTACT_IMPULSE), *frame = doubles(batch, SAP_BATCH_CONTACT_FRAME);
    const double *force = doubles(batch, SAP_BATCH_CONTACT_FORCE), *x = doubles(batch, SAP_BATCH_CONTACT_POSITION);
    const double *wrench = doubles(batch, SAP_BATCH_BODY_CONTACT_WRENCH);
    for (int w = 0; w < c->num_worlds; w++) {
        double sum[64][6] = {{0}};
        for (int k = w * c->capacity; k < w * c->capacity + c->count[w]; k++) {
            for (int i = 0; i < 3; i++) {
                double f = 0;
                for (int j = 0; j < 3; j++)
                    f += impulse[3 * k + j] * frame[9 * k + 3 * j + i] / h;
                cr_assert_float_eq(force[3 * k + i], f, tolerance, "force %d of world %d", k, w);
            }
            const int32_t shape[2] = {c->shape0[k], c->shape1[k]};
            for (int side = 0; side < 2; side++) {
                int body = a->shape_body[shape[side]];
                double centre[3];
                if (body < 0)
                    continue;
                pose_point(start + 7 * (w * a->num_bodies + body), a->body_com + 3 * body, centre);
                add_wrench(sum[body], force + 3 * k, side ? 1 : -1, x + 3 * k, centre);
            }
        }
        for (int i = 0; i < 6 * a->num_bodies; i++) {
            double got = wrench[6 * w * a->num_bodies + i], expected = sum[i / 6][i % 6];
            cr_assert_float_eq(got, expected, tolerance, "world %d, number %d: %g, %g", w, i, got, expected);
        }
    }
}

static void check_forces_of(const char *name, const char *preset, double tolerance) {
    enum { WORLDS = 5 };
    SapScene *scene = load(name);
    const SapModelArrays *a = sap_model_arrays(scene->model);
    cr_assert_eq(sap_options_set(&scene->options, "preset", preset), SAP_OK);
    SapBatch *batch = NULL;
    cr_assert_eq(sap_batch_create_as(scene->model, WORLDS, &scene->options, SAP_F64, &batch), SAP_OK);
    for (int w = 0; w < WORLDS; w++)
        set_content(batch, a, w, w);
    const double *wrench = doubles(batch, SAP_BATCH_BODY_CONTACT_WRENCH);
    for (int f = SAP_BATCH_CONTACT_IMPULSE; f < SAP_BATCH_NUM_FIELDS; f++) { /* recorded from now on */
        SapArray view;
        if (!is_of_other_options(f))
            cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &view), SAP_OK);
    }
    double *start = calloc((size_t)WORLDS * 7 * (size_t)a->num_bodies, sizeof *start), most = 0;
    for (int step = 0; step < 60; step++) {
        cr_assert_eq(sap_batch_forward_kinematics(batch, NULL), SAP_OK);
        memcpy(start, sap_batch_state(batch)->body_q, (size_t)WORLDS * 7 * (size_t)a->num_bodies * sizeof *start);
        cr_assert_eq(sap_batch_step(batch, scene->dt, 1), SAP_OK);
        check_forces(batch, a, scene->dt, start, tolerance);
        for (int i = 0; i < WORLDS * 6 * a->num_bodies; i++)
            most = fmax(most, fabs(wrench[i]));
    }
    cr_assert_gt(most, 1.0, "nothing was touched");
    const uint8_t first[WORLDS] = {1};
    cr_assert_eq(sap_batch_reset(batch, first, 0), SAP_OK);
    for (int i = 0; i < 6 * a->num_bodies; i++)
        cr_assert_eq(wrench[i], 0, "a world that was put back is touched by nothing");
    free(start);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, forces_and_wrenches_are_sums_of_impulses_by_hand) {
    check_forces_of("quadruped", "approx64", 1e-9);
    check_forces_of("quadruped", "drake", 1e-9);
    check_forces_of("stack5", "approx64", 1e-9);
    check_forces_of("gripper", "approx64", 1e-9);
    check_forces_of("quadruped", "approx32", 0.02);
}

/* Solves that end after a direction they do not take, because a line search of one evaluation finds no root. (Torques
 * differ where a contact acts on each body at its own witness.) */
Test(batch, constraint_forces_on_free_bodies_are_their_contact_forces_however_a_solve_ends) {
    static const struct {
        const char *preset;
        double tolerance; /* relative: the sums run in different axes and orders */
    } cases[] = {{"drake", 1e-9}, {"approx64", 1e-9}, {"fast32", 1e-3}};
    enum { WORLDS = 9 };
    SapScene *scene = load("stack5");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    int failed = 0;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        SapOptions o = scene->options;
        cr_assert_eq(sap_options_set(&o, "preset", cases[i / 2].preset), SAP_OK);
        cr_assert_eq(sap_options_set(&o, "line_search", "exact_root"), SAP_OK);
        o.line_search_max_iterations = 1 + (int)(i % 2);
        SapBatch *batch = NULL;
        cr_assert_eq(sap_batch_create_as(scene->model, WORLDS, &o, SAP_F64, &batch), SAP_OK);
        for (int w = 0; w < WORLDS; w++)
            set_content(batch, a, w, w);
        const double *wrench = doubles(batch, SAP_BATCH_BODY_CONTACT_WRENCH);
        const double *force = doubles(batch, SAP_BATCH_JOINT_CONSTRAINT_FORCE);
        for (int step = 0; step < 20; step++) {
            double most = 1;
            cr_assert_eq(sap_batch_step(batch, scene->dt, 1), SAP_OK);
            for (int w = 0; w < WORLDS; w++)
                failed += (sap_solver_world_status(sap_batch_solver(batch))[w] & SAP_WORLD_LINE_SEARCH_FAILED) != 0;
            for (int k = 0; k < WORLDS * a->num_dofs; k++)
                most = fmax(most, fabs(wrench[k]));
            for (int k = 0; k < WORLDS * a->num_dofs; k += k % 6 == 2 ? 4 : 1)
                cr_assert_float_eq(force[k], wrench[k], cases[i / 2].tolerance * most,
                                   "%s, step %d, number %d: %.12g, not %.12g", cases[i / 2].preset, step, k, force[k],
                                   wrench[k]);
        }
        sap_batch_destroy(batch);
    }
    cr_assert_gt(failed, 0, "no line search failed");
    sap_scene_destroy(scene);
}

Test(batch, wrenches_on_a_robot_at_rest_add_up_to_its_weight) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    cr_assert_eq(sap_options_set(&scene->options, "preset", "approx64"), SAP_OK);
    SapBatch *batch = create(scene, 2, &scene->options);
    const double *wrench = doubles(batch, SAP_BATCH_BODY_CONTACT_WRENCH);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 1500), SAP_OK);
    double mass = 0, force[3] = {0};
    for (int b = 0; b < a->num_bodies; b++) {
        mass += a->body_mass[b];
        for (int i = 0; i < 3; i++)
            force[i] += wrench[6 * b + i];
    }
    double weight = -mass * a->gravity[2];
    cr_assert_float_eq(force[2], weight, 1e-3 * weight, "%g, %g", force[2], weight);
    cr_assert_float_eq(force[0], 0, 1e-3 * weight);
    cr_assert_float_eq(force[1], 0, 1e-3 * weight);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- arrays that are recorded on request ---- */

static SapStatus out_of_memory(SapBatch *batch, size_t count, size_t size, const char *what, void **out) {
    (void)batch, (void)count, (void)size, (void)out;
    return sap_fail(SAP_ERROR_MEMORY, "%s: no memory", what);
}

/* A request that fails is not taken for done by the next one. */
Test(batch, an_array_that_could_not_be_recorded_is_an_error_until_it_can) {
    SapScene *scene = load("cube");
    SapBatch *batch = create(scene, 3, &scene->options);
    SapBatchBackend poor = sap_batch_cpu;
    SapArray view;
    double impulses[9 * 256];
    poor.allocate = out_of_memory;
    batch->backend = &poor;
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(sap_batch_array(batch, SAP_BATCH_CONTACT_IMPULSE, &view), SAP_ERROR_MEMORY);
        cr_assert_eq(sap_batch_read(batch, SAP_BATCH_CONTACT_IMPULSE, impulses, 72), SAP_ERROR_MEMORY);
    }
    batch->backend = &sap_batch_cpu;
    need(sap_batch_array(batch, SAP_BATCH_CONTACT_IMPULSE, &view));
    need(sap_batch_step(batch, scene->dt, 200));
    cr_expect_gt(((const double *)view.data)[2], 0, "the cube rests on the ground");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}
