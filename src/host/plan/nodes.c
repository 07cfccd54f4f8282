/* The nodes of a plan: branches of the tree, and which of them the model itself couples. A branch is a run of dofs of
 * which each is the only child of the one before. Small branches of one tree that follow each other share a node: its
 * triangle has a few zeros, and the factor computes more entries of a row together. A small world is one node, so that
 * it has a dense matrix: the bookkeeping of tiles would cost more than they save. */
#include <stdbool.h>
#include <stdlib.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/plan/plan.h"

enum { WORD_BITS = 32, SMALL_NODE = 8, SMALL_WORLD = 16 };

/* The arrays under construction. */
typedef struct Fill {
    int *start, *of_dof;
    unsigned *couples;
} Fill;

/* The end of the branch that begins with dof i. */
static int branch_end(int nv, const int *parent_dof, const int *children, int i) {
    for (i++; i < nv && parent_dof[i] == i - 1 && children[i - 1] == 1; i++)
        ;
    return i;
}

/* The end of the node that begins with dof i. Further branches of a tree have a parent. */
static int node_end(int nv, const int *parent_dof, const int *children, int i) {
    int first = i, end = branch_end(nv, parent_dof, children, i);
    if (nv <= SMALL_WORLD)
        return nv;
    while (end < nv && parent_dof[end] >= 0) {
        int next = branch_end(nv, parent_dof, children, end);
        if (next - first > SMALL_NODE)
            break;
        end = next;
    }
    return end;
}

/* Returns the number of nodes; writes them if `f` is not NULL. */
static int find_nodes(int nv, const int *parent_dof, const int *children, const Fill *f) {
    int count = 0;
    for (int i = 0, end; i < nv; i = end, count++) {
        end = node_end(nv, parent_dof, children, i);
        for (int k = i; f && k < end; k++)
            f->of_dof[k] = count;
        if (f)
            f->start[count] = i;
    }
    if (f)
        f->start[count] = nv;
    return count;
}

static void couple(const Fill *f, int words, int K, int J) {
    if (J < K)
        f->couples[(size_t)K * (size_t)words + (size_t)J / WORD_BITS] |= 1u << (unsigned)(J % WORD_BITS);
}

/* A node couples with the nodes on the paths of its dofs, and the largest node of a block with its other nodes. */
static void couple_nodes(const SapPlan *plan, const int *parent_dof, int words, const Fill *f) {
    for (int k = 0; k < plan->nv; k++)
        for (int i = parent_dof[k]; i >= 0; i = parent_dof[i])
            couple(f, words, f->of_dof[k], f->of_dof[i]);
    for (int b = 0; b < plan->num_blocks; b++) {
        const int *dof = plan->block_dof + plan->block[b].columns;
        int n = plan->block[b].num_columns;
        for (int j = 0; j < n; j++)
            couple(f, words, f->of_dof[dof[n - 1]], f->of_dof[dof[j]]);
    }
}

static SapStatus fill_nodes(const int *parent_dof, int *children, SapPlanOwner *out) {
    int nv = out->plan.nv;
    for (int i = 0; i < nv; i++)
        if (parent_dof[i] >= 0)
            children[parent_dof[i]]++;
    int count = find_nodes(nv, parent_dof, children, NULL), words = (count + WORD_BITS - 1) / WORD_BITS;
    Fill f;
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "plan", SAP_PART(f.start, count + 1), SAP_PART(f.of_dof, nv),
                          SAP_PART(f.couples, (long long)count * words)));
    sap_plan_own(out, SAP_PLAN_NODES, arena.base, arena.used);
    find_nodes(nv, parent_dof, children, &f);
    couple_nodes(&out->plan, parent_dof, words, &f);
    out->plan.nodes =
        (SapNodes){.count = count, .words = words, .start = f.start, .of_dof = f.of_dof, .couples = f.couples};
    return SAP_OK;
}

SapStatus sap_plan_add_nodes(const int *parent_dof, SapPlanOwner *out) {
    int *children = sap_allocate((size_t)out->plan.nv, sizeof *children, "plan");
    if (!children)
        return SAP_ERROR_MEMORY;
    SapStatus status = fill_nodes(parent_dof, children, out);
    free(children);
    return status;
}
