/* A batch on the CPU: a solver and arrays in host memory. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/batch/backend.h"
#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/model/model.h"
#include "host/cpu/gradients.h"
#include "host/cpu/sensors.h"
#include "host/cpu/sleep.h"
#include "host/cpu/solver.h"
#include "host/cpu/take_contacts.h"
#include "host/options/capabilities.h"
#include "host/plan/step_args.h"

typedef struct CpuBatch {
    SapSolver *solver;
    void *memory; /* memory of all arrays except the recorded ones */
    void *recorded[SAP_BATCH_MAX_RECORDED];
    int num_recorded;
    size_t recorded_bytes;
    SapDifferentiator *gradients; /* NULL until derivatives are asked for */
} CpuBatch;

static SapStatus complete_model(const SapBatch *b, const SapModel *model) {
    return sap_solver_complete_model(model, &b->options);
}

static SapStatus create(SapBatch *b, const char *what, const SapModel *model) {
    CpuBatch *own = b->own = sap_allocate(1, sizeof *own, "batch");
    if (!own)
        return SAP_ERROR_MEMORY;
    /* The solver first: it refuses a batch whose worlds and scratch together do not fit, before anything is filled. */
    size_t bytes_per_world = sap_batch_array_bytes(b) / (size_t)b->num_worlds;
    SAP_TRY(sap_solver_create_for(what, model, b->num_worlds, &b->options, bytes_per_world, &own->solver));
    SapArena arena = {0};
    sap_batch_carve(&arena, b);
    SAP_TRY(sap_arena_allocate(&arena, "batch"));
    own->memory = arena.base;
    sap_batch_carve(&arena, b);
    sap_solver_set_results(own->solver, b->arrays.status, &b->arrays.report);
    return sap_solver_let_sleep(own->solver, b->arrays.asleep);
}

static void destroy(SapBatch *b) {
    CpuBatch *own = b->own;
    if (!own)
        return;
    sap_solver_destroy(own->solver);
    sap_differentiator_destroy(own->gradients);
    free(own->memory);
    for (int i = 0; i < own->num_recorded; i++)
        free(own->recorded[i]);
    free(own);
}

SapSolver *sap_batch_solver(const SapBatch *b) {
    bool is_here = b && sap_require(SAP_CAN_SOLVER_OF_BATCH, b->options.contact_solver, b->options.device,
                                    "sap_batch_solver") == SAP_OK;
    return is_here ? ((CpuBatch *)b->own)->solver : NULL;
}

/* The contacts of the caller, or those that each step finds. */
static void set_contacts(SapSolver *solver, const SapBatchSteps *steps, const SapBatchArrays *arrays,
                         SapStepArgs *args) {
    const SapContacts *given = &arrays->given;
    sap_step_args_set_contacts(args, &arrays->contacts);
    if (steps->given)
        sap_step_args_set_parameters(args, given);
    args->collide.enabled = !steps->given;
    solver->dual.contact_key = steps->given && steps->has_key ? given->key : NULL;
    if (solver->law)
        solver->formulation->set_contacts(solver->law, steps->given && steps->own_form ? given : NULL);
}

static SapStatus take_steps(SapBatch *b, const SapBatchSteps *steps) {
    SapSolver *solver = ((CpuBatch *)b->own)->solver;
    const SapBatchArrays *arrays = &b->arrays;
    SapStepArgs args = solver->args;
    SAP_TRY(sap_solver_check_arrays(solver, steps->what, &arrays->state, &arrays->control,
                                    steps->given ? NULL : &arrays->contacts));
    args.h = steps->h;
    args.num_steps = steps->num_steps;
    sap_step_args_set_input(&args, &arrays->state);
    sap_step_args_set_output(&args, &arrays->state);
    sap_step_args_set_control(&args, &arrays->control, sap_model_arrays(solver->model));
    if (solver->law)
        solver->formulation->set_state(solver->law, &arrays->state, &arrays->control, &arrays->state);
    set_contacts(solver, steps, arrays, &args);
    if (solver->sleep)
        sap_sleep_steps(solver, &args, steps->num_steps);
    else
        sap_solver_run(solver, &(SapRun){.args = &args, .program = sap_program_step});
    solver->kept = NULL;
    return SAP_OK;
}

/* ---- saved states ---- */

/* The arguments with which the next call would begin. */
static SapStepArgs args_of_state(const SapBatch *b) {
    SapSolver *solver = ((CpuBatch *)b->own)->solver;
    SapStepArgs args = solver->args;
    sap_step_args_set_input(&args, &b->arrays.state);
    sap_step_args_set_output(&args, &b->arrays.state);
    sap_step_args_set_control(&args, &b->arrays.control, sap_model_arrays(solver->model));
    return args;
}

static SapSleep *sleep_of(const SapBatch *b) {
    return b && b->backend == &sap_batch_cpu ? ((CpuBatch *)b->own)->solver->sleep : NULL;
}

int sap_batch_sleep_size(const SapBatch *b) {
    return sap_sleep_row_size(sleep_of(b));
}

static SapStatus need_sleep(const SapBatch *b, const char *what) {
    SAP_REQUIRE(&b->options, SAP_CAN_SLEEP, "%s", what);
    return sleep_of(b) ? SAP_OK
                       : sap_fail(SAP_ERROR_ARGUMENT, "%s: option sleep_steps is 0, so the worlds do not sleep", what);
}

SapStatus sap_batch_get_sleep(SapBatch *b, int32_t *rows) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(b);
    SAP_NEED(rows);
    SAP_TRY(need_sleep(b, __func__));
    SapStepArgs args = args_of_state(b);
    sap_sleep_get(((CpuBatch *)b->own)->solver, &args, rows);
    return SAP_OK;
}

SapStatus sap_batch_set_sleep(SapBatch *b, const uint8_t *mask, const int32_t *rows) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(b);
    SAP_NEED(rows);
    SAP_TRY(need_sleep(b, __func__));
    SapStepArgs args = args_of_state(b);
    return sap_sleep_set(((CpuBatch *)b->own)->solver, __func__, &args, mask, rows);
}

/* ---- the backend ---- */

static SapStatus can_read(SapBatch *b, const char *what, const void *memory, bool *out) {
    (void)b, (void)what, (void)memory;
    *out = true;
    return SAP_OK;
}

static SapStatus take_contacts_of(SapBatch *b, const char *what, SapTakeArgs *args) {
    return sap_solver_take_contacts(((CpuBatch *)b->own)->solver, what, args);
}

static SapStatus keep_inputs(SapBatch *b, const char *what, const SapSnapshot *kept) {
    (void)what; /* it cannot fail */
    ((CpuBatch *)b->own)->solver->kept = kept;
    return SAP_OK;
}

static SapStatus reset(SapBatch *b, const char *what, const uint8_t *mask, SapResetArgs *args) {
    (void)what; /* it cannot fail */
    args->mask = mask;
    for (int w = 0; w < b->num_worlds; w++)
        reset_world(args, w);
    return SAP_OK;
}

static SapStatus forward_kinematics(SapBatch *b, const char *what, const uint8_t *mask) {
    return sap_forward_kinematics_of(((CpuBatch *)b->own)->solver, what, &b->arrays.state, mask);
}

static const SapStepArgs *step_args(const SapBatch *b) {
    return &((CpuBatch *)b->own)->solver->args;
}

static SapStatus raycast(SapBatch *b, const char *what, const uint8_t *mask, SapRayArgs *args) {
    args->mask = mask;
    return sap_solver_raycast(((CpuBatch *)b->own)->solver, what, args);
}

static SapStatus sense(SapBatch *b, const char *what, const uint8_t *mask, SapSenseArgs *args) {
    args->mask = mask;
    return sap_solver_sense(((CpuBatch *)b->own)->solver, what, args);
}

static SapStatus allocate(SapBatch *b, size_t count, size_t size, const char *what, void **out) {
    CpuBatch *own = b->own;
    *out = sap_allocate(count, size, what);
    if (!*out)
        return SAP_ERROR_MEMORY;
    own->recorded[own->num_recorded++] = *out;
    own->recorded_bytes += count * size;
    return SAP_OK;
}

static SapStatus add_per_world(SapBatch *b, SapParameter parameter) {
    return sap_solver_add_per_world(((CpuBatch *)b->own)->solver, parameter);
}

static SapPerWorld *per_world(const SapBatch *b) {
    return sap_solver_per_world(((CpuBatch *)b->own)->solver);
}

static void record(SapBatch *b) {
    SapSolver *solver = ((CpuBatch *)b->own)->solver;
    sap_solver_set_results(solver, b->arrays.status, &b->arrays.report);
    sap_solver_record_trees(solver, b->arrays.tree_asleep, b->arrays.tree_rest);
}

static SapStatus read_array(SapBatch *b, const char *what, const void *from, void *host, size_t bytes) {
    (void)b, (void)what;
    memcpy(host, from, bytes);
    return SAP_OK;
}

static SapStatus write_array(SapBatch *b, const char *what, void *to, const void *host, size_t bytes) {
    (void)b, (void)what;
    memcpy(to, host, bytes);
    return SAP_OK;
}

static SapStatus copy_array(SapBatch *b, const char *what, void *to, const void *from, size_t bytes) {
    (void)b, (void)what;
    memcpy(to, from, bytes);
    return SAP_OK;
}

static SapStatus fill_array(SapBatch *b, const char *what, void *to, uint8_t byte, size_t bytes) {
    (void)b, (void)what;
    memset(to, byte, bytes);
    return SAP_OK;
}

static SapStatus differentiate(SapBatch *b, const SapGradientCall *call) {
    CpuBatch *own = b->own;
    return sap_differentiate(b, own->solver, call, &own->gradients);
}

static SapStatus set_stream(SapBatch *b, void *stream) {
    (void)b, (void)stream;
    return sap_require(SAP_CAN_SET_STREAM, b->options.contact_solver, b->options.device, "sap_batch_set_stream");
}

static SapStatus order_stream(SapBatch *b, void *stream) {
    (void)b, (void)stream;
    return sap_require(SAP_CAN_SET_STREAM, b->options.contact_solver, b->options.device, "sap_batch_order_stream");
}

/* Every call reads them where the caller writes them. */
static SapStatus upload_parameters(SapBatch *b) {
    (void)b;
    return SAP_OK;
}

static SapStatus synchronize(SapBatch *b) {
    (void)b;
    return SAP_OK;
}

static void info(const SapBatch *b, SapBatchInfo *out) {
    (void)b, (void)out;
}

static size_t bytes(const SapBatch *b) {
    const CpuBatch *own = b->own;
    SapSolverInfo solver;
    if (sap_solver_info(own->solver, &solver) != SAP_OK)
        return 0;
    return solver.total_bytes + sap_batch_array_bytes(b) + own->recorded_bytes +
           sap_differentiator_bytes(own->gradients);
}

const SapBatchBackend sap_batch_cpu = {
    .device = SAP_DEVICE_CPU, .complete_model = complete_model, .differentiate = differentiate, SAP_BATCH_FUNCTIONS};
