/* The kernels that evaluate laws, in one lane of f64, and checks of numbers. */
#ifndef SAPWOOD_TESTS_SUPPORT_LAW_CHECK_H
#define SAPWOOD_TESTS_SUPPORT_LAW_CHECK_H

#include <math.h>

#include <criterion/criterion.h>

#include <sapwood/solver.h>

#define SAP_LANES     1
#define SAP_PRECISION 64
#include "kernels/data/table.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"
#include "kernels/target/calls_cpu.h"
#ifndef SAP_FORMULATION
#define SAP_FORMULATION "kernels/sap/stages.h"
#endif
#include SAP_FORMULATION
#include "support/near.h"
#include "support/random_model.h"
#include "support/work.h"

static inline int cases(int n) {
    int scaled = (int)(n * work_scale());
    return scaled < 20 ? 20 : scaled;
}

/* To the printed digits. */
static inline void check_digits(double value, double expected, const char *what) {
    check_near(value, expected, 2e-14 * fabs(expected) + 1e-300, what);
}

#endif
