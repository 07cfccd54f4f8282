/* The header of constants of kernels made for one batch (kernels/target/cuda_specialized.cu). */
#ifndef SAPWOOD_HOST_CUDA_SPECIALIZED_HEADER_H
#define SAPWOOD_HOST_CUDA_SPECIALIZED_HEADER_H

#include <stdbool.h>

#include "host/cuda/launch_shape.h"
#include "kernels/data/args.h"

/* Writes the header for the arguments of a batch. team: threads per world; arenas: the phase's; plan: that of
 * the arguments, with host addresses. NULL and a message of SAP_ERROR_MEMORY if there is no memory. Free with
 * free(). */
char *sap_cuda_specialized_header(const SapStepArgs *args, const SapPlan *plan, SapKernelKind part, int team,
                                  const SapArenas *arenas);

/* Whether two sets of arguments have the same constants. Kernels made for one of them may then run with the other. */
bool sap_cuda_specialized_fits(const SapStepArgs *made_for, const SapStepArgs *args);

#endif
