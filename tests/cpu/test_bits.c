/* A world's result is a function of its own numbers: not of the lanes, the threads, the instruction set, the device, the
 * number of worlds or its place among them, the storage of the state, the broad phase, the form of Newton's matrix, how
 * many steps a call takes, what is recorded, or whether the state went through another batch. Every array of a batch is
 * compared with ==.
 *
 * Each set of options runs several scenes, each scene in a few ways. The ways are random, so that all pairs of the
 * levels below occur among the sets. `generate` does the same with random scenes. */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/random.h"
#include "support/ways.h"
#include "support/work.h"

enum { WORLDS = 33, WAYS = 4, OPTIONS = 4 };

/* The scenes, some for each set, with steps that take them through their contacts: grippers grasp. */
static const struct {
    const char *name;
    int steps; /* of a call */
} scenes[] = {{"bench/scenes/quadruped", 5},      {"bench/scenes/gripper", 12}, {"bench/scenes/stack5", 2},
              {"bench/scenes/mimic_gripper", 12}, {"tests/scenes/linkages", 2}, {"bench/scenes/humanoid", 2}};
enum { NUM_SCENES = sizeof scenes / sizeof *scenes, SCENES_OF_SET = 3, CONSTRAINT_STEPS = 10 };
static const char constraint_scenes[] = SAPWOOD_SOURCE_DIR "/tests/data/reference/constraints/*.yaml";

typedef struct Set {
    const char *options[OPTIONS][2];
} Set;

#define PRESET(name)                                                                                                   \
    { "preset", name }
#define SEARCH(name)                                                                                                   \
    { "line_search", name }
#define LAW(name)                                                                                                      \
    { "contact_approximation", name }
#define PRECISIONS(a, b, c)                                                                                            \
    {                                                                                                                  \
        PRESET("approx64"), {"free_motion_precision", a}, {"contact_solve_precision", b}, {                            \
            "linear_solve_precision", c                                                                                \
        }                                                                                                              \
    }
static const Set sets[] = {
    {{PRESET("fast32")}},
    {{PRESET("fast64")}},
    {{PRESET("approx32")}},
    {{PRESET("approx64")}},
    {{PRESET("drake")}},
    {{PRESET("fast32"), SEARCH("monotone_decay")}},
    {{PRESET("fast32"), SEARCH("exact_root")}},
    {{PRESET("approx32"), SEARCH("armijo_decay")}},
    {{PRESET("approx32"), SEARCH("exact_root")}},
    {{PRESET("approx64"), SEARCH("monotone_decay")}},
    {{PRESET("drake"), SEARCH("wolfe")}},
    {{PRESET("drake"), SEARCH("armijo_decay")}},
    {PRECISIONS("fp32", "fp32", "fp32")},
    {PRECISIONS("fp32", "fp32", "fp64")},
    {PRECISIONS("fp32", "fp64", "fp64")},
    {PRECISIONS("fp64", "fp32", "fp32")},
    {PRECISIONS("fp64", "fp32", "fp64")},
    {PRECISIONS("fp64", "fp64", "fp32")},
    {{PRESET("drake"), {"contact_solver", "cone"}, {"warm_start", "true"}}},
    {{PRESET("approx32"), {"contact_solver", "cone"}, {"friction_law", "coulomb"}, {"contact_compliance", "material"}}},
    {{PRESET("approx64"), {"contact_solver", "pgs"}, {"contact_compliance", "sap"}}},
    {{PRESET("fast32"), {"contact_solver", "pgs_rows"}, {"restitution", "0.3"}, {"warm_start", "true"}}},
    {{PRESET("approx32"), {"contact_solver", "active_set"}, {"restitution", "0.3"}}},
    {{PRESET("fast32"), LAW("lagged")}},
    {{PRESET("approx32"), LAW("lagged"), SEARCH("monotone_decay")}},
    {{PRESET("approx64"), LAW("similar"), SEARCH("armijo_decay")}},
    {{PRESET("drake"), LAW("lagged")}},
    {{PRESET("fast32"), LAW("similar"), {"sleep_steps", "2"}, {"sleep_speed", "0.1"}}},
    {{PRESET("mujoco32")}},
    {{PRESET("mujoco64")}},
    {{PRESET("fast32"), {"sleep_steps", "2"}, {"sleep_speed", "0.1"}}},
};
enum { NUM_SETS = sizeof sets / sizeof *sets, CONSTRAINT_SETS = 5 }; /* the first of these also run the constraints */
enum { FAST32 = 0, APPROX64 = 3, MUJOCO32 = 23 };                    /* sets that run on rough ground too */

/* ---- ways ---- */

static int one_of(Random *random, const int *levels, int count) {
    return levels[random_below(random, count)];
}
#define ONE_OF(random, ...) one_of(random, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static bool has_gpu(void) {
    SapDeviceInfo info;
    return sap_device_info(0, &info) == SAP_OK;
}

/* In the generic kernels a fused multiply-add may be a call, so they step few worlds. */
static Way random_way(Random *random, bool gpu) {
    Way way = {.lanes = ONE_OF(random, 1, 4, 8, 16), .threads = ONE_OF(random, 1, 2, 3, 5)};
    way.isa = ONE_OF(random, SAP_ISA_AUTO, SAP_ISA_GENERIC, SAP_ISA_AVX2, SAP_ISA_AVX512);
    way.worlds = way.isa == SAP_ISA_GENERIC ? ONE_OF(random, 1, 3, 4, 5) : ONE_OF(random, 1, 5, 7, 8, 32, WORLDS, 100);
    way.multiplier = ONE_OF(random, 1, 7);
    way.offset = ONE_OF(random, 0, 3, 13);
    way.plan = ONE_OF(random, SAP_FACTOR_SPARSE, SAP_FACTOR_DENSE);
    way.broad_phase = random_below(random, 4);
    way.storage = random_below(random, 2);
    way.device = gpu ? ONE_OF(random, SAP_DEVICE_CPU, SAP_DEVICE_CUDA) : SAP_DEVICE_CPU;
    way.resume = ONE_OF(random, 0, 2);
    way.split = random_below(random, 2);
    way.given = random_below(random, 2);
    way.bare = random_below(random, 2);
    return way;
}

static void expect_same(const Subject *subject, const char *name, const Way *way, const Log *expected) {
    Log log;
    Difference at;
    char text[256], alone[256] = "";
    need(way_run(subject, way, &log));
    way_text(way, text, sizeof text);
    bool differs = log_differs(expected, &log, way, &at);
    if (differs)
        way_blame(subject, way, expected, alone, sizeof alone);
    cr_expect(!differs, "%s, call %d, place %d: %s[%d] is %.17g instead of %.17g with %s; alone: %s", name, at.call,
              at.place, sap_batch_field_names()[at.field], at.element, at.got, at.expected, text, alone);
    log_free(&log);
}

/* ---- scenes ---- */

/* The worlds differ and none fails, but those that are made to: others keep their state and would be alike for the wrong
 * reason. */
static void check_worlds(const Log *log, const char *name) {
    int failed = 0;
    for (int w = 0; w < WORLDS; w++)
        failed += (*(const uint32_t *)log_row(log, CALLS - 1, w, SAP_BATCH_STATUS) & SAP_WORLD_FAILED) != 0;
    cr_expect_eq(failed, 0, "%s: %d worlds failed", name, failed);
    for (int w = 1; w < WORLDS; w++)
        cr_expect_neq(memcmp(log_row(log, CALLS - 1, w, SAP_BATCH_JOINT_QD),
                             log_row(log, CALLS - 1, w - 1, SAP_BATCH_JOINT_QD), 8),
                      0, "%s: worlds %d and %d are the same", name, w - 1, w);
}

static void check_scene(const Set *set, const char *path, int steps, uint64_t seed, int ways, bool gpu) {
    SapScene *scene;
    Log expected;
    Random random = random_seed(seed * 0x9e3779b97f4a7c15u);
    need(sap_scene_load(path, &scene));
    scene->options.constraint_speed = 1; /* random states are off the constraints */
    for (int i = 0; i < OPTIONS && set->options[i][0]; i++)
        need(sap_options_set(&scene->options, set->options[i][0], set->options[i][1]));
    Subject subject = {.scene = scene,
                       .seed = seed,
                       .worlds = WORLDS,
                       .steps = steps,
                       .dtype = PRESET_DTYPE,
                       .sensors = seed % 2,
                       .own = seed % 3 == 0 && scene->options.contact_solver != SAP_SOLVER_MUJOCO,
                       .poisoned = seed % 5 == 0};
    SapStatus status = way_run(&subject, &(Way){0}, &expected);
    if ((status == SAP_ERROR_MODEL || status == SAP_ERROR_UNSUPPORTED) &&
        scene->options.contact_solver == SAP_SOLVER_MUJOCO) {
        log_free(&expected); /* a constraint that MuJoCo does not have */
        sap_scene_destroy(scene);
        return;
    }
    need(status);
    check_worlds(&expected, path);
    for (int k = 0; k < ways; k++) {
        Way way = random_way(&random, gpu);
        way.storage &= !subject.poisoned; /* a reset writes numbers of the model, which f32 rounds */
        expect_same(&subject, path, &way, &expected);
    }
    log_free(&expected);
    sap_scene_destroy(scene);
}

/* Every scene of constraints takes one way in each of its sets. */
static void check_constraints(const Set *set, uint64_t seed, bool gpu) {
    glob_t files;
    cr_assert_eq(glob(constraint_scenes, 0, NULL, &files), 0);
    for (size_t f = 0; f < files.gl_pathc; f += work_scale() < 1 ? 8 : 1)
        check_scene(set, files.gl_pathv[f], CONSTRAINT_STEPS, seed + f, 1, gpu);
    globfree(&files);
}

ParameterizedTestParameters(bits, of_a_world_do_not_depend_on_how_it_is_run) {
    static int all[NUM_SETS];
    for (int i = 0; i < NUM_SETS; i++)
        all[i] = i;
    return cr_make_param_array(int, all, NUM_SETS);
}

ParameterizedTest(const int *set, bits, of_a_world_do_not_depend_on_how_it_is_run) {
    bool gpu = has_gpu();
    for (int i = 0; i < work_count(SCENES_OF_SET, 1) && i < NUM_SCENES; i++) {
        int s = (i + *set) % NUM_SCENES;
        char path[512];
        snprintf(path, sizeof path, "%s/%s.yaml", SAPWOOD_SOURCE_DIR, scenes[s].name);
        check_scene(&sets[*set], path, scenes[s].steps, (uint64_t)(NUM_SCENES * *set + s), WAYS, gpu);
    }
    if (*set < CONSTRAINT_SETS)
        check_constraints(&sets[*set], 1000u + 100u * (uint64_t)*set, gpu);
}

/* The narrow phase of height fields processes one world at a time, whatever the lanes. */
ParameterizedTestParameters(bits, on_rough_ground_do_not_depend_on_how_a_world_is_run) {
    static int all[] = {FAST32, APPROX64, MUJOCO32};
    return cr_make_param_array(int, all, sizeof all / sizeof *all);
}

ParameterizedTest(const int *set, bits, on_rough_ground_do_not_depend_on_how_a_world_is_run) {
    check_scene(&sets[*set], SAPWOOD_SOURCE_DIR "/tests/scenes/rough_ground.yaml", 4, 2, WAYS, has_gpu());
}
