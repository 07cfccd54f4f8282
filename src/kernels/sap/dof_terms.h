/* Drives, limits and friction of dofs: rows whose Jacobian is a unit vector, so each is a potential of one velocity
 * (sap/dof.h). docs/joint_law.md. */

/* What DOF_ACTS(i) says of dof i: the kinds of its terms that act in some world; DOF_LINE_ACTS (contact/value.h); and
 * where its law is. 0 if no term acts. */
enum { DOF_KINDS = JOINT_ALL, DOF_LAW_SHIFT = 4 };

/* The law of dof i, with zeros for the kinds of terms that it cannot have. */
KERNEL_FN JointLaw dof_law(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    const real *at = SOLVE(dof_law) + plan->dof_law[i];
    JointLaw law = joint_law_none();
    if (plan->dof_driven[i] || plan->dof_limited[i])
        return *(const JointLaw *)at;
    law.friction_inv_R = at[0];
    law.friction_bound = at[1];
    return law;
}

KERNEL_FN void dof_law_put(const Context *ctx, int i, const JointLaw *law) {
    const SapPlan *plan = &ctx->args->plan;
    real *at = SOLVE(dof_law) + plan->dof_law[i];
    at[0] = law->friction_inv_R;
    at[1] = law->friction_bound;
    if (plan->dof_driven[i] || plan->dof_limited[i])
        *(JointLaw *)at = *law;
}

/* A limit at distance `gap`: vhat = -gap/(h + kd/ke), also where the step cannot resolve ke. Active if the gap is at
 * most `window`, the distance that the joint can travel in a step. */
KERNEL_FN void joint_limit_make(real gap, real ke, real kd, real w, real h, real window, real *vhat, real *inv_R) {
    mask exists = (ke > K(0.0)) & real_finite(gap);
    mask active = exists & (gap <= window);
    real zero = real_of(0), one = real_of(1);
    *vhat = *inv_R = zero;
    if (!mask_any(active)) /* the usual case */
        return;
    real stiffness = real_select(exists, ke, one);
    real tau = real_select(kd > K(0.0), kd / stiffness, zero);
    real R = row_resolved(row_compliance(stiffness, tau, h), real_max(w, real_of(K(1e-12))));
    *vhat = real_select(active, -gap / (h + tau), zero);
    *inv_R = real_select(active, K(1.0) / R, zero);
}

/* The drive of dof i. Dofs of ball and free joints have no coordinate, so only a velocity drive without position gain
 * acts on them. */
KERNEL_FN void joint_drive_make(const Context *ctx, int i, real q0, real w, JointLaw *law, real *check) {
    const SapStepArgs *args = ctx->args;
    const SapConstants *c = STAGE_CONSTANTS;
    int public_dof = args->plan.dof_public[i], has_coord = args->plan.dof_coord[i] >= 0;
    real zero = real_of(0);
    real kp = field_get(c->target_ke, i, ctx->pack), kd = field_get(c->target_kd, i, ctx->pack);
    mask active = (kp > zero) | (kd > zero);
    if (!has_coord)
        active = active & (kp <= zero);
    real q_d = buffer_get(args->target_pos, public_dof, ctx->pack),
         v_d = buffer_get(args->target_vel, public_dof, ctx->pack);
    real u = buffer_get(args->act, public_dof, ctx->pack);
    *check = *check + real_select(active, check_of(q_d) + check_of(v_d) + check_of(u), zero);
    real error = has_coord ? q_d - q0 : zero, e = field_get(c->effort_limit, i, ctx->pack);
    RowLaw row = row_law_drive(kp, kd, error, v_d, u, e, w, STAGE_H, active);
    law->drive_vhat = row.vhat;
    law->drive_inv_R = row.inv_R;
    law->drive_R = row.R;
    law->drive_bound = row.upper;
}

/* Makes the potentials of dof i. */
STAGE_FN void dof_terms_make(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    const SapConstants *c = STAGE_CONSTANTS;
    real zero = real_of(0), h = STAGE_H, check = real_of(0);
    real w = SOLVE(w)[i];
    int coord = plan->dof_coord[i];
    real q0 = coord >= 0 ? view_get(FM_VIEW(q), coord) : zero;
    JointLaw law = joint_law_none();
    if (plan->dof_driven[i])
        joint_drive_make(ctx, i, q0, w, &law, &check);
    /* limits inside the window 2 h max(|v0|, |v*|) */
    if (plan->dof_limited[i]) {
        real ke = field_get(c->limit_ke, i, ctx->pack), kd = field_get(c->limit_kd, i, ctx->pack);
        real window = K(2.0) * h * real_max(real_abs(SOLVE(v0)[i]), real_abs(SOLVE(v_star)[i]));
        real lower = q0 - field_get(c->limit_lower, i, ctx->pack), upper = field_get(c->limit_upper, i, ctx->pack) - q0;
        joint_limit_make(lower, ke, kd, w, h, window, &law.lower_vhat, &law.lower_inv_R);
        joint_limit_make(upper, ke, kd, w, h, window, &law.upper_vhat, &law.upper_inv_R);
        law.upper_vhat = -law.upper_vhat;
    }
    real F = field_get(c->friction, i, ctx->pack);
    if (mask_any(F > zero)) {
        RowLaw row = row_law_friction(F, real_of((scalar)ctx->args->contacts.sigma), w, h);
        law.friction_inv_R = row.inv_R;
        law.friction_bound = row.upper;
    }
    dof_law_put(ctx, i, &law);
    int acts = joint_law_acts(&law);
    DOF_ACTS(i) = acts ? acts | plan->dof_law[i] << DOF_LAW_SHIFT : 0;
    SOLVE(dof_check)[i] = check;
}

/* Worlds in which a potential of dof i acts. */
KERNEL_FN mask dof_terms_active(const Context *ctx, int i) {
    int acts = DOF_ACTS(i);
    if (acts == 0 || SAP_LANES == 1) /* acts in some world of the pack; with one lane this needs no look at the law */
        return acts ? mask_all() : mask_none();
    return joint_law_active((const JointLaw *)(SOLVE(dof_law) + (acts >> DOF_LAW_SHIFT)), acts);
}

/* The potentials of all dofs, for loops over dofs. */
typedef struct DofTerms {
    const real *law; /* [dof_law_size] */
    const int *acts; /* [nv] */
    const SapPlan *plan;
    int cost_at_target; /* JOINT_COST_AT_TARGET, or 0 */
} DofTerms;

KERNEL_FN DofTerms dof_terms(const Context *ctx) {
    DofTerms terms;
    terms.law = SOLVE(dof_law);
    terms.acts = &DOF_ACTS(0);
    terms.plan = &ctx->args->plan;
    terms.cost_at_target = COMPAT ? JOINT_COST_AT_TARGET : 0;
    return terms;
}

/* The law of dof i, whose DOF_ACTS is `acts`; at the beginning if that is 0. Only numbers of kinds that act are
 * there. */
KERNEL_FN const JointLaw *dof_terms_law(const DofTerms *terms, int i, int acts) {
    return (const JointLaw *)(terms->law + (TABLES_KNOWN ? terms->plan->dof_law[i] : acts >> DOF_LAW_SHIFT));
}

/* The kinds of terms of dof i that act. Known tables say which ones it can have at all. */
KERNEL_FN int dof_terms_kinds(const DofTerms *terms, int i) {
    if (!TABLES_KNOWN)
        return terms->acts[i] & DOF_KINDS;
    int drive = terms->plan->dof_driven[i] ? JOINT_DRIVE : 0, limit = terms->plan->dof_limited[i] ? JOINT_LIMIT : 0;
    return terms->acts[i] & (drive | limit | JOINT_FRICTION);
}

/* The potentials of dof i at velocity v. */
KERNEL_FN JointTerms dof_terms_at(const DofTerms *terms, int i, real v) {
    int acts = dof_terms_kinds(terms, i) | terms->cost_at_target;
    return joint_law_evaluate(dof_terms_law(terms, i, terms->acts[i]), acts, v);
}

/* Worlds in which the potentials of dof i are one parabola between the velocities v and u. */
KERNEL_FN mask dof_terms_keep(const DofTerms *terms, int i, real v, real u) {
    return joint_law_keeps(dof_terms_law(terms, i, terms->acts[i]), dof_terms_kinds(terms, i), v, u);
}
