#include "host/cli/printable.h"

#include <string.h>

/* Bytes of the character at `text` if it is not to be printed, else 0. In UTF-8 U+0080 .. U+009F are C2 80 .. C2 9F,
 * U+202A .. U+202E are E2 80 AA .. E2 80 AE, and U+2066 .. U+2069 are E2 81 A6 .. E2 81 A9. */
static int hidden_bytes(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] == 0xc2)
        return c[1] >= 0x80 && c[1] < 0xa0 ? 2 : 0;
    if (c[0] == 0xe2 && c[1] == 0x80)
        return c[2] >= 0xaa && c[2] <= 0xae ? 3 : 0;
    if (c[0] == 0xe2 && c[1] == 0x81)
        return c[2] >= 0xa6 && c[2] <= 0xa9 ? 3 : 0;
    return c[0] < 0x20 || c[0] == 0x7f ? 1 : 0;
}

char *cli_printable(char *text) {
    for (char *c = text; *c != '\0'; c++) {
        int hidden = hidden_bytes(c);
        memset(c, '?', (size_t)hidden);
        c += hidden > 0 ? hidden - 1 : 0;
    }
    return text;
}

void cli_put_printable(FILE *file, const char *text) {
    for (int hidden = 0; *text != '\0'; text++) {
        int found = hidden_bytes(text);
        hidden = found > 0 ? found : hidden;
        fputc(hidden > 0 ? '?' : *text, file);
        hidden -= hidden > 0;
    }
}

CliShown cli_shown(const char *text) {
    CliShown out;
    snprintf(out.text, sizeof out.text, "%s", text);
    cli_printable(out.text);
    return out;
}
