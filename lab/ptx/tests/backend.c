#include "backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void backend_need(SapStatus status, const char *call, const char *file, int line) {
    if (status == SAP_OK)
        return;
    printf("%s:%d: %s: %s: %s\n", file, line, call, sap_status_string(status), sap_error_message());
    exit(1);
}

void backend_check(bool condition, const char *text, const char *file, int line, const char *format, ...) {
    va_list arguments;
    if (condition)
        return;
    printf("%s:%d: not %s: ", file, line, text);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    exit(1);
}

SapScene *backend_scene(const char *path) {
    char full[4096];
    SapScene *scene;
    snprintf(full, sizeof full, "%s/%s", SAPWOOD_SOURCE_DIR, path);
    NEED(sap_scene_load(full, &scene));
    return scene;
}

SapBatch *backend_batch(const SapModel *model, int worlds, const SapOptions *options, SapDevice device) {
    SapOptions o = *options;
    SapBatch *batch;
    o.device = device;
    NEED(sap_batch_create(model, worlds, &o, &batch));
    return batch;
}

/* ---- arrays ---- */

static SapArray view_of(SapBatch *batch, SapBatchField field) {
    SapArray view;
    NEED(sap_batch_array(batch, field, &view));
    return view;
}

bool backend_has(SapBatch *batch, SapBatchField field) {
    SapArray view;
    return sap_batch_array(batch, field, &view) != SAP_ERROR_UNSUPPORTED;
}

size_t backend_bytes(SapBatch *batch, SapBatchField field) {
    SapArray view = view_of(batch, field);
    return (size_t)(view.shape[0] * view.strides[0]);
}

void *backend_read(SapBatch *batch, SapBatchField field) {
    size_t bytes = backend_bytes(batch, field);
    void *data = malloc(bytes ? bytes : 1);
    NEED(sap_batch_read(batch, field, data, bytes));
    return data;
}

/* Compares the first `fields` arrays. */
static void same_fields(SapBatch *expected, SapBatch *got, const char *what, int fields) {
    for (int f = 0; f < fields; f++) {
        if (!backend_has(expected, (SapBatchField)f) && !backend_has(got, (SapBatchField)f))
            continue;
        SapArray here = view_of(expected, (SapBatchField)f), there = view_of(got, (SapBatchField)f);
        CHECK(here.type == there.type && here.strides[0] == there.strides[0], "%s: field %d has another type or size",
              what, f);
        char *a = backend_read(expected, (SapBatchField)f), *b = backend_read(got, (SapBatchField)f);
        for (int64_t w = 0; w < there.shape[0]; w++)
            CHECK(memcmp(a + w * here.strides[0], b + w * here.strides[0], (size_t)here.strides[0]) == 0,
                  "%s: field %d of world %d differs", what, f, (int)w);
        free(a);
        free(b);
    }
}

void backend_same(SapBatch *expected, SapBatch *got, const char *what) {
    same_fields(expected, got, what, SAP_BATCH_NUM_FIELDS);
}

void backend_same_without_sensors(SapBatch *expected, SapBatch *got, const char *what) {
    same_fields(expected, got, what, SAP_BATCH_SITE_Q); /* the first array of a sensor */
}

/* ---- contents ---- */

/* In [-1, 1). */
static double random_unit(uint64_t seed, uint64_t field, uint64_t index) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u + field * 0xbf58476d1ce4e5b9u + index * 0x94d049bb133111ebu;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

static double get_number(const void *data, SapElementType type, size_t i) {
    return type == SAP_TYPE_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static void put_number(void *data, SapElementType type, size_t i, double value) {
    if (type == SAP_TYPE_F64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

static void disturb(SapBatch *batch, SapBatchField field, uint64_t seed, double amount) {
    SapArray view = view_of(batch, field);
    size_t bytes = backend_bytes(batch, field), count = bytes / (view.type == SAP_TYPE_F64 ? 8 : 4);
    void *data = backend_read(batch, field);
    for (size_t i = 0; i < count; i++)
        put_number(data, view.type, i, get_number(data, view.type, i) + amount * random_unit(seed, field, i));
    NEED(sap_batch_write(batch, field, data, bytes));
    free(data);
}

void backend_disturb(SapBatch *batch, uint64_t seed) {
    disturb(batch, SAP_BATCH_JOINT_Q, seed, 0.01);
    disturb(batch, SAP_BATCH_JOINT_QD, seed, 0.3);
    disturb(batch, SAP_BATCH_JOINT_F, seed, 0.1);
    disturb(batch, SAP_BATCH_BODY_F, seed, 0.1);
    disturb(batch, SAP_BATCH_JOINT_TARGET_POS, seed, 0.1);
    disturb(batch, SAP_BATCH_JOINT_TARGET_VEL, seed, 0.1);
    if (backend_bytes(batch, SAP_BATCH_ACTUATOR_CTRL) > 0)
        disturb(batch, SAP_BATCH_ACTUATOR_CTRL, seed, 0.5);
}

void backend_copy_worlds(SapBatch *from, SapBatch *to) {
    for (int f = SAP_BATCH_JOINT_Q; f <= SAP_BATCH_ACTUATOR_ACT; f++) {
        bool bodies = f == SAP_BATCH_BODY_Q || f == SAP_BATCH_BODY_QD;
        bool tendons = f > SAP_BATCH_JOINT_ACT && f < SAP_BATCH_ACTUATOR_CTRL;
        if (bodies || tendons || backend_bytes(to, (SapBatchField)f) == 0)
            continue;
        SapArray here = view_of(from, (SapBatchField)f), there = view_of(to, (SapBatchField)f);
        size_t bytes = backend_bytes(to, (SapBatchField)f), size = there.type == SAP_TYPE_F64 ? 8 : 4;
        void *data = backend_read(from, (SapBatchField)f), *copy = calloc(1, bytes ? bytes : 1);
        for (size_t i = 0; i < bytes / size; i++)
            put_number(copy, there.type, i, get_number(data, here.type, i));
        NEED(sap_batch_write(to, (SapBatchField)f, copy, bytes));
        free(data);
        free(copy);
    }
}
