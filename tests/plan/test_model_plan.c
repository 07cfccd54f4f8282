/* A model is planned once, whoever steps it. The linker puts a counter in front of sap_plan_create (--wrap). */
#include <pthread.h>
#include <stdatomic.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/plan/model_plan.h"

static atomic_int plans;

SapStatus __real_sap_plan_create(const SapModel *model, int formulation, SapPlanOwner *out);
SapStatus __wrap_sap_plan_create(const SapModel *model, int formulation, SapPlanOwner *out);
SapStatus __wrap_sap_plan_create(const SapModel *model, int formulation, SapPlanOwner *out) {
    plans++;
    return __real_sap_plan_create(model, formulation, out);
}

static SapScene *load(void) {
    SapScene *scene;
    cr_assert_eq(sap_scene_load("tests/scenes/hulls.yaml", &scene), SAP_OK, "%s", sap_error_message());
    return scene;
}

static SapBatch *make_batch(const SapModel *model, SapBroadPhase broad_phase) {
    SapOptions options;
    SapBatch *batch;
    cr_assert_eq(sap_options_preset("approx32", &options), SAP_OK);
    options.broad_phase = broad_phase;
    options.threads = 2;
    cr_assert_eq(sap_batch_create(model, 9, &options, &batch), SAP_OK, "%s", sap_error_message());
    return batch;
}

Test(model_plan, creating_a_batch_plans_the_model_once) {
    SapScene *scene = load();
    cr_assert_eq(plans, 0, "loading plans %d times", (int)plans);
    SapBatch *batch = make_batch(scene->model, SAP_BROAD_PHASE_AUTO);
    cr_assert_eq(plans, 1, "%d times", (int)plans);
    SapArray masses;
    cr_assert_eq(sap_batch_expand(batch, SAP_PARAMETER_BODY_MASS, &masses), SAP_OK);
    cr_assert_eq(sap_batch_step(batch, 0.005, 2), SAP_OK);
    cr_assert_eq(plans, 1, "%d times", (int)plans);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(model_plan, is_shared_by_solvers_states_and_batches_of_a_model) {
    SapScene *scene = load();
    SapBatch *first = make_batch(scene->model, SAP_BROAD_PHASE_AUTO),
             *second = make_batch(scene->model, SAP_BROAD_PHASE_LISTED);
    SapSolver *solver;
    SapState *state;
    cr_assert_eq(sap_solver_create(scene->model, 3, NULL, &solver), SAP_OK);
    cr_assert_eq(sap_state_create(scene->model, 3, SAP_F32, &state), SAP_OK);
    cr_assert_eq(plans, 1, "%d times", (int)plans);
    sap_state_destroy(state);
    sap_solver_destroy(solver);
    sap_batch_destroy(second);
    sap_batch_destroy(first);
    sap_scene_destroy(scene);
}

Test(model_plan, is_another_for_another_broad_phase) {
    SapScene *scene = load();
    const SapModelPlan *listed, *sweep, *chosen;
    cr_assert_eq(sap_model_plan(scene->model, SAP_SOLVER_SAP, SAP_BROAD_PHASE_LISTED, &listed), SAP_OK);
    cr_assert_eq(sap_model_plan(scene->model, SAP_SOLVER_SAP, SAP_BROAD_PHASE_SWEEP, &sweep), SAP_OK);
    cr_assert_eq(sap_model_plan(scene->model, SAP_SOLVER_SAP, SAP_BROAD_PHASE_AUTO, &chosen), SAP_OK);
    cr_assert(listed->plan.plan.broad_phase == SAP_BROAD_PHASE_LISTED);
    cr_assert(sweep->plan.plan.broad_phase == SAP_BROAD_PHASE_SWEEP && chosen == listed);
    cr_assert_eq(plans, 2, "%d times", (int)plans);
    sap_scene_destroy(scene);
}

static void *create_and_step(void *model) {
    SapBatch *batch = make_batch(model, SAP_BROAD_PHASE_AUTO);
    cr_assert_eq(sap_batch_step(batch, 0.005, 2), SAP_OK);
    return batch;
}

Test(model_plan, is_made_once_when_threads_ask_for_it_together) {
    enum { THREADS = 4 };
    SapScene *scene = load();
    pthread_t thread[THREADS];
    void *batch[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, create_and_step, scene->model), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], &batch[i]);
    cr_assert_eq(plans, 1, "%d times", (int)plans);
    /* what a batch needs of the model outlives its owner */
    sap_scene_destroy(scene);
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(sap_batch_step(batch[i], 0.005, 2), SAP_OK);
        sap_batch_destroy(batch[i]);
    }
}
