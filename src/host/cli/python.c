#include "host/cli/python.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/cli/common.h"

enum { MAX_ARGUMENTS = 2 * CLI_MAX_SETTINGS + 32 };

bool cli_python(const char *purpose, const char *extra, const char *const *arguments) {
    const char *python = secure_getenv("SAPWOOD_PYTHON");
    if (python == NULL || python[0] == '\0')
        python = "python3";
    char *argv[MAX_ARGUMENTS + 4] = {(char *)python, "-m", "sapwood"};
    for (int i = 0; i < MAX_ARGUMENTS && arguments[i] != NULL; i++)
        argv[3 + i] = (char *)arguments[i];
    pid_t child;
    int failure = posix_spawnp(&child, python, NULL, NULL, argv, environ), status = 0;
    while (failure == 0 && waitpid(child, &status, 0) < 0)
        failure = errno == EINTR ? 0 : errno;
    if (failure == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return cli_fail("%s the Python package: pip install 'sapwood[%s]', then set SAPWOOD_PYTHON to that interpreter; "
                    "here '%s' %s%s",
                    purpose, extra, python, failure ? "cannot be run: " : "failed, see above",
                    failure ? strerror(failure) : "");
}
