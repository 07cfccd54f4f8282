/* A batch with contacts for tests: worlds, slots for records, and everything a solve reports; random problems to put
 * into it. */
#ifndef SAPWOOD_TESTS_SUPPORT_CONTACT_BENCH_H
#define SAPWOOD_TESTS_SUPPORT_CONTACT_BENCH_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/model_parts.h"
#include "support/near.h"
#include "support/need.h"
#include "support/pose.h"
#include "support/random_model.h"
#include "support/work.h"
#include "support/worlds.h"

/* n, or fewer under a sanitizer. */
static inline int cases(int n) {
    int scaled = (int)(n * work_scale());
    return scaled < 4 ? 4 : scaled;
}

/* To the printed digits. */
static inline void check_digits(double value, double expected, const char *what) {
    check_near(value, expected, 2e-14 * fmax(fabs(expected), 1), what);
}

/* Element `slot` of an array of vectors. */
static inline double *vector3(void *array, int slot) {
    return (double *)array + 3 * slot;
}

static inline void set3(double *v, double x, double y, double z) {
    v[0] = x;
    v[1] = y;
    v[2] = z;
}

/* ---- a batch with contacts ---- */

enum { SLOTS = 8 };

typedef struct Fixture {
    Worlds *w;
    SapContacts *c;
    SapContactReport report;
    SapWorldReport world;
} Fixture;

SapOptions options_of(const char *preset, SapLineSearch line_search);

/* Takes the model over. */
Fixture bench_create(SapModel *model, int n, const SapOptions *options);
void bench_destroy(Fixture *b);

/* One step in place; every world must end as it should. */
void bench_step(Fixture *b, double h);

/* Slot c of a world: `point` of body 0, in its own axes, against the static plane through the origin with that
 * normal. */
void put_plane_contact(Fixture *b, int world, int c, const double *point, const double *normal, double k, double tau,
                       double mu);

/* ---- rotations and velocities ---- */

/* From the body origin to the centre of mass, world axes. */
void com_arm(const SapModelArrays *m, int body, const double *q, double *r);

/* The state's velocities of one world in internal order: a free joint is [omega ; v of the origin]. */
void internal_velocity(const Fixture *b, int world, double *out);

/* A body's pose as free motion found it; -1 = static. */
void body_pose(const Fixture *b, int world, int body, double *pose);

/* ---- models ---- */

/* The model again with other arrays; frees the old one. */
SapModel *remade(SapModel *old, const SapModelArrays *a);

/* A free body on a plane, in round numbers. */
SapModel *golden_body(void);
Fixture golden_bench(const char *preset, SapLineSearch line_search);

int joint_axes(const SapModelArrays *m, int j);
bool has_coordinates(const SapModelArrays *m, int j);

/* ---- random problems ---- */

/* A contact in a random place: the witnesses are `gap` apart (margins included) along the normal. Needs the poses of
 * free motion. */
void put_random_contact(Fixture *b, Random *random, int world, int c, double gap);

/* `problems` random states of one random model, with drives, limits and friction or without, each with contacts of its
 * own. World p * copies + k is copy k of problem p. */
Fixture random_bench(uint64_t seed, int problems, int copies, const SapOptions *o, double h, bool joint_terms);

/* Only the optimality test ends a solve; drake or approx64. */
SapOptions tight_options(uint64_t seed);

#endif
