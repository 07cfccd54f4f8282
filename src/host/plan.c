/* Levels of links, the sparse rows of A and its factor, and the layout of scratch. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "host_memory.h"

/* How large the arrays of a plan are. */
typedef struct Sizes {
    int nnz;         /* entries of A's lower triangle on the tree's pattern */
    int descendants; /* pairs of a dof and a dof below it */
    int levels, depths;
} Sizes;

/* Working arrays of the planner, one entry per joint or dof. */
typedef struct Work {
    int *link_of_body; /* [nb] */
    int *level;        /* [nl] */
    int *parent_dof;   /* [nv] the dof just above on the path to the root, or -1 */
    int *depth;        /* [nv] */
    int *below;        /* [nv] number of dofs below */
} Work;

static void find_levels(const SapModelArrays *m, Work *w, Sizes *sizes) {
    for (int j = 0; j < m->num_joints; j++)
        w->link_of_body[m->joint_child[j]] = j;
    for (int j = 0; j < m->num_joints; j++) {
        int parent = m->joint_parent[j];
        w->level[j] = parent < 0 ? 0 : w->level[w->link_of_body[parent]] + 1;
        if (w->level[j] + 1 > sizes->levels)
            sizes->levels = w->level[j] + 1;
    }
}

/* The last dof on the path from the world to body `parent`, or -1: fixed joints are skipped. */
static int last_dof_above(const SapModelArrays *m, const Work *w, int parent) {
    while (parent >= 0) {
        int j = w->link_of_body[parent];
        if (m->joint_qd_start[j + 1] > m->joint_qd_start[j])
            return m->joint_qd_start[j + 1] - 1;
        parent = m->joint_parent[j];
    }
    return -1;
}

/* The dofs of a joint form a chain below the joint's parent. */
static void find_depths(const SapModelArrays *m, Work *w, Sizes *sizes) {
    for (int j = 0; j < m->num_joints; j++) {
        int above = last_dof_above(m, w, m->joint_parent[j]);
        for (int i = m->joint_qd_start[j]; i < m->joint_qd_start[j + 1]; i++) {
            w->parent_dof[i] = above;
            w->depth[i] = above < 0 ? 0 : w->depth[above] + 1;
            if (w->depth[i] + 1 > sizes->depths)
                sizes->depths = w->depth[i] + 1;
            above = i;
        }
    }
    for (int i = 0; i < m->num_dofs; i++) {
        sizes->nnz += w->depth[i] + 1;
        sizes->descendants += w->depth[i];
        for (int k = w->parent_dof[i]; k >= 0; k = w->parent_dof[k])
            w->below[k]++;
    }
}

static int is_identity_rotation(const double *pose) {
    return pose[3] == 0 && pose[4] == 0 && pose[5] == 0 && pose[6] == 1;
}

static int is_identity(const double *pose) {
    return pose[0] == 0 && pose[1] == 0 && pose[2] == 0 && is_identity_rotation(pose);
}

static void fill_links(const SapModelArrays *m, const Work *w, SapLink *link, int *child) {
    for (int j = 0; j < m->num_joints; j++) {
        int parent = m->joint_parent[j] < 0 ? -1 : w->link_of_body[m->joint_parent[j]];
        link[j] = (SapLink){.type = m->joint_type[j],
                            .parent = parent,
                            .root = parent < 0 ? j : link[parent].root,
                            .body = m->joint_child[j],
                            .q = m->joint_q_start[j],
                            .v = m->joint_qd_start[j],
                            .nlin = m->joint_dof_dim[2 * j],
                            .nang = m->joint_dof_dim[2 * j + 1],
                            .plain_X_p = is_identity_rotation(m->joint_X_p + 7 * j),
                            .plain_X_c = is_identity(m->joint_X_c + 7 * j)};
        if (parent >= 0)
            link[parent].num_children++;
    }
    for (int j = 0, next = 0; j < m->num_joints; j++) {
        link[j].first_child = next;
        next += link[j].num_children;
        link[j].num_children = 0;
    }
    for (int j = 0; j < m->num_joints; j++) {
        SapLink *parent = link[j].parent < 0 ? NULL : &link[link[j].parent];
        if (parent)
            child[parent->first_child + parent->num_children++] = j;
    }
}

/* Lists the indices 0 .. n-1 by key, increasing within a key: order[start[k] .. start[k+1]) have key k. */
static void sort_by_key(int n, const int *key, int num_keys, int *start, int *order) {
    memset(start, 0, sizeof *start * (size_t)(num_keys + 1));
    for (int i = 0; i < n; i++)
        start[key[i] + 1]++;
    for (int k = 0; k < num_keys; k++)
        start[k + 1] += start[k];
    for (int i = 0; i < n; i++)
        order[start[key[i]]++] = i;
    for (int k = num_keys; k > 0; k--)
        start[k] = start[k - 1];
    start[0] = 0;
}

static void fill_rows(const SapModelArrays *m, const Work *w, SapRow *row, int *ancestor) {
    int start = 0, desc_start = 0;
    for (int i = 0; i < m->num_dofs; i++) {
        row[i] = (SapRow){.start = start, .depth = w->depth[i], .desc_start = desc_start};
        for (int k = i; k >= 0; k = w->parent_dof[k])
            ancestor[start + w->depth[k]] = k;
        start += w->depth[i] + 1;
        desc_start += w->below[i];
    }
    for (int j = 0; j < m->num_joints; j++)
        for (int i = m->joint_qd_start[j]; i < m->joint_qd_start[j + 1]; i++)
            row[i].link = j;
}

/* Dofs are visited in increasing order, so each list of descendants is increasing. */
static void fill_descendants(int nv, const Work *w, SapRow *row, SapDescendant *descendant) {
    for (int k = 0; k < nv; k++)
        for (int i = w->parent_dof[k]; i >= 0; i = w->parent_dof[i])
            descendant[row[i].desc_start + row[i].num_desc++] = (SapDescendant){.dof = k, .start = row[k].start};
}

static void fill_entries(const SapPlan *plan, int *entry_start, SapEntry *entry) {
    int next = 0;
    for (int depth = 0; depth < plan->num_depths; depth++) {
        entry_start[depth] = next;
        for (int j = plan->depth_start[depth]; j < plan->depth_start[depth + 1]; j++)
            for (int t = 0; t <= depth; t++)
                entry[next++] = (SapEntry){.row = plan->depth_dof[j], .column = t};
    }
    entry_start[plan->num_depths] = next;
}

/* A free joint's dofs are linear first for the public, angular first inside. */
static void fill_dof_public(const SapModelArrays *m, int *dof_public) {
    for (int j = 0; j < m->num_joints; j++)
        for (int v = m->joint_qd_start[j], i = v; i < m->joint_qd_start[j + 1]; i++)
            dof_public[i] = m->joint_type[j] == SAP_JOINT_FREE ? v + (i - v + 3) % 6 : i;
}

static SapLayout make_layout(const SapPlan *p) {
    SapLayout at;
    int next = 0;
#define PART(part, count) (at.part = next, next += (count))
    PART(q, p->nq);
    PART(v0, p->nv);
    PART(f, p->nv);
    PART(state_check, p->nl);
    PART(control_check, p->nl);
    PART(X, 7 * p->nl);
    PART(V, 6 * p->nl);
    PART(a, 6 * p->nl);
    PART(I, 10 * p->nl);
    PART(F, 6 * p->nl);
    PART(S, 6 * p->nv);
    PART(A, p->nnz);
    PART(L, p->nnz);
    PART(inverse, p->nv);
    PART(v, p->nv);
    PART(q1, p->nq);
#undef PART
    at.size = next;
    return at;
}

static SapStatus fill_plan(const SapModelArrays *m, Work *w, SapPlanOwner *out) {
    Sizes sizes = {0};
    find_levels(m, w, &sizes);
    find_depths(m, w, &sizes);

    int nl = m->num_joints, nv = m->num_dofs;
    SapArena arena = {0};
    SapLink *link = NULL;
    SapRow *row = NULL;
    SapDescendant *descendant = NULL;
    SapEntry *entry = NULL;
    int *child = NULL, *level_start = NULL, *level_link = NULL, *ancestor = NULL, *depth_start = NULL,
        *depth_dof = NULL;
    int *entry_start = NULL, *dof_public = NULL;
    for (int pass = 0; pass < 2; pass++) { /* first to measure, then to carve */
        SAP_CARVE(&arena, link, nl);
        SAP_CARVE(&arena, child, nl);
        SAP_CARVE(&arena, level_start, sizes.levels + 1);
        SAP_CARVE(&arena, level_link, nl);
        SAP_CARVE(&arena, row, nv);
        SAP_CARVE(&arena, ancestor, sizes.nnz);
        SAP_CARVE(&arena, descendant, sizes.descendants);
        SAP_CARVE(&arena, depth_start, sizes.depths + 1);
        SAP_CARVE(&arena, depth_dof, nv);
        SAP_CARVE(&arena, entry_start, sizes.depths + 1);
        SAP_CARVE(&arena, entry, sizes.nnz);
        SAP_CARVE(&arena, dof_public, nv);
        if (pass == 0)
            SAP_TRY(sap_arena_allocate(&arena, "plan"));
    }
    out->memory = arena.base;
    out->bytes = arena.used;

    fill_links(m, w, link, child);
    sort_by_key(nl, w->level, sizes.levels, level_start, level_link);
    fill_rows(m, w, row, ancestor);
    fill_descendants(nv, w, row, descendant);
    sort_by_key(nv, w->depth, sizes.depths, depth_start, depth_dof);
    fill_dof_public(m, dof_public);

    out->plan = (SapPlan){.nl = nl,
                          .nb = m->num_bodies,
                          .nq = m->num_coords,
                          .nv = nv,
                          .nnz = sizes.nnz,
                          .num_levels = sizes.levels,
                          .num_depths = sizes.depths,
                          .link = link,
                          .child = child,
                          .level_start = level_start,
                          .level_link = level_link,
                          .row = row,
                          .ancestor = ancestor,
                          .descendant = descendant,
                          .depth_start = depth_start,
                          .depth_dof = depth_dof,
                          .entry_start = entry_start,
                          .entry = entry,
                          .dof_public = dof_public};
    fill_entries(&out->plan, entry_start, entry);
    out->plan.layout = make_layout(&out->plan);
    return SAP_OK;
}

SapStatus sap_plan_create(const SapModelArrays *m, SapPlanOwner *out) {
    *out = (SapPlanOwner){0};
    SapArena arena = {0};
    Work w = {0};
    for (int pass = 0; pass < 2; pass++) {
        SAP_CARVE(&arena, w.link_of_body, m->num_bodies);
        SAP_CARVE(&arena, w.level, m->num_joints);
        SAP_CARVE(&arena, w.parent_dof, m->num_dofs);
        SAP_CARVE(&arena, w.depth, m->num_dofs);
        SAP_CARVE(&arena, w.below, m->num_dofs);
        if (pass == 0)
            SAP_TRY(sap_arena_allocate(&arena, "plan"));
    }
    SapStatus status = fill_plan(m, &w, out);
    free(arena.base);
    return status;
}

void sap_plan_free(SapPlanOwner *plan) {
    free(plan->memory);
    *plan = (SapPlanOwner){0};
}
