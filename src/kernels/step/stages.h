/* Every stage in one precision, in order of dependence. An entry file defines SAP_PRECISION (and SAP_LANES on a CPU)
 * and includes this file once per precision. */
/* What the laws do differently within a stage that they share.
 *
 *   DOF_DAMPING(i)    damping of dof i that is part of A
 *   OWN_RECALL        takes state and control from scratch, where OWN_REMEMBER left them in the first stage; whether it did
 *   OWN_STATE         moves the state of the start of the step to that of this stage
 *   OWN_FORCES        adds forces of the law to the joint forces
 *   OWN_FINISH(which) follows the solve
 *   OWN_REPORT(which) reports of the law
 *   ADVANCE(l)        the state of link l at the end of the step
 *   OWN_ACTUATORS     number of actuators with activations
 *   OWN_MEASURE(out, mine) reports the state of the law at the start of the step
 *   OWN_STORE(ok, unchanged) stores the state of the law, or keeps it as it was */
#undef DOF_DAMPING
#undef OWN_RECALL
#undef OWN_REMEMBER
#undef OWN_STATE
#undef OWN_FORCES
#undef OWN_FINISH
#undef OWN_REPORT
#undef ADVANCE
#undef OWN_ACTUATORS
#undef OWN_MEASURE
#undef OWN_STORE
#ifdef SAP_SET_MUJOCO
#define DOF_DAMPING(i)           mujoco_damping(ctx, i)
#define OWN_RECALL               rk_recall(ctx)
#define OWN_REMEMBER             rk_remember(ctx)
#define OWN_STATE                rk_begin(ctx)
#define OWN_FORCES               mujoco_add_forces(ctx)
#define OWN_FINISH(which)        mujoco_finish(ctx, which)
#define OWN_REPORT(which)        rows_report(ctx, which)
#define ADVANCE(l)               mujoco_advance_link(ctx, l)
#define OWN_ACTUATORS            ctx->args->mujoco->num_actuators
#define OWN_MEASURE(out, mine)   actuators_measure(ctx, out, mine)
#define OWN_STORE(ok, unchanged) actuators_store(ctx, ok, unchanged)
#else
#define DOF_DAMPING(i)           field_get(STAGE_CONSTANTS->damping, i, ctx->pack)
#define OWN_RECALL               0
#define OWN_REMEMBER             ((void)0)
#define OWN_STATE                ((void)0)
#define OWN_FORCES               ((void)0)
#define OWN_FINISH(which)        ((void)0)
#define OWN_REPORT(which)        ((void)0)
#define ADVANCE(l)               joint_advance(ctx, &plan->link[l], FM(q), FM(v0), FM(v), STAGE_H, FM(q1))
#define OWN_ACTUATORS            0
#define OWN_MEASURE(out, mine)   ((void)0)
#define OWN_STORE(ok, unchanged) ((void)0)
#endif

#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/dialect/buffers.h"
#include "kernels/dialect/views.h"
#include "kernels/dialect/scratch.h"

#include "kernels/math/trig.h"
#ifdef SAP_SET_MUJOCO
#include "kernels/math/power.h"
#endif
#include "kernels/math/spatial.h"
#include "kernels/math/factor.h"
#include "kernels/math/tiles.h"

#include "kernels/motion/joints.h"
#include "kernels/motion/joints_sap_warp.h"
#include "kernels/motion/load.h"
#include "kernels/motion/gyroscopic.h"
#include "kernels/motion/bodies.h"
#include "kernels/motion/tendons.h"
#ifdef SAP_SET_MUJOCO
#include "kernels/mujoco/rk4.h"
#include "kernels/mujoco/actuators.h"
#include "kernels/mujoco/forces.h"
#include "kernels/mujoco/free_body.h"
#endif
#include "kernels/motion/free_motion.h"
#include "kernels/motion/status.h"
#include "kernels/motion/store.h"
#include "kernels/motion/inspect.h"
#include "kernels/motion/motion.h"

#if !defined(SAP_SET_MUJOCO) || defined(SAP_SET_COLLIDES) /* on a CPU collision is that of SAP's build */
#include "kernels/collide/manifold.h"
#include "kernels/collide/oriented_box.h"
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
#include "kernels/collide/shapes.h"
#include "kernels/collide/static_tree.h"
#include "kernels/collide/broad_phase.h"
#include "kernels/collide/candidates.h"
#include "kernels/collide/deferred.h"
#include "kernels/collide/records.h"
#include "kernels/collide/merge.h"
#include "kernels/collide/collide.h"
#endif

#include "kernels/contact/value.h"
#ifdef SAP_SET_MUJOCO
#include "kernels/mujoco/row.h"
#include "kernels/mujoco/contact_law.h"
#else
#include "kernels/sap/contact.h"
#endif
#include "kernels/contact/row.h"
#include "kernels/sap/dof.h"

#include "kernels/contact/slots.h"
#include "kernels/contact/slot_columns.h"
#include "kernels/contact/columns.h"
#ifdef SAP_SET_MUJOCO
#include "kernels/mujoco/dofs.h"
#else
#include "kernels/sap/dof_terms.h"
#endif
#include "kernels/contact/block_geometry.h"
#include "kernels/contact/block_rows.h"
#ifdef SAP_SET_MUJOCO
#include "kernels/mujoco/weight.h"
#include "kernels/mujoco/contact.h"
#include "kernels/mujoco/blocks.h"
#else
#include "kernels/contact/contact_geometry.h"
#include "kernels/sap/weight.h"
#include "kernels/sap/material.h"
#include "kernels/sap/constraint.h"
#include "kernels/sap/block_stage.h"
#include "kernels/sap/block_weight.h"
#include "kernels/sap/block_laws.h"
#endif
#include "kernels/contact/blocks.h"
#ifdef SAP_SET_MUJOCO
#include "kernels/mujoco/columns.h"
#include "kernels/mujoco/report.h"
#endif

#include "kernels/solve/problem.h"
#include "kernels/solve/method.h"
#ifdef SAP_SET_DUAL /* the solve in impulses (target/cuda_dual.cu); on a CPU dual/stages.h */
#include "kernels/dual/methods.h"
#include "kernels/dual/delassus.h"
#include "kernels/dual/step.h"
#include "kernels/dual/cache.h"
#include "kernels/dual/record.h"
#else
#include "kernels/solve/methods.h"
#endif
#if !defined(SAP_SET_MUJOCO) && !defined(SAP_SET_DUAL)
#include "kernels/sap/report_laws.h"
#endif
#include "kernels/solve/report.h"
#ifndef SAP_SET_MUJOCO
#include "kernels/sap/report_blocks.h"
#endif
#include "kernels/solve/report_constraints.h"
#include "kernels/solve/outcome.h"
#ifdef SAP_SET_DUAL
#include "kernels/dual/stage.h"
#else
#include "kernels/solve/solve.h"
#endif
#if !defined(SAP_SET_MUJOCO) && !defined(SAP_SET_DUAL)
#include "kernels/sap/lockstep.h"
#endif

#ifdef SAP_SET_MUJOCO
#include "kernels/mujoco/velocity.h"
#endif
#include "kernels/step/measure.h"
#include "kernels/step/finish.h"
