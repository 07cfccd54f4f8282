/* The per-world parameters as the kernels read them: by link, dofs in internal order, inertias packed. */
#ifndef SAPWOOD_HOST_PLAN_PARAMETERS_H
#define SAPWOOD_HOST_PLAN_PARAMETERS_H

#include <stdbool.h>

#include "host/model/parameters.h"
#include "kernels/data/constants.h"
#include "kernels/data/plan.h"

/* Whether the parameter has a field of its own in the kernel constants; MuJoCo's have none. */
bool sap_parameter_has_constant(SapParameter parameter);
SapField *sap_parameter_constant(SapConstants *constants, SapParameter parameter);

/* Count of numbers per world in that field; 0 without a field. */
int sap_parameter_width(const SapPlan *plan, SapParameter parameter);

/* Writes the model's values to `row`, in f32 or f64. */
void sap_parameter_put(const SapNumbers *numbers, const SapPlan *plan, SapParameter parameter, int f64, void *row);

#endif
