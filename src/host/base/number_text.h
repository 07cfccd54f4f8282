/* Conversion between numbers and text, independent of the locale: a program that embeds the library may have set a
 * locale in which strtod expects a decimal comma. */
#ifndef SAPWOOD_HOST_BASE_NUMBER_TEXT_H
#define SAPWOOD_HOST_BASE_NUMBER_TEXT_H

#include <stdbool.h>

enum { SAP_NUMBER_TEXT_SIZE = 32 }; /* enough bytes for any text that sap_double_to_text writes */

/* Parses the whole text as a decimal number: digits, at most one point, an optional exponent, no spaces. False for
 * anything else, including "inf", "nan" and hexadecimal. A number that is too large becomes infinity. */
bool sap_text_to_double(const char *text, double *out);

/* Parses the whole text as a decimal integer that fits an int. */
bool sap_text_to_int(const char *text, int *out);

/* The shortest text that parses to the same number. */
void sap_double_to_text(double value, char text[SAP_NUMBER_TEXT_SIZE]);

#endif
