#include "host/base/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "host/base/fail.h"

#ifdef __has_feature
#define ADDRESS_SANITIZER __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#else
#define ADDRESS_SANITIZER 0
#endif
#if ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

enum { ALIGNMENT = 64 };

/* ---- what is available ---- */

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The number in a file of the system; false if there is none ("max"). */
static bool read_number(const char *path, size_t *out) {
    FILE *file = fopen(path, "re");
    unsigned long long value;
    bool found = file != NULL && fscanf(file, "%llu", &value) == 1;
    if (file != NULL)
        fclose(file);
    if (found)
        *out = (size_t)value;
    return found;
}

/* MemAvailable and SwapFree of the system. */
static size_t system_memory(void) {
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long kilobytes, available = 0, swap = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "MemAvailable: %llu", &kilobytes) == 1)
            available = kilobytes;
        if (sscanf(line, "SwapFree: %llu", &kilobytes) == 1)
            swap = kilobytes;
    }
    if (file != NULL)
        fclose(file);
    return available == 0 ? SIZE_MAX / 2 : (size_t)(available + swap) * 1024;
}

/* What a control group (version 2) has left: memory.max - memory.current. */
static size_t group_memory(const char *group) {
    char path[PATH_MAX + 64];
    size_t limit, used;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    if (!read_number(path, &limit))
        return SIZE_MAX / 2;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
    return !read_number(path, &used) ? limit : limit > used ? limit - used : 0;
}

/* The least of the group of this process and of all groups above it. */
static size_t groups_memory(void) {
    char group[PATH_MAX] = "";
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && strncmp(group, "0::/", 4) != 0)
        if (fgets(group, sizeof group, file) == NULL) {
            group[0] = '\0';
            break;
        }
    if (file != NULL)
        fclose(file);
    group[strcspn(group, "\n")] = '\0';
    char *path = group[0] != '\0' ? group + strlen("0::") : group;
    size_t least = group_memory("");
    for (char *slash; (slash = strrchr(path, '/')) != NULL; *slash = '\0')
        least = smaller(least, group_memory(path));
    return least;
}

size_t sap_available_memory(void) {
    struct rlimit space;
    size_t least = smaller(system_memory(), groups_memory());
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        least = smaller(least, (size_t)space.rlim_cur);
    return least;
}

/* ---- allocation ---- */

/* Bytes rounded up to the alignment; SIZE_MAX if the product or the rounding overflows. */
static size_t padded_size(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return SIZE_MAX;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* What a request of `bytes` is compared with. Reading the files of the system takes about 0.1 ms, so small requests are
 * compared with the address space only, 2^47 bytes on 64-bit machines. */
static size_t most_bytes(size_t bytes) {
    const size_t small = 1 << 26, space = SIZE_MAX / 2 >> (sizeof(size_t) > 4 ? 16 : 0);
    return bytes <= small ? space : smaller(space, sap_available_memory());
}

void *sap_allocate_raw(size_t count, size_t size, const char *what) {
    size_t bytes = padded_size(count, size), most = most_bytes(bytes);
    void *memory = bytes > most ? NULL : aligned_alloc(ALIGNMENT, bytes ? bytes : ALIGNMENT);
    if (!memory && bytes > most)
        sap_fail(SAP_ERROR_MEMORY, "%s: cannot allocate %zu x %zu bytes; %.3g GB are available", what, count, size,
                 1e-9 * (double)most);
    else if (!memory)
        sap_fail(SAP_ERROR_MEMORY, "%s: cannot allocate %zu x %zu bytes", what, count, size);
    return memory;
}

void *sap_allocate(size_t count, size_t size, const char *what) {
    void *memory = sap_allocate_raw(count, size, what);
    return memory ? memset(memory, 0, padded_size(count, size)) : NULL;
}

/* With the address sanitizer a poisoned line follows each array of an arena, and the padding of the array is poisoned
 * too: an index that is too large is found as in a separate allocation. */
#if ADDRESS_SANITIZER
enum { GUARD = ALIGNMENT };
static void guard(char *array, size_t bytes, size_t carved) {
    __asan_unpoison_memory_region(array, bytes);
    __asan_poison_memory_region(array + bytes, carved - bytes);
}
#else
enum { GUARD = 0 };
static void guard(char *array, size_t bytes, size_t carved) {
    (void)array;
    (void)bytes;
    (void)carved;
}
#endif

void *sap_arena_carve(SapArena *arena, size_t count, size_t size) {
    size_t at = arena->used, bytes = padded_size(count, size);
    if (bytes > SIZE_MAX / 2 - GUARD - at) /* the overflow is kept in `used`, so the allocation fails */
        arena->used = SIZE_MAX / 2;
    else
        arena->used += bytes + GUARD;
    if (!arena->base)
        return NULL;
    guard(arena->base + at, count * size, arena->used - at);
    return arena->base + at;
}

SapStatus sap_arena_allocate(SapArena *arena, const char *what) {
    arena->base = sap_allocate(arena->used, 1, what);
    arena->used = 0;
    return arena->base ? SAP_OK : SAP_ERROR_MEMORY;
}

SapStatus sap_carve_all(SapArena *arena, const char *what, const SapArenaPart *parts, size_t num_parts) {
    for (int pass = 0; pass < 2; pass++) { /* measure, then carve */
        for (size_t i = 0; i < num_parts; i++) {
            void *array = sap_arena_carve(arena, parts[i].count, parts[i].size);
            memcpy((void *)(uintptr_t)parts[i].pointer, &array, sizeof array);
        }
        if (pass == 0)
            SAP_TRY(sap_arena_allocate(arena, what));
    }
    return SAP_OK;
}
