/* The narrow phase of one world (src/kernels/collide/convex.h) in both precisions, for tests. */
#ifndef SAPWOOD_TESTS_SUPPORT_CONVEX_KERNELS_H
#define SAPWOOD_TESTS_SUPPORT_CONVEX_KERNELS_H

#include "kernels/data/table.h"

void convex_f32(SapConvexTask *task);
void convex_f64(SapConvexTask *task);

#endif
