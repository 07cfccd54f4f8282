/* What the host hands to the kernels: the plan of a model (uniform: the same for all worlds), its constants, and the
 * arrays of a call. Plain data, the same on every target; no pointer is owned by a kernel. */
#ifndef SAPWOOD_KERNELS_DATA_ARGS_H
#define SAPWOOD_KERNELS_DATA_ARGS_H

#include <sapwood/solver.h>

/* A link is a joint and its child body; links are numbered by joint. */
typedef struct SapLink {
    int type;        /* SapJointType */
    int parent;      /* link of the parent body, -1 = world */
    int root;        /* link at the root of this tree: its origin is the tree's reference point O */
    int body;        /* child body: its place in body arrays */
    int q, v;        /* first coordinate, first dof */
    int nlin, nang;  /* linear and angular axes */
    int plain_X_p;   /* 1 if the rotation of X_p is the identity */
    int plain_X_c;   /* 1 if X_c is the identity */
    int first_child; /* children are plan.child[first_child .. first_child + num_children) */
    int num_children;
    int articulation;
    int last_dof; /* the deepest dof on its path, -1 if none */
} SapLink;

/* Sparse rows of A and of its factor: row i holds the dofs on the path from the root to i, root first, itself last.
 * An ancestor at depth t is entry t of every row it stands in, so a row is a prefix of its children's rows. */
typedef struct SapPatternRow {
    int start;      /* first entry of row i */
    int depth;      /* entries before the diagonal: the diagonal is entry start + depth */
    int link;       /* link that owns the dof */
    int desc_start; /* descendants of i, increasing: plan.descendant[desc_start .. desc_start + num_desc) */
    int num_desc;
} SapPatternRow;

typedef struct SapDescendant {
    int dof;
    int start; /* first entry of its row */
} SapDescendant;

/* One entry of the sparse matrix: its row, and the depth of its column. */
typedef struct SapEntry {
    int row;
    int column;
} SapEntry;

/* Where the parts of a world's scratch begin, counted in reals. */
typedef struct SapLayout {
    int q;             /* [nq]     coordinates */
    int v0;            /* [nv]     velocity at the start, internal order */
    int f;             /* [nv]     joint_f, internal order; then tau */
    int state_check;   /* [nl] 0, or NaN where the input state of a link is not finite */
    int control_check; /* [nl] 0, or NaN where its control is not finite */
    int X;             /* [nl][7]  body poses */
    int V;             /* [nl][6]  twists about O */
    int a;             /* [nl][6]  bias accelerations about O */
    int I;             /* [nl][10] inertias about O, own, then composite: m, m c, Ixx Iyy Izz Ixy Ixz Iyz */
    int F;             /* [nl][6]  wrenches about O, own, then of the subtree */
    int S;             /* [nv][6]  motion subspace about O */
    int A;             /* [nnz]    mass matrix, sparse rows */
    int L;             /* [nnz]    its factor */
    int inverse;       /* [nv]     1 / L_ii */
    int v;             /* [nv]     velocity at the end, internal order */
    int q1;            /* [nq]     coordinates at the end */
    int size;
} SapLayout;

/* A sparse symmetric matrix and the order of its elimination: the tree's own pattern, or dense, which is a tree of one chain. */
typedef struct SapPattern {
    int nnz;
    int num_depths;
    const SapPatternRow *row; /* [nv] */
    const int *ancestor;      /* [nnz] dof of each entry */
    const SapDescendant *descendant;
    const int *depth_start; /* [num_depths + 1] into depth_dof */
    const int *depth_dof;   /* [nv] dofs by depth */
    const int *entry_start; /* [num_depths + 1] into entry */
    const SapEntry *entry;  /* [nnz] entries by depth of their row */
} SapPattern;

/* ---- collision ---- */

/* Vertices are constants.hull_vertex, faces are planar polygons with outward planes constants.hull_plane. */
typedef struct SapHull {
    int vertex, num_vertices; /* rows of hull_vertex */
    int face, num_faces;      /* rows of plan.hull_face and of hull_plane */
} SapHull;

typedef struct SapHullFace {
    int corner,
        num_corners; /* plan.hull_corner[corner ..]: vertices (counted within the hull), counter-clockwise from outside */
} SapHullFace;

/* A grid over [-x, x] x [-y, y] of the shape frame (x, y: the first two sizes). Row r is at y = -y + 2 y r/(rows - 1), column c at
 * x = -x + 2 x c/(columns - 1). A cell is cut along the diagonal from (r, c) to (r + 1, c + 1). Solid below. */
typedef struct SapHeightField {
    int height; /* constants.height[height + r columns + c], m, in the shape frame */
    int rows, columns;
} SapHeightField;

/* Two shapes that may touch: the type of the first is not larger than that of the second, and at most one is static. */
typedef struct SapPair {
    int shape[2];
} SapPair;

typedef struct SapPlan {
    int nl, nb, nq, nv, ns;
    int num_levels;         /* of links */
    const SapLink *link;    /* [nl] */
    const int *child;       /* [nl] links by parent */
    const int *level_start; /* [num_levels + 1] */
    const int *level_link;  /* [nl] links by level */
    const int *body_link;   /* [nb] */
    const int *shape_link;  /* [ns] -1 = static */
    const int *dof_public;  /* [nv] public dof of each internal dof */
    const int *dof_coord;   /* [nv] its coordinate, -1 for dofs of ball and free joints */
    const int *dof_driven;  /* [nv] 1 if the model has a drive there */
    const int *dof_limited; /* [nv] 1 if the dof may have limits: the only axis of its joint */
    SapPattern tree, dense;
    SapLayout layout;

    const int *shape_type; /* [ns] SapShapeType */
    const int *shape_mesh; /* [ns] hull or height field, -1 = neither */
    int num_hulls, num_height_fields;
    const SapHull *hull;
    const SapHullFace *hull_face;
    const int *hull_corner;
    const int *hull_source; /* mesh vertex (counted over all meshes) of each row of hull_vertex; for the host only */
    const SapHeightField *height_field;
    int sweep; /* 1: shapes are sorted and swept, 0: pairs are listed */
    int num_pairs;
    const SapPair
        *pair; /* [num_pairs] if listed: increasing in the smaller index of the two shapes, then in the larger */
    const unsigned *allowed; /* [ns][row_words] if swept: bit b of row a < b tells whether the two may touch */
    int row_words;
} SapPlan;

/* A model array in the kernels' precision. World w reads row w * stride: stride 0 is one row for all. */
typedef struct SapField {
    const void *data;
    long long stride;
} SapField;

typedef struct SapConstants {
    SapField gravity; /* [3] */
    SapField X_p;     /* [nl][7] pose of F in the parent */
    SapField X_c_inv; /* [nl][7] pose of the body in M */
    SapField axis;    /* [nv][3] */
    SapField mass;    /* [nl] */
    SapField com;     /* [nl][3] */
    SapField inertia; /* [nl][6] Ixx Iyy Izz Ixy Ixz Iyz about the COM, body axes */

    /* [nv] internal order */
    SapField armature, damping, friction;
    SapField target_ke, target_kd, effort_limit;
    SapField limit_lower, limit_upper, limit_ke, limit_kd;

    /* [ns] */
    SapField shape_mu, shape_ke, shape_tau;
    SapField shape_pose;  /* [ns][7] in the body, or the world */
    SapField shape_size;  /* [ns][3] */
    SapField shape_bound; /* [ns][4] bounding sphere in the shape frame: centre, radius; a plane's radius is unused */
    SapField shape_margin, shape_gap;
    SapField hull_vertex; /* [][3] shape frame */
    SapField hull_plane;  /* [][4] outward unit normal, offset: n.x <= offset inside */
    SapField height;      /* [] */
} SapConstants;

/* A row-major array of the caller, f32 or f64: world w owns data[w * stride ..]; stride 0 is one row for all, data NULL = absent. */
typedef struct SapBuffer {
    void *data;
    long long stride;
    int is_f64;
} SapBuffer;

/* ---- the contact solve ---- */

enum { SAP_LOCKSTEP_SIZE = 24 };

/* Places in the solve's scratch, in reals: vectors over dofs, then one block per contact slot. */
typedef struct SapSolveLayout {
    int A;                                 /* [nnz of the tree] in the solve's precision */
    int H;                                 /* [nnz of the larger pattern] */
    int v, v0, v_star, guess, Av_star, dv; /* [nv] each */
    int r, impulse, grad;                  /* A (v - v*), J' gamma + joint terms, their difference */
    int d, Ad;
    int w, scale;  /* 1/A_ii; 1/sqrt(A_ii) or 0 where the dof takes no part */
    int joint_law; /* [nv][10] */
    int joint_gamma, joint_cost, joint_hessian, joint_check;
    int line;     /* [nv][3] */
    int lockstep; /* [SAP_LOCKSTEP_SIZE] what a world's solve keeps from stage to stage (solve/lockstep.h) */
    int slots;
    int slot_size;
    int size;
} SapSolveLayout;

/* One contact slot, in reals from its beginning. */
typedef struct SapSlotLayout {
    int x0, x1, frame, phi0, w, pair; /* witnesses, c_x c_y n, gap, weight, (mu, k, tau) */
    int valid, check;                 /* 1 or 0; 0 or NaN */
    int law;
    int vc, gamma, cost, G, Jd, line;
    int J; /* [up to nv][3] */
} SapSlotLayout;

/* A contact slot's integers: what all worlds of the pack have in common there, and which of their records they are. */
typedef struct SapSlotInts {
    int record;            /* [lanes] which of its world's records stands in the slot, -1 = none */
    int shape, link;       /* [2] -1 = none, static; before the geometry, link is the body as the record gives it */
    int num_dofs, couples; /* columns of J; 1 if the contact joins two branches of the tree */
    int dof;               /* [max_columns] the dof of each column, increasing */
    int path;              /* [max_columns] on the path of link 0 (1), of link 1 (2), of both (3) */
    int place;             /* [nv] the column of each dof or -1 */
    int next;              /* [max_columns][2] the next touch of the column's dof: SapIncidence */
    int size;
    int max_columns;
    /* after the slots, once per pack */
    int first; /* [nv][2] the first touch of each dof: SapIncidence */
    int acts;  /* [nv] which joint terms of the dof act in some world (joint_law.h) */
    int total; /* integers of all this, and of num_slots before it */
} SapSlotInts;

/* A contact that moves a dof: its slot and J's column there; slot -1 = no more. */
typedef struct SapIncidence {
    int slot, column;
} SapIncidence;

typedef struct SapLinearLayout {
    int L, inverse, x;
    int size;
} SapLinearLayout;

typedef struct SapContactArgs {
    int capacity;            /* records of a world in reports: the most it can have */
    int num_slots;           /* slots of scratch: enough for all records of a pack, if no two of them can share one */
    int given_capacity;      /* records of a world in the arrays below */
    int *count;              /* [num_worlds]; NULL = no contacts */
    int *dropped;            /* [num_worlds]; NULL = none */
    int *shape[2], *body[2]; /* [num_worlds][given_capacity]; NULL = absent */
    SapBuffer point[2], normal, margin[2];
    SapBuffer stiffness, tau, mu; /* a record's own; absent or NaN: from its shapes */
    double fallback_mu, fallback_stiffness, fallback_tau;
    SapBuffer own_fallback_mu, own_fallback_tau; /* [num_worlds][1] where worlds have materials of their own */
    double beta, sigma, diag_shift;
    int midpoint;      /* 1: contact_midpoint */
    int diag_delassus; /* 1: diag_delassus */
} SapContactArgs;

/* Reals of a point on its way to a record (collide.h). */
enum { SAP_CANDIDATE_SIZE = 11 };

/* Places in the scratch of the collision stage, in reals. */
typedef struct SapCollideLayout {
    int pose;      /* [ns][7] shapes in the world */
    int ball;      /* [ns][4] bounding balls: centre in the world, radius with margin and gap */
    int candidate; /* [chunk][max_contacts][SAP_CANDIDATE_SIZE] points of the pairs at hand */
    int gap;       /* [given_capacity] of the records so far */
    int size;
    /* in integers */
    int chunk;          /* [chunk][2] the pairs at hand: SapPair */
    int num_chunk;      /* how many */
    int num_candidates; /* [chunk] points of each */
    int near;           /* [num_words] bits: the pairs whose balls meet in some world */
    int num_words;
    int cursor; /* the first word that may have a bit */
    int order;  /* [ns] of a sweep */
    int ints;   /* size */
} SapCollideLayout;

typedef struct SapCollideArgs {
    int enabled;      /* contacts are found by the step itself, and written to the arrays of SapContactArgs */
    int max_contacts; /* of a pair, 1 .. 8 */
    int chunk;        /* pairs that are worked on together */
    SapCollideLayout layout;
} SapCollideArgs;

typedef struct SapNewtonArgs {
    int max_iterations, line_search_max_iterations;
    int line_search; /* SapLineSearch */
    int linear_is_f64;
    int dense; /* 1: always the dense pattern */
    double optimality_abs_tol, optimality_rel_tol, cost_abs_tol, cost_rel_tol, alpha_min;
    double armijo_c, rho, relative_slop;
} SapNewtonArgs;

/* The Newton systems of all worlds, where a library solves them (solve/lockstep.h). */
typedef struct SapLibraryArgs {
    SapBuffer matrix; /* [num_worlds][nv][nv] H, the lower triangle by rows; the library overwrites it */
    SapBuffer vector; /* [num_worlds][nv] -grad, then d */
    int *active;      /* [num_worlds] 1: the world has a system to solve */
    int *info;        /* [num_worlds] 0, or != 0 where its matrix could not be factored; by place */
    int *place;       /* [num_worlds] where the library has an active world; NULL = by number */
    int iteration;    /* of Newton's method, from 0 */
} SapLibraryArgs;

/* What a world reports; each array may be NULL. */
typedef struct SapReportArgs {
    int *iterations, *line_iterations, *refactored;           /* [num_worlds] */
    double *cost, *residual;                                  /* [num_worlds] */
    double *impulse, *velocity, *frame, *gap, *weight, *pair; /* [num_worlds][capacity][3, 3, 9, 1, 1, 3] */
    double *position;                                         /* [num_worlds][capacity][3] */
    double *jacobian;                                         /* [num_worlds][capacity][3][nv] */
    int *region;                                              /* [num_worlds][capacity] */
    double *force;                                            /* [num_worlds][capacity][3] */
    double *wrench;                                           /* [num_worlds][nb][6] */
    double *drive, *limit, *friction; /* [num_worlds][nv] generalised impulses, internal order */
} SapReportArgs;

/* A world's scratch on a GPU: each arena lies in shared memory or, where it is below 0, at ~offset in the workspace. In bytes from
 * the beginning of the world's part of either. */
typedef struct SapArenas {
    int fm, collide, solve, linear[2], ints, pairs;
    int size;                 /* of a world's part of shared memory */
    unsigned char *workspace; /* [teams of the grid][workspace_size], global memory; NULL = all arenas are shared */
    long long workspace_size;
} SapArenas;

typedef struct SapStepArgs {
    SapPlan plan;
    SapConstants constants[2]; /* f32, f64 */
    double h;
    int num_worlds;
    int num_steps;            /* of h each, without a word in between */
    int first_step, end_step; /* of these, what one launch does on a GPU: first_step .. end_step - 1 */
    int euler;                /* 1: sap_euler, 0: midpoint */
    int compat;               /* 1: joints as SAP Warp computes them (joints_sap_warp.h), witnesses on the core */
    int fm_is_f64, geometry_is_f64, weight_is_f64, solve_is_f64;
    int has_joint_terms; /* some dof has a drive, a limit or friction */

    SapBuffer q_in, qd_in, joint_f, body_f, target_pos, target_vel, act, guess;
    SapBuffer q_out, qd_out, body_q, body_qd;
    unsigned *status;             /* [num_worlds] */
    const unsigned char *skipped; /* [num_worlds] 1: takes no part (leave_out.h); NULL = all do */

    SapCollideArgs collide;
    SapContactArgs contacts;
    SapNewtonArgs newton;
    SapLibraryArgs library;
    SapReportArgs report;
    SapSolveLayout solve;
    SapSlotLayout slot;
    SapSlotInts slot_ints;
    SapLinearLayout linear;
    SapArenas arena;

    /* Inspection; f64, each may be NULL. Layouts as in SapFreeMotion. */
    double *v_star, *A, *tau, *v0, *body_pose, *body_velocity, *body_bias;
} SapStepArgs;

/* The worlds that one team or one pack of lanes steps. Lanes past `count` repeat the last world and store nothing. */
enum { SAP_MAX_LANES = 8 };
typedef struct SapPack {
    int world[SAP_MAX_LANES];
    int count;
} SapPack;

/* Where the time of one worker goes (profile.h). Ticks of whatever clock that has; the worker measures how long they are. */
typedef struct SapTicks {
    unsigned long long of[SAP_NUM_STAGES];
    unsigned long long last; /* when the stage at hand began */
    int stage;
    long long factors[2]; /* linear systems: on the tree's pattern, dense */
    double seconds;       /* of all ticks together */
} SapTicks;

/* A pack's work: its scratch, one arena per stage that may have a precision of its own, each 64-byte aligned. */
typedef struct SapContext {
    const SapStepArgs *args;
    const SapPack *pack;
    const struct SapKernels *kernels[2];  /* f32, f64: how a stage calls one of another precision on a CPU */
    const struct SapKernels *one_lane[2]; /* the same for one world at a time */
    void *fm;                             /* free motion */
    void *collide;                        /* collision */
    void *solve;                          /* contact solve */
    void *linear[2];                      /* linear systems, f32 and f64 */
    int *ints;                            /* contact slots */
    int *pairs;                           /* of collision */
    int num_slots;                        /* in use; set by the stage that fills them */
    int step;                             /* of args->num_steps */
    SapTicks *ticks;                      /* NULL = not asked for; not on a GPU */
} SapContext;

/* One pair of shapes of one world, for the narrow phase that works on one world at a time; numbers of either precision, exact in f64. */
typedef struct SapConvexTask {
    const SapStepArgs *args; /* plan and constants */
    int type[2], mesh[2];
    double size[2][3];
    double pose[7];   /* of shape 1 in the frame of shape 0 */
    double reach;     /* points with d <= reach are wanted */
    int max_contacts; /* 1 .. 8 */
    int count;        /* the result: p and n in the frame of shape 0 (manifold.h) */
    double p[8][3], n[8][3], d[8];
} SapConvexTask;

/* One build of the kernels: what the host calls, in the order of a step. */
typedef struct SapKernels {
    int lanes;
    int real_bytes; /* of one real: all lanes */
    void (*free_motion)(const SapContext *ctx);
    void (*place)(const SapContext *ctx); /* body poses only, in place of free motion */
    void (*collide)(const SapContext *ctx);
    int (*fill_slots)(const SapContext *ctx); /* returns how many are in use */
    void (*contact_geometry)(const SapContext *ctx);
    void (*contact_weight)(const SapContext *ctx);
    void (*solve)(const SapContext *ctx);
    int (*kept_slots)(const SapContext *ctx); /* how many fill_slots left in use */
    void (*lockstep_begin)(const SapContext *ctx);
    void (*lockstep_assemble)(const SapContext *ctx);
    void (*lockstep_advance)(const SapContext *ctx);
    void (*lockstep_finish)(const SapContext *ctx);
    void (*linear_solve)(const SapContext *ctx, const SapPattern *pattern);
    void (*finish)(const SapContext *ctx);
    void (*inspect)(const SapContext *ctx);
    void (*kinematics)(const SapContext *ctx);
    void (*convex)(SapConvexTask *task); /* in the build with one lane only */
    /* sine and cosine of n numbers of the kernels' precision; for tests */
    void (*sincos)(const void *x, void *s, void *c, int n);
} SapKernels;

#endif
