/* Contacts of MuJoCo's law: geometry, parameters, and the values that the problem reads. The same functions as
 * sap/constraint.h has for contacts of three rows; here a contact has three rows, velocities along t1, t2, n, or six:
 * also about t1, t2, n (mujoco/contact_law.h). docs/mujoco.md.
 *
 *   J = [t1 t2 n]' (V_1(p) - V_0(p)),  [t1 t2 n]' (omega_1 - omega_0)        one point p for both bodies */

#define MUJOCO (ctx->args->mujoco)

/* Whether slots have six rows. */
KERNEL_FN bool mujoco_wide(const Context *ctx) {
    return CONTACT_ROWS > 3;
}

KERNEL_FN MujocoStep mujoco_step(const Context *ctx) {
    MujocoStep step;
    step.h = STAGE_H;
    step.refsafe = MUJOCO->refsafe;
    step.discrete = MUJOCO->discrete;
    return step;
}

/* ---- geometry ---- */

/* Column i of the record of slot c. */
KERNEL_FN real mujoco_record(const Context *ctx, int c, int i) {
    return buffer_gather(MUJOCO->contact, SLOT_SETUP_INTS(record, c), SAP_MUJOCO_CONTACT_SIZE, i, ctx->pack);
}

KERNEL_FN Vec3 mujoco_record_vec3(const Context *ctx, int c, int i) {
    return vec3(mujoco_record(ctx, c, i), mujoco_record(ctx, c, i + 1), mujoco_record(ctx, c, i + 2));
}

/* Writes the columns of J; C: t1, t2, n. */
STAGE_FN void mujoco_jacobian(const Context *ctx, int c, const Mat3 *C, Vec3 p) {
    const SapDofIndex *dof = SLOT_SHORTS(dof, c);
    const int *path = SLOT_SETUP_INTS(path, c);
    int n = *SLOT_SHORTS(num_dofs, c), rows = CONTACT_ROWS;
    real *J = SLOT_J(c);
    for (int k = 0; k < n; k++) {
        /* a dof on both paths moves both bodies alike at p */
        real sign = real_of(path[k] == 2 ? 1 : path[k] == 1 ? -1 : 0);
        Vec3 u = vec3_scale(sign, contact_dof_velocity(ctx, dof[k], p));
        vec3_store(J + rows * k, vec3(vec3_dot(C->x, u), vec3_dot(C->y, u), vec3_dot(C->z, u)));
        if (rows > 3) {
            Vec3 w = vec3_scale(sign, dof_angular_velocity(ctx, dof[k]));
            vec3_store(J + rows * k + 3, vec3(vec3_dot(C->x, w), vec3_dot(C->y, w), vec3_dot(C->z, w)));
        }
    }
}

/* What the geometry of a contact is made of. */
typedef struct ContactFrame {
    Vec3 p;            /* the point */
    Mat3 C;            /* t1, t2, n */
    real dist, margin; /* it acts where dist < margin */
} ContactFrame;

/* The length of t1 below which MuJoCo takes it for 0; in f32 what remains of parallel axes by rounding. */
#define MUJOCO_NO_TANGENT (SAP_PRECISION == 64 ? MUJOCO_MINVAL : K(1e-6))

/* The frame of a normal: t1 is `hint`, or, where that is 0, the y axis (the z axis if n is nearer to y), made
 * orthogonal to n. A hint along n leaves no direction: t1 is then the x axis, whatever n is, as in MuJoCo. */
KERNEL_FN Mat3 mujoco_frame(Vec3 n, Vec3 hint) {
    real zero = real_of(0), one = real_of(1);
    mask near_y = mask_not(real_abs(n.y) < K(0.5)), given = vec3_dot(hint, hint) > K(0.25);
    Vec3 t = vec3(zero, real_select(near_y, zero, one), real_select(near_y, one, zero));
    t = vec3_select(given, hint, t);
    t = vec3_fma(-vec3_dot(n, t), n, t);
    real length = real_sqrt(vec3_dot(t, t));
    Mat3 C;
    C.z = n;
    C.x = vec3_select(length < MUJOCO_NO_TANGENT, vec3(one, zero, zero), vec3_scale(one / length, t));
    C.y = vec3_cross(n, C.x);
    return C;
}

/* The z axis of the shape at a side of slot c, in the world. */
KERNEL_FN Vec3 mujoco_axis(const Context *ctx, int c, int side) {
    const int *shape = SLOT_SETUP_INTS(shape, c), *link = SLOT_SETUP_INTS(link, c);
    Quat q = field_get_quat(STAGE_CONSTANTS->shape_pose, 7 * shape[side] + 3, ctx->pack);
    if (link[side] >= 0)
        q = quat_mul(body_pose(ctx, link[side]).q, q);
    return quat_matrix(q).z;
}

/* The type of the shape at a side of slot c; -1 if it has none. */
KERNEL_FN int mujoco_shape_type(const Context *ctx, int c, int side) {
    int shape = SLOT_SETUP_INTS(shape, c)[side];
    return shape < 0 ? -1 : ctx->args->plan.shape_type[shape];
}

/* The axis of a capsule that touches a plane, along which MuJoCo puts t1; else 0. */
KERNEL_FN Vec3 mujoco_hint(const Context *ctx, int c) {
    bool rolls = mujoco_shape_type(ctx, c, 0) == SAP_SHAPE_PLANE && mujoco_shape_type(ctx, c, 1) == SAP_SHAPE_CAPSULE;
    return rolls ? mujoco_axis(ctx, c, 1) : vec3_zero();
}

/* From a record of MuJoCo's form. */
KERNEL_FN ContactFrame mujoco_place_record(const Context *ctx, int c) {
    ContactFrame at;
    at.p = mujoco_record_vec3(ctx, c, SAP_MUJOCO_POS);
    at.C.z = mujoco_record_vec3(ctx, c, SAP_MUJOCO_FRAME);
    at.C.x = mujoco_record_vec3(ctx, c, SAP_MUJOCO_FRAME + 3);
    at.C.y = mujoco_record_vec3(ctx, c, SAP_MUJOCO_FRAME + 6);
    at.dist = mujoco_record(ctx, c, SAP_MUJOCO_DIST);
    at.margin = mujoco_record(ctx, c, SAP_MUJOCO_MARGIN);
    return at;
}

/* Element i of the parameters of a shape. */
KERNEL_FN real mujoco_shape_get(const Context *ctx, int shape, int i) {
    return mujoco_get(ctx, SAP_MUJOCO_SHAPES, SAP_MUJOCO_SHAPE_SIZE * shape + i);
}

/* The pair of the shapes of slot c that has parameters of its own, or -1. */
KERNEL_FN int mujoco_pair(const Context *ctx, int c) {
    const int *shape = SLOT_SETUP_INTS(shape, c), *pair = MUJOCO->pair_shape;
    for (int p = 0; p < MUJOCO->num_pairs; p++) {
        int a = pair[2 * p], b = pair[2 * p + 1];
        if ((shape[0] == a && shape[1] == b) || (shape[0] == b && shape[1] == a))
            return p;
    }
    return -1;
}

/* Element i of the parameters of a pair. */
KERNEL_FN real mujoco_pair_get(const Context *ctx, int pair, int i) {
    return mujoco_get(ctx, SAP_MUJOCO_PAIRS, SAP_MUJOCO_PAIR_SIZE * pair + i);
}

/* The margin of slot c: of its pair, or the sum of its shapes'. */
KERNEL_FN real mujoco_margin(const Context *ctx, int c) {
    const int *shape = SLOT_SETUP_INTS(shape, c);
    int pair = mujoco_pair(ctx, c);
    real margin = real_of(0);
    if (pair >= 0)
        return mujoco_pair_get(ctx, pair, SAP_MUJOCO_PAIR_MARGIN);
    for (int side = 0; side < 2; side++)
        if (shape[side] >= 0)
            margin = margin + mujoco_shape_get(ctx, shape[side], SAP_MUJOCO_SHAPE_MARGIN);
    return margin;
}

KERNEL_FN bool mujoco_is_round(const Context *ctx, int c, int side) {
    int type = mujoco_shape_type(ctx, c, side);
    return type == SAP_SHAPE_SPHERE || type == SAP_SHAPE_CAPSULE;
}

/* Spheres and capsules whose centres or axes meet have no normal. MuJoCo takes the common normal of both z axes, or the
 * x axis of the world if they are parallel. Moves the witnesses there too. */
STAGE_FN Vec3 mujoco_round_normal(const Context *ctx, int c, Vec3 n, Vec3 *x0, Vec3 *x1) {
    const int *shape = SLOT_SETUP_INTS(shape, c);
    real zero = real_of(0), one = real_of(1);
    real r0 = field_get(STAGE_CONSTANTS->shape_size, 3 * shape[0], ctx->pack);
    real r1 = field_get(STAGE_CONSTANTS->shape_size, 3 * shape[1], ctx->pack);
    real apart = vec3_dot(vec3_sub(*x1, *x0), n) + r0 + r1;
    real rounding = MUJOCO_NO_TANGENT * (one + real_abs(x0->x) + real_abs(x0->y) + real_abs(x0->z));
    mask meet = real_abs(apart) < rounding;
    /* the normal there */
    Vec3 across = vec3_cross(mujoco_axis(ctx, c, 0), mujoco_axis(ctx, c, 1));
    real length = real_sqrt(vec3_dot(across, across));
    Vec3 other = vec3_select(length < MUJOCO_NO_TANGENT, vec3(one, zero, zero), vec3_scale(one / length, across));
    other = vec3_select(meet, other, n);
    Vec3 turned = vec3_sub(other, n);
    *x0 = vec3_fma(r0, turned, *x0);
    *x1 = vec3_fma(-r1, turned, *x1);
    return other;
}

/* From a pair of points on two shapes, as collision finds them. */
KERNEL_FN ContactFrame mujoco_place_shapes(const Context *ctx, int c) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    const int *record = SLOT_SETUP_INTS(record, c), *link = SLOT_SETUP_INTS(link, c);
    Vec3 x0 = contact_witness(ctx, link[0], buffer_gather_vec3(contacts->point[0], record, ctx->pack));
    Vec3 x1 = contact_witness(ctx, link[1], buffer_gather_vec3(contacts->point[1], record, ctx->pack));
    Vec3 n = buffer_gather_vec3(contacts->normal, record, ctx->pack);
    n = vec3_scale(K(1.0) / real_sqrt(vec3_dot(n, n)), n);
    if (mujoco_is_round(ctx, c, 0) && mujoco_is_round(ctx, c, 1))
        n = mujoco_round_normal(ctx, c, n, &x0, &x1);
    ContactFrame at;
    at.p = vec3_scale(real_of(K(0.5)), vec3_add(x0, x1));
    at.C = mujoco_frame(n, mujoco_hint(ctx, c));
    at.dist = vec3_dot(vec3_sub(x1, x0), n);
    at.margin = mujoco_margin(ctx, c);
    return at;
}

KERNEL_FN ContactFrame mujoco_place(const Context *ctx, int c) {
    return MUJOCO->contact.data ? mujoco_place_record(ctx, c) : mujoco_place_shapes(ctx, c);
}

/* Writes the geometry of slot c. A contact within its gap (dist >= margin) does not act. */
STAGE_FN void mujoco_geometry_slot(const Context *ctx, int c) {
    real bad;
    mask present = slot_load(ctx, c, &bad);
    contact_columns(ctx, c);
    ContactFrame at = mujoco_place(ctx, c);
    real unsound = vec3_check(at.p) + vec3_check(at.C.x) + vec3_check(at.C.y) + vec3_check(at.C.z) + check_of(at.dist) +
                   check_of(at.margin);
    bad = real_select(present, unsound, bad);
    mask valid = present & (at.dist < at.margin);
    /* finite placeholders for worlds without the contact */
    Vec3 zero = vec3_zero(), p = vec3_select(valid, at.p, zero);
    Mat3 C;
    C.x = vec3_select(valid, at.C.x, zero);
    C.y = vec3_select(valid, at.C.y, zero);
    C.z = vec3_select(valid, at.C.z, zero);
    mujoco_jacobian(ctx, c, &C, p);
    slot_setup_put(ctx, c, p, p, &C, at.dist, valid, bad);
}

STAGE_FN void stage_contact_geometry(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_GEOMETRY);
    TEAM_FOR(c, ctx->num_slots)
        mujoco_geometry_slot(ctx, c);
}

/* The translational weight of a side: of its shape, or of its body if it has no shape. */
KERNEL_FN real mujoco_side_weight(const Context *ctx, int c, int side) {
    int shape = SLOT_SETUP_INTS(shape, c)[side], link = SLOT_SETUP_INTS(link, c)[side];
    return shape >= 0  ? mujoco_shape_get(ctx, shape, SAP_MUJOCO_SHAPE_WEIGHT)
           : link >= 0 ? mujoco_get(ctx, SAP_MUJOCO_LINKS, link)
                       : real_of(0);
}

/* w of the normal: the sum of the translational weights of the two sides. */
STAGE_FN void stage_contact_weight(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_WEIGHT);
    TEAM_FOR(c, ctx->num_slots)
        view_put(SLOT_SETUP_VIEW, SLOT_SETUP_OFFSET(w, c),
                 mujoco_side_weight(ctx, c, 0) + mujoco_side_weight(ctx, c, 1));
}

/* ---- the constraint as the problem sees it ---- */

/* Whether it has six rows. */
KERNEL_FN bool is_wide(const Constraint *k) {
    return k->rows > 3;
}

KERNEL_FN ContactVector contact_vector_load(const real *p, bool wide) {
    ContactVector s;
    s.lin = vec3_load(p);
    s.ang = wide ? vec3_load(p + 3) : vec3_zero();
    return s;
}

KERNEL_FN void contact_vector_store(real *p, const ContactVector *s, bool wide) {
    vec3_store(p, s->lin);
    if (wide)
        vec3_store(p + 3, s->ang);
}

KERNEL_FN ContactVector contact_vector_view(StageView J, int rows, int column) {
    ContactVector s;
    s.lin = view_get_vec3(J, rows * column);
    s.ang = rows > 3 ? view_get_vec3(J, rows * column + 3) : vec3_zero();
    return s;
}

/* Runs a statement that reads J with its number of rows, `constant`, and its precision as constants. */
#define ROW_CASES(rows, J, constant, statement)                                                                        \
    do {                                                                                                               \
        if ((rows) > 3) {                                                                                              \
            enum { constant = SAP_MUJOCO_CONTACT_ROWS };                                                               \
            VIEW_CASES(J, statement);                                                                                  \
        } else {                                                                                                       \
            enum { constant = 3 };                                                                                     \
            VIEW_CASES(J, statement);                                                                                  \
        }                                                                                                              \
    } while (0)

/* J x */
KERNEL_FN ContactVector constraint_J_mul_by(const Constraint *k, StageView J, int rows, const real *x) {
    ContactVector y = contact_vector_zero();
    for (int j = 0; j < k->num_dofs; j++) {
        y.lin = vec3_fma(x[k->dof[j]], view_get_vec3(J, rows * j), y.lin);
        if (rows > 3)
            y.ang = vec3_fma(x[k->dof[j]], view_get_vec3(J, rows * j + 3), y.ang);
    }
    return y;
}

KERNEL_FN ContactVector constraint_J_mul(const Constraint *k, const real *x) {
    StageView J = k->J;
    ContactVector y;
    ROW_CASES(k->rows, J, rows, y = constraint_J_mul_by(k, J, rows, x));
    return y;
}

/* (J' gamma) of one column */
KERNEL_FN real constraint_Jt_mul(const Constraint *k, int column) {
    ContactVector J = contact_vector_view(k->J, k->rows, column), gamma = contact_vector_load(k->gamma, is_wide(k));
    return contact_vector_dot(&J, &gamma, is_wide(k));
}

/* What H needs of a constraint, in the precision of this stage. */
typedef struct Curvature {
    int rows;
    const SapDofIndex *dof;
    StageView J;
    real G[MUJOCO_G_SIZE];
} Curvature;

KERNEL_FN Curvature curvature_at(const Context *ctx, int c) {
    Curvature k;
    StageView solve = SLOT_VIEW;
    k.rows = CONTACT_ROWS;
    k.dof = SLOT_SHORTS(dof, c);
    k.J = SLOT_J_VIEW(c);
    UNROLLED for (int i = 0; i < 6; i++) k.G[i] = view_get(solve, SLOT_OFFSET(G, c) + i);
    if (k.rows > 3)
        UNROLLED for (int i = 6; i < MUJOCO_G_SIZE; i++) k.G[i] = view_get(solve, SLOT_OFFSET(G, c) + i);
    return k;
}

/* Adds J_i' G J_j of column i = `column` and the columns j <= i to row i of H. */
KERNEL_FN void curvature_add_by(const Curvature *k, StageView J, int rows, int column, const SapPattern *pattern,
                                bool is_tree, real *H) {
    bool wide = rows > 3;
    ContactVector J_i = contact_vector_view(J, rows, column), GJ = contact_vector_G_mul(k->G, &J_i, wide);
    for (int j = 0; j <= column; j++) {
        real *H_ij = H + (is_tree ? j : row_column(pattern, k->dof[j]));
        ContactVector J_j = contact_vector_view(J, rows, j);
        *H_ij = *H_ij + contact_vector_dot(&GJ, &J_j, wide);
    }
}

KERNEL_FN void curvature_add(const Curvature *k, int column, const SapPattern *pattern, bool is_tree, real *H) {
    StageView J = k->J;
    ROW_CASES(k->rows, J, rows, curvature_add_by(k, J, rows, column, pattern, is_tree, H));
}

/* vc has the error uref - v_c from here to problem_end. This is the error of velocity u, in the worlds of `which`. */
KERNEL_FN void constraint_take(const Constraint *k, const ContactVector *u, mask which) {
    ContactVector e = mujoco_error(k->law_data, u), old = contact_vector_load(k->vc, is_wide(k));
    e.lin = vec3_select(which, e.lin, old.lin);
    e.ang = vec3_select(which, e.ang, old.ang);
    contact_vector_store(k->vc, &e, is_wide(k));
}

/* v_c = J v in the worlds of `which`. */
KERNEL_FN void constraint_set_velocity(const Constraint *k, const real *v, mask which) {
    ContactVector u = constraint_J_mul(k, v);
    constraint_take(k, &u, which);
}

/* J d along the direction d of a line. */
KERNEL_FN void constraint_line_start(const Constraint *k, const real *d) {
    ContactVector u = constraint_J_mul(k, d);
    contact_vector_store(k->Jd, &u, is_wide(k));
}

/* v_c = J d in the worlds of `which`. */
KERNEL_FN void constraint_take_Jd(const Constraint *k, mask which) {
    ContactVector u = contact_vector_load(k->Jd, is_wide(k));
    constraint_take(k, &u, which);
}

/* v_c += a J d in the worlds of `which`. */
KERNEL_FN void constraint_move(const Constraint *k, real a, mask which) {
    ContactVector old = contact_vector_load(k->vc, is_wide(k)), d = contact_vector_load(k->Jd, is_wide(k)), e;
    e.lin = vec3_select(which, vec3_fma(-a, d.lin, old.lin), old.lin);
    e.ang = vec3_select(which, vec3_fma(-a, d.ang, old.ang), old.ang);
    contact_vector_store(k->vc, &e, is_wide(k));
}

/* After the solve vc is v_c again, for reports. */
KERNEL_FN void constraint_end(const Constraint *k) {
    ContactVector e = contact_vector_load(k->vc, is_wide(k)), u = mujoco_error(k->law_data, &e);
    contact_vector_store(k->vc, &u, is_wide(k));
}

/* Computes impulse, cost and curvature at v_c. */
KERNEL_FN void constraint_evaluate(const Constraint *k) {
    ContactVector e = contact_vector_load(k->vc, is_wide(k));
    ContactValue at;
    mujoco_contact_evaluate(k->law_data, k->law, is_wide(k), &e, &at);
    contact_vector_store(k->gamma, &at.gamma, is_wide(k));
    *k->cost = at.cost;
    for (int i = 0; i < (is_wide(k) ? MUJOCO_G_SIZE : 6); i++)
        k->G[i] = at.G[i];
}

/* The constraint's terms at v + a d: the change of cost from v, which only f64 uses (mujoco/line.h), and slope
 * and curvature along d. */
KERNEL_FN void constraint_line(const Constraint *k, real a, int derivatives) {
    LineValue at;
    (void)derivatives; /* this law's search asks for both */
    mujoco_contact_line(k->law_data, k->law, is_wide(k), k->G, a, &at);
    k->line[0] = SAP_PRECISION == 64 ? at.cost - (k->law ? k->G[ELLIPTIC_LINE_COST] : *k->cost) : real_of(0);
    k->line[1] = at.slope;
    k->line[2] = at.curvature;
}

/* Computes the cost alone. */
KERNEL_FN void constraint_evaluate_cost(const Constraint *k) {
    ContactVector e = contact_vector_load(k->vc, is_wide(k));
    *k->cost = mujoco_contact_cost(k->law_data, k->law, is_wide(k), &e);
}

/* The terms along d at v itself, from impulse and curvature. The memory of G, which is not needed until the next
 * evaluation, has the constants of the line from then on. */
KERNEL_FN void constraint_line_first(const Constraint *k) {
    ContactVector d = contact_vector_load(k->Jd, is_wide(k)), gamma = contact_vector_load(k->gamma, is_wide(k));
    ContactVector Gd = contact_vector_G_mul(k->G, &d, is_wide(k));
    k->line[0] = real_of(0);
    k->line[1] = contact_vector_dot(&gamma, &d, is_wide(k));
    k->line[2] = contact_vector_dot(&d, &Gd, is_wide(k));
    ContactVector e = contact_vector_load(k->vc, is_wide(k));
    mujoco_contact_line_make(k->law_data, k->law, is_wide(k), &e, &d, k->G);
}

/* Worlds whose G may differ from that at the start of the line, after a move and before the next evaluation. */
KERNEL_FN mask constraint_changes(const Constraint *k) {
    ContactVector e = contact_vector_load(k->vc, is_wide(k));
    return k->law ? mask_all() : pyramid_changes((const MujocoContact *)k->law_data, k->G, &e, is_wide(k));
}

/* The region of slot c for reports. */
KERNEL_FN bool report_slip(const Context *ctx, int c, real *impulse, real *width) {
    (void)ctx, (void)c, (void)impulse, (void)width;
    return false;
}

KERNEL_FN real report_region(const Context *ctx, int c) {
    ContactVector u = contact_vector_load(SLOT(vc, c), mujoco_wide(ctx)), e = mujoco_error(SLOT(law, c), &u);
    return mujoco_contact_region(SLOT(law, c), MUJOCO->elliptic, mujoco_wide(ctx), &e);
}

/* Point, frame and distance of slot c for reports, in the worlds of the result: those where the contact is within its
 * gap. It does not act, so the slot has placeholders. */
STAGE_FN mask report_gap(const Context *ctx, int c, real position[3], real frame[9], real *gap) {
    const int *record = SLOT_SETUP_INTS(record, c), *link = SLOT_SETUP_INTS(link, c);
    mask near;
    FOR_LANES(l) LANE(near, l) = -(record[l] >= 0 && (link[0] >= 0 || link[1] >= 0));
    near = near & (*SLOT_SETUP(valid, c) == K(0.0));
    if (!mask_any(near))
        return near;
    ContactFrame at = mujoco_place(ctx, c);
    vec3_store(position, at.p);
    vec3_store(frame, at.C.x);
    vec3_store(frame + 3, at.C.y);
    vec3_store(frame + 6, at.C.z);
    *gap = at.dist;
    return near & (at.dist >= at.margin);
}

/* ---- the law of a slot ---- */

/* The parameters of a contact. */
typedef struct MujocoMaterial {
    real dim, margin;
    real friction[5]; /* slide, slide, spin, roll, roll */
    real solref[2], solreffriction[2], solimp[5];
} MujocoMaterial;

/* As the record gives them. */
KERNEL_FN void mujoco_material_record(const Context *ctx, int c, MujocoMaterial *out) {
    out->dim = mujoco_record(ctx, c, SAP_MUJOCO_DIM);
    out->margin = mujoco_record(ctx, c, SAP_MUJOCO_MARGIN);
    for (int i = 0; i < 5; i++) {
        out->friction[i] = mujoco_record(ctx, c, SAP_MUJOCO_FRICTION + i);
        out->solimp[i] = mujoco_record(ctx, c, SAP_MUJOCO_SOLIMP + i);
    }
    for (int i = 0; i < 2; i++) {
        out->solref[i] = mujoco_record(ctx, c, SAP_MUJOCO_SOLREF + i);
        out->solreffriction[i] = mujoco_record(ctx, c, SAP_MUJOCO_SOLREFFRICTION + i);
    }
}

/* Parameter i of one side; a side without a shape takes the other's. */
KERNEL_FN real mujoco_side(const Context *ctx, int c, int side, int i) {
    const int *shape = SLOT_SETUP_INTS(shape, c);
    int s = shape[side] >= 0 ? shape[side] : shape[1 - side];
    return s < 0 ? real_nan() : mujoco_shape_get(ctx, s, i); /* without any shape there is no material */
}

/* The share of side 0: 0 or 1 if the priorities differ, else by solmix. */
KERNEL_FN real mujoco_share(const Context *ctx, int c, mask *same) {
    real p0 = mujoco_side(ctx, c, 0, SAP_MUJOCO_SHAPE_PRIORITY), p1 = mujoco_side(ctx, c, 1, SAP_MUJOCO_SHAPE_PRIORITY);
    real s0 = mujoco_side(ctx, c, 0, SAP_MUJOCO_SHAPE_SOLMIX), s1 = mujoco_side(ctx, c, 1, SAP_MUJOCO_SHAPE_SOLMIX);
    real zero = real_of(0), one = real_of(1), half = real_of(K(0.5));
    mask none0 = s0 < MUJOCO_MINVAL, none1 = s1 < MUJOCO_MINVAL;
    real sum = real_select(none0 | none1, one, s0 + s1);
    real mix = real_select(none0 & none1, half, real_select(none0, zero, real_select(none1, one, s0 / sum)));
    *same = p0 == p1;
    return real_select(*same, mix, real_select(p0 > p1, one, zero));
}

/* Mixed from the two shapes: the larger condim and friction and a weighted mean of solref and solimp, or all from the
 * shape with the higher priority. A direct solref is not averaged: the smaller numbers count. */
KERNEL_FN void mujoco_material_mix(const Context *ctx, int c, MujocoMaterial *out) {
    const int friction[5] = {0, 0, 1, 2, 2};
    mask same;
    real share = mujoco_share(ctx, c, &same), rest = K(1.0) - share;
    mask first = share > K(0.5);
    /* the numbers of both sides, a and b */
#define SIDES(i) real a = mujoco_side(ctx, c, 0, (i)), b = mujoco_side(ctx, c, 1, (i))
    real dim0 = mujoco_side(ctx, c, 0, SAP_MUJOCO_SHAPE_CONDIM), dim1 = mujoco_side(ctx, c, 1, SAP_MUJOCO_SHAPE_CONDIM);
    out->dim = real_select(same, real_max(dim0, dim1), real_select(first, dim0, dim1));
    for (int i = 0; i < 5; i++) {
        SIDES(SAP_MUJOCO_SHAPE_FRICTION + friction[i]);
        out->friction[i] = real_select(same, real_max(a, b), real_select(first, a, b));
    }
    for (int i = 0; i < 5; i++) {
        SIDES(SAP_MUJOCO_SHAPE_SOLIMP + i);
        out->solimp[i] = real_fma(share, a, rest * b);
    }
    real c0 = mujoco_side(ctx, c, 0, SAP_MUJOCO_SHAPE_SOLREF), c1 = mujoco_side(ctx, c, 1, SAP_MUJOCO_SHAPE_SOLREF);
    mask standard = real_min(c0, c1) > K(0.0); /* both have a time constant */
    for (int i = 0; i < 2; i++) {
        SIDES(SAP_MUJOCO_SHAPE_SOLREF + i);
        real direct = real_select(same, real_min(a, b), real_select(first, a, b));
        out->solref[i] = real_select(standard, real_fma(share, a, rest * b), direct);
        out->solreffriction[i] = real_of(0);
    }
#undef SIDES
    out->margin = mujoco_margin(ctx, c);
}

/* The material of a pair with its own parameters. */
KERNEL_FN void mujoco_material_pair(const Context *ctx, int pair, MujocoMaterial *out) {
    out->dim = mujoco_pair_get(ctx, pair, SAP_MUJOCO_PAIR_CONDIM);
    out->margin = mujoco_pair_get(ctx, pair, SAP_MUJOCO_PAIR_MARGIN);
    for (int i = 0; i < 5; i++) {
        out->friction[i] = mujoco_pair_get(ctx, pair, SAP_MUJOCO_PAIR_FRICTION + i);
        out->solimp[i] = mujoco_pair_get(ctx, pair, SAP_MUJOCO_PAIR_SOLIMP + i);
    }
    for (int i = 0; i < 2; i++) {
        out->solref[i] = mujoco_pair_get(ctx, pair, SAP_MUJOCO_PAIR_SOLREF + i);
        out->solreffriction[i] = mujoco_pair_get(ctx, pair, SAP_MUJOCO_PAIR_SOLREFFRICTION + i);
    }
}

/* Friction coefficients in the order of the law; 0 for directions that condim does not have. */
KERNEL_FN void mujoco_friction(const MujocoMaterial *m, real mu[5]) {
    const int column[5] = {0, 1, 3, 4, 2}, needs[5] = {3, 3, 6, 6, 4};
    for (int i = 0; i < 5; i++) {
        real given = real_max(m->friction[column[i]], real_of(MUJOCO_MINMU));
        mu[i] = real_select(m->dim >= (scalar)needs[i], given, real_of(0));
    }
}

/* R of the normal, of friction and of edges. w belongs to the normal row, or to the first edge of a pyramid. */
KERNEL_FN void mujoco_regularise(const Context *ctx, const MujocoGains *g, real w, real dim, MujocoContact *law) {
    MujocoStep step = mujoco_step(ctx);
    real zero = real_of(0), one = real_of(1);
    mask rough = dim > K(1.0);
    real mu2 = law->mu[0] * law->mu[0];
    real m2 = mu2 / real_max(mujoco_get(ctx, SAP_MUJOCO_OPTIONS, SAP_MUJOCO_OPTION_IMPRATIO), real_of(MUJOCO_MINVAL));
    bool elliptic = MUJOCO->elliptic;
    real R = mujoco_R(&step, g, elliptic ? w : real_fma(mu2, w, w)), edge = K(2.0) * m2 * R;
    law->R_n = elliptic ? R : real_select(rough, zero, R);
    law->inv_R_n = elliptic ? one / R : real_select(rough, zero, one / R);
    law->m2 = m2;
    law->f = one / (one + m2);
    law->rho = R * m2;
    law->inv_rho = real_select(rough, one / real_select(rough, law->rho, one), zero);
    law->inv_edge = elliptic ? zero : real_select(rough, one / real_select(rough, edge, one), zero);
}

/* uref of all rows: the normal has spring and damper, the others the damper of friction. */
KERNEL_FN void mujoco_references(const Context *ctx, const MujocoMaterial *m, const MujocoGains *g,
                                 const ContactVector *u0, real error, MujocoContact *law) {
    MujocoStep step = mujoco_step(ctx);
    real zero = real_of(0), B = g->B, unused;
    if (MUJOCO->elliptic) { /* solreffriction (0, 0) or of mixed signs does not count */
        MujocoImpedance own = mujoco_read_impedance(m->solreffriction, m->solimp);
        mask mixed = (own.c > zero) != (own.z > zero);
        mask has = ((own.c != zero) | (own.z != zero)) & mask_not(mixed);
        real B_own;
        mujoco_stiffness(&own, &step, &unused, &B_own);
        B = real_select(has, B_own, g->B_given);
    }
    /* the edges of a pyramid have the normal's spring; with it in uref_n alone their sums are right, discrete too */
    real K_edge = MUJOCO->elliptic ? zero : g->K_imp;
    real u[6];
    contact_vector_store(u, u0, true);
    for (int i = 0; i < 6; i++)
        law->uref[i] = i == 2          ? mujoco_uref(&step, g->B, g->K_imp, u[i], error, zero)
                       : step.discrete ? u[i] / mujoco_divisor(&step, B, K_edge)
                                       : mujoco_uref(&step, B, zero, u[i], zero, zero);
}

/* The parameters of slot c. */
KERNEL_FN void mujoco_material(const Context *ctx, int c, MujocoMaterial *out) {
    int own = mujoco_pair(ctx, c);
    if (MUJOCO->contact.data)
        mujoco_material_record(ctx, c, out);
    else if (own >= 0)
        mujoco_material_pair(ctx, own, out);
    else
        mujoco_material_mix(ctx, c, out);
}

/* Makes the law of slot c. Worlds without a contact in the slot get law data of 0. */
STAGE_FN void constraint_make(const Context *ctx, int c) {
    MujocoContact law;
    MujocoMaterial m;
    /* parameters, and the gains at this distance */
    mujoco_material(ctx, c, &m);
    MujocoStep step = mujoco_step(ctx);
    real zero = real_of(0), dim = m.dim, error = *SLOT_SETUP(phi0, c) - m.margin;
    MujocoImpedance impedance = mujoco_read_impedance(m.solref, m.solimp);
    MujocoGains gains = mujoco_gains(&impedance, &step, error, true);
    Constraint k = constraint_at(ctx, c);
    ContactVector u0 = constraint_J_mul(&k, SOLVE(v0));
    /* the law */
    mujoco_friction(&m, law.mu);
    real w = *SLOT_SETUP(w, c);
    if (step.discrete)
        w = w * mujoco_spread(ctx, k.dof, 0, k.num_dofs, k.J, k.rows, 2, 0, MUJOCO->elliptic ? zero : law.mu[0]);
    mujoco_regularise(ctx, &gains, w, dim, &law);
    mujoco_references(ctx, &m, &gains, &u0, error, &law);

    /* 0 for worlds without the contact; a condim that does not exist, or a number that is not finite, is invalid */
    mask valid = *SLOT_SETUP(valid, c) != K(0.0);
    mask known = (dim == K(1.0)) | (dim == K(3.0));
    if (mujoco_wide(ctx))
        known = known | (dim == K(4.0)) | (dim == K(6.0));
    real *data = SLOT(law, c), check = *SLOT_SETUP(check, c);
    const real *made = (const real *)&law;
    for (int i = 0; i < SAP_LAW_SIZE_mujoco; i++) {
        check = check + check_of(made[i]);
        data[i] = real_select(valid, made[i], zero);
    }
    *SLOT_SETUP(check, c) = real_select(valid, real_select(known, check, real_nan()), *SLOT_SETUP(check, c));
    for (int i = 0; i < k.rows; i++)
        k.vc[i] = zero; /* until it is computed from v */
    real *pair = SLOT_SETUP(pair, c);
    pair[0] = law.mu[0];
    pair[1] = gains.K_imp;
    pair[2] = gains.B;
}
