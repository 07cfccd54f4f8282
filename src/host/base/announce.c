#include "host/base/announce.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void sap_announce(const char *format, ...) {
    char text[512];
    va_list arguments;
    if (!isatty(STDERR_FILENO))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "sapwood: %s\n", text);
}
