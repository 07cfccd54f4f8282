/* A scene under construction: growing tables of bodies, joints, dofs, ... that become a model at the end.
 *
 * Texts and entries belong to the YAML tree, which outlives the builder. A pointer to a row is valid until the next row
 * is appended to its table. */
#ifndef SAPWOOD_HOST_SCENE_BUILDER_H
#define SAPWOOD_HOST_SCENE_BUILDER_H

#include <sapwood/scene.h>

#include "host/model/inertia.h"
#include "host/model/shape_types.h"
#include "host/scene/fields.h"
#include "host/base/keyword.h"

/* Contact material and collision settings of a shape. */
typedef struct SapSceneMaterial {
    double density; /* kg/m^3 */
    double ke, tau, dissipation, mu, margin;
    double gap; /* NaN: builder.rigid_gap */
    int32_t collision_group;
    bool has_shape_collision, is_visible, is_site;
} SapSceneMaterial;

typedef struct SapSceneBody {
    const SapYamlEntry *entry;
    const char *id, *label;
    double pose[7];         /* in world coordinates */
    SapMassProperties mass; /* including the shapes read so far */
    double gravcomp;
    SapSceneMaterial material; /* defaults of its shapes */
    int joint;                 /* the joint whose child it is; -1: none yet */
} SapSceneBody;

typedef struct SapSceneJoint {
    const SapYamlEntry *entry;
    const char *id, *label;
    int32_t type, parent, child, dim[2], filter_parent;
    double X_p[7], X_c[7];
    int first_dof, num_dofs, first_coord, num_coords;
} SapSceneJoint;

typedef struct SapSceneDof {
    double axis[3]; /* zero: not given */
    double armature, damping, friction, effort_limit;
    double target_pos, target_vel, target_ke, target_kd;
    double limit_lower, limit_upper, limit_ke, limit_kd;
    double qd, f, act;
    int32_t target_mode;
} SapSceneDof;

typedef struct SapSceneCoord {
    double q;
} SapSceneCoord;

typedef struct SapSceneShape {
    const char *label;        /* NULL: the model's default */
    int32_t type, body, mesh; /* mesh: index in the model, -1 = none */
    double pose[7], scale[3], margin, gap, mu, ke, tau, dissipation;
    int32_t collision_group, flags;
} SapSceneShape;

typedef struct SapSceneArticulation {
    const char *label; /* NULL: the model's default */
    int32_t start;     /* first joint */
} SapSceneArticulation;

typedef struct SapScenePair {
    int32_t members[2]; /* bodies or shapes */
} SapScenePair;

typedef struct SapSceneVertex {
    double position[3];
} SapSceneVertex;

typedef struct SapSceneGrid {
    int32_t size[2];
} SapSceneGrid;

typedef struct SapSceneNumber {
    double value;
} SapSceneNumber;

typedef struct SapSceneStart {
    int32_t start;
} SapSceneStart;

typedef struct SapSceneKeyframe {
    const char *name; /* NULL: the model's default */
} SapSceneKeyframe;

typedef struct SapSceneConstraint {
    const SapYamlEntry *entry;
    const char *id, *label;
    int32_t type, body[2], coordinate[2], side, active;
    double X[2][7], polynomial[5], reference[2];
    double length; /* NaN: the distance in the initial state */
    double ke[2], kd[2];
    bool placed; /* X[1] is given; else it is the place of X[0] in the initial state */
} SapSceneConstraint;

typedef struct SapSceneTendon {
    const SapYamlEntry *entry;
    const char *id, *label;
    double offset, limit_lower, limit_upper, limit_ke, limit_kd;
    double spring_ke, spring_lower, spring_upper; /* NaN: the length in the initial state */
    double armature, damping, friction;
    double target_pos, target_vel, target_ke, target_kd, effort_limit;
    int32_t target_mode;
} SapSceneTendon;

typedef struct SapSceneTerm {
    int32_t type, index;
    double value[3];
} SapSceneTerm;

typedef struct SapSceneRows {
    void *items;
    int count, capacity;
    size_t size; /* size of one item */
} SapSceneRows;

/* A map from names to row indices. */
typedef struct SapSceneNames {
    struct SapSceneName *slots;
    int count, capacity;
} SapSceneNames;

typedef struct SapSceneBuilder {
    const char *file, *asset_root;
    double gravity[3], rigid_gap, default_body_armature;
    int max_hull_vertices;     /* of a mesh; 0 = any number */
    SapSceneMaterial material; /* builder.defaults.shape */
    SapSceneDof dof;           /* builder.defaults.joint */
    SapSceneRows rows[SAP_NUM_ROWS];
    SapSceneNames body_names, joint_names; /* ids and labels */
    SapSceneNames constraint_names, tendon_names;
    SapSceneNames mesh_files; /* meshes by the text of `file` */
    SapSceneRows hulls;       /* SapHullShape of each mesh; without vertices: not known yet */
} SapSceneBuilder;

/* ---- builder.c ---- */

/* `file` is the path of the scene; files that it names must be in its folder or in asset_root, which may be NULL. */
void sap_scene_builder_init(SapSceneBuilder *builder, const char *file, const char *asset_root);
void sap_scene_builder_free(SapSceneBuilder *builder);

SapStatus sap_scene_out_of_memory(const SapSceneBuilder *builder);

/* Appends a row of zeros to a table. */
SapStatus sap_scene_append(SapSceneBuilder *builder, SapModelRows rows, void **out);

/* Appends an empty hull for a new mesh. */
SapStatus sap_scene_append_hull(SapSceneBuilder *builder);

/* Appends `count` rows of zeros; *out is the first. */
SapStatus sap_scene_append_many(SapSceneBuilder *builder, SapModelRows rows, int count, void **out);

/* The row index of a name, or -1. */
int sap_scene_find_name(const SapSceneNames *names, const char *name);
/* Fails for a scalar that is not one of the names; the message has the nearest. */
SapStatus sap_scene_refuse_name(const SapSceneNames *names, const SapYamlEntry *entry, const char *allowed);
/* Registers the id and the label of row `index`; rejects a name that another row has. */
SapStatus sap_scene_add_names(SapSceneBuilder *builder, SapSceneNames *names, const SapYamlEntry *entry, const char *id,
                              const char *label, int index);

/* A model array that an operation may edit: the position of its values in the rows of the builder. */
typedef struct SapSceneColumn {
    const SapModelField *field;
    size_t offset; /* offset of the value in a row */
} SapSceneColumn;

/* The editable array of that name, which has one number per row; false if there is none. */
bool sap_scene_column(const char *name, SapSceneColumn *out);
/* The names of all editable arrays. */
SapList sap_scene_column_names(void);
double sap_scene_get(const SapSceneBuilder *builder, SapSceneColumn column, int row);
void sap_scene_set(SapSceneBuilder *builder, SapSceneColumn column, int row, double value);

/* Converts the tables to a model. */
SapStatus sap_scene_finish(const SapSceneBuilder *builder, const char *name, SapModel **out);

static inline int sap_scene_count(const SapSceneBuilder *builder, SapModelRows rows) {
    return builder->rows[rows].count;
}

static inline SapSceneBody *sap_scene_body(const SapSceneBuilder *builder, int i) {
    return (SapSceneBody *)builder->rows[SAP_ROWS_BODIES].items + i;
}

static inline SapSceneJoint *sap_scene_joint(const SapSceneBuilder *builder, int i) {
    return (SapSceneJoint *)builder->rows[SAP_ROWS_JOINTS].items + i;
}

static inline SapSceneDof *sap_scene_dof(const SapSceneBuilder *builder, int i) {
    return (SapSceneDof *)builder->rows[SAP_ROWS_DOFS].items + i;
}

static inline SapSceneCoord *sap_scene_coord(const SapSceneBuilder *builder, int i) {
    return (SapSceneCoord *)builder->rows[SAP_ROWS_COORDS].items + i;
}

static inline SapHullShape *sap_scene_hull(const SapSceneBuilder *builder, int mesh) {
    return (SapHullShape *)builder->hulls.items + mesh;
}

static inline SapSceneShape *sap_scene_shape(const SapSceneBuilder *builder, int i) {
    return (SapSceneShape *)builder->rows[SAP_ROWS_SHAPES].items + i;
}

static inline SapSceneConstraint *sap_scene_constraint(const SapSceneBuilder *builder, int i) {
    return (SapSceneConstraint *)builder->rows[SAP_ROWS_CONSTRAINTS].items + i;
}

static inline SapSceneTendon *sap_scene_tendon(const SapSceneBuilder *builder, int i) {
    return (SapSceneTendon *)builder->rows[SAP_ROWS_TENDONS].items + i;
}

static inline SapSceneTerm *sap_scene_term(const SapSceneBuilder *builder, int i) {
    return (SapSceneTerm *)builder->rows[SAP_ROWS_TENDON_TERMS].items + i;
}

/* First term of tendon i, 0 .. number of tendons. */
static inline int sap_scene_tendon_start(const SapSceneBuilder *builder, int i) {
    return ((const SapSceneStart *)builder->rows[SAP_ROWS_TENDON_STARTS].items)[i].start;
}

/* ---- shapes.c ---- */

extern const SapSceneMaterial sap_scene_default_material;

/* Reads a map that holds only material fields. */
SapStatus sap_scene_read_material(const SapYamlEntry *entry, SapSceneMaterial *material);
SapStatus sap_scene_read_bodies(SapSceneBuilder *builder, const SapYamlEntry *list);
/* Adds a shape to a body (-1: the world). `own` is a table of further keys of the same map, or NULL. */
SapStatus sap_scene_read_shape(SapSceneBuilder *builder, const SapYamlEntry *entry, int body, const SapSceneTable *own);
/* `entry` is the value of the key ground, or NULL. */
SapStatus sap_scene_read_ground(SapSceneBuilder *builder, const SapYamlEntry *entry);
/* The index of a body by id or label; "world" gives -1 where it is allowed. */
SapStatus sap_scene_read_body_name(const SapSceneBuilder *builder, const SapYamlEntry *entry, bool world, int *out);
/* To be called after all shapes are read. */
SapStatus sap_scene_check_masses(const SapSceneBuilder *builder);

/* ---- meshes.c ---- */

/* The geometry keys of a shape with a mesh or a height field, read by a table before sap_scene_read_geometry. */
typedef struct SapSceneGeometry {
    const SapYamlEntry *file, *vertices, *scale, *heights, *choices;
    double half[2];            /* half extents of a height field */
    double base, height_scale; /* heights of a height field are base + height_scale * given */
} SapSceneGeometry;

/* The keys of a mesh or of a height field. */
SapSceneTable sap_scene_geometry_keys(SapShapeData data, SapSceneGeometry *target);

/* Adds the mesh or the height field described by the keys of the shape at `entry`, unless its file has been read
 * already. Sets the sizes and the mesh index of the shape and, for a hull of that density, its mass. */
SapStatus sap_scene_read_geometry(SapSceneBuilder *builder, const SapYamlEntry *entry, const SapSceneGeometry *keys,
                                  double density, SapSceneShape *shape, SapMassProperties *mass);

/* ---- keyframes.c ---- */

SapStatus sap_scene_read_keyframes(SapSceneBuilder *builder, const SapYamlEntry *list);
/* To be called after all shapes are read, including the ground. */
SapStatus sap_scene_read_collision_filters(SapSceneBuilder *builder, const SapYamlEntry *list);

/* ---- joints.c ---- */

extern const SapSceneDof sap_scene_default_dof;

/* Reads a map that holds only fields of joint axes. */
SapStatus sap_scene_read_dof(const SapYamlEntry *entry, SapSceneDof *dof);
SapStatus sap_scene_read_joints(SapSceneBuilder *builder, const SapYamlEntry *list);
SapStatus sap_scene_read_articulations(SapSceneBuilder *builder, const SapYamlEntry *list);
/* The index of a joint by id, label, or the part of its label after a slash. */
SapStatus sap_scene_read_joint_name(const SapSceneBuilder *builder, const SapYamlEntry *entry, int *out);
/* To be called after all joints are read: checks that every body has one. `root` is the entry of the document. */
SapStatus sap_scene_check_joints(const SapSceneBuilder *builder, const SapYamlEntry *root);

/* ---- tendons.c, constraints.c ---- */

SapStatus sap_scene_read_tendons(SapSceneBuilder *builder, const SapYamlEntry *list);
SapStatus sap_scene_read_constraints(SapSceneBuilder *builder, const SapYamlEntry *list);

/* A body of a constraint or of a point of a tendon, by id or label, or world (-1). */
SapStatus sap_scene_read_anchor(const SapSceneBuilder *builder, const SapYamlEntry *entry, int *out);
/* The dof of a joint with one axis, or of axis number `axis` (NULL: not given) of a joint that lists its axes. `what`
 * takes the coordinate: "a coupler". */
SapStatus sap_scene_read_coordinate(const SapSceneBuilder *builder, const SapYamlEntry *joint, const SapYamlEntry *axis,
                                    const char *what, int *dof);
/* The first joint with dofs on the way from a body to the world, or -1 for a body that cannot move. */
int sap_scene_moving_joint(const SapSceneBuilder *builder, int body);

/* ---- place.c ---- */

/* Sets what constraints and tendons take from the initial state: frames of b, lengths, rest lengths. To be called after
 * all edits of the initial state. */
SapStatus sap_scene_place_constraints(SapSceneBuilder *builder);

/* ---- post_build.c ---- */

SapStatus sap_scene_read_initial_joint_q(SapSceneBuilder *builder, const SapYamlEntry *list);
SapStatus sap_scene_read_post_build(SapSceneBuilder *builder, const SapYamlEntry *list);

#endif
