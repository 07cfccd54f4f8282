/* The per-world parameters as the kernels read them: by link, dofs in internal order, inertias packed. */
#ifndef SAPWOOD_HOST_PLAN_PARAMETERS_H
#define SAPWOOD_HOST_PLAN_PARAMETERS_H

#include "host/model/parameters.h"
#include "kernels/data/constants.h"
#include "kernels/data/plan.h"

/* The field of the kernel constants. */
SapField *sap_parameter_constant(SapConstants *constants, SapParameter parameter);

/* Number of columns, and total count of numbers per world. */
int sap_parameter_packed(SapParameter parameter);
int sap_parameter_width(const SapPlan *plan, SapParameter parameter);

/* Writes the model's values to `row`, in f32 or f64. */
void sap_parameter_put(const SapModelArrays *model, const SapPlan *plan, SapParameter parameter, int f64, void *row);

#endif
