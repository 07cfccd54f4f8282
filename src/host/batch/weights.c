/* Weights of MuJoCo's law of worlds with parameters of their own (sap_mujoco_update_weights). */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/mujoco.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/batch/backend.h"
#include "host/plan/parameters.h"
#include "host/options/capabilities.h"

/* Worlds that are computed at once. */
enum { CHUNK = 64 };

/* What the weights depend on. */
static const SapParameter inputs[] = {SAP_PARAMETER_BODY_MASS, SAP_PARAMETER_BODY_COM, SAP_PARAMETER_BODY_INERTIA,
                                      SAP_PARAMETER_JOINT_ARMATURE};
enum { NUM_INPUTS = sizeof inputs / sizeof *inputs };

typedef struct Work {
    SapBatch *batch, *rig;
    const SapPerWorld *of_batch;
    int *world; /* [count] chosen worlds */
    int count;
    SapNumbers *numbers; /* [CHUNK] */
    SapWeights all;      /* of the chosen worlds */
} Work;

static SapWeights weights_at(const Work *w, int k) {
    const SapModelArrays *m = w->of_batch->model;
    size_t at = (size_t)k;
    return (SapWeights){w->all.body + 2 * at * (size_t)m->num_bodies, w->all.dof + at * (size_t)m->num_dofs,
                        w->all.tendon + at * (size_t)m->num_tendons, w->all.shape + at * (size_t)m->num_shapes,
                        w->all.constraint + 2 * at * (size_t)m->num_constraints};
}

static SapStatus list_worlds(Work *w, const uint8_t *mask) {
    for (int i = 0; i < w->batch->num_worlds; i++)
        if (!mask || mask[i]) {
            w->world[w->count++] = i;
            SAP_TRY(sap_batch_check_world(w->batch, i));
        }
    return SAP_OK;
}

static SapStatus create_work(Work *w, SapArena *arena) {
    const SapModelArrays *m = w->of_batch->model;
    size_t n = (size_t)w->batch->num_worlds, nb = (size_t)m->num_bodies, nv = (size_t)m->num_dofs;
    size_t nt = (size_t)m->num_tendons, ns = (size_t)m->num_shapes, nc = (size_t)m->num_constraints;
    return SAP_CARVE_ALL(arena, "weights of MuJoCo's law", SAP_PART(w->world, n), SAP_PART(w->numbers, CHUNK),
                         SAP_PART(w->all.body, 2 * n * nb), SAP_PART(w->all.dof, n * nv),
                         SAP_PART(w->all.tendon, n * nt), SAP_PART(w->all.shape, n * ns),
                         SAP_PART(w->all.constraint, 2 * n * nc));
}

/* A batch of SAP, whose free motion gives mass matrices and Jacobians. */
static SapStatus create_rig(Work *w) {
    SapOptions o;
    SapArray view;
    SAP_TRY(sap_options_preset("approx64", &o));
    o.threads = w->batch->options.threads;
    o.isa = w->batch->options.isa;
    o.max_contacts = 1;
    SapModel *model;
    SapModelArrays bodies = *w->of_batch->model; /* without what their motion does not depend on */
    bodies.num_shapes = bodies.num_meshes = bodies.num_mesh_vertices = 0;
    bodies.num_height_fields = bodies.num_heights = 0;
    bodies.num_filter_pairs = bodies.num_shape_filter_pairs = bodies.num_keyframes = 0;
    bodies.num_constraints = bodies.num_tendons = bodies.num_tendon_terms = 0;
    SAP_TRY(sap_model_create(&bodies, &model));
    SapStatus status = sap_batch_create_as(model, CHUNK, &o, SAP_F64, &w->rig);
    sap_model_destroy(model);
    for (int i = 0; i < NUM_INPUTS && status == SAP_OK; i++)
        if (w->of_batch->parameter[inputs[i]].given)
            status = sap_batch_expand(w->rig, inputs[i], &view);
    return status;
}

/* Gives world k of the rig the numbers of a world of the batch. */
static SapStatus copy_world(Work *w, int k, int world) {
    for (int i = 0; i < NUM_INPUTS; i++) {
        const SapPerWorldParameter *from = &w->of_batch->parameter[inputs[i]];
        SapArray view;
        if (!from->given)
            continue;
        SAP_TRY(sap_batch_expand(w->rig, inputs[i], &view));
        memcpy((char *)view.data + (size_t)k * from->row, (const char *)from->given + (size_t)world * from->row,
               from->row);
    }
    w->numbers[k] = sap_per_world_given(w->of_batch, world);
    return SAP_OK;
}

/* The weights of chosen worlds first .. end - 1; worlds of the rig beyond them repeat the last one. */
static SapStatus weigh_chunk(Work *w, int first, int end) {
    for (int k = 0; k < CHUNK; k++)
        SAP_TRY(copy_world(w, k, w->world[first + k < end ? first + k : end - 1]));
    SapWeights out = weights_at(w, first);
    return w->of_batch->formulation->weigh(&w->of_batch->numbers, w->numbers, end - first, sap_batch_solver(w->rig),
                                           CHUNK, sap_free_motion, &out);
}

/* Writes the rows of one array of weights to the parameter of the batch. */
static SapStatus write_rows(Work *w, SapParameter p, const double *rows) {
    SapArray view;
    if (sap_parameter_rows(&w->of_batch->numbers, p) == 0)
        return SAP_OK;
    SAP_TRY(sap_batch_expand(w->batch, p, &view));
    size_t row = (size_t)view.strides[0] / sizeof *rows;
    for (int k = 0; k < w->count; k++)
        memcpy((double *)view.data + (size_t)w->world[k] * row, rows + (size_t)k * row, row * sizeof *rows);
    return SAP_OK;
}

static SapStatus update_weights(Work *w, const uint8_t *mask) {
    SAP_TRY(list_worlds(w, mask));
    SAP_TRY(create_rig(w));
    for (int first = 0; first < w->count; first += CHUNK)
        SAP_TRY(weigh_chunk(w, first, first + CHUNK < w->count ? first + CHUNK : w->count));
    SAP_TRY(write_rows(w, SAP_PARAMETER_MUJOCO_BODY_INVWEIGHT, w->all.body));
    SAP_TRY(write_rows(w, SAP_PARAMETER_MUJOCO_DOF_INVWEIGHT, w->all.dof));
    SAP_TRY(write_rows(w, SAP_PARAMETER_MUJOCO_TENDON_INVWEIGHT, w->all.tendon));
    SAP_TRY(write_rows(w, SAP_PARAMETER_MUJOCO_SHAPE_INVWEIGHT, w->all.shape));
    return write_rows(w, SAP_PARAMETER_MUJOCO_CONSTRAINT_INVWEIGHT, w->all.constraint);
}

SapStatus sap_mujoco_update_weights(SapBatch *batch, const uint8_t *mask) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_REQUIRE(&batch->options, SAP_CAN_PARAMETER_MUJOCO, "sap_mujoco_update_weights");
    Work w = {.batch = batch, .of_batch = batch->backend->per_world(batch)};
    SapArena arena = {0};
    SapStatus status = create_work(&w, &arena);
    if (status == SAP_OK)
        status = update_weights(&w, mask);
    sap_batch_destroy(w.rig);
    free(arena.base);
    return status;
}
