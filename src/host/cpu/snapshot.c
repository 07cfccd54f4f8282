#include "host/cpu/snapshot.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_zero(const char *data, size_t bytes) {
    uint64_t block[16] = {0}, any = 0;
    for (; bytes > 0 && any == 0; data += sizeof block) {
        size_t part = bytes < sizeof block ? bytes : sizeof block;
        if (part < sizeof block)
            memset(block, 0, sizeof block);
        memcpy(block, data, part);
        for (int i = 0; i < 16; i++)
            any |= block[i];
        bytes -= part;
    }
    return any == 0;
}

void sap_snapshot_worlds(const SapSnapshot *kept, int first, int count) {
    uint32_t copied = 0;
    for (int i = 0; i < kept->num_rows; i++) {
        const SapSnapshotRow *row = &kept->row[i];
        size_t at = (size_t)first * row->bytes, bytes = (size_t)count * row->bytes;
        if (is_zero(row->from + at, bytes))
            continue;
        memcpy(row->to + at, row->from + at, bytes);
        copied |= 1u << i;
    }
    for (int w = first; w < first + count; w++)
        kept->copied[w] = copied;
}
