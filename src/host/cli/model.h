/* What the program says about a model: names of types, the names of its coordinates, and how many floating-point
 * operations the free motion of a step takes. */
#ifndef SAPWOOD_HOST_CLI_MODEL_H
#define SAPWOOD_HOST_CLI_MODEL_H

#include "host/cli/common.h"

const char *cli_joint_type(int32_t type);
const char *cli_shape_type(int32_t type);

/* Suffix of coordinate or dof i (from 0) of a joint, such as ".px"; the text stays valid. */
const char *cli_coord_suffix(const SapModelArrays *arrays, int joint, int i);
const char *cli_dof_suffix(const SapModelArrays *arrays, int joint, int i);

/* Whether its last four coordinates are a quaternion. */
bool cli_joint_has_quaternion(const SapModelArrays *arrays, int joint);

/* ---- cost ---- */

/* Floating-point operations of the free motion of one world in one step, a fused multiply-add being two; docs/cli.md has the formula. */
bool cli_step_flops(const SapModelArrays *arrays, double *out);
/* Those of one of Newton's linear systems, factor and solve, on the pattern of the tree or in full. */
bool cli_factor_flops(const SapModelArrays *arrays, bool dense, double *out);

#endif
