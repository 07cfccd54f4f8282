/* The weight of a row in a discrete step, whose metric is Mh = M + h D + h^2 K instead of M. docs/mujoco.md.
 *
 *   w_h = w sum_k J_k^2/Mh_kk / sum_k J_k^2/M_kk
 *
 * The sums are over MuJoCo's dofs: a free or ball joint's are about the axes of the body. */

typedef struct MujocoSpread {
    real metric, mass; /* the two sums */
} MujocoSpread;

KERNEL_FN real mujoco_A(const Context *ctx, int i, int j) {
    const SapPatternRow *row = ctx->args->plan.tree.row;
    return view_get(FM_VIEW(A), row[i].start + row[j].depth); /* j <= i, on one path */
}

KERNEL_FN void mujoco_spread_add(const Context *ctx, int i, real J, real A_ii, MujocoSpread *sum) {
    real square = J * J, damping = STAGE_H * formulation_damping(ctx, i);
    sum->metric = sum->metric + square / A_ii;
    sum->mass = sum->mass + square / (A_ii - damping);
}

/* The three angular dofs from i on, with the entries J about the axes before the turn. */
STAGE_FN void mujoco_spread_turn(const Context *ctx, const SapLink *link, int i, Vec3 J, MujocoSpread *sum) {
    int at = link->q + (link->type == SAP_JOINT_FREE ? 3 : 0);
    StageView q = FM_VIEW(q);
    Mat3 R = quat_matrix(quat(view_get(q, at), view_get(q, at + 1), view_get(q, at + 2), view_get(q, at + 3)));
    Vec3 c0 = vec3(mujoco_A(ctx, i, i), mujoco_A(ctx, i + 1, i), mujoco_A(ctx, i + 2, i));
    Vec3 c1 = vec3(c0.y, mujoco_A(ctx, i + 1, i + 1), mujoco_A(ctx, i + 2, i + 1));
    Vec3 c2 = vec3(c0.z, c1.z, mujoco_A(ctx, i + 2, i + 2));
    const Vec3 axis[3] = {R.x, R.y, R.z};
    for (int k = 0; k < 3; k++) {
        Vec3 Ar = vec3(vec3_dot(c0, axis[k]), vec3_dot(c1, axis[k]), vec3_dot(c2, axis[k]));
        mujoco_spread_add(ctx, i + k, vec3_dot(J, axis[k]), vec3_dot(axis[k], Ar), sum);
    }
}

/* w_h/w of the row J[a + stride j] + mu J[b + stride j] over n columns; 1 where it is 0. The columns have the dofs
 * of a contact or, if that is NULL, of a block. */
STAGE_FN real mujoco_spread(const Context *ctx, const SapDofIndex *of_contact, const int *of_block, int n, StageView J,
                            int stride, int a, int b, real mu) {
    const SapPlan *plan = &ctx->args->plan;
    MujocoSpread sum;
    sum.metric = sum.mass = real_of(0);
    for (int j = 0; j < n; j++) {
        int dof = of_contact ? of_contact[j] : of_block[j];
        const SapLink *link = &plan->link[plan->tree.row[dof].link];
        bool turns = (link->type == SAP_JOINT_FREE || link->type == SAP_JOINT_BALL) && dof == link->v;
        real e[3];
        for (int k = 0; k < (turns ? 3 : 1); k++)
            e[k] = real_fma(mu, view_get(J, b + stride * (j + k)), view_get(J, a + stride * (j + k)));
        if (turns) {
            mujoco_spread_turn(ctx, link, dof, vec3_load(e), &sum);
            j += 2;
        } else {
            mujoco_spread_add(ctx, dof, e[0], mujoco_A(ctx, dof, dof), &sum);
        }
    }
    mask none = sum.mass == K(0.0);
    return real_select(none, real_of(1), sum.metric / real_select(none, real_of(1), sum.mass));
}
