/* The GPU kernels compiled by nvcc, embedded in the library: the fatbins of the modules of SapCudaImage. Their names
 * are not defined without nvcc. */
#include <stddef.h>

#include "host/cuda/device.h"

/* The assembler includes a file: as a C array it would take the compiler minutes. */
#define EMBED(name, file)                                                                                              \
    __asm__(".section .rodata\n"                                                                                       \
            ".balign 64\n"                                                                                             \
            ".local " #name "\n" #name ":\n"                                                                           \
            ".incbin \"" file "\"\n"                                                                                   \
            ".previous\n");                                                                                            \
    extern const unsigned char name[] __attribute__((visibility("hidden")))

#ifdef SAPWOOD_CUDA_STEP_PTX
EMBED(sap_cuda_step_ptx, SAPWOOD_CUDA_STEP_PTX);
EMBED(sap_cuda_dual_ptx, SAPWOOD_CUDA_DUAL_PTX);
EMBED(sap_cuda_mujoco_ptx, SAPWOOD_CUDA_MUJOCO_PTX);
EMBED(sap_cuda_thread_ptx, SAPWOOD_CUDA_THREAD_PTX);
EMBED(sap_cuda_law_ptx, SAPWOOD_CUDA_LAW_PTX);

const void *sap_cuda_embedded_ptx(SapCudaImage image) {
    const void *const images[] = {sap_cuda_step_ptx, sap_cuda_dual_ptx, sap_cuda_mujoco_ptx, sap_cuda_thread_ptx,
                                  sap_cuda_law_ptx};
    return images[image];
}
#else
const void *sap_cuda_embedded_ptx(SapCudaImage image) {
    (void)image;
    return NULL;
}
#endif

#ifdef SAPWOOD_CUDA_STEP_CODE
EMBED(sap_cuda_step_code, SAPWOOD_CUDA_STEP_CODE);

const void *sap_cuda_embedded_code(SapCudaImage image) {
    return image == SAP_CUDA_IMAGE_STEP ? sap_cuda_step_code : NULL;
}
#else
const void *sap_cuda_embedded_code(SapCudaImage image) {
    (void)image;
    return NULL;
}
#endif

const char *sap_cuda_image_variable(SapCudaImage image) {
    static const char *const variables[] = {"SAPWOOD_CUDA_IMAGE", "SAPWOOD_CUDA_DUAL_IMAGE",
                                            "SAPWOOD_CUDA_MUJOCO_IMAGE", "SAPWOOD_CUDA_THREAD_IMAGE",
                                            "SAPWOOD_CUDA_LAW_IMAGE"};
    return variables[image];
}
