/* Reference files of `sapwood conform`: any bytes are an error or cases that run and compare. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "lab/conform/conform.h"
#include "lab/conform/reference_file.h"

static void run_output(const ConformFile *file, ConformCase *c, const json_t *output) {
    const char *preset = json_string_value(json_object_get(output, "preset"));
    SapOptions o;
    ConformResult result;
    if (fuzz_checked(sap_options_preset(preset, &o)) != SAP_OK)
        return;
    o.isa = SAP_ISA_GENERIC;
    o.compat = SAP_COMPAT_SAP_WARP;
    o.max_iterations = 5;
    if (conform_case_run(file, &o, c) && conform_compare(file, c, output, &result))
        json_decref(conform_output(file, c, output));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST_DOFS = 64, MOST_SLOTS = 256 };
    ConformFile file;
    bool ok = conform_read(reference_file_parse(data, size, "fuzz.json"), "fuzz.json", &file);
    if (ok && file.arrays->num_dofs <= MOST_DOFS && file.capacity <= MOST_SLOTS) {
        const json_t *one = json_array_get(json_object_get(file.json, "cases"), 0);
        const json_t *outputs = json_object_get(one, "outputs");
        ConformCase c;
        if (conform_case_open(&file, one, &c) && json_array_size(outputs) > 0)
            run_output(&file, &c, json_array_get(outputs, 0));
        conform_case_close(&c);
    }
    conform_close(&file);
    return 0;
}
