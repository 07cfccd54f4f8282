/* Parameters with different values in each world (batch.h, sap_batch_expand).
 *
 * Each parameter has three copies: `given`, which the caller writes; `seen`, the values last read by a call; and what
 * the kernels read, in their order and precisions: its kernel constants, and the groups of numbers that its formulation
 * makes of several parameters. A call compares `given` with `seen` world by world and converts the rows that differ. No
 * write can be missed, and a call without changes only compares two rows per world. Memory is allocated only when a
 * parameter is expanded. */
#ifndef SAPWOOD_HOST_PLAN_PER_WORLD_H
#define SAPWOOD_HOST_PLAN_PER_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sapwood/batch.h>

#include "host/plan/formulation.h"
#include "kernels/data/args.h"

typedef struct SapPerWorldParameter {
    void *given, *seen; /* [num_worlds][size] of the type of the model's array; NULL: not expanded */
    void *constants[2]; /* [num_worlds][width] of the kernels, f32 and f64; NULL: it has none */
    int size, width;
    size_t row; /* bytes of a world in `given` and in `seen` */
} SapPerWorldParameter;

/* A group of numbers of the formulation (SapFormulation). */
typedef struct SapPerWorldGroup {
    void *rows[2]; /* [num_worlds][width] of the kernels, f32 and f64; NULL: worlds share the model's */
    int width;
} SapPerWorldGroup;

typedef struct SapPerWorld {
    const SapModelArrays *model;
    const SapFormulation *formulation;
    SapNumbers numbers; /* of the model */
    const SapPlan *plan;
    const SapOptions *options;
    int num_worlds;
    int count; /* number of expanded parameters */
    SapPerWorldParameter parameter[SAP_NUM_PARAMETERS];
    SapPerWorldGroup group[SAP_MOST_GROUPS];
    /* [num_worlds] friction and dissipation time of a contact side without a shape; NULL: the model's */
    double *fallback[2];
    uint8_t
        *bad; /* [num_worlds] 1: the values last read are invalid; the kernel constants still hold the previous ones */
    uint8_t *changed; /* [num_worlds] 1: a call has read other values since the last sap_per_world_take_change */
    size_t bytes;
} SapPerWorld;

/* Initialises the parameters of worlds, with none expanded; model, plan and options must outlive it. */
void sap_per_world_init(SapPerWorld *e, const SapModel *model, const SapPlan *plan, const SapOptions *options,
                        int num_worlds);
void sap_per_world_free(SapPerWorld *e);

/* Allocates a parameter, fills it with the model's values, and makes the kernels read it. law: the arguments of the
 * formulation; NULL if it has none. */
SapStatus sap_per_world_add(SapPerWorld *e, SapParameter parameter, SapStepArgs *args, void *law);

/* The groups of a parameter that have numbers in this model, as bits, and the numbers of a world in a group. */
unsigned sap_per_world_groups(const SapPerWorld *e, SapParameter parameter);
int sap_per_world_group_width(const SapPerWorld *e, int group);

/* Reads the given values of world w; returns true if they changed. Sets bad[w] if they violate a rule. Different
 * threads may process different worlds. */
bool sap_per_world_refresh(SapPerWorld *e, int w);

/* Returns whether calls have read other values of world w since the last call of this function. */
bool sap_per_world_take_change(SapPerWorld *e, int w);

/* Checks the values currently given to world w: SAP_ERROR_MODEL if they violate a rule. */
SapStatus sap_per_world_check(const SapPerWorld *e, int w);

/* The numbers of world w: the values last read, or now given, of expanded parameters, the model's for the others. */
SapNumbers sap_per_world_numbers(const SapPerWorld *e, int w);
SapNumbers sap_per_world_given(const SapPerWorld *e, int w);

#endif
