/* The meaning of PTX instructions where C's own operators do not say it. */
#ifndef PTX_SEMANTICS_H
#define PTX_SEMANTICS_H

#include <fenv.h>
#include <math.h>

#define PTX_FN static inline __attribute__((unused))

PTX_FN u32 float_bits(f32 x) {
    u32 bits;
    memcpy(&bits, &x, 4);
    return bits;
}
PTX_FN f32 float_of_bits(u32 bits) {
    f32 x;
    memcpy(&x, &bits, 4);
    return x;
}
PTX_FN u64 double_bits(f64 x) {
    u64 bits;
    memcpy(&bits, &x, 8);
    return bits;
}
PTX_FN f64 double_of_bits(u64 bits) {
    f64 x;
    memcpy(&x, &bits, 8);
    return x;
}

/* ---- modifiers of floating-point instructions */

PTX_FN f32 flush(f32 x) {
    return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
}
PTX_FN f32 saturate_f32(f32 x) { /* NaN gives 0 */
    return !(x > 0) ? 0 : x > 1 ? 1 : x;
}
PTX_FN f64 saturate_f64(f64 x) {
    return !(x > 0) ? 0 : x > 1 ? 1 : x;
}

/* Directed roundings switch the mode around one operation; volatile keeps the compiler from moving or folding it. */
#define PTX_ROUNDED(type, mode, expression)                                                                            \
    {                                                                                                                  \
        int before = fegetround();                                                                                     \
        fesetround(mode);                                                                                              \
        volatile type result = (expression);                                                                           \
        fesetround(before);                                                                                            \
        return result;                                                                                                 \
    }
#define PTX_DIRECTED(type, r, mode, sqrt_fn, fma_fn)                                                                   \
    PTX_NOINLINE type add_##r##_##type(volatile type a, volatile type b) PTX_ROUNDED(type, mode, a + b)                \
        PTX_NOINLINE type sub_##r##_##type(volatile type a, volatile type b) PTX_ROUNDED(type, mode, a - b)            \
            PTX_NOINLINE type mul_##r##_##type(volatile type a, volatile type b) PTX_ROUNDED(type, mode, a *b)         \
                PTX_NOINLINE type div_##r##_##type(volatile type a, volatile type b) PTX_ROUNDED(type, mode, a / b)    \
                    PTX_NOINLINE type rcp_##r##_##type(volatile type a) PTX_ROUNDED(type, mode, 1 / a)                 \
                        PTX_NOINLINE type sqrt_##r##_##type(volatile type a) PTX_ROUNDED(type, mode, sqrt_fn(a))       \
                            PTX_NOINLINE type fma_##r##_##type(volatile type a, volatile type b, volatile type c)      \
                                PTX_ROUNDED(type, mode, fma_fn(a, b, c)) PTX_NOINLINE type convert_##r##_##type##_s32( \
                                    volatile s32 a) PTX_ROUNDED(type, mode, (type)a)                                   \
                                    PTX_NOINLINE type convert_##r##_##type##_u32(volatile u32 a)                       \
                                        PTX_ROUNDED(type, mode, (type)a) PTX_NOINLINE type convert_##r##_##type##_s64( \
                                            volatile s64 a) PTX_ROUNDED(type, mode, (type)a)                           \
                                            PTX_NOINLINE type convert_##r##_##type##_u64(volatile u64 a)               \
                                                PTX_ROUNDED(type, mode, (type)a)                                       \
                                                    PTX_NOINLINE type convert_##r##_##type##_f64(volatile f64 a)       \
                                                        PTX_ROUNDED(type, mode, (type)a)
#define PTX_DIRECTED_BOTH(r, mode)                                                                                     \
    PTX_DIRECTED(f32, r, mode, __builtin_sqrtf, __builtin_fmaf)                                                        \
    PTX_DIRECTED(f64, r, mode, __builtin_sqrt, __builtin_fma)
PTX_DIRECTED_BOTH(rz, FE_TOWARDZERO)
PTX_DIRECTED_BOTH(rm, FE_DOWNWARD)
PTX_DIRECTED_BOTH(rp, FE_UPWARD)

/* ---- floating-point functions */

PTX_FN f32 sqrt_f32(f32 x) {
    return __builtin_sqrtf(x);
}
PTX_FN f64 sqrt_f64(f64 x) {
    return __builtin_sqrt(x);
}
PTX_FN f32 rcp_f32(f32 x) {
    return 1 / x;
}
PTX_FN f64 rcp_f64(f64 x) {
    return 1 / x;
}
/* Approximate on a GPU, accurate here. */
PTX_FN f32 rsqrt_f32(f32 x) {
    return (f32)(1 / __builtin_sqrt((f64)x));
}
PTX_FN f64 rsqrt_f64(f64 x) {
    return 1 / __builtin_sqrt(x);
}
PTX_FN f32 sin_f32(f32 x) {
    return (f32)sin(x);
}
PTX_FN f32 cos_f32(f32 x) {
    return (f32)cos(x);
}
PTX_FN f32 ex2_f32(f32 x) {
    return (f32)exp2(x);
}
PTX_FN f32 lg2_f32(f32 x) {
    return (f32)log2(x);
}
PTX_FN f32 tanh_f32(f32 x) {
    return (f32)tanh(x);
}

/* -0 < +0; of a number and a NaN the number; of two NaNs, or with .NaN of one, the canonical NaN. */
#define PTX_FLOAT_MIN_MAX(type, nan)                                                                                   \
    PTX_FN type min_##type(type a, type b) {                                                                           \
        if (a != a || b != b)                                                                                          \
            return a == a ? a : b == b ? b : nan;                                                                      \
        return a < b || (a == b && __builtin_signbit(a)) ? a : b;                                                      \
    }                                                                                                                  \
    PTX_FN type max_##type(type a, type b) {                                                                           \
        if (a != a || b != b)                                                                                          \
            return a == a ? a : b == b ? b : nan;                                                                      \
        return a > b || (a == b && !__builtin_signbit(a)) ? a : b;                                                     \
    }                                                                                                                  \
    PTX_FN type min_nan_##type(type a, type b) {                                                                       \
        return a != a || b != b ? nan : min_##type(a, b);                                                              \
    }                                                                                                                  \
    PTX_FN type max_nan_##type(type a, type b) {                                                                       \
        return a != a || b != b ? nan : max_##type(a, b);                                                              \
    }
PTX_FLOAT_MIN_MAX(f32, float_of_bits(0x7fffffffu))
PTX_FLOAT_MIN_MAX(f64, double_of_bits(0x7fffffffffffffffull))

#define PTX_CLASSIFY(type, smallest)                                                                                   \
    PTX_FN int is_finite_##type(type x) {                                                                              \
        return !!__builtin_isfinite(x);                                                                                \
    }                                                                                                                  \
    PTX_FN int is_infinite_##type(type x) {                                                                            \
        return !!__builtin_isinf(x);                                                                                   \
    }                                                                                                                  \
    PTX_FN int is_number_##type(type x) {                                                                              \
        return x == x;                                                                                                 \
    }                                                                                                                  \
    PTX_FN int is_notanumber_##type(type x) {                                                                          \
        return x != x;                                                                                                 \
    }                                                                                                                  \
    PTX_FN int is_normal_##type(type x) {                                                                              \
        return !!__builtin_isnormal(x);                                                                                \
    }                                                                                                                  \
    PTX_FN int is_subnormal_##type(type x) {                                                                           \
        return x != 0 && x < smallest && x > -smallest;                                                                \
    }
PTX_CLASSIFY(f32, 0x1p-126f)
PTX_CLASSIFY(f64, 0x1p-1022)

/* ---- conversions */

#define PTX_ROUND(type, suffix)                                                                                        \
    PTX_FN type round_n_##type(type x) {                                                                               \
        return __builtin_rint##suffix(x);                                                                              \
    }                                                                                                                  \
    PTX_FN type round_z_##type(type x) {                                                                               \
        return __builtin_trunc##suffix(x);                                                                             \
    }                                                                                                                  \
    PTX_FN type round_m_##type(type x) {                                                                               \
        return __builtin_floor##suffix(x);                                                                             \
    }                                                                                                                  \
    PTX_FN type round_p_##type(type x) {                                                                               \
        return __builtin_ceil##suffix(x);                                                                              \
    }
PTX_ROUND(f32, f)
PTX_ROUND(f64, )

/* A number past the range gives its end. NaN gives 0 from f32 to at most 32 bits, else the top bit alone: what the
 * hardware does, see PTX ISA, cvt. */
#define PTX_TO_INTEGER(type, low, high, above)                                                                         \
    PTX_FN type type##_of_f32(f32 x) {                                                                                 \
        if (x != x)                                                                                                    \
            return sizeof(type) == 8 ? (type)(1ull << 63) : 0;                                                         \
        return x >= (f32)above ? high : x < (f32)low ? low : (type)x;                                                  \
    }                                                                                                                  \
    PTX_FN type type##_of_f64(f64 x) {                                                                                 \
        if (x != x)                                                                                                    \
            return (type)(1ull << (8 * sizeof(type) - 1));                                                             \
        return x >= (f64)above ? high : x < (f64)low ? low : (type)x;                                                  \
    }                                                                                                                  \
    PTX_FN type clamp_##type(__int128 x) {                                                                             \
        return x < low ? low : x > high ? high : (type)x;                                                              \
    }
PTX_TO_INTEGER(s8, INT8_MIN, INT8_MAX, 0x1p7)
PTX_TO_INTEGER(u8, 0, UINT8_MAX, 0x1p8)
PTX_TO_INTEGER(s16, INT16_MIN, INT16_MAX, 0x1p15)
PTX_TO_INTEGER(u16, 0, UINT16_MAX, 0x1p16)
PTX_TO_INTEGER(s32, INT32_MIN, INT32_MAX, 0x1p31)
PTX_TO_INTEGER(u32, 0, UINT32_MAX, 0x1p32)
PTX_TO_INTEGER(s64, INT64_MIN, INT64_MAX, 0x1p63)
PTX_TO_INTEGER(u64, 0, UINT64_MAX, 0x1p64)

PTX_FN s32 saturate_s32(s64 x) {
    return clamp_s32(x);
}

/* ---- integers */

/* Division by zero gives all ones and the dividend as its remainder; the least number by -1 wraps. */
#define PTX_DIVIDE(type)                                                                                               \
    PTX_FN type div_##type(type a, type b) {                                                                           \
        if (b == 0)                                                                                                    \
            return (type)-1;                                                                                           \
        return (type)-1 < 0 && b == (type)-1 ? (type)(0 - (u64)a) : (type)(a / b);                                     \
    }                                                                                                                  \
    PTX_FN type rem_##type(type a, type b) {                                                                           \
        if (b == 0)                                                                                                    \
            return a;                                                                                                  \
        return (type)-1 < 0 && b == (type)-1 ? 0 : (type)(a % b);                                                      \
    }                                                                                                                  \
    PTX_FN type min_##type(type a, type b) {                                                                           \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    PTX_FN type max_##type(type a, type b) {                                                                           \
        return a > b ? a : b;                                                                                          \
    }                                                                                                                  \
    PTX_FN type abs_##type(type a) {                                                                                   \
        return a < 0 ? (type)(0 - (u64)a) : a;                                                                         \
    }
PTX_DIVIDE(u16)
PTX_DIVIDE(s16)
PTX_DIVIDE(u32)
PTX_DIVIDE(s32)
PTX_DIVIDE(u64)
PTX_DIVIDE(s64)

#define PTX_SHIFT(bits)                                                                                                \
    PTX_FN u##bits shl_u##bits(u##bits a, u32 n) {                                                                     \
        return n >= bits ? 0 : (u##bits)(a << n);                                                                      \
    }                                                                                                                  \
    PTX_FN u##bits shr_u##bits(u##bits a, u32 n) {                                                                     \
        return n >= bits ? 0 : (u##bits)(a >> n);                                                                      \
    }                                                                                                                  \
    PTX_FN s##bits shr_s##bits(s##bits a, u32 n) {                                                                     \
        return (s##bits)(a >> (n >= bits ? bits - 1 : n));                                                             \
    }
PTX_SHIFT(16)
PTX_SHIFT(32)
PTX_SHIFT(64)

/* Funnel shifts of b:a. */
PTX_FN u64 join(u32 a, u32 b) {
    return (u64)b << 32 | a;
}
PTX_FN u32 shf_l_wrap(u32 a, u32 b, u32 n) {
    return (u32)(join(a, b) << (n & 31) >> 32);
}
PTX_FN u32 shf_r_wrap(u32 a, u32 b, u32 n) {
    return (u32)(join(a, b) >> (n & 31));
}
PTX_FN u32 shf_l_clamp(u32 a, u32 b, u32 n) {
    return n >= 32 ? a : (u32)(join(a, b) << n >> 32);
}
PTX_FN u32 shf_r_clamp(u32 a, u32 b, u32 n) {
    return n >= 32 ? b : (u32)(join(a, b) >> n);
}

/* Each nibble of s picks one of the eight bytes of b:a; its top bit asks for that byte's sign instead. */
PTX_FN u32 prmt(u32 a, u32 b, u32 s) {
    u32 result = 0;
    for (int i = 0; i < 4; i++) {
        u32 pick = s >> (4 * i) & 15;
        u32 byte = (u32)(join(a, b) >> (8 * (pick & 7))) & 255;
        result |= (pick & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * i);
    }
    return result;
}

/* b ones from bit a on. */
PTX_FN u32 bmsk_clamp(u32 a, u32 b) {
    if (a > 31)
        return 0;
    return (b > 31 ? ~0u : (1u << b) - 1) << a;
}
PTX_FN u32 bmsk_wrap(u32 a, u32 b) {
    return ((1u << (b & 31)) - 1) << (a & 31);
}

/* Bit fields: place and length are bytes; what lies past the top reads as 0, or as the sign. */
#define PTX_BIT_FIELD(bits)                                                                                            \
    PTX_FN u##bits bfe_u##bits(u##bits a, u32 place, u32 length) {                                                     \
        place &= 255, length &= 255;                                                                                   \
        u##bits field = shr_u##bits(a, place);                                                                         \
        return length >= bits ? field : field & (((u##bits)1 << length) - 1);                                          \
    }                                                                                                                  \
    PTX_FN s##bits bfe_s##bits(s##bits a, u32 place, u32 length) {                                                     \
        place &= 255, length &= 255;                                                                                   \
        s##bits field = shr_s##bits(a, place);                                                                         \
        if (length == 0 || length >= bits)                                                                             \
            return length ? field : 0;                                                                                 \
        return (s##bits)((u##bits)field << (bits - length)) >> (bits - length);                                        \
    }                                                                                                                  \
    PTX_FN u##bits bfi_b##bits(u##bits a, u##bits b, u32 place, u32 length) {                                          \
        place &= 255, length &= 255;                                                                                   \
        u##bits ones = length >= bits ? (u##bits) - 1 : ((u##bits)1 << length) - 1;                                    \
        u##bits mask = shl_u##bits(ones, place);                                                                       \
        return (b & ~mask) | (shl_u##bits(a, place) & mask);                                                           \
    }                                                                                                                  \
    PTX_FN u##bits brev_b##bits(u##bits a) {                                                                           \
        u##bits result = 0;                                                                                            \
        for (int i = 0; i < bits; i++)                                                                                 \
            result |= (a >> i & 1) << (bits - 1 - i);                                                                  \
        return result;                                                                                                 \
    }                                                                                                                  \
    PTX_FN u32 popc_b##bits(u##bits a) {                                                                               \
        return (u32)__builtin_popcountll(a);                                                                           \
    }                                                                                                                  \
    PTX_FN u32 clz_b##bits(u##bits a) {                                                                                \
        return a ? (u32)__builtin_clzll(a) - (64 - bits) : bits;                                                       \
    }                                                                                                                  \
    PTX_FN u32 bfind_u##bits(u##bits a, int shift_amount) {                                                            \
        if (!a)                                                                                                        \
            return ~0u;                                                                                                \
        return shift_amount ? clz_b##bits(a) : bits - 1 - clz_b##bits(a);                                              \
    }                                                                                                                  \
    PTX_FN u32 bfind_s##bits(s##bits a, int shift_amount) {                                                            \
        return bfind_u##bits((u##bits)(a < 0 ? ~a : a), shift_amount);                                                 \
    }
PTX_BIT_FIELD(32)
PTX_BIT_FIELD(64)

/* c + the sum of the products of the four bytes of a and b. */
PTX_FN u32 dp4a(u32 a, u32 b, u32 c, int a_signed, int b_signed) {
    for (int i = 0; i < 4; i++) {
        s32 x = a_signed ? (s8)(a >> 8 * i) : (u8)(a >> 8 * i);
        s32 y = b_signed ? (s8)(b >> 8 * i) : (u8)(b >> 8 * i);
        c += (u32)(x * y);
    }
    return c;
}

#endif
