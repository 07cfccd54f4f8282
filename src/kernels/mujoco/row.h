/* MuJoCo's parameters of a row: impedance, spring and damper, reference velocity and regularisation. docs/mujoco.md.
 *
 *   imp   = d0 + y(min(1, |r|/width)) (dw - d0)         y(t) = t^p/mid^(p-1) for t <= mid, mirrored above
 *   K     = 1/(dw c z)^2, B = 2/(dw c)                   solref (c, z) > 0;     K = -c/dw^2, B = -z/dw   direct
 *   uref  = u0 + h (-B u0 - K imp (pos - margin) - bias)          R = (1 - imp)/imp w
 *
 * discrete: spring and damper at the end of the step, k = 1 + h B + h^2 K imp
 *   uref  = (u0 - h K imp (pos - margin) - h bias)/k              R = (1 - imp)/imp w/k
 *
 * A row then is a potential of u = J v with curvature 1/R around uref, as a row of contact/row.h is around vhat. */

#define MUJOCO_MINVAL K(1e-15)
#define MUJOCO_MINIMP K(0.0001)
#define MUJOCO_MAXIMP K(0.9999)
#define MUJOCO_MINMU  K(1e-5)

/* solref and solimp of a row. */
typedef struct MujocoImpedance {
    real c, z;                      /* solref */
    real d0, dw, width, mid, power; /* solimp, clamped */
} MujocoImpedance;

/* What the step does to rows. */
typedef struct MujocoStep {
    real h;
    int refsafe, discrete;
} MujocoStep;

/* Spring, damper and impedance of a row. */
typedef struct MujocoGains {
    real imp, K_imp, B; /* K_imp: K times the impedance */
    real B_given;       /* B as it is without the bound of a discrete step: of rows without a spring */
} MujocoGains;

KERNEL_FN real mujoco_clamp(real x, real low, real high) {
    return real_max(low, real_min(x, high));
}

KERNEL_FN MujocoImpedance mujoco_read_impedance(const real solref[2], const real solimp[5]) {
    MujocoImpedance s;
    real low = real_of(MUJOCO_MINIMP), high = real_of(MUJOCO_MAXIMP);
    s.c = solref[0];
    s.z = solref[1];
    s.d0 = mujoco_clamp(solimp[0], low, high);
    s.dw = mujoco_clamp(solimp[1], low, high);
    s.width = real_max(solimp[2], real_of(0));
    s.mid = mujoco_clamp(solimp[3], low, high);
    s.power = real_max(solimp[4], real_of(1));
    return s;
}

KERNEL_FN real mujoco_impedance(const MujocoImpedance *s, real r) {
    mask flat = (s->d0 == s->dw) | (s->width <= MUJOCO_MINVAL);
    real one = real_of(1), t = real_min(real_abs(r) / real_select(flat, one, s->width), one);
    /* y = x^p/m^(p - 1) from the nearer end: x = t, m = mid, or x = 1 - t, m = 1 - mid */
    mask low = t <= s->mid;
    real x = real_select(low, t, one - t), m = real_select(low, s->mid, one - s->mid);
    real bend = real_power(x, s->power) * m / real_power(m, s->power);
    real y = real_select(s->power == K(1.0), t, real_select(low, bend, one - bend));
    return real_select(flat, K(0.5) * (s->d0 + s->dw), real_fma(y, s->dw - s->d0, s->d0));
}

/* K and B from solref; a pair of different signs is replaced by (0.02, 1). */
KERNEL_FN void mujoco_stiffness(const MujocoImpedance *s, const MujocoStep *step, real *stiffness, real *B) {
    real tiny = real_of(MUJOCO_MINVAL), two = real_of(2);
    mask mixed = (s->c > K(0.0)) != (s->z > K(0.0));
    real c = real_select(mixed, real_of(K(0.02)), s->c), z = real_select(mixed, real_of(1), s->z);
    if (step->refsafe && !step->discrete)
        c = real_select(c > K(0.0), real_max(c, two * step->h), c);
    real time = s->dw * c, spring = time * z;
    *stiffness = real_select(c > K(0.0), K(1.0) / real_max(tiny, spring * spring), -c / real_max(tiny, s->dw * s->dw));
    *B = real_select(z > K(0.0), K(2.0) / real_max(tiny, time), -z / real_max(tiny, s->dw));
}

/* The gains of a row at distance r from its margin. `bounded`: a limit or contact, whose standard spring the discrete
 * step does not let grow beyond K imp h^2 = 1. */
KERNEL_FN MujocoGains mujoco_gains(const MujocoImpedance *s, const MujocoStep *step, real r, bool bounded) {
    MujocoGains g;
    real stiffness;
    g.imp = mujoco_impedance(s, r);
    mujoco_stiffness(s, step, &stiffness, &g.B);
    g.K_imp = stiffness * g.imp;
    g.B_given = g.B;
    if (step->discrete && step->refsafe && bounded) {
        real excess = g.K_imp * step->h * step->h;
        mask stiff = (s->c > K(0.0)) & (excess > K(1.0));
        real divisor = real_select(stiff, excess, real_of(1));
        g.K_imp = g.K_imp / divisor;
        g.B = g.B / real_sqrt(divisor);
    }
    return g;
}

/* 1 + h B + h^2 K imp for a discrete step, else 1. */
KERNEL_FN real mujoco_divisor(const MujocoStep *step, real B, real K_imp) {
    return step->discrete ? real_fma(step->h, real_fma(step->h, K_imp, B), real_of(1)) : real_of(1);
}

/* uref of a row with velocity u0; `error` is pos - margin, `bias` the rate of J times v. */
KERNEL_FN real mujoco_uref(const MujocoStep *step, real B, real K_imp, real u0, real error, real bias) {
    real pull = real_fma(K_imp, error, bias);
    if (step->discrete)
        return real_fma(-step->h, pull, u0) / mujoco_divisor(step, B, K_imp);
    return real_fma(-step->h, real_fma(B, u0, pull), u0);
}

/* Never 0: the weight of a body whose centre of mass does not move is. */
KERNEL_FN real mujoco_R(const MujocoStep *step, const MujocoGains *g, real w) {
    real R = (K(1.0) - g->imp) / g->imp * w;
    if (step->discrete)
        R = real_max(R / mujoco_divisor(step, g->B, g->K_imp), (K(1.0) - MUJOCO_MAXIMP) / MUJOCO_MAXIMP * w);
    return real_max(R, real_of(MUJOCO_MINVAL));
}
