/* The state of the block that runs. Blocks of a launch run one after the other; their threads are fibers that take
 * turns.
 *
 *   launch.c    a launch: its blocks, its counts
 *   fiber.c     switching between threads, and whose turn it is
 *   barrier.c   barriers of a block
 *   warp.c      what the lanes of a warp do together
 *   reuse.c     distances between accesses to a word of local memory
 *   race.c      accesses of different threads without a barrier between them
 *   report.c    telling what went wrong, and where in the source */
#ifndef PTX_EXECUTOR_H
#define PTX_EXECUTOR_H

#include <stdio.h>

#include "device.h"
#include "launch.h"

enum { WARP_SIZE = 32, NUM_BARRIERS = 16, MAX_THREADS = 1024 };

typedef enum { RUNNING, AT_BARRIER, AT_WARP, ENDED } FiberState;

typedef struct Fiber {
    Thread thread; /* first: a Thread is its Fiber */
    void *stack_pointer;
    FiberState state;
    u32 barrier; /* it waits at */
    u32 site;    /* where it waits */
} Fiber;

typedef struct Barrier {
    u32 arrived, expected; /* expected 0: all threads that have not ended */
    u32 waiting;           /* of those arrived, how many wait */
    u32 votes, result;     /* predicates that were true; of the last time it opened */
    u32 site;              /* of the first to arrive */
    u32 *clocks;           /* [threads] check 2: what those arrived know of each thread (race.c) */
} Barrier;

typedef enum { WARP_SYNC, WARP_SHUFFLE, WARP_VOTE, WARP_MATCH, WARP_REDUCE } WarpKind;

/* What a lane brings to a collective operation, and what it takes home. */
typedef struct WarpRequest {
    WarpKind kind;
    u32 mode, mask, lane, clamp, site;
    int is_signed;
    u64 value;
    u32 result;
    u8 flag;
} WarpRequest;

typedef struct Warp {
    u32 lanes;   /* that exist */
    u32 ended;   /* lanes that have ended */
    u32 waiting; /* lanes with a request */
    WarpRequest request[WARP_SIZE];
} Warp;

typedef struct Executor {
    const DeviceModule *module;
    const Kernel *kernel;
    Block block;
    u32 threads, num_warps, live;
    Fiber *fibers;
    Fiber *current;
    Warp *warps;
    Barrier barriers[NUM_BARRIERS];
    void *stack_pointer; /* of the scheduler */
    PtxFailure failure;  /* ends the launch */
    u64 random;
    u64 num_barriers; /* opened in this launch */
} Executor;

extern Executor ptx_executor;

static inline Fiber *fiber_of(Thread *t) {
    return (Fiber *)t;
}

/* fiber.c */
void ptx_prepare_fibers(u32 threads, u32 num_blocks);
void ptx_start_fiber(Fiber *fiber);
void ptx_run_fibers(void);
void ptx_wait(Fiber *fiber, FiberState state, u32 site);
void ptx_fail(Thread *t, PtxFailure failure) __attribute__((noreturn));
void ptx_exit_thread(Thread *t);
void ptx_yield(Thread *t);

/* barrier.c */
void ptx_reset_barriers(void);
void ptx_open_ready_barriers(void); /* after a thread has ended */
int ptx_is_skipped(u32 site);       /* a barrier that PTX_SKIP leaves out */
void ptx_sync_block(Thread *t, u32 barrier, u32 count, u32 site);
void ptx_arrive_block(Thread *t, u32 barrier, u32 count, u32 site);
u32 ptx_reduce_block(Thread *t, u32 barrier, u32 count, u32 predicate, BlockOperation operation, u32 site);

/* warp.c */
void ptx_reset_warps(void);
void ptx_lane_ended(Thread *t);
void ptx_sync_warp(Thread *t, u32 mask, u32 site);
u32 ptx_shuffle(Thread *t, ShuffleMode mode, u32 value, u32 lane, u32 clamp, u32 mask, u8 *in_range, u32 site);
u32 ptx_vote(Thread *t, VoteMode mode, u32 predicate, u32 mask, u32 site);
u32 ptx_match(Thread *t, MatchMode mode, u64 value, u32 mask, u8 *all, u32 site);
u32 ptx_reduce_warp(Thread *t, WarpOperation operation, int is_signed, u32 value, u32 mask, u32 site);
u32 ptx_elect(Thread *t, u32 mask, u8 *is_leader, u32 site);

/* race.c: `is_checked` = check 2. */
int ptx_is_race_checked(void);
void ptx_begin_races_of_launch(void);
void ptx_begin_races_of_block(void);
void ptx_new_epoch(void);
void ptx_join_clocks(u32 *joined, u32 thread);       /* joined = max(joined, what the thread knows) */
void ptx_take_clocks(const u32 *joined, u32 thread); /* the thread knows `joined`; its own clock goes on */
void ptx_advance_clock(u32 thread);
void ptx_note_access(Thread *t, Space space, u64 address, u32 width, u32 site, Access kind);

/* reuse.c: while PTX_STATS asks for counts. */
enum { REUSE_BINS = 16 };
void ptx_begin_reuse(u32 words);
void ptx_begin_reuse_of_block(void);
void ptx_note_local(Thread *t, u64 address, u32 width, Access kind);
void ptx_write_reuse(FILE *file);

/* report.c */
void ptx_report(Thread *t, u32 site, const char *format, ...) __attribute__((format(printf, 3, 4)));
void ptx_report_once(Thread *t, u32 site, u32 other_site, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ptx_describe_site(u32 site, char *text, u32 size);
void ptx_reset_reports(void);
void ptx_fault(Thread *t, Space space, u64 address, u32 width, u32 site, Access kind);
void ptx_read_unwritten(Thread *t, Space space, u64 address, u32 width, u32 site);
void ptx_trap(Thread *t, u32 site, const char *what);
void ptx_assert_fail(Thread *t, u32 site, u8 *message, u8 *file, u8 *line, u8 *function, u8 *char_size);

#endif
