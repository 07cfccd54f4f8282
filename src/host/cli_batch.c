#include "cli_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

SapDtype cli_default_dtype(const SapOptions *options) {
    return options->free_motion_solve_precision == SAP_FP64 ? SAP_F64 : SAP_F32;
}

static bool fill(const SapScene *scene, const SapOptions *options, int worlds, SapDtype dtype, bool bodies,
                 CliBatch *b) {
    size_t number = dtype == SAP_F64 ? sizeof(double) : sizeof(float);
    if (!cli_check(sap_batch_create_as(scene->model, worlds, options, dtype, &b->batch)))
        return false;
    b->solver = sap_batch_solver(b->batch);
    b->state = sap_batch_state(b->batch);
    if (!cli_check(sap_solver_info(b->solver, &b->info)))
        return false;
    b->arrays = sap_model_arrays(scene->model);
    b->dt = scene->dt;
    b->q_bytes = (size_t)worlds * (size_t)b->arrays->num_coords * number;
    b->qd_bytes = (size_t)worlds * (size_t)b->arrays->num_dofs * number;
    if (!bodies)
        b->state->body_q = b->state->body_qd = NULL;
    b->failed = cli_allocate((size_t)worlds, sizeof *b->failed);
    b->seen = cli_allocate((size_t)worlds, sizeof *b->seen);
    return b->failed && b->seen;
}

bool cli_batch_create(const SapScene *scene, const SapOptions *options, int worlds, SapDtype dtype, bool bodies,
                      CliBatch *out) {
    *out = (CliBatch){0};
    if (fill(scene, options, worlds, dtype, bodies, out))
        return true;
    cli_batch_free(out);
    return false;
}

void cli_batch_free(CliBatch *batch) {
    free(batch->failed);
    free(batch->seen);
    sap_batch_destroy(batch->batch);
    *batch = (CliBatch){0};
}

/* ---- noise ---- */

/* The output function of splitmix64: every bit of x reaches every bit of the result. */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* From 53 random bits. */
double cli_random_unit(uint64_t seed, uint64_t world, uint64_t index) {
    return (double)(mix(mix(mix(seed) ^ world) ^ index) >> 11) * 0x1p-52 - 1;
}

void cli_batch_perturb(CliBatch *batch, uint64_t seed, double noise) {
    size_t nv = (size_t)batch->arrays->num_dofs, worlds = (size_t)batch->state->num_worlds;
    float *f32 = batch->state->joint_qd;
    double *f64 = batch->state->joint_qd;
    for (size_t w = 1; w < worlds && noise > 0; w++)
        for (size_t i = 0; i < nv; i++) {
            double change = noise * cli_random_unit(seed, w, i);
            if (batch->state->dtype == SAP_F32)
                f32[w * nv + i] = (float)(f32[w * nv + i] + change);
            else
                f64[w * nv + i] += change;
        }
}

/* ---- stepping ---- */

bool cli_batch_step(CliBatch *batch, int steps) {
    return cli_check(sap_batch_step(batch->batch, batch->dt, steps));
}

void cli_batch_gather(CliBatch *batch) {
    const uint32_t *status = sap_solver_world_status(batch->solver);
    for (int w = 0; w < batch->state->num_worlds; w++) {
        batch->failed[w] |= status[w] & SAP_WORLD_FAILED;
        batch->seen[w] |= status[w] & ~(uint32_t)SAP_WORLD_FAILED;
    }
}

/* ---- afterwards ---- */

const CliFailure cli_failures[CLI_NUM_FAILURES] = {
    {SAP_WORLD_NONFINITE_STATE, "nonfinite_state", "state not finite"},
    {SAP_WORLD_NONFINITE_CONTROL, "nonfinite_control", "control not finite"},
    {SAP_WORLD_NOT_SPD, "not_spd", "mass matrix not positive definite"},
    {SAP_WORLD_NONFINITE_RESULT, "nonfinite_result", "result not finite"},
    {SAP_WORLD_BAD_CONTACT, "bad_contact", "contact out of range or not finite"}};

CliFailures cli_batch_failures(const CliBatch *batch) {
    CliFailures out = {0};
    for (int w = 0; w < batch->state->num_worlds; w++) {
        if (!batch->failed[w])
            continue;
        out.total++;
        for (int i = 0; i < CLI_NUM_FAILURES; i++)
            out.count[i] += (batch->failed[w] & cli_failures[i].bit) != 0;
        if (out.num_shown < CLI_MAX_SHOWN)
            out.shown[out.num_shown++] = w;
    }
    return out;
}

bool cli_batch_energies(CliBatch *batch, double *energies) {
    const SapFreeMotion wanted = {.energy = energies};
    return cli_check(sap_free_motion(batch->solver, batch->state, NULL, batch->dt, &wanted));
}

CliEnergy cli_batch_summarise(const CliBatch *batch, const double *energies) {
    CliEnergy out = {.world = {energies[0], energies[1]}};
    double worlds = 0;
    for (int w = 0; w < batch->state->num_worlds; w++) {
        if (batch->failed[w])
            continue;
        worlds++;
        out.mean[0] += energies[2 * w];
        out.mean[1] += energies[2 * w + 1];
    }
    for (int i = 0; i < 2; i++)
        out.mean[i] = worlds > 0 ? out.mean[i] / worlds : (double)NAN;
    return out;
}

static uint64_t fnv1a(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

uint64_t cli_batch_hash(const CliBatch *batch) {
    uint64_t hash = fnv1a(0xcbf29ce484222325u, batch->state->joint_q, batch->q_bytes);
    return fnv1a(hash, batch->state->joint_qd, batch->qd_bytes);
}
