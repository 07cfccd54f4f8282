#include "host/cli/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- names ---- */

static const char *or_unknown(const char *name) {
    return name != NULL ? name : "unknown";
}

const char *cli_joint_type(int32_t type) {
    return or_unknown(sap_joint_type_name(type));
}

const char *cli_shape_type(int32_t type) {
    return or_unknown(sap_shape_type_name(type));
}

static int num_coords(const SapModelArrays *a, int joint) {
    return a->joint_q_start[joint + 1] - a->joint_q_start[joint];
}

static int num_dofs(const SapModelArrays *a, int joint) {
    return a->joint_qd_start[joint + 1] - a->joint_qd_start[joint];
}

bool cli_joint_has_quaternion(const SapModelArrays *a, int joint) {
    return num_coords(a, joint) > num_dofs(a, joint);
}

/* Whether its coordinates and dofs are numbered: not if the type always has one axis. */
static bool is_numbered(const SapModelArrays *a, int joint) {
    return num_dofs(a, joint) > 1 || a->joint_type[joint] == SAP_JOINT_D6;
}

/* The suffixes of a pose or, if there are four coordinates, of a quaternion. */
const char *cli_coord_suffix(const SapModelArrays *a, int joint, int i) {
    static const char *const pose[] = {".px", ".py", ".pz", ".qx", ".qy", ".qz", ".qw"};
    static const char *const numbered[] = {".q0", ".q1", ".q2", ".q3", ".q4", ".q5"};
    if (cli_joint_has_quaternion(a, joint))
        return pose[7 - num_coords(a, joint) + i];
    return is_numbered(a, joint) ? numbered[i] : ".q";
}

const char *cli_dof_suffix(const SapModelArrays *a, int joint, int i) {
    static const char *const twist[] = {".vx", ".vy", ".vz", ".wx", ".wy", ".wz"};
    static const char *const numbered[] = {".qd0", ".qd1", ".qd2", ".qd3", ".qd4", ".qd5"};
    if (cli_joint_has_quaternion(a, joint))
        return twist[6 - num_dofs(a, joint) + i];
    return is_numbered(a, joint) ? numbered[i] : ".qd";
}

/* ---- cost ---- */

/* depth[b]: number of dofs on the path from the world to body b, including its own joint. Parents come first. */
static void body_depths(const SapModelArrays *a, int *depth) {
    for (int j = 0; j < a->num_joints; j++) {
        int parent = a->joint_parent[j];
        int dofs = a->joint_qd_start[j + 1] - a->joint_qd_start[j];
        depth[a->joint_child[j]] = (parent < 0 ? 0 : depth[parent]) + dofs;
    }
}

/* Sums of d and d^2 over the dofs, where d is the depth of a dof: the number of dofs on its path, including itself. */
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

/* d^2 for a row of the factor, 4 d - 2 for its part of the two solves. */
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
