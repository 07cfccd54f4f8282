/* Running a task of the narrow phase of one world in either precision, and checks of what it found. */
#ifndef SAPWOOD_TESTS_SUPPORT_CONVEX_CHECK_H
#define SAPWOOD_TESTS_SUPPORT_CONVEX_CHECK_H

#include <math.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "support/convex_kernels.h"
#include "support/convex_oracle.h"
#include "support/pose.h"

/* ---- both precisions ---- */

typedef struct Precision {
    int bits;
} Precision;

static inline struct criterion_test_params precision_params(void) {
    static Precision params[] = {{32}, {64}};
    return cr_make_param_array(Precision, params, 2);
}

static inline void run(SapConvexTask *task, int precision) {
    if (precision == 32)
        convex_f32(task);
    else
        convex_f64(task);
}

/* ---- results ---- */

/* The witness on shape 1, in its own frame. */
static inline void witness(const SapConvexTask *task, int i, const double *pose, double *x) {
    double y[3];
    for (int k = 0; k < 3; k++)
        y[k] = task->p[i][k] + task->d[i] * task->n[i][k] - pose[k];
    rotate_back(pose + 3, y, x);
}

static inline void expect_single(const TaskData *data, const double *p, const double *n, double d, double allowed) {
    cr_assert_eq(data->task.count, 1);
    for (int k = 0; k < 3; k++) {
        cr_assert(fabs(data->task.p[0][k] - p[k]) < allowed, "p[%d] %g", k, data->task.p[0][k]);
        cr_assert(fabs(data->task.n[0][k] - n[k]) < allowed, "n[%d] %g", k, data->task.n[0][k]);
    }
    cr_assert(fabs(data->task.d[0] - d) < allowed, "d %g", data->task.d[0]);
}

#endif
