/* A batch of worlds for tests: model, solver, f64 state and control, and everything free motion can tell. */
#ifndef SAPWOOD_TESTS_SUPPORT_WORLDS_H
#define SAPWOOD_TESTS_SUPPORT_WORLDS_H

#include <stdint.h>

#include <sapwood/sapwood.h>

typedef struct Worlds {
    int n, nb, nv, nq;
    SapModel *model; /* owned */
    const SapModelArrays *m;
    SapSolver *solver;
    SapState *state;
    SapControl *control;
    double *q, *v, *joint_f, *body_f, *body_q, *body_qd; /* the arrays of state and control, [n][...] */
    SapFreeMotion out;                                   /* filled by worlds_free_motion */
} Worlds;

/* The preset approx64, with free motion in that precision. */
SapOptions worlds_options(SapPrecision precision);

/* Takes the model over. Worlds begin in the model's initial state, with its control. */
Worlds *worlds_create(SapModel *model, int n, const SapOptions *options);
void worlds_destroy(Worlds *worlds);

/* Random coordinates, and velocities and forces of size 2 in every world. */
void worlds_randomise(Worlds *worlds, uint64_t seed);

/* These fail the test when the call fails or a world reports anything. */
void worlds_free_motion(Worlds *worlds, double h);
void worlds_step(Worlds *worlds, double h, int steps); /* in place */

/* The largest |a - b| over the largest |b|, 0 / 0 being 0; and over the larger of that and a scale. */
double relative_error(const double *a, const double *b, int n);
double scaled_error(const double *a, const double *b, int n, double scale);

#endif
