/* The contact weight w (1/kg): an estimate of the inverse mass at the contact, which scales the regularisation.
 * docs/contacts.md.
 *
 *   body_inertia    w = 1/3 sum over c in (c_x, c_y, n) and both bodies of 1/m + sum_j q_j^2/I_jj,
 *                   q = R' ((x - COM) x c)
 *   diag_delassus   w = |J diag(1/A_ii) J'|_F / 3 */

/* Lower bound of w and of the inertias that it divides by. */
#define WEIGHT_FLOOR K(1e-12)

/* The sum over the three axes of the frame for body `link`; 0 for static bodies. */
KERNEL_FN real contact_body_weight(const Context *ctx, int link, Vec3 x, const Mat3 *C) {
    if (link < 0)
        return real_of(0);
    const SapConstants *k = STAGE_CONSTANTS;
    Pose X = body_pose(ctx, link);
    Vec3 com = field_get_vec3(k->com, 3 * link, ctx->pack);
    real m = field_get(k->mass, link, ctx->pack);
    Vec3 I = field_get_vec3(k->inertia, 6 * link, ctx->pack);
    Quat inverse = quat_conjugate(X.q);
    Vec3 r = vec3_sub(vec3_sub(x, X.p), quat_rotate(X.q, com));
    const Vec3 axis[3] = {C->x, C->y, C->z};
    real sum = real_of(0);
    for (int i = 0; i < 3; i++) {
        Vec3 t = quat_rotate(inverse, vec3_cross(r, axis[i]));
        sum = sum + K(1.0) / m + t.x * t.x / real_max(I.x, real_of(WEIGHT_FLOOR)) +
              t.y * t.y / real_max(I.y, real_of(WEIGHT_FLOOR)) + t.z * t.z / real_max(I.z, real_of(WEIGHT_FLOOR));
    }
    return sum;
}

KERNEL_FN real contact_weight_body_inertia(const Context *ctx, int c) {
    StageView s = SLOT_SETUP_VIEW;
    Mat3 C;
    C.x = view_get_vec3(s, SLOT_SETUP_OFFSET(frame, c));
    C.y = view_get_vec3(s, SLOT_SETUP_OFFSET(frame, c) + 3);
    C.z = view_get_vec3(s, SLOT_SETUP_OFFSET(frame, c) + 6);
    const int *link = SLOT_SETUP_INTS(link, c);
    real w = contact_body_weight(ctx, link[0], view_get_vec3(s, SLOT_SETUP_OFFSET(x0, c)), &C) +
             contact_body_weight(ctx, link[1], view_get_vec3(s, SLOT_SETUP_OFFSET(x1, c)), &C);
    return w / K(3.0);
}

KERNEL_FN real contact_weight_diag_delassus(const Context *ctx, int c) {
    const SapPattern *tree = &ctx->args->plan.tree;
    StageView A = FM_VIEW(A);
    real W[6]; /* xx yy zz xy xz yz */
    for (int i = 0; i < 6; i++)
        W[i] = real_of(0);
    int n = *SLOT_SHORTS(num_dofs, c);
    for (int k = 0; k < n; k++) {
        const SapPatternRow *row = &tree->row[SLOT_SHORTS(dof, c)[k]];
        real inverse = K(1.0) / real_max(view_get(A, row->start + row->depth), real_of(WEIGHT_FLOOR));
        Vec3 J = view_get_vec3(SLOT_J_VIEW(c), 3 * k);
        Vec3 WJ = vec3_scale(inverse, J);
        W[0] = real_fma(WJ.x, J.x, W[0]);
        W[1] = real_fma(WJ.y, J.y, W[1]);
        W[2] = real_fma(WJ.z, J.z, W[2]);
        W[3] = real_fma(WJ.x, J.y, W[3]);
        W[4] = real_fma(WJ.x, J.z, W[4]);
        W[5] = real_fma(WJ.y, J.z, W[5]);
    }
    real diagonal = real_fma(W[2], W[2], real_fma(W[1], W[1], W[0] * W[0]));
    real off = real_fma(W[5], W[5], real_fma(W[4], W[4], W[3] * W[3]));
    return real_sqrt(real_fma(real_of(2), off, diagonal)) / K(3.0);
}

STAGE_FN void contact_weight_slot(const Context *ctx, int c) {
    real w =
        ctx->args->contacts.diag_delassus ? contact_weight_diag_delassus(ctx, c) : contact_weight_body_inertia(ctx, c);
    view_put(SLOT_SETUP_VIEW, SLOT_SETUP_OFFSET(w, c), real_max(w, real_of(WEIGHT_FLOOR)));
}

STAGE_FN void stage_contact_weight(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_WEIGHT);
    TEAM_FOR(c, ctx->num_slots)
        contact_weight_slot(ctx, c);
}
