#include "lab/selftest/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/cli/common.h"
#include "host/cli/interrupt.h"

extern char **environ;

/* Starts the process with its outputs in these files; 0, or an error number. */
static int start(char *const *argv, FILE *out, FILE *err, pid_t *child) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, fileno(err), STDERR_FILENO);
    if (!error)
        error = posix_spawn(child, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Waits until the process ends; false if it had to be ended. */
static bool wait_for(pid_t child, int seconds, int *status) {
    const struct timespec pause = {0, 10000000};
    double end = cli_now() + seconds;
    while (waitpid(child, status, WNOHANG) == 0) {
        if (cli_now() > end || cli_interrupted()) {
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return false;
        }
        nanosleep(&pause, NULL);
    }
    return true;
}

/* The last line of a file that is not empty. */
static void read_last_line(FILE *file, char *text, size_t size) {
    char line[1024];
    text[0] = 0;
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0])
            snprintf(text, size, "%s", line);
    }
}

static json_t *error_json(const char *reason, const char *last_line) {
    return json_pack("{so so}", "error", cli_json_text(reason), "last_line", cli_json_text(last_line));
}

static json_t *result_of(int status, FILE *out, FILE *err) {
    char reason[128], line[1024];
    json_error_t error;
    rewind(out);
    json_t *result = WIFEXITED(status) ? json_loadf(out, 0, &error) : NULL;
    if (json_is_object(result))
        return result;
    json_decref(result);
    if (WIFSIGNALED(status))
        snprintf(reason, sizeof reason, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(reason, sizeof reason, "ended with status %d", WEXITSTATUS(status));
    read_last_line(err, line, sizeof line);
    return error_json(reason, line);
}

static json_t *run_child(char *const *argv, int seconds, FILE *out, FILE *err) {
    pid_t child;
    int status = 0, error = start(argv, out, err, &child);
    char reason[64], line[1024];
    if (error)
        return error_json("cannot be started", strerror(error));
    if (wait_for(child, seconds, &status))
        return result_of(status, out, err);
    snprintf(reason, sizeof reason, "took longer than %d s", seconds);
    read_last_line(err, line, sizeof line);
    return error_json(cli_interrupted() ? "interrupted" : reason, line);
}

json_t *selftest_child(char *const *argv, int seconds) {
    FILE *out = tmpfile(), *err = tmpfile();
    json_t *result = out && err ? run_child(argv, seconds, out, err) : error_json("no temporary file", strerror(errno));
    if (out)
        fclose(out);
    if (err)
        fclose(err);
    return result;
}
