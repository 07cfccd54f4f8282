/* The section `mujoco` of a scene. */
#ifndef SAPWOOD_HOST_SCENE_MUJOCO_H
#define SAPWOOD_HOST_SCENE_MUJOCO_H

#include <sapwood/model.h>

#include "host/base/yaml_tree.h"

/* Gives the model the parameters of MuJoCo's law. */
SapStatus sap_scene_read_mujoco(const SapYamlEntry *entry, SapModel *model);

#endif
