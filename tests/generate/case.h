/* Cases: what a generated scene has and the options it runs with, one level of each factor. The first cases have every
 * pair of levels of any two factors at least once; those after them are random. */
#ifndef SAPWOOD_TESTS_GENERATE_CASE_H
#define SAPWOOD_TESTS_GENERATE_CASE_H

#include <stdbool.h>
#include <stdint.h>

/* Factors of the scene; then options, whose levels are values for sap_options_set. */
typedef enum Factor {
    FACTOR_JOINT, /* a type that a joint of the scene has for certain; others are random */
    FACTOR_SHAPE, /* likewise */
    FACTOR_GROUND,
    FACTOR_CONSTRAINT, /* likewise */
    FACTOR_TENDON,
    FACTOR_TREES,
    FACTOR_DOFS,       /* limits, drives and friction of joints */
    FACTOR_STIFFNESS,  /* of contacts and constraints */
    FACTOR_PARAMETERS, /* of the worlds: the model's, or their own */
    FACTOR_DTYPE,      /* of the state */
    FACTOR_SOLVER,
    FACTOR_PRESET,
    FACTOR_LINE_SEARCH,
    FACTOR_FRICTION_LAW,
    FACTOR_COMPLIANCE,
    FACTOR_RESTITUTION,
    FACTOR_WARM_START,
    FACTOR_GYROSCOPIC,
    FACTOR_VELOCITY_FORCES,
    FACTOR_INTEGRATION,
    FACTOR_CONTACT_WEIGHT,
    FACTOR_CONTACT_POINT,
    FACTOR_CONSTRAINT_WEIGHT,
    FACTOR_TENDON_WINDOW,
    FACTOR_CONSTRAINT_SPEED,
    FACTOR_SLOTS,
    FACTOR_POINTS_PER_PAIR,
    FACTOR_SLEEP,
    NUM_FACTORS
} Factor;

enum { FIRST_OPTION = FACTOR_SOLVER };

typedef struct Case {
    int level[NUM_FACTORS];
} Case;

/* The name of a factor, the option's if it is one, and the text of a level, NULL past the last. */
const char *factor_name(Factor factor);
const char *factor_level(Factor factor, int level);

/* The text of the level that a case has, and whether it is that. */
const char *case_text(const Case *c, Factor factor);
bool case_has(const Case *c, Factor factor, const char *text);

/* Case number `seed`. */
Case case_of_seed(uint64_t seed);

/* The number of cases that cover all pairs, and the number of pairs. */
int case_covering(void);
int case_pairs(void);

#endif
