#define _GNU_SOURCE
#include "device_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { GAP = 256, PAGE = 4096 };

typedef struct Allocation {
    u64 base, size;
} Allocation;

static Allocation *allocations;
static u32 num_allocations, capacity;
static u64 top = PAGE; /* of the range: the first page stays untouched */

static void reserve(u64 base, u64 size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap((void *)base, size, PROT_READ | PROT_WRITE, flags, -1, 0) != (void *)base) {
        fprintf(stderr, "ptx: cannot reserve device memory at 0x%llx\n", (unsigned long long)base);
        abort();
    }
}

static void reserve_once(void) {
    static int done;
    if (!done) {
        reserve(ARENA_BASE, ARENA_SIZE);
        reserve(STATES_BASE, ARENA_SIZE);
    }
    done = 1;
}

static u8 *states_of(u64 address) {
    return (u8 *)STATES_BASE + (address - ARENA_BASE);
}

u64 ptx_allocate(u64 size) {
    reserve_once();
    u64 span = (size + 2 * GAP - 1) / GAP * GAP;
    if (span > ARENA_SIZE - top)
        return 0;
    if (num_allocations == capacity) {
        capacity = 2 * capacity + 64;
        allocations = realloc(allocations, capacity * sizeof *allocations);
    }
    u64 base = ARENA_BASE + top;
    top += span;
    allocations[num_allocations++] = (Allocation){base, size};
    memset((void *)base, 0xff, size);
    memset(states_of(base), BYTE_VALID, size);
    return base;
}

/* Gives whole pages back to the system; their addresses stay refused. */
static void forget(u64 base, u64 size) {
    u64 first = (base + PAGE - 1) / PAGE * PAGE, last = (base + size) / PAGE * PAGE;
    memset(states_of(base), 0, size);
    if (last > first)
        madvise((void *)first, last - first, MADV_DONTNEED);
}

int ptx_free(u64 address) {
    for (u32 i = 0; i < num_allocations; i++)
        if (allocations[i].base == address) {
            forget(address, allocations[i].size);
            allocations[i] = allocations[--num_allocations];
            return 0;
        }
    return 1;
}

int ptx_is_allocated(u64 address, u64 size) {
    for (u32 i = 0; i < num_allocations; i++) {
        u64 offset = address - allocations[i].base;
        if (offset <= allocations[i].size && size <= allocations[i].size - offset)
            return 1;
    }
    return 0;
}

void ptx_mark_written(u64 address, u64 size) {
    memset(states_of(address), BYTE_VALID | BYTE_WRITTEN, size);
}

void ptx_copy_states(u64 to, u64 from, u64 size) {
    memmove(states_of(to), states_of(from), size);
}

static u64 distance(const Allocation *a, u64 address) {
    u64 end = a->base + a->size;
    return address < a->base ? a->base - address : address >= end ? address - end : 0;
}

void ptx_describe_address(u64 address, char *text, size_t size) {
    const Allocation *nearest = NULL;
    for (u32 i = 0; i < num_allocations; i++)
        if (!nearest || distance(&allocations[i], address) < distance(nearest, address))
            nearest = &allocations[i];
    if (!nearest)
        snprintf(text, size, "nothing is allocated");
    else
        snprintf(text, size, "%llu bytes %s an allocation of %llu", (unsigned long long)distance(nearest, address),
                 address < nearest->base ? "before" : "past the end of", (unsigned long long)nearest->size);
}

u64 ptx_bytes_allocated(void) {
    u64 sum = 0;
    for (u32 i = 0; i < num_allocations; i++)
        sum += allocations[i].size;
    return sum;
}

u32 ptx_num_allocations(void) {
    return num_allocations;
}
