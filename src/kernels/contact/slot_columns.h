/* The bodies of a contact slot, the columns of its Jacobian (the dofs on the paths of the two bodies) and its geometry
 * as the solve reads it. The same for contacts of every law. */

/* Finds the link of one side: its shape's, or its body's if it has no shape. False if an index is out of
 * range. */
KERNEL_FN bool slot_find_link(const Context *ctx, int *shape, int *link) {
    const SapPlan *plan = &ctx->args->plan;
    int body = *shape < 0 ? *link : -1;
    *link = -1;
    if (*shape < -1 || *shape >= plan->ns || body < -1 || body >= plan->nb) {
        *shape = -1; /* prevents reads with an invalid index */
        return false;
    }
    *link = *shape >= 0 ? plan->shape_link[*shape] : body >= 0 ? plan->body_link[body] : -1;
    return true;
}

/* Replaces bodies by links. Returns the worlds that have a contact in slot c; a contact between two static bodies does
 * not count. *bad is NaN where a world's contact has an index out of range. */
KERNEL_FN mask slot_load(const Context *ctx, int c, real *bad) {
    int *shape = SLOT_SETUP_INTS(shape, c), *link = SLOT_SETUP_INTS(link, c);
    const int *record = SLOT_SETUP_INTS(record, c);
    bool fine0 = slot_find_link(ctx, &shape[0], &link[0]), fine1 = slot_find_link(ctx, &shape[1], &link[1]);
    bool fine = fine0 && fine1, acts = link[0] >= 0 || link[1] >= 0;
    mask present;
    FOR_LANES(l) LANE(present, l) = -(record[l] >= 0);
    *bad = fine ? real_of(0) : real_select(present, real_nan(), real_of(0));
    return fine && acts ? present : present & mask_not(present);
}

/* The dofs on the path from the world to a link, increasing. Returns their number. */
KERNEL_FN int link_path(const SapPlan *plan, int link, const int **dof) {
    int last = link < 0 ? -1 : plan->link[link].last_dof;
    *dof = last < 0 ? 0 : plan->tree.ancestor + plan->tree.row[last].start;
    return last < 0 ? 0 : plan->tree.row[last].depth + 1;
}

/* Whether two dofs, and with them their paths in the tree, lie on one path of a pattern that contains the tree. */
KERNEL_FN bool is_one_path(const SapPattern *pattern, int i, int j) {
    int low = i < j ? i : j, high = i < j ? j : i, depth = pattern->row[low].depth;
    return depth <= pattern->row[high].depth && pattern->ancestor[pattern->row[high].start + depth] == low;
}

/* The end of the run of consecutive dofs that begins at column j of n. */
KERNEL_FN int run_end(const SapDofIndex *dof, int j, int n) {
    for (j++; j < n && dof[j] == dof[j - 1] + 1; j++)
        ;
    return j;
}

/* Lists the columns of slot c: merges the dofs on the paths of its two bodies. The contact couples two branches if
 * the two paths are not on one path of the closed pattern. */
KERNEL_FN void contact_columns(const Context *ctx, int c) {
    const SapPlan *plan = &ctx->args->plan;
    SapDofIndex *dof = SLOT_SHORTS(dof, c);
    int *path = SLOT_SETUP_INTS(path, c);
    unsigned *has = (unsigned *)SLOT_INTS(has, c);
    const int *path0, *path1;
    int n = 0, n0 = link_path(plan, SLOT_SETUP_INTS(link, c)[0], &path0),
        n1 = link_path(plan, SLOT_SETUP_INTS(link, c)[1], &path1);
    for (int w = 0; w < (plan->nv + 31) / 32; w++)
        has[w] = 0;
    for (int i0 = 0, i1 = 0; i0 < n0 || i1 < n1; n++) {
        bool in0 = i0 < n0 && (i1 == n1 || path0[i0] <= path1[i1]),
             in1 = i1 < n1 && (i0 == n0 || path1[i1] <= path0[i0]);
        int i = in0 ? path0[i0] : path1[i1];
        dof[n] = (SapDofIndex)i;
        path[n] = in0 + 2 * in1;
        has[i / 32] |= 1u << i % 32;
        i0 += in0;
        i1 += in1;
    }
    *SLOT_SHORTS(num_dofs, c) = (SapDofIndex)n;
    if (TEAM_OF_ONE) {
        int *runs = SLOT_SETUP_INTS(runs, c);
        runs[0] = run_end(dof, 0, n);
        runs[1] = run_end(dof, runs[0], n);
    }
    *SLOT_SHORTS(couples, c) = n0 > 0 && n1 > 0 && !is_one_path(&plan->closed, path0[n0 - 1], path1[n1 - 1]);
}

/* The velocity of the point y per unit velocity of dof i. */
KERNEL_FN Vec3 contact_dof_velocity(const Context *ctx, int i, Vec3 y) {
    return dof_velocity(ctx, i, vec3_sub(y, dof_origin(ctx, i)));
}

/* A witness in world axes; `point` is in the body frame of the link, or in world axes if static. */
KERNEL_FN Vec3 contact_witness(const Context *ctx, int link, Vec3 point) {
    if (link < 0)
        return point;
    Pose X = body_pose(ctx, link);
    return vec3_add(X.p, quat_rotate(X.q, point));
}

/* Writes the geometry of slot c in the precision of the solve: witnesses, frame and gap, the worlds that have the
 * contact, and NaN in `bad` where its numbers are invalid. */
KERNEL_FN void slot_setup_put(const Context *ctx, int c, Vec3 x0, Vec3 x1, const Mat3 *C, real phi0, mask valid,
                              real bad) {
    StageView s = SLOT_SETUP_VIEW;
    view_put_vec3(s, SLOT_SETUP_OFFSET(x0, c), x0);
    view_put_vec3(s, SLOT_SETUP_OFFSET(x1, c), x1);
    view_put_vec3(s, SLOT_SETUP_OFFSET(frame, c), C->x);
    view_put_vec3(s, SLOT_SETUP_OFFSET(frame, c) + 3, C->y);
    view_put_vec3(s, SLOT_SETUP_OFFSET(frame, c) + 6, C->z);
    view_put(s, SLOT_SETUP_OFFSET(phi0, c), real_select(valid, phi0, real_of(0)));
    view_put(s, SLOT_SETUP_OFFSET(valid, c), real_select(valid, real_of(1), real_of(0)));
    view_put(s, SLOT_SETUP_OFFSET(check, c), bad);
}
