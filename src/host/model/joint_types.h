/* The types of joints: one row each. Checks, defaults, scenes, plans and messages read what a type is from here
 * (docs/joints.md, "To add a joint type"). */
#ifndef SAPWOOD_HOST_MODEL_JOINT_TYPES_H
#define SAPWOOD_HOST_MODEL_JOINT_TYPES_H

#include <stdbool.h>

#include <sapwood/model.h>

#include "host/base/keyword.h"

/* How a joint gets its dofs. */
typedef enum SapJointAxes {
    SAP_AXES_NONE,     /* it has none */
    SAP_AXES_ONE,      /* one: joint_axis */
    SAP_AXES_LISTED,   /* joint_dof_dim counts them, joint_axis has them; the angular ones are orthogonal */
    SAP_AXES_STANDARD, /* x, y, z of F, for linear dofs and for angular ones; joint_axis is ignored */
} SapJointAxes;

typedef struct SapJointTypeRow {
    SapJointType type;
    const char *names[4]; /* in scenes and messages; the first is the one that is shown, the others are aliases */
    SapJointAxes axes;
    int32_t dim[2]; /* linear and angular axes; of SAP_AXES_LISTED the most of each */
    int quaternion_at; /* the coordinate where a quaternion takes the place of three angles; -1: every dof has its coordinate */
    bool is_pose; /* the coordinates are the body's pose: the parent is the world, both frames are the identity, and
                          the kernels have the angular dofs first */
} SapJointTypeRow;

enum { SAP_NUM_JOINT_TYPES = 6 };
extern const SapJointTypeRow sap_joint_types[SAP_NUM_JOINT_TYPES];

/* The row of a type, or NULL. */
const SapJointTypeRow *sap_joint_type(int32_t type);
/* The row with that name, or NULL. */
const SapJointTypeRow *sap_joint_type_named(const char *name);

/* "free, revolute (hinge), ..." and "4 free, 1 revolute, ..." */
SapList sap_joint_type_list(void);
SapList sap_joint_type_numbers(void);

/* Whether drives and limits of its dofs can refer to coordinates. */
static inline bool sap_joint_has_plain_coords(const SapJointTypeRow *row) {
    return row->quaternion_at < 0;
}

/* Whether joint_axis must be given. */
static inline bool sap_joint_needs_axes(const SapJointTypeRow *row) {
    return row->axes == SAP_AXES_ONE || row->axes == SAP_AXES_LISTED;
}

/* Linear and angular axes of a joint type that does not list them; false for those that do and for unknown types. */
bool sap_joint_axis_counts(int32_t type, int32_t dim[2]);
/* Coordinates of a joint with dim[0] linear and dim[1] angular axes; its dofs are dim[0] + dim[1]. */
int sap_joint_num_coords(int32_t type, const int32_t dim[2]);
/* Where the quaternion sits among the coordinates of a joint, or -1 if it has none. */
int sap_joint_quaternion_at(int32_t type);

#endif
