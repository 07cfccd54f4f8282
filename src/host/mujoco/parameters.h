/* The parameters of MuJoCo's law that a model has beyond its arrays: its extension (host/model/model.h). */
#ifndef SAPWOOD_HOST_MUJOCO_PARAMETERS_H
#define SAPWOOD_HOST_MUJOCO_PARAMETERS_H

#include <sapwood/mujoco.h>

/* Gives a model a checked copy of the parameters, with defaults filled in, unless it has some already. Callable from
 * any thread. */
SapStatus sap_mujoco_give(const SapModel *model, const SapMujocoParameters *parameters);

#endif
