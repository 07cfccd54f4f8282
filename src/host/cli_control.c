#include "cli_control.h"

/* 1 of a dof that turns, 0.1 of one that slides, 0 without a drive. Free and ball joints have none. */
static double dof_scale(const SapModelArrays *a, int joint, int dof) {
    int first = a->joint_qd_start[joint];
    if (a->joint_target_mode[dof] == 0 || a->joint_target_ke[dof] <= 0)
        return 0;
    bool slides = a->joint_type[joint] == SAP_JOINT_PRISMATIC ||
                  (a->joint_type[joint] == SAP_JOINT_D6 && dof - first < a->joint_dof_dim[2 * joint]);
    return slides ? 0.1 : 1;
}

static void put_target(CliBatch *b, int dof, double noise, uint64_t stream) {
    size_t nv = (size_t)b->arrays->num_dofs;
    SapControl *control = sap_batch_control(b->batch);
    for (size_t w = 0, at = (size_t)dof; w < (size_t)b->state->num_worlds; w++, at += nv) {
        double target = b->arrays->joint_target_pos[dof] + noise * cli_random_unit(stream, w, (uint64_t)dof);
        if (control->dtype == SAP_F64)
            ((double *)control->joint_target_pos)[at] = target;
        else
            ((float *)control->joint_target_pos)[at] = (float)target;
    }
}

void cli_control_noise(CliBatch *b, uint64_t seed, double noise, int interval) {
    const SapModelArrays *a = b->arrays;
    uint64_t stream = seed + 0x9e3779b97f4a7c15u * (uint64_t)(interval + 1);
    for (int j = 0; j < a->num_joints && noise > 0; j++)
        for (int i = a->joint_qd_start[j]; i < a->joint_qd_start[j + 1]; i++)
            if (dof_scale(a, j, i) > 0)
                put_target(b, i, noise * dof_scale(a, j, i), stream);
}
