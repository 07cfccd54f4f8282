/* Keywords in user input: names and choices, compared without case, surrounding spaces, or the difference between "-"
 * and "_". */
#ifndef SAPWOOD_HOST_BASE_KEYWORD_H
#define SAPWOOD_HOST_BASE_KEYWORD_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SAP_KEYWORD_SIZE = 64
}; /* longer than any name, choice or number; a longer text becomes "", which matches none of them */

typedef struct SapKeyword {
    char text[SAP_KEYWORD_SIZE];
} SapKeyword;

/* The text without leading and trailing spaces. */
SapKeyword sap_strip(const char *text);

/* The text stripped and in lower case, with "-" replaced by "_". */
SapKeyword sap_keyword(const char *text);

/* Whether the word stands for a missing value: "none", "null", "~". */
bool sap_keyword_is_none(const char *word);

/* "a, b, c" for messages; entries that do not fit are dropped. */
typedef struct SapList {
    char text[2048];
    size_t length;
} SapList;

void sap_list_add(SapList *list, const char *item);
SapList sap_list_of_names(const char *const *names); /* NULL-terminated */
/* Appends "name (alias, alias)"; names is NULL-terminated. */
void sap_list_add_aliases(SapList *list, const char *const *names);
/* Appends "number name". */
void sap_list_add_number(SapList *list, int number, const char *name);

/* Whether `name` equals one of the names exactly; names is NULL-terminated. */
bool sap_names_have(const char *const *names, const char *name);

enum { SAP_QUOTE_SIZE = 64 }; /* buffer size of sap_quote */

/* Writes `text` in quotes to `buffer`, shortened and without control characters. */
const char *sap_quote(const char *text, char buffer[SAP_QUOTE_SIZE]);

#endif
