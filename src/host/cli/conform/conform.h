/* Comparing a step with reference cases: JSON files of one-step problems and what another implementation computed. The
 * format is described in docs/conform.md. */
#ifndef SAPWOOD_HOST_CLI_CONFORM_CONFORM_H
#define SAPWOOD_HOST_CLI_CONFORM_CONFORM_H

#include <jansson.h>

#include <sapwood/sapwood.h>

/* A reference file: its model, and room for one world of it. Arrays are in the file's order unless said. */
typedef struct ConformFile {
    json_t *json;
    SapModel *model;
    const SapModelArrays *arrays; /* of the model */
    double contact_tau_d;
    int capacity;
} ConformFile;

/* Loads a .json or .json.gz file. False with a message on stderr. Close also what failed to open. */
bool conform_open(const char *path, ConformFile *out);
void conform_close(ConformFile *file);

/* The inputs of a case in our conventions, and what our step makes of them. All f64, one world. */
typedef struct ConformCase {
    double h;
    int num_contacts;
    SapState *in, *out;
    SapControl *control;
    SapContacts *contacts;
    double *body_torque_at_origin; /* [nb][6] body_f_applied as given: turned into body_f once poses are known */

    double *v_star, *A;                                                  /* free motion */
    double *gap, *jacobian, *frame, *weight, *pair, *impulse, *velocity; /* contacts */
    double *v;                                                           /* solved, internal order */
    double cost, residual;
    uint32_t status;
    int iterations, line_iterations, refactored;
} ConformCase;

bool conform_case_open(const ConformFile *file, const json_t *json, ConformCase *out);
void conform_case_close(ConformCase *c);

/* Steps the case with `options`. */
bool conform_case_run(const ConformFile *file, const SapOptions *options, ConformCase *c);

/* One stored quantity against ours. */
typedef struct ConformError {
    const char *name;
    double error;     /* largest difference over largest stored magnitude; NaN where ours is not a number */
    double scale;     /* the largest stored magnitude */
    double tolerance; /* what it may be */
    bool stored;      /* false: the file does not have it */
} ConformError;

enum { CONFORM_QUANTITIES = 15 };

typedef struct ConformResult {
    ConformError error[CONFORM_QUANTITIES];
    bool reference_converged;
    bool counts_agree, counts_compared;
    bool passed;
} ConformResult;

/* Compares a case that has run with one of its outputs. Where the reference did not converge, ours must have. */
void conform_compare(const ConformFile *file, const ConformCase *c, const json_t *output, ConformResult *result);

/* What ours computed, in the format of an output. New; NULL without memory. */
json_t *conform_output(const ConformFile *file, const ConformCase *c, const json_t *output);

#endif
