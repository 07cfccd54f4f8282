/* Reading reference files into our model, state, control and contacts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/common.h"
#include "lab/conform/conform.h"
#include "lab/conform/reference_file.h"

/* ---- arrays ---- */

/* The numbers of `key`, which must be `count`; *out is NULL if the key is absent. The caller frees the array. */
static bool read_doubles(const char *path, const json_t *object, const char *key, size_t count, double **out) {
    size_t n;
    const json_t *node = json_object_get(object, key);
    *out = reference_doubles(node, &n);
    if (node == NULL || (*out != NULL && n == count))
        return true;
    bool numbers = *out != NULL;
    free(*out);
    *out = NULL;
    if (!numbers)
        return cli_fail("%s: %s: allowed: %zu numbers", path, key, count);
    return cli_fail("%s: %s: %zu numbers; %zu are expected", path, key, n, count);
}

static bool read_ints(const char *path, const json_t *object, const char *key, size_t count, int32_t **out) {
    size_t n;
    const json_t *node = json_object_get(object, key);
    *out = reference_ints(node, &n);
    if (node == NULL || (*out != NULL && n == count))
        return true;
    bool integers = *out != NULL;
    free(*out);
    *out = NULL;
    if (!integers)
        return cli_fail("%s: %s: allowed: %zu integers", path, key, count);
    return cli_fail("%s: %s: %zu integers; %zu are expected", path, key, n, count);
}

/* ---- the model ---- */

/* Arrays read from the file; freed after the model has copied them. */
enum { MAX_ARRAYS = 64 };
typedef struct Taken {
    const char *path;
    const json_t *model;
    void *array[MAX_ARRAYS];
    int count;
} Taken;

static bool take_doubles(Taken *t, const char *key, size_t count, const double **out) {
    double *values;
    bool ok = read_doubles(t->path, t->model, key, count, &values);
    *out = t->array[t->count++] = values;
    return ok;
}

static bool take_ints(Taken *t, const char *key, size_t count, const int32_t **out) {
    int32_t *values;
    bool ok = read_ints(t->path, t->model, key, count, &values);
    *out = t->array[t->count++] = values;
    return ok;
}

/* The length of the list at `key`; 0 if there is none. No list is longer than INT_MAX, because the text is not. */
static int length_of(const json_t *model, const char *key) {
    return (int)json_array_size(json_object_get(model, key));
}

/* The last element of the starts, which is the number of coordinates or dofs. */
static bool last_start(const Taken *t, const char *key, const int32_t *starts, int num_joints, int *out) {
    *out = starts != NULL ? starts[num_joints] : 0;
    return *out >= 0 || cli_fail("%s: %s: the last element is %d; it must not be negative", t->path, key, *out);
}

/* Counts are the lengths of arrays; sap_model_copy checks them and all values. */
static bool take_topology(Taken *t, SapModelArrays *a) {
    a->num_bodies = length_of(t->model, "body_mass");
    a->num_joints = length_of(t->model, "joint_type");
    a->num_shapes = length_of(t->model, "shape_body");
    int starts = length_of(t->model, "articulation_start");
    a->num_articulations = starts > 0 ? starts - 1 : 0;
    size_t nj = (size_t)a->num_joints;
    return take_ints(t, "joint_type", nj, &a->joint_type) && take_ints(t, "joint_parent", nj, &a->joint_parent) &&
           take_ints(t, "joint_child", nj, &a->joint_child) &&
           take_ints(t, "joint_dof_dim", 2 * nj, &a->joint_dof_dim) &&
           take_ints(t, "joint_q_start", nj + 1, &a->joint_q_start) &&
           take_ints(t, "joint_qd_start", nj + 1, &a->joint_qd_start) &&
           take_ints(t, "articulation_start", (size_t)(a->num_articulations + 1), &a->articulation_start) &&
           last_start(t, "joint_q_start", a->joint_q_start, a->num_joints, &a->num_coords) &&
           last_start(t, "joint_qd_start", a->joint_qd_start, a->num_joints, &a->num_dofs);
}

/* Quaternions are stored as f32 and are not normalised here: SAP Warp normalises them where it composes poses, except
 * as described in joints_sap_warp.h. */
static bool take_joints(Taken *t, SapModelArrays *a) {
    size_t nj = (size_t)a->num_joints, nv = (size_t)a->num_dofs;
    return take_doubles(t, "joint_X_p", 7 * nj, &a->joint_X_p) && take_doubles(t, "joint_X_c", 7 * nj, &a->joint_X_c) &&
           take_doubles(t, "joint_axis", 3 * nv, &a->joint_axis) &&
           take_doubles(t, "joint_armature", nv, &a->joint_armature) &&
           take_ints(t, "joint_target_mode", nv, &a->joint_target_mode) &&
           take_doubles(t, "joint_target_ke", nv, &a->joint_target_ke) &&
           take_doubles(t, "joint_target_kd", nv, &a->joint_target_kd) &&
           take_doubles(t, "joint_effort_limit", nv, &a->joint_effort_limit) &&
           take_doubles(t, "joint_limit_lower", nv, &a->joint_limit_lower) &&
           take_doubles(t, "joint_limit_upper", nv, &a->joint_limit_upper) &&
           take_doubles(t, "joint_limit_ke", nv, &a->joint_limit_ke) &&
           take_doubles(t, "joint_limit_kd", nv, &a->joint_limit_kd);
}

static bool take_bodies_and_shapes(Taken *t, SapModelArrays *a) {
    size_t nb = (size_t)a->num_bodies, ns = (size_t)a->num_shapes;
    return take_doubles(t, "body_mass", nb, &a->body_mass) && take_doubles(t, "body_com", 3 * nb, &a->body_com) &&
           take_doubles(t, "body_inertia", 9 * nb, &a->body_inertia) &&
           take_ints(t, "shape_body", ns, &a->shape_body) &&
           take_doubles(t, "shape_material_mu", ns, &a->shape_material_mu) &&
           take_doubles(t, "shape_material_ke", ns, &a->shape_material_ke) &&
           take_doubles(t, "shape_material_tau", ns, &a->shape_material_tau);
}

static bool take_gravity(Taken *t, SapModelArrays *a) {
    const double *gravity;
    if (!take_doubles(t, "gravity", 3, &gravity))
        return false;
    if (gravity != NULL)
        memcpy(a->gravity, gravity, sizeof a->gravity);
    return true;
}

/* The files have materials but no geometry: every shape is a unit sphere and never collides. */
static bool add_shapes(Taken *t, SapModelArrays *a) {
    int32_t *type = calloc((size_t)a->num_shapes + 1, sizeof *type);
    double *scale = calloc(3 * (size_t)a->num_shapes + 1, sizeof *scale);
    t->array[t->count++] = type;
    t->array[t->count++] = scale;
    for (int i = 0; type && scale && i < a->num_shapes; i++) {
        type[i] = SAP_SHAPE_SPHERE;
        scale[3 * i] = 1;
    }
    a->shape_type = type;
    a->shape_scale = scale;
    return type && scale;
}

static bool read_model(const char *path, const json_t *json, SapModel **out) {
    Taken taken = {.path = path, .model = json_object_get(json, "model")};
    SapModelArrays arrays;
    if (!json_is_object(taken.model))
        return cli_fail("%s: key 'model' is missing or no object", path);
    sap_model_arrays_default(&arrays);
    bool ok = take_topology(&taken, &arrays) && take_joints(&taken, &arrays) &&
              take_bodies_and_shapes(&taken, &arrays) && take_gravity(&taken, &arrays) && add_shapes(&taken, &arrays) &&
              cli_check(sap_model_copy(&arrays, out));
    for (int i = 0; i < taken.count; i++)
        free(taken.array[i]);
    return ok;
}

bool conform_read(json_t *json, const char *path, ConformFile *out) {
    enum { MAX_CAPACITY = 65535 }; /* of sap_contacts_create */
    *out = (ConformFile){.path = path, .json = json};
    if (json == NULL || !read_model(path, json, &out->model))
        return false;
    out->arrays = sap_model_arrays(out->model);
    out->contact_tau_d = json_number_value(json_object_get(json, "contact_tau_d"));
    json_int_t capacity = json_integer_value(json_object_get(json, "max_rigid_contact"));
    if (capacity < 1 || capacity > MAX_CAPACITY)
        return cli_fail("%s: max_rigid_contact is %lld or missing; allowed: an integer 1 .. %d", path,
                        (long long)capacity, MAX_CAPACITY);
    out->capacity = (int)capacity;
    return true;
}

bool conform_open(const char *path, ConformFile *out) {
    return conform_read(reference_file_load(path), path, out);
}

void conform_close(ConformFile *file) {
    sap_model_destroy(file->model);
    json_decref(file->json);
    *file = (ConformFile){0};
}

/* ---- a case ---- */

/* Copies the numbers at `key` into an array of `count`; zeros if the key is absent. */
static bool copy_array(const char *path, const json_t *json, const char *key, double *to, size_t count) {
    double *values;
    if (!read_doubles(path, json, key, count, &values))
        return false;
    for (size_t i = 0; i < count; i++)
        to[i] = values != NULL ? values[i] : 0;
    free(values);
    return true;
}

static void cross(const double *a, const double *b, double *c) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* From a body's origin to its centre of mass, world axes: rot(q, com), q normalised. */
static void com_arm(const double *q, const double *com, double *r) {
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double u[3] = {q[0] / length, q[1] / length, q[2] / length}, w = q[3] / length, t[3], ut[3];
    cross(u, com, t);
    for (int i = 0; i < 3; i++)
        t[i] *= 2;
    cross(u, t, ut);
    for (int i = 0; i < 3; i++)
        r[i] = com[i] + w * t[i] + ut[i];
}

/* [omega ; v_O] -> [v_O + omega x r ; omega], and [tau_O ; f] -> [f ; tau_O - r x f], for free joints. */
static void to_public(const SapModelArrays *a, const double *q, double *qd, double *f) {
    for (int j = 0; j < a->num_joints; j++) {
        if (a->joint_type[j] != SAP_JOINT_FREE)
            continue;
        double r[3], w_r[3], r_f[3], *v = qd + a->joint_qd_start[j], *g = f + a->joint_qd_start[j], old[6], old_f[6];
        com_arm(q + a->joint_q_start[j] + 3, a->body_com + 3 * a->joint_child[j], r);
        memcpy(old, v, sizeof old);
        memcpy(old_f, g, sizeof old_f);
        cross(old, r, w_r);
        cross(r, old_f + 3, r_f);
        for (int i = 0; i < 3; i++) {
            v[i] = old[3 + i] + w_r[i];
            v[3 + i] = old[i];
            g[i] = old_f[3 + i];
            g[3 + i] = old_f[i] - r_f[i];
        }
    }
}

/* A shape index; -1 is static. sap_step checks that the model has the shape. */
static bool read_shape(const char *path, const json_t *json, const char *key, int32_t *out) {
    int32_t *index;
    if (!read_ints(path, json, key, 1, &index))
        return false;
    *out = index != NULL ? *index : 0;
    free(index);
    return true;
}

static bool read_contact(const char *path, const json_t *json, int slot, SapContacts *c) {
    return read_shape(path, json, "shape0", &c->shape0[slot]) && read_shape(path, json, "shape1", &c->shape1[slot]) &&
           copy_array(path, json, "point0", (double *)c->point0 + 3 * slot, 3) &&
           copy_array(path, json, "point1", (double *)c->point1 + 3 * slot, 3) &&
           copy_array(path, json, "normal", (double *)c->normal + 3 * slot, 3) &&
           copy_array(path, json, "margin0", (double *)c->margin0 + slot, 1) &&
           copy_array(path, json, "margin1", (double *)c->margin1 + slot, 1);
}

static bool allocate_case(const ConformFile *file, ConformCase *c) {
    size_t nv = (size_t)file->arrays->num_dofs, nb = (size_t)file->arrays->num_bodies, n = (size_t)file->capacity;
    const struct {
        double **array;
        size_t count;
    } arrays[] = {{&c->body_torque_at_origin, 6 * nb},
                  {&c->v_star, nv},
                  {&c->A, nv * nv},
                  {&c->gap, n},
                  {&c->jacobian, 3 * n * nv},
                  {&c->frame, 9 * n},
                  {&c->weight, n},
                  {&c->pair, 3 * n},
                  {&c->impulse, 3 * n},
                  {&c->velocity, 3 * n},
                  {&c->v, nv}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i].array = cli_allocate(arrays[i].count + 1, sizeof(double))))
            return false;
    return cli_check(sap_state_create(file->model, 1, SAP_F64, &c->in)) &&
           cli_check(sap_state_create(file->model, 1, SAP_F64, &c->out)) &&
           cli_check(sap_control_create(file->model, 1, SAP_F64, &c->control)) &&
           cli_check(sap_contacts_create(1, file->capacity, SAP_F64, &c->contacts));
}

bool conform_case_open(const ConformFile *file, const json_t *json, ConformCase *out) {
    /* Buffers. */
    *out = (ConformCase){.h = json_number_value(json_object_get(json, "h"))};
    const SapModelArrays *a = file->arrays;
    size_t nq = (size_t)a->num_coords, nv = (size_t)a->num_dofs, nb = (size_t)a->num_bodies;
    if (!allocate_case(file, out))
        return false;
    /* State and control. */
    bool ok = copy_array(file->path, json, "joint_q", out->in->joint_q, nq) &&
              copy_array(file->path, json, "joint_qd", out->in->joint_qd, nv) &&
              copy_array(file->path, json, "joint_f", out->control->joint_f, nv) &&
              copy_array(file->path, json, "joint_target_pos", out->control->joint_target_pos, nv) &&
              copy_array(file->path, json, "joint_target_vel", out->control->joint_target_vel, nv) &&
              copy_array(file->path, json, "joint_act", out->control->joint_act, nv) &&
              copy_array(file->path, json, "body_f_applied", out->body_torque_at_origin, 6 * nb);
    if (!ok)
        return false;
    to_public(a, out->in->joint_q, out->in->joint_qd, out->control->joint_f);
    /* Contacts. */
    const json_t *contacts = json_object_get(json, "contacts");
    out->num_contacts = (int)json_array_size(contacts);
    if (out->num_contacts > file->capacity)
        return cli_fail("%s: %d contacts; the file has %d slots", file->path, out->num_contacts, file->capacity);
    for (int i = 0; i < out->num_contacts; i++)
        if (!read_contact(file->path, json_array_get(contacts, (size_t)i), i, out->contacts))
            return false;
    out->contacts->count[0] = out->num_contacts;
    return true;
}

void conform_case_close(ConformCase *c) {
    double *arrays[] = {c->body_torque_at_origin,
                        c->v_star,
                        c->A,
                        c->gap,
                        c->jacobian,
                        c->frame,
                        c->weight,
                        c->pair,
                        c->impulse,
                        c->velocity,
                        c->v};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    sap_state_destroy(c->in);
    sap_state_destroy(c->out);
    sap_control_destroy(c->control);
    sap_contacts_destroy(c->contacts);
    *c = (ConformCase){0};
}

/* ---- running ---- */

/* [torque about the origin ; force] -> [force ; torque about the centre of mass], at the poses of the input. */
static void set_body_f(const SapModelArrays *a, ConformCase *c) {
    const double *pose = c->in->body_q;
    double *body_f = c->control->body_f;
    for (int b = 0; b < a->num_bodies; b++) {
        const double *given = c->body_torque_at_origin + 6 * b, *f = given + 3;
        double r[3], r_f[3];
        com_arm(pose + 7 * b + 3, a->body_com + 3 * b, r);
        cross(r, f, r_f);
        for (int i = 0; i < 3; i++) {
            body_f[6 * b + i] = f[i];
            body_f[6 * b + 3 + i] = given[i] - r_f[i];
        }
    }
}

static bool step_case(SapSolver *solver, const ConformFile *file, ConformCase *c) {
    /* Results to record. */
    const SapContactReport record = {.gap = c->gap,
                                     .jacobian = c->jacobian,
                                     .frame = c->frame,
                                     .weight = c->weight,
                                     .pair = c->pair,
                                     .impulse = c->impulse,
                                     .velocity = c->velocity};
    const SapFreeMotion before = {.v_star = c->v_star, .A = c->A}, after = {.joint_qd = c->v};
    SapWorldReport report;
    /* Poses, which the conversion of forces needs. */
    if (!cli_check(sap_forward_kinematics(solver, c->in)))
        return false;
    set_body_f(file->arrays, c);
    /* Step. */
    bool ok = cli_check(sap_solver_record(solver, &record)) &&
              cli_check(sap_free_motion(solver, c->in, c->control, c->h, &before)) &&
              cli_check(sap_step(solver, c->in, c->control, c->contacts, c->h, c->out)) &&
              cli_check(sap_solver_report(solver, &report));
    if (!ok)
        return false;
    /* Report, and the new velocity in internal order. */
    c->status = report.status[0];
    c->iterations = report.iterations[0];
    c->line_iterations = report.line_iterations[0];
    c->f64_retries = report.f64_retries[0];
    c->cost = report.cost[0];
    c->residual = report.residual[0];
    return cli_check(sap_free_motion(solver, c->out, NULL, c->h, &after));
}

bool conform_case_run(const ConformFile *file, const SapOptions *options, ConformCase *c) {
    SapOptions o = *options;
    o.max_contacts = file->capacity;
    o.fallback_tau = file->contact_tau_d;
    o.threads = 1;
    SapSolver *solver = NULL;
    bool ok = cli_check(sap_solver_create(file->model, 1, &o, &solver)) && step_case(solver, file, c);
    sap_solver_destroy(solver);
    return ok;
}
