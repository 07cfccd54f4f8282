/* How much work a test does. */
#ifndef SAPWOOD_TESTS_SUPPORT_WORK_H
#define SAPWOOD_TESTS_SUPPORT_WORK_H

#include <stdlib.h>

/* SAPWOOD_TEST_SCALE: builds with sanitizers set a small one, `make long-test` one above 1. 1 if it is not set. */
static inline double work_factor(void) {
    const char *text = getenv("SAPWOOD_TEST_SCALE");
    double factor = text ? atof(text) : 1;
    return factor > 0 ? factor : 1;
}

/* The same, in (0, 1]. */
static inline double work_scale(void) {
    return work_factor() < 1 ? work_factor() : 1;
}

/* `full` cases scaled, which may be more, but not fewer than `least`. */
static inline int work_count(int full, int least) {
    int count = (int)(full * work_factor());
    return count < least ? least : count;
}

#endif
