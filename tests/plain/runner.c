/* Runs the tests registered through plain/criterion/criterion.h, each in a child process, and reports like Criterion: 0
 * if all pass. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

enum { EXIT_FAILED = 1, EXIT_SKIPPED = 77 };

static PlainTest *tests;
static bool failed; /* of the test that runs in this process */

void plain_register(PlainTest *test) {
    test->next = tests;
    tests = test;
}

void plain_fail(bool fatal, const char *file, int line, const char *what, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: failed: %s: ", file, line, what);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    failed = true;
    if (fatal)
        exit(EXIT_FAILED);
}

void plain_skip(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(EXIT_SKIPPED);
}

static _Noreturn void run_here(const PlainTest *test) {
    alarm((unsigned)test->timeout);
    if (test->init)
        test->init();
    test->run();
    if (test->fini)
        test->fini();
    exit(failed ? EXIT_FAILED : 0);
}

/* The exit status of the child that runs the test; the sanitizer has its own for a report. */
static int run_in_child(const PlainTest *test) {
    pid_t child = fork();
    if (child == 0)
        run_here(test);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return EXIT_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

int main(void) {
    int passing = 0, failing = 0, skipped = 0;
    for (const PlainTest *test = tests; test != NULL; test = test->next) {
        int status = test->disabled ? EXIT_SKIPPED : run_in_child(test);
        const char *word = status == 0 ? "PASS" : status == EXIT_SKIPPED ? "SKIP" : "FAIL";
        printf("[%s] %s::%s\n", word, test->suite, test->name);
        fflush(stdout); /* or a child would print it again */
        passing += status == 0;
        skipped += status == EXIT_SKIPPED;
        failing += status != 0 && status != EXIT_SKIPPED;
    }
    printf("Tested: %d | Passing: %d | Failing: %d | Skipped: %d\n", passing + failing, passing, failing, skipped);
    return failing != 0 || passing + skipped == 0;
}
