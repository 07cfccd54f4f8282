/* Bounding spheres of shapes. */
#ifndef SAPWOOD_HOST_PLAN_BOUNDS_H
#define SAPWOOD_HOST_PLAN_BOUNDS_H

#include <sapwood/model.h>

/* Centre and radius, in the shape frame, of a sphere around the shape. The smallest one, except for a hull, where its centre is
 * that of the box around the vertices, and for a height field, where it is the sphere around the box of the surface. A plane has
 * the radius 0. */
void sap_shape_bound(const SapModelArrays *model, int shape, double bound[4]);

#endif
