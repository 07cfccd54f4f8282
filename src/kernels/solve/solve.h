/* The contact solve of a step: set up the problem, minimise it, hand v back to free motion's scratch, report. */

typedef struct Solve {
    mask sound, contacts, joints; /* whether free motion, contact records and joint terms are fit to be solved */
    mask constrained;             /* all of them are, and there is something to solve */
    Newton newton;
} Solve;

/* Status bits of the solve (solver.h). */
STAGE_FN bits solve_status(const Solve *s) {
    const Newton *n = &s->newton;
    bits none = real_bits(real_of(0)), status = none;
    status = status | bits_select(s->sound & mask_not(s->contacts), none + SAP_WORLD_BAD_CONTACT, none);
    status = status | bits_select(s->sound & mask_not(s->joints), none + SAP_WORLD_NONFINITE_CONTROL, none);
    mask solved = s->sound & s->contacts & s->joints;
    status = status | bits_select(solved & n->by_optimality, none + SAP_WORLD_OPTIMAL, none);
    status = status | bits_select(solved & n->by_cost, none + SAP_WORLD_COST_SETTLED, none);
    status = status | bits_select(solved & n->limit, none + SAP_WORLD_ITERATION_LIMIT, none);
    status = status | bits_select(solved & n->line_failed, none + SAP_WORLD_LINE_SEARCH_FAILED, none);
    status = status | bits_select(solved & n->not_spd, none + SAP_WORLD_NO_DESCENT, none);
    return status;
}

/* Free motion came out finite: only then is there a problem to solve. */
STAGE_FN mask solve_sound(const Context *ctx) {
    real check = real_of(0);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        check = check + check_of(SOLVE(v_star)[i]) + check_of(SOLVE(w)[i]) + check_of(SOLVE(v0)[i]);
    return check == K(0.0);
}

/* Contact records and drive targets are numbers and in range. */
STAGE_FN mask solve_contacts_lawful(const Context *ctx) {
    real check = real_of(0);
    for (int c = 0; c < ctx->num_slots; c++)
        check = check + *SLOT(check, c);
    return check == K(0.0);
}

STAGE_FN mask solve_joints_lawful(const Context *ctx) {
    return checks_pass(SOLVE(joint_check), ctx->args->plan.nv);
}

/* Strings together the contacts that move dof i, in the order of slots. */
KERNEL_FN void problem_link_incidences(const Context *ctx, int i) {
    SapIncidence *last = FIRST_INCIDENCE(i);
    for (int c = 0; c < ctx->num_slots; c++) {
        int k = SLOT_INTS(place, c)[i];
        if (k < 0)
            continue;
        last->slot = c;
        last->column = k;
        last = NEXT_INCIDENCE(c, k);
    }
    last->slot = last->column = -1;
}

/* The problem of the world and its first v. */
STAGE_FN void solve_begin(const Context *ctx, Solve *s) {
    const SapPlan *plan = &ctx->args->plan;
    PROFILE(ctx, SAP_STAGE_SETUP);
    newton_load(ctx);
    TEAM_SYNC(); /* joint terms read w and v*, touches the places of all slots */
    TEAM_FOR(c, ctx->num_slots)
        problem_contact(ctx, c);
    TEAM_FOR(i, plan->nv) {
        problem_link_incidences(ctx, i);
        problem_joint(ctx, i);
        SOLVE(guess)[i] = ctx->args->guess.data ? buffer_get(ctx->args->guess, i, ctx->pack) : SOLVE(v0)[i];
        SOLVE(joint_check)[i] = SOLVE(joint_check)[i] + check_of(SOLVE(guess)[i]);
        SOLVE(Av_star)[i] = problem_A_row(ctx, i, SOLVE(v_star));
    }
    TEAM_SYNC(); /* every world asks all contacts and dofs whether they are lawful and active */
    s->sound = solve_sound(ctx);
    s->contacts = solve_contacts_lawful(ctx);
    s->joints = solve_joints_lawful(ctx);
    s->constrained = s->sound & s->contacts & s->joints & newton_constrained(ctx);
    newton_start(ctx);
    TEAM_SYNC(); /* contacts read the v of their dofs */
    s->newton = newton_begin(s->constrained);
}

/* Hands over the v that was found, and reports. */
STAGE_FN void solve_finish(const Context *ctx, const Solve *s) {
    PROFILE(ctx, SAP_STAGE_STORE);
    mask mine = pack_lanes(ctx->pack);
    TEAM_FOR(i, ctx->args->plan.nv)
        view_put(FM_VIEW(v), i, real_select(s->constrained, SOLVE(v)[i], SOLVE(v_star)[i]) + K(0.0));
    report_world(ctx, &s->newton, mine);
    add_status(ctx, solve_status(s));
    TEAM_SYNC(); /* integration reads the v and the status of the world */
}

STAGE_FN void stage_solve(const Context *ctx) {
    Solve s;
    solve_begin(ctx, &s);
    newton_solve(ctx, &s.newton);
    solve_finish(ctx, &s);
}
