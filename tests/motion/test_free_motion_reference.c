/* Free motion against the reference data: v*, A and the next coordinates of every case of tests/data/reference/f64.
 *
 * The reference keeps velocities and forces in internal order and wrenches about body origins; they are put into public
 * order here (oracle.h), so the conversions of the step are part of what is compared. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/logging.h>

#include "host/model/model.h"
#include "support/oracle.h"
#include "support/reference.h"
#include "support/worlds.h"

enum { MAX_ARRAYS = 64, MAX_FILES = 64 };

/* A file of cases and the arrays read from it. */
typedef struct File {
    char name[272]; /* below the reference folder */
    json_t *root;
    void *array[MAX_ARRAYS];
    int num_arrays;
} File;

/* ---- reading ---- */

static void *keep(File *file, void *array, const char *key) {
    cr_assert_not_null(array, "%s: %s is missing or has something else than numbers", file->name, key);
    cr_assert(file->num_arrays < MAX_ARRAYS);
    return file->array[file->num_arrays++] = array;
}

static double *doubles(File *file, const json_t *object, const char *key, size_t expected) {
    size_t count;
    double *values = keep(file, reference_doubles(json_object_get(object, key), &count), key);
    cr_assert_eq(count, expected, "%s: %s has %zu numbers, not %zu", file->name, key, count, expected);
    return values;
}

static int32_t *ints(File *file, const json_t *object, const char *key, size_t expected) {
    size_t count;
    int32_t *values = keep(file, reference_ints(json_object_get(object, key), &count), key);
    cr_assert_eq(count, expected, "%s: %s has %zu numbers, not %zu", file->name, key, count, expected);
    return values;
}

static void release_arrays(File *file, int from) {
    while (file->num_arrays > from)
        free(file->array[--file->num_arrays]);
}

static void close_file(File *file) {
    release_arrays(file, 0);
    json_decref(file->root);
}

/* Armature is per dof; the reference counts a free joint's dofs angular first. */
static double *public_armature(File *file, const json_t *model, const SapModelArrays *a) {
    double *armature = doubles(file, model, "joint_armature", (size_t)a->num_dofs);
    for (int j = 0; j < a->num_joints; j++) {
        double *of_joint = armature + a->joint_qd_start[j], angular[3];
        if (a->joint_type[j] != SAP_JOINT_FREE)
            continue;
        memcpy(angular, of_joint, sizeof angular);
        memcpy(of_joint, of_joint + 3, sizeof angular);
        memcpy(of_joint + 3, angular, sizeof angular);
    }
    return armature;
}

/* as_given: axes and quaternions keep their lengths, which are 1 to single precision only. */
static SapModel *read_model(File *file, bool as_given) {
    const json_t *model = json_object_get(file->root, "model");
    size_t nj = json_array_size(json_object_get(model, "joint_type"));
    size_t na = json_array_size(json_object_get(model, "articulation_start")) - 1;
    SapModelArrays a;
    sap_model_arrays_default(&a);
    a.num_bodies = a.num_joints = (int)nj;
    a.num_articulations = (int)na;
    a.joint_type = ints(file, model, "joint_type", nj);
    a.joint_parent = ints(file, model, "joint_parent", nj);
    a.joint_child = ints(file, model, "joint_child", nj);
    a.joint_dof_dim = ints(file, model, "joint_dof_dim", 2 * nj);
    a.joint_q_start = ints(file, model, "joint_q_start", nj + 1);
    a.joint_qd_start = ints(file, model, "joint_qd_start", nj + 1);
    a.articulation_start = ints(file, model, "articulation_start", na + 1);
    a.num_coords = a.joint_q_start[nj];
    a.num_dofs = a.joint_qd_start[nj];
    a.joint_X_p = doubles(file, model, "joint_X_p", 7 * nj);
    a.joint_X_c = doubles(file, model, "joint_X_c", 7 * nj);
    a.joint_axis = doubles(file, model, "joint_axis", 3 * (size_t)a.num_dofs);
    a.joint_armature = public_armature(file, model, &a);
    a.body_mass = doubles(file, model, "body_mass", nj);
    a.body_com = doubles(file, model, "body_com", 3 * nj);
    a.body_inertia = doubles(file, model, "body_inertia", 9 * nj);
    memcpy(a.gravity, doubles(file, model, "gravity", 3), sizeof a.gravity);

    SapModel *out;
    SapStatus status = as_given ? sap_model_copy(&a, &out) : sap_model_create(&a, &out);
    cr_assert_eq(status, SAP_OK, "%s: %s", file->name, sap_error_message());
    return out;
}

/* By name, so that reports come in the same order everywhere. */
static int compare_names(const void *a, const void *b) {
    return strcmp(((const File *)a)->name, ((const File *)b)->name);
}

static int list_files(File *files) {
    DIR *folder = opendir(REFERENCE_FOLDER "/f64");
    cr_assert_not_null(folder);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length < 8 || strcmp(entry->d_name + length - 8, ".json.gz") != 0)
            continue;
        cr_assert(n < MAX_FILES);
        memset(&files[n], 0, sizeof files[n]);
        snprintf(files[n].name, sizeof files[n].name, "f64/%s", entry->d_name);
        n++;
    }
    closedir(folder);
    qsort(files, (size_t)n, sizeof *files, compare_names);
    return n;
}

/* ---- cases ---- */

/* v + w t + u x t, t = 2 u x v, for q = (u, w): what a rotation by q is where its length is taken for 1, whether or not
 * it is. */
static void rotate_as_given(const double *q, const double *v, number *out) {
    number t[3];
    for (int i = 0; i < 3; i++)
        t[i] = 2 * ((number)q[(i + 1) % 3] * v[(i + 2) % 3] - (number)q[(i + 2) % 3] * v[(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[3] * t[i] + (q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3]);
}

/* Wrenches on bodies, from [torque about the origin ; force] to [force ; torque about the centre of mass]. The arm
 * comes from the pose that free motion gives, w->out.body_pose. */
static void set_body_f(Worlds *w, int world, const double *applied) {
    for (int b = 0; b < w->nb; b++) {
        const double *torque = applied + 6 * b, *f = torque + 3;
        double *out = w->body_f + (world * w->nb + b) * 6;
        number r[3];
        rotate_as_given(w->out.body_pose + (world * w->nb + b) * 7 + 3, w->m->body_com + 3 * b, r);
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            out[i] = f[i];
            out[3 + i] = (double)(torque[i] - (r[j] * f[k] - r[k] * f[j]));
        }
    }
}

static void to_public(Worlds *w, int world, const double *qd, const double *f) {
    number *internal = malloc((size_t)w->nv * sizeof *internal);
    const double *q = w->q + world * w->nq;
    for (int i = 0; i < w->nv; i++)
        internal[i] = qd[i];
    oracle_public_velocity(w->m, q, internal, w->v + world * w->nv);
    for (int i = 0; i < w->nv; i++)
        internal[i] = f[i];
    oracle_public_force(w->m, q, internal, w->joint_f + world * w->nv);
    free(internal);
}

/* Puts the case into one world of the batch, all but the wrenches on bodies. */
static void set_case(File *file, Worlds *w, int world, const json_t *c) {
    int mark = file->num_arrays;
    size_t nv = (size_t)w->nv;
    memcpy(w->q + world * w->nq, doubles(file, c, "joint_q", (size_t)w->nq), (size_t)w->nq * sizeof(double));
    to_public(w, world, doubles(file, c, "joint_qd", nv), doubles(file, c, "joint_f", nv));
    release_arrays(file, mark);
}

static void set_wrenches(File *file, Worlds *w, const json_t *cases) {
    int mark = file->num_arrays;
    worlds_free_motion(w, 0.01); /* for the poses */
    for (int i = 0; i < w->n; i++) {
        const json_t *c = json_array_get(cases, (size_t)i);
        set_body_f(w, i, doubles(file, c, "body_f_applied", 6 * (size_t)w->nb));
        release_arrays(file, mark);
    }
}

/* Every case of a file is a world; all have the same step. */
static Worlds *open_cases(File *file, const SapOptions *options, const json_t **cases, double *h) {
    file->root = reference_load(file->name);
    cr_assert_not_null(file->root);
    *cases = json_object_get(file->root, "cases");
    int n = (int)json_array_size(*cases);
    Worlds *w = worlds_create(read_model(file, options->compat == SAP_COMPAT_SAP_WARP), n, options);
    for (int i = 0; i < n; i++) {
        const json_t *c = json_array_get(*cases, (size_t)i);
        double step = json_number_value(json_object_get(c, "h"));
        if (i > 0)
            cr_assert_eq(step, *h, "%s has cases of different steps", file->name);
        *h = step;
        set_case(file, w, i, c);
    }
    set_wrenches(file, w, *cases);
    return w;
}

static const char *case_name(const json_t *cases, int i) {
    return json_string_value(json_object_get(json_array_get(cases, (size_t)i), "name"));
}

static const json_t *output_of(const json_t *cases, int i, size_t output) {
    return json_array_get(json_object_get(json_array_get(cases, (size_t)i), "outputs"), output);
}

/* How far one array of a world is from the same array of a case's output. */
static double error_of(File *file, const json_t *output, const char *key, const double *ours, int n) {
    int mark = file->num_arrays;
    double error = relative_error(ours, doubles(file, output, key, (size_t)n), n);
    release_arrays(file, mark);
    return error;
}

typedef struct Worst {
    double error;
    char name[64];
} Worst;

static void note(Worst *worst, double error, const char *name) {
    if (error > worst->error) {
        worst->error = error;
        snprintf(worst->name, sizeof worst->name, "%s", name);
    }
}

/* ---- v* and A ---- */

static void compare_free_motion(SapPrecision precision, SapCompat compat, double allowed_v_star, double allowed_A) {
    File files[MAX_FILES];
    int num_files = list_files(files), num_cases = 0;
    SapOptions options = worlds_options(precision);
    options.compat = compat;
    Worst v_star = {0}, A = {0};
    for (int f = 0; f < num_files; f++) {
        const json_t *cases;
        double h;
        Worlds *w = open_cases(&files[f], &options, &cases, &h);
        worlds_free_motion(w, h);
        for (int i = 0; i < w->n; i++, num_cases++) {
            const json_t *output = output_of(cases, i, 0);
            const char *name = case_name(cases, i);
            double e_v = error_of(&files[f], output, "v_star", w->out.v_star + i * w->nv, w->nv);
            double e_A = error_of(&files[f], output, "A", w->out.A + i * w->nv * w->nv, w->nv * w->nv);
            cr_expect(e_v <= allowed_v_star, "%s: v* is off by %.3g", name, e_v);
            cr_expect(e_A <= allowed_A, "%s: A is off by %.3g", name, e_A);
            note(&v_star, e_v, name);
            note(&A, e_A, name);
        }
        worlds_destroy(w);
        close_file(&files[f]);
    }
    cr_assert(num_cases > 0, "no reference cases");
    cr_log_info("%d cases: worst v* %.2g (%s), worst A %.2g (%s)\n", num_cases, v_star.error, v_star.name, A.error,
                A.name);
}

Test(free_motion_reference, v_star_and_A_equal_the_reference_in_f64) {
    compare_free_motion(SAP_FP64, SAP_COMPAT_SAP_WARP, 1e-11, 1e-11);
}

/* By default axes and quaternions are made unit, so the single-precision lengths of the reference's show. */
Test(free_motion_reference, without_compat_v_star_and_A_differ_by_the_rounding_of_the_reference_axes_only) {
    compare_free_motion(SAP_FP64, SAP_COMPAT_NONE, 1e-7, 1e-6);
}

Test(free_motion_reference, v_star_and_A_are_near_the_reference_in_f32) {
    compare_free_motion(SAP_FP32, SAP_COMPAT_NONE, 1e-4, 1e-5);
}

/* ---- the next coordinates ---- */

static bool all_zero(const json_t *model, const char *key) {
    size_t count;
    double *values = reference_doubles(json_object_get(model, key), &count), sum = 0;
    for (size_t i = 0; values != NULL && i < count; i++)
        sum += fabs(values[i]);
    free(values);
    return sum == 0;
}

/* No contact in the case, no drive and no limit in the model: the reference's step is free motion alone. */
static bool is_free(const File *file, const json_t *cases, int i) {
    const json_t *model = json_object_get(file->root, "model");
    const json_t *contacts = json_object_get(json_array_get(cases, (size_t)i), "contacts");
    return json_array_size(contacts) == 0 && all_zero(model, "joint_target_mode") && all_zero(model, "joint_limit_ke");
}

/* The first output of a preset. */
static const json_t *output_of_preset(const json_t *cases, int i, const char *preset) {
    const json_t *outputs = json_object_get(json_array_get(cases, (size_t)i), "outputs");
    for (size_t k = 0; k < json_array_size(outputs); k++) {
        const json_t *output = json_array_get(outputs, k);
        if (strcmp(json_string_value(json_object_get(output, "preset")), preset) == 0)
            return output;
    }
    cr_assert_fail("%s has no output of %s", case_name(cases, i), preset);
    return NULL;
}

/* The step's coordinates and velocities of world i against those of an output. Velocities are differences of numbers of
 * the size of v*, so that is the least scale of their error. */
static double next_state_error(File *file, const Worlds *w, int i, const json_t *output) {
    int mark = file->num_arrays;
    double *q_next = doubles(file, output, "q_next", (size_t)w->nq);
    const double *v_next = doubles(file, output, "v_next", (size_t)w->nv);
    const double *v_star = doubles(file, output, "v_star", (size_t)w->nv);
    number *internal = malloc((size_t)w->nv * sizeof *internal);
    double *v = malloc((size_t)w->nv * sizeof *v), scale = 0;
    oracle_internal_velocity(w->m, w->q + i * w->nq, w->v + i * w->nv, internal);
    for (int k = 0; k < w->nv; k++) {
        v[k] = (double)internal[k];
        scale = fmax(scale, fabs(v_star[k]));
    }
    double e_q = relative_error(w->q + i * w->nq, q_next, w->nq), e_v = scaled_error(v, v_next, w->nv, scale);
    free(internal);
    free(v);
    release_arrays(file, mark);
    return fmax(e_q, e_v);
}

static const char *const presets[] = {"approx64", "drake"}; /* midpoint, sap_euler */

static struct criterion_test_params integration_params(void) {
    static int indices[] = {0, 1};
    return cr_make_param_array(int, indices, 2);
}

/* Adds to joint_f what takes the world to the velocity v_next: f = A (v_next - v*) / h. Contacts, drives and limits do
 * no more to a step, so this makes every case one whose coordinates can be compared. */
static void push_to(File *file, Worlds *w, int i, double h, const json_t *output) {
    int mark = file->num_arrays, nv = w->nv;
    const double *goal = doubles(file, output, "v_next", (size_t)nv);
    const double *A = w->out.A + i * nv * nv, *v_star = w->out.v_star + i * nv;
    number *f = malloc((size_t)nv * sizeof *f);
    oracle_internal_force(w->m, w->q + i * w->nq, w->joint_f + i * nv, f);
    for (int r = 0; r < nv; r++)
        for (int c = 0; c < nv; c++)
            f[r] += (number)A[r * nv + c] * ((number)goal[c] - v_star[c]) / h;
    oracle_public_force(w->m, w->q + i * w->nq, f, w->joint_f + i * nv);
    free(f);
    release_arrays(file, mark);
}

/* Steps the cases of all files, pushed to the reference velocity or, if they are free of contacts, as they are. */
static void compare_next_states(const char *preset, bool pushed) {
    File files[MAX_FILES];
    int num_files = list_files(files), num_cases = 0;
    SapOptions options;
    cr_assert_eq(sap_options_preset(preset, &options), SAP_OK);
    options.compat = SAP_COMPAT_SAP_WARP;
    Worst worst = {0};
    for (int f = 0; f < num_files; f++) {
        const json_t *cases;
        double h;
        Worlds *w = open_cases(&files[f], &options, &cases, &h);
        if (pushed)
            worlds_free_motion(w, h);
        for (int i = 0; i < w->n && pushed; i++)
            push_to(&files[f], w, i, h, output_of_preset(cases, i, preset));
        worlds_step(w, h, 1);
        for (int i = 0; i < w->n; i++) {
            if (!pushed && !is_free(&files[f], cases, i))
                continue;
            double error = next_state_error(&files[f], w, i, output_of_preset(cases, i, preset));
            cr_expect(error <= 1e-12, "%s, %s: off by %.3g", case_name(cases, i), preset, error);
            note(&worst, error, case_name(cases, i));
            num_cases++;
        }
        worlds_destroy(w);
        close_file(&files[f]);
    }
    cr_assert(num_cases > 0, "%s: no case in the reference", preset);
    cr_log_info("%s: %d cases, worst next state %.2g (%s)\n", preset, num_cases, worst.error, worst.name);
}

ParameterizedTestParameters(free_motion_reference, contact_free_worlds_step_to_the_reference_coordinates) {
    return integration_params();
}

ParameterizedTest(const int *preset, free_motion_reference, contact_free_worlds_step_to_the_reference_coordinates) {
    compare_next_states(presets[*preset], false);
}

ParameterizedTestParameters(free_motion_reference,
                            worlds_pushed_to_the_reference_velocity_reach_the_reference_coordinates) {
    return integration_params();
}

ParameterizedTest(const int *preset, free_motion_reference,
                  worlds_pushed_to_the_reference_velocity_reach_the_reference_coordinates) {
    compare_next_states(presets[*preset], true);
}
