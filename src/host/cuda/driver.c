/* Loads the driver library and its functions, and converts its errors to messages. */
#include "host/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/symbol.h"

static const char default_library[] = "libcuda.so.1";

#define NAME(name, symbol, parameters) const char sap_cu_name_##name[] = #symbol;
SAP_CU_FUNCTIONS(NAME)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static SapCuda driver;
static bool ready;

/* ---- loading ---- */

static SapStatus find_symbol(void *library, const char *path, const char *symbol, void *pointer) {
    if (sap_find_symbol(library, symbol, pointer))
        return SAP_OK;
    return sap_fail(SAP_ERROR_DEVICE, "device cuda: '%s' has no %s; a driver for CUDA 12 or later is needed", path,
                    symbol);
}

static SapStatus find_all(void *library, const char *path, SapCuda *out) {
#define FIND(name, symbol, parameters) SAP_TRY(find_symbol(library, path, #symbol, &out->name));
    SAP_CU_FUNCTIONS(FIND)
    return SAP_OK;
}

static SapStatus start(const SapCuda *cuda) {
    CuResult result = cuda->init(0);
    if (result == CU_NO_DEVICE)
        return sap_fail(SAP_ERROR_DEVICE, "device cuda: the driver is there, but it finds no GPU; allowed here: cpu");
    return result == CU_SUCCESS ? SAP_OK : sap_cuda_status(cuda, result, sap_cu_name_init, "device cuda");
}

static SapStatus load_driver(void) {
    const char *path = secure_getenv("SAPWOOD_CUDA_DRIVER");
    path = path && *path ? path : default_library;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return sap_fail(SAP_ERROR_DEVICE, "device cuda: no driver: %s; allowed here: cpu", dlerror());
    SapStatus status = find_all(library, path, &driver);
    if (status == SAP_OK)
        status = start(&driver);
    if (status != SAP_OK)
        dlclose(library);
    return status;
}

SapStatus sap_cuda_driver(const SapCuda **out) {
    pthread_mutex_lock(&lock);
    SapStatus status = ready ? SAP_OK : load_driver();
    ready = status == SAP_OK;
    pthread_mutex_unlock(&lock);
    *out = status == SAP_OK ? &driver : NULL;
    return status;
}

/* ---- errors ---- */

/* cuMemAlloc_v2 is called cuMemAlloc in the documentation. */
static int documented_length(const char *symbol) {
    const char *version = strstr(symbol, "_v");
    return (int)(version ? (size_t)(version - symbol) : strlen(symbol));
}

SapStatus sap_cuda_status(const SapCuda *cuda, CuResult result, const char *function, const char *what) {
    const char *name = NULL, *text = NULL;
    if (result == CU_SUCCESS)
        return SAP_OK;
    if (cuda->error_name(result, &name) != CU_SUCCESS || !name)
        name = "an error that the driver has no name for";
    if (cuda->error_text(result, &text) != CU_SUCCESS || !text)
        text = "no text";
    return sap_fail(result == CU_OUT_OF_MEMORY ? SAP_ERROR_MEMORY : SAP_ERROR_DEVICE, "%s: %.*s failed: %s (%d): %s",
                    what, documented_length(function), function, name, result, text);
}
