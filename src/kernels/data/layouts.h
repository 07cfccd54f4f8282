/* Offsets of the parts of a pack's scratch. The host fills the layouts (host/plan); the macros that use them
 * are in dialect/scratch.h. */
#ifndef SAPWOOD_KERNELS_DATA_LAYOUTS_H
#define SAPWOOD_KERNELS_DATA_LAYOUTS_H

#include "kernels/data/fixed.h"

/* Checks of free motion that a world keeps to the end of its step. */
enum { SAP_MOTION_STATE, SAP_MOTION_CONTROL, SAP_MOTION_FACTOR, SAP_MOTION_CHECKS };

/* Scratch of free motion: offsets in reals. The parts from `overlap_begin` on are dead while the contact problem is
 * solved, whose scratch is in the same memory: the repetition of a solve computes S again, the end of a step V and
 * a. */
typedef struct SAP_SPECIALIZABLE(SapMotionLayout) {
    int q;             /* [nq]     coordinates */
    int v0;            /* [nv]     velocity at the start, internal order */
    int checks;        /* [SAP_MOTION_CHECKS] 0 or NaN: checks of all links together, and of the factor of A */
    int A;             /* [nnz]    mass matrix, sparse rows */
    int v;             /* [nv]     velocity at the end, internal order */
    int rk;            /* [8][nv]  accelerations, then rates, of the four stages of RK4 */
    int X;             /* [nl][7]  body poses; overlap_begin, unless a report or the gyroscopic term reads them */
    int overlap_begin; /* the first of the parts that pass: X, or S; size: none, if the formulation reads them */
    int S;             /* [nv][6]  motion subspace about O */
    int V;             /* [nl][6]  twists about O */
    int a;             /* [nl][6]  bias accelerations about O */
    int state_check;   /* [nl]     0, or NaN if the input state of the link is not finite */
    int control_check; /* [nl]     0, or NaN if the control of the link is not finite */
    int I;       /* [nl][10] inertias about O, of the link, then of its subtree: m, m c, Ixx Iyy Izz Ixy Ixz Iyz */
    int F;       /* [nl][6]  wrenches about O, of the link, then of its subtree */
    int f;       /* [nv]     joint_f, internal order; then tau */
    int inverse; /* [nv]     1 / L_ii of the factor L of A */
    int L;       /* [nnz]    factor of A; in the memory of I, unless the formulation reads that later */
    int q1;      /* [nq]     coordinates at the end; in the memory of F, unless the formulation reads that later */
    int size;    /* reals of free motion */
} SAP_SPECIALIZABLE(SapMotionLayout);
SAP_SPECIALIZED(SapMotionLayout)

/* The problem of a world, which every method reads (solve/problem.h): offsets in the solve's scratch, in reals. Vectors
 * are [nv] unless noted. v0, v_star, w, guess and dof_check are read only until the first v is set; they share the
 * memory of the direction d, Ad, dof_hessian, grad and dof_gamma. The parts of a line search are in the memory of the
 * linear system, which is dead then: d first, where the system has its matrix, because it is copied from the solution
 * at the system's end. The impulse is dead from the norms of an evaluation to the next evaluation: it is in the memory
 * of d. Under a law that reads them after the solve, v0, v_star, w, guess, impulse, d, Ad and line_keeps have their own
 * memory. */
typedef struct SAP_SPECIALIZABLE(SapProblemLayout) {
    int v, v0, v_star, guess, Av_star; /* current v, v at the start, v*, first v, A v* */
    int dv, r, impulse, grad;          /* v - v*, A (v - v*), J' gamma + dof terms, grad = r - impulse */
    int Ad;                            /* A d along the direction d of a line */
    int w, scale;                      /* 1/A_ii; 1/sqrt(A_ii), or 0 for an inactive dof (problem_start) */
    int dof_law;                       /* [dof_law_size] data of the dof terms; a dof's are at dof_law of the plan */
    int dof_gamma, dof_cost, dof_hessian, dof_check; /* impulse, cost, curvature of the dof terms; 0 or NaN */
    int search;     /* the first of the parts in the memory of the linear system: d, line_keeps, Ad, line */
    int line_keeps; /* 1: the terms of the dof are a parabola along the line, else 0; absent with one lane */
    int line;       /* [nv][3] change of cost, slope and curvature of the dof terms along a line */
    int touched;    /* [articulations] 1: a constraint acts on the articulation, else 0; in the memory of `line` */
    int size;       /* reals of the problem, with that in impulses, without the contact slots */
} SAP_SPECIALIZABLE(SapProblemLayout);
SAP_SPECIALIZED(SapProblemLayout)

/* The sizes of the data of laws, in reals: of SAP's contact law (sap/contact.h). */
enum { SAP_CONTACT_LAW_SIZE = 8 };

/* Reals of data for the potentials of one dof (sap/dof.h), and of a dof that has neither drive nor limits. */
enum { SAP_DOF_LAW_SIZE = 10, SAP_DOF_FRICTION_SIZE = 2 };

/* Reals of the law of a row (contact/row.h), and the laws of the row of a tendon. */
enum { SAP_ROW_LAW_SIZE = 5 };
enum {
    SAP_TENDON_LOWER,
    SAP_TENDON_UPPER,
    SAP_TENDON_SPRING,       /* the whole spring, or its part below the rest band */
    SAP_TENDON_SPRING_UPPER, /* the part above the rest band */
    SAP_TENDON_DAMPER,
    SAP_TENDON_FRICTION,
    SAP_TENDON_ARMATURE,
    SAP_TENDON_DRIVE,
    SAP_TENDON_LAWS
};

/* Reals that Newton's method keeps between the calls of the lockstep stages (sap/lockstep.h). */
enum { SAP_LOCKSTEP_SIZE = 24 };

/* Scratch of Newton's method, after the problem's. */
typedef struct SAP_SPECIALIZABLE(SapNewtonLayout) {
    int d;        /* [nv] direction */
    int lockstep; /* [SAP_LOCKSTEP_SIZE] state of the lockstep stages; absent in a fused step */
} SAP_SPECIALIZABLE(SapNewtonLayout);
SAP_SPECIALIZED(SapNewtonLayout)

/* One contact slot: offsets in reals from its beginning. A slot has two parts, each in an arena of its own: what every
 * iteration reads, and its set-up, which only its law and its reports read. */
typedef struct SAP_SPECIALIZABLE(SapSlotLayout) {
    int law;                          /* data of the contact law (laws.h) */
    int vc, gamma, cost, G, Jd, line; /* velocity, impulse, cost, curvature, J d, values along a line;
                                       * with Newton's method for SAP the last two are in the memory of G */
    int size;                         /* reals of this part */
    /* set-up */
    int x0, x1, frame, phi0, w, pair; /* witnesses, c_x c_y n, gap, weight, (mu, k, tau) */
    int valid, check;                 /* 1: the world has the contact, else 0; 0, or NaN if its numbers are invalid */
    int setup_size;                   /* reals of the set-up */
} SAP_SPECIALIZABLE(SapSlotLayout);
SAP_SPECIALIZED(SapSlotLayout)

/* Number or dof of a column of J: a plan has fewer dofs than this has values, because the matrices of more would have
 * more entries than an int can count. */
typedef unsigned short SapDofIndex;

/* The integers of a contact slot, common to all worlds of the pack except `record`: offsets from its beginning. They
 * are in two parts, as its reals. */
typedef struct SAP_SPECIALIZABLE(SapSlotInts) {
    /* SapDofIndex, offsets in such (SLOT_SHORTS) */
    int num_dofs, couples; /* number of columns of J; 1 if the contact couples two branches of the tree */
    int dof;               /* [max_columns] the dof of each column, increasing */
    /* int (SLOT_INTS) */
    int has;         /* [(nv + 31)/32] bit i: dof i has a column */
    int size;        /* integers of this part */
    int max_columns; /* most columns of J */
    /* set-up */
    int record;      /* [lanes] index of the world's record in the slot, -1 = none */
    int shape, link; /* [2] -1 = none, static; before the geometry stage, link holds the body of the record */
    int path;        /* [max_columns] 1: on the path of link 0, 2: of link 1, 3: on both */
    int runs;        /* [2] for one thread: the dofs of columns 0 .. runs[0] - 1 are consecutive, and of runs[0] ..
                      * runs[1] - 1 */
    int setup_size;  /* integers of the set-up */
} SAP_SPECIALIZABLE(SapSlotInts);
SAP_SPECIALIZED(SapSlotInts)

/* Integers of a pack that are not of a slot. */
typedef struct SAP_SPECIALIZABLE(SapPackInts) {
    int num_slots; /* slots in use */
    int status;    /* [lanes] SAP_WORLD_... of the step so far */
    int acts;      /* [nv] which terms of the dof act in some world, and where its law is (sap/dof_terms.h) */
    int acting; /* [1 + num_blocks] for one thread: how many blocks act in some world, and which; absent without blocks */
    int size;
} SAP_SPECIALIZABLE(SapPackInts);
SAP_SPECIALIZED(SapPackInts)

/* Integers of the pattern of H where contacts couple branches (tiles_of in math/tiles.h): for so many nodes, rows of
 * `words` words of bits, and dofs. */
#define SAP_TILE_INTS(nodes, words, nv) ((nodes) * (2LL * (words) + (nodes) + 1) / 2 + 2LL * (nv) + 3)

/* Scratch of the linear system: offsets in reals. */
typedef struct SAP_SPECIALIZABLE(SapLinearLayout) {
    int L, inverse, x; /* [nnz of the largest pattern] H, then its factor; [nv] 1 / L_ii; [nv] -grad, then d */
    int size;          /* reals of the arena */
} SAP_SPECIALIZABLE(SapLinearLayout);
SAP_SPECIALIZED(SapLinearLayout)

/* Reals of a candidate, a contact point before it becomes a record (candidates.h). */
enum { SAP_CANDIDATE_SIZE = 11 };

/* Integers of a pair deferred to the second pass of collision (deferred.h). */
enum { SAP_DEFERRED_INTS = 4 };

/* Bytes of the workspace of the general narrow phase, in f32 and in f64 (convex.h). */
enum { SAP_CONVEX_BYTES_F32 = 12736, SAP_CONVEX_BYTES_F64 = 22720 };

/* Reals of scratch of a dual problem (dual/problem.h): two packed triangles, and vectors with one element per row
 * or per block. */
enum { SAP_DUAL_ROW_VECTORS = 25, SAP_DUAL_BLOCK_VECTORS = 20 };
#define SAP_DUAL_SCRATCH(blocks, rows)                                                                                 \
    ((long long)(rows) * ((rows) + 1) + SAP_DUAL_ROW_VECTORS * (long long)(rows) +                                     \
     SAP_DUAL_BLOCK_VECTORS * (long long)(blocks))

/* The problem of a world in impulses (dual/step.h). */
typedef struct SapDualLayout {
    int Y;       /* [slots][max_columns][3] columns of Y, as the Jacobians; offsets from the problem */
    int Y_dof;   /* [nnz of the tree] rows of Y of dofs */
    int Y_block; /* [rows of blocks][nv] rows of Y of the model's constraints and tendons */
    int v_free;  /* [nv] v* with the drives that are a part of A */
    int scratch; /* the dual problem */
    /* offsets in the integers of the pack */
    int kind, row;        /* [blocks] */
    int source, term;     /* [rows after the contacts] dof, or nv + row of a block; which term or law of it */
    int has_rows;         /* [nv] 1: the dof has a row in some world of the pack */
    int block, block_row; /* [rows of blocks] block and row within it */
    int contacts, blocks; /* [1] most contacts of a world of the pack; blocks */
    int block_rows;       /* [1] rows of the model's constraints and tendons */
} SapDualLayout;

/* Scratch of the collision stage: offsets in reals. */
typedef struct SAP_SPECIALIZABLE(SapCollideLayout) {
    int pose;      /* [ns][7] shapes in the world */
    int ball;      /* [ns][4] bounding spheres: centre in the world, radius with margin and gap */
    int candidate; /* [chunk][max_contacts][SAP_CANDIDATE_SIZE] points of the pairs of the chunk */
    int gap;       /* [given_capacity] gaps of the records so far */
    int size;      /* reals of the arena */
    /* offsets in integers */
    int chunk;          /* [chunk][2] the pairs of the chunk: SapPair */
    int num_chunk;      /* number of pairs in the chunk */
    int num_candidates; /* [chunk] points of each pair */
    int near;           /* [num_words] bits: the pairs whose bounding spheres overlap in some world */
    int num_words;      /* length of near */
    int cursor;         /* the first word that may have a bit set */
    int order;          /* [ns] shapes in the order of the sweep */
    int near_static;    /* [row_words] bits, of the tree: static shapes that may touch something */
    int near_words;     /* [num_near_words] bits: the words of near_static that are not 0 */
    int num_near_words; /* length of near_words */
    int tree_cursor;    /* [2] the next pair of the tree: smaller and larger index */
    int ints;           /* integers of the arena */
} SAP_SPECIALIZABLE(SapCollideLayout);
SAP_SPECIALIZED(SapCollideLayout)

#endif
