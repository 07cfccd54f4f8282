#include "host/plan/subtree.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/plan/arrays.h"
#include "host/plan/layout.h"

enum { WORD_BITS = 32 };

/* The arrays of a plan are const; these are the part's own. */
#define OWN(type, pointer) ((type *)(uintptr_t)(pointer))

/* ---- memory ---- */

#define CARVE(member, count) SAP_CARVE(arena, p->member, count);

static void carve_pattern(SapArena *arena, const SapPattern *w, int nv, SapPattern *p) {
    SAP_PATTERN_ARRAYS(CARVE, w, nv)
}

static void carve_pairs(SapArena *arena, const SapPlan *w, SapPlan *p) {
    SAP_PLAN_PAIR_ARRAYS(CARVE, w)
}

static void carve(SapArena *arena, const SapPlan *w, SapSubtreePlan *part) {
    SapPlan *p = &part->plan;
    SAP_CARVE(arena, part->link_of, w->nl);
    SAP_CARVE(arena, part->dof_of, w->nv);
    SAP_CARVE(arena, part->coord_of, w->nq);
    SAP_CARVE(arena, part->link, w->nl);
    SAP_CARVE(arena, part->dof, w->nv);
    SAP_PLAN_TREE_ARRAYS(CARVE, w)
    carve_pattern(arena, &w->tree, w->nv, &p->tree);
    carve_pattern(arena, &w->closed, w->nv, &p->closed);
    carve_pairs(arena, w, p);
    carve_pairs(arena, w, &part->interface_contacts);
}

SapStatus sap_subtree_create(const SapPlan *whole, SapSubtreePlan *out) {
    SapArena arena = {0};
    *out = (SapSubtreePlan){.memory = NULL};
    for (int pass = 0; pass < 2; pass++) { /* measure, then carve */
        carve(&arena, whole, out);
        if (pass == 0)
            SAP_TRY(sap_arena_allocate(&arena, "plan of a part"));
    }
    out->memory = arena.base;
    out->bytes = arena.used;
    return SAP_OK;
}

void sap_subtree_free(SapSubtreePlan *part) {
    free(part->memory);
    *part = (SapSubtreePlan){.memory = NULL};
}

/* ---- numbers ---- */

static int map(const int *to, int i) {
    return i < 0 ? -1 : to[i];
}

static int first_coord(const SapPlan *w, int l) {
    return l < w->nl ? w->link[l].q : w->nq;
}

static int first_dof(const SapPlan *w, int l) {
    return l < w->nl ? w->link[l].v : w->nv;
}

static void number(const SapPlan *w, const int *tree, const bool *in_part, SapSubtreePlan *part) {
    SapPlan *p = &part->plan;
    p->nl = p->nv = p->nq = 0;
    for (int l = 0; l < w->nl; l++) {
        bool in = in_part[tree[l]];
        part->link[l] = in ? p->nl : -1;
        for (int i = first_dof(w, l); i < first_dof(w, l + 1); i++)
            part->dof[i] = in ? p->nv + i - first_dof(w, l) : -1;
        if (!in)
            continue;
        part->link_of[p->nl++] = l;
        for (int i = first_dof(w, l); i < first_dof(w, l + 1); i++)
            part->dof_of[p->nv++] = i;
        for (int i = first_coord(w, l); i < first_coord(w, l + 1); i++)
            part->coord_of[p->nq++] = i;
    }
}

/* ---- links and dofs ---- */

static void fill_links(const SapPlan *w, const SapSubtreePlan *part) {
    const SapPlan *p = &part->plan;
    int q = 0, v = 0, child = 0;
    for (int k = 0; k < p->nl; k++) {
        int l = part->link_of[k];
        SapLink *link = &OWN(SapLink, p->link)[k];
        *link = w->link[l];
        link->parent = map(part->link, link->parent);
        link->root = part->link[link->root];
        link->q = q;
        link->v = v;
        link->last_dof = map(part->dof, link->last_dof);
        for (int c = 0; c < link->num_children; c++)
            OWN(int, p->child)[child + c] = part->link[w->child[link->first_child + c]];
        link->first_child = child;
        child += link->num_children;
        q += first_coord(w, l + 1) - first_coord(w, l);
        v += first_dof(w, l + 1) - first_dof(w, l);
    }
    for (int b = 0; b < w->nb; b++)
        OWN(int, p->body_link)[b] = map(part->link, w->body_link[b]);
}

/* Groups of elements, such as the links of a level, without those that are not in the part; returns the number of
 * groups up to the last one with an element. */
static int filter_groups(int groups, const int *start, const int *element, const int *to, int *new_start,
                         int *new_element) {
    int n = 0, used = 0;
    for (int g = 0; g < groups; g++) {
        new_start[g] = n;
        for (int i = start[g]; i < start[g + 1]; i++)
            if (to[element[i]] >= 0)
                new_element[n++] = to[element[i]];
        used = n > new_start[g] ? g + 1 : used;
    }
    new_start[used] = n;
    return used;
}

static void fill_dofs(const SapPlan *w, const SapSubtreePlan *part) {
    const SapPlan *p = &part->plan;
    for (int k = 0; k < p->nv; k++) {
        int i = part->dof_of[k], l = w->tree.row[i].link, coord = w->dof_coord[i];
        const SapLink *link = &p->link[part->link[l]];
        OWN(int, p->dof_public)[k] = w->dof_public[i] - w->link[l].v + link->v;
        OWN(int, p->dof_coord)[k] = coord < 0 ? -1 : coord - w->link[l].q + link->q;
        OWN(int, p->dof_driven)[k] = w->dof_driven[i];
        OWN(int, p->dof_limited)[k] = w->dof_limited[i];
    }
}

static void fill_pattern(const SapPattern *w, const SapSubtreePlan *part, SapPattern *p) {
    int start = 0, below = 0;
    for (int k = 0; k < part->plan.nv; k++) {
        SapPatternRow row = w->row[part->dof_of[k]];
        for (int t = 0; t <= row.depth; t++)
            OWN(int, p->ancestor)[start + t] = part->dof[w->ancestor[row.start + t]];
        /* the path of the dof, then its descendants, whose entries are known when all rows are */
        for (int t = 0; t <= row.depth; t++, below++)
            OWN(SapDescendant, p->descendant)[below] = (SapDescendant){.dof = p->ancestor[start + t], .at = start + t};
        for (int d = 0; d < row.num_desc; d++)
            OWN(SapDescendant, p->descendant)[below + d].dof = part->dof[w->descendant[row.desc_start + d].dof];
        row.start = start;
        row.desc_start = below;
        row.link = part->link[row.link];
        start += row.depth + 1;
        below += row.num_desc;
        OWN(SapPatternRow, p->row)[k] = row;
    }
    for (int k = 0; k < part->plan.nv; k++) {
        SapDescendant *d = OWN(SapDescendant, p->descendant) + p->row[k].desc_start;
        for (int j = 0; j < p->row[k].num_desc; j++)
            d[j].at = p->row[d[j].dof].start + p->row[k].depth;
    }
    p->nnz = start;
    p->num_depths = filter_groups(w->num_depths, w->depth_start, w->depth_dof, part->dof, OWN(int, p->depth_start),
                                  OWN(int, p->depth_dof));
}

/* A node is dofs of one tree, or the only one of a small world. A row of couples keeps its width. */
static void fill_nodes(const SapNodes *w, const SapSubtreePlan *part, SapNodes *p) {
    int count = 0, last = -1;
    memset(OWN(unsigned, p->couples), 0, (size_t)w->count * (size_t)w->words * sizeof *p->couples);
    for (int k = 0; k < part->plan.nv; k++) {
        int node = w->of_dof[part->dof_of[k]];
        if (node != last)
            OWN(int, p->start)[count++] = k;
        OWN(int, p->of_dof)[k] = count - 1;
        last = node;
    }
    OWN(int, p->start)[count] = part->plan.nv;
    for (int K = 0; K < count; K++) {
        const unsigned *row = w->couples + (size_t)w->of_dof[part->dof_of[p->start[K]]] * (size_t)w->words;
        for (int J = 0; J < K; J++) {
            int old = w->of_dof[part->dof_of[p->start[J]]];
            if (row[old / WORD_BITS] >> (old % WORD_BITS) & 1)
                OWN(unsigned, p->couples)
            [(size_t)K * (size_t)w->words + (size_t)J / WORD_BITS] |= 1u << (J % WORD_BITS);
        }
    }
    p->count = count;
    p->words = w->words;
}

/* ---- constraints and tendons ---- */

static int map_coordinate(const SapPlan *w, const SapSubtreePlan *part, int coordinate) {
    return coordinate >= w->nv ? coordinate - w->nv + part->plan.nv : map(part->dof, coordinate);
}

/* All blocks are in the part, with their dofs. */
static void fill_blocks(const SapPlan *w, const SapSubtreePlan *part) {
    const SapPlan *p = &part->plan;
    /* Blocks with the numbers of the part. */
    int columns = 0;
    for (int b = 0; b < w->num_blocks; b++) {
        SapModelConstraint *block = &OWN(SapModelConstraint, p->block)[b];
        *block = w->block[b];
        for (int side = 0; side < 2; side++) {
            block->link[side] = map(part->link, block->link[side]);
            block->coordinate[side] = map_coordinate(w, part, block->coordinate[side]);
        }
        for (int c = 0; c < block->num_columns; c++)
            OWN(int, p->block_dof)[block->columns + c] = part->dof[w->block_dof[block->columns + c]];
    }
    /* The blocks that move each dof. */
    for (int k = 0; k < p->nv && w->num_blocks > 0; k++) {
        int i = part->dof_of[k];
        OWN(int, p->dof_block_start)[k] = columns;
        for (int c = w->dof_block_start[i]; c < w->dof_block_start[i + 1]; c++)
            OWN(SapBlockColumn, p->dof_block)[columns++] = w->dof_block[c];
    }
    OWN(int, p->dof_block_start)[p->nv] = columns;
    /* The terms of tendons. */
    for (int t = 0; t < w->num_tendon_terms; t++) {
        SapTendonTerm term = w->tendon_term[t];
        if (term.type == SAP_TENDON_JOINT) {
            term.dof = part->dof[term.dof];
            term.coord = p->dof_coord[term.dof];
        } else {
            term.link = map(part->link, term.link);
        }
        OWN(SapTendonTerm, p->tendon_term)[t] = term;
    }
}

/* ---- shapes ---- */

/* The shape's link is static, in the part, or in another tree. */
typedef enum Side { SIDE_STATIC, SIDE_IN, SIDE_OUT } Side;

static Side side_of(const SapPlan *w, const int *tree, const bool *in_part, int shape) {
    int link = w->shape_link[shape];
    return link < 0 ? SIDE_STATIC : in_part[tree[link]] ? SIDE_IN : SIDE_OUT;
}

/* Which pairs of the whole plan are kept. */
typedef struct Filter {
    const SapPlan *whole;
    const int *tree;
    const bool *in_part;
    bool interface_contacts; /* those between the part and the other trees; else those without the other trees */
} Filter;

static bool keeps(const Filter *f, int a, int b) {
    Side x = side_of(f->whole, f->tree, f->in_part, a), y = side_of(f->whole, f->tree, f->in_part, b);
    if (f->interface_contacts)
        return (x == SIDE_IN && y == SIDE_OUT) || (x == SIDE_OUT && y == SIDE_IN);
    return x != SIDE_OUT && y != SIDE_OUT;
}

/* Copies a row of allowed; shape: the row's. */
static void filter_row(const Filter *f, int shape, const unsigned *row, unsigned *out) {
    for (int i = 0; i < f->whole->row_words; i++) {
        out[i] = 0;
        for (int bit = 0; bit < WORD_BITS && row[i] >> bit != 0; bit++)
            if ((row[i] >> bit & 1) && keeps(f, shape, i * WORD_BITS + bit))
                out[i] |= 1u << bit;
    }
}

/* Seekers query static shapes, so a interface_contacts has none. */
static void filter_seekers(const Filter *f, SapPlan *p) {
    const SapStaticTree *w = &f->whole->statics;
    SapStaticTree *s = &p->statics;
    size_t words = (size_t)f->whole->row_words;
    s->num_seekers = 0;
    for (int shape = 0, i = 0; shape < f->whole->ns; shape++) {
        OWN(int, s->seekers_before)[shape] = s->num_seekers;
        if (i == w->num_seekers || w->seeker[i] != shape)
            continue;
        if (!f->interface_contacts && side_of(f->whole, f->tree, f->in_part, shape) == SIDE_IN) {
            memcpy(OWN(unsigned, p->allowed) + (size_t)s->num_seekers * words, f->whole->allowed + (size_t)i * words,
                   words * sizeof *p->allowed);
            OWN(int, s->seeker)[s->num_seekers++] = shape;
        }
        i++;
    }
    OWN(int, s->seekers_before)[f->whole->ns] = s->num_seekers;
    s->num_placed = 0;
    for (int i = 0; i < w->num_placed; i++)
        if (f->interface_contacts || side_of(f->whole, f->tree, f->in_part, w->placed[i]) != SIDE_OUT)
            OWN(int, s->placed)[s->num_placed++] = w->placed[i];
}

/* The pairs of the part, or of its interface_contacts, into *p, whose arrays are the part's. */
static void filter_pairs(const Filter *f, SapPlan *p) {
    const SapPlan *w = f->whole;
    p->num_pairs = 0;
    for (int i = 0; i < w->num_pairs; i++)
        if (keeps(f, w->pair[i].shape[0], w->pair[i].shape[1]))
            OWN(SapPair, p->pair)[p->num_pairs++] = w->pair[i];
    if (w->broad_phase == SAP_BROAD_PHASE_SWEEP)
        for (int s = 0; s < w->ns; s++) {
            size_t at = (size_t)s * (size_t)w->row_words;
            filter_row(f, s, w->allowed + at, OWN(unsigned, p->allowed) + at);
        }
    if (w->broad_phase == SAP_BROAD_PHASE_TREE)
        filter_seekers(f, p);
}

/* ---- the part ---- */

#define TAKE(member, count) p->member = own->member;

/* Makes *p, a copy of the whole plan, a plan with the arrays of `own` for what differs. */
static void take_arrays(const SapPlan *own, SapPlan *p) {
    SAP_PLAN_TREE_ARRAYS(TAKE, own)
    p->tree = own->tree;
    p->closed = own->closed;
}

static void take_pair_arrays(const SapPlan *own, SapPlan *p) {
    SAP_PLAN_PAIR_ARRAYS(TAKE, own)
}

void sap_subtree_choose(const SapPlan *whole, const int *tree, const bool *in_part, SapSubtreePlan *part) {
    const Filter filter = {whole, tree, in_part, false}, interface_contacts = {whole, tree, in_part, true};
    SapPlan p = *whole;
    take_arrays(&part->plan, &p);
    take_pair_arrays(&part->plan, &p);
    part->plan = p;
    number(whole, tree, in_part, part);
    fill_links(whole, part);
    part->plan.num_levels = filter_groups(whole->num_levels, whole->level_start, whole->level_link, part->link,
                                          OWN(int, p.level_start), OWN(int, p.level_link));
    fill_dofs(whole, part);
    fill_pattern(&whole->tree, part, &part->plan.tree);
    fill_pattern(&whole->closed, part, &part->plan.closed);
    fill_nodes(&whole->nodes, part, &part->plan.nodes);
    fill_blocks(whole, part);
    for (int s = 0; s < whole->ns; s++)
        OWN(int, p.shape_link)[s] = map(part->link, whole->shape_link[s]);
    filter_pairs(&filter, &part->plan);
    part->plan.dof_law_size = sap_place_dof_laws(&part->plan, OWN(int, p.dof_law));
    part->plan.layout = sap_motion_layout(&part->plan, true);
    p = part->plan;
    take_pair_arrays(&part->interface_contacts, &p);
    filter_pairs(&interface_contacts, &p);
    part->interface_contacts = p;
}
