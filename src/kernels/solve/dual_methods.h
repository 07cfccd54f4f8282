/* The dual solvers in one precision, in order of dependence, after the dialect of that precision (dialect/lane.h,
 * vec.h, buffers.h). */
#include "kernels/math/dense_factor.h"

#include "kernels/solve/dual_problem.h"
#include "kernels/solve/cone_block.h"
#include "kernels/solve/cone.h"
#include "kernels/solve/augmented.h"
#include "kernels/solve/cone_solve.h"
#include "kernels/solve/coulomb.h"
#include "kernels/solve/pgs.h"
#include "kernels/solve/active_set.h"
#include "kernels/solve/dual_solve.h"
#include "kernels/solve/dual_call.h"
