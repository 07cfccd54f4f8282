/* The solver on the CPU: checks a call, turns it into kernel arguments, and deals packs of worlds out to the threads. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/solver.h>

#include "dispatch.h"
#include "energy.h"
#include "fail.h"
#include "host_memory.h"
#include "model.h"
#include "options.h"
#include "plan.h"
#include "pool.h"

struct SapSolver {
    SapModel *model; /* a copy: the caller's may go away */
    SapOptions options;
    SapIsa isa;
    int num_worlds;
    SapPlanOwner plan;
    SapConstantsOwner constants;
    const SapKernels *kernels;
    SapPool *pool;
    int threads;
    void **scratch; /* [threads] */
    size_t scratch_bytes;
    uint32_t *status; /* [num_worlds] */
};

static SapStatus create_scratch(SapSolver *s) {
    size_t reals = (size_t)s->plan.plan.layout.size;
    if (__builtin_mul_overflow(reals, (size_t)s->kernels->real_bytes, &s->scratch_bytes))
        return sap_fail(SAP_ERROR_MEMORY, "solver: scratch of %zu numbers per world is too large", reals);
    s->scratch = sap_allocate((size_t)s->threads, sizeof *s->scratch, "solver");
    if (!s->scratch)
        return SAP_ERROR_MEMORY;
    for (int i = 0; i < s->threads; i++) {
        s->scratch[i] = sap_allocate(s->scratch_bytes, 1, "solver scratch");
        if (!s->scratch[i])
            return SAP_ERROR_MEMORY;
    }
    return SAP_OK;
}

static SapStatus fill_solver(SapSolver *s, const SapModelArrays *arrays) {
    SapPrecision precision = s->options.free_motion_solve_precision;
    SAP_TRY(sap_model_create_as_given(arrays, &s->model)); /* it was checked when it was made */
    SAP_TRY(sap_plan_create(sap_model_arrays(s->model), &s->plan));
    SAP_TRY(sap_constants_create(sap_model_arrays(s->model), &s->plan.plan, precision == SAP_FP64, &s->constants));
    SAP_TRY(sap_isa_resolve(s->options.isa, &s->isa));
    int lanes = s->options.lanes ? s->options.lanes : sap_default_lanes(s->isa, precision, s->num_worlds);
    s->kernels = sap_kernels_find(s->isa, lanes, precision);
    int packs = (s->num_worlds - 1) / lanes + 1;
    int threads = s->options.threads ? s->options.threads : sap_pool_cpus();
    s->threads = threads < packs ? threads : packs;
    SAP_TRY(create_scratch(s));
    s->status = sap_allocate((size_t)s->num_worlds, sizeof *s->status, "solver status");
    if (!s->status)
        return SAP_ERROR_MEMORY;
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
    if (status == SAP_OK)
        status = fill_solver(s, sap_model_arrays(model));
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
        free(s->scratch[i]);
    free(s->scratch);
    free(s->status);
    sap_constants_free(&s->constants);
    sap_plan_free(&s->plan);
    sap_model_destroy(s->model);
    free(s);
}

const uint32_t *sap_solver_world_status(const SapSolver *solver) {
    return solver ? solver->status : NULL;
}

SapStatus sap_solver_info(const SapSolver *s, SapSolverInfo *out) {
    SAP_NEED(s);
    SAP_NEED(out);
    size_t pointers = (size_t)s->threads * sizeof *s->scratch, status = (size_t)s->num_worlds * sizeof *s->status;
    *out = (SapSolverInfo){
        .num_worlds = s->num_worlds,
        .threads = s->threads,
        .lanes = s->kernels->lanes,
        .isa = s->isa,
        .scratch_bytes = s->scratch_bytes,
        .model_bytes = s->plan.bytes + s->constants.bytes,
        .total_bytes =
            sizeof *s + s->plan.bytes + s->constants.bytes + (size_t)s->threads * s->scratch_bytes + pointers + status,
        .factor_nonzeros = s->plan.plan.nnz,
    };
    return SAP_OK;
}

/* ---- running ---- */

typedef void Program(const SapStepArgs *args, const SapPack *pack, void *scratch);

typedef struct Job {
    const SapSolver *solver;
    const SapStepArgs *args;
    Program *program;
} Job;

/* Worker w steps a contiguous range of packs. */
static void run_packs(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    int lanes = job->solver->kernels->lanes, worlds = job->solver->num_worlds;
    int64_t packs = (worlds - 1) / lanes + 1;
    int first = (int)(packs * worker / num_workers), end = (int)(packs * (worker + 1) / num_workers);
    for (int p = first; p < end; p++) {
        SapPack pack = {.count = worlds - p * lanes < lanes ? worlds - p * lanes : lanes};
        for (int l = 0; l < lanes; l++)
            pack.world[l] = p * lanes + (l < pack.count ? l : pack.count - 1);
        job->program(job->args, &pack, job->solver->scratch[worker]);
    }
}

static void run(SapSolver *s, const SapStepArgs *args, Program *program) {
    Job job = {s, args, program};
    sap_pool_run(s->pool, run_packs, &job);
}

/* ---- arguments of a call ---- */

static SapRows rows(void *data, int stride, SapDtype dtype) {
    return (SapRows){.data = data, .stride = stride, .is_f64 = dtype == SAP_F64};
}

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

static SapStatus check_timestep(double h) {
    if (!(h > 0 && isfinite(h)))
        return sap_fail(SAP_ERROR_ARGUMENT, "h is %g; a time step must be finite and greater than 0", h);
    return SAP_OK;
}

/* Two arrays of a state may be the same (in place) or apart, but not partly the same. */
static SapStatus check_overlap(const char *name, const void *a, size_t a_bytes, const void *b, size_t b_bytes,
                               bool same_layout) {
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    bool apart = x + a_bytes <= y || y + b_bytes <= x;
    if (!apart && !(x == y && same_layout))
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_step: %s of in and out overlap; they must be the same array or apart",
                        name);
    return SAP_OK;
}

static SapStatus check_in_place(const SapSolver *s, const SapState *in, const SapState *out) {
    const SapPlan *p = &s->plan.plan;
    size_t in_size = in->dtype == SAP_F64 ? 8 : 4, out_size = out->dtype == SAP_F64 ? 8 : 4, n = (size_t)s->num_worlds;
    size_t nq = n * (size_t)p->nq, nv = n * (size_t)p->nv;
    bool same = in->dtype == out->dtype;
    SAP_TRY(check_overlap("joint_q", in->joint_q, nq * in_size, out->joint_q, nq * out_size, same));
    return check_overlap("joint_qd", in->joint_qd, nv * in_size, out->joint_qd, nv * out_size, same);
}

static void set_input(const SapSolver *s, const SapState *in, SapStepArgs *args) {
    const SapPlan *p = &s->plan.plan;
    args->plan = *p;
    args->constants = s->constants.constants;
    args->num_worlds = s->num_worlds;
    args->status = s->status;
    args->euler = s->options.position_integration == SAP_EULER;
    args->compat = s->options.compat == SAP_COMPAT_SAP_WARP;
    args->q_in = rows(in->joint_q, p->nq, in->dtype);
    args->qd_in = rows(in->joint_qd, p->nv, in->dtype);
}

/* Without a control the model's own joint_f is one row for all worlds. */
static SapStatus set_control(const SapSolver *s, const SapControl *control, SapStepArgs *args) {
    const SapPlan *p = &s->plan.plan;
    if (!control) {
        args->joint_f = rows((void *)sap_model_arrays(s->model)->joint_f, 0, SAP_F64);
        return SAP_OK;
    }
    SAP_TRY(check_batch(s, "control", control->num_worlds, control->dtype));
    args->joint_f = rows(control->joint_f, p->nv, control->dtype);
    args->body_f = rows(control->body_f, 6 * p->nb, control->dtype);
    return SAP_OK;
}

static void set_bodies(const SapSolver *s, const SapState *out, SapStepArgs *args) {
    args->body_q = rows(out->body_q, 7 * s->plan.plan.nb, out->dtype);
    args->body_qd = rows(out->body_qd, 6 * s->plan.plan.nb, out->dtype);
}

SapStatus sap_step(SapSolver *solver, const SapState *in, const SapControl *control, double h, SapState *out) {
    SAP_NEED(solver);
    SAP_TRY(check_state(solver, "sap_step: in", in));
    SAP_TRY(check_state(solver, "sap_step: out", out));
    SAP_TRY(check_timestep(h));
    SAP_TRY(check_in_place(solver, in, out));
    SapStepArgs args = {.h = h};
    set_input(solver, in, &args);
    SAP_TRY(set_control(solver, control, &args));
    args.q_out = rows(out->joint_q, solver->plan.plan.nq, out->dtype);
    args.qd_out = rows(out->joint_qd, solver->plan.plan.nv, out->dtype);
    set_bodies(solver, out, &args);
    run(solver, &args, solver->kernels->step);
    return SAP_OK;
}

SapStatus sap_forward_kinematics(SapSolver *solver, SapState *state) {
    SAP_NEED(solver);
    SAP_TRY(check_state(solver, "sap_forward_kinematics: state", state));
    SapStepArgs args = {0};
    set_input(solver, state, &args);
    set_bodies(solver, state, &args);
    run(solver, &args, solver->kernels->kinematics);
    return SAP_OK;
}

/* The energy is worked out from poses and velocities; where the caller does not want these, they are borrowed. */
static SapStatus inspect_with_energy(SapSolver *s, SapStepArgs *args, double *energy) {
    size_t bodies = (size_t)s->num_worlds * (size_t)s->plan.plan.nb;
    double *pose = NULL, *velocity = NULL;
    SapStatus status = SAP_OK;
    if (!args->body_pose)
        args->body_pose = pose = sap_allocate(bodies, 7 * sizeof(double), "energy");
    if (!args->body_velocity)
        args->body_velocity = velocity = sap_allocate(bodies, 6 * sizeof(double), "energy");
    if (!args->body_pose || !args->body_velocity) {
        status = SAP_ERROR_MEMORY;
    } else {
        run(s, args, s->kernels->inspect);
        for (int w = 0; w < s->num_worlds; w++)
            sap_energy(sap_model_arrays(s->model), args->body_pose + (size_t)w * 7 * (size_t)s->plan.plan.nb,
                       args->body_velocity + (size_t)w * 6 * (size_t)s->plan.plan.nb, energy + 2 * w);
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
    SAP_TRY(check_timestep(h));
    SapStepArgs args = {.h = h,
                        .v_star = out->v_star,
                        .A = out->A,
                        .tau = out->tau,
                        .v0 = out->joint_qd,
                        .body_pose = out->body_pose,
                        .body_velocity = out->body_velocity,
                        .body_bias = out->body_bias};
    set_input(solver, in, &args);
    SAP_TRY(set_control(solver, control, &args));
    size_t nv = (size_t)solver->plan.plan.nv;
    if (out->A) /* the kernels write the tree's pattern only */
        memset(out->A, 0, (size_t)solver->num_worlds * nv * nv * sizeof *out->A);
    if (out->energy)
        return inspect_with_energy(solver, &args, out->energy);
    run(solver, &args, solver->kernels->inspect);
    return SAP_OK;
}
