/* Parameters of worlds of their own on a GPU: written in host memory, compared and converted there as on the CPU (plan/world_parameters.h), and copied to
 * the device where they have changed. What is allocated and copied is listed here; cuda/backend.c does it. */
#ifndef SAPWOOD_HOST_CUDA_WORLD_PARAMETERS_H
#define SAPWOOD_HOST_CUDA_WORLD_PARAMETERS_H

#include "host/plan/world_parameters.h"

typedef struct SapCudaWorldParameters {
    SapWorldParameters host;
    int first, end; /* worlds first .. end - 1 are not on the device as they are here */

    /* addresses of the device, NULL where there is none yet */
    void *constants[SAP_NUM_PARAMETERS][2];
    void *fallback[2];
    void *skipped;
} SapCudaWorldParameters;

/* Memory of the device that is still wanted. */
typedef struct SapCudaPlace {
    void **address;
    size_t bytes;
} SapCudaPlace;

typedef struct SapCudaCopy {
    void *to;
    const void *from;
    size_t bytes;
} SapCudaCopy;

enum { SAP_CUDA_MAX_PLACES = 4, SAP_CUDA_MAX_COPIES = 2 * SAP_NUM_PARAMETERS + 3 };

/* The three must live on; the plan is in host memory. */
void sap_cuda_world_parameters_init(SapCudaWorldParameters *e, const SapModelArrays *model, const SapPlan *plan,
                                    const SapOptions *options, int num_worlds);
void sap_cuda_world_parameters_free(SapCudaWorldParameters *e); /* of the host */

/* What a parameter needs; returns how many. */
int sap_cuda_world_parameters_places(SapCudaWorldParameters *e, SapParameter parameter,
                                     SapCudaPlace places[SAP_CUDA_MAX_PLACES]);

/* With these taken: makes the kernels read it. */
SapStatus sap_cuda_world_parameters_add(SapCudaWorldParameters *e, SapParameter parameter, SapStepArgs *args);

/* Looks at all worlds and lists what is to be copied; returns how many. */
int sap_cuda_world_parameters_copies(SapCudaWorldParameters *e, SapCudaCopy copies[SAP_CUDA_MAX_COPIES]);

/* All of that was copied. */
void sap_cuda_world_parameters_copied(SapCudaWorldParameters *e);

#endif
