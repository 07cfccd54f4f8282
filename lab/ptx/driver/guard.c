/* What every call begins with. Failures are injected by PTX_FAIL, a list such as
 *
 *     PTX_FAIL=cuMemAlloc:3,cuLaunchKernel:1:719      the third cuMemAlloc and the first cuLaunchKernel fail
 *
 * with the error number given, else out of memory for what allocates and "unknown" for the rest. PTX_CALLS=FILE writes
 * how often each function was called, which is where such a list can come from. */
#include "driver.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

enum { MAX_FUNCTIONS = 256, NAME_BYTES = 64 };

typedef struct Calls {
    char name[NAME_BYTES];
    unsigned count;
} Calls;

int driver_initialised;
CUresult driver_sticky_error;
static Calls calls[MAX_FUNCTIONS];
static int num_functions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ptx: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
}

/* cuMemAlloc_v2 -> cuMemAlloc: the name in the documentation. */
static void plain_name(const char *function, char *name) {
    snprintf(name, NAME_BYTES, "%s", function);
    char *version = strstr(name, "_v");
    if (version)
        *version = 0;
    char *with_flags = strstr(name, "WithFlags");
    if (with_flags)
        *with_flags = 0;
}

static unsigned count_call(const char *name) {
    int i = 0;
    while (i < num_functions && strcmp(calls[i].name, name) != 0)
        i++;
    if (i == MAX_FUNCTIONS)
        return 0;
    if (i == num_functions)
        snprintf(calls[num_functions++].name, NAME_BYTES, "%s", name);
    return ++calls[i].count;
}

static CUresult default_error(const char *name) {
    int allocates = strstr(name, "Alloc") || strstr(name, "Create") || strstr(name, "Instantiate");
    return allocates ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_UNKNOWN;
}

static CUresult injected_error(const char *name, unsigned count) {
    const char *entry = getenv("PTX_FAIL");
    size_t length = strlen(name);
    for (; entry && *entry; entry = strchr(entry, ',') ? strchr(entry, ',') + 1 : NULL) {
        unsigned at = 0, error = 0;
        if (strncmp(entry, name, length) != 0 || entry[length] != ':')
            continue;
        int fields = sscanf(entry + length, ":%u:%u", &at, &error);
        if (fields >= 1 && at == count)
            return fields == 2 ? (CUresult)error : default_error(name);
    }
    return CUDA_SUCCESS;
}

Guard guard_enter(const char *function, int needs_context) {
    char name[NAME_BYTES];
    pthread_mutex_lock(&lock);
    plain_name(function, name);
    Guard guard = {injected_error(name, count_call(name))};
    if (guard.error != CUDA_SUCCESS)
        return guard;
    if (!driver_initialised && strcmp(name, "cuInit") != 0)
        guard.error = CUDA_ERROR_NOT_INITIALIZED;
    else if (needs_context && !context_is_current())
        guard.error = CUDA_ERROR_INVALID_CONTEXT;
    return guard;
}

void guard_leave(Guard *guard) {
    (void)guard;
    pthread_mutex_unlock(&lock);
}

static __attribute__((destructor)) void write_calls(void) {
    const char *path = getenv("PTX_CALLS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "{");
    for (int i = 0; i < num_functions; i++)
        fprintf(file, "%s\"%s\": %u", i ? ", " : "", calls[i].name, calls[i].count);
    fprintf(file, "}\n");
    fclose(file);
}
