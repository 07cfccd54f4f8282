/* The plan of a model: everything about its topology that the kernels need, worked out once on the host. */
#ifndef SAPWOOD_HOST_PLAN_H
#define SAPWOOD_HOST_PLAN_H

#include <stddef.h>

#include <sapwood/model.h>

#include "kernels/args.h"

typedef struct SapPlanOwner {
    SapPlan plan; /* its arrays point into `memory` */
    void *memory;
    size_t bytes;
} SapPlanOwner;

/* Fills *out for a valid model; free with sap_plan_free, which accepts a zeroed one. */
SapStatus sap_plan_create(const SapModelArrays *model, SapPlanOwner *out);
void sap_plan_free(SapPlanOwner *plan);

/* The model's constants as the kernels read them (args.h), in f32 or f64, one row for all worlds. */
typedef struct SapConstantsOwner {
    SapConstants constants;
    void *memory;
    size_t bytes;
} SapConstantsOwner;

SapStatus sap_constants_create(const SapModelArrays *model, const SapPlan *plan, int f64, SapConstantsOwner *out);
void sap_constants_free(SapConstantsOwner *constants);

#endif
