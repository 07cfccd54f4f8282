/* One precision of the narrow phase of one world: compiled with SAP_PRECISION 32 and 64, and SAP_LANES 1. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <sapwood/solver.h>

#include "support/convex_kernels.h"
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/math/trig.h"
#include "kernels/collide/manifold.h"
#include "kernels/collide/support.h"
#include "kernels/collide/gjk.h"
#include "kernels/collide/epa.h"
#include "kernels/collide/convex_manifold.h"
#include "kernels/collide/convex_polish.h"
#include "kernels/collide/convex_pair.h"
#include "kernels/collide/height_field.h"
#include "kernels/collide/convex.h"

#if SAP_PRECISION == 32
void convex_f32(SapConvexTask *task) {
    stage_convex(task);
}
#else
void convex_f64(SapConvexTask *task) {
    stage_convex(task);
}
#endif
