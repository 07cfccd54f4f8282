/* Worlds of a small model in each precision, with the accuracy that a closed form can be held to. */
#ifndef SAPWOOD_TESTS_SUPPORT_ACCURACY_H
#define SAPWOOD_TESTS_SUPPORT_ACCURACY_H

#include <math.h>

#include <criterion/criterion.h>

#include "support/model_parts.h"
#include "support/worlds.h"

/* More worlds than the widest pack has lanes. */
enum { WORLDS = 11 };

typedef struct Accuracy {
    SapPrecision precision;
    double tolerance;
} Accuracy;

static const Accuracy accuracies[] = {{SAP_FP64, 1e-14}, {SAP_FP32, 1e-6}};
enum { NUM_ACCURACIES = 2 };

static inline Worlds *worlds_of(const ModelParts *parts, const Accuracy *accuracy) {
    SapOptions options = worlds_options(accuracy->precision);
    return worlds_create(parts_model(parts), WORLDS, &options);
}

/* Every world has x[world * width + i] near to expected, on the scale of the larger of expected and 1. */
static inline void all_near(const Worlds *w, const double *x, int width, int i, double expected, double tolerance,
                            const char *what) {
    for (int world = 0; world < w->n; world++) {
        double got = x[world * width + i];
        cr_expect(fabs(got - expected) <= tolerance * fmax(1, fabs(expected)), "%s of world %d is %.17g, not %.17g",
                  what, world, got, expected);
    }
}

static inline void slider(ModelParts *parts) {
    parts_init(parts);
    parts_add(parts, -1, SAP_JOINT_PRISMATIC, 0, 0);
    parts_set_axis(parts, 0, 1, 0, 0);
}

#endif
