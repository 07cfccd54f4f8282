// Entry file of a separate module: the kernel that sets the conditions of the loop of large worlds, when that is a node
// of a CUDA graph (docs/gpu.md). It calls a function of the driver, which older drivers do not have: they cannot load
// it.
#include "kernels/target/loop.h"

extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

// The loop goes on while worlds are active; their systems are solved by the calls for the smallest number that is
// enough. One thread.
extern "C" __global__ void sap_kernel_loop_condition(const __grid_constant__ SapLoopArgs args) {
    int count = *args.count;
    for (int i = 0; i < args.num_sizes; i++) {
        int smaller = i + 1 < args.num_sizes ? args.size[i + 1] : 0;
        cudaGraphSetConditional(args.solve[i], count > smaller && count <= args.size[i]);
    }
    cudaGraphSetConditional(args.again, count > 0);
}
