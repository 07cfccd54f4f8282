/* soak [WORLD_STEPS]: steps every scene of bench/scenes in every preset for long, as training does, with noise on
 * targets, resets, and new masses and friction for every reset world. One world per round is made to fail. Fails if
 * another world fails, if that one does not, if a solve that counts as solved has a relative residual above 1e-2, or if
 * memory grows. Default: 10 million world-steps. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <sapwood/sapwood.h>

enum { WORLDS = 256, ROUND = 10, RESET_EVERY = 4, WARM_UP_ROUNDS = 20 };
static const double growth_allowed = 1e6; /* bytes: the allocator of the system may keep some pages */
static const double solved_residual = 1e-2;

typedef struct Soak {
    const char *name, *preset;
    SapScene *scene;
    SapBatch *batch;
    SapArray status, residual, q, target, mass, mu;
    const SapModelArrays *model;
    uint64_t random;
    long long steps, resets, made_to_fail, failed;
    long long unsolved, untrue; /* solves that say they did not converge; that are not solved and say they are */
    double memory;              /* after the first rounds */
} Soak;

static double uniform(Soak *s, double low, double high) {
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(s->random >> 11) / 9007199254740992.0;
}

static double resident_bytes(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return 4096.0 * (double)pages;
}

static void check(SapStatus status) {
    if (status == SAP_OK)
        return;
    fprintf(stderr, "soak: %s\n", sap_error_message());
    exit(1);
}

static void put(const SapArray *array, int64_t at, double value) {
    if (array->type == SAP_TYPE_F64)
        ((double *)array->data)[at] = value;
    else
        ((float *)array->data)[at] = (float)value;
}

/* No batch if the law of the preset does not have what the scene needs. */
static Soak start(const char *name, const char *preset) {
    Soak s = {.name = name, .preset = preset, .random = 1};
    char path[256];
    snprintf(path, sizeof path, "bench/scenes/%s.yaml", name);
    check(sap_scene_load(path, &s.scene));
    check(sap_options_set(&s.scene->options, "preset", preset));
    SapStatus status = sap_batch_create(s.scene->model, WORLDS, &s.scene->options, &s.batch);
    if (status == SAP_ERROR_UNSUPPORTED || status == SAP_ERROR_MODEL)
        return s;
    check(status);
    s.model = sap_model_arrays(s.scene->model);
    check(sap_batch_array(s.batch, SAP_BATCH_STATUS, &s.status));
    check(sap_batch_array(s.batch, SAP_BATCH_RESIDUAL, &s.residual));
    check(sap_batch_array(s.batch, SAP_BATCH_JOINT_Q, &s.q));
    check(sap_batch_array(s.batch, SAP_BATCH_JOINT_TARGET_POS, &s.target));
    check(sap_batch_expand(s.batch, SAP_PARAMETER_BODY_MASS, &s.mass));
    if (s.scene->options.contact_solver != SAP_SOLVER_MUJOCO) /* whose friction has three numbers */
        check(sap_batch_expand(s.batch, SAP_PARAMETER_SHAPE_MATERIAL_MU, &s.mu));
    return s;
}

/* Resets a tenth of the worlds and those that failed, and gives them new masses and friction. */
static void reset(Soak *s) {
    uint8_t mask[WORLDS];
    for (int w = 0; w < WORLDS; w++) {
        mask[w] = uniform(s, 0, 1) < 0.1 || (((const uint32_t *)s->status.data)[w] & SAP_WORLD_FAILED);
        s->resets += mask[w];
        for (int b = 0; s->mass.data && mask[w] && b < s->model->num_bodies; b++)
            put(&s->mass, w * s->mass.shape[1] + b, s->model->body_mass[b] * uniform(s, 0.8, 1.2));
        for (int i = 0; s->mu.data && mask[w] && i < s->model->num_shapes; i++)
            put(&s->mu, w * s->mu.shape[1] + i, s->model->shape_material_mu[i] * uniform(s, 0.5, 1.5));
    }
    check(sap_batch_reset(s->batch, mask, 0));
    check(sap_batch_check_parameters(s->batch));
}

static void add_noise(Soak *s) {
    for (int w = 0; w < WORLDS; w++)
        for (int i = 0; i < s->model->num_dofs; i++)
            put(&s->target, w * s->target.shape[1] + i, s->model->joint_target_pos[i] + uniform(s, -0.2, 0.2));
}

/* Takes a step and compares the status of every solve with its residual. */
static void step(Soak *s) {
    check(sap_batch_step(s->batch, s->scene->dt, 1));
    s->steps += WORLDS;
    for (int w = 0; w < WORLDS; w++) {
        uint32_t status = ((const uint32_t *)s->status.data)[w];
        int solved = (status & (SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED)) && !(status & SAP_WORLD_FAILED);
        s->unsolved += (status & SAP_WORLD_NOT_CONVERGED) != 0;
        s->untrue += solved && !(((const double *)s->residual.data)[w] <= solved_residual);
    }
}

/* One round; false if the worlds that failed are not those that were made to. */
static int round_is_good(Soak *s, int round) {
    int victim = (int)uniform(s, 0, WORLDS), good = 1;
    if (round % RESET_EVERY == 0)
        reset(s);
    add_noise(s);
    int fails = round % RESET_EVERY == RESET_EVERY - 1; /* it is reset at once */
    if (fails)
        put(&s->q, victim * s->q.shape[1], (double)NAN);
    for (int i = 0; i < ROUND; i++)
        step(s);
    s->made_to_fail += fails;
    for (int w = 0; w < WORLDS; w++) {
        int failed = (((const uint32_t *)s->status.data)[w] & SAP_WORLD_FAILED) != 0;
        s->failed += failed;
        if (failed != (fails && w == victim)) {
            fprintf(stderr, "soak: %s, %s, round %d, world %d: status 0x%x\n", s->name, s->preset, round, w,
                    (unsigned)((const uint32_t *)s->status.data)[w]);
            good = 0;
        }
    }
    return good;
}

/* Returns whether all went well. */
static int soak(const char *name, const char *preset, long long steps) {
    Soak s = start(name, preset);
    int good = 1;
    if (s.batch == NULL) {
        printf("%-15s %-8s left out: %s\n", name, preset, sap_error_message());
        sap_scene_destroy(s.scene);
        return good;
    }
    for (int round = 0; good && s.steps < steps; round++) {
        good = round_is_good(&s, round);
        if (round == WARM_UP_ROUNDS)
            s.memory = resident_bytes();
    }
    double growth = s.memory > 0 ? resident_bytes() - s.memory : 0;
    if (growth > growth_allowed || s.untrue > 0)
        good = 0;
    printf("%-15s %-8s %8lld world-steps, %5lld resets, %3lld made to fail, %3lld failed; %lld not converged, %lld "
           "wrongly solved; memory %+.0f kB: %s\n",
           name, preset, s.steps, s.resets, s.made_to_fail, s.failed, s.unsolved, s.untrue, 1e-3 * growth,
           good ? "ok" : "FAILED");
    fflush(stdout);
    sap_batch_destroy(s.batch);
    sap_scene_destroy(s.scene);
    return good;
}

int main(int argc, char **argv) {
    static const char *const scenes[] = {"quadruped",     "humanoid",      "gripper",         "stack5",      "cube",
                                         "arm3",          "cartpole",      "double_pendulum", "fivebar_leg", "stewart",
                                         "mimic_gripper", "tendon_finger", "linkage_walker"};
    enum { NUM_SCENES = sizeof scenes / sizeof *scenes };
    const char *const *presets = sap_preset_names();
    long long steps = argc > 1 ? atoll(argv[1]) : 10000000;
    int good = 1, runs = 0;
    for (int p = 0; presets[p]; p++)
        runs += NUM_SCENES;
    for (int p = 0; presets[p]; p++)
        for (int i = 0; i < NUM_SCENES; i++)
            good &= soak(scenes[i], presets[p], (steps - 1) / runs + 1);
    return !good;
}
