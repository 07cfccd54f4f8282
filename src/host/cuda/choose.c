/* A step belongs to the kernel set whose constants are the numbers of the arguments, or the general one. A thread per
 * world takes fewer instructions than a team, but fills a GPU only with many worlds, and its scratch must fit local
 * memory (docs/gpu.md). Otherwise a team steps a world. */
#include "host/cuda/choose.h"

#include <stdio.h>

#include "host/base/fail.h"
#include "host/options/capabilities.h"
#include "host/plan/formulation.h"
#include "kernels/data/kernel_sets.h"

/* ---- pairs of shapes ---- */

bool sap_cuda_can_touch(const SapPlan *plan) {
    return plan->allowed || plan->num_pairs > 0;
}

/* Whether the narrow phase of two shapes is a closed form for all their poses (kernels/collide/narrow.h). The type of
 * the first is not larger than the second's. */
static bool has_closed_form(int first, int second) {
    switch (first) {
    case SAP_SHAPE_PLANE: return second != SAP_SHAPE_HEIGHT_FIELD;
    case SAP_SHAPE_SPHERE: return second != SAP_SHAPE_HULL;
    case SAP_SHAPE_CAPSULE: return second == SAP_SHAPE_CAPSULE || second == SAP_SHAPE_BOX;
    default: return false;
    }
}

/* Pairs of a table of bits, in which a plan with a sweep or a tree has them. */
static long long general_pairs_allowed(const SapPlan *plan) {
    long long count = 0;
    for (int a = 0; a < plan->ns; a++)
        for (int b = a + 1; b < plan->ns; b++) {
            int i = plan->shape_type[a], k = plan->shape_type[b];
            count += !has_closed_form(i < k ? i : k, i < k ? k : i);
        }
    return count;
}

long long sap_cuda_general_pairs(const SapPlan *plan) {
    if (plan->broad_phase != SAP_BROAD_PHASE_LISTED)
        return general_pairs_allowed(plan);
    long long count = 0;
    for (int i = 0; i < plan->num_pairs; i++)
        count += !has_closed_form(plan->shape_type[plan->pair[i].shape[0]], plan->shape_type[plan->pair[i].shape[1]]);
    return count;
}

bool sap_cuda_has_closed_forms(const SapPlan *plan) {
    return plan->broad_phase == SAP_BROAD_PHASE_LISTED && sap_cuda_general_pairs(plan) == 0;
}

/* Whether the step of a preset also finds the contacts: with closed forms only, if there is anything to find. */
static SapKernelKind kind_of_preset(const SapPlan *plan) {
    return sap_cuda_can_touch(plan) && sap_cuda_has_closed_forms(plan) ? SAP_CUDA_FUSED_STEP : SAP_CUDA_STEP;
}

/* ---- kernel sets ---- */

/* A row of kernels/data/kernel_sets.h. */
enum { ARG = -1 };
typedef struct Set {
    const char *name;
    int fm, geometry, weight, solve, linear, constraints, compat, reports, closed;
} Set;
static const Set presets[] = {
#define X(name) {#name, SAP_SET_##name},
    SAP_PRESET_SETS(X)
#undef X
};
static const Set collide_approx32 = {"approx32", SAP_SET_collide_approx32};
enum { NUM_PRESETS = sizeof presets / sizeof *presets };

static bool fits(int choice, int of_args) {
    return choice == ARG || choice == of_args;
}

static bool fits_collision(const Set *s, const SapStepArgs *a) {
    return fits(s->fm, a->fm_is_f64) && fits(s->geometry, a->geometry_is_f64) && fits(s->compat, a->compat);
}

/* The set of the preset that the arguments fit; NULL with a reason. */
static const Set *find_preset(const SapStepArgs *a, const char **reason) {
    for (int i = 0; i < NUM_PRESETS; i++) {
        const Set *s = &presets[i];
        if (fits_collision(s, a) && fits(s->weight, a->weight_is_f64) && fits(s->solve, a->solve_is_f64) &&
            fits(s->linear, a->newton.linear_is_f64) && fits(s->constraints, a->plan.num_blocks)) {
            *reason = "the precisions of a preset, without constraints and tendons";
            return s;
        }
    }
    *reason = a->compat                ? "any precision: compat is sap_warp"
              : a->plan.num_blocks > 0 ? "any precision: the model has constraints or tendons"
                                       : "any precision: no preset has these precisions";
    return NULL;
}

/* The step of a dual solver: one kernel per method. */
static const char *dual_method(SapDualMethod method) {
    switch (method) {
    case SAP_DUAL_PGS:
    case SAP_DUAL_PGS_ROWS: return "pgs";
    case SAP_DUAL_ACTIVE_SET:
    case SAP_DUAL_ACTIVE_SET_SINGLE: return "active_set";
    default: return "cone";
    }
}

static void set_name(char name[64], const char *kernel, const char *suffix) {
    snprintf(name, 64, *suffix ? "sap_kernel_%s_%s" : "sap_kernel_%s", kernel, suffix);
}

void sap_cuda_choose_step(const SapCudaRequest *r, SapCudaProgram *out) {
    const SapStepArgs *a = r->args;
    const SapFormulation *f = sap_formulation(a->plan.formulation);
    const SapContactSolverRow *solver = sap_contact_solver(r->options->contact_solver);
    *out = (SapCudaProgram){.kind = SAP_CUDA_STEP, .step_reason = "a kernel of the solver alone"};
    if (f->own_kernels) {
        set_name(out->step, f->name, "step");
        set_name(out->collide, f->name, "collide");
        return;
    }
    const char *reason;
    const Set *set = find_preset(a, &reason);
    set_name(out->collide, "collide", fits_collision(&collide_approx32, a) ? collide_approx32.name : "");
    const char *step = r->options->contact_approximation == SAP_APPROXIMATION_SAP ? "step" : "step_law";
    set_name(out->step, step, solver->is_dual ? dual_method(solver->dual_method) : set ? set->name : "");
    if (solver->is_dual)
        return;
    out->step_reason = r->lockstep ? "a library solves the linear systems" : reason;
    out->is_preset = set != NULL;
    if (set && !r->lockstep)
        out->kind = kind_of_preset(&a->plan);
    /* A step that reports nothing of contacts reads the poses after it only with the implicit gyroscopic term. Kernels
     * of any set of precisions may have constraints. */
    out->overlaps_poses = set && !r->lockstep && !a->implicit_gyroscopic;
}

/* ---- a thread per world ---- */

/* Below so many warps per multiprocessor a team per world is predicted to be faster. */
enum { WARP = 32, MIN_WARPS = 6 };

/* Why a thread cannot step a world of the batch; NULL = it can. */
static const char *why_no_thread(const SapCudaRequest *r, const Set *set, int scratch) {
    const char *refusal = sap_refusal(SAP_CAN_THREAD_PER_WORLD, r->options->contact_solver, SAP_DEVICE_CUDA);
    if (refusal)
        return refusal;
    if (r->options->contact_approximation != SAP_APPROXIMATION_SAP)
        return "a team per world: only the contact law sap has kernels with a thread per world";
    if (r->lockstep)
        return "a team per world: a library solves the linear systems";
    if (!set)
        return "a team per world: only with a preset, and without constraints, tendons and compat, a thread can step a "
               "world";
    if (scratch > SAP_THREAD_SCRATCH)
        return "a team per world: its scratch is too large for the local memory of a thread";
    if (r->options->team_size == 0 && r->num_worlds < MIN_WARPS * WARP * r->multiprocessors)
        return "a team per world: too few worlds to fill the GPU with a thread each";
    return NULL;
}

/* Why no kernels are made for the batch; NULL = they are to be made. */
static const char *why_not_specialized(const SapCudaRequest *r, const SapCudaProgram *program) {
    SapCapability specialize = sap_can(SAP_CAN_SPECIALIZE, r->options->contact_solver, SAP_DEVICE_CUDA);
    if (specialize.support != SAP_SUPPORT_YES)
        return specialize.reason;
    if (r->lockstep)
        return "a library solves the linear systems";
    if (r->options->specialize == SAP_SPECIALIZE_AUTO && !program->has_threads)
        return "a team per world gains little from others";
    return NULL;
}

SapStatus sap_cuda_refuse_thread(const SapCudaRequest *r, const char *reason, SapCudaProgram *program) {
    program->has_threads = false;
    program->mapping = reason;
    program->not_specialized = why_not_specialized(r, program);
    return r->options->team_size == 1
               ? sap_fail(SAP_ERROR_UNSUPPORTED,
                          "option team_size is '1', which is not possible here (scratch of a world: %d bytes, of a "
                          "thread: %d): %s",
                          program->thread_scratch, SAP_THREAD_SCRATCH, reason)
               : SAP_OK;
}

SapStatus sap_cuda_choose_thread(const SapCudaRequest *r, SapArenas *arenas, SapCudaShape *shape,
                                 SapCudaProgram *program) {
    const char *ignored, *reason = NULL;
    const Set *set = find_preset(r->args, &ignored);
    program->mapping = "by the option team_size";
    program->thread_kind = kind_of_preset(&r->args->plan);
    if (r->options->team_size <= 1) {
        SAP_TRY(sap_cuda_thread_shape(program->thread_kind, r->args, arenas, shape));
        if (program->thread_kind == SAP_CUDA_FUSED_STEP && arenas->size > SAP_THREAD_SCRATCH) {
            program->thread_kind = SAP_CUDA_STEP; /* many shapes: collision is a separate kernel */
            SAP_TRY(sap_cuda_thread_shape(program->thread_kind, r->args, arenas, shape));
        }
        program->thread_scratch = arenas->size;
        reason = why_no_thread(r, set, arenas->size);
        if (reason)
            return sap_cuda_refuse_thread(r, reason, program);
        program->has_threads = true;
        set_name(program->thread, "step_thread", set->name);
        if (r->options->team_size == 0)
            program->mapping = "a thread per world: enough worlds fill the GPU";
    }
    program->not_specialized = why_not_specialized(r, program);
    return SAP_OK;
}
