/* State and control of n worlds: row-major arrays [world][i], f32 or f64, in host memory.
 *
 * The structs are plain: fill one with pointers to your own memory, or let the create functions allocate. Arrays per
 * dof are in public order: the velocity of a free joint is [v of the centre of mass ; omega], its joint_f [force ;
 * torque about the centre of mass], world axes. nq, nv and nb are the counts of the model (model.h). */
#ifndef SAPWOOD_STATE_H
#define SAPWOOD_STATE_H

#include <sapwood/model.h>

SAP_BEGIN_DECLS

/* Storage type of an array. The precision of the computation is set by the options. */
typedef enum SapDtype {
    SAP_F32 = 0, /* float */
    SAP_F64 = 1  /* double */
} SapDtype;

/* The arrays are the caller's, or the object's if sap_state_create made it. Quaternions in joint_q are normalised when
 * read; a zero quaternion fails its world. */
typedef struct SapState {
    int num_worlds;     /* n >= 1 */
    SapDtype dtype;     /* type of every array below */
    void *joint_q;      /* [n][nq] m, rad, quaternions; required */
    void *joint_qd;     /* [n][nv] m/s or rad/s; required */
    void *body_q;       /* [n][nb][7] m, pose of each body frame; output only; NULL = not computed */
    void *body_qd;      /* [n][nb][6] [v of the centre of mass ; omega], world axes; output only; NULL = not computed */
    void *actuator_act; /* [n][nu] activations of the actuators of MuJoCo's law (mujoco.h); NULL = 0, not kept */
} SapState;

/* The arrays are the caller's, or the object's if sap_control_create made it. Kernels only read them. */
typedef struct SapControl {
    int num_worlds;         /* n >= 1 */
    SapDtype dtype;         /* type of every array below */
    void *joint_f;          /* [n][nv] N or N m, explicit generalised force; NULL = 0 */
    void *body_f;           /* [n][nb][6] N and N m, [force ; torque about the centre of mass], world axes; NULL = 0 */
    void *joint_target_pos; /* [n][nv] m or rad, target of the drive; NULL = the model's */
    void *joint_target_vel; /* [n][nv] m/s or rad/s, target of the drive; NULL = the model's */
    void *joint_act;        /* [n][nv] N or N m, feed-forward of the drive; NULL = the model's */
    int32_t *constraint_active; /* [n][nc] 1: the constraint acts, 0: not; NULL = the model's */
    void *tendon_target_pos;    /* [n][nt] m or rad, target of a tendon's drive; NULL = the model's */
    void *tendon_target_vel;    /* [n][nt] m/s or rad/s; NULL = the model's */
    void *tendon_act;           /* [n][nt] N, feed-forward of a tendon's drive; NULL = 0 */
    void *tendon_f;             /* [n][nt] N, force along a tendon, positive lengthens; NULL = 0 */
    void *actuator_ctrl;        /* [n][nu] controls of the actuators of MuJoCo's law (mujoco.h); NULL = 0 */
    void *guess;                /* [n][nv] first v of Newton's method, internal order; NULL = the state's velocity */
} SapControl;

/* Allocates the object and all arrays, 64-byte aligned, and sets every world to the model's initial state, body_q and
 * body_qd included. num_worlds >= 1. The caller owns *out, which owns its arrays; its pointers may be replaced. */
SAP_API SapStatus sap_state_create(const SapModel *model, int num_worlds, SapDtype dtype, SapState **out);
/* Frees what sap_state_create allocated; NULL is allowed. */
SAP_API void sap_state_destroy(SapState *state);

/* The same for control: joint_f, targets, joint_act and constraint_active are the model's, body_f, tendon_act, tendon_f
 * and actuator_ctrl are 0, guess is NULL. */
SAP_API SapStatus sap_control_create(const SapModel *model, int num_worlds, SapDtype dtype, SapControl **out);
/* Frees what sap_control_create allocated; NULL is allowed. */
SAP_API void sap_control_destroy(SapControl *control);

SAP_END_DECLS

#endif
