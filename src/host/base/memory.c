#include "host/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/base/fail.h"

enum { ALIGNMENT = 64 };

/* The memory of the machine; the address space of a process (2^47 bytes on 64-bit machines) if the system does not say.
 * Larger requests are rejected here, because a system that overcommits memory grants them and kills the process when it
 * writes to them. */
static size_t max_bytes(void) {
    const size_t space = SIZE_MAX / 2 >> (sizeof(size_t) > 4 ? 16 : 0);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t bytes;
    if (pages <= 0 || page <= 0 || __builtin_mul_overflow((size_t)pages, (size_t)page, &bytes) || bytes > space)
        return space;
    return bytes;
}

/* Bytes rounded up to the alignment; SIZE_MAX if the product or the rounding overflows. */
static size_t padded_size(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return SIZE_MAX;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *sap_allocate_raw(size_t count, size_t size, const char *what) {
    size_t bytes = padded_size(count, size), most = max_bytes();
    void *memory = bytes > most ? NULL : aligned_alloc(ALIGNMENT, bytes ? bytes : ALIGNMENT);
    if (!memory)
        sap_fail(SAP_ERROR_MEMORY, "%s: cannot allocate %zu x %zu bytes; the machine has %.3g GB", what, count, size,
                 (double)most / 1e9);
    return memory;
}

void *sap_allocate(size_t count, size_t size, const char *what) {
    void *memory = sap_allocate_raw(count, size, what);
    return memory ? memset(memory, 0, padded_size(count, size)) : NULL;
}

void *sap_arena_carve(SapArena *arena, size_t count, size_t size) {
    size_t at = arena->used, bytes = padded_size(count, size);
    if (bytes > SIZE_MAX / 2 - at) /* the overflow is kept in `used`, so the allocation fails */
        arena->used = SIZE_MAX / 2;
    else
        arena->used += bytes;
    return arena->base ? arena->base + at : NULL;
}

SapStatus sap_arena_allocate(SapArena *arena, const char *what) {
    arena->base = sap_allocate(arena->used, 1, what);
    arena->used = 0;
    return arena->base ? SAP_OK : SAP_ERROR_MEMORY;
}
