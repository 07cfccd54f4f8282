/* Options of a solver: the knobs of SAP Warp's SolverSAP by the same names, and how to run.
 *
 * A SapOptions is filled by sap_options_preset; explicit values are then written into the fields, or set by name
 * with sap_options_set. Names and values are stripped, lower-cased, and "-" reads as "_". */
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

/* A law of contacts together with the method that solves for it (docs/solve.md). */
typedef enum SapContactSolver {
    SAP_SOLVER_SAP = 0 /* "sap": the law of SAP, by Newton's method */
} SapContactSolver;

/* How far Newton's method goes along a direction (docs/solve.md). */
typedef enum SapLineSearch {
    SAP_MONOTONE_DECAY = 0, /* "monotone_decay": halves the step until the cost does not rise */
    SAP_ARMIJO_DECAY = 1, /* "armijo_decay": shortens it by rho, past Armijo's condition, until the cost rises again */
    SAP_EXACT_ROOT = 2    /* "exact_root": to the minimum of the cost along the line */
} SapLineSearch;
typedef enum SapFactorPlan {
    SAP_FACTOR_SPARSE = 0, /* "sparse": Newton's matrix on the tree's pattern unless a contact couples two branches */
    SAP_FACTOR_DENSE = 1,  /* "dense": always in full */
    SAP_FACTOR_LIBRARY = 2 /* "library": in full, by LAPACK or cuSOLVER; for worlds of more than about 128 dofs */
} SapFactorPlan;
typedef enum SapContactWeight {
    SAP_BODY_INERTIA = 0, /* "body_inertia": w from each body's own mass and inertia */
    SAP_DIAG_DELASSUS = 1 /* "diag_delassus": w from J diag(A)^-1 J' */
} SapContactWeight;
typedef enum SapContactPoint {
    SAP_WITNESS_POINT = 0,   /* "witness_point": each body is pushed at its own witness point */
    SAP_CONTACT_MIDPOINT = 1 /* "contact_midpoint": both are pushed at the point between the witnesses */
} SapContactPoint;
/* How collision looks for pairs of shapes that may touch. All find the same contacts. */
typedef enum SapBroadPhase {
    SAP_BROAD_PHASE_AUTO = 0, /* "auto": by the number of shapes */
    SAP_BROAD_PHASE_LISTED,   /* "listed", "explicit" or "nxn": tests every pair that the filters leave */
    SAP_BROAD_PHASE_SWEEP /* "sweep" or "sap": sorts shapes along an axis and tests neighbours; for worlds with many */
} SapBroadPhase;
typedef enum SapCompat {
    SAP_COMPAT_NONE = 0,    /* "none" */
    SAP_COMPAT_SAP_WARP = 1 /* "sap_warp": repeats known faults of SAP Warp (docs/conform.md) */
} SapCompat;

/* Which build of the kernels runs. All give the same bits. */
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

typedef struct SapOptions {
    /* ---- filled by the preset ---- */
    SapPrecision free_motion_solve_precision;    /* kinematics, mass matrix, v*, integration */
    SapPrecision contact_solve_precision;        /* cost, gradient, line search of the contact solve */
    SapPrecision contact_linear_solve_precision; /* Newton's linear system */
    SapPrecision sap_contact_weight_precision;   /* contact weight w */
    bool use_f64_boundary_pose;                  /* contact geometry in f64 */
    SapContactWeight contact_weight_mode;        /* what the contact weight w is made of */
    SapContactPoint contact_point_mode;          /* where contacts push bodies */
    SapPositionIntegration position_integration; /* which velocity moves coordinates */

    /* ---- contact solve ---- */
    int max_rigid_contact;     /* slots per world; default 128, 1 .. 65535 */
    int max_contacts_per_pair; /* points that collision gives two shapes; default 4, 1 .. 8 */
    double
        fallback_mu; /* friction of a contact without a shape; default NaN = smallest positive shape mu, else 0.1; >= 0 */
    double fallback_stiffness;         /* N/m; default 1e10, > 0 */
    double contact_beta;               /* near-rigid factor; default 1, >= 0 */
    double contact_sigma;              /* friction regularisation; default 1e-3, > 0 */
    double contact_tau_d;              /* s; fallback dissipation time; default NaN = first shape's; >= 0 */
    double diag_shift;                 /* added to the diagonal of Newton's matrix; default 0, >= 0 */
    SapContactSolver contact_solver;   /* default sap */
    int max_iterations;                /* Newton; default 100, 0 .. 1000000 */
    double optimality_abs_tol;         /* default 1e-14, >= 0 */
    double optimality_rel_tol;         /* default 1e-6, >= 0 */
    double cost_abs_tol;               /* default NaN = 0 for monotone_decay, else 1e-30; >= 0 */
    double cost_rel_tol;               /* default NaN = 5e-3 for monotone_decay, else 1e-15; >= 0 */
    SapLineSearch line_search_variant; /* default monotone_decay */
    int line_search_max_iterations;    /* default 40 (exact_root: 40 reads as 100), 1 .. 1000000 */
    double armijo_c;                   /* default 1e-4, (0, 1) */
    double rho;                        /* step reduction of armijo_decay; default 0.8, (0, 1) */
    double line_search_relative_slop;  /* default NaN = 1000 eps of contact_solve_precision; >= 0 */
    SapCompat compat; /* "sap_warp" repeats known faults of SAP Warp for number-by-number comparison; default "none" */

    /* ---- how to run; none of these changes a single bit of a result, but factor_plan = library ---- */
    int threads;               /* worker threads; default 0 = the CPUs this process may use; 0 .. 1024 */
    int lanes;                 /* worlds per SIMD pack: 1, 4 or 8; default 0 = chosen */
    SapIsa isa;                /* default auto */
    SapBroadPhase broad_phase; /* default auto */
    SapFactorPlan factor_plan; /* default sparse; over 1024 dofs always sparse */
    SapDevice device;          /* default cpu */
    int cuda_device;           /* which GPU, as the driver counts them; default 0; 0 .. 1023 */
    int team_size;             /* GPU threads per world: 8, 16, 32, 64 or 128; default 0 = chosen */
    int shared_memory; /* bytes of a GPU's shared memory that the scratch of one world may take, the rest lies in global memory;
                          default 0 = as much as there is; 0 .. 1048576 */
} SapOptions;

/* Fills *options with the defaults and the preset of that name: "approx32" (NULL means it too), "approx64", "drake". */
SAP_API SapStatus sap_options_preset(const char *preset, SapOptions *options);

/* Sets one option by name from text, e.g. ("free_motion_solve_precision", "fp64"), ("threads", "2"). The name
 * "contact_preset_variant" overwrites the eight fields a preset fills, so set it first. An unknown name or a value out
 * of range is an error that lists what is allowed. "none" gives NaN where that is the default, and leaves the eight as they are.
 * SAP Warp's keywords without a field here change nothing: block_size is accepted in its range, and the others only with the
 * value that asks for nothing. */
SAP_API SapStatus sap_options_set(SapOptions *options, const char *name, const char *value);

/* Checks every field, as sap_solver_create does. */
SAP_API SapStatus sap_options_check(const SapOptions *options);

/* The value of an option as text, in `text` of `size` bytes (64 are always enough); NaN is "none". Unknown names are an
 * error. "contact_preset_variant" gives the preset whose eight values are set, or "custom". */
SAP_API SapStatus sap_options_get(const SapOptions *options, const char *name, char *text, int size);

/* The names of all options, one per field in the order above, NULL-terminated; static. */
SAP_API const char *const *sap_options_names(void);

/* The names of the presets, NULL-terminated; static. */
SAP_API const char *const *sap_preset_names(void);

SAP_END_DECLS

#endif
