/* The rules of a model of MuJoCo's law, its blocks of dofs, and the row of the formulation. */
#include "host/mujoco/plan.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include <sapwood/mujoco.h>

#include "host/base/fail.h"
#include "host/model/constraint_types.h"
#include "host/mujoco/parameters.h"
#include "host/mujoco/weights.h"
#include "host/options/capabilities.h"
#include "host/plan/formulation.h"
#include "kernels/mujoco/data.h"

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

/* Springs, dampers and servos of tendons are explicit; some integrators of MuJoCo have them implicit. */
static SapStatus check_tendons(const SapModelArrays *m, SapMujocoIntegrator integrator) {
    bool discrete = integrator == SAP_INTEGRATOR_DISCRETE, implicit = integrator == SAP_INTEGRATOR_IMPLICITFAST;
    for (int t = 0; t < m->num_tendons; t++) {
        const struct {
            bool has;
            SapCan row;
            const char *what;
        } checks[] = {
            {is_spatial(m, t), SAP_CAN_TENDON_PATH, "points"},
            {m->tendon_armature[t] > 0, SAP_CAN_TENDON_ARMATURE, "armature"},
            {discrete && sap_mujoco_tendon_has_drive(m, t), SAP_CAN_TENDON_DRIVE_DISCRETE,
             "a drive and integrator discrete"},
            {implicit && sap_mujoco_tendon_has_drive(m, t) && m->tendon_target_kd[t] > 0,
             SAP_CAN_TENDON_DRIVE_KD_IMPLICITFAST, "a drive with kd and integrator implicitfast"},
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

/* Whether the force of an actuator depends on its length. */
static bool has_bias_length(const SapMujocoParameters *a, int i) {
    return a->actuator_gain[3 * i + 1] != 0 || a->actuator_bias[3 * i + 1] != 0;
}

/* In a discrete step springs and dampers are in A, whose pattern is the tree's: only its diagonal has room. */
static SapStatus check_actuators(const SapMujocoParameters *a) {
    for (int k = 1; k < a->num_actuator_terms && a->integrator == SAP_INTEGRATOR_DISCRETE; k++) {
        int i = a->actuator_term_of[k];
        if (i == a->actuator_term_of[k - 1] && (sap_mujoco_has_rate(a, i) || has_bias_length(a, i)))
            NEED(SAP_CAN_ACTUATOR_COUPLED_DISCRETE, "actuator %d moves several dofs with a force that depends on them",
                 i);
    }
    return SAP_OK;
}

static SapStatus check_model(const SapModel *model) {
    const SapModelArrays *m = &model->arrays;
    if (!sap_model_mujoco(model))
        return sap_fail(
            SAP_ERROR_MODEL,
            "contact_solver is mujoco; model '%s' does not have the numbers of MuJoCo's law: create it with "
            "sap_model_create_mujoco",
            m->name);
    SAP_TRY(check_constraints(m));
    SAP_TRY(check_drives(m));
    SAP_TRY(check_actuators(sap_model_mujoco(model)));
    return check_tendons(m, sap_model_mujoco(model)->integrator);
}

static int contact_rows(const SapModel *model) {
    return sap_model_mujoco(model)->max_condim > 3 ? SAP_MUJOCO_CONTACT_ROWS : 3;
}

static int is_rk4(const SapModel *model) {
    return sap_model_mujoco(model)->integrator == SAP_INTEGRATOR_RK4;
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

/* Whether a dof or joint has rows: the model gives it some, or worlds may. */
static bool has_rows(const SapModel *model, bool given) {
    return given || sap_model_mujoco(model)->rows_of_worlds;
}

static void add_block(SapModelConstraint block, int *count, SapModelConstraint *out) {
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
        if (has_rows(model, m->joint_friction[i] > 0 || (type != SAP_JOINT_FREE && is_limited(m, i))))
            add_block(coordinate_block(SAP_BLOCK_DOF, i, dof_of[i]), count, out);
    for (int i = angular; i < end; i++)
        if (has_rows(model, m->joint_friction[i] > 0))
            add_block(ball_block(plan, SAP_BLOCK_BALL_AXIS, joint, i, i - angular), count, out);
    if (type == SAP_JOINT_BALL && has_rows(model, isfinite(sap_model_mujoco(model)->joint_ball_limit[joint])))
        add_block(ball_block(plan, SAP_BLOCK_BALL_LIMIT, joint, first, 0), count, out);
}

static int dof_blocks(const SapModel *model, const SapPlan *plan, const int *dof_of, SapModelConstraint *out) {
    int count = 0;
    for (int j = 0; j < model->arrays.num_joints; j++)
        add_joint(model, plan, dof_of, j, &count, out);
    return count;
}

/* The rows of a limit with these bounds and of friction. */
static long long coordinate_rows(const SapModel *model, double lower, double upper, double friction) {
    return (long long)has_rows(model, isfinite(lower)) + has_rows(model, isfinite(upper)) +
           has_rows(model, friction > 0);
}

static int most_rows(const SapModel *model, int contacts) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = sap_model_mujoco(model);
    int dim = a->max_condim, of_contact = a->cone == SAP_CONE_ELLIPTIC || dim == 1 ? dim : 2 * (dim - 1);
    long long rows = (long long)contacts * of_contact;
    for (int c = 0; c < m->num_constraints; c++)
        rows += sap_constraint_type(m->constraint_type[c])->rows;
    for (int i = 0; i < m->num_dofs; i++)
        rows += coordinate_rows(model, m->joint_limit_lower[i], m->joint_limit_upper[i], m->joint_friction[i]);
    for (int j = 0; j < m->num_joints; j++)
        rows += has_rows(model, isfinite(a->joint_ball_limit[j]));
    for (int t = 0; t < m->num_tendons; t++)
        rows += coordinate_rows(model, m->tendon_limit_lower[t], m->tendon_limit_upper[t], m->tendon_friction[t]);
    return rows < INT_MAX ? (int)rows : INT_MAX;
}

/* ---- numbers of worlds ---- */

static bool has_block(const SapPlan *plan, int kind, int index) {
    for (int k = 0; k < plan->num_blocks; k++)
        if (plan->block[k].kind == kind && plan->block[k].index == index)
            return true;
    return false;
}

static SapStatus need_block(bool has, const char *array, int i) {
    if (has)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "%s[%d] acts in this world, and the model has no row for it: create the model with "
                    "mujoco.rows_of_worlds = 1",
                    array, i);
}

/* Friction and limits need the rows that the plan has. */
static SapStatus check_rows(const SapNumbers *numbers, const SapPlan *plan, SapParameter p) {
    const SapModelArrays *m = &numbers->arrays;
    bool friction = p == SAP_PARAMETER_JOINT_FRICTION;
    bool limit = p == SAP_PARAMETER_JOINT_LIMIT_LOWER || p == SAP_PARAMETER_JOINT_LIMIT_UPPER;
    for (int j = 0; j < m->num_joints; j++) {
        int first = m->joint_qd_start[j];
        bool free = m->joint_type[j] == SAP_JOINT_FREE, ball = m->joint_type[j] == SAP_JOINT_BALL;
        for (int i = first; i < m->joint_qd_start[j + 1]; i++) {
            if (friction && m->joint_friction[i] > 0)
                SAP_TRY(need_block(has_block(plan, SAP_BLOCK_DOF, i) || has_block(plan, SAP_BLOCK_BALL_AXIS, i),
                                   "joint_friction", i));
            if (limit && !free && !ball && is_limited(m, i))
                SAP_TRY(need_block(has_block(plan, SAP_BLOCK_DOF, i), "joint_limit", i));
        }
        if (p == SAP_PARAMETER_MUJOCO_JOINT_BALL_LIMIT && ball && isfinite(numbers->mujoco.joint_ball_limit[j]))
            SAP_TRY(need_block(has_block(plan, SAP_BLOCK_BALL_LIMIT, first), "mujoco.joint_ball_limit", j));
    }
    return SAP_OK;
}

static SapStatus check_numbers(const SapNumbers *numbers, const SapPlan *plan, SapParameter p) {
    switch (p) {
    case SAP_PARAMETER_JOINT_FRICTION:
    case SAP_PARAMETER_JOINT_LIMIT_LOWER:
    case SAP_PARAMETER_JOINT_LIMIT_UPPER:
    case SAP_PARAMETER_MUJOCO_JOINT_BALL_LIMIT: SAP_TRY(check_rows(numbers, plan, p)); break;
    case SAP_PARAMETER_TENDON_SPRING_KE:
    case SAP_PARAMETER_TENDON_DAMPING:
    case SAP_PARAMETER_TENDON_TARGET_KD: SAP_TRY(check_tendons(&numbers->arrays, numbers->mujoco.integrator)); break;
    case SAP_PARAMETER_MUJOCO_ACTUATOR_GAIN:
    case SAP_PARAMETER_MUJOCO_ACTUATOR_BIAS: SAP_TRY(check_actuators(&numbers->mujoco)); break;
    default: break;
    }
    return sap_mujoco_check_parameter(numbers, p);
}

/* ---- the formulation ---- */

static int num_actuators(const SapModel *model) {
    const SapMujocoParameters *a = sap_model_mujoco(model);
    return a ? a->num_actuators : 0;
}

static bool has_records(const SapContacts *contacts) {
    return contacts->mujoco != NULL;
}

const SapFormulation sap_formulation_mujoco = {
    .name = "mujoco",
    .own_kernels = true,
    .point_welds = true,
    .own_motion = true,
    .has_memory = true,
    .exact_motion = true,
    .contact_law_size = SAP_LAW_SIZE_mujoco,
    .tendon_laws = SAP_MUJOCO_LAWS,
    .row_weights = 2, /* and bias */
    .complete = sap_mujoco_complete,
    .check_model = check_model,
    .contact_rows = contact_rows,
    .is_rk4 = is_rk4,
    .num_actuators = num_actuators,
    .most_rows = most_rows,
    .dof_blocks = dof_blocks,
    .acting_range = sap_mujoco_acting_range,
    .num_groups = SAP_MUJOCO_NUM_GROUPS,
    .parameters = sap_model_mujoco,
    .groups_of = sap_mujoco_groups_of,
    .group_width = sap_mujoco_group_width,
    .fill_group = sap_mujoco_fill_group,
    .group_field = sap_mujoco_group_field,
    .check_numbers = check_numbers,
    .weigh = sap_mujoco_weigh_worlds,
    .allow = sap_mujoco_allow,
    .write_records = sap_mujoco_write_records,
    .read_records = sap_mujoco_read_records,
    .create_args = sap_mujoco_create_args,
    .visit_pointers = sap_mujoco_visit_pointers,
    .set_args = sap_mujoco_set_args,
    .set_state = sap_mujoco_set_state,
    .set_contacts = sap_mujoco_set_contacts,
    .set_stages = sap_mujoco_set_stages,
    .has_records = has_records,
};
