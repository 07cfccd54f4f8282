/* The parameters that worlds can have of their own: where the model has them, and where the kernels. */
#ifndef SAPWOOD_HOST_PLAN_PARAMETERS_H
#define SAPWOOD_HOST_PLAN_PARAMETERS_H

#include <sapwood/batch.h>

#include "kernels/data/constants.h"
#include "kernels/data/plan.h"
#include "host/model/model.h"

/* The array's description in the table of the model's arrays; NULL for gravity, which is none. */
const SapModelField *sap_parameter_field(SapParameter parameter);

/* Rows and columns of the array in a model; gravity has 1 and 3. */
int sap_parameter_rows(const SapModelArrays *model, SapParameter parameter);
int sap_parameter_columns(SapParameter parameter);

/* The array of a model, and another one in its place: gravity is copied, of the others the pointer is set. */
const double *sap_parameter_get(const SapModelArrays *model, SapParameter parameter);
void sap_parameter_set(SapModelArrays *model, SapParameter parameter, const double *values);

/* ---- as the kernels read it: by link, dofs in internal order, inertias packed ---- */

SapField *sap_parameter_constant(SapConstants *constants, SapParameter parameter);

/* Columns, and numbers of one world. */
int sap_parameter_packed(SapParameter parameter);
int sap_parameter_width(const SapPlan *plan, SapParameter parameter);

/* Writes the model's values in f32 or f64 to `row`. */
void sap_parameter_put(const SapModelArrays *model, const SapPlan *plan, SapParameter parameter, int f64, void *row);

#endif
