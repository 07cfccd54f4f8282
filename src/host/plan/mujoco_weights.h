/* MuJoCo's law for models that come without its numbers, such as scenes. */
#ifndef SAPWOOD_HOST_PLAN_MUJOCO_WEIGHTS_H
#define SAPWOOD_HOST_PLAN_MUJOCO_WEIGHTS_H

#include <sapwood/mujoco.h>

/* Gives a model without numbers of MuJoCo's law computed ones (sap_mujoco_weights) and MuJoCo's defaults. Callable from
 * any thread. */
SapStatus sap_mujoco_complete(const SapModel *model);

#endif
