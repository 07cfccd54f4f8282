/* Every stage in one precision, in order of dependence, and the programs made of them. An entry file defines SAP_PRECISION
 * (and SAP_LANES on a CPU) and includes this once per precision. */
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/math/trig.h"
#include "kernels/math/spatial.h"
#include "kernels/dialect/buffers.h"
#include "kernels/dialect/views.h"
#include "kernels/motion/joints.h"
#include "kernels/motion/joints_sap_warp.h"
#include "kernels/motion/load.h"
#include "kernels/math/factor.h"
#include "kernels/motion/free_motion.h"
#include "kernels/collide/manifold.h"
#include "kernels/collide/narrow_plane.h"
#include "kernels/collide/narrow_round.h"
#include "kernels/collide/narrow_box.h"
#if SAP_LANES == 1 /* one world at a time: the builds with more lanes call this one */
#include "kernels/collide/support.h"
#include "kernels/collide/gjk.h"
#include "kernels/collide/epa.h"
#include "kernels/collide/convex_manifold.h"
#include "kernels/collide/convex_polish.h"
#include "kernels/collide/convex_pair.h"
#include "kernels/collide/height_field.h"
#include "kernels/collide/convex.h"
#endif
#include "kernels/collide/narrow.h"
#include "kernels/collide/broad_phase.h"
#include "kernels/collide/collide.h"
#include "kernels/constraint/slots.h"
#include "kernels/constraint/contact_geometry.h"
#include "kernels/constraint/contact_weight.h"
#include "kernels/law/sap_contact.h"
#include "kernels/law/sap_dof.h"
#include "kernels/solve/problem.h"
#include "kernels/solve/line_search.h"
#include "kernels/solve/linear.h"
#include "kernels/solve/newton.h"
#include "kernels/motion/store.h"
#include "kernels/solve/report.h"
#include "kernels/motion/inspect.h"

#include "kernels/solve/solve.h"
#include "kernels/solve/lockstep.h"

/* ---- the programs: what an entry file exports ---- */

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

/* Geometry, weight and law of a slot are made by the same thread: others read the slot only after a barrier of the solve. */
STAGE_FN void stage_contact_geometry(const Context *ctx) {
    PROFILE(ctx, SAP_STAGE_GEOMETRY);
    TEAM_FOR(c, ctx->num_slots)
        contact_geometry_slot(ctx, c);
}

STAGE_FN void stage_contact_weight(const Context *ctx) {
    PROFILE(ctx, SAP_STAGE_WEIGHT);
    TEAM_FOR(c, ctx->num_slots)
        contact_weight_slot(ctx, c);
}

/* Integrates with the velocity that is now in v, and stores. Bodies are placed at the state that is stored: the new one, or for
 * failed worlds the old one. */
STAGE_FN void stage_finish(const Context *ctx) {
    const SapStepArgs *args = ctx->args;
    const SapPlan *plan = &args->plan;
    bool bodies = (args->body_q.data || args->body_qd.data) && ctx->step == args->num_steps - 1;
    PROFILE(ctx, SAP_STAGE_INTEGRATE);
    TEAM_FOR(l, plan->nl)
        joint_advance(ctx, &plan->link[l], FM(q), FM(v0), FM(v), STAGE_H, FM(q1));
    TEAM_SYNC(); /* the status depends on all of q1 */
    PROFILE(ctx, SAP_STAGE_STORE);

    bits none = real_bits(real_of(0)), status = get_status(ctx) | world_status(ctx) | truncation_status(ctx);
    if (bodies) {
        forward_kinematics(ctx, FM(q1), FM(v));
        mask overflowed = ((status & SAP_WORLD_FAILED) == 0) & mask_not(bodies_finite(ctx));
        status = status | bits_select(overflowed, none + SAP_WORLD_NONFINITE_RESULT, none);
    }
    mask mine = pack_lanes(ctx->pack);
    mask ok = mine & ((status & SAP_WORLD_FAILED) == 0);
    mask state_ok = mine & ((status & SAP_WORLD_NONFINITE_STATE) == 0);
    TEAM_SYNC(); /* all have read the status of the solve, and checked q1, v and the bodies */
    put_status(ctx, status);
    store_state(ctx, ok);
    store_unchanged(ctx, state_ok & mask_not(ok));
    if (bodies && mask_any(state_ok & mask_not(ok))) {
        TEAM_SYNC(); /* q1 and v are stored before they are overwritten */
        TEAM_FOR(i, plan->nq)
            FM(q1)[i] = real_select(ok, FM(q1)[i], FM(q)[i]);
        TEAM_FOR(i, plan->nv)
            FM(v)[i] = real_select(ok, FM(v)[i], FM(v0)[i]);
        TEAM_SYNC(); /* links read the q1 and v of their joints */
        forward_kinematics(ctx, FM(q1), FM(v));
    }
    if (bodies)
        store_bodies(ctx, state_ok);
}

/* Copies out what free motion left. */
STAGE_FN void stage_inspect(const Context *ctx) {
    TEAM_FOR(i, ctx->args->plan.nq)
        FM(q1)[i] = FM(q)[i];
    TEAM_SYNC(); /* the status depends on all of q1 */
    put_status(ctx, world_status(ctx));
    inspect_free_motion(ctx, pack_lanes(ctx->pack));
}

/* Poses and velocities of bodies only. Worlds whose state is not finite are left as they are. */
STAGE_FN void stage_kinematics(const Context *ctx) {
    stage_place(ctx);
    store_bodies(ctx, pack_lanes(ctx->pack) & (state_status(ctx) == 0));
}
