/* A bad number in the state of one world of a batch that collides: no other world changes by a bit. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/number.h"
#include "support/presets.h"
#include "support/shape_model.h"

enum { POISON_WORLDS = 64, POISONED = 37 };

/* A box, a sphere, a capsule and a hull on a plane, in touch with it and with each other. */
static SapModel *small_pile(void) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    shape_model_shape(&m, shape_model_body(&m, 0, 0, 0.099), SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    shape_model_shape(&m, shape_model_body(&m, 0.195, 0, 0.099), SAP_SHAPE_SPHERE, 0.1, 0, 0);
    shape_model_shape(&m, shape_model_body(&m, 0, 0, 0.245), SAP_SHAPE_CAPSULE, 0.05, 0.1, 0);
    shape_model_shape(&m, shape_model_body(&m, 0, 0.195, 0.099), SAP_SHAPE_HULL, 0.1, 0.1, 0.1);
    return shape_model_create(&m);
}

/* Puts all worlds back, each with velocities of its own. */
static void begin(SapBatch *batch, int nv) {
    SapState *s = sap_batch_state(batch);
    need(sap_batch_reset(batch, NULL, 0));
    for (int i = 0; i < POISON_WORLDS * nv; i++)
        number_put(s->joint_qd, s->dtype, (size_t)i, 0.1 * sin(1.3 * i));
}

static bool world_is_finite(const SapState *s, size_t nq, size_t nv) {
    for (size_t i = 0; i < nq + nv; i++) {
        const void *array = i < nq ? s->joint_q : s->joint_qd;
        size_t at = i < nq ? POISONED * nq + i : POISONED * nv + i - nq;
        if (!isfinite(number_get(array, s->dtype, at)))
            return false;
    }
    return true;
}

/* All worlds but the poisoned one: coordinates, velocities, contacts. */
static void expect_others_same(SapBatch *a, SapBatch *b, const char *what) {
    static const SapBatchField fields[] = {SAP_BATCH_JOINT_Q,    SAP_BATCH_JOINT_QD,      SAP_BATCH_STATUS,
                                           SAP_BATCH_ITERATIONS, SAP_BATCH_CONTACT_COUNT, SAP_BATCH_CONTACT_DROPPED,
                                           SAP_BATCH_COST};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        SapArray x, y;
        need(sap_batch_array(a, fields[f], &x));
        need(sap_batch_array(b, fields[f], &y));
        for (int w = 0; w < POISON_WORLDS; w++)
            cr_assert(w == POISONED || memcmp((char *)x.data + w * x.strides[0], (char *)y.data + w * y.strides[0],
                                              (size_t)x.strides[0]) == 0,
                      "%s: field %d of world %d differs", what, (int)fields[f], w);
    }
}

static void check_poison(const char *preset) {
    static const double poison[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, 1e-310};
    SapModel *model = small_pile();
    const SapModelArrays *a = sap_model_arrays(model);
    size_t nq = (size_t)a->num_coords, nv = (size_t)a->num_dofs;
    SapOptions o;
    need(sap_options_preset(preset, &o));
    o.max_contacts = 64;
    SapBatch *clean, *batch;
    need(sap_batch_create(model, POISON_WORLDS, &o, &clean));
    need(sap_batch_create(model, POISON_WORLDS, &o, &batch));
    begin(clean, a->num_dofs);
    need(sap_batch_step(clean, 5e-3, 2));
    cr_assert_geq(sap_batch_contacts(clean)->count[0], 10, "the test has %d contacts",
                  sap_batch_contacts(clean)->count[0]);
    SapState *s = sap_batch_state(batch);
    for (size_t i = 0; i < nq + nv; i++)
        for (size_t p = 0; p < sizeof poison / sizeof *poison; p++) {
            char what[96];
            snprintf(what, sizeof what, "%s, %g in %s[%zu]", preset, poison[p], i < nq ? "joint_q" : "joint_qd",
                     i < nq ? i : i - nq);
            begin(batch, a->num_dofs);
            if (i < nq)
                number_put(s->joint_q, s->dtype, POISONED * nq + i, poison[p]);
            else
                number_put(s->joint_qd, s->dtype, POISONED * nv + i - nq, poison[p]);
            need(sap_batch_step(batch, 5e-3, 2));
            expect_others_same(batch, clean, what);
            uint32_t status = sap_solver_world_status(sap_batch_solver(batch))[POISONED];
            if (!isfinite(poison[p])) {
                cr_assert_eq(status & SAP_WORLD_FAILED, SAP_WORLD_NONFINITE_STATE, "%s: status %#x", what, status);
                cr_assert_eq(sap_batch_contacts(batch)->count[POISONED], 0, "%s", what);
            } else {
                cr_assert(world_is_finite(s, nq, nv), "%s: status %#x", what, status);
            }
            if (poison[p] == 1e-310 && !(i < nq && i % 7 == 6)) /* but not instead of a quaternion's only component */
                cr_assert_eq(status & SAP_WORLD_FAILED, 0, "%s: status %#x", what, status);
        }
    sap_batch_destroy(batch);
    sap_batch_destroy(clean);
    sap_model_destroy(model);
}

ParameterizedTestParameters(collide, a_poisoned_state_of_one_world_touches_no_other) {
    return preset_params();
}

ParameterizedTest(const int *preset, collide, a_poisoned_state_of_one_world_touches_no_other, .timeout = 120) {
    check_poison(preset_names[*preset]);
}
