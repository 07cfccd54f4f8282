/* The arrays of a plan: X(member, elements of the plan p). Whoever copies or moves a plan goes through these lists. */
#ifndef SAPWOOD_HOST_PLAN_ARRAYS_H
#define SAPWOOD_HOST_PLAN_ARRAYS_H

#include <stddef.h>

#include <sapwood/options.h>

#include "kernels/data/plan.h"

/* Arrays of links, dofs, model constraints and shapes; a subtree has its own (subtree.h). */
#define SAP_PLAN_TREE_ARRAYS(X, p)                                                                                     \
    X(link, (p)->nl)                                                                                                   \
    X(child, (p)->nl)                                                                                                  \
    X(level_start, (p)->num_levels + 1)                                                                                \
    X(level_link, (p)->nl)                                                                                             \
    X(body_link, (p)->nb)                                                                                              \
    X(dof_public, (p)->nv)                                                                                             \
    X(dof_coord, (p)->nv)                                                                                              \
    X(dof_driven, (p)->nv)                                                                                             \
    X(dof_limited, (p)->nv)                                                                                            \
    X(dof_law, (p)->nv)                                                                                                \
    X(nodes.start, (p)->nodes.count + 1)                                                                               \
    X(nodes.of_dof, (p)->nv)                                                                                           \
    X(nodes.couples, (size_t)(p)->nodes.count *(size_t)(p)->nodes.words)                                               \
    X(shape_link, (p)->ns)                                                                                             \
    X(block, (p)->num_blocks)                                                                                          \
    X(block_dof, (p)->num_blocks > 0 ? (p)->dof_block_start[(p)->nv] : 0)                                              \
    X(dof_block_start, (p)->nv + 1)                                                                                    \
    X(dof_block, (p)->num_blocks > 0 ? (p)->dof_block_start[(p)->nv] : 0)                                              \
    X(tendon_term, (p)->num_tendon_terms)

/* Arrays of the pairs of shapes. */
#define SAP_PLAN_PAIR_ARRAYS(X, p)                                                                                     \
    X(pair, (p)->num_pairs)                                                                                            \
    X(allowed, sap_plan_allowed_words(p))                                                                              \
    X(statics.placed, (p)->statics.num_placed)                                                                         \
    X(statics.seeker, (p)->statics.num_seekers)                                                                        \
    X(statics.seekers_before, (p)->ns + 1)

/* The others, which all parts of a model share. */
#define SAP_PLAN_MODEL_ARRAYS(X, p)                                                                                    \
    X(shape_type, (p)->ns)                                                                                             \
    X(shape_mesh, (p)->ns)                                                                                             \
    X(hull, (p)->num_hulls)                                                                                            \
    X(height_field, (p)->num_height_fields)                                                                            \
    X(tendon_start, (p)->num_tendons + 1)                                                                              \
    X(tendon_driven, (p)->num_tendons)                                                                                 \
    X(statics.node, (p)->statics.num_nodes)                                                                            \
    X(statics.member, (p)->row_words)
/* ... whose lengths a plan does not say: of all hulls together. */
#define SAP_PLAN_HULL_ARRAYS(X)                                                                                        \
    X(hull_face, ) X(hull_corner, ) X(hull_edge, ) X(hull_source, ) X(direction_cell, ) X(direction_point, )

/* Arrays of a pattern with nv rows. */
#define SAP_PATTERN_ARRAYS(X, p, nv)                                                                                   \
    X(row, nv)                                                                                                         \
    X(ancestor, (p)->nnz)                                                                                              \
    X(descendant, (nv) > 0 ? (p)->row[(nv)-1].desc_start + (p)->row[(nv)-1].num_desc : 0)                              \
    X(depth_start, (p)->num_depths + 1)                                                                                \
    X(depth_dof, nv)

/* Words of plan.allowed. */
static inline size_t sap_plan_allowed_words(const SapPlan *p) {
    size_t rows = p->broad_phase == SAP_BROAD_PHASE_SWEEP  ? (size_t)p->ns
                  : p->broad_phase == SAP_BROAD_PHASE_TREE ? (size_t)p->statics.num_seekers
                                                           : 0;
    return rows * (size_t)p->row_words;
}

#endif
