/* Arguments of sap_kernel_loop_condition (cuda_loop.cu). */
#ifndef SAPWOOD_KERNELS_TARGET_LOOP_H
#define SAPWOOD_KERNELS_TARGET_LOOP_H

/* Numbers of systems for which the calls of the libraries are in the graph. */
enum { SAP_LOOP_SIZES = 3 };

typedef struct SapLoopArgs {
    const int *count;                         /* [1] number of active worlds */
    int num_sizes;                            /* 1 .. SAP_LOOP_SIZES */
    int size[SAP_LOOP_SIZES];                 /* systems that the calls of each solve, the largest number first */
    unsigned long long again;                 /* condition of the loop */
    unsigned long long solve[SAP_LOOP_SIZES]; /* conditions of the calls */
} SapLoopArgs;

#endif
