#include "host/cuda/lockstep.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/number.h"
#include "host/plan/factor_plan.h"

static SapStatus find_kernels(const SapCudaDevice *device, SapCudaLockstep *s) {
    const struct {
        const char *name;
        CuFunction *out;
    } kernels[] = {{"sap_kernel_lockstep_begin", &s->begin},
                   {"sap_kernel_lockstep_assemble", &s->assemble},
                   {"sap_kernel_lockstep_advance", &s->advance},
                   {"sap_kernel_lockstep_finish", &s->finish},
                   {"sap_kernel_compact", &s->compact}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        SAP_TRY(sap_cuda_device_find(device, kernels[i].name, kernels[i].out));
        if (!*kernels[i].out)
            return sap_fail(SAP_ERROR_DEVICE, "device cuda: the kernels have no %s", kernels[i].name);
    }
    return SAP_OK;
}

SapStatus sap_cuda_lockstep_create(const SapCudaDevice *device, const SapStepArgs *args, SapCudaLockstep **out) {
    SapCudaLockstep *s = *out = sap_allocate(1, sizeof *s, "batch");
    if (!s)
        return SAP_ERROR_MEMORY;
    SAP_TRY(find_kernels(device, s));
    s->adds_contacts = sap_library_adds_contacts(args) && sap_cuda_library_has_products();
    return sap_cuda_library_create(s->adds_contacts, &s->library);
}

void sap_cuda_lockstep_destroy(SapCudaLockstep *s) {
    if (!s)
        return;
    sap_cuda_library_destroy(s->library);
    free(s);
}

const char *sap_cuda_lockstep_describe(SapCudaLockstep *s, const SapStepArgs *args, const char *choice) {
    if (!s)
        return choice;
    const char *contacts = s->adds_contacts                  ? "cuBLAS adds the contacts to H"
                           : sap_library_adds_contacts(args) ? "kernels add the contacts to H: there is no cuBLAS"
                                                             : "kernels add the contacts to H: they touch few dofs";
    snprintf(s->factor, sizeof s->factor, "%s; %s", choice, contacts);
    return s->factor;
}

void sap_cuda_lockstep_carve(SapArena *arena, const SapStepArgs *args, int num_worlds, SapCudaLockstep *s) {
    size_t n = (size_t)num_worlds, nv = (size_t)args->plan.nv;
    int is_f64 = args->newton.linear_is_f64;
    size_t number = sap_real_bytes(is_f64);
    /* The systems of all worlds. */
    SapLibraryArgs *l = &s->systems;
    l->matrix = (SapBuffer){sap_arena_carve(arena, n * nv * nv, number), (int)(nv * nv), is_f64};
    l->vector = (SapBuffer){sap_arena_carve(arena, n * nv, number), (int)nv, is_f64};
    size_t rows = s->adds_contacts ? sap_library_rows(args) : 0;
    if (s->adds_contacts) {
        l->J = (SapBuffer){sap_arena_carve(arena, n * rows, number), (int)rows, is_f64};
        l->GJ = (SapBuffer){sap_arena_carve(arena, n * rows, number), (int)rows, is_f64};
    }
    SAP_CARVE(arena, l->active, n);
    SAP_CARVE(arena, l->info, n);
    SAP_CARVE(arena, l->place, n);
    /* The list of the systems to solve. */
    s->list = (SapCompactArgs){.num_worlds = num_worlds,
                               .active = l->active,
                               .matrix = l->matrix.data,
                               .vector = l->vector.data,
                               .J = l->J.data,
                               .GJ = l->GJ.data,
                               .matrix_bytes = (long long)(nv * nv * number),
                               .vector_bytes = (long long)(nv * number),
                               .rows_bytes = (long long)(rows * number),
                               .place = l->place};
    SAP_CARVE(arena, s->list.matrices, n);
    SAP_CARVE(arena, s->list.vectors, n);
    if (s->adds_contacts) {
        SAP_CARVE(arena, s->list.Js, n);
        SAP_CARVE(arena, s->list.GJs, n);
    }
    SAP_CARVE(arena, s->list.count, 1);
    SAP_CARVE(arena, s->scratch, 1);
}

/* Lists the systems of the active worlds on the stream. */
static SapStatus list_systems(const SapCudaLockstep *s, const SapCuda *cuda, CuStream stream, const char *what) {
    void *parameters[] = {(void *)&s->list};
    SAP_CU_TRY(cuda, launch, what,
               (s->compact, 1, 1, 1, SAP_COMPACT_THREADS, 1, 1, SAP_COMPACT_SHARED, stream, parameters, NULL));
    return SAP_OK;
}

SapStatus sap_cuda_lockstep_solve(const SapCudaLockstep *s, const SapCudaDevice *device, CuStream stream,
                                  const char *what, int *count) {
    const SapCuda *cuda = device->cuda;
    SAP_TRY(list_systems(s, cuda, stream, what));
    SAP_CU_TRY(cuda, copy_to_host, what, (count, sap_cuda_address(s->list.count), sizeof *count, stream));
    SAP_CU_TRY(cuda, stream_synchronize, what, (stream));
    if (*count == 0)
        return SAP_OK;
    SAP_TRY(sap_cuda_library_set_stream(s->library, stream));
    SapCudaSystems systems = {.is_f64 = s->systems.matrix.is_f64,
                              .n = (int)s->systems.vector.stride,
                              .count = *count,
                              .matrices = sap_cuda_address(s->list.matrices),
                              .vectors = sap_cuda_address(s->list.vectors),
                              .rows = (int)(s->systems.J.stride / s->systems.vector.stride),
                              .Js = sap_cuda_address(s->list.Js),
                              .GJs = sap_cuda_address(s->list.GJs),
                              .info = sap_cuda_address(s->systems.info),
                              .scratch = sap_cuda_address(s->scratch)};
    return sap_cuda_library_solve(s->library, &systems);
}
