#include "host/cpu/run.h"

#include "host/cpu/group.h"
#include "host/cpu/snapshot.h"
#include "host/cpu/profile.h"
#include "host/cpu/solver.h"
#include "kernels/step/skip_world.h"

typedef struct Job {
    SapSolver *solver;
    SapRun run;
    int *order; /* the list, if its worlds may change places; NULL = they may not */
    int share;  /* places that a thread takes at once: a pack, or a group of packs */
} Job;

/* Worlds of a group: few, so that their state stays in the nearest cache. In f32 it takes half the room, and twice as
 * many give packs of twice as many lanes the same choice. */
enum { GROUP_F64 = 64, GROUP_F32 = 128 };

static bool takes_part(const Job *job, int world) {
    if (job->run.mask && !job->run.mask[world])
        return false;
    SapPerWorld *e = &job->solver->per_world;
    if (e->count > 0)
        sap_per_world_refresh(e, world);
    return !skip_world(job->run.args, world);
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
    SapPack pack = sap_pack_at(first, job->run.count, lanes);
    for (int l = 0; job->run.list && l < lanes; l++)
        pack.world[l] = job->run.list[pack.world[l]];
    return pack;
}

/* Copies the inputs of the pack's worlds, if requested. Without a list they are neighbours. */
static void keep_pack(const Job *job, const SapPack *pack) {
    const SapSnapshot *kept = job->solver->kept;
    if (kept && !job->run.list)
        sap_snapshot_worlds(kept, pack->world[0], pack->count);
    for (int l = 0; kept && job->run.list && l < pack->count; l++)
        sap_snapshot_worlds(kept, pack->world[l], 1);
}

/* Runs the program with *args on the pack that begins with place `first`. */
static void run_pack(const Job *job, const SapStepArgs *args, int first, const SapScratch *scratch) {
    const SapSolver *s = job->solver;
    int lanes = s->kernels.pack[0]->lanes;
    SapPack pack = pack_of(job, first, lanes);
    if (args->first_step == 0)
        keep_pack(job, &pack);
    if (job->run.mask || s->per_world.count > 0)
        thin_pack(job, lanes, &pack);
    if (pack.count > 0) {
        SapContext ctx = sap_context(args, &pack, &s->kernels, scratch);
        job->run.program(&ctx);
    }
    sap_ticks_rest(scratch->ticks);
}

/* All steps of the worlds at places `first` to `end` - 1 of the order, which stay in the cache. Packs are formed again
 * after each step. */
static void run_group(const Job *job, int first, int end, const SapScratch *scratch) {
    SapStepArgs args = *job->run.args;
    for (args.first_step = 0; args.first_step < args.num_steps; args.first_step++) {
        if (args.first_step > 0)
            sap_group_list(&args, job->order + first, end - first);
        for (int i = first; i < end; i += job->solver->kernels.pack[0]->lanes)
            run_pack(job, &args, i, scratch);
    }
}

/* The work of one thread: packs, or groups of them, from its own range, then from other threads'. */
static void run_packs(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    const SapSolver *s = job->solver;
    const SapScratch *scratch = &s->scratch[worker];
    int from = worker;
    double start = sap_ticks_begin(scratch->ticks);
    for (int p; (p = sap_work_ranges_take(s->ranges, worker, num_workers, &from)) >= 0;) {
        int first = p * job->share, end = job->run.count - first < job->share ? job->run.count : first + job->share;
        if (job->order)
            run_group(job, first, end, scratch);
        else
            run_pack(job, job->run.args, first, scratch);
    }
    sap_ticks_end(scratch->ticks, start);
}

/* A group is smaller if threads would have too few of them to share the work evenly. */
static int choose_share(const Job *job) {
    int lanes = job->solver->kernels.pack[0]->lanes, even = job->run.count / (4 * job->solver->threads);
    int group = job->run.args->q_in.is_f64 ? GROUP_F64 : GROUP_F32, most = even < group ? even : group;
    return job->order && most > lanes ? most / lanes * lanes : lanes;
}

/* Steps in packs of worlds that are alike. */
static void group_worlds(Job *job) {
    sap_group_worlds(job->solver->pool, job->run.args, job->solver->order);
    job->run.list = job->order = job->solver->order;
    job->run.program = sap_program_one_step;
}

void sap_solver_run(SapSolver *s, const SapRun *run) {
    Job job = {.solver = s, .run = *run};
    bool is_step = run->program == sap_program_step;
    if (!run->list)
        job.run.count = s->num_worlds;
    for (int i = 0; is_step && !sap_program_solves(run->args) && i < job.run.count; i++)
        forget_reports(run->args, run->list ? run->list[i] : i); /* no stage writes them */
    if (is_step && !run->list && s->order && run->args->collide.enabled)
        group_worlds(&job);
    job.share = choose_share(&job);
    sap_work_ranges_start(s->ranges, s->threads, (job.run.count - 1) / job.share + 1);
    sap_pool_run(s->pool, run_packs, &job);
}
