/* Threads per world: a team of 8 for most robots. Four worlds then share a warp, whose threads are busier than those of
 * a larger team: much of a step is a loop over fewer links, dofs or contacts than a warp has threads. Worlds of up to
 * 32 threads share a warp; a block is then one warp, so no world waits for another warp.
 *
 * What every iteration of a solve reads is in shared memory if it fits: free motion, the problem, and the slots of
 * worlds with few contacts. The set-up of contacts, the slots of worlds with more contacts, tiles and second attempts
 * in f64 are in global memory. If the rest does not fit either, its largest arenas move to global memory too. Generic
 * addresses hide the difference from the kernels.
 *
 * A thread that steps a world alone has the same in its local memory, with the set-up. If that is too small, a team
 * steps the world. */
#include "host/cuda/launch_shape.h"

#include <limits.h>
#include <stdbool.h>

#include "host/base/fail.h"
#include "host/plan/layout.h"

enum { WARP = 32, BANKS_BYTES = 128, SLOTS_PER_TREE = 8 };

static int choose_team(int nv) {
    return nv <= 24 ? 8 : nv <= 48 ? 16 : nv <= 96 ? 32 : 128;
}

/* Contact slots in shared memory. A robot or an object, which is a tree of links, rarely has more than 8 contacts. */
static int choose_few_slots(const SapStepArgs *args, int shared_limit) {
    const SapPlan *plan = &args->plan;
    int slots = args->contacts.num_slots, trees = plan->num_levels > 0 ? plan->level_start[1] : 1;
    return shared_limit == 0 || trees >= slots / SLOTS_PER_TREE ? slots : SLOTS_PER_TREE * trees;
}

static long long round_up(long long bytes, int to) {
    return (bytes + to - 1) / to * to;
}

static long long arena_bytes(size_t bytes) {
    return round_up((long long)bytes, SAP_PART_ALIGNMENT);
}

/* The worlds of a warp access the same offset of their scratch at the same time. Their scratch is offset by half of the
 * banks: doubles of two teams of 8 threads and floats of two teams of 16 then have no bank conflicts, and other sizes
 * have half as many. */
static long long apart(long long bytes) {
    bytes = round_up(bytes, SAP_ARENA_ALIGNMENT);
    return bytes > 0 && bytes % BANKS_BYTES == 0 ? bytes + SAP_ARENA_ALIGNMENT : bytes;
}

/* The arenas of a world: sap_arena_bytes, then the slots of worlds with many contacts, and their set-up if
 * they have their own. */
enum { MORE_SLOTS = SAP_NUM_ARENAS, MORE_JACOBIANS, MORE_INTS, MORE_SETUP, MORE_SETUP_INTS, NUM_ARENAS };

typedef struct Scratch {
    long long bytes[NUM_ARENAS];
    bool outside[NUM_ARENAS]; /* in global memory */
} Scratch;

/* Moves the largest arena in shared memory to global memory; false if there is none. */
static bool move_largest(Scratch *s) {
    int largest = -1;
    for (int i = 0; i < NUM_ARENAS; i++)
        if (!s->outside[i] && s->bytes[i] > 0 && (largest < 0 || s->bytes[i] > s->bytes[largest]))
            largest = i;
    if (largest >= 0)
        s->outside[largest] = true;
    return largest >= 0;
}

static long long shared_sum(const Scratch *s) {
    long long sum = 0;
    for (int i = 0; i < NUM_ARENAS; i++)
        sum += s->outside[i] ? 0 : s->bytes[i];
    return sum;
}

/* The offset of a part of an arena. */
static int within(int arena, size_t part) {
    return arena >= 0 ? arena + (int)part : ~(~arena + (int)part);
}

/* Assigns offsets: from 0 in shared memory, ~offset in the workspace, whose arenas begin at whole lines. end: where the
 * memory of collision ends that is a part of others, or 0. False if an offset is too large. */
static bool place_arenas(const Scratch *s, const SapStepArgs *args, SapSharedScratch parts, long long end,
                         SapArenas *a) {
    int *const at[NUM_ARENAS] = {
#define X(name, member, ...) [SAP_ARENA_##name] = &a->member,
#define SLOT(name, member, ...)                                                                                        \
    [SAP_ARENA_##name] = &a->few.member, [MORE_SLOTS + SAP_ARENA_##name - SAP_ARENA_SLOTS] = &a->more.member,
        SAP_EACH_ARENA(X, SLOT)
#undef X
#undef SLOT
    };
    /* Place each arena behind the one before it in its memory. */
    long long shared = 0, workspace = 0;
    for (int i = 0; i < NUM_ARENAS; i++) {
        long long *next = s->outside[i] ? &workspace : &shared;
        if (i == SAP_ARENA_PACK_INTS && end > shared)
            shared = end;
        if (*next > INT_MAX - s->bytes[i])
            return false;
        *at[i] = s->outside[i] ? ~(int)*next : (int)*next;
        *next += s->outside[i] ? round_up(s->bytes[i], SAP_ARENA_ALIGNMENT) : s->bytes[i];
    }
    /* Parts of other arenas: the solve and one linear system in free motion's; set-up that is shared. */
    a->solve = within(a->fm, parts.solve);
    a->linear[0] = a->linear[1];
    a->linear[args->newton.linear_is_f64] = within(a->fm, parts.linear);
    if (s->bytes[MORE_SETUP] == 0) {
        a->more.setup = a->few.setup;
        a->more.setup_ints = a->few.setup_ints;
    }
    a->size = (int)apart(shared);
    a->workspace_size = workspace;
    return true;
}

/* Whether a kernel has an arena of its own. Both kernels use free motion's; each computes the part that it needs. */
static bool uses(SapKernelKind part, int arena) {
    bool of_collision = arena == SAP_ARENA_COLLIDE || arena == SAP_ARENA_PAIRS;
    return arena == SAP_ARENA_FM || of_collision == (part == SAP_CUDA_COLLIDE);
}

/* The arenas of a kernel, with those that are always in global memory there. own_setup: worlds with few contacts have
 * set-up in fast memory. */
static Scratch scratch_of(SapKernelKind part, const SapStepArgs *args, int few_slots, bool own_setup) {
    static const int real_bytes[2] = {sizeof(float), sizeof(double)};
    size_t few[SAP_NUM_ARENAS], all[SAP_NUM_ARENAS];
    Scratch s = {{0}, {false}};
    sap_arena_bytes(args, few_slots, real_bytes, few);
    sap_arena_bytes(args, args->contacts.num_slots, real_bytes, all);
    int first_outside = own_setup ? SAP_ARENA_TILES : SAP_ARENA_SLOT_SETUP;
    for (int i = 0; i < SAP_NUM_ARENAS; i++) {
        s.outside[i] = i >= first_outside && i <= SAP_ARENA_LINEAR64;
        s.bytes[i] = uses(part, i) ? arena_bytes((s.outside[i] ? all : few)[i]) : 0;
    }
    if (part == SAP_CUDA_COLLIDE) /* kinematics only */
        s.bytes[SAP_ARENA_FM] = arena_bytes((size_t)args->plan.layout.I * (size_t)real_bytes[args->fm_is_f64]);
    for (int i = 0; MORE_SLOTS + i < NUM_ARENAS; i++) {
        bool some_have_more = part != SAP_CUDA_COLLIDE && few_slots < args->contacts.num_slots;
        bool own = SAP_ARENA_SLOTS + i < first_outside;
        s.bytes[MORE_SLOTS + i] = some_have_more && own ? arena_bytes(all[SAP_ARENA_SLOTS + i]) : 0;
        s.outside[MORE_SLOTS + i] = true;
    }
    return s;
}

static SapStatus too_large(const SapStepArgs *args) {
    return sap_fail(SAP_ERROR_MEMORY, "device cuda: %d contacts of %d dofs are too many for one world",
                    args->contacts.capacity, args->plan.nv);
}

/* ---- collision in the step ---- */

/* Whether everything that a step has in fast memory before the integers of the pack is there. */
static bool is_all_fast(const Scratch *s) {
    bool outside = false;
    for (int i = SAP_ARENA_FM; i <= SAP_ARENA_SLOT_INTS; i++)
        outside |= s->outside[i];
    return !outside;
}

/* Places the arenas of a kernel; limit: most bytes of a world in fast memory.
 *
 * Collision of a fused step reads the kinematics of free motion and ends before contact slots are filled, so it has the
 * memory of the other parts of free motion and of the slots. Its integers come first, in free motion's: a thread
 * may fill its slots while another one still reads how many pairs are left. If that does not fit, it has workspace. */
static SapStatus place_part(SapKernelKind part, const SapStepArgs *args, long long limit, Scratch *s, SapArenas *a) {
    static const int real_bytes[2] = {sizeof(float), sizeof(double)};
    size_t bytes[SAP_NUM_ARENAS];
    sap_arena_bytes(args, 0, real_bytes, bytes);
    long long pairs = arena_bytes((size_t)args->plan.layout.I * (size_t)real_bytes[args->fm_is_f64]),
              collide = pairs + arena_bytes(bytes[SAP_ARENA_PAIRS]),
              end = collide + arena_bytes(bytes[SAP_ARENA_COLLIDE]);
    bool fused = part == SAP_CUDA_FUSED_STEP,
         shares = fused && is_all_fast(s) && apart(end + s->bytes[SAP_ARENA_PACK_INTS]) <= limit;
    for (int i = SAP_ARENA_COLLIDE; fused && !shares && i <= SAP_ARENA_PAIRS; i++) {
        s->bytes[i] = arena_bytes(bytes[i]);
        s->outside[i] = true;
    }
    if (!place_arenas(s, args, sap_shared_scratch(args, real_bytes), shares ? end : 0, a))
        return too_large(args);
    a->in_step = fused;
    if (shares) {
        a->pairs = (int)pairs;
        a->collide = (int)collide;
    }
    return SAP_OK;
}

/* ---- the shapes ---- */

SapStatus sap_cuda_launch_shape(const SapOptions *options, int shared_limit, SapKernelKind part,
                                const SapStepArgs *args, SapArenas *arenas, SapCudaShape *out) {
    int wanted = options->shared_memory, limit = wanted > 0 && wanted < shared_limit ? wanted : shared_limit;
    arenas->few_slots = choose_few_slots(args, shared_limit);
    Scratch scratch = scratch_of(part, args, arenas->few_slots, false);
    while (apart(shared_sum(&scratch)) > limit && move_largest(&scratch))
        ;
    SAP_TRY(place_part(part, args, limit, &scratch, arenas));
    out->team = options->team_size > 1 ? options->team_size : choose_team(args->plan.nv);
    out->worlds_per_block = out->team < WARP ? WARP / out->team : 1;
    while (out->worlds_per_block > 1 && (long long)out->worlds_per_block * arenas->size > shared_limit)
        out->worlds_per_block /= 2;
    out->shared_bytes = out->worlds_per_block * arenas->size;
    out->workspace_size = arenas->workspace_size;
    return SAP_OK;
}

SapStatus sap_cuda_thread_shape(SapKernelKind part, const SapStepArgs *args, SapArenas *arenas, SapCudaShape *out) {
    arenas->few_slots = choose_few_slots(args, SAP_THREAD_SCRATCH);
    Scratch scratch = scratch_of(part, args, arenas->few_slots, true);
    SAP_TRY(place_part(part, args, LLONG_MAX, &scratch, arenas));
    *out = (SapCudaShape){.team = 1, .worlds_per_block = WARP, .workspace_size = arenas->workspace_size};
    return SAP_OK;
}
