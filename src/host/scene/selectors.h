/* Which entries of an array an operation of post_build is about. */
#ifndef SAPWOOD_HOST_SCENE_SELECTORS_H
#define SAPWOOD_HOST_SCENE_SELECTORS_H

#include "host/scene/builder.h"

/* The keys, of which at most one is given. */
typedef struct SapSceneSelector {
    const SapYamlEntry *index, *range, *joint, *joints, *label_prefix, *match;
} SapSceneSelector;

SapSceneTable sap_scene_selector_keys(SapSceneSelector *target);

/* Indices into the rows of a table, in the order in which values are given. */
typedef struct SapSceneSelection {
    int *rows;
    int count, capacity;
} SapSceneSelection;

/* Fills `selection`, whose rows the caller frees in any case. Without a selector: all rows. */
SapStatus sap_scene_select(const SapSceneBuilder *builder, const SapSceneSelector *selector, SapModelRows rows,
                           const SapYamlEntry *op, SapSceneSelection *selection);

/* An index that may count from the end: -1 is the last of `count`. `limit` is the largest that is allowed. */
SapStatus sap_scene_read_index(const SapYamlEntry *entry, int count, int limit, int *out);

#endif
