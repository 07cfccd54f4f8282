// Small kernels that use what ours use: fibers, barriers, shuffles, votes, atomics, calls, local memory, big
// parameters.
#define KERNEL extern "C" __global__ void

// Inclusive scan of a block in shared memory; the barrier count differs with the block.
KERNEL scan(int n, const int *in, int *out) {
    extern __shared__ int a[];
    int t = threadIdx.x;
    a[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int add = t >= d ? a[t - d] : 0;
        __syncthreads();
        a[t] += add;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = a[t];
}

// In-place Cholesky factor of an n x n matrix by one block, row-major, lower triangle.
KERNEL cholesky(int n, double *A, double *unused) {
    extern __shared__ double L[];
    int t = threadIdx.x;
    for (int i = t; i < n * n; i += blockDim.x)
        L[i] = A[i];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (t == blockDim.x - 1)
            L[k * n + k] = sqrt(L[k * n + k]);
        __syncthreads();
        for (int i = k + 1 + t; i < n; i += blockDim.x)
            L[i * n + k] /= L[k * n + k];
        __syncthreads();
        for (int i = k + 1 + t; i < n; i += blockDim.x)
            for (int j = k + 1; j <= i; j++)
                L[i * n + j] = fma(-L[i * n + k], L[j * n + k], L[i * n + j]);
        __syncthreads();
    }
    for (int i = t; i < n * n; i += blockDim.x)
        A[i] = L[i];
}

// Each warp: sum by butterfly, scan by shuffles up, ballot, any, all, match and redux of its lanes' numbers.
KERNEL warps(int n, const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, v = in[i];
    int sum = v, upto = v;
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(~0u, upto, d);
        upto += lane >= d ? other : 0;
    }
    int quad = __shfl_sync(~0u, v, 2, 4), down = __shfl_down_sync(~0u, v, 3, 8);
    unsigned ballot = __ballot_sync(~0u, v > 0);
    int any = __any_sync(~0u, v > 40), all = __all_sync(~0u, v > -60);
    unsigned same = __match_any_sync(~0u, v & 3);
    int least = __reduce_min_sync(~0u, v);
    int *o = out + 9 * i;
    o[0] = sum, o[1] = upto, o[2] = quad, o[3] = down, o[4] = (int)ballot, o[5] = any, o[6] = all, o[7] = (int)same,
    o[8] = least;
}

// Histogram: atomics in shared, then in global memory; float add in order of arrival of one thread per block.
KERNEL histogram(int n, const int *in, int *out) {
    __shared__ int bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
    atomicMax(&out[16], in[blockIdx.x * blockDim.x + threadIdx.x]);
    atomicMin(&out[17], in[blockIdx.x * blockDim.x + threadIdx.x]);
    atomicXor(&out[18], in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0)
        atomicCAS(&out[19], (int)blockIdx.x, (int)blockIdx.x + 1);
}

// Calls that are not inlined: structs by value and by address, recursion, local arrays, a table in constant memory.
struct Pose {
    double p[3];
    float w;
    int tag;
};
__constant__ int weights[4] = {3, 1, 4, 1};

__noinline__ __device__ Pose shift(Pose x, double d) {
    for (int i = 0; i < 3; i++)
        x.p[i] += d * i;
    x.tag++;
    return x;
}

__noinline__ __device__ int ackermann(int m, int n) {
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__noinline__ __device__ void fill(int *a, int n, int x) {
    for (int i = 0; i < n; i++)
        a[i] = x * weights[i & 3];
}

KERNEL calls(int n, const int *in, double *out) {
    int t = threadIdx.x, a[8];
    Pose x = {{1.0 * in[t], 2, 3}, 0.5f, t};
    x = shift(shift(x, 0.25), 0.5);
    fill(a, 8, in[t]);
    out[3 * t] = x.p[0] + x.p[1] * 8 + x.p[2] * 64 + x.w + x.tag;
    out[3 * t + 1] = ackermann(2, in[t] & 3);
    out[3 * t + 2] = a[in[t] & 7];
}

// A structure of several kilobytes as a parameter, read through its address.
struct Big {
    int table[700];
    const int *in;
    int *out;
};
__noinline__ __device__ int look(const Big *b, int i) {
    return b->table[i];
}
KERNEL big_parameter(const __grid_constant__ Big b) {
    b.out[threadIdx.x] = look(&b, b.in[threadIdx.x]) + b.table[threadIdx.x];
}
