/* The derivatives of the equation of a step with respect to controls and parameters: -dg/dtheta, a column of
 * GRAD(input) for each number. docs/gradients.md has the table.
 *
 * A parameter of a body changes its inertia by dI, and with it wrenches, A_ii and weights. */

/* Adds a force f at O + x and a moment m on the body of a link. */
KERNEL_FN void column_add_force(const Context *ctx, real *to, int link, Vec3 x, Vec3 f, Vec3 m) {
    const int *path;
    int n = link_path(&ctx->args->plan, link, &path);
    Spatial W = spatial(vec3_cross_add(x, f, m), f);
    for (int k = 0; k < n; k++)
        to[path[k]] = to[path[k]] + spatial_dot(dof_column(ctx, path[k]), W);
}

/* Adds what the rates of A_kk in GRAD(dA) do to the rows of dofs, to contacts and to constraints. */
STAGE_FN void column_add_diagonal(const Context *ctx, const Gradient *g, real *to) {
    const SapPlan *plan = &ctx->args->plan;
    const real *dA = GRAD(dA);
    for (int i = 0; i < plan->nv; i++)
        to[i] = real_fma(GRAD(dof_dA)[i], dA[i], to[i]);
    for (int c = 0; ctx->args->contacts.diag_delassus && c < ctx->num_slots; c++) {
        const SapDofIndex *dof = SLOT_SHORTS(dof, c);
        int n = *SLOT_SHORTS(num_dofs, c);
        real dw = real_of(0);
        for (int k = 0; k < n; k++)
            dw = real_fma(CONTACT_BY_DIAGONAL(c)[k], dA[dof[k]], dw);
        for (int k = 0; k < n; k++)
            to[dof[k]] = real_fma(dw, CONTACT_BY_W(c)[k], to[dof[k]]);
    }
    for (int b = 0; b < NUM_MODEL_CONSTRAINTS; b++) {
        const SapModelConstraint *block = &plan->block[b];
        const int *dof = block_dofs(ctx, block);
        for (int part = 0; part < block_parts(ctx, block); part++) {
            real dw = real_of(0);
            for (int k = 0; k < block->num_columns; k++)
                dw = real_fma(BLOCK_BY_DIAGONAL(b, part)[k], dA[dof[k]], dw);
            for (int k = 0; k < block->num_columns; k++)
                to[dof[k]] = real_fma(dw, BLOCK_BY_W(b, part)[k], to[dof[k]]);
        }
    }
}

/* Adds J' gamma_w dw of the contacts of a body, whose part of w has the rate that `of` and `by` say. */
enum { WEIGHT_OF_MASS, WEIGHT_OF_COM, WEIGHT_OF_INERTIA };

STAGE_FN void column_add_body_weight(const Context *ctx, const Gradient *g, real *to, int l, int of, int by) {
    const SapConstants *k = STAGE_CONSTANTS;
    for (int c = 0; c < ctx->num_slots && !ctx->args->contacts.diag_delassus; c++)
        for (int side = 0; side < 2; side++) {
            if (*SLOT_SHORTS(num_dofs, c) == 0 || SLOT_SETUP_INTS(link, c)[side] != l)
                continue;
            Pose X = body_pose(ctx, l);
            Vec3 x = vec3_load(side ? SLOT_SETUP(x1, c) : SLOT_SETUP(x0, c)),
                 I = field_get_vec3(k->inertia, 6 * l, ctx->pack);
            Vec3 r =
                vec3_sub(quat_rotate(quat_conjugate(X.q), vec3_sub(x, X.p)), field_get_vec3(k->com, 3 * l, ctx->pack));
            Vec3 across =
                vec3(real_fma(r.y, r.y, r.z * r.z), real_fma(r.x, r.x, r.z * r.z), real_fma(r.x, r.x, r.y * r.y));
            real m = field_get(k->mass, l, ctx->pack), dw;
            if (of == WEIGHT_OF_MASS) {
                dw = K(-1.0) / (m * m);
            } else if (of == WEIGHT_OF_COM) {
                real rate = real_of(0);
                for (int j = 0; j < 3; j++)
                    if (j != by)
                        rate = rate + real_at(r, by) / real_at(I, j);
                dw = K(-2.0 / 3.0) * rate;
            } else {
                real moment = real_at(I, by);
                dw = K(-1.0 / 3.0) * real_at(across, by) / (moment * moment);
            }
            int n = *SLOT_SHORTS(num_dofs, c);
            const SapDofIndex *dof = SLOT_SHORTS(dof, c);
            for (int i = 0; i < n; i++)
                to[dof[i]] = real_fma(dw, CONTACT_BY_W(c)[i], to[dof[i]]);
        }
}

KERNEL_FN Mat3 inertia_matrix(Inertia I) {
    Mat3 J;
    J.x = vec3(I.xx, I.xy, I.xz);
    J.y = vec3(I.xy, I.yy, I.yz);
    J.z = vec3(I.xz, I.yz, I.zz);
    return J;
}

/* Subtracts h S_i.(dI (a - g) + V x* dI V) for the body of link l, and adds what A_kk and weights do. */
STAGE_FN void column_add_inertia(const Context *ctx, const Gradient *g, real *to, int l, Inertia dI) {
    const int *path;
    int n = link_path(&ctx->args->plan, l, &path), nv = ctx->args->plan.nv;
    Spatial V = spatial_load(FM(V) + 6 * l), F = inertia_mul(dI, spatial_load(GRAD(a) + 6 * l));
    Vec3 gravity = vec3_scale(link_gravity_share(ctx, l), field_get_vec3(STAGE_CONSTANTS->gravity, 0, ctx->pack));
    F = spatial_add(F, spatial_cross_force(V, inertia_mul(dI, V)));
    F = spatial_sub(F, spatial(vec3_cross(dI.mc, gravity), vec3_scale(dI.m, gravity)));
    real *dA = GRAD(dA);
    for (int i = 0; i < nv; i++)
        dA[i] = real_of(0);
    for (int k = 0; k < n; k++) {
        Spatial S = dof_column(ctx, path[k]);
        to[path[k]] = real_fma(-STAGE_H, spatial_dot(S, F), to[path[k]]);
        dA[path[k]] = spatial_dot(S, inertia_mul(dI, S));
    }
    column_add_diagonal(ctx, g, to);
}

/* Subtracts h S_i of the rate of the implicit gyroscopic wrench. */
STAGE_FN void column_add_gyroscopic(const Context *ctx, real *to, int l, const GyroscopicRates *by) {
    if (!ctx->args->implicit_gyroscopic || !link_has_quaternion(&ctx->args->plan.link[l]))
        return;
    GyroscopicWrench at = gyroscopic_wrench(ctx, l, gyroscopic_inertia(ctx, l), vec3_load(FM(V) + 6 * l), by);
    real h = -STAGE_H;
    column_add_force(ctx, to, l, vec3_zero(), vec3_scale(h, at.force_rate), vec3_scale(h, at.moment_rate));
}

/* The inertia of a point of mass m at c, and its rate when c moves by dc. */
KERNEL_FN Inertia inertia_of_point(real m, Vec3 c) {
    real none[6];
    Mat3 R;
    for (int i = 0; i < 6; i++)
        none[i] = real_of(0);
    R.x = vec3_unit(0);
    R.y = vec3_unit(1);
    R.z = vec3_unit(2);
    return inertia_of_body(m, c, R, none);
}
KERNEL_FN Inertia inertia_of_moved_point(real m, Vec3 c, Vec3 dc) {
    Inertia I;
    real dot = K(2.0) * m * vec3_dot(c, dc);
    I.m = real_of(0);
    I.mc = vec3_scale(m, dc);
    I.xx = dot - K(2.0) * m * c.x * dc.x;
    I.yy = dot - K(2.0) * m * c.y * dc.y;
    I.zz = dot - K(2.0) * m * c.z * dc.z;
    I.xy = -m * (c.x * dc.y + c.y * dc.x);
    I.xz = -m * (c.x * dc.z + c.z * dc.x);
    I.yz = -m * (c.y * dc.z + c.z * dc.y);
    return I;
}

KERNEL_FN Mat3 link_rotation(const Context *ctx, int l) {
    return quat_matrix(quat_load(FM(X) + 7 * l + 3));
}

/* Axis k of the body of link l. */
KERNEL_FN Vec3 link_axis(const Context *ctx, int l, int k) {
    Mat3 R = link_rotation(ctx, l);
    return k == 0 ? R.x : k == 1 ? R.y : R.z;
}

STAGE_FN void input_body_mass(const Context *ctx, const Gradient *g, real *to, int l) {
    column_add_inertia(ctx, g, to, l, inertia_of_point(real_of(1), link_com(ctx, l)));
    column_add_body_weight(ctx, g, to, l, WEIGHT_OF_MASS, 0);
    GyroscopicRates by = gyroscopic_rates_none();
    by.m = real_of(1);
    by.J = inertia_matrix(inertia_of_point(real_of(1), gyroscopic_arm(ctx, l)));
    column_add_gyroscopic(ctx, to, l, &by);
}

STAGE_FN void input_body_com(const Context *ctx, const Gradient *g, real *to, int l, int axis) {
    const SapLink *link = &ctx->args->plan.link[l];
    Vec3 dc = link_axis(ctx, l, axis), zero = vec3_zero();
    real m = field_get(STAGE_CONSTANTS->mass, l, ctx->pack);
    column_add_inertia(ctx, g, to, l, inertia_of_moved_point(m, link_com(ctx, l), dc));
    column_add_body_weight(ctx, g, to, l, WEIGHT_OF_COM, axis);
    if (ctx->args->body_f.data) {
        Vec3 f = buffer_get_vec3(ctx->args->body_f, 6 * link->body, ctx->pack);
        column_add_force(ctx, to, l, zero, zero, vec3_scale(STAGE_H, vec3_cross(dc, f)));
    }
    if (ctx->args->joint_f.data && link->type == SAP_JOINT_FREE) {
        Vec3 f = buffer_get_vec3(ctx->args->joint_f, link->v, ctx->pack);
        column_add_force(ctx, to, l, zero, zero, vec3_scale(STAGE_H, vec3_cross(dc, f)));
    }
    GyroscopicRates by = gyroscopic_rates_none();
    by.r = dc;
    if (link->type == SAP_JOINT_BALL)
        by.J = inertia_matrix(inertia_of_moved_point(m, gyroscopic_arm(ctx, l), dc));
    column_add_gyroscopic(ctx, to, l, &by);
}

/* Number k of the 9 of a matrix; the model reads the upper triangle. */
STAGE_FN void input_body_inertia(const Context *ctx, const Gradient *g, real *to, int l, int k) {
    int row = k / 3, column = k % 3;
    if (row > column)
        return;
    Mat3 R = link_rotation(ctx, l);
    real J[6];
    for (int i = 0; i < 6; i++)
        J[i] = real_of(0);
    J[row == column ? row : row + column + 2] = real_of(1); /* xx yy zz xy xz yz */
    Inertia dI = inertia_of_body(real_of(0), vec3_zero(), R, J);
    column_add_inertia(ctx, g, to, l, dI);
    if (row == column)
        column_add_body_weight(ctx, g, to, l, WEIGHT_OF_INERTIA, row);
    GyroscopicRates by = gyroscopic_rates_none();
    by.J = inertia_matrix(dI);
    column_add_gyroscopic(ctx, to, l, &by);
}

/* ---- contacts ---- */

/* What a parameter changes of a contact: witnesses, velocity points beside them, gap and impulse. */
typedef struct ContactChange {
    Vec3 x0, x1, y, gamma;
    real phi;
} ContactChange;

STAGE_FN void column_add_contact(const Context *ctx, const Gradient *g, real *to, int c, const ContactState *at,
                                 const ContactChange *by) {
    const SapContactArgs *args = &ctx->args->contacts;
    const SapDofIndex *dof = SLOT_SHORTS(dof, c);
    const int *path = SLOT_SETUP_INTS(path, c), *link = SLOT_SETUP_INTS(link, c);
    int n = *SLOT_SHORTS(num_dofs, c);
    Vec3 dy[2] = {by->x0, by->x1}, du = vec3_zero(), zero = vec3_zero();
    if (args->midpoint)
        dy[0] = dy[1] = vec3_add(by->y, vec3_fma(K(1.0) - at->share, by->x1, vec3_scale(at->share, by->x0)));
    for (int b = 0; b < 2; b++)
        if (link[b] >= 0) {
            Vec3 x = vec3_cross(vec3_load(GRAD(Ve) + 6 * link[b]), dy[b]);
            du = b ? vec3_add(du, x) : vec3_sub(du, x);
        }
    real dw = real_of(0);
    if (args->diag_delassus) {
        contact_weight_rates(ctx, g, c, at);
        for (int k = 0; k < n; k++) {
            Vec3 rate = zero;
            for (int b = 0; b < 2; b++)
                if (path[k] >> b & 1) {
                    Vec3 x = vec3_cross(dof_column(ctx, dof[k]).ang, dy[b]);
                    rate = b ? vec3_add(rate, x) : vec3_sub(rate, x);
                }
            dw = real_fma(real_of(2), vec3_dot(vec3_load(GRAD(weight) + 3 * k), rate), dw);
        }
    } else {
        const Vec3 x[2] = {vec3_load(SLOT_SETUP(x0, c)), vec3_load(SLOT_SETUP(x1, c))}, dx[2] = {by->x0, by->x1};
        for (int b = 0; b < 2; b++)
            if (link[b] >= 0)
                dw = dw + body_weight_rate(ctx, link[b], x[b], dx[b], zero);
    }
    real dvhat = -by->phi / (STAGE_H + SLOT_SETUP(pair, c)[2]);
    Vec3 dgamma = law_G_mul(at->G, mat3_mul_transposed(at->C, du));
    dgamma = vec3_add(vec3_sub(vec3_fma(dvhat, at->by_vhat, vec3_scale(dw, at->by_w)), dgamma), by->gamma);
    Vec3 z = mat3_mul(at->C, dgamma);
    mask valid = *SLOT_SETUP(valid, c) != K(0.0);
    for (int b = 0; b < 2; b++) {
        if (link[b] < 0)
            continue;
        Vec3 y = vec3_sub(at->y[b], tree_origin(ctx, link[b]));
        Spatial Z = spatial(vec3_add(vec3_cross(dy[b], at->p), vec3_cross(y, z)), z);
        for (int k = 0; k < n; k++) {
            if (!(path[k] >> b & 1))
                continue;
            real x = real_select(valid, spatial_dot(dof_column(ctx, dof[k]), Z), real_of(0));
            to[dof[k]] = b ? to[dof[k]] + x : to[dof[k]] - x;
        }
    }
}

KERNEL_FN real shape_value(const Context *ctx, SapField field, int shape, double *own, double of_all) {
    return field_get_or(field, shape, contact_fallback(ctx, own, of_all), ctx->pack);
}

STAGE_FN void input_shape(const Context *ctx, const Gradient *g, real *to, int parameter, int shape) {
    const SapContactArgs *args = &ctx->args->contacts;
    const SapConstants *k = STAGE_CONSTANTS;
    real zero = real_of(0), one = real_of(1), h = STAGE_H;
    for (int c = 0; c < ctx->num_slots; c++) {
        const int *own = SLOT_SETUP_INTS(shape, c);
        if (*SLOT_SHORTS(num_dofs, c) == 0 || (own[0] != shape && own[1] != shape))
            continue;
        int side = own[1] == shape, other = own[!side];
        ContactState at = contact_state(ctx, g, c);
        ContactLaw law = *(const ContactLaw *)SLOT(law, c);
        Vec3 n = vec3_load(SLOT_SETUP(frame, c) + 6);
        ContactChange by;
        by.x0 = by.x1 = by.y = by.gamma = vec3_zero();
        by.phi = zero;
        real R_n = one / real_select(law.inv_R_n > zero, law.inv_R_n, one), compliant = one - at.near_rigid;
        real *pair = SLOT_SETUP(pair, c);
        if (parameter == SAP_PARAMETER_SHAPE_MATERIAL_MU) {
            real mu0 = field_get(k->shape_mu, shape, ctx->pack);
            real mu1 = shape_value(ctx, k->shape_mu, other, args->own_fallback_mu, args->fallback_mu);
            real sum = mu0 + mu1;
            mask slippery = sum <= K(1e-12);
            real rate = real_select(slippery, zero, K(2.0) * mu1 * mu1 / real_select(slippery, one, sum * sum));
            by.gamma = vec3_scale(rate, at.by_mu);
        } else if (parameter == SAP_PARAMETER_SHAPE_MATERIAL_KE) {
            real k0 = contact_side_stiffness(ctx, shape), k1 = contact_side_stiffness(ctx, other), sum = k0 + k1;
            mask alone = mask_not(real_finite(k1));
            real rate = real_select(alone, one, k1 * k1 / (sum * sum));
            by.gamma = vec3_scale(-(compliant * R_n * rate / pair[1]), at.by_Rn);
            Vec3 apart = vec3_sub(vec3_load(SLOT_SETUP(x0, c)), vec3_load(SLOT_SETUP(x1, c)));
            real share = real_select(alone, zero, k1 / (sum * sum)); /* of this side grows with its stiffness */
            by.y = vec3_scale(side ? -share : share, apart);
        } else if (parameter == SAP_PARAMETER_SHAPE_MATERIAL_TAU) {
            real per = one / (h + pair[2]);
            by.gamma = vec3_fma(-(law.vhat * per), at.by_vhat, vec3_scale(-(compliant * R_n * per), at.by_Rn));
        } else { /* the margin: the witness moves out */
            by.phi = -one;
            by.x0 = side ? by.x0 : n;
            by.x1 = side ? vec3_scale(-one, n) : by.x1;
        }
        column_add_contact(ctx, g, to, c, &at, &by);
    }
}

/* ---- dofs ---- */

STAGE_FN real input_limit(const Context *ctx, const Gradient *g, int i, int which, int parameter) {
    LimitState d = dof_limit_state(ctx, g, i, which);
    real h = STAGE_H, zero = real_of(0), per = K(1.0) / (h + d.tau);
    if (parameter == SAP_PARAMETER_JOINT_LIMIT_LOWER || parameter == SAP_PARAMETER_JOINT_LIMIT_UPPER)
        return d.at.G * per;
    /* vhat = -+gap/(h + tau), R = 1/(h (h ke + kd)) */
    JointLaw law = gradient_dof_law(ctx, g, i);
    RowLaw row = joint_row(&law, which);
    mask damped = d.kd > zero;
    real by_tau = -(row.vhat * per), dtau, dR;
    real R = K(1.0) / real_select(d.inv_R > zero, d.inv_R, real_of(1));
    if (parameter == SAP_PARAMETER_JOINT_LIMIT_KE) {
        dtau = real_select(damped, -d.tau / d.ke, zero);
        dR = -(h * h * R * R);
    } else {
        dtau = K(1.0) / d.ke;
        dR = -(h * R * R);
    }
    real change = real_fma(by_tau * dtau, d.inv_R, real_select(d.near_rigid, zero, -(d.at.gamma * d.inv_R * dR)));
    return real_select(d.at.free, change, zero);
}

STAGE_FN real input_drive(const Context *ctx, const Gradient *g, int i, int kind) {
    if (!ctx->args->plan.dof_driven[i])
        return real_of(0);
    DriveState d = dof_drive_state(ctx, g, i);
    real h = STAGE_H, zero = real_of(0), v = GRAD(v)[i], one = real_of(1);
    real g0 = real_fma(h, d.given_kp, d.given_kd), per = one / real_select(g0 > zero, g0, one);
    real pull = (d.given_kp * d.error + d.given_kd * d.v_d) * per, scaled = h * real_fma(h, d.kp, d.kd) * per;
    switch (kind) {
    case SAP_INPUT_TARGET_POS: return real_select(d.at.free, h * d.kp, zero);
    case SAP_INPUT_TARGET_VEL: return real_select(d.at.free, h * d.kd, zero);
    case SAP_INPUT_ACT: return real_select(d.at.free, h, zero);
    case SAP_INPUT_PARAMETER + SAP_PARAMETER_JOINT_TARGET_KE:
        return real_select(d.at.free, real_select(d.softened, scaled * (d.error - h * pull), h * (d.error - h * v)),
                           zero);
    case SAP_INPUT_PARAMETER + SAP_PARAMETER_JOINT_TARGET_KD:
        return real_select(d.at.free, real_select(d.softened, scaled * (d.v_d - pull), h * (d.v_d - v)), zero);
    default: /* the effort limit, where it holds the drive */
        return real_select(mask_not(d.at.free) & real_finite(d.bound) & (d.at.gamma != zero),
                           real_select(d.at.gamma < zero, -h, h), zero);
    }
}

/* A number of internal dof i. */
STAGE_FN void input_dof(const Context *ctx, const Gradient *g, real *to, int i, int kind) {
    real h = STAGE_H, zero = real_of(0), *dA = GRAD(dA), v = GRAD(v)[i];
    for (int j = 0; j < ctx->args->plan.nv; j++)
        dA[j] = zero;
    switch (kind) {
    case SAP_INPUT_PARAMETER + SAP_PARAMETER_JOINT_ARMATURE:
        dA[i] = real_of(1);
        to[i] = -(v - FM(v0)[i]);
        column_add_diagonal(ctx, g, to);
        break;
    case SAP_INPUT_PARAMETER + SAP_PARAMETER_JOINT_DAMPING:
        dA[i] = h;
        to[i] = -(h * v);
        column_add_diagonal(ctx, g, to);
        break;
    case SAP_INPUT_PARAMETER + SAP_PARAMETER_JOINT_FRICTION: {
        LawState f = dof_friction_state(ctx, g, i);
        to[i] = real_select(mask_not(f.free) & (f.gamma != zero), real_select(f.gamma < zero, -h, h), zero);
        break;
    }
    case SAP_INPUT_PARAMETER + SAP_PARAMETER_JOINT_LIMIT_LOWER:
        to[i] =
            ctx->args->plan.dof_limited[i] ? input_limit(ctx, g, i, JOINT_ROW_LOWER, kind - SAP_INPUT_PARAMETER) : zero;
        break;
    case SAP_INPUT_PARAMETER + SAP_PARAMETER_JOINT_LIMIT_UPPER:
        to[i] =
            ctx->args->plan.dof_limited[i] ? input_limit(ctx, g, i, JOINT_ROW_UPPER, kind - SAP_INPUT_PARAMETER) : zero;
        break;
    case SAP_INPUT_PARAMETER + SAP_PARAMETER_JOINT_LIMIT_KE:
    case SAP_INPUT_PARAMETER + SAP_PARAMETER_JOINT_LIMIT_KD:
        for (int side = 0; ctx->args->plan.dof_limited[i] && side < 2; side++)
            to[i] =
                to[i] + input_limit(ctx, g, i, side ? JOINT_ROW_UPPER : JOINT_ROW_LOWER, kind - SAP_INPUT_PARAMETER);
        break;
    default: to[i] = input_drive(ctx, g, i, kind); break;
    }
}

/* joint_f of internal dof i: a free joint's force acts at the centre of mass. */
STAGE_FN void input_joint_f(const Context *ctx, const Gradient *g, real *to, int i) {
    const SapLink *link = dof_link(ctx, i);
    (void)g;
    to[i] = STAGE_H;
    int k = i - link->v;
    if (link->type == SAP_JOINT_FREE && k >= 3)
        vec3_store(to + link->v,
                   vec3_scale(STAGE_H, vec3_cross(free_joint_arm(ctx, dof_link(ctx, i) - ctx->args->plan.link, FM(q)),
                                                  vec3_unit(k - 3))));
}

/* ---- tendons and constraints ---- */

STAGE_FN void input_tendon(const Context *ctx, const Gradient *g, real *to, int t, int kind) {
    const SapPlan *plan = &ctx->args->plan;
    for (int number = 0; number < NUM_MODEL_CONSTRAINTS; number++) {
        const SapModelConstraint *b = &plan->block[number];
        if (b->kind != SAP_BLOCK_TENDON || b->index != t)
            continue;
        real h = STAGE_H, s = h, zero = real_of(0), w = *BLOCK(w, b);
        if (kind != SAP_INPUT_TENDON_F) {
            if (!plan->tendon_driven[t])
                return;
            LawState at = law_state(BLOCK_LAW(b, 0, SAP_TENDON_DRIVE), block_speed(ctx, g, b, 0));
            real kp = field_get(STAGE_CONSTANTS->tendon_target_ke, t, ctx->pack);
            real kd = field_get(STAGE_CONSTANTS->tendon_target_kd, t, ctx->pack);
            drive_effective_gains(h, w, &kp, &kd);
            s = kind == SAP_INPUT_TENDON_TARGET_POS ? h * kp : kind == SAP_INPUT_TENDON_TARGET_VEL ? h * kd : h;
            s = real_select(at.free, s, zero);
        }
        for (int k = 0; k < b->num_columns; k++)
            to[block_dofs(ctx, b)[k]] = s * BLOCK(J, b)[k];
    }
}

/* Stiffness, damping or length of constraint n. */
STAGE_FN void input_constraint(const Context *ctx, const Gradient *g, real *to, int n, int column, int parameter) {
    const SapPlan *plan = &ctx->args->plan;
    for (int number = 0; number < NUM_MODEL_CONSTRAINTS; number++) {
        const SapModelConstraint *b = &plan->block[number];
        if (b->kind == SAP_BLOCK_TENDON || b->index != n)
            continue;
        real h = STAGE_H, zero = real_of(0);
        for (int r = 0; r < b->rows; r++) {
            ErrorState e = constraint_row_state(ctx, g, b, r);
            int which = b->kind == SAP_BLOCK_WELD && r < 3;
            real x = zero, per = K(1.0) / (h + e.tau), vhat = BLOCK_LAW(b, r, 0)->vhat, R = BLOCK_LAW(b, r, 0)->R;
            if (parameter == SAP_PARAMETER_CONSTRAINT_LENGTH) {
                x = b->kind == SAP_BLOCK_DISTANCE ? -error_by_g(&e, h) : zero;
            } else if (which == column) {
                bool is_ke = parameter == SAP_PARAMETER_CONSTRAINT_KE;
                real dtau = is_ke ? -e.tau / e.ke : K(1.0) / e.ke, dR = -(is_ke ? h * h : h) * R * R;
                real by_tau = real_select(e.clamped, zero, -(vhat * per));
                x = real_fma(by_tau * dtau, e.inv_R, -(e.at.gamma * e.inv_R * dR));
                x = real_select(e.near_rigid | mask_not(real_finite(e.ke)), zero, x);
            }
            x = real_select(e.at.free, x, zero);
            for (int k = 0; k < b->num_columns; k++) {
                int i = block_dofs(ctx, b)[k];
                to[i] = real_fma(x, BLOCK(J, b)[b->rows * k + r], to[i]);
            }
        }
    }
}

/* ---- all ---- */

KERNEL_FN int internal_dof(const SapPlan *plan, int place) {
    for (int i = 0; i < plan->nv; i++)
        if (plan->dof_public[i] == place)
            return i;
    return 0;
}

STAGE_FN void input_parameter(const Context *ctx, const Gradient *g, real *to, int parameter, int i) {
    const SapPlan *plan = &ctx->args->plan;
    switch (parameter) {
    case SAP_PARAMETER_GRAVITY:
        for (int k = 0; k < plan->nv; k++) {
            const real *weight = GRAD(gravity) + 4 * plan->tree.row[k].link;
            Vec3 e = vec3_unit(i);
            Spatial W = spatial(vec3_cross(vec3_load(weight + 1), e), vec3_scale(weight[0], e));
            to[k] = STAGE_H * spatial_dot(dof_column(ctx, k), W);
        }
        break;
    case SAP_PARAMETER_BODY_MASS: input_body_mass(ctx, g, to, plan->body_link[i]); break;
    case SAP_PARAMETER_BODY_COM: input_body_com(ctx, g, to, plan->body_link[i / 3], i % 3); break;
    case SAP_PARAMETER_BODY_INERTIA: input_body_inertia(ctx, g, to, plan->body_link[i / 9], i % 9); break;
    case SAP_PARAMETER_BODY_GRAVCOMP: {
        int l = plan->body_link[i];
        Vec3 gravity = field_get_vec3(STAGE_CONSTANTS->gravity, 0, ctx->pack);
        real m = -STAGE_H * field_get(STAGE_CONSTANTS->mass, l, ctx->pack);
        column_add_force(ctx, to, l, link_com(ctx, l), vec3_scale(m, gravity), vec3_zero());
        break;
    }
    case SAP_PARAMETER_SHAPE_MATERIAL_MU:
    case SAP_PARAMETER_SHAPE_MATERIAL_KE:
    case SAP_PARAMETER_SHAPE_MATERIAL_TAU:
    case SAP_PARAMETER_SHAPE_MARGIN: input_shape(ctx, g, to, parameter, i); break;
    case SAP_PARAMETER_SHAPE_GAP: break; /* it decides which contacts there are, not their forces */
    case SAP_PARAMETER_CONSTRAINT_LENGTH: input_constraint(ctx, g, to, i, 0, parameter); break;
    case SAP_PARAMETER_CONSTRAINT_KE:
    case SAP_PARAMETER_CONSTRAINT_KD: input_constraint(ctx, g, to, i / 2, i % 2, parameter); break;
    default: input_dof(ctx, g, to, internal_dof(plan, i), SAP_INPUT_PARAMETER + parameter); break;
    }
}

/* -dg of number i of an array of inputs. */
STAGE_FN void input_column(const Context *ctx, const Gradient *g, real *to, int kind, int i) {
    const SapPlan *plan = &ctx->args->plan;
    switch (kind) {
    case SAP_INPUT_JOINT_F: input_joint_f(ctx, g, to, internal_dof(plan, i)); break;
    case SAP_INPUT_TARGET_POS:
    case SAP_INPUT_TARGET_VEL:
    case SAP_INPUT_ACT: input_dof(ctx, g, to, internal_dof(plan, i), kind); break;
    case SAP_INPUT_BODY_F: {
        int l = plan->body_link[i / 6], k = i % 6;
        Vec3 e = vec3_scale(STAGE_H, vec3_unit(k % 3)), zero = vec3_zero();
        column_add_force(ctx, to, l, link_com(ctx, l), k < 3 ? e : zero, k < 3 ? zero : e);
        break;
    }
    case SAP_INPUT_TENDON_F:
    case SAP_INPUT_TENDON_TARGET_POS:
    case SAP_INPUT_TENDON_TARGET_VEL:
    case SAP_INPUT_TENDON_ACT: input_tendon(ctx, g, to, i, kind); break;
    default: input_parameter(ctx, g, to, kind - SAP_INPUT_PARAMETER, i); break;
    }
}

STAGE_FN void gradient_inputs(const Context *ctx, const Gradient *g) {
    int nv = ctx->args->plan.nv;
    for (int a = 0; a < g->args->num_arrays; a++) {
        const SapInput *in = &g->args->array[a];
        for (int i = 0; i < in->count; i++) {
            real *to = GRAD(input) + (in->first + i) * nv;
            for (int k = 0; k < nv; k++)
                to[k] = real_of(0);
            input_column(ctx, g, to, in->kind, i);
        }
    }
}

/* The free joint whose centre of mass an input moves, or NULL: its velocity refers to it. *axis: in the world. */
KERNEL_FN const SapLink *input_moves_com(const Context *ctx, const SapInput *in, int i, int *l, Vec3 *axis) {
    if (in->kind != SAP_INPUT_PARAMETER + SAP_PARAMETER_BODY_COM)
        return 0;
    *l = ctx->args->plan.body_link[i / 3];
    *axis = link_axis(ctx, *l, i % 3);
    const SapLink *link = &ctx->args->plan.link[*l];
    return link->type == SAP_JOINT_FREE ? link : 0;
}
