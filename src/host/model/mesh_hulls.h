/* The convex hulls of a model's meshes: found once, when the model is made. */
#ifndef SAPWOOD_HOST_MODEL_MESH_HULLS_H
#define SAPWOOD_HOST_MODEL_MESH_HULLS_H

#include <sapwood/model.h>

#include "host/model/hull.h"

/* With the rules of shapes kept: *out is [num_meshes], with the hull of each mesh that a shape uses; those of others have no vertices.
 * Fails where there is none, and names such a shape. `known` is NULL or [num_meshes]: a hull with vertices is taken from there, and its
 * place is left empty. */
SapStatus sap_mesh_hulls_create(const SapModelArrays *arrays, SapHullShape *known, SapHullShape **out);
void sap_mesh_hulls_free(SapHullShape *hulls, int num_meshes); /* NULL is allowed */

#endif
