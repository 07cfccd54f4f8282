/* Reports of the model's constraints and tendons, at the velocity that the solve returns. Errors and points are those
 * of the beginning of the step. */

/* Writes x to element i of the rows of an array [num_worlds][n] of f64, if the array is present. */
KERNEL_FN void report_put(const Context *ctx, double *data, int n, int i, real x, mask mine) {
    if (data)
        buffer_put(buffer_f64(data, n), i, x, mine, ctx->pack);
}

/* ---- rows ---- */

/* Row r of a constraint. The law of an inactive constraint is 0. */
STAGE_FN void report_row(const Context *ctx, const SapModelConstraint *b, int r, mask mine) {
    const SapReportArgs *report = &ctx->args->report;
    const SapPlan *plan = &ctx->args->plan;
    int n = plan->num_rows, i = b->first_row + r, nv = plan->nv, own = report_block_row(b, r);
    report_put(ctx, report->row_impulse, n, i, BLOCK(gamma, b)[own], mine);
    report_put(ctx, report->row_error, n, i, BLOCK(g, b)[own], mine);
    report_put(ctx, report->row_velocity, n, i, report_block_velocity(ctx, b, own), mine);
    report_put(ctx, report->row_weight, n, i, BLOCK(w, b)[own], mine);
    report_put(ctx, report->row_target, n, i, BLOCK_LAW(b, own, 0)->vhat, mine);
    report_put(ctx, report->row_R, n, i, BLOCK_LAW(b, own, 0)->R, mine);
    for (int k = 0; report->row_jacobian && k < nv; k++)
        report_put(ctx, report->row_jacobian, n * nv, i * nv + k, real_of(0), mine);
    for (int j = 0; report->row_jacobian && j < b->num_columns; j++)
        report_put(ctx, report->row_jacobian, n * nv, i * nv + block_dofs(ctx, b)[j], BLOCK(J, b)[b->rows * j + own],
                   mine);
}

/* ---- wrenches ---- */

/* The wrench of a constraint on the body of one side: force, and torque about its centre of mass. */
typedef struct BlockWrench {
    Vec3 force, torque;
} BlockWrench;

STAGE_FN BlockWrench block_wrench(const Context *ctx, const SapModelConstraint *b, int side) {
    BlockFrames f = block_frames(ctx, b);
    const real *gamma = BLOCK(gamma, b);
    real scale = real_of(side == 0 ? -1 : 1) / STAGE_H;
    Vec3 impulse, moment = vec3_zero(), at = f.X[side].p;
    switch (b->kind) {
    case SAP_BLOCK_WELD: report_weld(ctx, b, &f, side, &impulse, &moment, &at); break;
    case SAP_BLOCK_DISTANCE: {
        Vec3 along = vec3_sub(f.X[1].p, f.X[0].p);
        real d = real_sqrt(vec3_dot(along, along));
        impulse = vec3_scale(*gamma / real_select(d > K(0.0), d, real_of(1)), along);
        break;
    }
    default: impulse = vec3_load(gamma); break;
    }
    BlockWrench w;
    w.force = vec3_scale(scale, impulse);
    Vec3 centre = b->link[side] < 0 ? at : vec3_sub(report_centre(ctx, b->link[side]), f.origin);
    w.torque = vec3_cross_add(vec3_sub(at, centre), w.force, vec3_scale(scale, moment));
    return w;
}

/* The wrench on b; of a coupler, the generalised forces on x0 and x1. */
STAGE_FN void report_constraint_wrench(const Context *ctx, const SapModelConstraint *b, mask mine) {
    SapBuffer buffer = buffer_f64(ctx->args->report.constraint_wrench, 6 * ctx->args->plan.num_constraints);
    BlockWrench w = {vec3_zero(), vec3_zero()};
    if (b->kind == SAP_BLOCK_COUPLER) {
        real slope = real_of(0), x1 = real_of(0), f = *BLOCK(gamma, b) / STAGE_H;
        if (b->coordinate[1] >= 0)
            x1 = coordinate_value(ctx, b->coordinate[1]) -
                 field_get(STAGE_CONSTANTS->constraint_reference, 2 * b->index + 1, ctx->pack);
        coupler_polynomial(ctx, b, x1, &slope);
        w.force = vec3(f, b->coordinate[1] >= 0 ? -(slope * f) : real_of(0), real_of(0));
    } else {
        w = block_wrench(ctx, b, 1);
    }
    buffer_put_vec3(buffer, 6 * b->index, w.force, mine, ctx->pack);
    buffer_put_vec3(buffer, 6 * b->index + 3, w.torque, mine, ctx->pack);
}

/* The sum over the constraints of the body of link l, in their order. */
STAGE_FN void report_body_constraint_wrench(const Context *ctx, int l, mask mine) {
    const SapPlan *plan = &ctx->args->plan;
    SapBuffer buffer = buffer_f64(ctx->args->report.body_constraint_wrench, 6 * plan->nb);
    Vec3 force = vec3_zero(), torque = vec3_zero();
    for (int c = 0; c < plan->num_constraints; c++)
        for (int side = 0; side < 2; side++) {
            if (plan->block[c].link[side] != l)
                continue;
            BlockWrench w = block_wrench(ctx, &plan->block[c], side);
            force = vec3_add(force, w.force);
            torque = vec3_add(torque, w.torque);
        }
    buffer_put_vec3(buffer, 6 * plan->link[l].body, force, mine, ctx->pack);
    buffer_put_vec3(buffer, 6 * plan->link[l].body + 3, torque, mine, ctx->pack);
}

/* The largest |g| of active constraints with both sides. */
STAGE_FN void report_constraint_residual(const Context *ctx, mask mine) {
    const SapPlan *plan = &ctx->args->plan;
    real largest = real_of(0);
    for (int c = 0; c < plan->num_constraints; c++) {
        const SapModelConstraint *b = &plan->block[c];
        for (int r = 0; r < b->rows && b->side == SAP_SIDE_BOTH; r++)
            largest = real_select(block_acts(ctx, b), real_max(largest, real_abs(BLOCK(g, b)[r])), largest);
    }
    report_put(ctx, ctx->args->report.constraint_residual, 1, 0, largest, mine);
}

/* ---- tendons ---- */

STAGE_FN void report_tendon(const Context *ctx, const SapModelConstraint *b, mask mine) {
    const SapReportArgs *report = &ctx->args->report;
    int nt = ctx->args->plan.num_tendons, t = b->index;
    TendonForces force = report_tendon_forces(ctx, b);
    report_put(ctx, report->tendon_length, nt, t, *BLOCK(g, b), mine);
    report_put(ctx, report->tendon_velocity, nt, t, report_block_velocity(ctx, b, 0), mine);
    report_put(ctx, report->tendon_force, nt, t, force.all, mine);
    report_put(ctx, report->tendon_limit, nt, t, force.limit, mine);
    report_put(ctx, report->tendon_spring, nt, t, force.spring, mine);
    report_put(ctx, report->tendon_damper, nt, t, force.damper, mine);
    report_put(ctx, report->tendon_friction, nt, t, force.friction, mine);
    report_put(ctx, report->tendon_drive, nt, t, force.drive, mine);
}

/* ---- all ---- */

KERNEL_FN bool report_asked_for_constraints(const SapReportArgs *r) {
    return r->row_impulse || r->row_error || r->row_velocity || r->row_weight || r->row_target || r->row_R ||
           r->row_jacobian || r->constraint_wrench || r->body_constraint_wrench || r->constraint_residual ||
           r->tendon_length || r->tendon_velocity || r->tendon_force || r->tendon_limit || r->tendon_spring ||
           r->tendon_damper || r->tendon_friction || r->tendon_drive;
}

STAGE_FN void report_blocks(const Context *ctx, mask mine) {
    const SapPlan *plan = &ctx->args->plan;
    const SapReportArgs *report = &ctx->args->report;
    TEAM_FOR(k, NUM_MODEL_CONSTRAINTS) {
        const SapModelConstraint *b = &plan->block[k];
        bool constraint = k < plan->num_constraints;
        for (int r = 0; r < b->rows && constraint; r++)
            report_row(ctx, b, r, mine);
        if (constraint && report->constraint_wrench)
            report_constraint_wrench(ctx, b, mine);
        if (b->kind == SAP_BLOCK_TENDON)
            report_tendon(ctx, b, mine);
    }
    if (report->body_constraint_wrench)
        TEAM_FOR(l, plan->nl)
            report_body_constraint_wrench(ctx, l, mine);
    if (report->constraint_residual)
        TEAM_ONCE() {
            report_constraint_residual(ctx, mine);
        }
}

RARE_FN void report_constraints(const Context *ctx, mask mine) {
    if (report_asked_for_constraints(&ctx->args->report))
        report_blocks(ctx, mine);
    formulation_report(ctx, mine);
}
