/* The parameters that can have different values in each world, and their arrays in a model. */
#ifndef SAPWOOD_HOST_MODEL_PARAMETERS_H
#define SAPWOOD_HOST_MODEL_PARAMETERS_H

#include <sapwood/parameters.h>

#include "host/model/model.h"

/* The owner of a row of the array: gravity has one row, owned by the world. */
typedef enum SapParameterOwner {
    SAP_PARAMETER_OF_WORLD,
    SAP_PARAMETER_OF_BODIES,
    SAP_PARAMETER_OF_DOFS,
    SAP_PARAMETER_OF_SHAPES,
    SAP_PARAMETER_OF_CONSTRAINTS,
    SAP_PARAMETER_OF_TENDONS,
    SAP_PARAMETER_OF_TENDON_TERMS
} SapParameterOwner;

SapParameterOwner sap_parameter_owner(SapParameter parameter);

/* The array's row in the table of model arrays; NULL for gravity, which is not an array. */
const SapModelField *sap_parameter_field(SapParameter parameter);

/* Rows and columns of the array in a model; 1 and 3 for gravity. */
int sap_parameter_rows(const SapModelArrays *model, SapParameter parameter);
int sap_parameter_columns(SapParameter parameter);

/* Bytes of an element: f64, or int32; and element i of such an array. */
size_t sap_parameter_bytes(SapParameter parameter);
double sap_parameter_number(SapParameter parameter, const void *values, int i);

/* Reads the array of a model, and replaces it: gravity is copied, for the others the pointer is set. */
const void *sap_parameter_get(const SapModelArrays *model, SapParameter parameter);
void sap_parameter_set(SapModelArrays *model, SapParameter parameter, const void *values);

#endif
