/* The common part of a batch, and the table of functions that each device implements: cpu/backend.c, cuda/backend.c.
 * This is the only header of batch/ that the device code includes. */
#ifndef SAPWOOD_HOST_BATCH_BACKEND_H
#define SAPWOOD_HOST_BATCH_BACKEND_H

#include <stdbool.h>

#include <sapwood/batch.h>
#include <sapwood/gradients.h>
#include <sapwood/sensors.h>

#include "host/base/memory.h"
#include "host/plan/formulation.h"
#include "host/plan/per_world.h"
#include "kernels/data/gradients.h"
#include "kernels/data/rays.h"
#include "kernels/step/reset.h"
#include "kernels/step/take_contacts.h"

/* Inputs of a call that are copied before worlds change them (guard.h). An input of a world that is all zero bits need
 * not be copied: most controls are. */
enum { SAP_SNAPSHOT_MAX_ROWS = 32 };
typedef struct SapSnapshotRow {
    const char *from; /* [num_worlds] rows of `bytes` bytes, a multiple of 4 */
    char *to;         /* the same */
    size_t bytes;
} SapSnapshotRow;
typedef struct SapSnapshot {
    int num_rows;
    SapSnapshotRow row[SAP_SNAPSHOT_MAX_ROWS];
    uint32_t *copied; /* [num_worlds] bit i is 0: row i of the world is zero and was not copied. All 1 at first */
} SapSnapshot;

/* The steps of a call. */
typedef struct SapBatchSteps {
    const char *what; /* messages begin with it */
    double h;
    int num_steps;
    bool given;    /* the contacts come from the caller, in the arrays of the batch; else each step finds its own */
    bool has_key;  /* given contacts have identities, and */
    bool own_form; /* records in the own form of the formulation */
} SapBatchSteps;

/* A call of the functions of gradients.h, whose arguments are checked. */
typedef struct SapGradientCall {
    const char *what; /* messages begin with it */
    int kind;         /* SAP_GRADIENT_MATRICES .., or SAP_GRADIENT_STEP: steps only, into the batch's state */
    const SapGradientSteps *steps;
    SapGradientOptions options;
    int num_arrays;
    SapInput array[SAP_MAX_INPUTS];
    double *A, *start, *tangent;
    const double *end;
} SapGradientCall;
enum { SAP_GRADIENT_STEP = SAP_GRADIENT_COTANGENTS + 1 };

typedef struct SapBatchBackend {
    SapDevice device;
    SapStatus (*find_library)(void); /* what factor_plan = auto may choose; NULL on the CPU */
    /* Computes what the formulation of the batch needs beyond the model's arrays. Only the CPU does, for both. */
    SapStatus (*complete_model)(const SapBatch *batch, const SapModel *model);
    /* Fills `own`, and allocates the zeroed arrays and starts of the batch with sap_batch_carve. On failure destroy
     * cleans up. Messages about the number of worlds begin with `what`. */
    SapStatus (*create)(SapBatch *batch, const char *what, const SapModel *model);
    void (*destroy)(SapBatch *batch); /* own may be NULL */
    SapStatus (*step)(SapBatch *batch, const SapBatchSteps *steps);
    /* Whether the device can read this memory of the caller; on the CPU that is not checked. */
    SapStatus (*can_read)(SapBatch *batch, const char *what, const void *memory, bool *out);
    /* Takes the contacts of the caller into the arrays of the batch. */
    SapStatus (*take_contacts)(SapBatch *batch, const char *what, SapTakeArgs *args);
    /* `mask` is the caller's mask; args holds everything else. */
    SapStatus (*reset)(SapBatch *batch, const char *what, const uint8_t *mask, SapResetArgs *args);
    SapStatus (*forward_kinematics)(SapBatch *batch, const char *what, const uint8_t *mask);
    /* The arguments of all steps, with addresses on the device. */
    const SapStepArgs *(*step_args)(const SapBatch *batch);
    /* Casts rays; args is complete but for the mask, which is the caller's, as are its arrays of rays. */
    SapStatus (*raycast)(SapBatch *batch, const char *what, const uint8_t *mask, SapRayArgs *args);
    /* Measures; args is complete but for the mask, which is the caller's. */
    SapStatus (*sense)(SapBatch *batch, const char *what, const uint8_t *mask, SapSenseArgs *args);
    /* Zeroed device memory that lives as long as the batch. A failed call leaves nothing behind. */
    SapStatus (*allocate)(SapBatch *batch, size_t count, size_t size, const char *what, void **out);
    /* Switches a parameter to per-world values for all later calls. The values are in host memory. */
    SapStatus (*add_per_world)(SapBatch *batch, SapParameter parameter);
    SapStatus (*upload_parameters)(SapBatch *batch); /* those that the caller has changed */
    SapPerWorld *(*per_world)(const SapBatch *batch);
    /* Later steps fill the arrays of batch->arrays.report. */
    void (*record)(SapBatch *batch);
    /* Copies these rows before the next step changes them; that step follows at once. */
    SapStatus (*keep)(SapBatch *batch, const char *what, const SapSnapshot *kept);
    /* Messages begin with `what`. */
    SapStatus (*read)(SapBatch *batch, const char *what, const void *from, void *host, size_t bytes);
    SapStatus (*write)(SapBatch *batch, const char *what, void *to, const void *host, size_t bytes);
    SapStatus (*copy)(SapBatch *batch, const char *what, void *to, const void *from, size_t bytes); /* on the device */
    SapStatus (*fill)(SapBatch *batch, const char *what, void *to, uint8_t byte, size_t bytes);
    SapStatus (*differentiate)(SapBatch *batch, const SapGradientCall *call); /* NULL on a GPU */
    SapStatus (*set_stream)(SapBatch *batch, void *stream);
    SapStatus (*order_stream)(SapBatch *batch, void *stream);
    SapStatus (*synchronize)(SapBatch *batch);
    void (*info)(const SapBatch *batch, SapBatchInfo *info); /* adds the device-specific fields */
    size_t (*bytes)(const SapBatch *batch);
} SapBatchBackend;

/* The functions of a backend whose file names them so. */
#define SAP_BATCH_FUNCTIONS                                                                                            \
    .create = create, .destroy = destroy, .step = take_steps, .can_read = can_read, .take_contacts = take_contacts_of, \
    .reset = reset, .forward_kinematics = forward_kinematics, .step_args = step_args, .raycast = raycast,              \
    .sense = sense, .allocate = allocate, .add_per_world = add_per_world, .per_world = per_world, .record = record,    \
    .keep = keep_inputs, .read = read_array, .write = write_array, .copy = copy_array, .fill = fill_array,             \
    .set_stream = set_stream, .order_stream = order_stream, .upload_parameters = upload_parameters,                    \
    .synchronize = synchronize, .info = info, .bytes = bytes

extern const SapBatchBackend sap_batch_cpu, sap_batch_cuda;

/* Checks the parameters that a world has of its own. The message names the world. */
SapStatus sap_batch_check_world(SapBatch *batch, int world);

/* Arrays that are allocated after creation: reports and the addresses of the extra ones, readings with six arrays behind
 * them, one block of rays and one of sensors, parameters and arguments of laws on a GPU. */
enum { SAP_BATCH_MAX_RECORDED = SAP_BATCH_NUM_FIELDS + 9 + 3 * SAP_NUM_PARAMETERS + 2 * SAP_MOST_GROUPS + 4 };

/* Readings of sensors, and what was before (sensors.c). */
typedef struct SapSensedArrays {
    void *site_q, *site_qd, *site_gyro, *site_accelerometer, *site_before;
    void *qacc, *qd_before, *joint_torque;
    int32_t *touch_found, *touch_first;
    void *touch_force, *touch_pressure, *touch_friction, *touch_most;
    void *touch_contact_time, *touch_air_time, *touch_last_air_time;
    uint32_t *status_before;
    void *ray_distance, *ray_normal;
    int32_t *ray_shape;
} SapSensedArrays;

/* Declared sensors; arrays on the device. */
typedef struct SapSensorLists {
    int num_sites, num_touch, num_ray_sensors;
    int num_rays; /* of all ray sensors */
    int *
        ints; /* [num_sites] body; [num_touch] body, with, own shape, other shape, zone, one list after the other; NULL:
                  none declared */
    double *pose;                            /* [num_sites][7] */
    double *zone;                            /* [num_touch][10] sizes and pose of zones */
    bool has_zones;                          /* some contact sensor has one */
    SapRays ray_sensor[SAP_MAX_RAY_SENSORS]; /* with f64 arrays on the device, and no results */
} SapSensorLists;

/* All arrays of a batch; fields.c describes them row by row. Device addresses; NULL: absent. */
typedef struct SapBatchArrays {
    SapState state;
    SapControl control;
    SapContacts contacts;
    SapContacts given; /* parameters of contacts of the caller, f64; its other arrays are NULL */
    uint32_t *status;
    int32_t *asleep, *tree_asleep;
    double *tree_rest;
    SapReportArgs report;
    SapExtraReport extra; /* report.extra is its copy on the device */
    SapSensedArrays sensed;
} SapBatchArrays;

struct SapBatch {
    const SapBatchBackend *backend;
    void *own; /* data of the backend */
    int num_worlds;
    SapOptions options;
    const SapFormulation *formulation;
    const char *factor; /* as in SapBatchInfo */
    SapDtype dtype;
    int nq, nv, nb;
    int num_constraints, num_rows, num_tendons; /* constraints, their rows, tendons */
    int num_trees;                              /* root joints; at least 1 */
    int num_actuators;                          /* of the formulation */

    SapBatchArrays arrays;
    /* The states that a reset restores: one per start, first the initial state, then the keyframes; and one control.
     * All other arrays are NULL. */
    int num_starts;
    SapBatchArrays starts;
    const SapModel *model;   /* the backend keeps it alive */
    struct SapGuard *guard;  /* guard.h; NULL: none */
    SapRayShapes ray_shapes; /* zero before the first ray cast */
    SapSensorLists sensors;
};

/* Carves the starts and all arrays except those recorded on request. */
void sap_batch_carve(SapArena *arena, SapBatch *batch);

/* Bytes of these arrays without the starts. */
size_t sap_batch_array_bytes(const SapBatch *batch);

#endif
