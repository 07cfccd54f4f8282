#include "host/cuda/specialized.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/announce.h"
#include "host/base/fail.h"
#include "host/base/file_cache.h"
#include "host/cuda/backend.h"
#include "host/cuda/choose.h"
#include "host/cuda/launch.h"
#include "host/cuda/specialized_header.h"
#include "host/cuda/nvrtc.h"
#include "host/cuda/sources.h"

/* Most bytes of the cache. The kernels of a batch take one to three million. */
enum { CACHE_BYTES = 128 << 20 };

static const char entry_file[] = "kernels/target/cuda_specialized.cu", of_library[] = "compiled with the library";

/* ---- sources ---- */

/* Headers of the C library that the sources include: NVRTC has none. Its mathematical functions need no header. */
static const SapCudaSource standard_headers[] = {
    {"assert.h", ""},
    {"math.h", ""},
    {"stdbool.h", ""},
    {"stddef.h", "typedef decltype(sizeof 0) size_t;\n#define NULL nullptr\n"},
    {"stdint.h", "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\ntypedef int int32_t;\n"
                 "typedef unsigned uint32_t;\ntypedef long long int64_t;\ntypedef unsigned long long uint64_t;\n"}};
enum { NUM_STANDARD = sizeof standard_headers / sizeof *standard_headers, MOST_HEADERS = 512 };

static uint64_t hash_text(uint64_t hash, const char *text) {
    return sap_hash(hash, text, strlen(text) + 1);
}

static uint64_t hash_sources(void) {
    uint64_t hash = SAP_HASH_START;
    for (const SapCudaSource *s = sap_cuda_sources; s->name; s++)
        hash = hash_text(hash_text(hash, s->name), s->text);
    for (int i = 0; i < NUM_STANDARD; i++)
        hash = hash_text(hash_text(hash, standard_headers[i].name), standard_headers[i].text);
    return hash;
}

/* Compiles the entry file with the header of constants. */
static SapStatus compile(const char *header, SapNvrtcTarget target, char **image, size_t *size) {
    const char *names[MOST_HEADERS] = {"specialized.h"}, *texts[MOST_HEADERS] = {header};
    SapNvrtcProgram program = {
        .name = entry_file, .text = NULL, .num_headers = 1, .header_names = names, .headers = texts};
    for (int i = 0; i < NUM_STANDARD; i++, program.num_headers++) {
        names[program.num_headers] = standard_headers[i].name;
        texts[program.num_headers] = standard_headers[i].text;
    }
    for (const SapCudaSource *s = sap_cuda_sources; s->name && program.num_headers < MOST_HEADERS; s++) {
        if (strcmp(s->name, entry_file) == 0)
            program.text = s->text;
        names[program.num_headers] = s->name;
        texts[program.num_headers++] = s->text;
    }
    if (!program.text)
        return sap_fail(SAP_ERROR_UNSUPPORTED, "this build has no sources of the kernels");
    return sap_nvrtc_compile(&program, target, image, size);
}

/* ---- images ---- */

/* An image, and how it came about. */
typedef struct Image {
    char *data;
    size_t size;
    bool cached;    /* read from the cache */
    char note[160]; /* what is wrong with the cache; empty = nothing */
} Image;

static SapStatus choose_target(const SapCudaDevice *d, SapNvrtcTarget *out) {
    int major, minor;
    SAP_CU_TRY(d->cuda, device_attribute, "device cuda", (&major, CU_CAPABILITY_MAJOR, d->device));
    SAP_CU_TRY(d->cuda, device_attribute, "device cuda", (&minor, CU_CAPABILITY_MINOR, d->device));
    SAP_TRY(sap_nvrtc_target(10 * major + minor, out));
    const char *ptx = secure_getenv("SAPWOOD_NVRTC_PTX");
    if (ptx && *ptx)
        out->machine_code = false;
    return SAP_OK;
}

/* All that an image depends on: sources, compiler, target and constants. Free with free(). */
static SapStatus write_key(const char *header, SapNvrtcTarget target, char **key) {
    SapNvrtcVersion version;
    SAP_TRY(sap_nvrtc_version(&version));
    size_t size = strlen(header) + 128;
    *key = malloc(size);
    if (!*key)
        return sap_fail(SAP_ERROR_MEMORY, "out of memory");
    snprintf(*key, size, "sources %016llx NVRTC %d.%d %s_%d\n%s", (unsigned long long)hash_sources(), version.major,
             version.minor, target.machine_code ? "sm" : "compute", target.arch, header);
    return SAP_OK;
}

/* Compiles, and keeps the result. */
static SapStatus compile_and_keep(const char *header, SapNvrtcTarget target, const SapFileCache *cache, SapCacheKey key,
                                  Image *image) {
    sap_announce("NVRTC compiles kernels for this batch; this can take minutes, and they are kept for the next time");
    SAP_TRY(compile(header, target, &image->data, &image->size));
    if (!cache)
        snprintf(image->note, sizeof image->note, "there is no folder for a cache");
    else if (!sap_file_cache_write(cache, key, image->data, image->size))
        snprintf(image->note, sizeof image->note, "the cache '%.80s' cannot be written: %.40s", cache->folder,
                 strerror(errno));
    return SAP_OK;
}

static SapStatus find_image(const char *header, SapNvrtcTarget target, const char *key_text, Image *image) {
    SapFileCache cache = {.most_bytes = CACHE_BYTES};
    SapCacheKey key = {key_text, strlen(key_text)};
    if (!sap_file_cache_find("SAPWOOD_CACHE", "sapwood", &cache))
        return compile_and_keep(header, target, NULL, key, image);
    SapCacheRead read = sap_file_cache_read(&cache, key, &image->data, &image->size);
    image->cached = read == SAP_CACHE_FOUND;
    if (image->cached)
        return SAP_OK;
    SAP_TRY(compile_and_keep(header, target, &cache, key, image));
    if (read == SAP_CACHE_UNUSABLE && !*image->note)
        snprintf(image->note, sizeof image->note, "an unusable file in the cache was replaced");
    return SAP_OK;
}

/* ---- kernels ---- */

static const char *name_of(SapKernelKind part) {
    return part == SAP_CUDA_COLLIDE ? "sap_kernel_collide_specialized" : "sap_kernel_step_specialized";
}

/* The kernel must be able to run with the block and the shared memory of its phase. */
static SapStatus check_kernel(const SapCudaBatch *c, const SapCudaShape *shape, CuFunction kernel) {
    int blocks;
    SAP_TRY(sap_cuda_set_cache(c, shape, kernel));
    SAP_CU_TRY(c->device->cuda, occupancy, "device cuda",
               (&blocks, kernel, shape->team * shape->worlds_per_block, (size_t)shape->shared_bytes));
    if (blocks > 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_UNSUPPORTED,
                    "no block of %d threads with %d bytes of shared memory fits a multiprocessor",
                    shape->team * shape->worlds_per_block, shape->shared_bytes);
}

static SapStatus load_kernel(SapCudaBatch *c, SapKernelKind part, const SapCudaShape *shape, const char *image,
                             CuFunction *out) {
    const SapCuda *cuda = c->device->cuda;
    CuFunction kernel;
    SAP_CU_TRY(cuda, module_load, "device cuda", (&c->specialized.module[part], image));
    SAP_CU_TRY(cuda, module_function, "device cuda", (&kernel, c->specialized.module[part], name_of(part)));
    SAP_TRY(check_kernel(c, shape, kernel));
    *out = kernel;
    return SAP_OK;
}

static SapStatus make_with_header(SapCudaBatch *c, SapKernelKind part, SapCudaPhase *phase, const char *header,
                                  Image *image) {
    SapNvrtcTarget target;
    char *key;
    SAP_TRY(choose_target(c->device, &target));
    SAP_TRY(write_key(header, target, &key));
    SapStatus status = find_image(header, target, key, image);
    free(key);
    return status == SAP_OK ? load_kernel(c, part, &phase->shape, image->data, &phase->specialized) : status;
}

/* Makes the kernel of a phase. */
static SapStatus make_kernel(SapCudaBatch *c, const SapPlan *plan, SapKernelKind part, SapCudaPhase *phase,
                             Image *image) {
    char *header = sap_cuda_specialized_header(&c->args, plan, part, phase->shape.team, &phase->arenas);
    if (!header)
        return SAP_ERROR_MEMORY;
    SapStatus status = make_with_header(c, part, phase, header, image);
    free(header);
    free(image->data);
    return status;
}

/* ---- batches ---- */

static void describe(SapCudaSpecialized *specialized, const Image *step, const Image *collide) {
    bool cached = step->cached && collide->cached;
    const char *note = *step->note ? step->note : collide->note;
    snprintf(specialized->text, sizeof specialized->text, "made for this batch%s%s%s",
             cached ? ", from the cache" : " by NVRTC", *note ? "; " : "", note);
}

static SapStatus make_all(const SapBatch *b, const SapPlan *plan) {
    SapCudaBatch *c = b->own;
    SapCudaPhase *step_phase = c->program.has_threads ? &c->thread : &c->step;
    Image step = {.cached = false}, collide = {.cached = true};
    c->specialized.args = c->args;
    SAP_TRY(make_kernel(c, plan, SAP_CUDA_STEP, step_phase, &step));
    bool apart = sap_cuda_can_touch(plan) && !step_phase->arenas.in_step;
    SapStatus status = apart ? make_kernel(c, plan, SAP_CUDA_COLLIDE, &c->collide, &collide) : SAP_OK;
    if (status != SAP_OK)
        step_phase->specialized = NULL;
    describe(&c->specialized, &step, &collide);
    return status;
}

void sap_cuda_make_kernels(const SapBatch *b, const SapPlan *plan) {
    SapCudaBatch *c = b->own;
    SapCudaSpecialized *specialized = &c->specialized;
    snprintf(specialized->text, sizeof specialized->text, "%s", of_library);
    if (b->options.specialize == SAP_SPECIALIZE_OFF)
        return;
    const char *reason = c->program.not_specialized;
    if (!reason && make_all(b, plan) != SAP_OK) {
        sap_cuda_specialized_unload(specialized, c->device->cuda);
        reason = sap_error_message();
    }
    if (reason)
        snprintf(specialized->text, sizeof specialized->text, "%s: %s", of_library, reason);
}

void sap_cuda_specialized_unload(SapCudaSpecialized *specialized, const SapCuda *cuda) {
    for (int i = 0; i < 2; i++)
        if (specialized->module[i])
            cuda->module_unload(specialized->module[i]);
    specialized->module[0] = specialized->module[1] = NULL;
}

bool sap_cuda_specialized_is_valid(const SapCudaSpecialized *specialized, const SapStepArgs *args) {
    return specialized->module[SAP_CUDA_STEP] && sap_cuda_specialized_fits(&specialized->args, args);
}

const char *sap_cuda_specialized_text(const SapCudaSpecialized *specialized, const SapStepArgs *args) {
    if (specialized->module[SAP_CUDA_STEP] && !sap_cuda_specialized_is_valid(specialized, args))
        return "compiled with the library: parameters of worlds changed the numbers that others were made for";
    return specialized->text;
}
