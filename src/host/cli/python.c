#include "host/cli/python.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/cli/common.h"

static const char *interpreter(void) {
    const char *python = secure_getenv("SAPWOOD_PYTHON");
    return python != NULL && python[0] != '\0' ? python : "python3";
}

/* Starts `python OPTION TEXT ARGUMENTS`, with its standard output in a pipe if `output` is not NULL. Returns 0, or an
 * errno. */
static int start(const char *option, const char *text, const char *const *arguments, FILE **output, pid_t *child) {
    int count = 0, ends[2] = {-1, -1}, failure;
    while (arguments[count] != NULL)
        count++;
    const char **argv = cli_allocate((size_t)count + 4, sizeof *argv);
    if (argv == NULL || (output != NULL && pipe(ends) != 0)) {
        free(argv);
        return errno;
    }
    memcpy(argv, (const char *[]){interpreter(), option, text}, 3 * sizeof *argv);
    memcpy(argv + 3, arguments, (size_t)count * sizeof *argv);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output != NULL) {
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addclose(&actions, ends[0]);
        posix_spawn_file_actions_addclose(&actions, ends[1]);
    }
    failure = posix_spawnp(child, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(argv);
    if (output != NULL) {
        close(ends[1]);
        *output = fdopen(ends[0], "r");
    }
    return failure;
}

/* Whether the child ends with 0. *failure: an errno. */
static bool succeeds(pid_t child, int *failure) {
    int status = 0;
    while (*failure == 0 && waitpid(child, &status, 0) < 0)
        *failure = errno == EINTR ? 0 : errno;
    return *failure == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool refuse(const char *purpose, const char *extra, int failure) {
    return cli_fail("%s the Python package: pip install 'sapwood[%s]', then set SAPWOOD_PYTHON to that interpreter; "
                    "here '%s' %s%s",
                    purpose, extra, interpreter(), failure ? "cannot be run: " : "failed, see above",
                    failure ? strerror(failure) : "");
}

bool cli_python(const char *purpose, const char *extra, const char *const *arguments) {
    pid_t child = 0;
    int failure = start("-m", "sapwood", arguments, NULL, &child);
    return succeeds(child, &failure) || refuse(purpose, extra, failure);
}

bool cli_python_script(const char *purpose, const char *extra, const char *script, const char *const *arguments,
                       CliPythonLine *line, void *arg) {
    pid_t child = 0;
    FILE *output = NULL;
    char *text = NULL;
    size_t room = 0;
    bool done = false;
    fflush(stdout);
    int failure = start("-c", script, arguments, &output, &child);
    while (output != NULL && failure == 0 && getline(&text, &room, output) >= 0) {
        text[strcspn(text, "\n")] = '\0';
        done = line(arg, text);
    }
    if (output != NULL)
        fclose(output);
    free(text);
    succeeds(child, &failure);
    return (failure == 0 && done) || refuse(purpose, extra, failure);
}
