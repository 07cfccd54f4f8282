#include "host/cli/compare/mujoco_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the weights are computed from, at the initial state. v_i is the velocity of public dof i alone. */
typedef struct Weights {
    const SapModelArrays *m;
    size_t nv, nb;
    double *A;        /* [nv][nv] internal order; then its factor L, A = L L' */
    double *internal; /* [nv][nv] row i: v_i in internal order */
    double *velocity; /* [nv][nb][6] row i: [omega ; v of the origin] of the bodies */
    double *pose;     /* [nv][nb][7] */
    double *row;      /* [nv] */
    double *body;     /* [nb][2] results */
    double *dof;      /* [nv] */
} Weights;

static double *numbers(size_t n) {
    return cli_allocate(n + 1, sizeof(double));
}

static bool allocate(Weights *w) {
    return (w->A = numbers(w->nv * w->nv)) && (w->internal = numbers(w->nv * w->nv)) &&
           (w->velocity = numbers(6 * w->nv * w->nb)) && (w->pose = numbers(7 * w->nv * w->nb)) &&
           (w->row = numbers(w->nv)) && (w->body = numbers(2 * w->nb)) && (w->dof = numbers(w->nv));
}

static void free_weights(Weights *w) {
    double *const all[] = {w->A, w->internal, w->velocity, w->pose, w->row, w->body, w->dof};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* Inspects `worlds` worlds at the initial state; world i moves with public dof i if `units`. */
static bool inspect(const SapModel *model, int worlds, bool units, const SapFreeMotion *out) {
    SapOptions o;
    SapSolver *solver = NULL;
    SapState *state = NULL;
    bool ok = cli_check(sap_options_preset("approx64", &o));
    o.threads = 1;
    o.max_rigid_contact = 1;
    ok = ok && cli_check(sap_solver_create(model, worlds, &o, &solver)) &&
         cli_check(sap_state_create(model, worlds, SAP_F64, &state));
    size_t nv = (size_t)sap_model_arrays(model)->num_dofs;
    for (size_t i = 0; ok && i < (size_t)worlds * nv; i++)
        ((double *)state->joint_qd)[i] = units && i / nv == i % nv;
    ok = ok && cli_check(sap_free_motion(solver, state, NULL, 1e-9, out)); /* of damping in A nothing is left */
    sap_state_destroy(state);
    sap_solver_destroy(solver);
    return ok;
}

/* A = L L' in place; the model check has made sure that A is positive definite. */
static void factor(double *A, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double s = A[n * i + j];
            for (size_t k = 0; k < j; k++)
                s -= A[n * i + k] * A[n * j + k];
            A[n * i + j] = i == j ? sqrt(s) : s / A[n * j + j];
        }
}

/* x' A^-1 x; x is overwritten. */
static double inverse_norm2(const Weights *w, double *x) {
    double sum = 0;
    for (size_t i = 0; i < w->nv; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= w->A[w->nv * i + k] * x[k];
        x[i] /= w->A[w->nv * i + i];
        sum += x[i] * x[i];
    }
    return sum;
}

/* A of public velocities, V A V' for the rows v_i of V, into w->A. */
static bool make_public(Weights *w) {
    size_t n = w->nv;
    double *product = numbers(n * n), *result = numbers(n * n);
    for (size_t i = 0; product && result && i < n * n; i++)
        for (size_t k = 0; k < n; k++)
            product[i] += w->internal[i / n * n + k] * w->A[n * k + i % n];
    for (size_t i = 0; product && result && i < n * n; i++)
        for (size_t k = 0; k < n; k++)
            result[i] += product[i / n * n + k] * w->internal[i % n * n + k];
    bool ok = product && result;
    if (ok)
        memcpy(w->A, result, n * n * sizeof *result);
    free(product);
    free(result);
    return ok;
}

/* Velocity `axis` of body b with public dof i: 0 .. 2 of its centre of mass, 3 .. 5 angular. */
static double body_row(const Weights *w, size_t b, size_t i, size_t axis) {
    const double *v = w->velocity + 6 * (w->nb * i + b), *q = w->pose + 7 * (w->nb * i + b) + 3;
    const double *c = w->m->body_com + 3 * b;
    if (axis >= 3)
        return v[axis - 3];
    /* v + omega x R c, with R c = c + 2 u x (u x c + s c) */
    double u[3] = {q[0], q[1], q[2]}, r[3];
    for (size_t k = 0; k < 3; k++) {
        size_t a = (k + 1) % 3, d = (k + 2) % 3;
        double along = u[0] * c[0] + u[1] * c[1] + u[2] * c[2], square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        r[k] = (q[3] * q[3] - square) * c[k] + 2 * along * u[k] + 2 * q[3] * (u[a] * c[d] - u[d] * c[a]);
    }
    size_t a = (axis + 1) % 3, d = (axis + 2) % 3;
    return v[3 + axis] + v[a] * r[d] - v[d] * r[a];
}

/* The mean of J A^-1 J' over the three directions of translation, and of rotation, of body b. */
static void weigh_body(Weights *w, size_t b) {
    for (size_t axis = 0; axis < 6; axis++) {
        for (size_t i = 0; i < w->nv; i++)
            w->row[i] = body_row(w, b, i, axis);
        w->body[2 * b + axis / 3] += inverse_norm2(w, w->row) / 3;
    }
}

/* (A^-1)_ii, the mean over the three dofs of a ball, and of translation and rotation of a free joint. */
static void weigh_dofs(Weights *w) {
    const SapModelArrays *m = w->m;
    for (int j = 0; j < m->num_joints; j++) {
        bool triples = m->joint_type[j] == SAP_JOINT_FREE || m->joint_type[j] == SAP_JOINT_BALL;
        int group = triples ? 3 : 1;
        for (int first = m->joint_qd_start[j]; first < m->joint_qd_start[j + 1]; first += group) {
            double sum = 0;
            for (int i = first; i < first + group; i++) {
                memset(w->row, 0, w->nv * sizeof *w->row);
                w->row[i] = 1;
                sum += inverse_norm2(w, w->row);
            }
            for (int i = first; i < first + group; i++)
                w->dof[i] = sum / group;
        }
    }
}

static bool weigh(const SapModel *model, Weights *w) {
    if (!allocate(w) || w->nv == 0)
        return w->dof != NULL;
    if (!inspect(model, 1, false, &(SapFreeMotion){.A = w->A}) ||
        !inspect(model, (int)w->nv, true,
                 &(SapFreeMotion){.joint_qd = w->internal, .body_velocity = w->velocity, .body_pose = w->pose}) ||
        !make_public(w))
        return false;
    factor(w->A, w->nv);
    for (size_t b = 0; b < w->nb; b++)
        weigh_body(w, b);
    weigh_dofs(w);
    return true;
}

static bool create(const Weights *w, double *friction, double *tendon, SapModel **out) {
    SapMujocoArrays mujoco;
    sap_mujoco_arrays_default(&mujoco);
    for (int s = 0; s < w->m->num_shapes; s++) {
        friction[3 * s] = w->m->shape_material_mu[s];
        friction[3 * s + 1] = friction[3 * s + 2] = 0;
    }
    for (int t = 0; t < w->m->num_tendons; t++)
        tendon[t] = 1;
    mujoco.cone = SAP_CONE_ELLIPTIC;
    mujoco.integrator = SAP_INTEGRATOR_DISCRETE;
    mujoco.max_condim = 3;
    mujoco.body_invweight = w->body;
    mujoco.dof_invweight = w->dof;
    mujoco.tendon_invweight = tendon;
    mujoco.shape_friction = friction;
    return cli_check(sap_model_create_mujoco(w->m, &mujoco, out));
}

bool cli_mujoco_model(const SapModel *model, SapModel **out) {
    Weights w = {.m = sap_model_arrays(model)};
    w.nv = (size_t)w.m->num_dofs;
    w.nb = (size_t)w.m->num_bodies;
    double *friction = numbers(3 * (size_t)w.m->num_shapes), *tendon = numbers((size_t)w.m->num_tendons);
    bool ok = friction && tendon && weigh(model, &w) && create(&w, friction, tendon, out);
    free(friction);
    free(tendon);
    free_weights(&w);
    return ok;
}
