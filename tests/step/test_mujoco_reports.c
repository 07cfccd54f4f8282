/* Reports of a step: each is of this step alone, whatever the law. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/batch/backend.h"
#include "support/need.h"

enum { FRAME = 0, LEFT = 4, RIGHT = 5, BALL = 6 }; /* bodies of tests/scenes/reports.yaml that are free */

/* `how`: a preset, or a preset and a contact solver ("fast64 cone"). */
static SapBatch *open_reports(const char *how, int worlds, int lanes) {
    SapScene *scene;
    SapOptions o;
    SapBatch *batch;
    need(sap_scene_load(SAPWOOD_SOURCE_DIR "/tests/scenes/reports.yaml", &scene));
    char preset[16];
    const char *solver = strchr(how, ' ');
    snprintf(preset, sizeof preset, "%.*s", (int)strcspn(how, " "), how);
    need(sap_options_preset(preset, &o));
    if (solver)
        need(sap_options_set(&o, "contact_solver", solver));
    o.max_contacts = 24;
    o.threads = 1;
    o.lanes = lanes;
    need(sap_batch_create_as(scene->model, worlds, &o, SAP_F64, &batch));
    sap_scene_destroy(scene);
    return batch;
}

static bool has(SapBatch *b, SapBatchField field, SapArray *view) {
    SapStatus status = sap_batch_array(b, field, view);
    cr_assert(status == SAP_OK || status == SAP_ERROR_UNSUPPORTED, "%s", sap_error_message());
    return status == SAP_OK;
}

/* The reports of a step: all arrays that are recorded on request but caches and sensors. */
static bool is_report(int field) {
    return (field >= SAP_BATCH_CONTACT_IMPULSE && field <= SAP_BATCH_ROW_FORCE) || field == SAP_BATCH_ITERATIONS ||
           field == SAP_BATCH_COST || field == SAP_BATCH_STATUS || field == SAP_BATCH_CONTACT_COUNT;
}

static int request_reports(SapBatch *b) {
    SapArray view;
    int count = 0;
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++)
        count += is_report(f) && has(b, f, &view);
    return count;
}

static double *numbers(SapBatch *b, SapBatchField field) {
    SapArray view;
    need(sap_batch_array(b, field, &view));
    return view.data;
}

/* Copies the state of a world, with the accelerations of its last step, to another batch. */
static void copy_state(SapBatch *from, int world, SapBatch *to, int other) {
    static const SapBatchField state[] = {SAP_BATCH_JOINT_Q, SAP_BATCH_JOINT_QD, SAP_BATCH_DOF_CACHE};
    for (size_t i = 0; i < sizeof state / sizeof *state; i++) {
        SapArray a, b;
        if (!has(from, state[i], &a) || !has(to, state[i], &b))
            continue;
        memcpy((char *)b.data + other * b.strides[0], (char *)a.data + world * a.strides[0], (size_t)a.strides[0]);
    }
}

/* Reports of world `other` of b equal, bit for bit, the reports of world `world` of a. */
static void expect_same_reports(SapBatch *a, int world, SapBatch *b, int other) {
    SapArray x, y;
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
        if (!is_report(f) || !has(a, f, &x))
            continue;
        need(sap_batch_array(b, f, &y));
        cr_expect(memcmp((char *)x.data + world * x.strides[0], (char *)y.data + other * y.strides[0],
                         (size_t)x.strides[0]) == 0,
                  "%s of world %d", sap_batch_field_names()[f], world);
    }
}

/* Worlds that differ: world w has fallen for some steps with its own velocities. */
static SapBatch *run_apart(const char *preset, int worlds, int lanes, int steps) {
    SapBatch *b = open_reports(preset, worlds, lanes);
    SapArray qd;
    need(sap_batch_array(b, SAP_BATCH_JOINT_QD, &qd));
    for (int w = 0; w < worlds; w++)
        for (int i = 0; i < qd.shape[1]; i++)
            ((double *)qd.data)[w * qd.shape[1] + i] = 0.3 * sin(1.0 + 7 * w + 3 * i);
    request_reports(b);
    need(sap_batch_step(b, 0.005, steps));
    return b;
}

static const char *const presets[] = {"approx64", "mujoco64", "mujoco32"};
enum { NUM_PRESETS = sizeof presets / sizeof *presets };
static const char *const solvers[] = {"approx64",    "fast32",     "mujoco64",        "mujoco32",
                                      "fast64 cone", "fast32 pgs", "fast64 pgs_rows", "fast64 active_set"};
enum { NUM_SOLVERS = sizeof solvers / sizeof *solvers };

/* A batch that has stepped for a while, and fewer contacts push than before: nothing of earlier steps is left. */
Test(mujoco_reports, are_those_of_a_fresh_batch_at_the_same_state) {
    enum { WORLDS = 5, STEPS = 90 };
    for (int p = 0; p < NUM_SOLVERS; p++) {
        SapBatch *old = run_apart(solvers[p], WORLDS, 0, STEPS), *start = run_apart(solvers[p], WORLDS, 0, 3);
        SapBatch *fresh = open_reports(solvers[p], WORLDS, 0);
        cr_assert_geq(request_reports(fresh), 20);
        for (int w = 0; w < WORLDS; w++) {
            copy_state(start, (w + 2) % WORLDS, old, w);
            copy_state(start, (w + 2) % WORLDS, fresh, w);
        }
        need(sap_batch_step(old, 0.005, 1));
        need(sap_batch_step(fresh, 0.005, 1));
        for (int w = 0; w < WORLDS; w++)
            expect_same_reports(old, w, fresh, w);
        sap_batch_destroy(old);
        sap_batch_destroy(start);
        sap_batch_destroy(fresh);
    }
}

Test(mujoco_reports, of_a_world_do_not_depend_on_the_others) {
    enum { WORLDS = 5 };
    for (int p = 0; p < NUM_SOLVERS; p++) {
        SapBatch *all = run_apart(solvers[p], WORLDS, 0, 12), *one = open_reports(solvers[p], 1, 0);
        request_reports(one);
        SapBatch *before = run_apart(solvers[p], WORLDS, 0, 11);
        for (int w = 0; w < WORLDS; w++) {
            copy_state(before, w, one, 0);
            need(sap_batch_step(one, 0.005, 1));
            expect_same_reports(all, w, one, 0);
        }
        sap_batch_destroy(all);
        sap_batch_destroy(one);
        sap_batch_destroy(before);
    }
}

/* A NaN in the state, a bad parameter, a state that f32 geometry does not hold: all numbers are 0, the same bits in packs
 * of any size, whatever the step before reported. */
static void move_ball(SapBatch *b, int w, double x) {
    SapModelArrays m = *sap_model_arrays(b->model);
    numbers(b, SAP_BATCH_JOINT_Q)[w * m.num_coords + m.joint_q_start[BALL]] = x;
}

Test(mujoco_reports, of_a_failed_world_are_0_in_packs_of_any_size) {
    static const double bad[] = {NAN, INFINITY, 1e39, -1e300};
    enum { WORLDS = 6, BAD = sizeof bad / sizeof *bad };
    for (int p = 0; p < NUM_SOLVERS; p++)
        for (int i = 0; i < BAD; i++) {
            SapBatch *packs[2] = {run_apart(solvers[p], WORLDS, 1, 40), run_apart(solvers[p], WORLDS, 0, 40)};
            int zeros = 0;
            for (int k = 0; k < 2; k++) {
                move_ball(packs[k], 1, bad[i]);
                move_ball(packs[k], 4, bad[i]);
                need(sap_batch_step(packs[k], 0.005, 1));
            }
            for (int w = 0; w < WORLDS; w++)
                expect_same_reports(packs[0], w, packs[1], w);
            SapArray status, view;
            need(sap_batch_array(packs[0], SAP_BATCH_STATUS, &status));
            if (!(((uint32_t *)status.data)[1] & SAP_WORLD_FAILED))
                cr_assert(fabs(bad[i]) == 1e39 || fabs(bad[i]) == 1e300, "%s, %g", solvers[p], bad[i]);
            for (int f = SAP_BATCH_CONTACT_IMPULSE; f <= SAP_BATCH_ROW_FORCE; f++) {
                if (!(((uint32_t *)status.data)[1] & SAP_WORLD_FAILED) || !has(packs[0], f, &view))
                    continue;
                const char *row = (char *)view.data + view.strides[0];
                for (int64_t at = 0; at < view.strides[0]; at++)
                    cr_assert_eq(row[at], 0, "%s: %s of a failed world is not 0", solvers[p],
                                 sap_batch_field_names()[f]);
                zeros++;
            }
            cr_expect(zeros > 10 || !(((uint32_t *)status.data)[1] & SAP_WORLD_FAILED));
            sap_batch_destroy(packs[0]);
            sap_batch_destroy(packs[1]);
        }
}

/* Forces on the dofs of a free body [f ; tau about the centre of mass] are the sum of the wrenches of its contacts and
 * of its constraints. SAP pushes the two bodies of a contact at two points and reports a force between them, so its
 * torques differ by the gap. */
Test(mujoco_reports, forces_on_a_free_body_are_those_of_its_contacts_and_constraints) {
    static const int body[] = {LEFT, RIGHT, BALL};
    for (int p = 0; p < 2; p++) {
        SapBatch *b = run_apart(presets[p], 3, 0, 1);
        SapModelArrays m = *sap_model_arrays(b->model);
        for (int step = 0; step < 60; step++) {
            need(sap_batch_step(b, 0.005, 1));
            const double *f = numbers(b, SAP_BATCH_JOINT_CONSTRAINT_FORCE);
            const double *contact = numbers(b, SAP_BATCH_BODY_CONTACT_WRENCH),
                         *constraint = numbers(b, SAP_BATCH_BODY_CONSTRAINT_WRENCH);
            for (int w = 0; w < 3; w++)
                for (int k = 0; k < 3; k++)
                    for (int i = 0; i < (p == 0 ? 3 : 6); i++) {
                        int at = 6 * (w * m.num_bodies + body[k]) + i;
                        double sum = contact[at] + constraint[at];
                        double ours = f[w * m.num_dofs + m.joint_qd_start[body[k]] + i];
                        cr_expect(fabs(ours - sum) < 1e-10 * (1 + fabs(sum)), "%s, step %d, body %d, %d: %g, not %g",
                                  presets[p], step, body[k], i, ours, sum);
                    }
        }
        sap_batch_destroy(b);
    }
}

/* The ball falls, rests on the ground and is then lifted into the gap of 2 cm: shapes have 1 cm each. */
Test(mujoco_reports, a_contact_in_its_gap_has_a_place_and_no_force) {
    for (int p = 1; p < NUM_PRESETS; p++) {
        SapBatch *b = open_reports(presets[p], 1, 0);
        request_reports(b);
        SapModelArrays m = *sap_model_arrays(b->model);
        double *q = numbers(b, SAP_BATCH_JOINT_Q), *qd = numbers(b, SAP_BATCH_JOINT_QD);
        need(sap_batch_step(b, 0.005, 60));
        const double *force = numbers(b, SAP_BATCH_CONTACT_FORCE), *gap = numbers(b, SAP_BATCH_CONTACT_GAP),
                     *place = numbers(b, SAP_BATCH_CONTACT_POSITION), *frame = numbers(b, SAP_BATCH_CONTACT_FRAME),
                     *wrench = numbers(b, SAP_BATCH_BODY_CONTACT_WRENCH);
        const int32_t *count = sap_batch_contacts(b)->count;
        int last = count[0] - 1; /* of the ball */
        cr_expect(fabs(wrench[6 * BALL + 2] - 0.2 * 9.81) < 0.1, "%g", wrench[6 * BALL + 2]);
        cr_expect_gt(force[3 * last + 2], 1);
        double *ball = q + m.joint_q_start[BALL];
        ball[2] = 0.05 + 0.004;
        memset(qd + m.joint_qd_start[BALL], 0, 6 * sizeof(double));
        need(sap_batch_step(b, 0.005, 1));
        last = count[0] - 1;
        cr_expect(fabs(gap[last] - 0.004) < 1e-6, "%g", gap[last]);
        cr_expect(fabs(place[3 * last] - ball[0]) < 1e-6 && fabs(place[3 * last + 2] - 0.002) < 1e-6);
        cr_expect(fabs(frame[9 * last + 8] - 1) < 1e-6);
        for (int i = 0; i < 3; i++)
            cr_expect(force[3 * last + i] == 0 && wrench[6 * BALL + i] == 0);
        sap_batch_destroy(b);
    }
}

Test(mujoco_reports, that_have_no_meaning_are_refused_with_the_reason) {
    const struct {
        const char *preset, *solver;
        SapBatchField field;
        const char *reason;
    } refused[] = {
        {"approx64", "mujoco", SAP_BATCH_CACHE,
         "sap_batch_array: cache is not recorded: not with contact_solver mujoco: steps start"},
        {"approx64", "mujoco", SAP_BATCH_CACHE_KEY, "cache_key is not recorded: not with contact_solver mujoco"},
        {"approx64", "sap", SAP_BATCH_ROW_FORCE,
         "row_force is not recorded: not with contact_solver sap: only MuJoCo's law"},
        {"approx64", "cone", SAP_BATCH_ROW_COUNT,
         "row_count is not recorded: not with contact_solver cone: only MuJoCo's law"},
        {"approx64", "cone", SAP_BATCH_JOINT_CONSTRAINT_FORCE,
         "joint_constraint_force is not recorded: not with contact_solver cone: velocities come from impulses"},
        {"approx64", "sap", SAP_BATCH_TREE_REST, "tree_rest is not recorded: option sleep_steps is 0"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        SapScene *scene;
        SapOptions o;
        SapBatch *b;
        SapArray view;
        need(sap_scene_load(SAPWOOD_SOURCE_DIR "/tests/scenes/reports.yaml", &scene));
        need(sap_options_preset(refused[i].preset, &o));
        need(sap_options_set(&o, "contact_solver", refused[i].solver));
        need(sap_batch_create(scene->model, 1, &o, &b));
        cr_expect_eq(sap_batch_array(b, refused[i].field, &view), SAP_ERROR_UNSUPPORTED);
        cr_expect(strstr(sap_error_message(), refused[i].reason), "%s", sap_error_message());
        sap_batch_destroy(b);
        sap_scene_destroy(scene);
    }
}
