/* Which pairs of a model's shapes may touch.
 *
 * A pair is left out when
 * - one of them does not collide: its flag, or collision group 0;
 * - their groups do not match: equal, or one of them below 0 and the two different;
 * - nothing can move between them: one body, both static, or bodies joined by fixed joints only, the world among them;
 * - their bodies are joined by a joint with joint_filter_parent, or are one of body_filter_pairs;
 * - they are one of shape_filter_pairs;
 * - both are planes or height fields: neither has an outside that could touch the other. */
#ifndef SAPWOOD_HOST_PLAN_PAIRS_H
#define SAPWOOD_HOST_PLAN_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include <sapwood/model.h>

#include "kernels/data/plan.h"

enum { SAP_MAX_PAIRS = 1 << 24 };

/* What the rule needs of a model, made ready for quick questions. */
typedef struct SapPairFilter {
    const SapModelArrays *model;
    const int *group; /* [nb] bodies without a dof between them have one number; -1: fixed to the world */
    const uint64_t *bodies, *shapes; /* excluded pairs, smaller index first, as sorted keys */
    int num_bodies, num_shapes;      /* how many */
    void *memory;
} SapPairFilter;

/* The model must stay as it is while the filter is used. */
SapStatus sap_pair_filter_create(const SapModelArrays *model, SapPairFilter *out);
void sap_pair_filter_free(SapPairFilter *filter);

/* Whether two different shapes may touch; the order does not matter. */
bool sap_pair_allowed(const SapPairFilter *filter, int s0, int s1);
/* Whether the shape moves relative to the world. */
bool sap_shape_moves(const SapPairFilter *filter, int shape);
/* Two shapes as the kernels want them: the smaller type first, of equal types the smaller index. */
SapPair sap_pair_of(const SapModelArrays *model, int s0, int s1);

/* All allowed pairs, increasing in the smaller index of the two shapes, then in the larger. More than SAP_MAX_PAIRS are an error.
 * Free *out with free(); it is NULL if there are none. */
SapStatus sap_pairs_create(const SapModelArrays *model, int *num_pairs, SapPair **out);

/* The same as bits: bit b of row a, a < b, of *out ([ns][row_words]) tells whether the two may touch. */
SapStatus sap_pairs_create_bits(const SapModelArrays *model, int *row_words, unsigned **out);

/* How many contacts a world can have at most, if two shapes have at most `per_pair`; counted up to 65535. */
SapStatus sap_pairs_most_contacts(const SapModelArrays *model, int per_pair, int *out);

#endif
