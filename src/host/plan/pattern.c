/* The sparsity pattern of a matrix on a tree of dofs, and its elimination order. */
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/plan/plan.h"
#include "host/base/sort_by_key.h"

/* Arrays of the pattern under construction. */
typedef struct Fill {
    SapPatternRow *row;
    int *ancestor;
    SapDescendant *descendant;
    int *depth_start, *depth_dof;
    int *depth; /* [nv] */
} Fill;

/* Computes the depth of each dof; returns the number of depths, and the sum of all depths in *sum. */
static int find_depths(int nv, const int *parent_dof, int *depth, long long *sum) {
    int depths = 0;
    *sum = 0;
    for (int i = 0; i < nv; i++) {
        depth[i] = parent_dof[i] < 0 ? 0 : depth[parent_dof[i]] + 1;
        depths = depth[i] + 1 > depths ? depth[i] + 1 : depths;
        *sum += depth[i];
    }
    return depths;
}

static void fill_rows(int nv, const int *parent_dof, const Fill *f) {
    for (int i = 0, start = 0; i < nv; i++) {
        f->row[i] = (SapPatternRow){.start = start, .depth = f->depth[i]};
        for (int k = i; k >= 0; k = parent_dof[k])
            f->ancestor[start + f->depth[k]] = k;
        start += f->depth[i] + 1;
    }
}

/* The path of each dof, then its descendants. Dofs are visited in increasing order, so each list is increasing. */
static void fill_descendants(int nv, const int *parent_dof, const Fill *f) {
    for (int k = 0; k < nv; k++)
        for (int i = parent_dof[k]; i >= 0; i = parent_dof[i])
            f->row[i].num_desc++;
    for (int i = 0, next = 0; i < nv; i++) {
        SapPatternRow *row = &f->row[i];
        for (int t = 0; t <= row->depth; t++, next++)
            f->descendant[next] = (SapDescendant){.dof = f->ancestor[row->start + t], .at = row->start + t};
        row->desc_start = next;
        next += row->num_desc;
        row->num_desc = 0;
    }
    for (int k = 0; k < nv; k++)
        for (int i = parent_dof[k]; i >= 0; i = parent_dof[i]) {
            SapPatternRow *row = &f->row[i];
            f->descendant[row->desc_start + row->num_desc++] =
                (SapDescendant){.dof = k, .at = f->row[k].start + row->depth};
        }
}

static SapStatus fill_pattern(int nv, const int *parent_dof, int *depth, SapPattern *out, void **memory,
                              size_t *bytes) {
    /* Size of the pattern. */
    long long sum;
    int depths = find_depths(nv, parent_dof, depth, &sum);
    long long nnz = sum + nv;
    if (nnz > 1 << 29)
        return sap_fail(SAP_ERROR_MEMORY, "a matrix of %d dofs has %lld entries; at most %d are possible", nv, nnz,
                        1 << 29);
    /* Allocate: measure, then carve. */
    Fill f = {.depth = depth};
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "pattern", SAP_PART(f.row, nv), SAP_PART(f.ancestor, nnz),
                          SAP_PART(f.descendant, sum + nnz), SAP_PART(f.depth_start, depths + 1),
                          SAP_PART(f.depth_dof, nv)));
    /* Fill. */
    fill_rows(nv, parent_dof, &f);
    fill_descendants(nv, parent_dof, &f);
    sap_sort_by_key(nv, depth, depths, f.depth_start, f.depth_dof);
    *out = (SapPattern){.nnz = (int)nnz,
                        .num_depths = depths,
                        .row = f.row,
                        .ancestor = f.ancestor,
                        .descendant = f.descendant,
                        .depth_start = f.depth_start,
                        .depth_dof = f.depth_dof};
    *memory = arena.base;
    *bytes = arena.used;
    return SAP_OK;
}

SapStatus sap_pattern_create(int nv, const int *parent_dof, SapPattern *out, void **memory, size_t *bytes) {
    int *depth = sap_allocate((size_t)nv, sizeof *depth, "pattern");
    if (!depth)
        return SAP_ERROR_MEMORY;
    SapStatus status = fill_pattern(nv, parent_dof, depth, out, memory, bytes);
    free(depth);
    return status;
}
