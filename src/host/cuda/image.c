/* The GPU kernels compiled by nvcc, embedded in the library. SAPWOOD_CUDA_IMAGE_FILE is the fatbin; it is not defined
 * without nvcc. */
#include <stddef.h>

#include "host/cuda/device.h"

#ifdef SAPWOOD_CUDA_IMAGE_FILE
/* The assembler includes the file: as a C array it would take the compiler minutes. */
__asm__(".section .rodata\n"
        ".balign 64\n"
        ".local sap_cuda_image\n"
        "sap_cuda_image:\n"
        ".incbin \"" SAPWOOD_CUDA_IMAGE_FILE "\"\n"
        ".byte 0\n" /* the image may be PTX, which is text */
        ".previous\n");
extern const unsigned char sap_cuda_image[] __attribute__((visibility("hidden")));

const void *sap_cuda_embedded_image(void) {
    return sap_cuda_image;
}
#else
const void *sap_cuda_embedded_image(void) {
    return NULL;
}
#endif
