/* Zeroed, 64-byte aligned memory, and an arena: arrays of one lifetime carved from one block. An arena without a block only
 * counts, so the same list of SAP_CARVE lines measures first and carves then. */
#ifndef SAPWOOD_HOST_BASE_MEMORY_H
#define SAPWOOD_HOST_BASE_MEMORY_H

#include <stddef.h>

#include <sapwood/error.h>

/* Returns NULL with SAP_ERROR_MEMORY's message set if count * size overflows or is not to be had. Free with free(). */
void *sap_allocate(size_t count, size_t size, const char *what);
/* The same, not cleared: pages that nobody writes to cost nothing. */
void *sap_allocate_raw(size_t count, size_t size, const char *what);

typedef struct SapArena {
    char *base; /* NULL while measuring */
    size_t used;
} SapArena;

/* `count` elements of `size` bytes, 64-byte aligned; NULL while measuring. */
void *sap_arena_carve(SapArena *arena, size_t count, size_t size);

/* Takes the measured amount of zeroed memory and starts carving from its beginning. */
SapStatus sap_arena_allocate(SapArena *arena, const char *what);

#define SAP_CARVE(arena, pointer, count) ((pointer) = sap_arena_carve((arena), (size_t)(count), sizeof *(pointer)))

#endif
