/* The parameters of MuJoCo's law that a model has beyond its arrays: its extension (host/model/model.h). */
#ifndef SAPWOOD_HOST_MUJOCO_PARAMETERS_H
#define SAPWOOD_HOST_MUJOCO_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include <sapwood/mujoco.h>

#include "host/model/parameters.h"

/* Gives a model a checked copy of the parameters, with defaults filled in, unless it has some already. Callable from
 * any thread. */
SapStatus sap_mujoco_give(const SapModel *model, const SapMujocoParameters *parameters);

/* An array of the parameters, for readers of files. */
typedef struct SapMujocoArray {
    const char *name;
    size_t offset; /* of its pointer in SapMujocoParameters */
    int count;     /* numbers */
    bool whole;    /* int32_t instead of double */
} SapMujocoArray;

/* Array i for a model and the counts of its parameters; false from the last one on. */
bool sap_mujoco_array(const SapModelArrays *model, const SapMujocoParameters *parameters, int i, SapMujocoArray *out);

/* Checks an array or option of the law that a world has of its own. Does nothing for other parameters. */
SapStatus sap_mujoco_check_parameter(const SapNumbers *numbers, SapParameter parameter);

/* Checks the counts: num_pairs, num_actuators, num_actuator_terms. */
SapStatus sap_mujoco_check_counts(const SapMujocoParameters *parameters);

#endif
