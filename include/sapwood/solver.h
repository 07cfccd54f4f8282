/* A solver steps n worlds of one model on the CPU. It owns threads and scratch; a step allocates nothing.
 *
 * A solver may be used by one thread at a time; different solvers are independent. */
#ifndef SAPWOOD_SOLVER_H
#define SAPWOOD_SOLVER_H

#include <stddef.h>

#include <sapwood/options.h>
#include <sapwood/state.h>

SAP_BEGIN_DECLS

typedef struct SapSolver SapSolver;

/* What happened to one world in the last step. 0: nothing to say. A world with any of the FAILED bits keeps its last
 * good state: the output gets the input's coordinates and velocities again, or, where these are themselves bad
 * (NONFINITE_STATE), is left as it was; body_q and body_qd go with them. */
enum {
    /* joint_q or joint_qd has a NaN, an infinity, a quaternion whose square is zero or overflows, or an angle too large for
     * its sine (docs/trig.md) */
    SAP_WORLD_NONFINITE_STATE = 1 << 0,
    /* a control array that is read has a NaN or an infinity */
    SAP_WORLD_NONFINITE_CONTROL = 1 << 1,
    /* the mass matrix is not positive definite in the precision used */
    SAP_WORLD_NOT_SPD = 1 << 2,
    /* the step overflowed its precision or the storage of the output, or led to an angle too large for its sine */
    SAP_WORLD_NONFINITE_RESULT = 1 << 3,
    SAP_WORLD_FAILED =
        SAP_WORLD_NONFINITE_STATE | SAP_WORLD_NONFINITE_CONTROL | SAP_WORLD_NOT_SPD | SAP_WORLD_NONFINITE_RESULT
};

/* Creates a solver for num_worlds >= 1 worlds. options NULL = sap_options_preset("approx32"). */
SAP_API SapStatus sap_solver_create(const SapModel *model, int num_worlds, const SapOptions *options, SapSolver **out);
SAP_API void sap_solver_destroy(SapSolver *solver); /* NULL is allowed */

/* One step of h seconds (finite, > 0) for all worlds: in -> out. `out` may be `in`; otherwise the two must not overlap.
 * The dtypes of in, control and out may differ. control NULL = the model's initial control.
 * Failures of worlds are not failures of the call: see sap_solver_world_status. */
SAP_API SapStatus sap_step(SapSolver *solver, const SapState *in, const SapControl *control, double h, SapState *out);

/* Status bits of the last step, [num_worlds]; owned by the solver. NULL solver gives NULL. */
SAP_API const uint32_t *sap_solver_world_status(const SapSolver *solver);

/* Free motion without stepping: what the step computes before contact, for inspection and control. Arrays are the
 * caller's, f64, host, [num_worlds][...]; any may be NULL. Velocities are in internal order: a free joint is [omega ; v of
 * the body origin], and so are rows and columns of A; spatial vectors are [angular ; linear], world axes, at the body origin. */
typedef struct SapFreeMotion {
    double *v_star;        /* [n][nv] velocity after h seconds without contact */
    double *A;             /* [n][nv][nv] mass matrix + armature + h damping, symmetric, dense */
    double *tau;           /* [n][nv] generalised force: applied + gravity + velocity terms - damping force */
    double *joint_qd;      /* [n][nv] the input velocity in internal order */
    double *body_pose;     /* [n][nb][7] */
    double *body_velocity; /* [n][nb][6] [omega ; v_origin] */
    double *body_bias;     /* [n][nb][6] [alpha ; a_origin] with zero joint accelerations and no gravity */
    double *energy;        /* [n][2] kinetic (without armature) and potential (zero at the world origin), J */
} SapFreeMotion;

SAP_API SapStatus sap_free_motion(SapSolver *solver, const SapState *in, const SapControl *control, double h,
                                  const SapFreeMotion *out);

/* Writes body_q and body_qd of `state` (those that are not NULL) from its joint_q and joint_qd. */
SAP_API SapStatus sap_forward_kinematics(SapSolver *solver, SapState *state);

/* How a solver runs, and what it costs. */
typedef struct SapSolverInfo {
    int num_worlds;
    int threads;          /* worker threads in use */
    int lanes;            /* worlds per pack */
    SapIsa isa;           /* never SAP_ISA_AUTO */
    size_t scratch_bytes; /* per thread: the arena of one pack */
    size_t model_bytes;   /* constants read by the kernels */
    size_t total_bytes;   /* all memory the solver holds */
    int factor_nonzeros;  /* entries of the sparse factor of A, diagonal included; dense would be nv (nv + 1) / 2 */
} SapSolverInfo;

SAP_API SapStatus sap_solver_info(const SapSolver *solver, SapSolverInfo *out);

SAP_END_DECLS

#endif
