/* Distances and normals of the narrow phase against MuJoCo's, ten thousand poses of each of 27 pairs of shapes. The
 * rows in which MuJoCo is wrong are compared with a slow oracle instead. compare/mujoco_distance.py makes the data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "support/mujoco_data.h"
#include "support/support_oracle.h"
#include "support/work.h"

/* m. MuJoCo's hulls have vertices in single precision: 4e-8. */
#define GAP_TOLERANCE 1e-6
/* Length of the difference of unit vectors; stored normals are good to 2e-5, MuJoCo's own to 5e-5. */
#define NORMAL_TOLERANCE 1e-4

static int sets(void) {
    int scaled = (int)(POSE_SETS * work_scale());
    return scaled < 7 ? 7 : scaled; /* each kind of hull once */
}

static const char *pair_name(int pair) {
    static char name[64];
    const SapShapeType *type = convex_pairs[pair].type;
    snprintf(name, sizeof name, "%s-%s", shape_type_name(type[0]), shape_type_name(type[1]));
    return name;
}

/* ---- the data ---- */

Test(collide_mujoco, data_and_test_draw_the_same_poses) {
    for (int pair = 0; pair < NUM_MUJOCO_PAIRS; pair++) {
        MujocoPair data = mujoco_pair_load(pair);
        PoseSet set;
        double X[2][7];
        pose_set_begin(&set, pair, 0);
        pose_set_next(&set, X[0], X[1]);
        for (int side = 0; side < 2; side++) {
            cr_assert_eq(data.type[side], (int)convex_pairs[pair].type[side]);
            for (int i = 0; i < 7; i++)
                cr_assert(fabs(X[side][i] - data.pose[side][i]) < 1e-14,
                          "%s: shape %d, number %d of its pose is %.17g, not %.17g", pair_name(pair), side, i,
                          X[side][i], data.pose[side][i]);
        }
        mujoco_pair_free(&data);
    }
}

Test(collide_mujoco, hardly_a_row_but_of_capsules_in_boxes_is_left_out_of_the_data) {
    for (int pair = 0; pair < NUM_MUJOCO_PAIRS; pair++) {
        MujocoPair data = mujoco_pair_load(pair);
        const SapShapeType *type = convex_pairs[pair].type;
        int wrong = 0, normals = 0;
        for (int r = 0; r < data.num_rows; r++) {
            wrong += data.row[r].wrong;
            normals += data.row[r].compare_normal;
        }
        bool capsule_box = type[0] == SAP_SHAPE_CAPSULE && type[1] == SAP_SHAPE_BOX;
        cr_assert(wrong <= (capsule_box ? data.num_rows / 20 : 1), "%s: %d rows are left out", pair_name(pair), wrong);
        cr_assert(normals >= data.num_rows * 3 / 4, "%s: only %d normals", pair_name(pair), normals);
        mujoco_pair_free(&data);
    }
}

/* Shows that the draws are the same throughout, and that the oracle which judges cones can be trusted. */
Test(collide_mujoco, the_slow_oracle_of_these_tests_agrees_with_the_data) {
    for (int pair = 0; pair < NUM_MUJOCO_PAIRS; pair++) {
        MujocoPair data = mujoco_pair_load(pair);
        for (int index = 0; index < sets(); index++) {
            PoseSet set;
            double X[2][7];
            pose_set_begin(&set, pair, index);
            for (int k = 0; k < 1 + 2 * (index % 3); k++) /* one row of each set: some deep, some near, some apart */
                pose_set_next(&set, X[0], X[1]);
            const ExpectedContact *row = &data.row[index * data.rows_per_set + set.row - 1];
            OracleDistance oracle = oracle_distance(&set.shape[0], X[0], &set.shape[1], X[1]);
            cr_expect(fabs(oracle.distance - row->distance) < GAP_TOLERANCE, "%s, set %d: oracle %.10g, data %.10g",
                      pair_name(pair), index, oracle.distance, row->distance);
        }
        mujoco_pair_free(&data);
    }
}

/* ---- the narrow phase ---- */

static Comparison compare_pair(int pair, bool wrong) {
    MujocoPair data = mujoco_pair_load(pair);
    Comparison comparison = {0};
    for (int index = 0; index < sets(); index++) {
        PoseSet set;
        pose_set_begin(&set, pair, index);
        compare_set(&comparison, &set, data.row + index * data.rows_per_set, data.rows_per_set, wrong);
    }
    mujoco_pair_free(&data);
    return comparison;
}

static bool has_wrong_rows(int pair) {
    MujocoPair data = mujoco_pair_load(pair);
    bool found = false;
    for (int r = 0; r < data.num_rows; r++)
        found = found || data.row[r].wrong;
    mujoco_pair_free(&data);
    return found;
}

ParameterizedTestParameters(collide_mujoco, gaps_and_normals_are_mujocos_and_no_penetration_is_missed) {
    static int pairs[NUM_MUJOCO_PAIRS];
    for (int pair = 0; pair < NUM_MUJOCO_PAIRS; pair++)
        pairs[pair] = pair;
    return cr_make_param_array(int, pairs, NUM_MUJOCO_PAIRS);
}

ParameterizedTest(const int *pair, collide_mujoco, gaps_and_normals_are_mujocos_and_no_penetration_is_missed) {
    Comparison comparison = compare_pair(*pair, false);
    check_comparison(&comparison, pair_name(*pair), GAP_TOLERANCE, NORMAL_TOLERANCE);
}

Test(collide_mujoco, where_mujoco_is_wrong_gaps_and_normals_are_those_of_a_slow_oracle) {
    int rows = 0;
    for (int pair = 0; pair < NUM_MUJOCO_PAIRS; pair++) {
        if (!has_wrong_rows(pair))
            continue;
        Comparison comparison = compare_pair(pair, true);
        rows += comparison.rows;
        check_comparison(&comparison, pair_name(pair), GAP_TOLERANCE, NORMAL_TOLERANCE);
    }
    cr_assert_gt(rows, 0);
}
