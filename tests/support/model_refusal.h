/* The sample model of a test, which it breaks, and the message that must come of it. */
#ifndef SAPWOOD_TESTS_SUPPORT_MODEL_REFUSAL_H
#define SAPWOOD_TESTS_SUPPORT_MODEL_REFUSAL_H

#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/sample_model.h"

static SampleModel sample;

static inline void setup(void) {
    sample_model_init(&sample);
}

static inline SapModel *create(const SapModelArrays *arrays) {
    SapModel *model;
    SapStatus status = sap_model_create(arrays, &model);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    cr_assert_not_null(model);
    return model;
}

/* The model is refused with that status, nothing is left behind, and the message has all parts. */
static inline void check_refused(const SapModelArrays *arrays, SapStatus expected, const char *const *parts, int line) {
    SapModel *model = (SapModel *)&sample;
    SapStatus status = sap_model_create(arrays, &model);
    cr_assert_eq(status, expected, "line %d: %s: %s", line, sap_status_string(status), sap_error_message());
    cr_assert_null(model);
    for (; *parts != NULL; parts++)
        cr_expect(strstr(sap_error_message(), *parts), "line %d: '%s' is not in: %s", line, *parts,
                  sap_error_message());
}

#define REFUSED_AS(status, ...)                                                                                        \
    check_refused(&sample.arrays, (status), (const char *const[]){__VA_ARGS__, NULL}, __LINE__)
#define REFUSED(...) REFUSED_AS(SAP_ERROR_MODEL, __VA_ARGS__)

#endif
