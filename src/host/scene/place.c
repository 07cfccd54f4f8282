/* What constraints and tendons take from the initial state: bodies are placed, then frames and lengths measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/pose.h"
#include "host/model/joint_types.h"
#include "host/scene/builder.h"

/* ---- bodies ---- */

/* X_FM of a joint at its initial coordinates (docs/joints.md). */
static void joint_transform(const SapSceneBuilder *builder, const SapSceneJoint *joint, double *X) {
    const SapJointTypeRow *type = sap_joint_type(joint->type);
    double q[7];
    for (int i = 0; i < joint->num_coords; i++)
        q[i] = sap_scene_coord(builder, joint->first_coord + i)->q;
    memcpy(X, (double[7]){[6] = 1}, 7 * sizeof *X);
    if (type->is_pose)
        memcpy(X, q, 3 * sizeof *X);
    if (type->quaternion_at >= 0)
        pose_turn(X + 3, q + type->quaternion_at, X + 3);
    for (int i = 0; i < joint->num_dofs && type->quaternion_at < 0; i++) {
        const double *axis = sap_scene_dof(builder, joint->first_dof + i)->axis;
        double half = 0.5 * q[i], s = sin(half), r[4] = {s * axis[0], s * axis[1], s * axis[2], cos(half)};
        for (int k = 0; k < 3 && i < joint->dim[0]; k++)
            X[k] += q[i] * axis[k];
        if (i >= joint->dim[0])
            pose_turn(X + 3, r, X + 3);
    }
}

/* The poses of all bodies. Parents come before their children. */
static void place_bodies(const SapSceneBuilder *builder, double *pose) {
    for (int j = 0; j < sap_scene_count(builder, SAP_ROWS_JOINTS); j++) {
        const SapSceneJoint *joint = sap_scene_joint(builder, j);
        double *X = pose + 7 * joint->child, FM[7], inverse[7];
        memcpy(X, joint->parent < 0 ? (double[7]){[6] = 1} : pose + 7 * joint->parent, 7 * sizeof *X);
        joint_transform(builder, joint, FM);
        pose_invert(joint->X_c, inverse);
        pose_compose(X, joint->X_p);
        pose_compose(X, FM);
        pose_compose(X, inverse);
    }
}

static void body_pose(const double *pose, int body, double *X) {
    memcpy(X, body < 0 ? (double[7]){[6] = 1} : pose + 7 * body, 7 * sizeof *X);
}

static void body_point(const double *pose, int body, const double *point, double *x) {
    double X[7];
    body_pose(pose, body, X);
    pose_rotate(X + 3, point, x);
    for (int i = 0; i < 3; i++)
        x[i] += X[i];
}

static double distance(const double *a, const double *b) {
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* ---- constraints ---- */

/* The frame of b at the frame of a: X_b^-1 X_a frame_a. */
static void place_frame(const double *pose, SapSceneConstraint *c) {
    double X_a[7], X_b[7];
    body_pose(pose, c->body[0], X_a);
    body_pose(pose, c->body[1], X_b);
    pose_invert(X_b, c->X[1]);
    pose_compose(c->X[1], X_a);
    pose_compose(c->X[1], c->X[0]);
    if (c->type == SAP_CONSTRAINT_BALL)
        memcpy(c->X[1] + 3, (double[4]){0, 0, 0, 1}, 4 * sizeof(double));
}

static SapStatus place_constraint(const SapSceneBuilder *builder, const double *pose, SapSceneConstraint *c) {
    double x_a[3], x_b[3];
    if (c->type == SAP_CONSTRAINT_COUPLER)
        return SAP_OK;
    if (!c->placed)
        place_frame(pose, c);
    if (c->type != SAP_CONSTRAINT_DISTANCE || !isnan(c->length))
        return SAP_OK;
    body_point(pose, c->body[0], c->X[0], x_a);
    body_point(pose, c->body[1], c->X[1], x_b);
    c->length = distance(x_a, x_b);
    char id[SAP_QUOTE_SIZE];
    if (c->length > 0)
        return SAP_OK;
    return sap_fail_at(builder->file, c->entry->line, SAP_ERROR_PARSE,
                       "constraint %s: its points are at one place in the initial state; give length > 0, or use type "
                       "ball",
                       sap_quote(c->id, id));
}

/* ---- tendons ---- */

static double coordinate_of(const SapSceneBuilder *builder, int dof) {
    int j = 0;
    while (dof >= sap_scene_joint(builder, j)->first_dof + sap_scene_joint(builder, j)->num_dofs)
        j++;
    const SapSceneJoint *joint = sap_scene_joint(builder, j);
    return sap_scene_coord(builder, joint->first_coord + dof - joint->first_dof)->q;
}

static double tendon_length(const SapSceneBuilder *builder, const double *pose, int t) {
    double l = sap_scene_tendon(builder, t)->offset, share = 1, last[3], x[3];
    int first = sap_scene_tendon_start(builder, t);
    bool follows = false;
    for (int k = first; k < sap_scene_tendon_start(builder, t + 1); k++) {
        const SapSceneTerm *term = sap_scene_term(builder, k);
        bool point = term->type == SAP_TENDON_POINT;
        if (term->type == SAP_TENDON_JOINT)
            l += term->value[0] * coordinate_of(builder, term->index);
        if (term->type == SAP_TENDON_PULLEY)
            share = 1 / term->value[0];
        if (point) {
            body_point(pose, term->index, term->value, x);
            l += follows ? share * distance(last, x) : 0;
            memcpy(last, x, sizeof x);
        }
        follows = point;
    }
    return l;
}

/* A bound of the rest band that is not given is the initial length, or the given bound if that is beyond it. */
static void place_tendon(const SapSceneBuilder *builder, const double *pose, int t) {
    SapSceneTendon *tendon = sap_scene_tendon(builder, t);
    double l = tendon_length(builder, pose, t);
    if (isnan(tendon->spring_lower))
        tendon->spring_lower = tendon->spring_upper < l ? tendon->spring_upper : l;
    if (isnan(tendon->spring_upper))
        tendon->spring_upper = tendon->spring_lower > l ? tendon->spring_lower : l;
}

SapStatus sap_scene_place_constraints(SapSceneBuilder *builder) {
    int nc = sap_scene_count(builder, SAP_ROWS_CONSTRAINTS), nt = sap_scene_count(builder, SAP_ROWS_TENDONS);
    SapStatus status = SAP_OK;
    if (nc + nt == 0)
        return SAP_OK;
    double *pose = calloc(7 * (size_t)sap_scene_count(builder, SAP_ROWS_BODIES) + 1, sizeof *pose);
    if (pose == NULL)
        return sap_scene_out_of_memory(builder);
    place_bodies(builder, pose);
    for (int i = 0; status == SAP_OK && i < nc; i++)
        status = place_constraint(builder, pose, sap_scene_constraint(builder, i));
    for (int t = 0; t < nt; t++)
        place_tendon(builder, pose, t);
    free(pose);
    return status;
}
