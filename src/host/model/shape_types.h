/* The types of shapes: one row each. Checks, scenes, masses, bounds, pairs and messages read what a type is from here
 * (docs/collision.md, "To add a shape"). */
#ifndef SAPWOOD_HOST_MODEL_SHAPE_TYPES_H
#define SAPWOOD_HOST_MODEL_SHAPE_TYPES_H

#include <stdbool.h>

#include <sapwood/model.h>

#include "host/base/keyword.h"
#include "host/model/inertia.h"

/* What shape_mesh is the index of. */
typedef enum SapShapeData {
    SAP_SHAPE_DATA_NONE, /* nothing: -1 */
    SAP_SHAPE_DATA_MESH, /* a mesh, whose convex hull the shape is */
    SAP_SHAPE_DATA_GRID  /* a grid of heights */
} SapShapeData;

typedef SapMassProperties SapShapeMassFn(const double size[3], double density);
typedef void SapShapeBoundFn(const SapModelArrays *model, int shape, double bound[4]);

enum { SAP_ANY_POINTS = 1 << 16 }; /* as many as max_contacts_per_pair allows */

typedef struct SapShapeTypeRow {
    SapShapeType type;
    const char *names[4];     /* in scenes and messages; the first is the one that is shown, the others are aliases */
    int num_sizes;            /* how many entries of shape_scale it uses */
    const char *size_keys[3]; /* their keys in scenes; NULL where meshes.c reads them */
    SapShapeData data;
    bool is_terrain;        /* has no other side: two of them never touch */
    int points;             /* contacts with another convex shape, at most */
    SapShapeMassFn *mass;   /* of a solid; NULL: it weighs nothing, or its data tell */
    SapShapeBoundFn *bound; /* NULL: it has no end */
} SapShapeTypeRow;

enum { SAP_NUM_SHAPE_TYPES = 9 };
extern const SapShapeTypeRow sap_shape_types[SAP_NUM_SHAPE_TYPES];

/* The row of a type, or NULL. */
const SapShapeTypeRow *sap_shape_type(int32_t type);
/* The row with that name, or NULL. */
const SapShapeTypeRow *sap_shape_type_named(const char *name);

/* "plane, box, ..., hull (mesh, convex_hull)" and "1 plane, 7 box, ..." */
SapList sap_shape_type_list(void);
SapList sap_shape_type_numbers(void);

/* What a shape of that type reads besides its sizes. */
SapShapeData sap_shape_data(int32_t type);

/* Of a solid of that density (kg/m^3) in its shape frame; sizes as in SapShapeType. All zero for a plane and a
 * height field, and for a hull, which sap_hull_mass is for. */
SapMassProperties sap_shape_mass(SapShapeType type, const double size[3], double density);

/* Centre and radius, in the shape frame, of a sphere around the shape. The smallest one, except for a hull, where its centre is
 * that of the box around the vertices, and for a height field, where it is the sphere around the box of the surface. A plane has
 * the radius 0. */
void sap_shape_bound(const SapModelArrays *model, int shape, double bound[4]);

/* How many contacts two shapes have at most, if any two have at most `per_pair`. */
int sap_shape_most_points(int32_t type0, int32_t type1, int per_pair);

#endif
