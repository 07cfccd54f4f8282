/* How calls report failure.
 *
 * Every call that can fail returns a SapStatus. On failure the outputs do not change, except that an `out` handle is
 * set to NULL, and sap_error_message() names the cause, its value and what is allowed. No call exits, aborts or prints.
 * A failure inside one world is not an error of a call: see the world status bits in solver.h.
 *
 * In all headers: unless a comment allows NULL, a NULL argument gives SAP_ERROR_ARGUMENT. Text is zero-terminated. */
#ifndef SAPWOOD_ERROR_H
#define SAPWOOD_ERROR_H

#include <sapwood/export.h>

SAP_BEGIN_DECLS

typedef enum SapStatus {
    SAP_OK = 0,
    SAP_ERROR_ARGUMENT,    /* an argument is NULL or out of range */
    SAP_ERROR_MODEL,       /* a model breaks a rule of model.h */
    SAP_ERROR_PARSE,       /* a file is malformed, or has an unknown key or an invalid value */
    SAP_ERROR_UNSUPPORTED, /* the request is valid, but this version does not support it */
    SAP_ERROR_IO,          /* a file cannot be opened, read or written */
    SAP_ERROR_MEMORY,      /* out of memory, or a size that does not fit the address space */
    SAP_ERROR_DEVICE       /* the requested device or instruction set is not available */
} SapStatus;

/* The name of a status, such as "SAP_ERROR_MODEL"; "unknown SapStatus" for any other value. Static; never NULL. */
SAP_API const char *sap_status_string(SapStatus status);

/* The message of the last failed call on this thread; "" if none has failed. It has no control characters. Owned by the
 * library, never NULL, valid until the next failing call on the same thread. */
SAP_API const char *sap_error_message(void);

SAP_END_DECLS

#endif
