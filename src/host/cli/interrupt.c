#include "host/cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted; /* the number of the signal */

static void on_interrupt(int signal_number) {
    interrupted = signal_number;
}

void cli_catch_interrupt(void) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_interrupted(void) {
    return interrupted != 0;
}

int cli_exit_interrupted(void) {
    return 128 + interrupted;
}
