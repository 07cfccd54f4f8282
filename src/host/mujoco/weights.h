/* MuJoCo's weights of a model, and parameters of its law for models that come without, such as scenes. */
#ifndef SAPWOOD_HOST_MUJOCO_WEIGHTS_H
#define SAPWOOD_HOST_MUJOCO_WEIGHTS_H

#include <sapwood/mujoco.h>

#include "host/plan/formulation.h"

/* sap_mujoco_weights by the free motion of a solver of SAP with one world in f64, which a higher room makes. */
typedef SapStatus SapFreeMotionOf(SapSolver *solver, const SapState *in, const SapControl *control, double h,
                                  const SapFreeMotion *out);
SapStatus sap_mujoco_weigh(const SapModel *model, SapSolver *solver, SapFreeMotionOf *free_motion, double *body,
                           double *dof, double *tendon);

/* Gives a model without parameters of the law computed weights and MuJoCo's defaults. Callable from any thread. */
SapStatus sap_mujoco_complete(const SapModel *model, SapWeightsOf *weights);

#endif
