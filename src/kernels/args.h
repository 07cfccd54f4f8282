/* What the host hands to the kernels: the plan of a model (uniform: the same for all worlds), its constants, and the
 * arrays of a call. Plain data, the same on every target; no pointer is owned by a kernel. */
#ifndef SAPWOOD_KERNELS_ARGS_H
#define SAPWOOD_KERNELS_ARGS_H

/* A link is a joint and its child body; links are numbered by joint. */
typedef struct SapLink {
    int type;         /* SapJointType */
    int parent;       /* link of the parent body, -1 = world */
    int root;         /* link at the root of this tree: its origin is the tree's reference point O */
    int body;         /* child body: its place in body arrays */
    int q, v;         /* first coordinate, first dof */
    int nlin, nang;   /* linear and angular axes */
    int plain_X_p;    /* 1 if the rotation of X_p is the identity */
    int plain_X_c;    /* 1 if X_c is the identity */
    int first_child;  /* children are plan.child[first_child .. first_child + num_children) */
    int num_children; /* */
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

typedef struct SapPlan {
    int nl, nb, nq, nv, nnz;
    int num_levels;         /* of links */
    int num_depths;         /* of dofs */
    const SapLink *link;    /* [nl] */
    const int *child;       /* [nl] links by parent */
    const int *level_start; /* [num_levels + 1] */
    const int *level_link;  /* [nl] links by level */
    const SapRow *row;      /* [nv] */
    const int *ancestor;    /* [nnz] dof of each entry */
    const SapDescendant *descendant;
    const int *depth_start; /* [num_depths + 1] into depth_dof */
    const int *depth_dof;   /* [nv] dofs by depth */
    const int *entry_start; /* [num_depths + 1] into entry */
    const SapEntry *entry;  /* [nnz] entries by depth of their row */
    const int *dof_public;  /* [nv] public dof of each internal dof */
    SapLayout layout;
} SapPlan;

/* A model array in the kernels' precision. World w reads row w * stride: stride 0 is one row for all. */
typedef struct SapField {
    const void *data;
    long long stride;
} SapField;

typedef struct SapConstants {
    SapField gravity;  /* [3] */
    SapField X_p;      /* [nl][7] pose of F in the parent */
    SapField X_c_inv;  /* [nl][7] pose of the body in M */
    SapField axis;     /* [nv][3] */
    SapField mass;     /* [nl] */
    SapField com;      /* [nl][3] */
    SapField inertia;  /* [nl][6] Ixx Iyy Izz Ixy Ixz Iyz about the COM, body axes */
    SapField armature; /* [nv] internal order */
    SapField damping;  /* [nv] internal order */
} SapConstants;

/* A row-major array of the caller, f32 or f64: world w owns data[w * stride ..]; stride 0 is one row for all, data NULL = absent. */
typedef struct SapRows {
    void *data;
    long long stride;
    int is_f64;
} SapRows;

typedef struct SapStepArgs {
    SapPlan plan;
    SapConstants constants;
    double h;
    int num_worlds;
    int euler;  /* 1: sap_euler, 0: midpoint */
    int compat; /* 1: joints as SAP Warp computes them (joints_as_given.h) */

    SapRows q_in, qd_in, joint_f, body_f;
    SapRows q_out, qd_out, body_q, body_qd;
    unsigned *status; /* [num_worlds] */

    /* Inspection; f64, each may be NULL. Layouts as in SapFreeMotion. */
    double *v_star, *A, *tau, *v0, *body_pose, *body_velocity, *body_bias;
} SapStepArgs;

/* The worlds that one team or one pack of lanes steps. Lanes past `count` repeat the last world and store nothing. */
enum { SAP_MAX_LANES = 8 };
typedef struct SapPack {
    int world[SAP_MAX_LANES];
    int count;
} SapPack;

/* One build of the kernels: what the host calls. `scratch` has plan.layout.size reals, 64-byte aligned. */
typedef struct SapKernels {
    int lanes;
    int real_bytes; /* of one real: all lanes */
    void (*step)(const SapStepArgs *args, const SapPack *pack, void *scratch);
    void (*inspect)(const SapStepArgs *args, const SapPack *pack, void *scratch);
    void (*kinematics)(const SapStepArgs *args, const SapPack *pack, void *scratch);
    /* sine and cosine of n numbers of the kernels' precision; for tests */
    void (*sincos)(const void *x, void *s, void *c, int n);
} SapKernels;

#endif
