/* The rules of a model by what they are about; check.c calls them in order. */
#ifndef SAPWOOD_HOST_MODEL_CHECK_PARTS_H
#define SAPWOOD_HOST_MODEL_CHECK_PARTS_H

#include "host/model/label.h"

/* Where meshes and height fields begin and end: before their numbers are read. */
SapStatus sap_model_check_meshes(const SapModelArrays *arrays);

/* With every number in its range. */
SapStatus sap_model_check_joints(const SapModelArrays *arrays); /* the tree, axes, poses, limits */
SapStatus sap_model_check_limits(const SapModelArrays *arrays); /* of joints, alone */
SapStatus sap_model_check_bodies(const SapModelArrays *arrays);
SapStatus sap_model_check_shapes(const SapModelArrays *arrays);

/* That q, element i of an array, has unit length. */
SapStatus sap_check_unit_quaternion(const char *array, int i, SapLabel owner, const double *q);

#endif
