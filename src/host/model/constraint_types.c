#include "host/model/constraint_types.h"

#include <string.h>

#include "host/model/joint_types.h"

const SapConstraintTypeRow sap_constraint_types[SAP_NUM_CONSTRAINT_TYPES] = {
    {SAP_CONSTRAINT_BALL, {"ball", "connect"}, 3, true},
    {SAP_CONSTRAINT_WELD, {"weld"}, 6, true},
    {SAP_CONSTRAINT_DISTANCE, {"distance"}, 1, true},
    {SAP_CONSTRAINT_COUPLER, {"coupler", "mimic"}, 1, false},
};

const SapConstraintTypeRow *sap_constraint_type(int32_t type) {
    return type >= 0 && type < SAP_NUM_CONSTRAINT_TYPES ? &sap_constraint_types[type] : NULL;
}

const SapConstraintTypeRow *sap_constraint_type_named(const char *name) {
    SapKeyword word = sap_keyword(name);
    for (int i = 0; i < SAP_NUM_CONSTRAINT_TYPES; i++)
        if (sap_names_have(sap_constraint_types[i].names, word.text))
            return &sap_constraint_types[i];
    return NULL;
}

const char *sap_constraint_type_name(int32_t type) {
    const SapConstraintTypeRow *row = sap_constraint_type(type);
    return row != NULL ? row->names[0] : NULL;
}

SapList sap_constraint_type_list(void) {
    SapList list = {.length = 0};
    for (int i = 0; i < SAP_NUM_CONSTRAINT_TYPES; i++)
        sap_list_add_aliases(&list, sap_constraint_types[i].names);
    return list;
}

int sap_joint_of_dof(const SapModelArrays *a, int dof) {
    int low = 0, high = a->num_joints - 1; /* the last joint that starts at or before the dof has it */
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (a->joint_qd_start[middle] <= dof)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

int sap_coordinate_of_dof(const SapModelArrays *a, int dof) {
    int j = sap_joint_of_dof(a, dof);
    if (!sap_joint_has_plain_coords(sap_joint_type(a->joint_type[j])))
        return -1;
    return a->joint_q_start[j] + dof - a->joint_qd_start[j];
}

static int joint_of_body(const SapModelArrays *a, int body) {
    int j = 0;
    while (a->joint_child[j] != body)
        j++;
    return j;
}

int sap_moving_joint(const SapModelArrays *a, int body) {
    while (body >= 0) {
        int j = joint_of_body(a, body);
        if (a->joint_qd_start[j + 1] > a->joint_qd_start[j])
            return j;
        body = a->joint_parent[j];
    }
    return -1;
}
