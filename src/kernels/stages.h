/* Every stage in one precision, in order of dependence, and the programs made of them. An entry file defines SAP_PRECISION
 * (and SAP_LANES on a CPU) and includes this once per precision. */
#include "lane.h"
#include "vec.h"
#include "trig.h"
#include "spatial.h"
#include "rows.h"
#include "seam.h"
#include "joints.h"
#include "joints_as_given.h"
#include "load.h"
#include "factor.h"
#include "free_motion.h"
#include "contact_geometry.h"
#include "contact_weight.h"
#include "contact_law.h"
#include "joint_law.h"
#include "problem.h"
#include "line_search.h"
#include "linear.h"
#include "newton.h"
#include "store.h"
#include "report.h"
#include "inspect.h"

#include "solve.h"

/* ---- the programs: what an entry file exports ---- */

/* Loads the pack's worlds and computes A and v*; every status begins here. */
STAGE_FN void program_free_motion(const Context *ctx) {
    load_state(ctx);
    load_control(ctx);
    put_status(ctx, real_bits(real_of(0)));
    TEAM_SYNC(); /* links are read by their children and by rows */
    free_motion(ctx);
}

STAGE_FN void program_contact_geometry(const Context *ctx) {
    TEAM_FOR(c, ctx->num_slots)
        contact_geometry_slot(ctx, c);
    TEAM_SYNC(); /* the weight reads the J, frame and witnesses of a slot */
}

STAGE_FN void program_contact_weight(const Context *ctx) {
    TEAM_FOR(c, ctx->num_slots)
        contact_weight_slot(ctx, c);
    TEAM_SYNC(); /* the law reads the weight */
}

/* Integrates with the velocity that is now in v, and stores. */
STAGE_FN void program_finish(const Context *ctx) {
    const SapStepArgs *args = ctx->args;
    const SapPlan *plan = &args->plan;
    TEAM_FOR(l, plan->nl)
        joint_advance(ctx, &plan->link[l], SCRATCH(q), SCRATCH(v0), SCRATCH(v), STAGE_H, SCRATCH(q1));
    TEAM_SYNC(); /* the status depends on all of q1 */

    bits status = get_status(ctx) | world_status(ctx) | truncation_status(ctx);
    mask mine = pack_lanes(ctx->pack);
    mask ok = mine & ((status & SAP_WORLD_FAILED) == 0);
    mask state_ok = mine & ((status & SAP_WORLD_NONFINITE_STATE) == 0);
    TEAM_SYNC(); /* all have read the status of the solve */
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

/* Copies out what free motion left. */
STAGE_FN void program_inspect(const Context *ctx) {
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
