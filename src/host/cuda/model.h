/* A model on a GPU: the memory blocks of its plan and constants, and their device addresses. */
#ifndef SAPWOOD_HOST_CUDA_MODEL_H
#define SAPWOOD_HOST_CUDA_MODEL_H

#include <sapwood/model.h>

#include "host/base/memory.h"
#include "host/plan/model_plan.h"
#include "kernels/data/args.h"
#include "kernels/mujoco/data.h"

/* The plan, then constants in f32 and f64, then numbers and arguments of MuJoCo's law, which are empty for other
 * laws. */
enum {
    SAP_CUDA_CONSTANTS = SAP_PLAN_NUM_BLOCKS,
    SAP_CUDA_MUJOCO_NUMBERS = SAP_CUDA_CONSTANTS + 2,
    SAP_CUDA_MUJOCO_ARGS,
    SAP_CUDA_NUM_BLOCKS
};

typedef struct SapCudaModel {
    const SapModelArrays *arrays; /* borrowed, as the plan: the model must outlive this */
    const SapModelPlan *plan;
    SapMujocoArgs mujoco; /* the block SAP_CUDA_MUJOCO_ARGS */
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

/* Carves device memory for the blocks, and for what stages of RK4 leave for the next. */
void sap_cuda_model_carve(SapArena *arena, const SapStepArgs *args, int num_worlds, SapCudaModel *model);

/* Replaces every address of plan, constants and numbers of MuJoCo's law in *args and in the blocks by the device
 * address of its copy. The blocks are to be uploaded after that. */
void sap_cuda_model_translate(SapCudaModel *model, SapStepArgs *args);

#endif
