/* The general actuators of MuJoCo's law. docs/mujoco.md.
 *
 *   F = clamp((g0 + g1 l + g2 w) u + b0 + b1 l + b2 w, lower, upper)        l = sum r q, w = sum r v over its terms
 *   on dof i: clamp(sum r_i F, range of the dof)                            r: moment arms, which are constant
 *
 * The input u is the clamped control c, or an activation a of the actuator, which follows the control:
 *
 *   da/dt = c (integrator), (c - a)/tau (filter)   a1 = clamp(a + t da/dt), t = h, filterexact: tau (1 - exp(-h/tau))
 *
 * RK4 has activations of its stages, a_i = a + h c_i k_{i-1}, and the step ends with the mean rate
 * (k_1 + 2 k_2 + 2 k_3 + k_4)/6. They depend on controls alone, so a stage computes them from the start of the step. */

/* Element i of a group of numbers of the law. */
KERNEL_FN real mujoco_get(const Context *ctx, int group, int i) {
    return field_get(ctx->args->mujoco->number[group][SAP_PRECISION == 64], i, ctx->pack);
}

/* A force at the start of the step. */
typedef struct MujocoDrive {
    real force;
    real kp, kd; /* -dF/dq, -dF/dv: 0 at a bound */
    real check;  /* 0, or NaN if its control is not finite */
} MujocoDrive;

KERNEL_FN real actuator_get(const Context *ctx, int a, int column) {
    return mujoco_get(ctx, SAP_MUJOCO_ACTUATORS, SAP_MUJOCO_ACTUATOR_SIZE * a + column);
}

/* x within the bounds of columns `first` and `first` + 1. */
KERNEL_FN real actuator_clamp(const Context *ctx, int a, int first, real x) {
    return real_max(actuator_get(ctx, a, first), real_min(x, actuator_get(ctx, a, first + 1)));
}

KERNEL_FN real actuator_arm(const Context *ctx, int term) {
    return mujoco_get(ctx, SAP_MUJOCO_ARMS, term);
}

/* ---- activations ---- */

/* MuJoCo's smallest time constant. */
KERNEL_FN real actuator_tau(const Context *ctx, int a) {
    return real_max(actuator_get(ctx, a, SAP_MUJOCO_ACTUATOR_TAU), real_of(K(1e-15)));
}

/* da/dt */
KERNEL_FN real actuator_rate(const Context *ctx, int a, real c, real act) {
    bool integrates = ctx->args->mujoco->actuator[a].dynamics == SAP_MUJOCO_DYNAMICS_INTEGRATOR;
    return integrates ? c : (c - act) / actuator_tau(ctx, a);
}

/* The activation after a step with this rate. */
KERNEL_FN real actuator_advance(const Context *ctx, int a, real act, real rate) {
    real time = STAGE_H, tau = actuator_tau(ctx, a);
    if (ctx->args->mujoco->actuator[a].dynamics == SAP_MUJOCO_DYNAMICS_FILTEREXACT)
        time = tau * (K(1.0) - real_exp_negative(-time / tau));
    return actuator_clamp(ctx, a, SAP_MUJOCO_ACTUATOR_ACT, real_fma(time, rate, act));
}

/* The rate in a stage of the step, from the activation at its start; *at: the activation of the stage. */
KERNEL_FN real actuator_stage_rate(const Context *ctx, int a, real c, real act, int stage, real *at) {
    real rate = actuator_rate(ctx, a, c, act);
    *at = act;
    for (int s = 1; s <= stage; s++) {
        *at = real_fma(STAGE_H * rk_share(s), rate, act);
        rate = actuator_rate(ctx, a, c, *at);
    }
    return rate;
}

/* The activation at the end of the step. */
KERNEL_FN real actuator_next(const Context *ctx, int a, real c, real act) {
    real rate = actuator_rate(ctx, a, c, act), sum = rate;
    if (!ctx->args->plan.rk4)
        return actuator_advance(ctx, a, act, rate);
    for (int s = 1; s < 4; s++) {
        rate = actuator_rate(ctx, a, c, real_fma(STAGE_H * rk_share(s), rate, act));
        sum = real_fma(real_of(s < 3 ? 2 : 1), rate, sum);
    }
    return actuator_advance(ctx, a, act, sum / K(6.0));
}

KERNEL_FN real actuator_act(const Context *ctx, int a) {
    SapBuffer act = ctx->args->mujoco->act_in;
    return act.data ? buffer_get(act, a, ctx->pack) : real_of(0);
}

KERNEL_FN real actuator_ctrl(const Context *ctx, int a) {
    SapBuffer ctrl = ctx->args->mujoco->ctrl;
    return ctrl.data ? buffer_get(ctrl, a, ctx->pack) : real_of(0);
}

/* Stores the activations at the end of the step, or at its start in the worlds of `unchanged`. */
RARE_FN void formulation_store(const Context *ctx, mask ok, mask unchanged) {
    const SapMujocoArgs *args = ctx->args->mujoco;
    if (!args->act_in.data || !args->act_out.data)
        return;
    TEAM_FOR(a, args->num_actuators) {
        if (args->actuator[a].dynamics == SAP_MUJOCO_DYNAMICS_NONE)
            continue;
        real c = actuator_clamp(ctx, a, SAP_MUJOCO_ACTUATOR_CTRL, actuator_ctrl(ctx, a));
        real next = actuator_next(ctx, a, c, actuator_act(ctx, a));
        buffer_copy(args->act_out, args->act_in, a, unchanged, ctx->pack);
        buffer_put(args->act_out, a, next, ok, ctx->pack);
    }
}

KERNEL_FN int formulation_num_activations(const Context *ctx) {
    return ctx->args->mujoco->num_actuators;
}

/* Reports the activations at the start of the step, at the end of a row (step/measure.h). */
RARE_FN void formulation_measure(const Context *ctx, SapBuffer out, mask mine) {
    int n = ctx->args->mujoco->num_actuators;
    TEAM_FOR(a, n)
        buffer_put(out, out.stride - n + a, actuator_act(ctx, a), mine, ctx->pack);
}

/* ---- forces ---- */

/* The input of the force in this stage. */
KERNEL_FN real actuator_input(const Context *ctx, int a, real *check) {
    const SapMujocoActuator *actuator = &ctx->args->mujoco->actuator[a];
    real given = actuator_ctrl(ctx, a), c = actuator_clamp(ctx, a, SAP_MUJOCO_ACTUATOR_CTRL, given), act, at, rate;
    *check = *check + check_of(given);
    if (actuator->dynamics == SAP_MUJOCO_DYNAMICS_NONE)
        return c;
    act = actuator_act(ctx, a);
    *check = *check + check_of(act);
    rate = actuator_stage_rate(ctx, a, c, act, ctx->rk_stage, &at);
    return actuator->early ? actuator_advance(ctx, a, at, rate) : at;
}

/* The value of g0 + g1 l + g2 w. */
KERNEL_FN real actuator_affine(const Context *ctx, int a, int first, real length, real rate) {
    return real_fma(actuator_get(ctx, a, first + 2), rate,
                    real_fma(actuator_get(ctx, a, first + 1), length, actuator_get(ctx, a, first)));
}

/* A force between two bounds, and its derivatives, which are 0 at a bound. */
KERNEL_FN MujocoDrive drive_within(real F, real kp, real kd, real lower, real upper, real check) {
    real zero = real_of(0);
    mask inside = (F > lower) & (F < upper);
    MujocoDrive out;
    out.force = real_select(inside, F, real_select(F < upper, lower, upper));
    out.kp = real_select(inside, kp, zero);
    out.kd = real_select(inside, kd, zero);
    out.check = check;
    return out;
}

/* -dF/dl (which = 1), -dF/dw (2). A discrete step has springs and dampers that push away explicit, as MuJoCo does. */
KERNEL_FN real actuator_slope(const Context *ctx, int a, int which, real u) {
    real slope = -real_fma(actuator_get(ctx, a, SAP_MUJOCO_ACTUATOR_GAIN + which), u,
                           actuator_get(ctx, a, SAP_MUJOCO_ACTUATOR_BIAS + which));
    return ctx->args->mujoco->discrete ? real_max(slope, real_of(0)) : slope;
}

/* The force of actuator a along its length. */
KERNEL_FN MujocoDrive actuator_force(const Context *ctx, int a) {
    const SapMujocoArgs *args = ctx->args->mujoco;
    real length = real_of(0), rate = real_of(0), check = real_of(0);
    for (int k = args->actuator[a].first; k < args->actuator[a].end; k++) {
        length = real_fma(actuator_arm(ctx, k), view_get(FM_VIEW(q), args->term[k].coord), length);
        rate = real_fma(actuator_arm(ctx, k), view_get(FM_VIEW(v0), args->term[k].dof), rate);
    }
    real u = actuator_input(ctx, a, &check);
    real F = real_fma(actuator_affine(ctx, a, SAP_MUJOCO_ACTUATOR_GAIN, length, rate), u,
                      actuator_affine(ctx, a, SAP_MUJOCO_ACTUATOR_BIAS, length, rate));
    return drive_within(F, actuator_slope(ctx, a, 1, u), actuator_slope(ctx, a, 2, u),
                        actuator_get(ctx, a, SAP_MUJOCO_ACTUATOR_FORCE),
                        actuator_get(ctx, a, SAP_MUJOCO_ACTUATOR_FORCE + 1), check);
}

/* The force of all actuators on dof i. */
RARE_FN MujocoDrive actuators_drive(const Context *ctx, int i) {
    const SapMujocoArgs *args = ctx->args->mujoco;
    real F = real_of(0), kp = real_of(0), kd = real_of(0), check = real_of(0);
    for (int k = args->dof_term_start[i]; k < args->dof_term_start[i + 1]; k++) {
        int term = args->dof_term[k];
        real r = actuator_arm(ctx, term);
        MujocoDrive one = actuator_force(ctx, args->term[term].actuator);
        F = real_fma(r, one.force, F);
        kp = real_fma(r * r, one.kp, kp);
        kd = real_fma(r * r, one.kd, kd);
        check = check + one.check;
    }
    return drive_within(F, kp, kd, mujoco_get(ctx, SAP_MUJOCO_ACTUATOR_RANGES, 2 * i),
                        mujoco_get(ctx, SAP_MUJOCO_ACTUATOR_RANGES, 2 * i + 1), check);
}

/* Adds h kd r_i r_j of the actuators that move dof i and a dof j on its path to row i of A: entries outside the pattern
 * of the tree are dropped, as MuJoCo drops them. */
RARE_FN void actuators_couple(const Context *ctx, int i) {
    const SapMujocoArgs *args = ctx->args->mujoco;
    const SapPattern *tree = &ctx->args->plan.tree;
    for (int k = args->dof_term_start[i]; k < args->dof_term_start[i + 1]; k++) {
        int term = args->dof_term[k], a = args->term[term].actuator;
        real h_kd = STAGE_H * (actuator_force(ctx, a).kd * actuator_arm(ctx, term));
        for (int t = args->actuator[a].first; t < args->actuator[a].end; t++) {
            int j = args->term[t].dof, at = tree->row[i].start + tree->row[j].depth;
            if (tree->row[j].depth < tree->row[i].depth && tree->ancestor[at] == j)
                FM(A)[at] = real_fma(h_kd, actuator_arm(ctx, t), FM(A)[at]);
        }
    }
}
