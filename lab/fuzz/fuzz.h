/* What the harnesses share: checks that end the process, which libFuzzer reports with the input. */
#ifndef SAPWOOD_TESTS_FUZZ_FUZZ_H
#define SAPWOOD_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <sapwood/error.h>

/* Called by libFuzzer for each input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_REQUIRE(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s; last message: %s\n", __FILE__, __LINE__, #condition, sap_error_message());     \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A status as documented: one of the enum, and a message without control characters if it is an error. */
static inline SapStatus fuzz_checked(SapStatus status) {
    FUZZ_REQUIRE(status >= SAP_OK && status <= SAP_ERROR_DEVICE);
    if (status == SAP_OK)
        return status;
    const char *message = sap_error_message();
    FUZZ_REQUIRE(message[0] != '\0');
    for (; *message != '\0'; message++)
        FUZZ_REQUIRE((unsigned char)*message >= 0x20);
    return status;
}

#endif
