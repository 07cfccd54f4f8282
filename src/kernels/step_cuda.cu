// The GPU's entry: the same programs, one team per world. Block (team size, worlds per block), dynamic shared memory for the
// scratch of the block's worlds. Both precisions are compiled here; a namespace keeps their names apart.
#include <sapwood/solver.h>

#include "args.h"
#include "team.h"

namespace f32 {
#define SAP_PRECISION 32
#include "stages.h"
#undef SAP_PRECISION
} // namespace f32

namespace f64 {
#define SAP_PRECISION 64
#include "stages.h"
#undef SAP_PRECISION
} // namespace f64

extern __shared__ __align__(16) unsigned char shared_scratch[];

#define ENTRY(program, precision)                                                                                      \
    extern "C" __global__ void sap_##program##_##precision(const __grid_constant__ SapStepArgs args) {                 \
        SapPack pack;                                                                                                  \
        pack.world[0] = (int)(blockIdx.x * blockDim.y + threadIdx.y);                                                  \
        pack.count = 1;                                                                                                \
        if (pack.world[0] >= args.num_worlds)                                                                          \
            return;                                                                                                    \
        precision::Context ctx;                                                                                        \
        ctx.args = &args;                                                                                              \
        ctx.pack = &pack;                                                                                              \
        ctx.scratch = (precision::real *)shared_scratch + threadIdx.y * args.plan.layout.size;                         \
        precision::program_##program(&ctx);                                                                            \
    }

ENTRY(step, f32)
ENTRY(step, f64)
ENTRY(kinematics, f32)
ENTRY(kinematics, f64)
