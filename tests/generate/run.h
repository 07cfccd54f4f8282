/* Runs: the worlds of a generated scene in a batch, in one of the ways that must not change a bit. */
#ifndef SAPWOOD_TESTS_GENERATE_RUN_H
#define SAPWOOD_TESTS_GENERATE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sapwood/sapwood.h>

#include "generate/case.h"
#include "generate/truth.h"

enum { WORLDS = 9, CALLS = 6, STEPS_PER_CALL = 2 };

/* A scene with the seed of its worlds: their starts, controls and parameters. */
typedef struct Job {
    uint64_t seed;
    Case c;
    SapScene *scene;
} Job;

/* How a batch runs. All zeros: in one lane of one thread, with the options of the scene, all worlds in their order. */
typedef struct Variant {
    int lanes, threads; /* 0: 1 */
    int isa;            /* SapIsa; 0: the one with one lane for MuJoCo's law, else any */
    int plan;           /* SapFactorPlan */
    int broad_phase;    /* SapBroadPhase */
    int rotation;       /* world i is at place (i + rotation) % WORLDS */
    int subset;         /* only worlds whose number has this bit; 0: all */
    int resume;         /* before this call the state moves to a new batch; 0: never */
    int split;          /* one step per call, statuses compared with residuals */
    int bare;           /* nothing is recorded that a batch does not record on its own */
} Variant;

/* The properties of a variant as numbers, to set them one by one, with names for messages. */
enum { NUM_PROPERTIES = sizeof(Variant) / sizeof(int) };
extern const char *const property_names[NUM_PROPERTIES];

/* Every array of the batch after every call, by the number of the world in the scene. */
typedef struct Log {
    bool has[WORLDS];
    size_t offset[SAP_BATCH_NUM_FIELDS + 1]; /* of each field in a row; fields that are not recorded have no bytes */
    SapElementType type[SAP_BATCH_NUM_FIELDS];
    unsigned char *bytes; /* [CALLS][WORLDS][offset[SAP_BATCH_NUM_FIELDS]] */
    Truth truth;          /* of `split` */
} Log;

/* SAP_OK, or the status of a call that failed; *log is freed by log_free in both cases. */
SapStatus run(const Job *job, const Variant *variant, Log *log);
void log_free(Log *log);

/* The row of a field, NULL if it is not recorded. */
const void *log_row(const Log *log, int call, int world, SapBatchField field);

/* The first place where two logs differ. */
typedef struct Difference {
    int call, world, field, element;
    double expected, got;
} Difference;

/* Whether they differ in what the variant must not change. */
bool log_differs(const Log *expected, const Log *got, const Variant *variant, Difference *at);

#endif
