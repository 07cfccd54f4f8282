#include "host/model/mesh_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/base/fail.h"
#include "host/model/model.h"
#include "host/base/number_text.h"
#include "host/base/read_file.h"
#include "host/base/keyword.h"

/* ---- growing list of numbers ---- */

typedef struct Numbers {
    const char *name; /* file name */
    double *value;
    size_t count, capacity, most;
} Numbers;

/* Appends a number. There are at most `most`, which bounds the memory a file can request. */
static SapStatus take_number(Numbers *numbers, double value, int line) {
    if (numbers->count == numbers->most)
        return sap_fail_at(numbers->name, line, SAP_ERROR_PARSE, "more than %zu numbers; fewer are allowed",
                           numbers->most);
    if (numbers->count == numbers->capacity) {
        size_t capacity = numbers->capacity == 0 ? 256 : 2 * numbers->capacity;
        double *larger = realloc(numbers->value, capacity * sizeof *larger);
        if (larger == NULL)
            return sap_fail_at(numbers->name, 0, SAP_ERROR_MEMORY, "out of memory while reading the file");
        numbers->value = larger;
        numbers->capacity = capacity;
    }
    numbers->value[numbers->count++] = value;
    return SAP_OK;
}

/* ---- lines and words of a text file ---- */

typedef struct Text {
    const char *name, *at, *end; /* at: the rest of the line, which ends at line_end */
    const char *line_end;
    int line; /* from 1 */
} Text;

static Text text_of(const char *bytes, size_t length, const char *name) {
    return (Text){.name = name, .at = bytes, .end = bytes + length, .line_end = bytes, .line = 0};
}

/* Advances to the next line; false at the end. */
static bool next_line(Text *text) {
    text->at = text->line > 0 && text->line_end < text->end ? text->line_end + 1 : text->line_end;
    if (text->at >= text->end)
        return false;
    text->line_end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    if (text->line_end == NULL)
        text->line_end = text->end;
    text->line++;
    return true;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The next word of the line, "" if there is none. Words end at spaces, at `separator` and before #. A word that is
 * longer than any keyword or number, or contains a zero byte, becomes "?". */
static SapKeyword next_word(Text *text, char separator) {
    SapKeyword word = {""};
    while (text->at < text->line_end && (is_space(*text->at) || *text->at == separator))
        text->at++;
    if (text->at < text->line_end && *text->at == '#')
        text->at = text->line_end;
    const char *start = text->at;
    while (text->at < text->line_end && !is_space(*text->at) && *text->at != separator && *text->at != '#')
        text->at++;
    size_t length = (size_t)(text->at - start);
    if (length >= sizeof word.text || (length > 0 && memchr(start, '\0', length) != NULL))
        return (SapKeyword){"?"};
    memcpy(word.text, start, length);
    return word;
}

/* Number `index` of a line, from 1. The message does not quote the word, because a scene may name a file that its
 * author cannot read. */
static SapStatus read_number(const Text *text, const SapKeyword *word, int index, double *out) {
    if (sap_text_to_double(word->text, out) && isfinite(*out))
        return SAP_OK;
    return sap_fail_at(text->name, text->line, SAP_ERROR_PARSE, "number %d is %s; it must be a finite number", index,
                       word->text[0] != '\0' ? "not a number" : "missing");
}

static SapStatus read_vertex(Text *text, Numbers *numbers) {
    for (int k = 0; k < 3; k++) {
        SapKeyword word = next_word(text, ' ');
        double value;
        SAP_TRY(read_number(text, &word, k + 1, &value));
        SAP_TRY(take_number(numbers, value, text->line));
    }
    return SAP_OK;
}

/* ---- OBJ: lines "v x y z"; other lines are ignored, because a hull needs vertices only ---- */

static SapStatus parse_obj(const char *bytes, size_t length, Numbers *numbers) {
    Text text = text_of(bytes, length, numbers->name);
    while (next_line(&text))
        if (strcmp(next_word(&text, ' ').text, "v") == 0)
            SAP_TRY(read_vertex(&text, numbers));
    return SAP_OK;
}

/* ---- STL ---- */

enum { STL_HEADER = 84, STL_TRIANGLE = 50, STL_COUNT_AT = 80 };

static uint32_t little_endian(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The file length according to the header of a binary file; 0 if there is no header. */
static size_t promised_length(const char *bytes, size_t length) {
    return length < STL_HEADER ? 0 : STL_HEADER + STL_TRIANGLE * (size_t)little_endian(bytes + STL_COUNT_AT);
}

/* A header of 80 bytes, the number of triangles, and for each triangle a normal, three vertices and two bytes. */
static SapStatus parse_binary_stl(const char *bytes, size_t length, Numbers *numbers) {
    if (length < STL_HEADER)
        return sap_fail_at(numbers->name, 0, SAP_ERROR_PARSE,
                           "%zu bytes; a binary STL file has 84 or more, a text begins with 'solid'", length);
    if (length != promised_length(bytes, length))
        return sap_fail_at(numbers->name, 0, SAP_ERROR_PARSE,
                           "offset 80: %u triangles, which take %zu bytes; the file has %zu",
                           (unsigned)little_endian(bytes + STL_COUNT_AT), promised_length(bytes, length), length);
    for (size_t at = STL_HEADER; at < length; at += STL_TRIANGLE)
        for (size_t k = 3; k < 12; k++) {
            uint32_t bits = little_endian(bytes + at + 4 * k);
            float value;
            memcpy(&value, &bits, sizeof value);
            if (!isfinite(value))
                return sap_fail_at(numbers->name, 0, SAP_ERROR_PARSE,
                                   "offset %zu: the coordinate is %g; it must be finite", at + 4 * k, (double)value);
            SAP_TRY(take_number(numbers, (double)value, 0));
        }
    return SAP_OK;
}

/* Handles a line of a text STL that is not a vertex. `in_loop` counts the vertices of the current loop, -1 outside of
 * loops. */
static SapStatus read_keyword(const Text *text, const char *word, int *in_loop, bool *ended) {
    static const char *const others[] = {"solid", "facet", "endfacet"};
    if (strcmp(word, "outer") == 0) {
        *in_loop = 0;
        return SAP_OK;
    }
    if (strcmp(word, "endloop") == 0) {
        if (*in_loop != 3)
            return sap_fail_at(text->name, text->line, SAP_ERROR_PARSE, "a loop of %d vertices; it must have 3",
                               *in_loop < 0 ? 0 : *in_loop);
        *in_loop = -1;
        return SAP_OK;
    }
    *ended = strcmp(word, "endsolid") == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (*ended || word[0] == '\0' || strcmp(word, others[i]) == 0)
            return SAP_OK;
    return sap_fail_at(text->name, text->line, SAP_ERROR_PARSE,
                       "unknown keyword; allowed: solid, facet, outer, vertex, endloop, endfacet, endsolid");
}

static SapStatus parse_text_stl(const char *bytes, size_t length, Numbers *numbers) {
    Text text = text_of(bytes, length, numbers->name);
    bool ended = false;
    int in_loop = -1;
    while (next_line(&text)) {
        SapKeyword word = sap_keyword(next_word(&text, ' ').text);
        if (ended && word.text[0] == '\0')
            continue;
        if (strcmp(word.text, "vertex") != 0) {
            SAP_TRY(read_keyword(&text, word.text, &in_loop, &ended));
            continue;
        }
        if (in_loop < 0)
            return sap_fail_at(text.name, text.line, SAP_ERROR_PARSE, "a vertex outside of a loop");
        SAP_TRY(read_vertex(&text, numbers));
        in_loop++;
    }
    return ended ? SAP_OK : sap_fail_at(text.name, text.line, SAP_ERROR_PARSE, "the file ends without 'endsolid'");
}

/* Binary files may also begin with "solid"; they are recognised by their length. */
static SapStatus parse_stl(const char *bytes, size_t length, Numbers *numbers) {
    Text text = text_of(bytes, length, numbers->name);
    bool solid = next_line(&text) && strcmp(sap_keyword(next_word(&text, ' ').text).text, "solid") == 0;
    if (solid && length != promised_length(bytes, length))
        return parse_text_stl(bytes, length, numbers);
    return parse_binary_stl(bytes, length, numbers);
}

/* ---- meshes ---- */

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcasecmp(name + length - tail, end) == 0;
}

static SapStatus check_length(size_t length, const char *name) {
    if (length <= SAP_MESH_FILE_MAX_BYTES)
        return SAP_OK;
    return sap_fail_at(name, 0, SAP_ERROR_PARSE, "more than %d bytes; fewer are allowed", SAP_MESH_FILE_MAX_BYTES);
}

static SapStatus parse_mesh(const char *bytes, size_t length, Numbers *numbers) {
    SAP_TRY(check_length(length, numbers->name));
    if (ends_with(numbers->name, ".obj"))
        SAP_TRY(parse_obj(bytes, length, numbers));
    else if (ends_with(numbers->name, ".stl"))
        SAP_TRY(parse_stl(bytes, length, numbers));
    else
        return sap_fail_at(numbers->name, 0, SAP_ERROR_UNSUPPORTED, "the format is not known; allowed: .obj, .stl");
    return numbers->count > 0 ? SAP_OK : sap_fail_at(numbers->name, 0, SAP_ERROR_PARSE, "no vertices");
}

SapStatus sap_mesh_parse(const char *bytes, size_t length, const char *name, double **vertices, int *num_vertices) {
    Numbers numbers = {.name = name, .most = 3 * (size_t)SAP_MAX_MESH_VERTICES};
    *vertices = NULL;
    *num_vertices = 0;
    SapStatus status = parse_mesh(bytes, length, &numbers);
    if (status != SAP_OK) {
        free(numbers.value);
        return status;
    }
    *vertices = numbers.value;
    *num_vertices = (int)(numbers.count / 3);
    return SAP_OK;
}

SapStatus sap_mesh_load(const char *path, double **vertices, int *num_vertices) {
    char *bytes;
    size_t length;
    SAP_TRY(sap_read_file(path, SAP_MESH_FILE_MAX_BYTES, &bytes, &length));
    SapStatus status = sap_mesh_parse(bytes, length, path, vertices, num_vertices);
    free(bytes);
    return status;
}

/* ---- grids ---- */

static SapStatus read_row(Text *text, Numbers *numbers, int *rows, int *columns) {
    size_t before = numbers->count;
    for (SapKeyword word = next_word(text, ','); word.text[0] != '\0'; word = next_word(text, ',')) {
        double value;
        SAP_TRY(read_number(text, &word, (int)(numbers->count - before) + 1, &value));
        SAP_TRY(take_number(numbers, value, text->line));
    }
    int count = (int)(numbers->count - before);
    if (count == 0)
        return SAP_OK;
    if (*rows > 0 && count != *columns)
        return sap_fail_at(text->name, text->line, SAP_ERROR_PARSE, "a row of %d numbers; the rows before it have %d",
                           count, *columns);
    *columns = count;
    ++*rows;
    return SAP_OK;
}

static SapStatus parse_grid(const char *bytes, size_t length, Numbers *numbers, int *rows, int *columns) {
    SAP_TRY(check_length(length, numbers->name));
    Text text = text_of(bytes, length, numbers->name);
    while (next_line(&text))
        SAP_TRY(read_row(&text, numbers, rows, columns));
    if (*rows >= 2 && *columns >= 2)
        return SAP_OK;
    return sap_fail_at(numbers->name, 0, SAP_ERROR_PARSE, "%d rows of %d numbers; both must be 2 or more", *rows,
                       *columns);
}

SapStatus sap_grid_parse(const char *bytes, size_t length, const char *name, double **heights, int *rows,
                         int *columns) {
    Numbers numbers = {.name = name, .most = SAP_MAX_HEIGHTS};
    *heights = NULL;
    *rows = *columns = 0;
    SapStatus status = parse_grid(bytes, length, &numbers, rows, columns);
    if (status != SAP_OK) {
        free(numbers.value);
        *rows = *columns = 0;
        return status;
    }
    *heights = numbers.value;
    return SAP_OK;
}

SapStatus sap_grid_load(const char *path, double **heights, int *rows, int *columns) {
    char *bytes;
    size_t length;
    SAP_TRY(sap_read_file(path, SAP_MESH_FILE_MAX_BYTES, &bytes, &length));
    SapStatus status = sap_grid_parse(bytes, length, path, heights, rows, columns);
    free(bytes);
    return status;
}
