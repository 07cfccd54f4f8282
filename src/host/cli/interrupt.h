/* Ctrl-C: long-running commands report the results so far and exit with status 130. */
#ifndef SAPWOOD_HOST_CLI_INTERRUPT_H
#define SAPWOOD_HOST_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT only sets a flag, which the loops of a command test; a second one ends the program. */
void cli_catch_interrupt(void);

/* Whether a SIGINT has arrived. */
bool cli_interrupted(void);

#endif
