#include "host/cpu/gradients.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/cpu/dispatch.h"
#include "host/model/model.h"
#include "host/plan/step_args.h"
#include "kernels/step/skip_world.h"

struct SapDifferentiator {
    SapSolver *solver; /* f64 throughout */
    double tolerance;  /* of the solver */
    int max_iterations;
    const SapGradientKernels *kernels;
    SapArena arena; /* memory of the arrays of a step */
    SapContacts contacts;
    double *q, *qd;   /* [num_worlds] state between the steps of a call */
    uint32_t *status; /* [num_worlds] SapGradientStatus */
    double *margin;   /* [num_worlds] */
    void *scratch;    /* [threads][scratch_bytes] */
    size_t scratch_bytes, scratch_size;
};

/* ---- the solver ---- */

static SapOptions exact_options(const SapOptions *of, const SapGradientOptions *g) {
    SapOptions o = *of;
    o.free_motion_precision = o.contact_solve_precision = SAP_FP64;
    o.linear_solve_precision = o.contact_weight_precision = SAP_FP64;
    o.contact_geometry_f64 = true;
    o.optimality_rel_tol = g->tolerance;
    o.optimality_abs_tol = 0;
    o.cost_rel_tol = o.cost_abs_tol = 0;
    o.max_iterations = g->max_iterations;
    o.line_search = SAP_WOLFE;
    o.line_search_max_iterations = 0;
    o.diag_shift = 0;
    o.factor_plan = SAP_FACTOR_SPARSE;
    o.lanes = o.lanes > SAP_DUAL_LANES ? SAP_DUAL_LANES : o.lanes;
    return o;
}

static SapStatus create_arrays(SapDifferentiator *d, int n, int nq, int nv, int capacity) {
    size_t records = (size_t)n * (size_t)capacity, worlds = (size_t)n;
    double *point0, *point1, *normal, *margin0, *margin1;
    int32_t *count, *dropped, *shape0, *shape1;
    SAP_TRY(SAP_CARVE_ALL(&d->arena, "gradients", SAP_PART(point0, 3 * records), SAP_PART(point1, 3 * records),
                          SAP_PART(normal, 3 * records), SAP_PART(margin0, records), SAP_PART(margin1, records),
                          SAP_PART(count, worlds), SAP_PART(dropped, worlds), SAP_PART(shape0, records),
                          SAP_PART(shape1, records), SAP_PART(d->q, worlds * (size_t)nq),
                          SAP_PART(d->qd, worlds * (size_t)nv), SAP_PART(d->status, worlds),
                          SAP_PART(d->margin, worlds)));
    d->contacts = (SapContacts){.num_worlds = n,
                                .capacity = capacity,
                                .dtype = SAP_F64,
                                .count = count,
                                .dropped = dropped,
                                .shape0 = shape0,
                                .shape1 = shape1,
                                .point0 = point0,
                                .point1 = point1,
                                .normal = normal,
                                .margin0 = margin0,
                                .margin1 = margin1};
    return SAP_OK;
}

static SapStatus create(const SapBatch *b, const SapSolver *of, const SapGradientCall *call, SapDifferentiator **out) {
    SapDifferentiator *d = sap_allocate(1, sizeof *d, "gradients");
    if (!d)
        return SAP_ERROR_MEMORY;
    *out = d;
    SapOptions options = exact_options(&b->options, &call->options);
    d->tolerance = call->options.tolerance;
    d->max_iterations = call->options.max_iterations;
    SAP_TRY(sap_solver_create_for(call->what, of->model, b->num_worlds, &options, 0, &d->solver));
    d->kernels = sap_gradient_kernels_find(d->solver->isa, d->solver->kernels.pack[1]->lanes);
    return create_arrays(d, b->num_worlds, b->nq, b->nv, options.max_contacts);
}

void sap_differentiator_destroy(SapDifferentiator *d) {
    if (!d)
        return;
    sap_solver_destroy(d->solver);
    free(d->arena.base);
    free(d->scratch);
    free(d);
}

size_t sap_differentiator_bytes(const SapDifferentiator *d) {
    SapSolverInfo info;
    if (!d || sap_solver_info(d->solver, &info) != SAP_OK)
        return 0;
    return info.total_bytes + d->arena.used + d->scratch_size;
}

/* The solver reads the parameters that the batch has per world. */
static SapStatus copy_parameters(SapDifferentiator *d, const SapPerWorld *from) {
    SapPerWorld *to = &d->solver->per_world;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        if (!from->parameter[p].given)
            continue;
        SAP_TRY(sap_solver_add_per_world(d->solver, (SapParameter)p));
        memcpy(to->parameter[p].given, from->parameter[p].given, from->parameter[p].row * (size_t)from->num_worlds);
    }
    return SAP_OK;
}

/* ---- scratch ---- */

/* Reserves `count` reals and returns their offset. */
static int reserve(long long *next, long long count) {
    long long at = *next;
    *next += count;
    return at > INT_MAX ? INT_MAX : (int)at;
}

static bool layout(const SapStepArgs *a, int inputs, SapGradientLayout *at) {
    const SapPlan *p = &a->plan;
    long long next = 0, nv = p->nv, nl = p->nl, slots = a->contacts.num_slots, columns = a->slot_ints.max_columns;
    at->v = reserve(&next, nv);
    at->acc = reserve(&next, nv);
    at->dof_law = reserve(&next, p->dof_law_size);
    at->dof_dA = reserve(&next, nv);
    at->Sdot = reserve(&next, 6 * nv);
    at->Pd = reserve(&next, 6 * nv);
    at->Pdd = reserve(&next, 6 * nv);
    at->Pe = reserve(&next, 6 * nv);
    at->a = reserve(&next, 6 * nl);
    at->Ve = reserve(&next, 6 * nl);
    at->I = reserve(&next, 10 * nl);
    at->gravity = reserve(&next, 4 * nl);
    at->K = reserve(&next, 18 * nl);
    at->F = reserve(&next, 6 * nl);
    at->dA_up = reserve(&next, p->tree.nnz);
    at->dA_down = reserve(&next, p->tree.nnz);
    at->H = reserve(&next, nv * nv);
    at->inverse = reserve(&next, nv);
    at->g_q = reserve(&next, nv * nv);
    at->g_v = reserve(&next, nv * nv);
    at->turn = reserve(&next, 18 * nl);
    at->input = reserve(&next, inputs * nv);
    at->dq = reserve(&next, nv);
    at->dv0 = reserve(&next, nv);
    at->dv = reserve(&next, nv);
    at->end = reserve(&next, 2 * nv);
    at->dA = reserve(&next, nv);
    at->weight = reserve(&next, 3 * columns);
    at->block_of = (int)nv;
    at->block = reserve(&next, 4 * nv * p->num_blocks);
    at->dJ = reserve(&next, 12 * nv);
    at->margin = reserve(&next, 1);
    at->feature = reserve(&next, SAP_FEATURE_SIZE * slots);
    at->contact = reserve(&next, 2 * columns * slots);
    at->size = (int)next;
    return next <= INT_MAX;
}

/* Offsets for so many inputs, and scratch of every thread. */
static SapStatus prepare_scratch(SapDifferentiator *d, const SapGradientCall *call, SapGradientArgs *args) {
    const SapSolver *s = d->solver;
    long long inputs = 0;
    for (int i = 0; i < call->num_arrays; i++)
        inputs += call->array[i].count;
    if (inputs * s->args.plan.nv > INT_MAX || !layout(&s->args, (int)inputs, &args->layout))
        return sap_fail(SAP_ERROR_MEMORY, "%s: %lld inputs of %d dofs are too many for one world", call->what, inputs,
                        s->args.plan.nv);
    size_t bytes = (size_t)args->layout.size * (size_t)s->kernels.pack[1]->real_bytes;
    bytes = (bytes + 63) / 64 * 64;
    if (bytes * (size_t)s->threads > d->scratch_size) {
        free(d->scratch);
        d->scratch_size = 0;
        d->scratch = sap_allocate_raw((size_t)s->threads, bytes, "scratch of gradients");
        if (!d->scratch)
            return SAP_ERROR_MEMORY;
        d->scratch_size = bytes * (size_t)s->threads;
    }
    d->scratch_bytes = bytes;
    return SAP_OK;
}

/* ---- running ---- */

typedef struct Job {
    SapDifferentiator *d;
    const SapGradientCall *call;
    SapStepArgs args;         /* of the first step */
    SapGradientArgs gradient; /* of the first step, or the last one of cotangents */
    SapBuffer q, qd;          /* the state between steps */
    double *states;           /* cotangents of several steps: [steps - 1][num_worlds][nq + nv] */
} Job;

/* One step of a pack, and its derivatives unless `gradient` is NULL. */
static void run_step(SapContext *ctx, const Job *job, const SapStepArgs *args, const SapGradientArgs *gradient,
                     void *scratch) {
    ctx->args = args;
    ctx->step = 0;
    sap_program_solve(ctx);
    if (gradient)
        job->d->kernels->keep(ctx, gradient, scratch);
    sap_program_finish(ctx);
    if (gradient)
        job->d->kernels->differentiate(ctx, gradient, scratch);
}

/* Notes how the steps of a pack ended. */
static void note_status(const Job *job, const SapPack *pack) {
    for (int l = 0; l < pack->count; l++) {
        unsigned status = job->args.status[pack->world[l]];
        if (status & SAP_WORLD_FAILED)
            job->d->status[pack->world[l]] |= SAP_GRADIENT_FAILED;
        else if ((status & SAP_WORLD_NOT_CONVERGED) && !(status & SAP_WORLD_OPTIMAL))
            job->d->status[pack->world[l]] |= SAP_GRADIENT_NOT_CONVERGED;
    }
}

static void run_forwards(SapContext *ctx, const Job *job, const SapPack *pack, void *scratch) {
    SapStepArgs args = job->args;
    SapGradientArgs gradient = job->gradient;
    bool only_steps = job->call->kind == SAP_GRADIENT_STEP;
    SapBuffer q_out = args.q_out, qd_out = args.qd_out;
    for (int s = 0, n = job->call->steps->steps; s < n; s++) {
        gradient.first = s == 0;
        args.q_out = s == n - 1 ? q_out : job->q;
        args.qd_out = s == n - 1 ? qd_out : job->qd;
        run_step(ctx, job, &args, only_steps ? NULL : &gradient, scratch);
        if (only_steps)
            note_status(job, pack);
        args.q_in = job->q;
        args.qd_in = job->qd;
    }
}

/* State s between the steps of a call. */
static SapBuffer state_part(const Job *job, int s, int first, int stride) {
    const SapPlan *p = &job->args.plan;
    size_t worlds = (size_t)job->args.num_worlds, size = worlds * (size_t)(p->nq + p->nv);
    return (SapBuffer){.data = job->states + (size_t)s * size + worlds * (size_t)first, .stride = stride, .is_f64 = 1};
}
static void set_state(const Job *job, int s, SapStepArgs *args, bool input) {
    const SapPlan *p = &job->args.plan;
    SapBuffer q = state_part(job, s, 0, p->nq), qd = state_part(job, s, p->nq, p->nv);
    *(input ? &args->q_in : &args->q_out) = q;
    *(input ? &args->qd_in : &args->qd_out) = qd;
}

static void run_backwards(SapContext *ctx, const Job *job, const SapPack *pack, void *scratch) {
    SapStepArgs args = job->args;
    SapGradientArgs gradient = job->gradient;
    int n = job->call->steps->steps;
    for (int s = 0; s < n - 1; s++) {
        set_state(job, s, &args, false);
        run_step(ctx, job, &args, NULL, scratch);
        note_status(job, pack);
        args.q_in = args.q_out;
        args.qd_in = args.qd_out;
    }
    args.q_out = job->q;
    args.qd_out = job->qd;
    for (int s = n - 1; s >= 0; s--) {
        if (s > 0) {
            set_state(job, s - 1, &args, true);
        } else {
            args.q_in = job->args.q_in;
            args.qd_in = job->args.qd_in;
        }
        run_step(ctx, job, &args, &gradient, scratch);
        gradient.end = gradient.start;
    }
}

/* The pack that begins with world `first`, without worlds whose parameters are invalid. */
static SapPack take_pack(const Job *job, int first, int lanes) {
    SapSolver *s = job->d->solver;
    SapPack pack = sap_pack_at(first, s->num_worlds, lanes);
    int count = 0;
    for (int l = 0; l < pack.count; l++) {
        int world = pack.world[l];
        if (s->per_world.count > 0)
            sap_per_world_refresh(&s->per_world, world);
        if (skip_world(&job->args, world))
            job->d->status[world] |= SAP_GRADIENT_FAILED;
        else
            pack.world[count++] = world;
    }
    for (int l = count; l < lanes && count > 0; l++)
        pack.world[l] = pack.world[count - 1];
    pack.count = count;
    return pack;
}

static void run_packs(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    SapSolver *s = job->d->solver;
    void *scratch = job->d->scratch ? (char *)job->d->scratch + (size_t)worker * job->d->scratch_bytes : NULL;
    int from = worker, lanes = s->kernels.pack[1]->lanes;
    for (int p; (p = sap_work_ranges_take(s->ranges, worker, num_workers, &from)) >= 0;) {
        SapPack pack = take_pack(job, p * lanes, lanes);
        if (pack.count == 0)
            continue;
        SapContext ctx = sap_context(&job->args, &pack, &s->kernels, &s->scratch[worker]);
        if (job->call->kind == SAP_GRADIENT_COTANGENTS)
            run_backwards(&ctx, job, &pack, scratch);
        else
            run_forwards(&ctx, job, &pack, scratch);
    }
}

/* NaN for worlds that no pack has taken. */
static void fill_skipped(const Job *job) {
    size_t rows = 2 * (size_t)job->args.plan.nv;
    const SapGradientCall *call = job->call;
    const uint8_t *skipped = job->args.skipped;
    for (int w = 0; w < job->args.num_worlds && skipped && call->kind != SAP_GRADIENT_STEP; w++) {
        if (!skipped[w])
            continue;
        double *state = call->kind == SAP_GRADIENT_MATRICES   ? call->A
                        : call->kind == SAP_GRADIENT_TANGENTS ? call->tangent
                                                              : call->start;
        size_t size = call->kind == SAP_GRADIENT_MATRICES ? rows * rows : rows;
        for (size_t i = 0; i < size; i++)
            state[(size_t)w * size + i] = 0.0 / 0.0;
        for (int a = 0; a < call->num_arrays && call->kind != SAP_GRADIENT_TANGENTS; a++) {
            size = (size_t)call->array[a].count * (call->kind == SAP_GRADIENT_MATRICES ? rows : 1);
            for (size_t i = 0; i < size; i++)
                call->array[a].out[(size_t)w * size + i] = 0.0 / 0.0;
        }
    }
}

static SapBuffer rows_of(void *data, int stride) {
    return (SapBuffer){.data = data, .stride = stride, .is_f64 = 1};
}

static SapStatus run(const SapBatch *b, SapDifferentiator *d, const SapGradientCall *call) {
    const SapGradientSteps *steps = call->steps;
    SapSolver *s = d->solver;
    size_t worlds = (size_t)b->num_worlds, state_size = worlds * (size_t)(b->nq + b->nv);
    Job job = {.d = d, .call = call, .args = s->args, .q = rows_of(d->q, b->nq), .qd = rows_of(d->qd, b->nv)};
    /* arguments of the step */
    job.args.h = steps->h;
    job.args.num_steps = 1;
    sap_step_args_set_input(&job.args, steps->state ? steps->state : &b->arrays.state);
    sap_step_args_set_control(&job.args, steps->control ? steps->control : &b->arrays.control,
                              sap_model_arrays(s->model));
    job.args.guess = (SapBuffer){0};
    sap_step_args_set_contacts(&job.args, &d->contacts);
    job.args.collide.enabled = 1;
    job.args.q_out = job.q;
    job.args.qd_out = job.qd;
    if (call->kind == SAP_GRADIENT_STEP)
        sap_step_args_set_output(&job.args, &b->arrays.state);
    /* arguments of the derivatives */
    job.gradient = (SapGradientArgs){.what = call->kind,
                                     .num_arrays = call->num_arrays,
                                     .array = call->array,
                                     .A = call->A,
                                     .end = call->end,
                                     .start = call->start,
                                     .tangent = call->tangent,
                                     .kink = call->options.kink,
                                     .status = d->status,
                                     .margin = d->margin};
    if (call->kind != SAP_GRADIENT_STEP)
        SAP_TRY(prepare_scratch(d, call, &job.gradient));
    if (call->kind == SAP_GRADIENT_COTANGENTS) {
        for (int a = 0; a < call->num_arrays; a++)
            memset(call->array[a].out, 0, worlds * (size_t)call->array[a].count * sizeof(double));
        if (steps->steps > 1)
            job.states =
                sap_allocate_raw((size_t)(steps->steps - 1), state_size * sizeof(double), "states of the steps");
        if (steps->steps > 1 && !job.states)
            return SAP_ERROR_MEMORY;
    }
    for (size_t w = 0; w < worlds; w++) {
        d->status[w] = 0;
        d->margin[w] = 1;
    }
    sap_work_ranges_start(s->ranges, s->threads, (s->num_worlds - 1) / s->kernels.pack[1]->lanes + 1);
    sap_pool_run(s->pool, run_packs, &job);
    fill_skipped(&job);
    free(job.states);
    if (steps->status)
        memcpy(steps->status, d->status, worlds * sizeof *d->status);
    if (steps->margin)
        memcpy(steps->margin, d->margin, worlds * sizeof *d->margin);
    return SAP_OK;
}

SapStatus sap_differentiate(const SapBatch *b, SapSolver *solver, const SapGradientCall *call,
                            SapDifferentiator **own) {
    SAP_TRY(sap_solver_check_arrays(solver, call->what, call->steps->state ? call->steps->state : &b->arrays.state,
                                    call->steps->control ? call->steps->control : &b->arrays.control, NULL));
    SapDifferentiator *d = *own;
    if (d && (d->tolerance != call->options.tolerance || d->max_iterations != call->options.max_iterations)) {
        sap_differentiator_destroy(d);
        *own = d = NULL;
    }
    if (!d) {
        SapStatus status = create(b, solver, call, own);
        if (status != SAP_OK) {
            sap_differentiator_destroy(*own);
            *own = NULL;
            return status;
        }
        d = *own;
    }
    SAP_TRY(sap_pool_check(d->solver->pool, call->what));
    SAP_TRY(copy_parameters(d, &solver->per_world));
    return run(b, d, call);
}
