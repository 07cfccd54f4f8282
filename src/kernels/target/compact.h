/* Arguments of sap_kernel_compact. */
#ifndef SAPWOOD_KERNELS_TARGET_COMPACT_H
#define SAPWOOD_KERNELS_TARGET_COMPACT_H

/* Threads of the block, and bytes of its dynamic shared memory. */
enum { SAP_COMPACT_THREADS = 256, SAP_COMPACT_SHARED = 2048 };

typedef struct SapCompactArgs {
    int num_worlds;
    const int *active;                    /* [num_worlds] 1: the world has a system to solve */
    char *matrix;                         /* [num_worlds][matrix_bytes] */
    char *vector;                         /* [num_worlds][vector_bytes] */
    char *J, *GJ;                         /* [num_worlds][rows_bytes] of the contacts, if the library adds them to H */
    long long matrix_bytes, vector_bytes; /* size of one world's matrix and vector */
    long long rows_bytes;                 /* size of one world's J */
    void **matrices, **vectors;           /* [num_worlds] out: addresses of the active worlds' systems */
    void **Js, **GJs;                     /* [num_worlds] out: the same for J and G J; NULL = none */
    int *place;                           /* [num_worlds] out: index of an active world in these arrays */
    int *count;                           /* [1] out: number of active worlds */
} SapCompactArgs;

#endif
