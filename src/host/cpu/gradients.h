/* Derivatives of steps on the CPU: a solver in f64 beside that of the batch, and scratch. */
#ifndef SAPWOOD_HOST_CPU_GRADIENTS_H
#define SAPWOOD_HOST_CPU_GRADIENTS_H

#include "host/batch/backend.h"
#include "host/cpu/solver.h"

typedef struct SapDifferentiator SapDifferentiator;

/* Makes the call for a batch whose steps `solver` takes. *own: what the calls of the batch keep; NULL at first. */
SapStatus sap_differentiate(const SapBatch *batch, SapSolver *solver, const SapGradientCall *call,
                            SapDifferentiator **own);
void sap_differentiator_destroy(SapDifferentiator *d);
size_t sap_differentiator_bytes(const SapDifferentiator *d);

#endif
