/* Per-world parameters on a GPU: written in host memory, compared and converted there as on the CPU
 * (plan/per_world.h), and copied to the device if they have changed. These functions list what to allocate and
 * copy; cuda/backend.c and cuda/arrays.c do it. */
#ifndef SAPWOOD_HOST_CUDA_PER_WORLD_H
#define SAPWOOD_HOST_CUDA_PER_WORLD_H

#include "host/plan/per_world.h"

typedef struct SapCudaPerWorld {
    SapPerWorld host;
    int first, end; /* worlds first .. end - 1 have changes that are not on the device yet */

    /* device addresses; NULL: not allocated yet */
    void *constants[SAP_NUM_MODEL_PARAMETERS][2];
    void *group[SAP_MOST_GROUPS][2];
    void *fallback[2];
    void *skipped;
} SapCudaPerWorld;

/* Device memory to be allocated. */
typedef struct SapCudaPlace {
    void **address;
    size_t bytes;
} SapCudaPlace;

typedef struct SapCudaCopy {
    void *to;
    const void *from;
    size_t bytes;
} SapCudaCopy;

enum {
    SAP_CUDA_MAX_PLACES = 4 + 2 * SAP_MOST_GROUPS,
    SAP_CUDA_MAX_COPIES = 2 * (SAP_NUM_MODEL_PARAMETERS + SAP_MOST_GROUPS) + 3
};

/* Model, plan and options must outlive it; the plan is in host memory. */
void sap_cuda_per_world_init(SapCudaPerWorld *e, const SapModel *model, const SapPlan *plan, const SapOptions *options,
                             int num_worlds);
void sap_cuda_per_world_free(SapCudaPerWorld *e); /* frees host memory only */

/* Lists the device memory that a parameter needs; returns the number of entries. */
int sap_cuda_per_world_places(SapCudaPerWorld *e, SapParameter parameter, SapCudaPlace places[SAP_CUDA_MAX_PLACES]);

/* Makes the kernels read the parameter, once that memory is allocated. law: the arguments of the formulation, with
 * device addresses, in host memory; NULL if it has none. */
SapStatus sap_cuda_per_world_add(SapCudaPerWorld *e, SapParameter parameter, SapStepArgs *args, void *law);

/* Checks all worlds for changes and lists the copies to make; returns their number. */
int sap_cuda_per_world_copies(SapCudaPerWorld *e, SapCudaCopy copies[SAP_CUDA_MAX_COPIES]);

/* Marks all listed copies as done. */
void sap_cuda_per_world_copied(SapCudaPerWorld *e);

#endif
