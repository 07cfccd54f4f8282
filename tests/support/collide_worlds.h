/* Worlds that collide and do nothing else, and records of theirs that must be the same. */
#ifndef SAPWOOD_TESTS_SUPPORT_COLLIDE_WORLDS_H
#define SAPWOOD_TESTS_SUPPORT_COLLIDE_WORLDS_H

#include <stdbool.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/shape_model.h"

typedef struct CollideWorlds {
    int n, nq;
    SapSolver *solver;
    SapState *state; /* f64 */
    SapContacts *contacts;
} CollideWorlds;

static inline SapOptions f64_options(int slots) {
    SapOptions o;
    need(sap_options_preset("approx64", &o));
    o.max_contacts = slots;
    o.threads = 1;
    return o;
}

static inline CollideWorlds collide_worlds_create(const SapModel *model, int n, const SapOptions *options) {
    CollideWorlds w = {.n = n, .nq = sap_model_arrays(model)->num_coords};
    need(sap_solver_create(model, n, options, &w.solver));
    need(sap_state_create(model, n, SAP_F64, &w.state));
    need(sap_contacts_create(n, options->max_contacts, SAP_F64, &w.contacts));
    return w;
}

static inline void collide_worlds_destroy(CollideWorlds *w) {
    sap_contacts_destroy(w->contacts);
    sap_state_destroy(w->state);
    sap_solver_destroy(w->solver);
}

static inline double *collide_worlds_q(const CollideWorlds *w, int world) {
    return (double *)w->state->joint_q + (size_t)world * (size_t)w->nq;
}

static inline void collide_worlds_run(CollideWorlds *w) {
    need(sap_collide(w->solver, w->state, w->contacts));
}

static inline const double *row(const void *array, const SapContacts *c, int world, int slot, int width) {
    return (const double *)array + ((size_t)world * (size_t)c->capacity + (size_t)slot) * (size_t)width;
}

static inline bool same(const void *x, const void *y, size_t count) {
    return memcmp(x, y, count * sizeof(double)) == 0;
}

/* Whether two records are the same to the bit. */
static inline bool same_record(const SapContacts *a, int wa, int ca, const SapContacts *b, int wb, int cb) {
    size_t at = (size_t)wa * (size_t)a->capacity + (size_t)ca, bt = (size_t)wb * (size_t)b->capacity + (size_t)cb;
    return a->shape0[at] == b->shape0[bt] && a->shape1[at] == b->shape1[bt] && a->body0[at] == b->body0[bt] &&
           a->body1[at] == b->body1[bt] && same(row(a->point0, a, wa, ca, 3), row(b->point0, b, wb, cb, 3), 3) &&
           same(row(a->point1, a, wa, ca, 3), row(b->point1, b, wb, cb, 3), 3) &&
           same(row(a->normal, a, wa, ca, 3), row(b->normal, b, wb, cb, 3), 3) &&
           same(row(a->margin0, a, wa, ca, 1), row(b->margin0, b, wb, cb, 1), 1) &&
           same(row(a->margin1, a, wa, ca, 1), row(b->margin1, b, wb, cb, 1), 1);
}

static inline void expect_same_world(const SapContacts *a, int wa, const SapContacts *b, int wb, const char *what) {
    cr_assert_eq(a->count[wa], b->count[wb], "%s: world %d has %d contacts, not %d", what, wa, a->count[wa],
                 b->count[wb]);
    cr_assert_eq(a->dropped[wa], b->dropped[wb], "%s: world %d", what, wa);
    for (int c = 0; c < a->count[wa]; c++)
        cr_assert(same_record(a, wa, c, b, wb, c), "%s: record %d of world %d differs", what, c, wa);
}

/* ---- spheres that sink into a plane ---- */

enum { SPHERES = 12 };
static const double radius = 0.25;
/* Multiples of 1/64, so that gaps are exact and ties are ties. */
static const double depth[SPHERES] = {1, 4, 2, 4, 7, 1, 4, 3, 7, 2, 1, 5};

static inline SapModel *spheres_on_plane(void) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    for (int i = 0; i < SPHERES; i++) {
        double margin = i % 3 * 3 / 64.0; /* which counts as depth */
        int body = shape_model_body(&m, i, 0, radius + margin - depth[i] / 64);
        m.margin[shape_model_shape(&m, body, SAP_SHAPE_SPHERE, radius, 0, 0)] = margin;
    }
    return shape_model_create(&m);
}

#endif
