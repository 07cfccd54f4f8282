/* Threads per world: enough for one row of its matrices and for its contacts, each of which is processed by one thread.
 * Worlds of up to 32 threads share a warp; a block is then one warp, so no world waits for another warp.
 *
 * Scratch is in shared memory if all arenas of a world fit. Otherwise the largest arenas move to global memory until
 * the rest fits. Generic addresses hide the difference from the kernels. */
#include "host/cuda/launch_shape.h"

#include <limits.h>
#include <stdbool.h>

#include "host/base/fail.h"
#include "host/plan/layout.h"

enum { WARP = 32, ALIGNMENT = 64, BANKS_BYTES = 128 };

static int choose_team(int nv, int contacts) {
    int by_dofs = nv <= 8 ? 8 : nv <= 16 ? 16 : nv <= 32 ? 32 : nv <= 48 ? 64 : 128;
    int by_contacts = contacts <= 8 ? 8 : contacts <= 16 ? 16 : 32;
    return by_dofs > by_contacts ? by_dofs : by_contacts;
}

static long long round_up(long long bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The worlds of a warp access the same offset of their scratch at the same time. Their scratch is offset by half of the
 * banks: doubles of two teams of 8 threads and floats of two teams of 16 then have no bank conflicts, and other sizes
 * have half as many. */
static long long apart(long long bytes) {
    return bytes > 0 && bytes % BANKS_BYTES == 0 ? bytes + ALIGNMENT : bytes;
}

/* Moves the largest arena in shared memory to global memory; false if there is none. */
static bool move_largest(const long long bytes[SAP_NUM_ARENAS], bool outside[SAP_NUM_ARENAS]) {
    int largest = -1;
    for (int i = 0; i < SAP_NUM_ARENAS; i++)
        if (!outside[i] && bytes[i] > 0 && (largest < 0 || bytes[i] > bytes[largest]))
            largest = i;
    if (largest >= 0)
        outside[largest] = true;
    return largest >= 0;
}

static long long shared_sum(const long long bytes[SAP_NUM_ARENAS], const bool outside[SAP_NUM_ARENAS]) {
    long long sum = 0;
    for (int i = 0; i < SAP_NUM_ARENAS; i++)
        sum += outside[i] ? 0 : bytes[i];
    return sum;
}

/* Assigns offsets: from 0 in shared memory, ~offset in the workspace. False if an offset is too large. */
static bool place(const long long bytes[SAP_NUM_ARENAS], const bool outside[SAP_NUM_ARENAS], SapArenas *a) {
    int *const at[SAP_NUM_ARENAS] = {&a->fm, &a->solve, &a->linear[0], &a->linear[1], &a->collide, &a->pairs, &a->ints};
    long long shared = 0, workspace = 0;
    for (int i = 0; i < SAP_NUM_ARENAS; i++) {
        long long *next = outside[i] ? &workspace : &shared;
        if (*next > INT_MAX)
            return false;
        *at[i] = outside[i] ? ~(int)*next : (int)*next;
        *next += bytes[i];
    }
    a->size = (int)apart(shared);
    a->workspace_size = workspace;
    return true;
}

/* Whether a kernel uses an arena. Both kernels use free motion's; each computes the part that it needs. */
static bool uses(SapCudaPart part, int arena) {
    bool of_collision = arena == SAP_ARENA_COLLIDE || arena == SAP_ARENA_PAIRS;
    return arena == SAP_ARENA_FM || of_collision == (part == SAP_CUDA_COLLIDE);
}

SapStatus sap_cuda_launch_shape(const SapOptions *options, int shared_limit, SapCudaPart part, const SapStepArgs *args,
                                SapArenas *arenas, SapCudaShape *out) {
    static const int real_bytes[2] = {sizeof(float), sizeof(double)};
    size_t sizes[SAP_NUM_ARENAS];
    long long bytes[SAP_NUM_ARENAS];
    bool outside[SAP_NUM_ARENAS] = {false};
    int wanted = options->shared_memory, limit = wanted > 0 && wanted < shared_limit ? wanted : shared_limit;
    sap_arena_bytes(args, real_bytes, sizes);
    for (int i = 0; i < SAP_NUM_ARENAS; i++)
        bytes[i] = uses(part, i) ? round_up((long long)sizes[i]) : 0;
    while (apart(shared_sum(bytes, outside)) > limit && move_largest(bytes, outside))
        ;
    if (!place(bytes, outside, arenas))
        return sap_fail(SAP_ERROR_MEMORY, "device cuda: %d contacts of %d dofs are too many for one world",
                        args->contacts.capacity, args->plan.nv);
    out->team = options->team_size ? options->team_size : choose_team(args->plan.nv, args->contacts.capacity);
    out->worlds_per_block = out->team < WARP ? WARP / out->team : 1;
    while (out->worlds_per_block > 1 && (long long)out->worlds_per_block * arenas->size > shared_limit)
        out->worlds_per_block /= 2;
    out->shared_bytes = out->worlds_per_block * arenas->size;
    out->workspace_size = arenas->workspace_size;
    return SAP_OK;
}
