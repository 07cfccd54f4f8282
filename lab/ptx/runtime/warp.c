/* What the lanes of a warp do together: sync, shuffle, vote, match, reduce. Each lane leaves a request; the last lane
 * of the mask to arrive computes the results of all. A mask may name any lanes, so teams smaller than a warp work side
 * by side. */
#include "executor.h"

#include <stdlib.h>

#define FOR_LANES(l, set)                                                                                              \
    for (u32 rest_##l = (set), l; rest_##l && (l = (u32)__builtin_ctz(rest_##l), 1); rest_##l &= rest_##l - 1)

void ptx_reset_warps(void) {
    Executor *e = &ptx_executor;
    for (u32 i = 0; i < e->num_warps; i++) {
        u32 lanes = e->threads - i * WARP_SIZE;
        e->warps[i] = (Warp){.lanes = lanes >= WARP_SIZE ? ~0u : (1u << lanes) - 1};
    }
}

/* ---- results */

/* PTX ISA, shfl.sync: the clamp holds the last lane of the segment, or the first for `up`, and the mask of segments. */
static u32 shuffle_source(const WarpRequest *r, u32 l, u8 *in_range) {
    u32 segment = r->clamp >> 8 & 31, limit = r->clamp & 31, b = r->lane & 31;
    u32 last = (l & segment) | (limit & ~segment), first = l & segment;
    int j = 0;
    switch ((ShuffleMode)r->mode) {
    case SHUFFLE_UP:
        j = (int)l - (int)b;
        *in_range = j >= (int)last;
        break;
    case SHUFFLE_DOWN:
        j = (int)(l + b);
        *in_range = j <= (int)last;
        break;
    case SHUFFLE_BFLY:
        j = (int)(l ^ b);
        *in_range = j <= (int)last;
        break;
    case SHUFFLE_IDX:
        j = (int)(first | (b & ~segment));
        *in_range = j <= (int)last;
        break;
    }
    return *in_range ? (u32)j : l;
}

static void shuffle_all(Warp *w, Fiber *fibers, u32 lanes) {
    FOR_LANES(l, lanes) {
        WarpRequest *r = &w->request[l];
        u32 source = shuffle_source(r, l, &r->flag);
        r->result = (u32)w->request[source].value;
        if (lanes >> source & 1)
            continue;
        ptx_report_once(&fibers[l].thread, r->site, source,
                        "shuffle from lane %u, which is not in the mask %08x or has ended", source, r->mask);
        r->result = ~0u;
    }
}

static void vote_all(Warp *w, u32 lanes) {
    u32 ballot = 0;
    FOR_LANES(l, lanes) {
        ballot |= (u32)(w->request[l].value != 0) << l;
    }
    FOR_LANES(l, lanes) {
        WarpRequest *r = &w->request[l];
        switch ((VoteMode)r->mode) {
        case VOTE_ALL: r->result = ballot == lanes; break;
        case VOTE_ANY: r->result = ballot != 0; break;
        case VOTE_UNI: r->result = ballot == 0 || ballot == lanes; break;
        case VOTE_BALLOT: r->result = ballot; break;
        }
    }
}

static void match_all(Warp *w, u32 lanes) {
    FOR_LANES(l, lanes) {
        WarpRequest *r = &w->request[l];
        u32 same = 0;
        FOR_LANES(k, lanes) {
            same |= (u32)(w->request[k].value == r->value) << k;
        }
        r->flag = r->mode == MATCH_ANY || same == lanes;
        r->result = r->flag ? same : 0;
    }
}

static u32 combine(WarpOperation operation, int is_signed, u32 a, u32 b) {
    int less = is_signed ? (s32)a < (s32)b : a < b;
    switch (operation) {
    case WARP_ADD: return a + b;
    case WARP_MIN: return less ? a : b;
    case WARP_MAX: return less ? b : a;
    case WARP_AND: return a & b;
    case WARP_OR: return a | b;
    case WARP_XOR: return a ^ b;
    }
    return 0;
}

static void reduce_all(Warp *w, u32 lanes) {
    const WarpRequest *first = &w->request[__builtin_ctz(lanes)];
    u32 result = (u32)first->value;
    FOR_LANES(l, lanes & (lanes - 1)) {
        result = combine((WarpOperation)first->mode, first->is_signed, result, (u32)w->request[l].value);
    }
    FOR_LANES(l, lanes) {
        w->request[l].result = result;
    }
}

/* Only a sync orders memory; the others exchange registers. */
static void sync_all(u32 first_thread, u32 lanes) {
    if (!ptx_is_race_checked())
        return;
    u32 joined[MAX_THREADS] = {0};
    FOR_LANES(l, lanes) {
        ptx_join_clocks(joined, first_thread + l);
    }
    FOR_LANES(l, lanes) {
        ptx_take_clocks(joined, first_thread + l);
    }
}

/* ---- meeting */

/* The lanes of the mask that take part, if all of them wait with the same operation and mask; else 0. */
static u32 ready_lanes(const Warp *w, u32 mask) {
    u32 lanes = mask & w->lanes & ~w->ended;
    if (!lanes || (w->waiting & lanes) != lanes)
        return 0;
    const WarpRequest *first = &w->request[__builtin_ctz(lanes)];
    FOR_LANES(l, lanes) {
        if (w->request[l].mask != mask || w->request[l].kind != first->kind || w->request[l].mode != first->mode)
            return 0;
    }
    return lanes;
}

static void complete(u32 warp, u32 lanes) {
    Executor *e = &ptx_executor;
    Warp *w = &e->warps[warp];
    Fiber *fibers = &e->fibers[warp * WARP_SIZE];
    switch (w->request[__builtin_ctz(lanes)].kind) {
    case WARP_SYNC: sync_all(warp * WARP_SIZE, lanes); break;
    case WARP_SHUFFLE: shuffle_all(w, fibers, lanes); break;
    case WARP_VOTE: vote_all(w, lanes); break;
    case WARP_MATCH: match_all(w, lanes); break;
    case WARP_REDUCE: reduce_all(w, lanes); break;
    }
    w->waiting &= ~lanes;
    FOR_LANES(l, lanes) {
        fibers[l].state = RUNNING;
    }
}

static void try_mask(u32 warp, u32 mask) {
    u32 lanes = ready_lanes(&ptx_executor.warps[warp], mask);
    if (lanes)
        complete(warp, lanes);
}

void ptx_lane_ended(Thread *t) {
    Warp *w = &ptx_executor.warps[t->warp];
    w->ended |= 1u << t->lane;
    FOR_LANES(l, w->waiting) {
        if (w->waiting >> l & 1)
            try_mask(t->warp, w->request[l].mask);
    }
}

static WarpRequest *meet(Thread *t, WarpRequest request) {
    Warp *w = &ptx_executor.warps[t->warp];
    if (!(request.mask >> t->lane & 1)) {
        ptx_report(t, request.site, "lane %u is not in its own mask %08x", t->lane, request.mask);
        ptx_fail(t, PTX_TRAP);
    }
    w->request[t->lane] = request;
    w->waiting |= 1u << t->lane;
    fiber_of(t)->state = AT_WARP;
    try_mask(t->warp, request.mask);
    if (fiber_of(t)->state == AT_WARP)
        ptx_wait(fiber_of(t), AT_WARP, request.site);
    return &w->request[t->lane];
}

void ptx_sync_warp(Thread *t, u32 mask, u32 site) {
    if (ptx_is_skipped(site))
        return;
    meet(t, (WarpRequest){.kind = WARP_SYNC, .mask = mask, .site = site});
}

u32 ptx_shuffle(Thread *t, ShuffleMode mode, u32 value, u32 lane, u32 clamp, u32 mask, u8 *in_range, u32 site) {
    WarpRequest *r = meet(t, (WarpRequest){.kind = WARP_SHUFFLE,
                                           .mode = mode,
                                           .mask = mask,
                                           .site = site,
                                           .value = value,
                                           .lane = lane,
                                           .clamp = clamp});
    *in_range = r->flag;
    return r->result;
}

u32 ptx_vote(Thread *t, VoteMode mode, u32 predicate, u32 mask, u32 site) {
    return meet(t, (WarpRequest){.kind = WARP_VOTE, .mode = mode, .mask = mask, .site = site, .value = predicate})
        ->result;
}

u32 ptx_match(Thread *t, MatchMode mode, u64 value, u32 mask, u8 *all, u32 site) {
    WarpRequest *r =
        meet(t, (WarpRequest){.kind = WARP_MATCH, .mode = mode, .mask = mask, .site = site, .value = value});
    *all = r->flag;
    return r->result;
}

u32 ptx_reduce_warp(Thread *t, WarpOperation operation, int is_signed, u32 value, u32 mask, u32 site) {
    return meet(t, (WarpRequest){.kind = WARP_REDUCE,
                                 .mode = operation,
                                 .mask = mask,
                                 .site = site,
                                 .is_signed = is_signed,
                                 .value = value})
        ->result;
}

u32 ptx_elect(Thread *t, u32 mask, u8 *is_leader, u32 site) {
    u32 lanes = ptx_vote(t, VOTE_BALLOT, 1, mask, site);
    u32 leader = (u32)__builtin_ctz(lanes);
    *is_leader = leader == t->lane;
    return leader;
}
