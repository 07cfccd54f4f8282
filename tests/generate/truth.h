/* Statuses: whether a step that says it is solved has a small residual, computed again from what the batch reports. */
#ifndef SAPWOOD_TESTS_GENERATE_TRUTH_H
#define SAPWOOD_TESTS_GENERATE_TRUTH_H

#include <sapwood/sapwood.h>

typedef struct Truth {
    long solved, unsolved, failed, idle; /* steps of worlds by what their status says */
    double worst;                        /* largest residual of a solved step */
    char message[256];                   /* the first status that is not true; "" if all are */
} Truth;

/* Takes a step of all worlds, and adds to *truth. */
SapStatus truth_step(SapBatch *batch, const SapModel *model, const SapOptions *options, double h, Truth *truth);

/* Adds the numbers of another. */
void truth_add(Truth *sum, const Truth *truth);

#endif
