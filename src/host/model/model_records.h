/* A model as records of a file (host/base/records.h): its counts, gravity, name and every array of the table. */
#ifndef SAPWOOD_HOST_MODEL_MODEL_RECORDS_H
#define SAPWOOD_HOST_MODEL_MODEL_RECORDS_H

#include <sapwood/model.h>

#include "host/base/records.h"

void sap_model_write_records(SapRecordWriter *writer, const SapModelArrays *arrays);

/* Builds the model again, with the same bits; the rules of models apply. The caller owns *out. */
SapStatus sap_model_read_records(SapRecords *records, SapModel **out);

#endif
