/* The stages of geometry under SAP's law: contacts, then the model's constraints and tendons. */

/* The same thread computes geometry, weight and law of a slot. Other threads read the slot only after a barrier
 * of the solve. */
STAGE_FN void stage_contact_geometry(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_GEOMETRY);
    TEAM_FOR(c, ctx->num_slots)
        contact_geometry_slot(ctx, c);
}

/* Contacts within their gap do not act; this law has none. */
KERNEL_FN mask report_gap(const Context *ctx, int c, real position[3], real frame[9], real *gap) {
    (void)ctx, (void)c, (void)position, (void)frame, (void)gap;
    return mask_none();
}

/* The same thread computes geometry, weight and laws of a block. Other threads read it only after a barrier of the
 * solve. */
STAGE_FN void stage_constraint_geometry(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_GEOMETRY);
    TEAM_FOR(k, NUM_MODEL_CONSTRAINTS) {
        const SapModelConstraint *b = &ctx->args->plan.block[k];
        view_put(BLOCK_VIEW, BLOCK_OFFSET(check, b), real_of(0));
        switch (b->kind) {
        case SAP_BLOCK_BALL: block_geometry_ball(ctx, b); break;
        case SAP_BLOCK_WELD: block_geometry_weld(ctx, b); break;
        case SAP_BLOCK_DISTANCE: block_geometry_distance(ctx, b); break;
        case SAP_BLOCK_COUPLER: block_geometry_coupler(ctx, b); break;
        default: block_geometry_tendon(ctx, b); break;
        }
    }
}
