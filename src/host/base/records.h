/* Named arrays in one file, in the byte order of the machine.
 *
 *   "sapwood records\n"                                   16 bytes
 *   records: name[48], type (u32), 0 (u32), count (u64), then `count` elements, filled up with zeros to 8 bytes
 *
 * The reader trusts nothing: every size is compared with what is left of the file, and every array is requested with
 * the type and the count that it must have. */
#ifndef SAPWOOD_HOST_BASE_RECORDS_H
#define SAPWOOD_HOST_BASE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sapwood/error.h>

#include "host/base/new_file.h"

typedef enum SapRecordType {
    SAP_RECORD_I32,
    SAP_RECORD_U32,
    SAP_RECORD_F32,
    SAP_RECORD_F64,
    SAP_RECORD_TEXT /* bytes */
} SapRecordType;

enum { SAP_RECORD_NAME_SIZE = 48, SAP_MAX_RECORDS = 384 };

/* ---- writing ---- */

typedef struct SapRecordWriter {
    SapNewFile out;
} SapRecordWriter;

/* Begins a file that will replace `path`, which must outlive the writer. */
SapStatus sap_records_create(const char *path, SapRecordWriter *out);
/* Writes the record `prefix`name. Errors are reported at the end. */
void sap_records_put(SapRecordWriter *writer, const char *prefix, const char *name, SapRecordType type,
                     const void *data, size_t count);
/* Same for a record of texts, each with its final zero. */
void sap_records_put_texts(SapRecordWriter *writer, const char *prefix, const char *name, const char *const *texts,
                           size_t rows);
/* Puts the file in its place. With `keep` false, or if something could not be written, `path` has what it had before. */
SapStatus sap_records_close(SapRecordWriter *writer, bool keep);

/* ---- reading ---- */

typedef struct SapRecord {
    const char *name;
    SapRecordType type;
    size_t count;
    const void *data; /* 8-byte aligned */
    bool used;        /* it was requested */
} SapRecord;

typedef struct SapRecords {
    const char *path; /* in messages; borrowed */
    char *bytes;
    int count;
    SapRecord record[SAP_MAX_RECORDS];
} SapRecords;

/* Reads the file, of at most `most` bytes, or a copy of the bytes of one. On failure there is nothing to free. */
SapStatus sap_records_load(const char *path, size_t most, SapRecords *out);
SapStatus sap_records_parse(const void *bytes, size_t size, const char *path, SapRecords *out);
void sap_records_free(SapRecords *records);

/* The record `prefix`name, or NULL. */
SapRecord *sap_records_find(SapRecords *records, const char *prefix, const char *name);
/* The data of a record, which must exist and have this type and count. They belong to `records`. */
SapStatus sap_records_get(SapRecords *records, const char *prefix, const char *name, SapRecordType type, size_t count,
                          const void **out);
/* The `rows` texts of a record of zero-terminated texts. *out is to be freed; its texts belong to `records`. */
SapStatus sap_records_get_texts(SapRecords *records, const char *prefix, const char *name, size_t rows,
                                const char *const **out);
/* Fails if there is a record that was not requested. */
SapStatus sap_records_check_used(const SapRecords *records);

#endif
