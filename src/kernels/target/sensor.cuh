// The sensors on a GPU: one thread per item, in both precisions. Names are in a separate namespace, so that the kernels
// of the step are compiled as without this file.
#include <sapwood/sensors.h>

#include "kernels/data/rays.h"

namespace sensor {
namespace f32 {
#define SAP_PRECISION 32
#include "kernels/sensor/sensors.h"
#undef SAP_PRECISION
} // namespace f32
namespace f64 {
#define SAP_PRECISION 64
#include "kernels/sensor/sensors.h"
#undef SAP_PRECISION
} // namespace f64
} // namespace sensor

// One item per thread; the grid covers them all.
#define SENSOR_KERNEL(name, Args, function, count)                                                                     \
    extern "C" __global__ void __launch_bounds__(128) name(const __grid_constant__ Args args) {                        \
        long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (item >= (long long)args.num_worlds * (count))                                                              \
            return;                                                                                                    \
        if (args.is_f64)                                                                                               \
            sensor::f64::function(&args, item);                                                                        \
        else                                                                                                           \
            sensor::f32::function(&args, item);                                                                        \
    }
SENSOR_KERNEL(sap_kernel_place_shapes, SapRayArgs, place_shape, args.shapes.num_moving)
SENSOR_KERNEL(sap_kernel_cast_rays, SapRayArgs, cast_ray, args.num_rays)
SENSOR_KERNEL(sap_kernel_sense, SapSenseArgs, sense_item, args.items)
