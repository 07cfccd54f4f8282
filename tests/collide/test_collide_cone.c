/* Cones against every other shape: distances and normals of the narrow phase against a slow oracle that tries
 * directions (support_oracle.h). MuJoCo has no cone. */
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "support/collide_compare.h"
#include "support/support_oracle.h"
#include "support/work.h"

enum { ROWS_PER_SET = 6, NUM_CONE_PAIRS = NUM_CONVEX_PAIRS - NUM_MUJOCO_PAIRS };

static int sets(void) {
    int scaled = (int)(POSE_SETS * work_scale());
    return scaled < 2 ? 2 : scaled;
}

static void expect_oracle(const PoseSet *set, ExpectedContact *row, int rows) {
    PoseSet stream = *set;
    for (int r = 0; r < rows; r++) {
        double X[2][7];
        pose_set_next(&stream, X[0], X[1]);
        OracleDistance oracle = oracle_distance(&set->shape[0], X[0], &set->shape[1], X[1]);
        row[r] = (ExpectedContact){
            .distance = oracle.distance, .n = {oracle.n[0], oracle.n[1], oracle.n[2]}, .compare_normal = oracle.unique};
    }
}

ParameterizedTestParameters(collide_cone, gaps_and_normals_are_those_of_a_slow_oracle_and_no_penetration_is_missed) {
    static int pairs[NUM_CONE_PAIRS];
    for (int i = 0; i < NUM_CONE_PAIRS; i++)
        pairs[i] = NUM_MUJOCO_PAIRS + i;
    return cr_make_param_array(int, pairs, NUM_CONE_PAIRS);
}

ParameterizedTest(const int *pair, collide_cone,
                  gaps_and_normals_are_those_of_a_slow_oracle_and_no_penetration_is_missed) {
    Comparison comparison = {0};
    char name[64];
    for (int index = 0; index < sets(); index++) {
        PoseSet set;
        ExpectedContact expected[ROWS_PER_SET];
        pose_set_begin(&set, *pair, index);
        expect_oracle(&set, expected, ROWS_PER_SET);
        compare_set(&comparison, &set, expected, ROWS_PER_SET, false);
    }
    snprintf(name, sizeof name, "%s-%s", shape_type_name(convex_pairs[*pair].type[0]),
             shape_type_name(convex_pairs[*pair].type[1]));
    check_comparison(&comparison, name, 1e-6, 1e-4);
}
