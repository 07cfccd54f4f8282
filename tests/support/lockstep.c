#include "support/lockstep.h"

#include <stdlib.h>

#include <lapacke.h>
#undef I /* of complex.h, which lapacke.h brings in */

#include "host/plan/factor_plan.h"
#include "support/lockstep_stages.h"

/* BLAS, by the names of its Fortran interface. */
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *);
void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
            const int *, const float *, const int *, const float *, float *, const int *);

static SapBuffer create_rows(const SapStepArgs *args, size_t stride) {
    SapBuffer rows = {.stride = (long long)stride, .is_f64 = args->newton.linear_is_f64};
    rows.data = calloc((size_t)args->num_worlds * stride, sizeof(double));
    return rows;
}

Lockstep lockstep_create(const SapStepArgs *args, const SapKernelSet *kernels) {
    size_t n = (size_t)args->num_worlds, nv = (size_t)args->plan.nv;
    Lockstep s = {.args = *args, .kernels = *kernels, .scratch = calloc(n, sizeof *s.scratch)};
    SapLibraryArgs *l = &s.args.library;
    l->matrix = create_rows(args, nv * nv);
    l->vector = create_rows(args, nv);
    if (sap_library_adds_contacts(args)) {
        l->J = create_rows(args, sap_library_rows(args));
        l->GJ = create_rows(args, sap_library_rows(args));
    }
    l->active = calloc(n, sizeof *l->active);
    l->info = calloc(n, sizeof *l->info);
    for (size_t w = 0; w < n; w++)
        if (sap_scratch_create(args, kernels, &s.scratch[w]) != SAP_OK)
            abort();
    return s;
}

void lockstep_destroy(Lockstep *s) {
    SapLibraryArgs *l = &s->args.library;
    void *const arrays[] = {l->matrix.data, l->vector.data, l->J.data, l->GJ.data, l->active, l->info};
    for (int w = 0; w < s->args.num_worlds; w++)
        sap_scratch_free(&s->scratch[w]);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(s->scratch);
}

static void run_stage(Lockstep *s, SapProgram *stage) {
    for (int w = 0; w < s->args.num_worlds; w++) {
        SapPack pack = sap_pack_at(w, s->args.num_worlds, 1);
        SapContext ctx = sap_context(&s->args, &pack, &s->kernels, &s->scratch[w]);
        stage(&ctx);
    }
}

static void *row_of(SapBuffer buffer, int w) {
    size_t number = buffer.is_f64 ? sizeof(double) : sizeof(float);
    return buffer.data ? (char *)buffer.data + (size_t)w * (size_t)buffer.stride * number : NULL;
}

/* H += J' (G J) and the solution of H x = b, as the libraries do it: row i of the lower triangle of H is column i of
 * the upper one. Returns LAPACK's code. */
static int solve_system(const SapStepArgs *a, int w) {
    const SapLibraryArgs *l = &a->library;
    void *H = row_of(l->matrix, w), *b = row_of(l->vector, w), *J = row_of(l->J, w), *GJ = row_of(l->GJ, w);
    int n = a->plan.nv, rows = J ? (int)(l->J.stride / n) : 0;
    if (l->matrix.is_f64) {
        if (rows > 0)
            dgemm_("N", "T", &n, &n, &rows, &(double){1}, J, &n, GJ, &n, &(double){1}, H, &n);
        int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', n, H, n);
        return info ? info : LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'U', n, 1, H, n, b, n);
    }
    if (rows > 0)
        sgemm_("N", "T", &n, &n, &rows, &(float){1}, J, &n, GJ, &n, &(float){1}, H, &n);
    int info = LAPACKE_spotrf(LAPACK_COL_MAJOR, 'U', n, H, n);
    return info ? info : LAPACKE_spotrs(LAPACK_COL_MAJOR, 'U', n, 1, H, n, b, n);
}

static bool solve_systems(const SapStepArgs *args) {
    bool any = false;
    for (int w = 0; w < args->num_worlds; w++)
        if (args->library.active[w]) {
            any = true;
            args->library.info[w] = solve_system(args, w);
        }
    return any;
}

void lockstep_step(Lockstep *s, int victim) {
    run_stage(s, lockstep_begin);
    for (int iteration = 0;; iteration++) {
        run_stage(s, lockstep_assemble);
        if (!solve_systems(&s->args))
            break;
        if (iteration == 0 && victim >= 0)
            s->args.library.info[victim] = 1;
        run_stage(s, lockstep_advance);
    }
    run_stage(s, lockstep_finish);
}
