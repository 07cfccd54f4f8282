// Lists the worlds whose Newton systems the library solves: compacts the systems of the active worlds into arrays of
// pointers. One block; worlds keep their order.
#include <cub/block/block_scan.cuh>

#include "kernels/target/compact.h"

extern "C" __global__ void __launch_bounds__(SAP_COMPACT_THREADS)
    sap_kernel_compact(const __grid_constant__ SapCompactArgs args) {
    typedef cub::BlockScan<int, SAP_COMPACT_THREADS> Scan;
    static_assert(sizeof(Scan::TempStorage) <= SAP_COMPACT_SHARED, "too little shared memory for the scan");
    Scan::TempStorage &storage = *(Scan::TempStorage *)shared_scratch;
    int listed = 0; // active worlds before this round
    for (int first = 0; first < args.num_worlds; first += SAP_COMPACT_THREADS) {
        int world = first + (int)threadIdx.x, before, sum;
        int active = world < args.num_worlds && args.active[world];
        Scan(storage).ExclusiveSum(active, before, sum);
        if (active) {
            int place = listed + before;
            args.place[world] = place;
            args.matrices[place] = args.matrix + world * args.matrix_bytes;
            args.vectors[place] = args.vector + world * args.vector_bytes;
            if (args.Js) {
                args.Js[place] = args.J + world * args.rows_bytes;
                args.GJs[place] = args.GJ + world * args.rows_bytes;
            }
        }
        listed += sum;
        __syncthreads(); // the next round reuses the storage of the scan
    }
    if (threadIdx.x == 0)
        *args.count = listed;
}
