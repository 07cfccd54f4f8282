/* Numbers written as expressions. */
#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include "host/base/expression.h"

static const double pi = 3.14159265358979323846;

static double evaluate(const char *text) {
    double value = NAN;
    SapExpressionError error = {0};
    bool good = sap_expression_evaluate(text, &value, &error);
    cr_expect(good, "'%s' fails at column %d: %s", text, error.column, error.what);
    return value;
}

static void expect_failure(const char *text, int column, const char *what) {
    double value = 42;
    SapExpressionError error = {0};
    cr_expect(!sap_expression_evaluate(text, &value, &error), "'%s' is %g", text, value);
    cr_expect_eq(error.column, column, "'%s' fails at column %d, not %d", text, error.column, column);
    cr_expect(error.what != NULL && strstr(error.what, what) != NULL, "'%s' fails with '%s', not '%s'", text,
              error.what, what);
    cr_expect_eq(value, 42, "a failed evaluation left %g behind", value);
}

Test(expression, reads_numbers_as_c_does) {
    const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},          {"12", 12},         {"0.1", 0.1},   {".5", .5},
        {"5.", 5.},        {"1e5", 1e5},       {"1E-3", 1E-3}, {"2.5e+10", 2.5e+10},
        {" 7 ", 7},        {"1e-320", 1e-320}, {"007", 7},     {"-0.10000000000000003", -0.10000000000000003},
        {"1e-99999", 0.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(evaluate(cases[i].text), cases[i].value, "'%s'", cases[i].text);
}

Test(expression, knows_pi_and_infinity) {
    cr_expect_eq(evaluate("pi"), pi);
    cr_expect_eq(evaluate("PI"), pi);
    cr_expect_eq(evaluate("inf"), INFINITY);
    cr_expect_eq(evaluate("-.inf"), -INFINITY);
    cr_expect_eq(evaluate("Infinity"), INFINITY);
}

Test(expression, multiplies_before_it_adds_and_goes_left_to_right) {
    cr_expect_eq(evaluate("pi * 0.5"), pi * 0.5);
    cr_expect_eq(evaluate("1 + 2 * 3"), 7);
    cr_expect_eq(evaluate("(1 + 2) * 3"), 9);
    cr_expect_eq(evaluate("10 - 4 - 3"), 3);
    cr_expect_eq(evaluate("100 / 5 / 2"), 10);
    cr_expect_eq(evaluate("8 / 4 * 2"), 4);
    cr_expect_eq(evaluate("2*(3+(4-1))/6"), 2);
}

Test(expression, takes_signs_before_every_factor) {
    cr_expect_eq(evaluate("-pi / 2"), -pi / 2);
    cr_expect_eq(evaluate("+3"), 3);
    cr_expect_eq(evaluate("2 * -3"), -6);
    cr_expect_eq(evaluate("2--3"), 5);
    cr_expect_eq(evaluate("-(1 + 2)"), -3);
    cr_expect(signbit(evaluate("-0")));
}

Test(expression, tells_the_column_of_a_mistake) {
    expect_failure("", 1, "missing");
    expect_failure("  ", 3, "missing");
    expect_failure("1 +", 4, "missing");
    expect_failure("1 + x", 5, "neither");
    expect_failure("(1 + 2", 7, "')'");
    expect_failure("1 2", 3, "operator");
    expect_failure("3)", 2, "operator");
    expect_failure("2 ** 3", 4, "neither");
    expect_failure("2pi", 1, "not a number");
    expect_failure("0x10", 1, "not a number");
    expect_failure("1_000", 1, "not a number");
    expect_failure("1.2.3", 1, "not a number");
    expect_failure("1e", 1, "not a number");
    expect_failure("nan", 1, "neither");
    expect_failure("pie", 1, "neither");
    expect_failure("()", 2, "neither");
    expect_failure(".", 1, "neither");
}

Test(expression, refuses_results_that_are_no_numbers) {
    expect_failure("1 / 0", 5, "division by zero");
    expect_failure("1 / (2 - 2)", 5, "division by zero");
    expect_failure("inf - inf", 1, "not a number");
    expect_failure("0 * inf", 1, "not a number");
    expect_failure("1e400", 1, "too large");
}

Test(expression, does_not_go_down_without_end) {
    char text[4001];
    memset(text, '(', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    expect_failure(text, SAP_EXPRESSION_MAX_DEPTH + 1, "inside each other");
    memset(text, '-', sizeof text - 1);
    expect_failure(text, SAP_EXPRESSION_MAX_DEPTH + 1, "inside each other");
    memset(text, '1', sizeof text - 1);
    expect_failure(text, 1, "more than 255");
}

Test(expression, forgets_the_depth_of_what_is_closed) {
    char text[1000] = "0";
    for (int i = 0; i < 100; i++)
        strcat(text, "+((1))");
    cr_expect_eq(evaluate(text), 100);
}
