/* The parameters that worlds can have of their own: where a model has them. */
#ifndef SAPWOOD_HOST_MODEL_PARAMETERS_H
#define SAPWOOD_HOST_MODEL_PARAMETERS_H

#include <sapwood/parameters.h>

#include "host/model/model.h"

/* What a row of the array belongs to: gravity has one row, the world's. */
typedef enum SapParameterOwner {
    SAP_PARAMETER_OF_WORLD,
    SAP_PARAMETER_OF_BODIES,
    SAP_PARAMETER_OF_DOFS,
    SAP_PARAMETER_OF_SHAPES
} SapParameterOwner;

SapParameterOwner sap_parameter_owner(SapParameter parameter);

/* The array's description in the table of the model's arrays; NULL for gravity, which is none. */
const SapModelField *sap_parameter_field(SapParameter parameter);

/* Rows and columns of the array in a model; gravity has 1 and 3. */
int sap_parameter_rows(const SapModelArrays *model, SapParameter parameter);
int sap_parameter_columns(SapParameter parameter);

/* The array of a model, and another one in its place: gravity is copied, of the others the pointer is set. */
const double *sap_parameter_get(const SapModelArrays *model, SapParameter parameter);
void sap_parameter_set(SapModelArrays *model, SapParameter parameter, const double *values);

#endif
