/* Dumps of the guard: any bytes are an error with a message, or a world that steps. */
#include <math.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "fuzz/fuzz.h"

/* Puts the version of this library into the first record, where the file of the corpus has an older one. */
static void set_version(char *bytes, size_t size) {
    enum { RECORD = 16, TEXT = RECORD + 64, MOST = 8 };
    const char *version = sap_version();
    if (size >= TEXT + MOST && strcmp(bytes + RECORD, "version") == 0 && strlen(version) < MOST) {
        uint64_t count = strlen(version) + 1;
        memcpy(bytes + RECORD + 56, &count, sizeof count);
        memset(bytes + TEXT, 0, MOST);
        memcpy(bytes + TEXT, version, strlen(version));
    }
}

static int is_small(const SapModelArrays *a) {
    return a->num_dofs <= 64 && a->num_shapes <= 64;
}

static void step(const SapDump *dump) {
    SapOptions o = dump->options;
    SapBatch *batch;
    o.isa = SAP_ISA_GENERIC;
    o.device = SAP_DEVICE_CPU;
    o.threads = 1;
    o.max_contacts = o.max_contacts < 32 ? o.max_contacts : 32;
    o.max_iterations = o.max_iterations < 20 ? o.max_iterations : 20;
    o.line_search_max_iterations = o.line_search_max_iterations < 20 ? o.line_search_max_iterations : 20;
    if (fuzz_checked(sap_dump_batch(dump, dump->num_calls - 1, 2, &o, &batch)) != SAP_OK)
        return;
    FUZZ_REQUIRE(sap_batch_step(batch, dump->calls[dump->num_calls - 1].h, 1) == SAP_OK);
    sap_batch_destroy(batch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    SapDump *dump = NULL;
    char *bytes = malloc(size + 1);
    if (bytes == NULL)
        return 0;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    set_version(bytes, size);
    if (fuzz_checked(sap_dump_parse(bytes, size, "fuzz.dump", &dump)) == SAP_OK) {
        FUZZ_REQUIRE(dump->num_calls >= 1 && dump->world < dump->num_worlds);
        if (is_small(sap_model_arrays(dump->model)))
            step(dump);
    } else {
        FUZZ_REQUIRE(dump == NULL);
    }
    sap_dump_destroy(dump);
    free(bytes);
    return 0;
}
