/* The presets as parameters of a test. */
#ifndef SAPWOOD_TESTS_SUPPORT_PRESETS_H
#define SAPWOOD_TESTS_SUPPORT_PRESETS_H

#include <criterion/parameterized.h>

enum { NUM_PRESETS = 5 };
static const char *const preset_names[NUM_PRESETS] = {"fast32", "fast64", "approx32", "approx64", "drake"};

/* A parameter is an index of preset_names: Criterion hands it to another process, where a pointer means nothing. */
static inline struct criterion_test_params preset_params(void) {
    static int presets[NUM_PRESETS] = {0, 1, 2, 3, 4};
    return cr_make_param_array(int, presets, NUM_PRESETS);
}

#endif
