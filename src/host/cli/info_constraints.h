/* The constraints and tendons of a scene, and how far the initial state and the keyframes are from them. */
#ifndef SAPWOOD_HOST_CLI_INFO_CONSTRAINTS_H
#define SAPWOOD_HOST_CLI_INFO_CONSTRAINTS_H

#include <jansson.h>
#include <stdbool.h>

#include <sapwood/sapwood.h>

/* Errors of all starts: the initial state, then the keyframes. */
typedef struct CliErrors {
    int num_starts;
    double *error;  /* [num_starts][nc] largest |g| of the rows of a constraint, m or rad; NaN where the start fails */
    double *length; /* [num_starts][nt] of tendons, m or rad */
    /* rows of constraints with both sides, and how many of them are independent, in the initial state */
    int rows, rank;
} CliErrors;

/* Measures them; free with cli_errors_free, also after a failure. False with a message on stderr. */
bool cli_errors_measure(const SapScene *scene, CliErrors *out);
void cli_errors_free(CliErrors *errors);

/* Prints nothing for a model without constraints and tendons. */
void cli_constraints_print(const SapModelArrays *arrays, const CliErrors *errors);
json_t *cli_constraints_json(const SapModelArrays *arrays, const CliErrors *errors);
json_t *cli_tendons_json(const SapModelArrays *arrays, const CliErrors *errors);

#endif
