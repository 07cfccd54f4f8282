/* Broken scene files: cut short, mutated, and read while memory runs out. Each gives an error or a model, never a
 * crash, a hang or a leak. SAPWOOD_TEST_SCALE scales the work: 1 is every truncation and 100,000 mutations. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif

#if defined(WITH_ASAN)
#include <sanitizer/lsan_interface.h>
#endif

/* ---- memory: counts what is in use, and runs out on request ---- */

#if defined(__GLIBC__) && !defined(WITH_ASAN) && !defined(WITH_TSAN)
#define WITH_OWN_MALLOC 1
#endif

static long live_allocations; /* stays 0 where a sanitizer counts */

#if defined(WITH_OWN_MALLOC)

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

/* The allocation that fails: 1 is the next one, 0 none. All after it fail as well. */
static long failing;

static bool refuse_memory(void) {
    if (failing > 1)
        failing--;
    else if (failing == 1)
        return true;
    return false;
}

static void *count(void *memory) {
    live_allocations += memory != NULL;
    return memory;
}

void *malloc(size_t size) {
    return refuse_memory() ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t number, size_t size) {
    return refuse_memory() ? NULL : count(__libc_calloc(number, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
    return refuse_memory() ? NULL : count(__libc_memalign(alignment, size));
}

void *realloc(void *memory, size_t size) {
    if (memory == NULL)
        return malloc(size);
    return refuse_memory() ? NULL : __libc_realloc(memory, size);
}

void free(void *memory) {
    live_allocations -= memory != NULL;
    __libc_free(memory);
}

#endif

/* ---- the scenes to start from ---- */

typedef struct Text {
    char *bytes;
    size_t length;
} Text;

static const char *const paths[] = {
    SAPWOOD_SOURCE_DIR "/bench/scenes/cube.yaml",
    SAPWOOD_SOURCE_DIR "/bench/scenes/stack5.yaml",
    SAPWOOD_SOURCE_DIR "/bench/scenes/arm3.yaml",
    SAPWOOD_SOURCE_DIR "/bench/scenes/gripper.yaml",
    SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml",
    SAPWOOD_SOURCE_DIR "/bench/scenes/cartpole.yaml",
    SAPWOOD_SOURCE_DIR "/bench/scenes/double_pendulum.yaml",
    SAPWOOD_SOURCE_DIR "/bench/scenes/humanoid.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/arm3.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/box_slide.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/cube_tumble.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/drake_quadruped.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/drake_skid.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/drake_sphere_roll.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/gripper.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/quadruped.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/spheres.yaml",
    SAPWOOD_SOURCE_DIR "/tests/data/reference/scenes/stack3.yaml",
};
enum { NUM_PATHS = sizeof paths / sizeof *paths };

/* A scene that uses what the others do not. */
static const char every_feature[] =
    "{schema_version: 1, name: all, replicate: {num_worlds: 4, spacing: [1, 2, 0]},\n"
    " builder: {gravity: [0, 0, -9.81], up_axis: z, default_body_armature: 1e-4, defaults: {joint: {axis: 0}}},\n"
    " ground: {enabled: true, label: floor, cfg: {mu: 0.2}},\n"
    " bodies: [{id: a, label: x/a, mass: 1, com: [0, 0, 0.1], inertia: [1, 1, 1], shapes: [{type: cone, radius: 1,\n"
    "   half_height: 2}, {type: ellipsoid, a: 1, b: 2, c: 3, is_site: true}]},\n"
    "  {id: b, physics: {shape_mu: 0.1}, shapes: [{type: cylinder, radius: 1, half_height: 1, cfg: {gap: 0.1}}]}],\n"
    " joints: [{id: j, label: x/j, type: d6, parent: world, child: a, linear_axes: [x, [0, 1, 0]], angular_axes:\n"
    "   [{axis: z, limit_lower: -1, limit_upper: inf}]}, {id: k, type: ball, parent: a, child: b, damping: 1}],\n"
    " articulations: [{id: one, joints: [j, k]}], initial_joint_q: [{joint: k, values: [0, 0, 1, 0]}],\n"
    " post_build: [{op: set_array, array: joint_f, range: [1, null], value: 2}, {op: set_array, array: shape_gap,\n"
    "   range: tail:2, values: [0.1, 0.2]}, {op: copy_array, from_array: joint_f, array: joint_act, range: head:3},\n"
    "  {op: set_attr, attr: gravity, value: -1}, {op: set_joint_targets, match: x, mode: 1, ke: 2, kd: 3},\n"
    "  {op: set_joint_q, index: -1, value: 0}, {op: scale_sphere_shapes, factor: 2}, {op: set_joint_armature,\n"
    "   joints: [j], values: [1, 2, 3]}, {op: add_shape, body: world, type: sphere, radius: 1},\n"
    "  {op: copy_joint_q_to_joint_targets, label_prefix: x/}, {op: set_array, array: joint_f, from_array: "
    "joint_act},\n"
    "  {op: add_shape, type: hull, scale: [1, 2, 3], label: rock, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, "
    "1],\n"
    "   [1, 1, 1]]}, {op: add_shape, type: hfield, hx: 4, hy: 2, base: 1, height_scale: 2, heights: [[1, 2], [3, "
    "4]]}],\n"
    " keyframes: [{name: home}, {joint_q: [0, 0, 0, 0, 0, 0, 1], joint_qd: [1, 2, 3, 4, 5, 6]}],\n"
    " collision_filters: [{bodies: [a, b]}, {shapes: [rock, floor]}]}\n";

static Text read_text(const char *path) {
    Text text = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return text;
    text.bytes = malloc(1 << 16);
    text.length = fread(text.bytes, 1, 1 << 16, file);
    fclose(file);
    return text;
}

static int read_corpus(Text *corpus) {
    int count = 0;
    for (int i = 0; i < NUM_PATHS; i++) {
        Text text = read_text(paths[i]);
        cr_assert(text.bytes != NULL, "%s is missing", paths[i]);
        corpus[count++] = text;
    }
    Text all = {malloc(sizeof every_feature), sizeof every_feature - 1};
    memcpy(all.bytes, every_feature, sizeof every_feature);
    corpus[count++] = all;
    return count;
}

static void free_corpus(Text *corpus, int count) {
    for (int i = 0; i < count; i++)
        free(corpus[i].bytes);
}

static double scale(void) {
    const char *text = getenv("SAPWOOD_TEST_SCALE");
    double value = text != NULL ? atof(text) : 1;
    return value > 0 ? value : 1;
}

/* ---- one file ---- */

typedef struct Tally {
    long models, errors, unsupported, refused;
    double slowest; /* s of processor time */
} Tally;

/* Parses a copy that ends where the text ends, so that a sanitizer sees every byte read beyond. */
static void try_text(const char *bytes, size_t length, Tally *tally) {
    char *copy = malloc(length > 0 ? length : 1);
    memcpy(copy, bytes, length);
    SapScene *scene = (SapScene *)&scene;
    clock_t start = clock();
    SapStatus status = sap_scene_parse(copy, length, "fuzz", &scene);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    free(copy);
    if (seconds > tally->slowest)
        tally->slowest = seconds;
    if (status == SAP_OK) {
        tally->models++;
        cr_assert_not_null(scene);
        cr_assert_not_null(sap_model_arrays(scene->model));
        cr_assert_gt(scene->num_worlds, 0);
        cr_assert_gt(scene->dt, 0);
        cr_assert_eq(sap_options_check(&scene->options), SAP_OK, "%s", sap_error_message());
        sap_scene_destroy(scene);
        return;
    }
    cr_assert_null(scene);
    cr_assert(status == SAP_ERROR_PARSE || status == SAP_ERROR_UNSUPPORTED || status == SAP_ERROR_MODEL, "%s: %s",
              sap_status_string(status), sap_error_message());
    cr_assert(strncmp(sap_error_message(), "fuzz:", 5) == 0, "%s", sap_error_message());
    tally->errors += status == SAP_ERROR_PARSE;
    tally->unsupported += status == SAP_ERROR_UNSUPPORTED;
    tally->refused += status == SAP_ERROR_MODEL;
}

static void expect_no_leak(long before) {
    cr_expect_eq(live_allocations, before, "%ld allocations are left", live_allocations - before);
#if defined(WITH_ASAN)
    cr_expect_eq(__lsan_do_recoverable_leak_check(), 0);
#endif
}

static void expect_fast(const Tally *tally) {
    /* Ordinary files take less than a millisecond, a hundred times that with a sanitizer. */
    cr_expect_lt(tally->slowest, 2, "one file took %g s", tally->slowest);
}

/* ---- truncations ---- */

Test(scene_fuzz, every_truncation_is_an_error_or_a_model) {
    Text corpus[NUM_PATHS + 1];
    int count = read_corpus(corpus);
    Tally tally = {0};
    double step = scale() < 1 ? 1 / scale() : 1;
    try_text(corpus[0].bytes, corpus[0].length, &tally);
    long before = live_allocations;
    for (int i = 0; i < count; i++) {
        for (double length = 0; length < (double)corpus[i].length; length += step)
            try_text(corpus[i].bytes, (size_t)length, &tally);
        try_text(corpus[i].bytes, corpus[i].length, &tally);
    }
    expect_no_leak(before);
    expect_fast(&tally);
    cr_expect_gt(tally.models, count, "all files are good as they are");
    cr_expect_gt(tally.errors, tally.models);
    free_corpus(corpus, count);
}

/* ---- mutations ---- */

/* splitmix64: the same files on every machine. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t n) {
    return n == 0 ? 0 : (size_t)(next_random(state) % n);
}

enum { MAX_LENGTH = 1 << 17 };

/* Replaces `removed` bytes at `at` by others. */
static void splice(Text *text, size_t at, size_t removed, const char *bytes, size_t length) {
    if (text->length - removed + length > MAX_LENGTH)
        return;
    memmove(text->bytes + at + length, text->bytes + at + removed, text->length - at - removed);
    memcpy(text->bytes + at, bytes, length);
    text->length += length - removed;
}

static size_t line_start(const Text *text, size_t at) {
    while (at > 0 && text->bytes[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const Text *text, size_t at) {
    while (at < text->length && text->bytes[at] != '\n')
        at++;
    return at < text->length ? at + 1 : at;
}

static bool in_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '-';
}

/* The word at or after a place: a key, a name or a number. */
static void find_word(const Text *text, size_t *at, size_t *length) {
    while (*at < text->length && !in_word(text->bytes[*at]))
        ++*at;
    while (*at > 0 && in_word(text->bytes[*at - 1]))
        --*at;
    *length = 0;
    while (*at + *length < text->length && in_word(text->bytes[*at + *length]))
        ++*length;
}

static const char *const words[] = {
    "0",
    "1",
    "-1",
    "1e999",
    "-0.0",
    "1e-320",
    ".nan",
    ".inf",
    "-.inf",
    "null",
    "~",
    "true",
    "no",
    "''",
    "\"\\0\"",
    "2147483648",
    "99999999999999999999",
    "0x10",
    "1e30",
    "pi",
    "((((",
    "1/0",
    "all",
    "head:3",
    "tail:-1",
    "from:1e9",
    "world",
    "identity",
    "[]",
    "{}",
    "[null]",
    "[[1]]",
    "{a: 1}",
    "*a",
    "&a",
    "&a [*a]",
    "!!str",
    "|",
    ">",
    "%YAML",
    "---",
    "...",
    "#",
    ": ",
    "- ",
    "? ",
    ",",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "\t",
    "\n",
    "\r",
    "\\",
    "@",
    "`",
    "\xff",
    "\xc3\xa9",
    "\xef\xbb\xbf",
    "mesh",
    "hull",
    "height_field",
    "vertices",
    "heights",
    "/dev/null",
    "assets",
    "free",
    "fixed",
    "d6",
    "ball",
    "revolute",
    "joint_q",
    "shape_gap",
    "<<: *box",
};

typedef void Mutation(Text *text, uint64_t *random);

static void change_byte(Text *text, uint64_t *random) {
    if (text->length > 0)
        text->bytes[below(random, text->length)] ^= (char)(1 << below(random, 8));
}

static void set_byte(Text *text, uint64_t *random) {
    if (text->length > 0)
        text->bytes[below(random, text->length)] = (char)next_random(random);
}

static void insert_word(Text *text, uint64_t *random) {
    const char *word = words[below(random, sizeof words / sizeof *words)];
    splice(text, below(random, text->length + 1), 0, word, strlen(word));
}

static void replace_word(Text *text, uint64_t *random) {
    const char *word = words[below(random, sizeof words / sizeof *words)];
    size_t at = below(random, text->length + 1), length;
    find_word(text, &at, &length);
    splice(text, at, length, word, strlen(word));
}

/* One word of the file in the place of another. */
static void move_word(Text *text, uint64_t *random) {
    size_t from = below(random, text->length + 1), to = below(random, text->length + 1), length, old;
    char word[256];
    find_word(text, &from, &length);
    find_word(text, &to, &old);
    length = length < sizeof word ? length : sizeof word;
    memcpy(word, text->bytes + from, length);
    splice(text, to, old, word, length);
}

/* Another number in the place of one: mostly still a good file, with another meaning. */
static void change_number(Text *text, uint64_t *random) {
    static const char *const numbers[] = {"0",     "1",   "2",  "3",    "-1",  "0.5", "7",
                                          "-0.25", "1e3", "pi", "1e-9", "100", "inf"};
    const char *number = numbers[below(random, sizeof numbers / sizeof *numbers)];
    size_t at = below(random, text->length + 1), length;
    while (at < text->length && !(text->bytes[at] >= '0' && text->bytes[at] <= '9'))
        at++;
    find_word(text, &at, &length);
    splice(text, at, length, number, strlen(number));
}

static void delete_span(Text *text, uint64_t *random) {
    size_t at = below(random, text->length + 1), most = text->length - at;
    splice(text, at, below(random, (most < 64 ? most : 64) + 1), "", 0);
}

static void repeat_span(Text *text, uint64_t *random) {
    char span[256];
    size_t from = below(random, text->length + 1), most = text->length - from;
    size_t length = below(random, (most < sizeof span ? most : sizeof span) + 1);
    memcpy(span, text->bytes + from, length);
    splice(text, below(random, text->length + 1), 0, span, length);
}

static void delete_line(Text *text, uint64_t *random) {
    size_t start = line_start(text, below(random, text->length + 1)), end = line_end(text, start);
    splice(text, start, end - start, "", 0);
}

static void move_line(Text *text, uint64_t *random) {
    char line[512];
    size_t start = line_start(text, below(random, text->length + 1)), length = line_end(text, start) - start;
    length = length < sizeof line ? length : sizeof line;
    memcpy(line, text->bytes + start, length);
    splice(text, line_start(text, below(random, text->length + 1)), 0, line, length);
}

static void indent_line(Text *text, uint64_t *random) {
    size_t start = line_start(text, below(random, text->length + 1));
    if (start < text->length && text->bytes[start] == ' ' && below(random, 2) == 0)
        splice(text, start, 1, "", 0);
    else
        splice(text, start, 0, "  ", 1 + below(random, 2));
}

static void cut_tail(Text *text, uint64_t *random) {
    text->length = below(random, text->length + 1);
}

/* Changes of words come up more often than others: they get past the YAML parser. */
static Mutation *const mutations[] = {
    change_byte,   set_byte,      insert_word,   replace_word, replace_word, replace_word,
    move_word,     move_word,     move_word,     delete_span,  repeat_span,  delete_line,
    change_number, change_number, change_number, move_line,    indent_line,  cut_tail,
};

/* Mutations number first .. end of a fixed sequence. */
static void try_mutations(long first, long end) {
    Text corpus[NUM_PATHS + 1], text = {malloc(MAX_LENGTH), 0};
    int count = read_corpus(corpus);
    Tally tally = {0};
    try_text(corpus[0].bytes, corpus[0].length, &tally);
    long before = live_allocations;
    for (long i = first; i < end; i++) {
        uint64_t random = (uint64_t)i * 0xD1342543DE82EF95u + 1;
        const Text *source = &corpus[i % count];
        memcpy(text.bytes, source->bytes, source->length);
        text.length = source->length;
        for (size_t n = 1 + below(&random, 1 + below(&random, 4)); n > 0; n--)
            mutations[below(&random, sizeof mutations / sizeof *mutations)](&text, &random);
        try_text(text.bytes, text.length, &tally);
    }
    expect_no_leak(before);
    expect_fast(&tally);
    /* The mutations reach everything: files that are still good, that ask for too much, that no model can be made
     * of. */
    cr_log_info("%ld models, %ld errors, %ld unsupported, %ld refused; slowest %g s", tally.models, tally.errors,
                tally.unsupported, tally.refused, tally.slowest);
    cr_expect_gt(tally.models, (end - first) / 50);
    cr_expect_gt(tally.errors, (end - first) / 2);
    if (end - first >= 10000) {
        cr_expect_gt(tally.unsupported, 0);
        cr_expect_gt(tally.refused, 0);
    }
    free(text.bytes);
    free_corpus(corpus, count);
}

Test(scene_fuzz, every_mutation_is_an_error_or_a_model) {
    try_mutations(0, (long)(50000 * scale()) + 1);
}

Test(scene_fuzz, every_further_mutation_is_an_error_or_a_model) {
    try_mutations(1000000, 1000000 + (long)(50000 * scale()));
}

/* ---- running out of memory ---- */

#if defined(WITH_OWN_MALLOC)

Test(scene_fuzz, running_out_of_memory_anywhere_is_an_error) {
    size_t length = sizeof every_feature - 1;
    long before = live_allocations;
    SapStatus status = SAP_ERROR_MEMORY;
    long allocation = 0;
    while (status != SAP_OK) {
        SapScene *scene = (SapScene *)&scene;
        failing = ++allocation;
        status = sap_scene_parse(every_feature, length, "fuzz", &scene);
        failing = 0;
        cr_assert(status == SAP_OK || status == SAP_ERROR_MEMORY, "allocation %ld: %s: %s", allocation,
                  sap_status_string(status), sap_error_message());
        cr_assert_eq(status == SAP_OK, scene != NULL);
        if (status == SAP_OK)
            sap_scene_destroy(scene);
    }
    cr_expect_gt(allocation, 100, "%ld allocations", allocation);
    expect_no_leak(before);
}

#endif
