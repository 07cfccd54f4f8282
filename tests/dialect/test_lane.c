/* The kernel dialect (lane.h, buffer.h): what a real, a mask and a row are. Compiled once for every lane count and
 * precision, with SAP_LANES, SAP_PRECISION and the name of the suite, LANE_SUITE. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/solver.h>

#include "kernels/data/context.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/math/trig.h"
#include "kernels/dialect/buffers.h"

#define EPSILON (SAP_PRECISION == 32 ? K(FLT_EPSILON) : K(DBL_EPSILON))

/* Lane l of a test value; all lanes differ. */
static scalar sample(int l) {
    return K(1.25) + K(0.5) * (scalar)l;
}

static real samples(void) {
    real r = real_of(0);
    FOR_LANES(l) LANE(r, l) = sample(l);
    return r;
}

/* True in lane `which` only. */
static mask only_lane(int which) {
    real index = real_of(0);
    FOR_LANES(l) LANE(index, l) = (scalar)l;
    return index == real_of((scalar)which);
}

static mask all_lanes(void) {
    return real_of(0) == real_of(0);
}

/* What the compiler cannot see through. */
static scalar opaque(scalar x) {
    volatile scalar y = x;
    return y;
}

static bool same_bits(scalar a, scalar b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- numbers and masks ---- */

Test(LANE_SUITE, real_of_fills_every_lane) {
    const scalar values[] = {K(0.0), K(-0.0), K(1.5), K(-3.25), K(INFINITY)};
    for (int i = 0; i < 5; i++) {
        real r = real_of(opaque(values[i]));
        FOR_LANES(l) cr_assert(same_bits(LANE(r, l), values[i]));
    }
}

Test(LANE_SUITE, select_takes_each_lane_from_its_side) {
    real a = samples(), b = -samples();
    for (int which = 0; which < SAP_LANES; which++) {
        real r = real_select(only_lane(which), a, b);
        FOR_LANES(l) cr_assert_eq(LANE(r, l), l == which ? sample(l) : -sample(l));
    }
}

Test(LANE_SUITE, select_does_not_mix_in_what_it_leaves) {
    real good = samples(), bad = real_of(opaque(K(NAN)));
    real r = real_select(all_lanes(), good, bad), s = real_select(mask_not(all_lanes()), bad, good);
    FOR_LANES(l) cr_assert(LANE(r, l) == sample(l) && LANE(s, l) == sample(l));
}

Test(LANE_SUITE, bits_are_selected_like_reals) {
    bits a = real_bits(samples()), b = real_bits(-samples());
    bits r = bits_select(only_lane(0), a, b);
    FOR_LANES(l) cr_assert_eq(LANE(r, l), l == 0 ? LANE(a, l) : LANE(b, l));
}

Test(LANE_SUITE, real_bits_is_the_pattern_of_the_number) {
    bits b = real_bits(samples());
    FOR_LANES(l) {
        scalar_bits pattern;
        scalar value = sample(l);
        memcpy(&pattern, &value, sizeof pattern);
        cr_assert_eq(LANE(b, l), pattern);
    }
}

Test(LANE_SUITE, masks_combine_lane_by_lane) {
    for (int which = 0; which < SAP_LANES; which++) {
        mask one = only_lane(which), others = mask_not(one);
        mask both = one & others, either = one | others;
        FOR_LANES(l) {
            cr_assert_eq(mask_lane(one, l), l == which);
            cr_assert_eq(mask_lane(others, l), l != which);
            cr_assert_not(mask_lane(both, l));
            cr_assert(mask_lane(either, l));
        }
    }
}

Test(LANE_SUITE, mask_any_sees_every_lane) {
    cr_assert_not(mask_any(mask_not(all_lanes())));
    for (int which = 0; which < SAP_LANES; which++)
        cr_assert(mask_any(only_lane(which)));
}

/* Masks of comparisons, of pack_lanes and of integers are used together. */
Test(LANE_SUITE, masks_of_every_origin_combine) {
    SapPack pack = {.count = SAP_LANES};
    bits none = real_bits(real_of(0));
    mask m = pack_lanes(&pack) & (none == 0) & all_lanes();
    FOR_LANES(l) cr_assert(mask_lane(m, l));
    cr_assert_not(mask_any(mask_not(m)));
    real r = real_select(m, samples(), real_of(0));
    FOR_LANES(l) cr_assert_eq(LANE(r, l), sample(l));
}

/* ---- rounding ---- */

Test(LANE_SUITE, fma_rounds_once) {
    scalar e = EPSILON;
    /* (1 + e)(1 - e) - 1 = -e^2, which a product rounded first would lose */
    real r = real_fma(real_of(opaque(1 + e)), real_of(opaque(1 - e)), real_of(opaque(-1)));
    FOR_LANES(l) cr_assert(same_bits(LANE(r, l), -e * e));
    real a = samples(), b = real_of(K(1.0) / K(3.0)), c = -samples();
    r = real_fma(a, b, c);
    FOR_LANES(l) cr_assert(same_bits(LANE(r, l), FLOAT_FN(fma)(LANE(a, l), LANE(b, l), LANE(c, l))));
}

Test(LANE_SUITE, plain_operators_are_not_contracted) {
    scalar e = EPSILON;
    real a = real_of(opaque(1 + e)), c = real_of(opaque(1 + 2 * e));
    real r = a * a - c; /* (1 + e)^2 rounds to 1 + 2e; a fused one would leave e^2 */
    FOR_LANES(l) cr_assert(same_bits(LANE(r, l), K(0.0)));
}

Test(LANE_SUITE, sqrt_and_abs_are_exact) {
    real a = samples(), r = real_sqrt(a);
    FOR_LANES(l) cr_assert(same_bits(LANE(r, l), FLOAT_FN(sqrt)(sample(l))));
    r = real_abs(-a);
    FOR_LANES(l) cr_assert(same_bits(LANE(r, l), sample(l)));
    r = real_abs(real_of(opaque(K(-0.0))));
    FOR_LANES(l) cr_assert(same_bits(LANE(r, l), K(0.0)));
    r = real_sqrt(real_of(opaque(K(-1.0))));
    FOR_LANES(l) cr_assert(isnan(LANE(r, l)));
}

Test(LANE_SUITE, denormals_are_kept) {
    scalar tiny = SAP_PRECISION == 32 ? K(FLT_MIN) : K(DBL_MIN);
    real r = real_of(opaque(tiny)) * K(0.25);
    real back = r * K(4.0);
    FOR_LANES(l) cr_assert(LANE(r, l) != 0 && LANE(back, l) == tiny);
}

/* ---- what is finite ---- */

Test(LANE_SUITE, finite_tells_numbers_from_the_rest) {
    scalar largest = SAP_PRECISION == 32 ? K(FLT_MAX) : K(DBL_MAX);
    const scalar yes[] = {K(0.0), K(-0.0), largest, -largest, largest * K(1e-30) * K(1e-30)};
    const scalar no[] = {K(NAN), K(INFINITY), K(-INFINITY)};
    for (int which = 0; which < SAP_LANES; which++) {
        for (int i = 0; i < 5; i++) {
            mask finite = real_finite(real_select(only_lane(which), real_of(opaque(yes[i])), samples()));
            FOR_LANES(l) cr_assert(mask_lane(finite, l));
        }
        for (int i = 0; i < 3; i++) {
            mask finite = real_finite(real_select(only_lane(which), real_of(opaque(no[i])), samples()));
            FOR_LANES(l) cr_assert_eq(mask_lane(finite, l), l != which);
        }
    }
}

Test(LANE_SUITE, one_failed_check_of_many_fails_its_lane_only) {
    enum { N = 9 };
    for (int which = 0; which < SAP_LANES; which++) {
        for (int at = 0; at < N; at++) {
            real check[N];
            for (int i = 0; i < N; i++)
                check[i] = check_of(i == at ? real_select(only_lane(which), real_of(opaque(K(INFINITY))), samples())
                                            : samples());
            mask pass = checks_pass(check, N);
            FOR_LANES(l) cr_assert_eq(mask_lane(pass, l), l != which);
        }
    }
}

/* ---- buffer ---- */

enum { NUM_WORLDS = 19, WIDTH = 5 };

/* Rows of one type, filled with world + 0.1 i (which f32 rounds). */
typedef struct Table {
    double f64[NUM_WORLDS * WIDTH];
    float f32[NUM_WORLDS * WIDTH];
} Table;

static double entry(int world, int i) {
    return world + 0.1 * i;
}

static void fill_table(Table *t) {
    for (int w = 0; w < NUM_WORLDS; w++)
        for (int i = 0; i < WIDTH; i++) {
            t->f64[w * WIDTH + i] = entry(w, i);
            t->f32[w * WIDTH + i] = (float)entry(w, i);
        }
}

static SapBuffer table_rows(Table *t, int is_f64) {
    SapBuffer buffer = {.data = is_f64 ? (void *)t->f64 : (void *)t->f32, .stride = WIDTH, .is_f64 = is_f64};
    return buffer;
}

/* The pack of the host: worlds from `first`, of which the last one is repeated past the end. */
static SapPack pack_from(int first) {
    SapPack pack = {.count = NUM_WORLDS - first < SAP_LANES ? NUM_WORLDS - first : SAP_LANES};
    for (int l = 0; l < SAP_LANES; l++)
        pack.world[l] = first + (l < pack.count ? l : pack.count - 1);
    return pack;
}

Test(LANE_SUITE, buffer_get_converts_from_both_storages) {
    static Table t;
    fill_table(&t);
    for (int first = 0; first < NUM_WORLDS; first++) {
        SapPack pack = pack_from(first);
        for (int i = 0; i < WIDTH; i++) {
            real from64 = buffer_get(table_rows(&t, 1), i, &pack), from32 = buffer_get(table_rows(&t, 0), i, &pack);
            FOR_LANES(l) {
                cr_assert(same_bits(LANE(from64, l), (scalar)entry(pack.world[l], i)));
                cr_assert(same_bits(LANE(from32, l), (scalar)(float)entry(pack.world[l], i)));
            }
        }
    }
}

Test(LANE_SUITE, a_stride_of_zero_is_one_row_for_all_worlds) {
    static Table t;
    fill_table(&t);
    SapBuffer buffer = table_rows(&t, 1);
    buffer.stride = 0;
    SapPack pack = pack_from(3);
    real r = buffer_get(buffer, 2, &pack);
    FOR_LANES(l) cr_assert_eq(LANE(r, l), (scalar)entry(0, 2));

    scalar constants[NUM_WORLDS * WIDTH];
    for (int i = 0; i < NUM_WORLDS * WIDTH; i++)
        constants[i] = (scalar)t.f64[i];
    SapField field = {.data = constants, .stride = 0};
    r = field_get(field, 2, &pack);
    FOR_LANES(l) cr_assert_eq(LANE(r, l), (scalar)entry(0, 2));
    field.stride = WIDTH;
    r = field_get(field, 2, &pack);
    FOR_LANES(l) cr_assert_eq(LANE(r, l), (scalar)entry(pack.world[l], 2));
}

/* Writes through every pack, the last one with lanes to spare, and looks at all of the memory. */
Test(LANE_SUITE, buffer_put_writes_its_own_worlds_and_nothing_else) {
    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
        for (int first = 0; first < NUM_WORLDS; first++) {
            static Table t, expected;
            fill_table(&t);
            fill_table(&expected);
            SapPack pack = pack_from(first);
            buffer_put(table_rows(&t, is_f64), 3, samples(), pack_lanes(&pack), &pack);
            for (int l = 0; l < pack.count; l++) {
                if (is_f64)
                    expected.f64[(first + l) * WIDTH + 3] = (double)sample(l);
                else
                    expected.f32[(first + l) * WIDTH + 3] = (float)sample(l);
            }
            cr_assert_arr_eq(t.f64, expected.f64, sizeof t.f64);
            cr_assert_arr_eq(t.f32, expected.f32, sizeof t.f32);
        }
    }
}

Test(LANE_SUITE, buffer_put_leaves_masked_lanes_alone) {
    for (int which = 0; which < SAP_LANES; which++) {
        static Table t, expected;
        fill_table(&t);
        fill_table(&expected);
        SapPack pack = pack_from(0);
        buffer_put(table_rows(&t, 1), 1, samples(), only_lane(which), &pack);
        expected.f64[which * WIDTH + 1] = (double)sample(which);
        cr_assert_arr_eq(t.f64, expected.f64, sizeof t.f64);
    }
}

Test(LANE_SUITE, what_was_put_is_got_back) {
    static Table t;
    real third = samples() / real_of(K(3.0));
    SapPack pack = pack_from(0);
    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
        SapBuffer buffer = table_rows(&t, is_f64);
        buffer_put(buffer, 0, third, all_lanes(), &pack);
        real back = buffer_get(buffer, 0, &pack), told = buffer_stored(buffer, third);
        FOR_LANES(l) {
            cr_assert(same_bits(LANE(back, l), is_f64 ? LANE(third, l) : (scalar)(float)LANE(third, l)));
            cr_assert(same_bits(LANE(told, l), LANE(back, l)));
        }
    }
}

/* f64 kernels can compute what f32 storage cannot hold, and must be told. */
Test(LANE_SUITE, a_number_too_large_for_its_storage_is_seen) {
    static Table t;
    real large = real_of(opaque((scalar)(SAP_PRECISION == 32 ? 1e38 : 1e39)));
    mask fits32 = real_finite(buffer_stored(table_rows(&t, 0), large)),
         fits64 = real_finite(buffer_stored(table_rows(&t, 1), large));
    FOR_LANES(l) {
        cr_assert_eq(mask_lane(fits32, l), SAP_PRECISION == 32);
        cr_assert(mask_lane(fits64, l));
    }
}

Test(LANE_SUITE, buffer_copy_keeps_the_bits_of_the_storage) {
    static Table from, to;
    fill_table(&from);
    SapPack pack = pack_from(NUM_WORLDS - 1 - SAP_LANES / 2);
    for (int i = 0; i < WIDTH; i++) {
        buffer_copy(table_rows(&to, 1), table_rows(&from, 1), i, pack_lanes(&pack), &pack);
        buffer_copy(table_rows(&to, 0), table_rows(&from, 1), i, pack_lanes(&pack), &pack);
    }
    for (int w = 0; w < NUM_WORLDS; w++) {
        bool copied = w >= pack.world[0] && w < pack.world[0] + pack.count;
        for (int i = 0; i < WIDTH; i++) {
            cr_assert_eq(to.f64[w * WIDTH + i], copied ? entry(w, i) : 0);
            cr_assert_eq(to.f32[w * WIDTH + i], copied ? (float)entry(w, i) : 0);
        }
    }
}
