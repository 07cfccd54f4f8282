/* The rules of a model by subject; check.c calls them in order. */
#ifndef SAPWOOD_HOST_MODEL_CHECK_PARTS_H
#define SAPWOOD_HOST_MODEL_CHECK_PARTS_H

#include "host/model/label.h"

/* Ranges of meshes and height fields, checked before their numbers are read. */
SapStatus sap_model_check_meshes(const SapModelArrays *arrays);

/* tendon_start, checked before the terms are read. */
SapStatus sap_model_check_tendon_starts(const SapModelArrays *arrays);

/* These require every number to be in its range. */
SapStatus sap_model_check_joints(const SapModelArrays *arrays); /* the tree, axes, poses, limits */
SapStatus sap_model_check_limits(const SapModelArrays *arrays); /* of joints */
SapStatus sap_model_check_bodies(const SapModelArrays *arrays);
SapStatus sap_model_check_shapes(const SapModelArrays *arrays);
SapStatus sap_model_check_constraints(const SapModelArrays *arrays);
SapStatus sap_model_check_tendons(const SapModelArrays *arrays);

/* The rules of these that a parameter of a world can break (sap_batch_expand). */
SapStatus sap_model_check_constraint_values(const SapModelArrays *arrays);
SapStatus sap_model_check_tendon_values(const SapModelArrays *arrays);

/* Checks that q, element i of an array, has unit length. */
SapStatus sap_check_unit_quaternion(const char *array, int i, SapLabel owner, const double *q);

#endif
