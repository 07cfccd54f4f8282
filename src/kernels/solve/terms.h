/* The terms of a world's problem behind one list: the constraints and tendons of the model (contact/blocks.h), the
 * contacts (contact/columns.h), and the terms of dofs. The formulation has their values (solve/formulation.h).
 *
 *   sum_b l_b(J_b v) + sum_c l_c(J_c v) + sum_i l_i(v_i)        impulses gamma, curvatures G, hessian_i
 *
 * Sums run over each kind in its order. With several threads, thread i of the team owns dof i, and each constraint has
 * one thread; the results are complete after the next barrier. */

/* ---- constraints and tendons of the model: nothing is done, and there is no code, where it has none ---- */

KERNEL_FN bool model_has_constraints(const Context *ctx) {
    return NUM_MODEL_CONSTRAINTS > 0;
}

KERNEL_FN void model_set_velocity(const Context *ctx, const real *v, mask which) {
    if (model_has_constraints(ctx))
        blocks_set_velocity(ctx, v, which);
}

KERNEL_FN void model_evaluate(const Context *ctx) {
    if (model_has_constraints(ctx))
        blocks_evaluate(ctx);
}

KERNEL_FN void model_line_start(const Context *ctx, const real *d) {
    if (model_has_constraints(ctx))
        blocks_line_start(ctx, d);
}

KERNEL_FN void model_take_Jd(const Context *ctx, mask which) {
    if (model_has_constraints(ctx))
        blocks_take_Jd(ctx, which);
}

KERNEL_FN void model_line_first(const Context *ctx) {
    if (model_has_constraints(ctx))
        blocks_line_first(ctx);
}

KERNEL_FN void model_add_hessian(const Context *ctx, const SapPattern *pattern, real *H) {
    if (model_has_constraints(ctx))
        blocks_add_hessian(ctx, pattern, H);
}

/* The columns of model constraints on dof i: plan.dof_block[t] for t from the first to the end. */
KERNEL_FN int model_first_column(const Context *ctx, int i) {
    return model_has_constraints(ctx) ? ctx->args->plan.dof_block_start[i] : 0;
}
KERNEL_FN int model_end_column(const Context *ctx, int i) {
    return model_has_constraints(ctx) ? ctx->args->plan.dof_block_start[i + 1] : 0;
}

/* ---- setting up ---- */

/* Makes the laws of all terms. */
KERNEL_FN void terms_make(const Context *ctx) {
    if (model_has_constraints(ctx))
        blocks_make(ctx);
    TEAM_FOR(c, constraint_count(ctx))
        constraint_make(ctx, c);
    TEAM_FOR(i, ctx->args->plan.nv)
        dof_terms_make(ctx, i);
}

/* Worlds whose contacts are finite and in range. */
STAGE_FN mask terms_contacts_lawful(const Context *ctx) {
    real check = real_of(0);
    for (int c = 0; c < constraint_count(ctx); c++)
        check = check + constraint_check(ctx, c);
    return check == K(0.0);
}

/* Worlds whose drive targets, and the guess, are finite. */
STAGE_FN mask terms_control_lawful(const Context *ctx) {
    mask lawful = checks_pass(SOLVE(dof_check), ctx->args->plan.nv);
    return model_has_constraints(ctx) ? lawful & blocks_control_lawful(ctx) : lawful;
}

/* Worlds in which every model constraint has a direction. */
KERNEL_FN mask terms_model_lawful(const Context *ctx) {
    return model_has_constraints(ctx) ? blocks_lawful(ctx) : mask_all();
}

/* Worlds in which a term acts; the others have free motion. */
STAGE_FN mask terms_any_act(const Context *ctx) {
    mask any = model_has_constraints(ctx) ? blocks_any_act(ctx) : mask_none();
    for (int c = 0; c < constraint_count(ctx); c++)
        any = any | constraint_acts(ctx, c);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        any = any | dof_terms_active(ctx, i);
    return any;
}

/* Finds the articulations on which a constraint acts. In a team, the thread of articulation a looks for it in every
 * constraint; one thread alone visits each constraint once. */
STAGE_FN void terms_touch(const Context *ctx) {
    const SapPlan *plan = &ctx->args->plan;
    TEAM_FOR(a, plan->num_articulations)
        SOLVE(touched)[a] = real_of(0);
    TEAM_FOR(a, TEAM_OF_ONE ? 1 : plan->num_articulations) {
        if (model_has_constraints(ctx))
            blocks_touch(ctx, a);
        for (int c = 0; c < constraint_count(ctx); c++)
            constraint_touch(ctx, c, a);
    }
}

/* Worlds in which dof i takes part: one of its terms acts, or a constraint acts on its articulation. */
KERNEL_FN mask terms_move_dof(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    int articulation = plan->link[plan->tree.row[i].link].articulation;
    return dof_terms_active(ctx, i) | (SOLVE(touched)[articulation] != K(0.0));
}

/* Worlds in which a constraint acts on dof i itself. */
KERNEL_FN mask terms_act_on(const Context *ctx, int i) {
    const SapPlan *plan = &ctx->args->plan;
    mask touched = mask_none();
    for (int t = model_first_column(ctx, i); t < model_end_column(ctx, i); t++)
        touched = touched | block_acts(ctx, BLOCK_AT(plan->dof_block[t].block));
    for (int c = 0; c < constraint_count(ctx); c++)
        if (constraint_column(ctx, c, i) >= 0)
            touched = touched | constraint_acts(ctx, c);
    return touched;
}

/* ---- values ---- */

/* The velocities of constraints from v, in the worlds of `which`. */
KERNEL_FN void terms_set_velocity(const Context *ctx, const real *v, mask which) {
    model_set_velocity(ctx, v, which);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_set_velocity(&k, v, which);
    }
}

/* v_c += a J d in the worlds of `which`. */
KERNEL_FN void terms_move(const Context *ctx, real a, mask which) {
    if (model_has_constraints(ctx))
        blocks_move(ctx, a, which);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_move(&k, a, which);
    }
}

/* Impulses, costs and curvatures of all terms at v. SOLVE(impulse) has the impulses of dofs. */
STAGE_FN void terms_evaluate(const Context *ctx) {
    model_evaluate(ctx);
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

/* SOLVE(impulse) += J' gamma of all constraints. */
STAGE_FN void terms_add_impulse(const Context *ctx) {
    real *impulse = SOLVE(impulse);
    if (model_has_constraints(ctx))
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

/* The cost of the terms of dof i. */
KERNEL_FN real terms_dof_cost(const Context *ctx, int i) {
    return HAS_DOF_TERMS ? SOLVE(dof_cost)[i] : real_of(0);
}

/* `cost` and the costs of all constraints. */
KERNEL_FN real terms_add_cost(const Context *ctx, real cost) {
    if (model_has_constraints(ctx))
        cost = blocks_add_cost(ctx, cost);
    for (int c = 0; c < constraint_count(ctx); c++)
        cost = cost + *constraint_at(ctx, c).cost;
    return cost;
}

/* ---- along a line v + a d (solve/line.h) ---- */

/* The change of cost from a = 0, and its derivatives by a. */
typedef struct LinePoint {
    real change; /* phi(a) - phi(0) */
    real slope, curvature;
} LinePoint;

/* Adds the terms of one constraint or dof to p: change of cost, gamma.(J d), (J d)'G (J d). */
KERNEL_FN void line_add(LinePoint *p, const real *at, int derivatives) {
    p->change = p->change + at[0];
    if (derivatives > 0)
        p->slope = p->slope - at[1];
    if (derivatives > 1)
        p->curvature = p->curvature + at[2];
}

/* Finds the worlds in which the terms of dof i are a parabola on the line up to a = reach: keeps[i] is 1 there. One
 * lane, which is open, has the bit of its dof instead. */
KERNEL_FN void terms_find_parabolas(const Context *ctx, const real *d, real reach, mask open) {
    const real *v = SOLVE(v);
    real *keeps = SOLVE(line_keeps);
    int *acts = &DOF_ACTS(0), nv = ctx->args->plan.nv;
    DofTerms all = dof_terms(ctx);
    UNROLL
    TEAM_FOR(i, HAS_DOF_TERMS ? nv : 0)
        if (acts[i]) {
            mask same = dof_terms_keep(&all, i, v[i], real_fma(reach, d[i], v[i]));
            if (SAP_LANES > 1)
                keeps[i] = real_select(same, real_of(1), real_of(0));
            acts[i] = (acts[i] & ~DOF_LINE_ACTS) | (mask_any(open & mask_not(same)) ? DOF_LINE_ACTS : 0);
        }
}

/* Worlds in which the terms of dof i are a parabola along the line; acts: DOF_ACTS(i). */
KERNEL_FN mask line_keeps(const real *keeps, int i, int acts) {
    if (SAP_LANES == 1)
        return acts & DOF_LINE_ACTS ? mask_none() : mask_all();
    return keeps[i] != K(0.0);
}

/* Begins a line along d in the worlds of `open`: J d, and which terms of dofs are parabolas up to a = reach. */
KERNEL_FN void terms_line_start(const Context *ctx, const real *d, real reach, mask open) {
    model_line_start(ctx, d);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_line_start(&k, d);
    }
    terms_find_parabolas(ctx, d, reach, open);
}

/* The terms of all dofs that are parabolas, for a loop over dofs. */
typedef struct Parabolas {
    const real *keeps, *gamma, *hessian; /* [nv] */
    const int *acts;                     /* [nv] */
} Parabolas;

KERNEL_FN Parabolas terms_parabolas(const Context *ctx) {
    Parabolas p;
    p.keeps = SOLVE(line_keeps);
    p.gamma = SOLVE(dof_gamma);
    p.hessian = SOLVE(dof_hessian);
    p.acts = &DOF_ACTS(0);
    return p;
}

/* Adds the parabola of dof i to the first and second derivative of the cost by v_i, d = d_i. */
KERNEL_FN void terms_add_parabola(const Parabolas *p, int i, real d, real *m1, real *m2) {
    real zero = real_of(0);
    if (HAS_DOF_TERMS && p->acts[i]) {
        mask same = line_keeps(p->keeps, i, p->acts[i]);
        *m1 = *m1 - real_select(same, p->gamma[i], zero);
        *m2 = real_fma(real_select(same, p->hessian[i], zero), d, *m2);
    }
}

/* The terms of a dof at a: the change of cost, with one of the `derivatives` its slope along d, with two its curvature
 * too; 0 in worlds where they are part of the parabola. */
KERNEL_FN void terms_line_dof(const JointTerms *at_a, mask same, real cost0, real d, int derivatives, real *at) {
    real zero = real_of(0);
    at[0] = real_select(same, zero, at_a->cost - cost0);
    if (derivatives > 0)
        at[1] = real_select(same, zero, joint_terms_impulse(at_a) * d);
    if (derivatives > 1)
        at[2] = real_select(same, zero, at_a->hessian * d * d);
}

/* `p` with the terms of contacts and dofs at a; as many derivatives as `derivatives` says, a compile-time constant. One
 * thread alone adds them as it computes them. */
KERNEL_FN LinePoint terms_line(const Context *ctx, const real *d, real a, int derivatives, LinePoint p) {
    int nv = ctx->args->plan.nv;
    const real *v = SOLVE(v), *keeps = SOLVE(line_keeps), *cost0 = SOLVE(dof_cost);
    const int *acts = &DOF_ACTS(0);
    real *at = SOLVE(line);
    DofTerms all = dof_terms(ctx);
    TEAM_FOR(c, constraint_count(ctx)) {
        Constraint k = constraint_at(ctx, c);
        constraint_line(&k, a, derivatives);
        if (TEAM_OF_ONE)
            line_add(&p, k.line, derivatives);
    }
    UNROLL
    TEAM_FOR(i, HAS_DOF_TERMS ? nv : 0)
        if (acts[i] & DOF_LINE_ACTS) {
            JointTerms terms = dof_terms_at(&all, i, real_fma(a, d[i], v[i]));
            terms_line_dof(&terms, line_keeps(keeps, i, acts[i]), cost0[i], d[i], derivatives, at + 3 * i);
            if (TEAM_OF_ONE)
                line_add(&p, at + 3 * i, derivatives);
        }
    if (TEAM_OF_ONE)
        return p;
    TEAM_SYNC(); /* the sums read the values of all constraints and dofs */
    for (int c = 0; c < constraint_count(ctx); c++)
        line_add(&p, constraint_at(ctx, c).line, derivatives);
    for (int i = 0; HAS_DOF_TERMS && i < nv; i++)
        if (acts[i] & DOF_LINE_ACTS)
            line_add(&p, at + 3 * i, derivatives);
    TEAM_SYNC(); /* the next evaluation overwrites the values that were summed */
    return p;
}

/* Adds the model constraints at a, which terms_line leaves out; call it after that function, whose barriers follow the
 * last use of their values by other threads. derivatives: 1 or 2. */
KERNEL_FN void terms_add_model_line(const Context *ctx, real a, int derivatives, LinePoint *p) {
    if (model_has_constraints(ctx) && TEAM_OF_ONE) {
        real sum[3];
        blocks_line_sums(ctx, a, sum);
        p->change = p->change + sum[0];
        p->slope = p->slope - sum[1];
        if (derivatives > 1)
            p->curvature = p->curvature + sum[2];
    } else if (model_has_constraints(ctx)) {
        p->change = p->change + blocks_line(ctx, a);
        p->slope = p->slope - blocks_line_sum(ctx, 1);
        if (derivatives > 1)
            p->curvature = p->curvature + blocks_line_sum(ctx, 2);
    }
}

/* `change` plus the change of the model constraints at a. */
KERNEL_FN real terms_add_model_change(const Context *ctx, real a, real change) {
    return model_has_constraints(ctx) ? change + blocks_line(ctx, a) : change;
}

/* ---- Hessian ---- */

/* Whether a contact couples two branches: H then has entries off the closed pattern, and is on tiles. */
KERNEL_FN bool terms_couple(const Context *ctx) {
    bool couples = false;
    for (int c = 0; c < constraint_count(ctx); c++)
        couples |= constraint_couples(ctx, c);
    return couples;
}

/* Marks the nodes that contact c couples: its columns' nodes, in the row of the largest. In a team, the thread of
 * node K marks row K. The model couples the nodes of every path of the tree, but with constraints of its own not the
 * nodes of every path of the closed pattern, on which a contact does not count as coupling. */
KERNEL_FN void terms_mark_contact(const Context *ctx, const Tiles *t, int K, int c) {
    if (!model_has_constraints(ctx) && !constraint_couples(ctx, c))
        return;
    Constraint k = constraint_at(ctx, c);
    if (k.num_dofs == 0)
        return;
    int largest = t->node[k.dof[k.num_dofs - 1]];
    for (int j = 0; j < k.num_dofs && (TEAM_OF_ONE || K == largest); j++)
        if (t->node[k.dof[j]] != largest)
            bit_set(tile_couples(t, largest), t->node[k.dof[j]]);
}

/* Marks the tiles that contacts couple. */
KERNEL_FN void terms_mark_tiles(const Context *ctx, const Tiles *t) {
    TEAM_FOR(K, TEAM_OF_ONE ? 1 : t->count)
        for (int c = 0; t->count > 1 && c < constraint_count(ctx); c++)
            terms_mark_contact(ctx, t, K, c);
}

/* H += sum_c J_c' G_c J_c on a pattern, or on the tiles if that is NULL. */
KERNEL_FN void terms_add_hessian(const Context *ctx, const SapPattern *pattern, bool is_tree, real *H) {
    model_add_hessian(ctx, pattern, H);
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
KERNEL_FN void terms_add_dof_hessian(const Context *ctx, const SapPattern *pattern, real *H) {
    StageView solve = SOLVE_VIEW;
    int nv = ctx->args->plan.nv, dof_hessian = ctx->args->problem.dof_hessian;
    scalar shift = (scalar)ctx->args->contacts.diag_shift;
    UNROLL
    TEAM_FOR(i, nv) {
        real *H_ii = H + row_start(pattern, i) + row_column(pattern, i);
        *H_ii = *H_ii + view_get(solve, dof_hessian + i) + shift;
    }
}
