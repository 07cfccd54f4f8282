/* Arguments of a measurement (kernels/sensor/sense.h). Plain structs, shared by host and kernels. */
#ifndef SAPWOOD_KERNELS_DATA_SENSORS_H
#define SAPWOOD_KERNELS_DATA_SENSORS_H

#include <assert.h>

#include "kernels/data/args.h"

/* Frames on bodies. Outputs may be absent. */
typedef struct SapSiteArgs {
    int count;
    const int *body;               /* [count] -1 = the world */
    SapBuffer pose;                /* [count][7] in the frame of the body; one row for all worlds */
    SapBuffer q, qd;               /* [num_worlds][count][7], [..][6] */
    SapBuffer gyro, accelerometer; /* [num_worlds][count][3] */
    SapBuffer before;              /* [num_worlds][count][3] velocity at the last measurement, with accelerometer */
    int is_exact;                  /* 1: the accelerometer has the acceleration of the last step (start_body) */
} SapSiteArgs;

typedef struct SapDofSensorArgs {
    SapBuffer qacc, before; /* [num_worlds][nv] and joint_qd at the last measurement; both or none */
    SapBuffer torque;       /* [num_worlds][nv]; may be absent */
    const double *drive, *limit,
        *friction; /* [num_worlds][nv] impulses of the last step, internal order, with torque */
} SapDofSensorArgs;

/* Contacts of a body or a shape. */
typedef struct SapTouchArgs {
    int count;
    const int *body, *with;             /* [count]; with -1 = static shapes, -2 = anything */
    const int *own_shape, *other_shape; /* [count]; -1 = any shape */
    const int *zone_type;               /* [count] SapShapeType of a zone; -1 = none */
    SapBuffer zone;                     /* [count][10] its sizes and its pose in the body; one row for all worlds */
    int capacity;                       /* contacts per world */
    const int *num_contacts, *shape[2];
    SapBuffer normal;                                /* [num_worlds][capacity][3] */
    const double *contact_force, *contact_position;  /* [num_worlds][capacity][3]; positions only with zones */
    int *found, *first;                              /* [num_worlds][count] */
    SapBuffer force;                                 /* [num_worlds][count][3] */
    SapBuffer pressure, friction, most;              /* [num_worlds][count] */
    SapBuffer contact_time, air_time, last_air_time; /* [num_worlds][count] */
} SapTouchArgs;

typedef struct SapSenseArgs {
    SapPlan plan;
    SapConstants constants; /* in the precision of the call */
    int is_f64;             /* that precision */
    int num_worlds;
    int num_dofs, items; /* dofs to measure, 0 or nv; sensors per world: sites, dofs, contact sensors, the status */
    const unsigned char *mask; /* [num_worlds] != 0: worlds to measure; NULL = all */
    double h;                  /* s, time step */
    double elapsed;            /* s since the last measurement; 0 = measurement begins: nothing was before */
    int step, num_steps;       /* this step of a call, and all of them */
    int ends;                  /* 1: the last step of a call, after which sites and dofs are measured */
    SapBuffer body_q, body_qd, joint_qd, joint_f;
    SapBuffer
        start_body; /* [num_worlds][nb][SAP_START_BODY_SIZE], a part of step_start; absent unless a sensor reads it */
    SapSiteArgs site;
    SapDofSensorArgs dof;
    SapTouchArgs touch;
    unsigned *status, *status_before; /* [num_worlds]; status_before: bits of the steps before this one of the call */
} SapSenseArgs;
static_assert(sizeof(SapSenseArgs) <= SAP_MAX_LAUNCH_BYTES, "the arguments of a launch are too large");

#endif
