/* The joint types, one row each. Checks, defaults, scenes, plans and messages read the properties of a type from here
 * (docs/joints.md, "To add a joint type"). */
#ifndef SAPWOOD_HOST_MODEL_JOINT_TYPES_H
#define SAPWOOD_HOST_MODEL_JOINT_TYPES_H

#include <stdbool.h>

#include <sapwood/model.h>

#include "host/base/keyword.h"

/* Where the axes of a joint come from. */
typedef enum SapJointAxes {
    SAP_AXES_NONE,     /* no axes */
    SAP_AXES_ONE,      /* one axis: joint_axis */
    SAP_AXES_LISTED,   /* joint_dof_dim counts the axes and joint_axis lists them; the angular ones are orthogonal */
    SAP_AXES_STANDARD, /* x, y, z of F, for the linear and for the angular dofs; joint_axis is ignored */
} SapJointAxes;

typedef struct SapJointTypeRow {
    SapJointType type;
    const char *names[4]; /* names in scenes and messages; the first is shown, the others are aliases */
    SapJointAxes axes;
    int32_t dim[2];    /* numbers of linear and angular axes; maxima for SAP_AXES_LISTED */
    int quaternion_at; /* index of the quaternion in the coordinates; -1: one coordinate per dof */
    /* The coordinates are the pose of the body: the parent is the world, both frames are the identity, and the kernels
     * order the angular dofs first. */
    bool is_pose;
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

/* Whether drives and limits of the dofs can refer to coordinates. */
static inline bool sap_joint_has_plain_coords(const SapJointTypeRow *row) {
    return row->quaternion_at < 0;
}

/* Whether joint_axis is required. */
static inline bool sap_joint_needs_axes(const SapJointTypeRow *row) {
    return row->axes == SAP_AXES_ONE || row->axes == SAP_AXES_LISTED;
}

/* Numbers of linear and angular axes of a type with fixed axes; false for types that list their axes and for unknown
 * types. */
bool sap_joint_axis_counts(int32_t type, int32_t dim[2]);
/* Number of coordinates of a joint with dim[0] linear and dim[1] angular axes. It has dim[0] + dim[1] dofs. */
int sap_joint_num_coords(int32_t type, const int32_t dim[2]);
/* Index of the quaternion in the coordinates of a joint, or -1 if it has none. */
int sap_joint_quaternion_at(int32_t type);

#endif
