/* A stand-in for Criterion where its sandbox cannot run: under the thread sanitizer. The same tests compile against it;
 * it has what those tests use and no more. Each test runs in its own process. */
#ifndef SAPWOOD_TESTS_PLAIN_CRITERION_H
#define SAPWOOD_TESTS_PLAIN_CRITERION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The message of an assertion is optional, which standard macros cannot say. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

typedef struct PlainTest {
    const char *suite, *name;
    void (*run)(void);
    void (*init)(void);
    void (*fini)(void);
    bool disabled;
    double timeout; /* s, 0 = none */
    struct PlainTest *next;
} PlainTest;

void plain_register(PlainTest *test);
/* Prints what failed and where, then ends the test if `fatal`. */
void plain_fail(bool fatal, const char *file, int line, const char *what, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
_Noreturn void plain_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define Test(suite_, name_, ...)                                                                                       \
    static void suite_##_##name_(void);                                                                                \
    __attribute__((constructor)) static void suite_##_##name_##_register(void) {                                       \
        static PlainTest test = {.suite = #suite_, .name = #name_, .run = suite_##_##name_, ##__VA_ARGS__};            \
        plain_register(&test);                                                                                         \
    }                                                                                                                  \
    static void suite_##_##name_(void)

#define PLAIN_CHECK(fatal, condition, what, ...)                                                                       \
    ((condition) ? (void)0 : plain_fail(fatal, __FILE__, __LINE__, what, "" __VA_ARGS__))
#define PLAIN_COMPARE(fatal, a, operator, b, ...)                                                                      \
    PLAIN_CHECK(fatal, (a) operator(b), #a " " #operator" " #b, ##__VA_ARGS__)

#define cr_assert(condition, ...)         PLAIN_CHECK(true, condition, #condition, ##__VA_ARGS__)
#define cr_assert_not(condition, ...)     PLAIN_CHECK(true, !(condition), "not " #condition, ##__VA_ARGS__)
#define cr_assert_fail(...)               plain_fail(true, __FILE__, __LINE__, "cr_assert_fail", "" __VA_ARGS__)
#define cr_assert_null(p, ...)            PLAIN_COMPARE(true, p, ==, NULL, ##__VA_ARGS__)
#define cr_assert_not_null(p, ...)        PLAIN_COMPARE(true, p, !=, NULL, ##__VA_ARGS__)
#define cr_assert_eq(a, b, ...)           PLAIN_COMPARE(true, a, ==, b, ##__VA_ARGS__)
#define cr_assert_neq(a, b, ...)          PLAIN_COMPARE(true, a, !=, b, ##__VA_ARGS__)
#define cr_assert_lt(a, b, ...)           PLAIN_COMPARE(true, a, <, b, ##__VA_ARGS__)
#define cr_assert_leq(a, b, ...)          PLAIN_COMPARE(true, a, <=, b, ##__VA_ARGS__)
#define cr_assert_gt(a, b, ...)           PLAIN_COMPARE(true, a, >, b, ##__VA_ARGS__)
#define cr_assert_geq(a, b, ...)          PLAIN_COMPARE(true, a, >=, b, ##__VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)       PLAIN_CHECK(true, strcmp(a, b) == 0, #a " equals " #b, ##__VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...) PLAIN_CHECK(true, memcmp(a, b, size) == 0, #a " equals " #b, ##__VA_ARGS__)
#define cr_expect(condition, ...)         PLAIN_CHECK(false, condition, #condition, ##__VA_ARGS__)
#define cr_expect_eq(a, b, ...)           PLAIN_COMPARE(false, a, ==, b, ##__VA_ARGS__)
#define cr_expect_null(p, ...)            PLAIN_COMPARE(false, p, ==, NULL, ##__VA_ARGS__)
#define cr_expect_arr_eq(a, b, size, ...) PLAIN_CHECK(false, memcmp(a, b, size) == 0, #a " equals " #b, ##__VA_ARGS__)
#define cr_expect_float_eq(a, b, epsilon, ...)                                                                         \
    PLAIN_CHECK(false, (a) - (b) <= (epsilon) && (b) - (a) <= (epsilon), #a " is near " #b, ##__VA_ARGS__)
#define cr_skip_test(...) plain_skip("" __VA_ARGS__)
#define cr_skip(...)      plain_skip("" __VA_ARGS__)

#endif
