/* The table of a batch's arrays: a row for each field, memory for each row, and resets as the rows say. */
#include <stdint.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/batch/fields.h"
#include "support/model_parts.h"

enum { WORLDS = 3 };

static SapBatch *make(const char *preset, SapScene **scene) {
    SapOptions options;
    SapBatch *batch;
    cr_assert_eq(sap_scene_load("tests/scenes/hulls.yaml", scene), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_options_preset(preset, &options), SAP_OK);
    if (options.contact_solver == SAP_SOLVER_SAP)
        options.sleep_steps = 5;
    cr_assert_eq(sap_batch_create((*scene)->model, WORLDS, &options, &batch), SAP_OK, "%s", sap_error_message());
    SapArray view;
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        SapStatus status = sap_batch_check_row(batch, "test", sap_batch_row(f));
        cr_assert_eq(sap_batch_array(batch, f, &view), status);
    }
    return batch;
}

static size_t bytes_of(const SapBatch *batch, const SapBatchRow *row) {
    return WORLDS * sap_batch_row_bytes(batch, row);
}

Test(fields, each_has_one_row_of_its_name) {
    const char *const *names = sap_batch_field_names();
    cr_assert_null(names[SAP_BATCH_NUM_FIELDS]);
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        int rows = 0;
        for (int i = 0; i < sap_batch_num_rows; i++)
            rows += sap_batch_rows[i].field == f;
        cr_assert_eq(rows, 1, "field %d has %d rows", f, rows);
        cr_assert_str_eq(names[f], sap_batch_row(f)->name);
    }
}

Test(fields, arrays_of_rows_are_apart_and_views_show_them) {
    static const char *const presets[] = {"approx32", "approx64", "mujoco64"};
    for (int p = 0; p < 3; p++) {
        SapScene *scene;
        SapBatch *batch = make(presets[p], &scene);
        for (int i = 0; i < sap_batch_num_rows; i++) {
            const SapBatchRow *a = &sap_batch_rows[i];
            uintptr_t at = (uintptr_t)sap_batch_row_get(&batch->arrays, a);
            if (sap_batch_check_row(batch, "test", a) != SAP_OK)
                continue;
            cr_assert_neq(at, 0u, "%s", a->name);
            for (int k = 0; k < i; k++) {
                const SapBatchRow *b = &sap_batch_rows[k];
                uintptr_t other = (uintptr_t)sap_batch_row_get(&batch->arrays, b);
                cr_assert(!other || at + bytes_of(batch, a) <= other || other + bytes_of(batch, b) <= at, "%s, %s",
                          a->name, b->name);
            }
            if (a->field >= SAP_BATCH_NUM_FIELDS)
                continue;
            SapArray view;
            cr_assert_eq(sap_batch_array(batch, a->field, &view), SAP_OK);
            cr_assert_eq((uintptr_t)view.data, at, "%s", a->name);
            cr_assert_eq((size_t)(view.shape[0] * view.strides[0]), bytes_of(batch, a), "%s", a->name);
        }
        sap_batch_destroy(batch);
        sap_scene_destroy(scene);
    }
}

/* World 1 is put back: its part of an array is as it was after the creation, or as the test left it. */
static void expect_reset(const char *preset) {
    enum { LEFT = 0x5a };
    SapScene *scene;
    SapBatch *batch = make(preset, &scene);
    const uint8_t mask[WORLDS] = {0, 1, 0};
    for (int i = 0; i < sap_batch_num_rows; i++)
        if (sap_batch_row_get(&batch->arrays, &sap_batch_rows[i]))
            memset(sap_batch_row_get(&batch->arrays, &sap_batch_rows[i]), LEFT, bytes_of(batch, &sap_batch_rows[i]));
    cr_assert_eq(sap_batch_reset(batch, mask, 0), SAP_OK);
    for (int i = 0; i < sap_batch_num_rows; i++) {
        const SapBatchRow *row = &sap_batch_rows[i];
        const uint8_t *data = sap_batch_row_get(&batch->arrays, row), *start = sap_batch_row_get(&batch->starts, row);
        size_t bytes = sap_batch_row_bytes(batch, row);
        for (size_t k = 0; data && k < WORLDS * bytes; k++) {
            bool is_reset = k / bytes == 1 && row->reset != SAP_FIELD_KEEP;
            if (is_reset && row->reset == SAP_FIELD_MEASURE)
                continue; /* test_sensors.c */
            uint8_t want = !is_reset ? LEFT : sap_batch_row_has_start(row) ? start[k % bytes] : 0;
            cr_assert_eq(data[k], want, "%s: byte %zu", row->name, k);
        }
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(fields, a_reset_does_what_the_rows_say) {
    expect_reset("approx32");
    expect_reset("mujoco64");
}

Test(fields, a_type_of_state_that_is_none_is_refused) {
    SapScene *scene;
    SapBatch *batch = make("approx32", &scene), *none;
    cr_assert_eq(sap_batch_create_as(scene->model, 1, NULL, (SapDtype)7, &none), SAP_ERROR_ARGUMENT);
    cr_assert_str_eq(sap_error_message(), "sap_batch_create_as: dtype is 7; allowed: 0 SAP_F32, 1 SAP_F64");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* A keyframe whose angle is too large for f32 has no poses in f32: it has the bodies of the initial state, in batches
 * of any size. */
Test(fields, a_keyframe_without_kinematics_has_the_bodies_of_the_initial_state) {
    const double q[3] = {0.5, 1e8, -0.5}, qd[3] = {0};
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_REVOLUTE, 0, 1);
    SapModel *made = parts_model(&parts), *model;
    SapModelArrays a = *sap_model_arrays(made);
    a.num_keyframes = 3;
    a.keyframe_joint_q = q;
    a.keyframe_joint_qd = qd;
    a.keyframe_name = NULL;
    cr_assert_eq(sap_model_create(&a, &model), SAP_OK, "%s", sap_error_message());
    for (int worlds = 1; worlds <= 4; worlds++) {
        SapBatch *batch;
        SapArray body;
        float initial[7];
        cr_assert_eq(sap_batch_create(model, worlds, NULL, &batch), SAP_OK, "%s", sap_error_message());
        cr_assert_eq(sap_batch_array(batch, SAP_BATCH_BODY_Q, &body), SAP_OK);
        memcpy(initial, body.data, sizeof initial);
        cr_assert_eq(sap_batch_reset(batch, NULL, 2), SAP_OK);
        cr_assert_eq(memcmp(initial, body.data, sizeof initial), 0, "%d worlds", worlds);
        cr_assert_eq(sap_batch_reset(batch, NULL, 3), SAP_OK);
        cr_assert_neq(memcmp(initial, body.data, sizeof initial), 0, "%d worlds", worlds);
        sap_batch_destroy(batch);
    }
    sap_model_destroy(model);
    sap_model_destroy(made);
}
