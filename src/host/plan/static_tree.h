/* The bounds of static shapes as a tree, made once for a model; moving shapes query it (kernels/collide/static_tree.h).
 *
 *   in the tree   shapes that are fixed in the world, collide and are bounded
 *   seekers       shapes that move, collide and are bounded: they query the tree
 *   placed        shapes that collide and are not in the tree: seekers, planes, shapes of bodies welded to the world.
 *                 They have a pose in every step. If a plane moves, all shapes do, because it is near most of them */
#ifndef SAPWOOD_HOST_PLAN_STATIC_TREE_H
#define SAPWOOD_HOST_PLAN_STATIC_TREE_H

#include <stdbool.h>

#include "host/plan/pairs.h"
#include "host/plan/plan.h"

typedef enum SapTreeRole { SAP_TREE_NONE, SAP_TREE_STATIC, SAP_TREE_SEEKER, SAP_TREE_PLACED } SapTreeRole;

/* The role of a shape; a seeker is also placed. */
SapTreeRole sap_tree_role(const SapPairFilter *filter, int shape);

/* Whether the tree is the best broad phase: many pairs of static and moving shapes, and few others. */
SapStatus sap_static_tree_pays(const SapModelArrays *model, bool *out);

/* Adds the tree and the pairs of the broad phase `tree`, in the plan's blocks SAP_PLAN_STATIC and SAP_PLAN_PAIRS. */
SapStatus sap_plan_add_static_tree(const SapModelArrays *model, SapPlanOwner *plan);

#endif
