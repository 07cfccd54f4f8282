/* Comparison of a step with reference cases: JSON files of one-step problems with the results of another
 * implementation. lab/conform/README.md describes the format. */
#ifndef SAPWOOD_LAB_CONFORM_CONFORM_H
#define SAPWOOD_LAB_CONFORM_CONFORM_H

#include <jansson.h>

#include <sapwood/sapwood.h>

/* A reference file: its model, and buffers for one world. Arrays are in the order of the file unless stated. */
typedef struct ConformFile {
    const char *path; /* the caller's */
    json_t *json;
    SapModel *model;
    const SapModelArrays *arrays; /* of the model */
    double contact_tau_d;
    int capacity;
} ConformFile;

/* Loads a .json or .json.gz file. False with a message on stderr: the file is not trusted, and every array must have
 * the count that the model requires. Close it also after a failure. */
bool conform_open(const char *path, ConformFile *out);
/* Same for JSON, which becomes the file's; `path` stands for the file in messages. */
bool conform_read(json_t *json, const char *path, ConformFile *out);
void conform_close(ConformFile *file);

/* The inputs of a case in our conventions, and the results of our step. All f64, one world. */
typedef struct ConformCase {
    double h;
    int num_contacts;
    SapState *in, *out;
    SapControl *control;
    SapContacts *contacts;
    double *body_torque_at_origin; /* [nb][6] body_f_applied as given: converted to body_f once the poses are known */

    double *v_star, *A;                                                  /* free motion */
    double *gap, *jacobian, *frame, *weight, *pair, *impulse, *velocity; /* contacts */
    double *v;                                                           /* solution, internal order */
    double cost, residual;
    uint32_t status;
    int iterations, line_iterations, f64_retries;
} ConformCase;

bool conform_case_open(const ConformFile *file, const json_t *json, ConformCase *out);
void conform_case_close(ConformCase *c);

/* Steps the case with `options`. */
bool conform_case_run(const ConformFile *file, const SapOptions *options, ConformCase *c);

/* The comparison of one stored quantity with ours. */
typedef struct ConformError {
    const char *name;
    double error;     /* largest difference over largest stored magnitude; NaN if ours is NaN */
    double scale;     /* largest stored magnitude */
    double tolerance; /* largest allowed error */
    bool stored;      /* false: the file does not contain it */
} ConformError;

enum { CONFORM_QUANTITIES = 15 };

typedef struct ConformResult {
    ConformError error[CONFORM_QUANTITIES];
    bool reference_converged;
    bool counts_agree, counts_compared;
    bool passed;
} ConformResult;

/* Compares a case that has run with one of its outputs. Ours must converge even if the reference did not. False with a
 * message if an array of the output does not have the count that the case requires. */
bool conform_compare(const ConformFile *file, const ConformCase *c, const json_t *output, ConformResult *result);

/* Our results in the format of an output. A new reference; NULL if memory is short. */
json_t *conform_output(const ConformFile *file, const ConformCase *c, const json_t *output);

#endif
