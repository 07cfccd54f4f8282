/* Which kernels step a batch on a GPU, and why. The choice depends on the options, the arguments and the GPU only. */
#ifndef SAPWOOD_HOST_CUDA_CHOOSE_H
#define SAPWOOD_HOST_CUDA_CHOOSE_H

#include <stdbool.h>

#include <sapwood/options.h>

#include "host/cuda/launch_shape.h"
#include "kernels/data/args.h"

/* What a batch asks for. The plan of the arguments has host addresses. */
typedef struct SapCudaRequest {
    const SapOptions *options;
    const SapStepArgs *args;
    int num_worlds;
    int multiprocessors;
    bool lockstep; /* a library solves the linear systems */
} SapCudaRequest;

typedef struct SapCudaProgram {
    char step[64], collide[64]; /* names of the kernels with a team per world */
    bool is_preset;             /* the step's is compiled for its precisions */
    SapKernelKind kind;         /* of the step */
    bool overlaps_poses;        /* the contact problem may be in the memory of the poses of bodies */
    const char *step_reason;    /* why this step */

    bool has_threads; /* a thread has a world */
    char thread[64];  /* name of its kernel */
    SapKernelKind thread_kind;
    int thread_scratch;  /* bytes of a world, of SAP_THREAD_SCRATCH */
    const char *mapping; /* why a thread or a team has a world */

    const char *not_specialized; /* why no kernels are made for the batch; NULL: they are */
} SapCudaProgram;

/* Chooses the kernels of teams. */
void sap_cuda_choose_step(const SapCudaRequest *request, SapCudaProgram *out);

/* Chooses between a team and a thread per world, with the layouts of the arguments, and whether kernels are made for
 * the batch. Fills the shape and arenas of a thread unless the option team_size asks for a team. SAP_ERROR_UNSUPPORTED
 * if that is 1 and a thread per world is not possible. */
SapStatus sap_cuda_choose_thread(const SapCudaRequest *request, SapArenas *arenas, SapCudaShape *shape,
                                 SapCudaProgram *program);

/* Takes the thread per world back. */
SapStatus sap_cuda_refuse_thread(const SapCudaRequest *request, const char *reason, SapCudaProgram *program);

/* Whether any two shapes can touch, so that steps have contacts to find. */
bool sap_cuda_can_touch(const SapPlan *plan);

/* Whether all pairs of the model are listed, and have a closed form for all poses. */
bool sap_cuda_has_closed_forms(const SapPlan *plan);

/* The most pairs of a world that can need the general narrow phase. */
long long sap_cuda_general_pairs(const SapPlan *plan);

#endif
