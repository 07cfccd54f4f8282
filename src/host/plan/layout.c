#include "host/plan/layout.h"

#include <limits.h>
#include <stdbool.h>

#include <sapwood/options.h>

#include "host/plan/formulation.h"

/* ---- free motion ---- */

SapMotionLayout sap_motion_layout(const SapPlan *p, bool keeps_poses) {
    SapMotionLayout at;
    bool shares = sap_formulation(p->formulation)->shares_scratch;
    int next = 0;
#define PART(part, count) (at.part = next, next += (count))
    PART(q, p->nq);
    PART(v0, p->nv);
    PART(checks, SAP_MOTION_CHECKS);
    PART(A, p->tree.nnz);
    PART(v, p->nv);
    PART(rk, p->rk4 ? 8 * p->nv : 0);
    PART(X, 7 * p->nl);
    PART(S, 6 * p->nv);
    PART(V, 6 * p->nl);
    PART(a, 6 * p->nl);
    PART(state_check, p->nl);
    PART(control_check, p->nl);
    PART(inverse, p->nv); /* read last: the rest is free for collision when A is factored */
    int inertias = 10 * p->nl, wrenches = 6 * p->nl;
    if (shares) { /* the factor follows the rows of A, the last that read I and F */
        PART(I, inertias > p->tree.nnz ? inertias : p->tree.nnz);
        PART(F, wrenches > p->nq ? wrenches : p->nq);
        at.L = at.I;
        at.q1 = at.F;
    } else {
        PART(I, inertias);
        PART(F, wrenches);
        PART(L, p->tree.nnz);
        PART(q1, p->nq);
    }
    PART(f, p->nv);
#undef PART
    at.size = next;
    at.overlap_begin = !shares ? next : keeps_poses ? at.S : at.X;
    return at;
}

int sap_place_dof_laws(const SapPlan *plan, int *place) {
    int next = 0;
    for (int i = 0; i < plan->nv; i++) {
        place[i] = next;
        next += plan->dof_driven[i] || plan->dof_limited[i] ? SAP_DOF_LAW_SIZE : SAP_DOF_FRICTION_SIZE;
    }
    return next;
}

/* ---- collision ---- */

int sap_collide_layout(const SapPlan *plan, int capacity, SapCollideArgs *args) {
    SapCollideLayout *out = &args->layout;
    bool sweep = plan->broad_phase == SAP_BROAD_PHASE_SWEEP, tree = plan->broad_phase == SAP_BROAD_PHASE_TREE;
    long long words = sweep ? (long long)plan->ns * plan->row_words : ((long long)plan->num_pairs + 31) / 32;
    int near_static = tree ? plan->row_words : 0, near_words = (near_static + 31) / 32;
    long long reals = 11LL * plan->ns + (long long)args->chunk * args->max_contacts * SAP_CANDIDATE_SIZE + capacity;
    long long ints = 4 + 3LL * args->chunk + words + (sweep ? plan->ns : 0) + near_static + near_words;
    if (reals > INT_MAX || ints > INT_MAX)
        return 0;
    out->pose = 0;
    out->ball = out->pose + 7 * plan->ns;
    out->candidate = out->ball + 4 * plan->ns;
    out->gap = out->candidate + args->chunk * args->max_contacts * SAP_CANDIDATE_SIZE;
    out->size = (int)reals;
    out->num_chunk = 0;
    out->cursor = 1;
    out->tree_cursor = 2;
    out->chunk = 4;
    out->num_candidates = out->chunk + 2 * args->chunk;
    out->near = out->num_candidates + args->chunk;
    out->num_words = (int)words;
    out->order = out->near + (int)words;
    out->near_static = out->order + (sweep ? plan->ns : 0);
    out->near_words = out->near_static + near_static;
    out->num_near_words = near_words;
    out->ints = (int)ints;
    return 1;
}

/* ---- contact solve ---- */

/* Reserves the next `count` elements and returns their offset. */
static int reserve(long long *next, long long count) {
    long long at = *next;
    *next += count;
    return at > INT_MAX ? INT_MAX : (int)at;
}

static int path_length(const SapPlan *plan, int link) {
    int last = plan->link[link].last_dof;
    return last < 0 ? 0 : plan->tree.row[last].depth + 1;
}

/* Number of dofs on the paths of both links, which share a prefix that starts at the root. */
static int count_columns(const SapPlan *plan, int a, int b) {
    int n_a = path_length(plan, a), n_b = path_length(plan, b), shared = 0;
    if (n_a == 0 || n_b == 0)
        return n_a + n_b;
    const int *path_a = plan->tree.ancestor + plan->tree.row[plan->link[a].last_dof].start;
    const int *path_b = plan->tree.ancestor + plan->tree.row[plan->link[b].last_dof].start;
    while (shared < n_a && shared < n_b && path_a[shared] == path_b[shared])
        shared++;
    return n_a + n_b - shared;
}

/* The largest number of dofs on the paths of two bodies; an upper bound for models with many links. */
static int max_columns(const SapPlan *plan) {
    enum { MANY_LINKS = 256 };
    int most = 2 * plan->tree.num_depths < plan->nv ? 2 * plan->tree.num_depths : plan->nv;
    if (plan->nl > MANY_LINKS)
        return most;
    most = 0;
    for (int a = 0; a < plan->nl; a++)
        for (int b = 0; b <= a; b++) {
            int n = count_columns(plan, a, b);
            most = n > most ? n : most;
        }
    return most;
}

/* keeps_G: G is read while Jd and the values along a line are alive. */
static void layout_slot(int law_size, int rows, bool keeps_G, SapSlotLayout *slot) {
    long long next = 0;
    slot->law = reserve(&next, law_size);
    slot->vc = reserve(&next, rows);
    slot->gamma = reserve(&next, rows);
    slot->cost = reserve(&next, 1);
    slot->G = reserve(&next, rows * (rows + 1) / 2);
    /* the system of Newton's method has read G before a line search begins, and the next evaluation follows it */
    slot->Jd = keeps_G ? reserve(&next, rows) : slot->G;
    slot->line = keeps_G ? reserve(&next, 3) : slot->G + rows;
    slot->size = (int)next;
    next = 0;
    slot->x0 = reserve(&next, 3);
    slot->x1 = reserve(&next, 3);
    slot->frame = reserve(&next, 9);
    slot->phi0 = reserve(&next, 1);
    slot->w = reserve(&next, 1);
    slot->pair = reserve(&next, 3);
    slot->valid = reserve(&next, 1);
    slot->check = reserve(&next, 1);
    slot->setup_size = (int)next;
}

static void layout_slot_ints(const SapPlan *plan, int lanes, SapSlotInts *ints) {
    long long next = 0;
    ints->max_columns = max_columns(plan);
    ints->num_dofs = reserve(&next, 1);
    ints->couples = reserve(&next, 1);
    ints->dof = reserve(&next, ints->max_columns);
    next = (next + 1) / 2; /* these have 16 bits */
    ints->has = reserve(&next, (plan->nv + 31) / 32);
    ints->size = (int)next;
    next = 0;
    ints->record = reserve(&next, lanes);
    ints->shape = reserve(&next, 2);
    ints->link = reserve(&next, 2);
    ints->path = reserve(&next, ints->max_columns);
    ints->runs = reserve(&next, 2);
    ints->setup_size = (int)next;
}

static void layout_pack_ints(const SapPlan *plan, int lanes, long long *next, SapPackInts *ints) {
    ints->num_slots = reserve(next, 1);
    ints->status = reserve(next, lanes);
    ints->acts = reserve(next, plan->nv);
    ints->acting = reserve(next, plan->num_blocks > 0 ? 1 + plan->num_blocks : 0);
}

/* The pattern of tiles. */
static long long tile_ints(const SapPlan *plan) {
    return SAP_TILE_INTS(plan->nodes.count, plan->nodes.words, plan->nv);
}

static void layout_linear(const SapPlan *plan, SapLinearLayout *linear) {
    long long next = 0;
    linear->L = reserve(&next, plan->nv * (plan->nv + 1LL) / 2); /* contacts may couple all dofs */
    linear->inverse = reserve(&next, plan->nv);
    linear->x = reserve(&next, plan->nv);
    linear->size = (int)next;
}

/* The problem and Newton's method, without the contact slots. */
static void layout_problem(const SapPlan *plan, int lanes, int lockstep, long long *next, SapProblemLayout *p,
                           SapNewtonLayout *newton) {
    bool shares = sap_formulation(plan->formulation)->shares_scratch;
    int *vectors[] = {&p->v,     &p->Av_star,   &p->dv,       &p->r,          &p->grad,
                      &p->scale, &p->dof_gamma, &p->dof_cost, &p->dof_hessian};
    for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = reserve(next, plan->nv);
    p->dof_check = p->dof_gamma;
    p->dof_law = reserve(next, plan->dof_law_size);
    newton->lockstep = reserve(next, lockstep ? SAP_LOCKSTEP_SIZE : 0);
    /* a line search has the memory of the linear system from here on, or from behind vectors that are read to the end */
    p->search = (int)(*next > INT_MAX ? INT_MAX : *next);
    newton->d = reserve(next, plan->nv);
    p->line_keeps = reserve(next, lanes == 1 ? 0 : plan->nv); /* one lane has a bit for it */
    p->Ad = reserve(next, plan->nv);
    p->impulse = shares ? newton->d : reserve(next, plan->nv);
    p->v_star = shares ? p->Ad : reserve(next, plan->nv);
    p->v0 = shares ? newton->d : reserve(next, plan->nv);
    p->guess = shares ? p->grad : reserve(next, plan->nv);
    p->w = shares ? p->dof_hessian : reserve(next, plan->nv);
    if (!shares)
        p->search = (int)(*next > INT_MAX ? INT_MAX : *next);
    long long line = 3LL * plan->nv, touched = plan->num_articulations; /* one after the other */
    p->line = p->touched = reserve(next, line > touched ? line : touched);
}

/* Rows that a world can have beside its contacts: of a dof a drive, two limits and friction, and the laws of the
 * model's constraints and tendons (dual/step.h). */
static long long max_other_rows(const SapPlan *plan) {
    long long rows = 0;
    for (int i = 0; i < plan->nv; i++)
        rows += 1 + (plan->dof_driven[i] != 0) + (plan->dof_limited[i] ? 2 : 0);
    for (int b = 0; b < plan->num_blocks; b++)
        rows += plan->block[b].rows * plan->block[b].laws;
    return rows;
}

static long long block_rows(const SapPlan *plan) {
    long long rows = 0;
    for (int b = 0; b < plan->num_blocks; b++)
        rows += plan->block[b].rows;
    return rows;
}

long long sap_dual_max_rows(const SapPlan *plan, int contacts) {
    return 3LL * contacts + max_other_rows(plan);
}

/* The problem in impulses, after the problem and the integers of the pack. */
static void layout_dual(const SapPlan *plan, int contacts, int num_slots, long long *next, long long *ints,
                        SapStepArgs *args, SapDualLayout *dual) {
    long long others = max_other_rows(plan), blocks = contacts + others;
    dual->Y_dof = reserve(next, plan->tree.nnz);
    dual->Y_block = reserve(next, block_rows(plan) * plan->nv);
    dual->v_free = reserve(next, plan->nv);
    dual->scratch = reserve(next, SAP_DUAL_SCRATCH(blocks, sap_dual_max_rows(plan, contacts)));
    dual->Y = reserve(next, 3LL * args->slot_ints.max_columns * num_slots);
    dual->kind = reserve(ints, blocks);
    dual->row = reserve(ints, blocks);
    dual->source = reserve(ints, others);
    dual->term = reserve(ints, others);
    dual->has_rows = reserve(ints, plan->nv);
    dual->block = reserve(ints, block_rows(plan));
    dual->block_row = reserve(ints, block_rows(plan));
    dual->contacts = reserve(ints, 1);
    dual->blocks = reserve(ints, 1);
    dual->block_rows = reserve(ints, 1);
}

int sap_solve_layout(const SapPlan *plan, int num_slots, int lanes, SapStepArgs *args, SapDualLayout *dual) {
    const SapFormulation *f = sap_formulation(plan->formulation);
    long long problem = 0, ints = 0;
    if (plan->nv * (plan->nv + 1LL) > INT_MAX || tile_ints(plan) > INT_MAX)
        return 0;
    layout_slot(f->contact_law_size, plan->contact_rows, !f->shares_scratch || args->dual, &args->slot);
    layout_slot_ints(plan, lanes, &args->slot_ints);
    layout_pack_ints(plan, lanes, &ints, &args->pack_ints);
    layout_linear(plan, &args->linear);
    layout_problem(plan, lanes, args->newton.lockstep, &problem, &args->problem, &args->newton.layout);
    if (args->dual)
        layout_dual(plan, args->contacts.capacity, num_slots, &problem, &ints, args, dual);
    args->problem.size = problem > INT_MAX ? INT_MAX : (int)problem;
    args->pack_ints.size = ints > INT_MAX ? INT_MAX : (int)ints;
    /* kernels compute offsets of slots in ints */
    const long long sizes[] = {args->slot.size, args->slot.setup_size, args->slot_ints.size, args->slot_ints.setup_size,
                               (long long)plan->contact_rows * args->slot_ints.max_columns};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] * num_slots > INT_MAX)
            return 0;
    return problem <= INT_MAX && ints <= INT_MAX;
}

/* ---- arenas ---- */

static size_t product(int count, int size) {
    return (size_t)count * (size_t)size;
}

/* Where the next part of an arena begins. Vectors of several lanes are aligned as arenas are. */
static size_t aligned(size_t bytes, const int real_bytes[2]) {
    size_t to = real_bytes[1] == sizeof(double) ? SAP_PART_ALIGNMENT : SAP_ARENA_ALIGNMENT;
    return (bytes + to - 1) / to * to;
}

SapSharedScratch sap_shared_scratch(const SapStepArgs *a, const int real_bytes[2]) {
    int fm = real_bytes[a->fm_is_f64], solve = real_bytes[a->solve_is_f64],
        linear = real_bytes[a->newton.linear_is_f64];
    SapSharedScratch at;
    at.solve = aligned(product(a->plan.layout.overlap_begin, fm), real_bytes);
    /* a solve in impulses reads the factor to its end */
    at.linear = aligned(at.solve + product(a->dual ? a->problem.size : a->problem.search, solve), real_bytes);
    size_t ends[3] = {product(a->plan.layout.size, fm), at.solve + product(a->problem.size, solve),
                      at.linear + product(a->linear.size, linear)};
    at.bytes = 0;
    for (int i = 0; i < 3; i++)
        at.bytes = ends[i] > at.bytes ? ends[i] : at.bytes;
    return at;
}

void sap_arena_bytes(const SapStepArgs *a, int num_slots, const int real_bytes[2], size_t bytes[SAP_NUM_ARENAS]) {
    int solve = real_bytes[a->solve_is_f64], geometry = real_bytes[a->geometry_is_f64], f64 = real_bytes[1];
    int repeats = !a->solve_is_f64, all_slots = a->contacts.num_slots;
    bytes[SAP_ARENA_FM] = sap_shared_scratch(a, real_bytes).bytes;
    bytes[SAP_ARENA_PACK_INTS] = product(a->pack_ints.size, sizeof(int));
    bytes[SAP_ARENA_BLOCKS] = product(a->plan.block_size, repeats ? f64 : solve);
    bytes[SAP_ARENA_SLOTS] = product(a->slot.size * num_slots, solve);
    bytes[SAP_ARENA_JACOBIANS] = product(a->plan.contact_rows * a->slot_ints.max_columns * num_slots, geometry);
    bytes[SAP_ARENA_SLOT_INTS] = product(a->slot_ints.size * num_slots, sizeof(int));
    /* set-up of slots, and what only the second attempts of f32 solves need, in f64 */
    bytes[SAP_ARENA_SLOT_SETUP] = product(a->slot.setup_size * num_slots, repeats ? f64 : solve);
    bytes[SAP_ARENA_SLOT_SETUP_INTS] = product(a->slot_ints.setup_size * num_slots, sizeof(int));
    bytes[SAP_ARENA_TILES] = (size_t)tile_ints(&a->plan) * sizeof(int);
    bytes[SAP_ARENA_RETRY] = repeats ? product(a->problem.size, f64) : 0;
    bytes[SAP_ARENA_RETRY_SLOTS] = repeats ? product(a->slot.size * all_slots, f64) : 0;
    bytes[SAP_ARENA_LINEAR64] = a->newton.linear_is_f64 ? 0 : product(a->linear.size, f64);
    bytes[SAP_ARENA_COLLIDE] = product(a->collide.layout.size, geometry);
    bytes[SAP_ARENA_PAIRS] = product(a->collide.layout.ints, sizeof(int));
}
