#include "host/cli/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- names ---- */

typedef struct TypeName {
    int32_t type;
    const char *name;
} TypeName;

static const TypeName joint_types[] = {{SAP_JOINT_FREE, "free"},   {SAP_JOINT_REVOLUTE, "revolute"},
                                       {SAP_JOINT_BALL, "ball"},   {SAP_JOINT_PRISMATIC, "prismatic"},
                                       {SAP_JOINT_FIXED, "fixed"}, {SAP_JOINT_D6, "d6"}};
static const TypeName shape_types[] = {
    {SAP_SHAPE_PLANE, "plane"},         {SAP_SHAPE_BOX, "box"},           {SAP_SHAPE_SPHERE, "sphere"},
    {SAP_SHAPE_CAPSULE, "capsule"},     {SAP_SHAPE_CYLINDER, "cylinder"}, {SAP_SHAPE_CONE, "cone"},
    {SAP_SHAPE_ELLIPSOID, "ellipsoid"}, {SAP_SHAPE_HULL, "hull"},         {SAP_SHAPE_HEIGHT_FIELD, "height_field"}};
enum {
    NUM_JOINT_TYPES = sizeof joint_types / sizeof joint_types[0],
    NUM_SHAPE_TYPES = sizeof shape_types / sizeof shape_types[0]
};

static const char *type_name(const TypeName *names, int count, int32_t type) {
    for (int i = 0; i < count; i++)
        if (names[i].type == type)
            return names[i].name;
    return "unknown";
}

const char *cli_joint_type(int32_t type) {
    return type_name(joint_types, NUM_JOINT_TYPES, type);
}

const char *cli_shape_type(int32_t type) {
    return type_name(shape_types, NUM_SHAPE_TYPES, type);
}

int32_t cli_joint_type_at(int i) {
    return i < NUM_JOINT_TYPES ? joint_types[i].type : -1;
}

int32_t cli_shape_type_at(int i) {
    return i < NUM_SHAPE_TYPES ? shape_types[i].type : -1;
}

const char *cli_coord_suffix(int32_t type, int i) {
    static const char *const pose[] = {".px", ".py", ".pz", ".qx", ".qy", ".qz", ".qw"};
    static const char *const d6[] = {".q0", ".q1", ".q2", ".q3", ".q4", ".q5"};
    switch (type) {
    case SAP_JOINT_FREE: return pose[i];
    case SAP_JOINT_BALL: return pose[3 + i];
    case SAP_JOINT_D6: return d6[i];
    default: return ".q";
    }
}

const char *cli_dof_suffix(int32_t type, int i) {
    static const char *const twist[] = {".vx", ".vy", ".vz", ".wx", ".wy", ".wz"};
    static const char *const d6[] = {".qd0", ".qd1", ".qd2", ".qd3", ".qd4", ".qd5"};
    switch (type) {
    case SAP_JOINT_FREE: return twist[i];
    case SAP_JOINT_BALL: return twist[3 + i];
    case SAP_JOINT_D6: return d6[i];
    default: return ".qd";
    }
}

/* ---- cost ---- */

/* depth[b]: dofs on the path from the world to body b, those of its own joint included. Parents come first. */
static void body_depths(const SapModelArrays *a, int *depth) {
    for (int j = 0; j < a->num_joints; j++) {
        int parent = a->joint_parent[j];
        int dofs = a->joint_qd_start[j + 1] - a->joint_qd_start[j];
        depth[a->joint_child[j]] = (parent < 0 ? 0 : depth[parent]) + dofs;
    }
}

/* Sums over the dofs of d and d^2, d being the depth of a dof: dofs on its path, itself included. */
typedef struct DepthSums {
    double d, d2;
} DepthSums;

static bool tree_depths(const SapModelArrays *a, DepthSums *out) {
    int *depth = cli_allocate((size_t)a->num_bodies, sizeof *depth);
    if (depth == NULL)
        return false;
    body_depths(a, depth);
    *out = (DepthSums){0, 0};
    for (int j = 0; j < a->num_joints; j++) {
        int dofs = a->joint_qd_start[j + 1] - a->joint_qd_start[j];
        for (int d = depth[a->joint_child[j]] - dofs + 1; d <= depth[a->joint_child[j]]; d++) {
            out->d += d;
            out->d2 += (double)d * d;
        }
    }
    free(depth);
    return true;
}

/* d^2 a row of the factor, 4 d - 2 its part of the two solves. */
static double system_flops(const DepthSums *sums, double nv) {
    return sums->d2 + 4 * sums->d - 2 * nv;
}

bool cli_step_flops(const SapModelArrays *a, double *out) {
    DepthSums sums;
    if (!tree_depths(a, &sums))
        return false;
    *out = 620.0 * a->num_bodies + 80.0 * a->num_dofs + 11 * sums.d + system_flops(&sums, a->num_dofs);
    return true;
}

bool cli_factor_flops(const SapModelArrays *a, bool dense, double *out) {
    double nv = a->num_dofs;
    DepthSums sums = {nv * (nv + 1) / 2, nv * (nv + 1) * (2 * nv + 1) / 6};
    if (!dense && !tree_depths(a, &sums))
        return false;
    *out = system_flops(&sums, nv);
    return true;
}
