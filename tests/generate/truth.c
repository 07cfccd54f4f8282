/* Statuses: see truth.h.
 *
 * SAP: A, v* and the new velocity come from sap_free_motion before and after the step, the impulse j of all terms from
 * joint_constraint_force. The gradient of the problem is A (v - v*) - j, the residual |D grad| / max(|D A v|, |D j|)
 * with D = diag(1/sqrt(A_ii)) (docs/solve.md).
 *
 * Solvers in impulses: W + R, b, sets and impulses come from sap_solver_record_problem, the residual is
 * |x - Proj(x - (P x - q))| / |q| in the scaled impulses x (docs/dual.md). */
#include "generate/truth.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A solved step has at most this residual (docs/solve.md, docs/dual.md). */
static const double solved_residual = 1e-2;
/* Newton's method updates its gradient along lines; what that drifts is below its tolerance (docs/solve.md). */
static const double drift = 1e-6;
/* Roundings of the residual: of a state of up to a hundred numbers, each with one, and of P x. */
static const double roundings_of_state = 8, roundings_of_products = 128;
/* Scales of rows are powers of 2 in some solves of the dual problem, so that residuals differ by up to this factor. */
static const double scales = 2;

/* Memory of a step. */
typedef struct Work {
    int n, nv, nb, nq, rows;
    double *memory;                         /* of the arrays below */
    double *A, *v_star, *pose, *v, *q0, *j; /* [n][...], j: of one world */
    double *x, *d, *z;                      /* [rows] of one problem */
    uint32_t *status;                       /* [n] */
    SapDualRecord record;
} Work;

/* A step and what it reports. */
typedef struct Step {
    const SapOptions *options;
    const SapModelArrays *model;
    double h;
    SapArray status, residual, asleep, q, qd, force; /* force: without data if the solver does not report it */
    Truth *truth;
} Step;

static double number(const SapArray *a, long i) {
    return a->type == SAP_TYPE_F64 ? ((const double *)a->data)[i] : (double)((const float *)a->data)[i];
}

static void complain(Truth *truth, int place, uint32_t status, const char *what, double value, double allowed) {
    if (!truth->message[0])
        snprintf(truth->message, sizeof truth->message, "place %d, status 0x%x: %s is %g; at most %g is true", place,
                 (unsigned)status, what, value, allowed);
}

/* ---- memory ---- */

static double *take(double **next, size_t count) {
    double *at = *next;
    *next += count;
    return at;
}

static SapStatus work_begin(Work *w, SapBatch *batch, const SapModelArrays *m) {
    SapBatchInfo info;
    SapStatus status = sap_batch_info(batch, &info);
    if (status != SAP_OK)
        return status;
    int problem_rows = sap_solver_problem_rows(sap_batch_solver(batch));
    *w =
        (Work){.n = info.num_worlds, .nv = m->num_dofs, .nb = m->num_bodies, .nq = m->num_coords, .rows = problem_rows};
    size_t n = (size_t)w->n, nv = (size_t)w->nv, nb = (size_t)w->nb, nq = (size_t)w->nq, rows = (size_t)problem_rows;
    double *next = w->memory =
        calloc(n * (nv * nv + 2 * nv + 7 * nb + nq + 2 + rows * (rows + 7)) + nv + 3 * rows, sizeof(double));
    if (!next)
        return SAP_ERROR_MEMORY;
    w->A = take(&next, n * nv * nv);
    w->v_star = take(&next, n * nv);
    w->v = take(&next, n * nv);
    w->pose = take(&next, 7 * n * nb);
    w->q0 = take(&next, n * nq);
    w->j = take(&next, nv);
    w->x = take(&next, rows);
    w->d = take(&next, rows);
    w->z = take(&next, rows);
    w->status = (uint32_t *)take(&next, n);
    w->record = (SapDualRecord){.max_rows = problem_rows,
                                .num_blocks = (int32_t *)take(&next, n),
                                .kind = (int32_t *)take(&next, n * rows),
                                .W = take(&next, n * rows * rows),
                                .b = take(&next, n * rows),
                                .mu = take(&next, n * rows),
                                .lo = take(&next, n * rows),
                                .hi = take(&next, n * rows),
                                .impulse = take(&next, n * rows)};
    return SAP_OK;
}

/* ---- momentum ---- */

/* Internal impulses on a free joint, torque about the origin then force, of a public force. That acts at the centre of
 * mass r = R c = c + 2 q x (q x c + w c). */
static void free_joint_impulse(const double *c, const double *q, const double *f, double h, double *j) {
    double u[3], r[3];
    for (int i = 0; i < 3; i++)
        u[i] = q[(i + 1) % 3] * c[(i + 2) % 3] - q[(i + 2) % 3] * c[(i + 1) % 3] + q[3] * c[i];
    for (int i = 0; i < 3; i++)
        r[i] = c[i] + 2 * (q[(i + 1) % 3] * u[(i + 2) % 3] - q[(i + 2) % 3] * u[(i + 1) % 3]);
    for (int i = 0; i < 3; i++) {
        j[i] = h * (f[3 + i] + r[(i + 1) % 3] * f[(i + 2) % 3] - r[(i + 2) % 3] * f[(i + 1) % 3]);
        j[3 + i] = h * f[i];
    }
}

/* j of one world in internal order. */
static void internal_impulse(const Step *s, const Work *w, int world) {
    const SapModelArrays *m = s->model;
    const double *force = (const double *)s->force.data + (size_t)world * (size_t)w->nv;
    const double *pose = w->pose + (size_t)world * 7 * (size_t)w->nb;
    for (int i = 0; i < w->nv; i++)
        w->j[i] = s->h * force[i];
    for (int k = 0; k < m->num_joints; k++) {
        int at = m->joint_qd_start[k], body = m->joint_child[k];
        if (m->joint_type[k] == SAP_JOINT_FREE)
            free_joint_impulse(m->body_com + 3 * body, pose + 7 * body + 3, force + at, s->h, w->j + at);
    }
}

/* Sums of squares over all dofs. */
typedef struct Norms {
    double grad, momentum, impulse;
    double rounding; /* of grad, one of each number of the state */
} Norms;

static void add_dof(const Work *w, int world, int i, double eps, Norms *norms) {
    const double *A = w->A + ((size_t)world * (size_t)w->nv + (size_t)i) * (size_t)w->nv;
    const double *v = w->v + (size_t)world * (size_t)w->nv, *v_star = w->v_star + (size_t)world * (size_t)w->nv;
    double r = 0, p = 0, j = w->j[i], rounding = eps * fabs(j), D2 = 1 / A[i];
    for (int k = 0; k < w->nv; k++) {
        r += A[k] * (v[k] - v_star[k]);
        p += A[k] * v[k];
        rounding += eps * fabs(A[k]) * (fabs(v[k]) + fabs(v_star[k]));
    }
    norms->grad += D2 * (r - j) * (r - j);
    norms->momentum += D2 * p * p;
    norms->impulse += D2 * j * j;
    norms->rounding += D2 * rounding * rounding;
}

/* The residual of a step, and what rounding adds to it. The solve scales its own by the dofs that take part, so that is
 * not smaller. */
static double residual_of_momentum(const Step *s, const Work *w, int world, double *rounding) {
    const SapOptions *o = s->options;
    bool f32 =
        s->qd.type == SAP_TYPE_F32 || o->free_motion_precision == SAP_FP32 || o->contact_solve_precision == SAP_FP32;
    Norms norms = {0};
    internal_impulse(s, w, world);
    for (int i = 0; i < w->nv; i++)
        add_dof(w, world, i, f32 ? (double)FLT_EPSILON : DBL_EPSILON, &norms);
    double scale = sqrt(fmax(norms.momentum, norms.impulse));
    *rounding = scale > 0 ? roundings_of_state * sqrt(norms.rounding) / scale : 0;
    return scale > 0 ? sqrt(norms.grad) / scale : 0;
}

/* ---- problems in impulses ---- */

/* One problem of a record. */
typedef struct Problem {
    int blocks, rows, max;
    const int32_t *kind;
    const double *W, *b, *mu, *lo, *hi, *impulse;
} Problem;

static Problem problem_of(const Work *w, int world) {
    const SapDualRecord *r = &w->record;
    size_t at = (size_t)world * (size_t)w->rows;
    Problem p = {r->num_blocks[world], 0,          w->rows,    r->kind + at,   r->W + at * (size_t)w->rows, r->b + at,
                 r->mu + at,           r->lo + at, r->hi + at, r->impulse + at};
    for (int k = 0; k < p.blocks; k++)
        p.rows += p.kind[k] == SAP_DUAL_CONTACT ? 3 : 1;
    return p;
}

static double entry(const Problem *p, int i, int j) {
    return p->W[(size_t)(i > j ? i : j) * (size_t)p->max + (size_t)(i > j ? j : i)];
}

/* d of the rows of block k, which begin at `row`. A friction of 0 and blocks that are not used have d = 0. */
static void scale_block(const Problem *p, int k, int row, double mu, double *d) {
    if (p->kind[k] != SAP_DUAL_CONTACT) {
        d[row] = entry(p, row, row) > 0 ? 1 / sqrt(entry(p, row, row)) : 0;
        return;
    }
    double w = (entry(p, row + 2, row + 2) + mu * mu * (entry(p, row, row) + entry(p, row + 1, row + 1))) / 3;
    d[row + 2] = w > 0 ? 1 / sqrt(w) : 0;
    d[row] = d[row + 1] = mu * d[row + 2];
}

/* The square of the distance of a point to where the gradient would move it, in the cone |x_t| <= x_n. */
static double contact_distance(const double *x, const double *z, bool coulomb) {
    double lift = coulomb ? hypot(z[0], z[1]) : 0, y[3] = {x[0] - z[0], x[1] - z[1], x[2] - z[2] - lift};
    double s = hypot(y[0], y[1]), g = fmax(0, 0.5 * (y[2] + s)), sum = 0;
    if (s > y[2])
        y[0] *= s > 0 ? g / s : 0, y[1] *= s > 0 ? g / s : 0, y[2] = g;
    for (int i = 0; i < 3; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sum;
}

static double row_distance(const Problem *p, int k, double d, double x, double z) {
    double lo = p->kind[k] == SAP_DUAL_FREE || d == 0 ? -(double)INFINITY
                : p->kind[k] == SAP_DUAL_BOX          ? p->lo[k] / d
                                                      : 0;
    double hi = p->kind[k] == SAP_DUAL_BOX && d > 0 ? p->hi[k] / d : (double)INFINITY;
    double y = fmin(fmax(x - z, lo), hi);
    return (x - y) * (x - y);
}

/* x, d and z = P x - q; returns |x| / |q|, 0 without a problem. */
static double scale_problem(const Problem *p, const SapOptions *o, const Work *w) {
    double size = 0, norm = 0;
    for (int k = 0, row = 0; k < p->blocks; row += p->kind[k++] == SAP_DUAL_CONTACT ? 3 : 1)
        scale_block(p, k, row, o->contact_solver == SAP_SOLVER_ACTIVE_SET ? 0 : p->mu[k], w->d);
    for (int i = 0; i < p->rows; i++)
        w->x[i] = w->d[i] > 0 ? p->impulse[i] / w->d[i] : 0;
    for (int i = 0; i < p->rows; i++) {
        double q = w->d[i] * p->b[i];
        w->z[i] = -q;
        for (int j = 0; j < p->rows; j++)
            w->z[i] += w->d[i] * entry(p, i, j) * w->d[j] * w->x[j];
        size += w->x[i] * w->x[i];
        norm += q * q;
    }
    return norm > 0 ? sqrt(size / norm) : 0;
}

/* The residual of the impulses of a step, and what rounding adds to it. */
static double residual_of_impulses(const Step *s, const Work *w, int world, double *rounding) {
    Problem p = problem_of(w, world);
    bool coulomb =
        s->options->friction_law == SAP_FRICTION_COULOMB && !(w->status[world] & SAP_WORLD_COULOMB_NOT_CONVERGED);
    double sum = 0, norm = 0;
    *rounding = roundings_of_products * DBL_EPSILON * scale_problem(&p, s->options, w);
    for (int k = 0, row = 0; k < p.blocks; row += p.kind[k++] == SAP_DUAL_CONTACT ? 3 : 1)
        sum += p.kind[k] == SAP_DUAL_CONTACT ? contact_distance(w->x + row, w->z + row, coulomb)
                                             : row_distance(&p, k, w->d[row], w->x[row], w->z[row]);
    for (int i = 0; i < p.rows; i++)
        norm += w->d[i] * w->d[i] * p.b[i] * p.b[i];
    return norm > 0 ? sqrt(sum / norm) : 0;
}

/* ---- statuses ---- */

/* The tests of MuJoCo's law are MuJoCo's, which end a solve at any residual (docs/mujoco.md#method); pgs_rows ends
 * where it moves no more (docs/dual.md#pgs). */
static double allowed_residual(const SapOptions *o) {
    return o->contact_solver == SAP_SOLVER_MUJOCO || o->contact_solver == SAP_SOLVER_PGS_ROWS ? (double)INFINITY
                                                                                              : solved_residual;
}

/* Of a step in impulses that was solved with another W, or has the impulses between two solutions, nothing is
 * recomputed. */
static void check_solved(const Step *s, const Work *w, int place) {
    uint32_t status = w->status[place];
    bool sap = s->options->contact_solver == SAP_SOLVER_SAP;
    double reported = ((const double *)s->residual.data)[place], rounding = 0, residual = 0;
    if (sap && s->force.data)
        residual = residual_of_momentum(s, w, place, &rounding);
    else if (w->record.max_rows > 0 && !(status & (SAP_WORLD_UNBOUNDED | SAP_WORLD_BOUNCE_REDUCED)))
        residual = residual_of_impulses(s, w, place, &rounding);
    double allowed = rounding + (sap ? reported + drift : scales * reported);
    if (isfinite(allowed_residual(s->options)))
        s->truth->worst = fmax(s->truth->worst, residual - rounding);
    if (!(reported <= allowed_residual(s->options)))
        complain(s->truth, place, status, "the reported residual", reported, allowed_residual(s->options));
    if (!(residual <= allowed))
        complain(s->truth, place, status, "the residual of what the batch reports", residual, allowed);
}

/* A failed world keeps its coordinates, any other has a finite state. */
static void check_state(const Step *s, const Work *w, int place) {
    bool failed = (w->status[place] & SAP_WORLD_FAILED) != 0;
    int changed = 0, bad = 0;
    for (int i = place * w->nq; i < (place + 1) * w->nq; i++) {
        double now = number(&s->q, i), before = w->q0[i];
        changed += !(now == before || (isnan(now) && isnan(before)));
        bad += !isfinite(now);
    }
    for (int i = place * w->nv; i < (place + 1) * w->nv; i++)
        bad += !isfinite(number(&s->qd, i));
    if (failed && changed)
        complain(s->truth, place, w->status[place], "the number of coordinates that changed", changed, 0);
    if (!failed && bad)
        complain(s->truth, place, w->status[place], "the number of values that are not finite", bad, 0);
}

static void check_world(const Step *s, const Work *w, int place) {
    uint32_t status = w->status[place];
    bool failed = status & SAP_WORLD_FAILED, unsolved = status & SAP_WORLD_NOT_CONVERGED;
    bool solved = !failed && !unsolved && status & (SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED);
    s->truth->failed += failed;
    s->truth->unsolved += !failed && unsolved;
    s->truth->solved += solved;
    s->truth->idle += !failed && !unsolved && !solved;
    check_state(s, w, place);
    if (solved)
        check_solved(s, w, place);
}

/* ---- a step ---- */

static SapStatus find_arrays(SapBatch *batch, Step *s) {
    const struct {
        SapBatchField field;
        SapArray *array;
    } wanted[] = {{SAP_BATCH_STATUS, &s->status},
                  {SAP_BATCH_RESIDUAL, &s->residual},
                  {SAP_BATCH_ASLEEP, &s->asleep},
                  {SAP_BATCH_JOINT_Q, &s->q},
                  {SAP_BATCH_JOINT_QD, &s->qd}};
    SapStatus status = SAP_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && status == SAP_OK; i++)
        status = sap_batch_array(batch, wanted[i].field, wanted[i].array);
    if (sap_batch_array(batch, SAP_BATCH_JOINT_CONSTRAINT_FORCE, &s->force) != SAP_OK)
        s->force.data = NULL;
    return status;
}

/* The step, with free motion before and after it, which overwrites the statuses: the step's are restored. */
static SapStatus take_step(SapBatch *batch, const Step *s, Work *w) {
    SapSolver *solver = sap_batch_solver(batch);
    SapStatus status = sap_free_motion(solver, sap_batch_state(batch), sap_batch_control(batch), s->h,
                                       &(SapFreeMotion){.A = w->A, .v_star = w->v_star, .body_pose = w->pose});
    for (int i = 0; i < w->n * w->nq; i++)
        w->q0[i] = number(&s->q, i);
    if (status == SAP_OK && w->rows > 0)
        status = sap_solver_record_problem(solver, &w->record);
    if (status == SAP_OK)
        status = sap_batch_step(batch, s->h, 1);
    if (w->rows > 0)
        sap_solver_record_problem(solver, NULL);
    if (status != SAP_OK)
        return status;
    memcpy(w->status, s->status.data, (size_t)w->n * sizeof *w->status);
    status = sap_free_motion(solver, sap_batch_state(batch), sap_batch_control(batch), s->h,
                             &(SapFreeMotion){.joint_qd = w->v});
    memcpy(s->status.data, w->status, (size_t)w->n * sizeof *w->status);
    return status;
}

SapStatus truth_step(SapBatch *batch, const SapModel *model, const SapOptions *options, double h, Truth *truth) {
    Step s = {.options = options, .model = sap_model_arrays(model), .h = h, .truth = truth};
    Work w = {0};
    SapStatus status = work_begin(&w, batch, s.model);
    if (status == SAP_OK)
        status = find_arrays(batch, &s);
    if (status == SAP_OK)
        status = take_step(batch, &s, &w);
    for (int place = 0; place < w.n && status == SAP_OK; place++)
        if (!((const int32_t *)s.asleep.data)[place])
            check_world(&s, &w, place);
    free(w.memory);
    return status;
}

void truth_add(Truth *sum, const Truth *truth) {
    sum->solved += truth->solved;
    sum->unsolved += truth->unsolved;
    sum->failed += truth->failed;
    sum->idle += truth->idle;
    sum->worst = fmax(sum->worst, truth->worst);
}
