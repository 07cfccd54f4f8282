/* A model on a GPU: the blocks of its plan and constants, and where they lie there. */
#ifndef SAPWOOD_HOST_CUDA_MODEL_H
#define SAPWOOD_HOST_CUDA_MODEL_H

#include <sapwood/model.h>

#include "host/base/memory.h"
#include "host/plan/model_plan.h"
#include "kernels/data/args.h"

enum { SAP_CUDA_NUM_BLOCKS = SAP_PLAN_NUM_BLOCKS + 2 }; /* of the plan, then constants in f32 and f64 */

typedef struct SapCudaModel {
    const SapModelArrays *arrays; /* borrowed, as the plan: the model lives as long as this */
    const SapModelPlan *plan;
    struct {
        const void *host;
        size_t bytes;
        void *device;
    } block[SAP_CUDA_NUM_BLOCKS];
} SapCudaModel;

/* Finds the blocks of a model and fills *args with what a model and options fix, in addresses of the host. */
SapStatus sap_cuda_model_init(const SapModel *model, const SapOptions *options, SapStepArgs *args, SapCudaModel *out);

/* Takes the places of the blocks on the device. */
void sap_cuda_model_carve(SapArena *arena, SapCudaModel *model);

/* Turns every address of plan and constants in *args into that of the copy on the device. */
void sap_cuda_model_translate(const SapCudaModel *model, SapStepArgs *args);

#endif
