/* The properties of each shape type: its mass from the integrals of 1, r and (r.r E - r r') over the solid, a bounding
 * sphere, and its row of the table. */
#include "host/model/shape_types.h"

#include <math.h>

/* ---- mass ---- */

static const double pi = 3.14159265358979323846;

static SapMassProperties diagonal(double mass, double ix, double iy, double iz) {
    return (SapMassProperties){.mass = mass, .inertia = {[0] = ix, [4] = iy, [8] = iz}};
}

static SapMassProperties box_mass(const double h[3], double density) {
    double hx = h[0], hy = h[1], hz = h[2], m = density * 8 * hx * hy * hz;
    return diagonal(m, m * (hy * hy + hz * hz) / 3, m * (hx * hx + hz * hz) / 3, m * (hx * hx + hy * hy) / 3);
}

static SapMassProperties ellipsoid_mass(const double radius[3], double density) {
    double a = radius[0], b = radius[1], c = radius[2], m = density * (4.0 / 3.0) * pi * a * b * c;
    return diagonal(m, m * (b * b + c * c) / 5, m * (a * a + c * c) / 5, m * (a * a + b * b) / 5);
}

static SapMassProperties sphere_mass(const double size[3], double density) {
    return ellipsoid_mass((double[3]){size[0], size[0], size[0]}, density);
}

static SapMassProperties cylinder_mass(const double size[3], double density) {
    double r = size[0], h = size[1], m = density * 2 * pi * r * r * h, across = m * (r * r / 4 + h * h / 3);
    return diagonal(m, across, across, m * r * r / 2);
}

/* A cylinder and two half spheres, whose centres of mass are 3/8 r from their flat faces. */
static SapMassProperties capsule_mass(const double size[3], double density) {
    SapMassProperties middle = cylinder_mass(size, density);
    double r = size[0], h = size[1], m = density * (4.0 / 3.0) * pi * r * r * r;
    double across = middle.inertia[0] + m * (0.4 * r * r + h * h + 0.75 * h * r);
    return diagonal(middle.mass + m, across, across, middle.inertia[8] + m * 0.4 * r * r);
}

/* Height 2 h, base at -h: the centre of mass is a quarter of the height above the base, at -h/2. */
static SapMassProperties cone_mass(const double size[3], double density) {
    double r = size[0], h = size[1];
    double m = density * (2.0 / 3.0) * pi * r * r * h, across = 0.15 * m * (r * r + h * h);
    SapMassProperties out = diagonal(m, across, across, 0.3 * m * r * r);
    out.com[2] = -h / 2;
    return out;
}

/* ---- bounds ---- */

static double norm(double x, double y, double z) {
    return sqrt(x * x + y * y + z * z);
}

static const double *size_of(const SapModelArrays *m, int shape) {
    return m->shape_scale + 3 * shape;
}

static void box_bound(const SapModelArrays *m, int shape, double *bound) {
    const double *h = size_of(m, shape);
    bound[3] = norm(h[0], h[1], h[2]);
}

static void sphere_bound(const SapModelArrays *m, int shape, double *bound) {
    bound[3] = size_of(m, shape)[0];
}

static void capsule_bound(const SapModelArrays *m, int shape, double *bound) {
    bound[3] = size_of(m, shape)[0] + size_of(m, shape)[1];
}

static void cylinder_bound(const SapModelArrays *m, int shape, double *bound) {
    bound[3] = norm(size_of(m, shape)[0], size_of(m, shape)[1], 0);
}

static void ellipsoid_bound(const SapModelArrays *m, int shape, double *bound) {
    const double *radius = size_of(m, shape);
    bound[3] = fmax(radius[0], fmax(radius[1], radius[2]));
}

/* The sphere through the tip at +h and the rim at -h, h - z = |(r, z + h)|. If the base is wider, the sphere around the
 * base circle contains the cone. */
static void cone_bound(const SapModelArrays *m, int shape, double *bound) {
    double r = size_of(m, shape)[0], h = size_of(m, shape)[1];
    if (r > 2 * h) {
        bound[2] = -h;
        bound[3] = r;
    } else {
        bound[2] = -r * r / (4 * h);
        bound[3] = h - bound[2];
    }
}

static void hull_bound(const SapModelArrays *m, int shape, double *bound) {
    int mesh = m->shape_mesh[shape], begin = m->mesh_start[mesh], end = m->mesh_start[mesh + 1];
    const double *scale = size_of(m, shape), *p = m->mesh_vertices;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = begin; i < end; i++) {
            low = fmin(low, scale[k] * p[3 * i + k]);
            high = fmax(high, scale[k] * p[3 * i + k]);
        }
        bound[k] = low / 2 + high / 2;
    }
    for (int i = begin; i < end; i++)
        bound[3] = fmax(bound[3], norm(scale[0] * p[3 * i] - bound[0], scale[1] * p[3 * i + 1] - bound[1],
                                       scale[2] * p[3 * i + 2] - bound[2]));
}

SapGrids sap_height_field_choices(const SapModelArrays *m, int shape) {
    int own = m->shape_mesh[shape];
    SapGrids out = {0, m->num_height_fields};
    for (int s = 0; s < m->num_shapes; s++) {
        int grid = sap_shape_data(m->shape_type[s]) == SAP_SHAPE_DATA_GRID ? m->shape_mesh[s] : own;
        if (grid < own && grid >= out.first)
            out.first = grid + 1;
        if (grid > own && grid < out.end)
            out.end = grid;
    }
    return out;
}

/* Over all grids that a world may choose. */
static void height_field_bound(const SapModelArrays *m, int shape, double *bound) {
    const double *half = size_of(m, shape), *height = m->heights;
    const int32_t *size = m->height_field_size;
    SapGrids grids = sap_height_field_choices(m, shape);
    double low = INFINITY, high = -INFINITY;
    for (int grid = 0; grid < grids.end; grid++) {
        int count = size[2 * grid] * size[2 * grid + 1];
        for (int i = 0; i < count && grid >= grids.first; i++) {
            low = fmin(low, height[i]);
            high = fmax(high, height[i]);
        }
        height += count;
    }
    bound[2] = low / 2 + high / 2;
    bound[3] = norm(half[0], half[1], high / 2 - low / 2);
}

/* ---- thickness ---- */

static double box_thickness(const double h[3]) {
    return 2 * fmin(h[0], fmin(h[1], h[2]));
}

static double round_thickness(const double size[3]) {
    return 2 * size[0];
}

static double cylinder_thickness(const double size[3]) {
    return 2 * fmin(size[0], size[1]);
}

static double hull_thickness(const SapModelArrays *m, int shape) {
    int mesh = m->shape_mesh[shape], begin = m->mesh_start[mesh], end = m->mesh_start[mesh + 1];
    double least = INFINITY;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = begin; i < end; i++) {
            low = fmin(low, m->mesh_vertices[3 * i + k]);
            high = fmax(high, m->mesh_vertices[3 * i + k]);
        }
        least = fmin(least, fabs(size_of(m, shape)[k]) * (high - low));
    }
    return least;
}

/* ---- the table ---- */

/* In the order of lists in messages. Round shapes touch convex ones in one point, capsules also along a line, which
 * gives its two ends and a deeper point between them. */
const SapShapeTypeRow sap_shape_types[] = {
    {.type = SAP_SHAPE_PLANE,
     .names = {"plane"},
     .num_extents = 2,
     .size_keys = {"hx", "hy"},
     .is_terrain = true,
     .points = SAP_ANY_POINTS},
    {.type = SAP_SHAPE_BOX,
     .names = {"box"},
     .num_sizes = 3,
     .size_keys = {"hx", "hy", "hz"},
     .points = SAP_ANY_POINTS,
     .mass = box_mass,
     .bound = box_bound,
     .thickness = box_thickness},
    {.type = SAP_SHAPE_SPHERE,
     .names = {"sphere"},
     .num_sizes = 1,
     .size_keys = {"radius"},
     .points = 1,
     .mass = sphere_mass,
     .bound = sphere_bound,
     .thickness = round_thickness},
    {.type = SAP_SHAPE_CAPSULE,
     .names = {"capsule"},
     .num_sizes = 2,
     .size_keys = {"radius", "half_height"},
     .points = 3,
     .mass = capsule_mass,
     .bound = capsule_bound,
     .thickness = round_thickness},
    {.type = SAP_SHAPE_CYLINDER,
     .names = {"cylinder"},
     .num_sizes = 2,
     .size_keys = {"radius", "half_height"},
     .points = SAP_ANY_POINTS,
     .mass = cylinder_mass,
     .bound = cylinder_bound,
     .thickness = cylinder_thickness},
    {.type = SAP_SHAPE_CONE,
     .names = {"cone"},
     .num_sizes = 2,
     .size_keys = {"radius", "half_height"},
     .points = SAP_ANY_POINTS,
     .mass = cone_mass,
     .bound = cone_bound,
     .thickness = cylinder_thickness},
    {.type = SAP_SHAPE_ELLIPSOID,
     .names = {"ellipsoid"},
     .num_sizes = 3,
     .size_keys = {"a", "b", "c"},
     .points = 1,
     .mass = ellipsoid_mass,
     .bound = ellipsoid_bound,
     .thickness = box_thickness},
    {.type = SAP_SHAPE_HULL,
     .names = {"hull", "mesh", "convex_hull"},
     .num_sizes = 3,
     .data = SAP_SHAPE_DATA_MESH,
     .points = SAP_ANY_POINTS,
     .bound = hull_bound},
    {.type = SAP_SHAPE_HEIGHT_FIELD,
     .names = {"height_field", "heightfield", "hfield"},
     .num_sizes = 2,
     .data = SAP_SHAPE_DATA_GRID,
     .is_terrain = true,
     .points = SAP_ANY_POINTS,
     .bound = height_field_bound},
};

const SapShapeTypeRow *sap_shape_type(int32_t type) {
    for (int i = 0; i < SAP_NUM_SHAPE_TYPES; i++)
        if ((int32_t)sap_shape_types[i].type == type)
            return &sap_shape_types[i];
    return NULL;
}

const SapShapeTypeRow *sap_shape_type_named(const char *name) {
    for (int i = 0; i < SAP_NUM_SHAPE_TYPES; i++)
        if (sap_names_have(sap_shape_types[i].names, name))
            return &sap_shape_types[i];
    return NULL;
}

SapList sap_shape_type_list(void) {
    SapList list = {.length = 0};
    for (int i = 0; i < SAP_NUM_SHAPE_TYPES; i++)
        sap_list_add_aliases(&list, sap_shape_types[i].names);
    return list;
}

SapList sap_shape_type_numbers(void) {
    SapList list = {.length = 0};
    for (int i = 0; i < SAP_NUM_SHAPE_TYPES; i++)
        sap_list_add_number(&list, sap_shape_types[i].type, sap_shape_types[i].names[0]);
    return list;
}

int32_t sap_shape_type_at(int i) {
    return i >= 0 && i < SAP_NUM_SHAPE_TYPES ? (int32_t)sap_shape_types[i].type : -1;
}

const char *sap_shape_type_name(int32_t type) {
    const SapShapeTypeRow *row = sap_shape_type(type);
    return row != NULL ? row->names[0] : NULL;
}

/* ---- lookup by type ---- */

SapShapeData sap_shape_data(int32_t type) {
    const SapShapeTypeRow *row = sap_shape_type(type);
    return row != NULL ? row->data : SAP_SHAPE_DATA_NONE;
}

SapMassProperties sap_shape_mass(SapShapeType type, const double size[3], double density) {
    const SapShapeTypeRow *row = sap_shape_type((int32_t)type);
    return row != NULL && row->mass != NULL ? row->mass(size, density) : (SapMassProperties){.mass = 0};
}

void sap_shape_bound(const SapModelArrays *m, int shape, double bound[4]) {
    const SapShapeTypeRow *row = sap_shape_type(m->shape_type[shape]);
    bound[0] = bound[1] = bound[2] = bound[3] = 0;
    if (row != NULL && row->bound != NULL)
        row->bound(m, shape, bound);
}

double sap_shape_thickness(const SapModelArrays *m, int shape) {
    const SapShapeTypeRow *row = sap_shape_type(m->shape_type[shape]);
    if (row->data == SAP_SHAPE_DATA_MESH)
        return hull_thickness(m, shape);
    return row->thickness != NULL ? row->thickness(size_of(m, shape)) : (double)INFINITY;
}

/* A height field consists of many triangles, each with its own contacts. */
int sap_shape_most_points(int32_t type0, int32_t type1, int per_pair) {
    const SapShapeTypeRow *a = sap_shape_type(type0), *b = sap_shape_type(type1);
    if (a->data == SAP_SHAPE_DATA_GRID || b->data == SAP_SHAPE_DATA_GRID)
        return per_pair;
    int most = a->points < b->points ? a->points : b->points;
    return most < per_pair ? most : per_pair;
}
