/* The rule that decides which pairs of shapes may touch.
 *
 * A pair is excluded if
 * - one of the shapes does not collide: by its flag, or collision group 0;
 * - their groups do not match: groups match if they are equal, or if they differ and one of them is below 0;
 * - the shapes cannot move relative to each other: same body, both static, or bodies connected to each other or to the
 *   world by fixed joints only;
 * - their bodies are connected by a joint with joint_filter_parent, or are one of body_filter_pairs;
 * - they are one of shape_filter_pairs;
 * - both are planes or height fields, which cannot touch each other. */
#ifndef SAPWOOD_HOST_PLAN_PAIRS_H
#define SAPWOOD_HOST_PLAN_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include <sapwood/model.h>

#include "kernels/data/plan.h"

enum { SAP_MAX_PAIRS = 1 << 24 };

/* The data of a model that the rule needs, prepared for fast queries. */
typedef struct SapPairFilter {
    const SapModelArrays *model;
    const int *group;                /* [nb] bodies without a dof between them share a number; -1: fixed to the world */
    const uint64_t *bodies, *shapes; /* excluded pairs, smaller index first, as sorted keys */
    int num_bodies, num_shapes;      /* number of excluded pairs */
    void *memory;
} SapPairFilter;

/* The model must not change while the filter is used. */
SapStatus sap_pair_filter_create(const SapModelArrays *model, SapPairFilter *out);
void sap_pair_filter_free(SapPairFilter *filter);

/* Whether the shape collides at all: by its flag and its group. */
bool sap_shape_collides(const SapModelArrays *model, int shape);
/* Whether two different shapes may touch, in either order. */
bool sap_pair_allowed(const SapPairFilter *filter, int s0, int s1);
/* Whether the shape moves relative to the world. */
bool sap_shape_moves(const SapPairFilter *filter, int shape);
/* Two shapes in the order of the kernels: the smaller type first, for equal types the smaller index. */
SapPair sap_pair_of(const SapModelArrays *model, int s0, int s1);

/* All allowed pairs, sorted by the smaller shape index, then by the larger. More than SAP_MAX_PAIRS is an error. Free
 * *out with free(); it is NULL if there are no pairs. */
SapStatus sap_pairs_create(const SapModelArrays *model, int *num_pairs, SapPair **out);

/* Same in two parts, for a tree of static shapes (static_tree.h): pairs of a seeker and a shape in the tree, which
 * `member` has as bits, are bits of the seeker's row of `bits` ([seekers][(ns + 31)/32], zeroed); all others are listed
 * in *out. Shape s is seeker seekers_before[s] if that is less than seekers_before[s + 1]. */
SapStatus sap_pairs_create_split(const SapPairFilter *filter, const unsigned *member, const int *seekers_before,
                                 unsigned *bits, int *num_pairs, SapPair **out);

/* Same as a bit matrix: bit b of row a, a < b, of *out ([ns][row_words]) is set if the two shapes may touch. */
SapStatus sap_pairs_create_bits(const SapModelArrays *model, int *row_words, unsigned **out);

/* Whether there are at most `most` allowed pairs. */
SapStatus sap_pairs_are_at_most(const SapModelArrays *model, long long most, bool *out);

/* Upper bound on the number of contacts of a world with at most `per_pair` contacts per pair; counted up to 65535. */
SapStatus sap_pairs_most_contacts(const SapModelArrays *model, int per_pair, int *out);

#endif
