#include "host/model/model_records.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/model/check.h"
#include "host/model/model.h"

static const char prefix[] = "model/";

static size_t field_count(const SapModelArrays *a, const SapModelField *field) {
    return (size_t)sap_model_rows(a, field->rows) * (size_t)field->columns;
}

/* ---- writing ---- */

void sap_model_write_records(SapRecordWriter *writer, const SapModelArrays *a) {
    int32_t counts[SAP_MODEL_NUM_COUNTS];
    for (int i = 0; i < SAP_MODEL_NUM_COUNTS; i++)
        counts[i] = sap_model_count_get(a, &sap_model_counts[i]);
    sap_records_put(writer, prefix, "counts", SAP_RECORD_I32, counts, SAP_MODEL_NUM_COUNTS);
    sap_records_put(writer, prefix, "gravity", SAP_RECORD_F64, a->gravity, 3);
    sap_records_put_texts(writer, prefix, "name", &a->name, 1);
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++) {
        const SapModelField *field = &sap_model_fields[i];
        if (field->element == SAP_ELEMENT_TEXT)
            sap_records_put_texts(writer, prefix, field->name, sap_model_field_get(a, field), field_count(a, field));
        else
            sap_records_put(writer, prefix, field->name,
                            field->element == SAP_ELEMENT_I32 ? SAP_RECORD_I32 : SAP_RECORD_F64,
                            sap_model_field_get(a, field), field_count(a, field));
    }
}

/* ---- reading ---- */

static SapStatus read_counts(SapRecords *records, SapModelArrays *a) {
    const void *data;
    SAP_TRY(sap_records_get(records, prefix, "counts", SAP_RECORD_I32, SAP_MODEL_NUM_COUNTS, &data));
    for (int i = 0; i < SAP_MODEL_NUM_COUNTS; i++)
        sap_model_count_set(a, &sap_model_counts[i], ((const int32_t *)data)[i]);
    a->articulation_start = data; /* the ranges belong to a model with this array; read below */
    return sap_model_check_counts(a);
}

/* The counts are in their ranges, so that no product of them overflows. */
static SapStatus read_field(SapRecords *records, const SapModelField *field, SapModelArrays *a) {
    const void *data = NULL;
    const char *const *texts = NULL;
    if (field->element == SAP_ELEMENT_TEXT) {
        SAP_TRY(sap_records_get_texts(records, prefix, field->name, field_count(a, field), &texts));
        data = texts;
    } else {
        SapRecordType type = field->element == SAP_ELEMENT_I32 ? SAP_RECORD_I32 : SAP_RECORD_F64;
        SAP_TRY(sap_records_get(records, prefix, field->name, type, field_count(a, field), &data));
    }
    sap_model_field_set(a, field, data);
    return SAP_OK;
}

static SapStatus read_arrays(SapRecords *records, SapModelArrays *a) {
    const void *gravity;
    const char *const *name;
    SAP_TRY(sap_records_get(records, prefix, "gravity", SAP_RECORD_F64, 3, &gravity));
    memcpy(a->gravity, gravity, sizeof a->gravity);
    SAP_TRY(sap_records_get_texts(records, prefix, "name", 1, &name));
    a->name = name[0];
    free((void *)name);
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        SAP_TRY(read_field(records, &sap_model_fields[i], a));
    return SAP_OK;
}

SapStatus sap_model_read_records(SapRecords *records, SapModel **out) {
    SapModelArrays a;
    *out = NULL;
    sap_model_arrays_default(&a);
    SAP_TRY(read_counts(records, &a));
    SapStatus status = read_arrays(records, &a);
    if (status == SAP_OK)
        status = sap_model_copy(&a, out); /* without normalisation: the arrays keep their digits */
    for (int i = 0; i < SAP_MODEL_NUM_FIELDS; i++)
        if (sap_model_fields[i].element == SAP_ELEMENT_TEXT)
            free((void *)sap_model_field_get(&a, &sap_model_fields[i]));
    return status;
}
