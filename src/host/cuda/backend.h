/* The data of a batch on a GPU. */
#ifndef SAPWOOD_HOST_CUDA_BACKEND_H
#define SAPWOOD_HOST_CUDA_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "host/batch/backend.h"
#include "host/cuda/choose.h"
#include "host/cuda/device.h"
#include "host/cuda/launch_shape.h"
#include "host/cuda/lockstep.h"
#include "host/cuda/specialized.h"
#include "host/cuda/per_world.h"

/* Size of the pinned memory through which arrays are copied; larger arrays are copied in parts. */
enum { SAP_CUDA_STAGING_BYTES = 1 << 20 };

/* A kernel of the step and its launch configuration. */
typedef struct SapCudaPhase {
    CuFunction kernel;
    CuFunction specialized; /* the same, specialized for this batch; NULL = none */
    SapArenas arenas;
    SapCudaShape shape;
    unsigned blocks;
} SapCudaPhase;

typedef struct SapCudaBatch {
    SapModel *model; /* held: the caller may destroy it first */
    SapCudaDevice *device;
    CuStream own_stream, stream; /* `stream` is the one in use */
    CuEvent event;               /* orders a new stream after the previous one */
    void *staging;
    CuAddress memory, workspace, pool; /* pool: workspaces of the general narrow phase */
    size_t memory_bytes, workspace_bytes, pool_bytes;
    CuAddress recorded[SAP_BATCH_MAX_RECORDED];
    int num_recorded;
    size_t recorded_bytes;
    size_t local_bytes; /* local memory that the driver has taken for the kernels of this batch */

    SapStepArgs args;
    SapDualStepArgs dual, *device_dual; /* of a dual solver, and its copy on the device, which args has */
    const SapFormulation *formulation;
    void *law;       /* its arguments on the device, which args has; NULL: none */
    void *given_law; /* law, or device_dual, with records of the caller in the own form of the formulation, or with
                        identities; NULL until there are such */
    size_t law_bytes;
    SapCudaPhase collide, step;
    SapCudaPhase convex, merge;    /* of collision, if pairs of shapes wait for the general narrow phase */
    SapCudaPhase thread;           /* the step with a thread per world */
    SapCudaPhase report;           /* the step that reports contacts, by the general kernel */
    SapMotionLayout report_layout; /* its layout of free motion, which keeps the poses of bodies */
    SapCudaProgram program;
    char mapping[512]; /* the reason for a team, with the driver's words */
    SapCudaSpecialized specialized;
    SapCudaLockstep *lockstep; /* NULL unless a library solves the Newton systems */

    uint8_t *mask; /* [num_worlds] mask of a call, on the device */

    SapCudaPerWorld per_world;
} SapCudaBatch;

#endif
