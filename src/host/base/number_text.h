/* Numbers from text and back, the same in every locale: a program that embeds the library may have set one in which
 * strtod expects a decimal comma. */
#ifndef SAPWOOD_HOST_BASE_NUMBER_TEXT_H
#define SAPWOOD_HOST_BASE_NUMBER_TEXT_H

#include <stdbool.h>

enum { SAP_NUMBER_TEXT_SIZE = 32 }; /* bytes that hold any number sap_double_to_text writes */

/* The whole text as a decimal number: digits, at most one point, an optional exponent, no spaces. False for anything
 * else, "inf", "nan" and hexadecimal included. Too large a number becomes infinity. */
bool sap_text_to_double(const char *text, double *out);

/* The whole text as a decimal integer that fits an int. */
bool sap_text_to_int(const char *text, int *out);

/* The shortest text that reads back as the same number. */
void sap_double_to_text(double value, char text[SAP_NUMBER_TEXT_SIZE]);

#endif
