/* Springs, dampers and servos of dofs and of tendons in MuJoCo's law. docs/mujoco.md.
 *
 *   explicit   tau -= D v0 + k (q - q_spring) - F(q, v0)          A = M
 *   discrete   the same at the end of the step: tau -= (D + h k) v0 + k (q - q_spring) - ...,  A = M + h (D + h k)
 *   servo      F = clamp(kp (q_d - q) + kd (v_d - v) + u, lower, upper): a spring kp and a damper kd inside its bounds
 *
 * Actuators: mujoco/actuators.h. The discrete step has a damper D + h k, which free motion takes as joint
 * damping (formulation_damping). Forces of tendons are explicit. */

KERNEL_FN real mujoco_dof_get(const Context *ctx, int i, int column) {
    return mujoco_get(ctx, SAP_MUJOCO_DOFS, SAP_MUJOCO_DOF_SIZE * i + column);
}

/* The servo of dof i. */
KERNEL_FN MujocoDrive mujoco_servo(const Context *ctx, int i) {
    const SapStepArgs *args = ctx->args;
    real zero = real_of(0);
    MujocoDrive out = {zero, zero, zero, zero};
    int given = args->plan.dof_public[i], coord = args->plan.dof_coord[i];
    real kp = mujoco_dof_get(ctx, i, SAP_MUJOCO_DRIVE_KP), kd = mujoco_dof_get(ctx, i, SAP_MUJOCO_DRIVE_KD);
    mask exists = (kp > zero) | (kd > zero);
    if (!mask_any(exists))
        return out;
    real q_d = buffer_get(args->target_pos, given, ctx->pack), v_d = buffer_get(args->target_vel, given, ctx->pack);
    real lower = mujoco_dof_get(ctx, i, SAP_MUJOCO_DRIVE_LOWER), upper = mujoco_dof_get(ctx, i, SAP_MUJOCO_DRIVE_UPPER);
    real u = buffer_get(args->act, given, ctx->pack);
    real error = coord < 0 ? zero : q_d - view_get(FM_VIEW(q), coord);
    real F = real_fma(kp, error, real_fma(kd, v_d - view_get(FM_VIEW(v0), i), u));
    out = drive_within(F, kp, kd, lower, upper, check_of(q_d) + check_of(v_d) + check_of(u));
    out.force = real_select(exists, out.force, zero);
    out.check = real_select(exists, out.check, zero);
    return out;
}

/* The servo and the actuators of dof i. */
STAGE_FN MujocoDrive mujoco_drive(const Context *ctx, int i) {
    real zero = real_of(0);
    MujocoDrive out = {zero, zero, zero, zero};
    int driven = ctx->args->mujoco->driven;
    if (!driven)
        return out;
    if (driven & SAP_MUJOCO_HAS_SERVOS)
        out = mujoco_servo(ctx, i);
    if (driven & SAP_MUJOCO_HAS_ACTUATORS) {
        MujocoDrive more = actuators_drive(ctx, i);
        out.force = out.force + more.force;
        out.kp = out.kp + more.kp;
        out.kd = out.kd + more.kd;
        out.check = out.check + more.check;
    }
    return out;
}

/* The damping of dof i that is part of A. */
KERNEL_FN real formulation_damping(const Context *ctx, int i) {
    if (!ctx->args->mujoco->discrete)
        return real_of(0);
    MujocoDrive drive = mujoco_drive(ctx, i);
    real k = ctx->args->plan.dof_coord[i] < 0 ? real_of(0) : mujoco_dof_get(ctx, i, SAP_MUJOCO_STIFFNESS);
    return real_fma(STAGE_H, k + drive.kp, mujoco_dof_get(ctx, i, SAP_MUJOCO_DAMPING) + drive.kd);
}

/* Whether the damping of servos waits in the memory of q1 from the forces until the end of the step, for one thread. */
KERNEL_FN bool mujoco_keeps_kd(const Context *ctx) {
    return TEAM_OF_ONE && ctx->args->mujoco->implicitfast;
}

/* The damping of dof i that is implicit after the solve: of servos with implicitfast only. */
KERNEL_FN real mujoco_damping_after(const Context *ctx, int i) {
    real D = mujoco_dof_get(ctx, i, SAP_MUJOCO_DAMPING);
    if (mujoco_keeps_kd(ctx))
        return D + FM(q1)[i];
    return ctx->args->mujoco->implicitfast ? D + mujoco_drive(ctx, i).kd : D;
}

/* The force of the servo of a tendon with this length and rate, positive where it lengthens the tendon. */
STAGE_FN real mujoco_tendon_drive(const Context *ctx, int t, real length, real rate, real *check) {
    const SapConstraintArgs *args = &ctx->args->constraints;
    const SapConstants *c = STAGE_CONSTANTS;
    real l_d = buffer_get(args->target_pos, t, ctx->pack), v_d = buffer_get(args->target_vel, t, ctx->pack);
    real u = args->act.data ? buffer_get(args->act, t, ctx->pack) : real_of(0);
    real kp = field_get(c->tendon_target_ke, t, ctx->pack), kd = field_get(c->tendon_target_kd, t, ctx->pack);
    real bound = field_get(c->tendon_effort_limit, t, ctx->pack);
    *check = *check + check_of(l_d) + check_of(v_d) + check_of(u);
    real F = real_fma(kp, l_d - length, real_fma(kd, v_d - rate, u));
    return real_max(-bound, real_min(F, bound));
}

/* Spring, damper and servo of a tendon, which has joint terms only. */
typedef struct MujocoTendon {
    real spring;        /* the tension of its spring */
    real damping, rate; /* the tension of its damper is their product */
    real drive;         /* positive where it lengthens the tendon */
} MujocoTendon;

STAGE_FN MujocoTendon mujoco_tendon(const Context *ctx, int t, real *check) {
    const SapPlan *plan = &ctx->args->plan;
    const SapConstants *c = STAGE_CONSTANTS;
    MujocoTendon out;
    StageView v0 = FM_VIEW(v0);
    real length = tendon_sum(ctx, t, -1), rate = real_of(0), zero = real_of(0);
    for (int k = plan->tendon_start[t]; k < plan->tendon_start[t + 1]; k++)
        rate =
            real_fma(field_get(c->tendon_term_value, 3 * k, ctx->pack), view_get(v0, plan->tendon_term[k].dof), rate);
    real below = field_get(c->tendon_spring_lower, t, ctx->pack) - length;
    real above = length - field_get(c->tendon_spring_upper, t, ctx->pack);
    real stretch = real_max(above, zero) - real_max(below, zero);
    out.spring = field_get(c->tendon_spring_ke, t, ctx->pack) * stretch;
    out.damping = field_get(c->tendon_damping, t, ctx->pack);
    out.rate = rate;
    out.drive = plan->tendon_driven[t] ? mujoco_tendon_drive(ctx, t, length, rate, check) : zero;
    return out;
}

/* The force of tendon t, positive where it lengthens the tendon. */
STAGE_FN real mujoco_tendon_force(const Context *ctx, int t, real *check) {
    MujocoTendon at = mujoco_tendon(ctx, t, check);
    real F = -real_fma(at.damping, at.rate, at.spring);
    return ctx->args->plan.tendon_driven[t] ? F + at.drive : F;
}

/* The forces of tendons on dof i. */
STAGE_FN real mujoco_tendon_pull(const Context *ctx, int i, real *check) {
    real f = real_of(0);
    for (int t = 0; t < ctx->args->plan.num_tendons; t++)
        f = real_fma(tendon_sum(ctx, t, i), mujoco_tendon_force(ctx, t, check), f);
    return f;
}

/* Adds the forces of dof i. Those of dampers are part of A in a discrete step. */
STAGE_FN void mujoco_add_force(const Context *ctx, int i, real *check) {
    bool discrete = ctx->args->mujoco->discrete;
    int coord = ctx->args->plan.dof_coord[i];
    MujocoDrive drive = mujoco_drive(ctx, i);
    real f = FM(f)[i] + drive.force;
    f = discrete ? real_fma(drive.kd, FM(v0)[i], f)
                 : real_fma(-mujoco_dof_get(ctx, i, SAP_MUJOCO_DAMPING), FM(v0)[i], f);
    if (coord >= 0) {
        real k = mujoco_dof_get(ctx, i, SAP_MUJOCO_STIFFNESS);
        f = real_fma(-k, FM(q)[coord] - mujoco_dof_get(ctx, i, SAP_MUJOCO_SPRING_REF), f);
    }
    if (ctx->args->mujoco->tendons_pull)
        f = f + mujoco_tendon_pull(ctx, i, check);
    FM(f)[i] = f;
    if (mujoco_keeps_kd(ctx))
        FM(q1)[i] = drive.kd;
    *check = *check + drive.check;
}

/* The forces of every dof. */
STAGE_FN void formulation_add_forces(const Context *ctx) {
    TEAM_FOR(l, ctx->args->plan.nl) {
        const SapLink *link = &ctx->args->plan.link[l];
        for (int i = link->v; i < link->v + link->nlin + link->nang; i++)
            mujoco_add_force(ctx, i, &FM(control_check)[l]);
    }
}
