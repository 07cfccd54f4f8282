/* Ctrl-C: the commands that run for long end with what they have, and status 130. */
#ifndef SAPWOOD_HOST_CLI_INTERRUPT_H
#define SAPWOOD_HOST_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT only sets a flag, which the loops of a command look at; a second one ends the program. */
void cli_catch_interrupt(void);

/* Whether there was one. */
bool cli_interrupted(void);

#endif
