/* A slow distance of two convex shapes that shares no code and no idea with the library's: it tries directions.
 *
 *   f(n) = h0(n) + h1(-n) - n.(p1 - p0)        signed distance = -min f(n) over unit n,  h: support functions
 *
 * Every n gives a lower bound of the distance, so the result can only be too small, by what the search misses. */
#ifndef SAPWOOD_TESTS_SUPPORT_SUPPORT_ORACLE_H
#define SAPWOOD_TESTS_SUPPORT_SUPPORT_ORACLE_H

#include "support/collide_pairs.h"

typedef struct OracleDistance {
    double distance, n[3]; /* n from a to b */
    bool unique; /* no other local minimum within 1e-4 m, and f rises around this one: the normal means something */
} OracleDistance;

/* Shape a may be a plane; height fields are not convex. */
OracleDistance oracle_distance(const TestShape *a, const double X0[7], const TestShape *b, const double X1[7]);

#endif
