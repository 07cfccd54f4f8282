/* The public call of the dual solvers: checks, scratch and threads for one call. */
#include <sapwood/dual.h>

#include <math.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/stack.h"
#include "host/cpu/dispatch.h"
#include "host/cpu/pool.h"
#include "host/cpu/context.h"
#include "host/cpu/work_ranges.h"
#include "kernels/data/dual.h"

enum { MAX_ROWS = 3072, MAX_THREADS = 1024, MAX_ITERATIONS = 100000 };

void sap_dual_options_default(SapDualOptions *out) {
    if (out)
        *out = (SapDualOptions){.optimality_rel_tol = 1e-6,
                                .max_iterations = -1,
                                .pgs_omega = 1,
                                .precision = SAP_FP64,
                                .threads = 1,
                                .isa = SAP_ISA_AUTO};
}

/* ---- checks ---- */

static SapStatus check_choice(const char *name, int value, int last) {
    if (value < 0 || value > last)
        return sap_fail(SAP_ERROR_ARGUMENT, "options.%s is %d; allowed: 0 .. %d", name, value, last);
    return SAP_OK;
}

static SapStatus check_int(const char *name, int value, int low, int high) {
    if (value < low || value > high)
        return sap_fail(SAP_ERROR_ARGUMENT, "options.%s is %d; allowed: %d .. %d", name, value, low, high);
    return SAP_OK;
}

static SapStatus check_tolerance(const char *name, double value) {
    if (!(value >= 0) || !isfinite(value))
        return sap_fail(SAP_ERROR_ARGUMENT, "options.%s is %g; it must be finite and >= 0", name, value);
    return SAP_OK;
}

static SapStatus check_options(const SapDualOptions *o) {
    SAP_TRY(check_choice("method", (int)o->method, SAP_DUAL_ACTIVE_SET_SINGLE));
    SAP_TRY(check_choice("friction_law", (int)o->friction_law, SAP_FRICTION_COULOMB));
    SAP_TRY(check_choice("precision", (int)o->precision, SAP_FP64));
    SAP_TRY(check_tolerance("optimality_rel_tol", o->optimality_rel_tol));
    SAP_TRY(check_tolerance("optimality_abs_tol", o->optimality_abs_tol));
    SAP_TRY(check_int("max_iterations", o->max_iterations, -1, MAX_ITERATIONS));
    SAP_TRY(check_int("threads", o->threads, 0, MAX_THREADS));
    if (o->friction_law == SAP_FRICTION_COULOMB && o->method != SAP_DUAL_CONE && o->method != SAP_DUAL_PGS)
        return sap_fail(SAP_ERROR_ARGUMENT, "options.friction_law is coulomb; only the methods cone and pgs have it");
    if (o->precision == SAP_FP32 && o->optimality_rel_tol < 1e-4)
        return sap_fail(SAP_ERROR_ARGUMENT,
                        "options.optimality_rel_tol is %g; with precision f32 it must be at least 1e-4",
                        o->optimality_rel_tol);
    if (!(o->pgs_omega > 0 && o->pgs_omega < 2))
        return sap_fail(SAP_ERROR_ARGUMENT, "options.pgs_omega is %g; it must be > 0 and < 2", o->pgs_omega);
    if (o->lanes != 0 && o->lanes != 1 && o->lanes != 4 && o->lanes != 8)
        return sap_fail(SAP_ERROR_ARGUMENT, "options.lanes is %d; allowed: 0, 1, 4, 8", o->lanes);
    return SAP_OK;
}

/* Counts the blocks of each kind and the rows. */
static SapStatus count_rows(const SapDualProblem *p, int counts[4], int *rows) {
    if (p->num_problems < 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "problem.num_problems is %d; it must be >= 0", p->num_problems);
    if (p->num_blocks < 0 || p->num_blocks > MAX_ROWS)
        return sap_fail(SAP_ERROR_ARGUMENT, "problem.num_blocks is %d; allowed: 0 .. %d", p->num_blocks, MAX_ROWS);
    *rows = 0;
    for (int b = 0; b < p->num_blocks; b++) {
        int kind = p->kind ? p->kind[b] : SAP_DUAL_CONTACT;
        if (kind < SAP_DUAL_CONTACT || kind > SAP_DUAL_BOX)
            return sap_fail(SAP_ERROR_ARGUMENT,
                            "problem.kind[%d] is %d; allowed: 0 contact, 1 unilateral, 2 free, 3 box", b, kind);
        counts[kind]++;
        *rows += kind == SAP_DUAL_CONTACT ? 3 : 1;
    }
    if (*rows > MAX_ROWS)
        return sap_fail(SAP_ERROR_ARGUMENT, "problem: the blocks have %d rows; at most %d are allowed", *rows,
                        MAX_ROWS);
    return SAP_OK;
}

static SapStatus check_arrays(const SapDualProblem *p, const SapDualSolution *out, const int counts[4]) {
    const struct {
        const char *name;
        const void *array;
        bool needed;
    } arrays[] = {{"problem.W", p->W, p->num_blocks > 0},
                  {"problem.b", p->b, p->num_blocks > 0},
                  {"problem.mu", p->mu, counts[SAP_DUAL_CONTACT] > 0},
                  {"problem.lo", p->lo, counts[SAP_DUAL_BOX] > 0},
                  {"problem.hi", p->hi, counts[SAP_DUAL_BOX] > 0},
                  {"out.impulse", out->impulse, p->num_blocks > 0},
                  {"out.status", out->status, true}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (arrays[i].needed && p->num_problems > 0 && !arrays[i].array)
            return sap_fail(SAP_ERROR_ARGUMENT, "sap_dual_solve: %s is NULL", arrays[i].name);
    return SAP_OK;
}

/* ---- the call ---- */

static SapBuffer buffer(const double *data, int stride) {
    return (SapBuffer){.data = (void *)(uintptr_t)data, .stride = stride, .is_f64 = 1}; /* inputs are only read */
}

static SapDualArgs make_args(const SapDualProblem *p, const SapDualOptions *o, const SapDualSolution *out, int rows,
                             const int *blocks) {
    int n = rows, num = p->num_blocks; /* n <= MAX_ROWS */
    return (SapDualArgs){.shape = {p->num_blocks, rows, blocks, blocks + p->num_blocks},
                         .W = buffer(p->W, n * n),
                         .R = buffer(p->R, n),
                         .b = buffer(p->b, n),
                         .mu = buffer(p->mu, num),
                         .lo = buffer(p->lo, num),
                         .hi = buffer(p->hi, num),
                         .guess = buffer(p->guess, n),
                         .options = *o,
                         .impulse = buffer(out->impulse, n),
                         .velocity = buffer(out->velocity, n),
                         .cost = buffer(out->cost, 1),
                         .residual = buffer(out->residual, 1),
                         .status = out->status,
                         .iterations = out->iterations,
                         .inner_iterations = out->inner_iterations,
                         .safeguards = out->safeguards,
                         .active = out->active,
                         .region = out->region};
}

typedef struct Job {
    const SapDualArgs *args;
    const SapDualKernels *kernels;
    int num_problems, threads;
    size_t scratch_bytes; /* of one worker */
    int *blocks;          /* kinds, then first rows */
    char *scratch;        /* [threads][scratch_bytes] */
    SapWorkRange *ranges; /* [threads] */
    SapPool *pool;
} Job;

static void run_packs(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    int lanes = job->kernels->lanes, from = worker;
    for (int p; (p = sap_work_ranges_take(job->ranges, worker, num_workers, &from)) >= 0;) {
        SapPack pack = sap_pack_at(p * lanes, job->num_problems, lanes);
        job->kernels->solve(job->args, &pack, job->scratch + (size_t)worker * job->scratch_bytes);
    }
}

/* Kinds and first rows of the blocks. */
static SapStatus list_blocks(const SapDualProblem *p, int **out) {
    int *blocks = sap_allocate(2 * (size_t)p->num_blocks + 1, sizeof *blocks, "blocks of dual problems"), row = 0;
    if (!blocks)
        return SAP_ERROR_MEMORY;
    for (int b = 0; b < p->num_blocks; b++) {
        blocks[b] = p->kind ? p->kind[b] : SAP_DUAL_CONTACT;
        blocks[p->num_blocks + b] = row;
        row += blocks[b] == SAP_DUAL_CONTACT ? 3 : 1;
    }
    *out = blocks;
    return SAP_OK;
}

static SapStatus choose_kernels(const SapDualOptions *o, Job *job) {
    SapIsa isa;
    SAP_TRY(sap_isa_resolve(o->isa, &isa));
    int lanes = o->lanes ? o->lanes : sap_default_lanes(isa, o->precision, job->num_problems, SAP_DUAL_LANES);
    job->kernels = sap_dual_kernels_find(isa, lanes, o->precision);
    if (!job->kernels)
        return sap_fail(SAP_ERROR_UNSUPPORTED, "sap_dual_solve: lanes is %d; isa %s in this library allows %s", lanes,
                        sap_isa_name(isa), sap_lanes_allowed(isa, SAP_DUAL_LANES).text);
    int packs = (job->num_problems - 1) / lanes + 1, threads = o->threads ? o->threads : sap_pool_cpus();
    job->threads = threads < packs ? threads : packs;
    return SAP_OK;
}

static SapStatus solve_packs(const SapDualProblem *p, const SapDualOptions *o, const SapDualSolution *out, int rows,
                             Job *job) {
    SAP_TRY(choose_kernels(o, job));
    SAP_TRY(list_blocks(p, &job->blocks));
    SapDualArgs args = make_args(p, o, out, rows, job->blocks);
    job->args = &args;
    size_t bytes = job->kernels->scratch(p->num_blocks, rows) * (size_t)job->kernels->real_bytes;
    job->scratch_bytes = (bytes + 63) / 64 * 64 + 64;
    job->scratch = sap_allocate_raw((size_t)job->threads, job->scratch_bytes, "scratch of dual problems");
    job->ranges = sap_allocate((size_t)job->threads, sizeof *job->ranges, "work ranges of dual problems");
    if (!job->scratch || !job->ranges)
        return SAP_ERROR_MEMORY;
    SAP_TRY(sap_stack_check("sap_dual_solve"));
    SAP_TRY(sap_pool_create(job->threads, &job->pool));
    sap_work_ranges_start(job->ranges, job->threads, (job->num_problems - 1) / job->kernels->lanes + 1);
    sap_pool_run(job->pool, run_packs, job);
    return SAP_OK;
}

SapStatus sap_dual_solve(const SapDualProblem *problem, const SapDualOptions *options, const SapDualSolution *out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(problem);
    SAP_NEED(out);
    SapDualOptions o;
    sap_dual_options_default(&o);
    if (options)
        o = *options;
    int counts[4] = {0}, rows = 0;
    SAP_TRY(check_options(&o));
    SAP_TRY(count_rows(problem, counts, &rows));
    SAP_TRY(check_arrays(problem, out, counts));
    if (problem->num_problems == 0)
        return SAP_OK;
    Job job = {.num_problems = problem->num_problems};
    SapStatus status = solve_packs(problem, &o, out, rows, &job);
    sap_pool_destroy(job.pool);
    free(job.ranges);
    free(job.scratch);
    free(job.blocks);
    return status;
}
