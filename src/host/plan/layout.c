#include "host/plan/layout.h"

#include <limits.h>
#include <stdbool.h>

#include <sapwood/options.h>

/* ---- free motion ---- */

SapMotionLayout sap_motion_layout(const SapPlan *p) {
    SapMotionLayout at;
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
    PART(A, p->tree.nnz);
    PART(L, p->tree.nnz);
    PART(inverse, p->nv);
    PART(v, p->nv);
    PART(q1, p->nq);
#undef PART
    at.size = next;
    return at;
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
static int take(long long *next, long long count) {
    long long at = *next;
    *next += count;
    return at > INT_MAX ? INT_MAX : (int)at;
}

static int largest_nnz(const SapPlan *plan) {
    return plan->dense.nnz > plan->closed.nnz ? plan->dense.nnz : plan->closed.nnz;
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

static int contact_law_size(int law) {
#define LAW(name, size) size,
    static const int sizes[] = {SAP_CONTACT_LAWS(LAW)};
#undef LAW
    return sizes[law];
}

static void layout_slot(int law, SapSlotLayout *slot, int *size) {
    long long next = 0;
    slot->x0 = take(&next, 3);
    slot->x1 = take(&next, 3);
    slot->frame = take(&next, 9);
    slot->phi0 = take(&next, 1);
    slot->w = take(&next, 1);
    slot->pair = take(&next, 3);
    slot->valid = take(&next, 1);
    slot->check = take(&next, 1);
    slot->law = take(&next, contact_law_size(law));
    slot->vc = take(&next, 3);
    slot->gamma = take(&next, 3);
    slot->cost = take(&next, 1);
    slot->G = take(&next, 6);
    slot->Jd = take(&next, 3);
    slot->line = take(&next, 3);
    *size = (int)next;
}

/* Returns the total number of integers. */
static long long layout_slot_ints(const SapPlan *plan, int num_slots, int lanes, SapSlotInts *ints) {
    long long next = 0;
    ints->max_columns = max_columns(plan);
    ints->record = take(&next, lanes);
    ints->shape = take(&next, 2);
    ints->link = take(&next, 2);
    ints->num_dofs = take(&next, 1);
    ints->couples = take(&next, 1);
    ints->dof = take(&next, ints->max_columns);
    ints->path = take(&next, ints->max_columns);
    ints->place = take(&next, plan->nv);
    ints->size = (int)next;
    next = 1 + next * num_slots;
    ints->acts = take(&next, plan->nv);
    ints->line_acts = take(&next, plan->nv);
    ints->total = next > INT_MAX ? INT_MAX : (int)next;
    return next;
}

static void layout_linear(const SapPlan *plan, SapLinearLayout *linear) {
    long long next = 0;
    linear->L = take(&next, largest_nnz(plan));
    linear->inverse = take(&next, plan->nv);
    linear->x = take(&next, plan->nv);
    linear->size = (int)next;
}

static void layout_newton(const SapPlan *plan, long long *next, SapNewtonLayout *newton) {
    newton->d = take(next, plan->nv);
    newton->lockstep = take(next, SAP_LOCKSTEP_SIZE);
}

/* The problem without its slots. */
static void layout_problem(const SapPlan *plan, long long *next, SapProblemLayout *p) {
    int *vectors[] = {&p->v,         &p->v0,       &p->v_star,      &p->guess,     &p->Av_star,   &p->dv,
                      &p->r,         &p->impulse,  &p->grad,        &p->Ad,        &p->w,         &p->scale,
                      &p->dof_gamma, &p->dof_cost, &p->dof_hessian, &p->dof_check, &p->line_keeps};
    for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = take(next, plan->nv);
    p->dof_law = take(next, SAP_DOF_LAW_SIZE * (long long)plan->nv);
    p->line = take(next, 3LL * plan->nv);
}

/* Jacobians are in the precision of contact geometry, so their offset and size count its reals. The solve is in f64 or
 * may be repeated in f64. */
static void layout_jacobians(int num_slots, long long *next, SapStepArgs *args) {
    int words[2] = {2, args->geometry_is_f64 ? 2 : 1}; /* of a real: solve, geometry */
    long long at = (*next * words[0] + words[1] - 1) / words[1];
    args->problem.J = take(&at, 3LL * args->slot_ints.max_columns * num_slots);
    *next = (at * words[1] + words[0] - 1) / words[0];
}

/* Rows that a world can have beside its contacts: of a dof a drive, two limits and friction, and the laws of the model's
 * constraints and tendons (solve/dual_step.h). */
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

/* The problem in impulses, after everything else; returns the integers. */
static long long layout_dual(const SapPlan *plan, int contacts, int num_slots, long long ints, long long *next,
                             SapStepArgs *args, SapDualLayout *dual) {
    long long others = max_other_rows(plan), blocks = contacts + others;
    dual->Y_dof = take(next, plan->tree.nnz);
    dual->Y_block = take(next, block_rows(plan) * plan->nv);
    dual->v_free = take(next, plan->nv);
    dual->scratch = take(next, SAP_DUAL_SCRATCH(blocks, sap_dual_max_rows(plan, contacts)));
    dual->Y = take(next, 3LL * args->slot_ints.max_columns * num_slots);
    dual->kind = take(&ints, blocks);
    dual->row = take(&ints, blocks);
    dual->source = take(&ints, others);
    dual->term = take(&ints, others);
    dual->has_rows = take(&ints, plan->nv);
    dual->block = take(&ints, block_rows(plan));
    dual->block_row = take(&ints, block_rows(plan));
    dual->contacts = take(&ints, 1);
    dual->blocks = take(&ints, 1);
    dual->block_rows = take(&ints, 1);
    args->slot_ints.total = ints > INT_MAX ? INT_MAX : (int)ints;
    return ints;
}

long long sap_solve_layout(const SapPlan *plan, int num_slots, int lanes, SapStepArgs *args, SapDualLayout *dual) {
    long long next = 0;
    layout_slot(args->contacts.law, &args->slot, &args->problem.slot_size);
    long long ints = layout_slot_ints(plan, num_slots, lanes, &args->slot_ints);
    layout_linear(plan, &args->linear);
    layout_problem(plan, &next, &args->problem);
    layout_newton(plan, &next, &args->newton.layout);
    args->problem.blocks = take(&next, plan->block_size);
    /* last, because most slots are never used */
    args->problem.slots = take(&next, (long long)num_slots * args->problem.slot_size);
    layout_jacobians(num_slots, &next, args);
    if (args->dual)
        ints = layout_dual(plan, args->contacts.capacity, num_slots, ints, &next, args, dual);
    args->solve_size = next > INT_MAX ? INT_MAX : (int)next;
    return next > INT_MAX || ints > INT_MAX ? -1 : next;
}

/* ---- arenas ---- */

static size_t product(int count, int size) {
    return (size_t)count * (size_t)size;
}

void sap_arena_bytes(const SapStepArgs *a, const int real_bytes[2], size_t bytes[SAP_NUM_ARENAS]) {
    bytes[SAP_ARENA_FM] = product(a->plan.layout.size, real_bytes[a->fm_is_f64]);
    bytes[SAP_ARENA_SOLVE] = product(a->solve_size, real_bytes[1]); /* f32 solves may be repeated in f64 */
    bytes[SAP_ARENA_LINEAR32] = a->newton.linear_is_f64 ? 0 : product(a->linear.size, real_bytes[0]);
    bytes[SAP_ARENA_LINEAR64] = product(a->linear.size, real_bytes[1]); /* f32 solves may also fall back to f64 */
    bytes[SAP_ARENA_COLLIDE] = product(a->collide.layout.size, real_bytes[a->geometry_is_f64]);
    bytes[SAP_ARENA_PAIRS] = product(a->collide.layout.ints, sizeof(int));
    bytes[SAP_ARENA_INTS] = product(a->slot_ints.total, sizeof(int));
}
