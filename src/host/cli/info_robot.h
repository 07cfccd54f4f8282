/* The robot of a scene: a table of its joints with the bodies and shapes that they move. */
#ifndef SAPWOOD_HOST_CLI_INFO_ROBOT_H
#define SAPWOOD_HOST_CLI_INFO_ROBOT_H

#include "host/cli/common.h"

/* Prints a line per joint in depth-first order, after one for the shapes of the world. False with a message on stderr. */
bool cli_robot_print(const SapModelArrays *arrays);

/* "6.92 kg", "540 g". */
CliText cli_mass_text(double mass);

#endif
