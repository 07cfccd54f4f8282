/* What a module is loaded from: PTX text, or a fatbin with entries of PTX, some of them compressed. Machine code cannot be
 * run. */
#include "driver.h"

#include <string.h>

#define FATBIN_MAGIC 0xba55ed50u

typedef struct FatbinHeader {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of all entries */
} FatbinHeader;

/* Known from fatbinary's output: there is no public description of it. */
typedef struct FatbinEntry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed_bytes, unknown;
    uint16_t minor, major;
    uint32_t capability; /* 80 */
    uint32_t name_offset, name_bytes;
    uint64_t flags;
    uint64_t unknown2;
    uint64_t original_bytes;
} FatbinEntry;

/* LZ4: that of --compress-mode=speed. The others are for newer drivers. */
enum { FATBIN_PTX = 1, FATBIN_LZ4 = 0x2000, FATBIN_OTHER = 0x8000 };

/* ---- LZ4, the block format */

/* A length of 15 goes on in the next bytes. */
static size_t read_length(unsigned start, const u8 **at, const u8 *end) {
    size_t length = start;
    u8 more = 255;
    while (start == 15 && more == 255 && *at < end)
        length += more = *(*at)++;
    return length;
}

/* Number of bytes; as many as there is room for, if the data are wrong. */
static size_t decompress(const u8 *at, const u8 *end, u8 *out, size_t room) {
    size_t count = 0;
    while (at < end) {
        unsigned token = *at++;
        size_t literals = read_length(token >> 4, &at, end);
        if (literals > (size_t)(end - at) || literals > room - count)
            return room;
        memcpy(out + count, at, literals);
        at += literals;
        count += literals;
        if (end - at < 2)
            break;
        size_t distance = at[0] | (size_t)at[1] << 8;
        at += 2;
        size_t length = 4 + read_length(token & 15, &at, end);
        if (distance == 0 || distance > count || length > room - count)
            return room;
        for (size_t i = 0; i < length; i++, count++) /* it may overlap itself */
            out[count] = out[count - distance];
    }
    return count;
}

/* ---- images */

static char *text_of_entry(const FatbinEntry *entry) {
    const u8 *data = (const u8 *)entry + entry->header_bytes;
    int is_compressed = (entry->flags & FATBIN_LZ4) != 0;
    size_t size = is_compressed ? entry->original_bytes : entry->bytes;
    char *text = calloc(size + 1, 1); /* an entry is filled up with zeros */
    if (text && is_compressed)
        decompress(data, data + entry->compressed_bytes, (u8 *)text, size);
    else if (text)
        memcpy(text, data, size);
    return text;
}

/* The newest PTX that the device can run. */
static CUresult find_ptx(const u8 *image, char **out) {
    const FatbinHeader *header = (const FatbinHeader *)image;
    const u8 *at = image + header->header_bytes, *end = at + header->bytes;
    const FatbinEntry *best = NULL;
    int unreadable = 0, has_ptx = 0;
    for (; at < end; at += ((const FatbinEntry *)at)->header_bytes + ((const FatbinEntry *)at)->bytes) {
        const FatbinEntry *entry = (const FatbinEntry *)at;
        has_ptx |= entry->kind == FATBIN_PTX;
        if (entry->kind != FATBIN_PTX || (int)entry->capability > device_capability())
            continue;
        if (entry->flags & FATBIN_OTHER)
            unreadable = 1;
        else if (!best || entry->capability > best->capability)
            best = entry;
    }
    if (!best && has_ptx)
        complain("no PTX for sm_%d or older in the fatbin%s", device_capability(),
                 unreadable ? " that can be read: give fatbinary --compress-mode=speed" : "");
    REQUIRE(best, CUDA_ERROR_NO_BINARY_FOR_GPU);
    *out = text_of_entry(best);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* A driver of CUDA 11.7 knows PTX up to 7.7, one of 12.0 up to 8.0. */
static CUresult check_version(const char *ptx) {
    int major, minor, known = driver_version() / 1000 * 10 + driver_version() % 1000 / 10 - 40;
    const char *line = strncmp(ptx, ".version", 8) == 0 ? ptx : strstr(ptx, "\n.version");
    if (!line || sscanf(line + strcspn(line, "0123456789"), "%d.%d", &major, &minor) != 2)
        return CUDA_SUCCESS; /* the translator has better words for it */
    return 10 * major + minor <= known ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

CUresult image_ptx(const void *image, char **out) {
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    *out = NULL;
    if (magic == FATBIN_MAGIC) {
        TRY(find_ptx(image, out));
    } else if (memcmp(image, "\177ELF", 4) == 0) {
        complain("machine code cannot be run: give PTX");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    } else {
        *out = strdup(image);
        REQUIRE(*out, CUDA_ERROR_OUT_OF_MEMORY);
    }
    CUresult result = check_version(*out);
    if (result != CUDA_SUCCESS) {
        free(*out);
        *out = NULL;
    }
    return result;
}
