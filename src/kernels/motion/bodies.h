/* Access of other stages to body poses: through a view of free motion's scratch, in its precision. */

/* The pose of link l at the beginning of the step. With compat a quaternion may keep the length of its input
 * (joints_sap_warp.h); it is normalised here, so that points on a body are not scaled. */
KERNEL_FN Pose body_pose(const Context *ctx, int l) {
    Pose X = view_get_pose(FM_VIEW(X), 7 * l);
    if (ctx->args->compat)
        X.q = quat_normalise(X.q);
    return X;
}
