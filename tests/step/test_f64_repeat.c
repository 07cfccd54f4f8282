/* A contact solve in f32 (preset fast32): worlds that do not converge are solved again in f64, as approx32 does it, and
 * the line searches with a tight cost tolerance converge. */
#include <stdint.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/scene_batch.h"

enum { WORLDS = 16, STEPS = 40 };

static SapOptions options_of(const char *preset, const char *name, const char *value) {
    SapOptions options;
    cr_assert_eq(sap_options_preset(preset, &options), SAP_OK);
    cr_assert_eq(sap_options_set(&options, name, value), SAP_OK, "%s", sap_error_message());
    return options;
}

/* WORLDS quadrupeds with different velocities. */
static SapBatch *quadrupeds(const SapScene *scene, const SapOptions *options) {
    SapBatch *batch = create(scene, WORLDS, options);
    for (int w = 0; w < WORLDS; w++)
        set_content(batch, sap_model_arrays(scene->model), w, w);
    return batch;
}

static void step(SapBatch *batch, const SapScene *scene) {
    cr_assert_eq(sap_batch_step(batch, scene->dt, 1), SAP_OK, "%s", sap_error_message());
}

static SapWorldReport report_of(const SapBatch *batch) {
    SapWorldReport report;
    cr_assert_eq(sap_solver_report(sap_batch_solver(batch), &report), SAP_OK);
    return report;
}

/* Both states are f32. */
static bool same_velocity(const SapBatch *a, const SapBatch *b, int nv, int w) {
    const float *x = sap_batch_state(a)->joint_qd, *y = sap_batch_state(b)->joint_qd;
    return !memcmp(x + w * nv, y + w * nv, (size_t)nv * sizeof *x);
}

static void put_state(SapBatch *to, const SapBatch *from, const SapModelArrays *a) {
    SapState *x = sap_batch_state(to), *y = sap_batch_state(from);
    memcpy(x->joint_q, y->joint_q, (size_t)(WORLDS * a->num_coords) * sizeof(float));
    memcpy(x->joint_qd, y->joint_qd, (size_t)(WORLDS * a->num_dofs) * sizeof(float));
}

/* One iteration does not solve an impact in any precision, so a world that ends at the limit has been repeated. */
Test(f64_repeat, a_world_that_does_not_converge_in_f32_moves_as_with_a_solve_in_f64) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapOptions single = options_of("fast32", "max_iterations", "1"),
               mixed = options_of("approx32", "max_iterations", "1");
    mixed.position_integration = single.position_integration;
    mixed.gyroscopic = single.gyroscopic;
    SapBatch *fast = quadrupeds(scene, &single), *approx = quadrupeds(scene, &mixed);
    int repeated = 0, others = 0;
    for (int i = 0; i < STEPS; i++) {
        step(fast, scene);
        step(approx, scene);
        for (int w = 0; w < WORLDS; w++) {
            bool open = report_of(fast).status[w] & SAP_WORLD_ITERATION_LIMIT;
            repeated += open;
            others += !same_velocity(fast, approx, a->num_dofs, w);
            cr_assert(!open || report_of(fast).f64_retries[w] > 0, "step %d, world %d", i, w);
            cr_assert(!open || same_velocity(fast, approx, a->num_dofs, w), "step %d, world %d", i, w);
        }
        put_state(approx, fast, a);
    }
    cr_assert_gt(repeated, 0);
    cr_assert_gt(others, 0, "f32 and f64 solves differ nowhere: the test compares nothing");
    sap_batch_destroy(fast);
    sap_batch_destroy(approx);
    sap_scene_destroy(scene);
}

/* A pack of eight has worlds that are repeated beside worlds that are not. */
Test(f64_repeat, a_repeat_changes_no_other_world_of_the_pack) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapOptions options = options_of("fast32", "max_iterations", "2");
    SapBatch *eight = quadrupeds(scene, &options);
    cr_assert_eq(sap_options_set(&options, "lanes", "1"), SAP_OK);
    SapBatch *one = quadrupeds(scene, &options);
    int mixed = 0;
    for (int i = 0; i < STEPS; i++) {
        int open = 0;
        step(eight, scene);
        step(one, scene);
        for (int w = 0; w < WORLDS; w++) {
            open += report_of(eight).f64_retries[w] > 0;
            cr_assert(same_velocity(eight, one, a->num_dofs, w), "step %d, world %d", i, w);
        }
        mixed += open > 0 && open < WORLDS;
    }
    cr_assert_gt(mixed, 0);
    sap_batch_destroy(eight);
    sap_batch_destroy(one);
    sap_scene_destroy(scene);
}

static const char *const line_searches[] = {"exact_root", "armijo_decay", "monotone_decay", "wolfe"};

ParameterizedTestParameters(f64_repeat, every_line_search_converges_in_f32) {
    static int index[] = {0, 1, 2, 3};
    return cr_make_param_array(int, index, 4);
}

/* docs/solve.md: at most 0.6 % of the steps of worlds are repeated in any of five scenes. */
ParameterizedTest(int *line_search, f64_repeat, every_line_search_converges_in_f32) {
    SapScene *scene = load("quadruped");
    SapOptions options = options_of("fast32", "line_search", line_searches[*line_search]);
    SapBatch *batch = quadrupeds(scene, &options);
    int repeated = 0;
    for (int i = 0; i < STEPS; i++) {
        step(batch, scene);
        for (int w = 0; w < WORLDS; w++) {
            repeated += report_of(batch).f64_retries[w] > 0;
            cr_assert(!(report_of(batch).status[w] & SAP_WORLD_NOT_CONVERGED), "step %d, world %d", i, w);
        }
    }
    cr_assert_lt(repeated, WORLDS * STEPS / 100);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}
