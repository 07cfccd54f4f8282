/* The contact solve of a step in impulses, in order of dependence: the problem as every method of the step has it, and
 * the dual solvers on it. Its precision is f64. */
/* Nothing follows the solve and its reports (solve/outcome.h, solve/report_constraints.h). */
#define OWN_FINISH(which) ((void)0)
#define OWN_REPORT(which) ((void)0)

#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/dialect/buffers.h"

#include "kernels/solve/dual_methods.h"

#include "kernels/dialect/views.h"
#include "kernels/dialect/scratch.h"

#include "kernels/math/trig.h"
#include "kernels/math/spatial.h"
#include "kernels/math/factor.h"
#include "kernels/math/tiles.h"

#include "kernels/motion/bodies.h"
#include "kernels/motion/tendons.h"
#include "kernels/motion/status.h"

#include "kernels/law/value.h"
#include "kernels/law/laws.h"
#include "kernels/law/law.h"
#include "kernels/law/row.h"
#include "kernels/law/sap_dof.h"

#include "kernels/constraint/slot_columns.h"
#include "kernels/constraint/columns.h"
#include "kernels/constraint/contact_geometry.h"
#include "kernels/constraint/contact_material.h"
#include "kernels/constraint/dof_terms.h"
#include "kernels/constraint/constraint.h"
#include "kernels/constraint/block_geometry.h"
#include "kernels/constraint/block_rows.h"
#include "kernels/constraint/block_laws.h"
#include "kernels/constraint/blocks.h"

#include "kernels/solve/problem.h"
#include "kernels/solve/method.h"
#include "kernels/solve/delassus.h"
#include "kernels/solve/dual_step.h"
#include "kernels/solve/contact_cache.h"
#include "kernels/solve/dual_record.h"
#include "kernels/solve/report.h"
#include "kernels/solve/report_blocks.h"
#include "kernels/solve/report_constraints.h"
#include "kernels/solve/outcome.h"
#include "kernels/solve/dual_stage.h"
