#include "host/model/mesh_hulls.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/model/label.h"
#include "host/model/shape_types.h"

/* The message names a shape that uses the mesh. */
static SapStatus find_hull(const SapModelArrays *a, int shape, SapHullShape *out) {
    int mesh = a->shape_mesh[shape], first = a->mesh_start[mesh];
    char what[192];
    snprintf(what, sizeof what, "%s: mesh %d", sap_shape_label(a, shape).text, mesh);
    return sap_hull_create(&a->mesh_vertices[3 * first], a->mesh_start[mesh + 1] - first, what, out);
}

static SapStatus find_hulls(const SapModelArrays *a, SapHullShape *hulls) {
    for (int s = 0; s < a->num_shapes; s++) {
        if (sap_shape_data(a->shape_type[s]) != SAP_SHAPE_DATA_MESH)
            continue;
        SapHullShape *hull = &hulls[a->shape_mesh[s]];
        if (hull->num_vertices == 0)
            SAP_TRY(find_hull(a, s, hull));
    }
    return SAP_OK;
}

SapStatus sap_mesh_hulls_create(const SapModelArrays *a, SapHullShape *known, SapHullShape **out) {
    SapHullShape *hulls = calloc((size_t)a->num_meshes + 1, sizeof *hulls);
    *out = NULL;
    if (hulls == NULL)
        return sap_fail(SAP_ERROR_MEMORY, "no memory for the hulls of %d meshes", a->num_meshes);
    for (int i = 0; known != NULL && i < a->num_meshes; i++) {
        hulls[i] = known[i];
        known[i] = (SapHullShape){0};
    }
    SapStatus status = find_hulls(a, hulls);
    if (status == SAP_OK)
        *out = hulls;
    else
        sap_mesh_hulls_free(hulls, a->num_meshes);
    return status;
}

void sap_mesh_hulls_free(SapHullShape *hulls, int num_meshes) {
    for (int i = 0; hulls != NULL && i < num_meshes; i++)
        sap_hull_free(&hulls[i]);
    free(hulls);
}
