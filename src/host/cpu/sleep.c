#include "host/cpu/sleep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/base/sort_by_key.h"
#include "host/cpu/active_subtree.h"
#include "host/model/model.h"

/* The arrays of a call that wake a world: state, control of joints and bodies, control of constraints and tendons. */
enum {
    WATCHED_Q,
    WATCHED_QD,
    WATCHED_JOINT_F,
    WATCHED_BODY_F,
    WATCHED_TARGET_POS,
    WATCHED_TARGET_VEL,
    WATCHED_ACT,
    WATCHED_TENDONS, /* four arrays */
    WATCHED_ACTIVE = WATCHED_TENDONS + 4,
    NUM_WATCHED
};

/* Rows of an array; 0 bytes: the worlds share it, or it is absent. */
typedef struct Watched {
    const char *data;
    size_t bytes, size; /* of a row and of an element */
} Watched;

/* Values of `asleep`. */
enum { AWAKE, WORLD_SLEEPS, TREES_SLEEP };
/* In place of the steps at rest of a tree. */
enum { ASLEEP = -1 };

struct SapSleep {
    int steps;      /* steps at rest after which a tree may sleep */
    double speed;   /* m/s, below which it rests */
    double *length; /* [nv] m, of each public dof: speed per velocity */
    /* trees */
    int num_trees;
    int *tree, *coord_tree, *dof_tree, *body_tree; /* [nl], [nq], [nv], [nb] of links, coordinates, dofs and bodies */
    int *num_dofs;                                 /* [num_trees] */
    int *first_dof, *dof;                          /* [num_trees + 1], [nv] the dofs of tree t: dof[first_dof[t] ..] */
    bool *bound; /* [num_trees] has constraints or tendons: it sleeps with its world only */
    /* worlds */
    int32_t *asleep;      /* [num_worlds] of the batch */
    int32_t *known;       /* [num_worlds] its values after the last call */
    int *quiet;           /* [num_worlds][num_trees] steps at rest, or ASLEEP */
    int *island;          /* [num_worlds][num_trees] of sleeping trees: those with the same number wake together */
    int *dofs;            /* [num_worlds] of sleeping trees */
    unsigned *version;    /* [num_worlds] counts the changes of its sleeping trees */
    int32_t *tree_asleep; /* [num_worlds][num_trees] of the batch; NULL: not requested */
    double *tree_rest;    /* [num_worlds][num_trees] s at rest or asleep, of the batch; NULL: not requested */
    int *list;            /* [num_worlds] worlds to process, in their order */
    uint32_t *seen;       /* [num_worlds] status bits that last for a call */
    char *kept;           /* [num_worlds][kept_bytes + 1] the watched rows of worlds with sleeping trees */
    size_t kept_bytes;
    /* work */
    int *group;   /* [num_trees] */
    bool *flag;   /* [num_trees] */
    int32_t *row; /* [1 + 2 num_trees] */
    int num_workers;
    SapActiveSubtree **worker; /* [num_workers]; NULL if there is one tree */
    bool *in_part;             /* [num_workers][num_trees] */
    void *memory;
    size_t bytes;
};

static int *quiet_of(const SapSleep *sleep, int world) {
    return sleep->quiet + (size_t)world * (size_t)sleep->num_trees;
}
static int *island_of(const SapSleep *sleep, int world) {
    return sleep->island + (size_t)world * (size_t)sleep->num_trees;
}

/* ---- creation ---- */

/* Mass of the links below each link, itself included; children have larger numbers than their parents. */
static void subtree_masses(const SapPlan *plan, const double *body_mass, double *mass) {
    for (int l = 0; l < plan->nl; l++)
        mass[l] = body_mass[plan->link[l].body];
    for (int l = plan->nl - 1; l >= 0; l--)
        if (plan->link[l].parent >= 0)
            mass[plan->link[l].parent] += mass[l];
}

/* sqrt(A_ii/m) in the model's initial state, m the mass that dof i moves: 1 for a linear dof, for an angular one the
 * radius of gyration about its axis. */
static SapStatus find_lengths(const SapSolver *s, double *length) {
    const SapPlan *plan = &s->args.plan;
    const SapModelArrays *m = sap_model_arrays(s->model);
    size_t nv = (size_t)plan->nv;
    SapOptions o = s->options;
    o.threads = o.lanes = o.max_contacts = 1;
    o.sleep_steps = 0;
    SapSolver *one = NULL;
    double *A = sap_allocate(nv * nv + (size_t)plan->nl, sizeof *A, "sleeping worlds"), *mass = A + nv * nv;
    SapState state = {
        .num_worlds = 1, .dtype = SAP_F64, .joint_q = (void *)m->joint_q, .joint_qd = (void *)m->joint_qd};
    SapStatus status = A ? sap_solver_create(s->model, 1, &o, &one) : SAP_ERROR_MEMORY;
    if (status == SAP_OK)
        status = sap_free_motion(one, &state, NULL, 1e-3, &(SapFreeMotion){.A = A});
    if (status == SAP_OK) {
        subtree_masses(plan, m->body_mass, mass);
        for (size_t i = 0; i < nv; i++) {
            double moved = mass[plan->tree.row[i].link];
            length[plan->dof_public[i]] = moved > 0 ? sqrt(A[i * nv + i] / moved) : 1;
        }
    }
    sap_solver_destroy(one);
    free(A);
    return status;
}

/* Numbers the trees in the order of their roots. */
static void find_trees(const SapPlan *p, SapSleep *sleep) {
    int count = 0;
    for (int l = 0; l < p->nl; l++) {
        sleep->tree[l] = p->link[l].parent < 0 ? count++ : sleep->tree[p->link[l].root];
        sleep->body_tree[p->link[l].body] = sleep->tree[l];
        for (int i = p->link[l].q; i < (l + 1 < p->nl ? p->link[l + 1].q : p->nq); i++)
            sleep->coord_tree[i] = sleep->tree[l];
        for (int i = p->link[l].v; i < (l + 1 < p->nl ? p->link[l + 1].v : p->nv); i++) {
            sleep->dof_tree[i] = sleep->tree[l];
            sleep->num_dofs[sleep->tree[l]]++;
        }
    }
}

static void bind_link(const SapSleep *sleep, int link) {
    if (link >= 0)
        sleep->bound[sleep->tree[link]] = true;
}

static void find_bound(const SapPlan *p, const SapSleep *sleep) {
    for (int b = 0; b < p->num_blocks; b++) {
        bind_link(sleep, p->block[b].link[0]);
        bind_link(sleep, p->block[b].link[1]);
        for (int c = 0; c < p->block[b].num_columns; c++)
            sleep->bound[sleep->dof_tree[p->block_dof[p->block[b].columns + c]]] = true;
    }
    for (int t = 0; t < p->num_tendon_terms; t++)
        if (p->tendon_term[t].type == SAP_TENDON_POINT)
            bind_link(sleep, p->tendon_term[t].link);
        else if (p->tendon_term[t].type == SAP_TENDON_JOINT)
            sleep->bound[sleep->dof_tree[p->tendon_term[t].dof]] = true;
}

static void carve(SapArena *arena, const SapSolver *s, SapSleep *sleep) {
    const SapPlan *p = &s->args.plan;
    size_t n = (size_t)s->num_worlds, trees = (size_t)sleep->num_trees;
    SAP_CARVE(arena, sleep->length, p->nv + 1);
    SAP_CARVE(arena, sleep->tree, p->nl);
    SAP_CARVE(arena, sleep->coord_tree, p->nq);
    SAP_CARVE(arena, sleep->dof_tree, p->nv);
    SAP_CARVE(arena, sleep->body_tree, p->nb);
    SAP_CARVE(arena, sleep->num_dofs, trees);
    SAP_CARVE(arena, sleep->first_dof, trees + 1);
    SAP_CARVE(arena, sleep->dof, p->nv);
    SAP_CARVE(arena, sleep->bound, trees);
    SAP_CARVE(arena, sleep->known, n);
    SAP_CARVE(arena, sleep->quiet, n * trees);
    SAP_CARVE(arena, sleep->island, n * trees);
    SAP_CARVE(arena, sleep->dofs, n);
    SAP_CARVE(arena, sleep->version, n);
    SAP_CARVE(arena, sleep->list, n);
    SAP_CARVE(arena, sleep->seen, n);
    SAP_CARVE(arena, sleep->kept, n * (sleep->kept_bytes + 1));
    SAP_CARVE(arena, sleep->group, trees);
    SAP_CARVE(arena, sleep->flag, trees);
    SAP_CARVE(arena, sleep->row, 1 + 2 * trees);
    SAP_CARVE(arena, sleep->worker, s->threads);
    SAP_CARVE(arena, sleep->in_part, (size_t)s->threads * trees);
}

/* Room for copies of all watched rows in f64, whatever the type of the batch. */
static size_t watched_bytes(const SapPlan *p) {
    size_t numbers = (size_t)p->nq + 5 * (size_t)p->nv + 6 * (size_t)p->nb + 4 * (size_t)p->num_tendons;
    return numbers * sizeof(double) + (size_t)p->num_constraints * sizeof(int32_t);
}

static int count_trees(const SapPlan *p) {
    return p->num_levels > 0 ? p->level_start[1] : 1;
}

SapStatus sap_sleep_create(const SapSolver *s, int32_t *asleep, SapSleep **out) {
    SapArena arena = {0};
    SapSleep *sleep = *out = sap_allocate(1, sizeof *sleep, "sleeping worlds");
    if (!sleep)
        return SAP_ERROR_MEMORY;
    sleep->steps = s->options.sleep_steps;
    sleep->speed = s->options.sleep_speed;
    sleep->asleep = asleep;
    sleep->num_trees = count_trees(&s->args.plan);
    sleep->kept_bytes = watched_bytes(&s->args.plan);
    for (int pass = 0; pass < 2; pass++) { /* measure, then carve */
        carve(&arena, s, sleep);
        if (pass == 0)
            SAP_TRY(sap_arena_allocate(&arena, "sleeping worlds"));
        sleep->memory = arena.base;
    }
    sleep->bytes = sizeof *sleep + arena.used;
    find_trees(&s->args.plan, sleep);
    find_bound(&s->args.plan, sleep);
    sap_sort_by_key(s->args.plan.nv, sleep->dof_tree, sleep->num_trees, sleep->first_dof, sleep->dof);
    for (; sleep->num_trees > 1 && sleep->num_workers < s->threads; sleep->num_workers++) {
        SAP_TRY(sap_active_subtree_create(s, &sleep->worker[sleep->num_workers]));
        sleep->bytes += sap_active_subtree_bytes(sleep->worker[sleep->num_workers]);
    }
    return find_lengths(s, sleep->length);
}

void sap_sleep_destroy(SapSleep *sleep) {
    if (!sleep)
        return;
    for (int i = 0; sleep->memory && i < sleep->num_workers; i++)
        sap_active_subtree_destroy(sleep->worker[i]);
    free(sleep->memory);
    free(sleep);
}

size_t sap_sleep_bytes(const SapSleep *sleep) {
    return sleep ? sleep->bytes : 0;
}

/* ---- waking ---- */

static Watched watch_rows(SapBuffer b, int width) {
    size_t element = sap_real_bytes(b.is_f64);
    return (Watched){b.data, b.data && b.stride ? (size_t)width * element : 0, element};
}

static void watch_all(const SapStepArgs *a, Watched out[NUM_WATCHED]) {
    const SapConstraintArgs *c = &a->constraints;
    int nv = a->plan.nv, nt = a->plan.num_tendons;
    const Watched all[NUM_WATCHED] = {
        [WATCHED_Q] = watch_rows(a->q_in, a->plan.nq),
        [WATCHED_QD] = watch_rows(a->qd_in, nv),
        [WATCHED_JOINT_F] = watch_rows(a->joint_f, nv),
        [WATCHED_BODY_F] = watch_rows(a->body_f, 6 * a->plan.nb),
        [WATCHED_TARGET_POS] = watch_rows(a->target_pos, nv),
        [WATCHED_TARGET_VEL] = watch_rows(a->target_vel, nv),
        [WATCHED_ACT] = watch_rows(a->act, nv),
        [WATCHED_TENDONS] = watch_rows(c->target_pos, nt),
        [WATCHED_TENDONS + 1] = watch_rows(c->target_vel, nt),
        [WATCHED_TENDONS + 2] = watch_rows(c->act, nt),
        [WATCHED_TENDONS + 3] = watch_rows(c->f, nt),
        [WATCHED_ACTIVE] = {(const char *)c->active, c->active_stride ? (size_t)c->active_stride * sizeof(int32_t) : 0,
                            sizeof(int32_t)}};
    memcpy(out, all, sizeof all);
}

/* Copies the first `rows` watched rows of a world. */
static void keep_rows(SapSleep *sleep, const Watched *watched, int world, int rows) {
    char *to = sleep->kept + (size_t)world * (sleep->kept_bytes + 1);
    for (int i = 0; i < rows; i++)
        if (watched[i].bytes) {
            memcpy(to, watched[i].data + (size_t)world * watched[i].bytes, watched[i].bytes);
            to += watched[i].bytes;
        }
}

/* Whether a bit of the kept rows has changed. */
static bool rows_changed(const SapSleep *sleep, const Watched *watched, int world) {
    const char *kept = sleep->kept + (size_t)world * (sleep->kept_bytes + 1);
    for (int i = 0; i < NUM_WATCHED; i++)
        if (watched[i].bytes) {
            if (memcmp(kept, watched[i].data + (size_t)world * watched[i].bytes, watched[i].bytes) != 0)
                return true;
            kept += watched[i].bytes;
        }
    return false;
}

/* A tree that wakes has not rested. */
static void wake_one_tree(const SapSleep *sleep, int world, int tree) {
    quiet_of(sleep, world)[tree] = 0;
    if (sleep->tree_rest)
        sleep->tree_rest[(size_t)world * (size_t)sleep->num_trees + (size_t)tree] = 0;
}

static void wake_world(SapSleep *sleep, int world) {
    for (int t = 0; t < sleep->num_trees; t++)
        wake_one_tree(sleep, world, t);
    sleep->dofs[world] = 0;
    sleep->version[world]++;
    sleep->asleep[world] = AWAKE;
}

/* Some trees of a world sleep only while at least half of its dofs do: its awake trees are stepped with one lane, and
 * with fewer sleeping dofs a pack of whole worlds is faster. */
static bool pays(int nv, int dofs) {
    return 2 * dofs >= nv;
}

/* Wakes a sleeping tree with its island. */
static void wake_tree(SapSleep *sleep, int nv, int world, int tree) {
    int *quiet = quiet_of(sleep, world), *island = island_of(sleep, world), number = island[tree];
    for (int t = 0; t < sleep->num_trees; t++)
        if (quiet[t] == ASLEEP && island[t] == number) {
            wake_one_tree(sleep, world, t);
            sleep->dofs[world] -= sleep->num_dofs[t];
        }
    sleep->version[world]++;
    if (!pays(nv, sleep->dofs[world]))
        wake_world(sleep, world);
}

/* The tree that element i of a watched row belongs to; -1: to no tree. */
static int watched_tree(const SapSleep *sleep, int row, size_t i) {
    switch (row) {
    case WATCHED_Q: return sleep->coord_tree[i];
    case WATCHED_BODY_F: return sleep->body_tree[i / 6];
    case WATCHED_TENDONS:
    case WATCHED_TENDONS + 1:
    case WATCHED_TENDONS + 2:
    case WATCHED_TENDONS + 3:
    case WATCHED_ACTIVE: return -1;
    default: return sleep->dof_tree[i];
    }
}

/* Wakes the sleeping trees of a world whose numbers changed, with their islands; tendons and constraints wake the
 * world. */
static void wake_changed_trees(SapSleep *sleep, int nv, const Watched *watched, int world) {
    const char *kept = sleep->kept + (size_t)world * (sleep->kept_bytes + 1);
    const int *quiet = quiet_of(sleep, world);
    for (int row = 0; row < NUM_WATCHED; kept += watched[row++].bytes) {
        size_t size = watched[row].size;
        if (watched[row].bytes == 0)
            continue;
        const char *now = watched[row].data + (size_t)world * watched[row].bytes;
        if (memcmp(now, kept, watched[row].bytes) == 0)
            continue;
        for (size_t i = 0; i * size < watched[row].bytes && sleep->asleep[world] == TREES_SLEEP; i++) {
            if (memcmp(now + i * size, kept + i * size, size) == 0)
                continue;
            int tree = watched_tree(sleep, row, i);
            if (tree < 0)
                wake_world(sleep, world);
            else if (quiet[tree] == ASLEEP)
                wake_tree(sleep, nv, world, tree);
        }
    }
}

/* Wakes a world, or trees of it, if its numbers changed since they fell asleep. */
static void wake_changed(SapSleep *sleep, const SapStepArgs *args, const Watched *watched, int w,
                         bool other_parameters) {
    bool changed = sleep->asleep[w] != sleep->known[w]; /* the caller or a reset woke it */
    if (!changed && sleep->asleep[w] == AWAKE)
        return;
    changed |= other_parameters;
    if (changed || (sleep->asleep[w] == WORLD_SLEEPS && rows_changed(sleep, watched, w)))
        wake_world(sleep, w);
    else if (sleep->asleep[w] == TREES_SLEEP && !args->body_q.data)
        wake_world(sleep, w);
    else if (sleep->asleep[w] == TREES_SLEEP)
        wake_changed_trees(sleep, args->plan.nv, watched, w);
}

/* Reads the parameters of a world that sleeps. */
static void refresh_parameters(SapSolver *s, int world) {
    if (s->per_world.count > 0 && s->sleep->asleep[world] != AWAKE)
        sap_per_world_refresh(&s->per_world, world);
}

static void wake(SapSolver *s, const SapStepArgs *args, const Watched *watched) {
    for (int w = 0; w < s->num_worlds; w++) {
        refresh_parameters(s, w);
        /* includes values that another call has read since */
        wake_changed(s->sleep, args, watched, w, sap_per_world_take_change(&s->per_world, w));
    }
}

/* ---- falling asleep ---- */

static void zero_row(SapBuffer b, int world, int width) {
    size_t element = sap_real_bytes(b.is_f64);
    if (b.data)
        memset((char *)b.data + (size_t)world * (size_t)width * element, 0, (size_t)width * element);
}

/* Whether every dof of a tree is slower than sleep_speed. */
static bool tree_rests(const SapSleep *sleep, const SapStepArgs *a, int world, int tree) {
    for (int k = sleep->first_dof[tree]; k < sleep->first_dof[tree + 1]; k++) {
        int i = sleep->dof[k];
        double v =
            sap_number_at(a->qd_out.data, a->qd_out.is_f64, (size_t)world * (size_t)a->qd_out.stride + (size_t)i);
        if (!(sleep->length[i] * fabs(v) < sleep->speed))
            return false;
    }
    return true;
}

/* Counts the steps at rest of the trees that are awake; returns the smallest count, *most the largest. */
static int count_quiet(SapSleep *sleep, const SapStepArgs *a, int world, int *most) {
    int *quiet = quiet_of(sleep, world), least = sleep->steps;
    bool failed = (a->status[world] & SAP_WORLD_FAILED) != 0;
    *most = 0;
    for (int t = 0; t < sleep->num_trees; t++) {
        if (quiet[t] == ASLEEP)
            continue;
        bool rests = !failed && tree_rests(sleep, a, world, t);
        quiet[t] = !rests ? 0 : quiet[t] < sleep->steps ? quiet[t] + 1 : quiet[t];
        least = quiet[t] < least ? quiet[t] : least;
        *most = quiet[t] > *most ? quiet[t] : *most;
    }
    return least;
}

/* ---- islands ---- */

static int root_of(const int *group, int t) {
    while (group[t] != t)
        t = group[t];
    return t;
}

static int shape_tree(const SapSleep *sleep, const SapPlan *p, int shape) {
    return shape < 0 || p->shape_link[shape] < 0 ? -1 : sleep->tree[p->shape_link[shape]];
}

/* Trees that touch each other in the records of the step have the same root, the smallest tree of the island. */
static void find_islands(const SapSleep *sleep, const SapStepArgs *a, int world) {
    const SapContactArgs *c = &a->contacts;
    for (int t = 0; t < sleep->num_trees; t++)
        sleep->group[t] = t;
    for (int k = 0; k < c->count[world]; k++) {
        size_t at = (size_t)world * (size_t)c->given_capacity + (size_t)k;
        int x = shape_tree(sleep, &a->plan, c->shape[0][at]), y = shape_tree(sleep, &a->plan, c->shape[1][at]);
        if (x < 0 || y < 0)
            continue;
        x = root_of(sleep->group, x);
        y = root_of(sleep->group, y);
        sleep->group[x > y ? x : y] = x > y ? y : x;
    }
}

/* Marks the roots of islands that may sleep: all their trees have rested long enough. Returns the number of their
 * dofs. */
static int mark_resting(SapSleep *sleep, int world) {
    const int *quiet = quiet_of(sleep, world);
    int dofs = 0;
    for (int t = 0; t < sleep->num_trees; t++)
        sleep->flag[t] = quiet[t] != ASLEEP;
    for (int t = 0; t < sleep->num_trees; t++)
        if (quiet[t] != ASLEEP && (quiet[t] < sleep->steps || sleep->bound[t]))
            sleep->flag[root_of(sleep->group, t)] = false;
    for (int t = 0; t < sleep->num_trees; t++)
        if (quiet[t] != ASLEEP && sleep->flag[root_of(sleep->group, t)])
            dofs += sleep->num_dofs[t];
    return dofs;
}

static void zero_at(SapBuffer b, int world, int i) {
    size_t element = sap_real_bytes(b.is_f64);
    if (b.data)
        memset((char *)b.data + ((size_t)world * (size_t)b.stride + (size_t)i) * element, 0, element);
}

/* The velocities of trees that sleep are 0. */
static void stop_trees(const SapSleep *sleep, const SapStepArgs *a, int world) {
    const int *quiet = quiet_of(sleep, world);
    for (int i = 0; i < a->plan.nv; i++)
        if (quiet[sleep->dof_tree[i]] == ASLEEP)
            zero_at(a->qd_out, world, i);
    for (int i = 0; i < 6 * a->plan.nb; i++)
        if (quiet[sleep->body_tree[i / 6]] == ASLEEP)
            zero_at(a->body_qd, world, i);
}

/* Puts the islands of a world to sleep that have rested long enough. Without all contacts islands are not known, and
 * without poses of bodies not where they sleep. */
static void settle_islands(SapSleep *sleep, const SapStepArgs *a, const Watched *watched, int world) {
    if (a->contacts.dropped[world] > 0 || !a->body_q.data)
        return;
    find_islands(sleep, a, world);
    int dofs = mark_resting(sleep, world), *quiet = quiet_of(sleep, world);
    if (dofs == 0 || !pays(a->plan.nv, sleep->dofs[world] + dofs))
        return;
    for (int t = 0; t < sleep->num_trees; t++) {
        int root = root_of(sleep->group, t);
        if (quiet[t] == ASLEEP || !sleep->flag[root])
            continue;
        quiet[t] = ASLEEP;
        island_of(sleep, world)[t] = root;
    }
    sleep->dofs[world] += dofs;
    sleep->version[world]++;
    sleep->asleep[world] = TREES_SLEEP;
    stop_trees(sleep, a, world);
    keep_rows(sleep, watched, world, NUM_WATCHED);
}

/* After a step: counts the steps at rest. A world that has rested for long enough stops, with velocities of 0; else its
 * islands may. */
static void settle(SapSolver *s, const SapStepArgs *a, const Watched *watched, int count) {
    SapSleep *sleep = s->sleep;
    for (int k = 0; k < count; k++) {
        int w = sleep->list[k], most;
        sleep->seen[w] |= a->status[w];
        if (count_quiet(sleep, a, w, &most) >= sleep->steps) {
            zero_row(a->qd_out, w, a->plan.nv);
            zero_row(a->body_qd, w, 6 * a->plan.nb);
            keep_rows(sleep, watched, w, NUM_WATCHED);
            sleep->asleep[w] = WORLD_SLEEPS;
        } else if (most >= sleep->steps && sleep->num_trees > 1) {
            settle_islands(sleep, a, watched, w);
        }
    }
}

/* ---- worlds that sleep in part ---- */

typedef struct PartJob {
    SapSolver *solver;
    const SapStepArgs *args;
    bool step; /* step the trees that are awake; else wake those that they touch */
} PartJob;

/* Wakes the trees of the contact records that sleep. */
static void wake_touched(SapSleep *sleep, const SapStepArgs *a, int world) {
    const SapContactArgs *c = &a->contacts;
    for (int k = 0; k < c->count[world]; k++)
        for (int side = 0; side < 2; side++) {
            int t = shape_tree(sleep, &a->plan, c->shape[side][(size_t)world * (size_t)c->given_capacity + (size_t)k]);
            if (t >= 0 && quiet_of(sleep, world)[t] == ASLEEP)
                wake_tree(sleep, a->plan.nv, world, t);
        }
}

static void run_part(const PartJob *job, int world, int worker) {
    SapSleep *sleep = job->solver->sleep;
    SapActiveSubtree *awake = sleep->worker[worker];
    bool *in_part = sleep->in_part + (size_t)worker * (size_t)sleep->num_trees;
    for (int t = 0; t < sleep->num_trees; t++)
        in_part[t] = quiet_of(sleep, world)[t] != ASLEEP;
    sap_active_subtree_choose(awake, job->solver, job->args,
                              (SapSubtreeChoice){world, sleep->version[world], sleep->tree, in_part});
    if (job->step) {
        sap_active_subtree_step(awake, job->solver, job->args, worker);
        return;
    }
    sap_active_subtree_touch(awake, job->solver, job->args, worker);
    wake_touched(sleep, job->args, world);
}

static void run_parts(void *arg, int worker, int num_workers) {
    const PartJob *job = arg;
    SapSolver *s = job->solver;
    int from = worker;
    for (int k; (k = sap_work_ranges_take(s->ranges, worker, num_workers, &from)) >= 0;)
        run_part(job, s->sleep->list[k], worker);
}

static void run_part_job(SapSolver *s, const SapStepArgs *args, int count, bool step) {
    PartJob job = {.solver = s, .args = args, .step = step};
    if (count == 0)
        return;
    sap_work_ranges_start(s->ranges, s->threads, count);
    sap_pool_run(s->pool, run_parts, &job);
}

/* ---- reports ---- */

static bool tree_sleeps(const SapSleep *sleep, int world, int tree) {
    return sleep->asleep[world] == WORLD_SLEEPS || quiet_of(sleep, world)[tree] == ASLEEP;
}

/* After `time` seconds: how long each tree has rested. */
static void count_rest(const SapSleep *sleep, int num_worlds, double time) {
    for (int w = 0; w < num_worlds && sleep->tree_rest; w++)
        for (int t = 0; t < sleep->num_trees; t++) {
            double *rest = &sleep->tree_rest[(size_t)w * (size_t)sleep->num_trees + (size_t)t];
            bool rests = tree_sleeps(sleep, w, t) || quiet_of(sleep, w)[t] > 0;
            *rest = rests ? *rest + time : 0;
        }
}

static void report_trees(const SapSleep *sleep, int num_worlds) {
    for (int w = 0; w < num_worlds && sleep->tree_asleep; w++)
        for (int t = 0; t < sleep->num_trees; t++)
            sleep->tree_asleep[(size_t)w * (size_t)sleep->num_trees + (size_t)t] = tree_sleeps(sleep, w, t);
}

void sap_sleep_record_trees(SapSleep *sleep, int32_t *tree_asleep, double *tree_rest) {
    sleep->tree_asleep = tree_asleep;
    sleep->tree_rest = tree_rest;
}

/* ---- steps ---- */

static int list_worlds(SapSolver *s, int32_t state) {
    int count = 0;
    for (int w = 0; w < s->num_worlds; w++)
        if (s->sleep->asleep[w] == state)
            s->sleep->list[count++] = w;
    return count;
}

static int list_not_asleep(SapSolver *s) {
    int count = 0;
    for (int w = 0; w < s->num_worlds; w++)
        if (s->sleep->asleep[w] != WORLD_SLEEPS)
            s->sleep->list[count++] = w;
    return count;
}

/* One step of all worlds that are not asleep; false if there is none. Trees wake before the contacts of the step are
 * found, and fall asleep after it. */
static bool take_step(SapSolver *s, const SapStepArgs *one, const Watched *watched) {
    run_part_job(s, one, list_worlds(s, TREES_SLEEP), false);
    int whole = list_worlds(s, AWAKE);
    if (whole > 0)
        sap_solver_run(s, &(SapRun){.args = one, .program = sap_program_step, .list = s->sleep->list, .count = whole});
    run_part_job(s, one, list_worlds(s, TREES_SLEEP), true);
    int count = list_not_asleep(s);
    settle(s, one, watched, count);
    return count > 0;
}

void sap_sleep_steps(SapSolver *s, const SapStepArgs *args, int num_steps) {
    SapSleep *sleep = s->sleep;
    SapStepArgs one = *args;
    Watched watched[NUM_WATCHED];
    one.num_steps = 1;
    watch_all(args, watched);
    wake(s, args, watched);
    memset(sleep->seen, 0, (size_t)s->num_worlds * sizeof *sleep->seen);
    int step = 0;
    for (; step < num_steps && take_step(s, &one, watched); step++)
        count_rest(sleep, s->num_worlds, args->h);
    count_rest(sleep, s->num_worlds, args->h * (num_steps - step));
    report_trees(sleep, s->num_worlds);
    for (int w = 0; w < s->num_worlds; w++)
        args->status[w] |= sleep->seen[w] & SAP_WORLD_LASTING;
    memcpy(sleep->known, sleep->asleep, (size_t)s->num_worlds * sizeof *sleep->known);
    int parts = list_worlds(s, TREES_SLEEP);
    for (int k = 0; k < parts; k++) /* changes by the awake trees do not wake */
        keep_rows(sleep, watched, sleep->list[k], WATCHED_QD + 1);
}

/* ---- saved states ---- */

int sap_sleep_row_size(const SapSleep *sleep) {
    return sleep ? 1 + 2 * sleep->num_trees : 0;
}

/* The row of a world: asleep, the steps at rest of its trees, their islands. */
static void copy_row(const SapSleep *sleep, int world, int32_t *row) {
    size_t trees = (size_t)sleep->num_trees;
    row[0] = sleep->asleep[world];
    memcpy(row + 1, quiet_of(sleep, world), trees * sizeof *row);
    memcpy(row + 1 + trees, island_of(sleep, world), trees * sizeof *row);
}

static void set_row(SapSleep *sleep, int world, const int32_t *row) {
    size_t trees = (size_t)sleep->num_trees;
    sleep->asleep[world] = row[0];
    memcpy(quiet_of(sleep, world), row + 1, trees * sizeof *row);
    memcpy(island_of(sleep, world), row + 1 + trees, trees * sizeof *row);
    sleep->dofs[world] = 0;
    for (int t = 0; t < sleep->num_trees; t++)
        sleep->dofs[world] += row[1 + t] == ASLEEP ? sleep->num_dofs[t] : 0;
    sleep->version[world]++;
}

void sap_sleep_get(SapSolver *s, const SapStepArgs *args, int32_t *rows) {
    SapSleep *sleep = s->sleep;
    Watched watched[NUM_WATCHED];
    double *reported = sleep->tree_rest;
    int size = sap_sleep_row_size(sleep);
    sleep->tree_rest = NULL; /* nothing wakes yet */
    watch_all(args, watched);
    for (int w = 0; w < s->num_worlds; w++) {
        int32_t *row = rows + (size_t)w * (size_t)size, *now = sleep->row;
        copy_row(sleep, w, now);
        refresh_parameters(s, w);
        wake_changed(sleep, args, watched, w, s->per_world.changed && s->per_world.changed[w]);
        copy_row(sleep, w, row);
        set_row(sleep, w, now);
    }
    sleep->tree_rest = reported;
}

static SapStatus check_row(const SapSleep *sleep, const char *what, int world, const int32_t *row) {
    int sleeping = 0;
    if (row[0] < AWAKE || row[0] > TREES_SLEEP)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: world %d: asleep is %d; allowed: 0, 1, 2", what, world, (int)row[0]);
    for (int t = 0; t < sleep->num_trees; t++) {
        int quiet = row[1 + t], island = row[1 + sleep->num_trees + t];
        sleeping += quiet == ASLEEP;
        if (quiet < ASLEEP || quiet > sleep->steps)
            return sap_fail(SAP_ERROR_ARGUMENT, "%s: world %d: tree %d rests for %d steps; allowed: -1 .. %d", what,
                            world, t, quiet, sleep->steps);
        if (island < 0 || island >= sleep->num_trees)
            return sap_fail(SAP_ERROR_ARGUMENT, "%s: world %d: the island of tree %d is %d; allowed: 0 .. %d", what,
                            world, t, island, sleep->num_trees - 1);
    }
    if ((sleeping > 0 && row[0] == AWAKE) || (sleeping == 0 && row[0] == TREES_SLEEP))
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: world %d: asleep is %d, and %d of its trees sleep", what, world,
                        (int)row[0], sleeping);
    return SAP_OK;
}

SapStatus sap_sleep_set(SapSolver *s, const char *what, const SapStepArgs *args, const uint8_t *mask,
                        const int32_t *rows) {
    SapSleep *sleep = s->sleep;
    Watched watched[NUM_WATCHED];
    size_t size = (size_t)sap_sleep_row_size(sleep);
    for (int w = 0; w < s->num_worlds; w++)
        if (!mask || mask[w])
            SAP_TRY(check_row(sleep, what, w, rows + (size_t)w * size));
    watch_all(args, watched);
    for (int w = 0; w < s->num_worlds; w++) {
        if (mask && !mask[w])
            continue;
        set_row(sleep, w, rows + (size_t)w * size);
        sleep->known[w] = sleep->asleep[w];
        if (s->per_world.count > 0)
            sap_per_world_refresh(&s->per_world, w);
        sap_per_world_take_change(&s->per_world, w);
        keep_rows(sleep, watched, w, NUM_WATCHED);
    }
    return SAP_OK;
}
