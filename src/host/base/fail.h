/* Error reporting in host code: `return sap_fail(SAP_ERROR_MODEL, "body_mass[%d] is %g; ...", i, m);` */
#ifndef SAPWOOD_HOST_BASE_FAIL_H
#define SAPWOOD_HOST_BASE_FAIL_H

#include <sapwood/error.h>

/* Stores the formatted message for sap_error_message() on this thread and returns `status`. Long messages are
 * truncated, and control characters become "?". */
SapStatus sap_fail(SapStatus status, const char *format, ...) SAP_PRINTF(2, 3);

/* Same for a position in a file: "FILE:LINE: message". A line of 0 is omitted; a long file name is shortened to its
 * end. */
SapStatus sap_fail_at(const char *file, int line, SapStatus status, const char *format, ...) SAP_PRINTF(4, 5);

/* Returns the status of a failed call to the caller. */
#define SAP_TRY(call)                                                                                                  \
    do {                                                                                                               \
        SapStatus sap_try_status_ = (call);                                                                            \
        if (sap_try_status_ != SAP_OK)                                                                                 \
            return sap_try_status_;                                                                                    \
    } while (0)

/* Rejects a NULL argument and names it in the message. */
#define SAP_NEED(pointer)                                                                                              \
    do {                                                                                                               \
        if ((pointer) == NULL)                                                                                         \
            return sap_fail(SAP_ERROR_ARGUMENT, "%s: argument '%s' is NULL", __func__, #pointer);                      \
    } while (0)

#endif
