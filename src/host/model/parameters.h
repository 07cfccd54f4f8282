/* The parameters that can have different values in each world, and their arrays in a model. */
#ifndef SAPWOOD_HOST_MODEL_PARAMETERS_H
#define SAPWOOD_HOST_MODEL_PARAMETERS_H

#include <sapwood/mujoco.h>
#include <sapwood/parameters.h>

#include "host/model/model.h"

/* Parameters below are arrays of SapModelArrays; the others belong to SapMujocoParameters. */
enum { SAP_NUM_MODEL_PARAMETERS = SAP_PARAMETER_MUJOCO_IMPRATIO };

/* The numbers of a model, or of a world with its own. `mujoco` has no pointers that are NULL, or nothing at all where the
 * formulation does not read it. */
typedef struct SapNumbers {
    SapModelArrays arrays;
    SapMujocoParameters mujoco;
} SapNumbers;

/* The owner of a row of the array: gravity and options have one row, owned by the world. */
typedef enum SapParameterOwner {
    SAP_PARAMETER_OF_WORLD,
    SAP_PARAMETER_OF_BODIES,
    SAP_PARAMETER_OF_JOINTS,
    SAP_PARAMETER_OF_DOFS,
    SAP_PARAMETER_OF_SHAPES,
    SAP_PARAMETER_OF_CONSTRAINTS,
    SAP_PARAMETER_OF_TENDONS,
    SAP_PARAMETER_OF_TENDON_TERMS,
    SAP_PARAMETER_OF_PAIRS,
    SAP_PARAMETER_OF_ACTUATORS,
    SAP_PARAMETER_OF_ACTUATOR_TERMS
} SapParameterOwner;

SapParameterOwner sap_parameter_owner(SapParameter parameter);

/* The array's row in the table of model arrays; NULL for gravity and for MuJoCo's. */
const SapModelField *sap_parameter_field(SapParameter parameter);

/* Rows and columns of the array in a model; 1 and 3 for gravity. */
int sap_parameter_rows(const SapNumbers *numbers, SapParameter parameter);
int sap_parameter_columns(SapParameter parameter);

/* Bytes of an element: f64, or int32; and element i of such an array. */
size_t sap_parameter_bytes(SapParameter parameter);
double sap_parameter_number(SapParameter parameter, const void *values, int i);

/* Reads the array of a model, and replaces it: gravity and options are copied, for the others the pointer is set. */
const void *sap_parameter_get(const SapNumbers *numbers, SapParameter parameter);
void sap_parameter_set(SapNumbers *numbers, SapParameter parameter, const void *values);

#endif
