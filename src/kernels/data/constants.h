/* The numbers of a model in the precision of the kernels, one row for all worlds or one per world. */
#ifndef SAPWOOD_KERNELS_DATA_CONSTANTS_H
#define SAPWOOD_KERNELS_DATA_CONSTANTS_H

/* A model array in the kernels' precision. World w reads row w * stride: stride 0 is one row for all. */
typedef struct SapField {
    const void *data;
    long long stride;
} SapField;

typedef struct SapConstants {
    SapField gravity; /* [3] */
    SapField X_p;     /* [nl][7] pose of F in the parent */
    SapField X_c_inv; /* [nl][7] pose of the body in M */
    SapField axis;    /* [nv][3] */
    SapField mass;    /* [nl] */
    SapField com;     /* [nl][3] */
    SapField inertia; /* [nl][6] Ixx Iyy Izz Ixy Ixz Iyz about the COM, body axes */

    /* [nv] internal order */
    SapField armature, damping, friction;
    SapField target_ke, target_kd, effort_limit;
    SapField limit_lower, limit_upper, limit_ke, limit_kd;

    /* [ns] */
    SapField shape_mu, shape_ke, shape_tau;
    SapField shape_pose;  /* [ns][7] in the body, or the world */
    SapField shape_size;  /* [ns][3] */
    SapField shape_bound; /* [ns][4] bounding sphere in the shape frame: centre, radius; a plane's radius is unused */
    SapField shape_margin, shape_gap;
    SapField hull_vertex; /* [][3] shape frame */
    SapField hull_plane;  /* [][4] outward unit normal, offset: n.x <= offset inside */
    SapField height;      /* [] */
} SapConstants;

#endif
