/* States, statuses, contacts, impulses and counters of a batch on the GPU equal one on the CPU, bit for bit:
 * scenes x presets x line searches x numbers of worlds x team sizes, from states with contacts. A step that reports
 * contacts and dofs takes the general kernel; steps without reports take the kernel of the preset, with a team and,
 * where its scratch fits, with a thread per world.
 *
 * backend_bits all     all presets, line searches and team sizes of the bench scenes, whose numbers of worlds take
 *                      turns, and some cases of the others (default)
 * backend_bits some    some cases of all scenes, whose line searches and teams take turns
 * backend_bits few     one case of each scene, for slow checks
 * backend_bits laws    two presets of each scene with the contact laws `lagged` and `similar`, with and without passes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend.h"
#include "plain/end_on_failure.h"
#include "support/hash_contacts.h"
#include "support/random_model.h"

enum { MOST_WORLDS = 33, WARM_UP = 100, STEPS = 3, NUM_TEAMS = 5, NUM_WORLDS = 3 };
typedef enum Extent { EXTENT_ALL, EXTENT_SOME, EXTENT_FEW, EXTENT_LAWS } Extent;

static const char *const bench_scenes[] = {"arm3",    "cartpole", "cube",      "double_pendulum",
                                           "gripper", "humanoid", "quadruped", "stack5"};
static const char *const test_scenes[] = {"ball_on_field", "corner", "hulls", "linkages",
                                          "pebbles",       "pinch",  "tower", "wedge"};
static const char *const line_searches[] = {"monotone_decay", "armijo_decay", "exact_root", "wolfe"};
static const int worlds[NUM_WORLDS] = {1, 3, MOST_WORLDS}, teams[NUM_TEAMS] = {8, 16, 32, 64, 128};

typedef struct Subject {
    const char *name;
    const SapModel *model;
    SapOptions options;
    double dt;
    int turn; /* which subject this is */
} Subject;

typedef struct Counts {
    long long cases, contacts, iterations, workspace, threads;
} Counts;

/* The worlds of a scene where it has contacts, as all cases begin. */
static SapBatch *warm_up(const Subject *subject) {
    SapOptions o = subject->options;
    NEED(sap_options_set(&o, "preset", "approx64"));
    SapBatch *batch = backend_batch(subject->model, MOST_WORLDS, &o, SAP_DEVICE_CPU);
    backend_disturb(batch, 1);
    NEED(sap_batch_step(batch, subject->dt, WARM_UP));
    return batch;
}

static void ask_for_all(SapBatch *batch) {
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++)
        if (backend_has(batch, (SapBatchField)f))
            backend_bytes(batch, (SapBatchField)f);
}

static void step(const Subject *subject, SapBatch *batch, SapBatch *start) {
    backend_copy_worlds(start, batch);
    NEED(sap_batch_step(batch, subject->dt, 1));
    NEED(sap_batch_step(batch, subject->dt, STEPS - 1));
}

static SapBatch *run_batch(const Subject *subject, const SapOptions *o, int n, SapDevice device, SapBatch *start) {
    SapBatch *batch = backend_batch(subject->model, n, o, device);
    ask_for_all(batch); /* recorded from the first step on */
    step(subject, batch, start);
    return batch;
}

static void count_contacts(SapBatch *batch, Counts *counts) {
    int32_t *contacts = backend_read(batch, SAP_BATCH_CONTACT_COUNT);
    int32_t *iterations = backend_read(batch, SAP_BATCH_ITERATIONS);
    for (int w = 0; w < MOST_WORLDS; w++) {
        counts->contacts += contacts[w];
        counts->iterations += iterations[w];
    }
    free(contacts);
    free(iterations);
}

static void check_case(const Subject *subject, SapOptions o, int n, int team, int shared, SapBatch *start,
                       SapBatch *expected, const char *name, Counts *counts) {
    char what[256];
    SapBatchInfo info;
    o.team_size = team;
    o.shared_memory = shared;
    SapBatch *got = run_batch(subject, &o, n, SAP_DEVICE_CUDA, start);
    NEED(sap_batch_info(got, &info));
    snprintf(what, sizeof what, "%s, %d worlds, team %d, shared memory %d", name, n, info.team_size, info.shared_bytes);
    CHECK(team == 0 || info.team_size == team, "%s", what);
    backend_same(expected, got, what);
    counts->cases++;
    counts->workspace += info.workspace_bytes > 0;
    sap_batch_destroy(got);
}

/* Steps without reports, with a team of this many threads and so much shared memory (0 = all). False if a thread cannot
 * step such a world. */
static bool check_preset(const Subject *subject, SapOptions o, int n, int team, int shared, SapBatch *start,
                         SapBatch *expected, const char *name) {
    char what[256];
    SapBatch *got;
    SapBatchInfo info;
    o.team_size = team;
    o.shared_memory = shared;
    o.device = SAP_DEVICE_CUDA;
    SapStatus status = sap_batch_create(subject->model, n, &o, &got);
    if (team == 1 && status == SAP_ERROR_UNSUPPORTED)
        return false;
    NEED(status);
    step(subject, got, start);
    NEED(sap_batch_info(got, &info));
    snprintf(what, sizeof what, "%s, %d worlds, team %d, %d bytes of shared memory, no reports", name, n,
             info.team_size, shared);
    CHECK(team == 0 || info.team_size == team, "%s", what);
    backend_same(expected, got, what);
    sap_batch_destroy(got);
    return true;
}

/* The kernels of the preset. */
static void check_presets(const Subject *subject, const SapOptions *o, SapBatch *start, const char *name, Extent extent,
                          Counts *counts) {
    int n = extent == EXTENT_ALL ? MOST_WORLDS : 3;
    SapBatch *expected = backend_batch(subject->model, n, o, SAP_DEVICE_CPU);
    step(subject, expected, start);
    counts->cases += check_preset(subject, *o, 3, 0, 0, start, expected, name);
    /* collision in a step is in the workspace if the step is not all in shared memory */
    counts->cases += check_preset(subject, *o, 3, teams[subject->turn % NUM_TEAMS], 2048, start, expected, name);
    counts->threads += check_preset(subject, *o, n, 1, 0, start, expected, name);
    sap_batch_destroy(expected);
}

/* The team of the next case: the one that is chosen for the model, or in some cases one after the other. */
static int next_team(const Subject *subject, Extent extent, const Counts *counts) {
    return extent == EXTENT_SOME ? teams[(subject->turn + counts->cases) % NUM_TEAMS] : 0;
}

/* One preset and line search of a scene. */
static void check_options(const Subject *subject, const SapOptions *o, SapBatch *start, const char *name, Extent extent,
                          Counts *counts) {
    SapBatch *expected = run_batch(subject, o, MOST_WORLDS, SAP_DEVICE_CPU, start);
    count_contacts(expected, counts);
    if (extent == EXTENT_ALL)
        for (size_t t = 0; t < NUM_TEAMS - 1; t++) /* each team has each number of worlds with some line search */
            check_case(subject, *o, worlds[(t + o->line_search) % NUM_WORLDS], teams[t], 0, start, expected, name,
                       counts);
    int team = extent == EXTENT_ALL ? teams[NUM_TEAMS - 1] : next_team(subject, extent, counts);
    check_case(subject, *o, 3, team, 0, start, expected, name, counts);
    /* what is not in shared memory is in the workspace */
    check_case(subject, *o, 5, next_team(subject, extent, counts), 2048, start, expected, name, counts);
    sap_batch_destroy(expected);
    check_presets(subject, o, start, name, extent, counts);
}

/* Whether a case is among those of the extent. */
static bool is_chosen(const Subject *subject, Extent extent, int preset, int line_search) {
    switch (extent) {
    case EXTENT_ALL: return true;
    case EXTENT_SOME: return line_search == preset % 4;
    case EXTENT_FEW: return line_search == 0 && preset == 0;
    case EXTENT_LAWS: return preset % 5 == subject->turn % 5 && line_search % 2 == subject->turn % 2;
    }
    return false;
}

/* The contact laws beside `sap`: two cases of each scene. */
static void set_law(const Subject *subject, int line_search, SapOptions *o) {
    o->contact_approximation = line_search < 2 ? SAP_APPROXIMATION_LAGGED : SAP_APPROXIMATION_SIMILAR;
    o->lagged_passes = 1 + subject->turn % 2;
}

static void check_subject(const Subject *subject, Extent extent) {
    char name[128];
    Counts counts = {0};
    clock_t began = clock();
    SapBatch *start = warm_up(subject);
    int presets = 0;
    for (const char *const *preset = sap_preset_names(); *preset; preset++, presets++)
        for (int l = 0; l < 4; l++) {
            SapOptions o = subject->options;
            if (!is_chosen(subject, extent, presets, l))
                continue;
            NEED(sap_options_set(&o, "preset", *preset));
            if (o.contact_solver == SAP_SOLVER_MUJOCO) /* backend_mujoco.c */
                continue;
            NEED(sap_options_set(&o, "line_search", line_searches[l]));
            if (extent == EXTENT_LAWS)
                set_law(subject, l, &o);
            snprintf(name, sizeof name, "%s, %s, %s", subject->name, *preset, line_searches[l]);
            check_options(subject, &o, start, name, extent, &counts);
        }
    counts.cases += counts.threads;
    printf("%-16s %4lld cases, %lld of them with a workspace, %lld with a thread per world: same bits (%lld contacts, "
           "%lld Newton iterations in the last steps, %.1f s)\n",
           subject->name, counts.cases, counts.workspace, counts.threads, counts.contacts, counts.iterations,
           (double)(clock() - began) / CLOCKS_PER_SEC);
    fflush(stdout);
    sap_batch_destroy(start);
}

static void check_scene(const char *folder, const char *name, int turn, Extent extent) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
    SapScene *scene = backend_scene(path);
    Subject subject = {name, scene->model, scene->options, scene->dt, turn};
    check_subject(&subject, extent);
    sap_scene_destroy(scene);
}

/* Every type of joint, with drives, limits and friction. */
static void check_model(const char *name, SapModel *model, int turn, Extent extent) {
    Subject subject = {.name = name, .model = model, .dt = 0.005, .turn = turn};
    NEED(sap_options_preset(NULL, &subject.options));
    check_subject(&subject, extent);
    sap_model_destroy(model);
}

int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "all";
    Extent extent = strcmp(word, "few") == 0    ? EXTENT_FEW
                    : strcmp(word, "some") == 0 ? EXTENT_SOME
                    : strcmp(word, "laws") == 0 ? EXTENT_LAWS
                                                : EXTENT_ALL;
    Extent others = extent == EXTENT_ALL ? EXTENT_SOME : extent;
    const JointKind kinds[] = {{SAP_JOINT_FREE, 0, 0},
                               {SAP_JOINT_REVOLUTE, 0, 0},
                               {SAP_JOINT_D6, 2, 3},
                               {SAP_JOINT_BALL, 0, 0},
                               {SAP_JOINT_PRISMATIC, 0, 0}};
    int turn = 0;
    /* keeps the kernels loaded from one case to the next */
    SapScene *scene = backend_scene("bench/scenes/cube.yaml");
    SapBatch *holder = backend_batch(scene->model, 1, &scene->options, SAP_DEVICE_CUDA);
    for (size_t i = 0; i < sizeof bench_scenes / sizeof *bench_scenes; i++)
        check_scene("bench/scenes", bench_scenes[i], turn++, extent);
    for (size_t i = 0; i < sizeof test_scenes / sizeof *test_scenes; i++)
        check_scene("tests/scenes", test_scenes[i], turn++, others);
    check_model("chain", hash_model_with_terms(random_chain(11, kinds, 5), 3), turn++, others);
    check_model("forest", hash_model_with_terms(random_forest(5, 6), 4), turn, others);
    sap_batch_destroy(holder);
    sap_scene_destroy(scene);
    return 0;
}
