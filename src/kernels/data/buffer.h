/* An array of the caller, as kernels read and write it (dialect/buffers.h). */
#ifndef SAPWOOD_KERNELS_DATA_BUFFER_H
#define SAPWOOD_KERNELS_DATA_BUFFER_H

/* A row-major array of the caller, f32 or f64: world w owns data[w * stride ..]; stride 0 is one row for all, data NULL = absent. */
typedef struct SapBuffer {
    void *data;
    long long stride;
    int is_f64;
} SapBuffer;

#endif
