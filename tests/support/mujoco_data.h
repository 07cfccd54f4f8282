/* The data file of MuJoCo's distances, tests/data/mujoco_distance.bin.gz; tests/data/README.md describes it. */
#ifndef SAPWOOD_TESTS_SUPPORT_MUJOCO_DATA_H
#define SAPWOOD_TESTS_SUPPORT_MUJOCO_DATA_H

#include "support/collide_compare.h"

typedef struct MujocoPair {
    int type[2];
    double pose[2][7]; /* of the first row, to check the draws */
    int num_rows, rows_per_set;
    ExpectedContact *row; /* n is good to 2e-5 */
} MujocoPair;

/* One pair of the file; a test fails where the file is not as it should be. */
MujocoPair mujoco_pair_load(int pair);
void mujoco_pair_free(MujocoPair *pair);

#endif
