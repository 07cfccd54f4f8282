#include "lab/conform/laws.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "host/cli/common.h"
#include "lab/conform/reference_file.h"

/* Tolerances: assembled quantities relative to the largest entry (phi0: to 1 m; n0: to 1 N s, because phi0 is a
 * difference of positions of 1 m), v and q absolute, impulses relative to the largest, v of Drake, which stops at a
 * relative residual of 1e-6, coordinates of a trajectory beyond the distance that the file states, and iterations. */
static const double ASSEMBLED = 1e-11, SOLVED = 1e-9, IMPULSES = 1e-8, DRAKE = 2e-5, PATH = 1e-7, ITERATIONS = 1;

static const char *const laws[] = {"sap", "similar", "lagged"};
enum { NUM_LAWS = sizeof laws / sizeof *laws };

/* A scene with one law, one world. */
typedef struct Fixture {
    SapScene *scene;
    const SapModelArrays *m;
    SapOptions options; /* of the file */
    double h;
    bool driven; /* some dof has a drive, whose cost has another zero here */
    int law, capacity;
    SapBatch *batch;
    SapContacts *contacts;
    SapContactReport report;
    double *v, *v_star, *A; /* internal order */
} Fixture;

bool conform_is_laws(const json_t *file) {
    return json_is_object(json_object_get(file, "laws")) || json_is_array(json_object_get(file, "points"));
}

/* ---- a scene ---- */

static bool open_options(Fixture *b, const json_t *file) {
    b->options = b->scene->options;
    b->options.threads = 1;
    b->options.stiction_tolerance = json_number_value(json_object_get(file, "stiction_tolerance"));
    b->options.friction_regularization = json_number_value(json_object_get(file, "sigma"));
    b->options.near_rigid = json_number_value(json_object_get(file, "contact_beta"));
    b->capacity = b->options.given_contacts = b->options.max_contacts; /* also in scenes where fewer can touch */
    for (int i = 0; i < b->m->num_dofs; i++)
        b->driven |= b->m->joint_target_mode[i] != SAP_TARGET_NONE;
    return b->capacity > 0 || cli_fail("the scene does not set max_contacts");
}

static bool allocate(Fixture *b) {
    size_t nv = (size_t)b->m->num_dofs, n = (size_t)b->capacity;
    SapContactReport *r = &b->report;
    const struct {
        double **array;
        size_t count;
    } arrays[] = {{&b->v, nv},           {&b->v_star, nv},           {&b->A, nv * nv},      {&r->impulse, 3 * n},
                  {&r->velocity, 3 * n}, {&r->frame, 9 * n},         {&r->gap, n},          {&r->weight, n},
                  {&r->pair, 3 * n},     {&r->jacobian, 3 * n * nv}, {&r->position, 3 * n}, {&r->lagged_impulse, n},
                  {&r->slip_width, n}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i].array = cli_allocate(arrays[i].count + 1, sizeof(double))))
            return false;
    return cli_check(sap_contacts_create(1, b->capacity, SAP_F64, &b->contacts));
}

static void close_fixture(Fixture *b) {
    SapContactReport *r = &b->report;
    double *arrays[] = {b->v,   b->v_star, b->A,    r->impulse,  r->velocity,       r->frame,
                        r->gap, r->weight, r->pair, r->jacobian, r->lagged_impulse, r->slip_width};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    sap_contacts_destroy(b->contacts);
    sap_batch_destroy(b->batch);
    sap_scene_destroy(b->scene);
}

/* A batch of one world with the law, which solves to rounding or with the tolerances of the preset. */
static bool open_batch(Fixture *b, int law, bool exact) {
    SapOptions o = b->options;
    SapContactReport report = b->report;
    b->law = law;
    o.contact_approximation = (SapContactApproximation)law;
    if (exact) {
        o.optimality_rel_tol = 1e-12;
        o.cost_rel_tol = o.cost_abs_tol = 0;
    }
    if (law == SAP_APPROXIMATION_SAP)
        report.lagged_impulse = report.slip_width = NULL;
    sap_batch_destroy(b->batch);
    b->batch = NULL;
    return cli_check(sap_batch_create_as(b->scene->model, 1, &o, SAP_F64, &b->batch)) &&
           cli_check(sap_solver_record(sap_batch_solver(b->batch), &report));
}

/* ---- contacts of a case ---- */

/* The shape "body.index", the index counted within the body, or "ground"; -1 if there is none. */
static int find_shape(const Fixture *b, const char *name) {
    const char *dot = name ? strrchr(name, '.') : NULL;
    int index = dot ? atoi(dot + 1) : 0;
    for (int s = 0; name && s < b->m->num_shapes; s++) {
        int body = b->m->shape_body[s];
        const char *label = body < 0 ? "ground" : b->m->body_name[body];
        size_t length = dot && body >= 0 ? (size_t)(dot - name) : strlen(name);
        if (strlen(label) == length && strncmp(label, name, length) == 0 && index-- == 0)
            return s;
    }
    return -1;
}

/* R' (x - p) for the pose [p ; q] of a body. */
static void to_body(const double *pose, const double *x, double *out) {
    const double *q = pose + 3, d[3] = {x[0] - pose[0], x[1] - pose[1], x[2] - pose[2]};
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3, l = (i + 2) % 3;
        double t_k = 2 * (q[l] * d[i] - q[i] * d[l]), t_l = 2 * (q[i] * d[k] - q[k] * d[i]);
        out[i] = d[i] - q[3] * 2 * (q[k] * d[l] - q[l] * d[k]) + q[k] * t_l - q[l] * t_k;
    }
}

static bool put_side(const Fixture *b, const json_t *contact, int side, int slot) {
    SapContacts *to = b->contacts;
    const char *name = json_string_value(json_object_get(contact, side ? "shape1" : "shape0"));
    int shape = find_shape(b, name);
    size_t n = 0;
    double *x = reference_doubles(json_object_get(contact, side ? "point1" : "point0"), &n);
    bool ok = shape >= 0 && x && n == 3;
    if (ok) {
        double *point = (double *)(side ? to->point1 : to->point0) + 3 * slot;
        const double *poses = sap_batch_state(b->batch)->body_q;
        int body = b->m->shape_body[shape];
        (side ? to->shape1 : to->shape0)[slot] = shape;
        ((double *)(side ? to->margin1 : to->margin0))[slot] = 0;
        if (body < 0)
            memcpy(point, x, 3 * sizeof *x);
        else
            to_body(poses + 7 * body, x, point);
    }
    free(x);
    return ok;
}

/* Takes the contacts of a case, whose points are in world axes. */
static bool put_contacts(const Fixture *b, const json_t *contacts) {
    size_t c, n = 0, count = json_array_size(contacts);
    json_t *contact;
    bool ok = count <= (size_t)b->capacity;
    b->contacts->count[0] = ok ? (int)count : 0;
    json_array_foreach(ok ? contacts : NULL, c, contact) {
        double *normal = reference_doubles(json_object_get(contact, "normal"), &n);
        ok = ok && normal && n == 3 && put_side(b, contact, 0, (int)c) && put_side(b, contact, 1, (int)c);
        if (ok)
            memcpy((double *)b->contacts->normal + 3 * c, normal, 3 * sizeof *normal);
        free(normal);
    }
    return ok;
}

/* ---- comparing ---- */

static void compare_number(ConformWorst *w, const char *what, const json_t *of, const char *key, double ours,
                           double least, double tolerance) {
    const json_t *node = json_object_get(of, key);
    double theirs = json_is_number(node) ? json_number_value(node) : NAN;
    conform_worst(w, what, fabs(ours - theirs) / fmax(fabs(theirs), least), tolerance);
}

/* Geometry and material of contact c; `out`: its numbers under the law. */
static void compare_contact(const Fixture *b, const json_t *contact, const json_t *out, int c, ConformWorst *w) {
    const SapContactReport *r = &b->report;
    const double *C = r->frame + 9 * c, frame[9] = {C[0], C[3], C[6], C[1], C[4], C[7], C[2], C[5], C[8]};
    int nv = b->m->num_dofs;
    bool is_sap = b->law == SAP_APPROXIMATION_SAP;
    conform_worst(w, "frame", conform_absolute(json_object_get(contact, "frame"), frame, 9), ASSEMBLED);
    conform_worst(w, "J", conform_relative(json_object_get(contact, "J"), r->jacobian + 3 * nv * c, 3 * nv, 0),
                  ASSEMBLED);
    compare_number(w, "phi0", contact, "phi0", r->gap[c], 1, ASSEMBLED);
    compare_number(w, "w", contact, "w", r->weight[c], 0, ASSEMBLED);
    compare_number(w, "mu", contact, "mu", r->pair[3 * c], 0, ASSEMBLED);
    compare_number(w, "k", contact, "k", r->pair[3 * c + 1], 0, ASSEMBLED);
    compare_number(w, is_sap ? "tau" : "d", contact, is_sap ? "tau" : "d", r->pair[3 * c + 2], 1e-30, ASSEMBLED);
    if (!is_sap) {
        compare_number(w, "n0", out, "n0", r->lagged_impulse[c], 1, ASSEMBLED);
        compare_number(w, "eps", out, "eps", r->slip_width[c], 1, ASSEMBLED);
    }
    conform_worst(w, "vc", conform_absolute(json_object_get(out, "vc"), r->velocity + 3 * c, 3), SOLVED);
}

/* Impulses of all contacts, relative to the largest of the case. */
static void compare_impulses(const Fixture *b, const json_t *outs, ConformWorst *w) {
    double largest = 0, error = 0;
    size_t c;
    json_t *out;
    json_array_foreach(outs, c, out) {
        size_t n = 0;
        double *gamma = reference_doubles(json_object_get(out, "gamma"), &n);
        for (size_t i = 0; gamma && n == 3 && i < 3; i++)
            largest = fmax(largest, fabs(gamma[i]));
        error =
            fmax(error, gamma && n == 3 ? conform_absolute(json_object_get(out, "gamma"), b->report.impulse + 3 * c, 3)
                                        : INFINITY);
        free(gamma);
    }
    conform_worst(w, "gamma", error / fmax(largest, 1e-3), IMPULSES);
}

static bool take_step(Fixture *b, const double *q, const double *v, const json_t *contacts) {
    const SapFreeMotion before = {.v_star = b->v_star, .A = b->A}, after = {.joint_qd = b->v};
    SapSolver *solver = sap_batch_solver(b->batch);
    SapState *state = sap_batch_state(b->batch);
    conform_set_state(b->m, state, q, v);
    bool ok = cli_check(sap_forward_kinematics(solver, state)) &&
              (put_contacts(b, contacts) || cli_fail("the contacts do not fit the scene")) &&
              cli_check(sap_free_motion(solver, state, sap_batch_control(b->batch), b->h, &before)) &&
              cli_check(sap_step(solver, state, sap_batch_control(b->batch), b->contacts, b->h, state));
    bool failed = ok && (sap_solver_world_status(solver)[0] & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED));
    return ok && !failed && cli_check(sap_free_motion(solver, state, NULL, b->h, &after));
}

/* What one step to rounding gives. */
static void compare_step(const Fixture *b, const json_t *one, const json_t *out, const double *q_next,
                         ConformWorst *w) {
    int nv = b->m->num_dofs;
    const json_t *contacts = json_object_get(one, "contacts"), *outs = json_object_get(out, "contacts");
    SapWorldReport world;
    conform_worst(w, "A", conform_relative(json_object_get(one, "A"), b->A, nv * nv, 0), ASSEMBLED);
    conform_worst(w, "v*", conform_relative(json_object_get(one, "v_star"), b->v_star, nv, 0), ASSEMBLED);
    conform_worst(w, "number of contacts", json_array_size(contacts) == json_array_size(outs) ? 0 : INFINITY, 1);
    size_t c;
    json_t *contact;
    json_array_foreach(contacts, c, contact) compare_contact(b, contact, json_array_get(outs, c), (int)c, w);
    compare_impulses(b, outs, w);
    conform_worst(w, "v", conform_absolute(json_object_get(out, "v"), b->v, nv), SOLVED);
    conform_worst(w, "q", conform_coordinate_error(b->m, sap_batch_state(b->batch)->joint_q, q_next), SOLVED);
    conform_worst(w, "v of Drake", conform_absolute(json_object_get(out, "drake_v"), b->v, nv), DRAKE);
    if (!b->driven && cli_check(sap_solver_report(sap_batch_solver(b->batch), &world)))
        compare_number(w, "cost", out, "cost", world.cost[0], 1, SOLVED);
}

/* One case with the law of the batch. `exact`: to rounding, else with the tolerances of the preset, for the number of
 * iterations. */
static bool run_case(const char *path, Fixture *b, const json_t *one, bool exact, ConformWorst *w) {
    size_t nq = 0, nv = 0, next = 0;
    const json_t *out = json_object_get(json_object_get(one, "outputs"), laws[b->law]);
    double *q = reference_doubles(json_object_get(one, "joint_q"), &nq),
           *v = reference_doubles(json_object_get(one, "joint_qd"), &nv),
           *q_next = reference_doubles(json_object_get(out, "q_next"), &next);
    SapWorldReport world;
    bool ok = q && v && q_next && (int)nq == b->m->num_coords && (int)nv == b->m->num_dofs && nq == next;
    if (!ok)
        cli_fail("%s: a case does not fit the scene", path);
    else if (!take_step(b, q, v, json_object_get(one, "contacts")))
        conform_worst(w, "status", INFINITY, 1);
    else if (exact)
        compare_step(b, one, out, q_next, w);
    else if (cli_check(sap_solver_report(sap_batch_solver(b->batch), &world)))
        conform_worst(w, "iterations",
                      fabs(world.iterations[0] - json_number_value(json_object_get(out, "newton_iterations"))),
                      ITERATIONS);
    free(q);
    free(v);
    free(q_next);
    return ok;
}

/* The largest distance of coordinates from a trajectory of the file after `step` steps. */
static bool compare_row(const char *path, const Fixture *b, const json_t *row, double *error) {
    size_t n = 0;
    double *theirs = reference_doubles(row, &n);
    bool ok = theirs && (int)n == b->m->num_coords;
    if (ok)
        *error = fmax(*error, conform_coordinate_error(b->m, sap_batch_state(b->batch)->joint_q, theirs));
    free(theirs);
    return ok || cli_fail("%s: a trajectory does not fit the scene", path);
}

/* The trajectory from the initial state of the scene, which collision of its own gives contacts. */
static bool run_trajectory(const char *path, Fixture *b, const json_t *law, bool verbose, ConformCount *count) {
    const json_t *rows = json_object_get(law, "joint_q"), *of_drake = json_object_get(law, "drake_joint_q");
    double error = 0, drake = 0,
           apart = json_number_value(json_object_get(json_object_get(law, "measured"), "trajectory"));
    size_t i, steps = (size_t)json_integer_value(json_object_get(law, "steps"));
    json_t *row;
    bool ok = true;
    json_array_foreach(rows, i, row) {
        char number[16];
        if (!ok || i >= steps)
            break;
        snprintf(number, sizeof number, "%zu", i + 1);
        const json_t *drakes = json_object_get(of_drake, number);
        ok = cli_check(sap_batch_step(b->batch, b->h, 1)) && compare_row(path, b, row, &error) &&
             (!drakes || compare_row(path, b, drakes, &drake));
        if (ok && (sap_solver_world_status(sap_batch_solver(b->batch))[0] & SAP_WORLD_FAILED))
            error = INFINITY;
    }
    ConformWorst w = {0};
    char name[64];
    snprintf(name, sizeof name, "%s: trajectory", laws[b->law]);
    conform_worst(&w, "joint_q", error, PATH);
    conform_worst(&w, "joint_q of Drake", drake, apart + PATH);
    if (ok)
        conform_tally(path, name, &w, verbose, count);
    return ok;
}

static bool run_law(const char *path, Fixture *b, const json_t *file, int law, bool verbose, ConformCount *count) {
    const json_t *cases = json_object_get(file, "cases"), *trajectories = json_object_get(file, "laws");
    ConformWorst *worst = cli_allocate(json_array_size(cases) + 1, sizeof *worst);
    size_t i;
    json_t *one;
    bool ok = worst != NULL && open_batch(b, law, true);
    json_array_foreach(ok ? cases : NULL, i, one) ok = ok && run_case(path, b, one, true, &worst[i]);
    ok = ok && open_batch(b, law, false);
    json_array_foreach(ok ? cases : NULL, i, one) {
        char name[128];
        const char *label = json_string_value(json_object_get(one, "name"));
        ok = ok && run_case(path, b, one, false, &worst[i]);
        snprintf(name, sizeof name, "%s: %.64s", laws[law], label ? label : "?");
        if (ok)
            conform_tally(path, name, &worst[i], verbose, count);
    }
    free(worst);
    return ok && open_batch(b, law, true) &&
           run_trajectory(path, b, json_object_get(trajectories, laws[law]), verbose, count);
}

bool conform_laws(const char *path, const json_t *file, bool verbose, ConformCount *count) {
    if (json_is_array(json_object_get(file, "points")))
        return conform_law_points(path, file, verbose, count);
    Fixture b = {.h = json_number_value(json_object_get(file, "dt"))};
    bool ok = conform_open_scene(path, file, &b.scene);
    if (ok)
        b.m = sap_model_arrays(b.scene->model);
    ok = ok && open_options(&b, file) && allocate(&b);
    for (int law = 0; ok && law < NUM_LAWS; law++)
        ok = run_law(path, &b, file, law, verbose, count);
    close_fixture(&b);
    return ok;
}
