/* Free motion: precisions, dtypes of storage, and what a step promises about its arguments. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>

#include "support/accuracy.h"
#include "support/model_parts.h"
#include "support/number.h"
#include "support/random_model.h"
#include "support/worlds.h"

Test(free_motion, f32_agrees_with_f64_to_single_precision) {
    double worst_v = 0, worst_A = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        SapOptions f64 = worlds_options(SAP_FP64), f32 = worlds_options(SAP_FP32);
        Worlds *w = worlds_create(random_forest(seed, 10), WORLDS, &f64);
        Worlds *v = worlds_create(random_forest(seed, 10), WORLDS, &f32);
        worlds_randomise(w, seed);
        worlds_randomise(v, seed);
        worlds_free_motion(w, 0.01);
        worlds_free_motion(v, 0.01);
        cr_expect(relative_error(v->out.A, w->out.A, w->n * w->nv * w->nv) > 0, "f32 did not run in f32");
        worst_A = fmax(worst_A, relative_error(v->out.A, w->out.A, w->n * w->nv * w->nv));
        worst_v = fmax(worst_v, relative_error(v->out.v_star, w->out.v_star, w->n * w->nv));
        worlds_destroy(w);
        worlds_destroy(v);
    }
    cr_expect(worst_A < 2e-6, "A: %.3g", worst_A);
    cr_expect(worst_v < 1e-4, "v*: %.3g", worst_v); /* the rounding of A, amplified by its condition number */
    cr_log_info("f32 against f64: A %.2g, v* %.2g\n", worst_A, worst_v);
}

/* Room for the state of w in one dtype. */
static SapState *state_like(const Worlds *w, SapDtype dtype) {
    SapState *state;
    cr_assert_eq(sap_state_create(w->model, w->n, dtype, &state), SAP_OK);
    return state;
}

static void copy_numbers(const double *from, void *to, SapDtype dtype, int n) {
    for (int i = 0; i < n; i++)
        number_put(to, dtype, (size_t)i, from[i]);
}

/* Makes q, v and forces of w numbers that f32 holds exactly. */
static void round_to_f32(Worlds *w) {
    double *arrays[] = {w->q, w->v, w->joint_f, w->body_f};
    const int counts[] = {w->n * w->nq, w->n * w->nv, w->n * w->nv, w->n * 6 * w->nb};
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < counts[a]; i++)
            arrays[a][i] = (float)arrays[a][i];
}

/* An array equals what f64 storage gives, rounded to its own dtype: bit for bit. */
static void same_rounded(const double *expected, const void *got, SapDtype dtype, int n, const char *what) {
    for (int i = 0; i < n; i++) {
        if (dtype == SAP_F32)
            cr_assert_eq(((const float *)got)[i], (float)expected[i], "%s[%d]", what, i);
        else
            cr_assert_eq(((const double *)got)[i], expected[i], "%s[%d]", what, i);
    }
}

Test(free_motion, storage_is_rounded_on_the_way_out_and_read_as_it_is_in_every_mix_of_dtypes) {
    for (int mix = 0; mix < 16; mix++) {
        SapDtype in_type = mix & 1, out_type = (mix >> 1) & 1, control_type = (mix >> 2) & 1;
        SapOptions options = worlds_options(mix >> 3 ? SAP_FP64 : SAP_FP32);
        Worlds *w = worlds_create(random_forest(7, 10), WORLDS, &options);
        worlds_randomise(w, 8);
        round_to_f32(w);
        SapState *in = state_like(w, in_type), *out = state_like(w, out_type);
        SapControl *control;
        cr_assert_eq(sap_control_create(w->model, w->n, control_type, &control), SAP_OK);
        copy_numbers(w->q, in->joint_q, in_type, w->n * w->nq);
        copy_numbers(w->v, in->joint_qd, in_type, w->n * w->nv);
        copy_numbers(w->joint_f, control->joint_f, control_type, w->n * w->nv);
        copy_numbers(w->body_f, control->body_f, control_type, w->n * 6 * w->nb);

        worlds_step(w, 0.01, 1);
        cr_assert_eq(sap_step(w->solver, in, control, NULL, 0.01, out), SAP_OK, "%s", sap_error_message());
        same_rounded(w->q, out->joint_q, out_type, w->n * w->nq, "joint_q");
        same_rounded(w->v, out->joint_qd, out_type, w->n * w->nv, "joint_qd");
        same_rounded(w->body_q, out->body_q, out_type, w->n * 7 * w->nb, "body_q");
        same_rounded(w->body_qd, out->body_qd, out_type, w->n * 6 * w->nb, "body_qd");
        sap_control_destroy(control);
        sap_state_destroy(in);
        sap_state_destroy(out);
        worlds_destroy(w);
    }
}

Test(free_motion, a_step_in_place_gives_the_bits_of_a_step_out_of_place_and_leaves_its_input_alone) {
    for (int a = 0; a < NUM_ACCURACIES; a++)
        for (SapDtype dtype = SAP_F32; dtype <= SAP_F64; dtype++) {
            SapOptions options = worlds_options(accuracies[a].precision);
            Worlds *w = worlds_create(random_forest(9, 10), WORLDS, &options);
            worlds_randomise(w, 10);
            SapState *in = state_like(w, dtype), *same = state_like(w, dtype), *out = state_like(w, dtype);
            size_t size = dtype == SAP_F32 ? sizeof(float) : sizeof(double);
            size_t q_bytes = size * (size_t)(w->n * w->nq), v_bytes = size * (size_t)(w->n * w->nv);
            copy_numbers(w->q, in->joint_q, dtype, w->n * w->nq);
            copy_numbers(w->v, in->joint_qd, dtype, w->n * w->nv);
            memcpy(same->joint_q, in->joint_q, q_bytes);
            memcpy(same->joint_qd, in->joint_qd, v_bytes);

            cr_assert_eq(sap_step(w->solver, in, w->control, NULL, 0.01, out), SAP_OK, "%s", sap_error_message());
            cr_assert_arr_eq(in->joint_q, same->joint_q, q_bytes);
            cr_assert_arr_eq(in->joint_qd, same->joint_qd, v_bytes);
            cr_assert_eq(sap_step(w->solver, in, w->control, NULL, 0.01, in), SAP_OK, "%s", sap_error_message());
            cr_assert_arr_eq(in->joint_q, out->joint_q, q_bytes);
            cr_assert_arr_eq(in->joint_qd, out->joint_qd, v_bytes);
            cr_assert_arr_eq(in->body_q, out->body_q, size * (size_t)(w->n * 7 * w->nb));
            cr_assert_arr_eq(in->body_qd, out->body_qd, size * (size_t)(w->n * 6 * w->nb));
            sap_state_destroy(in);
            sap_state_destroy(same);
            sap_state_destroy(out);
            worlds_destroy(w);
        }
}

Test(free_motion, without_a_control_the_joint_forces_of_the_model_act) {
    ModelParts parts;
    slider(&parts);
    parts.f[0] = 3;
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        Worlds *w = worlds_of(&parts, &accuracies[a]);
        cr_assert_eq(sap_step(w->solver, w->state, NULL, NULL, 0.01, w->state), SAP_OK, "%s", sap_error_message());
        all_near(w, w->v, 1, 0, 0.03, accuracies[a].tolerance, "v");
        cr_assert_eq(sap_free_motion(w->solver, w->state, NULL, 0.01, &w->out), SAP_OK, "%s", sap_error_message());
        all_near(w, w->out.v_star, 1, 0, 0.06, accuracies[a].tolerance, "v*");
        worlds_destroy(w);
    }
}

Test(free_motion, a_control_without_arrays_is_no_force) {
    ModelParts parts;
    slider(&parts);
    parts.f[0] = 3;
    Worlds *w = worlds_of(&parts, &accuracies[0]);
    SapControl none = {.num_worlds = w->n, .dtype = SAP_F32};
    cr_assert_eq(sap_step(w->solver, w->state, &none, NULL, 0.01, w->state), SAP_OK, "%s", sap_error_message());
    all_near(w, w->v, 1, 0, 0, 0, "v");
    worlds_destroy(w);
}

Test(free_motion, a_step_ends_with_the_velocity_that_free_motion_announces) {
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        SapOptions options = worlds_options(accuracies[a].precision);
        Worlds *w = worlds_create(random_forest(11, 12), WORLDS, &options);
        worlds_randomise(w, 12);
        worlds_free_motion(w, 0.01);
        worlds_step(w, 0.01, 1);
        for (int j = 0; j < w->m->num_joints;
             j++) /* a free joint's velocity is in another order and at another point */
            if (w->m->joint_type[j] != SAP_JOINT_FREE)
                for (int i = w->m->joint_qd_start[j]; i < w->m->joint_qd_start[j + 1]; i++)
                    for (int world = 0; world < w->n; world++)
                        cr_assert_eq(w->v[world * w->nv + i], w->out.v_star[world * w->nv + i], "dof %d", i);
        worlds_destroy(w);
    }
}

Test(free_motion, a_stepped_world_does_not_depend_on_the_worlds_beside_it) {
    for (int a = 0; a < NUM_ACCURACIES; a++) {
        SapOptions options = worlds_options(accuracies[a].precision);
        Worlds *start = worlds_create(random_forest(13, 8), WORLDS, &options);
        Worlds *batch = worlds_create(random_forest(13, 8), WORLDS, &options);
        Worlds *one = worlds_create(random_forest(13, 8), 1, &options);
        size_t q_bytes = (size_t)one->nq * sizeof(double), v_bytes = (size_t)one->nv * sizeof(double);
        worlds_randomise(start, 14);
        worlds_randomise(batch, 14);
        worlds_step(batch, 0.01, 3);
        for (int world = 0; world < WORLDS; world++) {
            memcpy(one->q, start->q + world * one->nq, q_bytes);
            memcpy(one->v, start->v + world * one->nv, v_bytes);
            memcpy(one->joint_f, start->joint_f + world * one->nv, v_bytes);
            memcpy(one->body_f, start->body_f + world * 6 * one->nb, 6 * (size_t)one->nb * sizeof(double));
            worlds_step(one, 0.01, 3);
            cr_expect_arr_eq(one->q, batch->q + world * one->nq, q_bytes);
            cr_expect_arr_eq(one->v, batch->v + world * one->nv, v_bytes);
        }
        worlds_destroy(start);
        worlds_destroy(batch);
        worlds_destroy(one);
    }
}
