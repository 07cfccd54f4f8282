/* The numbers of a model in the precision of the kernels: one row for all worlds, or one row per world. */
#ifndef SAPWOOD_KERNELS_DATA_CONSTANTS_H
#define SAPWOOD_KERNELS_DATA_CONSTANTS_H

/* A model array in the precision of the kernels. The row of world w begins at element w * stride; stride 0 = one row
 * for all worlds. */
typedef struct SapField {
    const void *data;
    long long stride;
} SapField;

/* model.h gives the units. */
typedef struct SapConstants {
    SapField gravity;  /* [3] */
    SapField X_p;      /* [nl][7] pose of F in the parent */
    SapField X_c_inv;  /* [nl][7] pose of the body in M */
    SapField axis;     /* [nv][3] joint axes in F */
    SapField mass;     /* [nl] */
    SapField com;      /* [nl][3] centre of mass in the body frame */
    SapField inertia;  /* [nl][6] Ixx Iyy Izz Ixy Ixz Iyz about the COM, body axes */
    SapField gravcomp; /* [nl] */

    /* [nv] in internal order */
    SapField armature, damping, friction;
    SapField target_ke, target_kd, effort_limit;
    SapField limit_lower, limit_upper, limit_ke, limit_kd;

    /* [ns] */
    SapField shape_mu, shape_ke, shape_tau, shape_dissipation;
    SapField shape_pose;  /* [ns][7] in the body frame, or in the world if static */
    SapField shape_size;  /* [ns][3] shape_scale */
    SapField shape_bound; /* [ns][4] bounding sphere in the shape frame: centre, radius (unused for a plane) */
    SapField shape_margin, shape_gap;
    SapField shape_mesh;  /* [ns] index of the grid of a height field; unused for other shapes */
    SapField hull_vertex; /* [vertices of all hulls][3] in the shape frame */
    SapField hull_plane;  /* [faces of all hulls][4] outward unit normal, offset: n.x <= offset inside */
    SapField hull_extent; /* [num_hulls] the largest absolute coordinate of a vertex */
    SapField hull_box;    /* [num_hulls][15] a box that contains the hull: centre, three unit axes, half extents */
    SapField height;      /* [heights of all grids] */

    /* [nc] constraints, [nt] tendons and [num_tendon_terms]; columns as in model.h */
    SapField constraint_X, constraint_polynomial, constraint_reference, constraint_length, constraint_ke, constraint_kd;
    SapField tendon_term_value, tendon_offset, tendon_limit_lower, tendon_limit_upper, tendon_limit_ke, tendon_limit_kd;
    SapField tendon_spring_ke, tendon_spring_lower, tendon_spring_upper, tendon_armature, tendon_damping,
        tendon_friction;
    SapField tendon_target_ke, tendon_target_kd, tendon_effort_limit;
} SapConstants;

#endif
