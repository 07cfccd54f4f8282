/* Sensors of a dof: acceleration and torque. docs/sensors.md.
 *
 *   qacc = (qd - qd_before)/elapsed,   torque = joint_f + drive + limit + friction
 *
 * Drive, limit and friction are forces of the last step. */

/* Measures the dof with the internal number i. */
STAGE_FN void sense_dof(const SapSenseArgs *args, int i, const SapPack *pack) {
    const SapDofSensorArgs *dof = &args->dof;
    int k = args->plan.dof_public[i];
    bool begins = !(args->elapsed > 0);
    if (dof->qacc.data) {
        real v = buffer_get(args->joint_qd, k, pack), before = buffer_get(dof->before, k, pack);
        real a = begins ? real_of(0) : (v - before) / (scalar)args->elapsed;
        buffer_put(dof->qacc, k, a, mask_all(), pack);
        buffer_put(dof->before, k, v, mask_all(), pack);
    }
    if (dof->torque.data) {
        long long at = (long long)pack->world[0] * args->plan.nv + k;
        real of_terms = real_of((scalar)(dof->drive[at] + dof->limit[at] + dof->friction[at]));
        real f = args->joint_f.data ? buffer_get(args->joint_f, k, pack) : real_of(0);
        real torque = begins ? real_of(0) : f + of_terms;
        /* a control that is not finite stops its world and has no effect */
        buffer_put(dof->torque, k, real_select(real_finite(torque), torque, real_of(0)), mask_all(), pack);
    }
}
