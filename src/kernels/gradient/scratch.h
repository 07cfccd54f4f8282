/* What the derivatives of a step keep: access to the parts of their scratch. */

/* The pack's derivatives: arguments and scratch. */
typedef struct Gradient {
    const SapGradientArgs *args;
    real *scratch;
} Gradient;

#define GRAD(part) (g->scratch + g->args->layout.part)

/* Column S of dof i, at the beginning of the step. */
KERNEL_FN Spatial dof_column(const Context *ctx, int i) {
    return spatial_load(FM(S) + 6 * i);
}

KERNEL_FN const SapLink *dof_link(const Context *ctx, int i) {
    return &ctx->args->plan.link[ctx->args->plan.tree.row[i].link];
}

/* Unit vector k. */
KERNEL_FN Vec3 vec3_unit(int k) {
    return vec3(real_of(k == 0), real_of(k == 1), real_of(k == 2));
}

KERNEL_FN Mat3 mat3_load(const real *p) {
    Mat3 R;
    R.x = vec3_load(p);
    R.y = vec3_load(p + 3);
    R.z = vec3_load(p + 6);
    return R;
}
KERNEL_FN void mat3_store(real *p, Mat3 R) {
    vec3_store(p, R.x);
    vec3_store(p + 3, R.y);
    vec3_store(p + 6, R.z);
}
