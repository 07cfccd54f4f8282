/* The pattern of tiles and its factor (tiles.h): elimination fills nothing outside it, a stack is block tridiagonal,
 * and a matrix has the same solution on every pattern that holds its entries, bit for bit. Compiled once for every lane
 * count and precision, with SAP_LANES, SAP_PRECISION and the name of the suite, TILES_SUITE. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/solver.h>

#include "kernels/data/args.h"
#include "kernels/data/context.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"
#include "kernels/dialect/lane.h"
#include "kernels/dialect/vec.h"
#include "kernels/dialect/buffers.h"
#include "kernels/math/factor.h"
#include "kernels/math/tiles.h"
#include "support/random_model.h"
#include "support/work.h"

enum { NODES = 40, DOFS = 8 * NODES, WORDS = (NODES + 31) / 32, TRIANGLE = DOFS * (DOFS + 1) / 2 };

/* Nodes of 1 .. 8 dofs; the tiles of each lane, and of all. */
typedef struct World {
    int count, nv, start[NODES + 1], node[DOFS];
    bool couples[SAP_LANES][NODES][NODES];
    real A[DOFS][DOFS], b[DOFS];
} World;

/* The arrays of a Tiles. */
typedef struct Pattern {
    unsigned couples[NODES * WORDS];
    int num_below[NODES], below[NODES * (NODES - 1) / 2];
    int depth_start[DOFS + 1], depth_dof[DOFS], counts[2];
    Tiles tiles;
} Pattern;

static World *world_create(Random *random, int count, int most) {
    World *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    memset(w, 0, sizeof *w);
    w->count = count;
    for (int K = 0; K < count; K++) {
        w->start[K] = w->nv;
        for (int size = 1 + random_below(random, most); size > 0; size--)
            w->node[w->nv++] = K;
    }
    w->start[count] = w->nv;
    return w;
}

/* A symmetric matrix on the tiles of each lane with a dominant diagonal. */
static void fill_matrix(World *w, Random *random) {
    for (int i = 0; i < w->nv; i++)
        for (int j = 0; j <= i; j++) {
            real entry = real_of(0);
            FOR_LANES(l) {
                bool is_entry = w->node[i] == w->node[j] || w->couples[l][w->node[i]][w->node[j]];
                double x = i == j ? 2 + 0.2 * w->nv : random_between(random, -0.2, 0.2);
                LANE(entry, l) = is_entry ? (scalar)x : 0;
            }
            w->A[i][j] = entry;
        }
    for (int i = 0; i < w->nv; i++) {
        real b = real_of(0);
        FOR_LANES(l) LANE(b, l) = (scalar)random_between(random, -1, 1);
        w->b[i] = b;
    }
}

/* Completes the pattern with the tiles of `lane`, of all lanes (-1), or all tiles (-2). */
static const Tiles *find_tiles(const World *w, int lane, Pattern *p) {
    Tiles *t = &p->tiles;
    *t = (Tiles){.count = w->count,
                 .words = (w->count + 31) / 32,
                 .start = w->start,
                 .node = w->node,
                 .couples = p->couples,
                 .num_below = p->num_below,
                 .below = p->below,
                 .depth_start = p->depth_start,
                 .depth_dof = p->depth_dof,
                 .num_depths = p->counts,
                 .most = p->counts + 1};
    static const unsigned none[NODES * WORDS];
    for (int K = 0; K < w->count; K++) {
        tiles_begin_row(t, none, K, lane == -2);
        for (int J = 0; J < K; J++)
            for (int l = 0; l < SAP_LANES; l++)
                if (w->couples[l][K][J] && (lane < 0 || l == lane))
                    bit_set(tile_couples(t, K), J);
    }
    tiles_complete(t, w->nv);
    return t;
}

static int entries_of(const World *w, const Tiles *t) {
    int entries = 0;
    for (int i = 0; i < w->nv; i++)
        for (int j = 0; j <= i; j++)
            entries += w->node[i] == w->node[j] || bit_get(tile_couples(t, w->node[i]), w->node[j]);
    return entries;
}

/* Entries without a tile are NaN: nothing may read them. */
static void solve_on(const World *w, const Tiles *t, real *x) {
    static real L[TRIANGLE], inverse[DOFS];
    for (int i = 0; i < w->nv; i++) {
        for (int j = 0; j <= i; j++)
            L[tile_row(i) + j] = real_nan();
        tile_clear_row(t, i, L);
        for (int j = 0; j <= i; j++)
            L[tile_row(i) + j] = L[tile_row(i) + j] + w->A[i][j];
    }
    tile_factor_solve(t, w->nv, L, inverse, w->b, x);
    mask ok = factor_succeeded(w->nv, inverse);
    for (int l = 0; l < SAP_LANES; l++)
        cr_assert(mask_lane(ok, l));
}

static void couple_at_random(World *w, Random *random, int one_in) {
    for (int l = 0; l < SAP_LANES; l++)
        for (int K = 0; K < w->count; K++)
            for (int J = 0; J < K; J++)
                w->couples[l][K][J] = random_below(random, one_in) == 0;
}

/* ---- the pattern ---- */

Test(TILES_SUITE, are_those_that_elimination_fills) {
    Random random = random_seed(3);
    Pattern *p = calloc(1, sizeof *p);
    for (int round = 0; round < 20; round++) {
        World *w = world_create(&random, 1 + random_below(&random, NODES), 8);
        couple_at_random(w, &random, 12 * SAP_LANES);
        const Tiles *t = find_tiles(w, -1, p);
        static bool filled[NODES][NODES];
        for (int K = 0; K < w->count; K++)
            for (int J = 0; J < K; J++) {
                filled[K][J] = false;
                for (int l = 0; l < SAP_LANES; l++)
                    filled[K][J] |= w->couples[l][K][J];
            }
        for (int K = w->count - 1; K >= 0; K--)
            for (int I = 0; I < K; I++)
                for (int J = 0; J < I; J++)
                    filled[I][J] |= filled[K][I] && filled[K][J];
        for (int K = 0; K < w->count; K++)
            for (int J = 0; J < K; J++)
                cr_assert_eq(bit_get(tile_couples(t, K), J), filled[K][J], "tile %d %d", K, J);
        free(w);
    }
    free(p);
}

/* Five bodies of six dofs, each on the one before: 5 triangles and 4 squares. */
Test(TILES_SUITE, of_a_stack_are_tridiagonal) {
    Random random = random_seed(1);
    Pattern *p = calloc(1, sizeof *p);
    World *w = world_create(&random, 5, 1);
    w->nv = 30;
    for (int i = 0; i < 30; i++)
        w->node[i] = i / 6;
    for (int K = 0; K <= 5; K++)
        w->start[K] = 6 * K;
    for (int K = 1; K < 5; K++)
        w->couples[0][K][K - 1] = true;
    const Tiles *t = find_tiles(w, -1, p);
    cr_expect_eq(entries_of(w, t), 5 * 21 + 4 * 36);
    tiles_sort_depths(t, w->nv);
    cr_expect_eq(*t->num_depths, 30, "each dof is eliminated after the one before");
    for (int d = 0; d < 30; d++)
        cr_expect(t->depth_start[d] == d && t->depth_start[d + 1] == d + 1 && t->depth_dof[d] == d, "depth %d", d);
    cr_expect_eq(entries_of(w, find_tiles(w, -2, p)), 30 * 31 / 2);
    free(w);
    free(p);
}

/* ---- the factor ---- */

/* A x in double precision. */
static void check_solution(const World *w, const real *x) {
    for (int l = 0; l < SAP_LANES; l++)
        for (int i = 0; i < w->nv; i++) {
            double sum = 0, b = (double)LANE(w->b[i], l);
            for (int j = 0; j < w->nv; j++)
                sum += (double)(i > j ? LANE(w->A[i][j], l) : LANE(w->A[j][i], l)) * (double)LANE(x[j], l);
            cr_assert(fabs(sum - b) < (SAP_PRECISION == 32 ? 1e-5 : 1e-13), "row %d of lane %d is off by %g", i, l,
                      sum - b);
        }
}

/* A lane has its own tiles, the pack's have zeros in it, and so have all tiles. */
Test(TILES_SUITE, that_only_other_worlds_need_change_no_bit) {
    Random random = random_seed(7);
    Pattern *p = calloc(1, sizeof *p);
    static real pack[DOFS], dense[DOFS], own[DOFS];
    for (int round = 0; round < 6 * work_scale() + 2; round++) {
        World *w = world_create(&random, 2 + random_below(&random, NODES / 3), 1 + round % 8);
        couple_at_random(w, &random, 3);
        fill_matrix(w, &random);
        solve_on(w, find_tiles(w, -1, p), pack);
        check_solution(w, pack);
        solve_on(w, find_tiles(w, -2, p), dense);
        for (int l = 0; l < SAP_LANES; l++) {
            solve_on(w, find_tiles(w, l, p), own);
            for (int i = 0; i < w->nv; i++) {
                cr_assert_eq(LANE(pack[i], l), LANE(dense[i], l), "dof %d of lane %d, all tiles", i, l);
                cr_assert_eq(LANE(pack[i], l), LANE(own[i], l), "dof %d of lane %d, its own tiles", i, l);
            }
        }
        free(w);
    }
    free(p);
}
