/* The kernels on a team of real threads with a real barrier: the same bits as on one thread, for every program and team size.
 * Built with the thread sanitizer too, where a barrier that is missing shows itself as a race; barrier_mutants.sh removes
 * each barrier in turn to see that it does. SAPWOOD_TEST_SCALE below 0.01 is the short run for that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/dispatch.h"
#include "kernel_batch.h"
#include "random_model.h"
#include "team_threads.h"
#include "work.h"

extern const SapKernels sap_kernels_team_x1_f32;
extern const SapKernels sap_kernels_team_x1_f64;

enum { WORLDS = 2, STEPS = 2 };

static bool short_run(void) {
    return work_scale() < 0.01;
}

/* f32, f64 */
extern const SapKernels sap_kernels_generic_x1_f32, sap_kernels_generic_x1_f64;
static const SapKernels *const team_kernels[2] = {&sap_kernels_team_x1_f32, &sap_kernels_team_x1_f64};
static const SapKernels *const plain_kernels[2] = {&sap_kernels_generic_x1_f32, &sap_kernels_generic_x1_f64};

/* ---- one job: some steps, an inspection of the free motion, and the kinematics alone ---- */

/* What inspection fills, of all worlds. */
typedef struct Inspection {
    double *memory;
    size_t count;
} Inspection;

static Inspection inspect_into(SapStepArgs *args) {
    size_t n = WORLDS, nv = (size_t)args->plan.nv, nb = (size_t)args->plan.nb;
    Inspection all = {.count = n * (3 * nv + nv * nv + (7 + 6 + 6) * nb)};
    double *next = all.memory = calloc(all.count, sizeof *next);
    args->v_star = next;
    args->tau = args->v_star + n * nv;
    args->v0 = args->tau + n * nv;
    args->A = args->v0 + n * nv;
    args->body_pose = args->A + n * nv * nv;
    args->body_velocity = args->body_pose + n * 7 * nb;
    args->body_bias = args->body_velocity + n * 6 * nb;
    return all;
}

typedef struct Job {
    const KernelBatch *batch;
    bool is_team;
} Job;

/* Scratch is used again by the next world, so the team has to be done with this one. */
static void run_program(const Job *job, SapProgram *program) {
    for (int w = 0; w < WORLDS; w++) {
        kernel_batch_run(job->batch, program, w);
        if (job->is_team)
            team_wait();
    }
}

static void run_job(void *arg) {
    const Job *job = arg;
    for (int step = 0; step < STEPS; step++)
        run_program(job, sap_program_step);
    run_program(job, sap_program_inspect);
    run_program(job, sap_program_kinematics);
}

/* ---- comparison ---- */

typedef struct Case {
    const char *name;
    const SapModelArrays *m;
    int precision, compat;
} Case;

static void run_case(const Case *c, const SapKernels *const *kernels, int team, uint64_t hash[WORLDS],
                     Inspection *inspection) {
    KernelBatch k = kernel_batch_create(c->m, WORLDS, c->precision, kernels, 0.005);
    k.args.compat = c->compat;
    *inspection = inspect_into(&k.args);
    Job job = {.batch = &k, .is_team = team > 0};
    if (team > 0)
        team_run(team, run_job, &job);
    else
        run_job(&job);
    for (int w = 0; w < WORLDS; w++) {
        cr_assert_eq(k.status[w] & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED), 0, "%s: world %d has status %#x",
                     c->name, w, (unsigned)k.status[w]);
        hash[w] = hash_world(&k.batch, w, k.status[w]);
    }
    kernel_batch_destroy(&k);
}

static void check_case(const Case *c, const int *teams, int num_teams) {
    uint64_t expected[WORLDS], hash[WORLDS];
    Inspection plain, other;
    run_case(c, plain_kernels, 0, expected, &plain);
    for (int t = 0; t < num_teams; t++) {
        run_case(c, team_kernels, teams[t], hash, &other);
        for (int w = 0; w < WORLDS; w++)
            cr_assert_eq(hash[w], expected[w], "%s, f%d, team of %d: world %d differs", c->name, c->precision, teams[t],
                         w);
        cr_assert_arr_eq(other.memory, plain.memory, plain.count * sizeof(double),
                         "%s, f%d, team of %d: inspection differs", c->name, c->precision, teams[t]);
        free(other.memory);
    }
    free(plain.memory);
}

static void check_model(const char *name, SapModel *model) {
    const int teams[] = {1, 2, 3, 8}, one_team[] = {4};
    Case c = {.name = name, .m = sap_model_arrays(model)};
    for (c.precision = 32; c.precision <= 64; c.precision += 32) {
        if (short_run() && c.precision == 32)
            continue;
        check_case(&c, short_run() ? one_team : teams, short_run() ? 1 : 4);
    }
    sap_model_destroy(model);
}

/* ---- models ---- */

static void check_scene(const char *name) {
    char path[512];
    SapModel *model;
    snprintf(path, sizeof path, "%s/bench/scenes/%s.yaml", SAPWOOD_SOURCE_DIR, name);
    cr_assert_eq(sap_model_load(path, &model), SAP_OK, "%s", sap_error_message());
    check_model(name, model);
}

static SapModel *every_joint(void) {
    const JointKind kinds[] = {{SAP_JOINT_FREE, 0, 0},  {SAP_JOINT_REVOLUTE, 0, 0}, {SAP_JOINT_D6, 2, 3},
                               {SAP_JOINT_FIXED, 0, 0}, {SAP_JOINT_BALL, 0, 0},     {SAP_JOINT_PRISMATIC, 0, 0}};
    return random_chain(11, kinds, sizeof kinds / sizeof *kinds);
}

Test(team_threads, random_forest) {
    check_model("random forest", random_forest(5, 14));
}

Test(team_threads, every_joint_type_in_a_chain) {
    if (!short_run())
        check_model("every joint type", every_joint());
}

Test(team_threads, every_scene) {
    const char *const scenes[] = {"quadruped", "humanoid", "gripper",         "arm3",
                                  "cartpole",  "cube",     "double_pendulum", "stack5"};
    for (int i = 0; i < 8 && !short_run(); i++)
        check_scene(scenes[i]);
}

/* Joints computed as SAP Warp does have their own code. */
Test(team_threads, compat_joints) {
    SapModel *model = random_forest(6, 10);
    const int teams[] = {3, 8};
    const Case c = {"random forest, compat", sap_model_arrays(model), 64, 1};
    if (!short_run())
        check_case(&c, teams, 2);
    sap_model_destroy(model);
}
