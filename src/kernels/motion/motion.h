/* The stages of motion: free motion, and the poses of bodies alone. */

/* Loads the pack's worlds and computes A and v*. */
STAGE_FN void stage_free_motion(const Context *ctx) {
    PROFILE(ctx, SAP_STAGE_LOAD);
    load_state(ctx);
    load_control(ctx);
    begin_status(ctx);
    TEAM_SYNC(); /* links are read by their children and by rows */
    free_motion(ctx);
}

/* Only the poses of bodies, for collision apart from free motion. Within a step (on a GPU) the status is not its business. */
STAGE_FN void stage_place(const Context *ctx) {
    load_state(ctx);
    TEAM_SYNC(); /* links are read by their children */
    forward_kinematics(ctx, FM(q), FM(v0));
    if (ctx->args->num_steps == 0)
        put_status(ctx, state_status(ctx));
}

/* Poses and velocities of bodies only. Worlds whose state is not finite are left as they are. */
STAGE_FN void stage_kinematics(const Context *ctx) {
    stage_place(ctx);
    store_bodies(ctx, pack_lanes(ctx->pack) & (state_status(ctx) == 0));
}
