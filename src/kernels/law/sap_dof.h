/* Potentials of the velocity v of one dof: PD drive, limits, Coulomb friction. docs/joint_law.md. Each gives cost,
 * generalised impulse gamma (positive increases v) and second derivative; an inactive term gives 0, 0, 0.
 *
 *   drive      y = a - g v, g = h kp + kd, a = kp (q_d - q0) + kd v_d + u       gamma = h clamp(y, -e, e)
 *   limit      lower: gamma = (vhat - v)/R, upper: gamma = -(vhat + v)/R, where positive; vhat = -gap/(h + kd/ke)
 *   friction   gamma = clamp(-v/R, -h F, h F)
 *
 * A drive or limit that is too stiff for the step is softened to the near-rigid bound R >= (0.1/(2 pi))^2 w,
 * w = 1/A_ii. */

typedef struct JointLaw {
    real drive_a, drive_g, drive_e; /* g = 0: no drive */
    real drive_h_g;                 /* h/g, or 0 without a drive */
    real lower_vhat, lower_inv_R;   /* inv_R = 0: not active */
    real upper_vhat, upper_inv_R;
    real friction_bound, friction_inv_R; /* h F and 1/R */
} JointLaw;
static_assert(sizeof(JointLaw) == SAP_DOF_LAW_SIZE * sizeof(real), "data/laws.h has another size for dofs");

/* Kinds of terms. A kind that acts in no world of the pack is not evaluated; it would add 0. */
enum { JOINT_DRIVE = 1, JOINT_LIMIT = 2, JOINT_FRICTION = 4, JOINT_ALL = 7 };

#define JOINT_NEAR_RIGID K(0.00025330295910584444) /* 0.1^2/(4 pi^2) */

/* Impulses of the three kinds, and the sum of their costs and curvatures. */
typedef struct JointTerms {
    real drive, limit, friction;
    real cost, hessian;
} JointTerms;

/* Worlds in which a term acts. */
KERNEL_FN mask joint_law_active(const JointLaw *t) {
    return (t->drive_g > K(0.0)) | (t->lower_inv_R > K(0.0)) | (t->upper_inv_R > K(0.0)) | (t->friction_inv_R > K(0.0));
}

/* The kinds that act in some world of the pack. */
KERNEL_FN int joint_law_acts(const JointLaw *t) {
    bool drive = mask_any(t->drive_g > K(0.0)), friction = mask_any(t->friction_inv_R > K(0.0));
    bool limit = mask_any((t->lower_inv_R > K(0.0)) | (t->upper_inv_R > K(0.0)));
    return (drive ? JOINT_DRIVE : 0) | (limit ? JOINT_LIMIT : 0) | (friction ? JOINT_FRICTION : 0);
}

/* The effective gains of a drive: if R = 1/(h (h kp + kd)) is below R_near_rigid, kp and kd are scaled down at the same
 * ratio to R = R_near_rigid. */
KERNEL_FN void drive_effective_gains(real h, real w, real *kp, real *kd) {
    real one = real_of(1);
    real R_nr = JOINT_NEAR_RIGID * real_max(w, real_of(K(1e-12)));
    mask soft = K(1.0) >= R_nr * (h * real_fma(h, *kp, *kd));
    mask by_position = h * *kp > *kd;
    real t_p = *kd / real_select(by_position, *kp, one);
    real kp_p = K(1.0) / (h * (h + t_p) * R_nr);
    real t_d = *kp / real_select(by_position | (*kd <= K(0.0)), one, *kd);
    real kd_d = K(1.0) / (h * real_fma(h, t_d, one) * R_nr);
    *kp = real_select(soft, *kp, real_select(by_position, kp_p, t_d * kd_d));
    *kd = real_select(soft, *kd, real_select(by_position, t_p * kp_p, kd_d));
}

KERNEL_FN void drive_evaluate(const JointLaw *t, real h, real v, JointTerms *out) {
    mask active = t->drive_g > K(0.0);
    real y = real_fma(-t->drive_g, v, t->drive_a);
    real size = real_abs(y);
    mask inside = size <= t->drive_e;
    real clamped = real_select(inside, y, real_select(y > K(0.0), t->drive_e, -t->drive_e));
    /* cost = h/g Phi(y), Phi = y^2/2 inside, e (|y| - e/2) outside; with infinite e, y is always inside */
    real e = real_select(inside, size, t->drive_e);
    real Phi = e * (size - K(0.5) * e);
    real zero = real_of(0);
    out->drive = real_select(active, h * clamped, zero);
    out->cost = out->cost + real_select(active, t->drive_h_g * Phi, zero);
    out->hessian = out->hessian + real_select(active & inside, h * t->drive_g, zero);
}

/* One limit: gamma >= 0 pushes away from the limit; `approach` is the velocity towards it. */
KERNEL_FN real limit_evaluate(real vhat, real approach, real inv_R, JointTerms *out) {
    real gamma = (vhat + approach) * inv_R;
    mask active = gamma > K(0.0);
    real zero = real_of(0);
    gamma = real_select(active, gamma, zero);
    /* cost = R gamma^2/2 = gamma (vhat + approach)/2 */
    out->cost = out->cost + K(0.5) * gamma * real_select(active, vhat + approach, zero);
    out->hessian = out->hessian + real_select(active, inv_R, zero);
    return gamma;
}

KERNEL_FN void friction_evaluate(const JointLaw *t, real v, JointTerms *out) {
    real zero = real_of(0);
    real y = -(v * t->friction_inv_R), size = real_abs(y), bound = t->friction_bound;
    mask active = t->friction_inv_R > K(0.0), inside = size <= bound;
    real g = real_select(inside, size, bound);
    out->friction = real_select(active, real_select(y > K(0.0), g, -g), zero);
    /* cost = |v| g - R g^2/2, g = |gamma| */
    real R_g = g / real_select(active, t->friction_inv_R, real_of(1));
    out->cost = out->cost + real_select(active, g * (real_abs(v) - K(0.5) * R_g), zero);
    out->hessian = out->hessian + real_select(active & inside, t->friction_inv_R, zero);
}

/* Evaluates the kinds of terms in `acts` at v. */
KERNEL_FN JointTerms joint_law_evaluate(const JointLaw *t, int acts, real h, real v) {
    JointTerms out;
    out.drive = out.limit = out.friction = out.cost = out.hessian = real_of(0);
    if (acts & JOINT_DRIVE)
        drive_evaluate(t, h, v, &out);
    if (acts & JOINT_LIMIT) {
        real lower = limit_evaluate(t->lower_vhat, -v, t->lower_inv_R, &out);
        real upper = limit_evaluate(t->upper_vhat, v, t->upper_inv_R, &out);
        out.limit = lower - upper;
    }
    if (acts & JOINT_FRICTION)
        friction_evaluate(t, v, &out);
    return out;
}

KERNEL_FN real joint_terms_impulse(const JointTerms *t) {
    return t->drive + t->limit + t->friction;
}

/* Worlds in which x and y are on the same side of both bounds +-b. */
KERNEL_FN mask same_interval(real x, real y, real b) {
    return ((x > b) == (y > b)) & ((x < -b) == (y < -b));
}

/* Worlds in which a limit stays on one side of its target velocity, or does not act: a world's result must not depend
 * on limits of other worlds of the pack. */
KERNEL_FN mask limit_keeps(real vhat, real inv_R, real v, real u) {
    return (inv_R == K(0.0)) | ((vhat > v) == (vhat > u));
}

/* Worlds in which every term keeps its region between the velocities v and u. Regions are intervals of velocities; in
 * each, the term is a parabola. */
KERNEL_FN mask joint_law_keeps(const JointLaw *t, int acts, real v, real u) {
    mask same = mask_all();
    if (acts & JOINT_DRIVE)
        same = same &
               same_interval(real_fma(-t->drive_g, v, t->drive_a), real_fma(-t->drive_g, u, t->drive_a), t->drive_e);
    if (acts & JOINT_LIMIT) {
        same = same & limit_keeps(t->lower_vhat, t->lower_inv_R, v, u);
        same = same & limit_keeps(t->upper_vhat, t->upper_inv_R, -v, -u);
    }
    if (acts & JOINT_FRICTION)
        same = same & same_interval(v * t->friction_inv_R, u * t->friction_inv_R, t->friction_bound);
    return same;
}
