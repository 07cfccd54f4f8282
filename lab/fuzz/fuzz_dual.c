/* Contact problems of `sapwood conform`: any bytes are an error or problems that are solved or not, with a status. */
#include <math.h>
#include <string.h>

#include <sapwood/dual.h>

#include "fuzz/fuzz.h"
#include "lab/conform/dual_file.h"
#include "lab/conform/reference_file.h"

enum { MOST_ROWS = 48 };

static void solve(const DualCase *c) {
    static const SapDualMethod methods[] = {SAP_DUAL_CONE, SAP_DUAL_PGS, SAP_DUAL_PGS_ROWS, SAP_DUAL_ACTIVE_SET};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        double impulse[MOST_ROWS], velocity[MOST_ROWS], cost;
        uint32_t status = 0;
        SapDualOptions o;
        sap_dual_options_default(&o);
        o.method = methods[m];
        o.max_iterations = 10;
        o.isa = SAP_ISA_GENERIC;
        const SapDualSolution out = {.impulse = impulse, .velocity = velocity, .cost = &cost, .status = &status};
        if (fuzz_checked(sap_dual_solve(&c->problem, &o, &out)) != SAP_OK)
            continue;
        for (int i = 0; i < c->rows; i++)
            FUZZ_REQUIRE(isfinite(impulse[i]));
        if (c->impulse)
            dual_case_errors(c, impulse, velocity, cost);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *root = reference_file_parse(data, size, "fuzz.json");
    const json_t *problems = dual_file_is(root) ? json_object_get(root, "problems") : NULL;
    for (size_t i = 0; i < json_array_size(problems) && i < 8; i++) {
        DualCase c;
        if (dual_case_open(json_array_get(problems, i), &c) && c.rows <= MOST_ROWS)
            solve(&c);
        dual_case_close(&c);
    }
    json_decref(root);
    return 0;
}
