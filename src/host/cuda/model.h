/* A model on a GPU: the memory blocks of its plan and constants, and their device addresses. */
#ifndef SAPWOOD_HOST_CUDA_MODEL_H
#define SAPWOOD_HOST_CUDA_MODEL_H

#include <sapwood/model.h>

#include "host/base/memory.h"
#include "host/plan/model_plan.h"
#include "kernels/data/args.h"

/* The plan, then constants in f32 and f64, then numbers and arguments of the formulation, which SAP does not have. */
enum {
    SAP_CUDA_CONSTANTS = SAP_PLAN_NUM_BLOCKS,
    SAP_CUDA_LAW_NUMBERS = SAP_CUDA_CONSTANTS + 2,
    SAP_CUDA_LAW_ARGS,
    SAP_CUDA_NUM_BLOCKS
};

typedef struct SapCudaModel {
    const SapModelArrays *arrays; /* borrowed, as the plan: the model must outlive this */
    const SapModelPlan *plan;
    const SapFormulation *formulation;
    void *law; /* the block SAP_CUDA_LAW_ARGS, owned; NULL: none */
    struct {
        const void *host;
        size_t bytes;
        void *device;
    } block[SAP_CUDA_NUM_BLOCKS];
} SapCudaModel;

/* Collects the blocks of a model and fills *args with the arguments that depend on model and options, with host
 * addresses; a dual solver's are in *dual. */
SapStatus sap_cuda_model_init(const SapModel *model, const SapOptions *options, SapDualStepArgs *dual,
                              SapStepArgs *args, SapCudaModel *out);

/* Carves device memory for the blocks, and for what stages of RK4 leave for the next. */
void sap_cuda_model_carve(SapArena *arena, const SapStepArgs *args, int num_worlds, SapCudaModel *model);

/* Replaces every address of plan, constants and numbers of the formulation in *args and in the blocks by the device
 * address of its copy. The blocks are to be uploaded after that. */
void sap_cuda_model_translate(SapCudaModel *model, SapStepArgs *args);
void sap_cuda_model_free(SapCudaModel *model);

#endif
