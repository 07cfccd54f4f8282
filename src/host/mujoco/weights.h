/* MuJoCo's weights of a model, and parameters of its law for models that come without, such as scenes. */
#ifndef SAPWOOD_HOST_MUJOCO_WEIGHTS_H
#define SAPWOOD_HOST_MUJOCO_WEIGHTS_H

#include <sapwood/mujoco.h>

#include "host/plan/formulation.h"

/* sap_mujoco_weights of n worlds: out->body, dof and tendon. */
SapStatus sap_mujoco_weigh(const SapNumbers *worlds, int n, SapSolver *solver, int solver_worlds,
                           SapFreeMotionOf *free_motion, const SapWeights *out);

/* And of shapes and constraints: those that follow from the bodies', where the model's do too, else those that the world
 * has already (SapFormulation.weigh). */
SapStatus sap_mujoco_weigh_worlds(const SapNumbers *model, const SapNumbers *worlds, int n, SapSolver *solver,
                                  int solver_worlds, SapFreeMotionOf *free_motion, const SapWeights *out);

/* The weights of shapes [ns] and constraints [nc][2] that follow from those. */
void sap_mujoco_weigh_shapes(const SapModelArrays *model, const double *body, double *out);
void sap_mujoco_weigh_constraints(const SapModelArrays *model, const double *body, const double *dof,
                                  const double *tendon, double *out);

/* Gives a model without parameters of the law computed weights and MuJoCo's defaults. Callable from any thread. */
SapStatus sap_mujoco_complete(const SapModel *model, SapWeightsOf *weights);

#endif
