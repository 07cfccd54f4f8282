/* The convex hulls of the meshes of a model, computed once when the model is created. */
#ifndef SAPWOOD_HOST_MODEL_MESH_HULLS_H
#define SAPWOOD_HOST_MODEL_MESH_HULLS_H

#include <sapwood/model.h>

#include "host/model/hull.h"

/* *out is [num_meshes] with the hull of each mesh that a shape uses; the others have no vertices. The shapes must have
 * passed their checks. If a mesh has no hull, the message names a shape that uses it. `known` is NULL or [num_meshes]:
 * a hull with vertices is moved from there instead of being computed. */
SapStatus sap_mesh_hulls_create(const SapModelArrays *arrays, SapHullShape *known, SapHullShape **out);
void sap_mesh_hulls_free(SapHullShape *hulls, int num_meshes); /* NULL is allowed */

#endif
