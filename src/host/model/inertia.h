/* Mass, centre of mass and inertia of solids of constant density, and of bodies composed of several. The formulas of
 * the solids are in shape_types.c. */
#ifndef SAPWOOD_HOST_MODEL_INERTIA_H
#define SAPWOOD_HOST_MODEL_INERTIA_H

#include <sapwood/model.h>

#include "host/model/hull.h"

typedef struct SapMassProperties {
    double mass;       /* kg */
    double com[3];     /* m, centre of mass in the current frame */
    double inertia[9]; /* kg m^2, about the centre of mass, in the axes of the current frame, row-major */
} SapMassProperties;

/* Mass properties of a solid hull of that density (kg/m^3), whose points [][3] are scaled by those factors in x, y, z.
 * */
SapMassProperties sap_hull_mass(const SapHullShape *hull, const double *points, const double scale[3], double density);

/* The mass properties in a frame in which the frame of the part has the pose p, q (unit). */
SapMassProperties sap_mass_moved(const SapMassProperties *part, const double pose[7]);

/* Adds `part` to `total`; both are expressed in one frame. */
void sap_mass_add(SapMassProperties *total, const SapMassProperties *part);

#endif
