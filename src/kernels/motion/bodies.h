/* Access of other stages to body poses and motion subspaces: through a view of free motion's scratch, in its
 * precision. */

/* The pose of link l at the beginning of the step. With compat a quaternion may keep the length of its input
 * (joints_sap_warp.h); it is normalised here, so that points on a body are not scaled. */
KERNEL_FN Pose body_pose(const Context *ctx, int l) {
    Pose X = view_get_pose(FM_VIEW(X), 7 * l);
    if (COMPAT)
        X.q = quat_normalise(X.q);
    return X;
}

/* Whether dof i is on the path from the world to a link (-1: the world itself). */
KERNEL_FN bool link_has_dof(const SapPlan *plan, int link, int i) {
    int last = link < 0 ? -1 : plan->link[link].last_dof, depth = plan->tree.row[i].depth;
    return last >= i && depth <= plan->tree.row[last].depth &&
           plan->tree.ancestor[plan->tree.row[last].start + depth] == i;
}

/* O of the tree of dof i. */
KERNEL_FN Vec3 dof_origin(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    return view_get_vec3(FM_VIEW(X), 7 * plan->link[plan->tree.row[i].link].root);
}

/* The velocity of the point O + arm per unit velocity of dof i, and the angular velocity. */
KERNEL_FN Vec3 dof_velocity(const Context *ctx, int i, Vec3 arm) {
    StageView S = FM_VIEW(S);
    return vec3_cross_add(view_get_vec3(S, 6 * i), arm, view_get_vec3(S, 6 * i + 3));
}
KERNEL_FN Vec3 dof_angular_velocity(const Context *ctx, int i) {
    return view_get_vec3(FM_VIEW(S), 6 * i);
}
