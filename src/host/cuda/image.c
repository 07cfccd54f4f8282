/* The GPU kernels compiled by nvcc, embedded in the library: the fatbins of the modules of SapCudaImage. Their names
 * are not defined without nvcc. */
#include <stddef.h>

#include "host/cuda/device.h"

#ifdef SAPWOOD_CUDA_IMAGE_FILE
/* The assembler includes a file: as a C array it would take the compiler minutes. The last byte is 0, because the image
 * may be PTX, which is text. */
#define EMBED(name, file)                                                                                              \
    __asm__(".section .rodata\n"                                                                                       \
            ".balign 64\n"                                                                                             \
            ".local " #name "\n" #name ":\n"                                                                           \
            ".incbin \"" file "\"\n"                                                                                   \
            ".byte 0\n"                                                                                                \
            ".previous\n");                                                                                            \
    extern const unsigned char name[] __attribute__((visibility("hidden")))

EMBED(sap_cuda_image, SAPWOOD_CUDA_IMAGE_FILE);
EMBED(sap_cuda_dual_image, SAPWOOD_CUDA_DUAL_IMAGE_FILE);
EMBED(sap_cuda_mujoco_image, SAPWOOD_CUDA_MUJOCO_IMAGE_FILE);
EMBED(sap_cuda_thread_image, SAPWOOD_CUDA_THREAD_IMAGE_FILE);

const void *sap_cuda_embedded_image(SapCudaImage image) {
    const void *const images[] = {sap_cuda_image, sap_cuda_dual_image, sap_cuda_mujoco_image, sap_cuda_thread_image};
    return images[image];
}
#else
const void *sap_cuda_embedded_image(SapCudaImage image) {
    (void)image;
    return NULL;
}
#endif

const char *sap_cuda_image_variable(SapCudaImage image) {
    static const char *const variables[] = {"SAPWOOD_CUDA_IMAGE", "SAPWOOD_CUDA_DUAL_IMAGE",
                                            "SAPWOOD_CUDA_MUJOCO_IMAGE", "SAPWOOD_CUDA_THREAD_IMAGE"};
    return variables[image];
}
