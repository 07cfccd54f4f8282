#include "host/cuda/sources.h"

#include <stddef.h>

#ifdef SAPWOOD_CUDA_SOURCES_LIST
/* The build writes the list: lines SOURCE(number, name, file). The assembler includes the files, each with a 0 at its
 * end. */
#define SOURCE(number, name, file)                                                                                     \
    __asm__(".section .rodata\n"                                                                                       \
            ".local sap_cuda_source_" #number "\n"                                                                     \
            "sap_cuda_source_" #number ":\n"                                                                           \
            ".incbin \"" file "\"\n"                                                                                   \
            ".byte 0\n"                                                                                                \
            ".previous\n");                                                                                            \
    extern const char sap_cuda_source_##number[] __attribute__((visibility("hidden")));
#include SAPWOOD_CUDA_SOURCES_LIST
#undef SOURCE

#define SOURCE(number, name, file) {name, sap_cuda_source_##number},
const SapCudaSource sap_cuda_sources[] = {
#include SAPWOOD_CUDA_SOURCES_LIST
    {NULL, NULL}};
#else
const SapCudaSource sap_cuda_sources[] = {{NULL, NULL}};
#endif
