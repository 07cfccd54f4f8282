/* Contacts of a world as the solve needs them: witness points, gap, frame and Jacobian along the paths of the two bodies.
 * docs/contacts.md.
 *
 *   x_i = p_i + R_i point_i           n = normal/|normal|        phi0 = (x1 - x0).n - margin0 - margin1
 *   J = [c_x c_y n]' (V_1(y1) - V_0(y0)),  V_b(y) = S.lin + S.ang x (y - O) for the dofs on the path of b
 *
 * The witnesses are moved out to the inflated surfaces, x0 + margin0 n and x1 - margin1 n: a record with a core point and the
 * radius as margin then has its lever arm. (compat leaves them on the core, as SAP Warp does.) y_i is the witness of its body, or for
 * both the point between them that divides the gap by stiffness.
 *
 * Worlds of a pack may have different bodies in the same slot: a slot's columns are the union of their paths, and a dof that is
 * not on a world's own path has a column of zeros there. */

/* The static part of a slot, uniform or one integer per lane. */
typedef struct Slot {
    int link[2][SAP_LANES];  /* -1 = static */
    int shape[2][SAP_LANES]; /* -1 = none */
    mask valid;              /* this world has a contact in this slot */
} Slot;

/* Body of a record: that of its shape, or given where it has none. False where an index is out of range. */
KERNEL_FN bool slot_side(const Context *ctx, int side, long long at, int *shape, int *link) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    const SapPlan *plan = &ctx->args->plan;
    *shape = contacts->shape[side] ? contacts->shape[side][at] : -1;
    int body = *shape < 0 && contacts->body[side] ? contacts->body[side][at] : -1;
    *link = -1;
    if (*shape < -1 || *shape >= plan->ns || body < -1 || body >= plan->nb) {
        *shape = -1; /* nothing may be read with it */
        return false;
    }
    *link = *shape >= 0 ? plan->shape_link[*shape] : body >= 0 ? plan->body_link[body] : -1;
    return true;
}

/* Whether every index of slot c is in range is added to *bad (NaN where not). */
KERNEL_FN Slot slot_load(const Context *ctx, int c, real *bad) {
    Slot slot;
    real nan = real_nan();
    slot.valid = real_finite(real_of(0));
    const int *record = SLOT_INTS(record, c);
    FOR_LANES(l) {
        long long at = (long long)ctx->pack->world[l] * ctx->args->contacts.given_capacity + record[l];
        bool present = record[l] >= 0;
        slot.link[0][l] = slot.link[1][l] = slot.shape[0][l] = slot.shape[1][l] = -1;
        bool fine = true;
        if (present)
            fine = slot_side(ctx, 0, at, &slot.shape[0][l], &slot.link[0][l]) &&
                   slot_side(ctx, 1, at, &slot.shape[1][l], &slot.link[1][l]);
        /* a contact between two static bodies acts on nothing */
        if (slot.link[0][l] < 0 && slot.link[1][l] < 0)
            present = false;
        LANE(slot.valid, l) = -(present && fine);
        if (!fine)
            LANE(*bad, l) = LANE(nan, l);
    }
    return slot;
}

/* Columns c_x, c_y, n of the contact frame. The axis least aligned with n makes c_x. */
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

/* Stiffness of one side of a contact. */
KERNEL_FN real contact_side_stiffness(const Context *ctx, const int *shape) {
    real fallback = real_of((scalar)ctx->args->contacts.fallback_stiffness);
    real k = field_gather(STAGE_CONSTANTS->shape_ke, shape, fallback, ctx->pack);
    return k;
}

/* The point of the gap that divides it by stiffness: (k0 x0 + k1 x1)/(k0 + k1); next to a rigid side it is
 * that side's witness. */
KERNEL_FN Vec3 contact_midpoint(const Context *ctx, const Slot *slot, Vec3 x0, Vec3 x1) {
    real k0 = contact_side_stiffness(ctx, slot->shape[0]), k1 = contact_side_stiffness(ctx, slot->shape[1]);
    mask rigid0 = mask_not(real_finite(k0)), rigid1 = mask_not(real_finite(k1));
    real sum = k0 + k1;
    mask even = (sum == K(0.0)) | (rigid0 & rigid1);
    real a0 =
        real_select(even, real_of(K(0.5)), real_select(rigid0, real_of(1), real_select(rigid1, real_of(0), k0 / sum)));
    return vec3_fma(K(1.0) - a0, x1, vec3_scale(a0, x0));
}

/* Poses of one body per world; a static one has whatever. SAP Warp's bodies may keep lengths (joints_as_given.h), not here. */
KERNEL_FN Pose contact_body_pose(const Context *ctx, const int *link) {
    Seam X = FM_SEAM(X);
    Pose pose;
    pose.p = seam_gather_vec3(X, link, 7, 0);
    pose.q = quat(seam_gather(X, link, 7, 3), seam_gather(X, link, 7, 4), seam_gather(X, link, 7, 5),
                  seam_gather(X, link, 7, 6));
    if (ctx->args->compat)
        pose.q = quat_normalise(pose.q);
    return pose;
}

/* A witness in the world: on a link, or given in world axes if static. */
KERNEL_FN Vec3 contact_witness(const Context *ctx, const int *link, Vec3 point) {
    mask dynamic;
    FOR_LANES(l) LANE(dynamic, l) = -(link[l] >= 0);
    Pose X = contact_body_pose(ctx, link);
    return vec3_select(dynamic, vec3_add(X.p, quat_rotate(X.q, point)), point);
}

/* Whether dof i is on the path from the world to `link`: then it is the path's entry at its depth. */
KERNEL_FN bool link_path_has(const SapPlan *plan, int link, int i) {
    int last = link < 0 ? -1 : plan->link[link].last_dof;
    if (last < 0)
        return false;
    const SapRow *row = &plan->tree.row[last];
    int depth = plan->tree.row[i].depth;
    return depth <= row->depth && plan->tree.ancestor[row->start + depth] == i;
}

/* Whether neither of two links' paths contains the other: a contact between them couples two branches. */
KERNEL_FN bool links_couple(const SapPlan *plan, int a, int b) {
    if (a < 0 || b < 0 || plan->link[a].last_dof < 0 || plan->link[b].last_dof < 0)
        return false;
    return !link_path_has(plan, a, plan->link[b].last_dof) && !link_path_has(plan, b, plan->link[a].last_dof);
}

/* Lists the dofs on the path of either body in any world of the pack, increasing. Returns how many. */
KERNEL_FN int contact_columns(const Context *ctx, const Slot *slot, int *dof, int *place) {
    const SapPlan *plan = &ctx->args->plan;
    int n = 0;
    for (int i = 0; i < plan->nv; i++) {
        bool on_path = false;
        for (int l = 0; l < SAP_LANES && !on_path; l++)
            on_path = link_path_has(plan, slot->link[0][l], i) || link_path_has(plan, slot->link[1][l], i);
        place[i] = on_path ? n : -1;
        if (on_path)
            dof[n++] = i;
    }
    return n;
}

/* Where dof i is on the path of the slot's body. */
KERNEL_FN mask contact_on_path(const Context *ctx, const int *link, int i) {
    mask m;
    FOR_LANES(l) LANE(m, l) = -link_path_has(&ctx->args->plan, link[l], i);
    return m;
}

/* J's columns, three reals each, in the order of the slot's dofs. y[side]: the velocity points. */
STAGE_FN void contact_jacobian(const Context *ctx, int c, const Slot *slot, const Mat3 *C, const Vec3 y[2]) {
    const SapPlan *plan = &ctx->args->plan;
    Seam S = FM_SEAM(S), X = FM_SEAM(X);
    const int *dof = SLOT_INTS(dof, c);
    int n = *SLOT_INTS(num_dofs, c);
    for (int k = 0; k < n; k++) {
        int i = dof[k];
        Vec3 ang = seam_get_vec3(S, 6 * i), lin = seam_get_vec3(S, 6 * i + 3);
        Vec3 O = seam_get_vec3(X, 7 * plan->link[plan->tree.row[i].link].root);
        Vec3 u = vec3_zero();
        for (int side = 0; side < 2; side++) {
            Vec3 V = vec3_cross_add(ang, vec3_sub(y[side], O), lin);
            V = vec3_select(contact_on_path(ctx, slot->link[side], i), V, vec3_zero());
            u = side ? vec3_add(u, V) : vec3_sub(u, V);
        }
        int at = SLOT_OFFSET(J, c) + 3 * k;
        seam_put(SOLVE_SEAM, at, vec3_dot(C->x, u));
        seam_put(SOLVE_SEAM, at + 1, vec3_dot(C->y, u));
        seam_put(SOLVE_SEAM, at + 2, vec3_dot(C->z, u));
    }
}

/* Reads the records in slot c and writes their geometry. */
STAGE_FN void contact_geometry_slot(const Context *ctx, int c) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    real bad = real_of(0);
    Slot slot = slot_load(ctx, c, &bad);
    FOR_LANES(l) {
        for (int side = 0; side < 2; side++) {
            SLOT_INTS(link, c)[side * SAP_LANES + l] = slot.link[side][l];
            SLOT_INTS(shape, c)[side * SAP_LANES + l] = slot.shape[side][l];
        }
    }
    int couples = 0;
    for (int l = 0; l < SAP_LANES; l++)
        couples |= links_couple(&ctx->args->plan, slot.link[0][l], slot.link[1][l]);
    *SLOT_INTS(couples, c) = couples;
    *SLOT_INTS(num_dofs, c) = contact_columns(ctx, &slot, SLOT_INTS(dof, c), SLOT_INTS(place, c));

    Vec3 up = vec3(real_of(0), real_of(0), real_of(1));
    const int *record = SLOT_INTS(record, c);
    Vec3 point0 = row_gather_vec3(contacts->point[0], record, ctx->pack),
         point1 = row_gather_vec3(contacts->point[1], record, ctx->pack);
    Vec3 normal = row_gather_vec3(contacts->normal, record, ctx->pack);
    real margin0 = row_gather(contacts->margin[0], record, 1, 0, real_of(0), ctx->pack),
         margin1 = row_gather(contacts->margin[1], record, 1, 0, real_of(0), ctx->pack);
    real length = real_sqrt(vec3_dot(normal, normal));
    real unsound =
        check_of(K(1.0) / length) + vec3_check(point0) + vec3_check(point1) + check_of(margin0) + check_of(margin1);
    bad = real_select(slot.valid, unsound, bad); /* an index out of range makes the slot invalid, and is bad */

    /* empty slots compute with harmless numbers */
    Vec3 n = vec3_select(slot.valid, vec3_scale(K(1.0) / length, normal), up);
    Vec3 x0 = contact_witness(ctx, slot.link[0], vec3_select(slot.valid, point0, vec3_zero()));
    Vec3 x1 = contact_witness(ctx, slot.link[1], vec3_select(slot.valid, point1, vec3_zero()));
    real phi0 = vec3_dot(vec3_sub(x1, x0), n) - margin0 - margin1;
    if (!ctx->args->compat) {
        x0 = vec3_fma(margin0, n, x0);
        x1 = vec3_fma(-margin1, n, x1);
    }
    Mat3 C = contact_frame(n);
    Vec3 y[2] = {x0, x1};
    if (contacts->midpoint)
        y[0] = y[1] = contact_midpoint(ctx, &slot, x0, x1);
    contact_jacobian(ctx, c, &slot, &C, y);

    Seam s = SOLVE_SEAM;
    seam_put_vec3(s, SLOT_OFFSET(x0, c), x0);
    seam_put_vec3(s, SLOT_OFFSET(x1, c), x1);
    seam_put_vec3(s, SLOT_OFFSET(frame, c), C.x);
    seam_put_vec3(s, SLOT_OFFSET(frame, c) + 3, C.y);
    seam_put_vec3(s, SLOT_OFFSET(frame, c) + 6, C.z);
    seam_put(s, SLOT_OFFSET(phi0, c), real_select(slot.valid, phi0, real_of(0)));
    seam_put(s, SLOT_OFFSET(valid, c), real_select(slot.valid, real_of(1), real_of(0)));
    seam_put(s, SLOT_OFFSET(check, c), bad);
}
