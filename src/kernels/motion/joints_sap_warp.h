/* Joints as SAP Warp computes them, for number-by-number comparison (args.compat).
 *
 * SAP Warp's constants are unit to single precision only. It normalises some quaternions and keeps the length of
 * others: the rotation of F at the root, the rotation of M relative to F, and the body of a revolute joint without X_c.
 * It forms dof columns at the body's origin, S = [ R a ; R (l + a x p) ], p from M's origin to the body's in F axes. D6
 * joints lack the velocity bias of their successive axes. With unit constants, and except for D6, the results agree
 * with joints.h to rounding. */

/* p = R_FM translation(X_c^-1), in F axes */
KERNEL_FN Vec3 joint_arm_sap_warp(const Context *ctx, int l, Quat q_FM) {
    return quat_rotate(q_FM, field_get_vec3(STAGE_CONSTANTS->X_c_inv, 7 * l, ctx->pack));
}

KERNEL_FN Pose field_get_pose(SapField field, int l, const SapPack *pack) {
    Pose X;
    X.p = field_get_vec3(field, 7 * l, pack);
    X.q = field_get_quat(field, 7 * l + 3, pack);
    return X;
}

/* SAP Warp's composition of poses: both rotations and their product are normalised. Normalising the
 * product covers b. */
KERNEL_FN Pose pose_mul_normalised(Pose a, Pose b) {
    a.q = quat_normalise(a.q);
    Pose X = pose_mul(a, b);
    X.q = quat_normalise(X.q);
    return X;
}

/* joint_pose as SAP Warp computes it. */
KERNEL_FN JointPose joint_pose_sap_warp(const Context *ctx, int l, const real *q, const real *X) {
    const SapLink *link = &ctx->args->plan.link[l];
    JointPose j;
    Pose FM = joint_transform(ctx, link, q + link->q, j.axes);
    Pose WF = field_get_pose(STAGE_CONSTANTS->X_p, l, ctx->pack);
    if (link->parent >= 0)
        WF = pose_mul_normalised(pose_load(X + 7 * link->parent), WF);
    j.q_WF = WF.q;
    if (link->type == SAP_JOINT_REVOLUTE && link->plain_X_c) {
        j.X_WB.p = WF.p;
        j.X_WB.q = quat_mul(WF.q, FM.q);
    } else {
        Pose X_c_inv = field_get_pose(STAGE_CONSTANTS->X_c_inv, l, ctx->pack);
        j.X_WB = pose_mul_normalised(pose_mul_normalised(WF, FM), X_c_inv);
    }
    j.x_M = vec3_sub(j.X_WB.p, quat_rotate(WF.q, joint_arm_sap_warp(ctx, l, FM.q)));
    return j;
}

/* Column i of link l in F axes: (a, 0) or (0, l). Returns whether it is angular. */
KERNEL_FN bool joint_column_in_F(const Context *ctx, const SapLink *link, const JointPose *j, int i, Vec3 *column) {
    bool angular = link->type == SAP_JOINT_FREE ? i < 3 : i >= link->nlin;
    if (link->type == SAP_JOINT_BALL || link->type == SAP_JOINT_FREE)
        *column = vec3(real_of(i % 3 == 0), real_of(i % 3 == 1), real_of(i % 3 == 2));
    else if (link->type == SAP_JOINT_D6 && angular)
        *column = j->axes[i - link->nlin];
    else
        *column = joint_axis(ctx, link->v + i);
    return angular;
}

/* joint_motion as SAP Warp computes it. */
KERNEL_FN JointMotion joint_motion_sap_warp(const Context *ctx, int l, const JointPose *j, Vec3 O, Spatial V,
                                            const real *q, const real *v, real *S) {
    const SapLink *link = &ctx->args->plan.link[l];
    Vec3 axes[3];
    Vec3 p = joint_arm_sap_warp(ctx, l, joint_transform(ctx, link, q + link->q, axes).q);
    Vec3 d = vec3_sub(O, j->X_WB.p), w_F = vec3_zero();
    JointMotion motion;
    motion.S_qd = spatial_zero();
    /* columns at the body's origin, shifted to O; S_qd and w_F = sum a qd in F axes */
    for (int i = 0; i < link->nlin + link->nang; i++) {
        Vec3 column;
        Spatial s = spatial_zero();
        if (joint_column_in_F(ctx, link, j, i, &column)) {
            s.ang = quat_rotate(j->q_WF, column);
            s.lin = vec3_cross_add(s.ang, d, quat_rotate(j->q_WF, vec3_cross(column, p)));
            w_F = vec3_fma(v[link->v + i], column, w_F);
        } else {
            s.lin = quat_rotate(j->q_WF, column);
        }
        spatial_store(S + 6 * (link->v + i), s);
        motion.S_qd = spatial_fma(v[link->v + i], s, motion.S_qd);
    }
    /* bias at the body's origin, c = [ w x W ; R (w_F x (w_F x p)) + w x v_rel - W x (v_P + v_rel) ], then about O */
    Vec3 W = motion.S_qd.ang;
    Vec3 v_rel = vec3_sub(motion.S_qd.lin, vec3_cross(W, d)), v_P = vec3_sub(V.lin, vec3_cross(V.ang, d));
    Vec3 A_rel = quat_rotate(j->q_WF, vec3_cross(w_F, vec3_cross(w_F, p)));
    motion.c.ang = vec3_cross(V.ang, W);
    motion.c.lin = vec3_sub(vec3_cross_add(V.ang, v_rel, A_rel), vec3_cross(W, vec3_add(v_P, v_rel)));
    motion.c.lin = vec3_cross_add(motion.c.ang, d, motion.c.lin);
    return motion;
}
