/* soak [WORLD_STEPS]: steps scenes for long, as training does, with noise on targets, resets, and new masses and
 * friction for every reset world. One world per round is made to fail. Fails if another world fails, if that one does
 * not, or if memory grows. Default: 10 million world-steps. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <sapwood/sapwood.h>

enum { WORLDS = 256, ROUND = 10, RESET_EVERY = 4, WARM_UP_ROUNDS = 100 };
static const double growth_allowed = 1e6; /* bytes: the allocator of the system may keep some pages */

typedef struct Soak {
    const char *name;
    SapScene *scene;
    SapBatch *batch;
    SapArray status, q, target, mass, mu;
    const SapModelArrays *model;
    uint64_t random;
    long long steps, resets, made_to_fail, failed;
    double memory; /* after the first rounds */
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

static Soak start(const char *name) {
    Soak s = {.name = name, .random = 1};
    char path[256];
    snprintf(path, sizeof path, "bench/scenes/%s.yaml", name);
    check(sap_scene_load(path, &s.scene));
    check(sap_batch_create(s.scene->model, WORLDS, &s.scene->options, &s.batch));
    s.model = sap_model_arrays(s.scene->model);
    check(sap_batch_array(s.batch, SAP_BATCH_STATUS, &s.status));
    check(sap_batch_array(s.batch, SAP_BATCH_JOINT_Q, &s.q));
    check(sap_batch_array(s.batch, SAP_BATCH_JOINT_TARGET_POS, &s.target));
    check(sap_batch_expand(s.batch, SAP_PARAMETER_BODY_MASS, &s.mass));
    check(sap_batch_expand(s.batch, SAP_PARAMETER_SHAPE_MATERIAL_MU, &s.mu));
    return s;
}

/* Resets a tenth of the worlds and those that failed, and gives them new masses and friction. */
static void reset(Soak *s) {
    uint8_t mask[WORLDS];
    for (int w = 0; w < WORLDS; w++) {
        mask[w] = uniform(s, 0, 1) < 0.1 || (((const uint32_t *)s->status.data)[w] & SAP_WORLD_FAILED);
        s->resets += mask[w];
        for (int b = 0; mask[w] && b < s->model->num_bodies; b++)
            put(&s->mass, w * s->mass.shape[1] + b, s->model->body_mass[b] * uniform(s, 0.8, 1.2));
        for (int i = 0; mask[w] && i < s->model->num_shapes; i++)
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

/* One round; false if the worlds that failed are not those that were made to. */
static int round_is_good(Soak *s, int round) {
    int victim = (int)uniform(s, 0, WORLDS), good = 1;
    if (round % RESET_EVERY == 0)
        reset(s);
    add_noise(s);
    int fails = round % RESET_EVERY == RESET_EVERY - 1; /* it is reset at once */
    if (fails)
        put(&s->q, victim * s->q.shape[1], (double)NAN);
    check(sap_batch_step(s->batch, s->scene->dt, ROUND));
    s->steps += (long long)WORLDS * ROUND;
    s->made_to_fail += fails;
    for (int w = 0; w < WORLDS; w++) {
        int failed = (((const uint32_t *)s->status.data)[w] & SAP_WORLD_FAILED) != 0;
        s->failed += failed;
        if (failed != (fails && w == victim)) {
            fprintf(stderr, "soak: %s, round %d, world %d: status 0x%x\n", s->name, round, w,
                    (unsigned)((const uint32_t *)s->status.data)[w]);
            good = 0;
        }
    }
    return good;
}

/* Returns whether all went well. */
static int soak(const char *name, long long steps) {
    Soak s = start(name);
    int good = 1;
    for (int round = 0; good && s.steps < steps; round++) {
        good = round_is_good(&s, round);
        if (round == WARM_UP_ROUNDS)
            s.memory = resident_bytes();
    }
    double growth = s.memory > 0 ? resident_bytes() - s.memory : 0;
    if (growth > growth_allowed)
        good = 0;
    printf("%-12s %10lld world-steps, %7lld resets, %4lld made to fail, %4lld failed, memory %+.0f kB: %s\n", name,
           s.steps, s.resets, s.made_to_fail, s.failed, 1e-3 * growth, good ? "ok" : "FAILED");
    fflush(stdout);
    sap_batch_destroy(s.batch);
    sap_scene_destroy(s.scene);
    return good;
}

int main(int argc, char **argv) {
    static const char *const scenes[] = {"quadruped", "gripper", "stack5", "cube", "arm3"};
    enum { NUM_SCENES = sizeof scenes / sizeof *scenes };
    long long steps = argc > 1 ? atoll(argv[1]) : 10000000;
    int good = 1;
    for (int i = 0; i < NUM_SCENES; i++)
        good &= soak(scenes[i], (steps - 1) / NUM_SCENES + 1);
    return !good;
}
