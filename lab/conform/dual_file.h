/* Contact problems in impulses, as JSON: the format "sapwood-dual-1" of lab/conform/README.md. */
#ifndef SAPWOOD_LAB_CONFORM_DUAL_FILE_H
#define SAPWOOD_LAB_CONFORM_DUAL_FILE_H

#include <stdbool.h>

#include <jansson.h>

#include <sapwood/dual.h>

/* One problem and its stored solution. */
typedef struct DualCase {
    const char *name;       /* owned by the JSON */
    SapDualProblem problem; /* its arrays are owned by this struct */
    int rows;
    bool solvable;              /* false: no solution exists */
    bool unique;                /* the impulses are unique */
    double *impulse, *velocity; /* [rows] solution; NULL if there is none */
    double *coulomb;            /* [rows] a solution of Coulomb's law; NULL if none is stored */
    double cost;
} DualCase;

/* Whether a file is of this format. */
bool dual_file_is(const json_t *root);

/* Reads one element of "problems". False if it is malformed or memory is short. Close it also after a failure. */
bool dual_case_open(const json_t *json, DualCase *out);
void dual_case_close(DualCase *c);

/* Our solution of one case against the stored one. */
typedef struct DualErrors {
    double velocity; /* |z - stored| / |b| */
    double cost;     /* relative; differences below 1e-12 |b| |l| count as 0 */
    double impulse;  /* largest difference over the largest stored; 0 where impulses are not unique */
} DualErrors;
DualErrors dual_case_errors(const DualCase *c, const double *impulse, const double *velocity, double cost);

#endif
