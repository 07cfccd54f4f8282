/* Calls that a test relies on. */
#ifndef SAPWOOD_TESTS_SUPPORT_NEED_H
#define SAPWOOD_TESTS_SUPPORT_NEED_H

#include <criterion/criterion.h>

#include <sapwood/error.h>

/* Fails the test with the library's message unless a call ended well. */
static inline void need(SapStatus status) {
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
}

#endif
