/* Free motion: the motion of a world in a step without contact. docs/free_motion.md derives it.
 *
 *   forward   parents first: pose X, motion subspace S, twist V, bias acceleration a, inertia I, wrench F of each link
 *               V = V_parent + S qd        a = a_parent + c       F = I a + V x* (I V) - gravity - external
 *   backward  children first: inertias and wrenches of subtrees; they add because all are about the tree's point O
 *   rows      tau_i = joint_f_i - S_i.F - damping_i v_i       A_ij = S_j.(I S_i) for j on the path of i
 *             A_ii += armature_i + h damping_i
 *   solve     A (v* - v0) = h tau
 *
 * Joint damping is implicit: M (v* - v0) = h (tau - D v*), hence h D in A and D v0 in tau.
 *
 * With velocity_forces = mean all of it is done twice: first at v0, then with V, a and F of (v0 + v*)/2. */

/* O of the tree of link l. */
KERNEL_FN Vec3 tree_origin(const Context *ctx, int l) {
    return vec3_load(FM(X) + 7 * ctx->args->plan.link[l].root);
}

/* From O to the centre of mass of link l. */
KERNEL_FN Vec3 link_com(const Context *ctx, int l) {
    Pose X = pose_load(FM(X) + 7 * l);
    Vec3 com = field_get_vec3(STAGE_CONSTANTS->com, 3 * l, ctx->pack);
    return vec3_sub(vec3_add(X.p, quat_rotate(X.q, com)), tree_origin(ctx, l));
}

/* Pose, motion subspace, twist and bias acceleration of link l. */
STAGE_FN void link_kinematics(const Context *ctx, int l, const real *q, const real *v) {
    int parent = ctx->args->plan.link[l].parent, compat = COMPAT;
    real *X = FM(X), *S = FM(S);
    JointPose j = compat ? joint_pose_sap_warp(ctx, l, q, X) : joint_pose(ctx, l, q, X);
    pose_store(X + 7 * l, j.X_WB);

    Spatial V = spatial_zero(), a = spatial_zero();
    if (parent >= 0) {
        V = spatial_load(FM(V) + 6 * parent);
        a = spatial_load(FM(a) + 6 * parent);
    }
    Vec3 O = tree_origin(ctx, l);
    JointMotion motion =
        compat ? joint_motion_sap_warp(ctx, l, &j, O, V, q, v, S) : joint_motion(ctx, l, &j, O, V, v, S);
    spatial_store(FM(V) + 6 * l, spatial_add(V, motion.S_qd));
    spatial_store(FM(a) + 6 * l, spatial_add(a, motion.c));
}

/* The applied wrench of body_f about O; adds a check that it is finite. c is from O to the centre of mass. */
STAGE_FN Spatial link_applied_wrench(const Context *ctx, int l, Vec3 c) {
    SapBuffer buffer = ctx->args->body_f;
    int first = 6 * ctx->args->plan.link[l].body;
    Vec3 f = buffer_get_vec3(buffer, first, ctx->pack);
    Vec3 tau_C = buffer_get_vec3(buffer, first + 3, ctx->pack);
    real check =
        check_of(f.x) + check_of(f.y) + check_of(f.z) + check_of(tau_C.x) + check_of(tau_C.y) + check_of(tau_C.z);
    FM(control_check)[l] = FM(control_check)[l] + check;
    return spatial(vec3_cross_add(c, f, tau_C), f);
}

/* Inertia of link l about O, and the wrench F = I a + V x* (I V) - gravity - external that the
 * bias acceleration requires. */
STAGE_FN void link_dynamics(const Context *ctx, int l) {
    const SapConstants *k = STAGE_CONSTANTS;
    Vec3 c = link_com(ctx, l);
    real J[6];
    UNROLL
    for (int i = 0; i < 6; i++)
        J[i] = field_get(k->inertia, 6 * l + i, ctx->pack);
    Mat3 R = quat_matrix(quat_load(FM(X) + 7 * l + 3));
    Inertia I = inertia_of_body(field_get(k->mass, l, ctx->pack), c, R, J);
    inertia_store(FM(I) + 10 * l, I);

    Spatial V = spatial_load(FM(V) + 6 * l);
    Spatial F = inertia_mul(I, spatial_load(FM(a) + 6 * l));
    F = spatial_add(F, spatial_cross_force(V, inertia_mul(I, V)));
    Vec3 g = field_get_vec3(k->gravity, 0, ctx->pack);
    if (ctx->args->has_gravcomp) /* the force -gravcomp m g acts at the centre of mass, as gravity does */
        g = vec3_scale(K(1.0) - field_get(k->gravcomp, l, ctx->pack), g);
    F = spatial_sub(F, spatial(vec3_cross(I.mc, g), vec3_scale(I.m, g)));
    if (ctx->args->body_f.data)
        F = spatial_sub(F, link_applied_wrench(ctx, l, c));
    spatial_store(FM(F) + 6 * l, F);
}

/* Poses, motion subspaces, twists and bias accelerations of all links at (q, v). */
STAGE_FN void forward_kinematics(const Context *ctx, const real *q, const real *v) {
    const SapPlan *plan = &ctx->args->plan;
    for (int level = 0; level < plan->num_levels; level++) {
        int first = plan->level_start[level], count = plan->level_start[level + 1] - first;
        TEAM_FOR(i, count)
            link_kinematics(ctx, plan->level_link[first + i], q, v);
        TEAM_SYNC(); /* the next level reads X, V and a of its parents, and X of the root */
    }
}

/* Adds the subtrees of link l's children to its own inertia and wrench, in the order of the children. */
STAGE_FN void link_gather(const Context *ctx, int l) {
    const SapLink *link = &ctx->args->plan.link[l];
    real *I = FM(I), *F = FM(F);
    for (int j = 0; j < link->num_children; j++) {
        int child = ctx->args->plan.child[link->first_child + j];
        for (int i = 0; i < 10; i++)
            I[10 * l + i] = I[10 * l + i] + I[10 * child + i];
        for (int i = 0; i < 6; i++)
            F[6 * l + i] = F[6 * l + i] + F[6 * child + i];
    }
}

/* Number e of the 16 of a subtree, 10 of its inertia and 6 of its wrench, for some links: in a team each number has a
 * thread. */
KERNEL_FN void links_gather_number(const Context *ctx, const int *link, int count, int e) {
    const SapLink *links = ctx->args->plan.link;
    const int *children = ctx->args->plan.child;
    int of_F = e >= 10, size = of_F ? 6 : 10;
    real *x = of_F ? FM(F) + (e - 10) : FM(I) + e;
    for (int i = 0; i < count; i++) {
        int l = link[i], first = links[l].first_child, end = first + links[l].num_children;
        real sum = x[size * l];
        for (int j = first; j < end; j++)
            sum = sum + x[size * children[j]];
        x[size * l] = sum;
    }
}

/* Gathers the subtrees of the links of one level. */
STAGE_FN void links_gather(const Context *ctx, const int *link, int count) {
    if (TEAM_OF_ONE) {
        for (int i = 0; i < count; i++)
            link_gather(ctx, link[i]);
    } else {
        TEAM_FOR(e, 16)
            links_gather_number(ctx, link, count, e);
    }
}

/* Row i of A and the generalised force tau_i, from the subtree of its link. */
STAGE_FN void assemble_row(const Context *ctx, int i, real h) {
    const SapPlan *plan = &ctx->args->plan;
    const SapConstants *k = STAGE_CONSTANTS;
    const SapPatternRow *row = &plan->tree.row[i];
    const real *S = FM(S);
    real *A = FM(A) + row->start;
    real damping = formulation_damping(ctx, i);

    Spatial S_i = spatial_load(S + 6 * i);
    real *tau = FM(f) + i;
    *tau = *tau - spatial_dot(S_i, spatial_load(FM(F) + 6 * row->link)) - damping * FM(v0)[i];

    Spatial IS = inertia_mul(inertia_load(FM(I) + 10 * row->link), S_i);
    UNROLL
    for (int t = 0; t <= row->depth; t++)
        A[t] = spatial_dot(spatial_load(S + 6 * plan->tree.ancestor[row->start + t]), IS);
    A[row->depth] = A[row->depth] + real_fma(h, damping, field_get(k->armature, i, ctx->pack));
}

/* Keeps the checks of all links and of the factor of A. Other threads read them behind a barrier of the solve or of the
 * end of the step. */
STAGE_FN void free_motion_keep_checks(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    TEAM_ONCE() {
        real state = check_sum(FM(state_check), plan->nl), control = check_sum(FM(control_check), plan->nl);
        mask spd = factor_succeeded(plan->nv, FM(inverse));
        FM(checks)[SAP_MOTION_STATE] = state;
        FM(checks)[SAP_MOTION_CONTROL] = control;
        FM(checks)[SAP_MOTION_FACTOR] = real_select(spd, real_of(0), real_nan());
    }
}

/* Kinematics, A and tau at (q, u); then the factor of A, and v = v*. u is v0, or in the second evaluation the mean
 * velocity, in the memory of v. */
STAGE_FN void free_motion_at(const Context *ctx, const real *u, int second) {
    const SapPlan *plan = &ctx->args->plan;
    real h = STAGE_H;

    /* forward: X, S, V, a, then I and F of each link */
    PROFILE(ctx, SAP_SECTION_KINEMATICS);
    if (TABLES_KNOWN) { /* link after link, so that registers hold the motion of one */
        EACH_LINK(l, plan->nl, link_kinematics(ctx, l, FM(q), u); link_dynamics(ctx, l))
    } else {
        forward_kinematics(ctx, FM(q), u);
        PROFILE(ctx, SAP_SECTION_DYNAMICS);
        TEAM_FOR(l, plan->nl)
            link_dynamics(ctx, l);
    }
    if (ctx->args->implicit_gyroscopic) {
        TEAM_FOR(l, plan->nl)
            link_implicit_gyroscopic(ctx, l, h, second);
    }
    TEAM_SYNC(); /* gathering reads the I and F of other links */

    /* backward: I and F of subtrees */
    for (int level = plan->num_levels - 2; level >= 0; level--) {
        int first = plan->level_start[level], count = plan->level_start[level + 1] - first;
        links_gather(ctx, plan->level_link + first, count);
        TEAM_SYNC(); /* the level above reads these subtrees */
    }

    /* rows of A and of tau */
    PROFILE(ctx, SAP_SECTION_MASS_MATRIX);
    if (NUM_MODEL_CONSTRAINTS > 0 && ctx->args->constraints.f.data)
        tendon_forces_add(ctx, FM(f));
    EACH_DOF(i, plan->nv, assemble_row(ctx, i, h))
    TEAM_SYNC(); /* the factor reads all rows of A, the solve all of tau */

    /* v* = v0 + h A^-1 tau */
    PROFILE(ctx, SAP_SECTION_FREE_FACTOR);
    factor_solve(&plan->tree, FM(A), FM(L), FM(inverse), FM(f), FM(v));
    UNROLL
    TEAM_FOR(i, plan->nv)
        FM(v)[i] = real_fma(h, FM(v)[i], FM(v0)[i]);
    free_motion_keep_checks(ctx);
}

/* A and v* of a step. */
STAGE_FN void free_motion(const Context *ctx) {
    int evaluations = 1 + ctx->args->mean_velocity_forces;
    const real *u = FM(v0);
    for (int k = 0; k < evaluations; k++) {
        if (k > 0) {     /* u = (v0 + v*)/2, and the joint forces, in whose memory tau is */
            TEAM_SYNC(); /* the checks and tau have been read */
            TEAM_FOR(i, ctx->args->plan.nv)
                FM(v)[i] = K(0.5) * (FM(v0)[i] + FM(v)[i]);
            load_control(ctx);
            TEAM_SYNC(); /* kinematics reads all of u, rows of tau the forces that other threads loaded */
            u = FM(v);
        }
        free_motion_at(ctx, u, k);
    }
    if (!STEP_SOLVES)
        TEAM_SYNC(); /* integration reads v*; a solve has barriers before it does */
}
