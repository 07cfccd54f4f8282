/* The closed pattern: elimination of the tree and its constraints fills nothing outside it, and loops cost few
 * entries. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/scene.h>

#include "host/plan/plan.h"
#include "support/random_model.h"
#include "support/work.h"

enum { MOST = 24 };

/* A random forest of single dofs with random blocks, and the entries that elimination fills. */
typedef struct Problem {
    int nv, parent[MOST], closed[MOST], num_blocks;
    SapModelConstraint block[8];
    int block_dof[8 * MOST], start[MOST + 1];
    SapBlockColumn dof_block[8 * MOST];
    bool filled[MOST][MOST];
} Problem;

static void add_blocks(Random *random, Problem *p, int count) {
    int next = 0;
    p->num_blocks = count;
    for (int b = 0; b < count; b++) {
        p->block[b] = (SapModelConstraint){.columns = next};
        for (int i = 0; i < p->nv; i++)
            if (random_below(random, 4) == 0)
                p->block_dof[next++] = i;
        p->block[b].num_columns = next - p->block[b].columns;
    }
    int at = 0;
    for (int i = 0; i < p->nv; i++) {
        p->start[i] = at;
        for (int b = 0; b < count; b++)
            for (int k = 0; k < p->block[b].num_columns; k++)
                if (p->block_dof[p->block[b].columns + k] == i)
                    p->dof_block[at++] = (SapBlockColumn){b, k};
    }
    p->start[p->nv] = at;
}

static bool is_above(const int *parent, int i, int j) {
    while (i >= 0 && i != j)
        i = parent[i];
    return i == j;
}

/* Entries of the matrix, then those that elimination from the last dof to the first adds. */
static void eliminate(Problem *p) {
    memset(p->filled, 0, sizeof p->filled);
    for (int i = 0; i < p->nv; i++)
        for (int j = 0; j < i; j++)
            p->filled[i][j] = is_above(p->parent, i, j);
    for (int b = 0; b < p->num_blocks; b++)
        for (int k = 0; k < p->block[b].num_columns; k++)
            for (int l = 0; l < k; l++)
                p->filled[p->block_dof[p->block[b].columns + k]][p->block_dof[p->block[b].columns + l]] = true;
    for (int i = p->nv - 1; i >= 0; i--)
        for (int j = 0; j < i; j++)
            for (int k = 0; k < j; k++)
                p->filled[j][k] |= p->filled[i][j] && p->filled[i][k];
}

static void find_closed(Problem *p) {
    SapPlan plan = {.nv = p->nv,
                    .block = p->block,
                    .block_dof = p->block_dof,
                    .dof_block_start = p->start,
                    .dof_block = p->dof_block};
    void *memory;
    size_t bytes;
    int work[MOST];
    cr_assert_eq(sap_pattern_create(p->nv, p->parent, &plan.tree, &memory, &bytes), SAP_OK);
    sap_elimination_tree(&plan, p->parent, p->closed, work);
    free(memory);
}

Test(closed_pattern, has_every_entry_that_elimination_fills) {
    Random random = random_seed(11);
    for (int k = 0; k < (int)(2000 * work_scale()) + 50; k++) {
        Problem p = {.nv = 2 + random_below(&random, MOST - 1)};
        for (int i = 0; i < p.nv; i++)
            p.parent[i] = random_below(&random, i + 1) - 1;
        add_blocks(&random, &p, random_below(&random, 4));
        find_closed(&p);
        eliminate(&p);
        for (int i = 0; i < p.nv; i++) {
            cr_assert_lt(p.closed[i], i);
            for (int j = 0; j < i; j++)
                cr_assert(!p.filled[i][j] || is_above(p.closed, i, j), "entry %d %d is filled but not in the pattern",
                          i, j);
            if (p.num_blocks == 0)
                cr_assert_eq(p.closed[i], p.parent[i], "without blocks it is the tree");
        }
    }
}

static int closed_entries(const char *path, int *tree, int *dense) {
    SapScene *scene;
    cr_assert_eq(sap_scene_load(path, &scene), SAP_OK, "%s", sap_error_message());
    SapPlanOwner owner;
    cr_assert_eq(sap_plan_create(scene->model, 0, &owner), SAP_OK);
    *tree = owner.plan.tree.nnz;
    *dense = owner.plan.nv * (owner.plan.nv + 1) / 2;
    int closed = owner.plan.closed.nnz;
    sap_plan_free(&owner);
    sap_scene_destroy(scene);
    return closed;
}

/* crank - coupler, rocker: the loop joins all three. */
Test(closed_pattern, of_a_four_bar_is_one_path) {
    int tree, dense,
        closed =
            closed_entries(SAPWOOD_SOURCE_DIR "/tests/data/reference/constraints/fourbar_ball.yaml", &tree, &dense);
    cr_expect(tree == 4 && closed == 6 && dense == 6, "%d %d %d", tree, closed, dense);
}

Test(closed_pattern, of_a_model_without_constraints_is_the_tree) {
    int tree, dense, closed = closed_entries(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml", &tree, &dense);
    cr_expect(closed == tree && tree < dense);
}
