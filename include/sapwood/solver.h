/* A solver steps n worlds of one model on the CPU. It owns threads and scratch; a step allocates nothing.
 *
 * Only one thread may use a solver at a time; different solvers are independent. */
#ifndef SAPWOOD_SOLVER_H
#define SAPWOOD_SOLVER_H

#include <stddef.h>

#include <sapwood/contacts.h>
#include <sapwood/options.h>
#include <sapwood/state.h>

SAP_BEGIN_DECLS

typedef struct SapSolver SapSolver;

/* Status bits of one world in the last step. A world with a FAILED bit keeps its last good state: the output gets the
 * coordinates and velocities of the input, or does not change if these are not finite. A world with a NOT_CONVERGED bit
 * moves with the best velocity that the solve found. */
enum {
    SAP_WORLD_NONFINITE_STATE = 1 << 0,   /* joint_q or joint_qd has a NaN, an infinity or a zero quaternion */
    SAP_WORLD_NONFINITE_CONTROL = 1 << 1, /* a control array that is read has a NaN or an infinity */
    SAP_WORLD_NOT_SPD = 1 << 2,           /* the mass matrix is not positive definite in the precision used */
    SAP_WORLD_NONFINITE_RESULT = 1 << 3, /* the step overflowed, or an angle is too large for its sine (docs/trig.md) */
    SAP_WORLD_BAD_CONTACT = 1 << 4,      /* a contact has an index out of range, a non-finite number or a zero normal */
    SAP_WORLD_BAD_PARAMETERS = 1 << 5,   /* parameters of the world (sap_batch_expand) break a rule: it is skipped */
    SAP_WORLD_TOO_FAST = 1 << 6,         /* a dof became faster than the option max_joint_speed */
    SAP_WORLD_BAD_CONSTRAINT = 1 << 7,   /* the points of a distance constraint are so close that it has no direction */
    SAP_WORLD_FAILED = 0xff,             /* all of the above */

    /* How the solve ended. Neither bit is set if no contact, drive, limit or friction of the world is active. */
    SAP_WORLD_OPTIMAL = 1 << 8,      /* the optimality test passed */
    SAP_WORLD_COST_SETTLED = 1 << 9, /* the cost test passed, at a relative residual of at most 1e-2 */

    SAP_WORLD_ITERATION_LIMIT = 1 << 10,    /* max_iterations did not suffice */
    SAP_WORLD_LINE_SEARCH_FAILED = 1 << 11, /* no step along the last direction was accepted, not even by exact_root */
    SAP_WORLD_NO_DESCENT = 1 << 12,         /* Newton's matrix gave no descent direction, not even in f64 */
    SAP_WORLD_COST_STALLED = 1 << 18,       /* the cost test ended the solve at a relative residual above 1e-2 */
    SAP_WORLD_NOT_CONVERGED =
        SAP_WORLD_ITERATION_LIMIT | SAP_WORLD_LINE_SEARCH_FAILED | SAP_WORLD_NO_DESCENT | SAP_WORLD_COST_STALLED,

    SAP_WORLD_CONTACTS_TRUNCATED = 1 << 13, /* contacts were dropped because the world has too few slots */
    /* A free or ball body turns so far in a step that the explicit gyroscopic torque adds energy, 1 % of its wobble per
     * step or more (docs/free_motion.md). Take a shorter step, or gyroscopic = implicit, which never sets this bit. */
    SAP_WORLD_FAST_SPIN = 1 << 14,

    /* A free body moved by more than the thickness of its thinnest shape in a step, h |v| of its centre of mass: it may
     * have passed through another body without a contact. Take a shorter step. */
    SAP_WORLD_MAY_TUNNEL = 1 << 17,
    /* A contact is deeper than half of the thickest shape of one of its bodies, at the start of the step: a heavy body
     * presses a light one through another, or contacts are too soft (docs/contact_law.md#heavy-bodies-on-light-ones). */
    SAP_WORLD_DEEP_CONTACT = 1 << 19,

    /* Solvers in impulses (docs/dual.md). None is a failure. */
    SAP_WORLD_UNBOUNDED = 1 << 15,             /* the targets contradict each other: solved with compliance instead */
    SAP_WORLD_COULOMB_NOT_CONVERGED = 1 << 16, /* friction_law = coulomb: it has the solution of the convex law */
    SAP_WORLD_BOUNCE_REDUCED = 1 << 20,        /* restitution would add energy: a part of the bounce is left out */

    /* The bits that accumulate over the steps of a call; the others are those of its last step. */
    SAP_WORLD_LASTING = SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED | SAP_WORLD_CONTACTS_TRUNCATED |
                        SAP_WORLD_FAST_SPIN | SAP_WORLD_MAY_TUNNEL | SAP_WORLD_DEEP_CONTACT | SAP_WORLD_UNBOUNDED |
                        SAP_WORLD_COULOMB_NOT_CONVERGED | SAP_WORLD_BOUNCE_REDUCED
};

/* Creates a solver for num_worlds >= 1 worlds. The solver keeps the model alive and copies the options; options NULL =
 * sap_options_preset(NULL). The option device must be cpu; use a SapBatch for a GPU. The rules of batch.h for
 * fork, signals and the floating-point mode apply to a solver too. The caller owns *out. */
SAP_API SapStatus sap_solver_create(const SapModel *model, int num_worlds, const SapOptions *options, SapSolver **out);
/* Frees a solver; NULL is allowed. */
SAP_API void sap_solver_destroy(SapSolver *solver);

/* Takes one step of h seconds (finite, > 0) in all worlds: in -> out. All structs have the solver's num_worlds; their
 * dtypes may differ. `out` may be `in`; otherwise their arrays must not overlap. control NULL = the model's initial
 * control. contacts NULL = no contacts; their capacity is at most the option max_contacts. A world that fails does
 * not make the call fail: see sap_solver_world_status. */
SAP_API SapStatus sap_step(SapSolver *solver, const SapState *in, const SapControl *control,
                           const SapContacts *contacts, double h, SapState *out);

/* Finds the contacts of every world at `state` and writes them to *contacts, with shape0, shape1 and dropped
 * not NULL and a capacity of at most max_contacts. A contact belongs to a pair of shapes whose distance
 * is at most the sum of their margins and gaps; its points lie on the surfaces, and its margins are
 * the shapes'. Contacts are in the order of pairs. A world with more contacts than slots keeps the deepest (of
 * equal gaps the earlier) and counts the others in dropped. A world whose state is not finite gets no contacts
 * and SAP_WORLD_NONFINITE_STATE. docs/collision.md. */
SAP_API SapStatus sap_collide(SapSolver *solver, const SapState *state, SapContacts *contacts);

/* Status bits SAP_WORLD_... of the last call, [num_worlds], host; owned by the solver. A NULL solver gives NULL. */
SAP_API const uint32_t *sap_solver_world_status(const SapSolver *solver);

/* The result of each world's solve in the last step. The arrays are [num_worlds], host, owned by the solver, and keep
 * their address as long as the solver lives. With solvers in impulses (docs/dual.md), iterations, line_iterations, cost
 * and residual are iterations, inner_iterations, cost and residual of SapDualSolution, and f64_retries is 0. */
typedef struct SapWorldReport {
    const uint32_t *status;         /* bits SAP_WORLD_... */
    const int32_t *iterations;      /* Newton iterations */
    const int32_t *line_iterations; /* line search iterations, summed over the Newton iterations */
    const int32_t *f64_retries; /* linear systems solved again in f64: no descent direction or no convergence in f32 */
    const double *cost;         /* l(v), J */
    const double *residual;     /* |D grad| / max(|D A v|, |D j|), which optimality_rel_tol bounds */
    const int32_t *safeguards;  /* solvers in impulses: as in SapDualSolution; else 0 */
    const int32_t *active;      /* solvers in impulses: rows between their bounds, as in SapDualSolution; else 0 */
} SapWorldReport;

/* Fills *out with pointers to the solver's arrays. */
SAP_API SapStatus sap_solver_report(const SapSolver *solver, SapWorldReport *out);

/* Impulses, velocities and geometry of contacts and joints, at the velocity that the step returned. The arrays are the
 * caller's, host, f64 unless noted; any may be NULL. capacity = max_contacts: one element per record, as in
 * SapContacts. Arrays per dof are in internal order. Records past a world's count are 0, as are impulse, velocity and
 * force of a contact that does not act. Contacts and bodies are at their position at the beginning of the step. The
 * values of a failed world are meaningless. */
typedef struct SapContactReport {
    double *impulse;  /* [n][capacity][3] N s, contact frame (t1, t2, n), on body 1; the force is impulse / h */
    double *velocity; /* [n][capacity][3] m/s, contact frame, of body 1 relative to body 0 */
    double *position; /* [n][capacity][3] m, world, between the witnesses */
    double *frame;    /* [n][capacity][9] t1, t2, n in world axes */
    double *gap;      /* [n][capacity] m, phi0 */
    double *weight;   /* [n][capacity] 1/kg, contact weight w */
    double *pair;     /* [n][capacity][3] mu, k (N/m) and tau (s) of the pair; of `similar` and `lagged` mu, the k that
                         the step resolves, and d (s/m) */
    /* Of the laws `similar` and `lagged` only: */
    double *lagged_impulse; /* [n][capacity] N s, n0: normal impulse that the state before the step implies */
    double *slip_width;     /* [n][capacity] m/s, eps: slip below which a contact sticks */
    double *jacobian;       /* [n][capacity][3][nv] contact velocity = J v, rows t1, t2, n */
    int32_t *region;        /* [n][capacity] 0 no contact, 1 stiction, 2 sliding, 3 frictionless */
    double *force;          /* [n][capacity][3] N, world axes, on body 1 at `position`; on body 0 it is the opposite */
    double *wrench; /* [n][nb][6] sum over the contacts of a body: [force ; torque about its COM], N, N m, world axes */
    double *drive, *limit, *friction; /* [n][nv] generalised impulses of drives, limits and friction, N s or N m s */
    /* The contact cache of warm_start (docs/dual.md), read and written by each step; zeros are an empty one. All three
     * or none. A world continues bit for bit only with its cache. */
    int32_t *cache_key; /* [n][capacity][3] sides and index within the pair; 0 ends the list of a world */
    double *cache;      /* [n][capacity][6] normal, and force on body 1, N, world axes */
    double *dof_cache;  /* [n][nv][4] forces of drive, lower and upper limit and friction, N or N m */
} SapContactReport;

/* Makes every further step fill the arrays of *report; NULL stops that. The struct is copied; its arrays
 * must stay valid. */
SAP_API SapStatus sap_solver_record(SapSolver *solver, const SapContactReport *report);

/* Impulses, errors and forces of constraints and tendons, at the velocity that the step returned. The arrays are the
 * caller's, host, f64; any may be NULL. Rows are in the order of the constraints: ball 3, weld 6 (rotation first),
 * distance and coupler 1; num_rows is their sum. Errors, lengths and Jacobians refer to the beginning of the step.
 * A constraint that does not act has impulse, R and target 0. The values of a failed world are meaningless. */
typedef struct SapConstraintReport {
    double *impulse;  /* [n][num_rows] N s or N m s, on body b (on x0 of a coupler) */
    double *error;    /* [n][num_rows] m or rad, g */
    double *velocity; /* [n][num_rows] m/s or rad/s, J v */
    double *weight;   /* [n][num_rows] 1/kg or 1/(kg m^2), w */
    double *target;   /* [n][num_rows] m/s or rad/s, vhat */
    double *R;        /* [n][num_rows] 1/kg or 1/(kg m^2), regularisation */
    double *jacobian; /* [n][num_rows][nv] J, dofs in internal order */
    double *wrench;   /* [n][nc][6] mean of the step on body b: [force ; torque about its centre of mass], N, N m, world
                         axes; couplers: generalised forces on x0 and x1 in [0] and [1] */
    double *body_wrench; /* [n][nb][6] sum over the constraints of a body */
    double *residual;    /* [n] largest |error| of active constraints with both sides: how open the loops are */
    double *tendon_length, *tendon_velocity; /* [n][nt] l, m or rad; J v, m/s or rad/s */
    double *tendon_force; /* [n][nt] N, the sum of all parts, armature included; positive lengthens */
    double *tendon_limit, *tendon_spring, *tendon_damper, *tendon_friction, *tendon_drive; /* [n][nt] N, its parts; a
                                                spring without a band includes the damper */
} SapConstraintReport;

/* Makes every further step fill the arrays of *report; NULL stops that. The struct is copied; its arrays must stay
 * valid. */
SAP_API SapStatus sap_solver_record_constraints(SapSolver *solver, const SapConstraintReport *report);

/* Free motion without a step: the quantities that a step computes before contact, for inspection and control. The
 * arrays are the caller's, host, f64, [num_worlds][...]; any may be NULL. Velocities, and rows and columns of A, are in
 * internal order: a free joint is [omega ; v of the body origin]. Spatial vectors are [angular ; linear], world axes,
 * at the body origin. */
typedef struct SapFreeMotion {
    double *v_star;        /* [n][nv] m/s or rad/s, velocity after h seconds without contact */
    double *A;             /* [n][nv][nv] kg or kg m^2, mass matrix + armature + h damping, symmetric, dense */
    double *tau;           /* [n][nv] N or N m, applied force + gravity + velocity terms - damping force */
    double *joint_qd;      /* [n][nv] m/s or rad/s, the input velocity in internal order */
    double *body_pose;     /* [n][nb][7] m, pose of the body frame */
    double *body_velocity; /* [n][nb][6] [omega ; v_origin], rad/s and m/s */
    double *body_bias;     /* [n][nb][6] [alpha ; a_origin], rad/s^2 and m/s^2, zero joint accelerations, no gravity */
    double *energy;        /* [n][2] J, kinetic (without armature) and potential (zero at the world origin) */
} SapFreeMotion;

/* Computes the arrays of *out at state `in`, with h and control as in sap_step. Sets the world status. */
SAP_API SapStatus sap_free_motion(SapSolver *solver, const SapState *in, const SapControl *control, double h,
                                  const SapFreeMotion *out);

/* Computes body_q and body_qd of `state` (those that are not NULL) from its joint_q and joint_qd, and sets the world
 * status. A world whose state is not finite does not change. */
SAP_API SapStatus sap_forward_kinematics(SapSolver *solver, SapState *state);

/* How a solver runs, and the memory that it holds. */
typedef struct SapSolverInfo {
    int num_worlds;       /* n */
    int threads;          /* worker threads in use */
    int lanes;            /* worlds per pack */
    SapIsa isa;           /* never SAP_ISA_AUTO */
    size_t scratch_bytes; /* scratch of one pack, per thread */
    size_t model_bytes;   /* constants that the kernels read */
    size_t total_bytes;   /* all memory that the solver holds, and the plan that it shares */
    int factor_nonzeros;  /* entries of the sparse factor of A, diagonal included; dense would be nv (nv + 1) / 2 */
    int shape_pairs;      /* pairs of shapes that may touch */
    SapBroadPhase broad_phase; /* never SAP_BROAD_PHASE_AUTO */
} SapSolverInfo;

SAP_API SapStatus sap_solver_info(const SapSolver *solver, SapSolverInfo *out);

/* ---- time per stage ---- */

/* The stages of a step in order. Newton's method repeats EVALUATE .. LINE_SEARCH. */
typedef enum SapSection {
    SAP_SECTION_LOAD,         /* state and control into scratch */
    SAP_SECTION_KINEMATICS,   /* poses, motion subspaces, velocities, bias accelerations */
    SAP_SECTION_DYNAMICS,     /* inertias and wrenches of bodies, then of subtrees */
    SAP_SECTION_MASS_MATRIX,  /* rows of A and of the generalised force */
    SAP_SECTION_FREE_FACTOR,  /* factor of A, and v* */
    SAP_SECTION_BROAD_PHASE,  /* shapes in the world, pairs whose bounds overlap */
    SAP_SECTION_NARROW_PHASE, /* contact points of these pairs */
    SAP_SECTION_RECORDS,      /* contact records of these points */
    SAP_SECTION_SLOTS,        /* assignment of records to the slots of a pack */
    SAP_SECTION_GEOMETRY,     /* frames, gaps and Jacobians of slots */
    SAP_SECTION_WEIGHT,       /* contact weights */
    SAP_SECTION_SETUP,        /* laws of contacts and joints, A v*, the first v */
    SAP_SECTION_EVALUATE,     /* cost, gradient and stopping tests of an iteration */
    SAP_SECTION_ASSEMBLY,     /* Newton's matrix */
    SAP_SECTION_FACTOR,       /* its factor and the direction */
    SAP_SECTION_LINE_SEARCH,  /* length of the step along the direction, new v */
    SAP_SECTION_INTEGRATE,    /* coordinates at the end of the step */
    SAP_SECTION_STORE,        /* reports, status, state and bodies out of scratch */
    SAP_SECTION_REST,         /* between packs */
    SAP_NUM_SECTIONS
} SapSection;

/* "load", "free factor", ...; "unknown" for any other value; static. */
SAP_API const char *sap_section_name(SapSection stage);

/* Times and counts since sap_solver_profile. */
typedef struct SapProfile {
    double seconds[SAP_NUM_SECTIONS]; /* s, sum over all threads */
    double factors[2]; /* Newton's linear systems, one per lane: [0] on the model's pattern, [1] on tiles */
} SapProfile;

/* on = true sets the profile to zero and makes every further call measure its stages; on = false stops that. Profiling
 * does not change results and costs nothing while it is off. */
SAP_API SapStatus sap_solver_profile(SapSolver *solver, bool on);
/* Reads the profile; all zeros if profiling was never on. */
SAP_API SapStatus sap_solver_profile_read(const SapSolver *solver, SapProfile *out);

SAP_END_DECLS

#endif
