/* What constraints whose columns change, the contacts of all laws, have in common: where their numbers are, which
 * worlds have one, and the columns of its Jacobian. The formulation has their values
 * (solve/formulation.h). */

/* Pointers into scratch. */
typedef struct Constraint {
    int law;                /* CONTACT_LAW */
    int rows, num_dofs;     /* uniform */
    int most_dofs;          /* of any constraint */
    const SapDofIndex *dof; /* [num_dofs] increasing */
    StageView J;            /* [num_dofs][rows] columns of the Jacobian, in the precision of contact geometry */
    real *vc, *gamma;       /* [rows] velocity, impulse */
    real *G;                /* curvature: [6] xx yy zz xy xz yz; of six rows [21] */
    real *cost;             /* [1] */
    const real *law_data;   /* the data of the law */
    real *Jd;               /* [rows] J d along the direction d of the line */
    real *line;             /* [3] at a point of the line: change of cost, gamma.(J d), (J d)'G (J d) */
} Constraint;

KERNEL_FN Constraint constraint_at(const Context *ctx, int c) {
    Constraint k;
    k.law = CONTACT_LAW;
    k.rows = CONTACT_ROWS;
    k.num_dofs = *SLOT_SHORTS(num_dofs, c);
    k.most_dofs = ctx->args->slot_ints.max_columns;
    k.dof = SLOT_SHORTS(dof, c);
    k.J = SLOT_J_VIEW(c);
    k.vc = SLOT(vc, c);
    k.gamma = SLOT(gamma, c);
    k.G = SLOT(G, c);
    k.cost = SLOT(cost, c);
    k.law_data = SLOT(law, c);
    k.Jd = SLOT(Jd, c);
    k.line = SLOT(line, c);
    return k;
}

KERNEL_FN int constraint_count(const Context *ctx) {
    return ctx->num_slots;
}

/* Worlds that have the constraint. */
KERNEL_FN mask constraint_acts(const Context *ctx, int c) {
    return *SLOT_SETUP(valid, c) != K(0.0);
}

/* 0, or NaN where the numbers of the constraint are invalid. */
KERNEL_FN real constraint_check(const Context *ctx, int c) {
    return *SLOT_SETUP(check, c);
}

/* Whether the constraint couples two branches of the tree, so that H has entries off the tree's pattern. */
KERNEL_FN bool constraint_couples(const Context *ctx, int c) {
    return *SLOT_SHORTS(couples, c) != 0;
}

/* Sets touched[a] to 1 in the worlds of `acts` if a is the articulation of the link. One thread alone takes every a. */
KERNEL_FN void articulation_touch(const Context *ctx, int a, int link, mask acts) {
    int articulation = link < 0 ? -1 : ctx->args->plan.link[link].articulation;
    if (articulation >= 0 && (TEAM_OF_ONE || articulation == a)) {
        real *touched = SOLVE(touched) + articulation;
        *touched = real_select(acts, real_of(1), *touched);
    }
}

/* Marks the articulations of its two bodies; in a team, articulation a only. */
KERNEL_FN void constraint_touch(const Context *ctx, int c, int a) {
    mask acts = constraint_acts(ctx, c);
    articulation_touch(ctx, a, SLOT_SETUP_INTS(link, c)[0], acts);
    articulation_touch(ctx, a, SLOT_SETUP_INTS(link, c)[1], acts);
}

/* The place of dof i >= 0 in the set of dofs of a Jacobian, or -1: columns are in the order of dofs. */
KERNEL_FN int column_of(const unsigned *has, int i) {
    unsigned bit = 1u << ((unsigned)i % 32), word = has[(unsigned)i / 32];
    int column = count_bits(word & (bit - 1u));
    for (int w = 0; w < (int)((unsigned)i / 32); w++)
        column += count_bits(has[w]);
    return word & bit ? column : -1;
}

/* The column of J of constraint c for dof i, or -1. */
KERNEL_FN int constraint_column(const Context *ctx, int c, int i) {
    return column_of((const unsigned *)SLOT_INTS(has, c), i);
}

/* ---- columns ---- */

/* The columns of a constraint that one thread visits: column .. end - 1. */
typedef struct ColumnRange {
    int column, end;
    const SapDofIndex *dof; /* of each column */
    int row;                /* the dof, if the team has more than one thread */
} ColumnRange;

/* A walk through all constraints, which looks for the column of one dof if the team has more than one thread. */
typedef struct ColumnSearch {
    int c, count;        /* constraint; number of constraints */
    int row, size;       /* the dof; integers from one constraint to the next */
    const unsigned *has; /* of constraint c */
} ColumnSearch;

KERNEL_FN ColumnSearch column_search(const Context *ctx, int row) {
    ColumnSearch s;
    s.c = 0;
    s.count = constraint_count(ctx);
    s.row = row;
    s.size = ctx->args->slot_ints.size;
    s.has = (const unsigned *)SLOT_INTS(has, 0);
    return s;
}

KERNEL_FN ColumnRange column_range(const Context *ctx, const ColumnSearch *s) {
    ColumnRange at;
    at.dof = SLOT_SHORTS(dof, s->c);
    at.row = s->row;
    at.column = 0;
    at.end = TEAM_OF_ONE ? *SLOT_SHORTS(num_dofs, s->c) : 0;
    if (!TEAM_OF_ONE) {
        int column = column_of(s->has, s->row);
        at.column = column < 0 ? 0 : column;
        at.end = column + 1;
    }
    return at;
}

KERNEL_FN int column_dof(const ColumnRange *at) {
    return TEAM_OF_ONE ? at->dof[at->column] : at->row;
}

/* Visits all columns of all constraints: at.column of k = load(ctx, c), whose dof is column_dof(&at). A dof meets its
 * constraints in increasing order, in the thread that TEAM_FOR gives it. A team of one thread runs through the columns
 * of each constraint in turn; in a larger team a thread looks for its dofs in each constraint. */
#define FOR_COLUMNS(at, Type, k, load)                                                                                 \
    TEAM_FOR(team_row, TEAM_OF_ONE ? 1 : ctx->args->plan.nv)                                                           \
        for (ColumnSearch search = column_search(ctx, team_row); search.c < search.count;                              \
             search.c++, search.has += search.size)                                                                    \
            for (ColumnRange at = column_range(ctx, &search); at.column < at.end;)                                     \
                for (Type k = load(ctx, search.c); at.column < at.end; at.column++)

/* ---- columns that are unrolled ----
 * With known tables (TABLES_KNOWN) one thread runs through the columns of a contact of three rows in straight-line
 * code. */

/* Adds J' gamma. */
KERNEL_FN void columns_add_impulse(const Constraint *k, real *impulse) {
    StageView J = view_begin(k->J, k->J.is_f64);
    Vec3 gamma = vec3_load(k->gamma);
    FOR_UP_TO(j, k->num_dofs, k->most_dofs) {
        real *at = impulse + k->dof[j];
        *at = *at + vec3_dot(view_get_vec3(J, 3 * j), gamma);
    }
}

/* Adds J' G J of n columns, whose dofs are on one path, to H on the tree's pattern: column j is entry j of its rows. J
 * stays in registers. */
KERNEL_FN void columns_add_curvature(const real *G, const SapDofIndex *dof, StageView J, int n, const SapPattern *tree,
                                     real *H) {
    Vec3 column[MOST_PATH];
    J = view_begin(J, J.is_f64);
    FOR_UP_TO(i, n, MOST_PATH) {
        column[i] = view_get_vec3(J, 3 * i);
        Vec3 GJ = law_G_mul(G, column[i]);
        real *H_i = H + tree->row[dof[i]].start;
        UNROLL
        for (int j = 0; j < MOST_PATH; j++)
            if (j <= i)
                H_i[j] = H_i[j] + vec3_dot(GJ, column[j]);
    }
}
