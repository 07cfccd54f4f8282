/* A batch: n worlds of one model with their state, control, contacts and solver. It runs on the CPU or on a GPU, as the
 * option `device` selects.
 *
 * The batch owns its arrays. They are row-major [world][i], writable between calls, and keep their address until the
 * batch is destroyed. sap_batch_step finds its own contacts; sap_batch_step_contacts takes the caller's.
 * sap_batch_array returns a view of an array where it is;
 * sap_batch_read and sap_batch_write copy an array to and from host memory on either device.
 *
 * On a GPU (docs/cuda.md), sap_batch_step, sap_batch_reset and sap_batch_forward_kinematics queue work on the batch's
 * stream and return. They neither wait nor allocate, so they can be captured into a CUDA graph. Two calls wait and
 * cannot be captured: a call that copies new parameters of worlds (sap_batch_expand), and a step with factor_plan =
 * library, which reads a count back in every iteration.
 *
 * After fork, a batch belongs to the parent. In the child every call that would run a batch with two or more threads,
 * or a batch on a GPU, gives SAP_ERROR_UNSUPPORTED; sap_batch_destroy frees its memory. A batch with one thread can be
 * used. No other thread may be inside a call while a process forks.
 *
 * Every function computes in the default floating-point mode (round to nearest, denormals kept, no traps), whatever the
 * mode of the caller, and restores that mode. Worker threads block all signals.
 *
 * A thread that loads a scene, makes a model or a batch, or runs one, has at least 128 kB of stack left; with less the
 * call ends with SAP_ERROR_MEMORY.
 *
 * Only one thread may use a batch at a time; different batches are independent. */
#ifndef SAPWOOD_BATCH_H
#define SAPWOOD_BATCH_H

#include <sapwood/parameters.h>
#include <sapwood/solver.h>

SAP_BEGIN_DECLS

typedef struct SapBatch SapBatch;

/* Creates num_worlds >= 1 worlds at the model's initial state. The batch keeps the model alive, so the caller may
 * destroy it at any time. options are copied; NULL = sap_options_preset(NULL). State and control are f64 if
 * free_motion_precision is fp64, else f32. Contacts are f64 if contact_geometry_f64 is set, else f32. A batch
 * that does not fit in the memory that is available is refused before it is allocated (SAP_ERROR_MEMORY). The caller
 * owns *out. */
SAP_API SapStatus sap_batch_create(const SapModel *model, int num_worlds, const SapOptions *options, SapBatch **out);
/* The same, with state and control of type dtype. */
SAP_API SapStatus sap_batch_create_as(const SapModel *model, int num_worlds, const SapOptions *options, SapDtype dtype,
                                      SapBatch **out);
/* Frees the batch and all its arrays; NULL is allowed. */
SAP_API void sap_batch_destroy(SapBatch *batch);

/* Takes num_steps >= 0 steps of h seconds (finite, > 0). Each step finds its contacts first. A world that fails does
 * not make the call fail: see SAP_BATCH_STATUS. The status bits of a world accumulate over the steps of the call
 * (SAP_WORLD_LASTING), but OPTIMAL and COST_SETTLED belong to the last step, as its counters do. A failed world keeps its
 * state for the rest of the call. Its counters, and all numbers that the last step would report of its contacts,
 * constraints, tendons, dofs and rows, are 0; SAP_BATCH_CONTACT_COUNT has the contacts that were found. */
SAP_API SapStatus sap_batch_step(SapBatch *batch, double h, int num_steps);

/* Takes num_steps >= 0 steps of h seconds with these contacts instead of its own; contacts NULL = none. The records
 * hold in all steps of the call: their points move with the bodies, their normals do not turn. The layout is as in
 * contacts.h, with any capacity in 1 .. 65535 and either dtype; every array is on the device of the batch. The call
 * copies the records into the arrays of the batch (SAP_BATCH_CONTACT_...), which keep the numbers in their own type,
 * so that arrays of the batch, reports and sensors describe these contacts. The arrays may belong to the batch itself;
 * otherwise they must not overlap its arrays.
 *
 * A world with more records than the batch has slots (SapBatchInfo.capacity, at least the option given_contacts) keeps
 * the first. Those without a slot, those by which its count is above the capacity of the arrays, and those in
 * contacts->dropped are counted in SAP_BATCH_CONTACT_DROPPED, and its status has SAP_WORLD_CONTACTS_TRUNCATED. A world
 * with a bad contact, a side that does not exist or a negative count fails alone, with SAP_WORLD_BAD_CONTACT.
 *
 * With contact_solver = mujoco the step reads contacts->mujoco if it is not NULL, else points and normals with the
 * parameters of the shapes. warm_start reads contacts->key if it is not NULL. The first call with body0 or body1,
 * stiffness, tau or mu, key or mujoco allocates the array of the batch for it, as sap_batch_array does; other calls
 * allocate nothing and can be captured into a CUDA graph. SAP_ERROR_UNSUPPORTED with a guard, with sleep_steps, and
 * with MuJoCo's integrator RK4, which needs contacts at each of its stages. */
SAP_API SapStatus sap_batch_step_contacts(SapBatch *batch, const SapContacts *contacts, double h, int num_steps);

/* Resets the worlds with mask[w] != 0 to a stored state. mask has num_worlds elements and stays the caller's;
 * NULL = all worlds. On a GPU the mask may be in host memory, which the call reads before it returns, or on the device.
 * keyframe 0 is the model's initial state, keyframe k >= 1 the model's keyframe k - 1; range 0 .. num_keyframes.
 * Control is reset to the model's; status, counters and contacts are cleared. Other worlds do not change. */
SAP_API SapStatus sap_batch_reset(SapBatch *batch, const uint8_t *mask, int keyframe);

/* Computes body_q and body_qd from joint_q and joint_qd. A step does not need it. mask as in sap_batch_reset. The
 * status of each selected world becomes 0, SAP_WORLD_NONFINITE_STATE if its state is not finite, or
 * SAP_WORLD_BAD_PARAMETERS; body_q and body_qd of a world with one of these bits do not change. */
SAP_API SapStatus sap_batch_forward_kinematics(SapBatch *batch, const uint8_t *mask);

/* Moves the coordinates of the worlds with mask[w] != 0 onto their constraints, without time passing. Use it after a
 * reset to coordinates that do not close the loops. mask as in sap_batch_reset, in host memory. All active two-sided
 * constraints take part; limits, contacts and one-sided constraints do not. Each iteration halves the errors by the
 * smallest movement in the metric of the mass matrix, until all are below 1e-9 m or rad; there are at most 50
 * iterations. Velocities become 0, and body_q and body_qd are updated. residual is [num_worlds] in host memory, or
 * NULL. It receives the largest remaining error of each selected world, before its coordinates are rounded to the type
 * of the batch, or NAN if the world cannot be computed (a distance without direction, an invalid state or parameter);
 * such a world keeps its state. The computation is on the CPU in f64. On a GPU the call waits, copies the state there
 * and back, and cannot be captured into a graph. Allocates. */
SAP_API SapStatus sap_batch_assemble(SapBatch *batch, const uint8_t *mask, double *residual);

/* Makes a weld hold the present pose, as when a gripper grasps. In the worlds of mask (as in sap_batch_reset, in host
 * memory) frame b of the constraint moves to where frame a is on body b, by body_q, and the constraint becomes active.
 * constraint is the index of a weld. Expands SAP_PARAMETER_CONSTRAINT_X. On a GPU the call waits and cannot be
 * captured. */
SAP_API SapStatus sap_batch_attach(SapBatch *batch, int constraint, const uint8_t *mask);

/* Computes the number of contact slots that a batch with max_contacts = 0 gives each world, and writes it to
 * *slots. options NULL = the defaults. 16 worlds on the CPU start in the initial state, at keyframes and in random
 * poses and fall for a second; the result is twice the largest number of contacts of one of them, a multiple of 4. A
 * model of more than 128 dofs or 4096 shapes is not probed and gets 128. At most as many as the pairs of shapes can
 * have. */
SAP_API SapStatus sap_batch_probe_contacts(const SapModel *model, const SapOptions *options, int *slots);

/* The parts of a batch on the CPU, owned by the batch. The caller may set body_q and body_qd of the state to NULL to
 * skip them. Each function returns NULL for a NULL batch, and for a batch on a GPU, whose arrays are in device memory;
 * sap_error_message then gives the reason. The contacts are those that the last step found, at the state where that
 * step began. */
SAP_API SapState *sap_batch_state(const SapBatch *batch);
SAP_API SapControl *sap_batch_control(const SapBatch *batch);
SAP_API const SapContacts *sap_batch_contacts(const SapBatch *batch);
SAP_API SapSolver *sap_batch_solver(const SapBatch *batch);

/* ---- saved states ---- */

/* A world continues bit for bit if joint_q, joint_qd and the control arrays are restored, and with some options more:
 * the contact cache with warm_start, dof_cache and actuator_act with contact_solver = mujoco, the parameters of worlds
 * that were expanded, and the memory of sleeping below. After a sleeping world all its results are restored too: it
 * does not compute them. Poses of bodies, which sap_batch_forward_kinematics computes but for rounding, and readings of
 * sensors are restored after that, and sap_batch_begin_sensors (sensors.h) between the two. get_state and set_state of
 * Python do all of this. */

/* Numbers of a world in the memory of sleeping: 1 + 2 trees; 0 if worlds do not sleep (option sleep_steps). */
SAP_API int sap_batch_sleep_size(const SapBatch *batch);
/* Copies that memory to rows, [n][sap_batch_sleep_size], in host memory: `asleep`, the steps at rest of each tree (-1:
 * it sleeps), and the island of each tree. Inputs changed since the last step count as in the next one; the batch does
 * not change. */
SAP_API SapStatus sap_batch_get_sleep(SapBatch *batch, int32_t *rows);
/* Restores it in the worlds with mask[w] != 0 (NULL = all), whose other arrays have been restored: from now on a change
 * of these wakes. Zeros wake a world. Numbers out of range are an error and change nothing. */
SAP_API SapStatus sap_batch_set_sleep(SapBatch *batch, const uint8_t *mask, const int32_t *rows);

/* ---- every array by name ---- */

typedef enum SapElementType {
    SAP_TYPE_F32 = 0, /* float */
    SAP_TYPE_F64 = 1, /* double */
    SAP_TYPE_I32 = 2, /* int32_t */
    SAP_TYPE_U32 = 3  /* uint32_t */
} SapElementType;

/* A view of an array. The batch owns the memory. */
typedef struct SapArray {
    void *data;          /* first element; NULL if the caller set body_q or body_qd of the state to NULL */
    SapElementType type; /* element type */
    SapDevice device;    /* where `data` is; the host cannot read an address on a GPU */
    int ndim;            /* number of dimensions, 1 .. 4; the first is the world */
    int64_t shape[4];    /* length of each dimension, in elements */
    int64_t strides[4];  /* distance between neighbours along each dimension, in bytes */
} SapArray;

/* The arrays of a batch. n = num_worlds, capacity = SapBatchInfo.capacity; nq, nv, nb, nc, nt as in model.h, nu as in
 * mujoco.h. State and control have the type of the batch (sap_batch_create), in public dof order. */
typedef enum SapBatchField {
    SAP_BATCH_JOINT_Q,           /* [n][nq] m, rad, unit quaternions */
    SAP_BATCH_JOINT_QD,          /* [n][nv] m/s, rad/s */
    SAP_BATCH_BODY_Q,            /* [n][nb][7] poses of the body frames, m */
    SAP_BATCH_BODY_QD,           /* [n][nb][6] [v of the centre of mass ; omega], m/s and rad/s, world axes */
    SAP_BATCH_JOINT_F,           /* [n][nv] N or N m */
    SAP_BATCH_BODY_F,            /* [n][nb][6] [force ; torque about the centre of mass], N and N m, world axes */
    SAP_BATCH_JOINT_TARGET_POS,  /* [n][nv] m or rad */
    SAP_BATCH_JOINT_TARGET_VEL,  /* [n][nv] m/s or rad/s */
    SAP_BATCH_JOINT_ACT,         /* [n][nv] N or N m, feed-forward of the drive */
    SAP_BATCH_CONSTRAINT_ACTIVE, /* [n][nc] i32 1: the constraint acts, 0: not */
    SAP_BATCH_TENDON_TARGET_POS, /* [n][nt] m or rad */
    SAP_BATCH_TENDON_TARGET_VEL, /* [n][nt] m/s or rad/s */
    SAP_BATCH_TENDON_ACT,        /* [n][nt] N, feed-forward of a tendon's drive */
    SAP_BATCH_TENDON_F,          /* [n][nt] N, force along a tendon; positive lengthens */
    SAP_BATCH_ACTUATOR_CTRL,     /* [n][nu] controls of the actuators of MuJoCo's law (mujoco.h) */
    SAP_BATCH_ACTUATOR_ACT,      /* [n][nu] their activations: state; 0 of an actuator without dynamics */
    SAP_BATCH_STATUS,            /* [n] u32 bits SAP_WORLD_... of the last call */
    SAP_BATCH_ASLEEP,          /* [n] i32 1: the world sleeps (option sleep_steps); 2: some of its trees do; write 0 to
                                    wake it */
    SAP_BATCH_ITERATIONS,      /* [n] i32 Newton iterations of the last step */
    SAP_BATCH_LINE_ITERATIONS, /* [n] i32 line search iterations of the last step, summed over its Newton iterations */
    SAP_BATCH_SAFEGUARDS,      /* [n] i32 of the last step, as in SapWorldReport */
    SAP_BATCH_ACTIVE,          /* [n] i32 of the last step, as in SapWorldReport */
    SAP_BATCH_COST,            /* [n] f64 l(v) of the last step, J */
    SAP_BATCH_RESIDUAL,        /* [n] f64 relative residual of the last step, as in SapWorldReport */
    SAP_BATCH_CONTACT_COUNT,   /* [n] i32 contacts of each world: the used entries of the arrays below */
    SAP_BATCH_CONTACT_DROPPED, /* [n] i32 contacts that found no slot */
    SAP_BATCH_CONTACT_SHAPE0,  /* [n][capacity] i32 shape index, -1 in unused entries that no contact has had yet */
    SAP_BATCH_CONTACT_SHAPE1,  /* [n][capacity] i32 */
    SAP_BATCH_CONTACT_POINT0,  /* [n][capacity][3] m, in the frame of shape 0's body (the world's if static) */
    SAP_BATCH_CONTACT_POINT1,  /* [n][capacity][3] m, in the frame of shape 1's body */
    SAP_BATCH_CONTACT_NORMAL,  /* [n][capacity][3] unit, world axes, from shape 0 to shape 1 */
    SAP_BATCH_CONTACT_MARGIN0, /* [n][capacity] m, margin of side 0 */
    SAP_BATCH_CONTACT_MARGIN1, /* [n][capacity] m */

    /* As in SapContacts. Bodies are recorded by the steps that follow the first request for the array; the others come
     * from the last call of sap_batch_step_contacts. */
    SAP_BATCH_CONTACT_BODY0,       /* [n][capacity] i32 body index, -1 = static */
    SAP_BATCH_CONTACT_BODY1,       /* [n][capacity] i32 */
    SAP_BATCH_CONTACT_STIFFNESS,   /* [n][capacity] f64 N/m; NaN = from the shapes */
    SAP_BATCH_CONTACT_TAU,         /* [n][capacity] f64 s; likewise */
    SAP_BATCH_CONTACT_MU,          /* [n][capacity] f64; likewise */
    SAP_BATCH_CONTACT_DISSIPATION, /* [n][capacity] f64 s/m; likewise */
    SAP_BATCH_CONTACT_KEY,         /* [n][capacity] i32 which contact of its pair a record is */
    SAP_BATCH_CONTACT_MUJOCO,      /* [n][capacity][29] f64 the numbers of SapMujocoContact */

    /* f64 (REGION: i32), as in SapContactReport. Recorded by the steps that follow the first request for the array.
     * Contacts that do not push have force and impulse 0; entries from contact_count on are 0. */
    SAP_BATCH_CONTACT_IMPULSE,     /* [n][capacity][3] N s, contact frame (t1, t2, n), on the body of shape 1 */
    SAP_BATCH_CONTACT_VELOCITY,    /* [n][capacity][3] m/s, contact frame */
    SAP_BATCH_CONTACT_POSITION,    /* [n][capacity][3] m, world, between the witnesses */
    SAP_BATCH_CONTACT_FRAME,       /* [n][capacity][9] t1, t2, n in world axes */
    SAP_BATCH_CONTACT_GAP,         /* [n][capacity] m, phi0 */
    SAP_BATCH_CONTACT_REGION,      /* [n][capacity] i32 0 no contact, 1 stiction, 2 sliding, 3 frictionless */
    SAP_BATCH_CONTACT_FORCE,       /* [n][capacity][3] N, world axes, on the body of shape 1 */
    SAP_BATCH_BODY_CONTACT_WRENCH, /* [n][nb][6] N and N m, world axes: [force ; torque about the centre of mass] */

    /* f64, as in SapConstraintReport; nc, nt as in model.h, num_rows = sum of the rows of all constraints. Recorded by
     * the steps that follow the first request for the array. With contact_solver mujoco the rotation of a weld is
     * MuJoCo's, torquescale times the vector of the relative quaternion, in m, and springs, dampers and drives of
     * tendons are forces at the start of the step. */
    SAP_BATCH_CONSTRAINT_IMPULSE,     /* [n][num_rows] N s or N m s */
    SAP_BATCH_CONSTRAINT_ERROR,       /* [n][num_rows] m or rad */
    SAP_BATCH_CONSTRAINT_VELOCITY,    /* [n][num_rows] m/s or rad/s */
    SAP_BATCH_CONSTRAINT_WRENCH,      /* [n][nc][6] N and N m, on body b */
    SAP_BATCH_BODY_CONSTRAINT_WRENCH, /* [n][nb][6] N and N m */
    SAP_BATCH_CONSTRAINT_RESIDUAL,    /* [n] m or rad, the largest |error| */
    SAP_BATCH_TENDON_LENGTH,          /* [n][nt] m or rad */
    SAP_BATCH_TENDON_VELOCITY,        /* [n][nt] m/s or rad/s */
    SAP_BATCH_TENDON_FORCE,           /* [n][nt] N, the sum of the parts below and of the armature */
    SAP_BATCH_TENDON_LIMIT_FORCE,     /* [n][nt] N */
    SAP_BATCH_TENDON_SPRING_FORCE,    /* [n][nt] N */
    SAP_BATCH_TENDON_DAMPER_FORCE,    /* [n][nt] N */
    SAP_BATCH_TENDON_FRICTION_FORCE,  /* [n][nt] N */
    SAP_BATCH_TENDON_DRIVE_FORCE,     /* [n][nt] N */

    /* f64. Forces of the last step on dofs, in public order. Recorded by the steps that follow the first request. With
     * contact_solver mujoco the drive has servos and actuators at the start of the step; motors of an
     * import are in joint_f. */
    SAP_BATCH_JOINT_DRIVE_FORCE,      /* [n][nv] N or N m */
    SAP_BATCH_JOINT_LIMIT_FORCE,      /* [n][nv] N or N m */
    SAP_BATCH_JOINT_FRICTION_FORCE,   /* [n][nv] N or N m */
    SAP_BATCH_JOINT_CONSTRAINT_FORCE, /* [n][nv] N or N m: J' f of all that the solve decides: contacts, constraints,
                                         limits and friction (MuJoCo's qfrc_constraint), with contact_solver sap drives
                                         and tendons too. Refused with solvers in impulses */

    /* Rows of MuJoCo's law in MuJoCo's order, f64 unless noted; R is the largest number of rows that a world of the
     * batch can have. Rows from row_count on are 0. Recorded by the steps that follow the first request. Refused with
     * other solvers. docs/mujoco.md names MuJoCo's own arrays. */
    SAP_BATCH_ROW_COUNT,     /* [n] i32 rows of each world */
    SAP_BATCH_ROW_ACTIVE,    /* [n] i32 rows that push: whose state is not 0 */
    SAP_BATCH_ROW_TYPE,      /* [n][R] i32 as in SapMujocoRows, as are the following */
    SAP_BATCH_ROW_ID,        /* [n][R] i32 constraint, dof, tendon or contact */
    SAP_BATCH_ROW_STATE,     /* [n][R] i32 0 satisfied, 1 quadratic, 2 linear negative, 3 linear positive, 4 cone */
    SAP_BATCH_ROW_POSITION,  /* [n][R] m or rad */
    SAP_BATCH_ROW_MARGIN,    /* [n][R] m or rad */
    SAP_BATCH_ROW_VELOCITY,  /* [n][R] m/s or rad/s */
    SAP_BATCH_ROW_IMPEDANCE, /* [n][R] 0 .. 1 */
    SAP_BATCH_ROW_REGULARIZATION, /* [n][R] 1/kg or 1/(kg m^2), R */
    SAP_BATCH_ROW_REFERENCE,      /* [n][R] m/s^2 or rad/s^2, aref */
    SAP_BATCH_ROW_COST,           /* [n][R] J */
    SAP_BATCH_ROW_FORCE,          /* [n][R] N or N m */

    /* Sleeping trees: a tree is a root joint, whose parent is the world, with all bodies below it; trees are in the
     * order of their roots. Recorded by the steps that follow the first request. Refused with sleep_steps 0. */
    SAP_BATCH_TREE_ASLEEP, /* [n][trees] i32 1: the tree sleeps, alone or with its world */
    SAP_BATCH_TREE_REST,   /* [n][trees] f64 s for which the tree has been at rest or asleep; 0: it moves */

    /* The contact cache of warm_start, as in SapContactReport; a batch with warm_start has it from the start. A reset
     * empties it. It is a part of the state: copy it with joint_q and joint_qd to continue bit for bit. */
    SAP_BATCH_CACHE_KEY, /* [n][capacity][3] i32 */
    SAP_BATCH_CACHE,     /* [n][capacity][6] f64 */
    SAP_BATCH_DOF_CACHE, /* [n][nv][4] f64, dofs in internal order; of contact_solver mujoco, which always has it: the
                            acceleration of the last solve in column 0, its angular parts in axes of the body */

    /* The start of the last step: the state that it was computed at, and the motion of bodies with the acceleration of
     * its solve. Recorded by the steps that follow the first request for the array; 0 before, and after a reset. */
    SAP_BATCH_STEP_START, /* [n][nq + nv + 19 nb + nu] f64: JOINT_Q; JOINT_QD; of each body its pose as BODY_Q, velocity
                             as BODY_QD and acceleration [a of the centre of mass ; alpha], m/s^2 and rad/s^2, world
                             axes; ACTUATOR_ACT */

    /* Sensors (sensors.h), of the type of the batch; num_sites and num_touch as in SapSensors. Measured by the calls of
     * sap_batch_step that follow the first request for the array. */
    SAP_BATCH_SITE_Q,              /* [n][num_sites][7] pose of a site in the world, m */
    SAP_BATCH_SITE_QD,             /* [n][num_sites][6] [v of the site ; omega], m/s and rad/s, world axes */
    SAP_BATCH_SITE_GYRO,           /* [n][num_sites][3] rad/s, angular velocity in axes of the site */
    SAP_BATCH_SITE_ACCELEROMETER,  /* [n][num_sites][3] m/s^2, acceleration less gravity in axes of the site; mean over
                                      the call, with contact_solver mujoco of the last step only */
    SAP_BATCH_QACC,                /* [n][nv] m/s^2 or rad/s^2, change of joint_qd over the call per time */
    SAP_BATCH_JOINT_TORQUE,        /* [n][nv] N or N m: joint_f, and drive, limits and friction of the last step */
    SAP_BATCH_TOUCH_FOUND,         /* [n][num_touch] i32 contacts that push, in the last step */
    SAP_BATCH_TOUCH_FIRST,         /* [n][num_touch] i32 1: a contact began in the call */
    SAP_BATCH_TOUCH_FORCE,         /* [n][num_touch][3] N, net force on the body, world axes; mean over the call */
    SAP_BATCH_TOUCH_PRESSURE,      /* [n][num_touch] N, sum of normal forces; mean over the call */
    SAP_BATCH_TOUCH_FRICTION,      /* [n][num_touch] N, sum of magnitudes of friction forces; mean over the call */
    SAP_BATCH_TOUCH_MOST,          /* [n][num_touch] N, largest magnitude of the net force in a step of the call */
    SAP_BATCH_TOUCH_CONTACT_TIME,  /* [n][num_touch] s since the contact began; 0 without contact */
    SAP_BATCH_TOUCH_AIR_TIME,      /* [n][num_touch] s since the last contact ended; 0 in contact */
    SAP_BATCH_TOUCH_LAST_AIR_TIME, /* [n][num_touch] s in the air before the last contact began */
    SAP_BATCH_RAY_DISTANCE,        /* [n][rays of all ray sensors] m, -1 where nothing is met */
    SAP_BATCH_RAY_NORMAL,          /* [n][rays][3] unit, world axes, out of the shape; 0 where nothing is met */
    SAP_BATCH_RAY_SHAPE,           /* [n][rays] i32 the shape, or SAP_RAY_... */
    SAP_BATCH_NUM_FIELDS
} SapBatchField;

/* Fills *view, which the caller owns. The first request for a recorded array (from CONTACT_BODY0 on) allocates it. */
SAP_API SapStatus sap_batch_array(SapBatch *batch, SapBatchField field, SapArray *view);

/* "joint_q", "joint_qd", ... in the order of SapBatchField; NULL-terminated, static. */
SAP_API const char *const *sap_batch_field_names(void);

/* Copy a whole array to or from host memory. `host` is the caller's and has `bytes` bytes, which must be the size of
 * the array. On a GPU the call waits for the copy and for all work queued before it. */
SAP_API SapStatus sap_batch_read(SapBatch *batch, SapBatchField field, void *host, size_t bytes);
SAP_API SapStatus sap_batch_write(SapBatch *batch, SapBatchField field, const void *host, size_t bytes);

/* ---- parameters per world ---- */

/* Gives every world its own values of a parameter. *view becomes an array [num_worlds][...] in host memory, also for a
 * batch on a GPU, of f64, or int32 for shape_mesh; the batch owns it, and a second call returns the same array. It
 * starts with the model's values and is writable between calls. World w then moves, bit for bit, like a world of a
 * model with those values. Every call (step, kinematics, collision, inspection, rays) compares the rows with those it
 * read last, so a write is enough. A world whose values break a rule of the model is skipped: it keeps its state, has
 * no contacts, and its status is SAP_WORLD_BAD_PARAMETERS until the values are valid again. A reset does not change the
 * parameters. On a GPU, a call that finds new values copies them first and waits for the copy; while its stream
 * captures a graph it fails with SAP_ERROR_UNSUPPORTED instead (sap_batch_upload_parameters). SAP_ERROR_ARGUMENT with factor_plan = library, and for a parameter that has no rows in the model;
 * SAP_ERROR_UNSUPPORTED with contact_solver = mujoco, except for SAP_PARAMETER_SHAPE_MESH. */
SAP_API SapStatus sap_batch_expand(SapBatch *batch, SapParameter parameter, SapArray *view);

/* Checks the parameters of all worlds. SAP_OK, or SAP_ERROR_MODEL and a message about the first broken rule: world,
 * array, index, name, value and what is allowed. */
SAP_API SapStatus sap_batch_check_parameters(SapBatch *batch);

/* Copies the parameters that the caller has changed to the GPU now, and waits for the copy. Other calls do it by
 * themselves. Launches of a captured graph call nothing: they see what this function has copied, if the parameters were
 * expanded before the capture. Does nothing on the CPU. */
SAP_API SapStatus sap_batch_upload_parameters(SapBatch *batch);

/* ---- streams ---- */

/* Sets the CUstream for all further work; it must belong to the GPU's primary context and live as long as it is set.
 * NULL = the batch's own stream, whose work is ordered with that of the default stream. The new stream waits for the
 * work queued before, unless one of the two captures a graph and the other does not: then the caller must have ordered
 * them. SAP_ERROR_UNSUPPORTED on the CPU. */
SAP_API SapStatus sap_batch_set_stream(SapBatch *batch, void *stream);
/* Makes later work of another CUstream wait, on the GPU, for the work that the batch has queued so far; NULL is the default
 * stream. SAP_ERROR_UNSUPPORTED on the CPU, and if only one of the two streams captures a graph. */
SAP_API SapStatus sap_batch_order_stream(SapBatch *batch, void *stream);
/* Waits for all queued work and reports errors of its kernels. Does nothing on the CPU. */
SAP_API SapStatus sap_batch_synchronize(SapBatch *batch);

/* ---- how a batch runs ---- */

typedef struct SapBatchInfo {
    SapDevice device;   /* where the batch lives and runs */
    int num_worlds;     /* n */
    int capacity;       /* contact slots per world: max_contacts, or what a probe finds if that is 0; fewer if the model
                         cannot have as many */
    const char *factor; /* how Newton's systems are solved, and why (option factor_plan); on a GPU with a library also
                         where the contacts are added; owned by the batch */

    /* on a GPU; 0 or NULL on the CPU */
    int cuda_device;      /* the option of that name */
    int team_size;        /* threads per world */
    const char *mapping;  /* why this team size was chosen; owned by the batch */
    int worlds_per_block; /* teams per block */
    int blocks;           /* blocks of a launch */
    int shared_bytes;     /* shared memory per block */
    int waiting_pairs; /* pairs of shapes of a world that can wait for a launch of the general narrow phase; others are
                               solved at once. 0: all pairs of the model have closed forms */
    int preset_kernel; /* 1: the step kernel is compiled for the preset of the options */
    const char *step_kernel; /* its name in the library; owned by the batch */
    const char *step_reason; /* why this kernel; static */
    const char *kernels;     /* which kernels the batch has, and why (option specialize); owned by the batch */
    size_t workspace_bytes;  /* scratch in global memory, for all worlds that run at the same time */
    size_t local_bytes;  /* local memory that the driver has taken for the kernels of this batch; other batches share
                                it, so theirs can be 0 */
    size_t device_bytes; /* GPU memory that the batch holds, workspace and local memory included */
    void *stream;        /* the CUstream in use; owned by the caller that set it, else by the batch */
} SapBatchInfo;

SAP_API SapStatus sap_batch_info(const SapBatch *batch, SapBatchInfo *out);

/* Bytes that the batch holds on its device and in host memory; 0 for NULL. On a CPU this includes the plan of the
 * model, which all solvers and batches of a model share. */
SAP_API size_t sap_batch_bytes(const SapBatch *batch);

/* Number of GPUs that this process can use, CUDA_VISIBLE_DEVICES considered. SAP_ERROR_DEVICE without a driver or a GPU. */
SAP_API SapStatus sap_device_count(int *out);

/* A GPU, as its driver describes it. */
typedef struct SapDeviceInfo {
    char name[128];      /* product name, zero-terminated */
    int driver_version;  /* CUDA version of the driver: 12040 is 12.4 */
    int capability;      /* compute capability: 90 is 9.0 */
    int multiprocessors; /* number of multiprocessors */
    int shared_bytes;    /* most shared memory that a block can have */
    size_t memory_bytes; /* global memory of the GPU */
} SapDeviceInfo;

/* Describes GPU cuda_device >= 0, counted as in the option of that name. SAP_ERROR_DEVICE without a driver or
 * such a GPU. */
SAP_API SapStatus sap_device_info(int cuda_device, SapDeviceInfo *out);

/* Tests the arithmetic of GPU cuda_device >= 0: every form of arithmetic instruction that the kernels use, alone, on
 * edge values and random ones, against the same operation in C. NaNs are equal whatever their bits. *num_forms is their
 * number; NULL is allowed. SAP_ERROR_DEVICE if a result differs, with the first such form and its operands in the
 * message, and without a driver or such a GPU. */
SAP_API SapStatus sap_device_test(int cuda_device, int *num_forms);

SAP_END_DECLS

#endif
