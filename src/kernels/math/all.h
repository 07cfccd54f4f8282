/* Numbers and mathematics of one precision, in order of dependence. An entry file defines SAP_PRECISION (and SAP_LANES
 * on a CPU) first. */
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/dialect/buffers.h"
#include "kernels/dialect/views.h"
#include "kernels/dialect/scratch.h"

#include "kernels/math/trig.h"
#include "kernels/math/power.h"
#include "kernels/math/spatial.h"
#include "kernels/math/factor.h"
#include "kernels/math/tiles.h"
