/* The derivatives of a step that a pack has taken. docs/gradients.md.
 *
 *   H dv = -(g_q dq + g_v0 dv0 + g_theta dtheta)          H = A + sum J' G J, at the v of the end
 *   tangents    load, one solve, advance and store
 *   cotangents  the transposed maps, with one solve: H lambda = vbar
 *   matrices    tangents of all unit vectors; of several steps, of the columns so far
 *
 * g_q and g_v0 are matrices here; their columns do not depend on what is asked. */

/* ---- factor ---- */

/* H = A with zeros off the tree; contacts and rows add to it. */
STAGE_FN void gradient_begin_H(const Context *ctx, const Gradient *g) {
    const SapPattern *tree = &ctx->args->plan.tree;
    int nv = ctx->args->plan.nv;
    for (int i = 0; i < nv * nv; i++)
        GRAD(H)[i] = real_of(0);
    for (int i = 0; i < nv; i++)
        for (int t = 0; t <= tree->row[i].depth; t++) {
            int at = tree->row[i].start + t;
            GRAD(H)[i * nv + tree->ancestor[at]] = FM(A)[at];
        }
}

/* H = L L', the lower triangle by rows. */
STAGE_FN void gradient_factor(const Context *ctx, const Gradient *g) {
    int nv = ctx->args->plan.nv;
    real *H = GRAD(H), *inverse = GRAD(inverse);
    for (int i = 0; i < nv; i++) {
        real *row = H + i * nv;
        for (int j = 0; j < i; j++) {
            real s = row[j];
            for (int k = 0; k < j; k++)
                s = real_fma(-row[k], H[j * nv + k], s);
            row[j] = s * inverse[j];
        }
        real d = row[i];
        for (int k = 0; k < i; k++)
            d = real_fma(-row[k], row[k], d);
        inverse[i] = K(1.0) / real_sqrt(d);
    }
}

/* x = H^-1 x */
STAGE_FN void gradient_solve(const Context *ctx, const Gradient *g, real *x) {
    int nv = ctx->args->plan.nv;
    const real *H = GRAD(H), *inverse = GRAD(inverse);
    for (int i = 0; i < nv; i++) {
        real s = x[i];
        for (int k = 0; k < i; k++)
            s = real_fma(-H[i * nv + k], x[k], s);
        x[i] = s * inverse[i];
    }
    for (int i = nv - 1; i >= 0; i--) {
        real s = x[i];
        for (int k = i + 1; k < nv; k++)
            s = real_fma(-H[k * nv + i], x[k], s);
        x[i] = s * inverse[i];
    }
}

/* ---- one tangent ---- */

KERNEL_FN void numbers_clear(real *x, int n) {
    for (int i = 0; i < n; i++)
        x[i] = real_of(0);
}

/* Adds s times column j of a matrix to x, unless s is 0 in all worlds. */
KERNEL_FN void column_add(real *x, const real *matrix, int n, int j, real s) {
    if (!mask_any(s != K(0.0)))
        return;
    for (int i = 0; i < n; i++)
        x[i] = real_fma(s, matrix[j * n + i], x[i]);
}

/* dv and end from dq and dv0, which are loaded, and from dv, which holds what inputs add to the equation. */
STAGE_FN void tangent_finish(const Context *ctx, const Gradient *g) {
    int nv = ctx->args->plan.nv;
    for (int j = 0; j < nv; j++) {
        column_add(GRAD(dv), GRAD(g_q), nv, j, -GRAD(dq)[j]);
        column_add(GRAD(dv), GRAD(g_v), nv, j, -GRAD(dv0)[j]);
    }
    gradient_solve(ctx, g, GRAD(dv));
    end_forwards(ctx, g);
}

/* Sets dq and dv0 from a tangent of the public state, in GRAD(end). */
STAGE_FN void tangent_load(const Context *ctx, const Gradient *g) {
    const int *place = ctx->args->plan.dof_public;
    int nv = ctx->args->plan.nv;
    for (int i = 0; i < nv; i++) {
        GRAD(dq)[i] = GRAD(end)[place[i]];
        GRAD(dv0)[i] = GRAD(end)[nv + place[i]];
    }
    load_forwards(ctx, g);
}

/* Adds s times number i of an input: to the equation, and to the velocity of a body whose centre of mass it moves. */
STAGE_FN void tangent_add_input(const Context *ctx, const Gradient *g, const SapInput *in, int i, real s) {
    int l, nv = ctx->args->plan.nv;
    Vec3 axis;
    column_add(GRAD(dv), GRAD(input), nv, in->first + i, s);
    const SapLink *link = input_moves_com(ctx, in, i, &l, &axis);
    if (link) {
        real *dv0 = GRAD(dv0) + link->v;
        vec3_store(dv0 + 3, vec3_fma(-s, vec3_cross(vec3_load(FM(v0) + link->v), axis), vec3_load(dv0 + 3)));
    }
}

/* Adds what the input does to the velocity of that centre of mass at the end. */
STAGE_FN void tangent_end_input(const Context *ctx, const Gradient *g, const SapInput *in, int i, real s) {
    int l;
    Vec3 axis;
    const SapLink *link = input_moves_com(ctx, in, i, &l, &axis);
    if (!link)
        return;
    real *to = GRAD(end) + ctx->args->plan.nv + ctx->args->plan.dof_public[link->v + 3];
    Vec3 moved = mat3_mul(mat3_load(GRAD(turn) + 18 * l), axis);
    vec3_store(to, vec3_fma(s, vec3_cross(vec3_load(GRAD(v) + link->v), moved), vec3_load(to)));
}

/* ---- results ---- */

/* Worlds whose step succeeded and converged. Sets their status and margin. */
STAGE_FN mask gradient_status(const Context *ctx, const Gradient *g) {
    const SapGradientArgs *args = g->args;
    mask ok = mask_all();
    FOR_LANES(l) {
        if (l >= ctx->pack->count)
            continue;
        int world = ctx->pack->world[l];
        unsigned of_step = ctx->args->status[world], out = 0;
        const unsigned open =
            SAP_WORLD_COST_STALLED | SAP_WORLD_ITERATION_LIMIT | SAP_WORLD_LINE_SEARCH_FAILED | SAP_WORLD_NO_DESCENT;
        if (of_step & SAP_WORLD_FAILED)
            out |= SAP_GRADIENT_FAILED;
        else if ((of_step & open) && !(of_step & SAP_WORLD_OPTIMAL))
            out |= SAP_GRADIENT_NOT_CONVERGED;
        if (of_step & SAP_WORLD_CONTACTS_TRUNCATED)
            out |= SAP_GRADIENT_TRUNCATED;
        double margin = (double)LANE(*GRAD(margin), l);
        if (margin < args->margin[world])
            args->margin[world] = margin;
        if (margin < args->kink)
            out |= SAP_GRADIENT_KINK;
        args->status[world] |= out;
        LANE(ok, l) = -!(args->status[world] & (SAP_GRADIENT_FAILED | SAP_GRADIENT_NOT_CONVERGED));
    }
    return ok;
}

/* Writes x, or NaN in worlds that are not ok. */
KERNEL_FN void gradient_put(const Context *ctx, double *to, int stride, int at, real x, mask ok) {
    buffer_put(buffer_f64(to, stride), at, real_select(ok, x, real_nan()), pack_lanes(ctx->pack), ctx->pack);
}
KERNEL_FN real gradient_get(const Context *ctx, const double *from, int stride, int at) {
    SapBuffer buffer = {(void *)from, stride, 1};
    return buffer_get(buffer, at, ctx->pack);
}

/* One column of the matrices: column c of `to` with n columns. */
KERNEL_FN void matrix_column_get(const Context *ctx, const Gradient *g, const double *from, int n, int c) {
    int rows = 2 * ctx->args->plan.nv;
    for (int i = 0; i < rows; i++)
        GRAD(end)[i] = gradient_get(ctx, from, rows * n, i * n + c);
}
KERNEL_FN void matrix_column_put(const Context *ctx, const Gradient *g, double *to, int n, int c, mask ok) {
    int rows = 2 * ctx->args->plan.nv;
    for (int i = 0; i < rows; i++)
        gradient_put(ctx, to, rows * n, i * n + c, GRAD(end)[i], ok);
}

STAGE_FN void gradient_matrices(const Context *ctx, const Gradient *g, mask ok) {
    const SapGradientArgs *args = g->args;
    int nv = ctx->args->plan.nv, n = 2 * nv;
    for (int c = 0; c < n; c++) {
        numbers_clear(GRAD(end), n);
        if (args->first)
            GRAD(end)[c] = real_of(1);
        else
            matrix_column_get(ctx, g, args->A, n, c);
        tangent_load(ctx, g);
        numbers_clear(GRAD(dv), nv);
        tangent_finish(ctx, g);
        matrix_column_put(ctx, g, args->A, n, c, ok);
    }
    for (int a = 0; a < args->num_arrays; a++) {
        const SapInput *in = &args->array[a];
        for (int i = 0; i < in->count; i++) {
            numbers_clear(GRAD(end), n);
            if (!args->first)
                matrix_column_get(ctx, g, in->out, in->count, i);
            tangent_load(ctx, g);
            numbers_clear(GRAD(dv), nv);
            tangent_add_input(ctx, g, in, i, real_of(1));
            tangent_finish(ctx, g);
            tangent_end_input(ctx, g, in, i, real_of(1));
            matrix_column_put(ctx, g, in->out, in->count, i, ok);
        }
    }
}

STAGE_FN void gradient_tangents(const Context *ctx, const Gradient *g, mask ok) {
    const SapGradientArgs *args = g->args;
    int nv = ctx->args->plan.nv;
    matrix_column_get(ctx, g, args->tangent, 1, 0);
    tangent_load(ctx, g);
    numbers_clear(GRAD(dv), nv);
    for (int a = 0; a < args->num_arrays; a++)
        for (int i = 0; i < args->array[a].count; i++)
            tangent_add_input(ctx, g, &args->array[a], i,
                              gradient_get(ctx, args->array[a].out, args->array[a].count, i));
    tangent_finish(ctx, g);
    for (int a = 0; a < args->num_arrays; a++)
        for (int i = 0; i < args->array[a].count; i++)
            tangent_end_input(ctx, g, &args->array[a], i,
                              gradient_get(ctx, args->array[a].out, args->array[a].count, i));
    matrix_column_put(ctx, g, args->tangent, 1, 0, ok);
}

/* The cotangent of number i of an input: lambda.(-dg), and of a centre of mass what velocities get. */
STAGE_FN real cotangent_of_input(const Context *ctx, const Gradient *g, const SapInput *in, int i) {
    int l, nv = ctx->args->plan.nv;
    Vec3 axis;
    const real *column = GRAD(input) + (in->first + i) * nv;
    real sum = real_of(0);
    for (int k = 0; k < nv; k++)
        sum = real_fma(GRAD(dv)[k], column[k], sum);
    const SapLink *link = input_moves_com(ctx, in, i, &l, &axis);
    if (!link)
        return sum;
    Vec3 w = vec3_load(FM(v0) + link->v), moved = mat3_mul(mat3_load(GRAD(turn) + 18 * l), axis);
    Vec3 of_end = vec3_load(GRAD(end) + nv + ctx->args->plan.dof_public[link->v + 3]);
    sum = sum - vec3_dot(vec3_load(GRAD(dv0) + link->v + 3), vec3_cross(w, axis));
    return sum + vec3_dot(of_end, vec3_cross(vec3_load(GRAD(v) + link->v), moved));
}

STAGE_FN void gradient_cotangents(const Context *ctx, const Gradient *g, mask ok) {
    const SapGradientArgs *args = g->args;
    const int *place = ctx->args->plan.dof_public;
    int nv = ctx->args->plan.nv;
    real *dq = GRAD(dq), *dv0 = GRAD(dv0), *lambda = GRAD(dv);
    matrix_column_get(ctx, g, args->end, 1, 0);
    end_backwards(ctx, g);
    gradient_solve(ctx, g, lambda);
    for (int j = 0; j < nv; j++) {
        real by_q = real_of(0), by_v = by_q;
        for (int i = 0; i < nv; i++) {
            by_q = real_fma(G_Q(i, j), lambda[i], by_q);
            by_v = real_fma(G_V(i, j), lambda[i], by_v);
        }
        dq[j] = dq[j] - by_q;
        dv0[j] = dv0[j] - by_v;
    }
    for (int a = 0; a < args->num_arrays; a++) {
        const SapInput *in = &args->array[a];
        for (int i = 0; i < in->count; i++) {
            real x = gradient_get(ctx, in->out, in->count, i) + cotangent_of_input(ctx, g, in, i);
            gradient_put(ctx, in->out, in->count, i, x, ok);
        }
    }
    load_backwards(ctx, g);
    for (int i = 0; i < nv; i++) {
        gradient_put(ctx, args->start, 2 * nv, place[i], dq[i], ok);
        gradient_put(ctx, args->start, 2 * nv, nv + place[i], dv0[i], ok);
    }
}

/* ---- the step ---- */

/* Before the end of the step overwrites them: keeps v and the laws of dofs. */
STAGE_FN void gradient_keep(const Context *ctx, const Gradient *g) {
    int nv = ctx->args->plan.nv;
    real per_h = K(1.0) / STAGE_H;
    for (int i = 0; i < nv; i++) {
        GRAD(v)[i] = FM(v)[i];
        GRAD(acc)[i] = per_h * (FM(v)[i] - FM(v0)[i]);
    }
    for (int i = 0; i < ctx->args->plan.dof_law_size; i++)
        GRAD(dof_law)[i] = SOLVE(dof_law)[i];
    *GRAD(margin) = real_of(1);
}

/* After the end of the step, whose kinematics are computed again. */
STAGE_FN void gradient_differentiate(const Context *ctx, const Gradient *g) {
    gradient_twists(ctx, g);
    gradient_turns(ctx, g);
    gradient_smooth(ctx, g);
    gradient_begin_H(ctx, g);
    gradient_contacts(ctx, g);
    for (int b = 0; b < NUM_MODEL_CONSTRAINTS; b++)
        gradient_block(ctx, g, b);
    for (int i = 0; i < ctx->args->plan.nv; i++)
        gradient_dof(ctx, g, i);
    gradient_factor(ctx, g);
    gradient_inputs(ctx, g);
    mask ok = gradient_status(ctx, g);
    switch (g->args->what) {
    case SAP_GRADIENT_TANGENTS: gradient_tangents(ctx, g, ok); break;
    case SAP_GRADIENT_COTANGENTS: gradient_cotangents(ctx, g, ok); break;
    default: gradient_matrices(ctx, g, ok); break;
    }
}
