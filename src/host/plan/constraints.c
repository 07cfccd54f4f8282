/* Constraints and tendons in the plan: blocks of rows, their columns, and the elimination tree that they close. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/model/constraint_types.h"
#include "host/plan/formulation.h"
#include "host/plan/plan.h"
#include "kernels/data/layouts.h"

/* The arrays under construction, and scratch. */
typedef struct Fill {
    SapModelConstraint *block;
    int *block_dof, *dof_block_start;
    SapBlockColumn *dof_block;
    int *tendon_start, *tendon_driven;
    SapTendonTerm *tendon_term;
} Fill;

typedef struct Work {
    const SapModel *model;
    const SapModelArrays *m;
    const SapPlan *plan;
    const SapFormulation *formulation;
    unsigned char *mark; /* [nv] paths of the bodies that a block joins */
    int *dof_of;         /* [nv] internal dof of each public dof */
} Work;

/* ---- columns ---- */

static int link_of(const Work *w, int body) {
    return body < 0 ? -1 : w->plan->body_link[body];
}

/* Toggles bit `bit` of the dofs on the path of a link. */
static void mark_path(const Work *w, int link, int bit) {
    const SapPattern *tree = &w->plan->tree;
    int last = link < 0 ? -1 : w->plan->link[link].last_dof;
    for (int t = 0; last >= 0 && t <= tree->row[last].depth; t++)
        w->mark[tree->ancestor[tree->row[last].start + t]] ^= (unsigned char)bit;
}

/* Sets bit 4 of the dofs on the path of exactly one of two links, and clears bits 1 and 2. */
static void mark_difference(const Work *w, int link_a, int link_b) {
    mark_path(w, link_a, 1);
    mark_path(w, link_b, 2);
    for (int i = 0; i < w->plan->nv; i++)
        w->mark[i] = (unsigned char)((w->mark[i] & 4) | ((w->mark[i] & 3) == 1 || (w->mark[i] & 3) == 2 ? 4 : 0));
}

/* A dof on the paths of both points of a segment does not change its length. */
static void mark_tendon(const Work *w, const SapTendonTerm *term, int n) {
    for (int k = 0; k < n; k++) {
        if (term[k].type == SAP_TENDON_JOINT)
            w->mark[term[k].dof] |= 4;
        if (term[k].type == SAP_TENDON_POINT && k > 0 && term[k - 1].type == SAP_TENDON_POINT)
            mark_difference(w, term[k - 1].link, term[k].link);
    }
}

static void mark_coordinate(const Work *w, const Fill *f, int x) {
    if (x >= w->plan->nv) {
        int t = x - w->plan->nv;
        mark_tendon(w, f->tendon_term + f->tendon_start[t], f->tendon_start[t + 1] - f->tendon_start[t]);
    } else if (x >= 0) {
        w->mark[x] |= 4;
    }
}

/* Marks the dofs of a block with bit 4. A ball uses its two points as they are, so dofs on both paths move them
 * against each other, and are columns too. */
static void mark_block(const Work *w, const Fill *f, const SapModelConstraint *b) {
    memset(w->mark, 0, (size_t)w->plan->nv);
    switch (b->kind) {
    case SAP_BLOCK_BALL:
        mark_difference(w, b->link[0], -1);
        mark_difference(w, -1, b->link[1]);
        break;
    case SAP_BLOCK_WELD:
        if (w->formulation->point_welds) {
            mark_difference(w, b->link[0], -1);
            mark_difference(w, -1, b->link[1]);
            break;
        }
        mark_difference(w, b->link[0], b->link[1]);
        break;
    case SAP_BLOCK_DISTANCE: mark_difference(w, b->link[0], b->link[1]); break;
    case SAP_BLOCK_COUPLER:
        mark_coordinate(w, f, b->coordinate[0]);
        mark_coordinate(w, f, b->coordinate[1]);
        break;
    case SAP_BLOCK_DOF: w->mark[b->coordinate[0]] = 4; break;
    case SAP_BLOCK_BALL_LIMIT:
    case SAP_BLOCK_BALL_AXIS: memset(w->mark + b->coordinate[0], 4, 3); break;
    default: mark_coordinate(w, f, w->plan->nv + b->index);
    }
}

/* Lists the columns of every block, unless f->block_dof is NULL; returns their number. */
static long long list_columns(const Work *w, const Fill *f, int num_blocks) {
    long long next = 0;
    for (int k = 0; k < num_blocks; k++) {
        SapModelConstraint *b = &f->block[k];
        mark_block(w, f, b);
        b->columns = (int)next;
        for (int i = 0; i < w->plan->nv; i++)
            if (w->mark[i]) {
                if (f->block_dof)
                    f->block_dof[next] = i;
                next++;
            }
        b->num_columns = (int)(next - b->columns);
    }
    return next;
}

/* ---- blocks ---- */

static int internal_coordinate(const Work *w, int x) {
    return x >= 0 && x < w->plan->nv ? w->dof_of[x] : x;
}

static void fill_tendons(const Work *w, const Fill *f) {
    const SapModelArrays *m = w->m;
    for (int t = 0; t <= m->num_tendons; t++)
        f->tendon_start[t] = m->tendon_start[t];
    for (int t = 0; t < m->num_tendons; t++)
        f->tendon_driven[t] = m->tendon_target_mode[t] != SAP_TARGET_NONE;
    for (int k = 0; k < m->num_tendon_terms; k++) {
        int type = m->tendon_term_type[k], index = m->tendon_term_index[k];
        int dof = type == SAP_TENDON_JOINT ? w->dof_of[index] : -1;
        f->tendon_term[k] = (SapTendonTerm){.type = type,
                                            .dof = dof,
                                            .coord = dof < 0 ? -1 : w->plan->dof_coord[dof],
                                            .link = type == SAP_TENDON_POINT ? link_of(w, index) : -1};
    }
}

static SapModelConstraint constraint_block(const Work *w, int c) {
    const SapModelArrays *m = w->m;
    return (SapModelConstraint){
        .kind = m->constraint_type[c],
        .index = c,
        .rows = sap_constraint_type(m->constraint_type[c])->rows,
        .laws = 1,
        .link = {link_of(w, m->constraint_body[2 * c]), link_of(w, m->constraint_body[2 * c + 1])},
        .coordinate = {internal_coordinate(w, m->constraint_coordinate[2 * c]),
                       internal_coordinate(w, m->constraint_coordinate[2 * c + 1])},
        .side = m->constraint_side[c]};
}

static SapModelConstraint tendon_block(int t, int laws) {
    return (SapModelConstraint){
        .kind = SAP_BLOCK_TENDON, .index = t, .rows = 1, .laws = laws, .link = {-1, -1}, .coordinate = {-1, -1}};
}

/* Fills the blocks of dofs, unless out is NULL; returns their number. */
static int num_dof_blocks(const Work *w, SapModelConstraint *out) {
    return w->formulation->dof_blocks ? w->formulation->dof_blocks(w->model, w->plan, w->dof_of, out) : 0;
}

static void fill_blocks(const Work *w, const Fill *f) {
    for (int c = 0, row = 0; c < w->m->num_constraints; c++) {
        f->block[c] = constraint_block(w, c);
        f->block[c].first_row = row;
        row += f->block[c].rows;
    }
    SapModelConstraint *next = f->block + w->m->num_constraints;
    next += num_dof_blocks(w, next);
    for (int t = 0; t < w->m->num_tendons; t++)
        next[t] = tendon_block(t, w->formulation->tendon_laws);
}

/* Offsets of the scratch of every block; returns its size. */
static long long layout_blocks(const Fill *f, int num_blocks, int row_weights) {
    long long next = 0;
    for (int k = 0; k < num_blocks; k++) {
        SapModelConstraint *b = &f->block[k];
#define PART(part, count) (b->part = (int)next, next += (count))
        PART(g, b->rows);
        PART(w, b->rows * row_weights);
        PART(vc, b->rows);
        PART(gamma, b->rows);
        PART(G, b->rows);
        PART(Jd, b->rows);
        PART(cost, 1);
        PART(line, 3);
        PART(acts, 1);
        PART(check, 1);
        PART(control_check, 1);
        PART(law, b->rows * b->laws * SAP_ROW_LAW_SIZE);
        PART(J, (long long)b->rows * b->num_columns);
#undef PART
    }
    return next;
}

/* The blocks that move each dof. */
static void fill_dof_blocks(const Work *w, const Fill *f, int num_blocks) {
    int nv = w->plan->nv;
    memset(f->dof_block_start, 0, ((size_t)nv + 1) * sizeof *f->dof_block_start);
    for (int k = 0; k < num_blocks; k++)
        for (int j = 0; j < f->block[k].num_columns; j++)
            f->dof_block_start[f->block_dof[f->block[k].columns + j] + 1]++;
    for (int i = 0; i < nv; i++)
        f->dof_block_start[i + 1] += f->dof_block_start[i];
    for (int k = 0; k < num_blocks; k++)
        for (int j = 0; j < f->block[k].num_columns; j++)
            f->dof_block[f->dof_block_start[f->block_dof[f->block[k].columns + j]]++] = (SapBlockColumn){k, j};
    for (int i = nv; i > 0; i--) /* each start has moved to the next one */
        f->dof_block_start[i] = f->dof_block_start[i - 1];
    f->dof_block_start[0] = 0;
}

/* ---- all of it ---- */

static SapStatus carve_blocks(const Work *w, int num_blocks, Fill *f, SapPlanOwner *out) {
    SapArena arena = {0};
    SAP_TRY(
        SAP_CARVE_ALL(&arena, "plan", SAP_PART(f->block, num_blocks), SAP_PART(f->tendon_start, w->m->num_tendons + 1),
                      SAP_PART(f->tendon_driven, w->m->num_tendons), SAP_PART(f->tendon_term, w->m->num_tendon_terms)));
    sap_plan_own(out, SAP_PLAN_CONSTRAINTS, arena.base, arena.used);
    return SAP_OK;
}

static SapStatus carve_columns(const Work *w, long long columns, Fill *f, SapPlanOwner *out) {
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "plan", SAP_PART(f->block_dof, columns),
                          SAP_PART(f->dof_block_start, w->plan->nv + 1), SAP_PART(f->dof_block, columns)));
    sap_plan_own(out, SAP_PLAN_COLUMNS, arena.base, arena.used);
    return SAP_OK;
}

static SapStatus add_blocks(const Work *w, SapPlanOwner *out) {
    enum { MOST = 1 << 29 };
    SapPlan *plan = &out->plan;
    Fill f = {0};
    plan->num_blocks = w->m->num_constraints + w->m->num_tendons + num_dof_blocks(w, NULL);
    if (plan->num_blocks == 0)
        return SAP_OK;
    /* Blocks, then the columns that each has. */
    SAP_TRY(carve_blocks(w, plan->num_blocks, &f, out));
    fill_tendons(w, &f);
    fill_blocks(w, &f);
    SAP_TRY(carve_columns(w, list_columns(w, &f, plan->num_blocks), &f, out));
    list_columns(w, &f, plan->num_blocks);
    fill_dof_blocks(w, &f, plan->num_blocks);
    long long size = layout_blocks(&f, plan->num_blocks, w->formulation->row_weights);
    if (size > MOST)
        return sap_fail(SAP_ERROR_MEMORY,
                        "constraints and tendons of %d dofs need %lld numbers; at most %d are possible", plan->nv, size,
                        MOST);
    /* The plan points to these arrays. */
    plan->block_size = (int)size;
    for (int c = 0; c < w->m->num_constraints; c++)
        plan->num_rows += f.block[c].rows;
    plan->block = f.block;
    plan->block_dof = f.block_dof;
    plan->dof_block_start = f.dof_block_start;
    plan->dof_block = f.dof_block;
    plan->tendon_start = f.tendon_start;
    plan->tendon_term = f.tendon_term;
    plan->tendon_driven = f.tendon_driven;
    return SAP_OK;
}

SapStatus sap_plan_add_constraints(const SapModel *model, SapPlanOwner *out) {
    const SapModelArrays *m = sap_model_arrays(model);
    SapPlan *plan = &out->plan;
    plan->num_constraints = m->num_constraints;
    plan->num_tendons = m->num_tendons;
    plan->num_tendon_terms = m->num_tendon_terms;
    Work w = {.model = model, .m = m, .plan = plan, .formulation = sap_formulation(plan->formulation)};
    if (m->num_constraints + m->num_tendons == 0 && !w.formulation->dof_blocks)
        return SAP_OK;
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "plan", SAP_PART(w.mark, plan->nv), SAP_PART(w.dof_of, plan->nv)));
    for (int i = 0; i < plan->nv; i++)
        w.dof_of[plan->dof_public[i]] = i;
    SapStatus status = add_blocks(&w, out);
    free(arena.base);
    return status;
}

/* ---- the elimination tree ---- */

/* Enters the edge between dofs i < k while dof i is processed: walks from k up to its last known ancestor and sets i
 * above that; `anc` shortens later walks. */
static void add_edge(int i, int k, int *closed, int *anc) {
    while (anc[k] != -1 && anc[k] != i) {
        int next = anc[k];
        anc[k] = i;
        k = next;
    }
    if (anc[k] == -1)
        anc[k] = closed[k] = i;
}

void sap_elimination_tree(const SapPlan *plan, const int *parent_dof, int *closed, int *anc) {
    for (int i = 0; i < plan->nv; i++)
        closed[i] = anc[i] = -1;
    for (int i = plan->nv - 1; i >= 0; i--) {
        /* edges of the tree: from i to its children */
        const SapPatternRow *row = &plan->tree.row[i];
        for (int k = row->desc_start; k < row->desc_start + row->num_desc; k++)
            if (parent_dof[plan->tree.descendant[k].dof] == i)
                add_edge(i, plan->tree.descendant[k].dof, closed, anc);
        /* neighbours in the list of a block: all its dofs then lie on one path */
        for (int at = plan->dof_block_start[i]; at < plan->dof_block_start[i + 1]; at++) {
            const SapModelConstraint *b = &plan->block[plan->dof_block[at].block];
            int next = plan->dof_block[at].column + 1;
            if (next < b->num_columns)
                add_edge(i, plan->block_dof[b->columns + next], closed, anc);
        }
    }
}
