#include "host/base/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <sapwood/sapwood.h>

static int least(int a, int b) {
    return a < b ? a : b;
}

/* The number of edits that turn a into b: a character inserted, removed or replaced, or two neighbours exchanged.
 *   D(i,j) = min(D(i-1,j) + 1, D(i,j-1) + 1, D(i-1,j-1) + [a_i != b_j], D(i-2,j-2) + 1 for an exchange)
 * Three rows suffice. */
static int edits(const char *a, size_t na, const char *b, size_t nb) {
    int row[3][SAP_KEYWORD_SIZE + 1];
    int *before = row[0], *last = row[1], *next = row[2];
    for (size_t j = 0; j <= nb; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        next[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            next[j] = least(least(last[j], next[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                next[j] = least(next[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = last, last = next, next = free_row;
    }
    return last[nb];
}

/* A word that means another name than the one it is nearest to. */
static const char *meant_by(const char *word) {
    static const char *const words[][2] = {{"gpu", "cuda"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i][0]) == 0)
            return words[i][1];
    return word;
}

/* A third of the characters may be wrong. */
SapNearest sap_nearest_begin(const char *word) {
    SapNearest out = {.word = sap_keyword(meant_by(word))};
    out.distance = (int)((strlen(out.word.text) + 2) / 3) + 1;
    return out;
}

void sap_nearest_try(SapNearest *nearest, const char *name, size_t length) {
    size_t own = strlen(nearest->word.text);
    if (own < 2 || length < 2 || length >= SAP_KEYWORD_SIZE)
        return;
    int distance = edits(nearest->word.text, own, name, length);
    if (distance >= nearest->distance || distance >= (int)length)
        return;
    nearest->distance = distance;
    memcpy(nearest->name, name, length);
    nearest->name[length] = '\0';
}

SapHint sap_nearest_hint(const SapNearest *nearest) {
    SapHint out = {""};
    if (nearest->name[0] != '\0')
        snprintf(out.text, sizeof out.text, " (did you mean '%s'?)", nearest->name);
    return out;
}

static bool in_name(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

SapHint sap_hint(const char *word, const char *allowed) {
    SapNearest nearest = sap_nearest_begin(word);
    while (*allowed != '\0') {
        size_t length = 0;
        while (in_name(allowed[length]))
            length++;
        sap_nearest_try(&nearest, allowed, length);
        allowed += length > 0 ? length : 1;
    }
    return sap_nearest_hint(&nearest);
}

const char *sap_nearest_name(const char *word, const char *const *names) {
    const char *found = NULL;
    SapNearest nearest = sap_nearest_begin(word != NULL ? word : "");
    for (; names != NULL && *names != NULL; names++) {
        int before = nearest.distance;
        sap_nearest_try(&nearest, *names, strlen(*names));
        if (nearest.distance < before)
            found = *names;
    }
    return found;
}
