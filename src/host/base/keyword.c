#include "host/base/keyword.h"

#include <stdio.h>
#include <string.h>

/* Of ASCII only, whatever the locale. */
static bool is_space(char c) {
    return c != '\0' && strchr(" \t\n\v\f\r", c) != NULL;
}

static char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

SapKeyword sap_strip(const char *text) {
    SapKeyword out = {""};
    while (is_space(*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && is_space(text[length - 1]))
        length--;
    if (length < sizeof out.text)
        memcpy(out.text, text, length);
    return out;
}

SapKeyword sap_keyword(const char *text) {
    SapKeyword out = sap_strip(text);
    for (char *c = out.text; *c != '\0'; c++)
        *c = *c == '-' ? '_' : to_lower(*c);
    return out;
}

bool sap_keyword_is_none(const char *word) {
    return strcmp(word, "none") == 0 || strcmp(word, "null") == 0 || strcmp(word, "~") == 0;
}

void sap_list_add(SapList *list, const char *item) {
    size_t room = sizeof list->text - list->length;
    int written = snprintf(list->text + list->length, room, "%s%s", list->length > 0 ? ", " : "", item);
    list->length += (size_t)written < room ? (size_t)written : room - 1;
}

SapList sap_list_of_names(const char *const *names) {
    SapList list = {.length = 0};
    for (; *names != NULL; names++)
        sap_list_add(&list, *names);
    return list;
}
