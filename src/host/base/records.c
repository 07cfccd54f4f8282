#include "host/base/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/read_file.h"

static const char magic[] = "sapwood records\n";
enum { MAGIC_SIZE = sizeof magic - 1, ALIGNMENT = 8 };

typedef struct Header {
    char name[SAP_RECORD_NAME_SIZE];
    uint32_t type, zero;
    uint64_t count;
} Header;
_Static_assert(sizeof(Header) % ALIGNMENT == 0 && MAGIC_SIZE % ALIGNMENT == 0, "data are aligned");

static const struct {
    const char *name;
    size_t size;
} types[] = {[SAP_RECORD_I32] = {"i32", 4},
             [SAP_RECORD_U32] = {"u32", 4},
             [SAP_RECORD_F32] = {"f32", 4},
             [SAP_RECORD_F64] = {"f64", 8},
             [SAP_RECORD_TEXT] = {"text", 1}};
enum { NUM_TYPES = sizeof types / sizeof *types };

static size_t padding(size_t bytes) {
    return (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
}

/* ---- writing ---- */

SapStatus sap_records_create(const char *path, SapRecordWriter *out) {
    SAP_TRY(sap_new_file_open(path, SAP_FILE_OF_USER, &out->out));
    fwrite(magic, 1, MAGIC_SIZE, out->out.file);
    return SAP_OK;
}

static void put_header(SapRecordWriter *writer, const char *prefix, const char *name, SapRecordType type,
                       size_t count) {
    Header header = {.type = (uint32_t)type, .count = count};
    snprintf(header.name, sizeof header.name, "%s%s", prefix, name);
    fwrite(&header, sizeof header, 1, writer->out.file);
}

static void put_padding(SapRecordWriter *writer, size_t bytes) {
    static const char zeros[ALIGNMENT];
    fwrite(zeros, 1, padding(bytes), writer->out.file);
}

void sap_records_put(SapRecordWriter *writer, const char *prefix, const char *name, SapRecordType type,
                     const void *data, size_t count) {
    size_t bytes = count * types[type].size;
    put_header(writer, prefix, name, type, count);
    fwrite(data, 1, bytes, writer->out.file);
    put_padding(writer, bytes);
}

void sap_records_put_texts(SapRecordWriter *writer, const char *prefix, const char *name, const char *const *texts,
                           size_t rows) {
    size_t bytes = 0;
    for (size_t i = 0; i < rows; i++)
        bytes += strlen(texts[i]) + 1;
    put_header(writer, prefix, name, SAP_RECORD_TEXT, bytes);
    for (size_t i = 0; i < rows; i++)
        fwrite(texts[i], 1, strlen(texts[i]) + 1, writer->out.file);
    put_padding(writer, bytes);
}

SapStatus sap_records_close(SapRecordWriter *writer, bool keep) {
    return sap_new_file_close(&writer->out, keep);
}

/* ---- reading ---- */

static SapStatus damaged(const SapRecords *r, const char *what, size_t at) {
    return sap_fail_at(r->path, 0, SAP_ERROR_PARSE, "damaged: %s at byte %zu", what, at);
}

/* Reads the record at *at and moves *at behind it. */
static SapStatus read_record(SapRecords *r, size_t size, size_t *at) {
    Header *header = (Header *)(void *)(r->bytes + *at);
    size_t left = size - *at;
    if (r->count == SAP_MAX_RECORDS)
        return damaged(r, "too many records", *at);
    if (left < sizeof *header)
        return damaged(r, "the file ends within a record", *at);
    left -= sizeof *header;
    if (memchr(header->name, '\0', sizeof header->name) == NULL || header->name[0] == '\0')
        return damaged(r, "a record has no name", *at);
    if (header->type >= NUM_TYPES || header->zero != 0)
        return damaged(r, "a record has an unknown type", *at);
    if (header->count > left / types[header->type].size)
        return damaged(r, "the file ends within a record", *at);
    size_t bytes = (size_t)header->count * types[header->type].size;
    if (left - bytes < padding(bytes))
        return damaged(r, "the file ends within a record", *at);
    if (sap_records_find(r, "", header->name) != NULL)
        return damaged(r, "a record occurs twice", *at);
    r->record[r->count++] = (SapRecord){
        .name = header->name, .type = (SapRecordType)header->type, .count = (size_t)header->count, .data = header + 1};
    *at += sizeof *header + bytes + padding(bytes);
    return SAP_OK;
}

static SapStatus read_records(SapRecords *r, size_t size) {
    if (size < MAGIC_SIZE || memcmp(r->bytes, magic, MAGIC_SIZE) != 0)
        return sap_fail_at(r->path, 0, SAP_ERROR_PARSE, "not a file of records: it does not begin with \"%.*s\"",
                           MAGIC_SIZE - 1, magic);
    for (size_t at = MAGIC_SIZE; at < size;)
        SAP_TRY(read_record(r, size, &at));
    return SAP_OK;
}

/* Takes `bytes`, which is freed on failure. */
static SapStatus take_bytes(char *bytes, size_t size, const char *path, SapRecords *out) {
    out->path = path;
    out->bytes = bytes;
    out->count = 0;
    SapStatus status = read_records(out, size);
    if (status != SAP_OK)
        sap_records_free(out);
    return status;
}

SapStatus sap_records_load(const char *path, size_t most, SapRecords *out) {
    char *bytes;
    size_t size;
    SAP_TRY(sap_read_file(path, most, &bytes, &size));
    if (size > most) {
        free(bytes);
        return sap_fail_at(path, 0, SAP_ERROR_PARSE, "the file has more than %zu bytes", most);
    }
    return take_bytes(bytes, size, path, out);
}

SapStatus sap_records_parse(const void *bytes, size_t size, const char *path, SapRecords *out) {
    char *copy = sap_allocate(size + 1, 1, "a file of records");
    if (copy == NULL)
        return SAP_ERROR_MEMORY;
    memcpy(copy, bytes, size);
    return take_bytes(copy, size, path, out);
}

void sap_records_free(SapRecords *records) {
    free(records->bytes);
    records->bytes = NULL;
    records->count = 0;
}

SapRecord *sap_records_find(SapRecords *r, const char *prefix, const char *name) {
    size_t length = strlen(prefix);
    for (int i = 0; i < r->count; i++)
        if (strncmp(r->record[i].name, prefix, length) == 0 && strcmp(r->record[i].name + length, name) == 0)
            return &r->record[i];
    return NULL;
}

SapStatus sap_records_get(SapRecords *r, const char *prefix, const char *name, SapRecordType type, size_t count,
                          const void **out) {
    SapRecord *record = sap_records_find(r, prefix, name);
    if (record == NULL)
        return sap_fail_at(r->path, 0, SAP_ERROR_PARSE, "the record %s%s is missing", prefix, name);
    if (record->type != type || record->count != count)
        return sap_fail_at(r->path, 0, SAP_ERROR_PARSE,
                           "the record %s has %zu elements of type %s; it must have %zu of %s", record->name,
                           record->count, types[record->type].name, count, types[type].name);
    record->used = true;
    *out = record->data;
    return SAP_OK;
}

SapStatus sap_records_get_texts(SapRecords *r, const char *prefix, const char *name, size_t rows,
                                const char *const **out) {
    SapRecord *record = sap_records_find(r, prefix, name);
    const void *data;
    SAP_TRY(sap_records_get(r, prefix, name, SAP_RECORD_TEXT, record != NULL ? record->count : 0, &data));
    const char *text = data, *end = text + record->count;
    if (rows > record->count) /* every text has its zero; checked before the pointers are allocated */
        return sap_fail_at(r->path, 0, SAP_ERROR_PARSE, "the record %s has fewer than %zu texts", record->name, rows);
    const char **texts = sap_allocate(rows + 1, sizeof *texts, "texts of a file");
    if (texts == NULL)
        return SAP_ERROR_MEMORY;
    size_t found = 0;
    for (const char *zero; text < end && (zero = memchr(text, '\0', (size_t)(end - text))) != NULL; text = zero + 1)
        if (found++ < rows)
            texts[found - 1] = text;
    if (found != rows || text != end) {
        free(texts);
        return sap_fail_at(r->path, 0, SAP_ERROR_PARSE, "the record %s has %zu texts; it must have %zu", record->name,
                           found, rows);
    }
    *out = texts;
    return SAP_OK;
}

SapStatus sap_records_check_used(const SapRecords *r) {
    for (int i = 0; i < r->count; i++)
        if (!r->record[i].used)
            return sap_fail_at(r->path, 0, SAP_ERROR_PARSE, "the record %s is unknown", r->record[i].name);
    return SAP_OK;
}
