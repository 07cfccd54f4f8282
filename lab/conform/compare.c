/* Comparison of our results with a reference file's. */
#include <math.h>
#include <stdlib.h>

#include "host/cli/common.h"
#include "lab/conform/conform.h"
#include "lab/conform/reference_file.h"

/* Assembled quantities agree to rounding; solutions agree to the error that a stopping test at 1e-6 leaves after a
 * final Newton step. */
static const double assembled = 1e-11, solved = 1e-9;

static double largest(const double *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Largest |ours - theirs| over the largest |theirs|; element i of `ours` is at offset + i * stride. */
static double relative_error(const double *theirs, size_t n, const double *ours, size_t stride, size_t offset) {
    double scale = largest(theirs, n), most = 0;
    for (size_t i = 0; i < n; i++) {
        double difference = fabs(theirs[i] - ours[offset + i * stride]);
        if (!(difference <= most))
            most = difference;
    }
    return most == 0 ? 0 : most / (scale > 0 ? scale : 1);
}

/* The stored numbers of a quantity, `count` of them; *theirs is NULL if the output does not have it. */
static bool stored(const ConformFile *file, const json_t *output, const char *name, size_t count, double **theirs) {
    size_t n;
    const json_t *node = json_object_get(output, name);
    *theirs = reference_doubles(node, &n);
    if (node == NULL || (*theirs != NULL && n == count))
        return true;
    free(*theirs);
    *theirs = NULL;
    return cli_fail("%s: outputs: %s: %zu numbers; %zu are expected", file->path, name, n, count);
}

/* One quantity to compare: element i of `ours` is at offset + i * stride. */
typedef struct Quantity {
    const char *name;
    size_t count;
    const double *ours;
    size_t stride, offset;
    double tolerance;
} Quantity;

static bool compare(const ConformFile *file, const json_t *output, const Quantity *q, ConformError *out) {
    double *theirs;
    if (!stored(file, output, q->name, q->count, &theirs))
        return false;
    *out = (ConformError){.name = q->name, .tolerance = q->tolerance, .stored = theirs != NULL};
    if (theirs) {
        out->scale = largest(theirs, q->count);
        out->error = relative_error(theirs, q->count, q->ours, q->stride, q->offset);
    }
    free(theirs);
    return true;
}

/* A contact between bodies that cannot move relative to each other has a Jacobian of rounding errors and the smallest
 * possible weight. Its stored impulse is noise divided by 1e-15 and is not compared. */
static bool compare_impulse(const ConformFile *file, const json_t *output, const ConformCase *c, ConformError *out) {
    size_t n = 3 * (size_t)c->num_contacts;
    double *theirs;
    if (!stored(file, output, "gamma", n, &theirs))
        return false;
    *out = (ConformError){.name = "gamma", .tolerance = solved, .stored = theirs != NULL};
    double scale = out->scale = theirs ? largest(theirs, n) : 0;
    for (size_t i = 0; theirs && i < n; i++) {
        double difference = c->weight[i / 3] <= 1e-12 ? 0 : fabs(theirs[i] - c->impulse[i]) / (scale > 0 ? scale : 1);
        if (!(difference <= out->error))
            out->error = difference;
    }
    free(theirs);
    return true;
}

/* R_WC is stored by rows; ours is stored by columns. */
static bool compare_frame(const ConformFile *file, const json_t *output, const ConformCase *c, ConformError *out) {
    size_t n = 9 * (size_t)c->num_contacts;
    double *theirs;
    if (!stored(file, output, "R_WC", n, &theirs))
        return false;
    *out = (ConformError){.name = "R_WC", .scale = 1, .tolerance = assembled, .stored = theirs != NULL};
    for (size_t k = 0; theirs && k < n; k++) {
        size_t slot = k / 9, row = k % 9 / 3, column = k % 3;
        double difference = fabs(theirs[k] - c->frame[9 * slot + 3 * column + row]);
        if (!(difference <= out->error))
            out->error = difference;
    }
    free(theirs);
    return true;
}

/* The cost is a sum of terms as large as the energy of v*; at rest it is the rounding error of these terms. */
static void compare_cost(const json_t *output, const ConformFile *file, const ConformCase *c, ConformError *out) {
    const json_t *node = json_object_get(output, "cost");
    double theirs = json_number_value(node), energy = 0;
    int nv = file->arrays->num_dofs;
    for (int i = 0; i < nv * nv; i++)
        energy += 0.5 * c->v_star[i / nv] * c->A[i] * c->v_star[i % nv];
    double scale = fmax(fabs(theirs), energy);
    *out = (ConformError){.name = "cost", .scale = scale, .tolerance = solved, .stored = node != NULL};
    out->error = fabs(theirs - c->cost) / (scale > 0 ? scale : 1);
}

static bool flag(const json_t *output, const char *name) {
    const json_t *node = json_object_get(output, name);
    return json_is_true(node) || json_integer_value(node) != 0;
}

/* Relative errors, in the order of lab/conform/README.md. */
static bool compare_all(const ConformFile *file, const ConformCase *c, const json_t *output, ConformError *e) {
    size_t nv = (size_t)file->arrays->num_dofs, nq = (size_t)file->arrays->num_coords, n = (size_t)c->num_contacts;
    const Quantity quantities[CONFORM_QUANTITIES] = {
        [0] = {"v_star", nv, c->v_star, 1, 0, assembled},
        [1] = {"A", nv * nv, c->A, 1, 0, assembled},
        [2] = {"phi0", n, c->gap, 1, 0, assembled},
        [3] = {"J", 3 * n * nv, c->jacobian, 1, 0, assembled},
        [5] = {"w", n, c->weight, 1, 0, assembled},
        [6] = {"mu", n, c->pair, 3, 0, assembled},
        [7] = {"k", n, c->pair, 3, 1, assembled},
        [8] = {"tau", n, c->pair, 3, 2, assembled},
        [9] = {"v", nv, c->v, 1, 0, solved},
        [11] = {"vc", 3 * n, c->velocity, 1, 0, solved},
        [13] = {"q_next", nq, c->out->joint_q, 1, 0, solved},
        [14] = {"v_next", nv, c->v, 1, 0, solved},
    };
    for (int i = 0; i < CONFORM_QUANTITIES; i++)
        if (quantities[i].name && !compare(file, output, &quantities[i], &e[i]))
            return false;
    compare_cost(output, file, c, &e[12]);
    return compare_frame(file, output, c, &e[4]) && compare_impulse(file, output, c, &e[10]);
}

/* With compat = sap_warp the cost test ends a solve at any residual, as it does there: COST_STALLED is no failure. */
static const uint32_t conform_bad_ends =
    (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED) & ~(uint32_t)SAP_WORLD_COST_STALLED;

bool conform_compare(const ConformFile *file, const ConformCase *c, const json_t *output, ConformResult *r) {
    const ConformError *e = r->error;
    if (!compare_all(file, c, output, r->error))
        return false;
    /* Convergence and iteration counts. */
    r->reference_converged = flag(output, "converged");
    r->counts_compared = r->reference_converged && json_object_get(output, "newton_iterations");
    r->counts_agree = c->iterations == json_integer_value(json_object_get(output, "newton_iterations")) &&
                      c->line_iterations == json_integer_value(json_object_get(output, "line_search_iterations"));
    /* The case passes if it converged, the counts agree and every applicable error is within its tolerance. */
    r->passed = (c->status & conform_bad_ends) == 0 && (!r->counts_compared || r->counts_agree);
    for (int i = 0; i < CONFORM_QUANTITIES; i++) {
        bool applies = e[i].stored && (i < 9 || r->reference_converged);
        if (applies && !(e[i].error <= e[i].tolerance))
            r->passed = false;
    }
    if (!r->reference_converged && !(c->residual <= 1e-6))
        r->passed = false;
    return true;
}

/* ---- our results in the format of an output ---- */

/* Numbers from `offset` in steps of `stride`, as nested lists of `dims` lengths. */
static json_t *list(const double *x, size_t stride, size_t offset, const size_t *length, int dims, size_t *at) {
    if (dims == 0)
        return json_real(x[offset + (*at)++ * stride]);
    json_t *out = json_array();
    for (size_t i = 0; i < *length; i++)
        json_array_append_new(out, list(x, stride, offset, length + 1, dims - 1, at));
    return out;
}

/* Lengths b and c may be 0, which omits that dimension. */
static void put_numbers(json_t *out, const char *name, const double *x, size_t stride, size_t offset, size_t a,
                        size_t b, size_t c) {
    const size_t length[] = {a, b, c};
    size_t at = 0;
    json_object_set_new(out, name, list(x, stride, offset, length, 1 + (b > 0) + (c > 0), &at));
}

json_t *conform_output(const ConformFile *file, const ConformCase *c, const json_t *output) {
    /* The case. */
    size_t nv = (size_t)file->arrays->num_dofs, nq = (size_t)file->arrays->num_coords, n = (size_t)c->num_contacts;
    json_t *out = json_object();
    json_object_set(out, "preset", json_object_get(output, "preset"));
    json_object_set(out, "line_search", json_object_get(output, "line_search"));
    json_object_set_new(out, "slots", json_integer(c->num_contacts));
    /* Assembled quantities. */
    put_numbers(out, "v_star", c->v_star, 1, 0, nv, 0, 0);
    put_numbers(out, "A", c->A, 1, 0, nv, nv, 0);
    put_numbers(out, "phi0", c->gap, 1, 0, n, 0, 0);
    put_numbers(out, "J", c->jacobian, 1, 0, n, 3, nv);
    put_numbers(out, "w", c->weight, 1, 0, n, 0, 0);
    put_numbers(out, "mu", c->pair, 3, 0, n, 0, 0);
    put_numbers(out, "k", c->pair, 3, 1, n, 0, 0);
    put_numbers(out, "tau", c->pair, 3, 2, n, 0, 0);
    /* Solution. */
    put_numbers(out, "gamma", c->impulse, 1, 0, n, 3, 0);
    put_numbers(out, "vc", c->velocity, 1, 0, n, 3, 0);
    put_numbers(out, "v", c->v, 1, 0, nv, 0, 0);
    put_numbers(out, "v_next", c->v, 1, 0, nv, 0, 0);
    put_numbers(out, "q_next", c->out->joint_q, 1, 0, nq, 0, 0);
    /* Cost, counts and convergence. */
    json_object_set_new(out, "cost", json_real(c->cost));
    json_object_set_new(out, "newton_iterations", json_integer(c->iterations));
    json_object_set_new(out, "line_search_iterations", json_integer(c->line_iterations));
    json_object_set_new(out, "by_optimality", json_integer((c->status & SAP_WORLD_OPTIMAL) != 0));
    json_object_set_new(out, "by_cost",
                        json_integer((c->status & (SAP_WORLD_COST_SETTLED | SAP_WORLD_COST_STALLED)) != 0));
    json_object_set_new(out, "converged", json_integer((c->status & conform_bad_ends) == 0));
    return out;
}
