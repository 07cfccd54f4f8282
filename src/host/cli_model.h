/* What the program says about a model: names of types, the names of its coordinates, what of it is not simulated, and how
 * many floating-point operations a step takes. */
#ifndef SAPWOOD_HOST_CLI_MODEL_H
#define SAPWOOD_HOST_CLI_MODEL_H

#include "cli_common.h"

const char *cli_joint_type(int32_t type);
const char *cli_shape_type(int32_t type);

/* Type i of a fixed list, or -1: for counting by type. */
int32_t cli_joint_type_at(int i);
int32_t cli_shape_type_at(int i);

/* Suffix of coordinate or dof i (from 0) of a joint, such as ".px"; the text stays valid. */
const char *cli_coord_suffix(int32_t type, int i);
const char *cli_dof_suffix(int32_t type, int i);

/* ---- what this version leaves out; the one place that knows ---- */

enum { CLI_MAX_MISSING = 1 };

typedef struct CliMissing {
    const char *what; /* "contacts" */
    const char *of;   /* what is counted: "colliding shapes" */
    int count;
} CliMissing;

/* Fills `out` with what the model asks for and does not get; returns how many. */
int cli_missing(const SapModelArrays *arrays, CliMissing out[CLI_MAX_MISSING]);

/* "contacts (5 colliding shapes), drives (12 driven dofs)", or "" if nothing is missing. */
typedef struct CliMissingText {
    char text[256];
} CliMissingText;
CliMissingText cli_missing_text(const SapModelArrays *arrays);

/* [{"what": ..., "of": ..., "count": ...}] */
json_t *cli_missing_json(const SapModelArrays *arrays);

/* ---- cost ---- */

/* Floating-point operations of one step of one world, a fused multiply-add being two; docs/cli.md has the formula. */
bool cli_step_flops(const SapModelArrays *arrays, double *out);

#endif
