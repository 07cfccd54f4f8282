/* The programs of run.h. */
#include "host/cpu/run.h"
#include "kernels/step/skip_world.h"

void sap_program_kinematics(SapContext *ctx) {
    ctx->kernels[ctx->args->fm_is_f64]->kinematics(ctx);
}

void sap_program_inspect(SapContext *ctx) {
    const SapKernels *fm = ctx->kernels[ctx->args->fm_is_f64];
    fm->free_motion(ctx);
    fm->inspect(ctx);
}

/* The list of stages, each called through the kernel table of its precision. */
#define STEP_FN                       static
#define STEP_RARE_FN                  static
#define STEP_CALL_RARE(function, ctx) function(ctx)
#define STAGE(is_f64, name)           (ctx->kernels[is_f64]->name(ctx))
#define STEP_COLLIDES                 1
#define STEP_PLACE_SLOTS              ((void)0) /* all packs have theirs in the same arenas */
#define STEP_HAS_STAGES               1
#define STEP_HAS_LOCKSTEP             0
#include "kernels/step/step_list.h"

bool sap_program_solves(const SapStepArgs *args) {
    const SapContext of_call = {.args = args}, *ctx = &of_call;
    return STEP_SOLVES;
}

void sap_program_collide(SapContext *ctx) {
    collide_once(ctx);
}

void sap_program_solve(SapContext *ctx) {
    step_prepare(ctx);
    step_solve(ctx);
}

void sap_program_finish(SapContext *ctx) {
    ctx->kernels[ctx->args->fm_is_f64]->finish(ctx);
}

void sap_program_step(SapContext *ctx) {
    for (ctx->step = 0; ctx->step < ctx->args->num_steps; ctx->step++)
        step_once(ctx);
}

void sap_program_one_step(SapContext *ctx) {
    ctx->step = ctx->args->first_step;
    step_once(ctx);
}
