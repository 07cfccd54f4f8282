/* Mass, centre of mass and inertia of solids of constant density, and of bodies made of several. The solids themselves are in
 * shape_types.c. */
#ifndef SAPWOOD_HOST_MODEL_INERTIA_H
#define SAPWOOD_HOST_MODEL_INERTIA_H

#include <sapwood/model.h>

#include "host/model/hull.h"

typedef struct SapMassProperties {
    double mass;       /* kg */
    double com[3];     /* m, centre of mass in the frame at hand */
    double inertia[9]; /* kg m^2, about the centre of mass, axes of the frame at hand, row-major */
} SapMassProperties;

/* Of a solid hull of that density (kg/m^3) of the points [][3] with those factors of x, y, z. */
SapMassProperties sap_hull_mass(const SapHullShape *hull, const double *points, const double scale[3], double density);

/* The same body seen from a frame in which its own frame has the pose p, q (unit). */
SapMassProperties sap_mass_moved(const SapMassProperties *part, const double pose[7]);

/* Joins `part` to `total`; both in one frame. */
void sap_mass_add(SapMassProperties *total, const SapMassProperties *part);

#endif
