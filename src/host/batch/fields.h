/* The arrays of a batch, one row each. Every operation on all arrays is a loop over these rows: memory, initial values,
 * reset, views, names, recording and counting bytes. */
#ifndef SAPWOOD_HOST_BATCH_FIELDS_H
#define SAPWOOD_HOST_BATCH_FIELDS_H

#include <stdbool.h>

#include "host/batch/backend.h"
#include "host/options/capabilities.h"

/* Element type: REAL as in state and control, CONTACT as in the contacts. */
typedef enum SapFieldType {
    SAP_FIELD_REAL,
    SAP_FIELD_CONTACT,
    SAP_FIELD_F64,
    SAP_FIELD_I32,
    SAP_FIELD_U32
} SapFieldType;

/* The items of a world that have one row each. */
typedef enum SapFieldRows {
    SAP_FIELD_WORLD, /* the world itself: [n] */
    SAP_FIELD_COORDS,
    SAP_FIELD_DOFS,
    SAP_FIELD_BODIES,
    SAP_FIELD_CONTACTS, /* contact slots */
    SAP_FIELD_CONSTRAINTS,
    SAP_FIELD_CONSTRAINT_ROWS, /* rows of all constraints */
    SAP_FIELD_TENDONS,
    SAP_FIELD_ACTUATORS,  /* of a formulation that has them */
    SAP_FIELD_STEP_START, /* numbers of the start of a step */
    SAP_FIELD_SITES,
    SAP_FIELD_TOUCH,    /* contact sensors */
    SAP_FIELD_RAYS,     /* rays of all ray sensors */
    SAP_FIELD_LAW_ROWS, /* rows of a formulation that reports them */
    SAP_FIELD_TREES     /* trees that sleep */
} SapFieldRows;

typedef enum SapFieldTime { SAP_FIELD_ALWAYS, SAP_FIELD_ON_REQUEST } SapFieldTime;

/* What a reset does to the array. TO_STATE and TO_CONTROL: copy from the start. MEASURE: sensors restart. */
typedef enum SapFieldReset {
    SAP_FIELD_TO_STATE,
    SAP_FIELD_TO_CONTROL,
    SAP_FIELD_TO_ZERO,
    SAP_FIELD_KEEP, /* from here on rows are not copied */
    SAP_FIELD_MEASURE
} SapFieldReset;

typedef struct SapBatchRow {
    int field; /* SapBatchField; greater than SAP_BATCH_NUM_FIELDS if it is not public */
    const char *name;
    size_t offset; /* offset of its pointer in SapBatchArrays */
    SapFieldType type;
    SapFieldRows rows;
    int columns; /* 0: [n][rows] */
    SapFieldTime time;
    SapFieldReset reset;
    uint8_t fill; /* value of each byte in a new batch */
} SapBatchRow;

extern const SapBatchRow sap_batch_rows[];
extern const int sap_batch_num_rows;

/* The row of a field. */
const SapBatchRow *sap_batch_row(SapBatchField field);

/* Reads and writes the array of a row. */
void *sap_batch_row_get(const SapBatchArrays *arrays, const SapBatchRow *row);
void sap_batch_row_set(SapBatchArrays *arrays, const SapBatchRow *row, void *data);

/* Number of rows per world, bytes per world, and element type. */
int sap_batch_row_count(const SapBatch *batch, const SapBatchRow *row);
size_t sap_batch_row_bytes(const SapBatch *batch, const SapBatchRow *row);
SapElementType sap_batch_row_type(const SapBatch *batch, const SapBatchRow *row);

/* Whether the starts hold this array, and for how many worlds. */
bool sap_batch_row_has_start(const SapBatchRow *row);
int sap_batch_row_starts(const SapBatch *batch, const SapBatchRow *row);

/* The row of the table of capabilities that answers for a parameter or an array. */
SapCan sap_can_of_parameter(SapParameter parameter);
SapCan sap_can_of_field(int field);

/* Fails unless a batch with these options has the array. */
SapStatus sap_batch_check_row(const SapBatch *batch, const char *what, const SapBatchRow *row);

/* Allocates an array that is recorded on request, unless it was before. */
SapStatus sap_batch_record_row(SapBatch *batch, const SapBatchRow *row);

/* The arguments of a reset of all worlds. */
SapResetArgs sap_batch_reset_args(const SapBatch *batch, int keyframe);

#endif
