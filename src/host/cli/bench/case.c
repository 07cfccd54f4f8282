/* One case of `bench`: a scene with given options and number of worlds.
 *
 *   create, step once      measures time and memory
 *   warm up                plan->warmup steps from the scene's initial state with noise; the final state is kept
 *   measure                plan->repeat times: as many passes of plan->steps steps from that state as fill 0.3 s
 *   inspect                one more pass that records contacts, iterations and gaps after every step
 *
 * Targets change every CLI_CONTROL_STEPS steps, in every pass in the same way, so every pass does the same work and
 * ends with the same bits. Only the steps are timed. */
#include "host/cli/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/cluster/cluster.h"
#include "host/cli/control.h"
#include "host/cli/interrupt.h"
#include "host/cli/machine.h"
#include "host/cli/model.h"
#include "host/cli/number.h"
#include "host/cli/bench/peak.h"
#include "host/cli/statistics.h"

static const double start_noise = 0.1;    /* of joint velocities, as in `run` */
static const double repeat_seconds = 0.3; /* minimum duration of one measurement */

typedef struct Case {
    const BenchPlan *plan;
    CliBatch batch;
    void *q, *qd;              /* initial state of each pass */
    double *warm;              /* of MuJoCo's law: its accelerations, a part of the state; else NULL */
    CliStatistics *statistics; /* NULL: not recorded */
    bool singly;               /* one step per call */
    bool spoilt;               /* with a hostile world; statistics are not recorded */
    int hostile_newton;        /* largest number of iterations of the hostile world */
    uint64_t hash;
} Case;

static int hostile_world(const CliBatch *b) {
    return b->state->num_worlds / 2;
}

BenchFormat bench_format(const struct argp_state *state, const char *text) {
    static const char *const formats[] = {"human", "csv", "json", NULL}; /* in the order of BenchFormat */
    return (BenchFormat)cli_choice(state, "--format", text, formats);
}

/* ---- stepping ---- */

/* Lowers a free body by 0.25 m, and offsets all other coordinates except quaternions by up to 0.3. */
static void put_wild_joint(const Case *c, int joint, size_t world) {
    const SapModelArrays *a = c->batch.arrays;
    SapDtype dtype = c->batch.state->dtype;
    void *q = c->batch.state->joint_q;
    size_t first = world * (size_t)a->num_coords + (size_t)a->joint_q_start[joint];
    size_t count = (size_t)(a->joint_q_start[joint + 1] - a->joint_q_start[joint]);
    if (a->joint_type[joint] == SAP_JOINT_FREE)
        cli_put_number(q, dtype, first + 2, cli_number_at(c->q, dtype, first + 2) - 0.25);
    else if (!cli_joint_has_quaternion(a, joint))
        for (size_t i = first; i < first + count; i++)
            cli_put_number(q, dtype, i, cli_number_at(c->q, dtype, i) + 0.3 * cli_random_unit(c->plan->seed, world, i));
}

/* Corrupts the hostile world before each step. `nan` sets one state value to NaN; `wild` pushes the robot into the
 * ground with large joint errors and velocities, which needs many iterations. */
static bool spoil(Case *c) {
    CliBatch *b = &c->batch;
    SapDtype dtype = b->state->dtype;
    size_t nv = (size_t)b->arrays->num_dofs, nq = (size_t)b->arrays->num_coords, w = (size_t)hostile_world(b);
    if (c->plan->hostile == BENCH_HOSTILE_NAN) {
        cli_put_number(b->state->joint_q, dtype, w * nq, (double)NAN);
        return cli_batch_push(b);
    }
    for (size_t i = w * nq; i < (w + 1) * nq; i++)
        cli_put_number(b->state->joint_q, dtype, i, cli_number_at(c->q, dtype, i));
    for (int j = 0; j < b->arrays->num_joints; j++)
        put_wild_joint(c, j, w);
    for (size_t i = w * nv; i < (w + 1) * nv; i++)
        cli_put_number(b->state->joint_qd, dtype, i, cli_random_unit(c->plan->seed, w, i));
    return cli_batch_push(b);
}

static bool look_at_hostile(Case *c) {
    if (!cli_batch_pull(&c->batch))
        return false;
    int iterations = c->batch.report.iterations[hostile_world(&c->batch)];
    c->hostile_newton = iterations > c->hostile_newton ? iterations : c->hostile_newton;
    return true;
}

/* Wall time, or processor time divided by the number of threads. */
static double now(const Case *c) {
    return c->plan->processor_time ? cli_processor_seconds() / c->batch.info.threads : cli_now();
}

/* Takes `count` steps from step `at` of the run; adds their duration to *seconds. */
static bool step(Case *c, int at, int count, double *seconds) {
    int most = c->singly ? 1 : c->plan->call;
    for (int end = at + count, n; at < end; at += n) {
        if (cli_interrupted())
            return false;
        int left = CLI_CONTROL_STEPS - at % CLI_CONTROL_STEPS;
        n = left < most ? left : most;
        n = end - at < n ? end - at : n;
        if (at % CLI_CONTROL_STEPS == 0 || at == end - count) /* also if a pass begins within an interval */
            if (!cli_control_noise(&c->batch, c->plan->seed, c->plan->control_noise, at / CLI_CONTROL_STEPS))
                return false;
        if (c->spoilt && !spoil(c))
            return false;
        double start = now(c);
        if (!cli_batch_step(&c->batch, n))
            return false;
        *seconds += now(c) - start;
        if (!(c->spoilt ? look_at_hostile(c) : cli_batch_gather(&c->batch)))
            return false;
        if (c->statistics &&
            !(cli_statistics_look(c->statistics, &c->batch) && cli_statistics_look_at_gaps(c->statistics, &c->batch)))
            return false;
    }
    return true;
}

static size_t warm_bytes(const Case *c) {
    return 4 * sizeof(double) * (size_t)c->batch.state->num_worlds * (size_t)c->batch.arrays->num_dofs;
}

/* Keeps the accelerations from which MuJoCo's law starts, if the batch has that law. */
static bool keep_warm(Case *c) {
    if (!c->warm)
        return true;
    return cli_check(sap_batch_read(c->batch.batch, SAP_BATCH_DOF_CACHE, c->warm, warm_bytes(c)));
}

static bool restore_warm(const Case *c) {
    return !c->warm || cli_check(sap_batch_write(c->batch.batch, SAP_BATCH_DOF_CACHE, c->warm, warm_bytes(c)));
}

/* One pass: plan->steps steps from the kept state. */
static bool pass(Case *c, double *seconds) {
    memcpy(c->batch.state->joint_q, c->q, c->batch.q_bytes);
    memcpy(c->batch.state->joint_qd, c->qd, c->batch.qd_bytes);
    return cli_batch_push(&c->batch) && restore_warm(c) && step(c, c->plan->warmup, c->plan->steps, seconds);
}

static bool warm_up(Case *c) {
    double seconds = 0;
    if (!cli_batch_perturb(&c->batch, c->plan->seed, start_noise))
        return false;
    c->q = malloc(c->batch.q_bytes);
    c->qd = malloc(c->batch.qd_bytes);
    if (c->q == NULL || c->qd == NULL)
        return cli_fail("no memory for the first state of %d worlds", c->batch.state->num_worlds);
    if (!step(c, 0, c->plan->warmup, &seconds))
        return false;
    memcpy(c->q, c->batch.state->joint_q, c->batch.q_bytes);
    memcpy(c->qd, c->batch.state->joint_qd, c->batch.qd_bytes);
    return keep_warm(c);
}

/* ---- measurement ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, compare);
    return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

/* One measurement, in nanoseconds per world-step. */
static bool measure_once(Case *c, int passes, double *ns) {
    double seconds = 0;
    for (int i = 0; i < passes; i++)
        if (!pass(c, &seconds))
            return false;
    *ns = 1e9 * cli_cluster_max(seconds) / ((double)passes * c->plan->steps * c->batch.total);
    return true;
}

static bool measure(Case *c, BenchRow *row) {
    double ns[1000], seconds = 0; /* --repeat is at most 1000 */
    int repeat = c->plan->repeat;
    if (!pass(c, &seconds))
        return false;
    c->hash = row->hash = cli_batch_hash(&c->batch);
    row->repeatable = true;
    row->passes = (int)fmin(fmax(ceil(repeat_seconds / cli_cluster_max(seconds)), 1), 1e6);
    for (int i = 0; i < repeat; i++) {
        if (!measure_once(c, row->passes, &ns[i]))
            return false;
        row->repeatable &= cli_batch_hash(&c->batch) == c->hash;
    }
    row->ns = median(ns, repeat);
    row->ns_min = ns[0];
    row->ns_max = ns[repeat - 1];
    return true;
}

double bench_peak(SapIsa isa, SapPrecision precision, int threads) {
    static struct {
        SapIsa isa;
        SapPrecision precision;
        int threads;
        double peak;
    } known[16];
    static int count;
    for (int i = 0; i < count; i++)
        if (known[i].isa == isa && known[i].precision == precision && known[i].threads == threads)
            return known[i].peak;
    double peak = cli_peak_flops(isa, precision, threads);
    if (count < 16) {
        known[count].isa = isa;
        known[count].precision = precision;
        known[count].threads = threads;
        known[count++].peak = peak;
    }
    return peak;
}

/* ---- profile ---- */

static double share_of_peak(double flops_per_second, double peak) {
    return flops_per_second / (peak > 0 ? peak : (double)NAN);
}

static void fill_profile(const Case *c, const SapProfile *p, double off, double on, BenchRow *row) {
    static const SapSection free_motion[] = {SAP_SECTION_LOAD,        SAP_SECTION_KINEMATICS,  SAP_SECTION_DYNAMICS,
                                             SAP_SECTION_MASS_MATRIX, SAP_SECTION_FREE_FACTOR, SAP_SECTION_INTEGRATE,
                                             SAP_SECTION_STORE};
    double all = 0, free_ns = 0, flops[2];
    for (int i = 0; i < SAP_NUM_SECTIONS; i++)
        all += p->seconds[i];
    for (int i = 0; i < SAP_NUM_SECTIONS; i++)
        row->profile.ns[i] = row->ns * p->seconds[i] / all;
    for (size_t i = 0; i < sizeof free_motion / sizeof free_motion[0]; i++)
        free_ns += row->profile.ns[free_motion[i]];
    row->profile.overhead = on / off;
    row->profile.free_motion = share_of_peak(1e9 * row->flops / free_ns, row->peak);
    /* the operations on tiles are known only if they are all there */
    bool counted = cli_factor_flops(c->batch.arrays, false, &flops[0]) &&
                   cli_factor_flops(c->batch.arrays, true, &flops[1]) &&
                   (p->factors[1] == 0 || row->options.factor_plan == SAP_FACTOR_DENSE);
    double rate = (p->factors[0] * flops[0] + p->factors[1] * flops[1]) * row->threads / p->seconds[SAP_SECTION_FACTOR];
    row->profile.factor =
        counted ? share_of_peak(rate, bench_peak(row->isa, row->options.linear_solve_precision, row->threads))
                : (double)NAN;
}

/* Alternates runs with and without the profile, so that both see the same machine state. */
static bool profile(Case *c, BenchRow *row) {
    double off[1000], on[1000];
    SapProfile sum = {{0}, {0}};
    for (int i = 0; i < c->plan->repeat; i++) {
        SapProfile part;
        if (!measure_once(c, row->passes, &off[i]) || !cli_check(sap_solver_profile(c->batch.solver, true)) ||
            !measure_once(c, row->passes, &on[i]) || !cli_check(sap_solver_profile(c->batch.solver, false)) ||
            !cli_check(sap_solver_profile_read(c->batch.solver, &part)))
            return false;
        for (int k = 0; k < SAP_NUM_SECTIONS; k++)
            sum.seconds[k] += part.seconds[k];
        for (int k = 0; k < 2; k++)
            sum.factors[k] += part.factors[k];
    }
    row->repeatable &= cli_batch_hash(&c->batch) == c->hash;
    fill_profile(c, &sum, median(off, c->plan->repeat), median(on, c->plan->repeat), row);
    return true;
}

/* ---- a hostile world ---- */

/* The hash of all worlds except the hostile one, whose state is set to 0. */
static uint64_t hash_of_others(Case *c) {
    const CliBatch *b = &c->batch;
    SapDtype dtype = b->state->dtype;
    size_t nv = (size_t)b->arrays->num_dofs, nq = (size_t)b->arrays->num_coords, w = (size_t)hostile_world(b);
    for (size_t i = 0; i < nq; i++)
        cli_put_number(b->state->joint_q, dtype, w * nq + i, 0);
    for (size_t i = 0; i < nv; i++)
        cli_put_number(b->state->joint_qd, dtype, w * nv + i, 0);
    return cli_batch_hash(b);
}

/* Alternates runs with and without it, one step at a time, because it is corrupted before each step. */
static bool measure_hostile(Case *c, BenchRow *row) {
    double calm[1000], hostile[1000];
    row->others_same = c->singly = true;
    for (int i = 0; i < c->plan->repeat; i++) {
        if (!measure_once(c, row->passes, &calm[i]))
            return false;
        uint64_t expected = hash_of_others(c);
        c->spoilt = true;
        bool ok = measure_once(c, row->passes, &hostile[i]);
        c->spoilt = false;
        if (!ok)
            return false;
        row->others_same &= hash_of_others(c) == expected;
    }
    c->singly = false;
    row->hostile_newton = c->hostile_newton;
    row->hostile_ratio = median(hostile, c->plan->repeat) / median(calm, c->plan->repeat);
    return true;
}

/* ---- inspection ---- */

static BenchCount summary(const CliCount *count) {
    return (BenchCount){cli_count_mean(count), cli_count_quantile(count, 95), count->largest};
}

static bool read_results(Case *c, BenchRow *row) {
    CliStatistics *s = cli_allocate(1, sizeof *s);
    double seconds = 0;
    c->statistics = s;
    c->singly = true;
    bool ok = s && cli_statistics_record_gaps(&c->batch) && pass(c, &seconds);
    c->statistics = NULL;
    c->singly = false;
    if (ok) {
        cli_statistics_gather(s);
        row->repeatable &= cli_batch_hash(&c->batch) == c->hash;
        row->contacts = summary(&s->contacts);
        row->newton = summary(&s->newton);
        row->line = summary(&s->line);
        row->most_slots = s->needed.largest;
        for (int i = 0; i < CLI_NUM_STOPS; i++)
            row->stops[i] = cli_statistics_share(s, i);
        row->depth_p95 = cli_gaps_depth(&s->gaps, 95);
        row->depth_most = s->gaps.samples ? fmax(0, -s->gaps.smallest) : (double)NAN;
        row->failures = cli_batch_failures(&c->batch);
        row->truncated = cli_batch_seen(&c->batch, SAP_WORLD_CONTACTS_TRUNCATED);
        row->not_converged = cli_batch_seen(&c->batch, SAP_WORLD_NOT_CONVERGED);
    }
    free(s);
    return ok;
}

/* Bytes per world of the arrays that every batch has; the others are made when they are asked for. */
static double array_bytes(SapBatch *batch) {
    double bytes = 0;
    for (int field = 0; field <= SAP_BATCH_CONTACT_MARGIN1; field++) {
        SapArray view;
        if (sap_batch_array(batch, (SapBatchField)field, &view) == SAP_OK)
            bytes += (double)view.strides[0];
    }
    return bytes;
}

/* ---- the case ---- */

static bool create(Case *c, const CliScene *scene, BenchRow *row) {
    double resident = cli_resident_bytes(), start = cli_now(), seconds = 0;
    if (!cli_batch_create(scene->scene, &row->options, row->worlds, cli_default_dtype(&row->options), c->plan->bodies,
                          &c->batch))
        return false;
    if (row->options.contact_solver == SAP_SOLVER_MUJOCO && !(c->warm = cli_allocate(1, warm_bytes(c))))
        return false;
    row->where = c->batch.where;
    if (row->where.device == SAP_DEVICE_CPU) {
        row->isa = c->batch.info.isa;
        row->lanes = c->batch.info.lanes;
        row->threads = c->batch.info.threads;
    }
    row->capacity = c->batch.contacts->capacity;
    row->bytes = cli_batch_bytes(&c->batch) / row->worlds;
    row->array_bytes = array_bytes(c->batch.batch);
    if (!step(c, 0, 1, &seconds))
        return false;
    row->start_seconds = cli_cluster_max(cli_now() - start);
    row->resident = cli_cluster_sum(cli_resident_bytes() - resident) / row->worlds;
    return cli_check(sap_batch_reset(c->batch.batch, NULL, 0)) && cli_batch_pull(&c->batch);
}

static bool run_case(Case *c, BenchRow *row) {
    row->hostile_ratio = (double)NAN;
    row->peak = row->where.device == SAP_DEVICE_CPU
                    ? cli_cluster_sum(bench_peak(row->isa, row->options.free_motion_precision, row->threads))
                    : (double)NAN;
    return cli_step_flops(c->batch.arrays, &row->flops) && warm_up(c) && measure(c, row) &&
           (!c->plan->profile || profile(c, row)) &&
           (c->plan->hostile == BENCH_HOSTILE_NONE || measure_hostile(c, row)) && read_results(c, row);
}

bool bench_case(const BenchPlan *plan, const CliScene *scene, bool (*is_known)(void *arg, const BenchRow *row),
                void *arg, BenchRow *row) {
    Case c = {.plan = plan};
    bool ok = create(&c, scene, row);
    if (ok && cli_cluster_max(is_known(arg, row) ? 0 : 1) > 0) /* some rank has not measured it yet */
        ok = run_case(&c, row);
    free(c.q);
    free(c.qd);
    free(c.warm);
    cli_batch_free(&c.batch);
    return ok;
}

bool bench_row_failed(const BenchRow *row) {
    return row->failures.total || row->truncated.total || !row->repeatable ||
           (!isnan(row->hostile_ratio) && !row->others_same);
}
