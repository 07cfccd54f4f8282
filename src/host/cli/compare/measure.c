/* Steps of the variants. The reference runs first. Then each variant takes one step from each state of that run, and
 * runs by itself from the initial states. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/compare/compare.h"
#include "host/cli/compare/record.h"
#include "host/cli/interrupt.h"

/* The records of the variants that others are compared with. A row of `step` holds the states after one step from the
 * states of the row before in run[0], which for the reference is that run itself. */
typedef struct Measure {
    Compare *c;
    Record run[COMPARE_VARIANTS], step[COMPARE_VARIANTS];
    double *v, *q; /* [worlds steps] differences of one variant */
    size_t count;
} Measure;

static bool is_compared_with(const Compare *c, int variant) {
    for (int i = 0; i < c->num_variants; i++)
        if (c->variant[i].against == variant)
            return true;
    return false;
}

static const Record *steps_of(const Measure *m, int variant) {
    return variant == 0 ? &m->run[0] : &m->step[variant];
}

/* ---- batches ---- */

/* All variants have states in f64 and the contact slots of the reference, which is measured once. */
static bool create(Compare *c, int variant, CliBatch *batch) {
    SapScene scene = *c->scene.scene;
    SapOptions *o = &c->variant[variant].options;
    scene.model = cli_compare_model(c, variant);
    if (!cli_batch_create(&scene, o, c->args->worlds, SAP_F64, false, batch))
        return false;
    for (int i = 0; variant == 0 && i < c->num_variants; i++)
        c->variant[i].options.max_contacts = batch->where.capacity;
    return true;
}

static bool start(const Compare *c, CliBatch *batch) {
    memset(batch->failed, 0, (size_t)batch->state->num_worlds * sizeof *batch->failed);
    return cli_check(sap_batch_reset(batch->batch, NULL, 0)) && cli_batch_pull(batch) &&
           cli_batch_perturb(batch, c->args->seed, c->args->noise);
}

/* One step, and its results. */
static bool take_step(CliBatch *batch) {
    return !cli_interrupted() && cli_batch_step(batch, 1) && cli_batch_gather(batch);
}

/* ---- a run ---- */

static void drift_add(CompareDrift *d, double sum, int worlds) {
    d->end = sqrt(sum / worlds); /* NaN if there are no worlds */
    if (!(d->end <= d->largest))
        d->largest = d->end;
}

/* Worlds that had failed in either run do not count: a failed world does not move. */
static void add_drift(CompareRow *row, const Record *against, const CliBatch *batch, int step) {
    double sum_v = 0, sum_q = 0;
    int worlds = 0;
    for (int w = 0; w < batch->state->num_worlds; w++) {
        if (cli_record_failed(against, step, w) || batch->failed[w])
            continue;
        double v = cli_record_distance_v(against, batch, step, w), q = cli_record_distance_q(against, batch, step, w);
        sum_v += v * v;
        sum_q += q * q;
        worlds++;
    }
    drift_add(&row->run_v, sum_v, worlds);
    drift_add(&row->run_q, sum_q, worlds);
}

static bool run_freely(Measure *m, int variant, CliBatch *batch) {
    const Compare *c = m->c;
    CompareRow *row = &m->c->row[variant];
    Record *own = &m->run[variant];
    bool keep = is_compared_with(c, variant);
    double seconds = 0;
    if (!start(c, batch) || (keep && !cli_record_keep(own, batch, batch->failed, 0)))
        return false;
    for (int step = 1; step <= c->args->steps; step++) {
        double before = cli_now();
        if (!take_step(batch))
            return false;
        seconds += cli_now() - before;
        if (keep && !cli_record_keep(own, batch, batch->failed, step))
            return false;
        add_drift(row, &m->run[c->variant[variant].against], batch, step);
    }
    row->ns = 1e9 * seconds / ((double)c->args->worlds * c->args->steps);
    row->run_failed = cli_batch_failures(batch);
    return true;
}

/* ---- one step from the same states ---- */

/* A world without a next state in the trajectory, in the other variant or in this one has no difference. */
static void add_differences(Measure *m, int variant, const CliBatch *batch, int step) {
    const Record *against = steps_of(m, m->c->variant[variant].against);
    for (int w = 0; w < batch->state->num_worlds; w++) {
        bool failed = (batch->report.status[w] & SAP_WORLD_FAILED) != 0;
        if (failed || cli_record_failed(&m->run[0], step, w) || cli_record_failed(against, step, w))
            continue;
        m->v[m->count] = cli_record_distance_v(against, batch, step, w);
        m->q[m->count++] = cli_record_distance_q(against, batch, step, w);
    }
}

static void add_solves(CompareRow *row, const CliBatch *batch) {
    const SapWorldReport report = batch->report;
    for (int w = 0; w < batch->state->num_worlds; w++) {
        if (report.status[w] & SAP_WORLD_FAILED)
            continue;
        cli_count_add(&row->newton, report.iterations[w]);
        cli_count_add(&row->line, report.line_iterations[w]);
        row->residual = fmax(row->residual, report.residual[w]);
        row->not_converged += (report.status[w] & SAP_WORLD_NOT_CONVERGED) != 0;
        for (int i = 0; i < CLI_NUM_ENDS; i++)
            row->by_end[i] += (report.status[w] & cli_ends[i].bit) != 0;
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The smallest value that `percent` of the sorted ones do not exceed. */
static double percentile(const double *sorted, size_t n, int percent) {
    return n > 0 ? sorted[((size_t)percent * n + 99) / 100 - 1] : (double)NAN;
}

static CompareSpread spread(double *values, size_t n) {
    qsort(values, n, sizeof *values, ascending);
    return (CompareSpread){percentile(values, n, 50), percentile(values, n, 90), percentile(values, n, 99),
                           percentile(values, n, 100)};
}

static bool step_from_trajectory(Measure *m, int variant, CliBatch *batch) {
    const Compare *c = m->c;
    CompareRow *row = &m->c->row[variant];
    bool keep = variant > 0 && is_compared_with(c, variant);
    if (!start(c, batch))
        return false;
    m->count = 0;
    for (int step = 1; step <= c->args->steps; step++) {
        if (!cli_record_restore(&m->run[0], batch, step - 1) || !take_step(batch))
            return false;
        if (keep && !cli_record_keep(&m->step[variant], batch, batch->report.status, step))
            return false;
        add_differences(m, variant, batch, step);
        add_solves(row, batch);
    }
    row->step_v = spread(m->v, m->count);
    row->step_q = spread(m->q, m->count);
    row->step_failed = cli_batch_failures(batch);
    return true;
}

/* ---- all variants ---- */

static bool allocate(Measure *m) {
    const Compare *c = m->c;
    const CompareArgs *args = c->args;
    size_t count = (size_t)args->worlds * (size_t)args->steps;
    for (int i = 0; i < c->num_variants; i++)
        if (is_compared_with(c, i) &&
            (!cli_record_create(c->scene.scene->model, args->worlds, args->steps, &m->run[i]) ||
             (i > 0 && !cli_record_create(c->scene.scene->model, args->worlds, args->steps, &m->step[i]))))
            return false;
    return (m->v = cli_allocate(count, sizeof *m->v)) && (m->q = cli_allocate(count, sizeof *m->q));
}

static void free_measure(Measure *m) {
    for (int i = 0; m && i < COMPARE_VARIANTS; i++) {
        cli_record_free(&m->run[i]);
        cli_record_free(&m->step[i]);
    }
    free(m ? m->v : NULL);
    free(m ? m->q : NULL);
    free(m);
}

/* The run of the reference comes before its single steps, as it is the trajectory. */
static bool measure(Measure *m, int variant) {
    CliBatch batch = {0};
    bool ok =
        create(m->c, variant, &batch) && run_freely(m, variant, &batch) && step_from_trajectory(m, variant, &batch);
    cli_batch_free(&batch);
    return ok;
}

bool cli_compare_run(Compare *c) {
    Measure *m = cli_allocate(1, sizeof *m);
    if (m)
        m->c = c;
    bool ok = m && allocate(m);
    cli_catch_interrupt();
    for (; ok && c->num_rows < c->num_variants; c->num_rows += ok)
        ok = measure(m, c->num_rows);
    free_measure(m);
    return ok || cli_interrupted();
}
