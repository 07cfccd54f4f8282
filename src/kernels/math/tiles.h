/* The pattern of a matrix in which contacts couple branches of the tree, and its factorisation. docs/factor.md.
 *
 * A node is a branch of the tree, or several small ones: dofs start[K] .. start[K + 1] - 1 (SapNodes). The rows of node
 * K and the columns of node J < K are the tile (K, J). Bit J of row K of `couples` is set if the tile may have entries;
 * the others are zero and neither written nor read. Node K itself is a full lower triangle. The matrix is a packed
 * triangle: row i begins at i (i + 1)/2 and has its column j at place j.
 *
 * Elimination goes from the last dof to the first, as on the tree. Eliminating node K couples all nodes of its row with
 * each other. It is enough to pass the row on to its largest node P, which passes it on in turn:
 *
 *   P = max couples[K]        couples[P] |= couples[K] - {P}
 *
 * The sums are as in factor.h over the rows that have both columns, in the same order: what is left out are products
 * with zero, so the numbers do not depend on which tiles there are. */

/* The tiles of a pack. The arrays of the plan are constant; the others are in scratch (SAP_TILE_INTS). */
typedef struct Tiles {
    int count, words;       /* nodes; words of a row of couples */
    const int *start;       /* [count + 1] first dof of each node */
    const int *node;        /* [nv] node of each dof */
    unsigned *couples;      /* [count][words] */
    int *num_below;         /* [count] number of nodes K > J with a tile (K, J) */
    int *below;             /* those nodes, increasing, at tile_below(t, J) */
    int *depth_start;       /* [num_depths + 1] in teams: index in depth_dof */
    int *depth_dof;         /* [nv] in teams: dofs by depth in the elimination tree */
    int *num_depths, *most; /* [1] in teams: depths; most entries of a row */
} Tiles;

KERNEL_FN Tiles tiles_of(const Context *ctx) {
    const SapNodes *nodes = &ctx->args->plan.nodes;
    int n = nodes->count, nv = ctx->args->plan.nv;
    Tiles t;
    t.count = n;
    t.words = nodes->words;
    t.start = nodes->start;
    t.node = nodes->of_dof;
    t.couples = (unsigned *)ctx->tiles;
    t.num_below = ctx->tiles + n * t.words;
    t.below = t.num_below + n;
    t.depth_start = t.below + n * (n - 1) / 2;
    t.depth_dof = t.depth_start + nv + 1;
    t.num_depths = t.depth_dof + nv;
    t.most = t.num_depths + 1;
    return t;
}

KERNEL_FN unsigned *tile_couples(const Tiles *t, int K) {
    return t->couples + K * t->words;
}

KERNEL_FN int *tile_below(const Tiles *t, int J) {
    return t->below + J * (2 * t->count - J - 1) / 2;
}

KERNEL_FN int tile_node_size(const Tiles *t, int K) {
    return t->start[K + 1] - t->start[K];
}

/* The first entry of row i. */
KERNEL_FN int tile_row(int i) {
    return i * (i + 1) / 2;
}

/* ---- the pattern ---- */

/* Row K before elimination: what the model couples, or all nodes before K. */
KERNEL_FN void tiles_begin_row(const Tiles *t, const unsigned *model, int K, bool dense) {
    unsigned *row = tile_couples(t, K);
    for (int w = 0; w < t->words; w++)
        row[w] = model[K * t->words + w];
    for (int J = 0; dense && J < K; J++)
        bit_set(row, J);
}

/* The largest node of row K, or -1. */
KERNEL_FN int tile_parent(const Tiles *t, int K) {
    const unsigned *row = tile_couples(t, K);
    for (int w = K / WORD_BITS; w >= 0; w--)
        if (row[w] != 0)
            return w * WORD_BITS + highest_bit(row[w]);
    return -1;
}

/* Adds what elimination fills. */
KERNEL_FN void tiles_fill(const Tiles *t) {
    for (int K = t->count - 1; K > 0; K--) {
        int P = tile_parent(t, K);
        if (P < 0)
            continue;
        const unsigned *row = tile_couples(t, K);
        unsigned *to = tile_couples(t, P);
        for (int w = 0; w < P / WORD_BITS; w++)
            to[w] |= row[w];
        to[P / WORD_BITS] |= row[P / WORD_BITS] & ((1u << (unsigned)(P % WORD_BITS)) - 1u);
    }
}

/* The most entries of a row. */
KERNEL_FN int tiles_most(const Tiles *t) {
    int most = 0;
    for (int K = 0; K < t->count; K++) {
        int entries = tile_node_size(t, K);
        FOR_BITS(J, tile_couples(t, K), t->words)
        entries += tile_node_size(t, J);
        most = entries > most ? entries : most;
    }
    return most;
}

/* Lists the dofs by depth: a node begins below the last dof of its parent. Counts, then places; depth_start holds the
 * end of a depth until all of its dofs are placed. num_below holds the depth of each node meanwhile. */
KERNEL_FN void tiles_sort_depths(const Tiles *t, int nv) {
    int *depth = t->num_below, depths = 0;
    for (int d = 0; d <= nv; d++)
        t->depth_start[d] = 0;
    for (int K = 0; K < t->count; K++) {
        int P = tile_parent(t, K), size = tile_node_size(t, K);
        depth[K] = P < 0 ? 0 : depth[P] + tile_node_size(t, P);
        for (int r = 0; r < size; r++)
            t->depth_start[depth[K] + r]++;
        depths = depth[K] + size > depths ? depth[K] + size : depths;
    }
    for (int d = 1; d <= nv; d++)
        t->depth_start[d] += t->depth_start[d - 1];
    for (int i = nv - 1; i >= 0; i--) {
        int K = t->node[i];
        t->depth_dof[--t->depth_start[depth[K] + i - t->start[K]]] = i;
    }
    *t->num_depths = depths;
}

/* Lists the nodes below J. */
KERNEL_FN void tiles_list_below(const Tiles *t, int J) {
    int *below = tile_below(t, J), n = 0;
    for (int K = J + 1; K < t->count; K++)
        if (bit_get(tile_couples(t, K), J))
            below[n++] = K;
    t->num_below[J] = n;
}

/* Completes the pattern from `couples` before elimination. The factor reads `below` after the barrier of the
 * assembly. */
KERNEL_FN void tiles_complete(const Tiles *t, int nv) {
    TEAM_ONCE() {
        tiles_fill(t);
        if (!TEAM_OF_ONE) {
            tiles_sort_depths(t, nv);
            *t->most = tiles_most(t);
        }
    }
    TEAM_SYNC(); /* every thread reads the rows of all nodes; num_below is free */
    TEAM_FOR(J, t->count)
        tiles_list_below(t, J);
}

/* ---- the factor ---- */

/* Computes n entries of row i, of node P, from column j of node J on; if they end with the pivot (`last`), also
 * inverse[i] and y_i. n and `last` are compile-time constants. */
KERNEL_FN void tile_entries(FactorSystem sys, const Tiles *t, int P, int i, int J, int j, int n, bool last) {
    const real *A = sys.A + tile_row(i), *L_k = sys.L + tile_row(i);
    FactorSums sums = factor_begin(A + j, A + i, sys.b + i, n, last);
    /* the rows below i in its node */
    for (int k = i + 1, end = t->start[P + 1]; k < end; k++) {
        L_k += k;
        factor_subtract(&sums, L_k + i, L_k + j, sys.y + k, n, last);
    }
    /* the nodes below; those without a tile in J have no products with its columns, but with the pivot */
    const int *below = tile_below(t, P);
    for (int b = 0, count = t->num_below[P]; b < count; b++) {
        int K = below[b], k = t->start[K], end = t->start[K + 1];
        bool both = J == P || bit_get(tile_couples(t, K), J);
        if (!both && !FACTOR_OWN_PIVOT(last))
            continue;
        L_k = sys.L + tile_row(k);
        for (; k < end; k++) {
            if (both)
                factor_subtract(&sums, L_k + i, L_k + j, sys.y + k, n, last);
            else
                factor_subtract(&sums, L_k + i, L_k, sys.y, 0, last);
            L_k += k + 1;
        }
    }
    factor_end(sys, &sums, i, sys.L + tile_row(i) + j, n, last);
}

/* All entries of row i, of node P, by one thread: first those that end with the pivot, then the rest of the node and
 * the tiles. */
KERNEL_FN void tile_row_entries(FactorSystem sys, const Tiles *t, int P, int i) {
#define CASE(n, last)                                                                                                  \
    case n: tile_entries(sys, t, P, i, J, j, n, last); break;
    int J = P, left = (i - t->start[P]) % FACTOR_COLUMNS + 1, j = i + 1 - left;
    switch (left) {
        CASE(1, true) CASE(2, true) CASE(3, true) CASE(4, true) CASE(5, true) CASE(6, true) CASE(7, true) CASE(8, true)
    }
    for (j -= FACTOR_COLUMNS; j >= t->start[P]; j -= FACTOR_COLUMNS)
        tile_entries(sys, t, P, i, P, j, FACTOR_COLUMNS, false);
    FOR_BITS(tile, tile_couples(t, P), t->words) {
        J = tile;
        j = t->start[J];
        for (left = tile_node_size(t, J); left >= FACTOR_COLUMNS; left -= FACTOR_COLUMNS, j += FACTOR_COLUMNS)
            tile_entries(sys, t, P, i, J, j, FACTOR_COLUMNS, false);
        switch (left) {
            CASE(1, false) CASE(2, false) CASE(3, false) CASE(4, false) CASE(5, false) CASE(6, false) CASE(7, false)
        }
    }
#undef CASE
}

/* The column of entry e of a row of node P. */
KERNEL_FN int tile_column(const Tiles *t, int P, int e) {
    FOR_BITS(J, tile_couples(t, P), t->words) {
        if (e < tile_node_size(t, J))
            return t->start[J] + e;
        e -= tile_node_size(t, J);
    }
    return t->start[P] + e;
}

/* Entry e of row i, by a thread of a team; rows have different numbers of entries. */
KERNEL_FN void tile_entry(FactorSystem sys, const Tiles *t, int i, int e) {
    int P = t->node[i], j = tile_column(t, P, e);
    if (j < i)
        tile_entries(sys, t, P, i, t->node[j], j, 1, false);
    if (j == i)
        tile_entries(sys, t, P, i, P, i, 1, true);
}

/* Factors A and computes y = L'^-1 b. A team processes one depth at a time, one thread all rows in turn. */
KERNEL_FN void tile_factor(const Tiles *tiles, int nv, FactorSystem sys) {
    Tiles t = *tiles;
    if (TEAM_OF_ONE) {
        for (int i = nv - 1; i >= 0; i--)
            tile_row_entries(sys, &t, t.node[i], i);
        return;
    }
    int most = *t.most;
    for (int depth = *t.num_depths - 1; depth >= 0; depth--) {
        const int *dof = t.depth_dof + t.depth_start[depth];
        int dofs = t.depth_start[depth + 1] - t.depth_start[depth];
        TEAM_FOR_2(j, dofs, e, most)
        tile_entry(sys, &t, dof[j], e);
        TEAM_SYNC(); /* the depth above reads these rows and their y */
    }
}

/* x_i of L x = y, from the dofs above i. */
KERNEL_FN void tile_back_row(const Tiles *t, int i, const real *L, const real *inverse, real *x) {
    int P = t->node[i];
    const real *L_i = L + tile_row(i);
    real s = x[i];
    FOR_BITS(J, tile_couples(t, P), t->words)
    for (int j = t->start[J], end = t->start[J + 1]; j < end; j++)
        s = real_fma(-L_i[j], x[j], s);
    for (int j = t->start[P]; j < i; j++)
        s = real_fma(-L_i[j], x[j], s);
    x[i] = s * inverse[i];
}

/* Solves L x = y from the root; x holds y on entry. */
KERNEL_FN void tile_back(const Tiles *tiles, int nv, const real *L, const real *inverse, real *x) {
    Tiles t = *tiles;
    if (TEAM_OF_ONE) {
        for (int i = 0; i < nv; i++)
            tile_back_row(&t, i, L, inverse, x);
        return;
    }
    int depths = *t.num_depths;
    for (int depth = 0; depth < depths; depth++) {
        int first = t.depth_start[depth], count = t.depth_start[depth + 1] - first;
        TEAM_FOR(j, count)
            tile_back_row(&t, t.depth_dof[first + j], L, inverse, x);
        TEAM_SYNC(); /* the depth below reads x */
    }
}

/* x = A^-1 b, and the factor of A in its place. x may be b. */
KERNEL_FN void tile_factor_solve(const Tiles *t, int nv, real *A, real *inverse, const real *b, real *x) {
    FactorSystem sys;
    sys.A = A;
    sys.b = b;
    sys.L = A;
    sys.inverse = inverse;
    sys.y = x;
    tile_factor(t, nv, sys);
    tile_back(t, nv, A, inverse, x);
}

/* ---- entries of a row ---- */

/* Sets the entries of row i to zero. */
KERNEL_FN void tile_clear_row(const Tiles *t, int i, real *A) {
    real *A_i = A + tile_row(i);
    FOR_BITS(J, tile_couples(t, t->node[i]), t->words)
    for (int j = t->start[J], end = t->start[J + 1]; j < end; j++)
        A_i[j] = real_of(0);
    for (int j = t->start[t->node[i]]; j <= i; j++)
        A_i[j] = real_of(0);
}

/* The first entry of row i and the place of dof j in a row that has it, on a pattern or, if that is NULL, on tiles. */
KERNEL_FN int row_start(const SapPattern *pattern, int i) {
    return pattern ? pattern->row[i].start : tile_row(i);
}
KERNEL_FN int row_column(const SapPattern *pattern, int j) {
    return pattern ? pattern->row[j].depth : j;
}
