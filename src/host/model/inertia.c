/* Mass properties: the integrals of 1, r and (r.r E - r r') over a hull, and the parallel-axis theorem. */
#include "host/model/inertia.h"

/* ---- hulls ---- */

/* The integrals of 1, r and r r' over tetrahedra with one vertex at the origin. */
typedef struct Moments {
    double volume, first[3], second[9];
} Moments;

static void add_tetrahedron(Moments *m, const double *a, const double *b, const double *c) {
    double volume =
        (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) /
        6;
    m->volume += volume;
    for (int i = 0; i < 3; i++) {
        double sum = a[i] + b[i] + c[i];
        m->first[i] += volume * sum / 4;
        for (int j = 0; j < 3; j++)
            m->second[3 * i + j] +=
                volume * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum * (a[j] + b[j] + c[j])) / 20;
    }
}

/* Vertex v, scaled, relative to `origin`. */
static void vertex_from(const SapHullShape *hull, const double *points, const double *scale, int v,
                        const double *origin, double *out) {
    for (int k = 0; k < 3; k++)
        out[k] = scale[k] * points[3 * hull->vertex[v] + k] - origin[k];
}

/* Each face is a fan of triangles, and each triangle is the base of a tetrahedron whose apex is the first vertex of the
 * hull. The apex on the hull avoids cancellation for hulls far from the origin. */
SapMassProperties sap_hull_mass(const SapHullShape *hull, const double *points, const double scale[3], double density) {
    /* Integrals over the tetrahedra, relative to the apex. */
    const double zero[3] = {0};
    double tip[3], a[3], b[3], c[3];
    Moments m = {0};
    vertex_from(hull, points, scale, 0, zero, tip);
    for (int f = 0; f < hull->num_faces; f++)
        for (int i = hull->face_start[f] + 1; i + 1 < hull->face_start[f + 1]; i++) {
            vertex_from(hull, points, scale, hull->corner[hull->face_start[f]], tip, a);
            vertex_from(hull, points, scale, hull->corner[i], tip, b);
            vertex_from(hull, points, scale, hull->corner[i + 1], tip, c);
            add_tetrahedron(&m, a, b, c);
        }
    /* Mass and centre of mass. */
    SapMassProperties out = {.mass = density * m.volume};
    double d[3];
    for (int i = 0; i < 3; i++) {
        d[i] = m.first[i] / m.volume;
        out.com[i] = tip[i] + d[i];
    }
    /* I = tr(C) E - C,  C = integral of (r - com) (r - com)' */
    for (int i = 0; i < 9; i++)
        m.second[i] -= m.volume * d[i / 3] * d[i % 3];
    double trace = m.second[0] + m.second[4] + m.second[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++)
            out.inertia[3 * i + j] = out.inertia[3 * j + i] = density * ((i == j ? trace : 0) - m.second[3 * i + j]);
    return out;
}

/* ---- frames and sums ---- */

/* The rotation matrix of a unit quaternion. */
static void rotation(const double q[4], double r[9]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
    r[0] = 1 - 2 * (y * y + z * z), r[1] = 2 * (x * y - z * w), r[2] = 2 * (x * z + y * w);
    r[3] = 2 * (x * y + z * w), r[4] = 1 - 2 * (x * x + z * z), r[5] = 2 * (y * z - x * w);
    r[6] = 2 * (x * z - y * w), r[7] = 2 * (y * z + x * w), r[8] = 1 - 2 * (x * x + y * y);
}

SapMassProperties sap_mass_moved(const SapMassProperties *part, const double pose[7]) {
    SapMassProperties out = {.mass = part->mass};
    double r[9], ri[9] = {0};
    rotation(pose + 3, r);
    /* com' = p + R com,  I' = R I R' */
    for (int i = 0; i < 3; i++) {
        out.com[i] = pose[i];
        for (int j = 0; j < 3; j++) {
            out.com[i] += r[3 * i + j] * part->com[j];
            for (int k = 0; k < 3; k++)
                ri[3 * i + j] += r[3 * i + k] * part->inertia[3 * k + j];
        }
    }
    /* Compute one triangle and mirror it, so that the result is symmetric in every bit. */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += ri[3 * i + k] * r[3 * j + k];
            out.inertia[3 * i + j] = out.inertia[3 * j + i] = sum;
        }
    return out;
}

void sap_mass_add(SapMassProperties *total, const SapMassProperties *part) {
    double mass = total->mass + part->mass;
    if (mass <= 0) {
        for (int i = 0; i < 9; i++)
            total->inertia[i] += part->inertia[i];
        return;
    }
    /* About the common centre, two masses at distance d have the inertia of their reduced mass at d. */
    double share = part->mass / mass, reduced = total->mass * share, d[3], dd = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = part->com[i] - total->com[i];
        dd += d[i] * d[i];
    }
    for (int i = 0; i < 3; i++) {
        total->com[i] += share * d[i];
        for (int j = 0; j < 3; j++)
            total->inertia[3 * i + j] += part->inertia[3 * i + j] + reduced * ((i == j ? dd : 0) - d[i] * d[j]);
    }
    total->mass = mass;
}
