/* Reports of the solve: results per world, and impulses and geometry per contact and dof, at the velocity that the
 * solve returns. Each step writes all elements of a report; contacts that do not act have zeros. */

STAGE_FN void report_ints(const Context *ctx, int *data, real x, mask which) {
    if (!data)
        return;
    FOR_LANES(l) {
        if (mask_lane(which, l))
            data[ctx->pack->world[l]] = (int)LANE(x, l);
    }
}

STAGE_FN void report_reals(const Context *ctx, double *data, real x, mask which) {
    if (!data)
        return;
    FOR_LANES(l) {
        if (mask_lane(which, l))
            data[ctx->pack->world[l]] = (double)LANE(x, l);
    }
}

/* Writes n consecutive reals of slot c to the element of its record. */
STAGE_FN void report_slot(const Context *ctx, double *data, int c, const real *x, int n, mask which) {
    if (!data)
        return;
    SapBuffer buffer = buffer_f64(data, ctx->args->contacts.capacity * n);
    for (int i = 0; i < n; i++)
        buffer_scatter(buffer, SLOT_SETUP_INTS(record, c), n, i, x[i], which, ctx->pack);
}

/* Writes J of slot c as three dense rows over the dofs; zero off the paths. */
STAGE_FN void report_jacobian(const Context *ctx, int c, mask which) {
    double *data = ctx->args->report.jacobian;
    if (!data)
        return;
    int nv = ctx->args->plan.nv;
    SapBuffer buffer = buffer_f64(data, ctx->args->contacts.capacity * 3 * nv);
    for (int i = 0; i < nv; i++) {
        int k = constraint_column(ctx, c, i);
        for (int axis = 0; axis < 3; axis++)
            buffer_scatter(buffer, SLOT_SETUP_INTS(record, c), 3 * nv, axis * nv + i,
                           k < 0 ? real_of(0) : view_get(SLOT_J_VIEW(c), CONTACT_ROWS * k + axis), which, ctx->pack);
    }
}

/* The force of slot c on body 1, world axes: (t1 gamma_1 + t2 gamma_2 + n gamma_3) / h. */
KERNEL_FN Vec3 report_force(const Context *ctx, int c) {
    const real *gamma = SLOT(gamma, c), *C = SLOT_SETUP(frame, c);
    Vec3 impulse = vec3_scale(gamma[0], vec3_load(C));
    impulse = vec3_fma(gamma[1], vec3_load(C + 3), impulse);
    impulse = vec3_fma(gamma[2], vec3_load(C + 6), impulse);
    return vec3_scale(K(1.0) / STAGE_H, impulse);
}

/* The torque of slot c on body 1 in addition to its force's, world axes; contacts of three rows have none. */
KERNEL_FN Vec3 report_torque(const Context *ctx, int c) {
    if (CONTACT_ROWS == 3)
        return vec3_zero();
    const real *gamma = SLOT(gamma, c), *C = SLOT_SETUP(frame, c);
    Vec3 impulse = vec3_scale(gamma[3], vec3_load(C));
    impulse = vec3_fma(gamma[4], vec3_load(C + 3), impulse);
    impulse = vec3_fma(gamma[5], vec3_load(C + 6), impulse);
    return vec3_scale(K(1.0) / STAGE_H, impulse);
}

/* The point where the force of slot c acts: midway between the witnesses. */
KERNEL_FN Vec3 report_position(const Context *ctx, int c) {
    return vec3_scale(real_of(K(0.5)), vec3_add(vec3_load(SLOT_SETUP(x0, c)), vec3_load(SLOT_SETUP(x1, c))));
}

/* The centre of mass of link l at the beginning of the step, where the contacts are. */
KERNEL_FN Vec3 report_centre(const Context *ctx, int l) {
    Pose X = body_pose(ctx, l);
    return vec3_add(X.p, quat_rotate(X.q, field_get_vec3(STAGE_CONSTANTS->com, 3 * l, ctx->pack)));
}

/* The wrench of all contacts on the body of link l: force, and torque about the centre of mass, summed in the
 * order of slots. */
STAGE_FN void report_wrench(const Context *ctx, int l, mask mine) {
    SapBuffer buffer = buffer_f64(ctx->args->report.wrench, 6 * ctx->args->plan.nb);
    Vec3 centre = report_centre(ctx, l), force = vec3_zero(), torque = vec3_zero();
    for (int c = 0; c < ctx->num_slots; c++) {
        for (int side = 0; side < 2; side++) {
            if (SLOT_SETUP_INTS(link, c)[side] != l)
                continue;
            mask which = *SLOT_SETUP(valid, c) != K(0.0);
            Vec3 f = vec3_scale(real_of(side == 0 ? -1 : 1), report_force(ctx, c));
            Vec3 t = vec3_cross(vec3_sub(report_position(ctx, c), centre), f);
            force = vec3_select(which, vec3_add(force, f), force);
            if (CONTACT_ROWS > 3)
                t = vec3_fma(real_of(side == 0 ? -1 : 1), report_torque(ctx, c), t);
            torque = vec3_select(which, vec3_add(torque, t), torque);
        }
    }
    int at = 6 * ctx->args->plan.link[l].body;
    buffer_put_vec3(buffer, at, force, mine, ctx->pack);
    buffer_put_vec3(buffer, at + 3, torque, mine, ctx->pack);
}

/* Sets n numbers of record k to 0. */
STAGE_FN void report_clear(const Context *ctx, double *data, int k, int n, mask mine) {
    if (!data)
        return;
    SapBuffer buffer = buffer_f64(data, ctx->args->contacts.capacity * n);
    for (int i = 0; i < n; i++)
        buffer_put(buffer, n * k + i, real_of(0), mine, ctx->pack);
}

/* Clears the report of record k, which the slot that acts for it then writes. */
STAGE_FN void report_clear_contact(const Context *ctx, int k, mask mine) {
    const SapReportArgs *r = &ctx->args->report;
    if (r->region) {
        FOR_LANES(l) {
            if (mask_lane(mine, l))
                r->region[(long long)ctx->pack->world[l] * ctx->args->contacts.capacity + k] = 0;
        }
    }
    report_clear(ctx, r->impulse, k, 3, mine);
    report_clear(ctx, r->velocity, k, 3, mine);
    report_clear(ctx, r->frame, k, 9, mine);
    report_clear(ctx, r->gap, k, 1, mine);
    report_clear(ctx, r->weight, k, 1, mine);
    report_clear(ctx, r->pair, k, 3, mine);
    report_clear(ctx, r->position, k, 3, mine);
    report_clear(ctx, r->force, k, 3, mine);
    report_clear(ctx, r->jacobian, k, 3 * ctx->args->plan.nv, mine);
    if (r->extra) {
        report_clear(ctx, r->extra->lagged_impulse, k, 1, mine);
        report_clear(ctx, r->extra->slip_width, k, 1, mine);
    }
}

/* Writes what the law of slot c has of the start of the step. */
STAGE_FN void report_contact_slip(const Context *ctx, int c, mask which) {
    const SapExtraReport *r = ctx->args->report.extra;
    real impulse, width;
    if (!r || !report_slip(ctx, c, &impulse, &width))
        return;
    report_slot(ctx, r->lagged_impulse, c, &impulse, 1, which);
    report_slot(ctx, r->slip_width, c, &width, 1, which);
}

/* Writes where a contact within its gap is. */
STAGE_FN void report_contact_in_gap(const Context *ctx, int c, mask mine) {
    const SapReportArgs *r = &ctx->args->report;
    real position[3], frame[9], gap;
    if (!r->position && !r->frame && !r->gap)
        return;
    mask which = mine & report_gap(ctx, c, position, frame, &gap);
    if (!mask_any(which))
        return;
    report_slot(ctx, r->position, c, position, 3, which);
    report_slot(ctx, r->frame, c, frame, 9, which);
    report_slot(ctx, r->gap, c, &gap, 1, which);
}

/* Writes the report of slot c. */
STAGE_FN void report_contact(const Context *ctx, int c, mask mine) {
    const SapReportArgs *r = &ctx->args->report;
    mask which = mine & (*SLOT_SETUP(valid, c) != K(0.0));
    real region = report_region(ctx, c), position[3], force[3];
    vec3_store(position, report_position(ctx, c));
    vec3_store(force, report_force(ctx, c));
    if (r->region) {
        FOR_LANES(l) {
            if (mask_lane(which, l))
                r->region[(long long)ctx->pack->world[l] * ctx->args->contacts.capacity +
                          SLOT_SETUP_INTS(record, c)[l]] = (int)LANE(region, l);
        }
    }
    report_slot(ctx, r->impulse, c, SLOT(gamma, c), 3, which);
    report_slot(ctx, r->velocity, c, SLOT(vc, c), 3, which);
    report_slot(ctx, r->frame, c, SLOT_SETUP(frame, c), 9, which);
    report_slot(ctx, r->gap, c, SLOT_SETUP(phi0, c), 1, which);
    report_slot(ctx, r->weight, c, SLOT_SETUP(w, c), 1, which);
    report_slot(ctx, r->pair, c, SLOT_SETUP(pair, c), 3, which);
    report_slot(ctx, r->position, c, position, 3, which);
    report_slot(ctx, r->force, c, force, 3, which);
    report_jacobian(ctx, c, which);
    report_contact_slip(ctx, c, which);
    report_contact_in_gap(ctx, c, mine);
}

/* Writes the impulses of the terms of dof i. */
STAGE_FN void report_joint(const Context *ctx, int i, mask mine) {
    const SapReportArgs *r = &ctx->args->report;
    JointTerms terms = report_joint_terms(ctx, i);
    double *const data[3] = {r->drive, r->limit, r->friction};
    const real value[3] = {terms.drive, terms.limit, terms.friction};
    for (int k = 0; k < 3; k++)
        if (data[k])
            buffer_put(buffer_f64(data[k], ctx->args->plan.nv), i, value[k], mine, ctx->pack);
}

/* Forces on the dofs of link l in public order: of a free joint [f ; tau about the centre of mass], where the solve has
 * [tau about the origin ; f]. `constrained`: worlds that had a problem. */
STAGE_FN void report_link_forces(const Context *ctx, int l, mask constrained, mask mine) {
    const SapExtraReport *r = ctx->args->report.extra;
    const SapLink *link = &ctx->args->plan.link[l];
    double *const data[4] = {r->joint_drive, r->joint_limit, r->joint_friction, r->joint_constraint};
    real force[4][6], per_h = K(1.0) / STAGE_H;
    int n = link->nlin + link->nang;
    for (int i = 0; i < n; i++) {
        JointTerms terms = report_joint_terms(ctx, link->v + i);
        force[0][i] = per_h * terms.drive;
        force[1][i] = per_h * terms.limit;
        force[2][i] = per_h * terms.friction;
        force[3][i] = real_select(constrained, per_h * SOLVE(impulse)[link->v + i], real_of(0));
    }
    for (int k = 0; k < 4; k++) {
        if (!data[k])
            continue;
        if (link->type == SAP_JOINT_FREE) {
            Vec3 tau = vec3_load(force[k]), f = vec3_load(force[k] + 3);
            Vec3 arm = vec3_sub(report_centre(ctx, l), body_pose(ctx, l).p);
            vec3_store(force[k], f);
            vec3_store(force[k] + 3, vec3_sub(tau, vec3_cross(arm, f)));
        }
        for (int i = 0; i < n; i++)
            buffer_put(buffer_f64(data[k], ctx->args->plan.nv), link->v + i, force[k][i], mine, ctx->pack);
    }
}

/* Sums the impulse of all terms again where a direction has its memory (SapProblemLayout): a method may end after a
 * direction that it does not take. */
STAGE_FN void report_sum_impulse(const Context *ctx) {
    if (ctx->args->problem.impulse != ctx->args->newton.layout.d)
        return;
    TEAM_SYNC(); /* every thread has read the sums of the last evaluation */
    TEAM_FOR(i, ctx->args->plan.nv)
        SOLVE(impulse)[i] = HAS_DOF_TERMS ? SOLVE(dof_gamma)[i] : real_of(0);
    terms_add_impulse(ctx);
    TEAM_SYNC(); /* links read the sums of their dofs */
}

KERNEL_FN bool report_asked_for_contacts(const SapReportArgs *r) {
    return r->impulse || r->velocity || r->frame || r->gap || r->weight || r->pair || r->position || r->force ||
           r->jacobian || r->region || (r->extra && (r->extra->lagged_impulse || r->extra->slip_width));
}

KERNEL_FN bool report_asked_for_joints(const SapExtraReport *r) {
    return r->joint_drive || r->joint_limit || r->joint_friction || r->joint_constraint;
}

/* Writes all reports of the pack's worlds. `constrained`: those that had a problem. */
STAGE_FN void report_world(const Context *ctx, const SolveResult *n, mask constrained, mask mine) {
    const SapReportArgs *r = &ctx->args->report;
    TEAM_ONCE() {
        report_ints(ctx, r->iterations, n->iterations, mine);
        report_ints(ctx, r->line_iterations, n->inner_iterations, mine);
        report_ints(ctx, r->f64_retries, n->f64_retries, mine);
        report_reals(ctx, r->cost, n->cost, mine);
        /* relative to max(|D A v|, |D j|), as in the optimality test */
        report_reals(ctx, r->residual, n->residual / real_max(n->residual_scale, real_of(K(1e-30))), mine);
    }
    if (REPORTS && (r->drive || r->limit || r->friction))
        TEAM_FOR(i, ctx->args->plan.nv)
            report_joint(ctx, i, mine);
    if (REPORTS && r->extra && r->extra->joint_constraint)
        report_sum_impulse(ctx);
    if (REPORTS && r->extra && report_asked_for_joints(r->extra))
        TEAM_FOR(l, ctx->args->plan.nl)
            report_link_forces(ctx, l, constrained, mine);
    if (REPORTS && report_asked_for_contacts(r)) {
        TEAM_FOR(k, ctx->args->contacts.capacity)
            report_clear_contact(ctx, k, mine);
        TEAM_SYNC(); /* slots write the records that other threads cleared */
        TEAM_FOR(c, ctx->num_slots)
            report_contact(ctx, c, mine);
    }
    if (REPORTS && r->wrench)
        TEAM_FOR(l, ctx->args->plan.nl)
            report_wrench(ctx, l, mine);
}

/* SAP_WORLD_DEEP_CONTACT where a contact is deeper than the bound of one of its bodies. */
STAGE_FN bits report_depths(const Context *ctx) {
    const SapLink *link = ctx->args->plan.link;
    bits none = real_bits(real_of(0)), status = none;
    for (int c = 0; c < ctx->num_slots; c++) {
        const int *side = SLOT_SETUP_INTS(link, c);
        for (int i = 0; i < 2; i++) {
            scalar bound = side[i] < 0 ? 0 : (scalar)link[side[i]].max_depth;
            mask deep = *SLOT_SETUP(phi0, c) < -bound;
            if (bound > 0)
                status = status | bits_select(deep, none + SAP_WORLD_DEEP_CONTACT, none);
        }
    }
    return status;
}
