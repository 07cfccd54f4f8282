#include "host/base/keyword.h"

#include <stdio.h>
#include <string.h>

/* ASCII only, in every locale. */
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

void sap_list_add_aliases(SapList *list, const char *const *names) {
    SapList aliases = sap_list_of_names(names + 1);
    char item[128];
    snprintf(item, sizeof item, aliases.length > 0 ? "%s (%.96s)" : "%s", names[0], aliases.text);
    sap_list_add(list, item);
}

void sap_list_add_number(SapList *list, int number, const char *name) {
    char item[128];
    snprintf(item, sizeof item, "%d %s", number, name);
    sap_list_add(list, item);
}

bool sap_names_have(const char *const *names, const char *name) {
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

SapList sap_list_of_names(const char *const *names) {
    SapList list = {.length = 0};
    for (; *names != NULL; names++)
        sap_list_add(&list, *names);
    return list;
}

const char *sap_quote(const char *text, char buffer[SAP_QUOTE_SIZE]) {
    static const char dots[] = "...";
    const size_t room = SAP_QUOTE_SIZE - sizeof dots - 2;
    size_t length = strlen(text), shown = length < room ? length : room;
    /* Do not split a UTF-8 sequence. */
    while (shown > 0 && shown < length && ((unsigned char)text[shown] & 0xC0) == 0x80)
        shown--;
    char *out = buffer;
    *out++ = '\'';
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)text[i];
        *out++ = c < 0x20 || c == 0x7F ? '?' : (char)c;
    }
    if (shown < length)
        out = (char *)memcpy(out, dots, sizeof dots - 1) + sizeof dots - 1;
    *out++ = '\'';
    *out = '\0';
    return buffer;
}
