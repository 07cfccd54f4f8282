/* The dual solvers in one precision, in order of dependence, after the dialect of that precision (dialect/lane.h,
 * vec.h, buffers.h). */
#include "kernels/math/dense_factor.h"

#include "kernels/dual/problem.h"
#include "kernels/dual/cone_block.h"
#include "kernels/dual/cone.h"
#include "kernels/dual/augmented.h"
#include "kernels/dual/cone_solve.h"
#include "kernels/dual/coulomb.h"
#include "kernels/dual/pgs.h"
#include "kernels/dual/active_set.h"
#include "kernels/dual/solve.h"
#include "kernels/dual/call.h"
