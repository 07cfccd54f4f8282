/* The law of a row: a potential of its velocity v_c = J v. docs/constraints.md. Constraints and tendons have
 * rows, and so have the drives, limits and friction of dofs (sap/dof.h), whose Jacobian is a unit vector.
 *
 *   y     = (vhat - v_c)/R                        impulse without bounds
 *   gamma = clamp(y, lower, upper)                lower <= 0 <= upper
 *   l     = gamma (vhat - v_c) - R gamma^2/2      convex, once differentiable
 *   G     = 1/R where lower < y < upper, else 0
 *
 * Equalities, limits, springs, dampers, drives, friction and inertia differ in these four numbers only. Data of 0 mean
 * no law: cost, impulse and curvature are then 0.
 *
 * A drive or spring pushes more than it holds: effort a and a small gain g give vhat = a/g. l(0) = h a^2/(2 g) grows
 * without bound as g falls, while the force does not, and hides from the test on the cost how much a solve still gains.
 * The cost of drives and of tendons is therefore measured from rest, l(v) - l(0): minus the work of the force. */

typedef struct RowLaw {
    real vhat, inv_R, R; /* target velocity; 1/R, or 0 for no law; R */
    real lower, upper;   /* bounds of the impulse */
} RowLaw;
static_assert(sizeof(RowLaw) == SAP_ROW_LAW_SIZE * sizeof(real), "data/layouts.h has another size for rows");

/* Cost, impulse and curvature of a row. */
typedef struct RowValue {
    real cost, gamma, G;
} RowValue;

#define ROW_NEAR_RIGID K(0.00025330295910584445) /* 0.1^2/(4 pi^2) */
#define ROW_LEAST_R    K(1e-30)

KERNEL_FN RowLaw row_law_none(void) {
    RowLaw t;
    t.vhat = t.inv_R = t.R = t.lower = t.upper = real_of(0);
    return t;
}

KERNEL_FN RowLaw row_law(real vhat, real inv_R, real lower, real upper, mask acts) {
    RowLaw t;
    real zero = real_of(0);
    t.vhat = real_select(acts, vhat, zero);
    t.inv_R = real_select(acts, inv_R, zero);
    t.R = real_select(acts, K(1.0) / real_select(acts, inv_R, real_of(1)), zero);
    t.lower = real_select(acts, lower, zero);
    t.upper = real_select(acts, upper, zero);
    return t;
}

/* Worlds in which the law acts. */
KERNEL_FN mask row_law_acts(const RowLaw *t) {
    return t->inv_R > K(0.0);
}

KERNEL_FN RowValue row_value_none(void) {
    RowValue none;
    none.cost = none.gamma = none.G = real_of(0);
    return none;
}

/* The impulse of a law, R gamma, and the worlds in which no bound limits it. */
typedef struct RowImpulse {
    real gamma, held;
    mask free;
} RowImpulse;

KERNEL_FN RowImpulse row_law_impulse(const RowLaw *t, real error) {
    RowImpulse out;
    real y = error * t->inv_R;
    mask above = y > t->lower, below = y < t->upper;
    out.gamma = real_select(below, real_select(above, y, t->lower), t->upper);
    out.free = above & below;
    out.held = real_select(out.free, error, t->R * out.gamma); /* without bounds the error itself */
    return out;
}

/* Adds the law where its velocity is `error` below vhat. Returns its own impulse. */
KERNEL_FN real row_law_add_error(const RowLaw *t, real error, RowValue *out) {
    RowImpulse at = row_law_impulse(t, error);
    out->cost = real_fma(at.gamma, real_fma(real_of(K(-0.5)), at.held, error), out->cost);
    out->gamma = out->gamma + at.gamma;
    out->G = out->G + real_select(at.free, t->inv_R, real_of(0));
    return at.gamma;
}

/* Adds the law at velocity v. Returns its own impulse. */
KERNEL_FN real row_law_add(const RowLaw *t, real v, RowValue *out) {
    return row_law_add_error(t, t->vhat - v, out);
}

/* The same with the cost l(v) - l(0), which has no cancellation as
 *
 *   l(v) - l(0) = (gamma - gamma_0) (vhat - v - R (gamma + gamma_0)/2) - gamma_0 v */
KERNEL_FN real row_law_add_from_rest(const RowLaw *t, real v, RowValue *out) {
    real error = t->vhat - v, half = real_of(K(-0.5));
    RowImpulse at = row_law_impulse(t, error), rest = row_law_impulse(t, t->vhat);
    real mean = real_fma(half, rest.held, real_fma(half, at.held, error));
    out->cost = out->cost + real_fma(at.gamma - rest.gamma, mean, -(rest.gamma * v));
    out->gamma = out->gamma + at.gamma;
    out->G = out->G + real_select(at.free, t->inv_R, real_of(0));
    return at.gamma;
}

/* Worlds in which the law is one parabola or line between the velocities v and u. It is where it does not act: a
 * world's result must not depend on laws of other worlds of the pack. */
KERNEL_FN mask row_law_keeps(const RowLaw *t, real v, real u) {
    real x = (t->vhat - v) * t->inv_R, y = (t->vhat - u) * t->inv_R;
    return ((x > t->lower) == (y > t->lower)) & ((x < t->upper) == (y < t->upper));
}

/* The sum of the n laws of a tendon at velocity v. A law that acts in no world of the pack would add 0. */
KERNEL_FN RowValue row_laws_at(const real *data, int n, real v) {
    RowValue out = row_value_none();
    for (int i = 0; i < n; i++) {
        const RowLaw *t = (const RowLaw *)data + i;
        if (mask_any(row_law_acts(t)))
            row_law_add_from_rest(t, v, &out);
    }
    return out;
}

/* ---- the laws ---- */

/* R of a spring k (infinite: rigid) and a damper tau k at the end of the step; 0 for a rigid one. */
KERNEL_FN real row_compliance(real k, real tau, real h) {
    return K(1.0) / (h * (h + tau) * k);
}

/* R as the step can resolve it: a spring of a shorter period than a tenth of a step is softened to that. */
KERNEL_FN real row_resolved(real R_c, real w) {
    return real_max(real_max(R_c, ROW_NEAR_RIGID * w), real_of(ROW_LEAST_R));
}

/* An error g with stiffness k and damping c: a spring and a damper at the end of the step, tau = c/k. One that the step
 * cannot resolve has tau = h, so that each step halves the error. `speed` bounds vhat. */
KERNEL_FN RowLaw row_law_error(real g, real k, real c, real w, real h, real speed, real lower, real upper, mask acts) {
    real tau = c / k; /* 0 for an infinite k */
    real R_c = row_compliance(k, tau, h);
    tau = real_select(R_c < ROW_NEAR_RIGID * w, h, tau);
    real vhat = real_max(real_min(-g / (h + tau), speed), -speed);
    return row_law(vhat, K(1.0) / row_resolved(R_c, w), lower, upper, acts);
}

/* A force a - g_d v of a spring, damper or drive, between -e and e: vhat = a/g_d, R = 1/(h g_d). */
KERNEL_FN RowLaw row_law_force(real a, real g_d, real h, real e, mask acts) {
    mask has = acts & (g_d > K(0.0));
    real vhat = a / real_select(has, g_d, real_of(1));
    return row_law(vhat, h * g_d, -(h * e), h * e, has);
}

/* The effective gains of a spring, damper or drive: if R = 1/(h (h kp + kd)) is below R_near_rigid, kp and kd are
 * scaled down at the same ratio to R = R_near_rigid. */
KERNEL_FN void drive_effective_gains(real h, real w, real *kp, real *kd) {
    real one = real_of(1);
    real R_nr = ROW_NEAR_RIGID * real_max(w, real_of(K(1e-12)));
    mask soft = K(1.0) >= R_nr * (h * real_fma(h, *kp, *kd));
    mask by_position = h * *kp > *kd;
    real t_p = *kd / real_select(by_position, *kp, one);
    real kp_p = K(1.0) / (h * (h + t_p) * R_nr);
    real t_d = *kp / real_select(by_position | (*kd <= K(0.0)), one, *kd);
    real kd_d = K(1.0) / (h * real_fma(h, t_d, one) * R_nr);
    *kp = real_select(soft, *kp, real_select(by_position, kp_p, t_d * kd_d));
    *kd = real_select(soft, *kd, real_select(by_position, t_p * kp_p, kd_d));
}

/* A drive kp error + kd (v_d - v) + u between -e and e, where `error` is the distance of the target at the start of the
 * step. */
KERNEL_FN RowLaw row_law_drive(real kp, real kd, real error, real v_d, real u, real e, real w, real h, mask acts) {
    drive_effective_gains(h, w, &kp, &kd);
    return row_law_force(real_fma(kp, error, real_fma(kd, v_d, u)), real_fma(h, kp, kd), h, e, acts);
}

/* Coulomb friction F, with R = sigma w. */
KERNEL_FN RowLaw row_law_friction(real F, real sigma, real w, real h) {
    real bound = h * F;
    return row_law(real_of(0), K(1.0) / (sigma * w), -bound, bound, bound > K(0.0));
}
