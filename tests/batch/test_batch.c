/* Batches: stepping, resetting, and the same bits however the worlds are arranged. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/number.h"
#include "support/presets.h"
#include "support/scene_batch.h"
#include "support/work.h"

static size_t number_size(const SapBatch *batch) {
    return number_width(sap_batch_state(batch)->dtype);
}

/* Bytes of q, then of qd, of world w. */
static void read_world(const SapBatch *batch, const SapModelArrays *a, int w, char *out) {
    size_t q = (size_t)a->num_coords * number_size(batch), qd = (size_t)a->num_dofs * number_size(batch);
    memcpy(out, (char *)sap_batch_state(batch)->joint_q + (size_t)w * q, q);
    memcpy(out + q, (char *)sap_batch_state(batch)->joint_qd + (size_t)w * qd, qd);
}

enum { MOST_BYTES = 4096 };

/* ---- the same bits ---- */

typedef struct Arrangement {
    int worlds, first, lanes, threads; /* content i sits in world (first + i) modulo worlds */
} Arrangement;

/* The states of `contents` contents after some steps. */
static void run_arrangement(const SapScene *scene, SapOptions options, Arrangement how, int contents, int steps,
                            char (*out)[MOST_BYTES]) {
    const SapModelArrays *a = sap_model_arrays(scene->model);
    options.lanes = how.lanes;
    options.threads = how.threads;
    SapBatch *batch = create(scene, how.worlds, &options);
    for (int i = 0; i < how.worlds; i++)
        set_content(batch, a, (how.first + i) % how.worlds, i);
    cr_assert_eq(sap_batch_step(batch, scene->dt, steps), SAP_OK);
    for (int i = 0; i < contents; i++)
        read_world(batch, a, (how.first + i) % how.worlds, out[i]);
    sap_batch_destroy(batch);
}

static void check_sameness(const char *name, const char *preset) {
    enum { CONTENTS = 3 };
    static const Arrangement how[] = {{3, 0, 1, 1}, {3, 1, 4, 2}, {5, 3, 8, 1}, {19, 7, 8, 2}, {33, 30, 4, 1}};
    static char expected[CONTENTS][MOST_BYTES], got[CONTENTS][MOST_BYTES];
    SapScene *scene = load(name);
    const SapModelArrays *a = sap_model_arrays(scene->model);
    cr_assert_eq(sap_options_set(&scene->options, "preset", preset), SAP_OK);
    size_t bytes = (size_t)(a->num_coords + a->num_dofs) *
                   (scene->options.free_motion_precision == SAP_FP64 ? sizeof(double) : sizeof(float));
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        run_arrangement(scene, scene->options, how[k], CONTENTS, 10 + (int)(50 * work_scale()),
                        k == 0 ? expected : got);
        for (int i = 0; i < CONTENTS && k > 0; i++)
            cr_assert_eq(memcmp(expected[i], got[i], bytes), 0, "%s %s: world %d, %d worlds, lanes %d, threads %d",
                         name, preset, i, how[k].worlds, how[k].lanes, how[k].threads);
    }
    sap_scene_destroy(scene);
}

/* Indices: Criterion hands a parameter to another process, where a pointer means nothing. */
typedef struct SceneAndPreset {
    int scene, preset;
} SceneAndPreset;

static const char *const scene_names[] = {"cube", "stack5", "quadruped", "gripper"};
enum { NUM_SCENES = sizeof scene_names / sizeof *scene_names };

ParameterizedTestParameters(batch, a_world_has_the_same_bits_for_any_lanes_threads_batch_size_and_position) {
    static SceneAndPreset params[NUM_SCENES * NUM_PRESETS];
    for (int i = 0; i < NUM_SCENES * NUM_PRESETS; i++)
        params[i] = (SceneAndPreset){i / NUM_PRESETS, i % NUM_PRESETS};
    return cr_make_param_array(SceneAndPreset, params, NUM_SCENES * NUM_PRESETS);
}

ParameterizedTest(const SceneAndPreset *of, batch,
                  a_world_has_the_same_bits_for_any_lanes_threads_batch_size_and_position) {
    check_sameness(scene_names[of->scene], preset_names[of->preset]);
}

Test(batch, n_steps_in_one_call_are_n_calls) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *once = create(scene, 11, &scene->options), *often = create(scene, 11, &scene->options);
    for (int w = 0; w < 11; w++) {
        set_content(once, a, w, w);
        set_content(often, a, w, w);
    }
    cr_assert_eq(sap_batch_step(once, scene->dt, 30), SAP_OK);
    for (int i = 0; i < 30; i++)
        cr_assert_eq(sap_batch_step(often, scene->dt, 1), SAP_OK);
    char x[MOST_BYTES] = {0}, y[MOST_BYTES] = {0};
    for (int w = 0; w < 11; w++) {
        read_world(once, a, w, x);
        read_world(often, a, w, y);
        cr_assert_eq(memcmp(x, y, sizeof x), 0, "world %d", w);
        cr_assert_eq(sap_batch_contacts(once)->count[w], sap_batch_contacts(often)->count[w]);
    }
    sap_batch_destroy(once);
    sap_batch_destroy(often);
    sap_scene_destroy(scene);
}

Test(batch, a_fused_step_is_collide_then_step) {
    SapScene *scene = load("stack5");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 9, &scene->options);
    SapSolver *solver = NULL;
    SapState *state = NULL;
    SapContacts *contacts = NULL;
    cr_assert_eq(sap_solver_create(scene->model, 9, &scene->options, &solver), SAP_OK);
    cr_assert_eq(sap_state_create(scene->model, 9, sap_batch_state(batch)->dtype, &state), SAP_OK);
    cr_assert_eq(sap_contacts_create(9, scene->options.max_contacts, sap_batch_contacts(batch)->dtype, &contacts),
                 SAP_OK);
    for (int i = 0; i < 40; i++) {
        cr_assert_eq(sap_batch_step(batch, scene->dt, 1), SAP_OK);
        cr_assert_eq(sap_collide(solver, state, contacts), SAP_OK);
        cr_assert_eq(sap_step(solver, state, NULL, contacts, scene->dt, state), SAP_OK);
    }
    cr_assert_gt(contacts->count[0], 0);
    cr_assert_eq(
        memcmp(state->joint_q, sap_batch_state(batch)->joint_q, 9 * (size_t)a->num_coords * number_size(batch)), 0);
    sap_contacts_destroy(contacts);
    sap_state_destroy(state);
    sap_solver_destroy(solver);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* ---- reset ---- */

Test(batch, reset_puts_chosen_worlds_back_and_leaves_the_others) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 6, &scene->options), *fresh = create(scene, 6, &scene->options);
    for (int w = 0; w < 6; w++)
        set_content(batch, a, w, w);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 50), SAP_OK);
    char before[6][MOST_BYTES] = {{0}}, x[MOST_BYTES] = {0}, start[MOST_BYTES] = {0};
    for (int w = 0; w < 6; w++)
        read_world(batch, a, w, before[w]);
    read_world(fresh, a, 0, start);
    const uint8_t mask[6] = {0, 1, 0, 0, 1, 0};
    int kept = sap_batch_contacts(batch)->count[2];
    cr_assert_eq(sap_batch_reset(batch, mask, 0), SAP_OK);
    for (int w = 0; w < 6; w++) {
        read_world(batch, a, w, x);
        cr_assert_eq(memcmp(x, mask[w] ? start : before[w], sizeof x), 0, "world %d", w);
    }
    cr_assert_eq(sap_batch_contacts(batch)->count[1], 0);
    cr_assert_eq(sap_batch_contacts(batch)->count[2], kept);
    cr_assert_eq(sap_solver_world_status(sap_batch_solver(batch))[1], 0u);
    cr_assert_neq(sap_solver_world_status(sap_batch_solver(batch))[2], 0u);

    /* nothing of the past is left: the world goes on as a new one does */
    cr_assert_eq(sap_batch_step(batch, scene->dt, 50), SAP_OK);
    cr_assert_eq(sap_batch_step(fresh, scene->dt, 50), SAP_OK);
    read_world(batch, a, 1, x);
    read_world(fresh, a, 1, start);
    cr_assert_eq(memcmp(x, start, sizeof x), 0);
    sap_batch_destroy(batch);
    sap_batch_destroy(fresh);
    sap_scene_destroy(scene);
}

Test(batch, after_a_reset_every_array_that_is_read_is_that_of_a_new_batch) {
    enum { WORLDS = 3 };
    SapScene *scene = load("humanoid");
    SapBatch *batch = create(scene, WORLDS, &scene->options), *fresh = create(scene, WORLDS, &scene->options);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 5), SAP_OK);
    for (int f = 0; f <= SAP_BATCH_CONTACT_DROPPED; f++) {
        SapArray view;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &view), SAP_OK);
        memset(view.data, 0x3f, (size_t)(view.shape[0] * view.strides[0]));
    }
    cr_assert_eq(sap_batch_reset(batch, NULL, 0), SAP_OK);
    for (int f = 0; f <= SAP_BATCH_CONTACT_DROPPED; f++) {
        SapArray got, expected;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &got), SAP_OK);
        cr_assert_eq(sap_batch_array(fresh, (SapBatchField)f, &expected), SAP_OK);
        cr_expect_eq(memcmp(got.data, expected.data, (size_t)(got.shape[0] * got.strides[0])), 0, "field %d", f);
    }
    sap_batch_destroy(batch);
    sap_batch_destroy(fresh);
    sap_scene_destroy(scene);
}

/* The cube with two keyframes: a metre higher, and turned with a velocity. */
static SapModel *cube_with_keyframes(const SapScene *scene) {
    SapModelArrays a = *sap_model_arrays(scene->model);
    const double q[2][7] = {{0, 0, 1, 0, 0, 0, 1}, {0.5, -0.5, 0.7, 0.6, 0, 0, 0.8}};
    const double qd[2][6] = {{0}, {0.1, 0.2, 0.3, 1, 2, 3}};
    SapModel *model = NULL;
    a.num_keyframes = 2;
    a.keyframe_joint_q = q[0];
    a.keyframe_joint_qd = qd[0];
    a.keyframe_name = NULL;
    cr_assert_eq(sap_model_create(&a, &model), SAP_OK, "%s", sap_error_message());
    return model;
}

Test(batch, reset_puts_worlds_to_keyframes) {
    SapScene *scene = load("cube");
    SapModel *model = cube_with_keyframes(scene);
    const SapModelArrays *a = sap_model_arrays(model);
    SapBatch *batch = NULL;
    cr_assert_eq(sap_batch_create(model, 5, NULL, &batch), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_batch_step(batch, scene->dt, 100), SAP_OK);
    const uint8_t second[5] = {0, 0, 1, 0, 1}, first[5] = {1, 0, 0, 0, 0};
    cr_assert_eq(sap_batch_reset(batch, second, 2), SAP_OK);
    cr_assert_eq(sap_batch_reset(batch, first, 1), SAP_OK);
    cr_assert_eq(sap_batch_reset(batch, (const uint8_t[5]){0, 1, 0, 0, 0}, 0), SAP_OK);
    const SapState *s = sap_batch_state(batch);
    const double *const q[5] = {a->keyframe_joint_q, a->joint_q, a->keyframe_joint_q + 7, NULL,
                                a->keyframe_joint_q + 7};
    const double *const qd[5] = {a->keyframe_joint_qd, a->joint_qd, a->keyframe_joint_qd + 6, NULL,
                                 a->keyframe_joint_qd + 6};
    for (int w = 0; w < 5; w++) {
        for (int i = 0; i < 7 && q[w]; i++)
            cr_expect_eq(((float *)s->joint_q)[7 * w + i], (float)q[w][i], "world %d, coordinate %d", w, i);
        for (int i = 0; i < 6 && q[w]; i++)
            cr_expect_eq(((float *)s->joint_qd)[6 * w + i], (float)qd[w][i], "world %d, dof %d", w, i);
        /* one free body: its pose is the joint's */
        for (int i = 0; i < 7; i++)
            cr_expect_float_eq(((float *)s->body_q)[7 * w + i], ((float *)s->joint_q)[7 * w + i], 1e-6, "world %d", w);
    }
    cr_expect_neq(((float *)s->joint_q)[7 * 3 + 2], (float)a->joint_q[2], "world 3 was not chosen");
    cr_expect_eq(sap_batch_reset(batch, NULL, 3), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), "keyframe is 3; it must be in 0 .. 2"), "%s", sap_error_message());
    sap_batch_destroy(batch);
    sap_model_destroy(model);
    sap_scene_destroy(scene);
}

/* ---- failures ---- */

Test(batch, a_world_that_fails_in_one_of_several_steps_says_so_and_touches_no_other) {
    SapScene *scene = load("cube");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapBatch *batch = create(scene, 16, &scene->options), *clean = create(scene, 16, &scene->options);
    ((float *)sap_batch_control(batch)->joint_f)[5 * a->num_dofs] = NAN;
    cr_assert_eq(sap_batch_step(batch, scene->dt, 20), SAP_OK);
    cr_assert_eq(sap_batch_step(clean, scene->dt, 20), SAP_OK);
    char x[MOST_BYTES] = {0}, y[MOST_BYTES] = {0};
    for (int w = 0; w < 16; w++) {
        uint32_t status = sap_solver_world_status(sap_batch_solver(batch))[w];
        cr_assert_eq((status & SAP_WORLD_FAILED) != 0, w == 5, "world %d: %#x", w, status);
        read_world(batch, a, w, x);
        read_world(clean, a, w, y);
        cr_assert(w == 5 || memcmp(x, y, sizeof x) == 0, "world %d", w);
    }
    sap_batch_destroy(batch);
    sap_batch_destroy(clean);
    sap_scene_destroy(scene);
}

/* ---- devices ---- */

Test(batch, what_a_cpu_batch_runs_on_is_told) {
    SapScene *scene = load("cube");
    SapBatch *batch = create(scene, 3, &scene->options);
    SapBatchInfo info;
    cr_assert_eq(sap_batch_info(batch, &info), SAP_OK);
    cr_expect(info.device == SAP_DEVICE_CPU && info.num_worlds == 3 && info.team_size == 0 && info.device_bytes == 0);
    cr_expect_eq(info.capacity, sap_batch_contacts(batch)->capacity);
    cr_expect_eq(sap_batch_synchronize(batch), SAP_OK);
    cr_expect_eq(sap_batch_set_stream(batch, NULL), SAP_ERROR_UNSUPPORTED);
    cr_expect_eq(sap_batch_order_stream(batch, NULL), SAP_ERROR_UNSUPPORTED);
    cr_expect_eq(sap_batch_upload_parameters(batch), SAP_OK);
    cr_expect(strstr(sap_error_message(), "no streams"), "%s", sap_error_message());
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* Whatever this build and machine have: without kernels or a driver there is a message, and the CPU goes on. */
Test(batch, a_gpu_that_is_not_there_is_an_error_in_words) {
    SapScene *scene = load("cube");
    SapOptions options = scene->options;
    SapBatch *batch = (SapBatch *)1;
    SapDeviceInfo gpu;
    setenv("SAPWOOD_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    options.device = SAP_DEVICE_CUDA;
    cr_assert_eq(sap_batch_create(scene->model, 2, &options, &batch), SAP_ERROR_DEVICE);
    cr_assert_eq(batch, NULL);
    cr_expect(strstr(sap_error_message(), "device cuda: ") && strstr(sap_error_message(), "allowed here: cpu"), "%s",
              sap_error_message());
    int count;
    cr_expect_eq(sap_device_count(&count), SAP_ERROR_DEVICE);
    cr_expect_eq(sap_device_count(NULL), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_device_info(0, &gpu), SAP_ERROR_DEVICE);
    cr_expect(strstr(sap_error_message(), "no driver: /nowhere/libcuda.so.1"), "%s", sap_error_message());
    cr_expect_eq(sap_device_info(-1, &gpu), SAP_ERROR_ARGUMENT);
    options.device = SAP_DEVICE_CPU;
    batch = create(scene, 2, &options);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 3), SAP_OK);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(batch, a_solver_on_a_gpu_is_refused_and_the_way_out_is_named) {
    SapScene *scene = load("cube");
    SapOptions options = scene->options;
    SapSolver *solver = (SapSolver *)1;
    options.device = SAP_DEVICE_CUDA;
    cr_assert_eq(sap_solver_create(scene->model, 2, &options, &solver), SAP_ERROR_UNSUPPORTED);
    cr_assert_eq(solver, NULL);
    cr_expect(strstr(sap_error_message(), "SapBatch"), "%s", sap_error_message());
    sap_scene_destroy(scene);
}

/* Overwrites the arrays that a reset restores. */
static void fill_arrays(SapBatch *batch) {
    for (int f = 0; f <= SAP_BATCH_CONTACT_DROPPED; f++) {
        SapArray view;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &view), SAP_OK);
        if (view.data)
            memset(view.data, 0x3f, (size_t)(view.shape[0] * view.strides[0]));
    }
}

/* Arrays of the state may be taken away (batch.h); a reset leaves out these and no other. */
Test(batch, a_reset_without_bodies_resets_all_other_arrays) {
    SapScene *scene = load("humanoid");
    SapBatch *batch = create(scene, 3, &scene->options), *fresh = create(scene, 3, &scene->options);
    sap_batch_state(batch)->body_q = sap_batch_state(batch)->body_qd = NULL;
    fill_arrays(batch);
    cr_assert_eq(sap_batch_reset(batch, NULL, 0), SAP_OK);
    for (int f = 0; f <= SAP_BATCH_CONTACT_DROPPED; f++) {
        SapArray got, expected;
        cr_assert_eq(sap_batch_array(batch, (SapBatchField)f, &got), SAP_OK);
        cr_assert_eq(sap_batch_array(fresh, (SapBatchField)f, &expected), SAP_OK);
        if (got.data)
            cr_expect_eq(memcmp(got.data, expected.data, (size_t)(got.shape[0] * got.strides[0])), 0, "%s",
                         sap_batch_field_names()[f]);
    }
    sap_batch_destroy(batch);
    sap_batch_destroy(fresh);
    sap_scene_destroy(scene);
}

/* ---- arguments ---- */

Test(batch, wrong_arguments_are_refused_with_the_value_and_what_is_allowed) {
    SapScene *scene = load("cube");
    SapBatch *batch = (SapBatch *)1;
    cr_assert_eq(sap_batch_create(NULL, 1, NULL, &batch), SAP_ERROR_ARGUMENT);
    cr_assert_eq(batch, NULL);
    cr_assert_eq(sap_batch_create(scene->model, 0, NULL, &batch), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "num_worlds is 0"), "%s", sap_error_message());
    cr_assert_eq(sap_batch_create(scene->model, 1, NULL, NULL), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_create_as(scene->model, 1, NULL, (SapDtype)7, &batch), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "7"), "%s", sap_error_message());
    batch = create(scene, 2, NULL);
    SapArray view;
    cr_assert_eq(sap_batch_step(NULL, 0.01, 1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_step(batch, 0, 1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_step(batch, NAN, 1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_step(batch, 0.01, -1), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "-1"), "%s", sap_error_message());
    cr_assert_eq(sap_batch_step(batch, 0.01, 0), SAP_OK);
    cr_assert_eq(sap_batch_reset(batch, NULL, -1), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_reset(batch, NULL, 1), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "keyframe is 1"), "%s", sap_error_message());
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_NUM_FIELDS, &view), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_JOINT_Q, NULL), SAP_ERROR_ARGUMENT);
    cr_assert_eq(sap_batch_state(NULL), NULL);
    cr_assert_eq(sap_batch_bytes(NULL), 0u);
    sap_batch_destroy(NULL);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* A message begins with the function that the user called, not with one that it uses. */
static void expect_names(SapStatus status, const char *function) {
    size_t length = strlen(function);
    cr_expect(status != SAP_OK && strncmp(sap_error_message(), function, length) == 0 &&
                  sap_error_message()[length] == ':',
              "%s says: %s", function, sap_error_message());
}

Test(batch, messages_begin_with_the_function_that_was_called) {
    SapScene *scene = load("cube");
    SapBatch *batch = create(scene, 2, NULL), *none;
    SapSolver *solver = sap_batch_solver(batch);
    SapState *state = sap_batch_state(batch), short_state = *state;
    SapContacts contacts = *sap_batch_contacts(batch);
    SapModel *model;
    SapArray view;
    const SapBatchField no_field = (SapBatchField)-1;
    short_state.num_worlds = contacts.num_worlds = 1;
    expect_names(sap_batch_create(scene->model, 0, NULL, &none), "sap_batch_create");
    expect_names(sap_batch_create_as(scene->model, 0, NULL, SAP_F32, &none), "sap_batch_create_as");
    expect_names(sap_batch_step(batch, -1, 1), "sap_batch_step");
    expect_names(sap_batch_array(batch, no_field, &view), "sap_batch_array");
    expect_names(sap_batch_read(batch, no_field, &view, 1), "sap_batch_read");
    expect_names(sap_batch_write(batch, no_field, &view, 1), "sap_batch_write");
    expect_names(sap_step(solver, state, NULL, NULL, 0, state), "sap_step");
    expect_names(sap_step(solver, &short_state, NULL, NULL, 1, state), "sap_step");
    expect_names(sap_step(solver, state, NULL, &contacts, 1, state), "sap_step");
    expect_names(sap_collide(solver, state, &contacts), "sap_collide");
    expect_names(sap_free_motion(solver, state, NULL, 0, &(SapFreeMotion){0}), "sap_free_motion");
    expect_names(sap_forward_kinematics(solver, &short_state), "sap_forward_kinematics");
    expect_names(sap_model_load(NULL, &model), "sap_model_load");
    state->joint_q = NULL; /* a caller can do that */
    expect_names(sap_batch_step(batch, 1, 1), "sap_batch_step");
    expect_names(sap_batch_forward_kinematics(batch, NULL), "sap_batch_forward_kinematics");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}
