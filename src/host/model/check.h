/* The rules of a model, one function and one message each. A broken rule is SAP_ERROR_MODEL (a joint type that exists
 * elsewhere but not here: SAP_ERROR_UNSUPPORTED). docs/model.md lists them. */
#ifndef SAPWOOD_HOST_MODEL_CHECK_H
#define SAPWOOD_HOST_MODEL_CHECK_H

#include <sapwood/model.h>
#include <sapwood/parameters.h>

/* Before copying: counts, arrays that must be there, and joint types and axes whose sums are nv and nq. Reads only
 * joint_type, joint_dof_dim and names, so that a wrong count is found before an array is read by it. */
SapStatus sap_model_check_layout(const SapModelArrays *arrays);

/* With all arrays there: joint_q_start and joint_qd_start, by which the per-dof and per-coordinate arrays are read. */
SapStatus sap_model_check_starts(const SapModelArrays *arrays);

/* Then everything else. */
SapStatus sap_model_check_values(const SapModelArrays *arrays);

/* The rules of one parameter alone, and of those with others: limits are in order, inertias positive definite. Allocates nothing. */
SapStatus sap_model_check_parameter(const SapModelArrays *arrays, SapParameter parameter);

#endif
