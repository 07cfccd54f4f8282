#include "host/cli/control.h"

#include <stdlib.h>

#include "host/cli/number.h"

/* Scale of the target noise: 1 for an angular dof, 0.1 for a linear one, 0 without a drive. Free and ball joints have
 * none. */
static double dof_scale(const SapModelArrays *a, int joint, int dof) {
    int first = a->joint_qd_start[joint];
    if (a->joint_target_mode[dof] == 0 || a->joint_target_ke[dof] <= 0)
        return 0;
    bool slides = dof - first < a->joint_dof_dim[2 * joint]; /* linear dofs come first */
    return slides ? 0.1 : 1;
}

/* Writes the targets of one dof to the array [world][dof]. */
static void put_target(const CliBatch *b, void *targets, int dof, double noise, uint64_t stream) {
    size_t nv = (size_t)b->arrays->num_dofs;
    for (size_t w = 0, at = (size_t)dof; w < (size_t)b->state->num_worlds; w++, at += nv) {
        double target =
            b->arrays->joint_target_pos[dof] + noise * cli_random_unit(stream, (uint64_t)b->first + w, (uint64_t)dof);
        cli_put_number(targets, b->state->dtype, at, target);
    }
}

static void put_targets(const CliBatch *b, void *targets, uint64_t seed, double noise, int interval) {
    const SapModelArrays *a = b->arrays;
    uint64_t stream = seed + 0x9e3779b97f4a7c15u * (uint64_t)(interval + 1);
    for (int j = 0; j < a->num_joints; j++)
        for (int i = a->joint_qd_start[j]; i < a->joint_qd_start[j + 1]; i++)
            if (dof_scale(a, j, i) > 0)
                put_target(b, targets, i, noise * dof_scale(a, j, i), stream);
}

/* On a GPU the array is downloaded and uploaded. */
bool cli_control_noise(CliBatch *b, uint64_t seed, double noise, int interval) {
    if (!(noise > 0))
        return true;
    if (b->copy == NULL) {
        put_targets(b, sap_batch_control(b->batch)->joint_target_pos, seed, noise, interval);
        return true;
    }
    void *targets = cli_allocate(1, b->qd_bytes);
    bool ok = targets && cli_check(sap_batch_read(b->batch, SAP_BATCH_JOINT_TARGET_POS, targets, b->qd_bytes));
    if (ok) {
        put_targets(b, targets, seed, noise, interval);
        ok = cli_check(sap_batch_write(b->batch, SAP_BATCH_JOINT_TARGET_POS, targets, b->qd_bytes));
    }
    free(targets);
    return ok;
}
