#include "host/base/number_text.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Switches this thread to the C locale, and back. */
typedef struct LocaleGuard {
    locale_t c, before;
} LocaleGuard;

static LocaleGuard enter_c_locale(void) {
    LocaleGuard guard = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (guard.c != (locale_t)0)
        guard.before = uselocale(guard.c);
    return guard;
}

static void leave_c_locale(LocaleGuard guard) {
    if (guard.c == (locale_t)0)
        return;
    uselocale(guard.before);
    freelocale(guard.c);
}

static double read_double(const char *text, char **end) {
    LocaleGuard guard = enter_c_locale();
    double value = strtod(text, end);
    leave_c_locale(guard);
    return value;
}

bool sap_text_to_double(const char *text, double *out) {
    if (*text == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    char *end;
    double value = read_double(text, &end);
    if (*end != '\0')
        return false;
    *out = value;
    return true;
}

bool sap_text_to_int(const char *text, int *out) {
    if (*text == '\0' || text[strspn(text, "+-0123456789")] != '\0')
        return false;
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || errno != 0 || value < INT_MIN || value > INT_MAX)
        return false;
    *out = (int)value;
    return true;
}

void sap_double_to_text(double value, char text[SAP_NUMBER_TEXT_SIZE]) {
    LocaleGuard guard = enter_c_locale();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, SAP_NUMBER_TEXT_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    leave_c_locale(guard);
}
