#include "support/convex_oracle.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static void sub(const double *a, const double *b, double *c) {
    for (int k = 0; k < 3; k++)
        c[k] = a[k] - b[k];
}

static double normalise(double *a) {
    double norm = sqrt(dot3(a, a));
    for (int k = 0; k < 3; k++)
        a[k] /= norm;
    return norm;
}

/* ---- hulls ---- */

static bool plane_is_new(const HullData *hull, const double *plane) {
    for (int f = 0; f < hull->num_faces; f++)
        if (dot3(hull->plane[f], plane) > 1 - 1e-9)
            return false;
    return true;
}

/* The corners on the plane, counter-clockwise seen from outside. */
static void add_face(HullData *hull, const double *plane) {
    int on[HULL_VERTICES], n = 0;
    for (int i = 0; i < hull->num_vertices; i++)
        if (fabs(dot3(plane, hull->vertex[i]) - plane[3]) < 1e-9)
            on[n++] = i;
    double centre[3] = {0}, e[3], f[3], angle[HULL_VERTICES];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            centre[k] += hull->vertex[on[i]][k] / n;
    sub(hull->vertex[on[0]], centre, e);
    cross(plane, e, f);
    for (int i = 0; i < n; i++) {
        double r[3];
        sub(hull->vertex[on[i]], centre, r);
        angle[i] = atan2(dot3(r, f), dot3(r, e));
        int k = i, v = on[i];
        double a = angle[i];
        for (; k > 0 && angle[k - 1] > a; k--) {
            angle[k] = angle[k - 1];
            on[k] = on[k - 1];
        }
        angle[k] = a;
        on[k] = v;
    }
    memcpy(hull->plane[hull->num_faces], plane, 4 * sizeof(double));
    hull->face[hull->num_faces++] = (SapHullFace){hull->num_corners, n};
    memcpy(hull->corner + hull->num_corners, on, sizeof(int) * (size_t)n);
    hull->num_corners += n;
}

static void try_plane(HullData *hull, int i, int j, int k) {
    double a[3], b[3], plane[4];
    sub(hull->vertex[j], hull->vertex[i], a);
    sub(hull->vertex[k], hull->vertex[i], b);
    cross(a, b, plane);
    if (!(normalise(plane) > 1e-9))
        return;
    plane[3] = dot3(plane, hull->vertex[i]);
    for (int v = 0; v < hull->num_vertices; v++)
        if (dot3(plane, hull->vertex[v]) > plane[3] + 1e-10)
            return;
    if (plane_is_new(hull, plane))
        add_face(hull, plane);
}

void hull_make(HullData *hull, const double (*point)[3], int n) {
    memset(hull, 0, sizeof *hull);
    hull->num_vertices = n;
    /* both precisions see the same points */
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            hull->vertex[i][k] = hull->vertex32[i][k] = (float)point[i][k];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                if (i != j && j != k && i != k)
                    try_plane(hull, i, j, k);
    for (int f = 0; f < hull->num_faces; f++)
        for (int k = 0; k < 4; k++)
            hull->plane32[f][k] = (float)hull->plane[f][k];
}

void hull_of_box(HullData *hull, double x, double y, double z) {
    double point[8][3];
    for (int i = 0; i < 8; i++) {
        point[i][0] = i & 1 ? x : -x;
        point[i][1] = i & 2 ? y : -y;
        point[i][2] = i & 4 ? z : -z;
    }
    hull_make(hull, (const double(*)[3])point, 8);
}

/* On an ellipsoid, so that none is inside. */
void hull_random(HullData *hull, Random *random, double size, int n) {
    double point[HULL_VERTICES][3], stretch[3];
    for (int k = 0; k < 3; k++)
        stretch[k] = size * random_between(random, 0.6, 1.4);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            point[i][k] = random_between(random, -1, 1);
        normalise(point[i]);
        for (int k = 0; k < 3; k++)
            point[i][k] *= stretch[k];
    }
    hull_make(hull, (const double(*)[3])point, n);
}

void hull_prism(HullData *hull, double radius, double half_height, int sides) {
    double point[HULL_VERTICES][3];
    for (int i = 0; i < 2 * sides; i++) {
        double angle = 2 * 3.14159265358979323846 * (i / 2) / sides;
        point[i][0] = radius * cos(angle);
        point[i][1] = radius * sin(angle);
        point[i][2] = i & 1 ? half_height : -half_height;
    }
    hull_make(hull, (const double(*)[3])point, 2 * sides);
}

/* ---- poses ---- */

void pose_random(Random *random, double distance, double *pose) {
    for (int k = 0; k < 3; k++)
        pose[k] = random_between(random, -1, 1);
    double norm = sqrt(dot3(pose, pose));
    for (int k = 0; k < 3; k++)
        pose[k] *= distance / norm;
    random_quaternion(random, pose + 3);
}

/* ---- shapes ---- */

static double square(double x) {
    return x * x;
}

static double sign(double x) {
    return x < 0 ? -1 : 1;
}

/* The corner or curve of the core, without the radius of spheres and capsules. */
static void core_support(const TestShape *s, const double *u, double *x) {
    const double *a = s->size;
    double radial = hypot(u[0], u[1]), c = radial > 0 ? u[0] / radial : 1, sn = radial > 0 ? u[1] / radial : 0;
    memset(x, 0, 3 * sizeof *x);
    if (s->type == SAP_SHAPE_CAPSULE) {
        x[2] = sign(u[2]) * a[1];
    } else if (s->type == SAP_SHAPE_ELLIPSOID) {
        double norm = sqrt(square(a[0] * u[0]) + square(a[1] * u[1]) + square(a[2] * u[2]));
        for (int k = 0; k < 3; k++)
            x[k] = a[k] * a[k] * u[k] / norm;
    } else if (s->type == SAP_SHAPE_CYLINDER || s->type == SAP_SHAPE_CONE) {
        bool tip = s->type == SAP_SHAPE_CONE && u[2] * a[1] > a[0] * radial - u[2] * a[1];
        x[0] = tip ? 0 : a[0] * c;
        x[1] = tip ? 0 : a[0] * sn;
        x[2] = tip ? a[1] : s->type == SAP_SHAPE_CONE ? -a[1] : sign(u[2]) * a[1];
    } else if (s->type == SAP_SHAPE_BOX) {
        for (int k = 0; k < 3; k++)
            x[k] = sign(u[k]) * a[k];
    } else if (s->type == SAP_SHAPE_HULL) {
        memcpy(x, s->hull->vertex[0], 3 * sizeof *x);
        for (int i = 1; i < s->hull->num_vertices; i++)
            if (dot3(u, s->hull->vertex[i]) > dot3(u, x))
                memcpy(x, s->hull->vertex[i], 3 * sizeof *x);
    }
}

double shape_support(const TestShape *s, const double *u, double *x) {
    core_support(s, u, x);
    if (s->type == SAP_SHAPE_SPHERE || s->type == SAP_SHAPE_CAPSULE)
        for (int k = 0; k < 3; k++)
            x[k] += s->size[0] * u[k];
    return dot3(u, x);
}

/* Signed distance to a box of half extents a, in n dimensions. */
static double box_surface(const double *x, const double *a, int n) {
    double outside = 0, inside = -INFINITY;
    for (int k = 0; k < n; k++) {
        double q = fabs(x[k]) - a[k];
        outside += q > 0 ? q * q : 0;
        inside = fmax(inside, q);
    }
    return inside > 0 ? sqrt(outside) : inside;
}

static double cone_surface(const double *a, double r, double z) {
    double side = hypot(2 * a[1], a[0]);
    double slope = (2 * a[1] * r + a[0] * (z - a[1])) / side; /* over the line from the rim to the tip */
    return fmax(slope, -a[1] - z); /* exact on and inside the surface, which is all that is asked */
}

/* First order at the surface of an ellipsoid; exact for the other shapes, or exact near their surface. */
double shape_surface(const TestShape *s, const double *x) {
    const double *a = s->size;
    double r = hypot(x[0], x[1]), f = 0, g = 0;
    switch (s->type) {
    case SAP_SHAPE_SPHERE: return sqrt(dot3(x, x)) - a[0];
    case SAP_SHAPE_CAPSULE: return hypot(r, fmax(fabs(x[2]) - a[1], 0)) - a[0];
    case SAP_SHAPE_ELLIPSOID:
        for (int k = 0; k < 3; k++) {
            f += square(x[k] / a[k]);
            g += square(x[k] / (a[k] * a[k]));
        }
        return (f - 1) / (2 * sqrt(g));
    case SAP_SHAPE_CYLINDER: return box_surface((const double[]){r, x[2]}, a, 2);
    case SAP_SHAPE_BOX: return box_surface(x, a, 3);
    case SAP_SHAPE_CONE: return cone_surface(a, r, x[2]);
    default:
        f = -INFINITY;
        for (int i = 0; i < s->hull->num_faces; i++)
            f = fmax(f, dot3(s->hull->plane[i], x) - s->hull->plane[i][3]);
        return f;
    }
}

TestShape shape_random(Random *random, int type, HullData *hull) {
    TestShape s = {type, {0}, hull};
    for (int k = 0; k < 3; k++)
        s.size[k] = (float)random_between(random, 0.1, 0.6);
    if (type == SAP_SHAPE_HULL)
        hull_random(hull, random, 0.4, 6 + random_below(random, HULL_VERTICES - 5));
    return s;
}

double separation(const TestShape *a, const TestShape *b, const double *pose, const double *n) {
    double x[3], back[3], local[3];
    for (int k = 0; k < 3; k++)
        back[k] = -n[k];
    rotate_back(pose + 3, back, local);
    return dot3(n, pose) - shape_support(b, local, x) - shape_support(a, n, x);
}

/* Steps of falling length around n, as long as they raise the separation. */
static double climb(const TestShape *a, const TestShape *b, const double *pose, double *n, double step, double end) {
    double best = separation(a, b, pose, n);
    for (int round = 0; round < 150 && step > end; round++) {
        double e[3] = {fabs(n[0]) < 0.7, fabs(n[0]) >= 0.7, 0}, f[3];
        cross(n, e, f);
        normalise(f);
        cross(n, f, e);
        bool found = false;
        for (int i = 0; i < 16; i++) {
            double c = cos(i * 0.39269908169872414), s = sin(i * 0.39269908169872414), m[3];
            for (int k = 0; k < 3; k++)
                m[k] = n[k] + step * (c * e[k] + s * f[k]);
            normalise(m);
            double d = separation(a, b, pose, m);
            if (d > best) {
                best = d;
                memcpy(n, m, 3 * sizeof *n);
                found = true;
                break;
            }
        }
        if (!found)
            step *= 0.6;
    }
    return best;
}

/* Spread evenly over the sphere, on a spiral. */
static void sphere_sample(int i, int n, double *u) {
    double z = 1 - (2 * i + 1.0) / n, r = sqrt(1 - z * z), angle = 2.399963229728653 * i;
    u[0] = r * cos(angle);
    u[1] = r * sin(angle);
    u[2] = z;
}

double oracle_distance(const TestShape *a, const TestShape *b, const double *pose, const double *guess) {
    enum { SAMPLES = 1000, STARTS = 3 };
    double n[3], best = -INFINITY, start[STARTS + 1][3], value[STARTS];
    for (int i = 0; i < STARTS; i++)
        value[i] = -INFINITY;
    for (int i = 0; i < SAMPLES; i++) {
        sphere_sample(i, SAMPLES, n);
        double d = separation(a, b, pose, n);
        int worst = 0;
        for (int k = 1; k < STARTS; k++)
            if (value[k] < value[worst])
                worst = k;
        if (d > value[worst]) {
            value[worst] = d;
            memcpy(start[worst], n, sizeof n);
        }
    }
    memcpy(start[STARTS], guess, sizeof n);
    for (int i = 0; i <= STARTS; i++)
        best = fmax(best, climb(a, b, pose, start[i], 0.05, 1e-9));
    return best;
}

/* ---- tasks ---- */

static void task_hull(TaskData *data, int side, const HullData *hull) {
    memcpy(data->vertex + side * HULL_VERTICES, hull->vertex, sizeof hull->vertex);
    memcpy(data->plane + side * HULL_FACES, hull->plane, sizeof hull->plane);
    memcpy(data->vertex32 + side * HULL_VERTICES, hull->vertex32, sizeof hull->vertex32);
    memcpy(data->plane32 + side * HULL_FACES, hull->plane32, sizeof hull->plane32);
    memcpy(data->corner + side * HULL_CORNERS, hull->corner, sizeof hull->corner);
    for (int f = 0; f < hull->num_faces; f++)
        data->face[side * HULL_FACES + f] =
            (SapHullFace){hull->face[f].corner + side * HULL_CORNERS, hull->face[f].num_corners};
    data->hull[side] = (SapHull){.vertex = side * HULL_VERTICES,
                                 .num_vertices = hull->num_vertices,
                                 .face = side * HULL_FACES,
                                 .num_faces = hull->num_faces,
                                 .edge = side * HULL_CORNERS};
    for (int f = 0; f < hull->num_faces; f++) { /* every edge twice, which changes nothing */
        const int *corner = hull->corner + hull->face[f].corner;
        for (int i = 0, n = hull->face[f].num_corners; i < n; i++)
            data->edge[side * HULL_CORNERS + data->hull[side].num_edges++] =
                (SapHullEdge){corner[i > 0 ? i - 1 : n - 1], corner[i]};
    }
    for (int i = 0; i < 3 * hull->num_vertices; i++)
        data->extent[side] = fmax(data->extent[side], fabs(hull->vertex[i / 3][i % 3]));
    data->extent32[side] = (float)data->extent[side];
}

void task_make(TaskData *data, const TestShape *a, const TestShape *b, const double *pose, double reach,
               int max_contacts) {
    const TestShape *shape[2] = {a, b};
    memset(data, 0, sizeof *data);
    data->task.args = &data->args;
    for (int i = 0; i < 2; i++) {
        data->task.type[i] = shape[i]->type;
        data->task.mesh[i] = shape[i]->type == SAP_SHAPE_HULL ? i : -1;
        memcpy(data->task.size[i], shape[i]->size, sizeof shape[i]->size);
        if (shape[i]->type == SAP_SHAPE_HULL)
            task_hull(data, i, shape[i]->hull);
    }
    data->args.plan.hull = data->hull;
    data->args.plan.hull_face = data->face;
    data->args.plan.hull_corner = data->corner;
    data->args.plan.hull_edge = data->edge;
    data->args.constants[0].hull_extent.data = data->extent32;
    data->args.constants[1].hull_extent.data = data->extent;
    data->args.constants[0].hull_vertex.data = data->vertex32;
    data->args.constants[0].hull_plane.data = data->plane32;
    data->args.constants[1].hull_vertex.data = data->vertex;
    data->args.constants[1].hull_plane.data = data->plane;
    memcpy(data->task.pose, pose, sizeof data->task.pose);
    data->task.reach = reach;
    data->task.max_contacts = max_contacts;
}
