/* Builds our models of a reference file of MuJoCo. */
#ifndef SAPWOOD_LAB_CONFORM_MUJOCO_DRAFT_H
#define SAPWOOD_LAB_CONFORM_MUJOCO_DRAFT_H

#include "lab/conform/mujoco_file.h"

/* Creates file->model from its arrays, which are checked. False with a message on stderr. */
bool mujoco_draft_models(MujocoFile *file);

#endif
