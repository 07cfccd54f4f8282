/* Free motion a second time: see oracle.h. */
#include "support/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Taylor arithmetic ---- */

/* A number and its first two derivatives in time. */
typedef struct Jet {
    number d[3];
} Jet;

typedef struct JetVec {
    Jet e[3];
} JetVec;

typedef struct JetMat {
    Jet e[3][3]; /* row, column */
} JetMat;

typedef struct JetPose {
    JetMat R;
    JetVec p;
} JetPose;

static Jet jet(number x) {
    return (Jet){{x, 0, 0}};
}

static Jet jet_add(Jet a, Jet b) {
    return (Jet){{a.d[0] + b.d[0], a.d[1] + b.d[1], a.d[2] + b.d[2]}};
}

static Jet jet_mul(Jet a, Jet b) {
    return (Jet){
        {a.d[0] * b.d[0], a.d[1] * b.d[0] + a.d[0] * b.d[1], a.d[2] * b.d[0] + 2 * a.d[1] * b.d[1] + a.d[0] * b.d[2]}};
}

static Jet jet_scale(number s, Jet a) {
    return (Jet){{s * a.d[0], s * a.d[1], s * a.d[2]}};
}

static JetMat jet_mat_mul(JetMat a, JetMat b) {
    JetMat c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            c.e[i][j] = jet(0);
            for (int k = 0; k < 3; k++)
                c.e[i][j] = jet_add(c.e[i][j], jet_mul(a.e[i][k], b.e[k][j]));
        }
    return c;
}

static JetVec jet_mat_apply(JetMat a, JetVec v) {
    JetVec r;
    for (int i = 0; i < 3; i++) {
        r.e[i] = jet(0);
        for (int k = 0; k < 3; k++)
            r.e[i] = jet_add(r.e[i], jet_mul(a.e[i][k], v.e[k]));
    }
    return r;
}

static JetVec jet_vec_add(JetVec a, JetVec b) {
    JetVec c;
    for (int i = 0; i < 3; i++)
        c.e[i] = jet_add(a.e[i], b.e[i]);
    return c;
}

static JetVec jet_vec(const double *v) {
    return (JetVec){{jet(v[0]), jet(v[1]), jet(v[2])}};
}

static JetMat jet_mat(number R[3][3]) {
    JetMat m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m.e[i][j] = jet(R[i][j]);
    return m;
}

static JetPose jet_pose_mul(JetPose a, JetPose b) {
    return (JetPose){jet_mat_mul(a.R, b.R), jet_vec_add(a.p, jet_mat_apply(a.R, b.p))};
}

/* ---- rotations ---- */

static number norm(const number *x, int n) {
    number sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrtl(sum);
}

static void unit_of(const double *in, int n, number *out) {
    for (int i = 0; i < n; i++)
        out[i] = in[i];
    number length = norm(out, n);
    for (int i = 0; i < n; i++)
        out[i] /= length;
}

void oracle_rotation(const double *quaternion, number R[3][3]) {
    number u[4];
    unit_of(quaternion, 4, u);
    number x = u[0], y = u[1], z = u[2], w = u[3];
    number rows[3][3] = {{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
                         {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
                         {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
    memcpy(R, rows, sizeof rows);
}

/* [w]x */
static void skew(const number *w, number S[3][3]) {
    number rows[3][3] = {{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}};
    memcpy(S, rows, sizeof rows);
}

/* The turn about `axis` by the angle q + qd t: cos E + sin [b]x + (1 - cos) b b'. */
static JetMat turning(const double *axis, number q, number qd) {
    number b[3], B[3][3], s = sinl(q), c = cosl(q);
    unit_of(axis, 3, b);
    skew(b, B);
    Jet sine = {{s, c * qd, -s * qd * qd}}, cosine = {{c, -s * qd, -c * qd * qd}};
    Jet versine = jet_add(jet(1), jet_scale(-1, cosine));
    JetMat R;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            R.e[i][j] = jet_add(jet_scale(B[i][j], sine), jet_scale(b[i] * b[j], versine));
            if (i == j)
                R.e[i][j] = jet_add(R.e[i][j], cosine);
        }
    return R;
}

/* exp(t [w]x) R(quaternion) */
static JetMat spinning(const double *quaternion, const number *w) {
    number R[3][3], W[3][3];
    oracle_rotation(quaternion, R);
    skew(w, W);
    JetMat turn = jet_mat((number[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            turn.e[i][j].d[1] = W[i][j];
            for (int k = 0; k < 3; k++)
                turn.e[i][j].d[2] += W[i][k] * W[k][j];
        }
    return jet_mat_mul(turn, jet_mat(R));
}

/* ---- kinematics ---- */

static JetPose jet_identity(void) {
    return (JetPose){jet_mat((number[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}), jet_vec((double[3]){0, 0, 0})};
}

static JetPose jet_pose_of(const double *pose) {
    number R[3][3];
    oracle_rotation(pose + 3, R);
    return (JetPose){jet_mat(R), jet_vec(pose)};
}

/* (R', -R' p) of a pose that stands still */
static JetPose jet_pose_inverse(const double *pose) {
    number R[3][3], T[3][3];
    oracle_rotation(pose + 3, R);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            T[i][j] = R[j][i];
    JetMat inverse = jet_mat(T);
    JetVec p = jet_mat_apply(inverse, jet_vec(pose));
    for (int i = 0; i < 3; i++)
        p.e[i] = jet_scale(-1, p.e[i]);
    return (JetPose){inverse, p};
}

/* Where M is in F. Axes come linear first, then angular; each turn happens in the frame the turns before it have
 * made. */
static JetPose joint_motion(const SapModelArrays *m, int j, const double *q, const number *v) {
    JetPose X = jet_identity();
    q += m->joint_q_start[j];
    v += m->joint_qd_start[j];
    if (m->joint_type[j] == SAP_JOINT_BALL) {
        X.R = spinning(q, v);
    } else if (m->joint_type[j] == SAP_JOINT_FREE) {
        X.R = spinning(q + 3, v);
        for (int i = 0; i < 3; i++)
            X.p.e[i] = (Jet){{q[i], v[3 + i], 0}};
    } else {
        const double *axis = m->joint_axis + 3 * m->joint_qd_start[j];
        int nlin = m->joint_dof_dim[2 * j], nang = m->joint_dof_dim[2 * j + 1];
        for (int i = 0; i < nlin; i++)
            for (int k = 0; k < 3; k++)
                X.p.e[k] = jet_add(X.p.e[k], jet_scale(axis[3 * i + k], (Jet){{q[i], v[i], 0}}));
        for (int i = nlin; i < nlin + nang; i++)
            X.R = jet_mat_mul(X.R, turning(axis + 3 * i, q[i], v[i]));
    }
    return X;
}

/* Angular velocity and acceleration from R: [omega]x = R' R^T, and its rate R'' R^T + R' R'^T. */
static void angular_rates(const JetMat *R, number *omega, number *alpha) {
    number W[3][3] = {{0}}, rate[3][3] = {{0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                W[i][j] += R->e[i][k].d[1] * R->e[j][k].d[0];
                rate[i][j] += R->e[i][k].d[2] * R->e[j][k].d[0] + R->e[i][k].d[1] * R->e[j][k].d[1];
            }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        omega[i] = (W[k][j] - W[j][k]) / 2;
        alpha[i] = (rate[k][j] - rate[j][k]) / 2;
    }
}

static void read_off(const JetPose *X, const double *com, OracleBody *body) {
    JetVec C = jet_vec_add(X->p, jet_mat_apply(X->R, jet_vec(com)));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            body->R[i][j] = X->R.e[i][j].d[0];
        body->x[i] = X->p.e[i].d[0];
        body->v[i] = X->p.e[i].d[1];
        body->a[i] = X->p.e[i].d[2];
        body->x_C[i] = C.e[i].d[0];
        body->v_C[i] = C.e[i].d[1];
        body->a_C[i] = C.e[i].d[2];
    }
    angular_rates(&X->R, body->omega, body->alpha);
}

void oracle_bodies(const SapModelArrays *m, const double *q, const number *v, OracleBody *bodies) {
    JetPose *X = malloc((size_t)m->num_bodies * sizeof *X);
    for (int j = 0; j < m->num_joints; j++) {
        int parent = m->joint_parent[j], child = m->joint_child[j];
        JetPose F = jet_pose_of(m->joint_X_p + 7 * j);
        if (parent >= 0)
            F = jet_pose_mul(X[parent], F);
        JetPose M = jet_pose_mul(F, joint_motion(m, j, q, v));
        X[child] = jet_pose_mul(M, jet_pose_inverse(m->joint_X_c + 7 * j));
        read_off(&X[child], m->body_com + 3 * child, &bodies[child]);
    }
    free(X);
}

/* ---- dynamics ---- */

static number dot(const number *a, const number *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const number *a, const number *b, number *c) {
    number r[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(c, r, sizeof r);
}

/* R I R' x */
static void inertia_apply(const OracleBody *body, const double *I, const number *x, number *out) {
    number in_body[3] = {0}, moved[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            in_body[i] += body->R[j][i] * x[j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            moved[i] += I[3 * i + j] * in_body[j];
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int j = 0; j < 3; j++)
            out[i] += body->R[i][j] * moved[j];
    }
}

/* Newton and Euler at the centre of mass: the force and torque that the motion needs beyond what is applied. */
static void missing_wrench(const SapModelArrays *m, int b, const OracleBody *body, const double *body_f, number *f,
                           number *torque) {
    const double *I = m->body_inertia + 9 * b;
    number momentum[3], gyroscopic[3];
    inertia_apply(body, I, body->omega, momentum);
    cross(body->omega, momentum, gyroscopic);
    inertia_apply(body, I, body->alpha, torque);
    for (int i = 0; i < 3; i++) {
        f[i] = m->body_mass[b] * (body->a_C[i] - m->gravity[i]) - body_f[6 * b + i];
        torque[i] += gyroscopic[i] - body_f[6 * b + 3 + i];
    }
}

/* columns[i][b]: how body b moves when dof i alone has velocity 1. */
static OracleBody *unit_motions(const SapModelArrays *m, const double *q) {
    int nv = m->num_dofs, nb = m->num_bodies;
    OracleBody *columns = malloc((size_t)nv * (size_t)nb * sizeof *columns);
    number *unit = calloc((size_t)nv, sizeof *unit);
    for (int i = 0; i < nv; i++) {
        unit[i] = 1;
        oracle_bodies(m, q, unit, columns + i * nb);
        unit[i] = 0;
    }
    free(unit);
    return columns;
}

/* The public index of a dof: a free joint is linear first for the public and angular first inside. */
static int public_dof(const SapModelArrays *m, int dof) {
    for (int j = 0; j < m->num_joints; j++) {
        int first = m->joint_qd_start[j];
        if (dof >= first && dof < first + 6 && m->joint_type[j] == SAP_JOINT_FREE)
            return first + (dof - first + 3) % 6;
    }
    return dof;
}

static number mass_matrix_entry(const SapModelArrays *m, const OracleBody *column_i, const OracleBody *column_j) {
    number sum = 0;
    for (int b = 0; b < m->num_bodies; b++) {
        number I_omega[3];
        inertia_apply(&column_j[b], m->body_inertia + 9 * b, column_j[b].omega, I_omega);
        sum += m->body_mass[b] * dot(column_i[b].v_C, column_j[b].v_C) + dot(column_i[b].omega, I_omega);
    }
    return sum;
}

void oracle_dynamics(const SapModelArrays *m, const double *q, const number *v, const number *joint_f,
                     const double *body_f, double h, number *A, number *tau) {
    int nv = m->num_dofs, nb = m->num_bodies;
    OracleBody *columns = unit_motions(m, q), *bodies = malloc((size_t)nb * sizeof *bodies);
    oracle_bodies(m, q, v, bodies);
    for (int i = 0; i < nv; i++) {
        number damping = m->joint_damping[public_dof(m, i)];
        for (int j = 0; j < nv; j++)
            A[i * nv + j] = mass_matrix_entry(m, columns + i * nb, columns + j * nb);
        A[i * nv + i] += m->joint_armature[public_dof(m, i)] + h * damping;
        tau[i] = joint_f[i] - damping * v[i];
        for (int b = 0; b < nb; b++) {
            number f[3], torque[3];
            missing_wrench(m, b, &bodies[b], body_f, f, torque);
            tau[i] -= dot(columns[i * nb + b].v_C, f) + dot(columns[i * nb + b].omega, torque);
        }
    }
    free(columns);
    free(bodies);
}

void oracle_energy(const SapModelArrays *m, const double *q, const number *v, number *kinetic, number *potential) {
    OracleBody *bodies = malloc((size_t)m->num_bodies * sizeof *bodies);
    oracle_bodies(m, q, v, bodies);
    *kinetic = *potential = 0;
    for (int b = 0; b < m->num_bodies; b++) {
        number momentum[3];
        inertia_apply(&bodies[b], m->body_inertia + 9 * b, bodies[b].omega, momentum);
        *kinetic += (m->body_mass[b] * dot(bodies[b].v_C, bodies[b].v_C) + dot(bodies[b].omega, momentum)) / 2;
        for (int i = 0; i < 3; i++)
            *potential -= m->body_mass[b] * m->gravity[i] * bodies[b].x_C[i];
    }
    free(bodies);
}

/* Gauss elimination with the largest pivot of each column. */
void oracle_solve(number *A, number *b, int n) {
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(A[i * n + k]) > fabsl(A[pivot * n + k]))
                pivot = i;
        for (int j = 0; j < n; j++) {
            number x = A[k * n + j];
            A[k * n + j] = A[pivot * n + j];
            A[pivot * n + j] = x;
        }
        number y = b[k];
        b[k] = b[pivot];
        b[pivot] = y;
        for (int i = k + 1; i < n; i++) {
            number factor = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++)
                A[i * n + j] -= factor * A[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= A[i * n + j] * b[j];
        b[i] /= A[i * n + i];
    }
}

/* ---- advancing coordinates ---- */

/* d q for quaternions (x, y, z, w): first q, then d; made unit. */
static void turn_by(const number *d, const double *given, double *out) {
    number q[4], r[4];
    unit_of(given, 4, q);
    r[0] = d[3] * q[0] + d[0] * q[3] + d[1] * q[2] - d[2] * q[1];
    r[1] = d[3] * q[1] + d[1] * q[3] + d[2] * q[0] - d[0] * q[2];
    r[2] = d[3] * q[2] + d[2] * q[3] + d[0] * q[1] - d[1] * q[0];
    r[3] = d[3] * q[3] - d[0] * q[0] - d[1] * q[1] - d[2] * q[2];
    number length = norm(r, 4);
    for (int i = 0; i < 4; i++)
        out[i] = (double)(r[i] / length);
}

static void advance_rotation(const double *q, const number *omega, number h, OracleMap map, double *q1) {
    number half = h / 2, factor = half, w = 1, angle = norm(omega, 3) * half;
    if (map != ORACLE_EULER) {
        factor = angle > 0 ? sinl(angle) / angle * half : half;
        w = cosl(angle);
    }
    turn_by((number[4]){factor * omega[0], factor * omega[1], factor * omega[2], w}, q, q1);
}

void oracle_advance(const SapModelArrays *m, const double *q, const number *v0, const number *v1, double h,
                    OracleMap map, double *q1) {
    for (int j = 0; j < m->num_joints; j++) {
        int at = m->joint_q_start[j], dof = m->joint_qd_start[j], dofs = m->joint_qd_start[j + 1] - dof;
        number u[6];
        for (int i = 0; i < dofs; i++)
            u[i] = map == ORACLE_MIDPOINT ? (v0[dof + i] + v1[dof + i]) / 2 : v1[dof + i];
        if (m->joint_type[j] == SAP_JOINT_BALL) {
            advance_rotation(q + at, u, h, map, q1 + at);
        } else if (m->joint_type[j] == SAP_JOINT_FREE) {
            for (int i = 0; i < 3; i++)
                q1[at + i] = (double)(q[at + i] + h * u[3 + i]);
            advance_rotation(q + at + 3, u, h, map, q1 + at + 3);
        } else {
            for (int i = 0; i < dofs; i++)
                q1[at + i] = (double)(q[at + i] + h * u[i]);
        }
    }
}

/* ---- public and internal order ---- */

/* From the origin of a free body to its centre of mass, world axes. */
static void arm_of(const SapModelArrays *m, int j, const double *q, number *r) {
    number R[3][3];
    oracle_rotation(q + m->joint_q_start[j] + 3, R);
    for (int i = 0; i < 3; i++) {
        r[i] = 0;
        for (int k = 0; k < 3; k++)
            r[i] += R[i][k] * m->body_com[3 * m->joint_child[j] + k];
    }
}

/* [v_C ; omega] = [v_O + omega x r ; omega] */
void oracle_internal_velocity(const SapModelArrays *m, const double *q, const double *given, number *internal) {
    for (int i = 0; i < m->num_dofs; i++)
        internal[i] = given[public_dof(m, i)];
    for (int j = 0; j < m->num_joints; j++) {
        if (m->joint_type[j] != SAP_JOINT_FREE)
            continue;
        number r[3], arm[3], *u = internal + m->joint_qd_start[j];
        arm_of(m, j, q, r);
        cross(u, r, arm);
        for (int i = 0; i < 3; i++)
            u[3 + i] -= arm[i];
    }
}

void oracle_public_velocity(const SapModelArrays *m, const double *q, const number *internal, double *out) {
    for (int i = 0; i < m->num_dofs; i++)
        out[public_dof(m, i)] = (double)internal[i];
    for (int j = 0; j < m->num_joints; j++) {
        if (m->joint_type[j] != SAP_JOINT_FREE)
            continue;
        number r[3], arm[3];
        const number *u = internal + m->joint_qd_start[j];
        arm_of(m, j, q, r);
        cross(u, r, arm);
        for (int i = 0; i < 3; i++)
            out[m->joint_qd_start[j] + i] = (double)(u[3 + i] + arm[i]);
    }
}

/* [tau_O ; f] = [tau_C + r x f ; f] */
void oracle_internal_force(const SapModelArrays *m, const double *q, const double *given, number *internal) {
    for (int i = 0; i < m->num_dofs; i++)
        internal[i] = given[public_dof(m, i)];
    for (int j = 0; j < m->num_joints; j++) {
        if (m->joint_type[j] != SAP_JOINT_FREE)
            continue;
        number r[3], moment[3], *g = internal + m->joint_qd_start[j];
        arm_of(m, j, q, r);
        cross(r, g + 3, moment);
        for (int i = 0; i < 3; i++)
            g[i] += moment[i];
    }
}

void oracle_public_force(const SapModelArrays *m, const double *q, const number *internal, double *out) {
    for (int i = 0; i < m->num_dofs; i++)
        out[public_dof(m, i)] = (double)internal[i];
    for (int j = 0; j < m->num_joints; j++) {
        if (m->joint_type[j] != SAP_JOINT_FREE)
            continue;
        number r[3], moment[3];
        const number *g = internal + m->joint_qd_start[j];
        arm_of(m, j, q, r);
        cross(r, g + 3, moment);
        for (int i = 0; i < 3; i++)
            out[m->joint_qd_start[j] + 3 + i] = (double)(g[i] - moment[i]);
    }
}
