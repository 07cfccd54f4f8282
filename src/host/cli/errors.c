/* Errors of the program and of its memory: declared in common.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/cli/common.h"

static char fail_prefix[32];

void cli_set_fail_prefix(const char *prefix) {
    snprintf(fail_prefix, sizeof fail_prefix, "%s", prefix);
}

bool cli_fail(const char *format, ...) {
    char message[8192]; /* longer messages are truncated */
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fprintf(stderr, "sapwood: %s%s\n", fail_prefix, cli_printable(message));
    return false;
}

bool cli_check(SapStatus status) {
    return status == SAP_OK || cli_fail("%s", sap_error_message());
}

/* Memory that the system has available, in bytes; infinite if that is not known. */
static double available_bytes(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    double kilobytes = (double)INFINITY;
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lf", &kilobytes) != 1)
        ;
    if (file)
        fclose(file);
    return 1024 * kilobytes;
}

void *cli_allocate(size_t count, size_t size) {
    /* A system that overcommits grants more than it has and kills the program once the memory is used. */
    double bytes = (double)count * (double)size, available = bytes > 64e6 ? available_bytes() : bytes;
    void *memory = bytes <= available ? calloc(count ? count : 1, size) : NULL;
    if (memory == NULL && bytes > available)
        cli_fail("no memory for %zu times %zu bytes; %.3g GB are available", count, size, 1e-9 * available);
    else if (memory == NULL)
        cli_fail("no memory for %zu times %zu bytes", count, size);
    return memory;
}
