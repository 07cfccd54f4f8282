/* Sine and cosine of the kernels (src/kernels/math/trig.h), reached through the table of each build: their error
 * against libm in a wider precision, their symmetries, their limits, and that every build gives the same bits.
 * docs/trig.md has the numbers. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <criterion/parameterized.h>

#include "host/cpu/dispatch.h"
#include "support/random_model.h"
#include "support/work.h"

enum { CHUNK = 4096, LIMIT_32 = 20, LIMIT_64 = 40 }; /* the limits are powers of two */

/* Measured maxima are 0.902 (f32, every number) and 0.865 (f64, five million samples). */
static const double MAX_ULP_32 = 0.91, MAX_ULP_64 = 0.92;

static const SapKernels *best(SapPrecision precision) {
    SapIsa isa;
    cr_assert_eq(sap_isa_resolve(SAP_ISA_AUTO, &isa), SAP_OK);
    return sap_kernels_find(isa, sap_default_lanes(isa, precision, 64, 8), precision);
}

/* ---- error ---- */

typedef struct Worst {
    double ulp, at;
} Worst;

/* The spacing of numbers with `digits` bits at y. */
static double spacing(double y, int digits, int min_exponent) {
    int e;
    frexp(y, &e);
    return ldexp(1.0, e - digits > min_exponent ? e - digits : min_exponent);
}

/* NaN counts as the worst. */
static void note(Worst *worst, double ulp, double x) {
    if (!(ulp <= worst->ulp))
        *worst = (Worst){ulp, x};
}

static void check_f32(const float *x, int n, Worst *sine, Worst *cosine) {
    float s[CHUNK], c[CHUNK];
    best(SAP_FP32)->sincos(x, s, c, n);
    for (int i = 0; i < n; i++) {
        double S = sin((double)x[i]), C = cos((double)x[i]);
        note(sine, fabs((double)s[i] - S) / spacing(S, 24, -149), (double)x[i]);
        note(cosine, fabs((double)c[i] - C) / spacing(C, 24, -149), (double)x[i]);
    }
}

static void check_f64(const double *x, int n, Worst *sine, Worst *cosine) {
    double s[CHUNK], c[CHUNK];
    best(SAP_FP64)->sincos(x, s, c, n);
    for (int i = 0; i < n; i++) {
        long double S = sinl((long double)x[i]), C = cosl((long double)x[i]);
        note(sine, (double)(fabsl((long double)s[i] - S) / (long double)spacing((double)S, 53, -1074)), x[i]);
        note(cosine, (double)(fabsl((long double)c[i] - C) / (long double)spacing((double)C, 53, -1074)), x[i]);
    }
}

static void report(const char *what, Worst sine, Worst cosine, double allowed) {
    cr_log_info("%s: sine %.3f ulp at %a, cosine %.3f ulp at %a\n", what, sine.ulp, sine.at, cosine.ulp, cosine.at);
    cr_assert(sine.ulp < allowed, "%s: sin(%a) is off by %g ulp", what, sine.at, sine.ulp);
    cr_assert(cosine.ulp < allowed, "%s: cos(%a) is off by %g ulp", what, cosine.at, cosine.ulp);
}

/* All floats with bit patterns first, first + step ..., below end. */
static void check_floats(const char *what, uint32_t first, uint32_t end, uint32_t step) {
    Worst sine = {0}, cosine = {0};
    float x[CHUNK];
    int n = 0;
    for (uint64_t b = first; b < end; b += step) {
        uint32_t pattern = (uint32_t)b;
        memcpy(&x[n++], &pattern, sizeof pattern);
        if (n == CHUNK || b + step >= end) {
            check_f32(x, n, &sine, &cosine);
            n = 0;
        }
    }
    report(what, sine, cosine, MAX_ULP_32);
}

static uint32_t pattern_of(float x) {
    uint32_t pattern;
    memcpy(&pattern, &x, sizeof pattern);
    return pattern;
}

/* One float in three from 2^-13, where sine begins to differ from its argument, to the limit. */
ParameterizedTestParameters(trig, f32_is_within_an_ulp_at_every_magnitude) {
    static int exponents[] = {-13, -10, -7, -4, -1, 2, 5, 8, 11, 14, 17};
    return cr_make_param_array(int, exponents, sizeof exponents / sizeof *exponents);
}

ParameterizedTest(int *exponent, trig, f32_is_within_an_ulp_at_every_magnitude) {
    uint32_t first = pattern_of(ldexpf(1, *exponent)), end = pattern_of(ldexpf(1, *exponent + 3)) + 1;
    check_floats("f32", first, end, (uint32_t)(3 / work_scale()));
}

Test(trig, f32_is_within_an_ulp_for_tiny_numbers) {
    check_floats("f32, below 2^-13", 0, pattern_of(ldexpf(1, -13)), 97);
}

static double random_sign(Random *random) {
    return random_bits(random) & 1 ? 1 : -1;
}

Test(trig, f64_is_within_an_ulp_at_every_magnitude) {
    Worst sine = {0}, cosine = {0};
    Random random = random_seed(1);
    double x[CHUNK];
    for (int round = 0; round < (int)(600 * work_scale()) + 1; round++) {
        for (int i = 0; i < CHUNK; i++) {
            int exponent = random_below(&random, 70) - 30; /* -30 .. 39: up to 2^40 */
            x[i] = random_sign(&random) * ldexp(1 + random_between(&random, 0, 1), exponent);
        }
        check_f64(x, CHUNK, &sine, &cosine);
    }
    report("f64, all magnitudes", sine, cosine, MAX_ULP_64);
}

/* Where sine or cosine is nearly zero, all the digits come from the reduction of the argument. */
Test(trig, f64_is_within_an_ulp_near_multiples_of_half_pi) {
    Worst sine = {0}, cosine = {0};
    Random random = random_seed(2);
    double x[CHUNK];
    const long double half_pi = 1.57079632679489661923132169163975144L;
    for (int round = 0; round < (int)(600 * work_scale()) + 1; round++) {
        for (int i = 0; i < CHUNK; i++) {
            int bits = random_below(&random, 39) + 1;
            uint64_t k = random_bits(&random) >> (64 - bits);
            double near = (double)((long double)k * half_pi);
            x[i] = near + (double)(random_below(&random, 9) - 4) * spacing(near, 53, -1074);
        }
        check_f64(x, CHUNK, &sine, &cosine);
    }
    report("f64, near multiples of pi/2", sine, cosine, MAX_ULP_64);
}

/* The closest that f64 numbers up to 2^40 come to multiples of pi/2: 2^-60.5 and 2^-59. */
Test(trig, f64_is_within_an_ulp_at_the_hardest_numbers) {
    const double x[] = {0x1.6c6cbc45dc8dep+5, 0x1.6c6cbc45dc8dep+6, 0x1.b951f1572eba5p+23, 0x1.b951f1572eba5p+24};
    Worst sine = {0}, cosine = {0};
    check_f64(x, 4, &sine, &cosine);
    report("f64, hardest", sine, cosine, MAX_ULP_64);
}

Test(trig, f64_is_within_an_ulp_for_tiny_numbers) {
    Worst sine = {0}, cosine = {0};
    Random random = random_seed(3);
    double x[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        x[i] = random_sign(&random) * ldexp(1 + random_between(&random, 0, 1), -random_below(&random, 1075));
    check_f64(x, CHUNK, &sine, &cosine);
    report("f64, tiny", sine, cosine, MAX_ULP_64);
}

/* ---- what the error allows, and symmetry ---- */

typedef struct Sample {
    float x32[CHUNK], s32[CHUNK], c32[CHUNK];
    double x64[CHUNK], s64[CHUNK], c64[CHUNK];
} Sample;

/* Numbers of every magnitude up to the limits. */
static void fill_sample(Sample *sample, uint64_t seed) {
    Random random = random_seed(seed);
    for (int i = 0; i < CHUNK; i++) {
        double x = random_sign(&random) * (1 + random_between(&random, 0, 1));
        sample->x32[i] = (float)ldexp(x, random_below(&random, 60) - 40);
        sample->x64[i] = ldexp(x, random_below(&random, 80) - 40);
    }
}

static void run_sample(Sample *sample, SapIsa isa, int lanes, int n) {
    sap_kernels_find(isa, lanes, SAP_FP32)->sincos(sample->x32, sample->s32, sample->c32, n);
    sap_kernels_find(isa, lanes, SAP_FP64)->sincos(sample->x64, sample->s64, sample->c64, n);
}

Test(trig, squares_add_up_to_one) {
    static Sample sample;
    fill_sample(&sample, 4);
    run_sample(&sample, SAP_ISA_GENERIC, 1, CHUNK);
    for (int i = 0; i < CHUNK; i++) {
        double s = (double)sample.s32[i], c = (double)sample.c32[i];
        cr_assert(fabs(s * s + c * c - 1) < 2.0 * 0x1p-23, "f32 at %a", (double)sample.x32[i]);
        s = sample.s64[i], c = sample.c64[i];
        cr_assert(fabs(s * s + c * c - 1) < 3.0 * 0x1p-52, "f64 at %a", sample.x64[i]);
    }
}

Test(trig, sine_is_odd_and_cosine_even_to_the_bit) {
    static Sample plus, minus;
    fill_sample(&plus, 5);
    for (int i = 0; i < CHUNK; i++) {
        minus.x32[i] = -plus.x32[i];
        minus.x64[i] = -plus.x64[i];
    }
    run_sample(&plus, SAP_ISA_GENERIC, 4, CHUNK);
    run_sample(&minus, SAP_ISA_GENERIC, 4, CHUNK);
    for (int i = 0; i < CHUNK; i++) {
        minus.s32[i] = -minus.s32[i];
        minus.s64[i] = -minus.s64[i];
    }
    cr_assert_arr_eq(plus.s32, minus.s32, sizeof plus.s32);
    cr_assert_arr_eq(plus.c32, minus.c32, sizeof plus.c32);
    cr_assert_arr_eq(plus.s64, minus.s64, sizeof plus.s64);
    cr_assert_arr_eq(plus.c64, minus.c64, sizeof plus.c64);
}

Test(trig, zero_gives_zero_and_one) {
    const float x32[] = {0.0f, -0.0f};
    const double x64[] = {0.0, -0.0};
    float s32[2], c32[2];
    double s64[2], c64[2];
    best(SAP_FP32)->sincos(x32, s32, c32, 2);
    best(SAP_FP64)->sincos(x64, s64, c64, 2);
    for (int i = 0; i < 2; i++)
        cr_assert(s32[i] == 0 && c32[i] == 1 && s64[i] == 0 && c64[i] == 1);
}

/* ---- limits ---- */

Test(trig, beyond_the_limit_and_for_what_is_no_number_the_result_is_nan) {
    const float limit32 = ldexpf(1, LIMIT_32);
    const double limit64 = ldexp(1, LIMIT_64);
    const float x32[] = {
        nextafterf(limit32, INFINITY), -nextafterf(limit32, INFINITY), 1e30f, NAN, INFINITY, -INFINITY};
    const double x64[] = {nextafter(limit64, INFINITY), -nextafter(limit64, INFINITY), 1e300, NAN, INFINITY, -INFINITY};
    float s32[6], c32[6];
    double s64[6], c64[6];
    for (int isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++) {
        for (int lanes = 1; sap_kernels_find((SapIsa)isa, lanes, SAP_FP32); lanes = lanes == 1 ? 4 : 2 * lanes) {
            sap_kernels_find((SapIsa)isa, lanes, SAP_FP32)->sincos(x32, s32, c32, 6);
            sap_kernels_find((SapIsa)isa, lanes, SAP_FP64)->sincos(x64, s64, c64, 6);
            for (int i = 0; i < 6; i++) {
                cr_assert(isnan(s32[i]) && isnan(c32[i]), "f32 at %g", (double)x32[i]);
                cr_assert(isnan(s64[i]) && isnan(c64[i]), "f64 at %g", x64[i]);
            }
        }
    }
}

Test(trig, the_limit_itself_has_a_sine) {
    const float x32[] = {ldexpf(1, LIMIT_32), -ldexpf(1, LIMIT_32)};
    const double x64[] = {ldexp(1, LIMIT_64), -ldexp(1, LIMIT_64)};
    Worst sine = {0}, cosine = {0};
    check_f32(x32, 2, &sine, &cosine);
    report("f32 at its limit", sine, cosine, MAX_ULP_32);
    check_f64(x64, 2, &sine, &cosine);
    report("f64 at its limit", sine, cosine, MAX_ULP_64);
}

/* ---- one answer ---- */

/* Counts that leave lanes over are the common case at the end of a batch. */
Test(trig, every_instruction_set_and_lane_count_gives_the_same_bits) {
    static Sample reference, other;
    const int counts[] = {CHUNK, CHUNK - 1, 13, 1};
    for (uint64_t seed = 10; seed < 14; seed++) {
        fill_sample(&reference, seed);
        run_sample(&reference, SAP_ISA_GENERIC, 1, CHUNK);
        int n = counts[seed - 10];
        for (int isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++) {
            for (int lanes = 1; sap_kernels_find((SapIsa)isa, lanes, SAP_FP32); lanes = lanes == 1 ? 4 : 2 * lanes) {
                fill_sample(&other, seed);
                run_sample(&other, (SapIsa)isa, lanes, n);
                const char *name = sap_isa_name((SapIsa)isa);
                cr_assert_arr_eq(reference.s32, other.s32, sizeof(float) * (size_t)n, "%s x%d", name, lanes);
                cr_assert_arr_eq(reference.c32, other.c32, sizeof(float) * (size_t)n, "%s x%d", name, lanes);
                cr_assert_arr_eq(reference.s64, other.s64, sizeof(double) * (size_t)n, "%s x%d", name, lanes);
                cr_assert_arr_eq(reference.c64, other.c64, sizeof(double) * (size_t)n, "%s x%d", name, lanes);
            }
        }
    }
}
