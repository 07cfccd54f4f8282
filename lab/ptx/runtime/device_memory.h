/* Device memory: allocations in one reserved range, with a gap between them that may not be touched, and a state for
 * each byte. A place is not used again after it was freed, so that a use after free is seen. */
#ifndef PTX_DEVICE_MEMORY_H
#define PTX_DEVICE_MEMORY_H

#include <stddef.h>

#include "device.h"

/* 0 if there is no room. Filled with NaNs. */
u64 ptx_allocate(u64 size);
/* 0 if an allocation began there. */
int ptx_free(u64 address);
/* True if all of it lies in one live allocation. */
int ptx_is_allocated(u64 address, u64 size);
/* Says that the host has written it. */
void ptx_mark_written(u64 address, u64 size);
/* A copy on the device: what was not written stays so. */
void ptx_copy_states(u64 to, u64 from, u64 size);
/* Where an address lies with respect to the nearest allocation, in words. */
void ptx_describe_address(u64 address, char *text, size_t size);
u64 ptx_bytes_allocated(void);
u32 ptx_num_allocations(void);

#endif
