/* The plan of a model: its topology in the form the kernels need, computed once on the host. */
#ifndef SAPWOOD_HOST_PLAN_PLAN_H
#define SAPWOOD_HOST_PLAN_PLAN_H

#include <stddef.h>

#include <sapwood/model.h>
#include <sapwood/options.h>

#include "kernels/data/constants.h"
#include "kernels/data/plan.h"

/* The memory blocks of a plan. */
enum {
    SAP_PLAN_LINKS,
    SAP_PLAN_TREE,
    SAP_PLAN_CLOSED,
    SAP_PLAN_NODES,
    SAP_PLAN_SHAPES,
    SAP_PLAN_DIRECTIONS,
    SAP_PLAN_PAIRS,
    SAP_PLAN_STATIC,
    SAP_PLAN_CONSTRAINTS,
    SAP_PLAN_COLUMNS,
    SAP_PLAN_NUM_BLOCKS
};

typedef struct SapPlanOwner {
    SapPlan plan; /* its arrays point into the blocks below */
    void *memory[SAP_PLAN_NUM_BLOCKS];
    size_t block_bytes[SAP_PLAN_NUM_BLOCKS];
    size_t bytes; /* total size of the blocks */
} SapPlanOwner;

/* Fills *out for a formulation (formulation.h), 0 for SAP; free with sap_plan_free, which accepts a zeroed plan.
 * SAP_ERROR_MODEL if the formulation does not have the model. */
SapStatus sap_plan_create(const SapModel *model, int formulation, SapPlanOwner *out);
void sap_plan_free(SapPlanOwner *plan);

/* Transfers ownership of a memory block to the plan; the previous one is freed. */
void sap_plan_own(SapPlanOwner *plan, int block, void *memory, size_t bytes);

/* The broad phase that a model uses; resolves AUTO. */
SapStatus sap_plan_broad_phase(const SapModelArrays *model, SapBroadPhase option, SapBroadPhase *out);

/* Changes the broad phase; sap_plan_create chooses as AUTO does. */
SapStatus sap_plan_set_broad_phase(const SapModelArrays *model, SapBroadPhase broad_phase, SapPlanOwner *plan);

/* The part of sap_plan_create for shapes: types, hulls, height fields and pairs. */
SapStatus sap_plan_add_shapes(const SapModel *model, SapPlanOwner *out);

/* The part of sap_plan_create for constraints and tendons: blocks of rows, and the dofs that each moves. */
SapStatus sap_plan_add_constraints(const SapModel *model, SapPlanOwner *out);

/* The part of sap_plan_create for nodes, the branches of the tree parent_dof; after the constraints. */
SapStatus sap_plan_add_nodes(const int *parent_dof, SapPlanOwner *out);

/* The elimination tree of the matrix whose entries are those on the tree parent_dof and, for each block, all pairs of
 * its dofs: closed[i] is the next dof on the path of i in that tree, or -1. Elimination from the last dof to the first
 * fills entries on these paths only. work has nv elements. */
void sap_elimination_tree(const SapPlan *plan, const int *parent_dof, int *closed, int *work);

/* The pattern of a symmetric matrix in which dof i couples with the dofs on its path parent_dof[i],
 * parent_dof[parent_dof[i]], ...; parent_dof[i] < i, -1 = none. Its arrays are in one block *memory of *bytes; free it
 * with free(). */
SapStatus sap_pattern_create(int nv, const int *parent_dof, SapPattern *out, void **memory, size_t *bytes);

/* The model constants as the kernels read them (kernels/data/constants.h), in f32 or f64, one row for all worlds. */
typedef struct SapConstantsOwner {
    SapConstants constants;
    void *memory;
    size_t bytes;
} SapConstantsOwner;

SapStatus sap_constants_create(const SapModelArrays *model, const SapPlan *plan, int f64, SapConstantsOwner *out);
void sap_constants_free(SapConstantsOwner *constants);

#endif
