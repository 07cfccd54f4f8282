/* Arguments of the derivatives of a step (kernels/gradient), and the table of functions of one build of them. Plain
 * structs, shared by host and kernels. */
#ifndef SAPWOOD_KERNELS_DATA_GRADIENTS_H
#define SAPWOOD_KERNELS_DATA_GRADIENTS_H

#include <sapwood/parameters.h>

#include "kernels/data/context.h"

/* What a step can be differentiated with respect to beside its state: controls, then the parameters of worlds. */
enum {
    SAP_INPUT_JOINT_F,
    SAP_INPUT_TARGET_POS,
    SAP_INPUT_TARGET_VEL,
    SAP_INPUT_ACT,
    SAP_INPUT_BODY_F,
    SAP_INPUT_TENDON_F,
    SAP_INPUT_TENDON_TARGET_POS,
    SAP_INPUT_TENDON_TARGET_VEL,
    SAP_INPUT_TENDON_ACT,
    SAP_INPUT_PARAMETER /* + SapParameter */
};

enum { SAP_MAX_INPUTS = 64 };

/* One array of inputs: `count` numbers of a world, the columns first .. first + count - 1 of all inputs. */
typedef struct SapInput {
    int kind;
    int first, count;
    double *out; /* [num_worlds][2 nv][count] derivatives, or [num_worlds][count] cotangents or tangents */
} SapInput;

/* Scratch of a pack: offsets in reals. */
typedef struct SapGradientLayout {
    int v, acc;           /* [nv] v of the end of the step; (v - v0)/h */
    int dof_law;          /* [dof_law_size] laws of dofs (sap/dof.h) */
    int dof_dA;           /* [nv] derivative of a dof's impulse with respect to A_ii */
    int Sdot, Pd, Pdd;    /* [nv][6] rates of columns (twists.h) */
    int Pe;               /* [nv][6] twist of v over the dofs that do not turn column j */
    int a, Ve;            /* [nl][6] accelerations without gravity; twists of v */
    int I, gravity, K, F; /* [nl][10], [nl][4], [nl][18], [nl][6] of the subtree */
    int dA_up, dA_down;   /* [nnz] entry (i, j): dA_jj/dq_i and dA_ii/dq_j */
    int H, inverse;       /* [nv][nv] factor of the Hessian; [nv] 1/L_ii */
    int g_q, g_v;         /* [nv][nv] columns of the derivatives of the equation of a step */
    int turn;             /* [nl][18] T_q and T_u of rotations (maps.h) */
    int input;            /* [num_inputs][nv] -dg/dtheta */
    int dq, dv0, dv, rhs; /* [nv] of one column */
    int end;              /* [2 nv] */
    int dA;               /* [nv] rates of A_ii of one column */
    int feature;          /* [slots][SAP_FEATURE_SIZE] classes of contacts (features.h) */
    int contact;          /* [slots][2 max_columns] how weights act (contacts.h) */
    int weight;           /* [max_columns][3] */
    int block;            /* [num_blocks][...] how weights of constraints act */
    int block_of;         /* reals of one block */
    int dJ;               /* [6][nv] rates of the rows of a constraint */
    int margin;           /* [1] */
    int size;
} SapGradientLayout;

enum { SAP_FEATURE_SIZE = 19 };

/* What a call computes. */
enum { SAP_GRADIENT_MATRICES, SAP_GRADIENT_TANGENTS, SAP_GRADIENT_COTANGENTS };

typedef struct SapGradientArgs {
    int what;
    int num_slots, num_inputs; /* numbers of contact slots and of inputs, for the layout */
    int first;                 /* matrices: 1 at the first step of the call */
    int num_arrays;            /* arrays of inputs */
    const SapInput *array;     /* [num_arrays] */
    double *A;                 /* matrices: [num_worlds][2 nv][2 nv] */
    const double *end;         /* cotangents: [num_worlds][2 nv] of the state after the step */
    double *start;             /* cotangents: [num_worlds][2 nv] of the state before it */
    double *tangent;           /* tangents: [num_worlds][2 nv], replaced */
    double kink;
    unsigned *status; /* [num_worlds] SAP_GRADIENT_... bits are added */
    double *margin;   /* [num_worlds] the least so far */
    SapGradientLayout layout;
} SapGradientArgs;

typedef struct SapGradientKernels {
    int lanes;
    /* Around the end of a step that ctx has solved. scratch: layout.size reals, 64-byte aligned. */
    void (*keep)(const SapContext *ctx, const SapGradientArgs *args, void *scratch);
    void (*differentiate)(const SapContext *ctx, const SapGradientArgs *args, void *scratch);
} SapGradientKernels;

#endif
