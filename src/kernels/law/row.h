/* The law of one row of a constraint or tendon: a potential of its velocity v_c = J v. docs/constraints.md.
 *
 *   y     = (vhat - v_c)/R                        impulse without bounds
 *   gamma = clamp(y, lower, upper)                lower <= 0 <= upper
 *   l     = gamma (vhat - v_c) - R gamma^2/2      convex, once differentiable
 *   G     = 1/R where lower < y < upper, else 0
 *
 * Equalities, limits, springs, dampers, drives, friction and inertia differ in these four numbers only. Data of 0 mean
 * no law: cost, impulse and curvature are then 0. */

typedef struct RowLaw {
    real vhat, inv_R, R; /* target velocity; 1/R, or 0 for no law; R */
    real lower, upper;   /* bounds of the impulse */
} RowLaw;
static_assert(sizeof(RowLaw) == SAP_ROW_LAW_SIZE * sizeof(real), "data/laws.h has another size for rows");

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

/* Adds the law at velocity v. */
KERNEL_FN void row_law_add(const RowLaw *t, real v, RowValue *out) {
    real error = t->vhat - v, y = error * t->inv_R;
    mask above = y > t->lower, below = y < t->upper;
    real gamma = real_select(below, real_select(above, y, t->lower), t->upper);
    /* R gamma is the error itself within the bounds */
    real held = real_select(above & below, error, t->R * gamma);
    out->cost = real_fma(gamma, real_fma(real_of(K(-0.5)), held, error), out->cost);
    out->gamma = out->gamma + gamma;
    out->G = out->G + real_select(above & below, t->inv_R, real_of(0));
}

/* The sum of n laws of one row at velocity v. A law that acts in no world of the pack would add 0. */
KERNEL_FN RowValue row_laws_at(const real *data, int n, real v) {
    RowValue out;
    out.cost = out.gamma = out.G = real_of(0);
    for (int i = 0; i < n; i++) {
        const RowLaw *t = (const RowLaw *)data + i;
        if (mask_any(row_law_acts(t)))
            row_law_add(t, v, &out);
    }
    return out;
}

/* ---- the laws ---- */

/* An error g with stiffness k (infinite: rigid) and damping c: a spring and a damper at the end of the step,
 * R = 1/(h (h + tau) k), tau = c/k. One that the step cannot resolve has the near-rigid R and tau = h, so that each
 * step halves the error. `speed` bounds vhat. */
KERNEL_FN RowLaw row_law_error(real g, real k, real c, real w, real h, real speed, real lower, real upper, mask acts) {
    real tau = c / k; /* 0 for an infinite k */
    real R_c = K(1.0) / (h * (h + tau) * k), R_nr = ROW_NEAR_RIGID * w;
    tau = real_select(R_c < R_nr, h, tau);
    real R = real_max(real_max(R_c, R_nr), real_of(ROW_LEAST_R));
    real vhat = real_max(real_min(-g / (h + tau), speed), -speed);
    return row_law(vhat, K(1.0) / R, lower, upper, acts);
}

/* A force a - g_d v of a spring, damper or drive, between -e and e: vhat = a/g_d, R = 1/(h g_d). */
KERNEL_FN RowLaw row_law_force(real a, real g_d, real h, real e, mask acts) {
    mask has = acts & (g_d > K(0.0));
    real vhat = a / real_select(has, g_d, real_of(1));
    return row_law(vhat, h * g_d, -(h * e), h * e, has);
}
