/* A caller's array, as kernels read and write it (dialect/buffers.h). */
#ifndef SAPWOOD_KERNELS_DATA_BUFFER_H
#define SAPWOOD_KERNELS_DATA_BUFFER_H

/* A row-major array, f32 or f64. The row of world w begins at data[w * stride]. */
typedef struct SapBuffer {
    void *data; /* NULL = absent */
    int stride; /* elements per row; 0 = one row for all worlds */
    int is_f64; /* 1: double, 0: float */
} SapBuffer;

#endif
