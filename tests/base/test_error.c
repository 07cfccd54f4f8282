/* Status names and messages. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/base/fail.h"

Test(error, every_status_has_its_name) {
    static const struct {
        SapStatus status;
        const char *name;
    } names[] = {
        {SAP_OK, "SAP_OK"},
        {SAP_ERROR_ARGUMENT, "SAP_ERROR_ARGUMENT"},
        {SAP_ERROR_MODEL, "SAP_ERROR_MODEL"},
        {SAP_ERROR_PARSE, "SAP_ERROR_PARSE"},
        {SAP_ERROR_UNSUPPORTED, "SAP_ERROR_UNSUPPORTED"},
        {SAP_ERROR_IO, "SAP_ERROR_IO"},
        {SAP_ERROR_MEMORY, "SAP_ERROR_MEMORY"},
        {SAP_ERROR_DEVICE, "SAP_ERROR_DEVICE"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cr_expect_str_eq(sap_status_string(names[i].status), names[i].name);
    cr_expect_not_null(sap_status_string((SapStatus)99));
    cr_expect_not_null(sap_status_string((SapStatus)-1));
}

Test(error, the_message_is_empty_before_the_first_failure) {
    cr_assert_str_eq(sap_error_message(), "");
}

Test(error, fail_returns_its_status_and_keeps_the_message) {
    cr_assert_eq(sap_fail(SAP_ERROR_IO, "file %s, line %d", "a.yaml", 7), SAP_ERROR_IO);
    cr_assert_str_eq(sap_error_message(), "file a.yaml, line 7");
    cr_assert_eq(sap_fail(SAP_ERROR_MODEL, "second"), SAP_ERROR_MODEL);
    cr_assert_str_eq(sap_error_message(), "second");
}

Test(error, long_messages_are_cut) {
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 1);
    memset(text, 'x', LENGTH);
    text[LENGTH] = '\0';
    sap_fail(SAP_ERROR_IO, "begin %s", text);
    size_t length = strlen(sap_error_message());
    cr_assert(length > 500 && length < LENGTH);
    cr_assert_eq(strncmp(sap_error_message(), "begin xxx", 9), 0);
    free(text);
}

static void *fail_elsewhere(void *seen) {
    strcpy(seen, sap_error_message());
    sap_fail(SAP_ERROR_DEVICE, "of the other thread");
    return NULL;
}

Test(error, each_thread_has_its_own_message) {
    char seen[64] = "unset";
    pthread_t thread;
    sap_fail(SAP_ERROR_IO, "of this thread");
    cr_assert_eq(pthread_create(&thread, NULL, fail_elsewhere, seen), 0);
    pthread_join(thread, NULL);
    cr_assert_str_eq(seen, "");
    cr_assert_str_eq(sap_error_message(), "of this thread");
}

static SapStatus needs(const int *thing) {
    SAP_NEED(thing);
    return SAP_OK;
}

static SapStatus tries(const int *thing) {
    SAP_TRY(needs(thing));
    return SAP_ERROR_DEVICE; /* to tell a call that went on from one that came back */
}

Test(error, need_names_the_null_argument_and_try_passes_it_up) {
    int thing = 0;
    cr_assert_eq(tries(NULL), SAP_ERROR_ARGUMENT);
    cr_assert(strstr(sap_error_message(), "needs") && strstr(sap_error_message(), "'thing' is NULL"));
    cr_assert_eq(tries(&thing), SAP_ERROR_DEVICE);
}

Test(error, the_version_is_that_of_the_headers) {
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", SAP_VERSION_MAJOR, SAP_VERSION_MINOR, SAP_VERSION_PATCH);
    cr_assert_str_eq(sap_version(), expected);
}
