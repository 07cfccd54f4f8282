/* Options of a solver: of the contact law and its method, and how to run.
 *
 * sap_options_preset fills a SapOptions. The caller then writes explicit values into the fields, or sets them by name
 * with sap_options_set. Names and values are stripped and lower-cased, and "-" reads as "_". SAP Warp's names of options
 * are accepted too (docs/options.md). */
#ifndef SAPWOOD_OPTIONS_H
#define SAPWOOD_OPTIONS_H

#include <stdbool.h>

#include <sapwood/error.h>

SAP_BEGIN_DECLS

typedef enum SapPrecision { SAP_FP32 = 0, SAP_FP64 = 1 } SapPrecision; /* "fp32" or "f32", "fp64" or "f64" */

typedef enum SapPositionIntegration {
    SAP_MIDPOINT = 0, /* "midpoint": q moves with (v0 + v) / 2, quaternions by the exact rotation */
    SAP_EULER = 1     /* "sap_euler": q moves with v, quaternions by q + h/2 omega q, normalised */
} SapPositionIntegration;

/* A contact law and the method that solves for it (docs/solve.md). */
typedef enum SapContactSolver {
    SAP_SOLVER_SAP = 0,        /* "sap": the SAP contact law, by Newton's method */
    SAP_SOLVER_CONE = 1,       /* "cone": exact friction cones, in impulses (docs/dual.md), as the next three */
    SAP_SOLVER_PGS = 2,        /* "pgs": the same problem by projected Gauss-Seidel, contact by contact; inexact */
    SAP_SOLVER_PGS_ROWS = 3,   /* "pgs_rows": the same row by row, nearly Coulomb's law; inexact */
    SAP_SOLVER_ACTIVE_SET = 4, /* "active_set": exact, without friction */
    SAP_SOLVER_MUJOCO = 5,     /* "mujoco": MuJoCo's law and method, docs/mujoco.md; missing parameters get defaults */
    SAP_NUM_CONTACT_SOLVERS
} SapContactSolver;

/* Friction of the solvers in impulses. */
typedef enum SapFrictionLaw {
    SAP_FRICTION_CONVEX = 0, /* "convex": a contact that slides at speed s separates at speed mu s */
    SAP_FRICTION_COULOMB     /* "coulomb": sliding does not separate the contact; cone and pgs only */
} SapFrictionLaw;
/* Compliance of contacts and joint limits in the solvers in impulses. */
typedef enum SapContactCompliance {
    SAP_COMPLIANCE_RIGID = 0, /* "rigid": none; a part of the overlap is removed in each step */
    SAP_COMPLIANCE_MATERIAL,  /* "material": stiffness and dissipation time of the pair */
    SAP_COMPLIANCE_SAP        /* "sap": the regularisation of SAP, friction included; cone then solves as sap does */
} SapContactCompliance;
/* Which contacts of an impact have a restitution. */
typedef enum SapRestitutionRule {
    SAP_RESTITUTION_MOREAU = 0, /* "moreau": all, including those that separate while others collide */
    SAP_RESTITUTION_CLAMPED     /* "clamped": only those that approach */
} SapRestitutionRule;

/* Line search of Newton's method (docs/solve.md). */
typedef enum SapLineSearch {
    SAP_MONOTONE_DECAY = 0, /* "monotone_decay": halves the step until the cost does not rise */
    SAP_ARMIJO_DECAY =
        1, /* "armijo_decay": shortens it by armijo_rho, past Armijo's condition, until the cost rises again */
    SAP_EXACT_ROOT = 2, /* "exact_root": finds the minimum of the cost along the line */
    SAP_WOLFE = 3       /* "wolfe": the full step, or the first near the minimum: the fewest iterations */
} SapLineSearch;
/* How Newton's matrix is stored and factored. */
typedef enum SapFactorPlan {
    SAP_FACTOR_SPARSE = 0,  /* "sparse": on the pattern of tree and constraints unless a contact couples two branches */
    SAP_FACTOR_DENSE = 1,   /* "dense": the full matrix */
    SAP_FACTOR_LIBRARY = 2, /* "library": dense, by cuSOLVER; for worlds of many dofs on a GPU, refused on a CPU */
    SAP_FACTOR_AUTO = 3     /* "auto": library for worlds of many dofs on a GPU if it is there, else sparse */
} SapFactorPlan;
/* How the gyroscopic torque of free and ball bodies is integrated (docs/free_motion.md). */
typedef enum SapGyroscopic {
    SAP_GYROSCOPIC_EXPLICIT = 0, /* "explicit": from the velocity at the start of the step */
    SAP_GYROSCOPIC_IMPLICIT = 1  /* "implicit": one Newton step per body; adds no energy at any spin */
} SapGyroscopic;

/* The velocity of the forces that depend on velocity: centrifugal, Coriolis and gyroscopic (docs/free_motion.md). */
typedef enum SapVelocityForces {
    SAP_VELOCITY_OF_START = 0, /* "start": v0 */
    SAP_VELOCITY_MEAN = 1      /* "mean": (v0 + v*)/2, by a second evaluation of free motion */
} SapVelocityForces;
/* How the contact weight w is computed. */
typedef enum SapContactWeight {
    SAP_BODY_INERTIA = 0, /* "body_inertia": w from each body's own mass and inertia */
    SAP_DIAG_DELASSUS = 1 /* "diag_delassus": w from J diag(A)^-1 J' */
} SapContactWeight;
/* Where the contact force acts. */
typedef enum SapContactPoint {
    SAP_WITNESS_POINT = 0,   /* "witness_point": on each body at the witness point of that body */
    SAP_CONTACT_MIDPOINT = 1 /* "contact_midpoint": on both bodies at the point between the witnesses */
} SapContactPoint;
/* How the rows of a weld are weighted (docs/constraints.md). */
typedef enum SapConstraintWeight {
    SAP_WEIGHT_SPLIT = 0, /* "split": one weight for rotation, one for translation; independent of the unit of length */
    SAP_WEIGHT_MIXED = 1  /* "mixed": one weight for all six rows, as in Drake */
} SapConstraintWeight;
/* When the limits of a tendon act in a step. */
typedef enum SapLimitWindow {
    SAP_WINDOW_REACH = 0,   /* "reach": a limit acts if the tendon can reach it in the step, as limits of joints do */
    SAP_WINDOW_VIOLATED = 1 /* "violated": both limits act once one of them is violated, as in Drake */
} SapLimitWindow;
/* How collision finds pairs of shapes that may touch. All find the same contacts. */
typedef enum SapBroadPhase {
    SAP_BROAD_PHASE_AUTO = 0, /* "auto": tree for many static shapes; else listed up to 1024 shapes or 2^19 pairs; else
                                 sweep */
    SAP_BROAD_PHASE_LISTED,   /* "listed", "explicit" or "nxn": tests every pair that the filters allow */
    SAP_BROAD_PHASE_SWEEP,    /* "sweep" or "sap": sorts shapes along an axis and tests neighbours; for many shapes */
    SAP_BROAD_PHASE_TREE      /* "tree": moving shapes query a tree of static shapes, other pairs are listed */
} SapBroadPhase;
typedef enum SapCompat {
    SAP_COMPAT_NONE = 0,    /* "none" */
    SAP_COMPAT_SAP_WARP = 1 /* "sap_warp": repeats known faults of SAP Warp (lab/conform/README.md) */
} SapCompat;

/* The law of contacts, which is an approximation of Coulomb's that makes the problem convex (docs/contact_law.md). */
typedef enum SapContactApproximation {
    SAP_APPROXIMATION_SAP = 0,     /* "sap": linear damping; a sliding body glides at mu (h + tau) |v_t| */
    SAP_APPROXIMATION_SIMILAR = 1, /* "similar": Hunt and Crossley; it glides at mu h |v_t| */
    SAP_APPROXIMATION_LAGGED = 2   /* "lagged": Hunt and Crossley, friction by the normal force before the step */
} SapContactApproximation;

/* Instruction set of the kernels on the CPU. All give the same bits. */
typedef enum SapIsa {
    SAP_ISA_AUTO = 0, /* "auto": the widest this machine has */
    SAP_ISA_GENERIC,  /* "generic": the compiler's baseline (NEON on arm64); slow fused multiply-add on old x86 */
    SAP_ISA_AVX2,     /* "avx2": x86-64-v3 */
    SAP_ISA_AVX512    /* "avx512": x86-64-v4 */
} SapIsa;

/* Where a batch lives and runs. Both give the same bits. */
typedef enum SapDevice {
    SAP_DEVICE_CPU = 0, /* "cpu" */
    SAP_DEVICE_CUDA = 1 /* "cuda": an NVIDIA GPU, for batches only (batch.h, docs/cuda.md) */
} SapDevice;

/* Whether the kernels of a batch on a GPU are compiled for it, by NVRTC (docs/cuda.md). All give the same bits. */
typedef enum SapSpecialize {
    SAP_SPECIALIZE_OFF = 0,  /* "off": the batch uses the kernels of the library */
    SAP_SPECIALIZE_AUTO = 1, /* "auto": compiled if one thread steps a world */
    SAP_SPECIALIZE_ON = 2    /* "on": compiled wherever possible */
} SapSpecialize;

/* Contact slots per world of a solver without a batch, and of models that are too large to probe. */
enum { SAP_DEFAULT_CONTACTS = 128 };

/* Numbers are finite; NaN is allowed where it is the default. */
typedef struct SapOptions {
    /* ---- filled by the preset; docs/options.md lists the values ---- */
    SapPrecision free_motion_precision;          /* kinematics, mass matrix, v*, integration */
    SapPrecision contact_solve_precision;        /* cost, gradient, line search of the contact solve */
    SapPrecision linear_solve_precision;         /* Newton's linear system */
    SapPrecision contact_weight_precision;       /* contact weight w */
    bool contact_geometry_f64;                   /* contact geometry and Jacobian in f64, else in f32 */
    SapContactWeight contact_weight;             /* how the contact weight w is computed */
    SapContactPoint contact_point;               /* where the contact force acts */
    SapPositionIntegration position_integration; /* which velocity moves the coordinates */
    SapConstraintWeight constraint_weight;       /* how the rows of a weld are weighted */
    SapLimitWindow tendon_limit_window;          /* when limits of tendons act */

    /* ---- free motion ---- */
    SapGyroscopic gyroscopic;          /* set by the preset: implicit in fast32 and fast64, else explicit */
    SapVelocityForces velocity_forces; /* default start, in all presets */
    /* A world with a faster dof fails with SAP_WORLD_TOO_FAST, before its numbers overflow. */
    double max_joint_speed; /* m/s or rad/s, of each number of joint_qd; default NaN = no limit; > 0 */

    /* ---- contact solve ---- */
    int max_contacts;          /* contact slots per world, 0 .. 65535; default 0: a batch has as many as a probe finds
                                  (sap_batch_probe_contacts), a solver without a batch SAP_DEFAULT_CONTACTS */
    int given_contacts;        /* contact slots that a world of a batch has at least, for contacts of the caller
                           (sap_batch_step_contacts), 0 .. 65535; default 0 = as many as its own can fill */
    int max_contacts_per_pair; /* most contact points of two shapes; default 4, 1 .. 8 */
    /* fallback_mu, fallback_stiffness and fallback_tau apply to a contact side without a shape. */
    double fallback_mu;              /* default NaN = the smallest positive mu of the shapes, else 0.1; >= 0 */
    double fallback_stiffness;       /* N/m; default 1e10, > 0 */
    double near_rigid;               /* near-rigid factor; default 1, >= 0 */
    double friction_regularization;  /* regularisation of friction in contacts and joints; default 1e-3, > 0 */
    double fallback_tau;             /* s; default NaN = the dissipation time of the first shape; >= 0 */
    double diag_shift;               /* kg or kg m^2, added to the diagonal of Newton's matrix; default 0, >= 0 */
    double constraint_speed;         /* m/s or rad/s, fastest correction of a constraint's error; NaN = no bound; > 0 */
    SapContactSolver contact_solver; /* contact law and method; default sap */
    /* The law of contacts with contact_solver = sap; the next three apply to similar and lagged. */
    SapContactApproximation contact_approximation; /* default sap */
    double stiction_tolerance; /* m/s, slip at which friction is 0.7 of its limit or less; default 1e-4, > 0 */
    int lagged_passes;         /* solves of a step with lagged; each takes friction from the last; default 1, 1 .. 8 */
    double fallback_dissipation; /* s/m, of a side without a shape; default NaN = that of the first shape; >= 0 */
    /* The next nine apply to the solvers in impulses: cone, pgs, pgs_rows and active_set. */
    SapFrictionLaw friction_law;             /* default convex */
    double pgs_omega;                        /* over-relaxation of pgs and pgs_rows; default 1, (0, 2) */
    SapContactCompliance contact_compliance; /* default rigid */
    double restitution;                      /* part of the normal velocity that an impact returns; default 0, 0 .. 1 */
    SapRestitutionRule restitution_rule;     /* default moreau */
    double restitution_threshold; /* m/s, normal velocity below which contacts do not bounce; default 0.05, >= 0 */
    int restitution_guard; /* 1: the contacts of a world never do work by restitution (docs/dual.md); default 1 */
    double push_factor;    /* part of an overlap that a rigid contact removes per step; default 0.2, 0 .. 1 */
    double max_push;       /* m/s or rad/s, largest velocity of that removal; default 1, >= 0 */
    bool warm_start;       /* start from the forces of the last step (docs/dual.md); default false */
    /* Newton iterations; default 0 = 100, or the own limit of a method in impulses; -1 = none: the initial guess is
     * returned; -1 .. 1000000 */
    int max_iterations;
    double optimality_abs_tol; /* absolute tolerance of the optimality test; default 1e-14, >= 0 */
    double optimality_rel_tol; /* relative tolerance of the optimality test; default 1e-6, >= 0 */
    double cost_abs_tol;       /* J, of the cost test; default NaN = 0 (wolfe, monotone_decay) or 1e-30; >= 0 */
    double cost_rel_tol;       /* of the cost test; default NaN = 1e-6 (wolfe), 5e-3 (monotone_decay) or 1e-15; >= 0 */
    SapLineSearch line_search; /* set by the preset: exact_root in drake, else wolfe */
    int line_search_max_iterations; /* per line search; default 0 = 40, or 100 of exact_root; 0 .. 1000000 */
    double armijo_c;                /* sufficient decrease of armijo_decay; default 1e-4, (0, 1) */
    double armijo_rho;              /* step reduction of armijo_decay; default 0.8, (0, 1) */
    /* Relative cost differences below this value count as rounding in armijo_decay. */
    double armijo_slop; /* default NaN = 1000 eps of f64; >= 0 */
    SapCompat compat;   /* default none; sap_warp is for number-by-number comparison with SAP Warp */

    /* ---- sleeping worlds and trees, for batches on the CPU (docs/sleep.md) ---- */
    int sleep_steps;    /* steps at rest after which a world or an island sleeps; default 0 = never; 0 .. 1000000 */
    double sleep_speed; /* m/s, below which a tree rests; default 1e-3, > 0 */

    /* ---- how to run; none of these changes a bit of a result, except factor_plan = library, auto ---- */
    int threads; /* worker threads; default 0 = the CPUs this process may use; 0 .. 1024 */
    /* Worlds per SIMD pack: 1, 4; 8 with avx2, avx512 or generic alone; 16 with avx512 by clang, not in impulses. */
    int lanes;                 /* default 0 = automatic */
    SapIsa isa;                /* default auto */
    SapBroadPhase broad_phase; /* default auto */
    SapFactorPlan factor_plan; /* default sparse */
    SapDevice device;          /* default cpu */
    int cuda_device;           /* GPU number of the driver; default 0; 0 .. 1023 */
    int team_size; /* GPU threads per world: 1, 8, 16, 32, 64 or 128; default 0 = by dofs and worlds (docs/cuda.md) */
    /* Bytes of a GPU's shared memory for the scratch of one world; the rest of its scratch is in global memory. */
    int shared_memory;        /* default 0 = as much as a block can have; 0 .. 1048576 */
    SapSpecialize specialize; /* kernels compiled for the batch; default off */
} SapOptions;

/* Fills *options with the defaults and a preset: "fast32", "fast64", "approx32", "approx64", "drake", "mujoco32" or
 * "mujoco64"; NULL means "fast32". The last two also set contact_solver = mujoco. */
SAP_API SapStatus sap_options_preset(const char *preset, SapOptions *options);

/* Sets one option by name from text, e.g. ("free_motion_precision", "fp64"), ("threads", "2"). An unknown name or
 * a value out of range is an error with a message that lists what is allowed. The name "preset"
 * overwrites the twelve fields of a preset, so set it first. The value "none" sets NaN where that is the default, and
 * does not change the twelve fields of a preset. SAP Warp's keywords without a field here have no effect: block_size
 * accepts its range, the others only the value that requests nothing. No argument may be NULL. */
SAP_API SapStatus sap_options_set(SapOptions *options, const char *name, const char *value);

/* Checks every field, as sap_solver_create does. NULL is an error. */
SAP_API SapStatus sap_options_check(const SapOptions *options);

/* Writes the value of an option to `text`, which the caller owns and has `size` bytes (64 always suffice),
 * zero-terminated; NaN is "none". An unknown name and a text that does not fit are errors. "preset"
 * gives the preset whose values are set, or "custom"; the line search may be another one. No pointer may be NULL. */
SAP_API SapStatus sap_options_get(const SapOptions *options, const char *name, char *text, int size);

/* The names of all options, one per field in the order above; NULL-terminated, static. */
SAP_API const char *const *sap_options_names(void);

/* The names of the presets; NULL-terminated, static. */
SAP_API const char *const *sap_preset_names(void);

SAP_END_DECLS

#endif
