/* A world's convex problem, and its value at a velocity. docs/solve.md.
 *
 *   minimise  l(v) = 1/2 (v - v*)' A (v - v*) + sum_c l_c(J_c v) + sum_i l_i(v_i)
 *   gradient  A (v - v*) - sum_c J_c' gamma_c - sum_i gamma_i
 *   Hessian   A + sum_c J_c' G_c J_c + diag(hessian_i)
 *
 * The Newton loop knows the potentials only through this file: cost, impulse and Hessian at a velocity. */

/* ---- setting up ---- */

/* What a side without a shape has: of the world, or of all. */
KERNEL_FN real contact_fallback(const Context *ctx, SapBuffer own, double of_all) {
    return own.data ? buffer_get(own, 0, ctx->pack) : real_of((scalar)of_all);
}

/* mu = 2 mu0 mu1/(mu0 + mu1), k = k0 k1/(k0 + k1) (a rigid side leaves the other's), tau = tau0 + tau1; a record's own
 * value, where it has one, comes first. */
KERNEL_FN void contact_pair_parameters(const Context *ctx, int c, real *mu, real *k, real *tau) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    const SapConstants *constants = STAGE_CONSTANTS;
    int shape0 = SLOT_INTS(shape, c)[0], shape1 = SLOT_INTS(shape, c)[1];
    real tiny = real_of(K(1e-12)), zero = real_of(0), one = real_of(1);

    real fallback_mu = contact_fallback(ctx, contacts->own_fallback_mu, contacts->fallback_mu);
    real mu0 = field_get_or(constants->shape_mu, shape0, fallback_mu, ctx->pack);
    real mu1 = field_get_or(constants->shape_mu, shape1, fallback_mu, ctx->pack);
    mask slippery = mu0 + mu1 <= tiny;
    *mu = real_select(slippery, zero, K(2.0) * mu0 * mu1 / real_select(slippery, one, mu0 + mu1));

    real k0 = contact_side_stiffness(ctx, shape0), k1 = contact_side_stiffness(ctx, shape1);
    mask rigid0 = mask_not(real_finite(k0)), rigid1 = mask_not(real_finite(k1));
    *k = real_select(rigid0, k1, real_select(rigid1, k0, k0 * k1 / (k0 + k1)));

    real fallback_tau = contact_fallback(ctx, contacts->own_fallback_tau, contacts->fallback_tau);
    *tau = field_get_or(constants->shape_tau, shape0, fallback_tau, ctx->pack) +
           field_get_or(constants->shape_tau, shape1, fallback_tau, ctx->pack);

    *mu = buffer_override(contacts->mu, SLOT_INTS(record, c), *mu, ctx->pack);
    *k = buffer_override(contacts->stiffness, SLOT_INTS(record, c), *k, ctx->pack);
    *tau = buffer_override(contacts->tau, SLOT_INTS(record, c), *tau, ctx->pack);
}

STAGE_FN void problem_contact(const Context *ctx, int c) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    real mu, k, tau, zero = real_of(0);
    contact_pair_parameters(ctx, c, &mu, &k, &tau);
    real *at = SLOT(pair, c);
    at[0] = mu;
    at[1] = k;
    at[2] = tau;
    mask valid = *SLOT(valid, c) != K(0.0);
    /* an infinite k is a rigid contact: only the near-rigid bound is left */
    mask lawful = (mu >= zero) & (k > zero) & (tau >= zero) & real_finite(mu) & real_finite(tau);
    real check = *SLOT(check, c) + check_of(*SLOT(phi0, c)) + check_of(*SLOT(w, c));
    *SLOT(check, c) = real_select(valid, real_select(lawful, check, real_nan()), *SLOT(check, c));
    ContactLaw law = contact_law_make(*SLOT(phi0, c), *SLOT(w, c), k, tau, mu, STAGE_H, real_of((scalar)contacts->beta),
                                      real_of((scalar)contacts->sigma));
    ContactLaw none = {zero, zero, zero, zero, zero, zero, zero, zero};
    contact_law_store(SLOT(law, c), contact_law_select(valid, law, none));
}

/* A limit at distance `gap`: vhat = -gap/(h + kd/ke), active inside the window the joint can cross in a step. */
KERNEL_FN void joint_limit_make(real gap, real ke, real kd, real w, real h, real window, real *vhat, real *inv_R) {
    mask exists = (ke > K(0.0)) & real_finite(gap);
    mask active = exists & (gap <= window);
    real zero = real_of(0), one = real_of(1);
    *vhat = *inv_R = zero;
    if (!mask_any(active)) /* as most limits are, most of the time */
        return;
    real stiffness = real_select(exists, ke, one);
    real dissipation = h + real_select(kd > K(0.0), kd / stiffness, zero);
    real R = real_max(JOINT_NEAR_RIGID * real_max(w, real_of(K(1e-12))), K(1.0) / (h * stiffness * dissipation));
    *vhat = real_select(active, -gap / dissipation, zero);
    *inv_R = real_select(active, K(1.0) / R, zero);
}

/* a, g and e of dof i's drive. Ball and free joints have no coordinate to hold, so only a pure velocity drive acts on them. */
KERNEL_FN void joint_drive_make(const Context *ctx, int i, real q0, real w, JointLaw *law, real *check) {
    const SapStepArgs *args = ctx->args;
    const SapConstants *c = STAGE_CONSTANTS;
    int public_dof = args->plan.dof_public[i], has_coord = args->plan.dof_coord[i] >= 0;
    real h = STAGE_H, zero = real_of(0);
    real kp = field_get(c->target_ke, i, ctx->pack), kd = field_get(c->target_kd, i, ctx->pack);
    mask active = (kp > zero) | (kd > zero);
    if (!has_coord)
        active = active & (kp <= zero);
    real q_d = buffer_get(args->target_pos, public_dof, ctx->pack),
         v_d = buffer_get(args->target_vel, public_dof, ctx->pack);
    real u = buffer_get(args->act, public_dof, ctx->pack);
    *check = *check + real_select(active, check_of(q_d) + check_of(v_d) + check_of(u), zero);
    drive_effective_gains(h, w, &kp, &kd);
    real error = has_coord ? q_d - q0 : zero;
    law->drive_g = real_select(active, real_fma(h, kp, kd), zero);
    law->drive_a = real_select(active, real_fma(kp, error, real_fma(kd, v_d, u)), zero);
    law->drive_e = field_get(c->effort_limit, i, ctx->pack);
    law->drive_h_g = real_select(active, h / real_select(active, law->drive_g, real_of(1)), zero);
}

/* The potentials of dof i. */
STAGE_FN void problem_joint(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    const SapConstants *c = STAGE_CONSTANTS;
    real zero = real_of(0), h = STAGE_H, check = real_of(0);
    real w = SOLVE(w)[i];
    int coord = plan->dof_coord[i];
    real q0 = coord >= 0 ? view_get(FM_VIEW(q), coord) : zero;
    JointLaw law = {zero, zero, zero, zero, zero, zero, zero, zero, zero, zero};
    if (plan->dof_driven[i])
        joint_drive_make(ctx, i, q0, w, &law, &check);
    if (plan->dof_limited[i]) {
        real ke = field_get(c->limit_ke, i, ctx->pack), kd = field_get(c->limit_kd, i, ctx->pack);
        real window = K(2.0) * h * real_max(real_abs(SOLVE(v0)[i]), real_abs(SOLVE(v_star)[i]));
        real lower = q0 - field_get(c->limit_lower, i, ctx->pack), upper = field_get(c->limit_upper, i, ctx->pack) - q0;
        joint_limit_make(lower, ke, kd, w, h, window, &law.lower_vhat, &law.lower_inv_R);
        joint_limit_make(upper, ke, kd, w, h, window, &law.upper_vhat, &law.upper_inv_R);
    }
    real F = field_get(c->friction, i, ctx->pack);
    if (mask_any(F > zero)) {
        law.friction_bound = h * F;
        law.friction_inv_R = real_select(F > zero, K(1.0) / (real_of((scalar)ctx->args->contacts.sigma) * w), zero);
    }
    joint_law_store(SOLVE(joint_law) + SAP_DOF_LAW_SIZE * i, law);
    JOINT_ACTS(i) = joint_law_acts(&law);
    SOLVE(joint_check)[i] = check;
}

/* Where a potential of dof i acts. */
KERNEL_FN mask problem_joint_active(const Context *ctx, int i) {
    JointLaw law = joint_law_load(SOLVE(joint_law) + SAP_DOF_LAW_SIZE * i);
    mask active = real_of(0) != K(0.0);
    if (JOINT_ACTS(i))
        active = joint_law_active(&law);
    return active;
}

/* The potentials of dof i at velocity v. */
KERNEL_FN JointTerms problem_joint_terms(const Context *ctx, int i, real v) {
    JointLaw law = joint_law_load(SOLVE(joint_law) + SAP_DOF_LAW_SIZE * i);
    return joint_law_evaluate(&law, JOINT_ACTS(i), STAGE_H, v);
}

/* Whether a contact of the world touches the articulation that owns dof i. */
KERNEL_FN mask problem_articulation_touched(const Context *ctx, int articulation) {
    const SapPlan *plan = &ctx->args->plan;
    mask touched = real_of(0) != K(0.0);
    for (int c = 0; c < ctx->num_slots; c++) {
        for (int side = 0; side < 2; side++) {
            int b = SLOT_INTS(link, c)[side];
            if (b >= 0 && plan->link[b].articulation == articulation)
                touched = touched | (*SLOT(valid, c) != K(0.0));
        }
    }
    return touched;
}

/* ---- products with A and J ---- */

/* (A x)_i over the sparse rows: ancestors, then descendants. */
KERNEL_FN real problem_A_row(const Context *ctx, int i, const real *x) {
    const SapPattern *tree = &ctx->args->plan.tree;
    const SapPatternRow *row = &tree->row[i];
    const real *A = SOLVE(A);
    real s = real_of(0);
    for (int t = 0; t <= row->depth; t++)
        s = real_fma(A[row->start + t], x[tree->ancestor[row->start + t]], s);
    for (int k = 0; k < row->num_desc; k++) {
        SapDescendant desc = tree->descendant[row->desc_start + k];
        s = real_fma(A[desc.start + row->depth], x[desc.dof], s);
    }
    return s;
}

/* J_c x */
KERNEL_FN Vec3 problem_J_mul(const Context *ctx, int c, const real *x) {
    const real *J = SLOT(J, c);
    const int *dof = SLOT_INTS(dof, c);
    int n = *SLOT_INTS(num_dofs, c);
    Vec3 y = vec3_zero();
    for (int k = 0; k < n; k++)
        y = vec3_fma(x[dof[k]], vec3_load(J + 3 * k), y);
    return y;
}

/* ---- evaluation ---- */

/* Contact velocities, impulses, costs and curvatures at v. */
STAGE_FN void problem_evaluate_terms(const Context *ctx) {
    TEAM_FOR(c, ctx->num_slots) {
        ContactLaw law = contact_law_load(SLOT(law, c));
        Vec3 v = problem_J_mul(ctx, c, SOLVE(v));
        ContactTrial trial = contact_law_trial(&law, v);
        Vec3 gamma = contact_law_impulse(&law, &trial);
        vec3_store(SLOT(vc, c), v);
        vec3_store(SLOT(gamma, c), gamma);
        *SLOT(cost, c) = contact_law_cost(&law, gamma);
        contact_law_hessian(&law, &trial, SLOT(G, c));
    }
    TEAM_FOR(i, ctx->args->plan.nv) {
        JointTerms terms = problem_joint_terms(ctx, i, SOLVE(v)[i]);
        SOLVE(joint_gamma)[i] = joint_terms_impulse(&terms);
        SOLVE(joint_cost)[i] = terms.cost;
        SOLVE(joint_hessian)[i] = terms.hessian;
        SOLVE(dv)[i] = SOLVE(v)[i] - SOLVE(v_star)[i];
    }
}

/* Momentum residual r = A (v - v*), impulse j = J' gamma + joint terms, gradient r - j; needs the terms. */
STAGE_FN void problem_evaluate_gradient(const Context *ctx) {
    TEAM_FOR(i, ctx->args->plan.nv) {
        real impulse = SOLVE(joint_gamma)[i];
        for (SapIncidence t = *FIRST_INCIDENCE(i); t.slot >= 0; t = *NEXT_INCIDENCE(t.slot, t.column))
            impulse = impulse + vec3_dot(vec3_load(SLOT(J, t.slot) + 3 * t.column), vec3_load(SLOT(gamma, t.slot)));
        real r = problem_A_row(ctx, i, SOLVE(dv));
        SOLVE(r)[i] = r;
        SOLVE(impulse)[i] = impulse;
        SOLVE(grad)[i] = r - impulse;
    }
}

/* l(v), by every thread in the order of indices. */
STAGE_FN real problem_cost(const Context *ctx) {
    real cost = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        cost = cost + real_fma(K(0.5) * SOLVE(dv)[i], SOLVE(r)[i], SOLVE(joint_cost)[i]);
    for (int c = 0; c < ctx->num_slots; c++)
        cost = cost + *SLOT(cost, c);
    return cost;
}

/* ---- Hessian ---- */

/* G J_k */
KERNEL_FN Vec3 contact_G_mul(const real *G, Vec3 J) {
    return vec3(real_fma(G[4], J.z, real_fma(G[3], J.y, G[0] * J.x)),
                real_fma(G[5], J.z, real_fma(G[1], J.y, G[3] * J.x)),
                real_fma(G[2], J.z, real_fma(G[5], J.y, G[4] * J.x)));
}

/* Row i of H on `pattern` (the tree's, or dense): H_ij = A_ij + sum_c J_ci' G_c J_cj. */
STAGE_FN void problem_hessian_row(const Context *ctx, const SapPattern *pattern, int i) {
    const SapPatternRow *row = &pattern->row[i], *tree_row = &ctx->args->plan.tree.row[i];
    const int *ancestor = pattern->ancestor + row->start;
    real *H = SOLVE(H) + row->start;
    const real *A = SOLVE(A) + tree_row->start;
    for (int t = 0, a = 0; t <= row->depth; t++) {
        bool on_tree = ancestor[t] == ctx->args->plan.tree.ancestor[tree_row->start + a];
        H[t] = on_tree ? A[a] : real_of(0);
        a += on_tree;
    }
    bool is_tree = pattern == &ctx->args->plan.tree;
    for (SapIncidence t = *FIRST_INCIDENCE(i); t.slot >= 0; t = *NEXT_INCIDENCE(t.slot, t.column)) {
        const real *J = SLOT(J, t.slot);
        const int *dof = SLOT_INTS(dof, t.slot);
        Vec3 GJ = contact_G_mul(SLOT(G, t.slot), vec3_load(J + 3 * t.column));
        for (int k = 0; k <= t.column; k++) { /* on the tree the columns before this one are all the ancestors */
            real *H_ij = H + (is_tree ? k : dof[k]);
            *H_ij = *H_ij + vec3_dot(GJ, vec3_load(J + 3 * k));
        }
    }
    H[row->depth] = H[row->depth] + SOLVE(joint_hessian)[i] + (scalar)ctx->args->contacts.diag_shift;
}
