/* What translated code sees: types, the state of a thread, and the runtime's functions. The meaning of instructions is
 * in semantics.h, checked access to memory in access.h.
 *
 * A thread is a fiber with a C stack of its own. Only one runs at a time; it runs until it waits at a barrier or
 * ends. */
#ifndef PTX_DEVICE_H
#define PTX_DEVICE_H

#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

/* Device memory lies in one reserved range, so that an address tells its space. Each byte has a state in a second
 * range. */
#define ARENA_BASE  0x200000000000ull
#define ARENA_SIZE  0x100000000ull
#define STATES_BASE 0x210000000000ull

/* The state of a byte: bits. 0 = not to be touched. */
enum { BYTE_VALID = 1, BYTE_WRITTEN = 2 };

/* What an access does; the second and third differ in what counts as a race. */
typedef enum Access { READ, WRITE, ATOMIC } Access;
typedef enum Space { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM, NUM_SPACES } Space;

typedef struct Block {
    u32 ntid[3], ctaid[3], nctaid[3];
    u32 threads;
    u32 dynamic_shared; /* bytes */
} Block;

typedef struct Thread {
    u32 *counts;                      /* [num_blocks] entries into each basic block */
    u64 generic_bytes[NUM_SPACES][2]; /* read and written through generic addresses */
    u64 generic_count[NUM_SPACES][2]; /* and how often */
    u8 *shared;                       /* the window; offsets begin at SHARED_BASE */
    u8 *shared_states;
    u32 shared_size;
    u32 dynamic_offset;
    const u8 *params;
    u32 params_size;
    const Block *block;
    u32 tid[3];
    u32 index, lane, warp;
    u64 local_low, local_top, local_high; /* stack of local memory: frames lie in [low, top) */
    u8 *local_states;                     /* of the bytes from local_low */
    u8 notes_local;                       /* 1: its accesses to local memory are noted (reuse.c) */
    u32 patience;                         /* accesses others may wait for, since it last let them run */
    u8 carry;
} Thread;

typedef enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX } ShuffleMode;
typedef enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT } VoteMode;
typedef enum { MATCH_ANY, MATCH_ALL } MatchMode;
typedef enum { WARP_ADD, WARP_MIN, WARP_MAX, WARP_AND, WARP_OR, WARP_XOR } WarpOperation;
typedef enum { REDUCE_POPC, REDUCE_AND, REDUCE_OR } BlockOperation;

typedef struct Runtime {
    void (*sync_block)(Thread *t, u32 barrier, u32 count, u32 site);
    void (*arrive_block)(Thread *t, u32 barrier, u32 count, u32 site);
    u32 (*reduce_block)(Thread *t, u32 barrier, u32 count, u32 predicate, BlockOperation operation, u32 site);
    void (*sync_warp)(Thread *t, u32 mask, u32 site);
    u32 (*shuffle)(Thread *t, ShuffleMode mode, u32 value, u32 lane, u32 clamp, u32 mask, u8 *in_range, u32 site);
    u32 (*vote)(Thread *t, VoteMode mode, u32 predicate, u32 mask, u32 site);
    u32 (*match)(Thread *t, MatchMode mode, u64 value, u32 mask, u8 *all, u32 site);
    u32 (*reduce_warp)(Thread *t, WarpOperation operation, int is_signed, u32 value, u32 mask, u32 site);
    u32 (*elect)(Thread *t, u32 mask, u8 *is_leader, u32 site);
    void (*exit_thread)(Thread *t);
    void (*yield)(Thread *t);
    void (*trap)(Thread *t, u32 site, const char *what);
    void (*assert_fail)(Thread *t, u32 site, u8 *message, u8 *file, u8 *line, u8 *function, u8 *char_size);
    u64 (*clock)(void);
    /* Reports a bad access and ends the launch. */
    void (*fault)(Thread *t, Space space, u64 address, u32 width, u32 site, Access kind);
    /* Check 2: notes the access, and reports what is wrong with it. */
    void (*note_access)(Thread *t, Space space, u64 address, u32 width, u32 site, Access kind);
    void (*read_unwritten)(Thread *t, Space space, u64 address, u32 width, u32 site);
    void (*note_local)(Thread *t, u64 address, u32 width, Access kind);
} Runtime;

/* Tables of a translated module. */
typedef struct Site {
    u32 line;                 /* of the PTX */
    u32 file, source_line;    /* of the CUDA source; line 0 = not known */
    u32 call_file, call_line; /* of the call it was inlined for; line 0 = none */
} Site;

typedef struct Kernel {
    const char *name;
    void (*function)(Thread *t);
    u32 num_params;
    const u32 *params; /* offset and size of each */
    u32 params_size;
    u32 max_threads; /* 0 = not said */
} Kernel;

typedef struct GlobalVariable {
    const char *name;
    u64 size;
    const u8 *init; /* NULL = zeros */
    u64 *address;   /* where translated code reads its place */
} GlobalVariable;

typedef struct DeviceModule {
    const Kernel *kernels;         /* ends with name NULL */
    const GlobalVariable *globals; /* the same */
    void (*relocate)(void);        /* fills in addresses in initial values, once the variables have theirs */
    const Runtime **runtime;
    u32 num_blocks, num_classes;
    const u16 *block_classes; /* [num_blocks][num_classes] */
    const char *const *class_names;
    const Site *sites;
    const char *const *files;
    const u32 *shared_variables; /* offset and size of each */
    u32 num_shared_variables;
    u32 shared_top;    /* end of static shared memory */
    u32 static_shared; /* its bytes as a GPU would lay it out */
    u32 check;
    const char *target;
} DeviceModule;

extern const Runtime *ptx_runtime;
extern __attribute__((visibility("default"))) const DeviceModule ptx_module;

#define SHARED_BASE 1024u
#define COUNT(i)    (++t->counts[i])
#define YIELD(t)                                                                                                       \
    do {                                                                                                               \
        if (++(t)->patience >= 64) {                                                                                   \
            (t)->patience = 0;                                                                                         \
            ptx_runtime->yield(t);                                                                                     \
        }                                                                                                              \
    } while (0)

#ifdef CHECK
#include "access.h"
#include "semantics.h"
#endif

#endif
