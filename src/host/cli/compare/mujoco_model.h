/* A scene's model with numbers of MuJoCo's law, so that this law can step any scene. */
#ifndef SAPWOOD_HOST_CLI_COMPARE_MUJOCO_MODEL_H
#define SAPWOOD_HOST_CLI_COMPARE_MUJOCO_MODEL_H

#include <sapwood/sapwood.h>

#include "host/cli/common.h"

/* The friction of the shapes, elliptic cones, MuJoCo's default softness, and weights at the initial state as MuJoCo
 * computes them. The integrator is `discrete`: drives and damping at the end of the step, as the other solvers have
 * them. The caller destroys *out. */
bool cli_mujoco_model(const SapModel *model, SapModel **out);

/* A copy of the model, which has MuJoCo's parameters, with tolerances at which solves end at rounding. The caller destroys
 * *out. */
bool cli_mujoco_tight(const SapModel *model, SapModel **out);

#endif
