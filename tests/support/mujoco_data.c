/* The data file of MuJoCo's distances: see mujoco_data.h. All numbers are little-endian. */
#include "support/mujoco_data.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <zlib.h>

#define DATA_FILE SAPWOOD_SOURCE_DIR "/tests/data/mujoco_distance.bin.gz"

enum { MAGIC_BYTES = 8, HEADER_NUMBERS = 6, PAIR_NUMBERS = 2, POSE_NUMBERS = 14, ROW_BYTES = 4 + 3 * 2 + 1 };
enum { FLAG_WRONG = 1, FLAG_NORMAL = 2 };

static void read_bytes(gzFile file, void *to, size_t size) {
    cr_assert_eq(gzread(file, to, (unsigned)size), (int)size, "%s ends too early", DATA_FILE);
}

static void read_columns(gzFile file, MujocoPair *pair) {
    size_t n = (size_t)pair->num_rows;
    char *bytes = malloc(n * ROW_BYTES);
    pair->row = calloc(n, sizeof *pair->row);
    cr_assert(bytes != NULL && pair->row != NULL);
    read_bytes(file, bytes, n * ROW_BYTES);
    for (size_t r = 0; r < n; r++) {
        ExpectedContact *row = &pair->row[r];
        int32_t distance;
        memcpy(&distance, bytes + 4 * r, sizeof distance);
        row->distance = distance * 1e-9;
        for (size_t i = 0; i < 3; i++) {
            int16_t part;
            memcpy(&part, bytes + 4 * n + 2 * (i * n + r), sizeof part);
            row->n[i] = part / 32767.0;
        }
        int flags = bytes[10 * n + r];
        row->wrong = flags & FLAG_WRONG;
        row->compare_normal = flags & FLAG_NORMAL;
    }
    free(bytes);
}

MujocoPair mujoco_pair_load(int index) {
    gzFile file = gzopen(DATA_FILE, "rb");
    cr_assert_not_null(file, "cannot open %s", DATA_FILE);
    char magic[MAGIC_BYTES];
    uint32_t header[HEADER_NUMBERS]; /* pairs, rows of each, sets of sizes, MuJoCo's version */
    int32_t type[PAIR_NUMBERS];
    read_bytes(file, magic, sizeof magic);
    read_bytes(file, header, sizeof header);
    cr_assert(memcmp(magic, "SAPDIST1", sizeof magic) == 0, "%s is another format", DATA_FILE);
    cr_assert(index >= 0 && (uint32_t)index < header[0], "%s has %u pairs, not %d", DATA_FILE, header[0], index + 1);
    size_t pair_bytes = sizeof type + POSE_NUMBERS * sizeof(double) + header[1] * (size_t)ROW_BYTES;
    gzseek(file, (z_off_t)(sizeof magic + sizeof header + (size_t)index * pair_bytes), SEEK_SET);
    MujocoPair pair = {.num_rows = (int)header[1], .rows_per_set = (int)(header[1] / header[2])};
    read_bytes(file, type, sizeof type);
    memcpy(pair.type, type, sizeof type);
    read_bytes(file, pair.pose, sizeof pair.pose);
    read_columns(file, &pair);
    gzclose(file);
    return pair;
}

void mujoco_pair_free(MujocoPair *pair) {
    free(pair->row);
}
