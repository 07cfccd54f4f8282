/* The header of constants of kernels made for a batch: it has the numbers of the arguments, and kernels are not used
 * with others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/cuda/specialized_header.h"
#include "host/cuda/model.h"

typedef struct Planned {
    SapScene *scene;
    SapCudaModel model;
    SapDualStepArgs dual;
    SapStepArgs args;
} Planned;

static Planned plan(const char *name, const char *option, const char *value) {
    char path[4096];
    Planned p = {.scene = NULL};
    snprintf(path, sizeof path, "%s/%s.yaml", SAPWOOD_SOURCE_DIR, name);
    cr_assert_eq(sap_scene_load(path, &p.scene), SAP_OK, "%s", sap_error_message());
    SapOptions o = p.scene->options;
    o.max_contacts = 32;
    cr_assert_eq(sap_options_set(&o, option, value), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_cuda_model_init(p.scene->model, &o, &p.dual, &p.args, &p.model), SAP_OK, "%s",
                 sap_error_message());
    return p;
}

static char *header_of(const Planned *p, SapKernelKind part, int team) {
    const SapArenas arenas = {.solve = 1234, .size = 7168};
    char *text = sap_cuda_specialized_header(&p->args, &p->model.plan->plan.plan, part, team, &arenas);
    cr_assert(text, "%s", sap_error_message());
    return text;
}

/* Checks a line of the header, or the beginning of one. */
static void expect_line(const char *header, const char *format, int number) {
    char line[256];
    snprintf(line, sizeof line, format, number);
    cr_expect(strstr(header, line), "no '%s' in\n%s", line, header);
}

Test(specialized_header, the_constants_are_the_numbers_of_the_arguments) {
    Planned p = plan("bench/scenes/quadruped", "preset", "approx32");
    char *text = header_of(&p, SAP_CUDA_STEP, 8);
    expect_line(text, "#define SAP_SPECIALIZED_SapPlan static constexpr int nl = %d, ", p.args.plan.nl);
    expect_line(text, ", nv = %d, ", 18);
    expect_line(text, ", max_columns = %d, ", p.args.slot_ints.max_columns);
    expect_line(text, "#define SPECIALIZED_ARGS_BYTES %d\n", (int)sizeof p.args);
    expect_line(text, "#define TEAM_THREADS %du\n", 8);
    expect_line(text, "#define SAP_SET_specialized 0, 0, 0, %d, 0, ARG, 0, 0, ", 1);
    expect_line(text, "num_depths = %d;\n", p.args.plan.tree.num_depths);
    free(text);
    text = header_of(&p, SAP_CUDA_COLLIDE, 1);
    cr_expect(strstr(text, "#define SPECIALIZED_COLLIDE\n") && strstr(text, "#define SAP_THREAD_PER_WORLD\n"), "%s",
              text);
    expect_line(text, "#define THREAD_SCRATCH %d\n", 7168);
    free(text);
    sap_scene_destroy(p.scene);
}

/* The tables of the model, where a thread has a world: loops over them can then be unrolled. */
Test(specialized_header, the_tables_of_the_model_are_constants_where_a_thread_has_a_world) {
    Planned p = plan("bench/scenes/quadruped", "preset", "approx32");
    char *text = header_of(&p, SAP_CUDA_STEP, 1);
    const SapPlan *of = &p.model.plan->plan.plan;
    const SapLink *link = &of->link[2];
    cr_assert_eq(link->parent, 1);
    char expected[256];
    snprintf(expected, sizeof expected, "},{%d,%d,%d,%d,%d,%d,", link->type, link->parent, link->root, link->body,
             link->q, link->v);
    cr_expect(strstr(text, expected), "no '%s' in\n%s", expected, text);
    const SapPatternRow *row = &of->tree.row[17];
    snprintf(expected, sizeof expected, "{%d,%d,%d,%d,%d,},};", row->start, row->depth, row->link, row->desc_start,
             row->num_desc);
    cr_expect(strstr(text, expected), "no '%s' in\n%s", expected, text);
    expect_line(text, " static constexpr const SapPatternRow *row = SapPattern_row;", 0);
    expect_line(text, "#define NUM_DOFS %d\n", 18);
    expect_line(text, "#define MOST_PATH %d\n", of->tree.num_depths);
    expect_line(text, " X(%d, __VA_ARGS__)\n", 17);
    expect_line(text, "SapArenas static constexpr int fm = 0, solve = %d, ", 1234);
    free(text);
    /* threads of a team have different rows */
    text = header_of(&p, SAP_CUDA_STEP, 8);
    cr_expect(strstr(text, "#define SAP_TABLES_SapPlan\n") && !strstr(text, "SapPlan_link"), "%s", text);
    free(text);
    sap_scene_destroy(p.scene);
}

/* HAS_PAIR as the preprocessor computes it for a plane and a box: bit 7 of the mask of type 1. */
Test(specialized_header, only_pairs_of_shapes_that_may_touch_are_listed) {
    Planned p = plan("bench/scenes/cube", "broad_phase", "listed");
    char *text = header_of(&p, SAP_CUDA_COLLIDE, 8);
    expect_line(text, "#define HAS_PAIR(first, second) ((((first) == 1 ? %du : 0u) >> (second)) & 1u)\n",
                1 << SAP_SHAPE_BOX);
    expect_line(text, ", ARG, 0, 0, %d\n", 1);
    free(text);
    sap_scene_destroy(p.scene);
    p = plan("bench/scenes/cube", "broad_phase", "sweep"); /* may find any two types that the model has */
    text = header_of(&p, SAP_CUDA_COLLIDE, 8);
    expect_line(text, "(first) == 7 ? %du", 1 << SAP_SHAPE_BOX);
    expect_line(text, ", ARG, 0, 0, %d\n", 0);
    free(text);
    sap_scene_destroy(p.scene);
}

Test(specialized_header, kernels_fit_the_arguments_only_that_have_their_constants) {
    Planned p = plan("bench/scenes/quadruped", "max_contacts_per_pair", "4");
    Planned other = plan("bench/scenes/quadruped", "max_contacts_per_pair", "3");
    SapStepArgs changed = p.args;
    cr_expect(sap_cuda_specialized_fits(&p.args, &changed));
    cr_expect_not(sap_cuda_specialized_fits(&p.args, &other.args));
    changed.h = 0.5; /* of a call */
    changed.num_steps = changed.end_step = 7;
    changed.arena.size = 1;
    cr_expect(sap_cuda_specialized_fits(&p.args, &changed));
    changed.has_gravcomp = !changed.has_gravcomp; /* parameters of worlds can change it */
    cr_expect_not(sap_cuda_specialized_fits(&p.args, &changed));
    sap_scene_destroy(p.scene);
    sap_scene_destroy(other.scene);
}
