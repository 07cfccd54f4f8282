/* Random pairs of shapes for tests of collision: see collide_pairs.h. */
#include "support/collide_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/need.h"

#define PAIR(a, b)                                                                                                     \
    {                                                                                                                  \
        { SAP_SHAPE_##a, SAP_SHAPE_##b }                                                                               \
    }

/* The order of the data file: plane, sphere, capsule, ellipsoid, cylinder, box, hull with each that follows. */
const ShapePair convex_pairs[NUM_CONVEX_PAIRS] = {
    PAIR(PLANE, SPHERE),
    PAIR(PLANE, CAPSULE),
    PAIR(PLANE, ELLIPSOID),
    PAIR(PLANE, CYLINDER),
    PAIR(PLANE, BOX),
    PAIR(PLANE, HULL),
    PAIR(SPHERE, SPHERE),
    PAIR(SPHERE, CAPSULE),
    PAIR(SPHERE, ELLIPSOID),
    PAIR(SPHERE, CYLINDER),
    PAIR(SPHERE, BOX),
    PAIR(SPHERE, HULL),
    PAIR(CAPSULE, CAPSULE),
    PAIR(CAPSULE, ELLIPSOID),
    PAIR(CAPSULE, CYLINDER),
    PAIR(CAPSULE, BOX),
    PAIR(CAPSULE, HULL),
    PAIR(ELLIPSOID, ELLIPSOID),
    PAIR(ELLIPSOID, CYLINDER),
    PAIR(ELLIPSOID, BOX),
    PAIR(ELLIPSOID, HULL),
    PAIR(CYLINDER, CYLINDER),
    PAIR(CYLINDER, BOX),
    PAIR(CYLINDER, HULL),
    PAIR(BOX, BOX),
    PAIR(BOX, HULL),
    PAIR(HULL, HULL),
    PAIR(PLANE, CONE),
    PAIR(SPHERE, CONE),
    PAIR(CAPSULE, CONE),
    PAIR(ELLIPSOID, CONE),
    PAIR(CYLINDER, CONE),
    PAIR(BOX, CONE),
    PAIR(CONE, CONE),
    PAIR(CONE, HULL),
};

const char *shape_type_name(SapShapeType type) {
    switch (type) {
    case SAP_SHAPE_PLANE: return "plane";
    case SAP_SHAPE_HEIGHT_FIELD: return "height_field";
    case SAP_SHAPE_SPHERE: return "sphere";
    case SAP_SHAPE_CAPSULE: return "capsule";
    case SAP_SHAPE_ELLIPSOID: return "ellipsoid";
    case SAP_SHAPE_CYLINDER: return "cylinder";
    case SAP_SHAPE_BOX: return "box";
    case SAP_SHAPE_CONE: return "cone";
    case SAP_SHAPE_HULL: return "hull";
    }
    return "?";
}

bool shape_is_curved(SapShapeType type) {
    return type == SAP_SHAPE_ELLIPSOID || type == SAP_SHAPE_CYLINDER || type == SAP_SHAPE_CONE;
}

/* ---- geometry ---- */

static double signed_size(double size, double direction) {
    return direction >= 0 ? size : -size;
}

static void support_vertex(const TestShape *shape, const double *n, double *p) {
    double most = -INFINITY;
    for (int i = 0; i < shape->num_vertices; i++) {
        double along = dot3(shape->vertex[i], n);
        if (along > most) {
            most = along;
            memcpy(p, shape->vertex[i], sizeof shape->vertex[i]);
        }
    }
}

/* On the circle of that radius at height z; any point of it where n is along the axis. */
static void support_circle(const double *n, double radius, double z, double *p) {
    double rho = length(n, 2);
    p[0] = rho > 0 ? radius * n[0] / rho : radius;
    p[1] = rho > 0 ? radius * n[1] / rho : 0;
    p[2] = z;
}

void support_point(const TestShape *shape, const double n[3], double p[3]) {
    const double *s = shape->size;
    double scaled[3] = {s[0] * n[0], s[1] * n[1], s[2] * n[2]};
    switch (shape->type) {
    case SAP_SHAPE_SPHERE:
    case SAP_SHAPE_CAPSULE:
        for (int i = 0; i < 3; i++)
            p[i] = s[0] * n[i] / length(n, 3);
        if (shape->type == SAP_SHAPE_CAPSULE)
            p[2] += signed_size(s[1], n[2]);
        break;
    case SAP_SHAPE_ELLIPSOID:
        for (int i = 0; i < 3; i++)
            p[i] = s[i] * scaled[i] / length(scaled, 3);
        break;
    case SAP_SHAPE_CYLINDER: support_circle(n, s[0], signed_size(s[1], n[2]), p); break;
    case SAP_SHAPE_CONE: /* the tip, or the rim of the base */
        if (2 * s[1] * n[2] >= s[0] * length(n, 2))
            memcpy(p, (const double[]){0, 0, s[1]}, 3 * sizeof *p);
        else
            support_circle(n, s[0], -s[1], p);
        break;
    case SAP_SHAPE_BOX:
        for (int i = 0; i < 3; i++)
            p[i] = signed_size(s[i], n[i]);
        break;
    case SAP_SHAPE_HULL: support_vertex(shape, n, p); break;
    default: cr_assert_fail("a %s has no support point", shape_type_name(shape->type));
    }
}

/* ---- draws ---- */

enum { DRAW_SEED = 20250, NUM_HULLS = 7 };

static void random_position(Random *random, double *p) {
    for (int i = 0; i < 3; i++)
        p[i] = random_between(random, -0.5, 0.5);
}

static int copy_vertices(const double (*from)[3], int n, TestShape *shape) {
    memcpy(shape->vertex, from, (size_t)n * sizeof *from);
    return n;
}

/* The vertex sets of hulls, before their scale: tetrahedron, wedge, octahedron, cube, and points of the unit sphere. */
static void hull_kind(int kind, TestShape *shape) {
    static const double tetrahedron[][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    static const double wedge[][3] = {{-1, -1, -1}, {1, -1, -1}, {0, -1, 1}, {-1, 1, -1}, {1, 1, -1}, {0, 1, 1}};
    static const double octahedron[][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    static const double cube[][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                     {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
    static const int on_sphere[] = {12, 20, 32};
    switch (kind) {
    case 0: shape->num_vertices = copy_vertices(tetrahedron, 4, shape); return;
    case 1: shape->num_vertices = copy_vertices(wedge, 6, shape); return;
    case 2: shape->num_vertices = copy_vertices(octahedron, 6, shape); return;
    case 3: shape->num_vertices = copy_vertices(cube, 8, shape); return;
    default: break;
    }
    Random random = random_seed(DRAW_SEED); /* one stream for the three sets: each overwrites the one before it */
    for (int k = 4; k <= kind; k++) {
        shape->num_vertices = on_sphere[k - 4];
        for (int i = 0; i < shape->num_vertices; i++)
            random_unit(&random, shape->vertex[i], 3);
    }
}

static void draw_shape(PoseSet *set, int side, SapShapeType type, int index) {
    TestShape *shape = &set->shape[side];
    memset(shape, 0, sizeof *shape);
    shape->type = type;
    for (int i = 0; i < 3; i++)
        shape->size[i] = random_between(&set->random, 0.1, 0.5);
    if (type != SAP_SHAPE_HULL)
        return;
    hull_kind((index + 3 * side) % NUM_HULLS, shape);
    for (int v = 0; v < shape->num_vertices; v++)
        for (int i = 0; i < 3; i++)
            shape->vertex[v][i] *= shape->size[i];
}

void pose_set_begin(PoseSet *set, int pair, int index) {
    set->random = random_seed((uint64_t)(DRAW_SEED + 1000 * (pair + 1) + index));
    set->row = 0;
    for (int side = 0; side < 2; side++)
        draw_shape(set, side, convex_pairs[pair].type[side], index);
    if (set->shape[0].type == SAP_SHAPE_PLANE) {
        random_position(&set->random, set->plane);
        random_unit(&set->random, set->plane + 3, 4);
    }
}

/* sign times the point of a shape with that orientation farthest along sign n, from the shape's origin; world axes. */
static void far_point(const TestShape *shape, const double *q, const double *n, double sign, double *out) {
    double local[3];
    rotate_back(q, n, local);
    for (int i = 0; i < 3; i++)
        local[i] *= sign;
    double p[3];
    support_point(shape, local, p);
    rotate(q, p, out);
    for (int i = 0; i < 3; i++)
        out[i] *= sign;
}

static void place_on_plane(const PoseSet *set, const double *X0, const double *u, double x, double *X1) {
    static const double z[3] = {0, 0, 1};
    double n[3], w[3];
    rotate(X0 + 3, z, n);
    far_point(&set->shape[1], X1 + 3, n, -1, w);
    double h = dot3(w, n), un = dot3(u, n);
    double gap = set->row % 3 == 0 ? -x * h : set->row % 3 == 1 ? 0.04 * x - 0.02 : x;
    for (int i = 0; i < 3; i++)
        X1[i] = X0[i] + (u[i] - un * n[i]) + (h + gap) * n[i];
}

/* x in [0, 1] moves shape 1 from deep penetration to contact, about contact, or away from it. */
static void place_on_shape(const PoseSet *set, const double *X0, const double *u, double x, double *X1) {
    double w0[3], w1[3], sum[3];
    far_point(&set->shape[0], X0 + 3, u, 1, w0);
    far_point(&set->shape[1], X1 + 3, u, -1, w1);
    for (int i = 0; i < 3; i++)
        sum[i] = w0[i] + w1[i];
    const double factor[] = {1 - 0.6 * x, 0, 1 + x, 1 - 0.6 * x, 0.75 + 0.25 * x, 1 + x};
    int kind = set->row % 6;
    double along = factor[kind] * dot3(sum, u);
    for (int i = 0; i < 3; i++)
        X1[i] = X0[i] + (kind == 1 ? sum[i] + (0.04 * x - 0.02) * u[i] : along * u[i]);
}

void pose_set_next(PoseSet *set, double X0[7], double X1[7]) {
    bool plane = set->shape[0].type == SAP_SHAPE_PLANE;
    double u[3];
    if (plane) {
        memcpy(X0, set->plane, sizeof set->plane);
    } else {
        random_position(&set->random, X0);
        random_unit(&set->random, X0 + 3, 4);
    }
    random_unit(&set->random, X1 + 3, 4);
    random_unit(&set->random, u, 3);
    double x = random_between(&set->random, 0, 1);
    if (plane)
        place_on_plane(set, X0, u, x, X1);
    else
        place_on_shape(set, X0, u, x, X1);
    set->row++;
}

void test_field(TestShape *field, uint64_t seed) {
    Random random = random_seed(seed);
    memset(field, 0, sizeof *field);
    field->type = SAP_SHAPE_HEIGHT_FIELD;
    field->size[0] = 1.5;
    field->size[1] = 1.2;
    for (int r = 0; r < FIELD_ROWS; r++)
        for (int c = 0; c < FIELD_COLUMNS; c++)
            field->height[r][c] = random_between(&random, -0.15, 0.15);
}

/* ---- models ---- */

/* The text of a scene, as long as it needs to be. */
typedef struct Text {
    char *bytes;
    size_t length;
    FILE *stream;
} Text;

static void write_rows(FILE *out, const double *x, int rows, int columns) {
    fputc('[', out);
    for (int r = 0; r < rows; r++) {
        fputs(r ? ", [" : "[", out);
        for (int c = 0; c < columns; c++)
            fprintf(out, "%s%.17g", c ? ", " : "", x[r * columns + c]);
        fputc(']', out);
    }
    fputc(']', out);
}

static void write_shape(FILE *out, const TestShape *shape) {
    const double *s = shape->size;
    switch (shape->type) {
    case SAP_SHAPE_PLANE: /* becomes a plane in set_statics: scenes have only one, the ground */
        fprintf(out, "type: sphere, radius: 1");
        break;
    case SAP_SHAPE_SPHERE: fprintf(out, "type: sphere, radius: %.17g", s[0]); break;
    case SAP_SHAPE_CAPSULE:
    case SAP_SHAPE_CYLINDER:
    case SAP_SHAPE_CONE:
        fprintf(out, "type: %s, radius: %.17g, half_height: %.17g", shape_type_name(shape->type), s[0], s[1]);
        break;
    case SAP_SHAPE_ELLIPSOID: fprintf(out, "type: ellipsoid, a: %.17g, b: %.17g, c: %.17g", s[0], s[1], s[2]); break;
    case SAP_SHAPE_BOX: fprintf(out, "type: box, hx: %.17g, hy: %.17g, hz: %.17g", s[0], s[1], s[2]); break;
    case SAP_SHAPE_HULL:
        fprintf(out, "type: hull, vertices: ");
        write_rows(out, shape->vertex[0], shape->num_vertices, 3);
        break;
    case SAP_SHAPE_HEIGHT_FIELD:
        fprintf(out, "type: height_field, hx: %.17g, hy: %.17g, heights: ", s[0], s[1]);
        write_rows(out, shape->height[0], FIELD_ROWS, FIELD_COLUMNS);
        break;
    }
}

/* A height field is a shape of the world from the start: bodies cannot have one. */
static bool is_field(const TestShape *shape) {
    return shape->type == SAP_SHAPE_HEIGHT_FIELD;
}

static void write_scene(FILE *out, const TestShape *const shape[2]) {
    fprintf(out,
            "schema_version: 1\nground: false\nbuilder: {rigid_gap: 10, defaults: {shape: {density: 0}}}\nbodies:\n");
    for (int i = 0; i < 2; i++) {
        fprintf(out, "- {id: b%d, mass: 1, inertia: [0.1, 0.1, 0.1]", i);
        if (!is_field(shape[i])) {
            fprintf(out, ", shapes: [{");
            write_shape(out, shape[i]);
            fprintf(out, "}]");
        }
        fprintf(out, "}\n");
    }
    fprintf(out, "joints:\n- {id: j0, type: free, parent: world, child: b0}\n"
                 "- {id: j1, type: free, parent: world, child: b1}\n");
    for (int i = 0; i < 2; i++)
        if (is_field(shape[i])) {
            fprintf(out, "post_build:\n- {op: add_shape, body: world, ");
            write_shape(out, shape[i]);
            fprintf(out, "}\n");
        }
}

static SapModel *scene_model(const TestShape *const shape[2]) {
    Text text = {0};
    SapScene *scene;
    text.stream = open_memstream(&text.bytes, &text.length);
    cr_assert_not_null(text.stream);
    write_scene(text.stream, shape);
    fclose(text.stream);
    need(sap_scene_parse(text.bytes, text.length, "pair", &scene));
    free(text.bytes);
    SapModel *model = scene->model;
    scene->model = NULL;
    sap_scene_destroy(scene);
    return model;
}

/* Which shape of the model is shape i: a height field is the last one. */
static int model_shape(const TestShape *const shape[2], int i) {
    return is_field(shape[i]) ? 1 : is_field(shape[1 - i]) ? 0 : i;
}

SapModel *pair_model(const TestShape *const shape[2], const double *const static_pose[2]) {
    SapModel *parsed = scene_model(shape), *model;
    SapModelArrays a = *sap_model_arrays(parsed);
    int32_t type[2], body[2];
    double pose[2][7];
    cr_assert_eq(a.num_shapes, 2);
    memcpy(type, a.shape_type, sizeof type);
    memcpy(body, a.shape_body, sizeof body);
    memcpy(pose, a.shape_transform, sizeof pose);
    for (int i = 0; i < 2; i++) {
        int at = model_shape(shape, i);
        type[at] = shape[i]->type;
        if (static_pose[i] != NULL) {
            body[at] = -1;
            memcpy(pose[at], static_pose[i], sizeof pose[at]);
        }
    }
    a.shape_type = type;
    a.shape_body = body;
    a.shape_transform = pose[0];
    need(sap_model_create(&a, &model));
    sap_model_destroy(parsed);
    return model;
}

/* ---- worlds ---- */

enum { PAIR_SLOTS = 64 };

PairWorlds pair_worlds_create(const TestShape *const shape[2], const double *const static_pose[2], int n) {
    PairWorlds w = {.n = n, .is_static = {static_pose[0] != NULL, static_pose[1] != NULL}};
    SapOptions options;
    need(sap_options_preset("approx64", &options));
    options.max_contacts = PAIR_SLOTS;
    options.threads = 1;
    w.model = pair_model(shape, static_pose);
    w.swapped = model_shape(shape, 0) == 1;
    need(sap_solver_create(w.model, n, &options, &w.solver));
    need(sap_state_create(w.model, n, SAP_F64, &w.state));
    need(sap_contacts_create(n, PAIR_SLOTS, SAP_F64, &w.contacts));
    return w;
}

void pair_worlds_destroy(PairWorlds *w) {
    sap_contacts_destroy(w->contacts);
    sap_state_destroy(w->state);
    sap_solver_destroy(w->solver);
    sap_model_destroy(w->model);
}

void pair_worlds_set(PairWorlds *w, int world, int body, const double X[7]) {
    memcpy((double *)w->state->joint_q + 14 * world + 7 * body, X, 7 * sizeof *X);
}

void pair_worlds_collide(PairWorlds *w) {
    need(sap_collide(w->solver, w->state, w->contacts));
}

int pair_worlds_count(const PairWorlds *w, int world) {
    return w->contacts->count[world];
}

/* A point of shape i (0 or 1) in world axes. */
static void world_point(const PairWorlds *w, int world, int i, const double *point, double *out) {
    if (w->is_static[i])
        memcpy(out, point, 3 * sizeof *out);
    else
        pose_point((const double *)w->state->joint_q + 14 * world + 7 * i, point, out);
}

PairContact pair_worlds_contact(const PairWorlds *w, int world, int slot) {
    const SapContacts *c = w->contacts;
    int at = world * c->capacity + slot;
    const void *const point[2] = {c->point0, c->point1}, *const margin[2] = {c->margin0, c->margin1};
    PairContact out = {.side0 = c->shape0[at] ^ (int)w->swapped};
    cr_assert(c->shape0[at] + c->shape1[at] == 1 && abs(c->shape0[at] - c->shape1[at]) == 1,
              "a contact of the shapes %d and %d; there are 0 and 1", c->shape0[at], c->shape1[at]);
    const double *n = (const double *)c->normal + 3 * at;
    for (int side = 0; side < 2; side++) {
        int i = side ^ out.side0; /* the shape of this side */
        double reach = (side == 0 ? 1 : -1) * ((const double *)margin[side])[at] / length(n, 3);
        world_point(w, world, i, (const double *)point[side] + 3 * at, out.x[i]);
        for (int k = 0; k < 3; k++)
            out.x[i][k] += reach * n[k];
    }
    for (int k = 0; k < 3; k++) {
        out.n[k] = (out.side0 == 0 ? 1 : -1) * n[k] / length(n, 3);
        out.gap += (out.x[1][k] - out.x[0][k]) * out.n[k];
    }
    return out;
}

int pair_worlds_deepest(const PairWorlds *w, int world) {
    int best = -1;
    double least = INFINITY;
    for (int c = 0; c < pair_worlds_count(w, world); c++) {
        double gap = pair_worlds_contact(w, world, c).gap;
        if (gap < least || best < 0) {
            least = gap;
            best = c;
        }
    }
    return best;
}
