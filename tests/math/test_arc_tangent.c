/* The arc tangent of the kernels (src/kernels/math/trig.h) against libm in long double. Compiled once for every lane
 * count and precision, with SAP_LANES, SAP_PRECISION and the name of the suite, ARC_TANGENT_SUITE. docs/trig.md. */
#include <math.h>

#include <criterion/criterion.h>

#include <sapwood/solver.h>

#include "kernels/data/plan.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/math/trig.h"
#include "support/random_model.h"
#include "support/work.h"

enum { DIGITS = SAP_PRECISION == 32 ? 24 : 53 };

/* The error of the angle of the point (c, s) in lane l, in units of the last place of the exact angle. */
static double error_in_ulp(real angle, real s, real c, int l) {
    (void)l; /* one lane: LANE(x, l) is x */
    long double exact = atan2l((long double)LANE(s, l), (long double)LANE(c, l));
    int exponent;
    frexpl(exact, &exponent);
    return (double)(fabsl((long double)LANE(angle, l) - exact) / ldexpl(1, exponent - DIGITS));
}

static void check(real s, real c) {
    real angle = real_atan2_positive(s, c);
    for (int l = 0; l < SAP_LANES; l++)
        cr_assert(error_in_ulp(angle, s, c, l) < 2, "atan2(%a, %a) is off by %g ulp", (double)LANE(s, l),
                  (double)LANE(c, l), error_in_ulp(angle, s, c, l));
}

/* Points of every ratio from 2^-40 to 2^40, and of every angle between the axes. */
Test(ARC_TANGENT_SUITE, is_within_two_ulp) {
    Random random = random_seed(6);
    for (int k = 0; k < (int)(200000 * work_scale()) + 1000; k++) {
        real s, c;
        for (int l = 0; l < SAP_LANES; l++) {
            int ratio = k % 2 ? random_below(&random, 81) - 40 : 0;
            LANE(s, l) = (scalar)ldexp(random_between(&random, 0.01, 1), ratio);
            LANE(c, l) = (scalar)random_between(&random, 0.01, 1);
        }
        check(s, c);
    }
}

/* Both sides of the borders at tan(pi/8) and tan(3 pi/8), between which the point is turned by pi/4. */
Test(ARC_TANGENT_SUITE, is_within_two_ulp_at_the_borders_of_its_ranges) {
    const double border = 0.41421356237309503, spacing = SAP_PRECISION == 32 ? 0x1p-25 : 0x1p-54;
    for (int k = -64; k <= 64; k++) {
        real near = real_of((scalar)(border + k * spacing));
        check(near, real_of(1));
        check(real_of(1), near);
    }
}

Test(ARC_TANGENT_SUITE, of_the_axes_is_zero_and_a_right_angle) {
    for (int l = 0; l < SAP_LANES; l++) {
        real zero = real_atan2_positive(real_of(0), real_of(1)), right = real_atan2_positive(real_of(1), real_of(0));
        cr_assert_eq(LANE(zero, l), 0);
        cr_assert_eq(LANE(right, l), K(1.5707963267948966));
    }
}
