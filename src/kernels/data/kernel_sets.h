/* The kernel sets of a GPU. A set is all stages compiled with some choices made, which removes the other choices from
 * its kernels: 0 and 1 are made, ARG is left to the arguments. An entry file includes target/cuda_set.cuh once per set
 * with KERNEL_SET as its name; kernels read the choices through dialect/choices.h, and the host finds the set that fits
 * a batch in the same rows (host/cuda/choose.c).
 *
 *   FM .. LINEAR   whether free motion, geometry, weights, the first solve and the linear system are in f64
 *   CONSTRAINTS    whether models may have constraints and tendons
 *   COMPAT         whether joints are SAP Warp's
 *   REPORTS        whether a step can report contacts, dofs and wrenches
 *   CLOSED         1: no general narrow phase, so that a step can find its contacts */
#ifndef SAPWOOD_KERNELS_DATA_KERNEL_SETS_H
#define SAPWOOD_KERNELS_DATA_KERNEL_SETS_H

/* clang-format off */
/*                                FM   GEOMETRY WEIGHT SOLVE LINEAR CONSTRAINTS COMPAT REPORTS CLOSED */
#define SAP_SET_any_precision    ARG, ARG,     ARG,   ARG,  ARG,   ARG,        ARG,   1,      0
#define SAP_SET_collide_approx32 0,   0,       0,     0,    0,     0,          0,     0,      0
/* of the presets; drake has the precisions of approx64 */
#define SAP_SET_approx32         0,   0,       0,     1,    0,     0,          0,     0,      1
#define SAP_SET_fast32           0,   0,       0,     0,    0,     0,          0,     0,      1
#define SAP_SET_approx64         1,   1,       1,     1,    1,     0,          0,     0,      1
/* of the dual solvers */
#define SAP_SET_cone             ARG, ARG,     ARG,   1,    1,     ARG,        ARG,   1,      0
#define SAP_SET_pgs              SAP_SET_cone
#define SAP_SET_active_set       SAP_SET_cone
/* clang-format on */

/* The sets of the steps of presets; the first that fits is a batch's. */
#define SAP_PRESET_SETS(X) X(approx32) X(fast32) X(approx64)

#endif
