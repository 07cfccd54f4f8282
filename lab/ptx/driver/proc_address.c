/* cuGetProcAddress: the newest version of a function this library has. */
#include "driver.h"

#include <dlfcn.h>

API cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult *status) {
    (void)version, (void)flags;
    REQUIRE(name && function, CUDA_ERROR_INVALID_VALUE);
    static const char *const suffixes[] = {"_v4", "_v3", "_v2", ""};
    Dl_info self;
    void *library = dladdr(&driver_initialised, &self) ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    *function = NULL;
    for (int i = 0; library && i < 4 && !*function; i++) {
        char full[128];
        snprintf(full, sizeof full, "%s%s", name, suffixes[i]);
        *function = dlsym(library, full);
    }
    if (library)
        dlclose(library);
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* Undocumented tables of functions for NVIDIA's own libraries; there are none here. NVRTC asks for one. A table begins
 * with its size in bytes. */
API cuGetExportTable(const void **table, const CUuuid *id) {
    static const size_t none = sizeof none;
    REQUIRE(table && id, CUDA_ERROR_INVALID_VALUE);
    *table = &none;
    return CUDA_SUCCESS;
}
