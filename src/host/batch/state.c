/* State and control of n worlds: allocation, and initial values copied from the model to every world. */
#include <sapwood/state.h>

#include <stddef.h>
#include <stdlib.h>

#include <sapwood/solver.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/plan/formulation.h"

enum { NUM_STATE_ARRAYS = 5, NUM_CONTROL_ARRAYS = 10, POSE = 7, TWIST = 6 };

/* The public structs together with the arrays that the create functions allocated. These are stored separately, because
 * users may replace the pointers of a state, for instance by NULL, before destroying it. The public struct is the first
 * member, so that a pointer to it is also a pointer to the owner. */
typedef struct OwnedState {
    SapState state;
    void *memory[NUM_STATE_ARRAYS];
} OwnedState;

typedef struct OwnedControl {
    SapControl control;
    void *memory[NUM_CONTROL_ARRAYS];
    int32_t *active;
} OwnedControl;

/* ---- arrays of rows ---- */

/* One array [num_worlds][width], and the initial row of every world (NULL: zeros). */
typedef struct Rows {
    const char *name;
    int width;
    const double *row;
} Rows;

static SapStatus new_rows(const Rows *rows, int num_worlds, SapDtype dtype, void **out) {
    size_t number = sap_real_bytes(dtype == SAP_F64);
    *out = sap_allocate((size_t)num_worlds, (size_t)rows->width * number, rows->name);
    return *out != NULL ? SAP_OK : SAP_ERROR_MEMORY;
}

static void fill_rows(const Rows *rows, int num_worlds, SapDtype dtype, void *data) {
    size_t width = (size_t)rows->width, k = 0;
    for (int world = 0; world < num_worlds; world++)
        for (size_t i = 0; i < width; i++, k++) {
            double value = rows->row != NULL ? rows->row[i] : 0;
            sap_put_number(data, dtype == SAP_F64, k, value);
        }
}

/* On failure `memory` holds the arrays allocated so far, and NULL for the others. */
static SapStatus make_arrays(const Rows *rows, int count, int num_worlds, SapDtype dtype, void **memory) {
    for (int i = 0; i < count; i++)
        SAP_TRY(new_rows(&rows[i], num_worlds, dtype, &memory[i]));
    for (int i = 0; i < count; i++)
        fill_rows(&rows[i], num_worlds, dtype, memory[i]);
    return SAP_OK;
}

static void free_arrays(void **memory, int count) {
    for (int i = 0; i < count; i++)
        free(memory[i]);
}

static SapStatus check_batch(const char *function, int num_worlds, SapDtype dtype) {
    if (num_worlds < 1)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: num_worlds is %d; it must be >= 1", function, num_worlds);
    if (dtype != SAP_F32 && dtype != SAP_F64)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: dtype is %d; allowed: 0 SAP_F32, 1 SAP_F64", function, (int)dtype);
    return SAP_OK;
}

/* ---- state ---- */

/* Computes the body poses and velocities of one world in the model's initial state with a temporary solver. */
static SapStatus initial_bodies(const SapModel *model, double *body_q, double *body_qd) {
    const SapModelArrays *a = sap_model_arrays(model);
    SapOptions options;
    SAP_TRY(sap_options_preset("approx64", &options));
    options.threads = 1;
    options.lanes = 1;
    options.max_contacts = 1;
    SapSolver *solver;
    SAP_TRY(sap_solver_create(model, 1, &options, &solver));
    /* joint_q and joint_qd are only read. */
    SapState world = {.num_worlds = 1,
                      .dtype = SAP_F64,
                      .joint_q = (void *)a->joint_q,
                      .joint_qd = (void *)a->joint_qd,
                      .body_q = body_q,
                      .body_qd = body_qd};
    SapStatus status = sap_forward_kinematics(solver, &world);
    sap_solver_destroy(solver);
    return status;
}

static SapStatus make_state_arrays(const SapModel *model, const double *body_q, const double *body_qd,
                                   OwnedState *owned) {
    const SapModelArrays *a = sap_model_arrays(model);
    SapState *state = &owned->state;
    const Rows rows[NUM_STATE_ARRAYS] = {{"joint_q", a->num_coords, a->joint_q},
                                         {"joint_qd", a->num_dofs, a->joint_qd},
                                         {"body_q", a->num_bodies * POSE, body_q},
                                         {"body_qd", a->num_bodies * TWIST, body_qd},
                                         {"actuator_act", sap_model_num_actuators(model), NULL}};
    SAP_TRY(make_arrays(rows, NUM_STATE_ARRAYS, state->num_worlds, state->dtype, owned->memory));
    state->joint_q = owned->memory[0];
    state->joint_qd = owned->memory[1];
    state->body_q = owned->memory[2];
    state->body_qd = owned->memory[3];
    state->actuator_act = owned->memory[4];
    return SAP_OK;
}

static SapStatus fill_state(const SapModel *model, OwnedState *owned) {
    const SapModelArrays *a = sap_model_arrays(model);
    size_t num_bodies = (size_t)a->num_bodies;
    double *body_q = sap_allocate(num_bodies, (POSE + TWIST) * sizeof *body_q, "initial body poses");
    if (body_q == NULL)
        return SAP_ERROR_MEMORY;
    double *body_qd = body_q + num_bodies * POSE;
    SapStatus status = initial_bodies(model, body_q, body_qd);
    if (status == SAP_OK)
        status = make_state_arrays(model, body_q, body_qd, owned);
    free(body_q);
    return status;
}

SapStatus sap_state_create(const SapModel *model, int num_worlds, SapDtype dtype, SapState **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(model);
    SAP_TRY(check_batch(__func__, num_worlds, dtype));
    OwnedState *owned = sap_allocate(1, sizeof *owned, "state");
    if (owned == NULL)
        return SAP_ERROR_MEMORY;
    owned->state = (SapState){.num_worlds = num_worlds, .dtype = dtype};
    SapStatus status = fill_state(model, owned);
    if (status == SAP_OK)
        *out = &owned->state;
    else
        sap_state_destroy(&owned->state);
    return status;
}

void sap_state_destroy(SapState *state) {
    if (state == NULL)
        return;
    free_arrays(((OwnedState *)state)->memory, NUM_STATE_ARRAYS);
    free(state);
}

/* ---- control ---- */

static SapStatus fill_active(const SapModelArrays *a, OwnedControl *owned) {
    size_t n = (size_t)owned->control.num_worlds, nc = (size_t)a->num_constraints;
    owned->active = sap_allocate(n, nc * sizeof *owned->active, "constraint_active");
    if (owned->active == NULL)
        return SAP_ERROR_MEMORY;
    for (size_t i = 0; i < n * nc; i++)
        owned->active[i] = a->constraint_active[i % nc];
    owned->control.constraint_active = owned->active;
    return SAP_OK;
}

static SapStatus fill_control(const SapModel *model, OwnedControl *owned) {
    const SapModelArrays *a = sap_model_arrays(model);
    SapControl *control = &owned->control;
    const Rows rows[NUM_CONTROL_ARRAYS] = {{"joint_f", a->num_dofs, a->joint_f},
                                           {"body_f", a->num_bodies * TWIST, NULL},
                                           {"joint_target_pos", a->num_dofs, a->joint_target_pos},
                                           {"joint_target_vel", a->num_dofs, a->joint_target_vel},
                                           {"joint_act", a->num_dofs, a->joint_act},
                                           {"tendon_target_pos", a->num_tendons, a->tendon_target_pos},
                                           {"tendon_target_vel", a->num_tendons, a->tendon_target_vel},
                                           {"tendon_act", a->num_tendons, NULL},
                                           {"tendon_f", a->num_tendons, NULL},
                                           {"actuator_ctrl", sap_model_num_actuators(model), NULL}};
    SAP_TRY(make_arrays(rows, NUM_CONTROL_ARRAYS, control->num_worlds, control->dtype, owned->memory));
    control->joint_f = owned->memory[0];
    control->body_f = owned->memory[1];
    control->joint_target_pos = owned->memory[2];
    control->joint_target_vel = owned->memory[3];
    control->joint_act = owned->memory[4];
    control->tendon_target_pos = owned->memory[5];
    control->tendon_target_vel = owned->memory[6];
    control->tendon_act = owned->memory[7];
    control->tendon_f = owned->memory[8];
    control->actuator_ctrl = owned->memory[9];
    return fill_active(a, owned);
}

SapStatus sap_control_create(const SapModel *model, int num_worlds, SapDtype dtype, SapControl **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(model);
    SAP_TRY(check_batch(__func__, num_worlds, dtype));
    OwnedControl *owned = sap_allocate(1, sizeof *owned, "control");
    if (owned == NULL)
        return SAP_ERROR_MEMORY;
    owned->control = (SapControl){.num_worlds = num_worlds, .dtype = dtype};
    SapStatus status = fill_control(model, owned);
    if (status == SAP_OK)
        *out = &owned->control;
    else
        sap_control_destroy(&owned->control);
    return status;
}

void sap_control_destroy(SapControl *control) {
    if (control == NULL)
        return;
    free_arrays(((OwnedControl *)control)->memory, NUM_CONTROL_ARRAYS);
    free(((OwnedControl *)control)->active);
    free(control);
}
