#include "host/cpu/run.h"

#include <stdbool.h>
#include <string.h>

#include "host/cpu/group.h"
#include "host/cpu/keep.h"
#include "host/cpu/profile.h"
#include "kernels/step/skip_world.h"

typedef struct Job {
    SapSolver *solver;
    const SapStepArgs *args;
    SapProgram *program;
    const uint8_t *mask; /* [num_worlds] nonzero: the world is processed; NULL = all */
    const int *list;     /* [count] the worlds to process; NULL = all */
    int count;
} Job;

static void clear_dual_counters(const SapReportArgs *r, int world) {
    if (r->safeguards)
        r->safeguards[world] = 0;
    if (r->active)
        r->active[world] = 0;
}

static bool takes_part(const Job *job, int world) {
    if (job->mask && !job->mask[world])
        return false;
    SapWorldParameters *e = &job->solver->parameters;
    if (e->count > 0)
        sap_world_parameters_refresh(e, world);
    if (!skip_world(job->args, world))
        return true;
    clear_dual_counters(&job->args->report, world);
    return false;
}

/* Reduces the pack to the worlds to be processed; lanes past the count repeat the last one. */
static void thin_pack(const Job *job, int lanes, SapPack *pack) {
    int count = 0;
    for (int l = 0; l < pack->count; l++)
        if (takes_part(job, pack->world[l]))
            pack->world[count++] = pack->world[l];
    for (int l = count; l < lanes && count > 0; l++)
        pack->world[l] = pack->world[count - 1];
    pack->count = count;
}

/* The pack that begins with place `first` of the list, or with that world. */
static SapPack pack_of(const Job *job, int first, int lanes) {
    SapPack pack = sap_pack_at(first, job->count, lanes);
    for (int l = 0; job->list && l < lanes; l++)
        pack.world[l] = job->list[pack.world[l]];
    return pack;
}

/* Copies the inputs of the pack's worlds, if asked to. Without a list they are neighbours. */
static void keep_pack(const Job *job, const SapPack *pack) {
    const SapKept *kept = job->solver->kept;
    if (kept && !job->list)
        sap_keep_worlds(kept, pack->world[0], pack->count);
    for (int l = 0; kept && job->list && l < pack->count; l++)
        sap_keep_worlds(kept, pack->world[l], 1);
}

/* The work of one thread: packs from its own range, then from those of other threads. */
static void run_packs(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    const SapSolver *s = job->solver;
    const SapScratch *scratch = &s->scratch[worker];
    int lanes = s->kernels.pack[0]->lanes, from = worker;
    double start = sap_ticks_begin(scratch->ticks);
    for (int p; (p = sap_work_ranges_take(s->ranges, worker, num_workers, &from)) >= 0;) {
        SapPack pack = pack_of(job, p * lanes, lanes);
        keep_pack(job, &pack);
        if (job->mask || s->parameters.count > 0)
            thin_pack(job, lanes, &pack);
        if (pack.count > 0)
            sap_program_run(job->program, job->args, &pack, &s->kernels, scratch);
        sap_ticks_rest(scratch->ticks);
    }
    sap_ticks_end(scratch->ticks, start);
}

static void clear_counters(const SapReportArgs *r, int world) {
    r->iterations[world] = r->line_iterations[world] = r->refactored[world] = 0;
    r->cost[world] = r->residual[world] = 0;
    clear_dual_counters(r, world);
}

static void run_job(SapSolver *s, Job *job) {
    sap_work_ranges_start(s->ranges, s->threads, (job->count - 1) / s->kernels.pack[0]->lanes + 1);
    sap_pool_run(s->pool, run_packs, job);
}

void sap_solver_run(SapSolver *s, const SapStepArgs *args, SapProgram *program, const uint8_t *mask) {
    run_job(s, &(Job){.solver = s, .args = args, .program = program, .mask = mask, .count = s->num_worlds});
}

void sap_solver_run_listed(SapSolver *s, const SapStepArgs *args, const int *worlds, int count) {
    for (int k = 0; k < count && !sap_program_solves(args); k++)
        clear_counters(&args->report, worlds[k]); /* no stage writes them in this case */
    run_job(s, &(Job){.solver = s, .args = args, .program = sap_program_step, .list = worlds, .count = count});
}

/* The order in which the worlds of a step form packs; NULL = their own. */
static const int *choose_order(const SapSolver *s, const SapStepArgs *args) {
    if (!s->order || !args->collide.enabled)
        return NULL;
    sap_group_worlds(s->pool, args, s->order);
    return s->order;
}

void sap_solver_run_step(SapSolver *s, const SapStepArgs *args) {
    bool solves = sap_program_solves(args);
    size_t wrenches = (size_t)s->num_worlds * (size_t)s->args.plan.nb * 6;
    for (int w = 0; w < s->num_worlds && !solves; w++)
        clear_counters(&args->report, w); /* no stage writes them in this case */
    if (!solves && args->report.wrench)
        memset(args->report.wrench, 0, wrenches * sizeof *args->report.wrench);
    if (s->lockstep && s->kept)
        sap_keep_worlds(s->kept, 0, s->num_worlds);
    if (s->lockstep)
        sap_lockstep_step(s->lockstep, s->pool, args);
    else
        run_job(s, &(Job){.solver = s,
                          .args = args,
                          .program = sap_program_step,
                          .list = choose_order(s, args),
                          .count = s->num_worlds});
}
