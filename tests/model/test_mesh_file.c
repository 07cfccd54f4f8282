/* Files of geometry: what is read, every message, and files cut short and mutated. SAPWOOD_TEST_SCALE scales the
 * fuzzing. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "host/model/mesh_file.h"
#include "support/random_model.h"

static const char text_stl[] =
    "solid part\n"
    " facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   vertex 0 1.5e0 0\n"
    "  endloop\n endfacet\n"
    " facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   vertex 0 0 -2\n"
    "  endloop\n endfacet\nendsolid part\n";
static const char obj[] = "# a comment\r\nmtllib none.mtl\r\nv 0 0 0\r\nv 1 0 0 1.0\r\n\tv  0 1 0 # here too\r\n"
                          "vn 0 0 1\r\nv -0.5 .25 3e-1\r\nf 1 2 3\r\nf 1//1 2//1 4//1\r\n";
static const char grid[] = "# heights\n1 2, 3\n\n4\t5 6 # end\n7,8,9\n";

static void put_float(char *at, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++)
        at[i] = (char)(bits >> 8 * i & 255);
}

enum { BINARY_SIZE = 84 + 2 * 50 };

/* Two triangles; vertex i of all has the coordinates i, i + 0.5, -i. */
static void make_binary(char *bytes) {
    memset(bytes, 0, BINARY_SIZE);
    strcpy(bytes, "solid that is not text");
    bytes[80] = 2;
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 3; i++) {
            float v = (float)(3 * t + i);
            char *at = bytes + 84 + 50 * t + 12 * (i + 1);
            put_float(at, v);
            put_float(at + 4, v + 0.5f);
            put_float(at + 8, -v);
        }
}

static void expect_vertices(const char *bytes, size_t length, const char *name, int n, const double (*expected)[3]) {
    double *vertices;
    int count;
    cr_assert_eq(sap_mesh_parse(bytes, length, name, &vertices, &count), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(count, n);
    for (int i = 0; i < 3 * n; i++)
        cr_assert_eq(vertices[i], expected[i / 3][i % 3], "vertex %d", i / 3);
    free(vertices);
}

Test(mesh_file, obj_gives_its_vertices) {
    static const double expected[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-0.5, 0.25, 0.3}};
    expect_vertices(obj, sizeof obj - 1, "part.obj", 4, expected);
    expect_vertices(obj, sizeof obj - 1, "PART.OBJ", 4, expected);
}

Test(mesh_file, text_stl_gives_its_vertices) {
    static const double expected[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1.5, 0}, {0, 0, 0}, {1, 0, 0}, {0, 0, -2}};
    expect_vertices(text_stl, sizeof text_stl - 1, "part.stl", 6, expected);
}

Test(mesh_file, binary_stl_gives_its_vertices_even_if_it_begins_with_solid) {
    static const double expected[][3] = {{0, 0.5, 0},  {1, 1.5, -1}, {2, 2.5, -2},
                                         {3, 3.5, -3}, {4, 4.5, -4}, {5, 5.5, -5}};
    char bytes[BINARY_SIZE];
    make_binary(bytes);
    expect_vertices(bytes, sizeof bytes, "part.stl", 6, expected);
}

Test(mesh_file, grids_give_their_rows) {
    double *heights;
    int rows, columns;
    cr_assert_eq(sap_grid_parse(grid, sizeof grid - 1, "g.txt", &heights, &rows, &columns), SAP_OK, "%s",
                 sap_error_message());
    cr_assert(rows == 3 && columns == 3);
    for (int i = 0; i < 9; i++)
        cr_assert_eq(heights[i], i + 1);
    free(heights);
}

Test(mesh_file, files_are_read_from_disk) {
    char path[] = "/tmp/sapwood_mesh_XXXXXX.obj";
    int file = mkstemps(path, 4), count, rows, columns;
    cr_assert(file >= 0 && write(file, obj, sizeof obj - 1) == (ssize_t)sizeof obj - 1);
    close(file);
    double *vertices, *heights;
    cr_assert_eq(sap_mesh_load(path, &vertices, &count), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(count, 4);
    free(vertices);
    cr_assert_eq(sap_grid_load(path, &heights, &rows, &columns), SAP_ERROR_PARSE);
    unlink(path);
    cr_assert_eq(sap_mesh_load(path, &vertices, &count), SAP_ERROR_IO);
    cr_assert_not_null(strstr(sap_error_message(), "cannot be opened"), "%s", sap_error_message());
    cr_assert_eq(sap_mesh_load("/tmp", &vertices, &count), SAP_ERROR_IO);
    cr_assert_not_null(strstr(sap_error_message(), "/tmp: "), "%s", sap_error_message());
}

/* ---- refusals ---- */

static void expect_failure(const char *bytes, size_t length, const char *name, SapStatus expected, const char *begin,
                           const char *part) {
    double *values;
    int rows, columns;
    SapStatus status = strstr(name, ".txt") != NULL ? sap_grid_parse(bytes, length, name, &values, &rows, &columns)
                                                    : sap_mesh_parse(bytes, length, name, &values, &rows);
    cr_assert_eq(status, expected, "%s: %s", begin, sap_error_message());
    cr_assert(values == NULL && rows == 0);
    cr_expect_eq(strncmp(sap_error_message(), begin, strlen(begin)), 0, "'%s' is not the start of: %s", begin,
                 sap_error_message());
    cr_expect_not_null(strstr(sap_error_message(), part), "'%s' is not in: %s", part, sap_error_message());
}

#define EXPECT_FAILURE(text, name, begin, part)                                                                        \
    expect_failure(text, sizeof(text) - 1, name, SAP_ERROR_PARSE, begin, part)

Test(mesh_file, refuses_wrong_obj_files) {
    EXPECT_FAILURE("", "a.obj", "a.obj: ", "no vertices");
    EXPECT_FAILURE("f 1 2 3\n", "a.obj", "a.obj: ", "no vertices");
    EXPECT_FAILURE("v 1 2 3\nv 1 2\n", "a.obj", "a.obj:2: ", "number 3 is missing");
    EXPECT_FAILURE("v 1 2 3\n\nv 1 two 3\n", "a.obj",
                   "a.obj:3: ", "number 2 is not a number; it must be a finite number");
    EXPECT_FAILURE("v 1 2 nan\n", "a.obj", "a.obj:1: ", "number 3 is not a number");
    EXPECT_FAILURE("v 1 2 inf\n", "a.obj", "a.obj:1: ", "number 3 is not a number");
    EXPECT_FAILURE("v 1 2 1e999\n", "a.obj", "a.obj:1: ", "number 3 is not a number");
    EXPECT_FAILURE("v 1 2 0x10\n", "a.obj", "a.obj:1: ", "number 3 is not a number");
    EXPECT_FAILURE("v 1 2 3\0004\n", "a.obj", "a.obj:1: ", "finite");
    EXPECT_FAILURE("v 1 2 00000000000000000000000000000000000000000000000000000000000000000000001\n", "a.obj",
                   "a.obj:1: ", "finite");
}

Test(mesh_file, refuses_wrong_text_stl_files) {
    EXPECT_FAILURE("solid a\nendsolid\n", "a.stl", "a.stl: ", "no vertices");
    EXPECT_FAILURE("solid a\nfacet normal 0 0 1\nouter loop\nvertex 1 2 3\n", "a.stl", "a.stl:4: ", "endsolid");
    EXPECT_FAILURE("solid a\nfacet\nouter loop\nvertex 1 2 3\nendloop\nendfacet\nendsolid\n", "a.stl",
                   "a.stl:5: ", "a loop of 1 vertices; it must have 3");
    EXPECT_FAILURE("solid a\nfacet\nendloop\n", "a.stl", "a.stl:3: ", "a loop of 0 vertices");
    EXPECT_FAILURE("solid a\nvertex 1 2 3\n", "a.stl", "a.stl:2: ", "outside of a loop");
    EXPECT_FAILURE("solid a\nfacet\nouter loop\nvertex 1 2 nan\n", "a.stl", "a.stl:4: ", "number 3 is not a number");
    EXPECT_FAILURE("solid a\nfacet\nouter loop\nvertex 1 2\n", "a.stl", "a.stl:4: ", "missing");
    EXPECT_FAILURE("solid a\nface\n", "a.stl", "a.stl:2: ", "unknown keyword; allowed: solid, facet");
}

Test(mesh_file, refuses_wrong_binary_stl_files) {
    char bytes[BINARY_SIZE];
    EXPECT_FAILURE("", "a.stl", "a.stl: ", "0 bytes");
    make_binary(bytes);
    bytes[0] = 'S', bytes[5] = 'x';
    expect_failure(bytes, 83, "a.stl", SAP_ERROR_PARSE, "a.stl: ", "83 bytes");
    expect_failure(bytes, BINARY_SIZE - 1, "a.stl", SAP_ERROR_PARSE, "a.stl: offset 80: 2 triangles",
                   "take 184 bytes; the file has 183");
    bytes[83] = bytes[82] = bytes[81] = bytes[80] = (char)255;
    expect_failure(bytes, BINARY_SIZE, "a.stl", SAP_ERROR_PARSE, "a.stl: offset 80: 4294967295 triangles", "184");
    make_binary(bytes);
    bytes[5] = 'x', bytes[80] = 0;
    expect_failure(bytes, 84, "a.stl", SAP_ERROR_PARSE, "a.stl: ", "no vertices");
    make_binary(bytes);
    put_float(bytes + 84 + 50 + 12, NAN);
    expect_failure(bytes, BINARY_SIZE, "a.stl", SAP_ERROR_PARSE, "a.stl: offset 146: ", "nan; it must be finite");
    put_float(bytes + 84 + 50 + 12, -INFINITY);
    expect_failure(bytes, BINARY_SIZE, "a.stl", SAP_ERROR_PARSE, "a.stl: offset 146: ", "-inf");
}

Test(mesh_file, refuses_unknown_formats) {
    expect_failure("x", 1, "a.ply", SAP_ERROR_UNSUPPORTED, "a.ply: ", "allowed: .obj, .stl");
    expect_failure("x", 1, "obj", SAP_ERROR_UNSUPPORTED, "obj: ", "allowed: .obj, .stl");
}

Test(mesh_file, refuses_wrong_grids) {
    EXPECT_FAILURE("", "a.txt", "a.txt: ", "0 rows of 0 numbers; both must be 2 or more");
    EXPECT_FAILURE("1 2 3\n", "a.txt", "a.txt: ", "1 rows of 3 numbers");
    EXPECT_FAILURE("1\n2\n", "a.txt", "a.txt: ", "2 rows of 1 numbers");
    EXPECT_FAILURE("1 2 3\n4 5\n", "a.txt", "a.txt:2: ", "a row of 2 numbers; the rows before it have 3");
    EXPECT_FAILURE("1 2\n3 x\n", "a.txt", "a.txt:2: ", "number 2 is not a number");
    EXPECT_FAILURE("1 2\n3 nan\n", "a.txt", "a.txt:2: ", "number 2 is not a number");
}

Test(mesh_file, refuses_files_of_more_bytes_than_allowed_without_reading_them) {
    expect_failure(obj, (size_t)SAP_MESH_FILE_MAX_BYTES + 1, "a.obj", SAP_ERROR_PARSE, "a.obj: ", "268435456 bytes");
    expect_failure(obj, (size_t)SAP_MESH_FILE_MAX_BYTES + 1, "a.txt", SAP_ERROR_PARSE, "a.txt: ", "268435456 bytes");
}

/* ---- fuzzing: an error with a message, or numbers that are all finite ---- */

static void try_bytes(const char *bytes, size_t length, const char *name) {
    /* A copy of exactly that length, so that a sanitizer sees a read past its end. */
    char *copy = malloc(length + (length == 0));
    cr_assert_not_null(copy);
    memcpy(copy, bytes, length);
    double *values;
    int rows, columns = 3;
    SapStatus status = strstr(name, ".txt") != NULL ? sap_grid_parse(copy, length, name, &values, &rows, &columns)
                                                    : sap_mesh_parse(copy, length, name, &values, &rows);
    if (status == SAP_OK)
        for (int i = 0; i < rows * columns; i++)
            cr_assert(isfinite(values[i]));
    else
        cr_assert(status == SAP_ERROR_PARSE && values == NULL && strncmp(sap_error_message(), name, 5) == 0, "%s",
                  sap_error_message());
    free(values);
    free(copy);
}

typedef struct Sample {
    const char *name, *bytes;
    size_t length;
} Sample;

static char binary[BINARY_SIZE];

static Sample sample(int i) {
    const Sample all[] = {{"f.obj", obj, sizeof obj - 1},
                          {"f.stl", text_stl, sizeof text_stl - 1},
                          {"f.stl", binary, sizeof binary},
                          {"f.txt", grid, sizeof grid - 1}};
    make_binary(binary);
    return all[i];
}

Test(mesh_file, every_truncation_is_an_error_or_numbers) {
    for (int i = 0; i < 4; i++) {
        Sample s = sample(i);
        for (size_t length = 0; length <= s.length; length++)
            try_bytes(s.bytes, length, s.name);
    }
}

static const char *const words[] = {"v",     "vertex", "endloop", "outer loop", "solid",  "endsolid", "nan",
                                    "1e400", "-",      "\n",      "#",          "1e-400", ",,",       "0x1p3",
                                    "\r",    "\t",     "facet",   "+1",         ".",      "v 1 2 3\n"};

static size_t mutate(Random *random, char *bytes, size_t length, size_t most) {
    size_t at = length > 0 ? (size_t)random_below(random, (int)length) : 0;
    const char *word = words[random_below(random, sizeof words / sizeof *words)];
    size_t size = strlen(word), span = (size_t)random_below(random, 12);
    switch (random_below(random, 4)) {
    case 0:
        if (length > 0)
            bytes[at] = (char)random_below(random, 256);
        return length;
    case 1:
        if (length > 0)
            bytes[at] = (char)(bytes[at] ^ 1 << random_below(random, 8));
        return length;
    case 2:
        span = span < length - at ? span : length - at;
        memmove(bytes + at, bytes + at + span, length - at - span);
        return length - span;
    default:
        if (length + size > most)
            return length;
        memmove(bytes + at + size, bytes + at, length - at);
        memcpy(bytes + at, word, size);
        return length + size;
    }
}

Test(mesh_file, every_mutation_is_an_error_or_numbers) {
    const char *scale = getenv("SAPWOOD_TEST_SCALE");
    long rounds = (long)(40000 * (scale != NULL ? atof(scale) : 0.25));
    Random random = random_seed(11);
    for (long r = 0; r < rounds; r++) {
        char bytes[1024];
        Sample s = sample((int)(r % 4));
        memcpy(bytes, s.bytes, s.length);
        size_t length = s.length;
        for (int k = 1 + random_below(&random, 4); k > 0; k--)
            length = mutate(&random, bytes, length, sizeof bytes);
        try_bytes(bytes, length, s.name);
    }
}
