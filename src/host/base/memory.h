/* Zeroed, 64-byte aligned memory, and an arena: arrays with one lifetime carved from one block. An arena without a
 * block only counts bytes, so the same list of SAP_CARVE lines first measures and then carves. */
#ifndef SAPWOOD_HOST_BASE_MEMORY_H
#define SAPWOOD_HOST_BASE_MEMORY_H

#include <stddef.h>

#include <sapwood/error.h>

/* Returns NULL and sets the message of SAP_ERROR_MEMORY if count * size overflows, is more than the memory that is
 * available, or the allocation fails. A system that overcommits grants such a request and kills a process once the
 * memory is used. Free with free(). */
void *sap_allocate(size_t count, size_t size, const char *what);
/* Same without clearing the memory: pages that are never written cost nothing. */
void *sap_allocate_raw(size_t count, size_t size, const char *what);

/* Bytes that this process can still use without being killed: what the system has available, swap included, and what
 * its control groups and its address space limit leave. SIZE_MAX / 2 if that is not known. */
size_t sap_available_memory(void);

typedef struct SapArena {
    char *base; /* NULL while measuring */
    size_t used;
} SapArena;

/* `count` elements of `size` bytes, 64-byte aligned; NULL while measuring. */
void *sap_arena_carve(SapArena *arena, size_t count, size_t size);

/* Allocates the measured number of bytes, zeroed, and restarts the arena at its beginning for carving. */
SapStatus sap_arena_allocate(SapArena *arena, const char *what);

/* An array to carve: the address of its pointer, its elements and the bytes of each. */
typedef struct SapArenaPart {
    const void *pointer;
    size_t count, size;
} SapArenaPart;
#define SAP_PART(pointer, count)                                                                                       \
    (SapArenaPart) {                                                                                                   \
        &(pointer), (size_t)(count), sizeof *(pointer)                                                                 \
    }

/* Allocates an arena for these arrays, zeroed, and sets their pointers. */
SapStatus sap_carve_all(SapArena *arena, const char *what, const SapArenaPart *parts, size_t num_parts);
#define SAP_CARVE_ALL(arena, what, ...)                                                                                \
    sap_carve_all((arena), (what), (const SapArenaPart[]){__VA_ARGS__},                                                \
                  sizeof((SapArenaPart[]){__VA_ARGS__}) / sizeof(SapArenaPart))

#define SAP_CARVE(arena, pointer, count) ((pointer) = sap_arena_carve((arena), (size_t)(count), sizeof *(pointer)))

#endif
