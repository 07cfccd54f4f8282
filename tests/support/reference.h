/* Reading the reference data in tests/data/reference: JSON files compressed with gzip. */
#ifndef SAPWOOD_TESTS_SUPPORT_REFERENCE_H
#define SAPWOOD_TESTS_SUPPORT_REFERENCE_H

#include <jansson.h>

#include "lab/conform/reference_file.h"

#define REFERENCE_FOLDER SAPWOOD_SOURCE_DIR "/tests/data/reference"

/* Loads a file by its path below the reference folder, such as "f64/arm3.json.gz". The caller owns the result and gives
 * it back with json_decref. NULL and a line on stderr when the file is missing or not JSON. */
json_t *reference_load(const char *relative_path);

#endif
