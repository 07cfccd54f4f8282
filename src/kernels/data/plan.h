/* The plan of a model: topology, sparsity patterns and shapes for the kernels. Uniform: the same for all worlds. The
 * host makes it once (host/plan/plan.h) and owns every array. */
#ifndef SAPWOOD_KERNELS_DATA_PLAN_H
#define SAPWOOD_KERNELS_DATA_PLAN_H

#include "kernels/data/layouts.h"

/* A link is a joint and its child body; links are numbered by joint. */
typedef struct SapLink {
    int type;         /* SapJointType */
    int parent;       /* link of the parent body, -1 = world */
    int root;         /* link at the root of the tree: its origin is the tree's reference point O */
    int body;         /* child body: index in body arrays */
    int q, v;         /* first coordinate, first dof */
    int nlin, nang;   /* number of linear and angular axes */
    int plain_X_p;    /* 1 if the rotation of X_p is the identity */
    int plain_X_c;    /* 1 if X_c is the identity */
    int first_child;  /* children are plan.child[first_child .. first_child + num_children) */
    int num_children; /* number of children */
    int articulation; /* articulation of the joint */
    int last_dof;     /* the deepest dof on its path, -1 if none */
    float max_turn;   /* rad per step, the bound of SAP_WORLD_FAST_SPIN for a free or ball joint; 0 = none */
    float max_shift;  /* m per step, the bound of SAP_WORLD_MAY_TUNNEL for a free joint; 0 = none */
    float max_depth;  /* m, the bound of SAP_WORLD_DEEP_CONTACT for contacts of its body; 0 = none */
} SapLink;

/* Sparse rows of A and of its factor. Row i holds the dofs on the path from the root to i, root first, i last. An
 * ancestor at depth t is entry t of every row that contains it, so a row is a prefix of its children's rows. */
typedef struct SapPatternRow {
    int start;      /* first entry of row i */
    int depth;      /* number of entries before the diagonal, which is entry start + depth */
    int link;       /* link that owns the dof */
    int desc_start; /* descendants of i, increasing: pattern.descendant[desc_start .. desc_start + num_desc); the entries
                     * of row i itself, root first, are the depth + 1 before them */
    int num_desc;   /* number of descendants */
} SapPatternRow;

/* An entry of row and column i of a symmetric matrix; aligned, so that one instruction loads it. */
typedef struct __attribute__((aligned(8))) SapDescendant {
    int dof; /* descendant k of i: entry (k, i); or j on the path of i: entry (i, j) */
    int at;  /* that entry */
} SapDescendant;

/* The pattern of a sparse symmetric matrix on a tree of dofs, and its elimination order. */
typedef struct SAP_SPECIALIZABLE(SapPattern) {
    int nnz;                         /* entries of the lower triangle */
    int num_depths;                  /* depths of dofs: 0 .. num_depths - 1 */
    const SapPatternRow *row;        /* [nv] */
    const int *ancestor;             /* [nnz] dof of each entry's column */
    const SapDescendant *descendant; /* path and descendants of all rows, row after row */
    const int *depth_start;          /* [num_depths + 1] index in depth_dof */
    const int *depth_dof;            /* [nv] dofs by depth */
} SAP_SPECIALIZABLE(SapPattern);
SAP_SPECIALIZED_TABLES(SapPattern)

/* Nodes are branches of the tree, or several small ones together: consecutive dofs. Where contacts couple branches, the
 * pattern of a matrix is made of tiles, the rows of one node and the columns of another (math/tiles.h). */
typedef struct SAP_SPECIALIZABLE(SapNodes) {
    int count, words;        /* number of nodes; 32-bit words of a row of `couples` */
    const int *start;        /* [count + 1] first dof of each node */
    const int *of_dof;       /* [nv] node of each dof */
    const unsigned *couples; /* [count][words] bit J < K of row K: the tree, or a block, couples nodes K and J */
} SAP_SPECIALIZABLE(SapNodes);
SAP_SPECIALIZED(SapNodes)

/* A constraint or tendon of the model: one block of rows with a Jacobian on fixed dofs, and laws of the velocity of
 * each row (contact/row.h). Blocks are in the order of the model: constraints, then tendons. */
enum {
    SAP_BLOCK_BALL,
    SAP_BLOCK_WELD,
    SAP_BLOCK_DISTANCE,
    SAP_BLOCK_COUPLER,
    SAP_BLOCK_TENDON,
    /* of a formulation whose limits and friction are rows of the model */
    SAP_BLOCK_DOF,        /* limits and friction of a dof: coordinate[0] */
    SAP_BLOCK_BALL_LIMIT, /* the largest angle of the ball joint of link[1] */
    SAP_BLOCK_BALL_AXIS /* friction about axis side of the body of link[1], a ball or free joint; coordinate[0]: first dof */
};
typedef struct SapModelConstraint {
    int kind;                 /* SAP_BLOCK_...; the first four are the values of constraint_type */
    int index;                /* of the constraint or the tendon */
    int rows, laws;           /* rows; laws of each row */
    int first_row;            /* of all rows of constraints; reports are in this order */
    int link[2];              /* of bodies a and b; -1 = static */
    int coordinate[2];        /* of a coupler: internal dof, nv + tendon, or -1 */
    int side;                 /* SAP_SIDE_... */
    int columns, num_columns; /* its dofs are plan.block_dof[columns .. columns + num_columns), increasing */
    /* parts of its scratch, in reals from the beginning of the arena of blocks */
    int g, w, vc, gamma, G, Jd;  /* [rows] error, weight (or [2][rows]: and bias), velocity, impulse,
                                    curvature, J d */
    int cost, line, acts, check; /* [1] cost; [3] along a line; [1] 1: a law acts; [1] 0, or NaN: no direction */
    int control_check;           /* [1] 0, or NaN if its control is not finite */
    int law;                     /* [rows][laws][SAP_ROW_LAW_SIZE] */
    int J;                       /* [num_columns][rows] */
} SapModelConstraint;

/* A block that moves a dof, and its column there. */
typedef struct SapBlockColumn {
    int block, column;
} SapBlockColumn;

/* A term of a tendon. */
typedef struct SapTendonTerm {
    int type;       /* SAP_TENDON_... */
    int dof, coord; /* joint: internal dof and its coordinate */
    int link;       /* point: link of the body, -1 = static */
} SapTendonTerm;

/* A table of directions for a set of points: which of them can be farthest along a direction u. The directions are
 * those to a cube around the origin, whose sides have resolution x resolution cells. The points of u's cell include the
 * farthest one (host/plan/directions.h). */
typedef struct SapDirections {
    int resolution; /* cells along an edge of the cube; 0 = no table */
    int cell; /* the cells are plan.direction_cell[cell .. cell + 6 resolution^2): by side (+x -x +y -y +z -z), row
                     * and column; they count the two other coordinates, in the order x y z, the last one as row */
} SapDirections;

/* The points of a cell are plan.direction_point[first .. first + count), increasing. */
typedef struct SapDirectionCell {
    int first, count;
} SapDirectionCell;

/* A convex hull. Its vertices are in constants.hull_vertex; its faces are planar polygons with
 * planes in constants.hull_plane. */
typedef struct SapHull {
    int vertex, num_vertices; /* rows of hull_vertex */
    int face, num_faces;      /* rows of plan.hull_face and of hull_plane */
    int edge, num_edges;      /* rows of plan.hull_edge */
    SapDirections by_vertex;  /* of the vertices */
    SapDirections by_face;    /* of the normals of faces */
    SapDirections by_edge;    /* of the sums of the two ends of each edge */
} SapHull;

/* An edge between two vertices, counted within the hull. */
typedef struct SapHullEdge {
    int from, to;
} SapHullEdge;

/* The corners of a face are plan.hull_corner[corner .. corner + num_corners): vertices, counted within the hull,
 * counter-clockwise seen from outside. */
typedef struct SapHullFace {
    int corner, num_corners;
} SapHullFace;

/* A grid over [-hx, hx] x [-hy, hy] of the shape frame; hx, hy are the first two sizes. Row r is at
 * y = -hy + 2 hy r/(rows - 1), column c at x = -hx + 2 hx c/(columns - 1). The diagonal from (r, c) to (r + 1, c + 1)
 * cuts a cell into two triangles. Solid below. */
typedef struct SapHeightField {
    int height; /* height (r, c) is constants.height[height + r columns + c], m, in the shape frame */
    int rows, columns;
} SapHeightField;

/* Two shapes that may touch. The type of the first is not larger than the second's, and at most one is static. */
typedef struct SapPair {
    int shape[2];
} SapPair;

/* A node of the tree of static shapes. */
typedef struct SapStaticNode {
    float low[3], high[3]; /* a box in the world around the bounding spheres of the shapes below */
    int skip;              /* the node after its descendants, which follow it */
    int shape;             /* the shape of a leaf, -1 = no leaf */
} SapStaticNode;

/* The tree of static shapes, of the broad phase `tree`. Lists of shapes are increasing. */
typedef struct SapStaticTree {
    int num_nodes, num_placed, num_seekers;
    const SapStaticNode *node; /* [num_nodes] */
    const int *placed;         /* [num_placed] shapes that have a pose in every step: at least those not in the tree */
    const int *seeker;         /* [num_seekers] shapes that query the tree: they move and are bounded */
    const int *seekers_before; /* [ns + 1] number of seekers with a smaller index */
    const unsigned *member;    /* [row_words] bit s: shape s is in the tree */
} SapStaticTree;

/* More than there are types of shapes (SapShapeType). */
enum { SAP_SHAPE_KINDS = 16 };

typedef struct SAP_SPECIALIZABLE(SapPlan) {
    int nl, nb, nq, nv, ns;  /* number of links, bodies, coordinates, dofs, shapes */
    int num_articulations;   /* as in the model */
    int num_levels;          /* levels of links: 0 .. num_levels - 1 */
    const SapLink *link;     /* [nl] */
    const int *child;        /* [nl] links by parent */
    const int *level_start;  /* [num_levels + 1] index in level_link */
    const int *level_link;   /* [nl] links by level */
    const int *body_link;    /* [nb] link of each body */
    const int *shape_link;   /* [ns] link of the shape's body, -1 = static */
    const int *dof_public;   /* [nv] public dof of each internal dof */
    const int *dof_coord;    /* [nv] coordinate of each dof, -1 for dofs of ball and free joints */
    const int *dof_driven;   /* [nv] 1 if the model has a drive on this dof */
    const int *dof_limited;  /* [nv] 1 if the dof may have limits: it is the only axis of its joint */
    const int *dof_law;      /* [nv] place of its law (sap/dof.h) among the laws of all dofs, in reals */
    int dof_law_size;        /* reals of all these laws */
    SapPattern tree, closed; /* of the tree; of the tree and all blocks */
    SapNodes nodes;          /* branches, for the pattern with contacts that couple them */
    SapMotionLayout layout;

    const int *shape_type; /* [ns] SapShapeType */
    const int *shape_mesh; /* [ns] index of the hull; height field: s, whose grid is constants.shape_mesh; else -1 */
    int num_hulls, num_height_fields;
    const SapHull *hull;                    /* [num_hulls] */
    const SapHullFace *hull_face;           /* [faces of all hulls] */
    const int *hull_corner;                 /* [corners of all faces] */
    const SapHullEdge *hull_edge;           /* [edges of all hulls] each once, in the order of faces and corners */
    const SapDirectionCell *direction_cell; /* [cells of all tables] */
    const int *direction_point;             /* [points of all cells] */
    const int *hull_source; /* mesh vertex (over all meshes) of each row of hull_vertex; for the host only */
    const SapHeightField *height_field; /* [num_height_fields] */
    int broad_phase;                    /* SapBroadPhase, not auto */
    int num_pairs;                      /* 0 for `sweep` */
    const SapPair *pair;                /* [num_pairs] by the smaller index of the two shapes, then by the larger */
    const unsigned *allowed;            /* bit b of a row is set if shape b and the row's may touch. `sweep`:
                                           [ns][row_words], bits b above the row; `tree`: [num_seekers][row_words] */
    int row_words;                      /* words of a row of allowed */
    SapStaticTree statics;

    int num_constraints, num_tendons, num_tendon_terms; /* as in the model */
    int num_blocks, num_rows, block_size;               /* blocks; rows of constraints; reals of all blocks */
    const SapModelConstraint *block;                    /* [num_blocks] */
    const int *block_dof;                               /* dofs of all blocks */
    const int *dof_block_start;                         /* [nv + 1] index in dof_block */
    const SapBlockColumn *dof_block;                    /* the blocks that move each dof, in their order */
    const int *tendon_start;                            /* [num_tendons + 1] index in tendon_term */
    const SapTendonTerm *tendon_term;                   /* [num_tendon_terms] */
    const int *tendon_driven;                           /* [num_tendons] 1 if the tendon has a drive */

    int formulation;  /* its number (host/plan/formulation.h), for the host only; 0: SAP */
    int contact_rows; /* rows of a contact slot: 3, or 6 with torques */
    int rk4;          /* 1: a step has the four stages of RK4 */
} SAP_SPECIALIZABLE(SapPlan);
SAP_SPECIALIZED_TABLES(SapPlan)

#endif
