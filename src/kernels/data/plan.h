/* The plan of a model: its topology, patterns and shapes as the kernels read them. Uniform, the same for all worlds; made once
 * by the host (host/plan/plan.h), which owns every array. */
#ifndef SAPWOOD_KERNELS_DATA_PLAN_H
#define SAPWOOD_KERNELS_DATA_PLAN_H

#include "kernels/data/layouts.h"

/* A link is a joint and its child body; links are numbered by joint. */
typedef struct SapLink {
    int type;        /* SapJointType */
    int parent;      /* link of the parent body, -1 = world */
    int root;        /* link at the root of this tree: its origin is the tree's reference point O */
    int body;        /* child body: its place in body arrays */
    int q, v;        /* first coordinate, first dof */
    int nlin, nang;  /* linear and angular axes */
    int plain_X_p;   /* 1 if the rotation of X_p is the identity */
    int plain_X_c;   /* 1 if X_c is the identity */
    int first_child; /* children are plan.child[first_child .. first_child + num_children) */
    int num_children;
    int articulation;
    int last_dof; /* the deepest dof on its path, -1 if none */
} SapLink;

/* Sparse rows of A and of its factor: row i holds the dofs on the path from the root to i, root first, itself last.
 * An ancestor at depth t is entry t of every row it stands in, so a row is a prefix of its children's rows. */
typedef struct SapPatternRow {
    int start;      /* first entry of row i */
    int depth;      /* entries before the diagonal: the diagonal is entry start + depth */
    int link;       /* link that owns the dof */
    int desc_start; /* descendants of i, increasing: plan.descendant[desc_start .. desc_start + num_desc) */
    int num_desc;
} SapPatternRow;

typedef struct SapDescendant {
    int dof;
    int start; /* first entry of its row */
} SapDescendant;

/* One entry of the sparse matrix: its row, and the depth of its column. */
typedef struct SapEntry {
    int row;
    int column;
} SapEntry;

/* A sparse symmetric matrix and the order of its elimination: the tree's own pattern, or dense, which is a tree of one chain. */
typedef struct SapPattern {
    int nnz;
    int num_depths;
    const SapPatternRow *row; /* [nv] */
    const int *ancestor;      /* [nnz] dof of each entry */
    const SapDescendant *descendant;
    const int *depth_start; /* [num_depths + 1] into depth_dof */
    const int *depth_dof;   /* [nv] dofs by depth */
    const int *entry_start; /* [num_depths + 1] into entry */
    const SapEntry *entry;  /* [nnz] entries by depth of their row */
} SapPattern;

/* Vertices are constants.hull_vertex, faces are planar polygons with outward planes constants.hull_plane. */
typedef struct SapHull {
    int vertex, num_vertices; /* rows of hull_vertex */
    int face, num_faces;      /* rows of plan.hull_face and of hull_plane */
} SapHull;

typedef struct SapHullFace {
    int corner,
        num_corners; /* plan.hull_corner[corner ..]: vertices (counted within the hull), counter-clockwise from outside */
} SapHullFace;

/* A grid over [-x, x] x [-y, y] of the shape frame (x, y: the first two sizes). Row r is at y = -y + 2 y r/(rows - 1), column c at
 * x = -x + 2 x c/(columns - 1). A cell is cut along the diagonal from (r, c) to (r + 1, c + 1). Solid below. */
typedef struct SapHeightField {
    int height; /* constants.height[height + r columns + c], m, in the shape frame */
    int rows, columns;
} SapHeightField;

/* Two shapes that may touch: the type of the first is not larger than that of the second, and at most one is static. */
typedef struct SapPair {
    int shape[2];
} SapPair;

typedef struct SapPlan {
    int nl, nb, nq, nv, ns;
    int num_levels;         /* of links */
    const SapLink *link;    /* [nl] */
    const int *child;       /* [nl] links by parent */
    const int *level_start; /* [num_levels + 1] */
    const int *level_link;  /* [nl] links by level */
    const int *body_link;   /* [nb] */
    const int *shape_link;  /* [ns] -1 = static */
    const int *dof_public;  /* [nv] public dof of each internal dof */
    const int *dof_coord;   /* [nv] its coordinate, -1 for dofs of ball and free joints */
    const int *dof_driven;  /* [nv] 1 if the model has a drive there */
    const int *dof_limited; /* [nv] 1 if the dof may have limits: the only axis of its joint */
    SapPattern tree, dense;
    SapMotionLayout layout;

    const int *shape_type; /* [ns] SapShapeType */
    const int *shape_mesh; /* [ns] hull or height field, -1 = neither */
    int num_hulls, num_height_fields;
    const SapHull *hull;
    const SapHullFace *hull_face;
    const int *hull_corner;
    const int *hull_source; /* mesh vertex (counted over all meshes) of each row of hull_vertex; for the host only */
    const SapHeightField *height_field;
    int sweep; /* 1: shapes are sorted and swept, 0: pairs are listed */
    int num_pairs;
    const SapPair
        *pair; /* [num_pairs] if listed: increasing in the smaller index of the two shapes, then in the larger */
    const unsigned *allowed; /* [ns][row_words] if swept: bit b of row a < b tells whether the two may touch */
    int row_words;
} SapPlan;

#endif
