/* The step as a list of stages, the same for every target. An entry file defines first
 *
 *   STEP_FN                the declaration specifiers of the functions below
 *   STEP_RARE_FN           the same of a function that few steps need, STEP_CALL_RARE(f, ctx) calls it
 *   STAGE(is_f64, name)    calls stage_<name>(ctx) in that precision
 *   STEP_COLLIDES          whether a step runs collision; on a GPU it may be a separate launch
 *   STEP_PLACE_SLOTS       chooses the memory of the pack's contact slots
 *   STEP_HAS_STAGES        whether a step may have several stages (Runge-Kutta), each of which ends with `velocity`
 *   STEP_HAS_LOCKSTEP      whether there are the stages of a step in lockstep
 *
 * and, if they are constants, the choices of dialect/choices.h. */
#include "kernels/dialect/choices.h"

/* Contacts and the model's constraints as the solve reads them, in its precision: slots, geometry and weights. */
STEP_FN void step_constrain(SapContext *ctx) {
    STEP_PLACE_SLOTS;
    ctx->num_slots = STAGE(0, fill_slots); /* integers only, so the precision does not matter */
    STAGE(GEOMETRY_IS_F64, contact_geometry);
    STAGE(WEIGHT_IS_F64, contact_weight);
    if (NUM_MODEL_CONSTRAINTS > 0) {
        STAGE(GEOMETRY_IS_F64, constraint_geometry);
        STAGE(WEIGHT_IS_F64, constraint_weight);
    }
}

/* The stages before the solve: A and v*, contacts, geometry and weights of contacts and of the model's constraints. */
STEP_FN void step_prepare(SapContext *ctx) {
    STAGE(FM_IS_F64, free_motion);
    if (STEP_COLLIDES && ctx->args->collide.enabled)
        STAGE(GEOMETRY_IS_F64, collide);
    if (STEP_SOLVES)
        step_constrain(ctx);
}

/* Solves again in f64, from the contact records on. The first solve has overwritten the kinematics. */
STEP_RARE_FN void step_retry(SapContext *ctx) {
    void *solve = ctx->solve, *slots = ctx->slots;
    STAGE(FM_IS_F64, poses);
    step_constrain(ctx);
    ctx->solve = ctx->retry;
    ctx->slots = ctx->retry_slots;
    STAGE(1, solve);
    ctx->solve = solve;
    ctx->slots = slots;
    ctx->retry_f64 = 0;
}

/* The solve. Worlds whose f32 solve does not converge are solved again in f64. */
STEP_FN void step_solve(SapContext *ctx) {
    ctx->retry_f64 = STAGE(SOLVE_STARTS_F64, solve);
    if (!SOLVE_STARTS_F64 && ctx->retry_f64)
        STEP_CALL_RARE(step_retry, ctx);
}

/* What sensors need of the start of the step, after the solve. */
STEP_FN void step_measure(SapContext *ctx) {
    if (REPORTS && ctx->args->report.step_start)
        STAGE(FM_IS_F64, measure);
}

/* Runge-Kutta stages of a step: four, or one. */
#define STEP_STAGES (STEP_HAS_STAGES && ctx->args->plan.rk4 ? 4 : 1)

/* Stage ctx->rk_stage of a step; the last one ends it. */
STEP_FN void step_stage(SapContext *ctx) {
    step_prepare(ctx);
    if (STEP_SOLVES)
        step_solve(ctx);
    if (!STEP_HAS_STAGES || ctx->rk_stage == 0)
        step_measure(ctx);
    if (STEP_HAS_STAGES)
        STAGE(FM_IS_F64, velocity);
    if (!STEP_HAS_STAGES || ctx->rk_stage == STEP_STAGES - 1)
        STAGE(FM_IS_F64, finish);
}

/* One step. */
STEP_FN void step_once(SapContext *ctx) {
    for (int s = 0; s < STEP_STAGES; s++) {
        if (STEP_HAS_STAGES)
            ctx->rk_stage = s;
        step_stage(ctx);
    }
}

/* Contact records at the state, without a step. */
STEP_FN void collide_once(SapContext *ctx) {
    STAGE(FM_IS_F64, poses);
    STAGE(GEOMETRY_IS_F64, collide);
}

#if STEP_HAS_LOCKSTEP
/* ---- the same step with Newton's method in lockstep (sap/lockstep.h) ----
 * All worlds finish one of these functions before the next. It does not repeat f32 solves in f64. */

STEP_FN void lockstep_begin(SapContext *ctx) {
    ctx->step = ctx->args->first_step;
    step_prepare(ctx);
    if (STEP_SOLVES)
        STAGE(SOLVE_IS_F64, lockstep_begin);
}

STEP_FN void lockstep_assemble(SapContext *ctx) {
    ctx->num_slots = STAGE(0, stored_slots);
    STAGE(SOLVE_IS_F64, lockstep_assemble);
}

STEP_FN void lockstep_advance(SapContext *ctx) {
    ctx->num_slots = STAGE(0, stored_slots);
    STAGE(SOLVE_IS_F64, lockstep_advance);
}

STEP_FN void lockstep_finish(SapContext *ctx) {
    ctx->step = ctx->args->first_step;
    ctx->num_slots = STAGE(0, stored_slots);
    if (STEP_SOLVES)
        STAGE(SOLVE_IS_F64, lockstep_finish);
    step_measure(ctx);
    STAGE(FM_IS_F64, finish);
}
#endif
