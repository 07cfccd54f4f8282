/* A batch: n worlds of one model with everything they need, for loops that step, look and reset; on the CPU or on a GPU, as the option
 * device says.
 *
 * It owns state, control and contacts. Their arrays are row-major [world][i], live and writable, and stay where they are as long
 * as the batch: write targets, step, read poses. A step finds its own contacts. sap_batch_array gives the arrays where they are,
 * sap_batch_read and sap_batch_write copy them from and to host memory on either device.
 *
 * On a GPU (docs/cuda.md) sap_batch_step, sap_batch_reset and sap_batch_forward_kinematics queue work on the batch's stream
 * and return; they neither wait nor allocate, and a stream that captures a CUDA graph may be the batch's. Two things wait, and cannot be
 * captured: a step with factor_plan = library, which reads a count back in every iteration, and a call that copies new parameters of
 * worlds (sap_batch_expand). A batch may be used by one thread at a time; different batches are independent. */
#ifndef SAPWOOD_BATCH_H
#define SAPWOOD_BATCH_H

#include <sapwood/parameters.h>
#include <sapwood/solver.h>

SAP_BEGIN_DECLS

typedef struct SapBatch SapBatch;

/* num_worlds >= 1 worlds at the model's initial state; options NULL = sap_options_preset("approx32"). State and control are f64 where
 * free motion is (free_motion_solve_precision), else f32; contacts where their geometry is (use_f64_boundary_pose). */
SAP_API SapStatus sap_batch_create(const SapModel *model, int num_worlds, const SapOptions *options, SapBatch **out);
/* The same with state and control of that type. */
SAP_API SapStatus sap_batch_create_as(const SapModel *model, int num_worlds, const SapOptions *options, SapDtype dtype,
                                      SapBatch **out);
SAP_API void sap_batch_destroy(SapBatch *batch); /* NULL is allowed */

/* num_steps >= 0 steps of h seconds (finite, > 0), each with the contacts that it finds. Failures of worlds are not failures of the call:
 * in the status of a world, FAILED and NOT_CONVERGED bits and CONTACTS_TRUNCATED of all these steps are together, the other bits and the
 * counters are the last step's. A failed world stands still for the rest of the call. */
SAP_API SapStatus sap_batch_step(SapBatch *batch, double h, int num_steps);

/* Puts worlds back: mask[w] != 0 (NULL = all); on a GPU, the mask may be in host memory, and is then read before the call returns, or in
 * device memory. keyframe 0 is the model's initial state, k >= 1 its keyframe k - 1. Their control becomes the
 * model's, their status, counters and contacts are cleared; other worlds are not touched. */
SAP_API SapStatus sap_batch_reset(SapBatch *batch, const uint8_t *mask, int keyframe);

/* Brings body_q and body_qd up to date after joint_q or joint_qd was written (a step needs neither); mask as above. The status of a
 * chosen world then tells whether its state is finite. */
SAP_API SapStatus sap_batch_forward_kinematics(SapBatch *batch, const uint8_t *mask);

/* What a batch on the CPU consists of; owned by it. body_q and body_qd of the state may be set to NULL if nobody reads them. NULL gives
 * NULL, and so does a batch on a GPU, whose arrays are not in host memory; sap_error_message then says so. */
SAP_API SapState *sap_batch_state(const SapBatch *batch);
SAP_API SapControl *sap_batch_control(const SapBatch *batch);
SAP_API const SapContacts *sap_batch_contacts(const SapBatch *batch); /* of the last step, at its beginning */
SAP_API SapSolver *sap_batch_solver(const SapBatch *batch);

/* ---- every array by name ---- */

typedef enum SapElementType {
    SAP_TYPE_F32 = 0, /* float */
    SAP_TYPE_F64 = 1, /* double */
    SAP_TYPE_I32 = 2, /* int32_t */
    SAP_TYPE_U32 = 3  /* uint32_t */
} SapElementType;

/* A view of an array; the memory is the batch's. */
typedef struct SapArray {
    void *data;          /* its first element; NULL if the caller set body_q or body_qd of the state to NULL */
    SapElementType type; /* of an element */
    SapDevice device;    /* where `data` is; an address on a GPU cannot be read by the host */
    int ndim;            /* 1 .. 4; the first is the world */
    int64_t shape[4];    /* elements */
    int64_t strides[4];  /* bytes */
} SapArray;

typedef enum SapBatchField {
    SAP_BATCH_JOINT_Q,          /* [n][nq] */
    SAP_BATCH_JOINT_QD,         /* [n][nv] */
    SAP_BATCH_BODY_Q,           /* [n][nb][7] */
    SAP_BATCH_BODY_QD,          /* [n][nb][6] */
    SAP_BATCH_JOINT_F,          /* [n][nv] */
    SAP_BATCH_BODY_F,           /* [n][nb][6] */
    SAP_BATCH_JOINT_TARGET_POS, /* [n][nv] */
    SAP_BATCH_JOINT_TARGET_VEL, /* [n][nv] */
    SAP_BATCH_JOINT_ACT,        /* [n][nv] */
    SAP_BATCH_STATUS,           /* [n] u32, as the ones below of the last step */
    SAP_BATCH_ITERATIONS,       /* [n] i32 */
    SAP_BATCH_LINE_ITERATIONS,  /* [n] i32 */
    SAP_BATCH_COST,             /* [n] f64 */
    SAP_BATCH_RESIDUAL,         /* [n] f64 */
    SAP_BATCH_CONTACT_COUNT,    /* [n] i32; the arrays below have count[w] entries of capacity in use */
    SAP_BATCH_CONTACT_DROPPED,  /* [n] i32 */
    SAP_BATCH_CONTACT_SHAPE0,   /* [n][capacity] i32 */
    SAP_BATCH_CONTACT_SHAPE1,   /* [n][capacity] i32 */
    SAP_BATCH_CONTACT_POINT0,   /* [n][capacity][3] frame of the body */
    SAP_BATCH_CONTACT_POINT1,   /* [n][capacity][3] */
    SAP_BATCH_CONTACT_NORMAL,   /* [n][capacity][3] world */

    /* f64, as in SapContactReport. Recorded from the first time that they are asked for. */
    SAP_BATCH_CONTACT_IMPULSE,     /* [n][capacity][3] */
    SAP_BATCH_CONTACT_VELOCITY,    /* [n][capacity][3] */
    SAP_BATCH_CONTACT_POSITION,    /* [n][capacity][3] */
    SAP_BATCH_CONTACT_FRAME,       /* [n][capacity][9] */
    SAP_BATCH_CONTACT_GAP,         /* [n][capacity] */
    SAP_BATCH_CONTACT_REGION,      /* [n][capacity] i32 */
    SAP_BATCH_CONTACT_FORCE,       /* [n][capacity][3] N, world axes, on the body of shape 1 */
    SAP_BATCH_BODY_CONTACT_WRENCH, /* [n][nb][6] N and N m, world axes: [force ; torque about the centre of mass] */
    SAP_BATCH_NUM_FIELDS
} SapBatchField;

SAP_API SapStatus sap_batch_array(SapBatch *batch, SapBatchField field, SapArray *view);

/* "joint_q", "joint_qd", ... in the order of SapBatchField; NULL-terminated, static. */
SAP_API const char *const *sap_batch_field_names(void);

/* Copies the whole array of a field to or from host memory; `bytes` is its size. On a GPU these wait until the copy, and all work
 * queued before it, is done. */
SAP_API SapStatus sap_batch_read(SapBatch *batch, SapBatchField field, void *host, size_t bytes);
SAP_API SapStatus sap_batch_write(SapBatch *batch, SapBatchField field, const void *host, size_t bytes);

/* ---- parameters that worlds have of their own ---- */

/* Gives every world its own values of a parameter: *view is f64, [num_worlds][...], live and writable, at first the model's values; asked
 * for again, it is the same array. World w then moves, bit for bit, as a world of a model with those values. Write at any time between
 * calls, there is nothing to announce: every call (step, kinematics, collision, inspection) compares the rows with those that it read
 * last. A world whose values break a rule of the model is left out: it keeps its state, has no contacts, and its status is
 * SAP_WORLD_BAD_PARAMETERS until the values are put right. Resetting worlds leaves their parameters as they are.
 * On a GPU the array is in host memory too; a call that finds something new copies it first, and waits for that copy, so that it
 * cannot be captured into a graph. Not with factor_plan = library. */
SAP_API SapStatus sap_batch_expand(SapBatch *batch, SapParameter parameter, SapArray *view);

/* SAP_OK, or SAP_ERROR_MODEL and a message about the first rule that is broken: world, array, index, name, value, what is allowed. */
SAP_API SapStatus sap_batch_check_parameters(SapBatch *batch);

/* ---- streams ---- */

/* The CUstream that work is queued on from now on, of the GPU's primary context; NULL = the batch's own. It waits for what was queued
 * before. The stream must live as long as it is set. On the CPU this is SAP_ERROR_UNSUPPORTED. */
SAP_API SapStatus sap_batch_set_stream(SapBatch *batch, void *stream);
/* Waits for all work that was queued; here an error of a kernel shows. On the CPU there is nothing to wait for. */
SAP_API SapStatus sap_batch_synchronize(SapBatch *batch);

/* ---- what it runs on ---- */

typedef struct SapBatchInfo {
    SapDevice device; /* where it lives and runs */
    int num_worlds;   /* n */
    int capacity;     /* contact slots of a world */

    /* on a GPU, else 0 */
    int cuda_device;
    int team_size; /* threads per world */
    int worlds_per_block;
    int blocks;             /* of a launch */
    int shared_bytes;       /* of shared memory per block */
    int specialised;        /* 1: the step is a kernel made for the options' preset */
    size_t workspace_bytes; /* scratch in global memory, of all worlds that run at the same time */
    size_t device_bytes;    /* all memory of the GPU that the batch holds, workspace included */
    void *stream;           /* the CUstream in use */
} SapBatchInfo;

SAP_API SapStatus sap_batch_info(const SapBatch *batch, SapBatchInfo *out);

/* Bytes of all that the batch holds, on its device and in host memory. */
SAP_API size_t sap_batch_bytes(const SapBatch *batch);

/* A GPU, as its driver describes it. */
typedef struct SapDeviceInfo {
    char name[128];     /* the product's, ends with 0 */
    int driver_version; /* 12040 is CUDA 12.4 */
    int capability;     /* 90 is 9.0 */
    int multiprocessors;
    int shared_bytes;    /* of shared memory that a block may have */
    size_t memory_bytes; /* of the GPU */
} SapDeviceInfo;

/* cuda_device >= 0 is the option of that name. Without a driver, or with fewer GPUs, SAP_ERROR_DEVICE. */
SAP_API SapStatus sap_device_info(int cuda_device, SapDeviceInfo *out);

SAP_END_DECLS

#endif
