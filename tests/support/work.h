/* How much work a test does. */
#ifndef SAPWOOD_TESTS_SUPPORT_WORK_H
#define SAPWOOD_TESTS_SUPPORT_WORK_H

#include <stdlib.h>

/* SAPWOOD_TEST_SCALE, in (0, 1]: builds with sanitizers set a small one. 1 if it is not set. */
static inline double work_scale(void) {
    const char *text = getenv("SAPWOOD_TEST_SCALE");
    double scale = text ? atof(text) : 1;
    return scale > 0 && scale < 1 ? scale : 1;
}

#endif
