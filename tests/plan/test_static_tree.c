/* The tree of static shapes: every one is a leaf once, boxes contain what is below them, and its depth is the logarithm
 * of its size, for random places, places on a line and places that coincide. */
#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "host/plan/plan.h"
#include "host/plan/static_tree.h"
#include "support/random_model.h"
#include "support/shape_model.h"

enum { STATICS = 200 };

typedef enum Places { SCATTERED, ON_A_LINE, COINCIDENT, NUM_PLACES } Places;

static double place(Places places, int i, int k, Random *random) {
    return places == SCATTERED ? random_between(random, -100, 100) : places == ON_A_LINE && k == 1 ? pow(1.05, i) : 7;
}

/* Boxes and spheres with shapes of two bodies between them. */
static SapModel *make_model(Places places) {
    Random random = random_seed(3);
    ShapeModel m;
    shape_model_init(&m);
    for (int b = 0; b < 2; b++)
        shape_model_body(&m, 0, 0, 3 * b);
    for (int i = 0; i < STATICS; i++) {
        if (i % 90 == 50)
            shape_model_shape(&m, i / 90, SAP_SHAPE_SPHERE, 0.1, 0, 0);
        int s = shape_model_shape(&m, -1, i % 3 ? SAP_SHAPE_BOX : SAP_SHAPE_SPHERE, 0.1 * (1 + i % 7), 0.2, 0.3);
        for (int k = 0; k < 3; k++)
            m.pose[s][k] = place(places, i, k, &random);
        random_quaternion(&random, m.pose[s] + 3);
        m.margin[s] = 0.01 * (i % 4);
        m.gap[s] = 0.02 * (i % 3);
    }
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    return shape_model_create(&m);
}

/* The sphere with margin and gap that the kernels compute in f32. */
static void expect_ball_inside(const SapModelArrays *a, int s, const SapStaticNode *leaf) {
    const double *size = a->shape_scale + 3 * s;
    double half = a->shape_type[s] == SAP_SHAPE_SPHERE
                      ? size[0]
                      : sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]);
    double radius = half + a->shape_margin[s] + a->shape_gap[s];
    for (int k = 0; k < 3; k++) {
        double x = a->shape_transform[7 * s + k], rounding = 1e-6 * (fabs(x) + radius);
        cr_assert(leaf->low[k] <= x - radius - rounding && x + radius + rounding <= leaf->high[k],
                  "shape %d: axis %d: %g .. %g around %g", s, k, (double)leaf->low[k], (double)leaf->high[k], x);
    }
}

/* Checks node n and what is below it; returns its depth. */
static int check_node(const SapStaticTree *tree, const SapModelArrays *a, int n, int *seen) {
    const SapStaticNode *node = &tree->node[n];
    cr_assert(node->skip > n && node->skip <= tree->num_nodes);
    if (node->shape >= 0) {
        seen[node->shape]++;
        cr_assert_eq(node->skip, n + 1);
        expect_ball_inside(a, node->shape, node);
        return 0;
    }
    int depth = 0, children = 0;
    for (int c = n + 1; c < node->skip; c = tree->node[c].skip, children++) {
        int below = check_node(tree, a, c, seen);
        depth = below + 1 > depth ? below + 1 : depth;
        for (int k = 0; k < 3; k++)
            cr_assert(node->low[k] <= tree->node[c].low[k] && tree->node[c].high[k] <= node->high[k], "node %d", n);
    }
    cr_assert_eq(children, 2, "node %d", n);
    return depth;
}

ParameterizedTestParameters(static_tree, has_every_static_shape_once_in_boxes_that_contain_it) {
    static int places[NUM_PLACES] = {SCATTERED, ON_A_LINE, COINCIDENT};
    return cr_make_param_array(int, places, NUM_PLACES);
}

ParameterizedTest(int *places, static_tree, has_every_static_shape_once_in_boxes_that_contain_it) {
    SapModel *model = make_model((Places)*places);
    const SapModelArrays *a = sap_model_arrays(model);
    SapPlanOwner owner;
    cr_assert_eq(sap_plan_create(model, 0, &owner), SAP_OK);
    cr_assert_eq(sap_plan_set_broad_phase(a, SAP_BROAD_PHASE_TREE, &owner), SAP_OK);
    const SapStaticTree *tree = &owner.plan.statics;
    int seen[SHAPE_MODEL_SHAPES] = {0};
    cr_assert_eq(tree->num_nodes, 2 * STATICS - 1);
    cr_assert_eq(tree->node[0].skip, tree->num_nodes);
    cr_assert_leq(check_node(tree, a, 0, seen), 8, "200 leaves need 8 levels");
    for (int s = 0; s < a->num_shapes; s++) {
        bool in_tree = a->shape_body[s] < 0 && a->shape_type[s] != SAP_SHAPE_PLANE;
        cr_assert_eq(seen[s], in_tree, "shape %d is a leaf %d times", s, seen[s]);
        cr_assert_eq(tree->member[s / 32] >> (s % 32) & 1, (unsigned)in_tree);
        cr_assert_eq(tree->seekers_before[s + 1] - tree->seekers_before[s], a->shape_body[s] >= 0);
    }
    cr_assert_eq(tree->num_seekers, 2);
    cr_assert_eq(tree->num_placed, 3, "the seekers and the plane");
    cr_assert_eq(owner.plan.num_pairs, 3, "the two seekers, and each with the plane");
    sap_plan_free(&owner);
    sap_model_destroy(model);
}

/* One static shape and shapes of a body: 1024 pairs with the tree pay, and so do 1024 * 1023 / 2 others at most. */
Test(static_tree, pays_for_many_static_pairs_and_few_others) {
    static ShapeModel m;
    shape_model_init(&m);
    shape_model_body(&m, 0, 0, 0);
    shape_model_shape(&m, -1, SAP_SHAPE_SPHERE, 0.1, 0, 0);
    for (int shapes = 1; shapes <= 1025; shapes++) {
        shape_model_shape(&m, 0, SAP_SHAPE_SPHERE, 0.1, 0, 0);
        if (shapes < 1023)
            continue;
        bool pays;
        SapModel *model = shape_model_create(&m);
        cr_assert_eq(sap_static_tree_pays(sap_model_arrays(model), &pays), SAP_OK);
        cr_expect_eq(pays, shapes == 1024, "%d shapes", shapes);
        sap_model_destroy(model);
    }
}
