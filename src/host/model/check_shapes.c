/* Rules of shapes and of their meshes and height fields. */
#include <math.h>
#include <stdbool.h>

#include "host/base/fail.h"
#include "host/model/check_parts.h"
#include "host/model/shape_types.h"

/* ---- meshes and grids ---- */

static SapStatus check_meshes(const SapModelArrays *a) {
    const int32_t *start = a->mesh_start;
    int nm = a->num_meshes;
    if (start[0] != 0)
        return sap_fail(SAP_ERROR_MODEL, "mesh_start[0] is %d; it must be 0", start[0]);
    for (int i = 0; i < nm; i++)
        if (start[i + 1] < start[i])
            return sap_fail(SAP_ERROR_MODEL, "mesh_start[%d] is %d; it must not be less than the one before, %d", i + 1,
                            start[i + 1], start[i]);
    if (start[nm] != a->num_mesh_vertices)
        return sap_fail(SAP_ERROR_MODEL, "mesh_start[%d] is %d; the last entry must be num_mesh_vertices, %d", nm,
                        start[nm], a->num_mesh_vertices);
    return SAP_OK;
}

/* Each grid ends within the heights, and the last one at their end. */
static SapStatus check_grids(const SapModelArrays *a) {
    int64_t heights = 0;
    for (int i = 0; i < a->num_height_fields; i++) {
        int64_t rows = a->height_field_size[2 * i], columns = a->height_field_size[2 * i + 1];
        if (rows < 2 || columns < 2)
            return sap_fail(SAP_ERROR_MODEL, "height_field_size[%d] is (%d, %d); rows and columns must be 2 or more", i,
                            (int)rows, (int)columns);
        heights += rows * columns;
        if (heights > a->num_heights)
            return sap_fail(SAP_ERROR_MODEL,
                            "height_field_size[%d] is (%d, %d): grids 0 .. %d need more than num_heights, %d", i,
                            (int)rows, (int)columns, i, a->num_heights);
    }
    if (heights != a->num_heights)
        return sap_fail(SAP_ERROR_MODEL, "num_heights is %d; the height fields have %d", a->num_heights, (int)heights);
    return SAP_OK;
}

SapStatus sap_model_check_meshes(const SapModelArrays *a) {
    SAP_TRY(check_meshes(a));
    return check_grids(a);
}

/* ---- shapes ---- */

static SapStatus check_shape_type(const SapModelArrays *a, int s) {
    if (sap_shape_type(a->shape_type[s]) != NULL)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL, "shape_type[%d] of %s is %d; allowed: %s", s, sap_shape_label(a, s).text,
                    a->shape_type[s], sap_shape_type_numbers().text);
}

static SapStatus check_shape_sizes(const SapModelArrays *a, int s) {
    const SapShapeTypeRow *type = sap_shape_type(a->shape_type[s]);
    for (int k = 0; k < type->num_sizes + type->num_extents; k++) {
        double size = a->shape_scale[3 * s + k];
        bool is_extent = k >= type->num_sizes;
        if (!(size > 0 || (is_extent && size == 0)))
            return sap_fail(SAP_ERROR_MODEL, "shape_scale[%d][%d] of %s is %.9g; it must be %s", s, k,
                            sap_shape_label(a, s).text, size, is_extent ? ">= 0" : "> 0");
    }
    return SAP_OK;
}

static SapStatus check_shape_mesh(const SapModelArrays *a, int s) {
    const SapShapeTypeRow *type = sap_shape_type(a->shape_type[s]);
    bool mesh = type->data == SAP_SHAPE_DATA_MESH;
    int index = a->shape_mesh[s], count = mesh ? a->num_meshes : a->num_height_fields;
    if (type->data == SAP_SHAPE_DATA_NONE && index != -1)
        return sap_fail(SAP_ERROR_MODEL, "shape_mesh[%d] of %s is %d; it must be -1, for its type %d has none", s,
                        sap_shape_label(a, s).text, index, a->shape_type[s]);
    if (type->data != SAP_SHAPE_DATA_NONE && (index < 0 || index >= count))
        return sap_fail(SAP_ERROR_MODEL, "shape_mesh[%d] of %s is %d; a %s needs the index of its %s, and there %s %d",
                        s, sap_shape_label(a, s).text, index, type->names[0], mesh ? "mesh" : "grid",
                        count == 1 ? "is" : "are", count);
    return SAP_OK;
}

/* The scaled vertices of a hull are lengths too. */
static SapStatus check_hull_extent(const SapModelArrays *a, int s) {
    int mesh = a->shape_mesh[s];
    if (sap_shape_data(a->shape_type[s]) != SAP_SHAPE_DATA_MESH)
        return SAP_OK;
    for (int i = 3 * a->mesh_start[mesh]; i < 3 * a->mesh_start[mesh + 1]; i++)
        if (!(fabs(a->shape_scale[3 * s + i % 3] * a->mesh_vertices[i]) <= SAP_MAX_LENGTH))
            return sap_fail(SAP_ERROR_MODEL, "%s: vertex %d of its mesh is at %g times %g; allowed: lengths up to %g",
                            sap_shape_label(a, s).text, i / 3 - a->mesh_start[mesh], a->shape_scale[3 * s + i % 3],
                            a->mesh_vertices[i], SAP_MAX_LENGTH);
    return SAP_OK;
}

static SapStatus check_shape(const SapModelArrays *a, int s) {
    SAP_TRY(check_shape_type(a, s));
    SAP_TRY(check_shape_sizes(a, s));
    SAP_TRY(check_shape_mesh(a, s));
    SAP_TRY(check_hull_extent(a, s));
    return sap_check_unit_quaternion("shape_transform", s, sap_shape_label(a, s), &a->shape_transform[7 * s + 3]);
}

SapStatus sap_model_check_shapes(const SapModelArrays *a) {
    for (int s = 0; s < a->num_shapes; s++)
        SAP_TRY(check_shape(a, s));
    return SAP_OK;
}
