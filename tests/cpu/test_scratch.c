/* No result depends on the content of scratch: it is allocated without being cleared, and the worlds of a pack leave
 * their numbers to the next ones. */
#include <malloc.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/scene_batch.h"

enum { WORLDS = 5, STEPS = 6, MOST = 8192, NUM_SCENES = 3, NUM_SOLVERS = 7, NUM_CASES = NUM_SCENES * NUM_SOLVERS };

/* stack5 has neither limits nor friction of joints, hence no blocks of rows; linkage_walker has constraints. */
static const char *const scenes[NUM_SCENES] = {"stack5", "quadruped", "linkage_walker"};
static const struct {
    const char *preset, *name;
} solvers[NUM_SOLVERS] = {{"approx32", "sap"},    {"fast32", "sap"}, {"drake", "sap"}, {"mujoco32", "mujoco"},
                          {"mujoco64", "mujoco"}, {"drake", "cone"}, {"drake", "pgs"}};

ParameterizedTestParameters(scratch, results_do_not_depend_on_its_content) {
    static int cases[NUM_CASES];
    for (int i = 0; i < NUM_CASES; i++)
        cases[i] = i;
    return cr_make_param_array(int, cases, NUM_CASES);
}

/* Copies a field of a batch whose memory the host can read. Returns the end of the copy. */
static char *copy_field(SapBatch *batch, SapBatchField field, char *to) {
    SapArray a;
    need(sap_batch_array(batch, field, &a));
    memcpy(to, a.data, (size_t)(a.shape[0] * a.strides[0]));
    return to + a.shape[0] * a.strides[0];
}

/* Writes velocities and status after some steps to out[MOST]; returns their bytes. All memory of the batch that is not
 * cleared has bytes of `content`, or is as it comes if that is -1. */
static size_t run(const SapScene *scene, int solver, int content, char *out) {
    SapOptions options;
    need(sap_options_preset(solvers[solver].preset, &options));
    need(sap_options_set(&options, "contact_solver", solvers[solver].name));
    mallopt(M_PERTURB, content < 0 ? 0 : 0x1ff ^ content); /* the C library fills with the complement */
    SapBatch *batch = create(scene, WORLDS, &options);
    mallopt(M_PERTURB, 0);
    for (int w = 0; w < WORLDS; w++)
        set_content(batch, sap_model_arrays(scene->model), w, w);
    need(sap_batch_step(batch, scene->dt, STEPS));
    char *end = copy_field(batch, SAP_BATCH_STATUS, copy_field(batch, SAP_BATCH_JOINT_QD, out));
    sap_batch_destroy(batch);
    return (size_t)(end - out);
}

ParameterizedTest(int *number, scratch, results_do_not_depend_on_its_content) {
    static char before[MOST], after[MOST];
    static const int contents[] = {0xff, 0x3f, 0x01}; /* NaN and -1; numbers near 1 and large indices; small indices */
    int solver = *number % NUM_SOLVERS;
    const char *name = scenes[*number / NUM_SOLVERS];
    SapScene *scene = load(name);
    size_t bytes = run(scene, solver, -1, before);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        run(scene, solver, contents[i], after);
        cr_expect_eq(memcmp(before, after, bytes), 0, "%s, %s, %s: other results with bytes of %d", name,
                     solvers[solver].preset, solvers[solver].name, contents[i]);
    }
    sap_scene_destroy(scene);
}
