/* A solver steps n worlds of one model on the CPU. It owns threads and scratch; a step allocates nothing.
 *
 * A solver may be used by one thread at a time; different solvers are independent. */
#ifndef SAPWOOD_SOLVER_H
#define SAPWOOD_SOLVER_H

#include <stddef.h>

#include <sapwood/contacts.h>
#include <sapwood/options.h>
#include <sapwood/state.h>

SAP_BEGIN_DECLS

typedef struct SapSolver SapSolver;

/* What happened to one world in the last step. A world with any of the FAILED bits keeps its last good state: the output gets
 * the input's coordinates and velocities again, or, where these are themselves not finite, is left as it was. One with
 * a NOT_CONVERGED bit moves with the best velocity that was found. */
enum {
    SAP_WORLD_NONFINITE_STATE = 1 << 0,   /* joint_q or joint_qd has a NaN, an infinity or a zero quaternion */
    SAP_WORLD_NONFINITE_CONTROL = 1 << 1, /* a control array that is read has a NaN or an infinity */
    SAP_WORLD_NOT_SPD = 1 << 2,           /* the mass matrix is not positive definite in the precision used */
    SAP_WORLD_NONFINITE_RESULT = 1 << 3, /* the step overflowed, or an angle is too large for its sine (docs/trig.md) */
    SAP_WORLD_BAD_CONTACT =
        1 << 4, /* a contact has an index out of range, a number that is not finite, or a zero normal */
    SAP_WORLD_BAD_PARAMETERS =
        1 << 5, /* its own parameters (sap_batch_expand) break a rule of the model: left out, body_q and body_qd too */
    SAP_WORLD_FAILED = 0xff,

    /* How the solve ended; neither, where no contact, drive, limit or friction of the world is active. */
    SAP_WORLD_OPTIMAL = 1 << 8,      /* by the optimality test */
    SAP_WORLD_COST_SETTLED = 1 << 9, /* by the cost test */

    SAP_WORLD_ITERATION_LIMIT = 1 << 10, /* max_iterations were not enough */
    SAP_WORLD_LINE_SEARCH_FAILED =
        1 << 11,                    /* no step along the last direction was accepted, not by the exact search either */
    SAP_WORLD_NO_DESCENT = 1 << 12, /* Newton's matrix gave no direction downhill, not in f64 either */
    SAP_WORLD_NOT_CONVERGED = SAP_WORLD_ITERATION_LIMIT | SAP_WORLD_LINE_SEARCH_FAILED | SAP_WORLD_NO_DESCENT,

    SAP_WORLD_CONTACTS_TRUNCATED = 1 << 13 /* contacts were dropped for want of slots */
};

/* Creates a solver for num_worlds >= 1 worlds. options NULL = sap_options_preset("approx32"). The option device must be cpu: what
 * runs on a GPU is a SapBatch. */
SAP_API SapStatus sap_solver_create(const SapModel *model, int num_worlds, const SapOptions *options, SapSolver **out);
SAP_API void sap_solver_destroy(SapSolver *solver); /* NULL is allowed */

/* One step of h seconds (finite, > 0) for all worlds: in -> out. `out` may be `in`; otherwise the two must not overlap.
 * The dtypes of in, control, contacts and out may differ. control NULL = the model's initial control, contacts NULL = none;
 * contacts->capacity is at most the option max_rigid_contact.
 * Failures of worlds are not failures of the call: see sap_solver_world_status. */
SAP_API SapStatus sap_step(SapSolver *solver, const SapState *in, const SapControl *control,
                           const SapContacts *contacts, double h, SapState *out);

/* Finds the contacts of every world at that state and writes them to *contacts (made by sap_contacts_create, capacity up to
 * max_rigid_contact): pairs of the model's shapes closer than their margins and gaps together, points on the surfaces, margins the
 * shapes' own, in the order of pairs. A world with more contacts than slots keeps the deepest (ties: the earlier) and
 * counts the others in dropped. A world whose state is not finite has none, and its status says so. docs/collision.md. */
SAP_API SapStatus sap_collide(SapSolver *solver, const SapState *state, SapContacts *contacts);

/* Status bits of the last step, [num_worlds]; owned by the solver. NULL solver gives NULL. */
SAP_API const uint32_t *sap_solver_world_status(const SapSolver *solver);

/* How the solve of each world ended, in the last step; [num_worlds] arrays, owned by the solver. */
typedef struct SapWorldReport {
    const uint32_t *status;         /* bits SAP_WORLD_... */
    const int32_t *iterations;      /* Newton */
    const int32_t *line_iterations; /* of the line searches, together */
    const int32_t *refactored;      /* directions that f32 did not give and f64 did */
    const double *cost;             /* l(v), J */
    const double *residual; /* |D grad| / max(|D A v|, |D j|), what the optimality test compares with its tolerance */
} SapWorldReport;

SAP_API SapStatus sap_solver_report(const SapSolver *solver, SapWorldReport *out);

/* What contacts and joints did, at the velocity that was returned. Arrays are the caller's, host, f64 unless said, one element per
 * slot as in SapContacts with capacity max_rigid_contact, or per dof in internal order; any may be NULL. Slots past a
 * world's count are left as they are. Contacts and bodies are where they were at the beginning of the step. What failed worlds report
 * means nothing. */
typedef struct SapContactReport {
    double *impulse;  /* [n][capacity][3] N s, contact frame (t1, t2, n), on body 1; its force is impulse / h */
    double *velocity; /* [n][capacity][3] m/s, contact frame */
    double *position; /* [n][capacity][3] m, world, between the witnesses */
    double *frame;    /* [n][capacity][9] t1, t2, n in world axes */
    double *gap;      /* [n][capacity] m, phi0 */
    double *weight;   /* [n][capacity] 1/kg */
    double *pair;     /* [n][capacity][3] mu, k (N/m), tau (s) */
    double *jacobian; /* [n][capacity][3][nv] */
    int32_t *region;  /* [n][capacity] 0 no contact, 1 stiction, 2 sliding, 3 frictionless */
    double *force;    /* [n][capacity][3] N, world axes, on body 1 at `position`; on body 0 it is the opposite */
    double *wrench;   /* [n][nb][6] all contacts of a body: [force ; torque about its COM], N and N m, world axes */
    double *drive, *limit, *friction; /* [n][nv] generalised impulses, N s or N m s */
} SapContactReport;

/* From now on every step fills *report; NULL stops that. The struct is copied, its arrays must live on. */
SAP_API SapStatus sap_solver_record(SapSolver *solver, const SapContactReport *report);

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
    int num_worlds;       /* n */
    int threads;          /* worker threads in use */
    int lanes;            /* worlds per pack */
    SapIsa isa;           /* never SAP_ISA_AUTO */
    size_t scratch_bytes; /* per thread: the arena of one pack */
    size_t model_bytes;   /* constants read by the kernels */
    size_t total_bytes;   /* all memory the solver holds */
    int factor_nonzeros;  /* entries of the sparse factor of A, diagonal included; dense would be nv (nv + 1) / 2 */
    int shape_pairs;      /* pairs of shapes that may touch */
    SapBroadPhase broad_phase; /* never SAP_BROAD_PHASE_AUTO */
} SapSolverInfo;

SAP_API SapStatus sap_solver_info(const SapSolver *solver, SapSolverInfo *out);

/* ---- where the time of a step goes ---- */

/* The stages of a step in their order; those of Newton's method take turns. */
typedef enum SapStage {
    SAP_STAGE_LOAD,         /* state and control into scratch */
    SAP_STAGE_KINEMATICS,   /* poses, motion subspaces, velocities, bias accelerations */
    SAP_STAGE_DYNAMICS,     /* inertias and wrenches of bodies, then of subtrees */
    SAP_STAGE_MASS_MATRIX,  /* rows of A and of the generalised force */
    SAP_STAGE_FREE_FACTOR,  /* factor of A, and v* */
    SAP_STAGE_BROAD_PHASE,  /* shapes in the world, pairs whose bounds meet */
    SAP_STAGE_NARROW_PHASE, /* points of these pairs */
    SAP_STAGE_RECORDS,      /* contact records of these points */
    SAP_STAGE_SLOTS,        /* records dealt out to the slots of a pack */
    SAP_STAGE_GEOMETRY,     /* frames, gaps and Jacobians of slots */
    SAP_STAGE_WEIGHT,       /* contact weights */
    SAP_STAGE_SETUP,        /* laws of contacts and joints, A v*, the guess */
    SAP_STAGE_EVALUATE,     /* cost, gradient and stopping tests of an iteration */
    SAP_STAGE_ASSEMBLY,     /* Newton's matrix */
    SAP_STAGE_FACTOR,       /* its factor and the direction */
    SAP_STAGE_LINE_SEARCH,
    SAP_STAGE_INTEGRATE, /* coordinates at the end of the step */
    SAP_STAGE_STORE,     /* reports, status, state and bodies out of scratch */
    SAP_STAGE_REST,      /* between packs */
    SAP_NUM_STAGES
} SapStage;

/* "load", "free factor", ...; "unknown" for what is no stage. */
SAP_API const char *sap_stage_name(SapStage stage);

/* What steps took since sap_solver_profile. */
typedef struct SapProfile {
    double seconds[SAP_NUM_STAGES]; /* of all threads together */
    double factors[2];              /* linear systems of Newton's method, per lane: on the tree's pattern, dense */
} SapProfile;

/* From now on every call takes the time of its stages, from zero; on = false stops it. Results do not depend on it, and while
 * it is off it costs nothing. */
SAP_API SapStatus sap_solver_profile(SapSolver *solver, bool on);
/* Zeros where it was never on. */
SAP_API SapStatus sap_solver_profile_read(const SapSolver *solver, SapProfile *out);

SAP_END_DECLS

#endif
