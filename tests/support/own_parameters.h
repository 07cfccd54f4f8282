/* Batches whose worlds have parameters of their own, and models with the same values. */
#ifndef SAPWOOD_TESTS_SUPPORT_OWN_PARAMETERS_H
#define SAPWOOD_TESTS_SUPPORT_OWN_PARAMETERS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/plan/parameters.h"
#include "support/number.h"

static const double h = 0.002;

/* ---- models ---- */

enum { NUM_GRIDS = 3 };

/* A number in (-1, 1) that depends on world, parameter and index. */
static inline double noise(int content, int parameter, int i) {
    return sin(12.9898 * (content + 1) + 78.233 * i + 37.719 * parameter);
}

/* Value i of a parameter in the world with that content; `x` is the model's. Every number obeys the rules and does
 * something. */
static inline double varied(SapParameter p, int content, int i, double x) {
    double s = noise(content, (int)p, i);
    switch (p) {
    case SAP_PARAMETER_SHAPE_MESH: return x < 0 ? x : 1 + content % (NUM_GRIDS - 1); /* the model's is 0 */
    case SAP_PARAMETER_GRAVITY: return x + 0.5 * s;
    case SAP_PARAMETER_BODY_COM: return x + 0.01 * s;
    case SAP_PARAMETER_BODY_INERTIA: return x * (1.4 + noise(content, (int)p, i / 9)); /* a body's as a whole */
    case SAP_PARAMETER_BODY_GRAVCOMP: return 0.3 * s;
    case SAP_PARAMETER_JOINT_ARMATURE: return 0.02 * (1 + s);
    case SAP_PARAMETER_JOINT_DAMPING: return 0.1 * (1 + s);
    case SAP_PARAMETER_JOINT_FRICTION: return s > 0 ? 0.3 * s : 0;
    case SAP_PARAMETER_JOINT_EFFORT_LIMIT: return 3 * (1.1 + s);
    case SAP_PARAMETER_JOINT_LIMIT_LOWER: return x - 0.05 * (1 + s);
    case SAP_PARAMETER_JOINT_LIMIT_UPPER: return x + 0.05 * (1 + s);
    case SAP_PARAMETER_SHAPE_MATERIAL_KE: return 2000 * (1.2 + s);
    case SAP_PARAMETER_SHAPE_MARGIN: return 0.002 * (1 + s);
    case SAP_PARAMETER_SHAPE_GAP: return 0.02 * (1 + s);
    case SAP_PARAMETER_CONSTRAINT_X: return i % 7 < 3 ? x + 0.01 * s : x; /* quaternions stay unit */
    case SAP_PARAMETER_TENDON_LIMIT_LOWER:
    case SAP_PARAMETER_TENDON_SPRING_LOWER: return x - 0.01 * (1 + s);
    case SAP_PARAMETER_TENDON_LIMIT_UPPER:
    case SAP_PARAMETER_TENDON_SPRING_UPPER: return x + 0.01 * (1 + s);
    default: return x * (1 + 0.4 * s);
    }
}

static inline SapModel *create_model(const SapModelArrays *a) {
    SapModel *model = NULL;
    cr_assert_eq(sap_model_create(a, &model), SAP_OK, "%s", sap_error_message());
    return model;
}

/* A constraint of each kind, all soft, and two tendons, one below its limits and rest band and one above. */
static inline void add_constraints(SapModelArrays *a) {
    static const int32_t type[] = {SAP_CONSTRAINT_BALL, SAP_CONSTRAINT_WELD, SAP_CONSTRAINT_DISTANCE,
                                   SAP_CONSTRAINT_COUPLER},
                         body[] = {3, 6, -1, 0, 9, 12, -1, -1}, coordinate[] = {-1, -1, -1, -1, -1, -1, 7, 10};
    static const double X[] = {0, 0.1, -0.1, 0, 0,   0, 1, 0, -0.1, 0, 0, 0, 0, 1, 0.1, 0, 0.3, 0, 0,
                               0, 1,   0,    0, 0.1, 0, 0, 0, 1,    0, 0, 0, 0, 0, 0,   1, 0,   0, 0.1,
                               0, 0,   0,    1, 0,   0, 0, 0, 0,    0, 1, 0, 0, 0, 0,   0, 0,   1},
                        polynomial[] = {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0.1, 0.5, 0.2, 0.1, 0.1},
                        reference[] = {0, 0, 0, 0, 0, 0, 0.2, 0.3}, length[] = {0, 0, 0.2, 0},
                        ke[] = {200, 50, 300, 5, 100, 50, 20, 20}, kd[] = {2, 1, 3, 0.1, 1, 1, 0.2, 0.2};
    static const int32_t start[] = {0, 2, 5}, term_type[] = {0, 0, 1, 1, 1}, term_index[] = {8, 11, -1, 0, 12},
                         mode[] = {3, 3};
    static const double value[] = {0.5, 0, 0, -0.7, 0, 0, 0.2, 0.1, 1, 0.1, 0.1, 0.1, 0, 0.05, 0.1},
                        offset[] = {0.01, 0.02}, limit_lower[] = {1, -1}, limit_upper[] = {2, 0.1},
                        limit_ke[] = {50, 60}, limit_kd[] = {1, 2}, spring_ke[] = {3, 4}, spring_lower[] = {1.1, -1},
                        spring_upper[] = {1.2, 0.2}, armature[] = {0.05, 0.2}, damping[] = {0.2, 0.3},
                        friction[] = {0.05, 0.1}, target_ke[] = {2, 3}, target_kd[] = {0.1, 0.2}, effort[] = {0.7, 90},
                        target_pos[] = {5, -5};
    a->num_constraints = 4;
    a->constraint_type = type;
    a->constraint_body = body;
    a->constraint_coordinate = coordinate;
    a->constraint_X = X;
    a->constraint_polynomial = polynomial;
    a->constraint_reference = reference;
    a->constraint_length = length;
    a->constraint_ke = ke;
    a->constraint_kd = kd;
    a->constraint_side = a->constraint_active = NULL;
    a->constraint_name = a->tendon_name = NULL;
    a->num_tendons = 2;
    a->num_tendon_terms = 5;
    a->tendon_start = start;
    a->tendon_term_type = term_type;
    a->tendon_term_index = term_index;
    a->tendon_term_value = value;
    a->tendon_offset = offset;
    a->tendon_limit_lower = limit_lower;
    a->tendon_limit_upper = limit_upper;
    a->tendon_limit_ke = limit_ke;
    a->tendon_limit_kd = limit_kd;
    a->tendon_spring_ke = spring_ke;
    a->tendon_spring_lower = spring_lower;
    a->tendon_spring_upper = spring_upper;
    a->tendon_armature = armature;
    a->tendon_damping = damping;
    a->tendon_friction = friction;
    a->tendon_target_mode = mode;
    a->tendon_target_ke = target_ke;
    a->tendon_target_kd = target_kd;
    a->tendon_effort_limit = effort;
    a->tendon_target_pos = target_pos;
    a->tendon_target_vel = NULL;
}

/* Adds a static height field around the plane of the quadruped, and grids that it can have: a row of each array of
 * shapes, a copy of the plane's but for type, size and grid. free_shape_arrays frees the arrays. */
static inline void add_height_field(SapModelArrays *a) {
    static const int32_t size[2 * NUM_GRIDS] = {5, 9, 9, 5, 7, 7};
    enum { NUM_HEIGHTS = 5 * 9 + 9 * 5 + 7 * 7 };
    static double heights[NUM_HEIGHTS];
    int ns = a->num_shapes, plane = 0;
    while (a->shape_type[plane] != SAP_SHAPE_PLANE)
        plane++;
    for (int i = 0; i < NUM_HEIGHTS; i++)
        heights[i] = 0.02 * noise(3, 7, i);
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++) {
        const SapModelField *field = &sap_model_fields[i];
        const char *from = sap_model_field_get(a, field);
        size_t row = (size_t)field->columns * (field->element == SAP_ELEMENT_I32 ? sizeof(int32_t) : sizeof(double));
        if (field->rows != SAP_ROWS_SHAPES || from == NULL)
            continue;
        char *to = malloc((size_t)(ns + 1) * row);
        memcpy(to, from, (size_t)ns * row);
        memcpy(to + (size_t)ns * row, from + (size_t)plane * row, row);
        sap_model_field_set(a, field, to);
    }
    ((int32_t *)a->shape_type)[ns] = SAP_SHAPE_HEIGHT_FIELD;
    ((int32_t *)a->shape_mesh)[ns] = 0;
    memcpy((double *)a->shape_scale + 3 * ns, (double[3]){0.6, 0.5, 0}, 3 * sizeof(double));
    ((const char **)a->shape_name)[ns] = "field";
    a->num_shapes = ns + 1;
    a->num_height_fields = NUM_GRIDS;
    a->height_field_size = size;
    a->num_heights = NUM_HEIGHTS;
    a->heights = heights;
}

static inline void free_shape_arrays(SapModelArrays *a) {
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        if (sap_model_fields[i].rows == SAP_ROWS_SHAPES)
            free((void *)sap_model_field_get(a, &sap_model_fields[i]));
}

/* The quadruped on a plane and a height field, with limits that act from the beginning, constraints and tendons,
 * moving. */
static inline SapModel *base_model(void) {
    SapScene *scene = NULL;
    cr_assert_eq(sap_scene_load(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml", &scene), SAP_OK, "%s",
                 sap_error_message());
    SapModelArrays a = *sap_model_arrays(scene->model);
    double lower[64], upper[64], ke[64], kd[64], qd[64];
    for (int i = 0; i < a.num_dofs; i++) {
        double q = i < 6 ? 0 : a.joint_q[i + 1];
        lower[i] = i % 2 ? q + 0.08 : q - 0.5;
        upper[i] = i % 2 ? q + 0.5 : q - 0.08;
        ke[i] = 200;
        kd[i] = 2;
        qd[i] = 0.1 * noise(0, 51, i);
    }
    a.joint_limit_lower = lower;
    a.joint_limit_upper = upper;
    a.joint_limit_ke = ke;
    a.joint_limit_kd = kd;
    a.joint_qd = qd;
    add_constraints(&a);
    add_height_field(&a);
    SapModel *model = create_model(&a);
    free_shape_arrays(&a);
    sap_scene_destroy(scene);
    return model;
}

static inline int size_of(const SapModelArrays *a, SapParameter p) {
    const SapNumbers numbers = {.arrays = *a};
    return sap_parameter_rows(&numbers, p) * sap_parameter_columns(p);
}

/* The model's values; those of gravity are in the arrays themselves. */
static inline const void *values_of(const SapModelArrays *a, SapParameter p) {
    const SapNumbers numbers = {.arrays = *a};
    return p == SAP_PARAMETER_GRAVITY ? a->gravity : sap_parameter_get(&numbers, p);
}

/* Elements of an array of a parameter: f64 or int32. */
static inline double element(SapParameter p, const void *array, size_t at) {
    return sap_parameter_number(p, array, (int)at);
}

static inline void set_element(SapParameter p, void *array, size_t at, double x) {
    if (sap_parameter_bytes(p) == sizeof(int32_t))
        ((int32_t *)array)[at] = (int32_t)x;
    else
        ((double *)array)[at] = x;
}

/* Writes the values of a content to a row of n elements. */
static inline void vary_row(const SapModelArrays *a, SapParameter p, int content, void *row) {
    for (int i = 0, n = size_of(a, p); i < n; i++)
        set_element(p, row, (size_t)i, varied(p, content, i, element(p, values_of(a, p), (size_t)i)));
}

/* The model with the values of a content for the parameters of `which` (bits). */
static inline SapModel *varied_model(const SapModel *base, uint64_t which, int content) {
    SapNumbers numbers = {.arrays = *sap_model_arrays(base)};
    void *memory[SAP_NUM_MODEL_PARAMETERS] = {0};
    for (int p = 0; p < SAP_NUM_MODEL_PARAMETERS; p++) {
        if (!(which >> p & 1))
            continue;
        memory[p] = calloc((size_t)size_of(&numbers.arrays, (SapParameter)p), sizeof(double));
        vary_row(sap_model_arrays(base), (SapParameter)p, content, memory[p]);
        sap_parameter_set(&numbers, (SapParameter)p, memory[p]);
    }
    SapModel *model = create_model(&numbers.arrays);
    for (int p = 0; p < SAP_NUM_MODEL_PARAMETERS; p++)
        free(memory[p]);
    return model;
}

/* ---- batches ---- */

static SapContactApproximation options_law; /* of options_of */

static inline SapOptions options_of(const char *preset, int lanes, int threads) {
    SapOptions o;
    cr_assert_eq(sap_options_preset(preset, &o), SAP_OK);
    o.lanes = lanes;
    o.threads = threads;
    o.contact_approximation = options_law;
    o.max_contacts = 32; /* a probe finds another number for every model */
    return o;
}

static inline SapBatch *create(const SapModel *model, int worlds, const SapOptions *options) {
    SapBatch *batch = NULL;
    cr_assert_eq(sap_batch_create(model, worlds, options, &batch), SAP_OK, "%s", sap_error_message());
    return batch;
}

static inline void *expand(SapBatch *batch, SapParameter p) {
    SapArray view;
    cr_assert_eq(sap_batch_expand(batch, p, &view), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(view.type, p == SAP_PARAMETER_SHAPE_MESH ? SAP_TYPE_I32 : SAP_TYPE_F64);
    return view.data;
}

static inline void *expand_row(SapBatch *batch, const SapModel *base, SapParameter p, int w) {
    size_t row = (size_t)size_of(sap_model_arrays(base), p) * sap_parameter_bytes(p);
    return (char *)expand(batch, p) + (size_t)w * row;
}

/* Gives world w the values of a content. */
static inline void write_world(SapBatch *batch, const SapModel *base, uint64_t which, int w, int content) {
    for (int p = 0; p < SAP_NUM_MODEL_PARAMETERS; p++)
        if (which >> p & 1)
            vary_row(sap_model_arrays(base), (SapParameter)p, content, expand_row(batch, base, (SapParameter)p, w));
}

static inline void set_velocity(SapBatch *batch, const SapModel *model, int w, int content) {
    int nv = sap_model_arrays(model)->num_dofs;
    for (int i = 0; i < nv; i++)
        number_put(sap_batch_state(batch)->joint_qd, sap_batch_state(batch)->dtype, (size_t)(w * nv + i),
                   0.5 * noise(content, 50, i));
}

enum { MOST_BYTES = 8192 };
typedef struct World {
    char state[MOST_BYTES]; /* coordinates, velocities, bodies */
    uint32_t status;
    int32_t contacts;
    double cost;
} World;

static inline size_t copy_part(World *out, size_t at, const void *array, int w, int width, size_t number) {
    size_t bytes = (size_t)width * number;
    cr_assert_leq(at + bytes, (size_t)MOST_BYTES);
    memcpy(out->state + at, (const char *)array + (size_t)w * bytes, bytes);
    return at + bytes;
}

static inline World read_world(const SapBatch *batch, const SapModel *model, int w) {
    const SapModelArrays *a = sap_model_arrays(model);
    const SapState *s = sap_batch_state(batch);
    size_t number = number_width(s->dtype), at = 0;
    SapWorldReport report;
    cr_assert_eq(sap_solver_report(sap_batch_solver(batch), &report), SAP_OK);
    World out;
    memset(&out, 0, sizeof out);
    at = copy_part(&out, at, s->joint_q, w, a->num_coords, number);
    at = copy_part(&out, at, s->joint_qd, w, a->num_dofs, number);
    at = copy_part(&out, at, s->body_q, w, 7 * a->num_bodies, number);
    copy_part(&out, at, s->body_qd, w, 6 * a->num_bodies, number);
    out.status = report.status[w];
    out.cost = report.cost[w];
    out.contacts = sap_batch_contacts(batch)->count[w];
    return out;
}

/* A batch of one world of the model with those values. */
static inline World run_alone(const SapModel *base, uint64_t which, int content, const char *preset, int steps) {
    SapModel *model = varied_model(base, which, content);
    SapOptions o = options_of(preset, 1, 1);
    SapBatch *batch = create(model, 1, &o);
    set_velocity(batch, model, 0, content);
    cr_assert_eq(sap_batch_step(batch, h, steps), SAP_OK);
    World out = read_world(batch, model, 0);
    sap_batch_destroy(batch);
    sap_model_destroy(model);
    return out;
}

#define ALL ((UINT64_C(1) << SAP_NUM_MODEL_PARAMETERS) - 1)

/* A batch of the model with those values that goes on from the state of another. */
static inline SapBatch *take_over(const SapModel *model, const SapBatch *from, int worlds, const SapOptions *o) {
    const SapModelArrays *a = sap_model_arrays(model);
    SapBatch *batch = create(model, worlds, o);
    size_t number = sap_batch_state(from)->dtype == SAP_F64 ? 8 : 4, n = (size_t)worlds * number;
    memcpy(sap_batch_state(batch)->joint_q, sap_batch_state(from)->joint_q, n * (size_t)a->num_coords);
    memcpy(sap_batch_state(batch)->joint_qd, sap_batch_state(from)->joint_qd, n * (size_t)a->num_dofs);
    return batch;
}

#endif
