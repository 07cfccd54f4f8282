#include "host/batch/given.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/batch/fields.h"
#include "kernels/mujoco/data.h"

enum { MAX_CAPACITY = 65535 };

/* The arrays of records: where SapContacts has them, and where the batch keeps them. */
typedef struct Array {
    const char *name;
    size_t offset; /* of its pointer in SapContacts */
    SapBatchField field;
    bool is_int, always_f64;
    int width;
    double fill; /* where the caller does not give it */
} Array;

#define ARRAY(name, FIELD, is_int, always_f64, width, fill)                                                            \
    { #name, offsetof(SapContacts, name), SAP_BATCH_CONTACT_##FIELD, is_int, always_f64, width, fill }
static const Array arrays[] = {
    ARRAY(shape0, SHAPE0, true, false, 1, -1),
    ARRAY(shape1, SHAPE1, true, false, 1, -1),
    ARRAY(body0, BODY0, true, false, 1, -1),
    ARRAY(body1, BODY1, true, false, 1, -1),
    ARRAY(point0, POINT0, false, false, 3, 0),
    ARRAY(point1, POINT1, false, false, 3, 0),
    ARRAY(normal, NORMAL, false, false, 3, 0),
    ARRAY(margin0, MARGIN0, false, false, 1, 0),
    ARRAY(margin1, MARGIN1, false, false, 1, 0),
    ARRAY(stiffness, STIFFNESS, false, false, 1, NAN),
    ARRAY(tau, TAU, false, false, 1, NAN),
    ARRAY(mu, MU, false, false, 1, NAN),
    ARRAY(dissipation, DISSIPATION, false, false, 1, NAN),
    ARRAY(key, KEY, true, false, 1, 0),
    ARRAY(mujoco, MUJOCO, false, true, SAP_MUJOCO_CONTACT_SIZE, 0),
};
#undef ARRAY
enum { NUM_ARRAYS = sizeof arrays / sizeof *arrays };
static_assert((int)NUM_ARRAYS == (int)SAP_TAKE_MAX_ROWS, "every array has a row");

static const void *given(const SapContacts *c, const Array *a) {
    const void *data;
    memcpy(&data, (const char *)c + a->offset, sizeof data);
    return data;
}

/* Whether steps of the batch read the array. */
static bool is_read(const Array *a, const SapBatchSteps *steps) {
    return a->field == SAP_BATCH_CONTACT_KEY ? steps->has_key : a->field != SAP_BATCH_CONTACT_MUJOCO || steps->own_form;
}

/* ---- checks ---- */

static SapStatus check_batch(const SapBatch *b, const SapContacts *c, const char *what) {
    if (b->guard)
        SAP_REQUIRE(&b->options, SAP_CAN_CONTACTS_OF_CALLER_GUARD, "%s: the batch has a guard", what);
    if (b->options.sleep_steps > 0)
        SAP_REQUIRE(&b->options, SAP_CAN_CONTACTS_OF_CALLER_SLEEP, "%s: option sleep_steps is %d", what,
                    b->options.sleep_steps);
    if (c && b->backend->step_args(b)->plan.rk4)
        SAP_REQUIRE(&b->options, SAP_CAN_CONTACTS_OF_CALLER_RK4, "%s", what);
    return SAP_OK;
}

static SapStatus check_sizes(const SapBatch *b, const SapContacts *c, const char *what) {
    if (c->num_worlds != b->num_worlds)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: contacts: num_worlds is %d; the batch has %d", what, c->num_worlds,
                        b->num_worlds);
    if (c->dtype != SAP_F32 && c->dtype != SAP_F64)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: contacts: dtype is %d; it must be SAP_F32 or SAP_F64", what,
                        (int)c->dtype);
    if (c->capacity < 1 || c->capacity > MAX_CAPACITY)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: contacts: capacity is %d; it must be in 1 .. %d", what, c->capacity,
                        MAX_CAPACITY);
    return SAP_OK;
}

/* An array that may be NULL unless it is required. */
static SapStatus check_array(SapBatch *b, const char *what, const char *name, const void *data, bool required) {
    bool can = true;
    if (!data && required)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: contacts: %s is NULL", what, name);
    if (data)
        SAP_TRY(b->backend->can_read(b, what, data, &can));
    if (!can)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: contacts: %s is in host memory; it must be on the GPU of the batch",
                        what, name);
    return SAP_OK;
}

static SapStatus check_arrays(SapBatch *b, const SapContacts *c, const SapBatchSteps *steps) {
    SAP_TRY(check_array(b, steps->what, "count", c->count, true));
    SAP_TRY(check_array(b, steps->what, "dropped", c->dropped, false));
    for (int i = 0; i < NUM_ARRAYS; i++) {
        bool is_geometry = arrays[i].field >= SAP_BATCH_CONTACT_POINT0 && arrays[i].field <= SAP_BATCH_CONTACT_NORMAL;
        if (is_read(&arrays[i], steps))
            SAP_TRY(check_array(b, steps->what, arrays[i].name, given(c, &arrays[i]), is_geometry && !steps->own_form));
    }
    return SAP_OK;
}

SapStatus sap_batch_check_given(SapBatch *b, const SapContacts *c, SapBatchSteps *steps) {
    SAP_TRY(check_batch(b, c, steps->what));
    if (!c)
        return SAP_OK;
    const SapStepArgs *args = b->backend->step_args(b);
    SAP_TRY(check_sizes(b, c, steps->what));
    steps->has_key = c->key && args->dual && b->options.warm_start;
    steps->own_form = b->formulation->has_records && b->formulation->has_records(c);
    return check_arrays(b, c, steps);
}

/* ---- taking them ---- */

static SapTakeType type_of(const Array *a, bool is_f64) {
    return a->is_int ? SAP_TAKE_I32 : is_f64 ? SAP_TAKE_F64 : SAP_TAKE_F32;
}

/* Adds the row of an array, if the batch has it and it is another one. */
static void add_row(const SapBatch *b, const SapContacts *c, const Array *a, SapTakeArgs *args) {
    const SapBatchRow *row = sap_batch_row(a->field);
    const void *from = given(c, a);
    void *to = sap_batch_row_get(&b->arrays, row);
    if (to && to != from)
        args->row[args->num_rows++] = (SapTakeRow){.from = from,
                                                   .to = to,
                                                   .given = type_of(a, a->always_f64 || c->dtype == SAP_F64),
                                                   .type = type_of(a, sap_batch_row_type(b, row) == SAP_TYPE_F64),
                                                   .width = a->width,
                                                   .fill = a->fill};
}

SapStatus sap_batch_take_given(SapBatch *b, const SapContacts *contacts, const SapBatchSteps *steps) {
    const SapContacts none = {.capacity = 1}, *c = contacts ? contacts : &none;
    const SapModelArrays *m = b->backend->per_world(b)->model;
    SapContacts *own = &b->arrays.contacts;
    for (int i = 0; i < NUM_ARRAYS; i++)
        if (given(c, &arrays[i]) && is_read(&arrays[i], steps))
            SAP_TRY(sap_batch_record_row(b, sap_batch_row(arrays[i].field)));
    SapTakeArgs args = {.num_worlds = b->num_worlds,
                        .from_capacity = c->capacity,
                        .to_capacity = own->capacity,
                        .num_shapes = m->num_shapes,
                        .num_bodies = m->num_bodies,
                        .count = c->count,
                        .dropped = c->dropped,
                        .shape = {c->shape0, c->shape1},
                        .body = {c->body0, c->body1},
                        .own_count = own->count,
                        .own_dropped = own->dropped,
                        .own_shape = {own->shape0, own->shape1},
                        .own_body = {own->body0, own->body1}};
    for (int i = 0; i < NUM_ARRAYS; i++)
        if (is_read(&arrays[i], steps))
            add_row(b, c, &arrays[i], &args);
    return b->backend->take_contacts(b, steps->what, &args);
}
