#include "lab/conform/mujoco.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/common.h"
#include "lab/conform/mujoco_file.h"
#include "lab/conform/reference_file.h"

/* Tolerances: assembled rows relative to the largest entry (R: of each row), solutions relative to the largest entry,
 * next states absolute, trajectories absolute and for the growth of rounding. */
static const double ASSEMBLED = 1e-12, SOLVED = 1e-9, NEXT = 1e-10, PATH = 5e-9, PATH_GROWTH = 1e-11;

enum { MAX_ROWS = 512, MAX_CONTACTS = 128 };

/* The quantities of the table of errors. The last three are next states, in the order of the models. */
enum { ERROR_W, ERROR_M, ERROR_J, ERROR_R, ERROR_AREF, ERROR_QACC, ERROR_FORCE, ERROR_PATH, ERROR_NEXT };
enum { NUM_ERRORS = ERROR_NEXT + MUJOCO_NUM_MODELS - MUJOCO_EULER };
static const char *const names[NUM_ERRORS] = {
    "w", "M", "J", "R", "aref", "qacc", "force", "path", "Euler", "implicitfast", "discrete", "RK4"};
static const char *const integrators[MUJOCO_NUM_MODELS] = {"", "Euler", "implicitfast", "discrete", "RK4"};

/* A file at work, one world. */
typedef struct Fixture {
    MujocoFile file;
    SapSolver *solver[MUJOCO_NUM_MODELS];
    SapState *in, *out;
    SapControl *control;
    SapContacts *contacts;
    SapMujocoContact *records; /* [MAX_CONTACTS] */
    SapMujocoRows rows;        /* of one world */
    double *v, *f, *guess, *T, *A, *scratch;
    int least_rows, most_rows;
    double worst[NUM_ERRORS];
} Fixture;

/* One comparison. */
typedef struct Verdict {
    const char *path;
    int index;
    bool verbose;
    ConformCount *count;
} Verdict;

static void tally(const Verdict *to, const char *what, bool passed, double error) {
    to->count->passed += passed;
    to->count->failed += !passed;
    if (!passed || to->verbose)
        printf("%-4s %s case %d: %s %.1e\n", passed ? "ok" : "FAIL", to->path, to->index, what, error);
}

/* ---- setting up ---- */

static bool open_rows(int nv, SapMujocoRows *r) {
    *r = (SapMujocoRows){.capacity = MAX_ROWS,
                         .count = cli_allocate(1, sizeof(int32_t)),
                         .type = cli_allocate(MAX_ROWS, sizeof(int32_t)),
                         .state = cli_allocate(MAX_ROWS, sizeof(int32_t)),
                         .jacobian = cli_allocate((size_t)MAX_ROWS * (size_t)nv, sizeof(double)),
                         .pos = cli_allocate(MAX_ROWS, sizeof(double)),
                         .R = cli_allocate(MAX_ROWS, sizeof(double)),
                         .aref = cli_allocate(MAX_ROWS, sizeof(double)),
                         .force = cli_allocate(MAX_ROWS, sizeof(double)),
                         .qacc = cli_allocate((size_t)nv, sizeof(double)),
                         .margin = cli_allocate(MAX_ROWS, sizeof(double)),
                         .velocity = cli_allocate(MAX_ROWS, sizeof(double)),
                         .impedance = cli_allocate(MAX_ROWS, sizeof(double))};
    return r->margin && r->velocity && r->impedance && r->count && r->type && r->state && r->jacobian && r->pos &&
           r->R && r->aref && r->force && r->qacc;
}

static void close_rows(SapMujocoRows *r) {
    void *const arrays[] = {r->count, r->type,  r->state, r->jacobian, r->pos,      r->R,
                            r->aref,  r->force, r->qacc,  r->margin,   r->velocity, r->impedance};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

static bool set_options(SapOptions *o) {
    if (!cli_check(sap_options_preset("approx64", o)))
        return false;
    o->contact_solver = SAP_SOLVER_MUJOCO;
    o->max_rigid_contact = MAX_CONTACTS;
    o->threads = 1;
    return true;
}

static bool open_solvers(Fixture *b) {
    SapOptions o;
    bool ok = set_options(&o);
    for (int i = 0; ok && i < MUJOCO_NUM_MODELS; i++)
        ok = cli_check(sap_solver_create(b->file.model[i], 1, &o, &b->solver[i])) &&
             cli_check(sap_solver_record_rows(b->solver[i], &b->rows));
    return ok;
}

static bool open_bench(const char *path, const json_t *json, Fixture *b) {
    if (!mujoco_file_open(path, json, &b->file))
        return false;
    size_t nv = (size_t)b->file.nv;
    b->records = cli_allocate(MAX_CONTACTS, sizeof *b->records);
    b->v = cli_allocate(nv + 1, sizeof(double));
    b->f = cli_allocate(nv + 1, sizeof(double));
    b->guess = cli_allocate(nv + 1, sizeof(double));
    b->T = cli_allocate(nv * nv + 1, sizeof(double));
    b->A = cli_allocate(nv * nv + 1, sizeof(double));
    b->scratch = cli_allocate((nv + MAX_ROWS) * (nv + 1), sizeof(double));
    const SapModel *model = b->file.model[0];
    return b->records && b->v && b->f && b->guess && b->T && b->A && b->scratch && open_rows(b->file.nv, &b->rows) &&
           cli_check(sap_state_create(model, 1, SAP_F64, &b->in)) &&
           cli_check(sap_state_create(model, 1, SAP_F64, &b->out)) &&
           cli_check(sap_control_create(model, 1, SAP_F64, &b->control)) &&
           cli_check(sap_contacts_create(1, MAX_CONTACTS, SAP_F64, &b->contacts)) && open_solvers(b);
}

static void close_bench(Fixture *b) {
    for (int i = 0; i < MUJOCO_NUM_MODELS; i++)
        sap_solver_destroy(b->solver[i]);
    sap_state_destroy(b->in);
    sap_state_destroy(b->out);
    sap_control_destroy(b->control);
    sap_contacts_destroy(b->contacts);
    close_rows(&b->rows);
    double *const arrays[] = {b->v, b->f, b->guess, b->T, b->A, b->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(b->records);
    mujoco_file_close(&b->file);
}

/* ---- a case ---- */

/* The numbers of a case by name; NULL with a message unless there are `count`. The caller frees them. */
static double *numbers(const Fixture *b, const json_t *one, const char *name, int count) {
    size_t n;
    double *values = reference_doubles(json_object_get(one, name), &n);
    if (values && (int)n == count)
        return values;
    free(values);
    cli_fail("%s: %s does not have %d numbers", b->file.path, name, count);
    return NULL;
}

/* Copies `count` numbers of a contact. */
static bool contact_numbers(const Fixture *b, const json_t *contact, const char *name, int count, double *out) {
    double *values = numbers(b, contact, name, count);
    if (values)
        memcpy(out, values, (size_t)count * sizeof *out);
    free(values);
    return values != NULL;
}

static bool read_contact(Fixture *b, const json_t *contact, int i) {
    SapMujocoContact *r = &b->records[i];
    double geom[2];
    if (!contact_numbers(b, contact, "geom", 2, geom) || !contact_numbers(b, contact, "pos", 3, r->pos) ||
        !contact_numbers(b, contact, "frame", 9, r->frame) ||
        !contact_numbers(b, contact, "friction", 5, r->friction) ||
        !contact_numbers(b, contact, "solref", 2, r->solref) || !contact_numbers(b, contact, "solimp", 5, r->solimp) ||
        !contact_numbers(b, contact, "solreffriction", 2, r->solreffriction))
        return false;
    r->dist = json_number_value(json_object_get(contact, "dist"));
    r->includemargin = json_number_value(json_object_get(contact, "margin"));
    r->dim = json_number_value(json_object_get(contact, "dim"));
    for (int side = 0; side < 2; side++) {
        if (!(geom[side] >= 0 && geom[side] < b->file.ngeom))
            return cli_fail("%s: a contact has geom %g; allowed: 0 .. %d", b->file.path, geom[side], b->file.ngeom - 1);
        (side ? b->contacts->body1 : b->contacts->body0)[i] = b->file.body[b->file.geom_bodyid[(int)geom[side]]];
    }
    return true;
}

static bool read_contacts(Fixture *b, const json_t *one) {
    const json_t *list = json_object_get(one, "contacts");
    size_t n = json_array_size(list);
    if (n > MAX_CONTACTS)
        return cli_fail("%s: a case has %zu contacts; at most %d are allowed", b->file.path, n, MAX_CONTACTS);
    b->contacts->count[0] = (int32_t)n;
    b->control->guess = b->guess;
    b->contacts->mujoco = b->records;
    for (size_t i = 0; i < n; i++)
        if (!read_contact(b, json_array_get(list, i), (int)i))
            return false;
    return true;
}

/* y = T x, or T' x */
static void turn(const double *T, int nv, bool transposed, const double *x, double *y) {
    for (int i = 0; i < nv; i++) {
        y[i] = 0;
        for (int k = 0; k < nv; k++)
            y[i] += (transposed ? T[k * nv + i] : T[i * nv + k]) * x[k];
    }
}

/* Forces that the kernels do not have: those of actuators, tendons and fluids. */
static void other_forces(const Fixture *b, const double *qpos, const double *qvel, const double *passive,
                         const double *actuator, double *f) {
    const MujocoFile *file = &b->file;
    for (int i = 0; i < file->nv; i++)
        f[i] = actuator[i] + passive[i] + file->dof_damping[i] * qvel[i];
    for (int j = 0; j < file->njnt; j++) {
        int q = file->jnt_qposadr[j];
        if (file->jnt_type[j] >= 2) /* slide, hinge */
            f[file->jnt_dofadr[j]] += file->jnt_stiffness[j] * (qpos[q] - file->qpos_spring[q]);
    }
}

/* State, control and contacts of a case. */
static bool read_case(Fixture *b, const json_t *one) {
    int nv = b->file.nv;
    double *qpos = numbers(b, one, "qpos", b->file.nq), *qvel = numbers(b, one, "qvel", nv),
           *warm = numbers(b, one, "qacc_warmstart", nv), *passive = numbers(b, one, "qfrc_passive", nv),
           *actuator = numbers(b, one, "qfrc_actuator", nv);
    bool ok = qpos && qvel && warm && passive && actuator && read_contacts(b, one);
    if (ok) {
        mujoco_file_turn(&b->file, qpos, b->T);
        turn(b->T, nv, false, qvel, b->v);
        mujoco_file_state(&b->file, qpos, b->v, b->in->joint_q, b->in->joint_qd);
        other_forces(b, qpos, qvel, passive, actuator, b->scratch);
        turn(b->T, nv, false, b->scratch, b->f);
        mujoco_file_force(&b->file, qpos, b->f, b->control->joint_f);
        turn(b->T, nv, false, warm, b->scratch);
        for (int i = 0; i < nv; i++)
            b->guess[i] = b->v[i] + b->file.h * b->scratch[i];
    }
    double *const arrays[] = {qpos, qvel, warm, passive, actuator};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    return ok;
}

/* ---- comparing ---- */

/* The largest difference over the largest number of the file; NaN if the file has another number of them. */
static double relative(const json_t *node, const double *ours, int count) {
    size_t n = 0;
    double *theirs = reference_doubles(node, &n), error = theirs && (int)n == count ? 0 : NAN, scale = 0;
    for (int i = 0; error >= 0 && i < count; i++) {
        error = isnan(ours[i]) ? NAN : fmax(error, fabs(theirs[i] - ours[i]));
        scale = fmax(scale, fabs(theirs[i]));
    }
    free(theirs);
    return error == 0 ? 0 : error / scale;
}

/* The largest relative difference of single numbers. */
static double relative_each(const json_t *node, const double *ours, int count) {
    size_t n = 0;
    double *theirs = reference_doubles(node, &n), error = theirs && (int)n == count ? 0 : NAN;
    for (int i = 0; error >= 0 && i < count; i++)
        error = isnan(ours[i]) ? NAN : fmax(error, fabs(theirs[i] / ours[i] - 1));
    free(theirs);
    return error;
}

static bool same_ints(const json_t *node, const int32_t *ours, int count) {
    size_t n = 0;
    int *theirs = reference_ints(node, &n);
    bool same = theirs && (int)n == count;
    for (int i = 0; same && i < count; i++)
        same = theirs[i] == ours[i];
    free(theirs);
    return same;
}

/* Notes an error; -1 stands for no comparison. */
static bool within(Fixture *b, int which, double error, double tolerance) {
    if (!(error <= b->worst[which]))
        b->worst[which] = error;
    return error <= tolerance;
}

/* The mass matrix, T' A T. */
static bool compare_mass(Fixture *b, const json_t *one, const Verdict *to) {
    int nv = b->file.nv;
    double *AT = b->scratch, *M = b->A;
    const SapFreeMotion before = {.A = b->A};
    if (!cli_check(sap_free_motion(b->solver[MUJOCO_EULER], b->in, b->control, b->file.h, &before)))
        return false;
    for (int i = 0; i < nv; i++)
        for (int k = 0; k < nv; k++) {
            AT[i * nv + k] = 0;
            for (int j = 0; j < nv; j++)
                AT[i * nv + k] += b->A[i * nv + j] * b->T[j * nv + k];
        }
    for (int k = 0; k < nv; k++) { /* column k of M = T' (A T) */
        double column[4096];
        for (int i = 0; i < nv; i++) {
            column[i] = 0;
            for (int j = 0; j < nv; j++)
                column[i] += b->T[j * nv + i] * AT[j * nv + k];
        }
        for (int i = 0; i < nv; i++)
            M[i * nv + k] = column[i];
    }
    double error = relative(json_object_get(one, "M"), M, nv * nv);
    tally(to, "M", within(b, ERROR_M, error, ASSEMBLED), error);
    return true;
}

/* The larger of `error` and the relative differences of n weights. */
static double weight_error(const double *ours, const double *theirs, int n, double error) {
    for (int i = 0; i < n; i++)
        if (ours[i] != theirs[i])
            error = fmax(error, fabs(ours[i] - theirs[i]) / fmax(ours[i], theirs[i]));
    return error;
}

/* MuJoCo takes 1/mass and 0 for a body alone on slides along its own axes, and 1/mass for its dofs. */
static bool is_simple(const double *weight, double mass) {
    return weight[1] == 0 && fabs(weight[0] * mass - 1) < 1e-12;
}

/* Weights as sap_mujoco_weights computes them, of the bodies that have mass; those between the joints of a body have
 * none. */
static bool compare_weights(Fixture *b, const Verdict *to) {
    const SapModel *model = b->file.model[MUJOCO_EULER];
    const SapModelArrays *m = sap_model_arrays(model);
    const SapMujocoParameters *theirs = sap_model_mujoco(model);
    const double least_mass = 1e-20;
    size_t nb = (size_t)m->num_bodies, nv = (size_t)m->num_dofs;
    double *ours = cli_allocate(2 * nb + nv + (size_t)m->num_tendons + 1, sizeof *ours), error = 0;
    bool ok = ours && cli_check(sap_mujoco_weights(model, ours, ours + 2 * nb, ours + 2 * nb + nv));
    for (int j = 0; ok && j < m->num_joints; j++) {
        int body = m->joint_child[j], first = m->joint_qd_start[j], dofs = m->joint_qd_start[j + 1] - first;
        const double *weight = theirs->body_invweight + 2 * body;
        double mass = m->body_mass[body];
        if (mass < least_mass || is_simple(weight, mass))
            continue;
        error = weight_error(ours + 2 * body, weight, 2, error);
        error = weight_error(ours + 2 * nb + first, theirs->dof_invweight + first, dofs, error);
    }
    if (ok) {
        error = weight_error(ours + 2 * nb + nv, theirs->tendon_invweight, m->num_tendons, error);
        tally(to, "weights", within(b, ERROR_W, error, ASSEMBLED), error);
    }
    free(ours);
    return ok;
}

static void compare_rows(Fixture *b, const json_t *one, const Verdict *to) {
    const json_t *rows = json_object_get(one, "rows");
    int n = b->rows.count[0], nv = b->file.nv;
    bool fits = n <= MAX_ROWS && same_ints(json_object_get(rows, "type"), b->rows.type, n);
    tally(to, "types of rows", fits, n);
    if (!fits || n == 0)
        return;
    double *J = b->scratch; /* J T */
    for (int r = 0; r < n; r++)
        turn(b->T, nv, true, b->rows.jacobian + r * nv, J + r * nv);
    double error = relative(json_object_get(rows, "J"), J, n * nv);
    tally(to, "J", within(b, ERROR_J, error, ASSEMBLED), error);
    const struct {
        const char *name;
        const double *ours;
    } state[] = {
        {"pos", b->rows.pos}, {"margin", b->rows.margin}, {"vel", b->rows.velocity}, {"imp", b->rows.impedance}};
    for (size_t i = 0; i < sizeof state / sizeof *state; i++) {
        error = relative(json_object_get(rows, state[i].name), state[i].ours, n);
        tally(to, state[i].name, error <= ASSEMBLED, error);
    }
    error = relative_each(json_object_get(rows, "R"), b->rows.R, n);
    tally(to, "R", within(b, ERROR_R, error, ASSEMBLED), error);
    error = relative(json_object_get(rows, "aref"), b->rows.aref, n);
    tally(to, "aref", within(b, ERROR_AREF, error, ASSEMBLED), error);
    error = relative(json_object_get(rows, "force"), b->rows.force, n);
    tally(to, "force", within(b, ERROR_FORCE, error, SOLVED), error);
    tally(to, "states of rows", same_ints(json_object_get(rows, "state"), b->rows.state, n), n);
}

static void compare_solution(Fixture *b, const json_t *one, const Verdict *to) {
    turn(b->T, b->file.nv, true, b->rows.qacc, b->scratch);
    double error = relative(json_object_get(one, "qacc"), b->scratch, b->file.nv);
    tally(to, "qacc", within(b, ERROR_QACC, error, SOLVED), error);
}

/* The sign of a quaternion is free: a coordinate is compared with both. */
static void compare_next(Fixture *b, const json_t *one, int model, const Verdict *to) {
    const json_t *next = json_object_get(json_object_get(one, "next"), integrators[model]);
    int nq = b->file.nq, nv = b->file.nv;
    double *qpos = b->scratch, *qvel = b->scratch + nq, error = 0;
    mujoco_file_from_state(&b->file, b->out->joint_q, b->out->joint_qd, qpos, qvel);
    double *their_q = numbers(b, next, "qpos", nq), *their_v = numbers(b, next, "qvel", nv);
    for (int i = 0; their_q && i < nq; i++)
        error = fmax(error, fmin(fabs(qpos[i] - their_q[i]), fabs(qpos[i] + their_q[i])));
    for (int i = 0; their_v && i < nv; i++)
        error = fmax(error, fabs(qvel[i] - their_v[i]));
    if (!their_q || !their_v)
        error = NAN;
    char what[64];
    snprintf(what, sizeof what, "next state of %s", integrators[model]);
    tally(to, what, within(b, ERROR_NEXT + model - MUJOCO_EULER, error, NEXT), error);
    free(their_q);
    free(their_v);
}

/* Iterations, and evaluations of all line searches. */
static bool compare_counts(const Fixture *b, const json_t *one, const Verdict *to) {
    const json_t *newton = json_object_get(one, "newton");
    SapWorldReport r;
    if (!cli_check(sap_solver_report(b->solver[MUJOCO_LOOSE], &r)))
        return false;
    int iterations = (int)json_integer_value(json_object_get(newton, "iterations")), evaluations = 0;
    const json_t *list = json_object_get(newton, "evaluations");
    for (size_t i = 0; i < json_array_size(list); i++)
        evaluations += (int)json_integer_value(json_array_get(list, i));
    tally(to, "iterations", r.iterations[0] == iterations, r.iterations[0] - iterations);
    tally(to, "line-search evaluations", r.line_iterations[0] == evaluations, r.line_iterations[0] - evaluations);
    return true;
}

static bool take_step(const Fixture *b, int model) {
    return cli_check(sap_step(b->solver[model], b->in, b->control, b->contacts, b->file.h, b->out));
}

/* Rows and solution of a discrete step, which are others than those of the integrators that solve with M. */
static void compare_discrete(Fixture *b, const json_t *one, const Verdict *to) {
    const json_t *theirs = json_object_get(json_object_get(one, "next"), "discrete");
    int n = b->rows.count[0], nv = b->file.nv;
    double R = n > 0 ? relative_each(json_object_get(theirs, "R"), b->rows.R, n) : 0;
    double aref = n > 0 ? relative(json_object_get(theirs, "aref"), b->rows.aref, n) : 0;
    double force = n > 0 ? relative(json_object_get(theirs, "force"), b->rows.force, n) : 0;
    turn(b->T, nv, true, b->rows.qacc, b->scratch);
    double qacc = n > 0 ? relative(json_object_get(theirs, "qacc"), b->scratch, nv) : 0;
    tally(to, "R of discrete", within(b, ERROR_R, R, ASSEMBLED), R);
    tally(to, "aref of discrete", within(b, ERROR_AREF, aref, ASSEMBLED), aref);
    tally(to, "force of discrete", within(b, ERROR_FORCE, force, SOLVED), force);
    tally(to, "qacc of discrete", within(b, ERROR_QACC, qacc, SOLVED), qacc);
}

/* The step of a batch, which finds its contacts itself, as every stage of RK4 must. */
static bool take_own_step(const Fixture *b, int model) {
    SapOptions o;
    SapBatch *batch = NULL;
    size_t nq = (size_t)b->file.nq * sizeof(double), nv = (size_t)b->file.nv * sizeof(double);
    bool ok = set_options(&o) && cli_check(sap_batch_create(b->file.model[model], 1, &o, &batch));
    if (ok) {
        memcpy(sap_batch_state(batch)->joint_q, b->in->joint_q, nq);
        memcpy(sap_batch_state(batch)->joint_qd, b->in->joint_qd, nv);
        memcpy(sap_batch_control(batch)->joint_f, b->control->joint_f, nv);
        ok = cli_check(sap_batch_step(batch, b->file.h, 1));
        memcpy(b->out->joint_q, sap_batch_state(batch)->joint_q, nq);
        memcpy(b->out->joint_qd, sap_batch_state(batch)->joint_qd, nv);
    }
    sap_batch_destroy(batch);
    return ok;
}

/* The next state of the integrators. */
static bool compare_steps(Fixture *b, const json_t *one, const Verdict *to) {
    for (int model = MUJOCO_EULER; model < MUJOCO_NUM_MODELS; model++) {
        bool own = model == MUJOCO_RK4;
        if ((model != MUJOCO_EULER && !mujoco_file_has_forces(&b->file, model)) ||
            (own && !mujoco_file_has_contacts(&b->file)))
            continue;
        if (!(own ? take_own_step(b, model) : take_step(b, model)))
            return false;
        if (model == MUJOCO_DISCRETE)
            compare_discrete(b, one, to);
        compare_next(b, one, model, to);
    }
    return true;
}

static bool run_case(Fixture *b, const json_t *one, const Verdict *to) {
    if (!read_case(b, one) || !take_step(b, MUJOCO_LOOSE) || !compare_counts(b, one, to) || !compare_mass(b, one, to) ||
        !take_step(b, MUJOCO_EULER))
        return false;
    uint32_t status = sap_solver_world_status(b->solver[MUJOCO_EULER])[0];
    bool failed = (status & SAP_WORLD_FAILED) != 0;
    tally(to, "status", !failed, status);
    if (failed)
        return true;
    int n = b->rows.count[0];
    b->least_rows = to->index == 0 || n < b->least_rows ? n : b->least_rows;
    b->most_rows = n > b->most_rows ? n : b->most_rows;
    compare_rows(b, one, to);
    compare_solution(b, one, to);
    return compare_steps(b, one, to);
}

/* ---- trajectories ---- */

/* Writes the forces of actuators at the state of the batch. */
static void actuate(Fixture *b, SapBatch *batch, const double *ctrl) {
    int nq = b->file.nq, nv = b->file.nv;
    double *qpos = b->scratch, *qvel = qpos + nq, *f = qvel + nv;
    const SapState *state = sap_batch_state(batch);
    mujoco_file_from_state(&b->file, state->joint_q, state->joint_qd, qpos, qvel);
    mujoco_file_actuate(&b->file, qpos, qvel, ctrl, f);
    mujoco_file_turn(&b->file, qpos, b->T);
    turn(b->T, nv, false, f, b->f);
    mujoco_file_force(&b->file, qpos, b->f, sap_batch_control(batch)->joint_f);
}

/* The largest difference of coordinates after a step; the sign of a quaternion is free. */
static double path_error(Fixture *b, SapBatch *batch, const double *theirs) {
    double *qpos = b->scratch, *qvel = qpos + b->file.nq, error = 0;
    const SapState *state = sap_batch_state(batch);
    mujoco_file_from_state(&b->file, state->joint_q, state->joint_qd, qpos, qvel);
    for (int i = 0; i < b->file.nq; i++)
        error = fmax(error, fmin(fabs(qpos[i] - theirs[i]), fabs(qpos[i] + theirs[i])));
    return isnan(qpos[0]) ? NAN : error;
}

/* Runs a trajectory with our own collision. False if the file cannot be used. */
static bool follow(Fixture *b, SapBatch *batch, const json_t *path, double h, double *error) {
    double *qpos = numbers(b, path, "qpos0", b->file.nq), *qvel = numbers(b, path, "qvel0", b->file.nv);
    const json_t *ctrl = json_object_get(path, "ctrl"), *steps = json_object_get(path, "qpos");
    bool ok = qpos && qvel;
    SapState *state = sap_batch_state(batch);
    /* the start */
    if (ok) {
        mujoco_file_turn(&b->file, qpos, b->T);
        turn(b->T, b->file.nv, false, qvel, b->v);
        mujoco_file_state(&b->file, qpos, b->v, state->joint_q, state->joint_qd);
    }
    /* the steps */
    for (size_t i = 0; ok && i < json_array_size(steps); i++) {
        size_t nu = 0, nq = 0;
        double *input = reference_doubles(json_array_get(ctrl, i), &nu),
               *theirs = reference_doubles(json_array_get(steps, i), &nq);
        ok = theirs && (int)nq == b->file.nq && (b->file.nu == 0 || (input && (int)nu == b->file.nu));
        if (ok)
            actuate(b, batch, input);
        ok = ok && cli_check(sap_batch_step(batch, h, 1));
        double now = ok ? path_error(b, batch, theirs) : 0;
        *error = now <= *error ? *error : now;
        free(input);
        free(theirs);
    }
    free(qpos);
    free(qvel);
    return ok;
}

/* A nudge of 1e-9 of the start grows by `growth`; the file has 13 digits. */
static bool run_trajectory(Fixture *b, const json_t *path, const Verdict *to) {
    const char *integrator = json_string_value(json_object_get(path, "integrator"));
    double h = json_number_value(json_object_get(path, "timestep")), error = 0;
    double growth = json_number_value(json_object_get(path, "growth"));
    int model = MUJOCO_EULER;
    while (model < MUJOCO_NUM_MODELS && (!integrator || strcmp(integrator, integrators[model]) != 0))
        model++;
    if (model == MUJOCO_NUM_MODELS || !mujoco_file_has_forces(&b->file, model) || !mujoco_file_has_contacts(&b->file))
        return true;
    SapOptions o;
    SapBatch *batch = NULL;
    bool ok = set_options(&o) && cli_check(sap_batch_create(b->file.model[model], 1, &o, &batch)) &&
              follow(b, batch, path, h, &error);
    char what[64];
    snprintf(what, sizeof what, "trajectory of %s, growth %.0e:", integrators[model], growth);
    if (ok)
        tally(to, what, within(b, ERROR_PATH, error, PATH + PATH_GROWTH * growth), error);
    sap_batch_destroy(batch);
    return ok;
}

static void print_errors(const Fixture *b, const json_t *file) {
    const char *model = json_string_value(json_object_get(file, "model"));
    printf("%-22s rows %d .. %d", model ? model : "?", b->least_rows, b->most_rows);
    for (int i = 0; i < NUM_ERRORS; i++)
        if (b->worst[i] < 0)
            printf(" %s -", names[i]);
        else
            printf(" %s %.0e", names[i], b->worst[i]);
    printf("\n");
}

bool conform_mujoco(const char *path, const json_t *file, bool verbose, ConformCount *count) {
    Fixture b = {0};
    for (int i = 0; i < NUM_ERRORS; i++)
        b.worst[i] = -1; /* not compared */
    const json_t *cases = json_object_get(file, "cases");
    bool ok = open_bench(path, file, &b) && compare_weights(&b, &(const Verdict){path, 0, verbose, count});
    for (size_t i = 0; ok && i < json_array_size(cases); i++) {
        const Verdict to = {path, (int)i, verbose, count};
        ok = run_case(&b, json_array_get(cases, i), &to);
    }
    const json_t *paths = json_object_get(file, "trajectories");
    for (size_t i = 0; ok && i < json_array_size(paths); i++) {
        const Verdict to = {path, (int)i, verbose, count};
        ok = run_trajectory(&b, json_array_get(paths, i), &to);
    }
    if (ok)
        print_errors(&b, file);
    close_bench(&b);
    return ok;
}
