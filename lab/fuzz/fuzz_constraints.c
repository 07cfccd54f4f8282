/* Reference files of constraints of `sapwood conform`: any bytes are an error or cases that run and compare. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "lab/conform/constraints.h"
#include "lab/conform/reference_file.h"

/* Shortens a list, so that an input takes milliseconds. */
static void shorten(json_t *list, size_t most) {
    while (json_array_size(list) > most)
        json_array_remove(list, json_array_size(list) - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char path[] = SAPWOOD_SOURCE_DIR "/tests/data/reference/constraints/fuzz.json";
    json_t *file = reference_file_parse(data, size, "fuzz.json");
    ConformCount count = {0};
    if (conform_is_constraints(file)) {
        /* two scenes; any other name is a missing file */
        const char *name = json_string_value(json_object_get(file, "scene"));
        bool tendons = strcmp(name, "own_tendon_drive.yaml") == 0;
        json_object_set_new(file, "scene", json_string(tendons ? "own_tendon_drive.yaml" : "fourbar_weld.yaml"));
        shorten(json_object_get(file, "cases"), 2);
        shorten(json_object_get(file, "joint_q"), 4);
        conform_constraints(path, file, false, &count);
        FUZZ_REQUIRE(count.passed >= 0 && count.failed >= 0 && count.passed + count.failed <= 5);
    }
    json_decref(file);
    return 0;
}
