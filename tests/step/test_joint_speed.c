/* The option max_joint_speed: a world with a faster dof fails with a status of its own and keeps the state before that
 * step; the limit is on the numbers of joint_qd; a limit that is never reached changes no bit. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/model_parts.h"
#include "support/need.h"

enum { WORLDS = 11 };
static const double h = 0.01;

/* A body that slides along z, falls, and is never stopped; beside it a free body with its centre of mass off its
 * origin. */
static SapModel *falling_model(void) {
    ModelParts parts;
    parts_init(&parts);
    parts_add(&parts, -1, SAP_JOINT_PRISMATIC, 0, 0);
    parts_add(&parts, -1, SAP_JOINT_FREE, 0, 0);
    parts_set_com(&parts, 1, 3, 0, 0);
    return parts_model(&parts);
}

static SapBatch *falling_batch(const char *preset, int lanes, double limit) {
    SapModel *model = falling_model();
    SapOptions o;
    SapBatch *batch = NULL;
    need(sap_options_preset(preset, &o));
    o.max_joint_speed = limit;
    o.lanes = lanes;
    o.threads = 2;
    need(sap_batch_create_as(model, WORLDS, &o, SAP_F64, &batch));
    sap_model_destroy(model);
    return batch;
}

static double *velocity(SapBatch *batch, int world) {
    return (double *)sap_batch_state(batch)->joint_qd + 7 * world;
}

static uint32_t status(SapBatch *batch, int world) {
    return sap_solver_world_status(sap_batch_solver(batch))[world];
}

typedef struct Way {
    int f64, lanes;
} Way;

ParameterizedTestParameters(joint_speed, a_world_that_is_too_fast_stops_alone) {
    static Way ways[] = {{0, 1}, {0, 4}, {0, 8}, {1, 1}, {1, 4}, {1, 8}};
    return cr_make_param_array(Way, ways, sizeof ways / sizeof *ways);
}

/* World w starts at -w m/s. With a limit of 10.05 m/s the last world fails in its first step and keeps its velocity. */
ParameterizedTest(Way *way, joint_speed, a_world_that_is_too_fast_stops_alone) {
    SapBatch *limited = falling_batch(way->f64 ? "approx64" : "approx32", way->lanes, 10.05);
    SapBatch *free = falling_batch(way->f64 ? "approx64" : "approx32", way->lanes, (double)NAN);
    for (int w = 0; w < WORLDS; w++)
        velocity(limited, w)[0] = velocity(free, w)[0] = -w;
    need(sap_batch_step(limited, h, 3));
    need(sap_batch_step(free, h, 3));
    for (int w = 0; w < WORLDS - 1; w++) {
        cr_expect_eq(status(limited, w), status(free, w), "world %d: status %#x", w, (unsigned)status(limited, w));
        cr_expect_eq(memcmp(velocity(limited, w), velocity(free, w), 7 * sizeof(double)), 0, "world %d moves", w);
    }
    cr_expect_eq(status(limited, WORLDS - 1), SAP_WORLD_TOO_FAST, "status %#x", (unsigned)status(limited, WORLDS - 1));
    cr_expect_eq(velocity(limited, WORLDS - 1)[0], -(WORLDS - 1));
    cr_expect_eq(status(free, WORLDS - 1) & SAP_WORLD_FAILED, 0u);
    sap_batch_destroy(limited);
    sap_batch_destroy(free);
}

/* A fall from rest gains 0.0981 m/s per step. */
Test(joint_speed, the_state_before_the_limit_is_kept_for_the_rest_of_the_call) {
    SapBatch *batch = falling_batch("approx64", 0, 1);
    need(sap_batch_step(batch, h, 100));
    double kept = velocity(batch, 0)[0];
    cr_expect(fabs(kept) <= 1 && fabs(kept) + 9.81 * h > 1, "the velocity is %g", kept);
    cr_expect_eq(status(batch, 0), SAP_WORLD_TOO_FAST);
    need(sap_batch_step(batch, h, 1));
    cr_expect_eq(status(batch, 0), SAP_WORLD_TOO_FAST);
    cr_expect_eq(velocity(batch, 0)[0], kept);
    sap_batch_destroy(batch);
}

/* A free body that spins about z at 1.5 rad/s with its centre of mass at rest: its origin, 3 m away, moves at 4.5 m/s,
 * which does not count. */
Test(joint_speed, the_limit_is_on_the_centre_of_mass_of_a_free_body_and_on_its_spin) {
    static const struct {
        int dof;
        double speed, limit;
        uint32_t expected;
    } cases[] = {{5, 4, 5, 0},
                 {5, 4, 3, SAP_WORLD_TOO_FAST},
                 {1, 4, 5, 0},
                 {1, -4, 3, SAP_WORLD_TOO_FAST},
                 {2, 4, 3, SAP_WORLD_TOO_FAST},
                 {5, 4, 4.5, 0},
                 {6, 1.5, 1.75, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SapBatch *batch = falling_batch("approx64", 1, cases[i].limit);
        velocity(batch, 0)[cases[i].dof] = cases[i].speed;
        need(sap_batch_step(batch, h, 1));
        cr_expect_eq(status(batch, 0) & SAP_WORLD_FAILED, cases[i].expected, "case %zu: status %#x", i,
                     (unsigned)status(batch, 0));
        sap_batch_destroy(batch);
    }
}

Test(joint_speed, an_overflow_is_a_result_that_is_not_finite) {
    SapBatch *batch = falling_batch("approx32", 0, 1e30);
    velocity(batch, 0)[0] = 1e38;
    ((double *)sap_batch_control(batch)->joint_f)[0] = 1e38;
    need(sap_batch_step(batch, 1e6, 1));
    cr_expect_eq(status(batch, 0), SAP_WORLD_NONFINITE_RESULT, "status %#x", (unsigned)status(batch, 0));
    sap_batch_destroy(batch);
}
