// Kernels with one planted mistake each, and beside them the same without it. Each takes (n, p): p has blockDim.x
// floats.
#include <assert.h>

#define KERNEL extern "C" __global__ void
extern __shared__ float s[];

KERNEL reverse_with_barrier(int n, float *p) {
    int t = threadIdx.x;
    s[t] = p[t];
    __syncthreads();
    p[t] = s[blockDim.x - 1 - t];
}

KERNEL reverse_without_barrier(int n, float *p) {
    int t = threadIdx.x;
    s[t] = p[t];
    p[t] = s[blockDim.x - 1 - t]; // BUG race
}

KERNEL write_after_read(int n, float *p) {
    int t = threadIdx.x;
    float v = 0;
    s[t] = p[t];
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        v += s[(t + 1) % blockDim.x];
        s[t] = v; // BUG race
        __syncthreads();
    }
    p[t] = v;
}

KERNEL write_twice(int n, float *p) {
    s[0] = (float)threadIdx.x; // BUG race
    __syncthreads();
    p[threadIdx.x] = s[0];
}

KERNEL neighbours_with_warp_barrier(int n, float *p) {
    int t = threadIdx.x;
    s[t] = p[t];
    __syncwarp();
    p[t] = s[t ^ 1];
}

KERNEL neighbours_without_warp_barrier(int n, float *p) {
    int t = threadIdx.x;
    s[t] = p[t];
    p[t] = s[t ^ 1]; // BUG race
}

KERNEL write_after_warp_barrier(int n, float *p) {
    int t = threadIdx.x;
    s[t] = p[t];
    __syncwarp();
    float v = s[t ^ 1];
    s[t] = v; // BUG race
    p[t] = v;
}

// Teams of n lanes with a barrier of their own.
KERNEL teams_with_barrier(int n, float *p) {
    int t = threadIdx.x, first = t / n * n;
    s[t] = p[t];
    __syncwarp(((1u << n) - 1u) << (first & 31));
    p[t] = s[first + (t + 1 - first) % n];
}

// The barrier of a team does not order other teams.
KERNEL teams_that_look_over(int n, float *p) {
    int t = threadIdx.x, first = t / n * n;
    s[t] = p[t];
    __syncwarp(((1u << n) - 1u) << (first & 31));
    p[t] = s[(t + n) % blockDim.x]; // BUG race
}

KERNEL blocks_write_the_same_word(int n, float *p) {
    p[0] = (float)blockIdx.x; // BUG race
}

KERNEL blocks_add_atomically(int n, float *p) {
    atomicAdd(p, 1.0f);
}

KERNEL past_global(int n, float *p) {
    p[threadIdx.x + 1] = 1; // BUG out of bounds
}

KERNEL null_pointer(int n, float *p) {
    ((float *)(size_t)n)[threadIdx.x] = 1; // BUG out of bounds
}

KERNEL past_dynamic_shared(int n, float *p) {
    int t = threadIdx.x;
    s[t + 1] = p[t]; // BUG out of bounds
    __syncthreads();
    p[t] = s[t];
}

KERNEL past_static_shared(int n, float *p) {
    __shared__ float a[64], b[64];
    int t = threadIdx.x;
    a[t] = p[t];
    b[t] = p[t];
    __syncthreads();
    p[t] = a[t + n] + b[t]; // BUG out of bounds
}

KERNEL past_local(int n, float *p) {
    float a[8];
    for (int i = 0; i < 8; i++)
        a[i] = p[i];
    for (int i = 0; i < n; i++)
        a[i * 5 & 7] += 1;
    p[0] = a[n + 100]; // BUG out of bounds
}

KERNEL misaligned(int n, float *p) {
    float4 v = *(float4 *)(p + 1); // BUG misaligned
    p[0] = v.x + v.y;
}

KERNEL unwritten_shared(int n, float *p) {
    int t = threadIdx.x;
    if (t != 3)
        s[t] = p[t];
    __syncthreads();
    p[t] = s[t]; // BUG never written
}

KERNEL unwritten_global(int n, float *p) {
    p[threadIdx.x] = p[threadIdx.x + blockDim.x]; // BUG never written
}

KERNEL barrier_in_both_branches(int n, float *p) {
    int t = threadIdx.x;
    if (t < n) {
        p[t] = 1;
        __syncthreads(); // BUG divergent barrier
        p[t] = 2;
    } else {
        p[t] = 3;
        __syncthreads(); // BUG divergent barrier
        p[t] = 4;
    }
}

KERNEL barrier_after_exit(int n, float *p) {
    int t = threadIdx.x;
    if (t >= n)
        return;
    p[t] = 1;
    __syncthreads();
    p[t] = 2;
}

KERNEL warp_waits_for_block(int n, float *p) {
    int t = threadIdx.x;
    if (t < 16)
        __syncwarp(); // BUG deadlock
    else
        __syncthreads();
    p[t] = 1;
    __syncthreads();
}

KERNEL mask_without_self(int n, float *p) {
    int t = threadIdx.x;
    p[t] = __shfl_sync(1u << n, p[t], n); // BUG not in its own mask
}

KERNEL shuffle_from_outside(int n, float *p) {
    int t = threadIdx.x;
    if (t < 16)
        p[t] = __shfl_down_sync(0xffffu, p[t], 8); // BUG shuffle from lane
}

KERNEL failing_assert(int n, float *p) {
    assert(n == 12345); // BUG assertion failed
    p[0] = 1;
}

KERNEL trapped(int n, float *p) {
    if (threadIdx.x == 5)
        __trap(); // BUG trap
    p[threadIdx.x] = 1;
}

KERNEL waits_for_another_thread(int n, float *p) {
    int *flag = (int *)p;
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0)
            ;
        p[1] = 7;
    } else if (threadIdx.x == 5) {
        atomicExch(flag, 1);
    }
}
