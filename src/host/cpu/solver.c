/* The solver on the CPU: checks a call, turns it into kernel arguments, and deals packs of worlds out to the threads. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/solver.h>

#include "host/cpu/work_ranges.h"
#include "host/cpu/dispatch.h"
#include "host/model/energy.h"
#include "host/plan/world_parameters.h"
#include "host/base/fail.h"
#include "host/base/memory.h"
#include "kernels/step/skip_world.h"
#include "host/model/model.h"
#include "host/options/options.h"
#include "host/plan/model_plan.h"
#include "host/cpu/pool.h"
#include "host/cpu/profile.h"
#include "host/cpu/programs.h"
#include "host/cpu/solver.h"
#include "host/cpu/lockstep.h"
#include "host/plan/step_args.h"

struct SapSolver {
    SapModel *model; /* held: the caller may let go of it */
    const SapModelPlan *plan;
    SapOptions options;
    SapIsa isa;
    int num_worlds;
    SapKernelSet kernels;
    SapPool *pool;
    int threads;
    SapWorkRange *deal;    /* [threads] */
    SapScratch *scratch;   /* [threads] */
    SapTicks *ticks;       /* [threads]; NULL until a profile is asked for */
    SapLockstep *lockstep; /* NULL unless a library solves the Newton systems */
    SapStepArgs args;      /* all that does not change from call to call */
    SapWorldParameters expansion;
    void *results; /* the memory of args.status and of what args.report has of worlds; NULL: these are a batch's */
};

/* ---- creation ---- */

static SapStatus create_scratch(SapSolver *s) {
    s->scratch = sap_allocate((size_t)s->threads, sizeof *s->scratch, "solver");
    s->deal = sap_allocate((size_t)s->threads, sizeof *s->deal, "solver");
    if (!s->scratch || !s->deal)
        return SAP_ERROR_MEMORY;
    for (int i = 0; i < s->threads; i++)
        SAP_TRY(sap_scratch_create(&s->args, &s->kernels, &s->scratch[i]));
    return SAP_OK;
}

static void carve_results(SapArena *arena, int num_worlds, SapStepArgs *args) {
    SAP_CARVE(arena, args->status, num_worlds);
    SAP_CARVE(arena, args->report.iterations, num_worlds);
    SAP_CARVE(arena, args->report.line_iterations, num_worlds);
    SAP_CARVE(arena, args->report.refactored, num_worlds);
    SAP_CARVE(arena, args->report.cost, num_worlds);
    SAP_CARVE(arena, args->report.residual, num_worlds);
}

static SapStatus create_results(SapSolver *s) {
    SapArena arena = {0};
    carve_results(&arena, s->num_worlds, &s->args);
    SAP_TRY(sap_arena_allocate(&arena, "solver results"));
    s->results = arena.base;
    carve_results(&arena, s->num_worlds, &s->args);
    return SAP_OK;
}

void sap_solver_set_results(SapSolver *s, uint32_t *status, const SapReportArgs *report) {
    free(s->results);
    s->results = NULL;
    s->args.status = status;
    s->args.report = *report;
}

static SapStatus fill_args(SapSolver *s, int lanes) {
    const SapConstants constants[2] = {s->plan->constants[0].constants, s->plan->constants[1].constants};
    const SapPlan *plan = &s->plan->plan.plan;
    SAP_TRY(sap_step_args_init(sap_model_arrays(s->model), plan, constants, &s->options, lanes, &s->args));
    s->args.num_worlds = s->num_worlds;
    return create_results(s);
}

static SapStatus fill_solver(SapSolver *s, const SapModel *model) {
    s->model = sap_model_hold(model);
    SAP_TRY(sap_model_plan(s->model, s->options.broad_phase, &s->plan));
    SAP_TRY(sap_isa_resolve(s->options.isa, &s->isa));
    int lanes = s->options.lanes ? s->options.lanes
                                 : sap_default_lanes(s->isa, s->options.free_motion_solve_precision, s->num_worlds);
    for (int f64 = 0; f64 < 2; f64++) {
        s->kernels.pack[f64] = sap_kernels_find(s->isa, lanes, f64 ? SAP_FP64 : SAP_FP32);
        s->kernels.one_lane[f64] = sap_kernels_find(s->isa, 1, f64 ? SAP_FP64 : SAP_FP32);
    }
    int packs = (s->num_worlds - 1) / lanes + 1;
    int threads = s->options.threads ? s->options.threads : sap_pool_cpus();
    s->threads = threads < packs ? threads : packs;
    SAP_TRY(fill_args(s, lanes));
    SAP_TRY(create_scratch(s));
    sap_world_parameters_init(&s->expansion, sap_model_arrays(s->model), &s->plan->plan.plan, &s->options,
                              s->num_worlds);
    if (s->options.factor_plan == SAP_FACTOR_LIBRARY && s->args.newton.dense)
        SAP_TRY(sap_lockstep_create(&s->args, &s->kernels, &s->lockstep));
    return sap_pool_create(s->threads, &s->pool);
}

SapStatus sap_solver_create(const SapModel *model, int num_worlds, const SapOptions *options, SapSolver **out) {
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(model);
    if (num_worlds < 1)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_solver_create: num_worlds is %d; it must be at least 1", num_worlds);
    SapSolver *s = sap_allocate(1, sizeof *s, "solver");
    if (!s)
        return SAP_ERROR_MEMORY;
    s->num_worlds = num_worlds;
    SapStatus status = options ? sap_options_check(options) : sap_options_preset(NULL, &s->options);
    if (status == SAP_OK && options)
        s->options = *options;
    if (status == SAP_OK && s->options.device != SAP_DEVICE_CPU)
        status = sap_fail(
            SAP_ERROR_UNSUPPORTED,
            "sap_solver_create: option device is 'cuda'; a SapSolver runs on the cpu only, a SapBatch on both");
    if (status == SAP_OK)
        status = fill_solver(s, model);
    if (status != SAP_OK) {
        sap_solver_destroy(s);
        return status;
    }
    *out = s;
    return SAP_OK;
}

void sap_solver_destroy(SapSolver *s) {
    if (!s)
        return;
    sap_pool_destroy(s->pool);
    for (int i = 0; s->scratch && i < s->threads; i++)
        sap_scratch_free(&s->scratch[i]);
    free(s->scratch);
    free(s->deal);
    free(s->ticks);
    sap_lockstep_destroy(s->lockstep);
    free(s->results);
    sap_world_parameters_free(&s->expansion);
    sap_model_destroy(s->model);
    free(s);
}

SapStatus sap_solver_report(const SapSolver *s, SapWorldReport *out) {
    SAP_NEED(s);
    SAP_NEED(out);
    const SapReportArgs *r = &s->args.report;
    *out = (SapWorldReport){s->args.status, r->iterations, r->line_iterations, r->refactored, r->cost, r->residual};
    return SAP_OK;
}

SapStatus sap_solver_record(SapSolver *s, const SapContactReport *report) {
    SAP_NEED(s);
    const SapContactReport none = {0}, *r = report ? report : &none;
    SapReportArgs *a = &s->args.report;
    a->impulse = r->impulse;
    a->velocity = r->velocity;
    a->position = r->position;
    a->frame = r->frame;
    a->gap = r->gap;
    a->weight = r->weight;
    a->pair = r->pair;
    a->jacobian = r->jacobian;
    a->region = r->region;
    a->force = r->force;
    a->wrench = r->wrench;
    a->drive = r->drive;
    a->limit = r->limit;
    a->friction = r->friction;
    return SAP_OK;
}

const uint32_t *sap_solver_world_status(const SapSolver *solver) {
    return solver ? solver->args.status : NULL;
}

/* A sweep keeps its pairs as bits. */
static int count_pairs(const SapPlan *p) {
    int count = p->num_pairs;
    for (size_t i = 0, words = (size_t)p->ns * (size_t)p->row_words; p->sweep && i < words; i++)
        count += __builtin_popcount(p->allowed[i]);
    return count;
}

SapStatus sap_solver_info(const SapSolver *s, SapSolverInfo *out) {
    SAP_NEED(s);
    SAP_NEED(out);
    size_t per_world = s->results ? sizeof(uint32_t) + 3 * sizeof(int32_t) + 2 * sizeof(double) : 0;
    size_t model_bytes = s->plan->plan.bytes + s->plan->constants[0].bytes + s->plan->constants[1].bytes;
    *out = (SapSolverInfo){
        .num_worlds = s->num_worlds,
        .threads = s->threads,
        .lanes = s->kernels.pack[0]->lanes,
        .isa = s->isa,
        .scratch_bytes = s->scratch[0].bytes,
        .model_bytes = model_bytes,
        .total_bytes = sizeof *s + model_bytes +
                       (size_t)s->threads * (s->scratch[0].bytes + sizeof *s->scratch + sizeof *s->deal) +
                       (size_t)s->num_worlds * per_world + s->expansion.bytes +
                       (s->lockstep ? sap_lockstep_bytes(s->lockstep) : 0),
        .factor_nonzeros = s->args.plan.tree.nnz,
        .shape_pairs = count_pairs(&s->args.plan),
        .broad_phase = s->args.plan.sweep ? SAP_BROAD_PHASE_SWEEP : SAP_BROAD_PHASE_LISTED,
    };
    return SAP_OK;
}

/* ---- profile ---- */

SapStatus sap_solver_profile(SapSolver *s, bool on) {
    SAP_NEED(s);
    if (on && s->lockstep)
        return sap_fail(SAP_ERROR_UNSUPPORTED,
                        "sap_solver_profile: factor_plan is library, whose stages are not timed; it "
                        "must be sparse or dense");
    if (on && !s->ticks)
        s->ticks = sap_allocate((size_t)s->threads, sizeof *s->ticks, "profile");
    if (on && !s->ticks)
        return SAP_ERROR_MEMORY;
    if (on)
        memset(s->ticks, 0, (size_t)s->threads * sizeof *s->ticks);
    for (int i = 0; i < s->threads; i++)
        s->scratch[i].ticks = on ? &s->ticks[i] : NULL;
    return SAP_OK;
}

SapStatus sap_solver_profile_read(const SapSolver *s, SapProfile *out) {
    SAP_NEED(s);
    SAP_NEED(out);
    *out = (SapProfile){0};
    for (int i = 0; s->ticks && i < s->threads; i++)
        sap_profile_add(out, &s->ticks[i], s->kernels.pack[0]->lanes);
    return SAP_OK;
}

/* ---- running ---- */

typedef struct Job {
    SapSolver *solver;
    const SapStepArgs *args;
    SapProgram *program;
    const uint8_t *mask; /* [num_worlds] worlds that take part; NULL = all */
} Job;

static void clear_counters(const SapReportArgs *r, int world) {
    r->iterations[world] = r->line_iterations[world] = r->refactored[world] = 0;
    r->cost[world] = r->residual[world] = 0;
}

static bool takes_part(const Job *job, int world) {
    if (job->mask && !job->mask[world])
        return false;
    SapWorldParameters *e = &job->solver->expansion;
    if (e->count > 0)
        sap_world_parameters_refresh(e, world);
    return !skip_world(job->args, world);
}

/* Only the worlds that take part; lanes past the count repeat the last of them. */
static void thin_pack(const Job *job, int lanes, SapPack *pack) {
    int count = 0;
    for (int l = 0; l < pack->count; l++)
        if (takes_part(job, pack->world[l]))
            pack->world[count++] = pack->world[l];
    for (int l = count; l < lanes && count > 0; l++)
        pack->world[l] = pack->world[count - 1];
    pack->count = count;
}

/* What one worker does: packs as they are dealt. */
static void run_packs(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    const SapSolver *s = job->solver;
    const SapScratch *scratch = &s->scratch[worker];
    int lanes = s->kernels.pack[0]->lanes, from = worker;
    double start = sap_ticks_begin(scratch->ticks);
    for (int p; (p = sap_work_ranges_take(s->deal, worker, num_workers, &from)) >= 0;) {
        SapPack pack = sap_pack_at(p * lanes, s->num_worlds, lanes);
        if (job->mask || s->expansion.count > 0)
            thin_pack(job, lanes, &pack);
        if (pack.count > 0)
            sap_program_run(job->program, job->args, &pack, &s->kernels, scratch);
        sap_ticks_rest(scratch->ticks);
    }
    sap_ticks_end(scratch->ticks, start);
}

static void run_masked(SapSolver *s, const SapStepArgs *args, SapProgram *program, const uint8_t *mask) {
    Job job = {s, args, program, mask};
    sap_work_ranges_start(s->deal, s->threads, (s->num_worlds - 1) / s->kernels.pack[0]->lanes + 1);
    sap_pool_run(s->pool, run_packs, &job);
}

static void run(SapSolver *s, const SapStepArgs *args, SapProgram *program) {
    run_masked(s, args, program, NULL);
}

/* ---- arguments of a call ---- */

static SapStatus check_batch(const SapSolver *s, const char *what, int num_worlds, SapDtype dtype) {
    if (num_worlds != s->num_worlds)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: num_worlds is %d; the solver has %d", what, num_worlds, s->num_worlds);
    if (dtype != SAP_F32 && dtype != SAP_F64)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: dtype is %d; it must be SAP_F32 or SAP_F64", what, (int)dtype);
    return SAP_OK;
}

static SapStatus check_state(const SapSolver *s, const char *what, const SapState *state) {
    if (!state)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s is NULL", what);
    SAP_TRY(check_batch(s, what, state->num_worlds, state->dtype));
    if (!state->joint_q || !state->joint_qd)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: %s is NULL", what, state->joint_q ? "joint_qd" : "joint_q");
    return SAP_OK;
}

static bool are_apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x + a_bytes <= y || y + b_bytes <= x;
}

static SapStatus check_apart(const char *a_name, const void *a, size_t a_bytes, const char *b_name, const void *b,
                             size_t b_bytes) {
    if (!are_apart(a, a_bytes, b, b_bytes))
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_step: %s and %s overlap; they must be apart", a_name, b_name);
    return SAP_OK;
}

/* Two arrays of a state may be the same (in place) or apart, but not partly the same. */
static SapStatus check_overlap(const char *name, const void *a, size_t a_bytes, const void *b, size_t b_bytes,
                               bool same_layout) {
    if (!are_apart(a, a_bytes, b, b_bytes) && !(a == b && same_layout))
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_step: %s of in and out overlap; they must be the same array or apart",
                        name);
    return SAP_OK;
}

static SapStatus check_in_place(const SapSolver *s, const SapState *in, const SapState *out) {
    const SapPlan *p = &s->args.plan;
    size_t in_size = in->dtype == SAP_F64 ? 8 : 4, out_size = out->dtype == SAP_F64 ? 8 : 4, n = (size_t)s->num_worlds;
    size_t nq = n * (size_t)p->nq, nv = n * (size_t)p->nv;
    bool same = in->dtype == out->dtype;
    SAP_TRY(check_overlap("joint_q", in->joint_q, nq * in_size, out->joint_q, nq * out_size, same));
    SAP_TRY(check_overlap("joint_qd", in->joint_qd, nv * in_size, out->joint_qd, nv * out_size, same));
    SAP_TRY(check_apart("in->joint_q", in->joint_q, nq * in_size, "out->joint_qd", out->joint_qd, nv * out_size));
    SAP_TRY(check_apart("in->joint_qd", in->joint_qd, nv * in_size, "out->joint_q", out->joint_q, nq * out_size));
    return check_apart("out->joint_q", out->joint_q, nq * out_size, "out->joint_qd", out->joint_qd, nv * out_size);
}

static SapStatus set_control(const SapSolver *s, const SapControl *control, SapStepArgs *args) {
    if (control)
        SAP_TRY(check_batch(s, "control", control->num_worlds, control->dtype));
    sap_step_args_set_control(args, control, sap_model_arrays(s->model));
    return SAP_OK;
}

static SapStatus check_contacts(const SapSolver *s, const SapContacts *c) {
    SAP_TRY(check_batch(s, "contacts", c->num_worlds, c->dtype));
    if (s->args.plan.nv > SAP_MAX_DENSE_DOFS)
        return sap_fail(SAP_ERROR_UNSUPPORTED,
                        "contacts: the model has %d dofs; worlds with contacts may have at most %d", s->args.plan.nv,
                        SAP_MAX_DENSE_DOFS);
    if (c->capacity < 1 || c->capacity > s->options.max_rigid_contact)
        return sap_fail(SAP_ERROR_ARGUMENT,
                        "contacts: capacity is %d; it must be in 1 .. max_rigid_contact, which is %d", c->capacity,
                        s->options.max_rigid_contact);
    const struct {
        const char *name;
        const void *data;
    } required[] = {{"count", c->count}, {"point0", c->point0}, {"point1", c->point1}, {"normal", c->normal}};
    for (int i = 0; i < 4; i++)
        if (!required[i].data)
            return sap_fail(SAP_ERROR_ARGUMENT, "contacts: %s is NULL", required[i].name);
    return SAP_OK;
}

static SapStatus check_counts(const SapContacts *c) {
    for (int w = 0; w < c->num_worlds; w++)
        if (c->count[w] < 0 || c->count[w] > c->capacity)
            return sap_fail(SAP_ERROR_ARGUMENT, "contacts: count[%d] is %d; it must be in 0 .. %d", w, c->count[w],
                            c->capacity);
    return SAP_OK;
}

static void run_step(SapSolver *s, SapStepArgs *args) {
    bool solves = sap_program_solves(args);
    size_t wrenches = (size_t)s->num_worlds * (size_t)s->args.plan.nb * 6;
    for (int w = 0; w < s->num_worlds && !solves; w++)
        clear_counters(&args->report, w); /* nothing would write them */
    if (!solves && args->report.wrench)
        memset(args->report.wrench, 0, wrenches * sizeof *args->report.wrench);
    if (s->lockstep)
        sap_lockstep_step(s->lockstep, s->pool, args);
    else
        run(s, args, sap_program_step);
}

SapStatus sap_step(SapSolver *solver, const SapState *in, const SapControl *control, const SapContacts *contacts,
                   double h, SapState *out) {
    SAP_NEED(solver);
    SAP_TRY(check_state(solver, "sap_step: in", in));
    SAP_TRY(check_state(solver, "sap_step: out", out));
    SAP_TRY(sap_check_timestep(h));
    SAP_TRY(check_in_place(solver, in, out));
    SapStepArgs args = solver->args;
    args.h = h;
    sap_step_args_set_input(&args, in);
    SAP_TRY(set_control(solver, control, &args));
    if (contacts) {
        SAP_TRY(check_contacts(solver, contacts));
        SAP_TRY(check_counts(contacts));
        sap_step_args_set_contacts(&args, contacts);
    }
    sap_step_args_set_output(&args, out);
    run_step(solver, &args);
    return SAP_OK;
}

/* Records that collision fills need their shapes, and a place for the number of those that were dropped. */
static SapStatus check_own_contacts(const SapSolver *s, const SapContacts *c) {
    SAP_TRY(check_contacts(s, c));
    if (!c->shape0 || !c->shape1 || !c->dropped)
        return sap_fail(SAP_ERROR_ARGUMENT, "contacts: %s is NULL; collision writes it",
                        !c->shape0   ? "shape0"
                        : !c->shape1 ? "shape1"
                                     : "dropped");
    return SAP_OK;
}

SapStatus sap_collide(SapSolver *solver, const SapState *state, SapContacts *contacts) {
    SAP_NEED(solver);
    SAP_TRY(check_state(solver, "sap_collide: state", state));
    SAP_NEED(contacts);
    SAP_TRY(check_own_contacts(solver, contacts));
    SapStepArgs args = solver->args;
    sap_step_args_set_input(&args, state);
    sap_step_args_set_contacts(&args, contacts);
    args.collide.enabled = 1;
    args.num_steps = 0; /* collision alone */
    run(solver, &args, sap_program_collide);
    return SAP_OK;
}

SapStatus sap_step_many(SapSolver *solver, SapState *state, const SapControl *control, SapContacts *contacts, double h,
                        int num_steps) {
    SAP_TRY(check_state(solver, "sap_step_many: state", state));
    SAP_TRY(sap_check_timestep(h));
    SapStepArgs args = solver->args;
    args.h = h;
    args.num_steps = num_steps;
    sap_step_args_set_input(&args, state);
    SAP_TRY(set_control(solver, control, &args));
    if (contacts) {
        SAP_TRY(check_own_contacts(solver, contacts));
        sap_step_args_set_contacts(&args, contacts);
        args.collide.enabled = 1;
        /* shapes' own parameters: the arrays say so since they were made */
        args.contacts.stiffness.data = args.contacts.tau.data = args.contacts.mu.data = NULL;
    }
    sap_step_args_set_output(&args, state);
    run_step(solver, &args);
    return SAP_OK;
}

SapStatus sap_forward_kinematics_of(SapSolver *solver, SapState *state, const uint8_t *mask) {
    SAP_TRY(check_state(solver, "sap_forward_kinematics: state", state));
    SapStepArgs args = solver->args;
    sap_step_args_set_input(&args, state);
    sap_step_args_set_bodies(&args, state);
    args.num_steps = 0;
    run_masked(solver, &args, sap_program_kinematics, mask);
    return SAP_OK;
}

SapStatus sap_forward_kinematics(SapSolver *solver, SapState *state) {
    SAP_NEED(solver);
    return sap_forward_kinematics_of(solver, state, NULL);
}

/* The energy is worked out from poses and velocities; where the caller does not want these, they are borrowed. */
static SapStatus inspect_with_energy(SapSolver *s, SapStepArgs *args, double *energy) {
    size_t bodies = (size_t)s->num_worlds * (size_t)s->args.plan.nb;
    double *pose = NULL, *velocity = NULL;
    SapStatus status = SAP_OK;
    if (!args->body_pose)
        args->body_pose = pose = sap_allocate(bodies, 7 * sizeof(double), "energy");
    if (!args->body_velocity)
        args->body_velocity = velocity = sap_allocate(bodies, 6 * sizeof(double), "energy");
    if (!args->body_pose || !args->body_velocity) {
        status = SAP_ERROR_MEMORY;
    } else {
        run(s, args, sap_program_inspect);
        for (int w = 0; w < s->num_worlds; w++) {
            if (s->args.status[w] & SAP_WORLD_BAD_PARAMETERS)
                continue;
            SapModelArrays m = sap_world_parameters_model(&s->expansion, w);
            sap_energy(&m, args->body_pose + (size_t)w * 7 * (size_t)s->args.plan.nb,
                       args->body_velocity + (size_t)w * 6 * (size_t)s->args.plan.nb, energy + 2 * w);
        }
    }
    free(pose);
    free(velocity);
    return status;
}

SapStatus sap_free_motion(SapSolver *solver, const SapState *in, const SapControl *control, double h,
                          const SapFreeMotion *out) {
    SAP_NEED(solver);
    SAP_NEED(out);
    SAP_TRY(check_state(solver, "sap_free_motion: in", in));
    SAP_TRY(sap_check_timestep(h));
    SapStepArgs args = solver->args;
    args.h = h;
    args.v_star = out->v_star;
    args.A = out->A;
    args.tau = out->tau;
    args.v0 = out->joint_qd;
    args.body_pose = out->body_pose;
    args.body_velocity = out->body_velocity;
    args.body_bias = out->body_bias;
    sap_step_args_set_input(&args, in);
    SAP_TRY(set_control(solver, control, &args));
    size_t nv = (size_t)solver->args.plan.nv;
    if (out->A) /* the kernels write the tree's pattern only */
        memset(out->A, 0, (size_t)solver->num_worlds * nv * nv * sizeof *out->A);
    if (out->energy)
        return inspect_with_energy(solver, &args, out->energy);
    run(solver, &args, sap_program_inspect);
    return SAP_OK;
}

/* ---- parameters of worlds ---- */

SapStatus sap_solver_expand(SapSolver *s, SapParameter parameter) {
    return sap_world_parameters_add(&s->expansion, parameter, &s->args);
}

SapWorldParameters *sap_solver_world_parameters(SapSolver *s) {
    return &s->expansion;
}
