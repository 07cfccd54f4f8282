/* factor_plan = auto, and what the CPU refuses. */
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/plan/factor_plan.h"
#include "support/need.h"

static SapFactorPlan chosen(SapOptions o, int nv, SapStatus (*find)(void), const char *reason) {
    o.factor_plan = SAP_FACTOR_AUTO;
    const char *text = sap_factor_plan_choose(&o, nv, find);
    cr_expect(strstr(text, reason), "%d dofs: '%s' instead of '%s'", nv, text, reason);
    return o.factor_plan;
}

static SapStatus find_one(void) {
    return SAP_OK;
}

static SapStatus find_none(void) {
    return SAP_ERROR_UNSUPPORTED;
}

Test(factor_plan, auto_takes_the_library_for_large_worlds_on_a_GPU_only_and_says_why) {
    SapOptions o;
    need(sap_options_preset("approx32", &o));
    cr_expect_eq(chosen(o, 1000, NULL, "on a CPU"), SAP_FACTOR_SPARSE);
    o.device = SAP_DEVICE_CUDA;
    cr_expect_eq(chosen(o, 1000, find_one, "the worlds are large"), SAP_FACTOR_LIBRARY);
    cr_expect_eq(chosen(o, 30, find_one, "so few dofs"), SAP_FACTOR_SPARSE);
    cr_expect_eq(chosen(o, 1000, find_none, "cannot be loaded"), SAP_FACTOR_SPARSE);
    o.sleep_steps = 5;
    cr_expect_eq(chosen(o, 1000, find_one, "sleep"), SAP_FACTOR_SPARSE);
    o.sleep_steps = 0;
    o.contact_solver = SAP_SOLVER_CONE;
    cr_expect_eq(chosen(o, 1000, find_one, "solver sap"), SAP_FACTOR_SPARSE);
}

Test(factor_plan, a_library_is_refused_on_a_cpu) {
    SapModel *model;
    SapSolver *solver;
    SapBatch *batch;
    SapOptions o;
    need(sap_options_preset("approx32", &o));
    need(sap_model_load(SAPWOOD_SOURCE_DIR "/bench/scenes/cube.yaml", &model));
    o.factor_plan = SAP_FACTOR_LIBRARY;
    cr_expect_eq(sap_solver_create(model, 1, &o, &solver), SAP_ERROR_UNSUPPORTED);
    cr_expect_str_eq(sap_error_message(),
                     "option factor_plan is library: not on device cpu: a library needs device cuda; allowed on a cpu: "
                     "sparse, dense, auto");
    cr_expect_eq(sap_batch_create(model, 1, &o, &batch), SAP_ERROR_UNSUPPORTED);
    cr_expect(strstr(sap_error_message(), "option factor_plan is library"), "%s", sap_error_message());
    sap_model_destroy(model);
}
