/* Words of users: names and choices, without regard to case, spaces around them, and "-" or "_". */
#ifndef SAPWOOD_HOST_BASE_KEYWORD_H
#define SAPWOOD_HOST_BASE_KEYWORD_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SAP_KEYWORD_SIZE = 64
}; /* more than any name, choice or number needs; longer texts become "", which is none of them */

typedef struct SapKeyword {
    char text[SAP_KEYWORD_SIZE];
} SapKeyword;

/* Without the spaces around it. */
SapKeyword sap_strip(const char *text);

/* Stripped, lower-cased, "-" as "_". */
SapKeyword sap_keyword(const char *text);

/* Whether a word says that there is no value: "none", "null", "~". */
bool sap_keyword_is_none(const char *word);

/* "a, b, c" for messages; what does not fit is left out. */
typedef struct SapList {
    char text[1024];
    size_t length;
} SapList;

void sap_list_add(SapList *list, const char *item);
SapList sap_list_of_names(const char *const *names); /* ends with NULL */
/* "name (alias, alias)"; names ends with NULL. */
void sap_list_add_aliases(SapList *list, const char *const *names);
/* "number name" */
void sap_list_add_number(SapList *list, int number, const char *name);

/* Whether `name` is one of the names, letter by letter; they end with NULL. */
bool sap_names_have(const char *const *names, const char *name);

enum { SAP_QUOTE_SIZE = 64 }; /* bytes for sap_quote */

/* `text` in quotes, shortened and without control characters, in `buffer`. */
const char *sap_quote(const char *text, char buffer[SAP_QUOTE_SIZE]);

#endif
