/* The model: one world as a struct of arrays. A batch steps many copies of it.
 *
 * Units are SI, z is up. A pose is seven numbers, position then quaternion: px py pz qx qy qz qw (Hamilton, unit).
 * Joint j connects its parent body (or the world, -1) with its child body. Frame F is at joint_X_p in the parent, frame
 * M at joint_X_c in the child, and the joint's coordinates place M in F. */
#ifndef SAPWOOD_MODEL_H
#define SAPWOOD_MODEL_H

#include <stdint.h>

#include <sapwood/error.h>

SAP_BEGIN_DECLS

/* SAP Warp and Newton use the same numbers. */
typedef enum SapJointType {
    SAP_JOINT_PRISMATIC = 0, /* 1 coordinate (m), 1 dof along joint_axis */
    SAP_JOINT_REVOLUTE = 1,  /* 1 coordinate (rad), 1 dof about joint_axis */
    SAP_JOINT_BALL = 2,      /* quaternion (4), 3 dofs: angular velocity in F axes */
    SAP_JOINT_FIXED = 3,     /* no coordinates, no dofs */
    SAP_JOINT_FREE = 4,      /* position and quaternion (7), 6 dofs: public order [v_COM ; omega], world axes */
    SAP_JOINT_D6 = 6         /* up to 3 linear, then up to 3 angular axes, one coordinate and one dof each */
} SapJointType;

typedef enum SapShapeType {
    SAP_SHAPE_PLANE = 1,        /* half-space below z = 0; shape_scale: half extents of what rays see, 0 = infinite */
    SAP_SHAPE_HEIGHT_FIELD = 2, /* shape_scale: half extents in x and y; heights from grid shape_mesh; solid below */
    SAP_SHAPE_SPHERE = 3,       /* shape_scale: radius */
    SAP_SHAPE_CAPSULE = 4,      /* shape_scale: radius, half length of the axis (z) without the caps */
    SAP_SHAPE_ELLIPSOID = 5,    /* shape_scale: the three radii */
    SAP_SHAPE_CYLINDER = 6,     /* shape_scale: radius, half height (z) */
    SAP_SHAPE_BOX = 7,          /* shape_scale: the three half extents */
    SAP_SHAPE_CONE = 9,         /* shape_scale: radius, half height; base at -z, tip at +z */
    SAP_SHAPE_HULL = 10 /* the convex hull of the vertices of mesh shape_mesh; shape_scale: factors of x, y, z */
} SapShapeType;

/* The types in a fixed order, for listing them: type number i >= 0 of the list, or -1 past its end. */
SAP_API int32_t sap_joint_type_at(int i);
SAP_API int32_t sap_shape_type_at(int i);
/* The name of a type in scene files, such as "revolute" or "box"; static; NULL for an unknown type. */
SAP_API const char *sap_joint_type_name(int32_t type);
SAP_API const char *sap_shape_type_name(int32_t type);

/* Bits of shape_flags. */
enum {
    SAP_SHAPE_VISIBLE = 1, /* drawn by viewers; no effect on the simulation */
    SAP_SHAPE_COLLIDES = 2 /* collides with other shapes */
};

/* Values of joint_target_mode: 0 is no drive; any other value is a drive with both gains. */
enum {
    SAP_TARGET_NONE = 0,
    SAP_TARGET_POSITION = 1,
    SAP_TARGET_VELOCITY = 2,
    SAP_TARGET_POSITION_VELOCITY = 3,
    SAP_TARGET_EFFORT = 4
};

/* Values of constraint_type. docs/constraints.md has the rows of each. */
typedef enum SapConstraintType {
    SAP_CONSTRAINT_BALL = 0,     /* joins two points: 3 rows */
    SAP_CONSTRAINT_WELD = 1,     /* joins two frames: 6 rows, rotation first */
    SAP_CONSTRAINT_DISTANCE = 2, /* keeps two points at constraint_length, or on one side of it: 1 row */
    SAP_CONSTRAINT_COUPLER = 3   /* couples two coordinates by a polynomial, or holds one: 1 row */
} SapConstraintType;

/* The name of a constraint type in scene files, such as "ball"; static; NULL for an unknown type. */
SAP_API const char *sap_constraint_type_name(int32_t type);

/* Values of constraint_side: the error g of a one-sided constraint stays on one side of 0. */
enum {
    SAP_SIDE_LOWER = -1, /* g >= 0: the constraint pushes up only */
    SAP_SIDE_BOTH = 0,
    SAP_SIDE_UPPER = 1 /* g <= 0: it pulls down only, as a rope does */
};

/* Values of tendon_term_type. A tendon has joint terms only (fixed), or points and pulleys (spatial). */
enum {
    SAP_TENDON_JOINT = 0, /* coefficient times a coordinate */
    SAP_TENDON_POINT = 1, /* the next point of the branch, straight from the one before */
    SAP_TENDON_PULLEY = 2 /* begins a branch whose length is divided by the divisor */
};

/* All arrays are host memory, row-major. As an argument of sap_model_create they are the caller's and are copied: a
 * "required" array must not be NULL unless its length is 0; any other array may be NULL and then takes the given
 * default. As returned by sap_model_arrays they are the model's, live as long as the model, and none is NULL. Numbers
 * are finite unless a comment allows infinity. docs/model.md lists the rules. */
typedef struct SapModelArrays {
    const char *name; /* any text; NULL = "" */

    /* ---- counts ---- */
    int num_bodies;        /* nb, 1 .. 32767; equals num_joints: every body is the child of exactly one joint */
    int num_joints;        /* nj, 1 .. 32767 */
    int num_dofs;          /* nv, 1 .. 32767: sum of the joints' dofs */
    int num_coords;        /* nq: sum of the joints' coordinates */
    int num_shapes;        /* ns, 0 .. 2^20 */
    int num_articulations; /* na >= 1; ignored on input if articulation_start is NULL */

    double gravity[3]; /* m/s^2; sap_model_arrays_default sets (0, 0, -9.81) */

    /* ---- joints; a free joint has parent -1 and the identity for joint_X_p and joint_X_c ---- */
    const int32_t *joint_type;     /* [nj] SapJointType; required */
    const int32_t *joint_parent;   /* [nj] body index of the child of an earlier joint, or -1 = world; required */
    const int32_t *joint_child;    /* [nj] body index, each body once; required */
    const int32_t *joint_dof_dim;  /* [nj][2] linear and angular axes; required for D6 (<= 3 each, sum >= 1); default:
                                      from the type */
    const int32_t *joint_q_start;  /* [nj+1] first coordinate of each joint, last entry nq; default: computed */
    const int32_t *joint_qd_start; /* [nj+1] first dof of each joint, last entry nv; default: computed */
    const double *joint_X_p;       /* [nj][7] m, pose of F in the parent body; default identity */
    const double *joint_X_c;       /* [nj][7] m, pose of M in the child body; default identity */

    /* Whether collision between the shapes of the child and of the parent body is disabled. No effect if the parent is
     * the world. */
    const int32_t *joint_filter_parent; /* [nj] 1: they do not collide, 0: they do; default 1 */
    /* The parent of a joint is in the range of that joint, or is the world. */
    const int32_t *articulation_start; /* [na+1] joint ranges, 0 .. nj, increasing; default: one range */

    /* ---- dofs, in public order (a free joint: linear 0..2, angular 3..5). The angular axes of one D6 joint are
     * orthogonal to 1e-6 and, if three, right-handed ---- */
    const double *joint_axis; /* [nv][3] unit axis in F; required for prismatic, revolute and D6 dofs, else ignored */
    const double *joint_armature;     /* [nv] kg or kg m^2, >= 0, added to the diagonal of the mass matrix; default 0 */
    const double *joint_damping;      /* [nv] N s/m or N m s/rad, >= 0, implicit viscous damping; default 0 */
    const double *joint_friction;     /* [nv] N or N m, >= 0, Coulomb friction; default 0 */
    const int32_t *joint_target_mode; /* [nv] SAP_TARGET_..., 0 .. 4; default 0 */
    const double *joint_target_ke;    /* [nv] N/m or N m/rad, 0 or >= 1e-20, position gain of the drive; default 0 */
    const double *joint_target_kd;    /* [nv] N s/m or N m s/rad, 0 or >= 1e-20, velocity gain of a drive; default 0 */
    const double *joint_effort_limit; /* [nv] N or N m, > 0, infinity allowed; bound of the drive; default infinity */
    const double *joint_limit_lower;  /* [nv] m or rad, -infinity allowed; default -infinity */
    const double *joint_limit_upper;  /* [nv] m or rad, >= lower, infinity allowed; default infinity */
    const double *joint_limit_ke;     /* [nv] N/m or N m/rad, >= 0, stiffness of the limits; 0 = no limit; default 0 */
    const double *joint_limit_kd;     /* [nv] N s/m or N m s/rad, >= 0, damping of the limits; default 0 */

    /* ---- bodies ---- */
    const double *body_mass;    /* [nb] kg, > 0; required */
    const double *body_com;     /* [nb][3] m, centre of mass in the body frame; default 0 */
    const double *body_inertia; /* [nb][9] kg m^2, about the centre of mass, body axes, symmetric positive definite; the
                                   principal moments obey the triangle inequality; required */
    const double *body_gravcomp; /* [nb] share of gravity that is compensated, a force -gravcomp m g at the centre of
                                    mass: 0 none, 1 the body floats; default 0 */

    /* ---- shapes ---- */
    const int32_t *shape_type;        /* [ns] SapShapeType; required */
    const int32_t *shape_body;        /* [ns] body index, -1 = static world geometry; required */
    const double *shape_transform;    /* [ns][7] m, pose in the body (or world) frame; default identity */
    const double *shape_scale;        /* [ns][3] m (hull: 1), sizes of the SapShapeType, > 0 (plane: >= 0); required */
    const double *shape_margin;       /* [ns] m, >= 0, offset of the contact surface; default 0 */
    const double *shape_gap;          /* [ns] m, >= 0, distance at which contacts begin before touching; default 0 */
    const double *shape_material_mu;  /* [ns] Coulomb friction, >= 0; default 0.5 */
    const double *shape_material_ke;  /* [ns] N/m, > 0, infinity = rigid; default 1e5 */
    const double *shape_material_tau; /* [ns] s, >= 0, dissipation time, of the contact law `sap`; default 0.01 */
    const double *shape_material_dissipation; /* [ns] s/m, >= 0, of `similar` and `lagged`; default 50 */
    /* Group 0 collides with nothing, g > 0 with g and all groups < 0, g < 0 with all groups but 0 and g. */
    const int32_t *shape_collision_group; /* [ns] any; default 1 */
    const int32_t *shape_flags;           /* [ns] bits SAP_SHAPE_...; default visible and colliding */

    const int32_t *shape_mesh; /* [ns] hull: index of its mesh; height field: index of its grid; else -1; default -1 */

    /* Pairs of bodies whose shapes do not collide, and pairs of shapes that do not. */
    int num_filter_pairs;              /* 0 .. 2^24 */
    const int32_t *body_filter_pairs;  /* [num_filter_pairs][2] body indices; required */
    int num_shape_filter_pairs;        /* 0 .. 2^24 */
    const int32_t *shape_filter_pairs; /* [num_shape_filter_pairs][2] shape indices; required */

    /* ---- meshes: points whose convex hulls are shapes; several shapes may use one. The mesh of a hull has 4 or more
     * vertices, which span a volume ---- */
    int num_meshes;            /* nm, 0 .. 2^20 */
    int num_mesh_vertices;     /* sum over all meshes, 0 .. 2^24 */
    const int32_t *mesh_start; /* [nm+1] first vertex of each mesh, last entry num_mesh_vertices; required if nm > 0 */
    const double *mesh_vertices; /* [num_mesh_vertices][3] m, in the shape frame before shape_scale; required */

    /* ---- grids of height fields ---- */
    int num_height_fields;            /* nh, 0 .. 2^20 */
    int num_heights;                  /* sum over all grids, 0 .. 2^26 */
    const int32_t *height_field_size; /* [nh][2] rows (along y), columns (along x), >= 2; required */
    const double *heights; /* [num_heights] m, grid after grid, row-major; along z of the shape frame; required */

    /* ---- constraints between bodies or coordinates. A constraint acts with its impulse on b and the opposite on a;
     * either body may be the world, not both static and not joined to each other by fixed joints ---- */
    int num_constraints;                  /* nc, 0 .. 32767 */
    const int32_t *constraint_type;       /* [nc] SapConstraintType; required */
    const int32_t *constraint_body;       /* [nc][2] a, b; -1 = world; couplers: -1, -1; default -1 */
    const double *constraint_X;           /* [nc][2][7] m, frames in a and b (in the world's frame for -1); ball and
                                            distance use the positions; default identity */
    const int32_t *constraint_coordinate; /* [nc][2] couplers: x0, x1 as a public dof index with its own coordinate, or
                                            nv + tendon index; x1 may be -1 = none; default -1 */
    const double *constraint_polynomial;  /* [nc][5] couplers: x0 - ref0 = sum_k c_k (x1 - ref1)^k; default 0 1 0 0 0 */
    const double *constraint_reference;   /* [nc][2] couplers: ref0, ref1; default 0 */
    const double *constraint_length;      /* [nc] m, distances: > 0; default 0 */
    const double *constraint_ke; /* [nc][2] stiffness of translation (or of the one row) and of a weld's rotation, N/m
                                     or N m/rad, > 0, infinity = rigid; default infinity */
    const double *constraint_kd; /* [nc][2] damping, N s/m or N m s/rad, >= 0, 0 where ke is infinite; default 0 */
    const int32_t *constraint_side;   /* [nc] SAP_SIDE_...; distance and coupler only; default 0 */
    const int32_t *constraint_active; /* [nc] 1: acts, 0: not; initial value of the control; default 1 */

    /* ---- tendons: lengths that are a sum of coordinates, or of straight segments between points ---- */
    int num_tendons;             /* nt, 0 .. 32767 */
    int num_tendon_terms;        /* sum over all tendons, 0 .. 2^20 */
    const int32_t *tendon_start; /* [nt+1] first term of each tendon, last entry num_tendon_terms; required if nt > 0 */
    const int32_t *tendon_term_type;  /* [num_tendon_terms] SAP_TENDON_...; required */
    const int32_t *tendon_term_index; /* [num_tendon_terms] joint: public dof with its own coordinate, each once per
                                         tendon; point: body or -1 = world; pulley: ignored; required */
    const double *tendon_term_value;  /* [num_tendon_terms][3] joint: coefficient in [0]; point: m, in the body; pulley:
                                         divisor > 0 in [0]; required */
    const double *tendon_offset;      /* [nt] m or rad, added to the length; default 0 */
    const double *tendon_limit_lower; /* [nt] m or rad, -infinity allowed; default -infinity */
    const double *tendon_limit_upper; /* [nt] m or rad, >= lower, infinity allowed; default infinity */
    const double *tendon_limit_ke;    /* [nt] N/m, > 0, infinity = rigid; default infinity */
    const double *tendon_limit_kd;    /* [nt] N s/m, >= 0, 0 where limit_ke is infinite; default 0 */
    const double *tendon_spring_ke;   /* [nt] N/m, >= 0, stiffness outside the rest band; default 0 */
    const double *tendon_spring_lower; /* [nt] m or rad, rest band; default 0 */
    const double *tendon_spring_upper; /* [nt] m or rad, >= spring_lower; default 0 */
    const double *tendon_armature;     /* [nt] kg, >= 0, inertia along the tendon; default 0 */
    const double *tendon_damping;      /* [nt] N s/m, >= 0; default 0 */
    const double *tendon_friction;     /* [nt] N, >= 0, Coulomb friction; default 0 */
    const int32_t *tendon_target_mode; /* [nt] SAP_TARGET_..., as of a dof; default 0 */
    const double *tendon_target_ke;    /* [nt] N/m, 0 or >= 1e-20, position gain of the drive; default 0 */
    const double *tendon_target_kd;    /* [nt] N s/m, 0 or >= 1e-20, velocity gain of the drive; default 0 */
    const double *tendon_effort_limit; /* [nt] N, > 0, infinity allowed; bound of the drive; default infinity */
    const double *tendon_target_pos;   /* [nt] m or rad, initial control; default 0 */
    const double *tendon_target_vel;   /* [nt] m/s or rad/s, initial control; default 0 */

    /* ---- initial state and control of a world ---- */
    const double *joint_q;  /* [nq] m, rad, unit quaternions; default: zeros and identity quaternions */
    const double *joint_qd; /* [nv] m/s or rad/s, public order; default 0 */
    const double *joint_f;  /* [nv] N or N m, public order (free joint: [f ; torque about the COM]); default 0 */
    const double *joint_target_pos; /* [nv] m or rad; default 0 */
    const double *joint_target_vel; /* [nv] m/s or rad/s; default 0 */
    const double *joint_act;        /* [nv] N or N m, feed-forward of the drive; default 0 */

    /* ---- keyframes: further states by name ---- */
    int num_keyframes;               /* nk, 0 .. 1024 */
    const double *keyframe_joint_q;  /* [nk][nq] as joint_q; required */
    const double *keyframe_joint_qd; /* [nk][nv] as joint_qd; default 0 */

    /* ---- names; an array or entry that is NULL on input becomes "body_0", "joint_0", ... No two bodies, joints or
     * keyframes have the same name ---- */
    const char *const *body_name;         /* [nb] */
    const char *const *joint_name;        /* [nj] */
    const char *const *shape_name;        /* [ns] */
    const char *const *articulation_name; /* [na] */
    const char *const *keyframe_name;     /* [nk] */
    const char *const *constraint_name;   /* [nc] all different */
    const char *const *tendon_name;       /* [nt] all different */
} SapModelArrays;

typedef struct SapModel SapModel;

/* Sets every field of *arrays to its default: counts 0, pointers NULL, gravity (0, 0, -9.81). Does nothing for NULL. */
SAP_API void sap_model_arrays_default(SapModelArrays *arrays);

/* Checks and copies `arrays` into a new model, which the caller owns. A broken rule gives SAP_ERROR_MODEL and a message
 * with the array, the index (and the body, joint or shape by name), the value and what is allowed. Vectors and
 * quaternions within 1e-6 of unit length are normalised, others are an error; nothing else changes. */
SAP_API SapStatus sap_model_create(const SapModelArrays *arrays, SapModel **out);

/* As sap_model_create, but without the normalisation: axes and quaternions keep their digits. For number-by-number
 * comparison with a program that uses them as they are (option compat). */
SAP_API SapStatus sap_model_copy(const SapModelArrays *arrays, SapModel **out);

/* Releases the caller's reference; NULL is allowed. Solvers and batches keep the model alive, so they may be destroyed
 * later. */
SAP_API void sap_model_destroy(SapModel *model);

/* The arrays of a model, owned by the model. NULL gives NULL. */
SAP_API const SapModelArrays *sap_model_arrays(const SapModel *model);

/* Index of the body, joint, keyframe, constraint or tendon with that name, or -1; -1 for a NULL model or name. */
SAP_API int sap_model_find_body(const SapModel *model, const char *name);
SAP_API int sap_model_find_joint(const SapModel *model, const char *name);
SAP_API int sap_model_find_keyframe(const SapModel *model, const char *name);
SAP_API int sap_model_find_constraint(const SapModel *model, const char *name);
SAP_API int sap_model_find_tendon(const SapModel *model, const char *name);

/* The name of array i = 0, 1, ... of a model (of SapModelArrays, gravity and name too), and the FNV-1a hash of its
 * bytes in *hash, to compare models in different processes; NULL past the last one, for a negative i and for a NULL
 * argument. Static text. */
SAP_API const char *sap_model_array_hash(const SapModel *model, int i, uint64_t *hash);

/* Warning i = 0, 1, ... of a model, one line that names the body and the value; NULL past the last one, for a negative
 * i and for a NULL model. The model owns the text. A body gets a warning if the rules allow its values but its contacts
 * will be unrealistic: a moment of inertia more than 100 times smaller than for a solid of its shapes and mass
 * (docs/faq.md). */
SAP_API const char *sap_model_warning(const SapModel *model, int i);

/* Chooses at most `most` (>= 8) of n vertices [n][3], so that their convex hull is close to the hull of all: *num_kept
 * indices, increasing, in kept ([most], owned by the caller). *lost is the largest distance of a vertex from the hull
 * of those kept, in their unit; 0 if the hull of all vertices has at most `most` of them. For meshes before
 * sap_model_create: the cost of a contact grows with the vertices of its hulls. The vertices must span a volume
 * (SAP_ERROR_MODEL). */
SAP_API SapStatus sap_mesh_reduce(const double *vertices, int n, int most, int32_t *kept, int *num_kept, double *lost);

SAP_END_DECLS

#endif
