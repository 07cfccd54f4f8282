#include "host/cli/info_constraints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/cli/common.h"

/* An error above this gives a warning: the first steps would close it at high speed. */
static const double OPEN = 1e-3;

/* ---- measuring ---- */

static int rows_of(int type) {
    return type == SAP_CONSTRAINT_BALL ? 3 : type == SAP_CONSTRAINT_WELD ? 6 : 1;
}

/* Largest |g| of each constraint, from one report of all rows. */
static void gather(const SapModelArrays *a, const double *rows, double *error) {
    for (int c = 0, row = 0; c < a->num_constraints; c++)
        for (int end = row + rows_of(a->constraint_type[c]); row < end; row++)
            error[c] = fmax(error[c], fabs(rows[row]));
}

/* Makes x orthogonal to n unit vectors of length nv; returns its length, of 1 before. */
static double orthogonalise(const double *unit, int n, int nv, double *x) {
    double square = 0;
    for (int pass = 0; pass < 2; pass++) /* the second removes the rounding of the first */
        for (int k = 0; k < n; k++) {
            double dot = 0;
            for (int i = 0; i < nv; i++)
                dot += unit[k * nv + i] * x[i];
            for (int i = 0; i < nv; i++)
                x[i] -= dot * unit[k * nv + i];
        }
    for (int i = 0; i < nv; i++)
        square += x[i] * x[i];
    return sqrt(square);
}

/* Scales x to length 1. False if it is no longer than `least`. */
static bool normalise(double *x, int nv, double least) {
    double length = orthogonalise(NULL, 0, nv, x);
    for (int i = 0; i < nv; i++)
        x[i] /= length > 0 ? length : 1;
    return length > least;
}

/* Counts the rows of J of constraints with both sides, and those that do not depend on the rows before. J is lost. */
static void count_rank(const SapModelArrays *a, double *J, CliErrors *out) {
    static const double dependent = 1e-7; /* of the length of a row */
    int nv = a->num_dofs, num_rows = 0;
    double longest = 0;
    for (int c = 0; c < a->num_constraints; c++)
        num_rows += rows_of(a->constraint_type[c]);
    for (int row = 0; row < num_rows; row++)
        longest = fmax(longest, orthogonalise(NULL, 0, nv, J + (size_t)row * (size_t)nv));
    for (int c = 0, row = 0; c < a->num_constraints; c++)
        for (int end = row + rows_of(a->constraint_type[c]); row < end; row++) {
            double *x = J + (size_t)row * (size_t)nv, *to = J + (size_t)out->rank * (size_t)nv;
            if (a->constraint_side[c] != SAP_SIDE_BOTH)
                continue;
            out->rows++;
            if (!normalise(x, nv, dependent * longest) || orthogonalise(J, out->rank, nv, x) < dependent)
                continue;
            normalise(x, nv, 0);
            for (int i = 0; i < nv; i++)
                to[i] = x[i];
            out->rank++;
        }
}

/* One step from start k records the errors with which it begins. */
static bool measure_start(const SapModelArrays *a, SapBatch *batch, int k, double h, const double *rows,
                          const double *length, CliErrors *out) {
    if (!cli_check(sap_batch_reset(batch, NULL, k)) || !cli_check(sap_batch_step(batch, h, 1)))
        return false;
    bool failed =
        sap_solver_world_status(sap_batch_solver(batch))[0] & (SAP_WORLD_FAILED & ~(uint32_t)SAP_WORLD_BAD_CONSTRAINT);
    gather(a, rows, out->error + (size_t)k * (size_t)a->num_constraints);
    for (int t = 0; t < a->num_tendons; t++)
        out->length[k * a->num_tendons + t] = length[t];
    for (int c = 0; failed && c < a->num_constraints; c++)
        out->error[k * a->num_constraints + c] = NAN;
    return true;
}

bool cli_errors_measure(const SapScene *scene, CliErrors *out) {
    const SapModelArrays *a = sap_model_arrays(scene->model);
    size_t nc = (size_t)a->num_constraints, nt = (size_t)a->num_tendons, n = 1 + (size_t)a->num_keyframes;
    *out = (CliErrors){.num_starts = (int)n};
    if (nc + nt == 0)
        return true;
    /* A batch of one world that reports its constraints. */
    SapOptions o;
    SapBatch *batch = NULL;
    double *rows = cli_allocate(6 * nc + 1, sizeof *rows), *length = cli_allocate(nt + 1, sizeof *length);
    double *J = cli_allocate(6 * nc + 1, (size_t)a->num_dofs * sizeof *J);
    out->error = cli_allocate(n * nc + 1, sizeof *out->error);
    out->length = cli_allocate(n * nt + 1, sizeof *out->length);
    const SapConstraintReport report = {.error = rows, .jacobian = J, .tendon_length = length};
    bool ok = rows && length && J && out->error && out->length && cli_check(sap_options_preset("approx64", &o));
    o.threads = o.lanes = 1;
    ok = ok && cli_check(sap_batch_create(scene->model, 1, &o, &batch)) &&
         cli_check(sap_solver_record_constraints(sap_batch_solver(batch), &report));
    /* The errors of each start, and the rank of J in the initial state. */
    for (int k = 0; ok && k < (int)n; k++) {
        ok = measure_start(a, batch, k, scene->dt, rows, length, out);
        if (ok && k == 0)
            count_rank(a, J, out);
    }
    sap_batch_destroy(batch);
    free(rows);
    free(length);
    free(J);
    return ok;
}

void cli_errors_free(CliErrors *errors) {
    free(errors->error);
    free(errors->length);
    *errors = (CliErrors){0};
}

/* ---- texts ---- */

static const char *body_name(const SapModelArrays *a, int body) {
    return body < 0 ? "world" : a->body_name[body];
}

/* The name of a coupler's coordinate: its joint, with the number of the axis if there are several, or its tendon. */
static const char *coordinate_name(const SapModelArrays *a, int x, char *text, size_t size) {
    int j = 0;
    if (x >= a->num_dofs)
        return a->tendon_name[x - a->num_dofs];
    while (x >= a->joint_qd_start[j + 1])
        j++;
    if (a->joint_qd_start[j + 1] - a->joint_qd_start[j] == 1)
        return a->joint_name[j];
    snprintf(text, size, "%s axis %d", a->joint_name[j], x - a->joint_qd_start[j]);
    return text;
}

/* What a constraint joins. */
static const char *member_name(const SapModelArrays *a, int c, int k, char *text, size_t size) {
    if (a->constraint_type[c] != SAP_CONSTRAINT_COUPLER)
        return body_name(a, a->constraint_body[2 * c + k]);
    int x = a->constraint_coordinate[2 * c + k];
    return x < 0 ? "-" : coordinate_name(a, x, text, size);
}

static const char *start_name(const SapModelArrays *a, int k) {
    return k == 0 ? "initial state" : a->keyframe_name[k - 1];
}

static bool is_fixed(const SapModelArrays *a, int t) {
    return a->tendon_term_type[a->tendon_start[t]] == SAP_TENDON_JOINT;
}

/* ---- as text ---- */

static void print_constraint(const SapModelArrays *a, const CliErrors *errors, int c) {
    char first[128], second[128];
    static const char *const sides[] = {", lower side only", "", ", upper side only"};
    printf("  %s: %s, %s, %s", cli_shown(a->constraint_name[c]).text, sap_constraint_type_name(a->constraint_type[c]),
           cli_shown(member_name(a, c, 0, first, sizeof first)).text,
           cli_shown(member_name(a, c, 1, second, sizeof second)).text);
    if (isfinite(a->constraint_ke[2 * c]))
        printf(", ke %g, kd %g", a->constraint_ke[2 * c], a->constraint_kd[2 * c]);
    printf("%s%s, error", sides[a->constraint_side[c] + 1], a->constraint_active[c] ? "" : ", not active");
    for (int k = 0; k < errors->num_starts; k++)
        printf("%s %.3g", k ? "," : "", errors->error[k * a->num_constraints + c]);
    puts("");
}

static void print_open(const SapModelArrays *a, const CliErrors *errors) {
    for (int k = 0; k < errors->num_starts; k++)
        for (int c = 0; c < a->num_constraints; c++)
            if (a->constraint_side[c] == SAP_SIDE_BOTH && !(errors->error[k * a->num_constraints + c] <= OPEN))
                printf("warning: constraint %s is off by %.3g m or rad in %s: it closes in a few steps, with large "
                       "velocities unless sap_batch_assemble moves the world first or constraint_speed bounds them\n",
                       cli_shown(a->constraint_name[c]).text, errors->error[k * a->num_constraints + c],
                       cli_shown(start_name(a, k)).text);
}

void cli_constraints_print(const SapModelArrays *a, const CliErrors *errors) {
    if (a->num_constraints > 0)
        puts("constraints (error in the initial state and every keyframe, m or rad)");
    for (int c = 0; c < a->num_constraints; c++)
        print_constraint(a, errors, c);
    if (errors->rank < errors->rows)
        printf("  redundant rows in the initial state: %d of %d; they share the load, or move nothing\n",
               errors->rows - errors->rank, errors->rows);
    if (a->num_tendons > 0)
        puts("tendons (length in the initial state and every keyframe, m or rad)");
    for (int t = 0; t < a->num_tendons; t++) {
        printf("  %s: %s, terms %d, length", cli_shown(a->tendon_name[t]).text, is_fixed(a, t) ? "fixed" : "spatial",
               a->tendon_start[t + 1] - a->tendon_start[t]);
        for (int k = 0; k < errors->num_starts; k++)
            printf("%s %.6g", k ? "," : "", errors->length[k * a->num_tendons + t]);
        puts("");
    }
    print_open(a, errors);
}

/* ---- as JSON ---- */

/* Element i of every start. */
static json_t *starts_json(const double *values, int num_starts, int stride, int i) {
    json_t *list = json_array();
    for (int k = 0; k < num_starts; k++)
        json_array_append_new(list, cli_json_real(values[k * stride + i]));
    return list;
}

json_t *cli_constraints_json(const SapModelArrays *a, const CliErrors *errors) {
    json_t *list = json_array();
    for (int c = 0; c < a->num_constraints; c++) {
        char first[128], second[128];
        json_array_append_new(list, json_pack("{so ss so so si sb so}", "name", cli_json_text(a->constraint_name[c]),
                                              "type", sap_constraint_type_name(a->constraint_type[c]), "a",
                                              cli_json_text(member_name(a, c, 0, first, sizeof first)), "b",
                                              cli_json_text(member_name(a, c, 1, second, sizeof second)), "side",
                                              a->constraint_side[c], "active", a->constraint_active[c], "errors",
                                              starts_json(errors->error, errors->num_starts, a->num_constraints, c)));
    }
    return list;
}

json_t *cli_tendons_json(const SapModelArrays *a, const CliErrors *errors) {
    json_t *list = json_array();
    for (int t = 0; t < a->num_tendons; t++)
        json_array_append_new(list, json_pack("{so ss si so}", "name", cli_json_text(a->tendon_name[t]), "kind",
                                              is_fixed(a, t) ? "fixed" : "spatial", "terms",
                                              a->tendon_start[t + 1] - a->tendon_start[t], "lengths",
                                              starts_json(errors->length, errors->num_starts, a->num_tendons, t)));
    return list;
}
