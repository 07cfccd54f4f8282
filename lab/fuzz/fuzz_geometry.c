/* Meshes and grids: any bytes are an error or points, and any points are an error or a convex hull. */
#include <math.h>

#include "fuzz/fuzz.h"
#include "host/model/hull.h"
#include "host/model/mesh_file.h"

static void check_mesh(const char *bytes, size_t size, const char *name) {
    enum { MOST = 300 }; /* qhull takes long for many */
    double *vertices;
    int count;
    if (fuzz_checked(sap_mesh_parse(bytes, size, name, &vertices, &count)) != SAP_OK)
        return;
    FUZZ_REQUIRE(count >= 1);
    for (int i = 0; i < 3 * count; i++)
        FUZZ_REQUIRE(isfinite(vertices[i]));
    SapHullShape hull;
    if (count <= MOST && fuzz_checked(sap_hull_create(vertices, count, "the mesh", &hull)) == SAP_OK) {
        FUZZ_REQUIRE(hull.num_vertices >= 4 && hull.num_vertices <= count);
        for (int i = 0; i < hull.num_vertices; i++)
            FUZZ_REQUIRE(hull.vertex[i] >= 0 && hull.vertex[i] < count);
        sap_hull_free(&hull);
    }
    free(vertices);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *bytes = (const char *)data;
    double *heights;
    int rows, columns;
    check_mesh(bytes, size, "a.obj");
    check_mesh(bytes, size, "a.stl");
    if (fuzz_checked(sap_grid_parse(bytes, size, "a.txt", &heights, &rows, &columns)) == SAP_OK) {
        FUZZ_REQUIRE(rows >= 2 && columns >= 2 && isfinite(heights[rows * columns - 1]));
        free(heights);
    }
    return 0;
}
