/* The stages of motion: free motion, and kinematics without a step. */

/* Loads the pack's worlds and computes A and v*. */
STAGE_FN void stage_free_motion(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_LOAD);
    if (!formulation_recall(ctx)) {
        load_state(ctx);
        load_control(ctx);
        formulation_remember(ctx);
    }
    if (IS_FIRST_STAGE)
        begin_status(ctx);
    else
        resume_status(ctx);
    TEAM_SYNC(); /* kinematics and rows of A read the state that other threads loaded */
    formulation_set_state(ctx);
    formulation_add_forces(ctx);
    free_motion(ctx);
}

/* Poses of bodies only, for collision without free motion. Within a step (on a GPU) it does not write the status. */
STAGE_FN void stage_poses(const Context *ctx) {
    load_state(ctx);
    TEAM_SYNC(); /* kinematics reads the state that other threads loaded */
    formulation_set_state(ctx);
    forward_kinematics(ctx, FM(q), FM(v0));
    if (ctx->args->num_steps == 0)
        put_status(ctx, state_status(ctx));
}

/* Poses and velocities of bodies only. Worlds whose state is not finite do not change. */
STAGE_FN void stage_kinematics(const Context *ctx) {
    stage_poses(ctx);
    store_bodies(ctx, pack_lanes(ctx->pack) & (state_status(ctx) == 0));
}
