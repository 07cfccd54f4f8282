/* The joints: the pose of frame M in frame F, the motion subspace, and the integration of coordinates. A new joint type
 * is a case in each of the switches below (docs/joints.md). The functions process one link.
 *
 * Dof columns in F axes are (a, l): angular part, and velocity of M's origin. With the world rotation of F,
 *   S = [ R a ; R l + R a x (O - x_M) ]     W = sum R a qd     U = sum R l qd
 * With w_P the angular velocity of F, the bias (rate of S qd at constant qd, O fixed in space) is
 *   c.ang = w_P x W + R alpha       c.lin = w_P x U + c.ang x (O - x_M) - W x (velocity of x_M)
 * alpha = sum_{i<j} qd_i qd_j a_i x a_j for the successive angular axes of a D6 joint, else 0. */

typedef struct JointPose {
    Quat q_WF;    /* rotation of F */
    Vec3 x_M;     /* origin of M, world */
    Pose X_WB;    /* the child body */
    Vec3 axes[3]; /* angular axes of a D6 joint, in F */
} JointPose;

/* The velocity of M relative to F, world axes. */
typedef struct JointRate {
    Vec3 W;     /* angular velocity */
    Vec3 U;     /* velocity of M's origin */
    Vec3 alpha; /* R alpha, the rate of the axes of a D6 joint */
} JointRate;

/* The joint's contributions to twist and bias acceleration, about O. */
typedef struct JointMotion {
    Spatial S_qd, c;
} JointMotion;

/* The rotation by angle about the unit axis. */
KERNEL_FN Quat joint_turn(Vec3 axis, real angle) {
    real s, c;
    real_sincos(K(0.5) * angle, &s, &c);
    return quat(s * axis.x, s * axis.y, s * axis.z, c);
}

/* 0, or NaN for an angle beyond the range of joint_turn. */
KERNEL_FN real joint_angle_check(real angle) {
    return trig_check(K(0.5) * angle);
}

KERNEL_FN Vec3 joint_axis(const Context *ctx, int dof) {
    return field_get_vec3(STAGE_CONSTANTS->axis, 3 * dof, ctx->pack);
}

/* R_FM = turn(b_0, q_0) turn(b_1, q_1) turn(b_2, q_2); axes[j] is b_j after the rotations before it, in F. */
KERNEL_FN Quat joint_d6_rotation(const Context *ctx, const SapLink *link, const real *q, Vec3 axes[3]) {
    Quat R = quat(real_of(0), real_of(0), real_of(0), real_of(1));
    for (int j = 0; j < link->nang; j++) {
        int k = link->nlin + j;
        Vec3 b = joint_axis(ctx, link->v + k);
        axes[j] = quat_rotate(R, b);
        R = quat_mul(R, joint_turn(b, q[k]));
    }
    return R;
}

/* X_FM of the joint at its coordinates q; for D6 also its angular axes, in F. */
KERNEL_FN Pose joint_transform(const Context *ctx, const SapLink *link, const real *q, Vec3 axes[3]) {
    Pose X;
    X.p = vec3_zero();
    X.q = quat(real_of(0), real_of(0), real_of(0), real_of(1));
    switch (link->type) {
    case SAP_JOINT_REVOLUTE: X.q = joint_turn(joint_axis(ctx, link->v), q[0]); break;
    case SAP_JOINT_PRISMATIC: X.p = vec3_scale(q[0], joint_axis(ctx, link->v)); break;
    case SAP_JOINT_BALL: X.q = quat_load(q); break;
    case SAP_JOINT_FREE: X = pose_load(q); break;
    case SAP_JOINT_D6:
        for (int i = 0; i < link->nlin; i++)
            X.p = vec3_fma(q[i], joint_axis(ctx, link->v + i), X.p);
        X.q = joint_d6_rotation(ctx, link, q, axes);
        break;
    default: break; /* fixed */
    }
    return X;
}

/* Rotation of F, origin of M and pose of the child: X_WB = X_W,parent X_p X_FM X_c^-1. Factors that are the identity
 * are skipped. */
KERNEL_FN JointPose joint_pose(const Context *ctx, int l, const real *q, const real *X) {
    const SapLink *link = &ctx->args->plan.link[l];
    const SapConstants *c = STAGE_CONSTANTS;
    JointPose j;
    Pose FM = joint_transform(ctx, link, q + link->q, j.axes);
    if (link->type == SAP_JOINT_FREE) { /* F is the world, M the body */
        j.q_WF = quat(real_of(0), real_of(0), real_of(0), real_of(1));
        j.x_M = FM.p;
        j.X_WB = FM;
        return j;
    }
    /* X_WF = X_W,parent X_p */
    Pose WF;
    WF.p = field_get_vec3(c->X_p, 7 * l, ctx->pack);
    WF.q = field_get_quat(c->X_p, 7 * l + 3, ctx->pack);
    if (link->parent >= 0) {
        Pose parent = pose_load(X + 7 * link->parent);
        WF.p = vec3_add(parent.p, quat_rotate(parent.q, WF.p));
        WF.q = link->plain_X_p ? parent.q : quat_mul(parent.q, WF.q);
    }
    /* X_WM = X_WF X_FM */
    j.q_WF = WF.q;
    j.x_M = WF.p;
    if (link->nlin)
        j.x_M = vec3_add(WF.p, quat_rotate(WF.q, FM.p));
    j.X_WB.p = j.x_M;
    j.X_WB.q = link->nang ? quat_mul(WF.q, FM.q) : WF.q;
    /* X_WB = X_WM X_c^-1 */
    if (!link->plain_X_c) {
        Vec3 p = field_get_vec3(c->X_c_inv, 7 * l, ctx->pack);
        Quat r = field_get_quat(c->X_c_inv, 7 * l + 3, ctx->pack);
        j.X_WB.p = vec3_add(j.x_M, quat_rotate(j.X_WB.q, p));
        j.X_WB.q = quat_mul(j.X_WB.q, r);
    }
    /* Products of unit quaternions drift by a rounding error per link. One Newton step on |q|^2 = 1 removes it. */
    Quat b = j.X_WB.q;
    real s = real_fma(real_of(K(-0.5)), quat_norm2(b), real_of(K(1.5)));
    j.X_WB.q = quat(s * b.x, s * b.y, s * b.z, s * b.w);
    return j;
}

/* The column of an angular dof about the unit axis A, with d = O - x_M. */
KERNEL_FN void joint_angular_column(real *S, Vec3 A, Vec3 d) {
    spatial_store(S, spatial(A, vec3_cross(A, d)));
}

/* Writes the columns S of the joint's dofs and returns the velocity of M relative to F. d = O - x_M. */
KERNEL_FN JointRate joint_columns(const Context *ctx, int l, const JointPose *j, Vec3 d, const real *v, real *S) {
    const SapLink *link = &ctx->args->plan.link[l];
    JointRate rate = {vec3_zero(), vec3_zero(), vec3_zero()};
    real zero = real_of(0), one = real_of(1);
    S += 6 * link->v;
    v += link->v;
    switch (link->type) {
    case SAP_JOINT_REVOLUTE: { /* (a, 0): a the axis */
        Vec3 A = quat_rotate(j->q_WF, joint_axis(ctx, link->v));
        joint_angular_column(S, A, d);
        rate.W = vec3_scale(v[0], A);
        break;
    }
    case SAP_JOINT_PRISMATIC: { /* (0, l): l the axis */
        Vec3 L = quat_rotate(j->q_WF, joint_axis(ctx, link->v));
        spatial_store(S, spatial(vec3_zero(), L));
        rate.U = vec3_scale(v[0], L);
        break;
    }
    case SAP_JOINT_BALL: { /* (e_i, 0): the axes of F */
        Mat3 R = quat_matrix(j->q_WF);
        joint_angular_column(S, R.x, d);
        joint_angular_column(S + 6, R.y, d);
        joint_angular_column(S + 12, R.z, d);
        rate.W = mat3_mul(R, vec3_load(v));
        break;
    }
    case SAP_JOINT_FREE: /* world axes; O is the origin of the body, so d = 0 */
        for (int i = 0; i < 36; i++)
            S[i] = i % 7 == 0 ? one : zero;
        rate.W = vec3_load(v);
        rate.U = vec3_load(v + 3);
        break;
    case SAP_JOINT_D6: { /* linear columns, then angular columns */
        for (int i = 0; i < link->nlin; i++) {
            Vec3 L = quat_rotate(j->q_WF, joint_axis(ctx, link->v + i));
            spatial_store(S + 6 * i, spatial(vec3_zero(), L));
            rate.U = vec3_fma(v[i], L, rate.U);
        }
        for (int i = 0; i < link->nang; i++) {
            int k = link->nlin + i;
            Vec3 A = quat_rotate(j->q_WF, j->axes[i]);
            joint_angular_column(S + 6 * k, A, d);
            /* alpha = sum_{i<j} qd_i qd_j a_i x a_j = sum_j W_{before j} x (qd_j a_j) */
            rate.alpha = vec3_add(rate.alpha, vec3_cross(rate.W, vec3_scale(v[k], A)));
            rate.W = vec3_fma(v[k], A, rate.W);
        }
        break;
    }
    default: break; /* fixed */
    }
    return rate;
}

/* Columns, velocity and bias of the joint of link l, given the twist V of its parent. */
KERNEL_FN JointMotion joint_motion(const Context *ctx, int l, const JointPose *j, Vec3 O, Spatial V, const real *v,
                                   real *S) {
    Vec3 d = vec3_sub(O, j->x_M);
    JointRate rate = joint_columns(ctx, l, j, d, v, S);
    Vec3 x_M_rate = vec3_add(vec3_sub(V.lin, vec3_cross(V.ang, d)), rate.U);
    JointMotion motion;
    motion.S_qd = spatial(rate.W, vec3_cross_add(rate.W, d, rate.U));
    motion.c.ang = vec3_cross_add(V.ang, rate.W, rate.alpha);
    motion.c.lin = vec3_sub(vec3_cross_add(motion.c.ang, d, vec3_cross(V.ang, rate.U)), vec3_cross(rate.W, x_M_rate));
    return motion;
}

/* The quaternion after h seconds at angular velocity u, in F axes. */
STAGE_FN Quat joint_advance_rotation(const Context *ctx, Quat q, Vec3 u, real h) {
    Quat dq;
    mask turns = real_of(0) == K(0.0);
    if (ctx->args->euler) { /* q + h/2 (u, 0) q, normalised */
        real s = K(0.5) * h;
        dq = quat(s * u.x, s * u.y, s * u.z, real_of(1));
    } else { /* (n sin(th/2), cos(th/2)) q, th = |u| h; a rotation below 1e-12 rad is skipped */
        real norm = real_sqrt(vec3_dot(u, u));
        real th = norm * h;
        turns = th > K(1e-12);
        real s, c;
        real_sincos(K(0.5) * th, &s, &c);
        s = real_select(turns, s / real_select(turns, norm, real_of(1)), real_of(0));
        dq = quat(s * u.x, s * u.y, s * u.z, real_select(turns, c, real_of(1)));
        /* a NaN rate gives NaN, although th > 1e-12 is false */
        dq.w = dq.w + check_of(norm);
    }
    Quat q1 = quat_normalise(quat_mul(dq, q));
    return COMPAT ? quat_select(turns, q1, q) : q1;
}

/* q1 = q after h seconds at velocity u; midpoint: u = (v0 + v)/2, euler: u = v. With the implicit gyroscopic torque a
 * quaternion always advances with v: the body then has the same velocity in its own axes before and after the rotation,
 * and the same energy. */
STAGE_FN void joint_advance(const Context *ctx, const SapLink *link, const real *q, const real *v0, const real *v,
                            real h, real *q1) {
    bool has_quaternion = link->type == SAP_JOINT_FREE || link->type == SAP_JOINT_BALL;
    int num_ends = ctx->args->euler || ADVANCES_WITH_V ? 6 : ctx->args->implicit_gyroscopic && has_quaternion ? 3 : 0;
    real u[6];
    UNROLL
    for (int i = 0; i < link->nlin + link->nang; i++)
        u[i] = i < num_ends ? v[link->v + i] : K(0.5) * (v0[link->v + i] + v[link->v + i]);
    q += link->q;
    q1 += link->q;
    switch (link->type) {
    case SAP_JOINT_BALL: quat_store(q1, joint_advance_rotation(ctx, quat_load(q), vec3_load(u), h)); break;
    case SAP_JOINT_FREE:
        vec3_store(q1, vec3_fma(h, vec3_load(u + 3), vec3_load(q)));
        quat_store(q1 + 3, joint_advance_rotation(ctx, quat_load(q + 3), vec3_load(u), h));
        break;
    default:
        UNROLL
        for (int i = 0; i < link->nlin + link->nang; i++) {
            q1[i] = real_fma(h, u[i], q[i]);
            if (i >= link->nlin) /* an angle without a sine has no pose: NaN */
                q1[i] = q1[i] + joint_angle_check(q1[i]);
        }
    }
}
