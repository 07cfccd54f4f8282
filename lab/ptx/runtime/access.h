/* Checked access to memory, for translated code. <space>_<bytes>(t, address, site, kind) gives a pointer.
 *
 *   CHECK 0   nothing
 *   CHECK 1   every byte is in a live allocation, variable or frame; the address is a multiple of the width
 *   CHECK 2   also: bytes are written before they are read, and no two threads race (race.c)
 *
 * A load all of whose bytes are unwritten is reported; one that is partly written is not: structs are copied with their
 * padding. Local memory is not looked at in that way: nvcc loads elements of local arrays early and then does not use
 * them. It is filled with NaNs instead, so that a use shows in the results. */
#ifndef PTX_ACCESS_H
#define PTX_ACCESS_H

#define PTX_NOINLINE    static __attribute__((noinline, unused))
#define PTX_INLINE      static inline __attribute__((always_inline, unused))
#define PTX_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The states of 1, 2, 4 or 8 bytes as one number. */
PTX_INLINE u64 load_states(const u8 *states, u32 width) {
    u64 word = 0;
    memcpy(&word, states, width);
    return word;
}

PTX_INLINE u64 repeat(u8 bits, u32 width) {
    return (bits * 0x0101010101010101ull) & (width >= 8 ? ~0ull : (1ull << (8 * width)) - 1);
}

/* True if all bytes have the bits. */
PTX_INLINE int all_have(const u8 *states, u32 width, u8 bits) {
    int good = 1;
    for (u32 i = 0; i < width; i += 8)
        good &= (load_states(states + i, width < 8 ? width : 8) & repeat(bits, width)) == repeat(bits, width);
    return good;
}

PTX_INLINE int any_has(const u8 *states, u32 width, u8 bits) {
    u64 found = 0;
    for (u32 i = 0; i < width; i += 8)
        found |= load_states(states + i, width < 8 ? width : 8) & repeat(bits, width);
    return found != 0;
}

/* `states` belong to the address, or are NULL if it lies in no memory of the space. */
PTX_INLINE void check_access(Thread *t, Space space, u64 address, u8 *states, u32 width, u32 site, Access kind) {
    if (PTX_UNLIKELY((address & (width - 1)) || !states || !all_have(states, width, BYTE_VALID)))
        ptx_runtime->fault(t, space, address, width, site, kind);
#if CHECK >= 2
    if (space == SPACE_LOCAL)
        return;
    if (kind != WRITE && PTX_UNLIKELY(!any_has(states, width, BYTE_WRITTEN)))
        ptx_runtime->read_unwritten(t, space, address, width, site);
    if (kind != READ)
        memset(states, BYTE_VALID | BYTE_WRITTEN, width);
    ptx_runtime->note_access(t, space, address, width, site, kind);
#endif
}

PTX_INLINE u8 *global_at(Thread *t, u64 address, u32 width, u32 site, Access kind) {
#if CHECK
    u64 offset = address - ARENA_BASE;
    check_access(t, SPACE_GLOBAL, address, offset < ARENA_SIZE ? (u8 *)STATES_BASE + offset : NULL, width, site, kind);
#endif
    return (u8 *)address;
}

PTX_INLINE u8 *shared_at(Thread *t, u64 address, u32 width, u32 site, Access kind) {
    u32 offset = (u32)address;
#if CHECK
    check_access(t, SPACE_SHARED, offset, offset < t->shared_size ? t->shared_states + offset : NULL, width, site,
                 kind);
#endif
    return t->shared + offset;
}

PTX_INLINE u8 *local_at(Thread *t, u64 address, u32 width, u32 site, Access kind) {
#if CHECK
    u64 offset = address - t->local_low;
    u8 *states = offset < t->local_top - t->local_low ? t->local_states + offset : NULL;
    check_access(t, SPACE_LOCAL, address, states, width, site, kind);
#endif
    if (PTX_UNLIKELY(t->notes_local))
        ptx_runtime->note_local(t, address, width, kind);
    return (u8 *)address;
}

PTX_INLINE u8 *param_at(Thread *t, u64 address, u32 width, u32 site, Access kind) {
#if CHECK
    u64 offset = address - (u64)t->params;
    if (PTX_UNLIKELY(kind != READ || offset >= t->params_size || offset + width > t->params_size ||
                     (offset & (width - 1))))
        ptx_runtime->fault(t, SPACE_PARAM, offset, width, site, kind);
#endif
    return (u8 *)address;
}

PTX_INLINE int is_global_address(Thread *t, u64 address) {
    return address - ARENA_BASE < ARENA_SIZE;
}
PTX_INLINE int is_shared_address(Thread *t, u64 address) {
    return address - (u64)t->shared < t->shared_size;
}
PTX_INLINE int is_param_address(Thread *t, u64 address) {
    return address - (u64)t->params < t->params_size;
}
PTX_INLINE int is_local_address(Thread *t, u64 address) {
    return address - t->local_low < t->local_high - t->local_low;
}
PTX_INLINE int is_const_address(Thread *t, u64 address) {
    return 0;
}

PTX_INLINE void count_generic(Thread *t, Space space, u32 width, Access kind) {
    t->generic_bytes[space][kind != READ] += width;
    t->generic_count[space][kind != READ]++;
}

/* An address of no space is taken as global, whose check refuses it. */
PTX_INLINE u8 *generic_at(Thread *t, u64 address, u32 width, u32 site, Access kind) {
    if (is_shared_address(t, address)) {
        count_generic(t, SPACE_SHARED, width, kind);
        return shared_at(t, address - (u64)t->shared, width, site, kind);
    }
    if (is_local_address(t, address)) {
        count_generic(t, SPACE_LOCAL, width, kind);
        return local_at(t, address, width, site, kind);
    }
    if (is_param_address(t, address)) {
        count_generic(t, SPACE_PARAM, width, kind);
        return param_at(t, address, width, site, kind);
    }
    count_generic(t, SPACE_GLOBAL, width, kind);
    return global_at(t, address, width, site, kind);
}

/* Functions, not inlined: there are thousands of accesses in a program, and inlining them triples the time to compile
 * it. */
#define PTX_DEFINE_ACCESS(space, width)                                                                                \
    PTX_NOINLINE u8 *space##_##width(Thread *t, u64 address, u32 site, Access kind) {                                  \
        return space##_at(t, address, width, site, kind);                                                              \
    }
#define PTX_DEFINE_WIDTHS(space)                                                                                       \
    PTX_DEFINE_ACCESS(space, 1)                                                                                        \
    PTX_DEFINE_ACCESS(space, 2)                                                                                        \
    PTX_DEFINE_ACCESS(space, 4)                                                                                        \
    PTX_DEFINE_ACCESS(space, 8)                                                                                        \
    PTX_DEFINE_ACCESS(space, 16)                                                                                       \
    PTX_DEFINE_ACCESS(space, 32)
PTX_DEFINE_WIDTHS(global)
PTX_DEFINE_WIDTHS(shared)
PTX_DEFINE_WIDTHS(local)
PTX_DEFINE_WIDTHS(param)
PTX_DEFINE_WIDTHS(generic)

/* Takes a frame of local memory from the thread's stack, with a gap after it; filled with NaNs, so that what is read
 * unwritten shows in results too. */
PTX_NOINLINE u8 *local_enter(Thread *t, u32 size, u32 align, u32 site) {
    enum { GAP = 16 };
    u64 start = (t->local_top + GAP + align - 1) & ~(u64)(align - 1);
    if (start + size > t->local_high)
        ptx_runtime->trap(t, site, "local memory is full");
#if CHECK
    memset(t->local_states + (t->local_top - t->local_low), 0, start - t->local_top);
    memset(t->local_states + (start - t->local_low), BYTE_VALID, size);
#endif
#if CHECK >= 2
    memset((void *)start, 0xff, size);
#endif
    t->local_top = start + size;
    return (u8 *)start;
}

PTX_INLINE void local_leave(Thread *t, u64 frame) {
    t->local_top = frame;
}

#endif
