/* The choice between a team and a thread per world. */
#ifndef SAPWOOD_HOST_CUDA_MAPPING_H
#define SAPWOOD_HOST_CUDA_MAPPING_H

#include "host/cuda/backend.h"

/* Sets has_threads, the reason in `mapping` and, with a thread per world, the kernel and shape of `thread`. suffix:
 * that of the step's kernel, empty for the general one. If option team_size is 1 and a thread per world is impossible:
 * SAP_ERROR_UNSUPPORTED. */
SapStatus sap_cuda_choose_mapping(const SapBatch *b, const char *suffix);

/* Whether all pairs of the model are listed, and have a closed form for all poses. plan: with host addresses. */
bool sap_cuda_has_closed_forms(const SapPlan *plan);

/* Whether the step of a preset also finds the contacts: with closed forms only, if there is anything to find. */
SapKernelKind sap_cuda_part_of_preset(const SapPlan *plan);

/* The most pairs of a world that can need the general narrow phase. plan: with host addresses. */
long long sap_cuda_general_pairs(const SapPlan *plan);

#endif
