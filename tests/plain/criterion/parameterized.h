/* A stand-in for Criterion's tests with parameters, see criterion.h: one process runs all parameters, one after
 * another. */
#ifndef SAPWOOD_TESTS_PLAIN_PARAMETERIZED_H
#define SAPWOOD_TESTS_PLAIN_PARAMETERIZED_H

#include <criterion/criterion.h>

struct criterion_test_params {
    size_t size;
    void *params;
    size_t length;
};

#define cr_make_param_array(Type, array, length)                                                                       \
    (struct criterion_test_params) {                                                                                   \
        sizeof(Type), array, length                                                                                    \
    }

#define ParameterizedTestParameters(suite_, name_) static struct criterion_test_params suite_##_##name_##_params(void)

/* `Parameter` has its type and its name, such as `const int *preset`. */
#define ParameterizedTest(Parameter, suite_, name_, ...)                                                               \
    static void suite_##_##name_##_of(Parameter);                                                                      \
    Test(suite_, name_, ##__VA_ARGS__) {                                                                               \
        struct criterion_test_params all = suite_##_##name_##_params();                                                \
        for (size_t i = 0; i < all.length; i++)                                                                        \
            suite_##_##name_##_of((void *)((char *)all.params + i * all.size));                                        \
    }                                                                                                                  \
    static void suite_##_##name_##_of(Parameter)

#endif
