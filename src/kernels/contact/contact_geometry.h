/* Contact geometry for the solve: witness points, gap, frame and Jacobian along the paths of the two bodies.
 * docs/contacts.md.
 *
 *   x_i = p_i + R_i point_i           n = normal/|normal|        phi0 = (x1 - x0).n - margin0 - margin1
 *   J = [c_x c_y n]' (V_1(y1) - V_0(y0)),  V_b(y) = S.lin + S.ang x (y - O) for the dofs on the path of b
 *
 * The witnesses move out to the inflated surfaces, x0 + margin0 n and x1 - margin1 n, so that a record with a core
 * point and the radius as margin has the correct lever arm. (compat leaves them on the core, as SAP Warp does.) y_i is
 * the witness of body i (witness_point), or for both bodies the point between the witnesses that divides the gap by
 * stiffness (contact_midpoint).
 *
 * The two bodies of a slot are the same in all worlds of a pack (slots.h). A world without a contact in the slot
 * computes with finite placeholder numbers, and its law data are 0. */

/* Columns c_x, c_y, n of the contact frame: c_x = e x n / |e x n| with the world axis e least aligned with n,
 * c_y = n x c_x. */
KERNEL_FN Mat3 contact_frame(Vec3 n) {
    real ax = real_abs(n.x), ay = real_abs(n.y), az = real_abs(n.z);
    mask y_less = ay < ax;
    real least = real_select(y_less, ay, ax);
    mask use_z = az < least;
    mask use_y = y_less & mask_not(use_z);
    mask use_x = mask_not(use_y) & mask_not(use_z);
    real n_i = real_select(use_z, n.z, real_select(use_y, n.y, n.x));
    real mag = real_sqrt(K(1.0) - n_i * n_i);
    real r = K(1.0) / mag, s = -(r * n_i), zero = real_of(0);
    Mat3 C;
    C.x.x = real_select(use_x, zero, real_select(use_y, r * n.z, -(r * n.y)));
    C.x.y = real_select(use_x, -(r * n.z), real_select(use_y, zero, r * n.x));
    C.x.z = real_select(use_x, r * n.y, real_select(use_y, -(r * n.x), zero));
    C.y.x = real_select(use_x, mag, s * n.x);
    C.y.y = real_select(use_y, mag, s * n.y);
    C.y.z = real_select(use_z, mag, s * n.z);
    C.z = n;
    return C;
}

/* Stiffness of one side of a contact, N/m. */
KERNEL_FN real contact_side_stiffness(const Context *ctx, int shape) {
    real fallback = real_of((scalar)ctx->args->contacts.fallback_stiffness);
    return field_get_or(STAGE_CONSTANTS->shape_ke, shape, fallback, ctx->pack);
}

/* The point that divides the gap by stiffness, (k0 x0 + k1 x1)/(k0 + k1). If one side is rigid it is the witness of
 * that side; if both are, the middle. */
KERNEL_FN Vec3 contact_midpoint(const Context *ctx, const int *shape, Vec3 x0, Vec3 x1) {
    real k0 = contact_side_stiffness(ctx, shape[0]), k1 = contact_side_stiffness(ctx, shape[1]);
    mask rigid0 = mask_not(real_finite(k0)), rigid1 = mask_not(real_finite(k1));
    real sum = k0 + k1;
    mask even = (sum == K(0.0)) | (rigid0 & rigid1);
    real a0 =
        real_select(even, real_of(K(0.5)), real_select(rigid0, real_of(1), real_select(rigid1, real_of(0), k0 / sum)));
    return vec3_fma(K(1.0) - a0, x1, vec3_scale(a0, x0));
}

/* Writes the columns of J, three reals each, in the order of the slot's dofs. y[side] is the velocity point
 * of each side. */
STAGE_FN void contact_jacobian(const Context *ctx, int c, const Mat3 *C, const Vec3 y[2]) {
    const SapDofIndex *dof = SLOT_SHORTS(dof, c);
    const int *path = SLOT_SETUP_INTS(path, c);
    int n = *SLOT_SHORTS(num_dofs, c);
    real *J = SLOT_J(c);
    for (int k = 0; k < n; k++) {
        Vec3 u = vec3_zero();
        if (path[k] & 1)
            u = vec3_sub(u, contact_dof_velocity(ctx, dof[k], y[0]));
        if (path[k] & 2)
            u = vec3_add(u, contact_dof_velocity(ctx, dof[k], y[1]));
        vec3_store(J + 3 * k, vec3(vec3_dot(C->x, u), vec3_dot(C->y, u), vec3_dot(C->z, u)));
    }
}

/* Reads the records in slot c and writes their geometry. */
STAGE_FN void contact_geometry_slot(const Context *ctx, int c) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    real bad;
    /* links and columns of the slot */
    mask valid = slot_load(ctx, c, &bad);
    contact_columns(ctx, c);

    /* points, normal and margins of the records, and whether they are valid */
    Vec3 up = vec3(real_of(0), real_of(0), real_of(1));
    const int *record = SLOT_SETUP_INTS(record, c), *link = SLOT_SETUP_INTS(link, c);
    Vec3 point0 = buffer_gather_vec3(contacts->point[0], record, ctx->pack),
         point1 = buffer_gather_vec3(contacts->point[1], record, ctx->pack);
    Vec3 normal = buffer_gather_vec3(contacts->normal, record, ctx->pack);
    real margin0 = buffer_gather_or(contacts->margin[0], record, real_of(0), ctx->pack),
         margin1 = buffer_gather_or(contacts->margin[1], record, real_of(0), ctx->pack);
    real length = real_sqrt(vec3_dot(normal, normal));
    real unsound =
        check_of(K(1.0) / length) + vec3_check(point0) + vec3_check(point1) + check_of(margin0) + check_of(margin1);
    bad = real_select(valid, unsound, bad); /* a slot with an index out of range is not valid and keeps its NaN */

    /* placeholder numbers for worlds without the contact */
    margin0 = real_select(valid, margin0, real_of(0));
    margin1 = real_select(valid, margin1, real_of(0));
    Vec3 n = vec3_select(valid, vec3_scale(K(1.0) / length, normal), up);

    /* phi0 = (x1 - x0).n - margin0 - margin1, then the witnesses on the inflated surfaces */
    Vec3 x0 = contact_witness(ctx, link[0], vec3_select(valid, point0, vec3_zero()));
    Vec3 x1 = contact_witness(ctx, link[1], vec3_select(valid, point1, vec3_zero()));
    real phi0 = vec3_dot(vec3_sub(x1, x0), n) - margin0 - margin1;
    if (!COMPAT) {
        x0 = vec3_fma(margin0, n, x0);
        x1 = vec3_fma(-margin1, n, x1);
    }

    /* frame, velocity points and Jacobian */
    Mat3 C = contact_frame(n);
    Vec3 y[2] = {x0, x1};
    if (contacts->midpoint)
        y[0] = y[1] = contact_midpoint(ctx, SLOT_SETUP_INTS(shape, c), x0, x1);
    contact_jacobian(ctx, c, &C, y);
    slot_setup_put(ctx, c, x0, x1, &C, phi0, valid, bad);
}
