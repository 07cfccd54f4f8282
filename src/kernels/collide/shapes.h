/* Shapes in the world: poses and bounding spheres, and which of two are near each other. docs/collision.md. */

#define COLLIDE(part)      ((real *)ctx->collide + ctx->args->collide.layout.part)
#define COLLIDE_INTS(part) (ctx->pairs + ctx->args->collide.layout.part)

KERNEL_FN Pose shape_in_body(const Context *ctx, int s) {
    Pose pose;
    pose.p = field_get_vec3(STAGE_CONSTANTS->shape_pose, 7 * s, ctx->pack);
    pose.q = field_get_quat(STAGE_CONSTANTS->shape_pose, 7 * s + 3, ctx->pack);
    return pose;
}

/* The distance from the surface of shape s at which contacts begin. */
KERNEL_FN real shape_reach(const Context *ctx, int s) {
    return field_get(STAGE_CONSTANTS->shape_margin, s, ctx->pack) + field_get(STAGE_CONSTANTS->shape_gap, s, ctx->pack);
}

/* Pose and bounding sphere of shape s in the world. */
STAGE_FN void collide_shape(const Context *ctx, int s) {
    SapField bound = STAGE_CONSTANTS->shape_bound;
    int link = ctx->args->plan.shape_link[s];
    Pose pose = shape_in_body(ctx, s);
    if (link >= 0)
        pose = pose_mul(body_pose(ctx, link), pose);
    pose_store(COLLIDE(pose) + 7 * s, pose);
    real *ball = COLLIDE(ball) + 4 * s;
    vec3_store(ball, vec3_add(pose.p, quat_rotate(pose.q, field_get_vec3(bound, 4 * s, ctx->pack))));
    ball[3] = field_get(bound, 4 * s + 3, ctx->pack) + shape_reach(ctx, s);
}

/* ---- pairs ---- */

/* Worlds in which the bounding spheres of two shapes overlap; the bound of a plane is its half-space. The type of a is
 * not larger than b's. */
KERNEL_FN mask pair_near(const Context *ctx, int a, int b) {
    const real *ball_a = COLLIDE(ball) + 4 * a, *ball_b = COLLIDE(ball) + 4 * b;
    Vec3 d = vec3_sub(vec3_load(ball_b), vec3_load(ball_a));
    real r = ball_a[3] + ball_b[3];
    if (ctx->args->plan.shape_type[a] == SAP_SHAPE_PLANE) {
        Vec3 z = vec3(real_of(0), real_of(0), real_of(1));
        return vec3_dot(quat_rotate(quat_load(COLLIDE(pose) + 7 * a + 3), z), d) <= r;
    }
    return vec3_dot(d, d) <= r * r;
}

/* The pair of shapes a and b, ordered by type. */
KERNEL_FN SapPair pair_of(const SapPlan *plan, int a, int b) {
    bool swap = plan->shape_type[a] > plan->shape_type[b];
    SapPair pair;
    pair.shape[0] = swap ? b : a;
    pair.shape[1] = swap ? a : b;
    return pair;
}

/* Bit b of a row of plan.allowed. */
KERNEL_FN bool pair_is_allowed(const SapPlan *plan, int row, int b) {
    return (plan->allowed[(long long)row * plan->row_words + b / WORD_BITS] >> (b % WORD_BITS)) & 1;
}
