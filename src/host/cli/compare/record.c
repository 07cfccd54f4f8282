#include "host/cli/compare/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/mujoco.h>

#include "host/cli/model.h"

bool cli_record_create(const SapModel *model, int worlds, int steps, Record *out) {
    const SapModelArrays *a = sap_model_arrays(model);
    const SapMujocoParameters *mujoco = sap_model_mujoco(model);
    size_t rows = (size_t)steps + 1, n = (size_t)worlds, nu = mujoco ? (size_t)mujoco->num_actuators : 0;
    *out = (Record){.worlds = n,
                    .q_bytes = n * (size_t)a->num_coords * sizeof *out->q,
                    .v_bytes = n * (size_t)a->num_dofs * sizeof *out->v,
                    .act_bytes = n * nu * sizeof *out->act};
    return (out->q = cli_allocate(rows, out->q_bytes)) && (out->v = cli_allocate(rows, out->v_bytes)) &&
           (out->act = cli_allocate(rows, out->act_bytes + sizeof *out->act)) && /* also without activations */
           (out->failed = cli_allocate(rows, out->worlds));
}

void cli_record_free(Record *r) {
    free(r->q);
    free(r->v);
    free(r->act);
    free(r->failed);
    *r = (Record){0};
}

static double *row_of(double *of, size_t bytes, int row) {
    return of + (size_t)row * (bytes / sizeof *of);
}

bool cli_record_keep(Record *r, const CliBatch *batch, const uint32_t *status, int row) {
    memcpy(row_of(r->q, r->q_bytes, row), batch->state->joint_q, r->q_bytes);
    memcpy(row_of(r->v, r->v_bytes, row), batch->state->joint_qd, r->v_bytes);
    for (size_t w = 0; w < r->worlds; w++)
        r->failed[(size_t)row * r->worlds + w] = (status[w] & SAP_WORLD_FAILED) != 0;
    return !r->act_bytes || cli_check(sap_batch_read(batch->batch, SAP_BATCH_ACTUATOR_ACT,
                                                     row_of(r->act, r->act_bytes, row), r->act_bytes));
}

bool cli_record_restore(const Record *r, CliBatch *batch, int row) {
    memcpy(batch->state->joint_q, row_of(r->q, r->q_bytes, row), r->q_bytes);
    memcpy(batch->state->joint_qd, row_of(r->v, r->v_bytes, row), r->v_bytes);
    if (r->act_bytes && !cli_check(sap_batch_write(batch->batch, SAP_BATCH_ACTUATOR_ACT,
                                                   row_of(r->act, r->act_bytes, row), r->act_bytes)))
        return false;
    return cli_batch_push(batch);
}

bool cli_record_failed(const Record *r, int row, int world) {
    return r->failed[(size_t)row * r->worlds + (size_t)world];
}

/* ---- distances ---- */

static double distance2(const double *x, const double *y, int n, double sign) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (x[i] - sign * y[i]) * (x[i] - sign * y[i]);
    return sum;
}

double cli_record_distance_q(const Record *r, const CliBatch *batch, int row, int world) {
    const SapModelArrays *a = batch->arrays;
    const double *x = (const double *)batch->state->joint_q + (size_t)world * (size_t)a->num_coords;
    const double *y = row_of(r->q, r->q_bytes, row) + (size_t)world * (size_t)a->num_coords;
    double sum = 0;
    for (int j = 0; j < a->num_joints; j++) {
        int first = a->joint_q_start[j], n = a->joint_q_start[j + 1] - first;
        int quaternion = cli_joint_has_quaternion(a, j) ? 4 : 0, plain = n - quaternion;
        const double *p = x + first, *s = y + first;
        sum += distance2(p, s, plain, 1);
        sum += fmin(distance2(p + plain, s + plain, quaternion, 1), distance2(p + plain, s + plain, quaternion, -1));
    }
    return sqrt(sum);
}

double cli_record_distance_v(const Record *r, const CliBatch *batch, int row, int world) {
    int nv = batch->arrays->num_dofs;
    const double *x = (const double *)batch->state->joint_qd + (size_t)world * (size_t)nv;
    const double *y = row_of(r->v, r->v_bytes, row) + (size_t)world * (size_t)nv;
    return sqrt(distance2(x, y, nv, 1));
}
