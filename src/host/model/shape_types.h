/* The shape types, one row each. Checks, scenes, masses, bounds, pairs and messages read the properties of a type from
 * here (docs/collision.md, "To add a shape"). */
#ifndef SAPWOOD_HOST_MODEL_SHAPE_TYPES_H
#define SAPWOOD_HOST_MODEL_SHAPE_TYPES_H

#include <stdbool.h>

#include <sapwood/model.h>

#include "host/base/keyword.h"
#include "host/model/inertia.h"

/* What the index shape_mesh refers to. */
typedef enum SapShapeData {
    SAP_SHAPE_DATA_NONE, /* nothing; the index is -1 */
    SAP_SHAPE_DATA_MESH, /* a mesh; the shape is its convex hull */
    SAP_SHAPE_DATA_GRID  /* a height field */
} SapShapeData;

typedef SapMassProperties SapShapeMassFn(const double size[3], double density);
typedef void SapShapeBoundFn(const SapModelArrays *model, int shape, double bound[4]);
typedef double SapShapeThicknessFn(const double size[3]);

enum { SAP_ANY_POINTS = 1 << 16 }; /* limited by max_contacts_per_pair only */

typedef struct SapShapeTypeRow {
    SapShapeType type;
    const char *names[4];     /* names in scenes and messages; the first is shown, the others are aliases */
    int num_sizes;            /* number of entries of shape_scale in use, > 0 */
    int num_extents;          /* number of entries after them that only rays read, >= 0; 0 = infinite */
    const char *size_keys[3]; /* their keys in scenes; NULL if meshes.c reads them */
    SapShapeData data;
    bool is_terrain;                /* has no back side: two terrains never touch */
    int points;                     /* largest number of contacts with another convex shape */
    SapShapeMassFn *mass;           /* mass of a solid; NULL: massless, or computed from its data */
    SapShapeBoundFn *bound;         /* NULL: unbounded */
    SapShapeThicknessFn *thickness; /* NULL: infinite, or that of its mesh */
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

/* Mass properties of a solid of that density (kg/m^3) in its shape frame; sizes as in SapShapeType. All zero for a
 * plane and a height field, and for a hull, which sap_hull_mass computes. */
SapMassProperties sap_shape_mass(SapShapeType type, const double size[3], double density);

/* The grids first .. end - 1 that a world can have for a height field: the model's, and those beside it that no
 * shape has. */
typedef struct SapGrids {
    int first, end;
} SapGrids;
SapGrids sap_height_field_choices(const SapModelArrays *model, int shape);

/* Centre and radius of a bounding sphere in the shape frame. It is the smallest one, except for a hull, where the
 * centre is the centre of the bounding box of the vertices, and for a height field, where it is the sphere around the
 * bounding box of the surface. A plane has radius 0. */
void sap_shape_bound(const SapModelArrays *model, int shape, double bound[4]);

/* The smallest extent of a shape along its axes, m; of a hull, of its vertices. Infinite for terrain. */
double sap_shape_thickness(const SapModelArrays *model, int shape);

/* The largest number of contacts of two shapes, given the limit `per_pair` for any pair. */
int sap_shape_most_points(int32_t type0, int32_t type1, int per_pair);

#endif
