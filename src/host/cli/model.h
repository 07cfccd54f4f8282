/* Names of types and coordinates of a model, and the number of floating-point operations of the free motion of a step.
 * */
#ifndef SAPWOOD_HOST_CLI_MODEL_H
#define SAPWOOD_HOST_CLI_MODEL_H

#include "host/cli/common.h"

const char *cli_joint_type(int32_t type);
const char *cli_shape_type(int32_t type);

/* Suffix of coordinate or dof i (from 0) of a joint, such as ".px"; a static string. */
const char *cli_coord_suffix(const SapModelArrays *arrays, int joint, int i);
const char *cli_dof_suffix(const SapModelArrays *arrays, int joint, int i);

/* Whether the last four coordinates of the joint are a quaternion. */
bool cli_joint_has_quaternion(const SapModelArrays *arrays, int joint);

/* ---- cost ---- */

/* Floating-point operations of the free motion of one world in one step; a fused multiply-add counts as two.
 * docs/cli.md has the formula. */
bool cli_step_flops(const SapModelArrays *arrays, double *out);
/* Floating-point operations of one Newton system, factor and solve, on the pattern of the tree or dense. */
bool cli_factor_flops(const SapModelArrays *arrays, bool dense, double *out);

#endif
