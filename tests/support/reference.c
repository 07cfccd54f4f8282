#include "support/reference.h"

#include <stdio.h>

json_t *reference_load(const char *relative_path) {
    char path[4096];
    snprintf(path, sizeof path, REFERENCE_FOLDER "/%s", relative_path);
    return reference_file_load(path);
}
