/* The rules of a model, one function and one message each. A violated rule is SAP_ERROR_MODEL; a joint type that exists
 * in other simulators but not here is SAP_ERROR_UNSUPPORTED. docs/model.md lists the rules. */
#ifndef SAPWOOD_HOST_MODEL_CHECK_H
#define SAPWOOD_HOST_MODEL_CHECK_H

#include <sapwood/model.h>
#include <sapwood/parameters.h>

/* Part of the first rules: every count is in its range. Of the arrays only articulation_start is looked at, for
 * NULL. */
SapStatus sap_model_check_counts(const SapModelArrays *arrays);

/* First, before copying: counts, required arrays, and joint types and axes whose sums are nv and nq. Reads only
 * joint_type, joint_dof_dim and names, so that a wrong count is found before it is used to read an array. */
SapStatus sap_model_check_layout(const SapModelArrays *arrays);

/* Second, with all arrays present: joint_q_start and joint_qd_start, which index the per-dof and per-coordinate arrays.
 * */
SapStatus sap_model_check_starts(const SapModelArrays *arrays);

/* Third, all other rules. */
SapStatus sap_model_check_values(const SapModelArrays *arrays);

/* The rules of one parameter by itself, and those that combine it with others: limits are ordered, inertias are
 * positive definite. Allocates nothing. */
SapStatus sap_model_check_parameter(const SapModelArrays *arrays, SapParameter parameter);

#endif
