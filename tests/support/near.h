/* Numbers that must be near to others. */
#ifndef SAPWOOD_TESTS_SUPPORT_NEAR_H
#define SAPWOOD_TESTS_SUPPORT_NEAR_H

#include <math.h>

#include <criterion/criterion.h>

static inline void check_near(double value, double expected, double tolerance, const char *what) {
    cr_assert(fabs(value - expected) <= tolerance, "%s is %.17g, not %.17g", what, value, expected);
}

#endif
