#include "host/model/joint_types.h"

#include <stdio.h>
#include <string.h>

/* In the order of lists in messages. */
const SapJointTypeRow sap_joint_types[] = {
    {SAP_JOINT_FREE, {"free"}, SAP_AXES_STANDARD, {3, 3}, .quaternion_at = 3, .is_pose = true},
    {SAP_JOINT_REVOLUTE, {"revolute", "hinge"}, SAP_AXES_ONE, {0, 1}, .quaternion_at = -1},
    {SAP_JOINT_BALL, {"ball"}, SAP_AXES_STANDARD, {0, 3}, .quaternion_at = 0},
    {SAP_JOINT_PRISMATIC, {"prismatic", "slide", "slider"}, SAP_AXES_ONE, {1, 0}, .quaternion_at = -1},
    {SAP_JOINT_FIXED, {"fixed"}, SAP_AXES_NONE, {0, 0}, .quaternion_at = -1},
    {SAP_JOINT_D6, {"d6"}, SAP_AXES_LISTED, {3, 3}, .quaternion_at = -1},
};

const SapJointTypeRow *sap_joint_type(int32_t type) {
    for (int i = 0; i < SAP_NUM_JOINT_TYPES; i++)
        if ((int32_t)sap_joint_types[i].type == type)
            return &sap_joint_types[i];
    return NULL;
}

const SapJointTypeRow *sap_joint_type_named(const char *name) {
    for (int i = 0; i < SAP_NUM_JOINT_TYPES; i++)
        if (sap_names_have(sap_joint_types[i].names, name))
            return &sap_joint_types[i];
    return NULL;
}

SapList sap_joint_type_list(void) {
    SapList list = {.length = 0};
    for (int i = 0; i < SAP_NUM_JOINT_TYPES; i++)
        sap_list_add_aliases(&list, sap_joint_types[i].names);
    return list;
}

SapList sap_joint_type_numbers(void) {
    SapList list = {.length = 0};
    for (int i = 0; i < SAP_NUM_JOINT_TYPES; i++)
        sap_list_add_number(&list, sap_joint_types[i].type, sap_joint_types[i].names[0]);
    return list;
}

int32_t sap_joint_type_at(int i) {
    return i >= 0 && i < SAP_NUM_JOINT_TYPES ? (int32_t)sap_joint_types[i].type : -1;
}

const char *sap_joint_type_name(int32_t type) {
    const SapJointTypeRow *row = sap_joint_type(type);
    return row != NULL ? row->names[0] : NULL;
}

/* ---- axes and coordinates ---- */

bool sap_joint_axis_counts(int32_t type, int32_t dim[2]) {
    const SapJointTypeRow *row = sap_joint_type(type);
    if (row == NULL || row->axes == SAP_AXES_LISTED)
        return false;
    memcpy(dim, row->dim, sizeof row->dim);
    return true;
}

int sap_joint_num_coords(int32_t type, const int32_t dim[2]) {
    return dim[0] + dim[1] + (sap_joint_quaternion_at(type) >= 0);
}

int sap_joint_quaternion_at(int32_t type) {
    const SapJointTypeRow *row = sap_joint_type(type);
    return row != NULL ? row->quaternion_at : -1;
}
