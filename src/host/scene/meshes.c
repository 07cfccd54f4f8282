/* Meshes and height fields of a scene, from lists in the scene file or from separate files. A mesh is stored as the
 * vertices of its convex hull, because only the hull is simulated, or of a smaller hull inside it if they are more than
 * max_hull_vertices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/read_file.h"
#include "host/model/hull.h"
#include "host/model/hull_reduce.h"
#include "host/model/mesh_file.h"
#include "host/scene/builder.h"

static const SapSceneField mesh_fields[] = {
    SAP_SCENE_FIELD("file", ENTRY, SapSceneGeometry, file),
    SAP_SCENE_FIELD("vertices", ENTRY, SapSceneGeometry, vertices),
    SAP_SCENE_FIELD("scale", ENTRY, SapSceneGeometry, scale),
};

static const SapSceneField grid_fields[] = {
    {"hx", SAP_SCENE_NUMBER, offsetof(SapSceneGeometry, half[0]), SAP_RANGE_POSITIVE, true},
    {"hy", SAP_SCENE_NUMBER, offsetof(SapSceneGeometry, half[1]), SAP_RANGE_POSITIVE, true},
    SAP_SCENE_FIELD("file", ENTRY, SapSceneGeometry, file),
    SAP_SCENE_FIELD("heights", ENTRY, SapSceneGeometry, heights),
    SAP_SCENE_FIELD("choices", ENTRY, SapSceneGeometry, choices),
    SAP_SCENE_FIELD("base", NUMBER, SapSceneGeometry, base),
    SAP_SCENE_FIELD("height_scale", NUMBER, SapSceneGeometry, height_scale),
};

SapSceneTable sap_scene_geometry_keys(SapShapeData data, SapSceneGeometry *target) {
    if (data == SAP_SHAPE_DATA_MESH)
        return (SapSceneTable)SAP_SCENE_TABLE(mesh_fields, target);
    return (SapSceneTable)SAP_SCENE_TABLE(grid_fields, target);
}

/* ---- files and lists ---- */

/* Exactly one of the two must be given. */
static SapStatus check_source(const SapYamlEntry *entry, const SapYamlEntry *file, const SapYamlEntry *list,
                              const char *key) {
    if (file != NULL && list != NULL)
        return sap_yaml_fail(list, SAP_ERROR_PARSE, "given together with 'file' in line %d; one of them is allowed",
                             file->line);
    if (file == NULL && list == NULL)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the key 'file' or '%s' is missing", key);
    return SAP_OK;
}

/* `name` in the folder of the scene, or `name` itself if it is absolute. The caller frees it. */
static SapStatus path_of(const SapSceneBuilder *builder, const char *name, char **out) {
    const char *slash = name[0] == '/' ? NULL : strrchr(builder->file, '/');
    int folder = slash != NULL ? (int)(slash + 1 - builder->file) : 0;
    size_t size = (size_t)folder + strlen(name) + 1;
    *out = malloc(size);
    if (*out == NULL)
        return sap_scene_out_of_memory(builder);
    snprintf(*out, size, "%.*s%s", folder, builder->file, name);
    return SAP_OK;
}

/* A scene is not trusted: it must not make the program read other files of its user. */
static SapStatus check_place(const SapSceneBuilder *builder, const SapYamlEntry *entry, const char *name,
                             const char *path) {
    const char *root = builder->asset_root;
    char *folder;
    SAP_TRY(path_of(builder, ".", &folder));
    bool below = sap_file_is_below(path, folder) || (root != NULL && sap_file_is_below(path, root));
    free(folder);
    if (below)
        return SAP_OK;
    return sap_yaml_fail(entry, SAP_ERROR_IO, "'%.256s': no such file below the folder of the scene or %s%.256s%s",
                         name, root != NULL ? "the asset root '" : "an asset root, which is not given",
                         root != NULL ? root : "", root != NULL ? "'" : "");
}

/* Prefixes the message of a failure with its position in the scene. */
static SapStatus fail_here(const SapYamlEntry *entry, SapStatus status) {
    char text[1024];
    if (status == SAP_OK)
        return SAP_OK;
    snprintf(text, sizeof text, "%s", sap_error_message());
    return sap_yaml_fail(entry, status == SAP_ERROR_MODEL ? SAP_ERROR_PARSE : status, "%s", text);
}

/* Vertices or heights read from a list or file. */
typedef struct Points {
    double *value;
    int count; /* number of vertices, or of rows */
    int columns;
} Points;

static SapStatus read_vertex_list(const SapSceneBuilder *builder, const SapYamlEntry *list, Points *out) {
    const SapYamlNode *node = list->node;
    if (node->kind != SAP_YAML_LIST || node->count == 0)
        return sap_scene_refuse(list, "a list of vectors");
    out->value = malloc((size_t)node->count * 3 * sizeof *out->value);
    if (out->value == NULL)
        return sap_scene_out_of_memory(builder);
    for (out->count = 0; out->count < node->count; out->count++)
        SAP_TRY(sap_scene_numbers(&node->entries[out->count], 3, out->value + 3 * out->count));
    return SAP_OK;
}

static SapStatus read_height_list(const SapSceneBuilder *builder, const SapYamlEntry *list, Points *out) {
    const SapYamlNode *node = list->node;
    if (node->kind != SAP_YAML_LIST || node->count < 2)
        return sap_scene_refuse(list, "a list of 2 or more rows of numbers");
    out->columns = node->entries[0].node->count;
    if (node->entries[0].node->kind != SAP_YAML_LIST || out->columns < 2)
        return sap_scene_refuse(&node->entries[0], "a row of 2 or more numbers");
    /* Check the lengths before allocating: aliases of one row make rows * columns far larger than the file. */
    for (int i = 1; i < node->count; i++)
        if (node->entries[i].node->kind != SAP_YAML_LIST || node->entries[i].node->count != out->columns)
            return sap_scene_refuse(&node->entries[i], "a row of as many numbers as the first has");
    out->value = malloc((size_t)node->count * (size_t)out->columns * sizeof *out->value);
    if (out->value == NULL)
        return sap_scene_out_of_memory(builder);
    for (out->count = 0; out->count < node->count; out->count++)
        SAP_TRY(sap_scene_numbers(&node->entries[out->count], out->columns, out->value + out->count * out->columns));
    return SAP_OK;
}

static SapStatus read_points_file(const SapSceneBuilder *builder, const SapYamlEntry *file, bool grid, Points *out) {
    const char *name;
    char *path;
    SAP_TRY(sap_scene_text(file, &name));
    SAP_TRY(path_of(builder, name, &path));
    SapStatus status = check_place(builder, file, name, path);
    if (status == SAP_OK)
        status = fail_here(file, grid ? sap_grid_load(path, &out->value, &out->count, &out->columns)
                                      : sap_mesh_load(path, &out->value, &out->count));
    free(path);
    return status;
}

/* ---- hulls ---- */

static SapStatus read_scale(const SapYamlEntry *entry, double scale[3]) {
    scale[0] = scale[1] = scale[2] = 1;
    if (entry == NULL)
        return SAP_OK;
    if (entry->node->kind == SAP_YAML_LIST)
        SAP_TRY(sap_scene_numbers(entry, 3, scale));
    else
        SAP_TRY(sap_scene_number(entry, SAP_RANGE_FINITE, &scale[0]));
    if (entry->node->kind != SAP_YAML_LIST)
        scale[1] = scale[2] = scale[0];
    for (int k = 0; k < 3; k++)
        if (!(scale[k] > 0))
            return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the factor of %c is %g; allowed: numbers > 0", "xyz"[k],
                                 scale[k]);
    return SAP_OK;
}

/* Appends a mesh of the hull's vertices. */
static SapStatus append_mesh(SapSceneBuilder *builder, const SapYamlEntry *entry, const Points *points,
                             const SapHullShape *hull, int *mesh) {
    void *row;
    int total = sap_scene_count(builder, SAP_ROWS_MESH_VERTICES) + hull->num_vertices;
    if (total > SAP_MAX_MESH_VERTICES)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the hulls of the scene have %d vertices so far; allowed: %d",
                             total, SAP_MAX_MESH_VERTICES);
    if (sap_scene_count(builder, SAP_ROWS_MESH_STARTS) == 0)
        SAP_TRY(sap_scene_append(builder, SAP_ROWS_MESH_STARTS, &row));
    *mesh = sap_scene_count(builder, SAP_ROWS_MESH_STARTS) - 1;
    SAP_TRY(sap_scene_append_many(builder, SAP_ROWS_MESH_VERTICES, hull->num_vertices, &row));
    SapSceneVertex *vertex = row;
    for (int i = 0; i < hull->num_vertices; i++)
        memcpy(vertex[i].position, points->value + 3 * hull->vertex[i], sizeof vertex[i].position);
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_MESH_STARTS, &row));
    *(SapSceneStart *)row = (SapSceneStart){total};
    return sap_scene_append_hull(builder);
}

/* The hull vertices of a file that has been read before; false if it has not. */
static bool find_mesh(const SapSceneBuilder *builder, const SapYamlEntry *file, int *mesh, Points *out) {
    *mesh = file == NULL || file->node->kind != SAP_YAML_SCALAR
                ? -1
                : sap_scene_find_name(&builder->mesh_files, file->node->text);
    if (*mesh < 0)
        return false;
    const SapSceneStart *starts = builder->rows[SAP_ROWS_MESH_STARTS].items;
    const SapSceneVertex *vertices = builder->rows[SAP_ROWS_MESH_VERTICES].items;
    out->count = starts[*mesh + 1].start - starts[*mesh].start;
    size_t bytes = (size_t)out->count * sizeof *vertices;
    out->value = malloc(bytes);
    if (out->value != NULL)
        memcpy(out->value, vertices[starts[*mesh].start].position, bytes);
    return true;
}

static SapStatus read_points(SapSceneBuilder *builder, const SapSceneGeometry *keys, int *mesh, Points *out) {
    if (find_mesh(builder, keys->file, mesh, out))
        return out->value != NULL ? SAP_OK : sap_scene_out_of_memory(builder);
    return keys->file != NULL ? read_points_file(builder, keys->file, false, out)
                              : read_vertex_list(builder, keys->vertices, out);
}

/* Replaces the points by a smaller hull's if theirs has more than max_hull_vertices vertices. */
static SapStatus reduce_points(const SapSceneBuilder *builder, const SapYamlEntry *entry, Points *points) {
    int most = builder->max_hull_vertices;
    if (most == 0 || points->count <= most)
        return SAP_OK;
    int *kept = malloc((size_t)most * sizeof *kept), count;
    double lost;
    if (kept == NULL)
        return sap_scene_out_of_memory(builder);
    SapStatus status = sap_hull_reduce(points->value, points->count, most, "the mesh", kept, &count, &lost);
    for (int i = 0; i < count && lost > 0; i++)
        memmove(points->value + 3 * i, points->value + 3 * kept[i], 3 * sizeof *points->value);
    if (lost > 0)
        points->count = count;
    free(kept);
    return fail_here(entry, status);
}

/* Computes the hull of a new mesh (*mesh is -1) or of all vertices of mesh *mesh. The hull is kept for the model,
 * except for a new mesh that drops points: the hull of the remaining points may have different faces, within the
 * tolerance of planes. */
static SapStatus find_hull(SapSceneBuilder *builder, const SapYamlEntry *entry, const Points *points,
                           const double *scale, double density, int *mesh, SapMassProperties *mass) {
    SapHullShape hull;
    SAP_TRY(fail_here(entry, sap_hull_create(points->value, points->count, "the mesh", &hull)));
    *mass = sap_hull_mass(&hull, points->value, scale, density);
    bool of_mesh = *mesh >= 0 || hull.num_vertices == points->count;
    SapStatus status = *mesh >= 0 ? SAP_OK : append_mesh(builder, entry, points, &hull, mesh);
    if (status == SAP_OK && of_mesh)
        *sap_scene_hull(builder, *mesh) = hull;
    else
        sap_hull_free(&hull);
    return status;
}

static SapStatus read_hull(SapSceneBuilder *builder, const SapYamlEntry *entry, const SapSceneGeometry *keys,
                           double density, SapSceneShape *shape, SapMassProperties *mass, Points *points) {
    int mesh = -1;
    SAP_TRY(check_source(entry, keys->file, keys->vertices, "vertices"));
    SAP_TRY(read_scale(keys->scale, shape->scale));
    SAP_TRY(read_points(builder, keys, &mesh, points));
    if (mesh < 0)
        SAP_TRY(reduce_points(builder, entry, points));
    if (mesh >= 0 && sap_scene_hull(builder, mesh)->num_vertices > 0)
        *mass = sap_hull_mass(sap_scene_hull(builder, mesh), points->value, shape->scale, density);
    else
        SAP_TRY(find_hull(builder, entry, points, shape->scale, density, &mesh, mass));
    shape->mesh = mesh;
    if (keys->file == NULL)
        return SAP_OK;
    const char *name = keys->file->node->text;
    return sap_scene_add_names(builder, &builder->mesh_files, keys->file, name, name, mesh);
}

/* ---- height fields ---- */

/* Appends a grid and its heights. */
static SapStatus append_grid(SapSceneBuilder *builder, const SapYamlEntry *entry, const SapSceneGeometry *keys,
                             const Points *points) {
    int count = points->count * points->columns; /* at most SAP_MAX_HEIGHTS */
    if (sap_scene_count(builder, SAP_ROWS_HEIGHTS) > SAP_MAX_HEIGHTS - count)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the height fields of the scene have more than %d heights",
                             SAP_MAX_HEIGHTS);
    void *row;
    SAP_TRY(sap_scene_append_many(builder, SAP_ROWS_HEIGHTS, count, &row));
    for (int i = 0; i < count; i++)
        ((SapSceneNumber *)row)[i].value = keys->base + keys->height_scale * points->value[i];
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_HEIGHT_FIELDS, &row));
    *(SapSceneGrid *)row = (SapSceneGrid){{points->count, points->columns}};
    return SAP_OK;
}

/* A grid from a file, or from a list of rows. */
static SapStatus read_grid(SapSceneBuilder *builder, const SapYamlEntry *source, bool is_file,
                           const SapSceneGeometry *keys) {
    Points points = {0};
    SapStatus status =
        is_file ? read_points_file(builder, source, true, &points) : read_height_list(builder, source, &points);
    if (status == SAP_OK)
        status = append_grid(builder, source, keys, &points);
    free(points.value);
    return status;
}

/* The grids that worlds may have instead of the first. */
static SapStatus read_choices(SapSceneBuilder *builder, const SapSceneGeometry *keys) {
    const SapYamlNode *list = keys->choices->node;
    if (list->kind != SAP_YAML_LIST)
        return sap_scene_refuse(keys->choices, "a list of grids: rows of numbers, or files");
    for (int i = 0; i < list->count; i++)
        SAP_TRY(read_grid(builder, &list->entries[i], list->entries[i].node->kind != SAP_YAML_LIST, keys));
    return SAP_OK;
}

static SapStatus read_height_field(SapSceneBuilder *builder, const SapYamlEntry *entry, const SapSceneGeometry *keys,
                                   SapSceneShape *shape) {
    SAP_TRY(check_source(entry, keys->file, keys->heights, "heights"));
    shape->mesh = sap_scene_count(builder, SAP_ROWS_HEIGHT_FIELDS);
    memcpy(shape->scale, keys->half, sizeof keys->half);
    SAP_TRY(read_grid(builder, keys->file ? keys->file : keys->heights, keys->file != NULL, keys));
    return keys->choices ? read_choices(builder, keys) : SAP_OK;
}

SapStatus sap_scene_read_geometry(SapSceneBuilder *builder, const SapYamlEntry *entry, const SapSceneGeometry *keys,
                                  double density, SapSceneShape *shape, SapMassProperties *mass) {
    Points points = {0};
    bool mesh = sap_shape_data(shape->type) == SAP_SHAPE_DATA_MESH;
    SapStatus status = mesh ? read_hull(builder, entry, keys, density, shape, mass, &points)
                            : read_height_field(builder, entry, keys, shape);
    free(points.value);
    return status;
}
