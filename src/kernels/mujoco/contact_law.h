/* MuJoCo's contact laws: convex potentials of the contact velocity u = (t1, t2, n, spin, roll, roll). docs/mujoco.md.
 *
 * They are given the error e = uref - u, which the solve keeps in place of u: its rounding is smaller by the ratio of
 * the two, and so is the impulse's, e/R.
 *
 * elliptic: the projection on a cone, as the law of SAP (sap/contact.h) in coordinates scaled by mu_j
 *   y_n = (uref_n - u_n)/R_n     y_j = mu_j (uref_j - u_j)/rho     y_r = |y_t|, t = y_t/y_r      rho = R_n m2
 *     stiction   y_r <= y_n                     gamma_n = y_n                        g = y_t
 *     sliding    -m2 y_r < y_n < y_r            gamma_n = f (y_n + m2 y_r)           g = gamma_n t
 *     none       else                           0
 *   gamma_j = mu_j g_j     cost = (R_n gamma_n^2 + rho |g|^2)/2     f = 1/(1 + m2), m2 = mu_1^2/impratio
 *
 * pyramidal: the sum over the edges (1, .. +-mu_k ..) of the cone
 *   gamma_e = max(0, (uref_n - u_n) +- mu_k (uref_k - u_k))/R     gamma_n = sum gamma_e     gamma_k = mu_k (plus - minus)
 *
 * A direction without friction (condim) has mu_j = 0. */

/* A velocity, impulse or column of J: angular (roll, roll, spin) and linear (t1, t2, n) about the same axes. In memory
 * the linear part is first: a contact of three rows has no other. Sums are over the linear part first. */
typedef struct ContactVector {
    Vec3 ang, lin;
} ContactVector;

/* The data of a slot. All 0 means no contact and gives cost, impulse and G 0. */
typedef struct MujocoContact {
    real uref[6];      /* t1, t2, n; roll, roll, spin */
    real mu[5];        /* t1, t2; roll, roll, spin */
    real R_n, inv_R_n; /* 1/kg, kg: the normal; of a pyramid only with condim 1 */
    real rho, inv_rho; /* 1/kg, kg: friction of an elliptic cone */
    real m2, f;        /* of the equations above */
    real inv_edge;     /* kg: 1/R of the edges of a pyramid */
} MujocoContact;
static_assert(sizeof(MujocoContact) == SAP_LAW_SIZE_mujoco * sizeof(real), "mujoco/data.h has another size of the law");

/* Cost, impulse and curvature. G: the linear block xx yy zz xy xz yz, the block of linear rows and angular columns by
 * rows, the angular block as the linear one. */
enum { MUJOCO_G_SIZE = 21 };
typedef struct ContactValue {
    real cost;
    ContactVector gamma;
    real G[MUJOCO_G_SIZE];
} ContactValue;

/* Along a velocity d: cost, gamma.d and d'G d. */
typedef struct LineValue {
    real cost, slope, curvature;
} LineValue;

KERNEL_FN ContactVector contact_vector_zero(void) {
    ContactVector s;
    s.lin = s.ang = vec3_zero();
    return s;
}

/* a b, entry by entry */
KERNEL_FN Vec3 vec3_times(Vec3 a, Vec3 b) {
    return vec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

/* uref - u, and of an error u */
KERNEL_FN ContactVector mujoco_error(const real *data, const ContactVector *u) {
    const MujocoContact *c = (const MujocoContact *)data;
    ContactVector e;
    e.lin = vec3_sub(vec3_load(c->uref), u->lin);
    e.ang = vec3_sub(vec3_load(c->uref + 3), u->ang);
    return e;
}

/* ---- elliptic ---- */

/* y in scaled coordinates, and the region. The normal component of the vectors is 0. */
typedef struct EllipticTrial {
    real y_n, y_r, inv_y_r; /* inv_y_r: 1/y_r, where it slides */
    ContactVector y;        /* y_j */
    mask stick, slide;      /* neither: no contact */
} EllipticTrial;

/* The region, from y_n and y_r. */
KERNEL_FN void elliptic_find_region(const MujocoContact *c, EllipticTrial *s) {
    s->stick = s->y_r <= s->y_n;
    s->slide = mask_not(s->stick) & (-(c->m2 * s->y_r) < s->y_n);
    s->inv_y_r = K(1.0) / real_select(s->slide, s->y_r, real_of(1));
}

KERNEL_FN EllipticTrial elliptic_trial(const MujocoContact *c, const ContactVector *e, bool wide) {
    EllipticTrial s;
    s.y_n = e->lin.z * c->inv_R_n;
    s.y.lin = vec3(c->mu[0] * e->lin.x * c->inv_rho, c->mu[1] * e->lin.y * c->inv_rho, real_of(0));
    s.y.ang = wide ? vec3_scale(c->inv_rho, vec3_times(vec3_load(c->mu + 2), e->ang)) : vec3_zero();
    s.y_r = real_sqrt(vec3_dot(s.y.lin, s.y.lin) + vec3_dot(s.y.ang, s.y.ang));
    elliptic_find_region(c, &s);
    return s;
}

/* gamma_n, and the factor from y_j to g_j */
KERNEL_FN void elliptic_projection(const MujocoContact *c, const EllipticTrial *s, real *normal, real *factor) {
    real zero = real_of(0), g_n = c->f * real_fma(c->m2, s->y_r, s->y_n);
    *normal = real_select(s->stick, s->y_n, real_select(s->slide, g_n, zero));
    *factor = real_select(s->stick, real_of(1), real_select(s->slide, g_n * s->inv_y_r, zero));
}

KERNEL_FN real elliptic_cost(const MujocoContact *c, const EllipticTrial *s, real normal, real factor) {
    real g_r = factor * s->y_r;
    return K(0.5) * real_fma(c->R_n * normal, normal, c->rho * g_r * g_r);
}

KERNEL_FN real elliptic_normal_curvature(const MujocoContact *c, const EllipticTrial *s) {
    real zero = real_of(0);
    return real_select(s->stick, c->inv_R_n, real_select(s->slide, c->f * c->inv_R_n, zero));
}

/* G_nn, G_nj and G_jk = mu_j mu_k (across delta_jk + (along - across) t_j t_k); s_j = mu_j t_j. */
KERNEL_FN void elliptic_hessian(const MujocoContact *c, const EllipticTrial *s, real factor, bool wide, real *G) {
    real zero = real_of(0), t_size = real_select(s->slide, s->inv_y_r, zero), G_nn = elliptic_normal_curvature(c, s);
    real across = factor * c->inv_rho, bend = real_select(s->slide, c->f * c->inv_R_n - across, zero);
    real couple = real_select(s->slide, c->f * c->inv_R_n, zero);
    Vec3 m = vec3(c->mu[0], c->mu[1], zero), a = vec3_scale(t_size, vec3_times(m, s->y.lin));
    G[0] = real_fma(bend, a.x * a.x, across * m.x * m.x);
    G[1] = real_fma(bend, a.y * a.y, across * m.y * m.y);
    G[2] = G_nn;
    G[3] = bend * a.x * a.y;
    G[4] = couple * a.x;
    G[5] = couple * a.y;
    if (!wide)
        return;
    Vec3 p = vec3_load(c->mu + 2), b = vec3_scale(t_size, vec3_times(p, s->y.ang));
    vec3_store(G + 6, vec3_scale(bend * a.x, b));
    vec3_store(G + 9, vec3_scale(bend * a.y, b));
    vec3_store(G + 12, vec3_scale(couple, b));
    G[15] = real_fma(bend, b.x * b.x, across * p.x * p.x);
    G[16] = real_fma(bend, b.y * b.y, across * p.y * p.y);
    G[17] = real_fma(bend, b.z * b.z, across * p.z * p.z);
    G[18] = bend * b.x * b.y;
    G[19] = bend * b.x * b.z;
    G[20] = bend * b.y * b.z;
}

KERNEL_FN void elliptic_evaluate(const MujocoContact *c, const ContactVector *e, bool wide, ContactValue *out) {
    EllipticTrial s = elliptic_trial(c, e, wide);
    real normal, factor;
    elliptic_projection(c, &s, &normal, &factor);
    out->cost = elliptic_cost(c, &s, normal, factor);
    out->gamma.lin = vec3(c->mu[0] * factor * s.y.lin.x, c->mu[1] * factor * s.y.lin.y, normal);
    out->gamma.ang = vec3_scale(factor, vec3_times(vec3_load(c->mu + 2), s.y.ang));
    elliptic_hessian(c, &s, factor, wide, out->G);
}

/* The constants of a line u + a d, which has the errors e - a d:
 *   y_n = n0 - a n1,  |y_t|^2 = t0 - 2 a t1 + a^2 t2,  and the cost at a = 0. */
enum {
    ELLIPTIC_LINE_N0,
    ELLIPTIC_LINE_N1,
    ELLIPTIC_LINE_T0,
    ELLIPTIC_LINE_T1,
    ELLIPTIC_LINE_T2,
    ELLIPTIC_LINE_COST,
    ELLIPTIC_LINE_SIZE
};

/* The trial impulse at a. */
KERNEL_FN EllipticTrial elliptic_line_trial(const MujocoContact *c, const real *line, real a) {
    EllipticTrial s;
    real t1 = line[ELLIPTIC_LINE_T1], t2 = line[ELLIPTIC_LINE_T2];
    real squares = real_fma(a, real_fma(a, t2, K(-2.0) * t1), line[ELLIPTIC_LINE_T0]);
    s.y = contact_vector_zero(); /* not needed */
    s.y_n = real_fma(-a, line[ELLIPTIC_LINE_N1], line[ELLIPTIC_LINE_N0]);
    s.y_r = real_sqrt(real_max(squares, real_of(0)));
    elliptic_find_region(c, &s);
    return s;
}

/* With p = t1 - a t2, so that rho p = y_t.(mu d) and rho^2 t2 = |mu d|^2, and along = rho p/y_r:
 *   gamma.d = gamma_n d_n + |g|/y_r rho p      d'G d = G_nn (d_n + along)^2 + |g|/y_r (rho^2 t2 - along^2)/rho */
KERNEL_FN void elliptic_line(const MujocoContact *c, const real *line, real a, LineValue *out) {
    EllipticTrial s = elliptic_line_trial(c, line, a);
    real normal, factor, t2 = line[ELLIPTIC_LINE_T2], d_n = line[ELLIPTIC_LINE_N1] * c->R_n;
    real p = c->rho * real_fma(-a, t2, line[ELLIPTIC_LINE_T1]);
    elliptic_projection(c, &s, &normal, &factor);
    real along = real_select(s.slide, p * s.inv_y_r, real_of(0)), both = d_n + along;
    out->cost = elliptic_cost(c, &s, normal, factor);
    out->slope = real_fma(normal, d_n, factor * p);
    out->curvature = real_fma(elliptic_normal_curvature(c, &s) * both, both,
                              factor * real_fma(c->rho, t2, -(along * along * c->inv_rho)));
}

KERNEL_FN void elliptic_line_make(const real *data, const ContactVector *e, const ContactVector *d, bool wide,
                                  real *line) {
    const MujocoContact *c = (const MujocoContact *)data;
    EllipticTrial s = elliptic_trial(c, e, wide);
    Vec3 q = vec3(c->mu[0] * d->lin.x * c->inv_rho, c->mu[1] * d->lin.y * c->inv_rho, real_of(0));
    real t0 = vec3_dot(s.y.lin, s.y.lin), t1 = vec3_dot(s.y.lin, q), t2 = vec3_dot(q, q);
    if (wide) {
        Vec3 r = vec3_scale(c->inv_rho, vec3_times(vec3_load(c->mu + 2), d->ang));
        t0 = t0 + vec3_dot(s.y.ang, s.y.ang);
        t1 = t1 + vec3_dot(s.y.ang, r);
        t2 = t2 + vec3_dot(r, r);
    }
    line[ELLIPTIC_LINE_N0] = s.y_n;
    line[ELLIPTIC_LINE_N1] = d->lin.z * c->inv_R_n;
    line[ELLIPTIC_LINE_T0] = t0;
    line[ELLIPTIC_LINE_T1] = t1;
    line[ELLIPTIC_LINE_T2] = t2;
    LineValue at;
    elliptic_line(c, line, real_of(0), &at);
    line[ELLIPTIC_LINE_COST] = at.cost;
}

/* ---- pyramidal ---- */

/* The two edges of direction k: adds their cost and normal impulse, and gives impulse and curvatures along k. */
typedef struct EdgePair {
    real gamma, G_kk, G_nk;
} EdgePair;

KERNEL_FN EdgePair pyramid_edges(const MujocoContact *c, real mu, real e_n, real e_k, ContactValue *out) {
    EdgePair pair;
    real zero = real_of(0), x = mu * e_k, plus = e_n + x, minus = e_n - x;
    mask exists = mu > zero;
    mask has_plus = exists & (plus > zero), has_minus = exists & (minus > zero);
    real d_plus = real_select(has_plus, c->inv_edge, zero), d_minus = real_select(has_minus, c->inv_edge, zero);
    real g_plus = d_plus * plus, g_minus = d_minus * minus;
    out->cost = real_fma(K(0.5) * g_minus, minus, real_fma(K(0.5) * g_plus, plus, out->cost));
    out->gamma.lin.z = out->gamma.lin.z + (g_plus + g_minus);
    out->G[2] = out->G[2] + (d_plus + d_minus);
    pair.gamma = mu * (g_plus - g_minus);
    pair.G_kk = mu * mu * (d_plus + d_minus);
    pair.G_nk = mu * (d_plus - d_minus);
    return pair;
}

KERNEL_FN void pyramid_evaluate(const MujocoContact *c, const ContactVector *e, bool wide, ContactValue *out) {
    real zero = real_of(0), e_n = e->lin.z;
    mask pushes = e_n > zero;
    /* condim 1 has a normal and no edges */
    real d_n = real_select(pushes, c->inv_R_n, zero), g_n = d_n * e_n;
    for (int i = 0; i < (wide ? MUJOCO_G_SIZE : 6); i++)
        out->G[i] = zero;
    out->gamma = contact_vector_zero();
    out->cost = K(0.5) * g_n * e_n;
    out->gamma.lin.z = g_n;
    out->G[2] = d_n;
    EdgePair x = pyramid_edges(c, c->mu[0], e_n, e->lin.x, out), y = pyramid_edges(c, c->mu[1], e_n, e->lin.y, out);
    out->gamma.lin.x = x.gamma;
    out->gamma.lin.y = y.gamma;
    out->G[0] = x.G_kk;
    out->G[1] = y.G_kk;
    out->G[4] = x.G_nk;
    out->G[5] = y.G_nk;
    if (!wide)
        return;
    EdgePair a = pyramid_edges(c, c->mu[2], e_n, e->ang.x, out), b = pyramid_edges(c, c->mu[3], e_n, e->ang.y, out),
             s = pyramid_edges(c, c->mu[4], e_n, e->ang.z, out);
    out->gamma.ang = vec3(a.gamma, b.gamma, s.gamma);
    vec3_store(out->G + 12, vec3(a.G_nk, b.G_nk, s.G_nk));
    vec3_store(out->G + 15, vec3(a.G_kk, b.G_kk, s.G_kk));
}

/* The constants of a line u + a d: the error of the normal and mu_k times direction k's, n - a dn and x_k - a
 * dx_k, so that the edges have (n +- x_k) - a (dn +- dx_k). */
enum {
    PYRAMID_LINE_N0,
    PYRAMID_LINE_N1,
    PYRAMID_LINE_K, /* two numbers per direction */
    PYRAMID_LINE_SIZE = PYRAMID_LINE_K + 2 * 5
};
static_assert((int)ELLIPTIC_LINE_SIZE <= 6 && (int)PYRAMID_LINE_K + 4 <= 6 && (int)PYRAMID_LINE_SIZE <= MUJOCO_G_SIZE,
              "the constants of a line are in the memory of G, which has 6 numbers or MUJOCO_G_SIZE");

/* The number of directions with friction. */
KERNEL_FN int mujoco_directions(bool wide) {
    return wide ? 5 : 2;
}

KERNEL_FN void pyramid_line_make(const real *data, const ContactVector *e, const ContactVector *d, bool wide,
                                 real *line) {
    const MujocoContact *c = (const MujocoContact *)data;
    const real e_k[5] = {e->lin.x, e->lin.y, e->ang.x, e->ang.y, e->ang.z};
    const real d_k[5] = {d->lin.x, d->lin.y, d->ang.x, d->ang.y, d->ang.z};
    line[PYRAMID_LINE_N0] = e->lin.z;
    line[PYRAMID_LINE_N1] = d->lin.z;
    for (int k = 0; k < mujoco_directions(wide); k++) {
        line[PYRAMID_LINE_K + 2 * k] = c->mu[k] * e_k[k];
        line[PYRAMID_LINE_K + 2 * k + 1] = c->mu[k] * d_k[k];
    }
}

/* Worlds in which an edge pushes at one and not at the other of two errors, e and `line` at a = 0. G is the
 * same in the others. */
KERNEL_FN mask pyramid_changes(const MujocoContact *c, const real *line, const ContactVector *e, bool wide) {
    const real e_k[5] = {e->lin.x, e->lin.y, e->ang.x, e->ang.y, e->ang.z};
    real zero = real_of(0), before = line[PYRAMID_LINE_N0], now = e->lin.z;
    mask changes = (c->inv_R_n > zero) & ((before > zero) != (now > zero));
    for (int k = 0; k < mujoco_directions(wide); k++) {
        real x = line[PYRAMID_LINE_K + 2 * k], y = c->mu[k] * e_k[k];
        mask plus = (before + x > zero) != (now + y > zero), minus = (before - x > zero) != (now - y > zero);
        changes = changes | ((c->mu[k] > zero) & (plus | minus));
    }
    return changes;
}

/* Adds a row with error e and curvature `stiff`, where it pushes, along its velocity d. */
KERNEL_FN void edge_line(real stiff, real e, real d, LineValue *out) {
    real zero = real_of(0), held = real_select(e > zero, stiff, zero), gamma = held * e;
    out->cost = real_fma(K(0.5) * gamma, e, out->cost);
    out->slope = real_fma(gamma, d, out->slope);
    out->curvature = real_fma(held * d, d, out->curvature);
}

KERNEL_FN void pyramid_line(const MujocoContact *c, const real *line, real a, bool wide, LineValue *out) {
    real zero = real_of(0), dn = line[PYRAMID_LINE_N1], n = real_fma(-a, dn, line[PYRAMID_LINE_N0]);
    out->cost = out->slope = out->curvature = zero;
    edge_line(c->inv_R_n, n, dn, out);
    for (int k = 0; k < mujoco_directions(wide); k++) {
        real dx = line[PYRAMID_LINE_K + 2 * k + 1], x = real_fma(-a, dx, line[PYRAMID_LINE_K + 2 * k]);
        real stiff = real_select(c->mu[k] > zero, c->inv_edge, zero);
        edge_line(stiff, n + x, dn + dx, out);
        edge_line(stiff, n - x, dn - dx, out);
    }
}

/* ---- the law as constraints call it ---- */

/* `wide`: some contact has condim 4 or 6. */
KERNEL_FN real mujoco_contact_cost(const real *data, bool elliptic, bool wide, const ContactVector *e) {
    const MujocoContact *c = (const MujocoContact *)data;
    if (elliptic) {
        EllipticTrial s = elliptic_trial(c, e, wide);
        real normal, factor;
        elliptic_projection(c, &s, &normal, &factor);
        return elliptic_cost(c, &s, normal, factor);
    }
    real line[PYRAMID_LINE_SIZE];
    ContactVector none = contact_vector_zero();
    LineValue at;
    pyramid_line_make(data, e, &none, wide, line);
    pyramid_line(c, line, real_of(0), wide, &at);
    return at.cost;
}

/* The constants of the line u + a d. */
KERNEL_FN void mujoco_contact_line_make(const real *data, bool elliptic, bool wide, const ContactVector *e,
                                        const ContactVector *d, real *line) {
    if (elliptic)
        elliptic_line_make(data, e, d, wide, line);
    else
        pyramid_line_make(data, e, d, wide, line);
}

/* At the velocity u + a d, along d. */
KERNEL_FN void mujoco_contact_line(const real *data, bool elliptic, bool wide, const real *line, real a,
                                   LineValue *out) {
    const MujocoContact *c = (const MujocoContact *)data;
    if (elliptic)
        elliptic_line(c, line, a, out);
    else
        pyramid_line(c, line, a, wide, out);
}

KERNEL_FN void mujoco_contact_evaluate(const real *data, bool elliptic, bool wide, const ContactVector *e,
                                       ContactValue *out) {
    const MujocoContact *c = (const MujocoContact *)data;
    if (elliptic)
        elliptic_evaluate(c, e, wide, out);
    else
        pyramid_evaluate(c, e, wide, out);
}

/* The region as a number: 0 none, 1 stiction or any edge of a pyramid, 2 sliding. */
KERNEL_FN real mujoco_contact_region(const real *data, bool elliptic, bool wide, const ContactVector *e) {
    const MujocoContact *c = (const MujocoContact *)data;
    real zero = real_of(0), one = real_of(1);
    if (elliptic) {
        EllipticTrial s = elliptic_trial(c, e, wide);
        return real_select(s.stick & (s.y_n > zero), one, real_select(s.slide, real_of(2), zero));
    }
    ContactValue at;
    pyramid_evaluate(c, e, wide, &at);
    return real_select(at.gamma.lin.z > zero, one, zero);
}

/* G u of a value or of a slot's curvature. */
KERNEL_FN ContactVector contact_vector_G_mul(const real *G, const ContactVector *u, bool wide) {
    ContactVector out = contact_vector_zero();
    out.lin = law_G_mul(G, u->lin);
    if (!wide)
        return out;
    const real *C = G + 6;
    out.lin = vec3_add(out.lin, vec3(vec3_dot(vec3_load(C), u->ang), vec3_dot(vec3_load(C + 3), u->ang),
                                     vec3_dot(vec3_load(C + 6), u->ang)));
    out.ang =
        vec3_fma(u->lin.z, vec3_load(C + 6), vec3_fma(u->lin.y, vec3_load(C + 3), vec3_scale(u->lin.x, vec3_load(C))));
    out.ang = vec3_add(out.ang, law_G_mul(G + 15, u->ang));
    return out;
}

KERNEL_FN real contact_vector_dot(const ContactVector *a, const ContactVector *b, bool wide) {
    real s = vec3_dot(a->lin, b->lin);
    return wide ? s + vec3_dot(a->ang, b->ang) : s;
}
