/* The numbers of MuJoCo's law as a model stores them. */
#ifndef SAPWOOD_HOST_MODEL_MUJOCO_H
#define SAPWOOD_HOST_MODEL_MUJOCO_H

#include <sapwood/mujoco.h>

/* A copy with defaults filled in; no pointer is NULL. Checks every number. Free also after a failure. */
SapStatus sap_mujoco_copy(const SapModelArrays *model, const SapMujocoParameters *from, SapMujocoParameters **out);
void sap_mujoco_free(SapMujocoParameters *arrays);

/* Actuators of a model; 0 if it has no numbers of the law. */
int sap_mujoco_num_actuators(const SapModel *model);

/* Stores a copy of the numbers in a model, unless it has some already. Callable from any thread. */
SapStatus sap_mujoco_give(const SapModel *model, const SapMujocoParameters *numbers);

#endif
