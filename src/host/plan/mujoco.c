#include "host/plan/mujoco.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/mujoco.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/constraint_types.h"
#include "host/model/joint_types.h"
#include "host/options/capabilities.h"

/* ---- the model ---- */

/* Fails if MuJoCo's law does not have it. No row of models depends on the device. */
#define NEED(row, ...) SAP_TRY(sap_require(row, SAP_SOLVER_MUJOCO, SAP_DEVICE_CPU, __VA_ARGS__))

static SapStatus check_constraints(const SapModelArrays *m) {
    for (int c = 0; c < m->num_constraints; c++)
        if (m->constraint_type[c] == SAP_CONSTRAINT_DISTANCE)
            NEED(SAP_CAN_CONSTRAINT_DISTANCE, "constraint '%s' is a distance", m->constraint_name[c]);
        else if (m->constraint_side[c] != SAP_SIDE_BOTH)
            NEED(SAP_CAN_CONSTRAINT_ONE_SIDED, "constraint '%s' has one side", m->constraint_name[c]);
    return SAP_OK;
}

/* A servo acts on a dof that has a coordinate. */
static SapStatus check_drives(const SapModelArrays *m) {
    for (int j = 0; j < m->num_joints; j++) {
        bool turns = m->joint_type[j] == SAP_JOINT_BALL || m->joint_type[j] == SAP_JOINT_FREE;
        for (int i = m->joint_qd_start[j]; i < m->joint_qd_start[j + 1]; i++)
            if (turns && m->joint_target_mode[i] != SAP_TARGET_NONE)
                NEED(SAP_CAN_DRIVE_BALL, "joint '%s' is a ball or free joint with a drive (joint_target_mode is %d)",
                     m->joint_name[j], (int)m->joint_target_mode[i]);
    }
    return SAP_OK;
}

/* Whether a tendon goes through points or over pulleys. */
static bool is_spatial(const SapModelArrays *m, int t) {
    return m->tendon_term_type[m->tendon_start[t]] != SAP_TENDON_JOINT;
}

static bool has_drive(const SapModelArrays *m, int t) {
    return m->tendon_target_mode[t] != SAP_TARGET_NONE;
}

/* Springs, dampers and servos of tendons are explicit; some integrators of MuJoCo have them implicit. */
static SapStatus check_tendons(const SapModel *model) {
    const SapModelArrays *m = &model->arrays;
    SapMujocoIntegrator integrator = model->mujoco->integrator;
    bool discrete = integrator == SAP_INTEGRATOR_DISCRETE, implicit = integrator == SAP_INTEGRATOR_IMPLICITFAST;
    for (int t = 0; t < m->num_tendons; t++) {
        const struct {
            bool has;
            SapCan row;
            const char *what;
        } checks[] = {
            {is_spatial(m, t), SAP_CAN_TENDON_PATH, "points"},
            {m->tendon_armature[t] > 0, SAP_CAN_TENDON_ARMATURE, "armature"},
            {discrete && has_drive(m, t), SAP_CAN_TENDON_DRIVE_DISCRETE, "a drive and integrator discrete"},
            {implicit && has_drive(m, t) && m->tendon_target_kd[t] > 0, SAP_CAN_TENDON_DRIVE_KD_IMPLICITFAST,
             "a drive with kd and integrator implicitfast"},
            {discrete && m->tendon_spring_ke[t] > 0, SAP_CAN_TENDON_SPRING_DISCRETE,
             "a spring and integrator discrete"},
            {discrete && m->tendon_damping[t] > 0, SAP_CAN_TENDON_DAMPING_DISCRETE, "damping and integrator discrete"},
            {implicit && m->tendon_damping[t] > 0, SAP_CAN_TENDON_DAMPING_IMPLICITFAST,
             "damping and integrator implicitfast"},
        };
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
            if (checks[i].has)
                NEED(checks[i].row, "tendon '%s' has %s", m->tendon_name[t], checks[i].what);
    }
    return SAP_OK;
}

/* Whether the force of an actuator depends on its length or rate. */
static bool has_bias_rate(const SapMujocoParameters *a, int i) {
    return a->actuator_gain[3 * i + 2] != 0 || a->actuator_bias[3 * i + 2] != 0;
}
static bool has_bias_length(const SapMujocoParameters *a, int i) {
    return a->actuator_gain[3 * i + 1] != 0 || a->actuator_bias[3 * i + 1] != 0;
}

/* In a discrete step springs and dampers are in A, whose pattern is that of the tree: only its diagonal has room. */
static SapStatus check_actuators(const SapMujocoParameters *a) {
    for (int k = 1; k < a->num_actuator_terms && a->integrator == SAP_INTEGRATOR_DISCRETE; k++) {
        int i = (int)a->actuator_term_of[k];
        if (i == (int)a->actuator_term_of[k - 1] && (has_bias_rate(a, i) || has_bias_length(a, i)))
            NEED(SAP_CAN_ACTUATOR_COUPLED_DISCRETE, "actuator %d moves several dofs with a force that depends on them",
                 i);
    }
    return SAP_OK;
}

SapStatus sap_mujoco_check(const SapModel *model) {
    const SapModelArrays *m = &model->arrays;
    if (!model->mujoco)
        return sap_fail(
            SAP_ERROR_MODEL,
            "contact_solver is mujoco; model '%s' does not have the numbers of MuJoCo's law: create it with "
            "sap_model_create_mujoco",
            m->name);
    SAP_TRY(check_constraints(m));
    SAP_TRY(check_drives(m));
    SAP_TRY(check_actuators(model->mujoco));
    return check_tendons(model);
}

int sap_mujoco_contact_rows(const SapModel *model) {
    return model->mujoco->max_condim > 3 ? SAP_MUJOCO_CONTACT_ROWS : 3;
}

int sap_mujoco_is_rk4(const SapModel *model) {
    return model->mujoco->integrator == SAP_INTEGRATOR_RK4;
}

/* ---- blocks ---- */

static bool is_limited(const SapModelArrays *m, int dof) {
    return isfinite(m->joint_limit_lower[dof]) || isfinite(m->joint_limit_upper[dof]);
}

static SapModelConstraint coordinate_block(int kind, int index, int dof) {
    return (SapModelConstraint){
        .kind = kind, .index = index, .rows = 1, .laws = SAP_MUJOCO_LAWS, .link = {-1, -1}, .coordinate = {dof, -1}};
}

/* A block about an axis of the body, or the limit, of a ball or free joint, whose first three internal dofs are
 * angular. index: public dof. */
static SapModelConstraint ball_block(const SapPlan *plan, int kind, int joint, int index, int axis) {
    SapModelConstraint b = coordinate_block(kind, index, plan->link[joint].v);
    b.link[1] = joint;
    b.side = axis;
    return b;
}

static void add(SapModelConstraint block, int *count, SapModelConstraint *out) {
    if (out)
        out[*count] = block;
    ++*count;
}

/* Dofs of ball joints, and the angular ones of free joints, have friction about the axes of the body. */
static void add_joint(const SapModel *model, const SapPlan *plan, const int *dof_of, int joint, int *count,
                      SapModelConstraint *out) {
    const SapModelArrays *m = &model->arrays;
    int first = m->joint_qd_start[joint], end = m->joint_qd_start[joint + 1], type = m->joint_type[joint];
    int angular = type == SAP_JOINT_BALL ? first : type == SAP_JOINT_FREE ? first + 3 : end;
    for (int i = first; i < angular; i++)
        if (m->joint_friction[i] > 0 || (type != SAP_JOINT_FREE && is_limited(m, i)))
            add(coordinate_block(SAP_BLOCK_DOF, i, dof_of[i]), count, out);
    for (int i = angular; i < end; i++)
        if (m->joint_friction[i] > 0)
            add(ball_block(plan, SAP_BLOCK_BALL_AXIS, joint, i, i - angular), count, out);
    if (type == SAP_JOINT_BALL && isfinite(model->mujoco->joint_ball_limit[joint]))
        add(ball_block(plan, SAP_BLOCK_BALL_LIMIT, joint, first, 0), count, out);
}

int sap_mujoco_dof_blocks(const SapModel *model, const SapPlan *plan, const int *dof_of, SapModelConstraint *out) {
    int count = 0;
    for (int j = 0; j < model->arrays.num_joints; j++)
        add_joint(model, plan, dof_of, j, &count, out);
    return count;
}

/* The rows of a limit with these bounds and of friction. */
static long long coordinate_rows(double lower, double upper, double friction) {
    return (long long)(isfinite(lower) != 0) + (isfinite(upper) != 0) + (friction > 0);
}

int sap_mujoco_most_rows(const SapModel *model, int contacts) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = model->mujoco;
    int dim = a->max_condim, of_contact = a->cone == SAP_CONE_ELLIPTIC || dim == 1 ? dim : 2 * (dim - 1);
    long long rows = (long long)contacts * of_contact;
    for (int c = 0; c < m->num_constraints; c++)
        rows += sap_constraint_type(m->constraint_type[c])->rows;
    for (int i = 0; i < m->num_dofs; i++)
        rows += coordinate_rows(m->joint_limit_lower[i], m->joint_limit_upper[i], m->joint_friction[i]);
    for (int j = 0; j < m->num_joints; j++)
        rows += isfinite(a->joint_ball_limit[j]) != 0;
    for (int t = 0; t < m->num_tendons; t++)
        rows += coordinate_rows(m->tendon_limit_lower[t], m->tendon_limit_upper[t], m->tendon_friction[t]);
    return rows < INT_MAX ? (int)rows : INT_MAX;
}

/* ---- parameters of blocks ---- */

/* Softness of one kind of rows. */
typedef struct Soft {
    const double *solref, *solimp;
} Soft;

static void put_soft(double *row, int first, Soft soft, int i) {
    memcpy(row + first, soft.solref + 2 * i, 2 * sizeof *row);
    memcpy(row + first + 2, soft.solimp + 5 * i, 5 * sizeof *row);
}

static double body_weight(const SapMujocoParameters *a, int body, int which) {
    return body < 0 ? 0 : a->body_invweight[2 * body + which];
}

/* w of a coordinate: a public dof, nv + tendon, or -1. */
static double coordinate_weight(const SapModel *model, int x) {
    int nv = model->arrays.num_dofs;
    return x < 0 ? 0 : x < nv ? model->mujoco->dof_invweight[x] : model->mujoco->tendon_invweight[x - nv];
}

static void put_equality(const SapModel *model, int c, double *row) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = model->mujoco;
    const int *body = m->constraint_body + 2 * c, *x = m->constraint_coordinate + 2 * c;
    for (int which = 0; which < 2; which++)
        row[SAP_MUJOCO_WEIGHT + which] = m->constraint_type[c] == SAP_CONSTRAINT_COUPLER
                                             ? coordinate_weight(model, x[0]) + coordinate_weight(model, x[1])
                                             : body_weight(a, body[0], which) + body_weight(a, body[1], which);
    row[SAP_MUJOCO_TORQUESCALE] = a->constraint_torquescale[c];
    put_soft(row, SAP_MUJOCO_SOFT, (Soft){a->constraint_solref, a->constraint_solimp}, c);
    put_soft(row, SAP_MUJOCO_LOSS_SOFT, (Soft){a->constraint_solref, a->constraint_solimp}, c); /* not used */
}

static void put_dof(const SapModel *model, const SapModelConstraint *b, double *row) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = model->mujoco;
    int i = b->index;
    bool is_dof = b->kind == SAP_BLOCK_DOF, is_limit = b->kind == SAP_BLOCK_BALL_LIMIT;
    row[SAP_MUJOCO_WEIGHT] = row[SAP_MUJOCO_WEIGHT + 1] = a->dof_invweight[i];
    row[SAP_MUJOCO_LOWER] = is_dof ? m->joint_limit_lower[i] : is_limit ? -a->joint_ball_limit[b->link[1]] : -INFINITY;
    row[SAP_MUJOCO_UPPER] = is_dof ? m->joint_limit_upper[i] : INFINITY;
    row[SAP_MUJOCO_LIMIT_MARGIN] = a->dof_limit_margin[i];
    row[SAP_MUJOCO_LOSS] = is_limit ? 0 : m->joint_friction[i];
    put_soft(row, SAP_MUJOCO_SOFT, (Soft){a->dof_limit_solref, a->dof_limit_solimp}, i);
    put_soft(row, SAP_MUJOCO_LOSS_SOFT, (Soft){a->dof_friction_solref, a->dof_friction_solimp}, i);
}

static void put_tendon(const SapModel *model, int t, double *row) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = model->mujoco;
    row[SAP_MUJOCO_WEIGHT] = row[SAP_MUJOCO_WEIGHT + 1] = a->tendon_invweight[t];
    row[SAP_MUJOCO_LOWER] = m->tendon_limit_lower[t];
    row[SAP_MUJOCO_UPPER] = m->tendon_limit_upper[t];
    row[SAP_MUJOCO_LIMIT_MARGIN] = a->tendon_limit_margin[t];
    row[SAP_MUJOCO_LOSS] = m->tendon_friction[t];
    put_soft(row, SAP_MUJOCO_SOFT, (Soft){a->tendon_limit_solref, a->tendon_limit_solimp}, t);
    put_soft(row, SAP_MUJOCO_LOSS_SOFT, (Soft){a->tendon_friction_solref, a->tendon_friction_solimp}, t);
}

static void put_block(const SapModel *model, const SapModelConstraint *b, double *row) {
    memset(row, 0, SAP_MUJOCO_BLOCK_SIZE * sizeof *row);
    if (b->laws == 1)
        put_equality(model, b->index, row);
    else if (b->kind == SAP_BLOCK_TENDON)
        put_tendon(model, b->index, row);
    else
        put_dof(model, b, row);
}

/* ---- arguments ---- */

static void set_options(const SapModel *model, SapMujocoArgs *args) {
    const SapMujocoParameters *a = model->mujoco;
    const SapModelArrays *m = &model->arrays;
    /* What the dofs, actuators and tendons of the model have. */
    bool damped = false, driven = false, servo_damped = false, pull = false, couples = false;
    for (int i = 0; i < m->num_dofs; i++) {
        damped |= m->joint_damping[i] > 0;
        driven |= m->joint_target_mode[i] != SAP_TARGET_NONE;
        servo_damped |= m->joint_target_mode[i] != SAP_TARGET_NONE && m->joint_target_kd[i] > 0;
    }
    for (int i = 0; i < a->num_actuators; i++)
        servo_damped |= has_bias_rate(a, i);
    for (int k = 1; k < a->num_actuator_terms; k++)
        couples |=
            a->actuator_term_of[k] == a->actuator_term_of[k - 1] && has_bias_rate(a, (int)a->actuator_term_of[k]);
    for (int t = 0; t < m->num_tendons; t++)
        pull |= m->tendon_spring_ke[t] > 0 || m->tendon_damping[t] > 0 || has_drive(m, t);
    /* Cone, integrator and the terms that it makes implicit. */
    args->elliptic = a->cone == SAP_CONE_ELLIPTIC;
    args->discrete = a->integrator == SAP_INTEGRATOR_DISCRETE;
    args->implicitfast = a->integrator == SAP_INTEGRATOR_IMPLICITFAST;
    args->damped =
        args->implicitfast ? damped || servo_damped : damped && a->eulerdamp && a->integrator == SAP_INTEGRATOR_EULER;
    args->driven = (driven ? SAP_MUJOCO_SERVOS : 0) | (a->num_actuators > 0 ? SAP_MUJOCO_ACTUATORS : 0);
    args->couples = args->implicitfast && couples;
    args->num_actuators = a->num_actuators;
    args->num_pairs = a->num_pairs;
    args->tendons_pull = pull;
    /* Options of the rows and of the solve. */
    args->refsafe = a->refsafe;
    args->iterations = a->iterations;
    args->ls_iterations = a->ls_iterations;
    args->tolerance = a->tolerance;
    args->ls_tolerance = a->ls_tolerance;
    args->impratio = a->impratio;
}

static void put(const SapField *field, int f64, int i, double value) {
    if (f64)
        ((double *)field->data)[i] = value;
    else
        ((float *)field->data)[i] = (float)value;
}

static void fill(const SapModel *model, const SapPlan *plan, int f64, SapMujocoArgs *args) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = model->mujoco;
    double row[SAP_MUJOCO_BLOCK_SIZE];
    for (int k = 0; k < plan->num_blocks; k++) {
        put_block(model, &plan->block[k], row);
        for (int i = 0; i < SAP_MUJOCO_BLOCK_SIZE; i++)
            put(&args->block[f64], f64, SAP_MUJOCO_BLOCK_SIZE * k + i, row[i]);
    }
    for (int l = 0; l < plan->nl; l++)
        put(&args->link[f64], f64, l, a->body_invweight[2 * plan->link[l].body]);
    for (int i = 0; i < plan->nv; i++) {
        int given = plan->dof_public[i];
        bool driven = m->joint_target_mode[given] != SAP_TARGET_NONE;
        const double dof[SAP_MUJOCO_DOF_SIZE] = {
            [SAP_MUJOCO_DAMPING] = m->joint_damping[given],
            [SAP_MUJOCO_STIFFNESS] = a->dof_stiffness[given],
            [SAP_MUJOCO_SPRING_REF] = a->dof_spring_ref[given],
            [SAP_MUJOCO_DRIVE_KP] = driven ? m->joint_target_ke[given] : 0,
            [SAP_MUJOCO_DRIVE_KD] = driven ? m->joint_target_kd[given] : 0,
            [SAP_MUJOCO_DRIVE_LOWER] = a->dof_drive_range[2 * given],
            [SAP_MUJOCO_DRIVE_UPPER] = a->dof_drive_range[2 * given + 1],
        };
        for (int k = 0; k < SAP_MUJOCO_DOF_SIZE; k++)
            put(&args->dof[f64], f64, SAP_MUJOCO_DOF_SIZE * i + k, dof[k]);
    }
}

static void fill_shapes(const SapModel *model, int f64, const SapField *shape) {
    const SapMujocoParameters *a = model->mujoco;
    for (int s = 0; s < model->arrays.num_shapes; s++) {
        double row[SAP_MUJOCO_SHAPE_SIZE];
        row[SAP_MUJOCO_SHAPE_CONDIM] = a->shape_condim[s];
        row[SAP_MUJOCO_SHAPE_PRIORITY] = a->shape_priority[s];
        row[SAP_MUJOCO_SHAPE_SOLMIX] = a->shape_solmix[s];
        row[SAP_MUJOCO_SHAPE_MARGIN] = a->shape_margin[s];
        row[SAP_MUJOCO_SHAPE_WEIGHT] = a->shape_invweight[s];
        memcpy(row + SAP_MUJOCO_SHAPE_FRICTION, a->shape_friction + 3 * s, 3 * sizeof *row);
        memcpy(row + SAP_MUJOCO_SHAPE_SOLREF, a->shape_solref + 2 * s, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_SHAPE_SOLIMP, a->shape_solimp + 5 * s, 5 * sizeof *row);
        for (int i = 0; i < SAP_MUJOCO_SHAPE_SIZE; i++)
            put(shape, f64, SAP_MUJOCO_SHAPE_SIZE * s + i, row[i]);
    }
}

static void fill_pairs(const SapModel *model, int f64, const SapField *pair) {
    const SapMujocoParameters *a = model->mujoco;
    for (int p = 0; p < a->num_pairs; p++) {
        double row[SAP_MUJOCO_PAIR_SIZE];
        row[SAP_MUJOCO_PAIR_CONDIM] = a->pair_condim[p];
        row[SAP_MUJOCO_PAIR_MARGIN] = a->pair_margin[p];
        memcpy(row + SAP_MUJOCO_PAIR_FRICTION, a->pair_friction + 5 * p, 5 * sizeof *row);
        memcpy(row + SAP_MUJOCO_PAIR_SOLREF, a->pair_solref + 2 * p, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_PAIR_SOLREFFRICTION, a->pair_solreffriction + 2 * p, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_PAIR_SOLIMP, a->pair_solimp + 5 * p, 5 * sizeof *row);
        for (int i = 0; i < SAP_MUJOCO_PAIR_SIZE; i++)
            put(pair, f64, SAP_MUJOCO_PAIR_SIZE * p + i, row[i]);
    }
}

/* ---- actuators ---- */

static void fill_actuators(const SapModel *model, const SapPlan *plan, int f64, SapMujocoArgs *args) {
    const SapMujocoParameters *a = model->mujoco;
    for (int i = 0; i < a->num_actuators; i++) {
        double row[SAP_MUJOCO_ACTUATOR_SIZE];
        memcpy(row + SAP_MUJOCO_ACTUATOR_GAIN, a->actuator_gain + 3 * i, 3 * sizeof *row);
        memcpy(row + SAP_MUJOCO_ACTUATOR_BIAS, a->actuator_bias + 3 * i, 3 * sizeof *row);
        memcpy(row + SAP_MUJOCO_ACTUATOR_CTRL, a->actuator_ctrl_range + 2 * i, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_ACTUATOR_FORCE, a->actuator_force_range + 2 * i, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_ACTUATOR_ACT, a->actuator_act_range + 2 * i, 2 * sizeof *row);
        row[SAP_MUJOCO_ACTUATOR_TAU] = a->actuator_tau[i];
        for (int k = 0; k < SAP_MUJOCO_ACTUATOR_SIZE; k++)
            put(&args->actuator_number[f64], f64, SAP_MUJOCO_ACTUATOR_SIZE * i + k, row[k]);
    }
    for (int k = 0; k < a->num_actuator_terms; k++)
        put(&args->arm[f64], f64, k, a->actuator_term_arm[k]);
    for (int i = 0; i < plan->nv; i++)
        for (int k = 0; k < 2; k++)
            put(&args->actuator_range[f64], f64, 2 * i + k, a->dof_actuator_range[2 * plan->dof_public[i] + k]);
}

/* Lists of integers, in memory that SapMujocoArgs points to as constant. */
typedef struct Lists {
    int *pair_shape, *dof_term_start, *dof_term;
    SapMujocoActuator *actuator;
    SapMujocoTerm *term;
} Lists;

/* The terms by actuator, and by dof in the order of actuators. */
static void fill_lists(const SapMujocoParameters *a, const SapPlan *plan, const Lists *to) {
    int next = 0;
    for (int i = 0; i < 2 * a->num_pairs; i++)
        to->pair_shape[i] = (int)a->pair_shape[i];
    for (int i = 0; i < a->num_actuators; i++) {
        int first = next;
        while (next < a->num_actuator_terms && (int)a->actuator_term_of[next] == i)
            next++;
        to->actuator[i] = (SapMujocoActuator){(int)a->actuator_dynamics[i], (int)a->actuator_early[i], first, next};
    }
    int count = 0;
    for (int i = 0; i < plan->nv; i++) {
        to->dof_term_start[i] = count;
        for (int k = 0; k < a->num_actuator_terms; k++)
            if ((int)a->actuator_term_dof[k] == plan->dof_public[i]) {
                to->term[k] = (SapMujocoTerm){(int)a->actuator_term_of[k], i, plan->dof_coord[i]};
                to->dof_term[count++] = k;
            }
    }
    to->dof_term_start[plan->nv] = count;
}

static Lists carve_lists(SapArena *arena, const SapMujocoParameters *a, const SapPlan *plan, SapMujocoArgs *args) {
    size_t terms = (size_t)a->num_actuator_terms, actuators = (size_t)a->num_actuators;
    Lists to;
    args->pair_shape = to.pair_shape = sap_arena_carve(arena, 2 * (size_t)a->num_pairs, sizeof *to.pair_shape);
    args->actuator = to.actuator = sap_arena_carve(arena, actuators, sizeof *to.actuator);
    args->term = to.term = sap_arena_carve(arena, terms, sizeof *to.term);
    args->dof_term_start = to.dof_term_start = sap_arena_carve(arena, (size_t)plan->nv + 1, sizeof(int));
    args->dof_term = to.dof_term = sap_arena_carve(arena, terms, sizeof(int));
    return to;
}

static SapBuffer rows_of(const void *data, int count, SapDtype dtype) {
    return (SapBuffer){.data = (void *)(uintptr_t)data, .stride = count, .is_f64 = dtype == SAP_F64};
}

void sap_mujoco_args_set_actuators(SapMujocoArgs *args, const SapState *in, const SapControl *control,
                                   const SapState *out) {
    int n = args->num_actuators;
    args->ctrl = control ? rows_of(control->actuator_ctrl, n, control->dtype) : (SapBuffer){0};
    args->act_in = rows_of(in->actuator_act, n, in->dtype);
    args->act_out = out ? rows_of(out->actuator_act, n, out->dtype) : (SapBuffer){0};
}

/* ---- all of them ---- */

SapStatus sap_mujoco_args_create(const SapModel *model, const SapPlan *plan, SapMujocoOwner *out) {
    *out = (SapMujocoOwner){0};
    SapArena arena = {0};
    SapMujocoArgs *args = &out->args;
    const SapMujocoParameters *a = model->mujoco;
    /* Allocate: measure, then carve. */
    Lists lists = {0};
    for (int pass = 0; pass < 2; pass++) {
        lists = carve_lists(&arena, a, plan, args);
        for (int f64 = 0; f64 < 2; f64++) {
            size_t size = f64 ? sizeof(double) : sizeof(float);
            args->block[f64].data = sap_arena_carve(&arena, (size_t)plan->num_blocks * SAP_MUJOCO_BLOCK_SIZE, size);
            args->link[f64].data = sap_arena_carve(&arena, (size_t)plan->nl, size);
            args->shape[f64].data = sap_arena_carve(&arena, (size_t)plan->ns * SAP_MUJOCO_SHAPE_SIZE, size);
            args->dof[f64].data = sap_arena_carve(&arena, (size_t)plan->nv * SAP_MUJOCO_DOF_SIZE, size);
            args->pair[f64].data = sap_arena_carve(&arena, (size_t)a->num_pairs * SAP_MUJOCO_PAIR_SIZE, size);
            args->actuator_number[f64].data =
                sap_arena_carve(&arena, (size_t)a->num_actuators * SAP_MUJOCO_ACTUATOR_SIZE, size);
            args->arm[f64].data = sap_arena_carve(&arena, (size_t)a->num_actuator_terms, size);
            args->actuator_range[f64].data = sap_arena_carve(&arena, 2 * (size_t)plan->nv, size);
        }
        if (pass == 0)
            SAP_TRY(sap_arena_allocate(&arena, "plan"));
    }
    out->memory = arena.base;
    out->bytes = arena.used;
    /* Lists, numbers in both precisions, options. */
    fill_lists(a, plan, &lists);
    for (int f64 = 0; f64 < 2; f64++) {
        fill(model, plan, f64, args);
        fill_shapes(model, f64, &args->shape[f64]);
        fill_pairs(model, f64, &args->pair[f64]);
        fill_actuators(model, plan, f64, args);
    }
    set_options(model, args);
    return SAP_OK;
}

void sap_mujoco_args_free(SapMujocoOwner *owner) {
    free(owner->memory);
    *owner = (SapMujocoOwner){0};
}
