/* A model on a GPU: the memory blocks of its plan and constants, and their device addresses. */
#ifndef SAPWOOD_HOST_CUDA_MODEL_H
#define SAPWOOD_HOST_CUDA_MODEL_H

#include <sapwood/model.h>

#include "host/base/memory.h"
#include "host/plan/model_plan.h"
#include "kernels/data/args.h"

enum { SAP_CUDA_NUM_BLOCKS = SAP_PLAN_NUM_BLOCKS + 2 }; /* the plan, then constants in f32 and f64 */

typedef struct SapCudaModel {
    const SapModelArrays *arrays; /* borrowed, as the plan: the model must outlive this */
    const SapModelPlan *plan;
    struct {
        const void *host;
        size_t bytes;
        void *device;
    } block[SAP_CUDA_NUM_BLOCKS];
} SapCudaModel;

/* Collects the blocks of a model and fills *args with the arguments that depend on model and options, with host
 * addresses; those of a dual solver are in *dual. */
SapStatus sap_cuda_model_init(const SapModel *model, const SapOptions *options, SapDualStepArgs *dual,
                              SapStepArgs *args, SapCudaModel *out);

/* Carves device memory for the blocks. */
void sap_cuda_model_carve(SapArena *arena, SapCudaModel *model);

/* Replaces every address of plan and constants in *args by the device address of its copy. */
void sap_cuda_model_translate(const SapCudaModel *model, SapStepArgs *args);

#endif
