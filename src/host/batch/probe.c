/* A few worlds start in the initial state, at the keyframes and in random poses, and fall for a second. The largest
 * number of contacts that one of them has, twice, is the number of slots. A world that later needs more keeps its
 * deepest contacts and counts the others. */
#include "host/batch/probe.h"

#include <math.h>
#include <stdbool.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/number.h"
#include "host/plan/pairs.h"

enum {
    WORLDS = 16,
    STEPS = 100,
    TRIAL_SLOTS = 512,
    FEW = 16,       /* a model with as few contacts needs no probe */
    UNPROBED = 128, /* slots of a large model, whose probe would take seconds */
    LARGE_DOFS = 128,
    LARGE_SHAPES = 4096
};

static const double step_s = 0.01;

/* ---- random poses ---- */

/* A number in [-1, 1) for coordinate i of a world: an additive recurrence, which fills the square evenly. */
static double spread_number(int world, int i) {
    double x = 0.7548776662466927 * world + 0.5698402909980532 * i;
    return 2 * (x - floor(x)) - 1;
}

static void put_coordinate(const SapState *state, int world, int i, int width, double value) {
    size_t at = (size_t)world * (size_t)width + (size_t)i;
    sap_put_number(state->joint_q, state->dtype == SAP_F64, at, value);
}

/* Any rotation: the direction of four numbers. */
static void put_rotation(const SapState *state, int world, int first, int nq) {
    double q[4], length = 0;
    for (int k = 0; k < 4; k++) {
        q[k] = spread_number(world, first + k) + (k == 3 ? 1e-3 : 0);
        length += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++)
        put_coordinate(state, world, first + k, nq, q[k] / sqrt(length));
}

/* Within the limits of the dof, or 0.5 around the initial state. */
static double choose_coordinate(const SapModelArrays *a, int dof, double q0, double unit) {
    double lower = a->joint_limit_lower[dof], upper = a->joint_limit_upper[dof];
    bool limited = isfinite(lower) && isfinite(upper) && upper - lower < 100;
    return limited ? (lower + upper) / 2 + unit * (upper - lower) / 2 : q0 + unit / 2;
}

static void pose_world(const SapModelArrays *a, const SapState *state, int world) {
    for (int j = 0; j < a->num_joints; j++) {
        int first = a->joint_q_start[j], dof = a->joint_qd_start[j], end = a->joint_q_start[j + 1];
        bool turns = end - first != a->joint_qd_start[j + 1] - dof;
        if (turns)
            put_rotation(state, world, end - 4, a->num_coords);
        for (int i = first; i < end && !turns; i++)
            put_coordinate(state, world, i, a->num_coords,
                           choose_coordinate(a, dof + i - first, a->joint_q[i], spread_number(world, i)));
    }
}

/* World 0 keeps the initial state; the next ones, up to a quarter, are at the keyframes. */
static SapStatus start_worlds(SapBatch *batch, const SapModelArrays *a) {
    int keyframes = a->num_keyframes < WORLDS / 4 ? a->num_keyframes : WORLDS / 4;
    for (int k = 1; k <= keyframes; k++) {
        uint8_t mask[WORLDS] = {0};
        mask[k] = 1;
        SAP_TRY(sap_batch_reset(batch, mask, k));
    }
    for (int w = 1 + keyframes; w < WORLDS; w++)
        pose_world(a, sap_batch_state(batch), w);
    return SAP_OK;
}

/* ---- the probe ---- */

static SapStatus measure_contacts(SapBatch *batch, const SapModelArrays *a, int *largest) {
    const SapContacts *contacts = sap_batch_contacts(batch);
    SapWorldReport report;
    SAP_TRY(sap_solver_report(sap_batch_solver(batch), &report));
    SAP_TRY(start_worlds(batch, a));
    for (int step = 0; step < STEPS; step++) {
        SAP_TRY(sap_batch_step(batch, step_s, 1));
        for (int w = 0; w < WORLDS; w++) {
            int needed = contacts->count[w] + contacts->dropped[w];
            if (!(report.status[w] & SAP_WORLD_FAILED) && needed > *largest)
                *largest = needed;
        }
    }
    return SAP_OK;
}

/* Twice the number, rounded up to a multiple of four. */
static int propose(int largest, int most) {
    int wanted = (2 * largest + 3) / 4 * 4;
    wanted = wanted < 4 ? 4 : wanted;
    return wanted < most ? wanted : most;
}

SapStatus sap_probe_contacts(const SapModel *model, const SapOptions *options, int most, int *slots) {
    const SapModelArrays *a = sap_model_arrays(model);
    *slots = most < 1 ? 1 : most;
    if (most <= FEW)
        return SAP_OK;
    *slots = most < UNPROBED ? most : UNPROBED;
    if (a->num_dofs > LARGE_DOFS || a->num_shapes > LARGE_SHAPES)
        return SAP_OK;
    SapOptions trial = *options;
    trial.device = SAP_DEVICE_CPU;
    trial.threads = 1;
    trial.max_contacts = TRIAL_SLOTS;
    SapBatch *batch;
    int largest = 0;
    SAP_TRY(sap_batch_create(model, WORLDS, &trial, &batch));
    SapStatus status = measure_contacts(batch, a, &largest);
    sap_batch_destroy(batch);
    if (status == SAP_OK)
        *slots = propose(largest, most);
    return status;
}

SapStatus sap_batch_probe_contacts(const SapModel *model, const SapOptions *options, int *slots) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(slots);
    *slots = 0;
    SAP_NEED(model);
    SapOptions own;
    if (options)
        SAP_TRY(sap_options_check(options));
    else
        SAP_TRY(sap_options_preset(NULL, &own));
    int most;
    SAP_TRY(sap_pairs_most_contacts(sap_model_arrays(model), (options ? options : &own)->max_contacts_per_pair, &most));
    return sap_probe_contacts(model, options ? options : &own, most, slots);
}
