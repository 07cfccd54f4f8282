/* The name that a misspelt word is nearest to, for messages: "'thread' (did you mean 'threads'?)". */
#ifndef SAPWOOD_HOST_BASE_NEAREST_H
#define SAPWOOD_HOST_BASE_NEAREST_H

#include <stddef.h>

#include "host/base/keyword.h"

/* The search: names are tried one after the other, and the nearest is kept; of equally near ones the first. */
typedef struct SapNearest {
    SapKeyword word;
    char name[SAP_KEYWORD_SIZE]; /* "" if none is near */
    int distance;                /* edits between word and name; one more than allowed if none is near */
} SapNearest;

SapNearest sap_nearest_begin(const char *word);
/* Tries a name of `length` bytes. */
void sap_nearest_try(SapNearest *nearest, const char *name, size_t length);

/* " (did you mean 'threads'?)", or "" if no name is near. */
typedef struct SapHint {
    char text[SAP_KEYWORD_SIZE + 24];
} SapHint;

SapHint sap_nearest_hint(const SapNearest *nearest);
/* Same for the words of a list such as "none (0), position (1)"; separators are all that a name cannot have. */
SapHint sap_hint(const char *word, const char *allowed);

#endif
