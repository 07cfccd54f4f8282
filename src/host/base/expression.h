/* Numbers written as expressions: "pi * 0.5", "-(1 + 2e-3) / 4".
 *
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/") factor }
 *   factor  = ("+" | "-") factor | "(" sum ")" | number | "pi" | "inf"
 *
 * A number has decimal digits with an optional point and exponent; "inf" may also be written ".inf" or "infinity", and
 * letters are upper or lower case. */
#ifndef SAPWOOD_HOST_BASE_EXPRESSION_H
#define SAPWOOD_HOST_BASE_EXPRESSION_H

#include <stdbool.h>

enum { SAP_EXPRESSION_MAX_DEPTH = 32 }; /* nesting depth of parentheses and signs */

typedef struct SapExpressionError {
    int column;       /* column in the text, from 1 */
    const char *what; /* static string */
} SapExpressionError;

/* Evaluates the whole `text`. The value may be infinite but is never NaN. On failure *value is unchanged and *error
 * holds the reason. */
bool sap_expression_evaluate(const char *text, double *value, SapExpressionError *error);

#endif
