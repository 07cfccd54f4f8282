/* Every stage in one precision, in order of dependence. An entry file defines SAP_PRECISION (and SAP_LANES on a CPU)
 * and includes this file once per precision. */
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/dialect/buffers.h"
#include "kernels/dialect/views.h"
#include "kernels/dialect/scratch.h"

#include "kernels/math/trig.h"
#include "kernels/math/spatial.h"
#include "kernels/math/factor.h"

#include "kernels/motion/joints.h"
#include "kernels/motion/joints_sap_warp.h"
#include "kernels/motion/load.h"
#include "kernels/motion/free_motion.h"
#include "kernels/motion/bodies.h"
#include "kernels/motion/store.h"
#include "kernels/motion/inspect.h"
#include "kernels/motion/motion.h"

#include "kernels/collide/manifold.h"
#include "kernels/collide/narrow_plane.h"
#include "kernels/collide/narrow_round.h"
#include "kernels/collide/narrow_box.h"
#if SAP_LANES == 1 /* one world at a time; builds with more lanes call the build with one lane */
#include "kernels/collide/support.h"
#include "kernels/collide/gjk.h"
#include "kernels/collide/epa.h"
#include "kernels/collide/convex_manifold.h"
#include "kernels/collide/convex_polish.h"
#include "kernels/collide/convex_pair.h"
#include "kernels/collide/height_field.h"
#include "kernels/collide/convex.h"
#endif
#include "kernels/collide/narrow.h"
#include "kernels/collide/broad_phase.h"
#include "kernels/collide/collide.h"

#include "kernels/law/value.h"
#include "kernels/law/laws.h"
#include "kernels/law/law.h"
#include "kernels/law/sap_dof.h"

#include "kernels/constraint/slots.h"
#include "kernels/constraint/contact_geometry.h"
#include "kernels/constraint/contact_weight.h"
#include "kernels/constraint/contact_material.h"
#include "kernels/constraint/dof_terms.h"
#include "kernels/constraint/constraint.h"

#include "kernels/solve/problem.h"
#include "kernels/solve/method.h"
#include "kernels/solve/methods.h"
#include "kernels/solve/report.h"
#include "kernels/solve/solve.h"
#include "kernels/solve/lockstep.h"

#include "kernels/step/finish.h"
