/* Single contacts against the kernels themselves, in one lane of f64: cost, impulse and Hessian at a velocity, and the
 * data of the law. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <sapwood/solver.h>

#define SAP_LANES     1
#define SAP_PRECISION 64
#include "kernels/data/table.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"
#include "kernels/target/calls_cpu.h"
#include "kernels/sap/stages.h"

#include "lab/conform/laws.h"

static const double EXACT = 1e-12; /* of the largest number */

static double number(const json_t *of, const char *key) {
    return json_number_value(json_object_get(of, key));
}

static LawInput input_of(const json_t *file, const json_t *point) {
    LawInput in = {.phi0 = number(point, "phi0"),
                   .w = number(point, "w"),
                   .k = number(point, "k"),
                   .mu = number(point, "mu"),
                   .tau = number(point, "tau"),
                   .d = number(point, "d"),
                   .h = number(point, "h"),
                   .beta = number(file, "contact_beta"),
                   .sigma = number(file, "sigma"),
                   .vn0 = number(point, "vn0"),
                   .v_s = number(file, "stiction_tolerance")};
    return in;
}

/* G and impulse have entries of very different sizes; the rounding of one is relative to the largest. */
static void compare_value(const json_t *expected, const LawValue *at, ConformWorst *w) {
    double gamma[3] = {at->gamma.x, at->gamma.y, at->gamma.z};
    conform_worst(w, "cost", conform_relative(json_object_get(expected, "cost"), &at->cost, 1, 1e-300), EXACT);
    conform_worst(w, "gamma", conform_relative(json_object_get(expected, "gamma"), gamma, 3, 1e-300), EXACT);
    conform_worst(w, "G", conform_relative(json_object_get(expected, "G"), at->G, 6, 1e-300), EXACT);
}

static void compare_data(const json_t *expected, const HuntCrossleyLaw *law, ConformWorst *w) {
    conform_worst(w, "n0", conform_relative(json_object_get(expected, "n0"), &law->n0, 1, 1e-300), EXACT);
    conform_worst(w, "eps", conform_relative(json_object_get(expected, "eps"), &law->eps, 1, 1e-300), EXACT);
    conform_worst(w, "vhat", conform_relative(json_object_get(expected, "vhat"), &law->vhat, 1, 1e-300), EXACT);
    conform_worst(w, "p", conform_relative(json_object_get(expected, "p"), &law->p, 1, 1e-300), EXACT);
    conform_worst(w, "q", conform_relative(json_object_get(expected, "q"), &law->q, 1, 1e-300), EXACT);
}

static bool run_point(const char *path, const json_t *file, const json_t *point, size_t i, int law, bool verbose,
                      ConformCount *count) {
    static const char *const names[] = {"sap", "similar", "lagged"};
    const json_t *v = json_object_get(point, "v"), *expected = json_object_get(point, names[law]);
    LawInput in = input_of(file, point);
    Vec3 velocity = vec3(json_number_value(json_array_get(v, 0)), json_number_value(json_array_get(v, 1)),
                         json_number_value(json_array_get(v, 2)));
    real data[SAP_CONTACT_LAW_SIZE];
    LawValue at;
    ConformWorst w = {0};
    char name[64];
    int kind = law == SAP_APPROXIMATION_SAP ? CONTACT_LAW_SAP : CONTACT_LAW_HUNT_CROSSLEY;
    contact_law_make(kind, &in, law == SAP_APPROXIMATION_LAGGED, data);
    contact_law_evaluate(kind, data, velocity, &at);
    compare_value(expected, &at, &w);
    if (law != SAP_APPROXIMATION_SAP)
        compare_data(expected, (const HuntCrossleyLaw *)data, &w);
    snprintf(name, sizeof name, "%s: point %zu", names[law], i);
    conform_tally(path, name, &w, verbose, count);
    return true;
}

bool conform_law_points(const char *path, const json_t *file, bool verbose, ConformCount *count) {
    size_t i;
    json_t *point;
    json_array_foreach(json_object_get(file, "points"), i, point) for (int law = 0; law < 3; law++)
        run_point(path, file, point, i, law, verbose, count);
    return true;
}
