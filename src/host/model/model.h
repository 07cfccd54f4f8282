/* The model as stored by the library, and the table of its arrays.
 *
 * Every operation on all arrays of a model (copy, fill in the default, check the range of its numbers, compare, free)
 * is a loop over sap_model_fields; each array is described once, in that table. */
#ifndef SAPWOOD_HOST_MODEL_MODEL_H
#define SAPWOOD_HOST_MODEL_MODEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <sapwood/model.h>

#include "host/model/mesh_hulls.h"

/* Data that a higher layer derives from a model once and shares between all users of the model. The model owns it. */
typedef struct SapModelCache {
    void (*free)(struct SapModelCache *cache);
} SapModelCache;
enum { SAP_MODEL_NUM_CACHES = 8 }; /* plans, by formulation and broad phase (host/plan/model_plan.c) */

/* Owns everything that `arrays` points to; no pointer is NULL. `arrays` is constant after creation. */
struct SapModel {
    SapModelArrays arrays;
    SapHullShape *hulls;                /* [num_meshes] */
    _Atomic(SapModelCache *) extension; /* parameters that a formulation has given it, once; NULL = none yet */
    char **warnings;                    /* [num_warnings] texts */
    int num_warnings;
    atomic_int more_holders; /* number of holders besides the first */
    pthread_mutex_t lock;    /* protects cache */
    SapModelCache *cache[SAP_MODEL_NUM_CACHES];
};

/* sap_model_create with mesh hulls that are known already: see sap_mesh_hulls_create. */
SapStatus sap_model_create_with(const SapModelArrays *arrays, SapHullShape *known_hulls, SapModel **out);

/* The convex hull of a mesh that a shape uses, computed when the model was created. */
const SapHullShape *sap_model_hull(const SapModel *model, int mesh);

/* Adds a holder of the model, which is destroyed when each holder has called sap_model_destroy. Callable from any
 * thread. */
SapModel *sap_model_hold(const SapModel *model);

/* The cache of that number; `make` creates it at the first call. Callable from any thread. */
typedef SapStatus SapMakeModelCache(const SapModel *model, int number, SapModelCache **out);
SapStatus sap_model_cache(const SapModel *model, int number, SapMakeModelCache *make, const SapModelCache **out);

/* The extension of a model, and giving it one, which the model owns; false if it has one already. Callable from any
 * thread. */
const SapModelCache *sap_model_extension(const SapModel *model);
bool sap_model_extend(const SapModel *model, SapModelCache *extension);

/* Largest counts. They keep every size computed from a model, such as 8 nv nv bytes or 3 nv columns of contacts, far
 * inside 64 bits, and turn an uninitialised count into an error rather than a huge allocation. */
enum {
    SAP_MAX_JOINTS = 32767, /* also of bodies and dofs */
    SAP_MAX_SHAPES = 1 << 20,
    SAP_MAX_FILTER_PAIRS = 1 << 24,
    SAP_MAX_MESH_VERTICES = 1 << 24,
    SAP_MAX_HEIGHTS = 1 << 26,
    SAP_MAX_KEYFRAMES = 1024,
    SAP_MAX_CONSTRAINTS = 32767, /* also of tendons */
    SAP_MAX_TENDON_TERMS = 1 << 20
};

/* The owner of the rows of an array. */
typedef enum SapModelRows {
    SAP_ROWS_BODIES,
    SAP_ROWS_JOINTS,
    SAP_ROWS_JOINT_STARTS, /* nj + 1 */
    SAP_ROWS_DOFS,
    SAP_ROWS_COORDS,
    SAP_ROWS_SHAPES,
    SAP_ROWS_ARTICULATIONS,
    SAP_ROWS_ARTICULATION_STARTS, /* na + 1 */
    SAP_ROWS_FILTER_PAIRS,
    SAP_ROWS_SHAPE_FILTER_PAIRS,
    SAP_ROWS_MESH_STARTS, /* nm + 1 */
    SAP_ROWS_MESH_VERTICES,
    SAP_ROWS_HEIGHT_FIELDS,
    SAP_ROWS_HEIGHTS,
    SAP_ROWS_CONSTRAINTS,
    SAP_ROWS_TENDONS,
    SAP_ROWS_TENDON_STARTS, /* nt + 1 */
    SAP_ROWS_TENDON_TERMS,
    SAP_ROWS_KEYFRAMES,
    SAP_ROWS_KEYFRAME_COORDS, /* nk nq */
    SAP_ROWS_KEYFRAME_DOFS,   /* nk nv */
    SAP_NUM_ROWS
} SapModelRows;

typedef enum SapElement { SAP_ELEMENT_I32, SAP_ELEMENT_F64, SAP_ELEMENT_TEXT } SapElement;

/* Lengths up to this have finite squares and sums of squares in f32. m */
#define SAP_MAX_LENGTH 1e15

/* Gains of drives from this on have a finite target velocity a/(h kp + kd) in f32. N/m, N s/m or of angles */
#define SAP_LEAST_GAIN 1e-20

/* Range of each number of an array. Rules that combine several numbers are in check.c. */
typedef enum SapRange {
    SAP_RANGE_ANY,               /* an integer, or a name */
    SAP_RANGE_FINITE,            /* a finite number */
    SAP_RANGE_NON_NEGATIVE,      /* finite, >= 0 */
    SAP_RANGE_POSITIVE,          /* finite, > 0 */
    SAP_RANGE_LENGTH,            /* absolute value at most SAP_MAX_LENGTH */
    SAP_RANGE_LENGTH_FROM_0,     /* 0 .. SAP_MAX_LENGTH */
    SAP_RANGE_GAIN,              /* 0, or finite and at least SAP_LEAST_GAIN */
    SAP_RANGE_POSITIVE_OR_INF,   /* > 0, infinity too */
    SAP_RANGE_FINITE_OR_NEG_INF, /* finite or -infinity */
    SAP_RANGE_FINITE_OR_INF,     /* finite or infinity */
    SAP_RANGE_BODY,              /* 0 .. nb - 1 */
    SAP_RANGE_BODY_OR_WORLD,     /* -1 .. nb - 1 */
    SAP_RANGE_AXIS_COUNT,        /* 0 .. 3 */
    SAP_RANGE_TARGET_MODE,       /* 0 .. 4 */
    SAP_RANGE_SHAPE_FLAGS,       /* 0 .. 3 */
    SAP_RANGE_SHAPE,             /* 0 .. ns - 1 */
    SAP_RANGE_FLAG,              /* 0 or 1 */
    SAP_RANGE_SIDE               /* -1, 0 or 1 */
} SapRange;

/* Whether x is in a range of plain numbers, SAP_RANGE_FINITE .. SAP_RANGE_FINITE_OR_INF. */
bool sap_range_holds(SapRange range, double x);

/* One array of SapModelArrays. */
typedef struct SapModelField {
    const char *name;
    size_t offset; /* offset of the pointer in SapModelArrays */
    SapModelRows rows;
    int columns;
    SapElement element;
    SapRange range;
    bool required;
    const double *row; /* default of every row, `columns` numbers; NULL = zeros, or computed */
} SapModelField;

enum { SAP_MODEL_NUM_FIELDS = 92 };
extern const SapModelField sap_model_fields[SAP_MODEL_NUM_FIELDS];

/* The counts of SapModelArrays, of type int. */
typedef struct SapModelCount {
    const char *name;
    size_t offset;
} SapModelCount;

enum { SAP_MODEL_NUM_COUNTS = 16 };
extern const SapModelCount sap_model_counts[SAP_MODEL_NUM_COUNTS];

/* Reads and writes a count in *arrays. */
int sap_model_count_get(const SapModelArrays *arrays, const SapModelCount *count);
void sap_model_count_set(SapModelArrays *arrays, const SapModelCount *count, int value);

/* The field of that name, or NULL. */
const SapModelField *sap_model_field(const char *name);

/* The number of rows of such arrays. */
int sap_model_rows(const SapModelArrays *arrays, SapModelRows rows);

/* Reads and writes the pointer of a field in *arrays. */
const void *sap_model_field_get(const SapModelArrays *arrays, const SapModelField *field);
void sap_model_field_set(SapModelArrays *arrays, const SapModelField *field, const void *data);

/* The first difference between two models: a count, "gravity", "name" or an array; NULL if they are equal in every bit.
 * */
const char *sap_model_difference(const SapModel *a, const SapModel *b);

#endif
