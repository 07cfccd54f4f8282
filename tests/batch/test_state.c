/* State and control: what is allocated, what it holds, and what is refused. */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/sample_model.h"

/* ---- a model whose initial body poses and velocities can be written down ---- */

enum { NQ = 8, NV = 7, NB = 2 };

/* A box at (1, 2, 3), turned by 90 degrees about z, and on its y axis a slider 0.5 + 0.25 out. The centre of mass of
 * the slider is off its origin. */
static const double joint_q[NQ] = {1, 2, 3, 0, 0, 0.70710678118654752, 0.70710678118654752, 0.25};
static const double joint_qd[NV] = {0.5, 0, 0, 0, 0, 2, 4};
static const double joint_f[NV] = {1, 2, 3, 4, 5, 6, 7};
static const double target_pos[NV] = {0, 0, 0, 0, 0, 0, 0.1}, target_vel[NV] = {0, 0, 0, 0, 0, 0, 0.2};
static const double joint_act[NV] = {0, 0, 0, 0, 0, 0, 0.3};

static SapModel *slider_model(void) {
    static const int32_t type[] = {SAP_JOINT_FREE, SAP_JOINT_PRISMATIC}, parent[] = {-1, 0}, child[] = {0, 1};
    static const double axis[NV][3] = {[6] = {0, 1, 0}}, mass[] = {1, 2};
    static const double inertia[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double X_p[] = {0, 0, 0, 0, 0, 0, 1, 0, 0.5, 0, 0, 0, 0, 1}, com[] = {0, 0, 0, 0.25, 0, 0};
    SapModelArrays a;
    sap_model_arrays_default(&a);
    a.num_bodies = a.num_joints = NB;
    a.num_dofs = NV;
    a.num_coords = NQ;
    a.joint_type = type;
    a.joint_parent = parent;
    a.joint_child = child;
    a.joint_axis = axis[0];
    a.joint_X_p = X_p;
    a.body_mass = mass;
    a.body_com = com;
    a.body_inertia = inertia;
    a.joint_q = joint_q;
    a.joint_qd = joint_qd;
    a.joint_f = joint_f;
    a.joint_target_pos = target_pos;
    a.joint_target_vel = target_vel;
    a.joint_act = joint_act;
    SapModel *model;
    cr_assert_eq(sap_model_create(&a, &model), SAP_OK, "%s", sap_error_message());
    return model;
}

/* In the world: the slider's axis is -x, so its origin is at (1 - 0.75, 2, 3) and its centre of mass 0.25 further in y.
 * v = v_box + omega x r + rate * axis, with r = (-0.75, 0.25, 0), omega = (0, 0, 2). */
static const double half = 0.70710678118654752;

static void expected_bodies(double body_q[NB * 7], double body_qd[NB * 6]) {
    const double q[] = {1, 2, 3, 0, 0, half, half, 0.25, 2, 3, 0, 0, half, half};
    const double qd[] = {0.5, 0, 0, 0, 0, 2, 0.5 - 2 * 0.25 - 4, 2 * -0.75, 0, 0, 0, 2};
    memcpy(body_q, q, sizeof q);
    memcpy(body_qd, qd, sizeof qd);
}

/* ---- helpers ---- */

static double value_at(const void *data, SapDtype dtype, int k) {
    return dtype == SAP_F32 ? (double)((const float *)data)[k] : ((const double *)data)[k];
}

/* Every world holds `row`; the array is aligned. */
static void expect_rows(const char *name, const void *data, SapDtype dtype, int worlds, int width, const double *row) {
    cr_assert_not_null(data, "%s", name);
    cr_assert_eq((uintptr_t)data % 64, 0, "%s", name);
    for (int k = 0; k < worlds * width; k++) {
        double expected = row != NULL ? row[k % width] : 0, tolerance = dtype == SAP_F32 ? 2e-7 : 1e-15;
        double error = fabs(value_at(data, dtype, k) - expected);
        cr_assert(error <= tolerance * (1 + fabs(expected)), "%s[%d][%d] is off by %g", name, k / width, k % width,
                  error);
    }
}

static void check_state(SapDtype dtype, int worlds) {
    double body_q[NB * 7], body_qd[NB * 6];
    SapModel *model = slider_model();
    SapState *state;
    cr_assert_eq(sap_state_create(model, worlds, dtype, &state), SAP_OK, "%s", sap_error_message());
    sap_model_destroy(model); /* the state does not need it any more */
    expected_bodies(body_q, body_qd);
    cr_assert_eq(state->num_worlds, worlds);
    cr_assert_eq(state->dtype, dtype);
    expect_rows("joint_q", state->joint_q, dtype, worlds, NQ, joint_q);
    expect_rows("joint_qd", state->joint_qd, dtype, worlds, NV, joint_qd);
    expect_rows("body_q", state->body_q, dtype, worlds, NB * 7, body_q);
    expect_rows("body_qd", state->body_qd, dtype, worlds, NB * 6, body_qd);
    sap_state_destroy(state);
}

static void check_control(SapDtype dtype, int worlds) {
    SapModel *model = slider_model();
    SapControl *control;
    cr_assert_eq(sap_control_create(model, worlds, dtype, &control), SAP_OK, "%s", sap_error_message());
    sap_model_destroy(model);
    cr_assert_eq(control->num_worlds, worlds);
    cr_assert_eq(control->dtype, dtype);
    expect_rows("joint_f", control->joint_f, dtype, worlds, NV, joint_f);
    expect_rows("body_f", control->body_f, dtype, worlds, NB * 6, NULL);
    expect_rows("joint_target_pos", control->joint_target_pos, dtype, worlds, NV, target_pos);
    expect_rows("joint_target_vel", control->joint_target_vel, dtype, worlds, NV, target_vel);
    expect_rows("joint_act", control->joint_act, dtype, worlds, NV, joint_act);
    sap_control_destroy(control);
}

/* ---- tests ---- */

Test(state, every_world_starts_with_the_models_state) {
    static const int worlds[] = {1, 2, 5, 33};
    for (int i = 0; i < 4; i++) {
        check_state(SAP_F64, worlds[i]);
        check_state(SAP_F32, worlds[i]);
    }
}

Test(state, every_world_starts_with_the_models_control) {
    static const int worlds[] = {1, 2, 5, 33};
    for (int i = 0; i < 4; i++) {
        check_control(SAP_F64, worlds[i]);
        check_control(SAP_F32, worlds[i]);
    }
}

Test(state, the_values_of_joint_q_are_exact_in_f64) {
    SapModel *model = slider_model();
    SapState *state;
    cr_assert_eq(sap_state_create(model, 3, SAP_F64, &state), SAP_OK);
    for (int world = 0; world < 3; world++)
        cr_assert_eq(memcmp((double *)state->joint_q + world * NQ, sap_model_arrays(model)->joint_q, sizeof joint_q),
                     0);
    sap_state_destroy(state);
    sap_model_destroy(model);
}

Test(state, a_model_with_every_joint_type_has_a_state) {
    SampleModel sample;
    SapModel *model;
    SapState *state;
    sample_model_init(&sample);
    cr_assert_eq(sap_model_create(&sample.arrays, &model), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_state_create(model, 4, SAP_F32, &state), SAP_OK, "%s", sap_error_message());
    for (int k = 0; k < 4 * SAMPLE_NB * 7; k++)
        cr_assert(isfinite(((float *)state->body_q)[k]));
    sap_state_destroy(state);
    sap_model_destroy(model);
}

Test(state, destroy_frees_what_was_allocated_though_pointers_were_replaced) {
    double mine[1] = {0};
    SapModel *model = slider_model();
    SapState *state;
    SapControl *control;
    cr_assert_eq(sap_state_create(model, 2, SAP_F64, &state), SAP_OK);
    cr_assert_eq(sap_control_create(model, 2, SAP_F64, &control), SAP_OK);
    state->body_q = NULL;
    state->joint_q = mine;
    control->body_f = NULL;
    sap_state_destroy(state); /* a leak or a free of `mine` is what the address sanitizer would report */
    sap_control_destroy(control);
    sap_model_destroy(model);
}

Test(state, refuses_bad_arguments_and_leaves_null) {
    SapModel *model = slider_model();
    SapState *state = (SapState *)model;
    SapControl *control = (SapControl *)model;
    cr_expect_eq(sap_state_create(NULL, 1, SAP_F64, &state), SAP_ERROR_ARGUMENT);
    cr_expect_null(state);
    cr_expect(strstr(sap_error_message(), "'model' is NULL"));
    cr_expect_eq(sap_control_create(NULL, 1, SAP_F64, &control), SAP_ERROR_ARGUMENT);
    cr_expect_null(control);
    cr_expect_eq(sap_state_create(model, 1, SAP_F64, NULL), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_control_create(model, 1, SAP_F64, NULL), SAP_ERROR_ARGUMENT);
    static const int worlds[] = {0, -1, INT_MIN};
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(sap_state_create(model, worlds[i], SAP_F64, &state), SAP_ERROR_ARGUMENT);
        cr_expect(strstr(sap_error_message(), "num_worlds is ") && strstr(sap_error_message(), ">= 1"));
        cr_expect_eq(sap_control_create(model, worlds[i], SAP_F64, &control), SAP_ERROR_ARGUMENT);
    }
    cr_expect_eq(sap_state_create(model, 1, (SapDtype)2, &state), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), "dtype is 2") && strstr(sap_error_message(), "SAP_F32"));
    cr_expect_eq(sap_control_create(model, 1, (SapDtype)-1, &control), SAP_ERROR_ARGUMENT);
    cr_expect_null(state);
    cr_expect_null(control);
    sap_state_destroy(NULL);
    sap_control_destroy(NULL);
    sap_model_destroy(model);
}

/* So many sliders that INT_MAX worlds of them are beyond any address space. */
static SapModel *many_sliders(int n) {
    size_t count = (size_t)n;
    int32_t *type = calloc(count, sizeof *type), *parent = calloc(count, sizeof *parent);
    int32_t *child = calloc(count, sizeof *child);
    double *axis = calloc(count, 3 * sizeof *axis), *mass = calloc(count, sizeof *mass);
    double *inertia = calloc(count, 9 * sizeof *inertia);
    for (int i = 0; i < n; i++) {
        child[i] = i;
        parent[i] = -1;
        axis[3 * i] = mass[i] = inertia[9 * i] = inertia[9 * i + 4] = inertia[9 * i + 8] = 1;
    }
    SapModelArrays a;
    sap_model_arrays_default(&a);
    a.num_bodies = a.num_joints = a.num_dofs = a.num_coords = n;
    a.joint_type = type;
    a.joint_parent = parent;
    a.joint_child = child;
    a.joint_axis = axis;
    a.body_mass = mass;
    a.body_inertia = inertia;
    SapModel *model;
    cr_assert_eq(sap_model_create(&a, &model), SAP_OK, "%s", sap_error_message());
    void *all[] = {type, parent, child, axis, mass, inertia};
    for (int i = 0; i < 6; i++)
        free(all[i]);
    return model;
}

Test(state, a_size_that_does_not_fit_is_an_error_not_a_crash) {
    SapModel *model = many_sliders(32000);
    SapState *state = (SapState *)model;
    SapControl *control = (SapControl *)model;
    cr_assert_eq(sap_state_create(model, INT_MAX, SAP_F64, &state), SAP_ERROR_MEMORY);
    cr_assert_null(state);
    cr_assert(strstr(sap_error_message(), "2147483647"), "%s", sap_error_message());
    cr_assert_eq(sap_control_create(model, INT_MAX, SAP_F32, &control), SAP_ERROR_MEMORY);
    cr_assert_null(control);
    sap_model_destroy(model);
}
