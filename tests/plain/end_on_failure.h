/* For programs without a runner whose models are made by code that reports through plain/criterion/criterion.h: a
 * failure is the end. Defines plain_fail, so one file of a program includes it. */
#ifndef SAPWOOD_TESTS_PLAIN_END_ON_FAILURE_H
#define SAPWOOD_TESTS_PLAIN_END_ON_FAILURE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

void plain_fail(bool fatal, const char *file, int line, const char *what, const char *format, ...) {
    va_list args;
    (void)fatal;
    va_start(args, format);
    fprintf(stderr, "%s:%d: %s: ", file, line, what);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

#endif
