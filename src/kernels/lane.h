/* What a number is. Included once per precision (SAP_PRECISION 32 or 64); together with team.h it holds every target #ifdef.
 *
 *   scalar   float or double
 *   real     one value per world of a pack: on a GPU, and on a CPU with one lane, a scalar; else a vector of SAP_LANES
 *   mask     one truth value per world; what a < b gives. Combine with & and |, negate with mask_not
 *   bits     an integer of the scalar's width per world
 *
 * Plain operators work on all of them and round to nearest, one operation at a time (contraction is off): where a fused
 * multiply-add is meant it is written real_fma. Control flow never depends on a real: select instead. */
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

/* A constant in the precision of the stage. */
#define K(constant) ((scalar)(constant))

/* KERNEL_FN: small enough to vanish into its caller. STAGE_FN: a step of a stage, called. */
#if defined(__CUDACC__)
#define KERNEL_FN static __device__ __forceinline__
#define STAGE_FN  static __device__ __noinline__
#define SAP_LANES 1
#else
#define KERNEL_FN static inline __attribute__((always_inline, unused))
#define STAGE_FN  static __attribute__((unused))
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

/* The same value in every lane. */
KERNEL_FN real real_of(scalar s) {
    return s - (real){0};
}

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

KERNEL_FN real real_abs(real a) {
    real r;
    FOR_LANES(l) LANE(r, l) = FLOAT_FN(fabs)(LANE(a, l));
    return r;
}

KERNEL_FN real real_max(real a, real b) {
    return real_select(a > b, a, b);
}

KERNEL_FN real real_min(real a, real b) {
    return real_select(a < b, a, b);
}

KERNEL_FN real real_nan(void) {
    real zero = real_of(0);
    return zero / zero;
}

/* NaN and infinities are the numbers whose difference with themselves is not zero. */
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
