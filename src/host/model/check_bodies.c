/* Rules of bodies: physically possible inertias. */
#include <float.h>
#include <math.h>

#include "host/base/eigen3.h"
#include "host/base/fail.h"
#include "host/model/check_parts.h"

static double largest(const double *m, int n) {
    double size = 0;
    for (int k = 0; k < n; k++)
        size = fmax(size, fabs(m[k]));
    return size;
}

static SapStatus check_inertia_symmetric(const SapModelArrays *a, int body, const double *m) {
    double slack = 1e-9 * largest(m, 9);
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++)
            if (!(fabs(m[3 * i + k] - m[3 * k + i]) <= slack))
                return sap_fail(SAP_ERROR_MODEL,
                                "body_inertia[%d] of %s has %.17g at row %d, column %d and %.17g at row %d, column %d; "
                                "it must be symmetric to 1e-9 of its largest entry",
                                body, sap_body_label(a, body).text, m[3 * i + k], i, k, m[3 * k + i], k, i);
    return SAP_OK;
}

/* A moment below the rounding error of the largest one is indistinguishable from zero. */
static SapStatus check_inertia_positive(const SapModelArrays *a, int body, const double moments[3]) {
    if (moments[0] > 16 * DBL_EPSILON * moments[2])
        return SAP_OK;
    return sap_fail(SAP_ERROR_MODEL,
                    "body_inertia[%d] of %s has the principal moments %.9g, %.9g, %.9g; it must be positive definite",
                    body, sap_body_label(a, body).text, moments[0], moments[1], moments[2]);
}

/* For any mass distribution, each principal moment is at most the sum of the other two. */
static SapStatus check_inertia_triangle(const SapModelArrays *a, int body, const double moments[3]) {
    if (moments[2] - moments[1] - moments[0] <= 1e-9 * moments[2])
        return SAP_OK;
    return sap_fail(
        SAP_ERROR_MODEL,
        "body_inertia[%d] of %s has the principal moments %.9g, %.9g, %.9g; the largest must not exceed the "
        "sum of the other two (triangle inequality, to 1e-9)",
        body, sap_body_label(a, body).text, moments[0], moments[1], moments[2]);
}

static SapStatus check_inertia(const SapModelArrays *a, int body) {
    const double *m = &a->body_inertia[9 * body];
    double moments[3];
    SAP_TRY(check_inertia_symmetric(a, body, m));
    sap_eigen3_symmetric(m, moments);
    SAP_TRY(check_inertia_positive(a, body, moments));
    return check_inertia_triangle(a, body, moments);
}

SapStatus sap_model_check_bodies(const SapModelArrays *a) {
    for (int body = 0; body < a->num_bodies; body++)
        SAP_TRY(check_inertia(a, body));
    return SAP_OK;
}
