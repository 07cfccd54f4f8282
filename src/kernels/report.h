/* What the solve tells: per world how it ended, per contact and dof what acted, all at the velocity that was returned. */

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

/* n numbers of slot c, from consecutive reals, to the place of its record. */
STAGE_FN void report_slot(const Context *ctx, double *data, int c, const real *x, int n, mask which) {
    if (!data)
        return;
    SapRows rows;
    rows.data = data;
    rows.stride = (long long)ctx->args->contacts.capacity * n;
    rows.is_f64 = 1;
    for (int i = 0; i < n; i++)
        row_scatter(rows, SLOT_INTS(record, c), n, i, x[i], which, ctx->pack);
}

/* J as three dense rows over the dofs; zero off the paths. */
STAGE_FN void report_jacobian(const Context *ctx, int c, mask which) {
    double *data = ctx->args->report.jacobian;
    if (!data)
        return;
    int nv = ctx->args->plan.nv;
    SapRows rows;
    rows.data = data;
    rows.stride = (long long)ctx->args->contacts.capacity * 3 * nv;
    rows.is_f64 = 1;
    for (int i = 0; i < nv; i++) {
        int k = SLOT_INTS(place, c)[i];
        for (int axis = 0; axis < 3; axis++)
            row_scatter(rows, SLOT_INTS(record, c), 3 * nv, axis * nv + i,
                        k < 0 ? real_of(0) : SLOT(J, c)[3 * k + axis], which, ctx->pack);
    }
}

STAGE_FN void report_contact(const Context *ctx, int c, mask mine) {
    const SapReportArgs *r = &ctx->args->report;
    mask which = mine & (*SLOT(valid, c) != K(0.0));
    ContactLaw law = contact_law_load(SLOT(law, c));
    ContactTrial trial = contact_law_trial(&law, vec3_load(SLOT(vc, c)));
    real region = contact_law_region(&trial), position[3];
    for (int i = 0; i < 3; i++)
        position[i] = K(0.5) * (SLOT(x0, c)[i] + SLOT(x1, c)[i]);
    if (r->region) {
        FOR_LANES(l) {
            if (mask_lane(which, l))
                r->region[(long long)ctx->pack->world[l] * ctx->args->contacts.capacity + SLOT_INTS(record, c)[l]] =
                    (int)LANE(region, l);
        }
    }
    report_slot(ctx, r->impulse, c, SLOT(gamma, c), 3, which);
    report_slot(ctx, r->velocity, c, SLOT(vc, c), 3, which);
    report_slot(ctx, r->frame, c, SLOT(frame, c), 9, which);
    report_slot(ctx, r->gap, c, SLOT(phi0, c), 1, which);
    report_slot(ctx, r->weight, c, SLOT(w, c), 1, which);
    report_slot(ctx, r->pair, c, SLOT(pair, c), 3, which);
    report_slot(ctx, r->position, c, position, 3, which);
    report_jacobian(ctx, c, which);
}

STAGE_FN void report_joint(const Context *ctx, int i, mask mine) {
    const SapReportArgs *r = &ctx->args->report;
    JointTerms terms = problem_joint_terms(ctx, i, DOF(v)[i]);
    SapRows rows;
    rows.stride = ctx->args->plan.nv;
    rows.is_f64 = 1;
    double *const data[3] = {r->drive, r->limit, r->friction};
    const real value[3] = {terms.drive, terms.limit, terms.friction};
    for (int k = 0; k < 3; k++) {
        rows.data = data[k];
        if (data[k])
            row_put(rows, i, value[k], mine, ctx->pack);
    }
}

STAGE_FN void report_world(const Context *ctx, const Newton *n, mask mine) {
    const SapReportArgs *r = &ctx->args->report;
    TEAM_FOR(once, 1) {
        (void)once;
        report_ints(ctx, r->iterations, n->iterations, mine);
        report_ints(ctx, r->line_iterations, n->line_iterations, mine);
        report_ints(ctx, r->refactored, n->refactored, mine);
        report_reals(ctx, r->cost, n->cost, mine);
        /* relative to what the optimality test compares it with */
        report_reals(ctx, r->residual, n->residual / real_max(n->residual_scale, real_of(K(1e-30))), mine);
    }
    if (r->drive || r->limit || r->friction)
        TEAM_FOR(i, ctx->args->plan.nv)
            report_joint(ctx, i, mine);
    TEAM_FOR(c, ctx->num_slots)
        report_contact(ctx, c, mine);
}
