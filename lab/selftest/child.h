/* A case of a self-test in a process of its own: an error of a GPU's kernel makes its process useless, and a crash ends it. */
#ifndef SAPWOOD_LAB_SELFTEST_CHILD_H
#define SAPWOOD_LAB_SELFTEST_CHILD_H

#include <jansson.h>

/* Runs this program with the arguments, which end with NULL; argv[0] is its name. Returns the JSON object that it prints to
 * standard output, or {"error": reason}, also after `seconds` and after an interruption. NULL: out of memory. */
json_t *selftest_child(char *const *argv, int seconds);

#endif
