/* The contact laws `similar` and `lagged`: convex potentials of the contact velocity v = (t1, t2, n) with the normal
 * force of Hunt and Crossley, f = k x (1 + d xdot) of the penetration x. docs/contact_law.md.
 *
 *   n(v) = h k (-phi0 - h v)+ (1 - d v)+ = u (p + q u)       u = (vhat - v)+
 *   N(v) = u^2 (p/2 + q u/3)                                 -dN/dv = n
 *   vhat = min(-phi0/h, 1/d)     p = h^2 k |1 + d phi0/h|    q = h^2 k d
 *   r = sqrt(|v_t|^2 + eps^2)    s = |v_t|^2/(r + eps)       t = v_t/r       eps = max(v_s, mu sigma w n0)
 *
 *   l_c = N(z) + m0 s            z = v_n - c s               m = m0 + c n(z)
 *   gamma = (-m t, n(z))         G = (m/r) (E - t t') in the tangential plane, and n'(z) a a' with a = (-c t, 1)
 *
 *   lagged    m0 = mu n0, c = 0    n0 = h k (-phi0)+ (1 - d v_n0)+ is the normal impulse at the start of the step
 *   similar   m0 = 0, c = mu
 *
 * s is r - eps without its cancellation. N falls and is convex, and so is s: l_c is convex in both. */

/* The data of a slot, kept in scratch. All 0 means no contact and gives cost, impulse and G 0. */
typedef struct HuntCrossleyLaw {
    real vhat, p, q; /* m/s; N s per m/s and per (m/s)^2 */
    real m0, c;      /* N s, 1: friction that does not depend on n, and that does */
    real eps;        /* m/s, width of the ramp of friction */
    real n0, mu;     /* N s, 1 */
} HuntCrossleyLaw;
static_assert(sizeof(HuntCrossleyLaw) == SAP_CONTACT_LAW_SIZE * sizeof(real),
              "data/layouts.h has another size for contacts");

/* The stiffness of a spring with a period of a tenth of a step on the mass 1/w, in units of 1/(h^2 w): (2 pi/0.1)^2. */
#define NEAR_RIGID_SPRING K(3947.8417604357432)
/* Lower bound of d and of r, so that divisions by them do not overflow. */
#define SLOWEST K(1e-30)

/* The stiffness that the step resolves, of a pair whose k may be infinite. */
KERNEL_FN real hunt_crossley_stiffness(real k, real w, real h) {
    return real_min(k, NEAR_RIGID_SPRING / (h * h * w));
}

/* The data of the law; k is finite. */
KERNEL_FN HuntCrossleyLaw hunt_crossley_law(const LawInput *in, bool lagged) {
    HuntCrossleyLaw law;
    real h = in->h, k = in->k, d = in->d, zero = real_of(0), one = real_of(1);
    real closes = -in->phi0 / h;
    law.vhat = real_min(closes, one / real_max(d, real_of(SLOWEST)));
    law.p = h * h * k * real_abs(one - d * closes);
    law.q = h * h * k * d;
    law.n0 = h * k * real_max(-in->phi0, zero) * real_max(one - d * in->vn0, zero);
    law.mu = in->mu;
    law.m0 = lagged ? in->mu * law.n0 : zero;
    law.c = lagged ? zero : in->mu;
    law.eps = real_max(in->v_s, in->mu * in->sigma * in->w * law.n0);
    return law;
}

/* Friction by another normal impulse. */
KERNEL_FN void hunt_crossley_lag(HuntCrossleyLaw *law, real n0, real sigma, real w, real v_s) {
    law->n0 = n0;
    law->m0 = law->mu * n0;
    law->eps = real_max(v_s, law->mu * sigma * w * n0);
}

/* Its numbers at a velocity. */
typedef struct HuntCrossleyPoint {
    real inv_r, s, t_x, t_y; /* of the tangential velocity */
    real u, n, m;            /* impulses, normal and tangential */
} HuntCrossleyPoint;

KERNEL_FN HuntCrossleyPoint hunt_crossley_at(const HuntCrossleyLaw *law, Vec3 v) {
    HuntCrossleyPoint at;
    real square = real_fma(v.x, v.x, v.y * v.y);
    real r = real_max(real_sqrt(real_fma(law->eps, law->eps, square)), real_of(SLOWEST));
    at.inv_r = K(1.0) / r;
    at.s = square / (r + law->eps);
    at.t_x = v.x * at.inv_r;
    at.t_y = v.y * at.inv_r;
    at.u = real_max(law->vhat - real_fma(-law->c, at.s, v.z), real_of(0));
    at.n = at.u * real_fma(law->q, at.u, law->p);
    at.m = real_fma(law->c, at.n, law->m0);
    return at;
}

KERNEL_FN real hunt_crossley_point_cost(const HuntCrossleyLaw *law, const HuntCrossleyPoint *at) {
    real N = at->u * at->u * real_fma(law->q * K(0.33333333333333331), at->u, K(0.5) * law->p);
    return real_fma(law->m0, at->s, N);
}

/* G: xx yy zz xy xz yz. The curvature n' jumps to 0 at u = 0. */
KERNEL_FN void hunt_crossley_hessian(const HuntCrossleyLaw *law, const HuntCrossleyPoint *at, real G[6]) {
    real slope = real_select(at->u > K(0.0), real_fma(K(2.0) * law->q, at->u, law->p), real_of(0));
    real across = at->m * at->inv_r, mixed = law->c * slope, along = real_fma(law->c, mixed, -across);
    G[0] = real_fma(along, at->t_x * at->t_x, across);
    G[1] = real_fma(along, at->t_y * at->t_y, across);
    G[2] = slope;
    G[3] = along * (at->t_x * at->t_y);
    G[4] = -(mixed * at->t_x);
    G[5] = -(mixed * at->t_y);
}

KERNEL_FN void hunt_crossley_evaluate(const HuntCrossleyLaw *law, Vec3 v, LawValue *out) {
    HuntCrossleyPoint at = hunt_crossley_at(law, v);
    out->gamma = vec3(-(at.m * at.t_x), -(at.m * at.t_y), at.n);
    out->cost = hunt_crossley_point_cost(law, &at);
    hunt_crossley_hessian(law, &at, out->G);
}

KERNEL_FN real hunt_crossley_cost(const HuntCrossleyLaw *law, Vec3 v) {
    HuntCrossleyPoint at = hunt_crossley_at(law, v);
    return hunt_crossley_point_cost(law, &at);
}

/* The region as a number: 0 no impulse, 1 stiction, |v_t| <= eps, 2 sliding, 3 frictionless. */
KERNEL_FN real hunt_crossley_region(const HuntCrossleyLaw *law, Vec3 v) {
    HuntCrossleyPoint at = hunt_crossley_at(law, v);
    mask acts = (at.u > K(0.0)) | (at.m > K(0.0));
    mask sticks = real_fma(v.x, v.x, v.y * v.y) <= law->eps * law->eps;
    real region = real_select(sticks, real_of(1), real_of(2));
    return real_select(acts, real_select(law->mu <= FRICTIONLESS, real_of(3), region), real_of(0));
}
