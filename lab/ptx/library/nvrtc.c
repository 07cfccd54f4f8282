/* A stand-in for NVRTC, for tests of what the library does with its results. It compiles nothing.
 *
 *   PTX_NVRTC_IMAGE   file whose contents it returns as PTX or machine code of every program
 *   PTX_NVRTC_ERROR   text of an error: no program compiles, and this is in the log
 *   PTX_NVRTC_FOLDER  folder where it writes the program and its headers, so that nvcc can compile them
 *   PTX_NVRTC_CALLS   file to which it appends a line per program */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID_INPUT = 3, COMPILATION = 6 };

struct Program {
    char *image;
    size_t size;
};

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- files ---- */

static void make_folders(char *path) {
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            mkdir(path, 0755);
            *at = '/';
        }
}

static void write_text(const char *folder, const char *name, const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    make_folders(path);
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "nvrtc: %s: %s\n", path, strerror(errno));
        return;
    }
    fputs(text, file);
    fclose(file);
}

static void note_call(const char *name) {
    FILE *file = setting("PTX_NVRTC_CALLS") ? fopen(setting("PTX_NVRTC_CALLS"), "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s\n", name);
    fclose(file);
}

static int read_image(struct Program *program) {
    FILE *file = setting("PTX_NVRTC_IMAGE") ? fopen(setting("PTX_NVRTC_IMAGE"), "rb") : NULL;
    if (!file)
        return COMPILATION;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    program->image = calloc((size_t)size + 1, 1);
    program->size = (size_t)size + 1;
    size_t got = program->image ? fread(program->image, 1, (size_t)size, file) : 0;
    fclose(file);
    return got == (size_t)size ? SUCCESS : COMPILATION;
}

/* ---- the functions that the library calls ---- */

EXPORT int nvrtcVersion(int *major, int *minor);
EXPORT int nvrtcGetNumSupportedArchs(int *count);
EXPORT int nvrtcGetSupportedArchs(int *archs);
EXPORT int nvrtcCreateProgram(struct Program **out, const char *text, const char *name, int num_headers,
                              const char *const *headers, const char *const *names);
EXPORT int nvrtcDestroyProgram(struct Program **program);
EXPORT int nvrtcCompileProgram(struct Program *program, int num_options, const char *const *options);
EXPORT int nvrtcGetProgramLogSize(struct Program *program, size_t *size);
EXPORT int nvrtcGetProgramLog(struct Program *program, char *log);
EXPORT int nvrtcGetPTXSize(struct Program *program, size_t *size);
EXPORT int nvrtcGetPTX(struct Program *program, char *ptx);
EXPORT int nvrtcGetCUBINSize(struct Program *program, size_t *size);
EXPORT int nvrtcGetCUBIN(struct Program *program, char *code);

int nvrtcVersion(int *major, int *minor) {
    *major = 99;
    *minor = 0;
    return SUCCESS;
}

int nvrtcGetNumSupportedArchs(int *count) {
    *count = 2;
    return SUCCESS;
}

int nvrtcGetSupportedArchs(int *archs) {
    archs[0] = 80;
    archs[1] = 90;
    return SUCCESS;
}

int nvrtcCreateProgram(struct Program **out, const char *text, const char *name, int num_headers,
                       const char *const *headers, const char *const *names) {
    const char *folder = setting("PTX_NVRTC_FOLDER");
    if (folder)
        write_text(folder, name, text);
    for (int i = 0; folder && i < num_headers; i++)
        write_text(folder, names[i], headers[i]);
    note_call(name);
    *out = calloc(1, sizeof **out);
    return *out ? SUCCESS : INVALID_INPUT;
}

int nvrtcDestroyProgram(struct Program **program) {
    free((*program)->image);
    free(*program);
    *program = NULL;
    return SUCCESS;
}

int nvrtcCompileProgram(struct Program *program, int num_options, const char *const *options) {
    (void)num_options, (void)options;
    return setting("PTX_NVRTC_ERROR") ? COMPILATION : read_image(program);
}

int nvrtcGetProgramLogSize(struct Program *program, size_t *size) {
    (void)program;
    *size = setting("PTX_NVRTC_ERROR") ? strlen(setting("PTX_NVRTC_ERROR")) + 1 : 1;
    return SUCCESS;
}

int nvrtcGetProgramLog(struct Program *program, char *log) {
    (void)program;
    strcpy(log, setting("PTX_NVRTC_ERROR") ? setting("PTX_NVRTC_ERROR") : "");
    return SUCCESS;
}

int nvrtcGetPTXSize(struct Program *program, size_t *size) {
    *size = program->size;
    return program->image ? SUCCESS : INVALID_INPUT;
}

int nvrtcGetPTX(struct Program *program, char *ptx) {
    memcpy(ptx, program->image, program->size);
    return SUCCESS;
}

int nvrtcGetCUBINSize(struct Program *program, size_t *size) {
    return nvrtcGetPTXSize(program, size);
}

int nvrtcGetCUBIN(struct Program *program, char *code) {
    return nvrtcGetPTX(program, code);
}
