#include "host/plan/bounds.h"

#include <math.h>

static double norm(double x, double y, double z) {
    return sqrt(x * x + y * y + z * z);
}

/* Through the tip at +h and the rim at -h, h - z = |(r, z + h)|, unless the base is so wide that its own circle holds all. */
static void cone_bound(double r, double h, double *bound) {
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
    const double *scale = m->shape_scale + 3 * shape, *p = m->mesh_vertices;
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

static void height_field_bound(const SapModelArrays *m, int shape, double *bound) {
    const double *scale = m->shape_scale + 3 * shape, *height = m->heights;
    const int32_t *size = m->height_field_size;
    int grid = m->shape_mesh[shape];
    for (int i = 0; i < grid; i++)
        height += size[2 * i] * size[2 * i + 1];
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < size[2 * grid] * size[2 * grid + 1]; i++) {
        low = fmin(low, height[i]);
        high = fmax(high, height[i]);
    }
    bound[2] = low / 2 + high / 2;
    bound[3] = norm(scale[0], scale[1], high / 2 - low / 2);
}

void sap_shape_bound(const SapModelArrays *m, int shape, double bound[4]) {
    double x = m->shape_scale[3 * shape], y = m->shape_scale[3 * shape + 1], z = m->shape_scale[3 * shape + 2];
    bound[0] = bound[1] = bound[2] = bound[3] = 0;
    switch (m->shape_type[shape]) {
    case SAP_SHAPE_HEIGHT_FIELD: height_field_bound(m, shape, bound); break;
    case SAP_SHAPE_SPHERE: bound[3] = x; break;
    case SAP_SHAPE_CAPSULE: bound[3] = x + y; break;
    case SAP_SHAPE_ELLIPSOID: bound[3] = fmax(x, fmax(y, z)); break;
    case SAP_SHAPE_CYLINDER: bound[3] = norm(x, y, 0); break;
    case SAP_SHAPE_BOX: bound[3] = norm(x, y, z); break;
    case SAP_SHAPE_CONE: cone_bound(x, y, bound); break;
    case SAP_SHAPE_HULL: hull_bound(m, shape, bound); break;
    default: break;
    }
}
