/* MuJoCo's weights of a model that comes without them, from M and the Jacobians of the centres of mass at joint_q:
 *
 *   body     t = trace(J_p M^-1 J_p')/3,  r = trace(J_w M^-1 J_w')/3
 *   dof      (M^-1)_ii; ball: mean of its three; free: mean of the three linear, mean of the three angular
 *   tendon   L M^-1 L'
 *
 * The free motion of a solver of SAP with one world gives both: M = A with a step of almost 0, and a column of J is the
 * velocity of the bodies at a unit velocity of the internal dof. docs/mujoco.md. */
#include "host/mujoco/weights.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/model.h"
#include "host/mujoco/parameters.h"

typedef struct Work {
    const SapModelArrays *m; /* of the first world; they differ in numbers only */
    const SapNumbers *of;    /* [n] of each world */
    int n, worlds;           /* the solver has more worlds, which are not read */
    SapSolver *solver;
    SapFreeMotionOf *free_motion;
    SapState state;
    double *q, *v;           /* [worlds] the state */
    double *L;               /* [worlds][nv][nv] factor of M, lower triangle, internal order */
    double *J;               /* [n][nb][6][nv] omega and the velocity of the centre of mass, internal order */
    double *pose, *velocity; /* [worlds][nb][7], [worlds][nb][6] */
    double *row;             /* [worlds][nv] */
    int *dof_of;             /* [nv] internal dof of each public dof */
} Work;

static SapStatus create_work(Work *w, SapArena *arena) {
    size_t n = (size_t)w->worlds, nq = (size_t)w->m->num_coords, nv = (size_t)w->m->num_dofs,
           nb = (size_t)w->m->num_bodies;
    SAP_TRY(SAP_CARVE_ALL(arena, "weights of MuJoCo's law", SAP_PART(w->q, n * nq), SAP_PART(w->v, n * nv),
                          SAP_PART(w->L, n * nv * nv), SAP_PART(w->J, 6 * n * nv * nb), SAP_PART(w->pose, 7 * n * nb),
                          SAP_PART(w->velocity, 6 * n * nb), SAP_PART(w->row, n * nv), SAP_PART(w->dof_of, nv)));
    w->state = (SapState){.num_worlds = w->worlds, .dtype = SAP_F64, .joint_q = w->q, .joint_qd = w->v};
    for (size_t k = 0; k < n; k++)
        memcpy(w->q + k * nq, w->m->joint_q, nq * sizeof *w->q);
    return SAP_OK;
}

/* ---- the mass matrix and the Jacobians ---- */

/* omega x (R c), c the centre of mass in the body and R the rotation of its pose. */
static void turn_velocity(const double *omega, const double *pose, const double *c, double out[3]) {
    const double *q = pose + 3;
    double t[3], r[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        t[i] = 2 * (q[j] * c[k] - q[k] * c[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r[i] = c[i] + q[3] * t[i] + q[j] * t[k] - q[k] * t[j];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = omega[j] * r[k] - omega[k] * r[j];
    }
}

/* Sets joint_qd of world k to a unit velocity of the internal dof of public dof i of a joint. The public linear velocity
 * of a free joint belongs to its centre of mass, the internal one to its origin, which an internal angular dof does not
 * move. */
static void set_velocity(const Work *w, int k, int joint, int i) {
    const SapModelArrays *m = &w->of[k].arrays;
    int first = m->joint_qd_start[joint], body = m->joint_child[joint], turns = i - first - 3;
    double *v = w->v + (size_t)k * (size_t)m->num_dofs;
    memset(v, 0, (size_t)m->num_dofs * sizeof *v);
    v[i] = 1;
    if (m->joint_type[joint] == SAP_JOINT_FREE && turns >= 0)
        turn_velocity(v + first + 3, m->joint_q + m->joint_q_start[joint], m->body_com + 3 * body, v + first);
}

/* The column `at` of J of world k, from the velocities of its bodies. */
static void put_column(const Work *w, int k, int at) {
    const SapModelArrays *m = &w->of[k].arrays;
    int nv = m->num_dofs;
    for (int b = 0; b < m->num_bodies; b++) {
        size_t body = (size_t)k * (size_t)m->num_bodies + (size_t)b;
        const double *velocity = w->velocity + 6 * body;
        double turn[3], *J = w->J + 6 * body * (size_t)nv + at;
        turn_velocity(velocity, w->pose + 7 * body, m->body_com + 3 * b, turn);
        for (int x = 0; x < 3; x++) {
            J[x * nv] = velocity[x];
            J[(3 + x) * nv] = velocity[3 + x] + turn[x];
        }
    }
}

/* The column of public dof i of a joint in J. */
static SapStatus find_column(Work *w, int joint, int i) {
    const double almost_no_step = 1e-30;
    int at = 0;
    const SapFreeMotion out = {.body_pose = w->pose, .body_velocity = w->velocity, .joint_qd = w->row};
    for (int k = 0; k < w->n; k++)
        set_velocity(w, k, joint, i);
    SAP_TRY(w->free_motion(w->solver, &w->state, NULL, almost_no_step, &out));
    for (int d = 1; d < w->m->num_dofs; d++)
        at = w->row[d] > w->row[at] ? d : at;
    w->dof_of[i] = at;
    for (int k = 0; k < w->n; k++)
        put_column(w, k, at);
    return SAP_OK;
}

/* L of M = L L' of world k, in place. */
static SapStatus factor(const Work *w, int k) {
    int nv = w->m->num_dofs;
    double *L = w->L + (size_t)k * (size_t)nv * (size_t)nv;
    for (int i = 0; i < nv; i++)
        for (int j = 0; j <= i; j++) {
            double *a = L + (size_t)i * (size_t)nv, *b = L + (size_t)j * (size_t)nv, sum = a[j];
            for (int x = 0; x < j; x++)
                sum -= a[x] * b[x];
            if (i == j && !(sum > 0 && isfinite(sum)))
                return sap_fail(
                    SAP_ERROR_MODEL,
                    "contact_solver is mujoco; model '%s' has no mass matrix at joint_q (pivot %d is %g), from "
                    "which the weights of MuJoCo's law are computed: give its bodies mass",
                    w->m->name, i, sum);
            a[j] = i == j ? sqrt(sum) : sum / b[j];
        }
    return SAP_OK;
}

static SapStatus find_masses(Work *w) {
    const double almost_no_step = 1e-30;
    const SapFreeMotion out = {.A = w->L};
    memset(w->v, 0, (size_t)w->worlds * (size_t)w->m->num_dofs * sizeof *w->v);
    return w->free_motion(w->solver, &w->state, NULL, almost_no_step, &out);
}

/* x' M^-1 x in world k; overwrites x by L^-1 x. */
static double weigh(const Work *w, int k, double *x) {
    int nv = w->m->num_dofs;
    const double *L = w->L + (size_t)k * (size_t)nv * (size_t)nv;
    double sum = 0;
    for (int i = 0; i < nv; i++) {
        const double *row = L + (size_t)i * (size_t)nv;
        for (int j = 0; j < i; j++)
            x[i] -= row[j] * x[j];
        x[i] /= row[i];
        sum += x[i] * x[i];
    }
    return sum;
}

/* ---- weights ---- */

static void weigh_bodies(const Work *w, int k, double *out) {
    size_t nv = (size_t)w->m->num_dofs, nb = (size_t)w->m->num_bodies;
    for (size_t b = 0; b < nb; b++) {
        double sum[2] = {0, 0}; /* rotation, translation */
        for (size_t x = 0; x < 6; x++)
            sum[x / 3] += weigh(w, k, w->J + (6 * ((size_t)k * nb + b) + x) * nv);
        out[2 * b] = sum[1] / 3;
        out[2 * b + 1] = sum[0] / 3;
    }
}

static void average(double *x) {
    double mean = (x[0] + x[1] + x[2]) / 3;
    x[0] = x[1] = x[2] = mean;
}

static void weigh_dofs(const Work *w, int k, double *out) {
    const SapModelArrays *m = &w->of[k].arrays;
    for (int i = 0; i < m->num_dofs; i++) {
        memset(w->row, 0, (size_t)m->num_dofs * sizeof *w->row);
        w->row[w->dof_of[i]] = 1;
        out[i] = weigh(w, k, w->row);
    }
    for (int j = 0; j < m->num_joints; j++) {
        int first = m->joint_qd_start[j];
        if (m->joint_type[j] == SAP_JOINT_BALL || m->joint_type[j] == SAP_JOINT_FREE)
            average(out + first);
        if (m->joint_type[j] == SAP_JOINT_FREE)
            average(out + first + 3);
    }
}

/* Tendons through points, which the law refuses, get 0. */
static void weigh_tendons(const Work *w, int k, double *out) {
    const SapModelArrays *m = &w->of[k].arrays;
    for (int t = 0; t < m->num_tendons; t++) {
        memset(w->row, 0, (size_t)m->num_dofs * sizeof *w->row);
        for (int x = m->tendon_start[t]; x < m->tendon_start[t + 1]; x++)
            if (m->tendon_term_type[x] == SAP_TENDON_JOINT)
                w->row[w->dof_of[m->tendon_term_index[x]]] += m->tendon_term_value[3 * x];
        out[t] = weigh(w, k, w->row);
    }
}

static SapStatus weigh_all(Work *w, const SapWeights *out) {
    const SapModelArrays *m = w->m;
    for (int j = 0; j < m->num_joints; j++)
        for (int i = m->joint_qd_start[j]; i < m->joint_qd_start[j + 1]; i++)
            SAP_TRY(find_column(w, j, i));
    SAP_TRY(find_masses(w));
    for (int k = 0; k < w->n; k++) {
        SAP_TRY(factor(w, k));
        weigh_bodies(w, k, out->body + 2 * (size_t)k * (size_t)m->num_bodies);
        weigh_dofs(w, k, out->dof + (size_t)k * (size_t)m->num_dofs);
        weigh_tendons(w, k, out->tendon + (size_t)k * (size_t)m->num_tendons);
    }
    return SAP_OK;
}

SapStatus sap_mujoco_weigh(const SapNumbers *worlds, int n, SapSolver *solver, int solver_worlds,
                           SapFreeMotionOf *free_motion, const SapWeights *out) {
    Work w = {.m = &worlds->arrays,
              .of = worlds,
              .n = n,
              .worlds = solver_worlds,
              .solver = solver,
              .free_motion = free_motion};
    SapArena arena = {0};
    SapStatus status = create_work(&w, &arena);
    if (status == SAP_OK)
        status = weigh_all(&w, out);
    free(arena.base);
    return status;
}

/* ---- weights of shapes and constraints ---- */

static double weight_of(const double *body_weight, int body, int which) {
    return body < 0 ? 0 : body_weight[2 * body + which];
}

void sap_mujoco_weigh_shapes(const SapModelArrays *m, const double *body, double *out) {
    for (int s = 0; s < m->num_shapes; s++)
        out[s] = weight_of(body, m->shape_body[s], 0);
}

/* w of a coordinate: a public dof, nv + tendon, or -1. */
static double coordinate_weight(const SapModelArrays *m, const double *dof, const double *tendon, int x) {
    return x < 0 ? 0 : x < m->num_dofs ? dof[x] : tendon[x - m->num_dofs];
}

void sap_mujoco_weigh_constraints(const SapModelArrays *m, const double *body, const double *dof, const double *tendon,
                                  double *out) {
    for (int c = 0; c < m->num_constraints; c++) {
        const int *of = m->constraint_body + 2 * c, *x = m->constraint_coordinate + 2 * c;
        bool couples = m->constraint_type[c] == SAP_CONSTRAINT_COUPLER;
        for (int which = 0; which < 2; which++)
            out[2 * c + which] = couples
                                     ? coordinate_weight(m, dof, tendon, x[0]) + coordinate_weight(m, dof, tendon, x[1])
                                     : weight_of(body, of[0], which) + weight_of(body, of[1], which);
    }
}

/* The rows of world k. */
static SapWeights weights_at(const SapWeights *all, const SapModelArrays *m, int k) {
    size_t at = (size_t)k;
    return (SapWeights){all->body + 2 * at * (size_t)m->num_bodies, all->dof + at * (size_t)m->num_dofs,
                        all->tendon + at * (size_t)m->num_tendons, all->shape + at * (size_t)m->num_shapes,
                        all->constraint + 2 * at * (size_t)m->num_constraints};
}

/* Shapes and constraints of a world. `follow`: the weights that follow from the model's bodies. */
static void weigh_owners(const SapNumbers *model, const SapNumbers *world, const SapWeights *follow,
                         const SapWeights *out) {
    const SapModelArrays *m = &model->arrays;
    sap_mujoco_weigh_shapes(m, out->body, out->shape);
    sap_mujoco_weigh_constraints(m, out->body, out->dof, out->tendon, out->constraint);
    for (int s = 0; s < m->num_shapes; s++)
        if (follow->shape[s] != model->mujoco.shape_invweight[s])
            out->shape[s] = world->mujoco.shape_invweight[s];
    for (int c = 0; c < 2 * m->num_constraints; c++)
        if (follow->constraint[c] != model->mujoco.constraint_invweight[c])
            out->constraint[c] = world->mujoco.constraint_invweight[c];
}

SapStatus sap_mujoco_weigh_worlds(const SapNumbers *model, const SapNumbers *worlds, int n, SapSolver *solver,
                                  int solver_worlds, SapFreeMotionOf *free_motion, const SapWeights *out) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = &model->mujoco;
    SapWeights follow = {0};
    SapArena arena = {0};
    SAP_TRY(sap_mujoco_weigh(worlds, n, solver, solver_worlds, free_motion, out));
    SAP_TRY(SAP_CARVE_ALL(&arena, "weights of MuJoCo's law", SAP_PART(follow.shape, m->num_shapes),
                          SAP_PART(follow.constraint, 2 * m->num_constraints)));
    sap_mujoco_weigh_shapes(m, a->body_invweight, follow.shape);
    sap_mujoco_weigh_constraints(m, a->body_invweight, a->dof_invweight, a->tendon_invweight, follow.constraint);
    for (int k = 0; k < n; k++) {
        SapWeights own = weights_at(out, m, k);
        weigh_owners(model, &worlds[k], &follow, &own);
    }
    free(arena.base);
    return SAP_OK;
}

/* ---- models without parameters of the law ---- */

/* The parameters of a model that has only SAP's, but for the weights: friction and margins of its shapes. The
 * integrator is discrete, in which drives are implicit as for SAP, unless the law does not have it with the model's
 * tendons. */
static SapMujocoParameters make_parameters(const SapModelArrays *m, double *friction) {
    SapMujocoParameters out;
    bool tendons_pull = false;
    for (int t = 0; t < m->num_tendons; t++)
        tendons_pull |= m->tendon_spring_ke[t] > 0 || m->tendon_damping[t] > 0;
    for (int s = 0; s < m->num_shapes; s++) {
        friction[3 * s] = m->shape_material_mu[s];
        friction[3 * s + 1] = 0.005;
        friction[3 * s + 2] = 0.0001;
    }
    sap_mujoco_arrays_default(&out);
    out.integrator = tendons_pull ? SAP_INTEGRATOR_EULER : SAP_INTEGRATOR_DISCRETE;
    out.max_condim = 3;
    out.shape_friction = friction;
    out.shape_margin = m->shape_margin;
    return out;
}

SapStatus sap_mujoco_complete(const SapModel *model, SapWeightsOf *weights) {
    const SapModelArrays *m = sap_model_arrays(model);
    if (sap_model_mujoco(model))
        return SAP_OK;
    double *body, *dof, *tendon, *friction;
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "weights of MuJoCo's law", SAP_PART(body, 2 * m->num_bodies),
                          SAP_PART(dof, m->num_dofs), SAP_PART(tendon, m->num_tendons),
                          SAP_PART(friction, 3 * m->num_shapes)));
    SapStatus status = weights(model, body, dof, tendon);
    if (status == SAP_OK) {
        SapMujocoParameters parameters = make_parameters(m, friction);
        parameters.body_invweight = body;
        parameters.dof_invweight = dof;
        parameters.tendon_invweight = tendon;
        status = sap_mujoco_give(model, &parameters);
    }
    free(arena.base);
    return status;
}
