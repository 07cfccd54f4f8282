/* Which kernels step a batch on a GPU: a choice that needs no GPU, and its reasons. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/cuda/choose.h"
#include "host/cuda/model.h"

enum { MANY = 1 << 20, MULTIPROCESSORS = 100 };

typedef struct Planned {
    SapScene *scene;
    SapOptions options;
    SapCudaModel model;
    SapDualStepArgs dual;
    SapStepArgs args;
    SapCudaRequest request;
    SapArenas arenas;
    SapCudaShape shape;
    SapCudaProgram program;
} Planned;

/* The program of many worlds of a scene with a preset and another option. */
static void choose(Planned *p, const char *scene, const char *preset, const char *option, const char *value) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s.yaml", SAPWOOD_SOURCE_DIR, scene);
    cr_assert_eq(sap_scene_load(path, &p->scene), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_options_preset(preset, &p->options), SAP_OK);
    p->options.max_contacts = 32;
    cr_assert_eq(sap_options_set(&p->options, option, value), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_cuda_model_init(p->scene->model, &p->options, &p->dual, &p->args, &p->model), SAP_OK, "%s",
                 sap_error_message());
    p->request = (SapCudaRequest){&p->options, &p->args, MANY, MULTIPROCESSORS, false};
    sap_cuda_choose_step(&p->request, &p->program);
}

static SapStatus choose_thread(Planned *p) {
    return sap_cuda_choose_thread(&p->request, &p->arenas, &p->shape, &p->program);
}

static void finish(Planned *p) {
    sap_cuda_model_free(&p->model);
    sap_scene_destroy(p->scene);
}

static void expect(const char *scene, const char *preset, const char *option, const char *value, const char *step,
                   const char *reason) {
    static Planned p;
    p = (Planned){.scene = NULL};
    choose(&p, scene, preset, option, value);
    cr_expect_str_eq(p.program.step, step, "%s of %s with %s = %s", p.program.step, scene, option, value);
    cr_expect(strstr(p.program.step_reason, reason), "%s", p.program.step_reason);
    finish(&p);
}

Test(choose, a_step_is_that_of_the_preset_whose_precisions_it_has) {
    const char *quadruped = "bench/scenes/quadruped", *walker = "bench/scenes/linkage_walker";
    expect(quadruped, "approx32", "threads", "1", "sap_kernel_step_approx32", "the precisions of a preset");
    expect(quadruped, "fast32", "threads", "1", "sap_kernel_step_fast32", "the precisions of a preset");
    expect(quadruped, "drake", "threads", "1", "sap_kernel_step_approx64", "the precisions of a preset");
    expect(quadruped, "approx32", "contact_geometry_f64", "true", "sap_kernel_step", "no preset has these");
    expect(quadruped, "fast32", "compat", "sap_warp", "sap_kernel_step", "compat");
    expect(walker, "fast32", "threads", "1", "sap_kernel_step", "constraints");
    expect(quadruped, "fast32", "contact_approximation", "lagged", "sap_kernel_step_law_fast32", "of a preset");
    expect(walker, "fast32", "contact_approximation", "similar", "sap_kernel_step_law", "constraints");
    expect(quadruped, "drake", "contact_solver", "pgs", "sap_kernel_step_pgs", "the solver alone");
}

Test(choose, few_worlds_have_teams_and_many_threads) {
    static Planned p;
    choose(&p, "bench/scenes/quadruped", "fast32", "threads", "1");
    cr_assert_eq(choose_thread(&p), SAP_OK);
    cr_expect(p.program.has_threads, "%s", p.program.mapping);
    cr_expect_str_eq(p.program.thread, "sap_kernel_step_thread_fast32");
    cr_expect_null(p.program.not_specialized);
    p.request.num_worlds = MULTIPROCESSORS;
    cr_assert_eq(choose_thread(&p), SAP_OK);
    cr_expect(strstr(p.program.mapping, "too few worlds"), "%s", p.program.mapping);
    finish(&p);
}

Test(choose, a_thread_that_is_not_possible_is_refused_with_the_reason) {
    static Planned p;
    choose(&p, "bench/scenes/linkage_walker", "fast32", "team_size", "1");
    cr_assert_eq(choose_thread(&p), SAP_ERROR_UNSUPPORTED);
    cr_expect(strstr(sap_error_message(), "without constraints"), "%s", sap_error_message());
    finish(&p);
}

Test(choose, the_laws_similar_and_lagged_have_teams) {
    static Planned p;
    choose(&p, "bench/scenes/quadruped", "fast32", "contact_approximation", "lagged");
    cr_assert_eq(choose_thread(&p), SAP_OK);
    cr_expect(!p.program.has_threads && strstr(p.program.mapping, "only the contact law sap"), "%s", p.program.mapping);
    finish(&p);
}
