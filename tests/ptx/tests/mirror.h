/* Copies of host arrays in device memory. A structure of arguments is full of pointers into such arrays: mirror_translate
 * finds them by value, so that it need not know the structure. */
#ifndef PTX_TESTS_MIRROR_H
#define PTX_TESTS_MIRROR_H

#include <cuda.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIRROR_MAX = 128 };

typedef struct Mirror {
    struct {
        char *host;
        size_t size;
        CUdeviceptr device;
    } array[MIRROR_MAX];
    int count;
} Mirror;

static inline void mirror_need(CUresult result, const char *what) {
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name ? name : "?");
    exit(1);
}
#define NEED(call) mirror_need(call, #call)

/* Adds an array; NULL is ignored. */
static inline void mirror_add(Mirror *m, const void *host, size_t size) {
    if (!host)
        return;
    if (m->count == MIRROR_MAX)
        abort();
    NEED(cuMemAlloc(&m->array[m->count].device, size));
    m->array[m->count].host = (char *)host;
    m->array[m->count++].size = size;
}

/* Adds a whole block from malloc. */
static inline void mirror_add_block(Mirror *m, const void *host) {
    mirror_add(m, host, malloc_usable_size((void *)host));
}

static inline void mirror_upload(const Mirror *m) {
    for (int i = 0; i < m->count; i++)
        NEED(cuMemcpyHtoD(m->array[i].device, m->array[i].host, m->array[i].size));
}

static inline void mirror_download(const Mirror *m) {
    for (int i = 0; i < m->count; i++)
        NEED(cuMemcpyDtoH(m->array[i].host, m->array[i].device, m->array[i].size));
}

static inline void mirror_free(Mirror *m) {
    for (int i = 0; i < m->count; i++)
        NEED(cuMemFree(m->array[i].device));
    m->count = 0;
}

/* Replaces every pointer into a mirrored array by the same place in its copy. */
static inline void mirror_translate(const Mirror *m, void *arguments, size_t size) {
    for (size_t at = 0; at + sizeof(char *) <= size; at += sizeof(char *)) {
        uintptr_t word;
        memcpy(&word, (char *)arguments + at, sizeof word);
        for (int i = 0; i < m->count; i++) {
            uintptr_t offset = word - (uintptr_t)m->array[i].host;
            if (offset < m->array[i].size) {
                word = (uintptr_t)m->array[i].device + offset;
                memcpy((char *)arguments + at, &word, sizeof word);
                break;
            }
        }
    }
}

#endif
