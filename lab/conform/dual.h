/* `conform` for files of contact problems in impulses. */
#ifndef SAPWOOD_LAB_CONFORM_DUAL_H
#define SAPWOOD_LAB_CONFORM_DUAL_H

#include <stdbool.h>

#include <jansson.h>

typedef struct ConformDual {
    bool verbose;
    json_t *json;       /* results are appended here instead of printed; NULL = print */
    int passed, failed; /* counts problems */
} ConformDual;

/* Solves the problems of a file by the method cone and compares them with the stored solutions. False, with a message
 * on stderr, if the file is malformed. */
bool conform_dual(const char *path, const json_t *root, ConformDual *run);

#endif
