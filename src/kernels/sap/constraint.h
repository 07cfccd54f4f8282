/* The constraints of the problem: rows with a Jacobian on few dofs and a law of their velocity. Contacts are the only
 * kind whose columns change; blocks.h has the model's. dof_terms.h has drives, limits and joint friction, whose
 * Jacobian is a unit vector.
 *
 *   v_c = J v      l_c(v_c)      gamma_c = -dl_c/dv_c      G_c = d2l_c/dv_c2
 *
 * The structure of a constraint is the same in all worlds of the pack; its numbers differ. A world without the
 * constraint has law data of 0. */

/* J x */
KERNEL_FN Vec3 constraint_J_mul_by(const Constraint *k, StageView J, const real *x) {
    Vec3 y = vec3_zero();
    FOR_UP_TO(j, k->num_dofs, k->most_dofs)
        y = vec3_fma(x[k->dof[j]], view_get_vec3(J, k->rows * j), y);
    return y;
}

KERNEL_FN Vec3 constraint_J_mul(const Constraint *k, const real *x) {
    StageView J = k->J;
    Vec3 y;
    VIEW_CASES(J, y = constraint_J_mul_by(k, J, x));
    return y;
}

/* Makes the law data of constraint c. Its velocity is 0 until it is computed from v. The velocity at the start of the
 * step is read by the law `lagged`, and by the slip width of `similar`. */
KERNEL_FN void constraint_make(const Context *ctx, int c) {
    real vn0 = real_of(0);
    if (CONTACT_LAW != CONTACT_LAW_SAP) {
        Constraint k = constraint_at(ctx, c);
        vn0 = constraint_J_mul(&k, SOLVE(v0)).z;
    }
    contact_make_law(ctx, c, vn0);
    vec3_store(SLOT(vc, c), vec3_zero());
}

/* (J' gamma) of one column */
KERNEL_FN real constraint_Jt_mul(const Constraint *k, int column) {
    return vec3_dot(view_get_vec3(k->J, k->rows * column), vec3_load(k->gamma));
}

/* ---- curvature ---- */

/* What H needs of a constraint, in the precision of this stage, which may differ from the solve's. */
typedef struct Curvature {
    int rows;
    const SapDofIndex *dof;
    /* the dofs of columns 0 .. split - 1 are consecutive, and of split .. rest - 1; 0 in a team */
    int split, rest;
    StageView J;
    real G[6];
} Curvature;

KERNEL_FN Curvature curvature_at(const Context *ctx, int c) {
    Curvature k;
    StageView solve = SLOT_VIEW;
    k.rows = 3;
    k.dof = SLOT_SHORTS(dof, c);
    k.split = TEAM_OF_ONE ? SLOT_SETUP_INTS(runs, c)[0] : 0;
    k.rest = TEAM_OF_ONE ? SLOT_SETUP_INTS(runs, c)[1] : 0;
    k.J = SLOT_J_VIEW(c);
    UNROLLED for (int i = 0; i < 6; i++) k.G[i] = view_get(solve, SLOT_OFFSET(G, c) + i);
    return k;
}

/* Adds J_i' G J_j of column i = `column` and the columns j <= i to row i of H, which is on a pattern or, if that is
 * NULL, on tiles. Consecutive dofs have consecutive entries; on the tree's pattern column j is entry j. */
KERNEL_FN void curvature_add_by(const Curvature *k, StageView J, int column, const SapPattern *pattern, bool is_tree,
                                real *H) {
    Vec3 GJ = law_G_mul(k->G, view_get_vec3(J, k->rows * column));
    for (int j = 0, n = column + 1; j < n;) {
        real *H_ij = H + (is_tree ? j : row_column(pattern, k->dof[j]));
        int run = j < k->split ? k->split : j < k->rest ? k->rest : j + 1, end = is_tree || run > n ? n : run;
        for (; j < end; j++, H_ij++)
            *H_ij = *H_ij + vec3_dot(GJ, view_get_vec3(J, k->rows * j));
    }
}

KERNEL_FN void curvature_add(const Curvature *k, int column, const SapPattern *pattern, bool is_tree, real *H) {
    StageView J = k->J;
    VIEW_CASES(J, curvature_add_by(k, J, column, pattern, is_tree, H));
}

/* ---- values ---- */

/* v_c = J v in the worlds of `which`. */
KERNEL_FN void constraint_set_velocity(const Constraint *k, const real *v, mask which) {
    vec3_store(k->vc, vec3_select(which, constraint_J_mul(k, v), vec3_load(k->vc)));
}

/* J d along the direction d of a line. */
KERNEL_FN void constraint_line_start(const Constraint *k, const real *d) {
    vec3_store(k->Jd, constraint_J_mul(k, d));
}

/* v_c += a J d in the worlds of `which`. */
KERNEL_FN void constraint_move(const Constraint *k, real a, mask which) {
    Vec3 vc = vec3_load(k->vc);
    vec3_store(k->vc, vec3_select(which, vec3_fma(a, vec3_load(k->Jd), vc), vc));
}

/* Computes impulse, cost and curvature at v_c. */
KERNEL_FN void constraint_evaluate(const Constraint *k) {
    LawValue at;
    contact_law_evaluate(k->law, k->law_data, vec3_load(k->vc), &at);
    vec3_store(k->gamma, at.gamma);
    *k->cost = at.cost;
    for (int i = 0; i < 6; i++)
        k->G[i] = at.G[i];
}

/* Computes the constraint's terms at v + a d: the change of cost from v, with one of the `derivatives` its slope along
 * d, with two its curvature too. */
KERNEL_FN void constraint_line(const Constraint *k, real a, int derivatives) {
    Vec3 u = vec3_load(k->Jd), vc = vec3_fma(a, u, vec3_load(k->vc));
    if (derivatives == 0) {
        k->line[0] = contact_law_cost(k->law, k->law_data, vc) - *k->cost;
        return;
    }
    LawValue at;
    contact_law_evaluate(k->law, k->law_data, vc, &at);
    k->line[0] = at.cost - *k->cost;
    k->line[1] = vec3_dot(at.gamma, u);
    if (derivatives > 1)
        k->line[2] = vec3_dot(u, law_G_mul(at.G, u));
}

/* ---- sums that a law has ways of its own for ---- */

/* Adds J' gamma of all constraints, and writes H on the pattern of the tree; true if it did. This law leaves them
 * to solve/terms.h. */
KERNEL_FN bool constraints_add_impulse(const Context *ctx, real *impulse) {
    (void)ctx, (void)impulse;
    return false;
}
KERNEL_FN bool constraints_hessian_on_tree(const Context *ctx, real *H) {
    (void)ctx, (void)H;
    return false;
}
