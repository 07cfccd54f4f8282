/* Ways to run the same worlds that must not change a bit, and the comparison of all arrays of a batch. A subject has a
 * number of different worlds: their starts, controls and parameters depend on their number alone, wherever they are. */
#ifndef SAPWOOD_TESTS_SUPPORT_WAYS_H
#define SAPWOOD_TESTS_SUPPORT_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sapwood/sapwood.h>

enum { CALLS = 6, PRESET_DTYPE = -1 };

typedef struct Subject {
    const SapScene *scene; /* model, time step and options; how it is run comes from the way */
    uint64_t seed;
    int worlds;    /* different ones */
    int steps;     /* of a call */
    int dtype;     /* of the state: SapDtype, or PRESET_DTYPE */
    bool own;      /* worlds have their own parameters */
    bool poisoned; /* one world fails and is reset later */
    bool sensors;  /* sites, contact sensors and rays */
    /* Takes the steps of `split` ways; NULL: sap_batch_step. */
    SapStatus (*step)(SapBatch *batch, const SapScene *scene, void *context);
    void *context;
} Subject;

/* How a batch is run. All zeros: one lane of one thread, with the options of the scene and the subject's worlds in their
 * order. */
typedef struct Way {
    int lanes, threads; /* 0: 1. Lanes and instruction sets that a build does not have are those of `auto` */
    int isa;            /* SapIsa */
    int plan;           /* SapFactorPlan */
    int broad_phase;    /* SapBroadPhase */
    int storage;        /* 1: the state is in f64, for presets with free motion in f32 */
    int device;         /* SapDevice */
    int worlds;         /* of the batch; 0: those of the subject */
    int multiplier;     /* place i has world (i multiplier + offset) % worlds of the subject; 0: 1 */
    int offset;
    int resume; /* before this call the state moves to a new batch; 0: never */
    int split;  /* one step per call */
    int given;  /* and with the contacts of a separate collision; not with sleep_steps, nor on a GPU */
    int bare;   /* nothing is recorded that a batch does not record on its own */
} Way;

/* Writes the properties that are not 0 to `text`. */
void way_text(const Way *way, char *text, size_t size);

/* Every array of the batch after every call. */
typedef struct Log {
    int places, *world;                      /* [places] the world of each */
    size_t offset[SAP_BATCH_NUM_FIELDS + 1]; /* of each field in a row; a field that is not recorded has no bytes */
    SapElementType type[SAP_BATCH_NUM_FIELDS];
    int length[SAP_BATCH_NUM_FIELDS]; /* elements of a row */
    unsigned char *bytes;             /* [CALLS][places][offset[SAP_BATCH_NUM_FIELDS]] */
} Log;

/* Runs a subject. SAP_OK, or the status of a call that failed; log_free in both cases. */
SapStatus way_run(const Subject *subject, const Way *way, Log *log);
void log_free(Log *log);

/* The row of a field of the world at a place. */
const void *log_row(const Log *log, int call, int place, SapBatchField field);

/* The first place where the log of a way differs from that of Way {0}. */
typedef struct Difference {
    int call, place, field, element;
    double expected, got;
} Difference;

/* Whether they differ in what the way must not change. */
bool log_differs(const Log *expected, const Log *got, const Way *way, Difference *at);

/* Writes the names of the properties of a way that alone make a difference. */
void way_blame(const Subject *subject, const Way *way, const Log *expected, char *text, size_t size);

#endif
