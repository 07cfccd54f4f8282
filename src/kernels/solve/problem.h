/* The convex problem of a world, and its value at a velocity. docs/solve.md.
 *
 *   minimise  l(v) = 1/2 (v - v*)' A (v - v*) + sum_c l_c(J_c v) + sum_i l_i(v_i)
 *   gradient  A (v - v*) - sum_c J_c' gamma_c - sum_i gamma_i
 *   Hessian   A + sum_c J_c' G_c J_c + diag(hessian_i)
 *
 * c runs over the blocks of the model (its constraints and tendons), then over the contacts.
 *
 * Methods use the terms of the problem only through this file: cost, gradient, Hessian and the value along a line. */

/* ---- setting up ---- */

/* Checks of the problem, per world. */
typedef struct ProblemChecks {
    mask sound, constraints, dofs; /* free motion is finite; contacts are valid; control and guess are finite */
    mask blocks;                   /* every block has a direction */
    mask constrained;              /* all four hold and a term is active: the world has a problem to solve */
} ProblemChecks;

/* Reads v* and v0 from free motion, and computes w and scale from the diagonal of A. v - v* and r are 0 until they are
 * computed from v. */
STAGE_FN void problem_load(const Context *ctx) {
    const SapPatternRow *row = ctx->args->plan.tree.row;
    int nv = ctx->args->plan.nv;
    real *w = SOLVE(w), *scale = SOLVE(scale), *v_star = SOLVE(v_star), *v0 = SOLVE(v0);
    real *dv = SOLVE(dv), *r = SOLVE(r);
    StageView A = FM_VIEW(A), fm_v = FM_VIEW(v), fm_v0 = FM_VIEW(v0);
    UNROLL
    TEAM_FOR(i, nv) {
        real A_ii = view_get(A, row[i].start + row[i].depth);
        real a = real_select(A_ii > K(1e-12), A_ii, real_of(K(1e-12)));
        w[i] = K(1.0) / a;
        scale[i] = K(1.0) / real_sqrt(a);
        v_star[i] = view_get(fm_v, i);
        v0[i] = view_get(fm_v0, i);
        dv[i] = r[i] = real_of(0);
    }
}

/* (A x)_i from the sparse rows: ancestors, i itself, then descendants. */
KERNEL_FN real problem_A_row(const SapPattern *tree, StageView A, int i, const real *x) {
    SapPatternRow row = tree->row[i];
    int before = row.depth + 1, n = before + row.num_desc;
    const SapDescendant *entry = tree->descendant + (row.desc_start - before);
    real s = real_of(0);
    for (int k = 0; k < n; k++)
        s = real_fma(view_get(A, entry[k].at), x[entry[k].dof], s);
    return s;
}

/* The same product for all rows by one thread, which reads an entry A_ij once: it goes to y_i and to y_j. Every y_i
 * gets its terms in the order of problem_A_row. This is row i, whose y_i is complete but for its descendants. */
KERNEL_FN void problem_A_add_row(const SapPatternRow *row, const int *ancestors, StageView A, const real *x, real *y,
                                 int i) {
    int depth = row[i].depth, start = row[i].start;
    const int *ancestor = ancestors + start;
    real s = real_of(0), x_i = x[i];
    UNROLL
    for (int t = 0; t < depth; t++) {
        real A_ij = view_get(A, start + t);
        s = real_fma(A_ij, x[ancestor[t]], s);
        y[ancestor[t]] = real_fma(A_ij, x_i, y[ancestor[t]]);
    }
    y[i] = real_fma(view_get(A, start + depth), x_i, s);
}

/* The dofs of a free base, which all other dofs of the world move with: where there are registers for them, their x and
 * y stay there for all rows below. */
enum { BASE_DOFS = 6 };
KERNEL_FN bool problem_has_base(const SapPatternRow *row, int nv) {
    return MANY_REGISTERS && nv > BASE_DOFS && row[BASE_DOFS - 1].depth == BASE_DOFS - 1 &&
           row[BASE_DOFS - 1].num_desc == nv - BASE_DOFS;
}

/* The rows below a free base, whose own rows are complete but for their descendants. */
KERNEL_FN void problem_A_add_below_base(const SapPatternRow *row, const int *ancestors, StageView A, const real *x,
                                        real *y, int nv) {
    real base_x[BASE_DOFS], base_y[BASE_DOFS];
    UNROLLED for (int t = 0; t < BASE_DOFS; t++) {
        base_x[t] = x[t];
        base_y[t] = y[t];
    }
    for (int i = BASE_DOFS; i < nv; i++) {
        int depth = row[i].depth, start = row[i].start;
        const int *ancestor = ancestors + start;
        real s = real_of(0), x_i = x[i];
        UNROLLED for (int t = 0; t < BASE_DOFS; t++) {
            real A_ij = view_get(A, start + t);
            s = real_fma(A_ij, base_x[t], s);
            base_y[t] = real_fma(A_ij, x_i, base_y[t]);
        }
        for (int t = BASE_DOFS; t < depth; t++) {
            real A_ij = view_get(A, start + t);
            s = real_fma(A_ij, x[ancestor[t]], s);
            y[ancestor[t]] = real_fma(A_ij, x_i, y[ancestor[t]]);
        }
        y[i] = real_fma(view_get(A, start + depth), x_i, s);
    }
    UNROLLED for (int t = 0; t < BASE_DOFS; t++) y[t] = base_y[t];
}

/* y = A x; thread i of the team owns y_i. */
KERNEL_FN void problem_A_mul_by(const Context *ctx, StageView A, const real *x, real *y) {
    const SapPattern *tree = &ctx->args->plan.tree;
    int nv = ctx->args->plan.nv;
    if (TEAM_OF_ONE) {
        const SapPatternRow *row = tree->row;
        const int *ancestors = tree->ancestor;
        bool base = problem_has_base(row, nv);
        EACH_DOF(i, base ? BASE_DOFS : nv, problem_A_add_row(row, ancestors, A, x, y, i))
        if (base)
            problem_A_add_below_base(row, ancestors, A, x, y, nv);
    } else {
        TEAM_FOR(i, nv)
            y[i] = problem_A_row(tree, A, i, x);
    }
}

STAGE_FN void problem_A_mul(const Context *ctx, const real *x, real *y) {
    StageView A = FM_VIEW(A);
    VIEW_CASES(A, problem_A_mul_by(ctx, A, x, y));
}

/* Makes the terms of constraints and dofs, the guess, and A v*. */
STAGE_FN void problem_make_terms(const Context *ctx) {
    if (NUM_MODEL_CONSTRAINTS > 0)
        blocks_make(ctx);
    TEAM_FOR(c, constraint_count(ctx))
        constraint_make(ctx, c);
    TEAM_FOR(i, ctx->args->plan.nv) {
        dof_terms_make(ctx, i);
        SOLVE(guess)[i] = ctx->args->guess.data ? buffer_get(ctx->args->guess, i, ctx->pack) : SOLVE(v0)[i];
        SOLVE(dof_check)[i] = SOLVE(dof_check)[i] + check_of(SOLVE(guess)[i]);
    }
    if (NORMS_ARE_READ) /* nothing else reads it */
        problem_A_mul(ctx, SOLVE(v_star), SOLVE(Av_star));
}

/* Worlds whose free motion is finite. */
STAGE_FN mask problem_is_sound(const Context *ctx) {
    real check = real_of(0);
    UNROLL
    for (int i = 0; i < ctx->args->plan.nv; i++)
        check = check + check_of(SOLVE(v_star)[i]) + check_of(SOLVE(w)[i]) + check_of(SOLVE(v0)[i]);
    return check == K(0.0);
}

/* Worlds whose constraints are finite and in range. */
STAGE_FN mask problem_constraints_lawful(const Context *ctx) {
    real check = real_of(0);
    for (int c = 0; c < constraint_count(ctx); c++)
        check = check + constraint_check(ctx, c);
    return check == K(0.0);
}

/* Worlds whose drive targets and guess are finite. */
STAGE_FN mask problem_dofs_lawful(const Context *ctx) {
    mask lawful = checks_pass(SOLVE(dof_check), ctx->args->plan.nv);
    return NUM_MODEL_CONSTRAINTS > 0 ? lawful & blocks_control_lawful(ctx) : lawful;
}

/* Worlds with a constraint or an active dof term; the others have free motion. */
STAGE_FN mask problem_any_active(const Context *ctx) {
    mask any = NUM_MODEL_CONSTRAINTS > 0 ? blocks_any_act(ctx) : mask_none();
    for (int c = 0; c < constraint_count(ctx); c++)
        any = any | constraint_acts(ctx, c);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        any = any | dof_terms_active(ctx, i);
    return any;
}

/* Finds the articulations on which a constraint acts. In a team, the thread of articulation a looks for it in every
 * constraint; one thread alone visits each constraint once. */
STAGE_FN void problem_find_touched(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    TEAM_FOR(a, plan->num_articulations)
        SOLVE(touched)[a] = real_of(0);
    TEAM_FOR(a, TEAM_OF_ONE ? 1 : plan->num_articulations) {
        if (NUM_MODEL_CONSTRAINTS > 0)
            blocks_touch(ctx, a);
        for (int c = 0; c < constraint_count(ctx); c++)
            constraint_touch(ctx, c, a);
    }
}

/* Sets the first v. A dof participates if one of its terms acts or a constraint acts on its articulation. Those dofs
 * start from the guess. The others start from v*, and scale 0 excludes them from the norms. */
STAGE_FN void problem_start(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    problem_find_touched(ctx);
    TEAM_SYNC(); /* dofs read what their articulation's thread found */
    TEAM_FOR(i, plan->nv) {
        int articulation = plan->link[plan->tree.row[i].link].articulation;
        mask part = dof_terms_active(ctx, i) | (SOLVE(touched)[articulation] != K(0.0));
        SOLVE(v)[i] = real_select(part, SOLVE(guess)[i], SOLVE(v_star)[i]);
        SOLVE(scale)[i] = real_select(part, SOLVE(scale)[i], real_of(0));
    }
}

/* Sets up the problem of each world and its first v. */
STAGE_FN ProblemChecks problem_begin(const Context *ctx) {
    ProblemChecks is;
    TEAM_SYNC(); /* contact geometry has read the S of free motion, whose memory the problem overwrites */
    problem_load(ctx);
    TEAM_SYNC(); /* dof terms read w and v*, A v* reads all of v* and A */
    problem_make_terms(ctx);
    TEAM_SYNC(); /* every thread reads the checks and activity of all constraints and dofs */
    is.sound = problem_is_sound(ctx);
    is.constraints = problem_constraints_lawful(ctx);
    is.dofs = problem_dofs_lawful(ctx);
    is.blocks = NUM_MODEL_CONSTRAINTS > 0 ? blocks_lawful(ctx) : mask_all();
    is.constrained = is.sound & is.constraints & is.dofs & is.blocks & problem_any_active(ctx);
    problem_start(ctx);
    return is;
}

/* ---- evaluation ---- */

/* Computes v - v*, r = A (v - v*) and the velocities of constraints from v, in the worlds of `which`. */
STAGE_FN void problem_start_from_v(const Context *ctx, mask which) {
    const real *v = SOLVE(v);
    StageView v_star = FM_VIEW(v);
    real *dv = SOLVE(dv), *r = SOLVE(r), *product = SOLVE(grad); /* grad is free until the gradient is evaluated */
    int nv = ctx->args->plan.nv;
    TEAM_SYNC(); /* constraints read the v of their dofs */
    UNROLL
    TEAM_FOR(i, nv)
        dv[i] = real_select(which, v[i] - view_get(v_star, i), dv[i]);
    if (NUM_MODEL_CONSTRAINTS > 0)
        blocks_set_velocity(ctx, v, which);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_set_velocity(&k, v, which);
    }
    TEAM_SYNC(); /* the product reads all of dv */
    problem_A_mul(ctx, dv, product);
    UNROLL
    TEAM_FOR(i, nv)
        r[i] = real_select(which, product[i], r[i]);
}

/* Computes impulses, costs and curvatures of all terms. */
STAGE_FN void problem_evaluate_terms(const Context *ctx) {
    if (NUM_MODEL_CONSTRAINTS > 0)
        blocks_evaluate(ctx);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_evaluate(&k);
    }
    const real *v = SOLVE(v);
    real *gamma = SOLVE(dof_gamma), *impulse = SOLVE(impulse), *cost = SOLVE(dof_cost), *hessian = SOLVE(dof_hessian);
    DofTerms all = dof_terms(ctx);
    int nv = ctx->args->plan.nv;
    UNROLL
    TEAM_FOR(i, nv) {
        if (!HAS_DOF_TERMS) { /* the others are 0 from the start */
            impulse[i] = real_of(0);
            continue;
        }
        JointTerms terms = dof_terms_at(&all, i, v[i]);
        gamma[i] = impulse[i] = joint_terms_impulse(&terms);
        cost[i] = terms.cost;
        hessian[i] = terms.hessian;
    }
}

/* Impulse j = J' gamma + dof terms; needs the evaluated terms. */
STAGE_FN void problem_evaluate_impulse(const Context *ctx) {
    real *impulse = SOLVE(impulse);
    if (NUM_MODEL_CONSTRAINTS > 0)
        blocks_add_impulse(ctx, impulse);
    if (constraints_add_impulse(ctx, impulse))
        return;
    if (TABLES_KNOWN) {
        for (int c = 0; c < constraint_count(ctx); c++) {
            Constraint k = constraint_at(ctx, c);
            columns_add_impulse(&k, impulse);
        }
        return;
    }
    FOR_COLUMNS(at, Constraint, k, constraint_at) {
        int i = column_dof(&at);
        impulse[i] = impulse[i] + constraint_Jt_mul(&k, at.column);
    }
}

/* Gradient r - j; needs r and j. */
KERNEL_FN void problem_evaluate_gradient(const Context *ctx) {
    const real *r = SOLVE(r), *impulse = SOLVE(impulse);
    real *grad = SOLVE(grad);
    int nv = ctx->args->plan.nv;
    UNROLL
    TEAM_FOR(i, nv)
        grad[i] = r[i] - impulse[i];
}

/* Adds dof i of 1/2 (v - v*)' r and of the dof terms to the cost. */
KERNEL_FN real cost_add_dof(real cost, real dv, real r, real dof_cost) {
    return cost + real_fma(K(0.5) * dv, r, dof_cost);
}

/* Adds the constraints to the cost. */
KERNEL_FN real problem_add_constraint_costs(const Context *ctx, real cost) {
    if (NUM_MODEL_CONSTRAINTS > 0)
        cost = blocks_add_cost(ctx, cost);
    for (int c = 0; c < constraint_count(ctx); c++)
        cost = cost + *constraint_at(ctx, c).cost;
    return cost;
}

/* l(v). Every thread computes the same sum in the order of indices. */
STAGE_FN real problem_cost(const Context *ctx) {
    real cost = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        cost = cost_add_dof(cost, SOLVE(dv)[i], SOLVE(r)[i], HAS_DOF_TERMS ? SOLVE(dof_cost)[i] : real_of(0));
    return problem_add_constraint_costs(ctx, cost);
}

/* Evaluates all terms and the impulse at the v of problem_move. In the worlds of `drifted`, r and the velocities of
 * constraints are computed from v. */
KERNEL_FN void problem_evaluate_moved_terms(const Context *ctx, mask drifted) {
    if (mask_any(drifted))
        problem_start_from_v(ctx, drifted);
    problem_evaluate_terms(ctx);
    TEAM_SYNC(); /* J' gamma reads all impulses */
    problem_evaluate_impulse(ctx);
}

/* The same with the gradient. Returns l(v). */
KERNEL_FN real problem_evaluate_moved(const Context *ctx, mask drifted) {
    problem_evaluate_moved_terms(ctx, drifted);
    problem_evaluate_gradient(ctx);
    TEAM_SYNC(); /* the sums read all of r, grad, impulse */
    return problem_cost(ctx);
}

/* Evaluates the problem at any v: all terms, r, impulse and gradient. Returns l(v). */
KERNEL_FN real problem_evaluate(const Context *ctx) {
    return problem_evaluate_moved(ctx, mask_all());
}

/* Norms of the last evaluation, D = diag(1/sqrt(A_ii)) over the active dofs. */
typedef struct ProblemNorms {
    real residual, scale; /* |D grad|, max(|D A v|, |D j|) */
    real momentum;        /* |D r| */
} ProblemNorms;

/* Sums of squares. */
typedef struct NormSums {
    real grad, momentum, impulse, r; /* of D grad, D A v, D j, D r */
} NormSums;

KERNEL_FN NormSums norm_sums_none(void) {
    NormSums sums;
    sums.grad = sums.momentum = sums.impulse = sums.r = real_of(0);
    return sums;
}

/* Adds dof i, whose scale is s. */
KERNEL_FN void norm_sums_add(NormSums *sums, real s, real grad, real r, real Av_star, real impulse) {
    real g = s * grad, p = s * (r + Av_star), j = s * impulse, m = s * r;
    sums->grad = real_fma(g, g, sums->grad);
    sums->momentum = real_fma(p, p, sums->momentum);
    sums->impulse = real_fma(j, j, sums->impulse);
    sums->r = real_fma(m, m, sums->r);
}

KERNEL_FN ProblemNorms norms_of(const NormSums *sums) {
    ProblemNorms norms;
    norms.residual = real_sqrt(sums->grad);
    norms.scale = real_sqrt(real_max(sums->momentum, sums->impulse));
    norms.momentum = real_sqrt(sums->r);
    return norms;
}

KERNEL_FN ProblemNorms problem_norms(const Context *ctx) {
    const real *scale = SOLVE(scale), *grad = SOLVE(grad), *r = SOLVE(r), *Av_star = SOLVE(Av_star);
    const real *impulse = SOLVE(impulse);
    int nv = ctx->args->plan.nv;
    NormSums sums = norm_sums_none();
    for (int i = 0; i < nv; i++)
        norm_sums_add(&sums, scale[i], grad[i], r[i], Av_star[i], impulse[i]);
    return norms_of(&sums);
}

/* As problem_evaluate_moved and problem_norms. Returns l(v). One thread alone takes gradient, cost and norms in one
 * pass over the dofs. In a team the gradient is shared work, and cost and norms together would only need more
 * registers. */
KERNEL_FN real problem_evaluate_moved_norms(const Context *ctx, mask drifted, ProblemNorms *norms) {
    if (!TEAM_OF_ONE) {
        real l = problem_evaluate_moved(ctx, drifted);
        *norms = problem_norms(ctx);
        return l;
    }
    problem_evaluate_moved_terms(ctx, drifted);
    const real *scale = SOLVE(scale), *r = SOLVE(r), *Av_star = SOLVE(Av_star), *impulse = SOLVE(impulse);
    const real *dv = SOLVE(dv), *dof_cost = SOLVE(dof_cost);
    real *grad = SOLVE(grad), cost = real_of(0);
    int nv = ctx->args->plan.nv;
    NormSums sums = norm_sums_none();
    UNROLL
    for (int i = 0; i < nv; i++) {
        grad[i] = r[i] - impulse[i];
        cost = cost_add_dof(cost, dv[i], r[i], dof_cost[i]);
        norm_sums_add(&sums, scale[i], grad[i], r[i], Av_star[i], impulse[i]);
    }
    *norms = norms_of(&sums);
    return problem_add_constraint_costs(ctx, cost);
}

/* Worlds in which a constraint acts on dof i. */
KERNEL_FN mask problem_touched(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    mask touched = mask_none();
    for (int t = NUM_MODEL_CONSTRAINTS > 0 ? plan->dof_block_start[i] : 0; NUM_MODEL_CONSTRAINTS > 0 && t < plan->dof_block_start[i + 1]; t++)
        touched = touched | block_acts(ctx, BLOCK_AT(plan->dof_block[t].block));
    for (int c = 0; c < constraint_count(ctx); c++)
        if (constraint_column(ctx, c, i) >= 0)
            touched = touched | constraint_acts(ctx, c);
    return touched;
}

/* The sum of the diagonal of A. */
KERNEL_FN real problem_trace(const Context *ctx) {
    const SapPatternRow *row = ctx->args->plan.tree.row;
    StageView A = FM_VIEW(A);
    real sum = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        sum = sum + view_get(A, row[i].start + row[i].depth);
    return sum;
}

/* ---- Hessian ---- */

/* Whether a contact couples two branches: H then has entries off the closed pattern, and is on tiles. */
KERNEL_FN bool problem_couples(const Context *ctx) {
    bool couples = false;
    for (int c = 0; c < constraint_count(ctx); c++)
        couples |= constraint_couples(ctx, c);
    return couples;
}

/* Marks the nodes that constraint c couples: those of its columns, in the row of the largest. In a team, the thread of
 * node K marks row K. The model couples the nodes of every path of the tree, but with blocks not those of every path of
 * the closed pattern, on which a contact does not count as coupling. */
KERNEL_FN void problem_mark_tiles(const Context *ctx, const Tiles *t, int K, int c) {
    if (NUM_MODEL_CONSTRAINTS == 0 && !constraint_couples(ctx, c))
        return;
    Constraint k = constraint_at(ctx, c);
    if (k.num_dofs == 0)
        return;
    int largest = t->node[k.dof[k.num_dofs - 1]];
    for (int j = 0; j < k.num_dofs && (TEAM_OF_ONE || K == largest); j++)
        if (t->node[k.dof[j]] != largest)
            bit_set(tile_couples(t, largest), t->node[k.dof[j]]);
}

/* Finds the tiles of H: what the model and the constraints of the pack couple, or all, and what elimination fills. */
STAGE_FN void problem_find_tiles(const Context *ctx, bool all) {
    const SapNodes *nodes = &ctx->args->plan.nodes;
    Tiles t = tiles_of(ctx);
    TEAM_FOR(K, t.count)
        tiles_begin_row(&t, nodes->couples, K, all);
    TEAM_FOR(K, TEAM_OF_ONE ? 1 : t.count)
        for (int c = 0; t.count > 1 && c < constraint_count(ctx); c++)
            problem_mark_tiles(ctx, &t, K, c);
    TEAM_SYNC(); /* one thread reads all rows */
    tiles_complete(&t, ctx->args->plan.nv);
}

/* H = A on a pattern, or on the tiles if that is NULL, with zeros off the tree. */
KERNEL_FN void problem_hessian_A(const Context *ctx, const SapPattern *pattern, bool is_tree, StageView A, real *H) {
    const SapPatternRow *tree_row = ctx->args->plan.tree.row;
    const int *ancestor = ctx->args->plan.tree.ancestor;
    int nv = ctx->args->plan.nv;
    Tiles tiles = tiles_of(ctx);
    if (TEAM_OF_ONE && is_tree) { /* both have the same entries in the same order */
        UNROLL
        for (int t = 0; t < pattern->nnz; t++)
            H[t] = view_get(A, t);
        return;
    }
    TEAM_FOR(i, nv) {
        real *H_i = H + row_start(pattern, i);
        int start = tree_row[i].start;
        if (!pattern)
            tile_clear_row(&tiles, i, H);
        for (int t = 0; pattern && !is_tree && t <= pattern->row[i].depth; t++)
            H_i[t] = real_of(0);
        for (int t = 0; t <= tree_row[i].depth; t++)
            H_i[is_tree ? t : row_column(pattern, ancestor[start + t])] = view_get(A, start + t);
    }
}

/* H += sum_c J_c' G_c J_c */
KERNEL_FN void problem_hessian_constraints(const Context *ctx, const SapPattern *pattern, bool is_tree, real *H) {
    if (NUM_MODEL_CONSTRAINTS > 0)
        blocks_add_hessian(ctx, pattern, H);
    if (TABLES_KNOWN && is_tree) {
        for (int c = 0; c < constraint_count(ctx); c++) {
            Curvature k = curvature_at(ctx, c);
            columns_add_curvature(k.G, k.dof, k.J, *SLOT_SHORTS(num_dofs, c), pattern, H);
        }
        return;
    }
    FOR_COLUMNS(at, Curvature, k, curvature_at)
    curvature_add(&k, at.column, pattern, is_tree, H + row_start(pattern, column_dof(&at)));
}

/* H_ii += hessian_i + diag_shift */
KERNEL_FN void problem_hessian_dofs(const Context *ctx, const SapPattern *pattern, real *H) {
    StageView solve = SOLVE_VIEW;
    int nv = ctx->args->plan.nv, dof_hessian = ctx->args->problem.dof_hessian;
    scalar shift = (scalar)ctx->args->contacts.diag_shift;
    UNROLL
    TEAM_FOR(i, nv) {
        real *H_ii = H + row_start(pattern, i) + row_column(pattern, i);
        *H_ii = *H_ii + view_get(solve, dof_hessian + i) + shift;
    }
}

/* H on a pattern, or on the tiles if that is NULL; which of them is a compile-time constant. */
KERNEL_FN void problem_hessian_on(const Context *ctx, const SapPattern *pattern, bool is_tree, real *H) {
    StageView A = FM_VIEW(A);
    VIEW_CASES(A, problem_hessian_A(ctx, pattern, is_tree, A, H));
    problem_hessian_constraints(ctx, pattern, is_tree, H);
    problem_hessian_dofs(ctx, pattern, H);
}

/* H on the tiles without the contacts, which a library adds. */
STAGE_FN void problem_hessian_without_contacts(const Context *ctx, real *H) {
    StageView A = FM_VIEW(A);
    VIEW_CASES(A, problem_hessian_A(ctx, 0, false, A, H));
    if (NUM_MODEL_CONSTRAINTS > 0)
        blocks_add_hessian(ctx, 0, H);
    problem_hessian_dofs(ctx, 0, H);
}

/* Writes H on `pattern`, the tree's or the closed one, or on the tiles if it is NULL, in the precision of this stage,
 * which may differ from that of the solve. Every part is read in the precision that it has. The thread of dof i writes
 * row i. */
STAGE_FN void problem_hessian(const Context *ctx, const SapPattern *pattern, real *H) {
    const SapPlan *plan = &ctx->args->plan;
    if (pattern == &plan->tree && constraints_hessian_on_tree(ctx, H))
        return;
    if (pattern == &plan->tree)
        problem_hessian_on(ctx, &plan->tree, true, H);
    else if (NUM_MODEL_CONSTRAINTS > 0 && pattern)
        problem_hessian_on(ctx, &plan->closed, false, H);
    else
        problem_hessian_on(ctx, 0, false, H);
}
