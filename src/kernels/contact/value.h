/* Input and output of laws of contacts and of dofs. */

/* A contact and its material. */
typedef struct LawInput {
    real phi0;        /* m, gap */
    real w;           /* 1/kg, weight */
    real k, mu;       /* stiffness, N/m (infinite: rigid); friction */
    real tau, d;      /* dissipation time, s, of the law `sap`; dissipation, s/m, of the others */
    real h;           /* s, time step */
    real beta, sigma; /* near-rigid factor of the law `sap`, regularisation of friction */
    real vn0, v_s;    /* m/s, normal velocity at the start of the step, stiction tolerance; not of the law `sap` */
} LawInput;

/* A potential at one velocity: cost l, gamma = -dl/dv, G = d2l/dv2 as xx yy zz xy xz yz. */
typedef struct LawValue {
    real cost;
    Vec3 gamma;
    real G[6];
} LawValue;

/* G u */
KERNEL_FN Vec3 law_G_mul(const real *G, Vec3 u) {
    return vec3(real_fma(G[4], u.z, real_fma(G[3], u.y, G[0] * u.x)),
                real_fma(G[5], u.z, real_fma(G[1], u.y, G[3] * u.x)),
                real_fma(G[2], u.z, real_fma(G[5], u.y, G[4] * u.x)));
}

/* Impulses of the drive, the limits and the friction of a dof, and the sum of their costs and curvatures. */
typedef struct JointTerms {
    real drive, limit, friction;
    real cost, hessian;
} JointTerms;

KERNEL_FN real joint_terms_impulse(const JointTerms *t) {
    return t->drive + t->limit + t->friction;
}

/* The bit of DOF_ACTS(i) for a dof whose terms are no parabola along the line in some world (solve/problem.h). */
enum { DOF_LINE_ACTS = 8 };
