/* The step, as a list of stages: the one for every target. An entry file defines before
 *
 *   STEP_FN                how a function of this list is declared
 *   STAGE(is_f64, name)    calls stage_<name>(ctx) in that precision
 *   STEP_COLLIDES          whether a step finds its contacts itself; 0 on a GPU, which launches collision on its own
 *
 * and, where they are constants, the choices of dialect/choices.h. */
#include "kernels/dialect/choices.h"

/* Whether there is something to solve: of the call, not of a world, for a world's status is its own. */
STEP_FN bool step_solves(const SapStepArgs *args) {
    return args->contacts.count || args->has_dof_terms;
}

/* All that comes before the solve: A and v*, contacts, and what they are to the solve. */
STEP_FN void step_prepare(SapContext *ctx) {
    STAGE(FM_IS_F64, free_motion);
    if (STEP_COLLIDES && ctx->args->collide.enabled)
        STAGE(GEOMETRY_IS_F64, collide);
    if (step_solves(ctx->args)) {
        ctx->num_slots = STAGE(0, fill_slots); /* has no numbers: f32 is as good as f64 */
        STAGE(GEOMETRY_IS_F64, contact_geometry);
        STAGE(WEIGHT_IS_F64, contact_weight);
    }
}

STEP_FN void step_once(SapContext *ctx) {
    step_prepare(ctx);
    if (step_solves(ctx->args))
        STAGE(SOLVE_IS_F64, solve);
    STAGE(FM_IS_F64, finish);
}

/* Contact records of the state, without a step. */
STEP_FN void collide_once(SapContext *ctx) {
    STAGE(FM_IS_F64, place);
    STAGE(GEOMETRY_IS_F64, collide);
}

/* ---- the same step in lockstep (solve/lockstep.h): all worlds do one of these before the next ---- */

STEP_FN void lockstep_begin(SapContext *ctx) {
    ctx->step = ctx->args->first_step;
    step_prepare(ctx);
    if (step_solves(ctx->args))
        STAGE(SOLVE_IS_F64, lockstep_begin);
}

STEP_FN void lockstep_assemble(SapContext *ctx) {
    ctx->num_slots = STAGE(0, kept_slots);
    STAGE(SOLVE_IS_F64, lockstep_assemble);
}

STEP_FN void lockstep_advance(SapContext *ctx) {
    ctx->num_slots = STAGE(0, kept_slots);
    STAGE(SOLVE_IS_F64, lockstep_advance);
}

STEP_FN void lockstep_finish(SapContext *ctx) {
    ctx->step = ctx->args->first_step;
    ctx->num_slots = STAGE(0, kept_slots);
    if (step_solves(ctx->args))
        STAGE(SOLVE_IS_F64, lockstep_finish);
    STAGE(FM_IS_F64, finish);
}
