/* Reference files are not trusted: an array that is longer or shorter than the model requires, a value of another type,
 * a file that is too large or not regular ends `sapwood conform` with a message and status 2. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include <zlib.h>

#include "lab/conform/reference_file.h"
#include "support/reference.h"
#include "support/run_program.h"

TestSuite(conform_file, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* ---- arrays ---- */

/* A case, one output and one contact of a file, with everything else removed. */
static json_t *small_file(void) {
    json_t *root = reference_load("f64/arm3.json.gz"), *cases = json_object_get(root, "cases");
    json_t *one = json_incref(json_array_get(cases, 3)), *outputs = json_object_get(one, "outputs");
    while (json_array_size(outputs) > 1)
        json_array_remove(outputs, 1);
    json_array_clear(cases);
    json_array_append_new(cases, one);
    return root;
}

static int run(const json_t *root) {
    char path[4096];
    snprintf(path, sizeof path, "%s", path_of("hostile.json"));
    cr_assert_eq(json_dump_file(root, path, 0), 0);
    return sapwood("conform --compat %s", path);
}

/* `names`: what the message names; `spoilt`: what was changed. */
static void expect_refused(const json_t *root, const char *names, const char *spoilt) {
    int status = run(root);
    cr_expect_eq(status, 2, "%s %s: exit status %d, %s", names, spoilt, status, err);
    cr_expect(err[0] != '\0' && strstr(err, names) != NULL, "%s %s: %s", names, spoilt, err);
}

/* Changes each list of an object in four ways. */
static void spoil_lists(json_t *root, json_t *object) {
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, key, value) {
        bool unused = strcmp(key, "body0") == 0 || strcmp(key, "body1") == 0;
        if (!json_is_array(value) || unused || strcmp(key, "contacts") == 0 || strcmp(key, "outputs") == 0)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s", key);
        json_t *kept = json_deep_copy(value), *last = json_array_get(kept, json_array_size(kept) - 1);
        json_t *longer = json_deep_copy(kept), *shorter = json_deep_copy(kept);
        for (int i = 0; i < 1000; i++)
            json_array_append(longer, last);
        json_array_remove(shorter, json_array_size(shorter) - 1);
        json_object_set_new(object, name, longer);
        expect_refused(root, "", name);
        json_object_set_new(object, name, shorter);
        expect_refused(root, "", name);
        json_object_set_new(object, name, json_pack("[s]", "text"));
        expect_refused(root, "", name);
        json_object_set_new(object, name, json_pack("{s:[]}", "data"));
        expect_refused(root, "", name);
        json_object_set_new(object, name, kept);
    }
}

Test(conform_file, the_file_that_is_spoilt_below_passes) {
    json_t *root = small_file();
    cr_expect_eq(run(root), 0, "%s%s", out, err);
    json_decref(root);
}

Test(conform_file, every_array_of_the_model_must_have_its_count) {
    json_t *root = small_file();
    spoil_lists(root, json_object_get(root, "model"));
    json_decref(root);
}

Test(conform_file, every_array_of_a_case_must_have_its_count) {
    json_t *root = small_file();
    spoil_lists(root, json_array_get(json_object_get(root, "cases"), 0));
    json_decref(root);
}

Test(conform_file, every_array_of_a_contact_and_of_an_output_must_have_its_count) {
    json_t *root = small_file(), *one = json_array_get(json_object_get(root, "cases"), 0);
    spoil_lists(root, json_array_get(json_object_get(one, "contacts"), 0));
    spoil_lists(root, json_array_get(json_object_get(one, "outputs"), 0));
    json_decref(root);
}

Test(conform_file, numbers_that_size_memory_are_checked) {
    static const json_int_t capacities[] = {-1, 0, 65536, 1ll << 31, 1ll << 40, INT64_MIN};
    json_t *root = small_file(), *model = json_object_get(root, "model");
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        json_object_set_new(root, "max_rigid_contact", json_integer(capacities[i]));
        expect_refused(root, "max_rigid_contact", "");
    }
    json_object_set_new(root, "max_rigid_contact", json_integer(8));
    json_object_set_new(model, "joint_qd_start", json_pack("[iiiI]", 0, 1, 2, (json_int_t)INT32_MAX));
    expect_refused(root, "", "joint_qd_start");
    json_object_set_new(model, "joint_qd_start", json_pack("[iiii]", 0, 1, 2, -3));
    expect_refused(root, "joint_qd_start", "");
    json_object_set_new(model, "joint_qd_start", json_pack("[iiif]", 0, 1, 2, 1e300));
    expect_refused(root, "joint_qd_start", "");
    json_decref(root);
}

Test(conform_file, sections_of_another_type_are_refused) {
    static const char *const texts[] = {
        "[]", "1", "{}", "{\"model\": []}", "{\"model\": {}}", "{\"model\": {\"joint_type\": 3}}", "\"\\u001b[31m\"",
        ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(path_of("other.json"), texts[i]);
        cr_expect_eq(sapwood("conform %s", path_of("other.json")), 2, "%s: %s", texts[i], err);
        cr_expect_null(strchr(err, '\033'), "%s", err);
    }
}

/* ---- files ---- */

Test(conform_file, only_regular_files_are_read) {
    cr_assert_eq(mkfifo(path_of("fifo.json"), 0600), 0);
    cr_expect_eq(sapwood("conform %s", path_of("fifo.json")), 2);
    cr_expect_not_null(strstr(err, "regular file"), "%s", err);
    cr_expect_eq(sapwood("conform /dev/zero"), 2);
    cr_expect_not_null(strstr(err, "regular file"), "%s", err);
    cr_expect_eq(sapwood("conform %s", path_of("")), 2);
    cr_expect_not_null(strstr(err, "regular file"), "%s", err);
}

/* 33 MiB of spaces are 33 kB as gzip. */
Test(conform_file, data_that_grow_too_large_are_refused_before_they_are_parsed) {
    const size_t length = REFERENCE_MAX_TEXT_BYTES + (1 << 20);
    char *spaces = malloc(length), path[4096];
    cr_assert_not_null(spaces);
    memset(spaces, ' ', length);
    snprintf(path, sizeof path, "%s", path_of("bomb.json.gz"));
    gzFile file = gzopen(path, "wb9");
    cr_assert_not_null(file);
    cr_assert_eq(gzwrite(file, spaces, (unsigned)length), (int)length);
    gzclose(file);
    free(spaces);
    cr_expect_eq(sapwood("conform %s", path), 2);
    cr_expect_not_null(strstr(err, "32 MiB"), "%s", err);
}

Test(conform_file, damaged_gzip_data_are_refused) {
    static const unsigned char bytes[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x4c};
    for (size_t length = 0; length <= sizeof bytes; length++)
        cr_expect_null(reference_file_parse(bytes, length, "damaged"));
}
