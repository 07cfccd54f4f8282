/* The constraints of the problem: rows with a Jacobian on few dofs and a law of their velocity. Contacts are the only
 * kind. dof_terms.h has drives, limits and joint friction, whose Jacobian is a unit vector.
 *
 *   v_c = J v      l_c(v_c)      gamma_c = -dl_c/dv_c      G_c = d2l_c/dv_c2
 *
 * The structure of a constraint is the same in all worlds of the pack; its numbers differ. A world without the
 * constraint has law data of 0. */

/* Pointers into scratch. */
typedef struct Constraint {
    int law;              /* SAP_LAW_... */
    int rows, num_dofs;   /* uniform */
    const int *dof;       /* [num_dofs] increasing */
    real *J;              /* [num_dofs][rows] columns of the Jacobian */
    real *vc, *gamma;     /* [rows] velocity, impulse */
    real *G;              /* [rows (rows + 1)/2] curvature: xx yy zz xy xz yz */
    real *cost;           /* [1] */
    const real *law_data; /* [law_size] */
    real *Jd;             /* [rows] J d along the direction d of the line */
    real *line;           /* [3] at a point of the line: cost, gamma.(J d), (J d)'G (J d) */
} Constraint;

KERNEL_FN int constraint_count(const Context *ctx) {
    return ctx->num_slots;
}

KERNEL_FN Constraint constraint_at(const Context *ctx, int c) {
    Constraint k;
    k.law = CONTACT_LAW;
    k.rows = 3;
    k.num_dofs = *SLOT_INTS(num_dofs, c);
    k.dof = SLOT_INTS(dof, c);
    k.J = SLOT(J, c);
    k.vc = SLOT(vc, c);
    k.gamma = SLOT(gamma, c);
    k.G = SLOT(G, c);
    k.cost = SLOT(cost, c);
    k.law_data = SLOT(law, c);
    k.Jd = SLOT(Jd, c);
    k.line = SLOT(line, c);
    return k;
}

/* Makes the law data of constraint c. */
KERNEL_FN void constraint_make(const Context *ctx, int c) {
    contact_make_law(ctx, c);
}

/* Worlds that have the constraint. */
KERNEL_FN mask constraint_acts(const Context *ctx, int c) {
    return *SLOT(valid, c) != K(0.0);
}

/* 0, or NaN where the numbers of the constraint are invalid. */
KERNEL_FN real constraint_check(const Context *ctx, int c) {
    return *SLOT(check, c);
}

/* Whether the constraint couples two branches of the tree, so that H has entries off the tree's pattern. */
KERNEL_FN bool constraint_couples(const Context *ctx, int c) {
    return *SLOT_INTS(couples, c) != 0;
}

/* Whether the constraint acts on a body of the articulation. */
KERNEL_FN bool constraint_touches(const Context *ctx, int c, int articulation) {
    const SapLink *link = ctx->args->plan.link;
    const int *side = SLOT_INTS(link, c);
    return (side[0] >= 0 && link[side[0]].articulation == articulation) ||
           (side[1] >= 0 && link[side[1]].articulation == articulation);
}

/* The column of J for dof i, or -1. */
KERNEL_FN int constraint_column(const Context *ctx, int c, int i) {
    return SLOT_INTS(place, c)[i];
}

/* The columns of a constraint that one thread visits: FOR_COLUMNS. */
typedef struct ColumnVisit {
    Constraint k;
    int column, end;
    int row; /* the dof, if the team has more than one thread */
} ColumnVisit;

KERNEL_FN ColumnVisit column_visit(const Context *ctx, int c, int row) {
    ColumnVisit at;
    at.k = constraint_at(ctx, c);
    at.row = row;
    at.column = 0;
    at.end = at.k.num_dofs;
    if (!TEAM_OF_ONE) {
        int column = constraint_column(ctx, c, row);
        at.column = column < 0 ? 0 : column;
        at.end = column + 1;
    }
    return at;
}

/* Visits all columns of all constraints: `at` has the constraint k and the column, column_dof(&at) is its dof. A dof
 * meets its constraints in increasing order, in the thread that TEAM_FOR gives it. A team of one thread runs through
 * the columns of each constraint in turn; in a larger team a thread looks for its dofs in each constraint. */
#define FOR_COLUMNS(at)                                                                                                \
    TEAM_FOR(team_row, TEAM_OF_ONE ? 1 : ctx->args->plan.nv)                                                           \
        for (int team_c = 0, team_n = constraint_count(ctx); team_c < team_n; team_c++)                                \
            for (ColumnVisit at = column_visit(ctx, team_c, team_row); at.column < at.end; at.column++)

KERNEL_FN int column_dof(const ColumnVisit *at) {
    return TEAM_OF_ONE ? at->k.dof[at->column] : at->row;
}

/* Column `column` of J. */
KERNEL_FN Vec3 constraint_J(const Constraint *k, int column) {
    return vec3_load(k->J + k->rows * column);
}

/* J x */
KERNEL_FN Vec3 constraint_J_mul(const Constraint *k, const real *x) {
    Vec3 y = vec3_zero();
    for (int j = 0; j < k->num_dofs; j++)
        y = vec3_fma(x[k->dof[j]], constraint_J(k, j), y);
    return y;
}

/* (J' gamma) of one column */
KERNEL_FN real constraint_Jt_mul(const Constraint *k, int column) {
    return vec3_dot(constraint_J(k, column), vec3_load(k->gamma));
}

/* Adds J_i' G J_j of column i = `column` and the columns j <= i to row i of H. On the tree's pattern column j is entry j
 * of the row, on the dense one entry dof[j]. */
KERNEL_FN void constraint_add_hessian(const Constraint *k, int column, bool is_tree, real *H) {
    const int *dof = k->dof;
    const real *J = k->J;
    Vec3 GJ = law_G_mul(k->G, constraint_J(k, column));
    for (int j = 0; j <= column; j++, J += k->rows) {
        real *H_ij = H + (is_tree ? j : dof[j]);
        *H_ij = *H_ij + vec3_dot(GJ, vec3_load(J));
    }
}

/* Computes velocity, impulse, cost and curvature at v. */
KERNEL_FN void constraint_evaluate(const Constraint *k, const real *v) {
    LawValue at;
    Vec3 vc = constraint_J_mul(k, v);
    law_evaluate(k->law, k->law_data, vc, &at);
    vec3_store(k->vc, vc);
    vec3_store(k->gamma, at.gamma);
    *k->cost = at.cost;
    for (int i = 0; i < 6; i++)
        k->G[i] = at.G[i];
}

/* Computes the constraint's terms at v + a d: the cost and, if `derivatives`, slope and curvature along d. */
KERNEL_FN void constraint_line(const Constraint *k, real a, bool derivatives) {
    Vec3 u = vec3_load(k->Jd), vc = vec3_fma(a, u, vec3_load(k->vc));
    if (!derivatives) {
        k->line[0] = law_cost(k->law, k->law_data, vc);
        return;
    }
    LawValue at;
    law_evaluate(k->law, k->law_data, vc, &at);
    k->line[0] = at.cost;
    k->line[1] = vec3_dot(at.gamma, u);
    k->line[2] = vec3_dot(u, law_G_mul(at.G, u));
}
