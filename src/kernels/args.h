/* What the host hands to the kernels: the plan of a model (uniform: the same for all worlds), its constants, and the
 * arrays of a call. Plain data, the same on every target; no pointer is owned by a kernel. */
#ifndef SAPWOOD_KERNELS_ARGS_H
#define SAPWOOD_KERNELS_ARGS_H

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
typedef struct SapRow {
    int start;      /* first entry of row i */
    int depth;      /* entries before the diagonal: the diagonal is entry start + depth */
    int link;       /* link that owns the dof */
    int desc_start; /* descendants of i, increasing: plan.descendant[desc_start .. desc_start + num_desc) */
    int num_desc;
} SapRow;

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
    const SapRow *row;   /* [nv] */
    const int *ancestor; /* [nnz] dof of each entry */
    const SapDescendant *descendant;
    const int *depth_start; /* [num_depths + 1] into depth_dof */
    const int *depth_dof;   /* [nv] dofs by depth */
    const int *entry_start; /* [num_depths + 1] into entry */
    const SapEntry *entry;  /* [nnz] entries by depth of their row */
} SapPattern;

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
} SapConstants;

/* A row-major array of the caller, f32 or f64: world w owns data[w * stride ..]; stride 0 is one row for all, data NULL = absent. */
typedef struct SapRows {
    void *data;
    long long stride;
    int is_f64;
} SapRows;

/* ---- the contact solve ---- */

/* Places in the solve's scratch, in reals: vectors over dofs, then one block per contact slot. */
typedef struct SapSolveLayout {
    int A;                                 /* [nnz of the tree] in the solve's precision */
    int H;                                 /* [nnz of the larger pattern] */
    int v, v0, v_star, guess, Av_star, dv; /* [nv] each */
    int r, impulse, grad;                  /* A (v - v*), J' gamma + joint terms, their difference */
    int d, Ad;
    int w, scale;  /* 1/A_ii; 1/sqrt(A_ii) or 0 where the dof takes no part */
    int joint_law; /* [nv][9] */
    int joint_gamma, joint_cost, joint_hessian, joint_check;
    int line; /* [nv][3] */
    int slots;
    int slot_size;
    int size;
} SapSolveLayout;

/* One contact slot, in reals from its beginning. */
typedef struct SapSlotLayout {
    int x0, x1, frame, phi0, w, pair; /* witnesses, c_x c_y n, gap, weight, (mu, k, tau) */
    int valid, check;                 /* 1 or 0; 0 or NaN */
    int law;
    int vc, gamma, cost, G, Jd, line, region;
    int J; /* [up to nv][3] */
} SapSlotLayout;

/* One contact slot's integers. link and shape: [2][lanes]. */
typedef struct SapSlotInts {
    int num_dofs, couples; /* couples: 1 if it joins two branches of the tree in some world */
    int link, shape;
    int dof, place; /* [nv] the dofs of J's columns; the column of each dof or -1 */
    int size;
} SapSlotInts;

typedef struct SapLinearLayout {
    int L, inverse, x;
    int size;
} SapLinearLayout;

typedef struct SapContactArgs {
    int capacity;                  /* slots of scratch and of reports */
    int given_capacity;            /* slots of the arrays below */
    const int *count;              /* [num_worlds]; NULL = no contacts */
    const int *dropped;            /* [num_worlds]; NULL = none */
    const int *shape[2], *body[2]; /* [num_worlds][capacity]; NULL = absent */
    SapRows point[2], normal, margin[2];
    SapRows stiffness, tau, mu; /* a record's own; absent or NaN: from its shapes */
    double fallback_mu, fallback_stiffness, fallback_tau;
    double beta, sigma, diag_shift;
    int midpoint;      /* 1: contact_midpoint */
    int diag_delassus; /* 1: diag_delassus */
} SapContactArgs;

typedef struct SapNewtonArgs {
    int max_iterations, line_search_max_iterations;
    int line_search; /* SapLineSearch */
    int linear_is_f64;
    int dense; /* 1: always the dense pattern */
    double optimality_abs_tol, optimality_rel_tol, cost_abs_tol, cost_rel_tol, alpha_min;
    double armijo_c, rho, relative_slop;
} SapNewtonArgs;

/* What a world reports; each array may be NULL. */
typedef struct SapReportArgs {
    int *iterations, *line_iterations, *refactored, *num_contacts; /* [num_worlds] */
    double *cost, *residual;                                       /* [num_worlds] */
    double *impulse, *velocity, *frame, *gap, *weight, *pair;      /* [num_worlds][capacity][3, 3, 9, 1, 1, 3] */
    double *position;                                              /* [num_worlds][capacity][3] */
    double *jacobian;                                              /* [num_worlds][capacity][3][nv] */
    int *region;                                                   /* [num_worlds][capacity] */
    double *drive, *limit, *friction; /* [num_worlds][nv] generalised impulses, internal order */
} SapReportArgs;

/* A world's scratch on a GPU, in bytes from its beginning. */
typedef struct SapArenas {
    int fm, solve, linear[2], ints;
    int size;
} SapArenas;

typedef struct SapStepArgs {
    SapPlan plan;
    SapConstants constants[2]; /* f32, f64 */
    double h;
    int num_worlds;
    int euler;  /* 1: sap_euler, 0: midpoint */
    int compat; /* 1: joints as SAP Warp computes them (joints_as_given.h), witnesses on the core */
    int fm_is_f64, geometry_is_f64, weight_is_f64, solve_is_f64;
    int has_joint_terms; /* some dof has a drive, a limit or friction */

    SapRows q_in, qd_in, joint_f, body_f, target_pos, target_vel, act, guess;
    SapRows q_out, qd_out, body_q, body_qd;
    unsigned *status; /* [num_worlds] */

    SapContactArgs contacts;
    SapNewtonArgs newton;
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

/* A pack's work: its scratch, one arena per stage that may have a precision of its own, each 64-byte aligned. */
typedef struct SapContext {
    const SapStepArgs *args;
    const SapPack *pack;
    const struct SapKernels *kernels[2]; /* f32, f64: how a stage calls one of another precision on a CPU */
    void *fm;                            /* free motion */
    void *solve;                         /* contact solve */
    void *linear[2];                     /* linear systems, f32 and f64 */
    int *ints;                           /* contact slots */
    int num_slots;                       /* the most contacts any world of the pack has */
} SapContext;

/* One build of the kernels: what the host calls, in the order of a step. */
typedef struct SapKernels {
    int lanes;
    int real_bytes; /* of one real: all lanes */
    void (*free_motion)(const SapContext *ctx);
    void (*contact_geometry)(const SapContext *ctx);
    void (*contact_weight)(const SapContext *ctx);
    void (*solve)(const SapContext *ctx);
    void (*linear_solve)(const SapContext *ctx, const SapPattern *pattern);
    void (*finish)(const SapContext *ctx);
    void (*inspect)(const SapContext *ctx);
    void (*kinematics)(const SapContext *ctx);
    /* sine and cosine of n numbers of the kernels' precision; for tests */
    void (*sincos)(const void *x, void *s, void *c, int n);
} SapKernels;

#endif
