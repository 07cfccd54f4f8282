#include "lab/conform/constraints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "host/cli/common.h"
#include "lab/conform/reference_file.h"
#include "lab/conform/scene_case.h"

/* Tolerances: assembled quantities relative to the largest entry (g and vhat = -g/(2 h): to 1 m and 1 m/s, because g is
 * a difference of positions of that size), v and q absolute, impulses relative to the largest,
 * v of Drake, whose tolerance is 1e-6, and coordinates of a trajectory without and with contact. */
static const double ASSEMBLED = 1e-11, SOLVED = 1e-9, IMPULSES = 1e-8, DRAKE = 5e-6, FREE_PATH = 1e-9,
                    CONTACT_PATH = 1e-7;

/* A scene at work, one world. */
typedef struct Fixture {
    SapScene *scene;
    const SapOptions *precisions; /* of the stages; NULL: the scene's */
    const SapModelArrays *m;
    SapBatch *batch;
    int num_rows;
    double *v, *v_star, *A;                                           /* [nv], [nv], [nv][nv], internal order */
    double *impulse, *error, *weight, *target, *R, *jacobian, *force; /* constraints [num_rows], tendons [nt] */
} Fixture;

bool conform_is_constraints(const json_t *file) {
    return json_is_string(json_object_get(file, "scene")) && !json_object_get(file, "laws");
}

/* ---- a scene ---- */

static int rows_of(const Fixture *b, int c) {
    int type = b->m->constraint_type[c];
    return type == SAP_CONSTRAINT_BALL ? 3 : type == SAP_CONSTRAINT_WELD ? 6 : 1;
}

static bool open_scene(const char *path, const json_t *file, Fixture *b) {
    if (!conform_open_scene(path, file, &b->scene))
        return false;
    b->m = sap_model_arrays(b->scene->model);
    for (int c = 0; c < b->m->num_constraints; c++)
        b->num_rows += rows_of(b, c);
    return true;
}

static void take_precisions(const SapOptions *from, SapOptions *o) {
    o->free_motion_precision = from->free_motion_precision;
    o->contact_solve_precision = from->contact_solve_precision;
    o->linear_solve_precision = from->linear_solve_precision;
    o->contact_weight_precision = from->contact_weight_precision;
    o->contact_geometry_f64 = from->contact_geometry_f64;
}

/* A batch of one world that solves to rounding; in f32 to the tolerances of the scene. */
static bool open_batch(Fixture *b, bool split) {
    SapOptions o = b->scene->options;
    o.threads = 1;
    if (b->precisions)
        take_precisions(b->precisions, &o);
    if (o.contact_solve_precision == SAP_FP64) {
        o.optimality_rel_tol = 1e-12;
        o.cost_rel_tol = o.cost_abs_tol = 0;
    }
    if (split)
        o.constraint_weight = SAP_WEIGHT_SPLIT;
    sap_batch_destroy(b->batch);
    b->batch = NULL;
    const SapConstraintReport report = {.impulse = b->impulse,
                                        .error = b->error,
                                        .weight = b->weight,
                                        .target = b->target,
                                        .R = b->R,
                                        .jacobian = b->jacobian,
                                        .tendon_force = b->force};
    return cli_check(sap_batch_create_as(b->scene->model, 1, &o, SAP_F64, &b->batch)) &&
           cli_check(sap_solver_record_constraints(sap_batch_solver(b->batch), &report));
}

static bool allocate(Fixture *b) {
    size_t nv = (size_t)b->m->num_dofs, rows = (size_t)b->num_rows, nt = (size_t)b->m->num_tendons;
    const struct {
        double **array;
        size_t count;
    } arrays[] = {
        {&b->v, nv},        {&b->v_star, nv},   {&b->A, nv * nv}, {&b->impulse, rows},       {&b->error, rows},
        {&b->weight, rows}, {&b->target, rows}, {&b->R, rows},    {&b->jacobian, rows * nv}, {&b->force, nt}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i].array = cli_allocate(arrays[i].count + 1, sizeof(double))))
            return false;
    return true;
}

static void close_bench(Fixture *b) {
    double *arrays[] = {b->v, b->v_star, b->A, b->impulse, b->error, b->weight, b->target, b->R, b->jacobian, b->force};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    sap_batch_destroy(b->batch);
    sap_scene_destroy(b->scene);
}

/* ---- comparing ---- */

/* Whether a row of the file belongs to the thing of that name: "name" or "name:part". */
static bool is_row_of(const json_t *row, const char *name) {
    const char *text = json_string_value(json_object_get(row, "name"));
    size_t length = strlen(name);
    return text && strncmp(text, name, length) == 0 && (text[length] == '\0' || text[length] == ':');
}

/* Compares one row of the file, which may be a part of a constraint, with our rows from `first` on. */
static void compare_row(const Fixture *b, const json_t *row, int first, ConformWorst *w) {
    int nv = b->m->num_dofs, n = (int)json_array_size(json_object_get(row, "g"));
    double weight = json_number_value(json_object_get(row, "w"));
    conform_worst(w, "J", conform_relative(json_object_get(row, "J"), b->jacobian + first * nv, n * nv, 0), ASSEMBLED);
    conform_worst(w, "g", conform_relative(json_object_get(row, "g"), b->error + first, n, 1), ASSEMBLED);
    conform_worst(w, "R", conform_relative(json_object_get(row, "R"), b->R + first, n, 0), ASSEMBLED);
    conform_worst(w, "vhat", conform_relative(json_object_get(row, "vhat"), b->target + first, n, 1), ASSEMBLED);
    conform_worst(w, "gamma", conform_relative(json_object_get(row, "gamma"), b->impulse + first, n, 0), IMPULSES);
    conform_worst(w, "w", fabs(b->weight[first] - weight) / weight, ASSEMBLED);
}

/* One that pulls down only is stored with the opposite sign. */
static void turn_upper(const Fixture *b) {
    for (int c = 0, first = 0; c < b->m->num_constraints; first += rows_of(b, c++)) {
        if (b->m->constraint_side[c] != SAP_SIDE_UPPER)
            continue;
        b->error[first] = -b->error[first];
        b->target[first] = -b->target[first];
        b->impulse[first] = -b->impulse[first];
        for (int i = 0; i < b->m->num_dofs; i++)
            b->jacobian[first * b->m->num_dofs + i] = -b->jacobian[first * b->m->num_dofs + i];
    }
}

/* The rows of all constraints, in order. */
static void compare_rows(const Fixture *b, const json_t *rows, ConformWorst *w) {
    turn_upper(b);
    for (int c = 0, first = 0; c < b->m->num_constraints; first += rows_of(b, c++)) {
        int found = 0;
        size_t i;
        json_t *row;
        json_array_foreach(rows, i, row) {
            if (!is_row_of(row, b->m->constraint_name[c]))
                continue;
            size_t size = json_array_size(json_object_get(row, "g"));
            bool fits = size <= (size_t)(rows_of(b, c) - found);
            if (fits)
                compare_row(b, row, first + found, w);
            else
                conform_worst(w, "number of rows", INFINITY, 1);
            found += fits ? (int)size : 0;
        }
        if (found != rows_of(b, c))
            conform_worst(w, "number of rows", INFINITY, 1);
    }
}

static bool is_upper_limit(const json_t *row) {
    const char *name = json_string_value(json_object_get(row, "name")), *colon = name ? strrchr(name, ':') : NULL;
    return colon && strcmp(colon, ":upper") == 0;
}

/* The sum of the impulses of each tendon. */
static void compare_tendons(const Fixture *b, const json_t *rows, double h, ConformWorst *w) {
    for (int t = 0; t < b->m->num_tendons; t++) {
        double theirs = 0, scale = 0;
        size_t i;
        json_t *row;
        json_array_foreach(rows, i, row) {
            size_t n = 0;
            double *gamma = reference_doubles(json_object_get(row, "gamma"), &n);
            /* the upper limit is stored with the opposite sign */
            double sign = is_upper_limit(row) ? -1 : 1;
            if (is_row_of(row, b->m->tendon_name[t]) && gamma && n == 1) {
                theirs += sign * gamma[0];
                scale = fmax(scale, fabs(gamma[0]));
            }
            free(gamma);
        }
        conform_worst(w, "tendon", fabs(theirs - h * b->force[t]) / fmax(scale, 1e-3), IMPULSES);
    }
}

/* Takes the step of a case. False if the world fails. */
static bool take_step(Fixture *b, const double *q, const double *v, double h) {
    const SapFreeMotion before = {.v_star = b->v_star, .A = b->A}, after = {.joint_qd = b->v};
    SapSolver *solver = sap_batch_solver(b->batch);
    conform_set_state(b->m, sap_batch_state(b->batch), q, v);
    bool ok = cli_check(sap_free_motion(solver, sap_batch_state(b->batch), sap_batch_control(b->batch), h, &before)) &&
              cli_check(sap_batch_step(b->batch, h, 1));
    bool failed = ok && (sap_solver_world_status(solver)[0] & SAP_WORLD_FAILED);
    return ok && !failed && cli_check(sap_free_motion(solver, sap_batch_state(b->batch), NULL, h, &after));
}

/* One case, with the results in `expected`: the case itself or its part `split`. */
static bool run_case(const char *path, Fixture *b, const json_t *one, const json_t *expected, double h, bool verbose,
                     ConformCount *count) {
    size_t nq = 0, nv = 0, next = 0;
    double *q = reference_doubles(json_object_get(one, "joint_q"), &nq),
           *v = reference_doubles(json_object_get(one, "joint_qd"), &nv),
           *q_next = reference_doubles(json_object_get(expected, "q_next"), &next);
    const char *name = json_string_value(json_object_get(one, "name"));
    ConformWorst w = {0};
    int n = b->m->num_dofs;
    bool ok = q && v && q_next && (int)nq == b->m->num_coords && (int)nv == n && nq == next;
    if (!ok)
        cli_fail("%s: %s: it does not fit the scene", path, name ? name : "?");
    else if (!take_step(b, q, v, h)) {
        conform_worst(&w, "status", INFINITY, 1);
    } else {
        if (expected == one) {
            conform_worst(&w, "A", conform_relative(json_object_get(one, "A"), b->A, n * n, 0), ASSEMBLED);
            conform_worst(&w, "v*", conform_relative(json_object_get(one, "v_star"), b->v_star, n, 0), ASSEMBLED);
        }
        compare_rows(b, json_object_get(expected, "rows"), &w);
        if (expected == one)
            compare_tendons(b, json_object_get(one, "rows"), h, &w);
        conform_worst(&w, "v", conform_absolute(json_object_get(expected, "v"), b->v, n), SOLVED);
        conform_worst(&w, "q", conform_coordinate_error(b->m, sap_batch_state(b->batch)->joint_q, q_next), SOLVED);
        if (json_object_get(expected, "drake_v"))
            conform_worst(&w, "v of Drake", conform_absolute(json_object_get(one, "drake_v"), b->v, n), DRAKE);
    }
    if (ok)
        conform_tally(path, name ? name : "?", &w, verbose, count);
    free(q);
    free(v);
    free(q_next);
    return ok;
}

/* The largest error of coordinates in the trajectory from the first case on. */
static bool trajectory_error(const char *path, Fixture *b, const json_t *file, double h, double *error) {
    const json_t *path_q = json_object_get(file, "joint_q"), *first = json_array_get(json_object_get(file, "cases"), 0);
    size_t nq = 0, nv = 0, n = 0, i;
    double *q = reference_doubles(json_object_get(first, "joint_q"), &nq),
           *v = reference_doubles(json_object_get(first, "joint_qd"), &nv);
    json_t *row;
    bool ok = q && v && (int)nq == b->m->num_coords && (int)nv == b->m->num_dofs;
    *error = 0;
    if (!ok)
        cli_fail("%s: the trajectory does not fit the scene", path);
    if (ok)
        conform_set_state(b->m, sap_batch_state(b->batch), q, v);
    json_array_foreach(ok ? path_q : NULL, i, row) {
        double *theirs = reference_doubles(row, &n);
        ok = ok && theirs && (int)n == b->m->num_coords && cli_check(sap_batch_step(b->batch, h, 1));
        if (ok)
            *error = fmax(*error, conform_coordinate_error(b->m, sap_batch_state(b->batch)->joint_q, theirs));
        if (ok && (sap_solver_world_status(sap_batch_solver(b->batch))[0] & SAP_WORLD_FAILED))
            *error = INFINITY;
        free(theirs);
    }
    free(q);
    free(v);
    return ok;
}

static bool run_trajectory(const char *path, Fixture *b, const json_t *file, double h, bool verbose,
                           ConformCount *count) {
    double contacts = json_number_value(json_object_get(json_object_get(file, "measured"), "steps_with_contact")),
           error;
    ConformWorst w = {0};
    if (!trajectory_error(path, b, file, h, &error))
        return false;
    conform_worst(&w, "joint_q", error, contacts > 0 ? CONTACT_PATH : FREE_PATH);
    conform_tally(path, "trajectory", &w, verbose, count);
    return true;
}

bool conform_constraints(const char *path, const json_t *file, bool verbose, ConformCount *count) {
    Fixture b = {0};
    double h = json_number_value(json_object_get(file, "dt"));
    const json_t *cases = json_object_get(file, "cases");
    size_t i;
    json_t *one;
    bool ok = open_scene(path, file, &b) && allocate(&b) && open_batch(&b, false);
    json_array_foreach(ok ? cases : NULL, i, one) ok = ok && run_case(path, &b, one, one, h, verbose, count);
    ok = ok && open_batch(&b, false) && run_trajectory(path, &b, file, h, verbose, count);
    ok = ok && open_batch(&b, true);
    json_array_foreach(ok ? cases : NULL, i, one) {
        const json_t *split = json_object_get(one, "split");
        if (split)
            ok = ok && run_case(path, &b, one, split, h, verbose, count);
    }
    close_bench(&b);
    return ok;
}

/* ---- errors of other precisions ---- */

static bool raise_step_error(const char *path, Fixture *b, const json_t *one, double h, double *largest) {
    size_t nq = 0, nv = 0;
    double *q = reference_doubles(json_object_get(one, "joint_q"), &nq),
           *v = reference_doubles(json_object_get(one, "joint_qd"), &nv);
    bool ok = q && v && (int)nq == b->m->num_coords && (int)nv == b->m->num_dofs;
    if (!ok)
        cli_fail("%s: a case does not fit the scene", path);
    else if (take_step(b, q, v, h))
        *largest = fmax(*largest, conform_absolute(json_object_get(one, "v"), b->v, b->m->num_dofs));
    else
        *largest = INFINITY;
    free(q);
    free(v);
    return ok;
}

bool conform_constraints_errors(const char *path, const json_t *file, const SapOptions *precisions,
                                ConformErrors *errors) {
    Fixture b = {.precisions = precisions};
    double h = json_number_value(json_object_get(file, "dt")), q = 0;
    size_t i;
    json_t *one;
    bool ok = open_scene(path, file, &b) && allocate(&b) && open_batch(&b, false);
    json_array_foreach(ok ? json_object_get(file, "cases") : NULL, i, one) ok =
        ok && raise_step_error(path, &b, one, h, &errors->v);
    ok = ok && open_batch(&b, false) && trajectory_error(path, &b, file, h, &q);
    errors->q = fmax(errors->q, q);
    close_bench(&b);
    return ok;
}
