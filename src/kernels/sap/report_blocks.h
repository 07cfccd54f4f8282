/* What reports show of the model's constraints and tendons under SAP's law (report_constraints.h). */

KERNEL_FN int report_block_row(const SapModelConstraint *b, int r) {
    (void)b;
    return r;
}

KERNEL_FN real report_block_velocity(const Context *ctx, const SapModelConstraint *b, int r) {
    return BLOCK(vc, b)[r];
}

/* Both bodies are pushed midway between the two points. */
KERNEL_FN void report_weld(const Context *ctx, const SapModelConstraint *b, const BlockFrames *f, int side,
                           Vec3 *impulse, Vec3 *moment, Vec3 *at) {
    (void)side;
    *moment = vec3_load(BLOCK(gamma, b));
    *impulse = vec3_load(BLOCK(gamma, b) + 3);
    *at = vec3_scale(real_of(K(0.5)), vec3_add(f->X[0].p, f->X[1].p));
}

/* The force of one law of a tendon. */
KERNEL_FN real tendon_law_force(const Context *ctx, const SapModelConstraint *b, int law) {
    RowValue at = row_value_none();
    return row_law_add(BLOCK_LAW(b, 0, law), *BLOCK(vc, b), &at) / STAGE_H;
}

STAGE_FN TendonForces report_tendon_forces(const Context *ctx, const SapModelConstraint *b) {
    real force[SAP_TENDON_LAWS];
    TendonForces out;
    for (int i = 0; i < SAP_TENDON_LAWS; i++)
        force[i] = tendon_law_force(ctx, b, i);
    out.all = *BLOCK(gamma, b) / STAGE_H;
    out.limit = force[SAP_TENDON_LOWER] + force[SAP_TENDON_UPPER];
    out.spring = force[SAP_TENDON_SPRING] + force[SAP_TENDON_SPRING_UPPER];
    out.damper = force[SAP_TENDON_DAMPER];
    out.friction = force[SAP_TENDON_FRICTION];
    out.drive = force[SAP_TENDON_DRIVE];
    return out;
}
