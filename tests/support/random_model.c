/* Random models and states: see random_model.h. */
#include "support/random_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/model_parts.h"

/* R[i] is column i of a random rotation. */
static void random_rotation(Random *random, double R[3][3]) {
    double q[4];
    random_quaternion(random, q);
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double columns[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
                            {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
                            {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(R, columns, sizeof columns);
}

/* ---- models ---- */

#define D6(nlin, nang)                                                                                                 \
    { SAP_JOINT_D6, nlin, nang }
const JointKind joint_kinds[NUM_JOINT_KINDS] = {{SAP_JOINT_FIXED, 0, 0},
                                                {SAP_JOINT_PRISMATIC, 0, 0},
                                                {SAP_JOINT_REVOLUTE, 0, 0},
                                                {SAP_JOINT_BALL, 0, 0},
                                                {SAP_JOINT_FREE, 0, 0},
                                                D6(0, 1),
                                                D6(0, 2),
                                                D6(0, 3),
                                                D6(1, 0),
                                                D6(1, 1),
                                                D6(1, 2),
                                                D6(1, 3),
                                                D6(2, 0),
                                                D6(2, 1),
                                                D6(2, 2),
                                                D6(2, 3),
                                                D6(3, 0),
                                                D6(3, 1),
                                                D6(3, 2),
                                                D6(3, 3)};

const char *joint_kind_name(JointKind kind) {
    static char text[16];
    switch (kind.type) {
    case SAP_JOINT_FIXED: return "fixed";
    case SAP_JOINT_PRISMATIC: return "prismatic";
    case SAP_JOINT_REVOLUTE: return "revolute";
    case SAP_JOINT_BALL: return "ball";
    case SAP_JOINT_FREE: return "free";
    default: snprintf(text, sizeof text, "d6(%d,%d)", kind.nlin, kind.nang); return text;
    }
}

/* One pose in four has no rotation and one in four is the identity: kernels skip such factors. */
static void random_pose(Random *random, double *X) {
    int plain = random_below(random, 4);
    if (plain != 0)
        random_numbers(random, 0.5, X, 3);
    if (plain > 1)
        random_quaternion(random, X + 3);
}

/* Angular axes are orthonormal and right-handed, linear axes only independent. */
static void random_axes(Random *random, double (*axis)[3], int nlin, int nang) {
    double R[3][3];
    random_rotation(random, R);
    for (int i = 0; i < nlin; i++) {
        double norm2 = 0;
        for (int k = 0; k < 3; k++) {
            axis[i][k] = R[i][k] + random_between(random, -0.2, 0.2);
            norm2 += axis[i][k] * axis[i][k];
        }
        for (int k = 0; k < 3; k++)
            axis[i][k] /= sqrt(norm2);
    }
    random_rotation(random, R);
    memcpy(axis + nlin, R, (size_t)nang * sizeof *axis);
}

/* R diag(b + c, a + c, a + b) R' with second moments of mass a, b, c > 0: such moments obey the triangle inequality. */
static void random_inertia(Random *random, double mass, double *I) {
    double R[3][3], second[3];
    random_rotation(random, R);
    for (int i = 0; i < 3; i++)
        second[i] = mass * random_between(random, 0.01, 0.1);
    double sum = second[0] + second[1] + second[2];
    memset(I, 0, 9 * sizeof *I);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                I[3 * i + j] += (sum - second[k]) * R[k][i] * R[k][j];
    I[3] = I[1];
    I[6] = I[2];
    I[7] = I[5];
}

static void random_link(Random *random, ModelParts *parts, int parent, JointKind kind) {
    int l = parts_add(parts, parent, kind.type, kind.nlin, kind.nang);
    if (kind.type != SAP_JOINT_FREE) {
        random_pose(random, parts->X_p[l]);
        random_pose(random, parts->X_c[l]);
    }
    int first = parts->qd_start[l], dofs = parts->qd_start[l + 1] - first;
    random_axes(random, parts->axis + first, parts->dof_dim[l][0], parts->dof_dim[l][1]);
    for (int i = first; i < first + dofs; i++) {
        parts->armature[i] = random_between(random, 0, 0.1);
        parts->damping[i] = random_between(random, 0, 0.5);
    }
    parts->mass[l] = random_between(random, 0.5, 3);
    random_numbers(random, 0.3, parts->com[l], 3);
    random_inertia(random, parts->mass[l], parts->inertia[l]);
}

/* Numbers the bodies in a random order. Parents were given as links. */
static void shuffle_bodies(Random *random, ModelParts *parts) {
    ModelParts old = *parts;
    for (int l = parts->nl - 1; l > 0; l--) {
        int other = random_below(random, l + 1);
        int32_t body = parts->child[l];
        parts->child[l] = parts->child[other];
        parts->child[other] = body;
    }
    for (int l = 0; l < parts->nl; l++) {
        int body = parts->child[l];
        parts->parent[l] = old.parent[l] < 0 ? -1 : parts->child[old.parent[l]];
        parts->mass[body] = old.mass[l];
        memcpy(parts->com[body], old.com[l], sizeof old.com[l]);
        memcpy(parts->inertia[body], old.inertia[l], sizeof old.inertia[l]);
    }
}

SapModel *random_chain(uint64_t seed, const JointKind *kinds, int num_links) {
    Random random = random_seed(seed);
    ModelParts parts;
    parts_init(&parts);
    random_numbers(&random, 10, parts.gravity, 3);
    for (int l = 0; l < num_links; l++)
        random_link(&random, &parts, l - 1, kinds[l]);
    shuffle_bodies(&random, &parts);
    return parts_model(&parts);
}

SapModel *random_chain_of_all(uint64_t seed) {
    const JointKind kinds[] = {{SAP_JOINT_FREE, 0, 0},  {SAP_JOINT_REVOLUTE, 0, 0}, {SAP_JOINT_D6, 2, 3},
                               {SAP_JOINT_FIXED, 0, 0}, {SAP_JOINT_BALL, 0, 0},     {SAP_JOINT_PRISMATIC, 0, 0}};
    return random_chain(seed, kinds, sizeof kinds / sizeof *kinds);
}

SapModel *random_forest(uint64_t seed, int num_links) {
    Random random = random_seed(seed);
    ModelParts parts;
    parts_init(&parts);
    random_numbers(&random, 10, parts.gravity, 3);
    for (int l = 0; l < num_links; l++) {
        JointKind kind = joint_kinds[random_below(&random, NUM_JOINT_KINDS)];
        /* mostly below one of the last few links, so that trees get deep as well as wide */
        int reach = l < 4 ? l : 4;
        int parent = l == 0 || random_below(&random, 6) == 0 ? -1 : l - 1 - random_below(&random, reach);
        if (l == 0 && kind.type == SAP_JOINT_FIXED)
            kind = (JointKind){SAP_JOINT_REVOLUTE, 0, 0}; /* a model has at least one dof */
        random_link(&random, &parts, kind.type == SAP_JOINT_FREE ? -1 : parent, kind);
    }
    shuffle_bodies(&random, &parts);
    return parts_model(&parts);
}

/* ---- states ---- */

void random_coordinates(Random *random, const SapModelArrays *model, double *q) {
    for (int j = 0; j < model->num_joints; j++) {
        int first = model->joint_q_start[j], end = model->joint_q_start[j + 1];
        random_numbers(random, 2, q + first, end - first);
        if (model->joint_type[j] == SAP_JOINT_BALL || model->joint_type[j] == SAP_JOINT_FREE)
            random_quaternion(random, q + end - 4);
    }
}
