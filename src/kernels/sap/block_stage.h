/* The stage of the geometry of the model's constraints and tendons. */

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
