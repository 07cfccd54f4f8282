/* Text of unknown origin on a terminal: names of files, bodies and cases. */
#ifndef SAPWOOD_HOST_CLI_PRINTABLE_H
#define SAPWOOD_HOST_CLI_PRINTABLE_H

#include <stdio.h>

/* Replaces every byte of the control characters of the text (ASCII, and U+0080 .. U+009F in UTF-8) by "?", because they
 * move cursors, change colours and titles, or run commands on some terminals; also of the characters that reverse the
 * direction of text (U+202A .. U+202E, U+2066 .. U+2069), by which a name can look like another. Returns the text. */
char *cli_printable(char *text);

/* Writes the text in this form. */
void cli_put_printable(FILE *file, const char *text);

enum { CLI_SHOWN_SIZE = 256 };

/* A copy in this form, for printf; a longer text is truncated. */
typedef struct CliShown {
    char text[CLI_SHOWN_SIZE];
} CliShown;
CliShown cli_shown(const char *text);

#endif
