/* The GPU kernels as nvcc made them, in the library itself: SAPWOOD_CUDA_IMAGE_FILE is the fatbin, and is not defined where there is
 * no nvcc. */
#include <stddef.h>

#include "host/cuda/device.h"

#ifdef SAPWOOD_CUDA_IMAGE_FILE
/* The assembler copies the file: as an array of C it would take the compiler minutes. */
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
