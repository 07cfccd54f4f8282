/* The SAP contact law: a convex potential of the contact velocity v = (t1, t2, n). docs/contact_law.md.
 *
 *   R_n = max(beta^2/(4 pi^2) w, 1/(h k (h + tau)))     R_t = sigma w      vhat = -phi0/(h + tau)
 *   y = ( -v_t/R_t , (vhat - v_n)/R_n )                  y_r = |y_t| (softened), t = y_t/y_r
 *   gamma = the projection of y on the friction cone in the norm of R = diag(R_t, R_t, R_n):
 *     stiction     y_r <= mu y_n                          gamma = y
 *     sliding      -mu^ y_r < y_n < y_r/mu                gamma_n = f (y_n + mu^ y_r), gamma_t = mu gamma_n t
 *     none         else                                   0
 *   mu^ = mu R_t/R_n,  f = 1/(1 + mu mu^);  cost = gamma' R gamma / 2,  impulse gamma,  G = -d gamma/d v */

/* The data of a slot, kept in scratch. All 0 means no contact and gives cost, impulse and G 0. */
typedef struct ContactLaw {
    real R_t, R_n, inv_R_t, inv_R_n; /* regularisation, 1/kg, and its inverse, kg */
    real vhat;                       /* m/s */
    real mu, mu_hat, f;              /* mu, mu^ and f of the equations above */
} ContactLaw;
static_assert(sizeof(ContactLaw) == SAP_CONTACT_LAW_SIZE * sizeof(real),
              "data/layouts.h has another size for contacts");

/* Contacts with mu up to this value have no friction: the cone is a ray. */
#define FRICTIONLESS K(1e-12)
/* The tangential norm is softened by this impulse (N s), so that its direction is defined at rest. */
#define SOFT_IMPULSE K(1e-7)
/* Lower bound of the regularisation, so that divisions by it do not overflow. */
#define R_FLOOR K(1e-30)
/* Upper bound of the regularisation: a denormal k would make it infinite, and an impulse of 0 must cost 0. */
#define R_CEILING K(1e30)

/* The data of the law from gap, weight, material and step. */
KERNEL_FN ContactLaw sap_contact_law(real phi0, real w, real k, real tau, real mu, real h, real beta, real sigma) {
    ContactLaw c;
    real dissipation = h + tau;
    real near_rigid = beta * beta * K(0.025330295910584444) * w; /* 1/(4 pi^2) */
    real compliant = real_min(K(1.0) / (h * k * dissipation), real_of(R_CEILING));
    c.R_n = real_max(real_max(near_rigid, compliant), real_of(R_FLOOR));
    c.R_t = real_max(sigma * w, real_of(R_FLOOR));
    c.inv_R_n = K(1.0) / c.R_n;
    c.inv_R_t = K(1.0) / c.R_t;
    c.vhat = -phi0 / dissipation;
    c.mu = mu;
    c.mu_hat = mu * c.R_t * c.inv_R_n;
    c.f = K(1.0) / real_fma(mu, c.mu_hat, real_of(K(1.0)));
    return c;
}

/* y, its tangential norm and direction, and the region. */
typedef struct ContactTrial {
    Vec3 y;
    real y_r, inv_y_r;
    real t_x, t_y;
    mask normal_only, stick, slide; /* regions: frictionless, stiction, sliding; none of them: no contact */
} ContactTrial;

KERNEL_FN ContactTrial sap_contact_trial(const ContactLaw *c, Vec3 v) {
    ContactTrial s;
    s.y = vec3(-(v.x * c->inv_R_t), -(v.y * c->inv_R_t), (c->vhat - v.z) * c->inv_R_n);
    s.y_r = real_sqrt(real_fma(s.y.x, s.y.x, real_fma(s.y.y, s.y.y, real_of(SOFT_IMPULSE * SOFT_IMPULSE))));
    s.inv_y_r = K(1.0) / s.y_r;
    s.t_x = s.y.x * s.inv_y_r;
    s.t_y = s.y.y * s.inv_y_r;
    mask frictionless = c->mu <= FRICTIONLESS;
    mask pushes = s.y.z > K(0.0);
    s.normal_only = frictionless & pushes;
    s.stick = mask_not(frictionless) & (s.y_r <= c->mu * s.y.z);
    s.slide = mask_not(frictionless) & mask_not(s.stick) & (-(c->mu_hat * s.y_r) < s.y.z) & (c->mu * s.y.z < s.y_r);
    return s;
}

KERNEL_FN Vec3 sap_contact_impulse(const ContactLaw *c, const ContactTrial *s) {
    real zero = real_of(0);
    real g_n = real_fma(c->mu_hat, s->y_r, s->y.z) * c->f;
    real g_t = c->mu * g_n;
    Vec3 gamma;
    gamma.x = real_select(s->stick, s->y.x, real_select(s->slide, g_t * s->t_x, zero));
    gamma.y = real_select(s->stick, s->y.y, real_select(s->slide, g_t * s->t_y, zero));
    gamma.z = real_select(s->stick | s->normal_only, s->y.z, real_select(s->slide, g_n, zero));
    return gamma;
}

KERNEL_FN real sap_contact_impulse_cost(const ContactLaw *c, Vec3 gamma) {
    real tangent = real_fma(gamma.x, gamma.x, gamma.y * gamma.y);
    return K(0.5) * real_fma(c->R_t, tangent, c->R_n * gamma.z * gamma.z);
}

/* G, symmetric positive semidefinite: xx yy zz xy xz yz. Sliding, with P = t t', Q = E - P:
 *   G_tt = mu ((gamma_n/y_r) Q + mu^ f P)/R_t     G_tn = mu f t/R_n     G_nn = f/R_n */
KERNEL_FN void sap_contact_hessian(const ContactLaw *c, const ContactTrial *s, real G[6]) {
    real zero = real_of(0), one = real_of(1);
    real g_n = real_fma(c->mu_hat, s->y_r, s->y.z) * c->f;
    real across = c->mu * (g_n * s->inv_y_r) * c->inv_R_t;
    real along = c->mu * c->mu_hat * c->f * c->inv_R_t;
    real P_xx = s->t_x * s->t_x, P_yy = s->t_y * s->t_y, P_xy = s->t_x * s->t_y;
    real G_nn = c->f * c->inv_R_n, G_n = c->mu * G_nn;
    G[0] = real_select(s->stick, c->inv_R_t, real_select(s->slide, real_fma(across, one - P_xx, along * P_xx), zero));
    G[1] = real_select(s->stick, c->inv_R_t, real_select(s->slide, real_fma(across, one - P_yy, along * P_yy), zero));
    G[2] = real_select(s->stick | s->normal_only, c->inv_R_n, real_select(s->slide, G_nn, zero));
    G[3] = real_select(s->slide, (along - across) * P_xy, zero);
    G[4] = real_select(s->slide, G_n * s->t_x, zero);
    G[5] = real_select(s->slide, G_n * s->t_y, zero);
}

/* The region as a number: 0 none, 1 stiction, 2 sliding, 3 frictionless. */
KERNEL_FN real sap_contact_trial_region(const ContactTrial *s) {
    return real_select(s->stick, real_of(1),
                       real_select(s->slide, real_of(2), real_select(s->normal_only, real_of(3), real_of(0))));
}

/* ---- the law as sap/constraint.h calls it ---- */

KERNEL_FN void sap_contact_make(const LawInput *in, real *data) {
    *(ContactLaw *)data = sap_contact_law(in->phi0, in->w, in->k, in->tau, in->mu, in->h, in->beta, in->sigma);
}

KERNEL_FN void sap_contact_evaluate(const real *data, Vec3 v, LawValue *out) {
    ContactLaw law = *(const ContactLaw *)data;
    ContactTrial trial = sap_contact_trial(&law, v);
    out->gamma = sap_contact_impulse(&law, &trial);
    out->cost = sap_contact_impulse_cost(&law, out->gamma);
    sap_contact_hessian(&law, &trial, out->G);
}

KERNEL_FN real sap_contact_cost(const real *data, Vec3 v) {
    ContactLaw law = *(const ContactLaw *)data;
    ContactTrial trial = sap_contact_trial(&law, v);
    return sap_contact_impulse_cost(&law, sap_contact_impulse(&law, &trial));
}

KERNEL_FN real sap_contact_region(const real *data, Vec3 v) {
    ContactLaw law = *(const ContactLaw *)data;
    ContactTrial trial = sap_contact_trial(&law, v);
    return sap_contact_trial_region(&trial);
}
