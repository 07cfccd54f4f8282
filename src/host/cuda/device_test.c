/* Tests the arithmetic of a GPU: every form of instruction that the kernels are made of, alone, on the same operands as
 * the same operation in C. Equal bits of CPU and GPU rest on these forms, so a difference between the two is searched
 * for here first. The kernel is PTX that this file writes: a thread has a row of operands and stores one result per
 * form. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/batch.h>

#include "host/base/fail.h"
#include "host/cuda/device.h"

/* ---- operands ---- */

enum { OPERANDS = 4, EDGES = 16, ROWS = 2 * EDGES * EDGES };

/* Operands of one thread. The last of each kind is positive and odd, for division. */
typedef struct Operands {
    uint64_t wide[OPERANDS];
    uint32_t word[OPERANDS];
} Operands;

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Operands as the instructions name them. The 16-bit ones are the low half of a word, a predicate is its lowest bit. */
#define F(i)  float_of(in->word[i])
#define D(i)  double_of(in->wide[i])
#define W(i)  in->word[i]
#define S(i)  ((int32_t)in->word[i])
#define L(i)  in->wide[i]
#define SL(i) ((int64_t)in->wide[i])
#define H(i)  ((uint16_t)in->word[i])
#define P(i)  (in->word[i] & 1)

/* ---- what PTX defines and C does not ---- */

/* If one operand is NaN the result is the other; -0 is less than 0. */
static double least(double a, double b) {
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

static double greatest(double a, double b) {
    return -least(-a, -b);
}

/* The nearest representable integer in the direction of 0. NaN gives 0 if it is an f32, and the least integer if it is
 * an f64. */
static uint64_t to_int(double x, int32_t of_nan) {
    return (uint32_t)(x != x ? of_nan : x >= 2147483648.0 ? INT32_MAX : x <= -2147483649.0 ? INT32_MIN : (int32_t)x);
}

/* Shifts by the width or more clear the word, or fill it with the sign. */
static uint64_t shift_left(uint64_t x, uint32_t by, uint32_t width) {
    return by < width ? x << by : 0;
}

static uint64_t shift_right(uint64_t x, uint32_t by, uint32_t width) {
    return by < width ? x >> by : 0;
}

static uint64_t shift_signed(int64_t x, uint32_t by, uint32_t width) {
    return (uint64_t)(x >> (by < width ? by : width - 1));
}

static uint32_t reverse(uint32_t x) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}

/* Each of the four selectors picks one of the eight bytes of b:a; its highest bit replicates the sign of that byte. */
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t selector = selectors >> (4 * i) & 15, byte = (uint32_t)(bytes >> (8 * (selector & 7)) & 255);
        r |= (selector & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * i);
    }
    return r;
}

/* Inserts the lowest `length` bits of a into b at `position`; both count modulo 256. */
static uint32_t insert_bits(uint32_t a, uint32_t b, uint32_t position, uint32_t length) {
    position &= 255;
    length &= 255;
    for (uint32_t i = 0; i < length && position + i < 32; i++)
        b = (b & ~(1u << (position + i))) | (i < 32 ? a >> i & 1 : 0) << (position + i);
    return b;
}

/* ---- the forms ---- */

/* X(instruction, kind of the result, operands, result in C). Kinds: f d = f32 f64, w x h = integers of 32, 64, 16 bits,
 * p = predicate. */
#define FLOAT_FORMS(X, type, k, at, of, fma_c, sqrt_c)                                                                 \
    X("add.rn." type, k, "%" #k "0, %" #k "1", of(at(0) + at(1)))                                                      \
    X("sub.rn." type, k, "%" #k "0, %" #k "1", of(at(0) - at(1)))                                                      \
    X("mul.rn." type, k, "%" #k "0, %" #k "1", of(at(0) * at(1)))                                                      \
    X("div.rn." type, k, "%" #k "0, %" #k "1", of(at(0) / at(1)))                                                      \
    X("fma.rn." type, k, "%" #k "0, %" #k "1, %" #k "2", of(fma_c(at(0), at(1), at(2))))                               \
    X("rcp.rn." type, k, "%" #k "0", of(1 / at(0)))                                                                    \
    X("sqrt.rn." type, k, "%" #k "0", of(sqrt_c(at(0))))                                                               \
    X("neg." type, k, "%" #k "0", of(-at(0)))                                                                          \
    X("abs." type, k, "%" #k "0", of(at(0) < 0 || signbit(at(0)) ? -at(0) : at(0)))                                    \
    X("min." type, k, "%" #k "0, %" #k "1", of(least(at(0), at(1))))                                                   \
    X("max." type, k, "%" #k "0, %" #k "1", of(greatest(at(0), at(1))))                                                \
    X("setp.eq." type, p, "%" #k "0, %" #k "1", at(0) == at(1))                                                        \
    X("setp.lt." type, p, "%" #k "0, %" #k "1", at(0) < at(1))                                                         \
    X("setp.le." type, p, "%" #k "0, %" #k "1", at(0) <= at(1))                                                        \
    X("setp.gt." type, p, "%" #k "0, %" #k "1", at(0) > at(1))                                                         \
    X("setp.ge." type, p, "%" #k "0, %" #k "1", at(0) >= at(1))                                                        \
    X("setp.neu." type, p, "%" #k "0, %" #k "1", at(0) != at(1))                                                       \
    X("setp.ltu." type, p, "%" #k "0, %" #k "1", !(at(0) >= at(1)))                                                    \
    X("setp.leu." type, p, "%" #k "0, %" #k "1", !(at(0) > at(1)))                                                     \
    X("setp.gtu." type, p, "%" #k "0, %" #k "1", !(at(0) <= at(1)))                                                    \
    X("setp.geu." type, p, "%" #k "0, %" #k "1", !(at(0) < at(1)))                                                     \
    X("setp.nan." type, p, "%" #k "0, %" #k "1", at(0) != at(0) || at(1) != at(1))                                     \
    X("setp.num." type, p, "%" #k "0, %" #k "1", at(0) == at(0) && at(1) == at(1))                                     \
    X("selp." type, k, "%" #k "0, %" #k "1, %p2", of(P(2) ? at(0) : at(1)))

#define ORDER_FORMS(X, type, k, at)                                                                                    \
    X("setp.eq." type, p, "%" #k "0, %" #k "1", at(0) == at(1))                                                        \
    X("setp.ne." type, p, "%" #k "0, %" #k "1", at(0) != at(1))                                                        \
    X("setp.lt." type, p, "%" #k "0, %" #k "1", at(0) < at(1))                                                         \
    X("setp.le." type, p, "%" #k "0, %" #k "1", at(0) <= at(1))                                                        \
    X("setp.gt." type, p, "%" #k "0, %" #k "1", at(0) > at(1))                                                         \
    X("setp.ge." type, p, "%" #k "0, %" #k "1", at(0) >= at(1))

#define BIT_FORMS(X, type, k, at)                                                                                      \
    X("and." type, k, "%" #k "0, %" #k "1", at(0) & at(1))                                                             \
    X("or." type, k, "%" #k "0, %" #k "1", at(0) | at(1))                                                              \
    X("xor." type, k, "%" #k "0, %" #k "1", at(0) ^ at(1))                                                             \
    X("not." type, k, "%" #k "0", ~(uint64_t)at(0))

#define SELECT_FORMS(X, type, k, at) X("selp." type, k, "%" #k "0, %" #k "1, %p2", P(2) ? at(0) : at(1))

#define FORMS(X)                                                                                                       \
    FLOAT_FORMS(X, "f32", f, F, of_float, fmaf, sqrtf)                                                                 \
    FLOAT_FORMS(X, "f64", d, D, of_double, fma, sqrt)                                                                  \
    X("cvt.f64.f32", d, "%f0", of_double(F(0)))                                                                        \
    X("cvt.rn.f32.f64", f, "%d0", of_float((float)D(0)))                                                               \
    X("cvt.rn.f32.s32", f, "%w0", of_float((float)S(0)))                                                               \
    X("cvt.rn.f64.s32", d, "%w0", of_double(S(0)))                                                                     \
    X("cvt.rn.f64.s64", d, "%x0", of_double((double)SL(0)))                                                            \
    X("cvt.rzi.s32.f32", w, "%f0", to_int(F(0), 0))                                                                    \
    X("cvt.rzi.s32.f64", w, "%d0", to_int(D(0), INT32_MIN))                                                            \
    X("cvt.s64.s32", x, "%w0", (uint64_t)S(0))                                                                         \
    X("cvt.u64.u32", x, "%w0", W(0))                                                                                   \
    X("cvt.u32.u64", w, "%x0", L(0))                                                                                   \
    X("cvt.u16.u32", h, "%w0", W(0))                                                                                   \
    X("cvt.u32.u16", w, "%h0", H(0))                                                                                   \
    X("cvt.u64.u16", x, "%h0", H(0))                                                                                   \
    X("cvt.s32.s16", w, "%h0", (uint64_t)(int16_t)H(0))                                                                \
    X("cvt.s32.s8", w, "%h0", (uint64_t)(int8_t)H(0))                                                                  \
    ORDER_FORMS(X, "s32", w, S)                                                                                        \
    ORDER_FORMS(X, "u32", w, W)                                                                                        \
    ORDER_FORMS(X, "s64", x, SL)                                                                                       \
    X("setp.eq.b32", p, "%w0, %w1", W(0) == W(1))                                                                      \
    X("setp.eq.b64", p, "%x0, %x1", L(0) == L(1))                                                                      \
    X("setp.eq.s16", p, "%h0, %h1", H(0) == H(1))                                                                      \
    X("setp.ne.s16", p, "%h0, %h1", H(0) != H(1))                                                                      \
    BIT_FORMS(X, "b16", h, H)                                                                                          \
    BIT_FORMS(X, "b32", w, W)                                                                                          \
    BIT_FORMS(X, "b64", x, L)                                                                                          \
    BIT_FORMS(X, "pred", p, P)                                                                                         \
    SELECT_FORMS(X, "b16", h, H)                                                                                       \
    SELECT_FORMS(X, "u16", h, H)                                                                                       \
    SELECT_FORMS(X, "b32", w, W)                                                                                       \
    SELECT_FORMS(X, "u32", w, W)                                                                                       \
    SELECT_FORMS(X, "s32", w, W)                                                                                       \
    SELECT_FORMS(X, "b64", x, L)                                                                                       \
    SELECT_FORMS(X, "u64", x, L)                                                                                       \
    X("add.s16", h, "%h0, %h1", (uint64_t)H(0) + H(1))                                                                 \
    X("add.s32", w, "%w0, %w1", W(0) + W(1))                                                                           \
    X("add.s64", x, "%x0, %x1", L(0) + L(1))                                                                           \
    X("add.u64", x, "%x0, %x1", L(0) + L(1))                                                                           \
    X("sub.s16", h, "%h0, %h1", (uint64_t)H(0) - H(1))                                                                 \
    X("sub.s32", w, "%w0, %w1", W(0) - W(1))                                                                           \
    X("sub.s64", x, "%x0, %x1", L(0) - L(1))                                                                           \
    X("neg.s32", w, "%w0", 0 - W(0))                                                                                   \
    X("neg.s64", x, "%x0", 0 - L(0))                                                                                   \
    X("min.s32", w, "%w0, %w1", S(0) < S(1) ? W(0) : W(1))                                                             \
    X("max.s32", w, "%w0, %w1", S(0) > S(1) ? W(0) : W(1))                                                             \
    X("min.u32", w, "%w0, %w1", W(0) < W(1) ? W(0) : W(1))                                                             \
    X("max.u32", w, "%w0, %w1", W(0) > W(1) ? W(0) : W(1))                                                             \
    X("mul.lo.s16", h, "%h0, %h1", (uint64_t)H(0) * H(1))                                                              \
    X("mul.lo.s32", w, "%w0, %w1", W(0) * W(1))                                                                        \
    X("mul.lo.s64", x, "%x0, %x1", L(0) * L(1))                                                                        \
    X("mul.hi.s32", w, "%w0, %w1", (uint64_t)((int64_t)S(0) * S(1)) >> 32)                                             \
    X("mul.wide.s32", x, "%w0, %w1", (uint64_t)((int64_t)S(0) * S(1)))                                                 \
    X("mul.wide.u32", x, "%w0, %w1", (uint64_t)W(0) * W(1))                                                            \
    X("mul.wide.u16", w, "%h0, %h1", (uint64_t)H(0) * H(1))                                                            \
    X("mad.lo.s32", w, "%w0, %w1, %w2", W(0) * W(1) + W(2))                                                            \
    X("div.s32", w, "%w0, %w3", (uint32_t)(S(0) / S(3)))                                                               \
    X("div.u32", w, "%w0, %w3", W(0) / W(3))                                                                           \
    X("div.s64", x, "%x0, %x3", (uint64_t)(SL(0) / SL(3)))                                                             \
    X("shl.b32", w, "%w0, %w1", shift_left(W(0), W(1), 32))                                                            \
    X("shl.b64", x, "%x0, %w1", shift_left(L(0), W(1), 64))                                                            \
    X("shr.u32", w, "%w0, %w1", shift_right(W(0), W(1), 32))                                                           \
    X("shr.s32", w, "%w0, %w1", shift_signed(S(0), W(1), 32))                                                          \
    X("shr.u64", x, "%x0, %w1", shift_right(L(0), W(1), 64))                                                           \
    X("shr.s64", x, "%x0, %w1", shift_signed(SL(0), W(1), 64))                                                         \
    X("popc.b32", w, "%w0", (uint64_t)__builtin_popcount(W(0)))                                                        \
    X("clz.b32", w, "%w0", W(0) ? (uint64_t)__builtin_clz(W(0)) : 32)                                                  \
    X("bfind.shiftamt.u32", w, "%w0", W(0) ? (uint64_t)__builtin_clz(W(0)) : UINT32_MAX)                               \
    X("brev.b32", w, "%w0", reverse(W(0)))                                                                             \
    X("prmt.b32", w, "%w0, %w1, %w2", permute(W(0), W(1), W(2)))                                                       \
    X("bfi.b32", w, "%w0, %w1, %w2, %w3", insert_bits(W(0), W(1), W(2), W(3)))

typedef struct Form {
    const char *instruction;
    char kind; /* of the result */
    const char *operands;
} Form;

static const Form forms[] = {
#define FORM(instruction, kind, operands, result) {instruction, #kind[0], operands},
    FORMS(FORM)
#undef FORM
};
enum { NUM_FORMS = sizeof forms / sizeof *forms };

/* The bits of a result of this kind. */
static uint64_t of_kind(char kind, uint64_t bits) {
    return kind == 'p' ? bits & 1 : kind == 'h' ? bits & 0xffff : kind == 'w' ? bits & 0xffffffff : bits;
}

/* All results in C of a row of operands. */
static void compute(const Operands *in, uint64_t out[NUM_FORMS]) {
    const uint64_t results[] = {
#define FORM(instruction, kind, operands, result) (uint64_t)(result),
        FORMS(FORM)
#undef FORM
    };
    for (int i = 0; i < NUM_FORMS; i++)
        out[i] = of_kind(forms[i].kind, results[i]);
}

/* NaNs are alike: their bits differ between processors. */
static bool is_equal(char kind, uint64_t a, uint64_t b) {
    if (kind == 'f' && isnan(float_of((uint32_t)a)))
        return isnan(float_of((uint32_t)b));
    if (kind == 'd' && isnan(double_of(a)))
        return isnan(double_of(b));
    return a == b;
}

/* ---- operands of all rows: every pair of edges, then edges and random bits ---- */

static uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void fill_operands(Operands rows[ROWS]) {
    /* of floats: zeros, ones, the ends of the ranges of denormal and normal numbers, infinity, NaN, halves between
     * floats and integers; of integers: ends of ranges, widths of shifts */
    static const uint32_t words[EDGES] = {0,          0x80000000, 0x3f800000, 0xbf800000, 1,          0x807fffff,
                                          0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x4effffff,
                                          0xcf000000, 0x7fffffff, 0xffffffff, 31};
    static const uint64_t wides[EDGES] = {0,
                                          0x8000000000000000,
                                          0x3ff0000000000000,
                                          0xbff0000000000000,
                                          1,
                                          0x800fffffffffffff,
                                          0x0010000000000000,
                                          0x7fefffffffffffff,
                                          0x7ff0000000000000,
                                          0xfff0000000000000,
                                          0x7ff8000000000000,
                                          0x41dfffffffc00000,
                                          0xc1e0000000200000,
                                          0x3ff0000010000000,
                                          0x7fffffffffffffff,
                                          0xffffffffffffffff};
    /* The first half of the rows has every pair of edges in the first two operands and edges in the others; the second
     * half has edges in a quarter of all operands, else random bits. */
    uint64_t state = 1;
    for (int i = 0; i < ROWS; i++) {
        bool is_pair = i < EDGES * EDGES;
        for (int k = 0; k < OPERANDS; k++) {
            uint64_t random = next_random(&state), edge = random >> 60;
            if (is_pair && k < 2)
                edge = (uint64_t)(k == 0 ? i % EDGES : i / EDGES);
            bool is_edge = is_pair || (random >> 32) % 4 == 0;
            rows[i].word[k] = is_edge ? words[edge] : (uint32_t)next_random(&state);
            rows[i].wide[k] = is_edge ? wides[edge] : next_random(&state);
        }
        rows[i].word[OPERANDS - 1] = rows[i].word[OPERANDS - 1] >> 1 | 1;
        rows[i].wide[OPERANDS - 1] = rows[i].wide[OPERANDS - 1] >> 1 | 1;
    }
}

/* ---- the kernel ---- */

/* Loads the operands of thread i, which is row i of the first array, into registers of every kind. */
static void write_loads(FILE *ptx) {
    fprintf(ptx,
            ".version 7.0\n.target sm_80\n.address_size 64\n"
            ".visible .entry sap_kernel_arithmetic(.param .u64 from, .param .u64 to)\n{\n"
            ".reg .pred %%p<16>;\n.reg .b16 %%h<16>;\n.reg .b32 %%w<16>;\n.reg .b64 %%x<24>;\n.reg .f32 %%f<16>;\n.reg "
            ".f64 %%d<16>;\n"
            "ld.param.u64 %%x10, [from];\nld.param.u64 %%x11, [to];\ncvta.to.global.u64 %%x10, "
            "%%x10;\ncvta.to.global.u64 %%x11, %%x11;\n"
            "mov.u32 %%w10, %%tid.x;\nmul.wide.u32 %%x12, %%w10, %d;\nadd.s64 %%x10, %%x10, %%x12;\n"
            "mul.wide.u32 %%x12, %%w10, 8;\nadd.s64 %%x11, %%x11, %%x12;\n",
            (int)sizeof(Operands));
    for (int k = 0; k < OPERANDS; k++)
        fprintf(ptx,
                "ld.global.u64 %%x%d, [%%x10+%d];\nmov.b64 %%d%d, %%x%d;\nld.global.u32 %%w%d, [%%x10+%d];\nmov.b32 "
                "%%f%d, %%w%d;\n"
                "cvt.u16.u32 %%h%d, %%w%d;\nand.b32 %%w10, %%w%d, 1;\nsetp.ne.s32 %%p%d, %%w10, 0;\n",
                k, (int)(offsetof(Operands, wide) + sizeof(uint64_t) * (size_t)k), k, k, k,
                (int)(offsetof(Operands, word) + sizeof(uint32_t) * (size_t)k), k, k, k, k, k, k);
}

/* Computes a form and stores its result as 64 bits; the results of one form are together. */
static void write_form(FILE *ptx, const Form *form) {
    static const char *const widen[] = {['p'] = "selp.u64 %x9, 1, 0, %p8;",
                                        ['h'] = "cvt.u64.u16 %x9, %h8;",
                                        ['w'] = "cvt.u64.u32 %x9, %w8;",
                                        ['x'] = "mov.u64 %x9, %x8;",
                                        ['f'] = "mov.b32 %w8, %f8;\ncvt.u64.u32 %x9, %w8;",
                                        ['d'] = "mov.b64 %x9, %d8;"};
    fprintf(ptx, "%s %%%c8, %s;\n%s\nst.global.u64 [%%x11], %%x9;\nadd.s64 %%x11, %%x11, %d;\n", form->instruction,
            form->kind, form->operands, widen[(int)form->kind], (int)(ROWS * sizeof(uint64_t)));
}

/* The text of the kernel, to be freed; NULL without memory. */
static char *write_kernel(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *ptx = open_memstream(&text, &size);
    if (!ptx)
        return NULL;
    write_loads(ptx);
    for (int i = 0; i < NUM_FORMS; i++)
        write_form(ptx, &forms[i]);
    fprintf(ptx, "ret;\n}\n");
    if (fclose(ptx) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- the test ---- */

static const char who[] = "sap_device_test";

/* Results of the GPU: [NUM_FORMS][ROWS]. */
static SapStatus run_rows(const SapCuda *cuda, CuModule module, const Operands *rows, CuAddress memory,
                          uint64_t *results) {
    CuFunction kernel;
    CuAddress to = memory + ROWS * sizeof *rows;
    void *parameters[] = {&memory, &to};
    SAP_CU_TRY(cuda, module_function, who, (&kernel, module, "sap_kernel_arithmetic"));
    SAP_CU_TRY(cuda, copy_to_device, who, (memory, rows, ROWS * sizeof *rows, NULL));
    SAP_CU_TRY(cuda, launch, who, (kernel, 1, 1, 1, ROWS, 1, 1, 0, NULL, parameters, NULL));
    SAP_CU_TRY(cuda, copy_to_host, who, (results, to, NUM_FORMS * ROWS * sizeof *results, NULL));
    SAP_CU_TRY(cuda, stream_synchronize, who, (NULL));
    return SAP_OK;
}

/* The same with the memory that it needs. */
static SapStatus run_with_memory(const SapCuda *cuda, CuModule module, const Operands *rows, uint64_t *results) {
    CuAddress memory;
    SAP_CU_TRY(cuda, memory_allocate, who, (&memory, ROWS * (sizeof *rows + NUM_FORMS * sizeof *results)));
    SapStatus status = run_rows(cuda, module, rows, memory, results);
    cuda->memory_free(memory);
    return status;
}

static SapStatus run_kernel(const SapCudaDevice *device, const char *ptx, const Operands *rows, uint64_t *results) {
    CuModule module;
    SAP_CU_TRY(device->cuda, module_load, who, (&module, ptx));
    SapStatus status = run_with_memory(device->cuda, module, rows, results);
    device->cuda->module_unload(module);
    return status;
}

/* Compares all results and names the first that differs. */
static SapStatus compare(const Operands *rows, const uint64_t *results) {
    int different = 0, first = -1, first_row = 0;
    uint64_t expected[NUM_FORMS], wanted = 0;
    bool differs[NUM_FORMS] = {false};
    /* Count the forms that differ, and keep the first. */
    for (int row = 0; row < ROWS; row++) {
        compute(&rows[row], expected);
        for (int i = 0; i < NUM_FORMS; i++) {
            if (differs[i] || is_equal(forms[i].kind, expected[i], results[i * ROWS + row]))
                continue;
            differs[i] = true;
            different++;
            if (first < 0) {
                first = i;
                first_row = row;
                wanted = expected[i];
            }
        }
    }
    if (different == 0)
        return SAP_OK;
    const Operands *in = &rows[first_row];
    return sap_fail(SAP_ERROR_DEVICE,
                    "%s: %d of %d instructions differ from C, the first is '%s %s' with words %08x %08x %08x %08x and "
                    "%016llx %016llx "
                    "%016llx %016llx: %016llx; C gives %016llx",
                    who, different, NUM_FORMS, forms[first].instruction, forms[first].operands, in->word[0],
                    in->word[1], in->word[2], in->word[3], (unsigned long long)in->wide[0],
                    (unsigned long long)in->wide[1], (unsigned long long)in->wide[2], (unsigned long long)in->wide[3],
                    (unsigned long long)results[first * ROWS + first_row], (unsigned long long)wanted);
}

/* With the context of the device. */
static SapStatus test_device(const SapCudaDevice *device) {
    Operands rows[ROWS];
    char *ptx = write_kernel();
    uint64_t *results = malloc(NUM_FORMS * ROWS * sizeof *results);
    fill_operands(rows);
    SapStatus status = ptx && results ? run_kernel(device, ptx, rows, results)
                                      : sap_fail(SAP_ERROR_MEMORY, "%s: no memory for %d instructions", who, NUM_FORMS);
    if (status == SAP_OK)
        status = compare(rows, results);
    free(results);
    free(ptx);
    return status;
}

SapStatus sap_device_test(int cuda_device, int *num_forms) {
    SapCudaDevice *device;
    if (cuda_device < 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: cuda_device is %d; it must not be negative", who, cuda_device);
    SAP_TRY(sap_cuda_device_retain(cuda_device, &device));
    SapStatus status = sap_cuda_enter(device, who);
    if (status == SAP_OK)
        status = sap_cuda_leave(device, who, test_device(device));
    sap_cuda_device_release(device);
    if (status == SAP_OK && num_forms)
        *num_forms = NUM_FORMS;
    return status;
}
