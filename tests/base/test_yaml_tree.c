/* YAML and JSON documents as trees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "host/base/yaml_tree.h"

static SapYamlTree *parse(const char *text) {
    SapYamlTree *tree;
    SapStatus status = sap_yaml_parse(text, strlen(text), "file.yaml", &tree);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    return tree;
}

/* Parsing fails, and the message begins with `start` and has `part` in it. */
static void expect_error_of(const char *text, size_t length, const char *start, const char *part) {
    SapYamlTree *tree = (SapYamlTree *)&length;
    SapStatus status = sap_yaml_parse(text, length, "file.yaml", &tree);
    cr_expect_eq(status, SAP_ERROR_PARSE, "%.40s: %s", text, sap_status_string(status));
    cr_expect_null(tree);
    cr_expect(strncmp(sap_error_message(), start, strlen(start)) == 0 && strstr(sap_error_message(), part) != NULL,
              "%.40s: '%s' is not '%s ... %s'", text, sap_error_message(), start, part);
    if (status == SAP_OK)
        sap_yaml_destroy(tree);
}

static void expect_error(const char *text, const char *start, const char *part) {
    expect_error_of(text, strlen(text), start, part);
}

static const SapYamlNode *at(const SapYamlNode *map, const char *key) {
    const SapYamlEntry *entry = sap_yaml_find(map, key);
    cr_assert_not_null(entry, "no '%s'", key);
    return entry->node;
}

Test(yaml_tree, has_kinds_texts_and_lines) {
    SapYamlTree *tree = parse("a: 1\nb:\n  - x\n  - 'y'\nc: {d: {}, e: []}\n");
    const SapYamlNode *root = sap_yaml_root(tree)->node;
    cr_expect_eq(root->kind, SAP_YAML_MAP);
    cr_expect_eq(root->count, 3);
    cr_expect_str_eq(at(root, "a")->text, "1");
    cr_expect_eq(at(root, "a")->line, 1);
    const SapYamlNode *list = at(root, "b");
    cr_expect_eq(list->kind, SAP_YAML_LIST);
    cr_expect_eq(list->count, 2);
    cr_expect_eq(list->entries[1].line, 4);
    cr_expect_eq(list->entries[1].index, 1);
    cr_expect_str_eq(list->entries[1].key, "b");
    cr_expect_not(list->entries[1].node->plain);
    cr_expect(list->entries[0].node->plain);
    cr_expect_eq(at(at(root, "c"), "d")->kind, SAP_YAML_MAP);
    cr_expect_eq(at(at(root, "c"), "e")->count, 0);
    cr_expect_eq(sap_yaml_find(root, "c")->line, 5);
    cr_expect_null(sap_yaml_find(root, "z"));
    cr_expect_null(sap_yaml_find(list, "z"));
    sap_yaml_destroy(tree);
}

Test(yaml_tree, reads_json_with_tabs_and_no_spaces) {
    SapYamlTree *tree =
        parse("{\n\t\"a\":1,\n\t\"b\":[true,null,-1.5e-3,\"x\\u0041\\/\\n\"],\n\t\"c\":{\t\"d\"\t:\t2}\n}\n");
    const SapYamlNode *root = sap_yaml_root(tree)->node;
    cr_expect_str_eq(at(root, "a")->text, "1");
    cr_expect_eq(at(root, "b")->count, 4);
    cr_expect_str_eq(at(root, "b")->entries[2].node->text, "-1.5e-3");
    cr_expect_str_eq(at(root, "b")->entries[3].node->text, "xA/\n");
    cr_expect_str_eq(at(at(root, "c"), "d")->text, "2");
    sap_yaml_destroy(tree);
}

Test(yaml_tree, tells_null_from_quoted_text) {
    SapYamlTree *tree = parse("a:\nb: 'null'\nc: ''\nd: nul\ne: ~\nf: null\n");
    const SapYamlNode *root = sap_yaml_root(tree)->node;
    cr_expect(sap_yaml_is_null(at(root, "a")));
    cr_expect(sap_yaml_is_null(at(root, "e")));
    cr_expect(sap_yaml_is_null(at(root, "f")));
    cr_expect_not(sap_yaml_is_null(at(root, "b")));
    cr_expect_not(sap_yaml_is_null(at(root, "c")));
    cr_expect_not(sap_yaml_is_null(at(root, "d")));
    sap_yaml_destroy(tree);
}

Test(yaml_tree, shares_the_node_of_an_alias) {
    SapYamlTree *tree = parse("a: &x [1, 2]\nb: *x\nc: &x 3\nd: *x\n");
    const SapYamlNode *root = sap_yaml_root(tree)->node;
    cr_expect_eq(at(root, "a"), at(root, "b"));
    cr_expect_str_eq(at(root, "d")->text, "3");
    cr_expect_eq(root->size, 1 + 3 + 3 + 1 + 1);
    cr_expect_eq(root->height, 3);
    sap_yaml_destroy(tree);
}

Test(yaml_tree, refuses_duplicate_keys_and_names_both_lines) {
    expect_error("a: 1\nb: 2\n\na: 3\n", "file.yaml:4: ", "'a' a second time; the first is in line 1");
    expect_error("x: {k: 1, l: 2, k: 3}", "file.yaml:1: ", "'k' a second time");
}

Test(yaml_tree, refuses_keys_that_are_not_text) {
    expect_error("? [1]\n: 2\n", "file.yaml:1: ", "key");
    expect_error("? {a: 1}\n: 2\n", "file.yaml:1: ", "key");
    expect_error("a: &x b\n*x : 2\n", "file.yaml:2: ", "key");
}

Test(yaml_tree, refuses_more_than_one_document_and_less) {
    expect_error("a: 1\n---\nb: 2\n", "file.yaml:2: ", "second document");
    expect_error("", "file.yaml:1: ", "empty");
    expect_error("# nothing\n", "file.yaml:1: ", "empty");
}

Test(yaml_tree, refuses_tags) {
    expect_error("a: !!python/object:os.system x\n", "file.yaml:1: ", "tag");
    expect_error("a: !mine [1]\n", "file.yaml:1: ", "tag '!mine'");
}

Test(yaml_tree, refuses_aliases_to_nothing_and_to_themselves) {
    expect_error("a: *x\n", "file.yaml:1: ", "'x' without an anchor");
    expect_error("a: &x [1, *x]\n", "file.yaml:1: ", "inside of what it stands for");
    expect_error("a: &x\n  b:\n    c: *x\n", "file.yaml:3: ", "inside of what it stands for");
}

Test(yaml_tree, names_the_line_of_a_syntax_error) {
    expect_error("a: 1\nb: [1, 2\nc: 3\n", "file.yaml:3: ", "");
    expect_error("a: 'x\n", "file.yaml:2: ", "quoted scalar");
    expect_error("a: 1\n\tb: 2\n", "file.yaml:2: ", "");
}

Test(yaml_tree, names_the_line_of_bad_bytes) {
    expect_error("a: 1\nb: 2\nc: \xff\xfe\n", "file.yaml:3: ", "UTF-8");
    expect_error("a: 1\nb: \x01\n", "file.yaml:2: ", "control characters");
    expect_error_of("a: x\0y\n", 7, "file.yaml:1: ", "control characters");
    expect_error_of("\xff\xfex\0\n", 5, "file.yaml:1: ", "UTF-16"); /* cut within its end of line */
    expect_error("a: \"x\\0y\"\n", "file.yaml:1: ", "NUL");
}

Test(yaml_tree, refuses_deep_nesting_at_once) {
    enum { DEPTH = 1000000 };
    char *text = malloc(DEPTH);
    memset(text, '[', DEPTH);
    expect_error_of(text, DEPTH, "file.yaml:1: ", "inside each other");
    for (int i = 0; i < DEPTH; i++)
        text[i] = i % 2 == 0 ? '-' : ' ';
    expect_error_of(text, DEPTH, "file.yaml:1: ", "inside each other");
    free(text);
}

Test(yaml_tree, allows_the_depth_it_promises) {
    char text[2 * SAP_YAML_MAX_DEPTH + 3] = "";
    for (int extra = 0; extra < 2; extra++) {
        int depth = SAP_YAML_MAX_DEPTH + extra;
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        if (extra == 0)
            sap_yaml_destroy(parse(text));
        else
            expect_error(text, "file.yaml:1: ", "inside each other");
    }
}

Test(yaml_tree, counts_the_depth_behind_aliases) {
    /* Each line is one level deeper than the one before. */
    char text[4096] = "- &a0 [0]\n";
    for (int i = 1; i < SAP_YAML_MAX_DEPTH; i++) {
        char line[64];
        snprintf(line, sizeof line, "- &a%d [*a%d]\n", i, i - 1);
        strcat(text, line);
    }
    expect_error(text, "file.yaml:32: ", "inside each other");
}

Test(yaml_tree, refuses_alias_bombs_at_once) {
    char text[4096] = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8]\n";
    for (int i = 1; i < 20; i++) {
        char line[128];
        snprintf(line, sizeof line, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1, i - 1,
                 i - 1, i - 1, i - 1);
        strcat(text, line);
    }
    expect_error(text, "file.yaml:8: ", "aliases written out");
}

Test(yaml_tree, refuses_too_many_anchors_and_too_many_bytes) {
    enum { ANCHORS = 200000 };
    char *text = malloc(16 * ANCHORS);
    size_t length = 0;
    for (int i = 0; i < ANCHORS; i++)
        length += (size_t)snprintf(text + length, 16, "- &a%d 1\n", i);
    expect_error_of(text, length, "file.yaml:1025: ", "anchors");
    free(text);
    text = calloc(1, SAP_YAML_MAX_BYTES + 1);
    expect_error_of(text, SAP_YAML_MAX_BYTES + 1, "file.yaml: ", "bytes");
    free(text);
}

Test(yaml_tree, shortens_and_cleans_what_it_quotes) {
    char buffer[SAP_QUOTE_SIZE], text[1001];
    cr_expect_str_eq(sap_quote("ab\033[31m\n", buffer), "'ab?[31m?'");
    cr_expect_str_eq(sap_quote("", buffer), "''");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    sap_quote(text, buffer);
    cr_expect_lt(strlen(buffer), SAP_QUOTE_SIZE);
    cr_expect(strstr(buffer, "...'") != NULL);
    /* Two bytes per letter: none is cut in half, whatever comes before. */
    for (int shift = 0; shift < 2; shift++) {
        for (size_t i = 0; i + 1 < sizeof text - 1; i += 2)
            memcpy(text + i, "\xc3\xa9", 2);
        sap_quote(text + 1000 - 200 - 2 * shift, buffer);
        const char *dots = strstr(buffer, "...");
        cr_assert_not_null(dots);
        cr_expect_eq((dots - buffer - 1) % 2, 0);
    }
}

Test(yaml_tree, keeps_the_end_of_a_long_file_name) {
    char name[2000];
    memset(name, 'd', sizeof name);
    strcpy(name + sizeof name - 10, "/end.yaml");
    SapYamlTree *tree;
    cr_expect_eq(sap_yaml_parse("a: [", 4, name, &tree), SAP_ERROR_PARSE);
    cr_expect(strstr(sap_error_message(), "/end.yaml:1: ") != NULL ||
                  strstr(sap_error_message(), "/end.yaml:2: ") != NULL,
              "%s", sap_error_message());
}
