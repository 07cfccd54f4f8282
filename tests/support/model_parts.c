/* Models put together link by link: see model_parts.h. */
#include "support/model_parts.h"

#include <string.h>

#include <criterion/criterion.h>

void parts_init(ModelParts *parts) {
    memset(parts, 0, sizeof *parts);
    parts->gravity[2] = -9.81;
}

static void axis_counts(SapJointType type, int32_t dof_dim[2]) {
    switch (type) {
    case SAP_JOINT_PRISMATIC: dof_dim[0] = 1; break;
    case SAP_JOINT_REVOLUTE: dof_dim[1] = 1; break;
    case SAP_JOINT_BALL: dof_dim[1] = 3; break;
    case SAP_JOINT_FREE: dof_dim[0] = dof_dim[1] = 3; break;
    default: break; /* fixed has none; D6 brings its own */
    }
}

int parts_add(ModelParts *parts, int parent, SapJointType type, int nlin, int nang) {
    int l = parts->nl++;
    cr_assert(l < PARTS_LINKS, "a test model has more than %d links", PARTS_LINKS);
    parts->type[l] = type;
    parts->parent[l] = parent;
    parts->child[l] = l;
    if (type == SAP_JOINT_D6) {
        parts->dof_dim[l][0] = nlin;
        parts->dof_dim[l][1] = nang;
    }
    axis_counts(type, parts->dof_dim[l]);
    parts->X_p[l][6] = parts->X_c[l][6] = 1;
    parts->mass[l] = 1;
    parts_set_inertia(parts, l, 0.1, 0.1, 0.1);

    int dofs = parts->dof_dim[l][0] + parts->dof_dim[l][1], coords = dofs;
    if (type == SAP_JOINT_BALL || type == SAP_JOINT_FREE)
        parts->q[parts->nq + coords++] = 1; /* the identity quaternion */
    for (int i = 0; i < dofs; i++)
        parts_set_axis(parts, parts->nv + i, 0, 0, 1);
    parts->nv += dofs;
    parts->nq += coords;
    parts->qd_start[l + 1] = parts->nv;
    parts->q_start[l + 1] = parts->nq;
    return l;
}

static void set3(double *v, double x, double y, double z) {
    v[0] = x;
    v[1] = y;
    v[2] = z;
}

void parts_set_axis(ModelParts *parts, int dof, double x, double y, double z) {
    set3(parts->axis[dof], x, y, z);
}

void parts_set_com(ModelParts *parts, int body, double x, double y, double z) {
    set3(parts->com[body], x, y, z);
}

void parts_set_inertia(ModelParts *parts, int body, double xx, double yy, double zz) {
    double *I = parts->inertia[body];
    memset(I, 0, sizeof parts->inertia[body]);
    I[0] = xx;
    I[4] = yy;
    I[8] = zz;
}

SapModel *parts_model(const ModelParts *parts) {
    SapModelArrays a;
    sap_model_arrays_default(&a);
    a.num_bodies = a.num_joints = parts->nl;
    a.num_dofs = parts->nv;
    a.num_coords = parts->nq;
    memcpy(a.gravity, parts->gravity, sizeof a.gravity);
    a.joint_type = parts->type;
    a.joint_parent = parts->parent;
    a.joint_child = parts->child;
    a.joint_dof_dim = parts->dof_dim[0];
    a.joint_q_start = parts->q_start;
    a.joint_qd_start = parts->qd_start;
    a.joint_X_p = parts->X_p[0];
    a.joint_X_c = parts->X_c[0];
    a.joint_axis = parts->axis[0];
    a.joint_armature = parts->armature;
    a.joint_damping = parts->damping;
    a.body_mass = parts->mass;
    a.body_com = parts->com[0];
    a.body_inertia = parts->inertia[0];
    a.joint_q = parts->q;
    a.joint_qd = parts->qd;
    a.joint_f = parts->f;
    SapModel *model;
    SapStatus status = sap_model_create(&a, &model);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    return model;
}
