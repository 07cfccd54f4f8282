#include "host/cuda/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/symbol.h"
#include "host/cuda/driver.h"

/* ---- declarations of <nvrtc.h> ---- */

typedef struct Program *Handle;

/* X(name here, symbol, parameters) */
#define FUNCTIONS(X)                                                                                                   \
    X(version, nvrtcVersion, (int *major, int *minor))                                                                 \
    X(num_archs, nvrtcGetNumSupportedArchs, (int *count))                                                              \
    X(archs, nvrtcGetSupportedArchs, (int *archs))                                                                     \
    X(create, nvrtcCreateProgram,                                                                                      \
      (Handle * program, const char *text, const char *name, int num_headers, const char *const *headers,              \
       const char *const *names))                                                                                      \
    X(destroy, nvrtcDestroyProgram, (Handle * program))                                                                \
    X(compile, nvrtcCompileProgram, (Handle program, int num_options, const char *const *options))                     \
    X(log_size, nvrtcGetProgramLogSize, (Handle program, size_t * size))                                               \
    X(log, nvrtcGetProgramLog, (Handle program, char *log))                                                            \
    X(ptx_size, nvrtcGetPTXSize, (Handle program, size_t * size))                                                      \
    X(ptx, nvrtcGetPTX, (Handle program, char *ptx))                                                                   \
    X(code_size, nvrtcGetCUBINSize, (Handle program, size_t * size))                                                   \
    X(code, nvrtcGetCUBIN, (Handle program, char *code))

#define POINTER(name, symbol, parameters) int(*name) parameters;
static struct { FUNCTIONS(POINTER) } nvrtc;

/* ---- loading ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool found;

static bool load_from(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
#define FIND(name, symbol, parameters) &&sap_find_symbol(library, #symbol, &nvrtc.name)
    return true FUNCTIONS(FIND);
}

/* A driver refuses the code of an NVRTC whose major version is newer than its own. */
static bool driver_is_older_than_13(void) {
    const SapCuda *cuda;
    int version;
    return sap_cuda_driver(&cuda) == SAP_OK && cuda->driver_version(&version) == CU_SUCCESS && version < 13000;
}

static void load_library(void) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
    const char *path = secure_getenv("SAPWOOD_NVRTC");
    int first = driver_is_older_than_13();
    found = path && *path ? load_from(path) : load_from(names[first]) || load_from(names[1 - first]);
}

static SapStatus need(void) {
    pthread_once(&once, load_library);
    if (found)
        return SAP_OK;
    return sap_fail(SAP_ERROR_UNSUPPORTED, "there is no NVRTC: neither libnvrtc.so.13 nor libnvrtc.so.12, nor what "
                                           "SAPWOOD_NVRTC names, can be loaded");
}

static SapStatus status_of(int result, const char *function) {
    if (result == 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_UNSUPPORTED, "%s failed: NVRTC's status is %d", function, result);
}

/* ---- versions and architectures ---- */

SapStatus sap_nvrtc_version(SapNvrtcVersion *out) {
    SAP_TRY(need());
    return status_of(nvrtc.version(&out->major, &out->minor), "nvrtcVersion");
}

/* The newest architecture that both NVRTC and the GPU support. */
static void choose_arch(const int *archs, int count, int capability, SapNvrtcTarget *out) {
    for (int i = 0; i < count; i++)
        if (archs[i] <= capability && archs[i] > out->arch)
            out->arch = archs[i];
    out->machine_code = out->arch == capability;
}

SapStatus sap_nvrtc_target(int capability, SapNvrtcTarget *out) {
    int archs[64], count;
    *out = (SapNvrtcTarget){0};
    SAP_TRY(need());
    SAP_TRY(status_of(nvrtc.num_archs(&count), "nvrtcGetNumSupportedArchs"));
    if (count > 0 && count <= (int)(sizeof archs / sizeof *archs)) {
        SAP_TRY(status_of(nvrtc.archs(archs), "nvrtcGetSupportedArchs"));
        choose_arch(archs, count, capability, out);
    }
    if (out->arch == 0)
        return sap_fail(SAP_ERROR_UNSUPPORTED, "NVRTC knows no architecture for compute capability %d.%d",
                        capability / 10, capability % 10);
    return SAP_OK;
}

/* ---- compiling ---- */

/* The first line of the log that has an error, or its first line. */
static SapStatus fail_to_compile(Handle program, int result) {
    size_t size = 0;
    char *log = NULL;
    if (nvrtc.log_size(program, &size) == 0 && size > 1)
        log = calloc(size + 1, 1);
    if (!log || nvrtc.log(program, log) != 0) {
        free(log);
        return status_of(result, "nvrtcCompileProgram");
    }
    const char *line = strstr(log, "error"), *first = line ? line : log;
    while (first > log && first[-1] != '\n')
        first--;
    SapStatus status =
        sap_fail(SAP_ERROR_UNSUPPORTED, "NVRTC cannot compile the kernels: %.*s", (int)strcspn(first, "\n"), first);
    free(log);
    return status;
}

static SapStatus get_image(Handle program, bool machine_code, char **image, size_t *size) {
    SAP_TRY(machine_code ? status_of(nvrtc.code_size(program, size), "nvrtcGetCUBINSize")
                         : status_of(nvrtc.ptx_size(program, size), "nvrtcGetPTXSize"));
    *image = sap_allocate(*size + 1, 1, "kernels");
    if (!*image)
        return SAP_ERROR_MEMORY;
    SapStatus status = machine_code ? status_of(nvrtc.code(program, *image), "nvrtcGetCUBIN")
                                    : status_of(nvrtc.ptx(program, *image), "nvrtcGetPTX");
    if (status != SAP_OK)
        free(*image);
    return status;
}

static SapStatus compile(Handle program, SapNvrtcTarget target, char **image, size_t *size) {
    char arch[64];
    const char *const options[] = {arch, "--std=c++17", "--fmad=false", "--device-as-default-execution-space",
                                   "--disable-warnings"};
    snprintf(arch, sizeof arch, "--gpu-architecture=%s_%d", target.machine_code ? "sm" : "compute", target.arch);
    int result = nvrtc.compile(program, sizeof options / sizeof *options, options);
    if (result != 0)
        return fail_to_compile(program, result);
    return get_image(program, target.machine_code, image, size);
}

SapStatus sap_nvrtc_compile(const SapNvrtcProgram *p, SapNvrtcTarget target, char **image, size_t *size) {
    Handle program;
    *image = NULL;
    SAP_TRY(need());
    SAP_TRY(status_of(nvrtc.create(&program, p->text, p->name, p->num_headers, p->headers, p->header_names),
                      "nvrtcCreateProgram"));
    SapStatus status = compile(program, target, image, size);
    nvrtc.destroy(&program);
    if (status != SAP_OK)
        *image = NULL;
    return status;
}
