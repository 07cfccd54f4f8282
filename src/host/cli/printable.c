#include "host/cli/printable.h"

#include <stdbool.h>

/* Whether the byte belongs to a control character; `before` is the byte before it. U+0080 .. U+009F are C2 80 .. C2 9F
 * in UTF-8. */
static bool is_control(unsigned char byte, unsigned char before) {
    return byte < 0x20 || byte == 0x7f || (before == 0xc2 && byte >= 0x80 && byte < 0xa0);
}

char *cli_printable(char *text) {
    unsigned char before = 0;
    for (char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (is_control(byte, before))
            *c = '?';
        before = byte;
    }
    return text;
}

void cli_put_printable(FILE *file, const char *text) {
    unsigned char before = 0;
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        fputc(is_control(byte, before) ? '?' : byte, file);
        before = byte;
    }
}

CliShown cli_shown(const char *text) {
    CliShown out;
    snprintf(out.text, sizeof out.text, "%s", text);
    cli_printable(out.text);
    return out;
}
