/* The contact problem in impulses, without a simulator: n problems of the same shape, solved together on the CPU.
 *
 *   minimise  1/2 l'(W + R) l - b'l     over the impulses l, one set per block of rows:
 *     contact      3 rows (t1, t2, n)   |l_t| <= mu l_n
 *     unilateral   1 row                l >= 0
 *     free         1 row                any l
 *     box          1 row                lo <= l <= hi
 *   z = (W + R) l - b                   the velocity of the rows at the solution
 *
 * W = J A^-1 J' is symmetric and positive semidefinite. z and the cost are unique; l is not where rows of J depend on
 * each other. A problem has the same bits in any position, for any number of problems, threads and lanes.
 * docs/dual.md describes the methods. */
#ifndef SAPWOOD_DUAL_H
#define SAPWOOD_DUAL_H

#include <stdint.h>

#include <sapwood/options.h>
#include <sapwood/solver.h>

SAP_BEGIN_DECLS

typedef enum SapDualKind {
    SAP_DUAL_CONTACT = 0, /* "contact": 3 rows, a friction cone */
    SAP_DUAL_UNILATERAL,  /* "unilateral": 1 row, such as a joint limit */
    SAP_DUAL_FREE,        /* "free": 1 row, such as an equality constraint */
    SAP_DUAL_BOX          /* "box": 1 row, such as joint friction */
} SapDualKind;

typedef enum SapDualMethod {
    SAP_DUAL_CONE = 0,         /* "cone": interior point with central retraction; exact */
    SAP_DUAL_PGS,              /* "pgs": projected Gauss-Seidel with SOR, block by block; the cone problem, slowly */
    SAP_DUAL_PGS_ROWS,         /* "pgs_rows": row by row; friction does not push the normal, so the limit differs */
    SAP_DUAL_ACTIVE_SET,       /* "active_set": block pivoting, without friction (mu is ignored, l_t = 0); exact */
    SAP_DUAL_ACTIVE_SET_SINGLE /* "active_set_single": the same problem, one exchange per iteration */
} SapDualMethod;

/* What a block does at the solution. */
typedef enum SapDualRegion {
    SAP_DUAL_OPEN = 0, /* no impulse; contacts and unilateral rows only */
    SAP_DUAL_STICK,    /* z = 0 */
    SAP_DUAL_SLIDE     /* on the surface of the cone, or at a bound of a box, with z != 0 */
} SapDualRegion;

/* How to solve; sap_dual_options_default fills it. C is the number of blocks of a problem. */
typedef struct SapDualOptions {
    SapDualMethod method;        /* default cone */
    SapFrictionLaw friction_law; /* default convex */
    double optimality_rel_tol;   /* largest residual, see SapDualSolution; default 1e-6, >= 0; f32: >= 1e-4 */
    double optimality_abs_tol;   /* sqrt(J), also optimal if residual times |q| is at most this; default 0, >= 0 */
    /* Factorisations of one run of cone or active_set, or sweeps of pgs, 0 .. 100000. Default -1: 40 for cone, 50 for
     * pgs, 2 C + 10 for active_set, which then continues with single exchanges, and 2 C for active_set_single. */
    int max_iterations;
    double pgs_omega;       /* over-relaxation of pgs and pgs_rows; default 1, 0 < value < 2 */
    SapPrecision precision; /* of the computation; default f64 */
    int threads;            /* worker threads; 0 = one per CPU; default 1, 0 .. 1024 */
    int lanes;              /* problems per SIMD pack: 1, 4, 8, or 0 = chosen for the machine; default 0 */
    SapIsa isa;             /* instruction set; default auto */
} SapDualOptions;

SAP_API void sap_dual_options_default(SapDualOptions *out); /* NULL does nothing */

/* n problems. Arrays are the caller's, host, f64, row-major. Rows of a block follow each other, blocks are in order:
 * num_rows = 3 contacts + other blocks. A block whose rows of W and b are all zero does not take part: pad problems of
 * different sizes with such blocks. */
typedef struct SapDualProblem {
    int num_problems;    /* n >= 0 */
    int num_blocks;      /* >= 0; num_rows at most 3072 */
    const int32_t *kind; /* [num_blocks] SapDualKind, of all problems; NULL = contacts only */
    const double *W;     /* [n][num_rows][num_rows] 1/kg; the lower triangle is read */
    const double *R;     /* [n][num_rows] 1/kg >= 0, compliance; NULL = 0 */
    const double *b;     /* [n][num_rows] m/s */
    const double *mu;    /* [n][num_blocks] >= 0, of contacts; NULL if there are none */
    const double *lo;    /* [n][num_blocks] N s, of boxes, < hi, may be -inf; NULL if there are none */
    const double *hi;    /* [n][num_blocks] N s, of boxes, may be inf; NULL if there are none */
    const double *guess; /* [n][num_rows] N s, impulses to start from, such as the last solution; NULL = none */
} SapDualProblem;

/* The results. Arrays are the caller's, host; any but `impulse` and `status` may be NULL. A problem with a number that
 * is not finite, a negative mu or R, or lo >= hi gets SAP_WORLD_NONFINITE_STATE or SAP_WORLD_BAD_PARAMETERS, and
 * impulses of 0; the others are not affected. */
typedef struct SapDualSolution {
    double *impulse;     /* [n][num_rows] N s, l: in its set always, converged or not */
    double *velocity;    /* [n][num_rows] m/s, z */
    double *cost;        /* [n] J, at l */
    double *residual;    /* [n] |x - Proj(x - (P x - q))| / |q|, scaled (docs/dual.md); with SAP_WORLD_UNBOUNDED of the
                          * problem with compliance */
    uint32_t *status;    /* [n] SAP_WORLD_OPTIMAL, COST_SETTLED (pgs_rows settled; the others: the residual is the
                          * rounding of the impulses), ITERATION_LIMIT, ... of solver.h */
    int32_t *iterations; /* [n] factorisations (cone, active_set) or sweeps (pgs) */
    int32_t *inner_iterations; /* [n] retraction trials of cone */
    int32_t *safeguards;       /* [n] 0 none; cone: 1 restart, 2 augmented Lagrangian; active_set: 1 single exchanges */
    int32_t *active;           /* [n] rows strictly between their bounds; contacts: with a normal impulse > 0 */
    int32_t *region;           /* [n][num_blocks] SapDualRegion */
} SapDualSolution;

/* Solves all problems. options NULL = the defaults. A problem that does not converge does not make the call fail: see
 * its status. */
SAP_API SapStatus sap_dual_solve(const SapDualProblem *problem, const SapDualOptions *options,
                                 const SapDualSolution *out);

/* ---- the problems of a step ---- */

/* Copies of the problems that a step solves. Arrays are the caller's, host; none may be NULL. Unused blocks of a world
 * are zero, as in SapDualProblem; the arrays past num_blocks and its rows do not change. */
typedef struct SapDualRecord {
    int max_rows;         /* room for the rows of a world, at least sap_solver_problem_rows */
    int32_t *num_blocks;  /* [n] blocks; the contacts of the world in the order of its records, then the other rows */
    int32_t *kind;        /* [n][max_rows] SapDualKind of each block */
    double *W;            /* [n][max_rows][max_rows] 1/kg, with the compliance R; the lower triangle is written */
    double *b;            /* [n][max_rows] m/s */
    double *mu, *lo, *hi; /* [n][max_rows] of each block, as in SapDualProblem */
    double *impulse;      /* [n][max_rows] N s, the solution of the step */
} SapDualRecord;

/* The largest number of rows that the problem of a world can have; 0 for NULL and with contact_solver = sap. */
SAP_API int sap_solver_problem_rows(const SapSolver *solver);

/* Makes every further step fill the arrays of *record; NULL stops that. The struct is copied; its arrays must stay
 * valid. SAP_ERROR_UNSUPPORTED with contact_solver = sap. */
SAP_API SapStatus sap_solver_record_problem(SapSolver *solver, const SapDualRecord *record);

SAP_END_DECLS

#endif
