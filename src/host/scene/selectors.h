/* Selection of the array entries that a post_build operation applies to. */
#ifndef SAPWOOD_HOST_SCENE_SELECTORS_H
#define SAPWOOD_HOST_SCENE_SELECTORS_H

#include "host/scene/builder.h"

/* The keys, at most one of which is given. */
typedef struct SapSceneSelector {
    const SapYamlEntry *index, *range, *joint, *joints, *label_prefix, *match;
    const SapYamlEntry *constraint, *constraints, *tendon, *tendons;
} SapSceneSelector;

SapSceneTable sap_scene_selector_keys(SapSceneSelector *target);

/* Indices into the rows of a table, in the order of the given values. */
typedef struct SapSceneSelection {
    int *rows;
    int count, capacity;
} SapSceneSelection;

/* Fills `selection`; the caller frees its rows, also on failure. Without a selector all rows are selected. */
SapStatus sap_scene_select(const SapSceneBuilder *builder, const SapSceneSelector *selector, SapModelRows rows,
                           const SapYamlEntry *op, SapSceneSelection *selection);

/* Reads an index that may be negative: -1 is the last of `count`. `limit` is the largest allowed index. */
SapStatus sap_scene_read_index(const SapYamlEntry *entry, int count, int limit, int *out);

#endif
