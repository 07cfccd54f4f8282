#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "host/base/fail.h"

/* A file name longer than NAME_SHOWN would truncate the rest of the message; only its end is shown, which is more
 * specific. */
enum { MESSAGE_SIZE = 2048, NAME_SHOWN = 256 };
static _Thread_local char message[MESSAGE_SIZE];

/* Replaces control characters, also U+0080 .. U+009F, which are C2 80 .. C2 9F in UTF-8: names in a file may contain
 * escape sequences of terminals, and messages are printed. */
static void make_printable(char *text) {
    unsigned char before = 0;
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == 0x7f || (before == 0xc2 && byte >= 0x80 && byte < 0xa0))
            *text = '?';
        before = byte;
    }
}

SapStatus sap_fail(SapStatus status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    make_printable(message);
    return status;
}

SapStatus sap_fail_at(const char *file, int line, SapStatus status, const char *format, ...) {
    size_t length = strlen(file);
    bool cut = length > NAME_SHOWN;
    char text[MESSAGE_SIZE], position[16] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (line > 0)
        snprintf(position, sizeof position, "%d: ", line);
    return sap_fail(status, "%s%s:%s%s%s", cut ? "..." : "", cut ? file + length - NAME_SHOWN : file,
                    line > 0 ? "" : " ", position, text);
}

const char *sap_error_message(void) {
    return message;
}

const char *sap_status_string(SapStatus status) {
    switch (status) {
    case SAP_OK: return "SAP_OK";
    case SAP_ERROR_ARGUMENT: return "SAP_ERROR_ARGUMENT";
    case SAP_ERROR_MODEL: return "SAP_ERROR_MODEL";
    case SAP_ERROR_PARSE: return "SAP_ERROR_PARSE";
    case SAP_ERROR_UNSUPPORTED: return "SAP_ERROR_UNSUPPORTED";
    case SAP_ERROR_IO: return "SAP_ERROR_IO";
    case SAP_ERROR_MEMORY: return "SAP_ERROR_MEMORY";
    case SAP_ERROR_DEVICE: return "SAP_ERROR_DEVICE";
    }
    return "unknown SapStatus";
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *sap_version(void) {
    return TEXT(SAP_VERSION_MAJOR) "." TEXT(SAP_VERSION_MINOR) "." TEXT(SAP_VERSION_PATCH);
}
