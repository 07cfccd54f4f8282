/* Bodies as other stages see them: through a view of what free motion left, in its precision. */

/* The pose of link l at the beginning of the step. Under compat rotations may keep the length of their input (joints_sap_warp.h); what
 * is placed on a body is not scaled by it. */
KERNEL_FN Pose body_pose(const Context *ctx, int l) {
    Pose X = view_get_pose(FM_VIEW(X), 7 * l);
    if (ctx->args->compat)
        X.q = quat_normalise(X.q);
    return X;
}
