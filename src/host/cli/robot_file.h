/* Scenes in the formats of other programs, MJCF and URDF: the Python package converts them, through MuJoCo's
 * compiler. */
#ifndef SAPWOOD_HOST_CLI_ROBOT_FILE_H
#define SAPWOOD_HOST_CLI_ROBOT_FILE_H

#include <stdbool.h>

#include <sapwood/scene.h>

/* Whether the name ends in .xml, .mjcf or .urdf. */
bool cli_is_robot_file(const char *path);

/* Converts the file to a scene in a temporary folder, loads it and removes the folder (python.h). With a law of MuJoCo
 * the scene has the parameters of that law in the file. */
bool cli_robot_file_load(const char *path, bool mujoco, SapScene **out);

#endif
