#include "host/batch/fields.h"

#include <assert.h>
#include <string.h>

#include "host/base/fail.h"
#include "kernels/mujoco/data.h"

/* Arrays without a SapBatchField. The skipped number is the index of the NULL that ends the list of names. */
enum { ROW_F64_RETRIES = SAP_BATCH_NUM_FIELDS + 1, ROW_SITE_BEFORE, ROW_QD_BEFORE, ROW_STATUS_BEFORE, END_OF_NAMES };

/* Each line: X(field, name, member, type, rows, columns, when it exists, action of a reset, initial byte value). */
#define FIELDS(X)                                                                                                      \
    X(SAP_BATCH_JOINT_Q, "joint_q", state.joint_q, REAL, COORDS, 0, ALWAYS, TO_STATE, 0)                               \
    X(SAP_BATCH_JOINT_QD, "joint_qd", state.joint_qd, REAL, DOFS, 0, ALWAYS, TO_STATE, 0)                              \
    X(SAP_BATCH_BODY_Q, "body_q", state.body_q, REAL, BODIES, 7, ALWAYS, TO_STATE, 0)                                  \
    X(SAP_BATCH_BODY_QD, "body_qd", state.body_qd, REAL, BODIES, 6, ALWAYS, TO_STATE, 0)                               \
    X(SAP_BATCH_JOINT_F, "joint_f", control.joint_f, REAL, DOFS, 0, ALWAYS, TO_CONTROL, 0)                             \
    X(SAP_BATCH_BODY_F, "body_f", control.body_f, REAL, BODIES, 6, ALWAYS, TO_CONTROL, 0)                              \
    X(SAP_BATCH_JOINT_TARGET_POS, "joint_target_pos", control.joint_target_pos, REAL, DOFS, 0, ALWAYS, TO_CONTROL, 0)  \
    X(SAP_BATCH_JOINT_TARGET_VEL, "joint_target_vel", control.joint_target_vel, REAL, DOFS, 0, ALWAYS, TO_CONTROL, 0)  \
    X(SAP_BATCH_JOINT_ACT, "joint_act", control.joint_act, REAL, DOFS, 0, ALWAYS, TO_CONTROL, 0)                       \
    X(SAP_BATCH_CONSTRAINT_ACTIVE, "constraint_active", control.constraint_active, I32, CONSTRAINTS, 0, ALWAYS,        \
      TO_CONTROL, 0)                                                                                                   \
    X(SAP_BATCH_TENDON_TARGET_POS, "tendon_target_pos", control.tendon_target_pos, REAL, TENDONS, 0, ALWAYS,           \
      TO_CONTROL, 0)                                                                                                   \
    X(SAP_BATCH_TENDON_TARGET_VEL, "tendon_target_vel", control.tendon_target_vel, REAL, TENDONS, 0, ALWAYS,           \
      TO_CONTROL, 0)                                                                                                   \
    X(SAP_BATCH_TENDON_ACT, "tendon_act", control.tendon_act, REAL, TENDONS, 0, ALWAYS, TO_CONTROL, 0)                 \
    X(SAP_BATCH_TENDON_F, "tendon_f", control.tendon_f, REAL, TENDONS, 0, ALWAYS, TO_CONTROL, 0)                       \
    X(SAP_BATCH_ACTUATOR_CTRL, "actuator_ctrl", control.actuator_ctrl, REAL, ACTUATORS, 0, ALWAYS, TO_CONTROL, 0)      \
    X(SAP_BATCH_ACTUATOR_ACT, "actuator_act", state.actuator_act, REAL, ACTUATORS, 0, ALWAYS, TO_ZERO, 0)              \
    X(SAP_BATCH_CONTACT_COUNT, "contact_count", contacts.count, I32, WORLD, 0, ALWAYS, TO_ZERO, 0)                     \
    X(SAP_BATCH_CONTACT_DROPPED, "contact_dropped", contacts.dropped, I32, WORLD, 0, ALWAYS, TO_ZERO, 0)               \
    X(SAP_BATCH_STATUS, "status", status, U32, WORLD, 0, ALWAYS, TO_ZERO, 0)                                           \
    X(SAP_BATCH_ASLEEP, "asleep", asleep, I32, WORLD, 0, ALWAYS, TO_ZERO, 0)                                           \
    X(SAP_BATCH_ITERATIONS, "iterations", report.iterations, I32, WORLD, 0, ALWAYS, TO_ZERO, 0)                        \
    X(SAP_BATCH_LINE_ITERATIONS, "line_iterations", report.line_iterations, I32, WORLD, 0, ALWAYS, TO_ZERO, 0)         \
    X(SAP_BATCH_SAFEGUARDS, "safeguards", report.safeguards, I32, WORLD, 0, ALWAYS, TO_ZERO, 0)                        \
    X(SAP_BATCH_ACTIVE, "active", report.active, I32, WORLD, 0, ALWAYS, TO_ZERO, 0)                                    \
    X(ROW_F64_RETRIES, "f64_retries", report.f64_retries, I32, WORLD, 0, ALWAYS, TO_ZERO, 0)                           \
    X(SAP_BATCH_COST, "cost", report.cost, F64, WORLD, 0, ALWAYS, TO_ZERO, 0)                                          \
    X(SAP_BATCH_RESIDUAL, "residual", report.residual, F64, WORLD, 0, ALWAYS, TO_ZERO, 0)                              \
    X(SAP_BATCH_CONTACT_SHAPE0, "contact_shape0", contacts.shape0, I32, CONTACTS, 0, ALWAYS, KEEP, NO_SHAPE)           \
    X(SAP_BATCH_CONTACT_SHAPE1, "contact_shape1", contacts.shape1, I32, CONTACTS, 0, ALWAYS, KEEP, NO_SHAPE)           \
    X(SAP_BATCH_CONTACT_POINT0, "contact_point0", contacts.point0, CONTACT, CONTACTS, 3, ALWAYS, KEEP, 0)              \
    X(SAP_BATCH_CONTACT_POINT1, "contact_point1", contacts.point1, CONTACT, CONTACTS, 3, ALWAYS, KEEP, 0)              \
    X(SAP_BATCH_CONTACT_NORMAL, "contact_normal", contacts.normal, CONTACT, CONTACTS, 3, ALWAYS, KEEP, 0)              \
    X(SAP_BATCH_CONTACT_MARGIN0, "contact_margin0", contacts.margin0, CONTACT, CONTACTS, 0, ALWAYS, KEEP, 0)           \
    X(SAP_BATCH_CONTACT_MARGIN1, "contact_margin1", contacts.margin1, CONTACT, CONTACTS, 0, ALWAYS, KEEP, 0)           \
    X(SAP_BATCH_CONTACT_BODY0, "contact_body0", contacts.body0, I32, CONTACTS, 0, ON_REQUEST, KEEP, NO_SHAPE)          \
    X(SAP_BATCH_CONTACT_BODY1, "contact_body1", contacts.body1, I32, CONTACTS, 0, ON_REQUEST, KEEP, NO_SHAPE)          \
    X(SAP_BATCH_CONTACT_STIFFNESS, "contact_stiffness", given.stiffness, F64, CONTACTS, 0, ON_REQUEST, KEEP, NOT_SET)  \
    X(SAP_BATCH_CONTACT_TAU, "contact_tau", given.tau, F64, CONTACTS, 0, ON_REQUEST, KEEP, NOT_SET)                    \
    X(SAP_BATCH_CONTACT_MU, "contact_mu", given.mu, F64, CONTACTS, 0, ON_REQUEST, KEEP, NOT_SET)                       \
    X(SAP_BATCH_CONTACT_DISSIPATION, "contact_dissipation", given.dissipation, F64, CONTACTS, 0, ON_REQUEST, KEEP,     \
      NOT_SET)                                                                                                         \
    X(SAP_BATCH_CONTACT_KEY, "contact_key", given.key, I32, CONTACTS, 0, ON_REQUEST, KEEP, 0)                          \
    X(SAP_BATCH_CONTACT_MUJOCO, "contact_mujoco", given.mujoco, F64, CONTACTS, SAP_MUJOCO_CONTACT_SIZE, ON_REQUEST,    \
      KEEP, 0)                                                                                                         \
    X(SAP_BATCH_CONTACT_IMPULSE, "contact_impulse", report.impulse, F64, CONTACTS, 3, ON_REQUEST, TO_ZERO, 0)          \
    X(SAP_BATCH_CONTACT_VELOCITY, "contact_velocity", report.velocity, F64, CONTACTS, 3, ON_REQUEST, TO_ZERO, 0)       \
    X(SAP_BATCH_CONTACT_POSITION, "contact_position", report.position, F64, CONTACTS, 3, ON_REQUEST, TO_ZERO, 0)       \
    X(SAP_BATCH_CONTACT_FRAME, "contact_frame", report.frame, F64, CONTACTS, 9, ON_REQUEST, TO_ZERO, 0)                \
    X(SAP_BATCH_CONTACT_GAP, "contact_gap", report.gap, F64, CONTACTS, 0, ON_REQUEST, TO_ZERO, 0)                      \
    X(SAP_BATCH_CONTACT_REGION, "contact_region", report.region, I32, CONTACTS, 0, ON_REQUEST, TO_ZERO, 0)             \
    X(SAP_BATCH_CONTACT_FORCE, "contact_force", report.force, F64, CONTACTS, 3, ON_REQUEST, TO_ZERO, 0)                \
    X(SAP_BATCH_BODY_CONTACT_WRENCH, "body_contact_wrench", report.wrench, F64, BODIES, 6, ON_REQUEST, TO_ZERO, 0)     \
    X(SAP_BATCH_CONSTRAINT_IMPULSE, "constraint_impulse", report.row_impulse, F64, CONSTRAINT_ROWS, 0, ON_REQUEST,     \
      TO_ZERO, 0)                                                                                                      \
    X(SAP_BATCH_CONSTRAINT_ERROR, "constraint_error", report.row_error, F64, CONSTRAINT_ROWS, 0, ON_REQUEST, TO_ZERO,  \
      0)                                                                                                               \
    X(SAP_BATCH_CONSTRAINT_VELOCITY, "constraint_velocity", report.row_velocity, F64, CONSTRAINT_ROWS, 0, ON_REQUEST,  \
      TO_ZERO, 0)                                                                                                      \
    X(SAP_BATCH_CONSTRAINT_WRENCH, "constraint_wrench", report.constraint_wrench, F64, CONSTRAINTS, 6, ON_REQUEST,     \
      TO_ZERO, 0)                                                                                                      \
    X(SAP_BATCH_BODY_CONSTRAINT_WRENCH, "body_constraint_wrench", report.body_constraint_wrench, F64, BODIES, 6,       \
      ON_REQUEST, TO_ZERO, 0)                                                                                          \
    X(SAP_BATCH_CONSTRAINT_RESIDUAL, "constraint_residual", report.constraint_residual, F64, WORLD, 0, ON_REQUEST,     \
      TO_ZERO, 0)                                                                                                      \
    X(SAP_BATCH_TENDON_LENGTH, "tendon_length", report.tendon_length, F64, TENDONS, 0, ON_REQUEST, TO_ZERO, 0)         \
    X(SAP_BATCH_TENDON_VELOCITY, "tendon_velocity", report.tendon_velocity, F64, TENDONS, 0, ON_REQUEST, TO_ZERO, 0)   \
    X(SAP_BATCH_TENDON_FORCE, "tendon_force", report.tendon_force, F64, TENDONS, 0, ON_REQUEST, TO_ZERO, 0)            \
    X(SAP_BATCH_TENDON_LIMIT_FORCE, "tendon_limit_force", report.tendon_limit, F64, TENDONS, 0, ON_REQUEST, TO_ZERO,   \
      0)                                                                                                               \
    X(SAP_BATCH_TENDON_SPRING_FORCE, "tendon_spring_force", report.tendon_spring, F64, TENDONS, 0, ON_REQUEST,         \
      TO_ZERO, 0)                                                                                                      \
    X(SAP_BATCH_TENDON_DAMPER_FORCE, "tendon_damper_force", report.tendon_damper, F64, TENDONS, 0, ON_REQUEST,         \
      TO_ZERO, 0)                                                                                                      \
    X(SAP_BATCH_TENDON_FRICTION_FORCE, "tendon_friction_force", report.tendon_friction, F64, TENDONS, 0, ON_REQUEST,   \
      TO_ZERO, 0)                                                                                                      \
    X(SAP_BATCH_TENDON_DRIVE_FORCE, "tendon_drive_force", report.tendon_drive, F64, TENDONS, 0, ON_REQUEST, TO_ZERO,   \
      0)                                                                                                               \
    X(SAP_BATCH_JOINT_DRIVE_FORCE, "joint_drive_force", extra.joint_drive, F64, DOFS, 0, ON_REQUEST, TO_ZERO, 0)       \
    X(SAP_BATCH_JOINT_LIMIT_FORCE, "joint_limit_force", extra.joint_limit, F64, DOFS, 0, ON_REQUEST, TO_ZERO, 0)       \
    X(SAP_BATCH_JOINT_FRICTION_FORCE, "joint_friction_force", extra.joint_friction, F64, DOFS, 0, ON_REQUEST, TO_ZERO, \
      0)                                                                                                               \
    X(SAP_BATCH_JOINT_CONSTRAINT_FORCE, "joint_constraint_force", extra.joint_constraint, F64, DOFS, 0, ON_REQUEST,    \
      TO_ZERO, 0)                                                                                                      \
    X(SAP_BATCH_ROW_COUNT, "row_count", extra.rows.count, I32, WORLD, 0, ON_REQUEST, TO_ZERO, 0)                       \
    X(SAP_BATCH_ROW_ACTIVE, "row_active", extra.rows.active, I32, WORLD, 0, ON_REQUEST, TO_ZERO, 0)                    \
    X(SAP_BATCH_ROW_TYPE, "row_type", extra.rows.type, I32, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)                       \
    X(SAP_BATCH_ROW_ID, "row_id", extra.rows.id, I32, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)                             \
    X(SAP_BATCH_ROW_STATE, "row_state", extra.rows.state, I32, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)                    \
    X(SAP_BATCH_ROW_POSITION, "row_position", extra.rows.pos, F64, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)                \
    X(SAP_BATCH_ROW_MARGIN, "row_margin", extra.rows.margin, F64, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)                 \
    X(SAP_BATCH_ROW_VELOCITY, "row_velocity", extra.rows.velocity, F64, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)           \
    X(SAP_BATCH_ROW_IMPEDANCE, "row_impedance", extra.rows.imp, F64, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)              \
    X(SAP_BATCH_ROW_REGULARIZATION, "row_regularization", extra.rows.R, F64, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)      \
    X(SAP_BATCH_ROW_REFERENCE, "row_reference", extra.rows.aref, F64, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)             \
    X(SAP_BATCH_ROW_COST, "row_cost", extra.rows.cost, F64, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)                       \
    X(SAP_BATCH_ROW_FORCE, "row_force", extra.rows.force, F64, LAW_ROWS, 0, ON_REQUEST, TO_ZERO, 0)                    \
    X(SAP_BATCH_TREE_ASLEEP, "tree_asleep", tree_asleep, I32, TREES, 0, ON_REQUEST, TO_ZERO, 0)                        \
    X(SAP_BATCH_TREE_REST, "tree_rest", tree_rest, F64, TREES, 0, ON_REQUEST, TO_ZERO, 0)                              \
    X(SAP_BATCH_CACHE_KEY, "cache_key", report.cache_key, I32, CONTACTS, 3, ON_REQUEST, TO_ZERO, 0)                    \
    X(SAP_BATCH_CACHE, "cache", report.cache, F64, CONTACTS, 6, ON_REQUEST, TO_ZERO, 0)                                \
    X(SAP_BATCH_DOF_CACHE, "dof_cache", report.dof_cache, F64, DOFS, 4, ON_REQUEST, TO_ZERO, 0)                        \
    X(SAP_BATCH_STEP_START, "step_start", report.step_start, F64, STEP_START, 0, ON_REQUEST, TO_ZERO, 0)               \
    X(SAP_BATCH_SITE_Q, "site_q", sensed.site_q, REAL, SITES, 7, ON_REQUEST, MEASURE, 0)                               \
    X(SAP_BATCH_SITE_QD, "site_qd", sensed.site_qd, REAL, SITES, 6, ON_REQUEST, MEASURE, 0)                            \
    X(SAP_BATCH_SITE_GYRO, "site_gyro", sensed.site_gyro, REAL, SITES, 3, ON_REQUEST, MEASURE, 0)                      \
    X(SAP_BATCH_SITE_ACCELEROMETER, "site_accelerometer", sensed.site_accelerometer, REAL, SITES, 3, ON_REQUEST,       \
      MEASURE, 0)                                                                                                      \
    X(ROW_SITE_BEFORE, "site_before", sensed.site_before, REAL, SITES, 3, ON_REQUEST, MEASURE, 0)                      \
    X(SAP_BATCH_QACC, "qacc", sensed.qacc, REAL, DOFS, 0, ON_REQUEST, MEASURE, 0)                                      \
    X(ROW_QD_BEFORE, "qd_before", sensed.qd_before, REAL, DOFS, 0, ON_REQUEST, MEASURE, 0)                             \
    X(SAP_BATCH_JOINT_TORQUE, "joint_torque", sensed.joint_torque, REAL, DOFS, 0, ON_REQUEST, MEASURE, 0)              \
    X(SAP_BATCH_TOUCH_FOUND, "touch_found", sensed.touch_found, I32, TOUCH, 0, ON_REQUEST, MEASURE, 0)                 \
    X(SAP_BATCH_TOUCH_FIRST, "touch_first", sensed.touch_first, I32, TOUCH, 0, ON_REQUEST, MEASURE, 0)                 \
    X(SAP_BATCH_TOUCH_FORCE, "touch_force", sensed.touch_force, REAL, TOUCH, 3, ON_REQUEST, MEASURE, 0)                \
    X(SAP_BATCH_TOUCH_PRESSURE, "touch_pressure", sensed.touch_pressure, REAL, TOUCH, 0, ON_REQUEST, MEASURE, 0)       \
    X(SAP_BATCH_TOUCH_FRICTION, "touch_friction", sensed.touch_friction, REAL, TOUCH, 0, ON_REQUEST, MEASURE, 0)       \
    X(SAP_BATCH_TOUCH_MOST, "touch_most", sensed.touch_most, REAL, TOUCH, 0, ON_REQUEST, MEASURE, 0)                   \
    X(SAP_BATCH_TOUCH_CONTACT_TIME, "touch_contact_time", sensed.touch_contact_time, REAL, TOUCH, 0, ON_REQUEST,       \
      MEASURE, 0)                                                                                                      \
    X(SAP_BATCH_TOUCH_AIR_TIME, "touch_air_time", sensed.touch_air_time, REAL, TOUCH, 0, ON_REQUEST, MEASURE, 0)       \
    X(SAP_BATCH_TOUCH_LAST_AIR_TIME, "touch_last_air_time", sensed.touch_last_air_time, REAL, TOUCH, 0, ON_REQUEST,    \
      MEASURE, 0)                                                                                                      \
    X(ROW_STATUS_BEFORE, "status_before", sensed.status_before, U32, WORLD, 0, ON_REQUEST, KEEP, 0)                    \
    X(SAP_BATCH_RAY_DISTANCE, "ray_distance", sensed.ray_distance, REAL, RAYS, 0, ON_REQUEST, MEASURE, 0)              \
    X(SAP_BATCH_RAY_NORMAL, "ray_normal", sensed.ray_normal, REAL, RAYS, 3, ON_REQUEST, MEASURE, 0)                    \
    X(SAP_BATCH_RAY_SHAPE, "ray_shape", sensed.ray_shape, I32, RAYS, 0, ON_REQUEST, MEASURE, 0)

enum { NO_SHAPE = 0xff, NOT_SET = 0xff }; /* -1 of integers, NaN of numbers */

#define ROW(field, name, where, type, rows, columns, time, reset, fill)                                                \
    {field,                                                                                                            \
     name,                                                                                                             \
     offsetof(SapBatchArrays, where),                                                                                  \
     SAP_FIELD_##type,                                                                                                 \
     SAP_FIELD_##rows,                                                                                                 \
     columns,                                                                                                          \
     SAP_FIELD_##time,                                                                                                 \
     SAP_FIELD_##reset,                                                                                                \
     fill},
const SapBatchRow sap_batch_rows[] = {FIELDS(ROW)};
#undef ROW
enum { NUM_ROWS = sizeof sap_batch_rows / sizeof *sap_batch_rows };
const int sap_batch_num_rows = NUM_ROWS;
static_assert(NUM_ROWS == END_OF_NAMES - 1, "each field has one row");
#define COUNT(field, name, where, type, rows, columns, time, reset, fill) +(SAP_FIELD_##reset < SAP_FIELD_KEEP)
static_assert((FIELDS(COUNT)) <= SAP_RESET_MAX_ROWS, "a reset has room for its rows");
#undef COUNT
#define COUNT(field, name, where, type, rows, columns, time, reset, fill) +(SAP_FIELD_##reset == SAP_FIELD_TO_CONTROL)
static_assert(2 + (FIELDS(COUNT)) <= SAP_SNAPSHOT_MAX_ROWS, "a guard has room for positions, velocities and controls");
#undef COUNT

const char *const *sap_batch_field_names(void) {
#define NAME(field, name, ...) [field] = name,
    static const char *const names[END_OF_NAMES] = {FIELDS(NAME)};
#undef NAME
    return names;
}

/* ---- one row ---- */

const SapBatchRow *sap_batch_row(SapBatchField field) {
    const SapBatchRow *row = sap_batch_rows;
    while (row->field != (int)field)
        row++;
    return row;
}

void *sap_batch_row_get(const SapBatchArrays *arrays, const SapBatchRow *row) {
    void *data;
    memcpy(&data, (const char *)arrays + row->offset, sizeof data);
    return data;
}

void sap_batch_row_set(SapBatchArrays *arrays, const SapBatchRow *row, void *data) {
    memcpy((char *)arrays + row->offset, &data, sizeof data);
}

static SapDtype contact_dtype(const SapBatch *b) {
    return b->options.contact_geometry_f64 ? SAP_F64 : SAP_F32;
}

SapElementType sap_batch_row_type(const SapBatch *b, const SapBatchRow *row) {
    switch (row->type) {
    case SAP_FIELD_REAL: return b->dtype == SAP_F64 ? SAP_TYPE_F64 : SAP_TYPE_F32;
    case SAP_FIELD_CONTACT: return contact_dtype(b) == SAP_F64 ? SAP_TYPE_F64 : SAP_TYPE_F32;
    case SAP_FIELD_F64: return SAP_TYPE_F64;
    case SAP_FIELD_U32: return SAP_TYPE_U32;
    case SAP_FIELD_I32: break;
    }
    return SAP_TYPE_I32;
}

int sap_batch_row_count(const SapBatch *b, const SapBatchRow *row) {
    switch (row->rows) {
    case SAP_FIELD_COORDS: return b->nq;
    case SAP_FIELD_DOFS: return b->nv;
    case SAP_FIELD_BODIES: return b->nb;
    case SAP_FIELD_CONTACTS: return b->options.max_contacts;
    case SAP_FIELD_CONSTRAINTS: return b->num_constraints;
    case SAP_FIELD_CONSTRAINT_ROWS: return b->num_rows;
    case SAP_FIELD_TENDONS: return b->num_tendons;
    case SAP_FIELD_ACTUATORS: return b->num_actuators;
    case SAP_FIELD_STEP_START: return b->nq + b->nv + SAP_START_BODY_SIZE * b->nb + b->num_actuators;
    case SAP_FIELD_SITES: return b->sensors.num_sites;
    case SAP_FIELD_TOUCH: return b->sensors.num_touch;
    case SAP_FIELD_RAYS: return b->sensors.num_rays;
    case SAP_FIELD_LAW_ROWS: return b->arrays.extra.rows.capacity;
    case SAP_FIELD_TREES: return b->num_trees;
    case SAP_FIELD_WORLD: break;
    }
    return 1;
}

size_t sap_batch_row_bytes(const SapBatch *b, const SapBatchRow *row) {
    size_t element = sap_batch_row_type(b, row) == SAP_TYPE_F64 ? sizeof(double) : sizeof(int32_t);
    return (size_t)sap_batch_row_count(b, row) * (size_t)(row->columns ? row->columns : 1) * element;
}

bool sap_batch_row_has_start(const SapBatchRow *row) {
    return row->reset == SAP_FIELD_TO_STATE || row->reset == SAP_FIELD_TO_CONTROL;
}

int sap_batch_row_starts(const SapBatch *b, const SapBatchRow *row) {
    return row->reset == SAP_FIELD_TO_STATE ? b->num_starts : 1;
}

SapCan sap_can_of_parameter(SapParameter parameter) {
    switch (parameter) {
    case SAP_PARAMETER_JOINT_EFFORT_LIMIT:
    case SAP_PARAMETER_JOINT_LIMIT_KE:
    case SAP_PARAMETER_JOINT_LIMIT_KD:
    case SAP_PARAMETER_SHAPE_MATERIAL_MU:
    case SAP_PARAMETER_SHAPE_MATERIAL_KE:
    case SAP_PARAMETER_SHAPE_MATERIAL_TAU:
    case SAP_PARAMETER_SHAPE_MATERIAL_DISSIPATION:
    case SAP_PARAMETER_CONSTRAINT_LENGTH:
    case SAP_PARAMETER_CONSTRAINT_KE:
    case SAP_PARAMETER_CONSTRAINT_KD:
    case SAP_PARAMETER_TENDON_LIMIT_KE:
    case SAP_PARAMETER_TENDON_LIMIT_KD: return SAP_CAN_PARAMETER_SAP;
    case SAP_PARAMETER_TENDON_ARMATURE: return SAP_CAN_PARAMETER_TENDON_ARMATURE;
    default: return parameter < SAP_NUM_MODEL_PARAMETERS ? SAP_CAN_PARAMETER : SAP_CAN_PARAMETER_MUJOCO;
    }
}

SapCan sap_can_of_field(int field) {
    switch (field) {
    case SAP_BATCH_CACHE_KEY:
    case SAP_BATCH_CACHE: return SAP_CAN_ARRAY_CONTACT_CACHE;
    case SAP_BATCH_JOINT_CONSTRAINT_FORCE: return SAP_CAN_ARRAY_JOINT_CONSTRAINT_FORCE;
    case SAP_BATCH_TREE_ASLEEP:
    case SAP_BATCH_TREE_REST: return SAP_CAN_ARRAY_TREES;
    case SAP_BATCH_ACTUATOR_CTRL:
    case SAP_BATCH_ACTUATOR_ACT: return SAP_CAN_ARRAY_ACTUATORS;
    default: break;
    }
    if (field >= SAP_BATCH_SITE_Q && field <= SAP_BATCH_RAY_SHAPE)
        return SAP_CAN_SENSOR;
    return field >= SAP_BATCH_ROW_COUNT && field <= SAP_BATCH_ROW_FORCE ? SAP_CAN_ARRAY_ROWS : SAP_CAN_ARRAY;
}

SapStatus sap_batch_check_row(const SapBatch *b, const char *what, const SapBatchRow *row) {
    SapCan can = sap_can_of_field(row->field);
    SAP_REQUIRE(&b->options, can, "%s: %s is not recorded", what, row->name);
    if (can == SAP_CAN_ARRAY_TREES && b->options.sleep_steps == 0)
        return sap_fail(SAP_ERROR_UNSUPPORTED,
                        "%s: %s is not recorded: option sleep_steps is 0, so no tree falls asleep", what, row->name);
    return SAP_OK;
}

/* ---- all rows ---- */

/* Carves `worlds` rows of the array. */
static void carve_row(SapArena *arena, const SapBatch *b, const SapBatchRow *row, int worlds, SapBatchArrays *arrays) {
    sap_batch_row_set(arrays, row, sap_arena_carve(arena, (size_t)worlds, sap_batch_row_bytes(b, row)));
}

void sap_batch_carve(SapArena *arena, SapBatch *b) {
    b->starts.state = (SapState){.num_worlds = b->num_starts, .dtype = b->dtype};
    b->starts.control = (SapControl){.num_worlds = 1, .dtype = b->dtype};
    b->arrays.state = (SapState){.num_worlds = b->num_worlds, .dtype = b->dtype};
    b->arrays.control = (SapControl){.num_worlds = b->num_worlds, .dtype = b->dtype};
    b->arrays.contacts =
        (SapContacts){.num_worlds = b->num_worlds, .capacity = b->options.max_contacts, .dtype = contact_dtype(b)};
    b->arrays.given = b->arrays.contacts;
    b->arrays.given.dtype = SAP_F64;
    for (int i = 0; i < NUM_ROWS; i++)
        if (sap_batch_row_has_start(&sap_batch_rows[i]))
            carve_row(arena, b, &sap_batch_rows[i], sap_batch_row_starts(b, &sap_batch_rows[i]), &b->starts);
    for (int i = 0; i < NUM_ROWS; i++)
        if (sap_batch_rows[i].time == SAP_FIELD_ALWAYS)
            carve_row(arena, b, &sap_batch_rows[i], b->num_worlds, &b->arrays);
}

size_t sap_batch_array_bytes(const SapBatch *b) {
    size_t bytes = 0;
    for (int i = 0; i < NUM_ROWS; i++)
        if (sap_batch_rows[i].time == SAP_FIELD_ALWAYS)
            bytes += (size_t)b->num_worlds * sap_batch_row_bytes(b, &sap_batch_rows[i]);
    return bytes;
}

static bool is_extra(const SapBatchRow *row) {
    size_t first = offsetof(SapBatchArrays, extra);
    return row->offset >= first && row->offset < first + sizeof(SapExtraReport);
}

/* Copies the addresses of extra reports to the device. */
static SapStatus show_extra(SapBatch *b) {
    SapExtraReport **copy = &b->arrays.report.extra;
    if (!*copy) {
        void *data;
        SAP_TRY(b->backend->allocate(b, 1, sizeof **copy, "reports", &data));
        *copy = data;
    }
    return b->backend->write(b, "sap_batch_array", *copy, &b->arrays.extra, sizeof **copy);
}

SapStatus sap_batch_record_row(SapBatch *b, const SapBatchRow *row) {
    void *data = NULL;
    if (sap_batch_row_get(&b->arrays, row))
        return SAP_OK;
    size_t n = (size_t)b->num_worlds, bytes = sap_batch_row_bytes(b, row);
    SAP_TRY(b->backend->allocate(b, n, bytes, row->name, &data));
    if (row->fill != 0)
        SAP_TRY(b->backend->fill(b, "sap_batch_array", data, row->fill, n * bytes));
    sap_batch_row_set(&b->arrays, row, data);
    if (is_extra(row))
        SAP_TRY(show_extra(b));
    b->backend->record(b);
    return SAP_OK;
}

SapResetArgs sap_batch_reset_args(const SapBatch *b, int keyframe) {
    SapResetArgs args = {.num_worlds = b->num_worlds};
    for (int i = 0; i < NUM_ROWS; i++) {
        const SapBatchRow *row = &sap_batch_rows[i];
        size_t bytes = sap_batch_row_bytes(b, row), start = row->reset == SAP_FIELD_TO_STATE ? (size_t)keyframe : 0;
        const char *from = sap_batch_row_has_start(row) ? sap_batch_row_get(&b->starts, row) : NULL;
        if (row->reset < SAP_FIELD_KEEP)
            args.row[args.num_rows++] = (SapResetRow){.to = sap_batch_row_get(&b->arrays, row),
                                                      .from = from ? (const void *)(from + start * bytes) : NULL,
                                                      .words = (long long)(bytes / sizeof(unsigned))};
    }
    return args;
}
