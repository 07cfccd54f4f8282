/* State and control of n worlds: row-major arrays [world][i], f32 or f64, in host memory.
 *
 * The structs are plain: fill one with pointers to your own memory, or let the create functions allocate.
 * Free-joint velocity is [v of the centre of mass ; omega] and its joint_f [force ; torque about the centre of
 * mass], world axes. body_f is the same pair per body. */
#ifndef SAPWOOD_STATE_H
#define SAPWOOD_STATE_H

#include <sapwood/model.h>

SAP_BEGIN_DECLS

/* How numbers are stored: float or double. The precision of the computation is an option's. */
typedef enum SapDtype {
    SAP_F32 = 0, /* float */
    SAP_F64 = 1  /* double */
} SapDtype;

typedef struct SapState {
    int num_worlds; /* n >= 1 */
    SapDtype dtype; /* of every array below */
    void *joint_q;  /* [n][nq]; required. Quaternions are normalised when read; a zero one stops its world */
    void *joint_qd; /* [n][nv]; required */
    void *body_q;   /* [n][nb][7] pose of each body frame; written by a step, never read; may be NULL */
    void *body_qd;  /* [n][nb][6] [v of the centre of mass ; omega], world axes; written, never read; may be NULL */
} SapState;

typedef struct SapControl {
    int num_worlds;         /* n >= 1 */
    SapDtype dtype;         /* of every array below */
    void *joint_f;          /* [n][nv] explicit generalised force; NULL = 0 */
    void *body_f;           /* [n][nb][6] [force ; torque about the centre of mass], world axes; NULL = 0 */
    void *joint_target_pos; /* [n][nv]; NULL = the model's */
    void *joint_target_vel; /* [n][nv]; NULL = the model's */
    void *joint_act;        /* [n][nv]; NULL = the model's */
    void *guess;            /* [n][nv] where Newton's method starts, internal order; NULL = the state's velocity */
} SapControl;

/* Allocates all arrays (64-byte aligned, owned by the state) and sets every world to the model's initial state,
 * body_q and body_qd included. num_worlds >= 1. */
SAP_API SapStatus sap_state_create(const SapModel *model, int num_worlds, SapDtype dtype, SapState **out);
/* Frees what sap_state_create allocated; NULL is allowed. */
SAP_API void sap_state_destroy(SapState *state);

/* As above: joint_f, targets and joint_act are the model's, body_f is 0. */
SAP_API SapStatus sap_control_create(const SapModel *model, int num_worlds, SapDtype dtype, SapControl **out);
SAP_API void sap_control_destroy(SapControl *control);

SAP_END_DECLS

#endif
