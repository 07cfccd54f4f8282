/* The profile of a step: it tells where time goes, and changes nothing. */
#include <stdbool.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

enum { WORLDS = 19, STEPS = 30 };

static SapBatch *make(int threads) {
    SapScene *scene;
    SapBatch *batch;
    cr_assert_eq(sap_scene_load(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml", &scene), SAP_OK, "%s",
                 sap_error_message());
    scene->options.threads = threads;
    cr_assert_eq(sap_batch_create(scene->model, WORLDS, &scene->options, &batch), SAP_OK, "%s", sap_error_message());
    sap_scene_destroy(scene);
    return batch;
}

static void step(SapBatch *batch) {
    cr_assert_eq(sap_batch_step(batch, 0.005, STEPS), SAP_OK, "%s", sap_error_message());
}

static SapProfile profile_of(SapBatch *batch) {
    SapProfile profile;
    cr_assert_eq(sap_solver_profile_read(sap_batch_solver(batch), &profile), SAP_OK);
    return profile;
}

static void turn(SapBatch *batch, bool on) {
    cr_assert_eq(sap_solver_profile(sap_batch_solver(batch), on), SAP_OK);
}

static double total(const SapProfile *profile) {
    double sum = 0;
    for (int i = 0; i < SAP_NUM_SECTIONS; i++)
        sum += profile->seconds[i];
    return sum;
}

Test(profile, every_stage_takes_time_while_it_is_on) {
    for (int threads = 1; threads <= 2; threads++) {
        SapBatch *batch = make(threads);
        turn(batch, true);
        step(batch);
        SapProfile profile = profile_of(batch);
        for (int i = 0; i < SAP_NUM_SECTIONS; i++)
            cr_expect(profile.seconds[i] > 0, "%s, %d threads", sap_section_name((SapSection)i), threads);
        cr_expect(profile.factors[0] > 0);
        sap_batch_destroy(batch);
    }
}

Test(profile, nothing_is_taken_while_it_is_off) {
    SapBatch *batch = make(2);
    step(batch);
    SapProfile never = profile_of(batch);
    cr_expect_eq(total(&never), 0);
    turn(batch, true);
    step(batch);
    turn(batch, false);
    SapProfile before = profile_of(batch);
    step(batch);
    SapProfile after = profile_of(batch);
    cr_expect(memcmp(&before, &after, sizeof before) == 0, "it went on after it was turned off");
    turn(batch, true);
    SapProfile again = profile_of(batch);
    cr_expect_eq(total(&again), 0, "it begins from zero");
    sap_batch_destroy(batch);
}

Test(profile, states_have_the_same_bits_with_and_without) {
    SapBatch *with = make(2), *without = make(2);
    turn(with, true);
    step(with);
    step(without);
    SapArray a, b;
    cr_assert_eq(sap_batch_array(with, SAP_BATCH_JOINT_Q, &a), SAP_OK);
    cr_assert_eq(sap_batch_array(without, SAP_BATCH_JOINT_Q, &b), SAP_OK);
    cr_expect(memcmp(a.data, b.data, (size_t)(a.shape[0] * a.strides[0])) == 0);
    sap_batch_destroy(with);
    sap_batch_destroy(without);
}

Test(profile, every_factor_is_counted) {
    SapBatch *batch = make(1);
    SapArray iterations;
    turn(batch, true);
    cr_assert_eq(sap_batch_step(batch, 0.005, 1), SAP_OK);
    cr_assert_eq(sap_batch_array(batch, SAP_BATCH_ITERATIONS, &iterations), SAP_OK);
    /* a pack takes as many as the slowest of its worlds, which are all equal here */
    SapSolverInfo info;
    cr_assert_eq(sap_solver_info(sap_batch_solver(batch), &info), SAP_OK);
    int packs = (WORLDS - 1) / info.lanes + 1;
    SapProfile profile = profile_of(batch);
    cr_expect_eq(profile.factors[0] + profile.factors[1], packs * info.lanes * ((const int32_t *)iterations.data)[0]);
    sap_batch_destroy(batch);
}

Test(profile, stages_have_names_and_bad_arguments_are_refused) {
    for (int i = 0; i < SAP_NUM_SECTIONS; i++)
        cr_expect(strcmp(sap_section_name((SapSection)i), "unknown") != 0, "stage %d", i);
    cr_expect(strcmp(sap_section_name(SAP_NUM_SECTIONS), "unknown") == 0);
    SapProfile profile;
    cr_expect_eq(sap_solver_profile(NULL, true), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_solver_profile_read(NULL, &profile), SAP_ERROR_ARGUMENT);
}
