#include "support/reference.h"

#include <stdio.h>
#include <unistd.h>

bool reference_available(void) {
    return access(SAPWOOD_SHARED_DIR "/reference/README.md", R_OK) == 0;
}

json_t *reference_load(const char *relative_path) {
    char path[4096];
    snprintf(path, sizeof path, "%s/reference/%s", SAPWOOD_SHARED_DIR, relative_path);
    return reference_file_load(path);
}
