/* Ctrl-C, and `kill`: long-running commands report the results so far and exit with the status of the signal. */
#ifndef SAPWOOD_HOST_CLI_INTERRUPT_H
#define SAPWOOD_HOST_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT or SIGTERM only sets a flag, which the loops of a command test; a second one ends the
 * program. */
void cli_catch_interrupt(void);

/* Whether one of them has arrived. */
bool cli_interrupted(void);

/* The exit code after it: 128 + its number, 130 or 143, as shells have it. */
int cli_exit_interrupted(void);

#endif
