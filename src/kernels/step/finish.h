/* The end of a step: integration, status, output. */
#include "kernels/step/forget_reports.h"

/* Clears the reports of worlds that fail. */
RARE_FN void finish_reports(const Context *ctx, mask failed) {
    FOR_LANES(l) {
        if (mask_lane(failed, l))
            forget_reports(ctx->args, ctx->pack->world[l]);
    }
}

/* Integrates with the velocity in v and stores the result. The poses of bodies belong to the stored state: the new one,
 * or the old one for failed worlds. */
STAGE_FN void stage_finish(const Context *ctx) {
    const SapStepArgs *args = ctx->args;
    const SapPlan *plan = &args->plan;
    bool bodies = (args->body_q.data || args->body_qd.data) && ctx->step == args->num_steps - 1;
    /* q1 = q + h u */
    PROFILE(ctx, SAP_SECTION_INTEGRATE);
    EACH_LINK(l, plan->nl, formulation_advance(ctx, l))
    TEAM_SYNC(); /* the status reads all of q1 */
    PROFILE(ctx, SAP_SECTION_STORE);

    /* status; bodies that overflow at the new state fail their world */
    bits none = real_bits(real_of(0)), status = get_status(ctx) | world_status(ctx) | truncation_status(ctx);
    if (bodies) {
        forward_kinematics(ctx, FM(q1), FM(v));
        mask overflowed = ((status & SAP_WORLD_FAILED) == 0) & mask_not(bodies_finite(ctx));
        status = status | bits_select(overflowed, none + SAP_WORLD_NONFINITE_RESULT, none);
    }
    if (args->max_joint_speed > 0)
        status = status | bits_select((status & SAP_WORLD_FAILED) == 0, speed_status(ctx, FM(q1)), none);
    /* store the new state, or the input state of failed worlds */
    mask mine = pack_lanes(ctx->pack);
    mask ok = mine & ((status & SAP_WORLD_FAILED) == 0);
    mask state_ok = mine & ((status & SAP_WORLD_NONFINITE_STATE) == 0);
    put_status(ctx, status | bits_select(ok, spin_status(ctx) | shift_status(ctx), none));
    store_state(ctx, ok);
    store_unchanged(ctx, state_ok & mask_not(ok));
    formulation_store(ctx, ok, state_ok & mask_not(ok));
    if (REPORTS && args->report.step_start)
        measure_forget(ctx, mine & mask_not(ok));
    if (mask_any(mine & mask_not(ok)))
        finish_reports(ctx, mine & mask_not(ok));
    /* bodies of failed worlds at the input state */
    if (bodies && mask_any(state_ok & mask_not(ok))) {
        TEAM_SYNC(); /* q1 and v are stored before they are overwritten */
        TEAM_FOR(i, plan->nq)
            FM(q1)[i] = real_select(ok, FM(q1)[i], FM(q)[i]);
        TEAM_FOR(i, plan->nv)
            FM(v)[i] = real_select(ok, FM(v)[i], FM(v0)[i]);
        TEAM_SYNC(); /* kinematics reads the q1 and v that other threads wrote */
        forward_kinematics(ctx, FM(q1), FM(v));
    }
    if (bodies)
        store_bodies(ctx, state_ok);
    TEAM_SYNC(); /* the next step reads the stored state; it or the next world overwrites what all threads read here */
}
