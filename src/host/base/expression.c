/* A recursive-descent evaluator for the grammar in expression.h. */
#include "host/base/expression.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "host/base/number_text.h"

typedef struct Reader {
    const char *at;
    int depth;
    const char *what; /* first error; NULL while there is none */
    const char *where;
} Reader;

static double fail(Reader *reader, const char *where, const char *what) {
    if (reader->what == NULL) {
        reader->what = what;
        reader->where = where;
    }
    return 0;
}

static char peek(Reader *reader) {
    while (isspace((unsigned char)*reader->at))
        reader->at++;
    return *reader->at;
}

static bool starts_number(const char *text) {
    return isdigit((unsigned char)text[0]) || (text[0] == '.' && isdigit((unsigned char)text[1]));
}

/* The end of the longest number that starts at `text`. */
static const char *number_end(const char *text) {
    const char *end = text + strspn(text, "0123456789");
    if (*end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        size_t digits = strspn(exponent, "0123456789");
        if (digits > 0)
            end = exponent + digits;
    }
    return end;
}

static double read_number(Reader *reader) {
    enum { MAX_LENGTH = 255 }; /* 17 digits distinguish all doubles; further digits are rounded correctly */
    const char *start = reader->at, *end = number_end(start);
    size_t length = (size_t)(end - start);
    char text[MAX_LENGTH + 1];
    double value;
    reader->at = end;
    if (length > MAX_LENGTH)
        return fail(reader, start, "a number of more than 255 characters");
    memcpy(text, start, length);
    text[length] = '\0';
    if (isalpha((unsigned char)*end) || *end == '_' || *end == '.' || !sap_text_to_double(text, &value))
        return fail(reader, start, "not a number");
    if (isinf(value))
        return fail(reader, start, "a number too large for a double");
    return value;
}

static double read_name(Reader *reader) {
    static const struct {
        const char *name;
        double value;
    } constants[] = {{"pi", 3.14159265358979323846}, {"inf", INFINITY}, {".inf", INFINITY}, {"infinity", INFINITY}};
    const char *start = reader->at, *end = start + (*start == '.');
    while (isalnum((unsigned char)*end) || *end == '_')
        end++;
    size_t length = (size_t)(end - start);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strlen(constants[i].name) == length && strncasecmp(start, constants[i].name, length) == 0) {
            reader->at = end;
            return constants[i].value;
        }
    return fail(reader, start, *start == '\0' ? "a number is missing" : "neither a number nor 'pi' nor 'inf'");
}

static double read_sum(Reader *reader);

static double read_factor(Reader *reader) {
    char c = peek(reader);
    const char *start = reader->at;
    if (c != '(' && c != '+' && c != '-')
        return starts_number(start) ? read_number(reader) : read_name(reader);
    if (++reader->depth > SAP_EXPRESSION_MAX_DEPTH)
        return fail(reader, start, "too many parentheses or signs inside each other");
    reader->at++;
    double value = c == '(' ? read_sum(reader) : read_factor(reader);
    reader->depth--;
    if (c == '(' && reader->what == NULL) {
        if (peek(reader) != ')')
            return fail(reader, reader->at, "a ')' is missing");
        reader->at++;
    }
    return c == '-' ? -value : value;
}

static double read_product(Reader *reader) {
    double value = read_factor(reader);
    for (char c = peek(reader); reader->what == NULL && (c == '*' || c == '/'); c = peek(reader)) {
        reader->at++;
        peek(reader);
        const char *start = reader->at;
        double factor = read_factor(reader);
        if (reader->what == NULL && c == '/' && factor == 0)
            return fail(reader, start, "division by zero");
        value = c == '*' ? value * factor : value / factor;
    }
    return value;
}

static double read_sum(Reader *reader) {
    double value = read_product(reader);
    for (char c = peek(reader); reader->what == NULL && (c == '+' || c == '-'); c = peek(reader)) {
        reader->at++;
        double term = read_product(reader);
        value = c == '+' ? value + term : value - term;
    }
    return value;
}

bool sap_expression_evaluate(const char *text, double *value, SapExpressionError *error) {
    Reader reader = {.at = text};
    double result = read_sum(&reader);
    if (reader.what == NULL && peek(&reader) != '\0')
        fail(&reader, reader.at, "an operator is missing or not one of + - * /");
    if (reader.what == NULL && isnan(result))
        fail(&reader, text, "the result is not a number");
    if (reader.what != NULL) {
        *error = (SapExpressionError){.column = (int)(reader.where - text) + 1, .what = reader.what};
        return false;
    }
    *value = result;
    return true;
}
