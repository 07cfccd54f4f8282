/* Every stage in one precision, in order of dependence, and the programs made of them. An entry file defines SAP_PRECISION
 * (and SAP_LANES on a CPU) and includes this once per precision. */
#include "lane.h"
#include "vec.h"
#include "trig.h"
#include "spatial.h"
#include "rows.h"
#include "joints.h"
#include "joints_as_given.h"
#include "load.h"
#include "factor.h"
#include "free_motion.h"
#include "store.h"
#include "inspect.h"

STAGE_FN void put_status(const Context *ctx, bits status) {
    TEAM_FOR(once, 1) {
        (void)once;
        FOR_LANES(l) {
            if (l < ctx->pack->count)
                ctx->args->status[ctx->pack->world[l]] = (unsigned)LANE(status, l);
        }
    }
}

/* One step of the pack's worlds: load, free motion, integrate, store. */
STAGE_FN void program_step(const Context *ctx) {
    const SapStepArgs *args = ctx->args;
    const SapPlan *plan = &args->plan;
    load_state(ctx);
    load_control(ctx);
    TEAM_SYNC(); /* links are read by their children and by rows */
    free_motion(ctx);

    TEAM_FOR(l, plan->nl)
        joint_advance(ctx, &plan->link[l], SCRATCH(q), SCRATCH(v0), SCRATCH(v), real_of((scalar)args->h), SCRATCH(q1));
    TEAM_SYNC(); /* the status depends on all of q1 */

    bits status = world_status(ctx);
    mask mine = pack_lanes(ctx->pack);
    mask ok = mine & (status == 0);
    mask state_ok = mine & ((status & SAP_WORLD_NONFINITE_STATE) == 0);
    put_status(ctx, status);
    store_state(ctx, ok);
    store_unchanged(ctx, state_ok & mask_not(ok));

    if (args->body_q.data || args->body_qd.data) {
        /* Bodies are placed at the state that is stored: the new one, or for failed worlds the old one. */
        TEAM_SYNC(); /* the checks of q1 and v are done before they are overwritten */
        TEAM_FOR(i, plan->nq)
            SCRATCH(q1)[i] = real_select(ok, SCRATCH(q1)[i], SCRATCH(q)[i]);
        TEAM_FOR(i, plan->nv)
            SCRATCH(v)[i] = real_select(ok, SCRATCH(v)[i], SCRATCH(v0)[i]);
        TEAM_SYNC(); /* links read the q1 and v of their joints */
        forward_kinematics(ctx, SCRATCH(q1), SCRATCH(v));
        store_bodies(ctx, state_ok);
    }
}

/* Free motion only, copied out. */
STAGE_FN void program_inspect(const Context *ctx) {
    load_state(ctx);
    load_control(ctx);
    TEAM_SYNC(); /* links are read by their children and by rows */
    free_motion(ctx);
    TEAM_FOR(i, ctx->args->plan.nq)
        SCRATCH(q1)[i] = SCRATCH(q)[i];
    TEAM_SYNC(); /* the status depends on all of q1 */
    put_status(ctx, world_status(ctx));
    inspect_free_motion(ctx, pack_lanes(ctx->pack));
}

/* Poses and velocities of bodies only. Worlds whose state is not finite are left as they are. */
STAGE_FN void program_kinematics(const Context *ctx) {
    load_state(ctx);
    TEAM_SYNC(); /* links are read by their children */
    forward_kinematics(ctx, SCRATCH(q), SCRATCH(v0));
    mask ok = checks_pass(SCRATCH(state_check), ctx->args->plan.nl);
    bits none = real_bits(real_of(0));
    put_status(ctx, bits_select(ok, none, none + SAP_WORLD_NONFINITE_STATE));
    store_bodies(ctx, pack_lanes(ctx->pack) & ok);
}
