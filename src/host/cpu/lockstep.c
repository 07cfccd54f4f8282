#include "host/cpu/lockstep.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/cpu/lapack.h"
#include "host/plan/factor_plan.h"

struct SapLockstep {
    SapKernelSet kernels;
    int num_worlds, num_packs;
    SapScratch *scratch; /* [num_packs]: every world keeps its scratch between stages */
    SapLibraryArgs library;
    size_t library_bytes;
};

/* ---- creation ---- */

static SapStatus create_scratch(SapLockstep *s, const SapStepArgs *args) {
    s->scratch = sap_allocate((size_t)s->num_packs, sizeof *s->scratch, "solver");
    if (!s->scratch)
        return SAP_ERROR_MEMORY;
    for (int i = 0; i < s->num_packs; i++)
        SAP_TRY(sap_scratch_create(args, &s->kernels, &s->scratch[i]));
    return SAP_OK;
}

/* J and G J of the contacts. */
static SapStatus create_rows(SapLockstep *s, const SapStepArgs *args, size_t number) {
    SapLibraryArgs *l = &s->library;
    size_t n = (size_t)s->num_worlds, of_world = sap_library_rows(args);
    l->J = l->GJ = (SapBuffer){NULL, (int)of_world, args->newton.linear_is_f64};
    l->J.data = sap_allocate(n * of_world, number, "Newton systems");
    l->GJ.data = sap_allocate(n * of_world, number, "Newton systems");
    s->library_bytes += 2 * n * of_world * number;
    return l->J.data && l->GJ.data ? SAP_OK : SAP_ERROR_MEMORY;
}

static SapStatus create_library(SapLockstep *s, const SapStepArgs *args) {
    SapLibraryArgs *l = &s->library;
    size_t n = (size_t)s->num_worlds, nv = (size_t)args->plan.nv;
    int is_f64 = args->newton.linear_is_f64;
    size_t number = is_f64 ? sizeof(double) : sizeof(float);
    l->matrix = (SapBuffer){sap_allocate(n * nv, nv * number, "Newton systems"), (int)(nv * nv), is_f64};
    l->vector = (SapBuffer){sap_allocate(n, nv * number, "Newton systems"), (int)nv, is_f64};
    l->active = sap_allocate(n, sizeof *l->active, "Newton systems");
    l->info = sap_allocate(n, sizeof *l->info, "Newton systems");
    s->library_bytes = n * ((nv + 1) * nv * number + sizeof *l->active + sizeof *l->info);
    if (!l->matrix.data || !l->vector.data || !l->active || !l->info)
        return SAP_ERROR_MEMORY;
    return sap_library_adds_contacts(args) ? create_rows(s, args, number) : SAP_OK;
}

SapStatus sap_lockstep_create(const SapStepArgs *args, const SapKernelSet *kernels, SapLockstep **out) {
    *out = NULL;
    SAP_TRY(sap_lapack_load());
    SapLockstep *s = sap_allocate(1, sizeof *s, "solver");
    if (!s)
        return SAP_ERROR_MEMORY;
    s->kernels = *kernels;
    s->num_worlds = args->num_worlds;
    s->num_packs = (args->num_worlds - 1) / kernels->pack[0]->lanes + 1;
    SapStatus status = create_scratch(s, args);
    if (status == SAP_OK)
        status = create_library(s, args);
    if (status != SAP_OK) {
        sap_lockstep_destroy(s);
        return status;
    }
    *out = s;
    return SAP_OK;
}

void sap_lockstep_destroy(SapLockstep *s) {
    if (!s)
        return;
    for (int i = 0; s->scratch && i < s->num_packs; i++)
        sap_scratch_free(&s->scratch[i]);
    free(s->scratch);
    free(s->library.matrix.data);
    free(s->library.vector.data);
    free(s->library.J.data);
    free(s->library.GJ.data);
    free(s->library.active);
    free(s->library.info);
    free(s);
}

size_t sap_lockstep_bytes(const SapLockstep *s) {
    return sizeof *s + (size_t)s->num_packs * (s->scratch[0].bytes + sizeof *s->scratch) + s->library_bytes;
}

/* ---- stages ---- */

typedef struct Job {
    const SapLockstep *lockstep;
    const SapStepArgs *args;
    SapProgram *program;
} Job;

/* Each worker processes a contiguous range of packs, the same in every stage. */
static void run_packs(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    const SapLockstep *s = job->lockstep;
    int lanes = s->kernels.pack[0]->lanes;
    int64_t packs = s->num_packs;
    int first = (int)(packs * worker / num_workers), end = (int)(packs * (worker + 1) / num_workers);
    for (int p = first; p < end; p++) {
        SapPack pack = sap_pack_at(p * lanes, s->num_worlds, lanes);
        sap_program_run(job->program, job->args, &pack, &s->kernels, &s->scratch[p]);
    }
}

static void run(const SapLockstep *s, SapPool *pool, const SapStepArgs *args, SapProgram *program) {
    Job job = {s, args, program};
    sap_pool_run(pool, run_packs, &job);
}

/* The numbers of world w; NULL if there are none. */
static void *row_of(const SapBuffer *buffer, int w) {
    size_t number = buffer->is_f64 ? sizeof(double) : sizeof(float);
    return buffer->data ? (char *)buffer->data + (size_t)w * (size_t)buffer->stride * number : NULL;
}

/* Solves the Newton systems of the active worlds of the pack with LAPACK. */
static void solve_systems(SapContext *ctx) {
    const SapLibraryArgs *l = &ctx->args->library;
    const SapContactArgs *contacts = &ctx->args->contacts;
    int is_f64 = l->matrix.is_f64, nv = ctx->args->plan.nv;
    for (int i = 0; i < ctx->pack->count; i++) {
        int w = ctx->pack->world[i];
        void *matrix = row_of(&l->matrix, w);
        if (!l->active[w])
            continue;
        int rows = 3 * (contacts->count ? contacts->count[w] : 0); /* those of other contacts are 0 */
        if (l->J.data && rows > 0)
            sap_lapack_add_product(is_f64, nv, rows, row_of(&l->J, w), row_of(&l->GJ, w), matrix);
        l->info[w] = sap_lapack_solve(is_f64, nv, matrix, row_of(&l->vector, w));
    }
}

static bool any_active(const SapLockstep *s) {
    for (int w = 0; w < s->num_worlds; w++)
        if (s->library.active[w])
            return true;
    return false;
}

/* Newton's method on all worlds together; worlds that have converged wait for the others. */
static void iterate(const SapLockstep *s, SapPool *pool, SapStepArgs *args) {
    for (;;) {
        run(s, pool, args, sap_program_lockstep_assemble);
        if (!any_active(s))
            return;
        run(s, pool, args, solve_systems);
        run(s, pool, args, sap_program_lockstep_advance);
    }
}

void sap_lockstep_step(SapLockstep *s, SapPool *pool, const SapStepArgs *call) {
    SapStepArgs args = *call;
    args.library = s->library;
    for (args.first_step = 0; args.first_step < args.num_steps; args.first_step++) {
        run(s, pool, &args, sap_program_lockstep_begin);
        if (sap_program_solves(&args))
            iterate(s, pool, &args);
        run(s, pool, &args, sap_program_lockstep_finish);
    }
}
