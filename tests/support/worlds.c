/* A batch of worlds for tests: see worlds.h. */
#include "support/worlds.h"

#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "support/need.h"
#include "support/random_model.h"

SapOptions worlds_options(SapPrecision precision) {
    SapOptions options;
    need(sap_options_preset("approx64", &options));
    options.free_motion_precision = precision;
    return options;
}

static double *numbers(int n, int width) {
    double *x = calloc((size_t)n * (size_t)width + 1, sizeof *x);
    cr_assert_not_null(x);
    return x;
}

Worlds *worlds_create(SapModel *model, int n, const SapOptions *options) {
    Worlds *w = calloc(1, sizeof *w);
    cr_assert_not_null(w);
    w->n = n;
    w->model = model;
    w->m = sap_model_arrays(model);
    w->nb = w->m->num_bodies;
    w->nv = w->m->num_dofs;
    w->nq = w->m->num_coords;
    need(sap_solver_create(model, n, options, &w->solver));
    need(sap_state_create(model, n, SAP_F64, &w->state));
    need(sap_control_create(model, n, SAP_F64, &w->control));
    w->q = w->state->joint_q;
    w->v = w->state->joint_qd;
    w->body_q = w->state->body_q;
    w->body_qd = w->state->body_qd;
    w->joint_f = w->control->joint_f;
    w->body_f = w->control->body_f;
    w->out = (SapFreeMotion){.v_star = numbers(n, w->nv),
                             .A = numbers(n, w->nv * w->nv),
                             .tau = numbers(n, w->nv),
                             .joint_qd = numbers(n, w->nv),
                             .body_pose = numbers(n, 7 * w->nb),
                             .body_velocity = numbers(n, 6 * w->nb),
                             .body_bias = numbers(n, 6 * w->nb),
                             .energy = numbers(n, 2)};
    return w;
}

void worlds_destroy(Worlds *w) {
    free(w->out.v_star);
    free(w->out.A);
    free(w->out.tau);
    free(w->out.joint_qd);
    free(w->out.body_pose);
    free(w->out.body_velocity);
    free(w->out.body_bias);
    free(w->out.energy);
    sap_control_destroy(w->control);
    sap_state_destroy(w->state);
    sap_solver_destroy(w->solver);
    sap_model_destroy(w->model);
    free(w);
}

void worlds_randomise(Worlds *w, uint64_t seed) {
    Random random = random_seed(seed);
    for (int i = 0; i < w->n; i++)
        random_coordinates(&random, w->m, w->q + i * w->nq);
    random_numbers(&random, 2, w->v, w->n * w->nv);
    random_numbers(&random, 2, w->joint_f, w->n * w->nv);
    random_numbers(&random, 2, w->body_f, w->n * 6 * w->nb);
}

static void check_statuses(const Worlds *w) {
    const uint32_t *status = sap_solver_world_status(w->solver);
    for (int i = 0; i < w->n; i++)
        cr_assert_eq(status[i], 0, "world %d of %d reports %#x", i, w->n, (unsigned)status[i]);
}

void worlds_free_motion(Worlds *w, double h) {
    need(sap_free_motion(w->solver, w->state, w->control, h, &w->out));
    check_statuses(w);
}

void worlds_step(Worlds *w, double h, int steps) {
    for (int i = 0; i < steps; i++) {
        need(sap_step(w->solver, w->state, w->control, NULL, h, w->state));
        check_statuses(w);
    }
}

double scaled_error(const double *a, const double *b, int n, double scale) {
    double error = 0;
    for (int i = 0; i < n; i++) {
        double difference = fabs(a[i] - b[i]);
        if (isnan(difference))
            return INFINITY;
        error = fmax(error, difference);
        scale = fmax(scale, fabs(b[i]));
    }
    return error == 0 ? 0 : error / scale;
}

double relative_error(const double *a, const double *b, int n) {
    return scaled_error(a, b, n, 0);
}
