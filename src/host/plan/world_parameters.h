/* Parameters that worlds have of their own (batch.h, sap_batch_expand).
 *
 * Three copies of each: `given`, which the caller writes; `seen`, what it was when a call last looked; and the kernels' constants, in their
 * order and precisions. A call compares given with seen, world by world, and converts the rows that differ: a write cannot be missed, and a
 * call that finds nothing new reads two rows. Nothing is allocated but when a parameter is expanded. */
#ifndef SAPWOOD_HOST_PLAN_WORLD_PARAMETERS_H
#define SAPWOOD_HOST_PLAN_WORLD_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sapwood/batch.h>

#include "kernels/data/args.h"

typedef struct SapWorldParameter {
    double *given, *seen; /* [num_worlds][size] of the model's array; NULL: not expanded */
    void *constants[2];   /* [num_worlds][width] of the kernels', f32 and f64 */
    int size, width;
} SapWorldParameter;

typedef struct SapWorldParameters {
    const SapModelArrays *model;
    const SapPlan *plan;
    const SapOptions *options;
    int num_worlds;
    int count; /* parameters that are expanded */
    SapWorldParameter parameter[SAP_NUM_PARAMETERS];
    double *fallback
        [2]; /* [num_worlds] friction and dissipation time of a contact's side without a shape; NULL: of the model */
    uint8_t *bad; /* [num_worlds] 1: what was seen breaks a rule, and the constants are not it */
    size_t bytes;
} SapWorldParameters;

/* An expansion without parameters; the three must live on. */
void sap_world_parameters_init(SapWorldParameters *e, const SapModelArrays *model, const SapPlan *plan,
                               const SapOptions *options, int num_worlds);
void sap_world_parameters_free(SapWorldParameters *e);

/* Takes memory for a parameter, fills it with the model's values, and makes the kernels read it. */
SapStatus sap_world_parameters_add(SapWorldParameters *e, SapParameter parameter, SapStepArgs *args);

/* Looks at what world w was given; true if that is new. Sets bad[w] where it breaks a rule. Different worlds may be looked at by different
 * threads. */
bool sap_world_parameters_refresh(SapWorldParameters *e, int w);

/* What world w was given, as it stands: SAP_ERROR_MODEL where it breaks a rule. */
SapStatus sap_world_parameters_check(const SapWorldParameters *e, int w);

/* The model of world w; its arrays are the expansion's, as they were last seen, or the model's. */
SapModelArrays sap_world_parameters_model(const SapWorldParameters *e, int w);

#endif
