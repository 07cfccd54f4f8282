/* Where the parts of a pack's scratch begin. The host fills the layouts (host/plan); the macros that use them are in dialect/scratch.h. */
#ifndef SAPWOOD_KERNELS_DATA_LAYOUTS_H
#define SAPWOOD_KERNELS_DATA_LAYOUTS_H

/* Where the parts of a world's scratch begin, counted in reals. */
typedef struct SapMotionLayout {
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
} SapMotionLayout;

/* The problem of a world, which every method reads (solve/problem.h): places in the solve's arena, in reals. Vectors over dofs, then one
 * block per contact slot. */
typedef struct SapProblemLayout {
    int A;                             /* [nnz of the tree] in the solve's precision */
    int v, v0, v_star, guess, Av_star; /* [nv] each */
    int dv, r, impulse, grad;          /* v - v*, A (v - v*), J' gamma + dof terms, their difference */
    int Ad;                            /* along the direction of a line */
    int w, scale;                      /* 1/A_ii; 1/sqrt(A_ii) or 0 where the dof takes no part */
    int dof_law;                       /* [nv][SAP_DOF_LAW_SIZE] */
    int dof_gamma, dof_cost, dof_hessian, dof_check;
    int line; /* [nv][3] */
    int slots;
    int slot_size;
} SapProblemLayout;

/* Reals that Newton's method keeps from one call to the next in lockstep (solve/lockstep.h). */
enum { SAP_LOCKSTEP_SIZE = 24 };

/* What Newton's method keeps for itself, in the same arena. */
typedef struct SapNewtonLayout {
    int H;        /* [nnz of the larger pattern] */
    int d;        /* [nv] direction */
    int lockstep; /* [SAP_LOCKSTEP_SIZE] */
} SapNewtonLayout;

/* One contact slot, in reals from its beginning. */
typedef struct SapSlotLayout {
    int x0, x1, frame, phi0, w, pair; /* witnesses, c_x c_y n, gap, weight, (mu, k, tau) */
    int valid, check;                 /* 1 or 0; 0 or NaN */
    int law;                          /* data of the law of contacts (laws.h) */
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
    int acts;  /* [nv] which terms of the dof act in some world (law/sap_dof.h) */
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

#endif
