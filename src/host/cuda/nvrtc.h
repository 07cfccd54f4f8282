/* NVRTC, the CUDA compiler as a library, loaded at its first use: libnvrtc as found by the dynamic linker, or the file
 * named by the environment variable SAPWOOD_NVRTC. It needs no GPU. */
#ifndef SAPWOOD_HOST_CUDA_NVRTC_H
#define SAPWOOD_HOST_CUDA_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#include <sapwood/error.h>

typedef struct SapNvrtcVersion {
    int major, minor;
} SapNvrtcVersion;

/* SAP_ERROR_UNSUPPORTED without NVRTC, with a message that names the files that were tried. */
SapStatus sap_nvrtc_version(SapNvrtcVersion *out);

/* What to compile for: machine code of this architecture, or PTX for it and all later ones. */
typedef struct SapNvrtcTarget {
    int arch; /* 80 is compute capability 8.0 */
    bool machine_code;
} SapNvrtcTarget;

/* The best target for a GPU: its machine code if NVRTC supports it, else PTX of the newest older architecture. */
SapStatus sap_nvrtc_target(int capability, SapNvrtcTarget *out);

/* A program: the text of its entry file, and the texts of all files that it may include. */
typedef struct SapNvrtcProgram {
    const char *name, *text;
    int num_headers;
    const char *const *header_names, *const *headers; /* [num_headers] */
} SapNvrtcProgram;

/* Compiles without contraction of products and sums, as nvcc does for the kernels of the library. *image is
 * zero-terminated; free it with free(). If the program does not compile, the message has the first error. */
SapStatus sap_nvrtc_compile(const SapNvrtcProgram *program, SapNvrtcTarget target, char **image, size_t *size);

#endif
