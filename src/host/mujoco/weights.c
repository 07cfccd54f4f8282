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
    const SapModelArrays *m;
    SapSolver *solver;
    SapFreeMotionOf *free_motion;
    SapState state;
    double *q, *v;           /* the state */
    double *L;               /* [nv][nv] factor of M, lower triangle, internal order */
    double *J;               /* [nb][6][nv] omega and the velocity of the centre of mass, internal order */
    double *pose, *velocity; /* [nb][7], [nb][6] */
    double *row;             /* [nv] */
    int *dof_of;             /* [nv] internal dof of each public dof */
} Work;

static SapStatus create_work(Work *w, SapArena *arena) {
    size_t nq = (size_t)w->m->num_coords, nv = (size_t)w->m->num_dofs, nb = (size_t)w->m->num_bodies;
    SAP_TRY(SAP_CARVE_ALL(arena, "weights of MuJoCo's law", SAP_PART(w->q, nq), SAP_PART(w->v, nv),
                          SAP_PART(w->L, nv * nv), SAP_PART(w->J, 6 * nv * nb), SAP_PART(w->pose, 7 * nb),
                          SAP_PART(w->velocity, 6 * nb), SAP_PART(w->row, nv), SAP_PART(w->dof_of, nv)));
    w->state = (SapState){.num_worlds = 1, .dtype = SAP_F64, .joint_q = w->q, .joint_qd = w->v};
    memcpy(w->q, w->m->joint_q, nq * sizeof *w->q);
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

/* Sets joint_qd to a unit velocity of the internal dof of public dof i of a joint. The public linear velocity of a free
 * joint belongs to its centre of mass, the internal one to its origin, which an internal angular dof does not
 * move. */
static void set_velocity(const Work *w, int joint, int i) {
    int first = w->m->joint_qd_start[joint], body = w->m->joint_child[joint], turns = i - first - 3;
    double *v = w->v;
    memset(v, 0, (size_t)w->m->num_dofs * sizeof *v);
    v[i] = 1;
    if (w->m->joint_type[joint] == SAP_JOINT_FREE && turns >= 0)
        turn_velocity(v + first + 3, w->m->joint_q + w->m->joint_q_start[joint], w->m->body_com + 3 * body, v + first);
}

/* The column of public dof i of a joint in J. */
static SapStatus find_column(Work *w, int joint, int i) {
    const double almost_no_step = 1e-30;
    int nv = w->m->num_dofs, at = 0;
    const SapFreeMotion out = {.body_pose = w->pose, .body_velocity = w->velocity, .joint_qd = w->row};
    set_velocity(w, joint, i);
    SAP_TRY(w->free_motion(w->solver, &w->state, NULL, almost_no_step, &out));
    for (int k = 1; k < nv; k++)
        at = w->row[k] > w->row[at] ? k : at;
    w->dof_of[i] = at;
    for (int b = 0; b < w->m->num_bodies; b++) {
        const double *velocity = w->velocity + 6 * b;
        double turn[3], *J = w->J + (size_t)(6 * b) * (size_t)nv + at;
        turn_velocity(velocity, w->pose + 7 * b, w->m->body_com + 3 * b, turn);
        for (int k = 0; k < 3; k++) {
            J[k * nv] = velocity[k];
            J[(3 + k) * nv] = velocity[3 + k] + turn[k];
        }
    }
    return SAP_OK;
}

/* L of M = L L'. */
static SapStatus factor(Work *w) {
    const double almost_no_step = 1e-30;
    int nv = w->m->num_dofs;
    const SapFreeMotion out = {.A = w->L};
    memset(w->v, 0, (size_t)nv * sizeof *w->v);
    SAP_TRY(w->free_motion(w->solver, &w->state, NULL, almost_no_step, &out));
    for (int i = 0; i < nv; i++)
        for (int j = 0; j <= i; j++) {
            double *a = w->L + (size_t)i * (size_t)nv, *b = w->L + (size_t)j * (size_t)nv, sum = a[j];
            for (int k = 0; k < j; k++)
                sum -= a[k] * b[k];
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

/* x' M^-1 x; overwrites x by L^-1 x. */
static double weigh(const Work *w, double *x) {
    int nv = w->m->num_dofs;
    double sum = 0;
    for (int i = 0; i < nv; i++) {
        const double *row = w->L + (size_t)i * (size_t)nv;
        for (int k = 0; k < i; k++)
            x[i] -= row[k] * x[k];
        x[i] /= row[i];
        sum += x[i] * x[i];
    }
    return sum;
}

/* ---- weights ---- */

static void weigh_bodies(const Work *w, double *out) {
    int nv = w->m->num_dofs;
    for (int b = 0; b < w->m->num_bodies; b++) {
        double sum[2] = {0, 0}; /* rotation, translation */
        for (int k = 0; k < 6; k++)
            sum[k / 3] += weigh(w, w->J + (size_t)(6 * b + k) * (size_t)nv);
        out[2 * b] = sum[1] / 3;
        out[2 * b + 1] = sum[0] / 3;
    }
}

static void average(double *x) {
    double mean = (x[0] + x[1] + x[2]) / 3;
    x[0] = x[1] = x[2] = mean;
}

static void weigh_dofs(const Work *w, double *out) {
    const SapModelArrays *m = w->m;
    for (int i = 0; i < m->num_dofs; i++) {
        memset(w->row, 0, (size_t)m->num_dofs * sizeof *w->row);
        w->row[w->dof_of[i]] = 1;
        out[i] = weigh(w, w->row);
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
static void weigh_tendons(const Work *w, double *out) {
    const SapModelArrays *m = w->m;
    for (int t = 0; t < m->num_tendons; t++) {
        memset(w->row, 0, (size_t)m->num_dofs * sizeof *w->row);
        for (int k = m->tendon_start[t]; k < m->tendon_start[t + 1]; k++)
            if (m->tendon_term_type[k] == SAP_TENDON_JOINT)
                w->row[w->dof_of[m->tendon_term_index[k]]] += m->tendon_term_value[3 * k];
        out[t] = weigh(w, w->row);
    }
}

static SapStatus weigh_model(Work *w, double *body, double *dof, double *tendon) {
    for (int j = 0; j < w->m->num_joints; j++)
        for (int i = w->m->joint_qd_start[j]; i < w->m->joint_qd_start[j + 1]; i++)
            SAP_TRY(find_column(w, j, i));
    SAP_TRY(factor(w));
    weigh_bodies(w, body);
    weigh_dofs(w, dof);
    weigh_tendons(w, tendon);
    return SAP_OK;
}

SapStatus sap_mujoco_weigh(const SapModel *model, SapSolver *solver, SapFreeMotionOf *free_motion, double *body,
                           double *dof, double *tendon) {
    Work w = {.m = sap_model_arrays(model), .solver = solver, .free_motion = free_motion};
    SapArena arena = {0};
    SapStatus status = create_work(&w, &arena);
    if (status == SAP_OK)
        status = weigh_model(&w, body, dof, tendon);
    free(arena.base);
    return status;
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
