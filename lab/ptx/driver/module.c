/* Modules: an image is PTX text or a fatbin; its PTX is translated and compiled by the translator, which keeps results
 * in the folder PTX_CACHE, and loaded as a shared object.
 *
 *   PTX_CHECK     0, 1 (default), 2: see runtime/access.h
 *   PTX_CACHE     default: ptx_cache in the system's folder for temporary files
 *   PTX_COMPILER  default: gcc -O1 */
#include "driver.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

struct CUmod_st {
    void *library;
    const DeviceModule *tables;
    struct CUfunc_st *functions;
};

const DeviceModule *module_tables(CUmodule module) {
    return module->tables;
}

/* ---- translation */

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static int write_temporary(char *path, const char *text) {
    int file = mkstemps(path, 4);
    if (file < 0)
        return -1;
    size_t size = strlen(text);
    ssize_t written = write(file, text, size);
    close(file);
    return written == (ssize_t)size ? 0 : -1;
}

/* Runs the translator, which prints the path of the shared object as its last line. */
static int run_translator(const char *ptx_path, char *library, size_t size) {
    char command[4096];
    snprintf(command, sizeof command,
             "PYTHONPATH='%s' PYTHONDONTWRITEBYTECODE=1 python3 -m translator build '%s' --check %s --cache '%s' "
             "--compiler '%s'%s",
             setting("PTX_HOME", PTX_SOURCE_DIR), ptx_path, setting("PTX_CHECK", "1"),
             setting("PTX_CACHE", "/tmp/ptx_cache"), setting("PTX_COMPILER", "gcc -O1"),
             getenv("PTX_VERBOSE") ? " --verbose" : "");
    FILE *output = popen(command, "r");
    if (!output)
        return -1;
    library[0] = 0;
    char line[4096];
    while (fgets(line, sizeof line, output)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '/' || line[0] == '.')
            snprintf(library, size, "%s", line);
        else
            complain("%s", line);
    }
    return pclose(output) == 0 && library[0] ? 0 : -1;
}

static CUresult place_globals(const DeviceModule *m) {
    for (const GlobalVariable *g = m->globals; g->name; g++) {
        *g->address = ptx_allocate(g->size ? g->size : 1);
        REQUIRE(*g->address, CUDA_ERROR_OUT_OF_MEMORY);
        if (g->init)
            memcpy((void *)*g->address, g->init, g->size);
        else
            memset((void *)*g->address, 0, g->size);
        ptx_mark_written(*g->address, g->size);
    }
    m->relocate();
    return CUDA_SUCCESS;
}

static void release_globals(const DeviceModule *m) {
    for (const GlobalVariable *g = m->globals; g->name; g++)
        if (*g->address)
            ptx_free(*g->address), *g->address = 0;
}

static CUresult load_library(CUmodule m, const char *path) {
    m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    m->tables = m->library ? dlsym(m->library, "ptx_module") : NULL;
    if (!m->tables)
        complain("%s", dlerror());
    REQUIRE(m->tables, CUDA_ERROR_INVALID_PTX);
    *m->tables->runtime = &ptx_runtime_functions;
    int n = 0;
    while (m->tables->kernels[n].name)
        n++;
    m->functions = calloc((size_t)n + 1, sizeof *m->functions);
    REQUIRE(m->functions, CUDA_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < n; i++)
        m->functions[i] =
            (struct CUfunc_st){.module = m, .kernel = &m->tables->kernels[i], .max_dynamic_shared = 49152};
    return place_globals(m->tables);
}

static void unload(CUmodule m) {
    if (m->tables)
        release_globals(m->tables);
    if (m->library)
        dlclose(m->library);
    free(m->functions);
    object_destroy(OBJECT_MODULE, m);
}

/* The shared object of an image: each module needs variables of its own, so a second copy of one is refused. */
static CUresult translate(const void *image, char *library, size_t size) {
    char *ptx, path[] = "/tmp/ptx_XXXXXX.ptx";
    TRY(image_ptx(image, &ptx));
    int failed = write_temporary(path, ptx) || run_translator(path, library, size);
    unlink(path);
    free(ptx);
    return failed ? CUDA_ERROR_INVALID_PTX : CUDA_SUCCESS;
}

static CUresult load(CUmodule *out, const void *image) {
    char library[4096];
    TRY(translate(image, library, sizeof library));
    CUmodule m = object_create(OBJECT_MODULE, sizeof *m);
    REQUIRE(m, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = load_library(m, library);
    if (result != CUDA_SUCCESS) {
        unload(m);
        return result;
    }
    *out = m;
    return CUDA_SUCCESS;
}

API cuModuleLoadData(CUmodule *out, const void *image) {
    ENTER_CONTEXT();
    REQUIRE(out && image, CUDA_ERROR_INVALID_VALUE);
    return load(out, image);
}

API cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, CUjit_option *options, void **values) {
    ENTER_CONTEXT();
    (void)count, (void)options, (void)values; /* they concern compilation on the device */
    REQUIRE(out && image, CUDA_ERROR_INVALID_VALUE);
    return load(out, image);
}

API cuModuleLoadFatBinary(CUmodule *out, const void *image) {
    ENTER_CONTEXT();
    REQUIRE(out && image, CUDA_ERROR_INVALID_VALUE);
    return load(out, image);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(size + 1, 1);
    if (text && fread(text, 1, size, file) != size) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

API cuModuleLoad(CUmodule *out, const char *path) {
    ENTER_CONTEXT();
    REQUIRE(out && path, CUDA_ERROR_INVALID_VALUE);
    char *image = read_file(path);
    REQUIRE(image, CUDA_ERROR_FILE_NOT_FOUND);
    CUresult result = load(out, image);
    free(image);
    return result;
}

API cuModuleUnload(CUmodule m) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_MODULE, m), CUDA_ERROR_INVALID_HANDLE);
    CUresult result = work_finish();
    unload(m);
    return result;
}

API cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name) {
    ENTER_CONTEXT();
    REQUIRE(out && name, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(object_is_live(OBJECT_MODULE, m), CUDA_ERROR_INVALID_HANDLE);
    for (CUfunction f = m->functions; f->kernel; f++)
        if (strcmp(f->kernel->name, name) == 0) {
            *out = f;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

API cuModuleGetGlobal(CUdeviceptr *address, size_t *size, CUmodule m, const char *name) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_MODULE, m), CUDA_ERROR_INVALID_HANDLE);
    for (const GlobalVariable *g = m->tables->globals; g->name; g++)
        if (strcmp(g->name, name) == 0) {
            if (address)
                *address = *g->address;
            if (size)
                *size = g->size;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}
