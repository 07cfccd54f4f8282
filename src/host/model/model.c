/* Models: an owned copy of the caller's arrays with defaults filled in. The rules are in check.c. */
#include "host/model/model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/stack.h"
#include "host/model/check.h"
#include "host/model/joint_types.h"
#include "host/model/warnings.h"

void sap_model_arrays_default(SapModelArrays *arrays) {
    if (arrays == NULL)
        return;
    *arrays = (SapModelArrays){.gravity = {0, 0, -9.81}};
}

/* ---- filling one array ---- */

static SapStatus out_of_memory(const char *array) {
    return sap_fail(SAP_ERROR_MEMORY, "no memory for the model's array %s", array);
}

static size_t element_size(SapElement element) {
    switch (element) {
    case SAP_ELEMENT_I32: return sizeof(int32_t);
    case SAP_ELEMENT_F64: return sizeof(double);
    case SAP_ELEMENT_TEXT: return sizeof(char *);
    }
    return 0;
}

static size_t field_bytes(const SapModelArrays *arrays, const SapModelField *field) {
    return (size_t)sap_model_rows(arrays, field->rows) * (size_t)field->columns * element_size(field->element);
}

/* Writes name i, given or generated ("body_7"), to `text` unless that is NULL; returns its length with the final zero.
 * */
static size_t put_name(const SapModelField *field, const char *const *given, int i, char *text) {
    char made[64];
    int stem = (int)(strlen(field->name) - strlen("_name"));
    snprintf(made, sizeof made, "%.*s_%d", stem, field->name, i);
    const char *name = given != NULL && given[i] != NULL ? given[i] : made;
    size_t bytes = strlen(name) + 1;
    if (text != NULL)
        memcpy(text, name, bytes);
    return bytes;
}

/* Names are stored in one block: first the pointers, then the characters. */
static const void *new_names(const SapModelField *field, const char *const *given, int rows) {
    size_t bytes = (size_t)rows * sizeof(char *) + 1;
    for (int i = 0; i < rows; i++)
        bytes += put_name(field, given, i, NULL);
    const char **names = malloc(bytes);
    if (names == NULL)
        return NULL;
    char *text = (char *)(names + rows);
    for (int i = 0; i < rows; i++) {
        names[i] = text;
        text += put_name(field, given, i, text);
    }
    return names;
}

static void fill_default(void *data, const SapModelField *field, int rows) {
    if (field->row == NULL)
        return;
    for (int k = 0; k < rows * field->columns; k++) {
        double value = field->row[k % field->columns];
        if (field->element == SAP_ELEMENT_I32)
            ((int32_t *)data)[k] = (int32_t)value;
        else
            ((double *)data)[k] = value;
    }
}

/* A copy of the given numbers, or the default; computed arrays start as zeros. Arrays without rows get one byte, so
 * that no pointer is NULL. */
static const void *new_numbers(const SapModelField *field, const void *given, int rows, size_t bytes) {
    void *data = calloc(bytes + 1, 1);
    if (data == NULL)
        return NULL;
    if (given == NULL)
        fill_default(data, field, rows);
    else
        memcpy(data, given, bytes);
    return data;
}

static SapStatus copy_field(SapModelArrays *to, const SapModelArrays *from, const SapModelField *field) {
    int rows = sap_model_rows(to, field->rows);
    /* An articulation created by default has no given name. */
    bool same_rows = sap_model_rows(from, field->rows) == rows;
    const void *given = same_rows ? sap_model_field_get(from, field) : NULL;
    const void *data = field->element == SAP_ELEMENT_TEXT ? new_names(field, given, rows)
                                                          : new_numbers(field, given, rows, field_bytes(to, field));
    if (data == NULL)
        return out_of_memory(field->name);
    sap_model_field_set(to, field, data);
    return SAP_OK;
}

static SapStatus copy_text(const char *text, const char **out) {
    char *copy = malloc(strlen(text) + 1);
    if (copy == NULL)
        return out_of_memory("name");
    *out = strcpy(copy, text);
    return SAP_OK;
}

/* ---- arrays computed from the joint types; the model owns them, so the const of the public view is cast away ---- */

static void compute_dof_dim(SapModelArrays *a) {
    int32_t *dim = (int32_t *)a->joint_dof_dim;
    for (int j = 0; j < a->num_joints; j++)
        sap_joint_axis_counts(a->joint_type[j], &dim[2 * j]);
}

static void compute_q_start(SapModelArrays *a) {
    int32_t *start = (int32_t *)a->joint_q_start;
    for (int j = 0; j < a->num_joints; j++)
        start[j + 1] = start[j] + sap_joint_num_coords(a->joint_type[j], &a->joint_dof_dim[2 * j]);
}

static void compute_qd_start(SapModelArrays *a) {
    int32_t *start = (int32_t *)a->joint_qd_start;
    for (int j = 0; j < a->num_joints; j++)
        start[j + 1] = start[j] + a->joint_dof_dim[2 * j] + a->joint_dof_dim[2 * j + 1];
}

static void compute_joint_q(SapModelArrays *a) {
    double *q = (double *)a->joint_q;
    for (int j = 0; j < a->num_joints; j++) {
        int at = sap_joint_quaternion_at(a->joint_type[j]);
        if (at >= 0)
            q[a->joint_q_start[j] + at + 3] = 1;
    }
}

static void compute_missing(SapModelArrays *a, const SapModelArrays *given) {
    if (given->joint_dof_dim == NULL)
        compute_dof_dim(a);
    if (given->joint_q_start == NULL)
        compute_q_start(a);
    if (given->joint_qd_start == NULL)
        compute_qd_start(a);
    if (given->articulation_start == NULL)
        ((int32_t *)a->articulation_start)[1] = a->num_joints;
}

/* ---- unit vectors and quaternions ---- */

/* A vector that is unit to rounding is left unchanged, so that a model built from the arrays of another is identical.
 * */
static void normalise(double *v, int n) {
    double squares = 0;
    for (int i = 0; i < n; i++)
        squares += v[i] * v[i];
    double length = sqrt(squares);
    if (fabs(length - 1) <= 4 * DBL_EPSILON)
        return;
    for (int i = 0; i < n; i++)
        v[i] /= length;
}

static void normalise_poses(const double *poses, int n) {
    for (int i = 0; i < n; i++)
        normalise((double *)&poses[7 * i + 3], 4);
}

static void normalise_joint(SapModelArrays *a, int j) {
    int quaternion = sap_joint_quaternion_at(a->joint_type[j]);
    if (quaternion >= 0) {
        int q = a->joint_q_start[j] + quaternion;
        normalise((double *)&a->joint_q[q], 4);
        for (int k = 0; k < a->num_keyframes; k++)
            normalise((double *)&a->keyframe_joint_q[k * a->num_coords + q], 4);
        return;
    }
    for (int d = a->joint_qd_start[j]; d < a->joint_qd_start[j + 1]; d++)
        normalise((double *)&a->joint_axis[3 * d], 3);
}

static void normalise_model(SapModelArrays *a) {
    normalise_poses(a->joint_X_p, a->num_joints);
    normalise_poses(a->joint_X_c, a->num_joints);
    normalise_poses(a->shape_transform, a->num_shapes);
    normalise_poses(a->constraint_X, 2 * a->num_constraints);
    for (int j = 0; j < a->num_joints; j++)
        normalise_joint(a, j);
}

/* ---- models ---- */

static SapStatus fill_model(SapModel *model, const SapModelArrays *given, SapHullShape *known_hulls) {
    /* Counts. */
    SapModelArrays *a = &model->arrays;
    for (int i = 0; i < SAP_MODEL_NUM_COUNTS; i++)
        sap_model_count_set(a, &sap_model_counts[i], sap_model_count_get(given, &sap_model_counts[i]));
    if (given->articulation_start == NULL)
        a->num_articulations = 1;
    /* Copies of the given arrays, or their defaults. */
    memcpy(a->gravity, given->gravity, sizeof a->gravity);
    SAP_TRY(copy_text(given->name != NULL ? given->name : "", &a->name));
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        SAP_TRY(copy_field(a, given, &sap_model_fields[i]));
    compute_missing(a, given);
    /* Computed arrays need valid starts; the remaining rules need all arrays. */
    SAP_TRY(sap_model_check_starts(a));
    if (given->joint_q == NULL)
        compute_joint_q(a);
    SAP_TRY(sap_model_check_values(a));
    SAP_TRY(sap_mesh_hulls_create(a, known_hulls, &model->hulls));
    return sap_model_find_warnings(model);
}

static SapStatus copy_model(const SapModelArrays *arrays, SapHullShape *known_hulls, SapModel **out) {
    *out = NULL;
    SAP_TRY(sap_stack_check("sap_model_create"));
    SAP_TRY(sap_model_check_layout(arrays));
    SapModel *model = calloc(1, sizeof *model);
    if (model == NULL)
        return sap_fail(SAP_ERROR_MEMORY, "no memory for a model");
    pthread_mutex_init(&model->lock, NULL);
    SapStatus status = fill_model(model, arrays, known_hulls);
    if (status == SAP_OK)
        *out = model;
    else
        sap_model_destroy(model);
    return status;
}

SapStatus sap_model_copy(const SapModelArrays *arrays, SapModel **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(arrays);
    return copy_model(arrays, NULL, out);
}

SapStatus sap_model_create_with(const SapModelArrays *arrays, SapHullShape *known_hulls, SapModel **out) {
    SAP_TRY(copy_model(arrays, known_hulls, out));
    normalise_model(&(*out)->arrays);
    return SAP_OK;
}

SapStatus sap_model_create(const SapModelArrays *arrays, SapModel **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(arrays);
    return sap_model_create_with(arrays, NULL, out);
}

void sap_model_destroy(SapModel *model) {
    if (model == NULL || atomic_fetch_sub(&model->more_holders, 1) > 0)
        return;
    for (int i = 0; i < SAP_MODEL_NUM_CACHES; i++)
        if (model->cache[i] != NULL)
            model->cache[i]->free(model->cache[i]);
    SapModelCache *extension = atomic_load(&model->extension);
    if (extension != NULL)
        extension->free(extension);
    pthread_mutex_destroy(&model->lock);
    sap_mesh_hulls_free(model->hulls, model->arrays.num_meshes);
    sap_model_free_warnings(model);
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        free((void *)sap_model_field_get(&model->arrays, &sap_model_fields[i]));
    free((void *)model->arrays.name);
    free(model);
}

SapModel *sap_model_hold(const SapModel *model) {
    SapModel *held = (SapModel *)model;
    atomic_fetch_add(&held->more_holders, 1);
    return held;
}

SapStatus sap_model_cache(const SapModel *model, int number, SapMakeModelCache *make, const SapModelCache **out) {
    SapModel *owner = (SapModel *)model;
    SapStatus status = SAP_OK;
    pthread_mutex_lock(&owner->lock);
    if (owner->cache[number] == NULL)
        status = make(owner, number, &owner->cache[number]);
    *out = owner->cache[number];
    pthread_mutex_unlock(&owner->lock);
    return status;
}

const SapModelCache *sap_model_extension(const SapModel *model) {
    return atomic_load(&((SapModel *)model)->extension);
}

bool sap_model_extend(const SapModel *model, SapModelCache *extension) {
    SapModelCache *none = NULL;
    return atomic_compare_exchange_strong(&((SapModel *)model)->extension, &none, extension);
}

const SapModelArrays *sap_model_arrays(const SapModel *model) {
    return model == NULL ? NULL : &model->arrays;
}

const SapHullShape *sap_model_hull(const SapModel *model, int mesh) {
    return &model->hulls[mesh];
}

static int find_name(const char *const *names, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

int sap_model_find_body(const SapModel *model, const char *name) {
    return model == NULL || name == NULL ? -1 : find_name(model->arrays.body_name, model->arrays.num_bodies, name);
}

int sap_model_find_joint(const SapModel *model, const char *name) {
    return model == NULL || name == NULL ? -1 : find_name(model->arrays.joint_name, model->arrays.num_joints, name);
}

int sap_model_find_keyframe(const SapModel *model, const char *name) {
    return model == NULL || name == NULL ? -1
                                         : find_name(model->arrays.keyframe_name, model->arrays.num_keyframes, name);
}

int sap_model_find_constraint(const SapModel *model, const char *name) {
    return model == NULL || name == NULL
               ? -1
               : find_name(model->arrays.constraint_name, model->arrays.num_constraints, name);
}

int sap_model_find_tendon(const SapModel *model, const char *name) {
    return model == NULL || name == NULL ? -1 : find_name(model->arrays.tendon_name, model->arrays.num_tendons, name);
}

/* ---- comparing ---- */

static bool same_field(const SapModelArrays *a, const SapModelArrays *b, const SapModelField *field) {
    const void *in_a = sap_model_field_get(a, field), *in_b = sap_model_field_get(b, field);
    if (field->element != SAP_ELEMENT_TEXT)
        return memcmp(in_a, in_b, field_bytes(a, field)) == 0;
    const char *const *names_a = in_a, *const *names_b = in_b;
    for (int i = 0; i < sap_model_rows(a, field->rows); i++)
        if (strcmp(names_a[i], names_b[i]) != 0)
            return false;
    return true;
}

const char *sap_model_difference(const SapModel *a, const SapModel *b) {
    const SapModelArrays *x = &a->arrays, *y = &b->arrays;
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++) {
        const SapModelField *field = &sap_model_fields[i];
        if (sap_model_rows(x, field->rows) != sap_model_rows(y, field->rows) || !same_field(x, y, field))
            return field->name;
    }
    if (memcmp(x->gravity, y->gravity, sizeof x->gravity) != 0)
        return "gravity";
    return strcmp(x->name, y->name) == 0 ? NULL : "name";
}

/* ---- hashes ---- */

static uint64_t fnv1a(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_field(const SapModelArrays *a, const SapModelField *field, uint64_t hash) {
    const void *data = sap_model_field_get(a, field);
    if (field->element != SAP_ELEMENT_TEXT)
        return fnv1a(hash, data, field_bytes(a, field));
    const char *const *names = data;
    for (int i = 0; i < sap_model_rows(a, field->rows); i++)
        hash = fnv1a(hash, names[i], strlen(names[i]) + 1);
    return hash;
}

const char *sap_model_array_hash(const SapModel *model, int i, uint64_t *hash) {
    const uint64_t start = 0xcbf29ce484222325u;
    if (model == NULL || hash == NULL || i < 0 || i > SAP_MODEL_NUM_FIELDS + 1)
        return NULL;
    const SapModelArrays *a = &model->arrays;
    if (i == SAP_MODEL_NUM_FIELDS) {
        *hash = fnv1a(start, a->gravity, sizeof a->gravity);
        return "gravity";
    }
    if (i > SAP_MODEL_NUM_FIELDS) {
        *hash = fnv1a(start, a->name, strlen(a->name) + 1);
        return "name";
    }
    *hash = hash_field(a, &sap_model_fields[i], start);
    return sap_model_fields[i].name;
}
