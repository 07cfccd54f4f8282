/* Moves worlds onto their constraints (sap_batch_assemble): Gauss-Newton on g(q) = 0 in the metric of the mass matrix.
 *
 *   minimise  1/2 d' A d   with   J d = -g,       q moves by d/2
 *
 * That is a step of a model in which nothing but the constraints acts, from rest and with every constraint rigid: a
 * near-rigid row halves its error in a step (docs/constraints.md). The steps run on the CPU in f64, whatever the batch
 * is, on a batch of the chosen worlds alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/batch/backend.h"

enum { MAX_STEPS = 50 };
static const double TOLERANCE = 1e-9; /* m or rad */

/* The parameters of worlds that change g, J or A. */
static const SapParameter used[] = {
    SAP_PARAMETER_BODY_MASS,         SAP_PARAMETER_BODY_COM,
    SAP_PARAMETER_BODY_INERTIA,      SAP_PARAMETER_JOINT_ARMATURE,
    SAP_PARAMETER_CONSTRAINT_X,      SAP_PARAMETER_CONSTRAINT_POLYNOMIAL,
    SAP_PARAMETER_CONSTRAINT_LENGTH, SAP_PARAMETER_CONSTRAINT_REFERENCE,
    SAP_PARAMETER_TENDON_OFFSET,     SAP_PARAMETER_TENDON_TERM_VALUE,
};

/* Host copies of the batch's arrays, and the batch that is stepped. */
typedef struct Assembly {
    SapBatch *batch, *rig;
    int count;    /* worlds of the rig */
    int *world;   /* [count] of the batch */
    char *q, *qd; /* joint_q and joint_qd of the batch */
    int32_t *active;
    double *residual; /* [count] of the rig, owned by it */
} Assembly;

/* ---- the rig ---- */

/* A model in which only constraints act, all of them rigid. Springs, limits, drives and shapes are left out: NULL
 * arrays are defaults, which do nothing. */
static SapStatus create_model(const SapModelArrays *m, SapModel **out) {
    SapModelArrays a = *m;
    a.joint_damping = a.joint_friction = a.joint_target_ke = a.joint_target_kd = a.joint_limit_ke = NULL;
    a.joint_limit_lower = a.joint_limit_upper = a.joint_f = a.joint_act = a.joint_qd = NULL;
    a.joint_target_mode = a.tendon_target_mode = NULL;
    a.constraint_ke = a.constraint_kd = NULL;
    a.tendon_limit_lower = a.tendon_limit_upper = a.tendon_limit_ke = a.tendon_limit_kd = a.tendon_spring_ke = NULL;
    a.tendon_armature = a.tendon_damping = a.tendon_friction = NULL;
    a.num_shapes = a.num_meshes = a.num_mesh_vertices = a.num_height_fields = a.num_heights = 0;
    a.num_filter_pairs = a.num_shape_filter_pairs = a.num_keyframes = 0;
    memset(a.gravity, 0, sizeof a.gravity);
    return sap_model_create(&a, out);
}

/* Copies the rows of the chosen worlds of a parameter that the batch has expanded. */
static SapStatus copy_parameter(Assembly *s, SapParameter parameter) {
    const SapPerWorldParameter *from = &s->batch->backend->per_world(s->batch)->parameter[parameter];
    if (!from->given)
        return SAP_OK;
    SapArray view;
    SAP_TRY(sap_batch_expand(s->rig, parameter, &view));
    for (int k = 0; k < s->count; k++)
        memcpy((char *)view.data + (size_t)k * from->row, (const char *)from->given + (size_t)s->world[k] * from->row,
               from->row);
    return SAP_OK;
}

static SapStatus create_rig(Assembly *s, const SapModel *model) {
    SapOptions o;
    SapArray residual;
    SAP_TRY(sap_options_preset("drake", &o));
    o.constraint_weight = SAP_WEIGHT_SPLIT;
    o.threads = s->batch->options.threads;
    o.isa = s->batch->options.isa;
    o.lanes = s->batch->options.lanes;
    o.max_contacts = 1;
    SAP_TRY(sap_batch_create_as(model, s->count, &o, SAP_F64, &s->rig));
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        SAP_TRY(copy_parameter(s, used[i]));
    SAP_TRY(sap_batch_array(s->rig, SAP_BATCH_CONSTRAINT_RESIDUAL, &residual));
    s->residual = residual.data;
    return SAP_OK;
}

/* ---- states ---- */

/* Reads coordinates and constraint_active of the batch, and copies the chosen worlds' to the rig. One-sided
 * constraints do not act. */
static SapStatus load_states(Assembly *s, const int32_t *side) {
    SapBatch *b = s->batch;
    size_t n = (size_t)b->num_worlds, nq = (size_t)b->nq, nc = (size_t)b->num_constraints,
           number = sap_real_bytes(b->dtype == SAP_F64);
    s->q = sap_allocate(n * nq, number, "joint_q");
    s->qd = sap_allocate(n * (size_t)b->nv, number, "joint_qd");
    s->active = sap_allocate(n, nc * sizeof *s->active, "constraint_active");
    if (!s->q || !s->qd || !s->active)
        return SAP_ERROR_MEMORY;
    SAP_TRY(sap_batch_read(b, SAP_BATCH_JOINT_Q, s->q, n * nq * number));
    SAP_TRY(sap_batch_read(b, SAP_BATCH_JOINT_QD, s->qd, n * (size_t)b->nv * number));
    SAP_TRY(sap_batch_read(b, SAP_BATCH_CONSTRAINT_ACTIVE, s->active, n * nc * sizeof *s->active));
    double *q = sap_batch_state(s->rig)->joint_q;
    int32_t *active = s->rig->arrays.control.constraint_active;
    for (size_t k = 0; k < (size_t)s->count; k++) {
        size_t w = (size_t)s->world[k];
        for (size_t i = 0; i < nq; i++)
            q[k * nq + i] = sap_number_at(s->q, b->dtype == SAP_F64, w * nq + i);
        for (size_t c = 0; c < nc; c++)
            active[k * nc + c] = s->active[w * nc + c] && side[c] == SAP_SIDE_BOTH;
    }
    return SAP_OK;
}

static bool has_failed(const Assembly *s, int k) {
    return (s->rig->arrays.status[k] & SAP_WORLD_FAILED) != 0;
}

/* Steps from rest until every world is assembled or has failed. The residual belongs to the state before a step. */
static SapStatus run_steps(Assembly *s) {
    SapState *state = sap_batch_state(s->rig);
    for (int i = 0; i < MAX_STEPS; i++) {
        memset(state->joint_qd, 0, (size_t)s->count * (size_t)s->batch->nv * sizeof(double));
        SAP_TRY(sap_batch_step(s->rig, 1, 1));
        bool done = true;
        for (int k = 0; k < s->count; k++)
            done = done && (has_failed(s, k) || s->residual[k] < TOLERANCE);
        if (done)
            break;
    }
    return SAP_OK;
}

/* Writes coordinates and velocities of the worlds that have not failed. */
static SapStatus store_states(Assembly *s) {
    SapBatch *b = s->batch;
    size_t nq = (size_t)b->nq, nv = (size_t)b->nv, number = sap_real_bytes(b->dtype == SAP_F64);
    const double *q = sap_batch_state(s->rig)->joint_q;
    for (int k = 0; k < s->count; k++) {
        size_t w = (size_t)s->world[k];
        if (has_failed(s, k))
            continue;
        memset(s->qd + w * nv * number, 0, nv * number);
        sap_put_numbers(s->q, b->dtype == SAP_F64, w * nq, q + (size_t)k * nq, nq);
    }
    SAP_TRY(sap_batch_write(b, SAP_BATCH_JOINT_Q, s->q, (size_t)b->num_worlds * nq * number));
    return sap_batch_write(b, SAP_BATCH_JOINT_QD, s->qd, (size_t)b->num_worlds * nv * number);
}

/* ---- all ---- */

static SapStatus choose_worlds(Assembly *s, const uint8_t *mask) {
    int n = s->batch->num_worlds;
    s->world = sap_allocate((size_t)n, sizeof *s->world, "worlds");
    if (!s->world)
        return SAP_ERROR_MEMORY;
    for (int w = 0; w < n; w++)
        if (!mask || mask[w])
            s->world[s->count++] = w;
    return SAP_OK;
}

static SapStatus assemble(Assembly *s, const uint8_t *mask, double *residual) {
    const SapModelArrays *m = s->batch->backend->per_world(s->batch)->model;
    SapModel *model = NULL;
    SAP_TRY(choose_worlds(s, mask));
    if (s->count == 0)
        return SAP_OK;
    SAP_TRY(create_model(m, &model));
    SapStatus status = create_rig(s, model);
    sap_model_destroy(model);
    SAP_TRY(status);
    SAP_TRY(load_states(s, m->constraint_side));
    SAP_TRY(run_steps(s));
    for (int k = 0; residual && k < s->count; k++)
        residual[s->world[k]] = has_failed(s, k) ? NAN : s->residual[k];
    SAP_TRY(store_states(s));
    return s->batch->backend->forward_kinematics(s->batch, "sap_batch_assemble", mask);
}

SapStatus sap_batch_assemble(SapBatch *batch, const uint8_t *mask, double *residual) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    Assembly s = {.batch = batch};
    SapStatus status = assemble(&s, mask, residual);
    sap_batch_destroy(s.rig);
    free(s.world);
    free(s.q);
    free(s.qd);
    free(s.active);
    return status;
}
