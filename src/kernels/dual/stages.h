/* The contact solve of a step in impulses, in order of dependence: the problem as every method of the step has it, and
 * the dual solvers on it. Its precision is f64. */
/* Nothing follows the solve and its reports (solve/outcome.h, solve/report_constraints.h). */
#define OWN_FINISH(which) ((void)0)
#define OWN_REPORT(which) ((void)0)

#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/dialect/buffers.h"

#include "kernels/dual/methods.h"

#include "kernels/dialect/views.h"
#include "kernels/dialect/scratch.h"

#include "kernels/math/trig.h"
#include "kernels/math/spatial.h"
#include "kernels/math/factor.h"
#include "kernels/math/tiles.h"

#include "kernels/motion/bodies.h"
#include "kernels/motion/tendons.h"
#include "kernels/motion/status.h"

#include "kernels/contact/value.h"
#include "kernels/sap/contact.h"
#include "kernels/contact/row.h"
#include "kernels/sap/dof.h"

#include "kernels/contact/slot_columns.h"
#include "kernels/contact/columns.h"
#include "kernels/contact/contact_geometry.h"
#include "kernels/sap/material.h"
#include "kernels/sap/dof_terms.h"
#include "kernels/sap/constraint.h"
#include "kernels/contact/block_geometry.h"
#include "kernels/contact/block_rows.h"
#include "kernels/sap/block_laws.h"
#include "kernels/contact/blocks.h"

#include "kernels/solve/problem.h"
#include "kernels/solve/method.h"
#include "kernels/dual/delassus.h"
#include "kernels/dual/step.h"
#include "kernels/dual/cache.h"
#include "kernels/dual/record.h"
#include "kernels/solve/report.h"
#include "kernels/sap/report_blocks.h"
#include "kernels/solve/report_constraints.h"
#include "kernels/solve/outcome.h"
#include "kernels/dual/stage.h"
