#include "host/batch/starts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/number.h"
#include "host/batch/fields.h"
#include "host/model/model.h"

/* Copies the model array `prefix`name to an array of starts, from world `first` on, if the model has an array of that
 * name. */
static SapStatus write_start(SapBatch *b, const SapModelArrays *m, const char *prefix, const SapBatchRow *row,
                             int first) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, row->name);
    const SapModelField *field = sap_model_field(name);
    size_t count = field ? (size_t)sap_model_rows(m, field->rows) * (size_t)field->columns : 0;
    if (count == 0)
        return SAP_OK;
    char *to = (char *)sap_batch_row_get(&b->starts, row) + (size_t)first * sap_batch_row_bytes(b, row);
    if (field->element == SAP_ELEMENT_I32)
        return b->backend->write(b, "sap_batch_create", to, sap_model_field_get(m, field), count * sizeof(int32_t));
    void *numbers = sap_allocate(count, sizeof(double), "starts");
    if (!numbers)
        return SAP_ERROR_MEMORY;
    sap_put_numbers(numbers, b->dtype == SAP_F64, 0, sap_model_field_get(m, field), count);
    size_t number = sap_real_bytes(b->dtype == SAP_F64);
    SapStatus status = b->backend->write(b, "sap_batch_create", to, numbers, count * number);
    free(numbers);
    return status;
}

/* Copies rows first .. first + count - 1 of the starts of a field to the first worlds, or back. `host` is scratch. */
static SapStatus copy_starts(SapBatch *b, SapBatchField field, int first, int count, bool back, void *host) {
    static const char what[] = "sap_batch_create";
    const SapBatchRow *row = sap_batch_row(field);
    size_t bytes = sap_batch_row_bytes(b, row);
    char *start = (char *)sap_batch_row_get(&b->starts, row) + (size_t)first * bytes;
    char *world = sap_batch_row_get(&b->arrays, row);
    SAP_TRY(b->backend->read(b, what, back ? world : start, host, (size_t)count * bytes));
    return b->backend->write(b, what, back ? start : world, host, (size_t)count * bytes);
}

/* Fills the bodies of all starts with the initial state's. A start whose kinematics fail, because its
 * coordinates are outside the range of the batch's type, keeps them. */
static SapStatus write_initial_bodies(SapBatch *b, const SapModel *model) {
    static const char what[] = "sap_batch_create";
    const SapBatchRow *q = sap_batch_row(SAP_BATCH_BODY_Q), *qd = sap_batch_row(SAP_BATCH_BODY_QD);
    size_t n = (size_t)b->num_starts;
    SapState *initial;
    SAP_TRY(sap_state_create(model, b->num_starts, b->dtype, &initial));
    SapStatus status =
        b->backend->write(b, what, sap_batch_row_get(&b->starts, q), initial->body_q, n * sap_batch_row_bytes(b, q));
    if (status == SAP_OK)
        status = b->backend->write(b, what, sap_batch_row_get(&b->starts, qd), initial->body_qd,
                                   n * sap_batch_row_bytes(b, qd));
    sap_state_destroy(initial);
    return status;
}

/* Computes the bodies of the starts. The first worlds serve as workspace, as many starts at a time as there are
 * worlds. */
static SapStatus place_starts(SapBatch *b, uint8_t *mask, void *host) {
    static const SapBatchField state[] = {SAP_BATCH_JOINT_Q, SAP_BATCH_JOINT_QD, SAP_BATCH_BODY_Q, SAP_BATCH_BODY_QD};
    for (int first = 0, count; first < b->num_starts; first += count) {
        count = b->num_starts - first < b->num_worlds ? b->num_starts - first : b->num_worlds;
        for (int w = 0; w < b->num_worlds; w++)
            mask[w] = w < count;
        for (int i = 0; i < 4; i++)
            SAP_TRY(copy_starts(b, state[i], first, count, false, host));
        SAP_TRY(b->backend->forward_kinematics(b, "sap_batch_create", mask));
        SAP_TRY(copy_starts(b, SAP_BATCH_BODY_Q, first, count, true, host));
        SAP_TRY(copy_starts(b, SAP_BATCH_BODY_QD, first, count, true, host));
    }
    return SAP_OK;
}

SapStatus sap_batch_fill_starts(SapBatch *b, const SapModel *model) {
    const SapModelArrays *m = sap_model_arrays(model);
    size_t widest = 0;
    for (int i = 0; i < sap_batch_num_rows; i++) {
        const SapBatchRow *row = &sap_batch_rows[i];
        if (!sap_batch_row_has_start(row))
            continue;
        SAP_TRY(write_start(b, m, "", row, 0));
        SAP_TRY(write_start(b, m, "keyframe_", row, 1));
        widest = sap_batch_row_bytes(b, row) > widest ? sap_batch_row_bytes(b, row) : widest;
    }
    SAP_TRY(write_initial_bodies(b, model));
    uint8_t *mask = sap_allocate((size_t)b->num_worlds, sizeof *mask, "starts");
    void *host = sap_allocate((size_t)b->num_starts, widest, "starts");
    SapStatus status = mask && host ? place_starts(b, mask, host) : SAP_ERROR_MEMORY;
    free(mask);
    free(host);
    return status;
}
