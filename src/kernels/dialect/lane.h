/* The number types of the kernels. Included once per precision (SAP_PRECISION 32 or 64). This file and team.h contain
 * every target #ifdef but the clock's (profile.h).
 *
 *   scalar   float or double
 *   real     one value per world of a pack: a scalar on a GPU and on a CPU with one lane, else a vector of SAP_LANES
 *   mask     one truth value per world, the result of a < b; combine with & and |, negate with mask_not
 *   bits     an integer of the scalar's width per world
 *
 * Plain operators work on all of them and round each operation to nearest (contraction is off). A fused multiply-add is
 * written real_fma. Control flow never depends on a real: use real_select instead. */
/* -ffast-math and its parts; clang defines no macro for some of them. */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) ||                         \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "the kernels need IEEE arithmetic; compile without -ffast-math, -Ofast and their parts"
#endif

#undef FLOAT_FN
#if SAP_PRECISION == 32
typedef float scalar;
typedef int scalar_bits;
#define FLOAT_FN(name) name##f
#else
typedef double scalar;
typedef long long scalar_bits;
#define FLOAT_FN(name) name
#endif

/* A constant in the precision of this stage. */
#define K(constant) ((scalar)(constant))

/* KERNEL_FN: a small function, always inlined. STAGE_FN: a larger part of a stage, not inlined on a GPU, unless a
 * thread has a world: then the compiler knows that its scratch is local memory and its arguments are constants.
 * RARE_FN: a function that few models need, never inlined, so that its caller keeps its registers for the usual
 * path. FORMULATION_FN: a prototype of any of these (solve/formulation.h). */
#if defined(__CUDACC__)
#define KERNEL_FN      static __device__ __forceinline__
#define RARE_FN        static __device__ __noinline__
#define FORMULATION_FN static __device__
#if defined(SAP_THREAD_PER_WORLD)
#define STAGE_FN KERNEL_FN
#else
#define STAGE_FN RARE_FN
#endif
#define SAP_LANES 1
#else
#define KERNEL_FN      static inline __attribute__((always_inline, unused))
#define STAGE_FN       static __attribute__((unused))
#define RARE_FN        static __attribute__((noinline, unused))
#define FORMULATION_FN static __attribute__((unused))
#endif

/* WORKSPACE(type, name, work, offset): large data of a function, *name. On a CPU it is on the stack. A GPU reserves a
 * stack for every thread that can be resident, so there it is at an offset in `work`, memory that only threads with
 * such data have. WORKSPACE_PASS(to, from) copies the pointer `work` of a struct, on a GPU only. */
#undef WORKSPACE
#undef WORKSPACE_PASS
#if defined(__CUDACC__)
#define WORKSPACE(type, name, work, offset) type *const name = (type *)((unsigned char *)(work) + (offset))
#define WORKSPACE_PASS(to, from)            ((to)->work = (from)->work)
#else
#define WORKSPACE(type, name, work, offset)                                                                            \
    type name##_on_stack;                                                                                              \
    type *const name = &name##_on_stack
#define WORKSPACE_PASS(to, from) ((void)0)
#endif
#define WORKSPACE_END(offset, type) (((int)(offset) + (int)sizeof(type) + 15) / 16 * 16) /* where the next data begin */

/* Entries of a factor's row that one call computes together, so that the common factor is loaded once: as many as fit
 * the registers. In a team of a GPU each entry has its own thread. UNROLLED precedes a loop of constant length whose
 * array must stay in registers. */
#undef FACTOR_COLUMNS
#undef UNROLLED
#undef MANY_REGISTERS
#if defined(__AVX512F__) && !defined(__CUDACC__)
#define MANY_REGISTERS 1 /* 32 of 512 bits */
#else
#define MANY_REGISTERS 0
#endif
#if defined(__CUDACC__) && !defined(SAP_THREAD_PER_WORLD)
#define FACTOR_COLUMNS 1
#elif MANY_REGISTERS
#define FACTOR_COLUMNS 8
#else
#define FACTOR_COLUMNS (SAP_PRECISION * SAP_LANES <= 256 ? 8 : 4)
#endif
#if defined(__CUDACC__)
#define UNROLLED _Pragma("unroll")
#elif defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

/* Loops over dofs, rows or links of the model. In kernels made for a batch whose threads have a world each, the tables
 * of the model are constants (data/fixed.h). Unrolled code then has neither indices nor loops; TABLES_KNOWN is 1. It is
 * 0 elsewhere, and in a precision that only rare second attempts have.
 *
 *   UNROLL                   precedes a loop whose length is a constant there; nothing elsewhere
 *   FOR_UP_TO(i, n, most)    a loop over 0 .. n - 1 that is unrolled there, with an exit; n <= most, a constant there
 *   EACH_DOF(i, nv, call)    TEAM_FOR(i, nv) call; there the call is repeated with constants i, so that loops in it whose
 *                            length depends on i have a constant length before the compiler unrolls any
 *   EACH_LINK(l, nl, call)   the same for links; there parents come first
 *   NUM_DOFS, MOST_PATH      there dofs, and most dofs on a path */
#undef TABLES_KNOWN
#undef UNROLL
#undef FOR_UP_TO
#undef EACH_DOF
#undef EACH_LINK
#if defined(SAP_SPECIALIZED_BUILD) && defined(SAP_THREAD_PER_WORLD)
#define TABLES_KNOWN (SAP_PRECISION == 32 || SPECIALIZED_IN_F64)
#else
#define TABLES_KNOWN 0
#define NUM_DOFS     0
#define MOST_PATH    1
#endif
#if TABLES_KNOWN
#define UNROLL _Pragma("unroll")
#define FOR_UP_TO(i, n, most)                                                                                          \
    UNROLL                                                                                                             \
    for (int i = 0; i < (most); i++)                                                                                   \
        if (i >= (n))                                                                                                  \
            break;                                                                                                     \
        else
#define EACH_ONE(value, i, ...)                                                                                        \
    {                                                                                                                  \
        const int i = value;                                                                                           \
        __VA_ARGS__;                                                                                                   \
    }
#define EACH_DOF(i, nv, ...)  SAP_EACH_DOF(EACH_ONE, i, __VA_ARGS__)
#define EACH_LINK(l, nl, ...) SAP_EACH_LINK(EACH_ONE, l, __VA_ARGS__)
#else
#define UNROLL
#define FOR_UP_TO(i, n, most) for (int i = 0; i < (n); i++)
#define EACH_DOF(i, nv, ...)                                                                                           \
    TEAM_FOR(i, nv) {                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
#define EACH_LINK EACH_DOF
#endif

#if SAP_LANES == 1
typedef float real_f32;
typedef double real_f64;
typedef scalar real;
typedef int mask;
typedef scalar_bits bits;
#define LANE(x, l)   (x)
#define FOR_LANES(l) for (int l = 0; l < 1; l++)

#define CONVERT(x, type) ((type)(x))

KERNEL_FN mask mask_not(mask m) {
    return !m;
}
/* Whether m is true in some lane. */
KERNEL_FN bool mask_any(mask m) {
    return m;
}
KERNEL_FN bool mask_lane(mask m, int l) {
    (void)l;
    return m;
}
KERNEL_FN real real_select(mask m, real a, real b) {
    return m ? a : b;
}
KERNEL_FN bits bits_select(mask m, bits a, bits b) {
    return m ? a : b;
}
#else
typedef float real_f32 __attribute__((vector_size(SAP_LANES * sizeof(float))));
typedef double real_f64 __attribute__((vector_size(SAP_LANES * sizeof(double))));
typedef scalar real __attribute__((vector_size(SAP_LANES * sizeof(scalar))));
typedef scalar_bits mask __attribute__((vector_size(SAP_LANES * sizeof(scalar))));
typedef mask bits;
#define LANE(x, l) ((x)[l])
#if defined(__clang__)
#define FOR_LANES(l) _Pragma("clang loop unroll(full)") for (int l = 0; l < SAP_LANES; l++)
#else
#define FOR_LANES(l) _Pragma("GCC unroll 8") for (int l = 0; l < SAP_LANES; l++)
#endif

#define CONVERT(x, type) __builtin_convertvector(x, type)

KERNEL_FN mask mask_not(mask m) {
    return ~m;
}
KERNEL_FN bool mask_any(mask m) {
    scalar_bits any = 0;
    FOR_LANES(l) any |= m[l];
    return any != 0;
}
KERNEL_FN bool mask_lane(mask m, int l) {
    return m[l] != 0;
}
KERNEL_FN bits bits_select(mask m, bits a, bits b) {
    return (m & a) | (~m & b);
}
KERNEL_FN real real_select(mask m, real a, real b) {
    return (real)bits_select(m, (bits)a, (bits)b);
}
#endif

/* Whether packs of this many lanes are faster than smaller ones: clang computes with a real of several registers; GCC
 * keeps a vector wider than a register in memory and compares it lane by lane. The host chooses the lanes by it. */
#undef LANES_PAY
#if defined(__clang__) || defined(__AVX512F__)
#define LANES_PAY 1
#elif defined(__AVX__)
#define LANES_PAY (SAP_LANES == 1 || SAP_LANES * SAP_PRECISION <= 256)
#else
#define LANES_PAY (SAP_LANES == 1 || SAP_LANES * SAP_PRECISION <= 128)
#endif

/* The same value in every lane. */
KERNEL_FN real real_of(scalar s) {
    const real zero = {0};
    return s - zero;
}

#if SAP_LANES > 1 && defined(__FMA__) && defined(__GNUC__) && !defined(__clang__)
/* GCC splits these operations into scalars if a real is wider than a register or if they are a loop over lanes, which
 * is slow to compile and to run. Here they are instructions on one register at a time. The max instruction computes
 * a > b ? a : b, for NaN and zeros too. */
#if SAP_LANES * SAP_PRECISION == 128
#define REGISTER_BYTES 16
#define REGISTER_FMA   __builtin_ia32_vfmaddps
#define REGISTER_SQRT  __builtin_ia32_sqrtps_nr
#define REGISTER_MAX   __builtin_ia32_maxps
#define REGISTER_MIN   __builtin_ia32_minps
#elif SAP_PRECISION == 32
#define REGISTER_BYTES 32
#define REGISTER_FMA   __builtin_ia32_vfmaddps256
#define REGISTER_SQRT  __builtin_ia32_sqrtps_nr256
#define REGISTER_MAX   __builtin_ia32_maxps256
#define REGISTER_MIN   __builtin_ia32_minps256
#elif SAP_LANES == 8 && defined(__AVX512F__)
/* The last arguments: all lanes, the rounding of the control word. */
#define REGISTER_BYTES        64
#define REGISTER_FMA(a, b, c) __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4)
#define REGISTER_SQRT(a)      __builtin_ia32_sqrtpd512_mask(a, a, -1, 4)
#define REGISTER_MAX(a, b)    __builtin_ia32_maxpd512_mask(a, b, a, -1, 4)
#define REGISTER_MIN(a, b)    __builtin_ia32_minpd512_mask(a, b, a, -1, 4)
#else
#define REGISTER_BYTES 32
#define REGISTER_FMA   __builtin_ia32_vfmaddpd256
#define REGISTER_SQRT  __builtin_ia32_sqrtpd256
#define REGISTER_MAX   __builtin_ia32_maxpd256
#define REGISTER_MIN   __builtin_ia32_minpd256
#endif
enum { NUM_REGISTERS = sizeof(real) / REGISTER_BYTES };

typedef scalar register_of_lanes __attribute__((vector_size(REGISTER_BYTES)));
typedef union Registers {
    real whole;
    register_of_lanes part[NUM_REGISTERS];
} Registers;

KERNEL_FN Registers registers(real a) {
    Registers r;
    r.whole = a;
    return r;
}
KERNEL_FN real real_fma(real a, real b, real c) {
    Registers x = registers(a), y = registers(b), z = registers(c);
    for (int i = 0; i < NUM_REGISTERS; i++)
        z.part[i] = REGISTER_FMA(x.part[i], y.part[i], z.part[i]);
    return z.whole;
}
KERNEL_FN real real_sqrt(real a) {
    Registers x = registers(a);
    for (int i = 0; i < NUM_REGISTERS; i++)
        x.part[i] = REGISTER_SQRT(x.part[i]);
    return x.whole;
}
KERNEL_FN real real_max(real a, real b) {
    Registers x = registers(a), y = registers(b);
    for (int i = 0; i < NUM_REGISTERS; i++)
        x.part[i] = REGISTER_MAX(x.part[i], y.part[i]);
    return x.whole;
}
KERNEL_FN real real_min(real a, real b) {
    Registers x = registers(a), y = registers(b);
    for (int i = 0; i < NUM_REGISTERS; i++)
        x.part[i] = REGISTER_MIN(x.part[i], y.part[i]);
    return x.whole;
}
#else
KERNEL_FN real real_fma(real a, real b, real c) {
    real r;
    FOR_LANES(l) LANE(r, l) = FLOAT_FN(fma)(LANE(a, l), LANE(b, l), LANE(c, l));
    return r;
}

KERNEL_FN real real_sqrt(real a) {
    real r;
    FOR_LANES(l) LANE(r, l) = FLOAT_FN(sqrt)(LANE(a, l));
    return r;
}

KERNEL_FN real real_max(real a, real b) {
    return real_select(a > b, a, b);
}

KERNEL_FN real real_min(real a, real b) {
    return real_select(a < b, a, b);
}
#endif

KERNEL_FN real real_abs(real a) {
    real r;
    FOR_LANES(l) LANE(r, l) = FLOAT_FN(fabs)(LANE(a, l));
    return r;
}

KERNEL_FN real real_nan(void) {
    real zero = real_of(0);
    return zero / zero;
}

KERNEL_FN real real_infinity(void) {
    return real_of(1) / real_of(0);
}

KERNEL_FN mask mask_all(void) {
    return real_of(0) == K(0.0);
}
KERNEL_FN mask mask_none(void) {
    return real_of(0) != K(0.0);
}

/* a - a is not 0 for NaN and infinities only. */
KERNEL_FN mask real_finite(real a) {
    return a - a == K(0.0);
}

/* The bit pattern of a real. */
KERNEL_FN bits real_bits(real a) {
    union {
        real r;
        bits b;
    } u;
    u.r = a;
    return u.b;
}

KERNEL_FN real real_from_bits(bits b) {
    union {
        bits b;
        real r;
    } u;
    u.b = b;
    return u.r;
}

/* The largest power of 2 that is at most a, for a normal a > 0. */
KERNEL_FN real real_power_of_2(real a) {
    const int fraction = SAP_PRECISION == 64 ? 52 : 23;
    return real_from_bits(real_bits(a) >> fraction << fraction);
}
