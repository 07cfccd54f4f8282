/* Contacts for tests of sameness: content c at step s is a function of c, s and the world's own poses,
 * whatever row of whatever batch they are put in. Bodies are random, static ones among them, so the lanes of a pack
 * have different bodies in the same slot, and some contacts couple two branches of a tree. */
#ifndef SAPWOOD_TESTS_SUPPORT_HASH_CONTACTS_H
#define SAPWOOD_TESTS_SUPPORT_HASH_CONTACTS_H

#include <math.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/hash_worlds.h"
#include "support/random_model.h"

enum { HASH_SLOTS = 12 };

/* ---- a model with everything a solve can have ---- */

/* `model` (taken over) with drives, limits and friction on some joints and a sphere on every second body. */
static inline SapModel *hash_model_with_terms(SapModel *model, uint64_t seed) {
    enum { MAX = 512 };
    static double kp[MAX], kd[MAX], effort[MAX], lower[MAX], upper[MAX], ke[MAX], friction[MAX];
    static double scale[MAX][3], mu[MAX], stiffness[MAX], tau[MAX];
    static int32_t mode[MAX], type[MAX], body[MAX];
    SapModelArrays a = *sap_model_arrays(model);
    Random random = random_seed(seed);
    if (a.num_dofs > MAX || a.num_bodies > MAX)
        abort();
    for (int i = 0; i < a.num_dofs; i++) {
        mode[i] = random_below(&random, 2) ? SAP_TARGET_POSITION_VELOCITY : SAP_TARGET_NONE;
        kp[i] = mode[i] ? 30.0 * random_below(&random, 3) : 0;
        kd[i] = mode[i] ? random_between(&random, 0, 3) : 0;
        effort[i] = random_below(&random, 2) ? INFINITY : 5;
        lower[i] = random_between(&random, -1, 0);
        upper[i] = random_between(&random, 0, 1);
        ke[i] = random_below(&random, 2) ? 1000 : 0;
        friction[i] = random_below(&random, 3) ? 0 : 0.3;
    }
    a.num_shapes = 0;
    for (int b = -1; b < a.num_bodies; b += 2) {
        int s = a.num_shapes++;
        type[s] = SAP_SHAPE_SPHERE;
        body[s] = b;
        scale[s][0] = scale[s][1] = scale[s][2] = 0.1;
        mu[s] = 0.2 * (s % 6); /* every sixth is frictionless */
        stiffness[s] = s % 5 == 4 ? INFINITY : 1e4 * (1 + s % 4);
        tau[s] = 0.01 * (s % 3);
    }
    a.joint_target_mode = mode;
    a.joint_target_ke = kp;
    a.joint_target_kd = kd;
    a.joint_effort_limit = effort;
    a.joint_limit_lower = lower;
    a.joint_limit_upper = upper;
    a.joint_limit_ke = ke;
    a.joint_friction = friction;
    a.shape_type = type;
    a.shape_body = body;
    a.shape_scale = scale[0];
    a.shape_material_mu = mu;
    a.shape_material_ke = stiffness;
    a.shape_material_tau = tau;
    a.shape_transform = NULL;
    a.shape_material_dissipation = a.shape_margin = a.shape_gap = NULL;
    a.shape_collision_group = a.shape_flags = a.shape_mesh = NULL;
    a.shape_name = NULL;
    SapModel *out;
    cr_assert_eq(sap_model_create(&a, &out), SAP_OK, "%s", sap_error_message());
    sap_model_destroy(model);
    return out;
}

/* ---- records ---- */

/* The world's point p in the frame of a body (-1 = static). */
static inline void hash_to_body(const HashBatch *batch, int row, int body, const double *p, double *out) {
    double X[7] = {0, 0, 0, 0, 0, 0, 1}, r[3], t[3];
    for (int i = 0; i < 7 && body >= 0; i++)
        X[i] = number_get(batch->state.body_q, batch->state.dtype,
                          7 * ((size_t)row * (size_t)batch->m->num_bodies + (size_t)body) + (size_t)i);
    const double u[3] = {-X[3], -X[4], -X[5]}, w = X[6];
    for (int i = 0; i < 3; i++)
        r[i] = p[i] - X[i];
    for (int i = 0; i < 3; i++)
        t[i] = 2 * (u[(i + 1) % 3] * r[(i + 2) % 3] - u[(i + 2) % 3] * r[(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        out[i] = r[i] + w * t[i] + u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3];
}

static inline double hash_body_position(const HashBatch *batch, int row, int body, int i) {
    return number_get(batch->state.body_q, batch->state.dtype,
                      7 * ((size_t)row * (size_t)batch->m->num_bodies + (size_t)body) + (size_t)i);
}

/* The body of a random side, written into the record: by shape, or by index, or static. */
static inline int hash_random_side(Random *random, const SapModelArrays *m, int32_t *shape, int32_t *body) {
    *shape = *body = -1;
    switch (random_below(random, 4)) {
    case 0: return -1;
    case 1: *body = random_below(random, m->num_bodies); return *body;
    default:
        if (m->num_shapes == 0)
            return -1;
        *shape = random_below(random, m->num_shapes);
        return m->shape_body[*shape];
    }
}

/* Puts a contact at a point near one of its bodies, with a gap between -3 and 1 cm, into slot c. */
static inline void hash_fill_record(Random *random, const HashBatch *batch, SapContacts *contacts, int row, int c) {
    const SapModelArrays *m = batch->m;
    SapDtype dtype = contacts->dtype;
    int at = row * contacts->capacity + c;
    int body0 = hash_random_side(random, m, &contacts->shape0[at], &contacts->body0[at]);
    int body1 = hash_random_side(random, m, &contacts->shape1[at], &contacts->body1[at]);
    int near = body1 >= 0 ? body1 : body0;
    double n[3], p0[3], p1[3], local0[3], local1[3], norm2 = 0;
    random_numbers(random, 1, n, 3);
    if (random_below(random, 4) == 0)
        n[0] = n[1] = 0; /* an axis: zeros of the Jacobian */
    for (int i = 0; i < 3; i++)
        norm2 += n[i] * n[i];
    double margin0 = 0.02 * random_below(random, 2), margin1 = 0.01 * random_below(random, 2);
    double gap = random_between(random, -0.03, 0.01) + margin0 + margin1;
    for (int i = 0; i < 3; i++) {
        p0[i] = (near >= 0 ? hash_body_position(batch, row, near, i) : 0) + random_between(random, -0.2, 0.2);
        p1[i] = p0[i] + gap * n[i] / sqrt(norm2);
    }
    hash_to_body(batch, row, body0, p0, local0);
    hash_to_body(batch, row, body1, p1, local1);
    hash_put_row(contacts->point0, dtype, at, local0, 3);
    hash_put_row(contacts->point1, dtype, at, local1, 3);
    hash_put_row(contacts->normal, dtype, at, n, 3);
    hash_put_row(contacts->margin0, dtype, at, &margin0, 1);
    hash_put_row(contacts->margin1, dtype, at, &margin1, 1);
    int own = random_below(random, 4);
    double k = own & 1 ? pow(10, random_between(random, 3, 9)) : NAN, mu = own & 2 ? random_between(random, 0, 1) : NAN;
    double tau = own == 3 ? 0.03 : NAN;
    hash_put_row(contacts->stiffness, dtype, at, &k, 1);
    hash_put_row(contacts->mu, dtype, at, &mu, 1);
    hash_put_row(contacts->tau, dtype, at, &tau, 1);
}

/* The contacts of world `row`, which holds content `content`; every third world has none. body_q is read. */
static inline void hash_fill_contacts(const HashBatch *batch, SapContacts *contacts, int row, uint64_t content,
                                      int step) {
    Random random = random_seed(7919 * (content + 1) + 104729 * (uint64_t)(step + 1));
    int count = random_below(&random, 3) == 0 ? 0 : random_below(&random, HASH_SLOTS + 1);
    contacts->count[row] = count;
    for (int c = 0; c < count; c++)
        hash_fill_record(&random, batch, contacts, row, c);
}

/* ---- what the solve tells of a world ---- */

typedef struct HashReport {
    SapContactReport contact;
    int n, nv;
} HashReport;

static inline double *hash_doubles(int n, int width) {
    return (double *)calloc((size_t)n * (size_t)width, sizeof(double));
}

static inline HashReport hash_report_create(SapSolver *solver, const SapModelArrays *m, int n) {
    HashReport r = {.n = n, .nv = m->num_dofs};
    r.contact = (SapContactReport){
        .impulse = hash_doubles(n, 3 * HASH_SLOTS),
        .velocity = hash_doubles(n, 3 * HASH_SLOTS),
        .gap = hash_doubles(n, HASH_SLOTS),
        .weight = hash_doubles(n, HASH_SLOTS),
        .jacobian = hash_doubles(n, 3 * HASH_SLOTS * m->num_dofs),
        .drive = hash_doubles(n, m->num_dofs),
        .limit = hash_doubles(n, m->num_dofs),
        .friction = hash_doubles(n, m->num_dofs),
    };
    cr_assert_eq(sap_solver_record(solver, &r.contact), SAP_OK, "%s", sap_error_message());
    return r;
}

static inline void hash_report_destroy(HashReport *r) {
    free(r->contact.impulse);
    free(r->contact.velocity);
    free(r->contact.gap);
    free(r->contact.weight);
    free(r->contact.jacobian);
    free(r->contact.drive);
    free(r->contact.limit);
    free(r->contact.friction);
}

/* One hash per quantity, in the order in which a step computes them: the first that differs is nearest the cause. */
enum {
    HASH_GAP,
    HASH_JACOBIAN,
    HASH_WEIGHT,
    HASH_STATUS,
    HASH_ITERATIONS,
    HASH_LINE_ITERATIONS,
    HASH_REFACTORED,
    HASH_COST,
    HASH_RESIDUAL,
    HASH_VELOCITY,
    HASH_IMPULSE,
    HASH_DRIVE,
    HASH_LIMIT,
    HASH_FRICTION,
    HASH_STATE,
    NUM_HASHES
};
static const char *const hash_names[NUM_HASHES] = {
    "gap",      "jacobian", "weight",           "status", "iterations",    "line iterations",  "f64_retries", "cost",
    "residual", "velocity", "contact impulses", "drive",  "limit impulse", "friction impulse", "state"};

static inline uint64_t hash_of_doubles(const double *data, int row, int width, int n) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < n; i++) {
        double x = data[(size_t)row * (size_t)width + (size_t)i] + 0.0; /* zeros have no sign */
        hash = hash_row(hash, isnan(x) ? &(double){NAN} : &x, SAP_F64, 0, 1);
    }
    return hash;
}

static inline void hash_step(const HashBatch *batch, const SapSolver *solver, const HashReport *r, int row, int count,
                             uint64_t hash[NUM_HASHES]) {
    SapWorldReport w;
    cr_assert_eq(sap_solver_report(solver, &w), SAP_OK, "%s", sap_error_message());
    const SapContactReport *c = &r->contact;
    int nv = r->nv;
    hash[HASH_GAP] = hash_of_doubles(c->gap, row, HASH_SLOTS, count);
    hash[HASH_JACOBIAN] = hash_of_doubles(c->jacobian, row, 3 * HASH_SLOTS * nv, 3 * count * nv);
    hash[HASH_WEIGHT] = hash_of_doubles(c->weight, row, HASH_SLOTS, count);
    hash[HASH_STATUS] = w.status[row];
    hash[HASH_ITERATIONS] = (uint64_t)w.iterations[row];
    hash[HASH_LINE_ITERATIONS] = (uint64_t)w.line_iterations[row];
    hash[HASH_REFACTORED] = (uint64_t)w.f64_retries[row];
    hash[HASH_COST] = hash_of_doubles(w.cost, row, 1, 1);
    hash[HASH_RESIDUAL] = hash_of_doubles(w.residual, row, 1, 1);
    hash[HASH_VELOCITY] = hash_of_doubles(c->velocity, row, 3 * HASH_SLOTS, 3 * count);
    hash[HASH_IMPULSE] = hash_of_doubles(c->impulse, row, 3 * HASH_SLOTS, 3 * count);
    hash[HASH_DRIVE] = hash_of_doubles(c->drive, row, nv, nv);
    hash[HASH_LIMIT] = hash_of_doubles(c->limit, row, nv, nv);
    hash[HASH_FRICTION] = hash_of_doubles(c->friction, row, nv, nv);
    hash[HASH_STATE] = hash_world(batch, row, 0);
}

#endif
