/* Contacts of pairs of shapes against expected distances and normals. */
#ifndef SAPWOOD_TESTS_SUPPORT_COLLIDE_COMPARE_H
#define SAPWOOD_TESTS_SUPPORT_COLLIDE_COMPARE_H

#include "support/collide_pairs.h"

typedef struct ExpectedContact {
    double distance;
    double n[3];         /* from shape 0 to shape 1 */
    bool wrong;          /* the source of the data was proven wrong here; distance and n come from a slow oracle */
    bool compare_normal; /* n means something in this row */
} ExpectedContact;

enum { COMPARE_TEXT = 4096 };

/* What a comparison found, over the sets it was given. Texts tell the worst pose, with all digits. */
typedef struct Comparison {
    int rows, normals, left_out; /* compared; with normals; left out */
    int missed;                  /* penetrations without a contact of negative gap */
    int absent;                  /* rows without any contact */
    double gap_error, normal_error;
    char worst_gap[COMPARE_TEXT], worst_normal[COMPARE_TEXT], first_missed[COMPARE_TEXT];
} Comparison;

/* Adds a set of `rows` poses, drawn from its beginning. Rows with .wrong == `wrong` are compared, the others left
 * out. */
void compare_set(Comparison *comparison, const PoseSet *set, const ExpectedContact *expected, int rows, bool wrong);

/* Fails the test if something was missed or an error is above its tolerance (m; and length of the difference of unit
 * normals). */
void check_comparison(const Comparison *comparison, const char *name, double gap_tolerance, double normal_tolerance);

#endif
