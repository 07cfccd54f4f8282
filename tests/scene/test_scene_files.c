/* Which files a scene may make the program read: regular files, below the folder of the scene or a root that the caller
 * gives; and what messages show of them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/scene_text.h"

/* ---- a folder: project/scenes/scene.yaml, project/meshes, project/secret ---- */

static char folder[64];

static void make_folder(void) {
    strcpy(folder, "/tmp/sapwood_files_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(scene_files, .init = make_folder, .fini = remove_folder, .timeout = 30);

/* A path in the folder; valid for the next three calls. */
static const char *path_of(const char *name) {
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(path_of(name), "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

static void make(const char *name) {
    cr_assert_eq(mkdir(path_of(name), 0700), 0);
}

/* A scene with a height field in `file`. */
static void write_scene(const char *file) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD BALL FREE "post_build: [{op: add_shape, type: hfield, hx: 1, hy: 1, file: \"%s\"}]\n", file);
    write_file("project/scenes/scene.yaml", text);
}

static void make_project(void) {
    make("project");
    make("project/scenes");
    make("project/scenes/near");
    make("project/meshes");
    write_file("project/scenes/near/hills.txt", "0 1\n2 3\n");
    write_file("project/meshes/hills.txt", "0 1\n2 3\n");
    write_file("secret", "hunter2 is the password\n");
}

static SapStatus load_below(const char *asset_root) {
    SapScene *scene;
    SapStatus status = sap_scene_load_with_root(path_of("project/scenes/scene.yaml"), asset_root, &scene);
    sap_scene_destroy(scene);
    return status;
}

/* ---- places ---- */

Test(scene_files, assets_are_below_the_folder_of_the_scene) {
    static const char *const outside[] = {"../meshes/hills.txt", "near/../../meshes/hills.txt",
                                          "/etc/passwd",         "../../secret",
                                          "near/link.txt",       "near/none.txt"};
    make_project();
    cr_assert_eq(symlink("../../meshes/hills.txt", path_of("project/scenes/near/link.txt")), 0);
    write_scene("near/hills.txt");
    cr_expect_eq(load_below(NULL), SAP_OK, "%s", sap_error_message());
    write_scene("./near/../near/hills.txt");
    cr_expect_eq(load_below(NULL), SAP_OK, "%s", sap_error_message());
    write_scene(path_of("project/scenes/near/hills.txt"));
    cr_expect_eq(load_below(NULL), SAP_OK, "an absolute path may be below it: %s", sap_error_message());
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        write_scene(outside[i]);
        cr_expect_eq(load_below(NULL), SAP_ERROR_IO, "%s", outside[i]);
        cr_expect_not_null(strstr(sap_error_message(), "below the folder of the scene"), "%s", sap_error_message());
        cr_expect_not_null(strstr(sap_error_message(), outside[i]), "%s", sap_error_message());
    }
}

Test(scene_files, a_root_of_the_caller_allows_more) {
    make_project();
    cr_assert_eq(symlink("../../meshes/hills.txt", path_of("project/scenes/near/link.txt")), 0);
    static const char *const inside[] = {"../meshes/hills.txt", "near/link.txt", "near/hills.txt"};
    for (size_t i = 0; i < 3; i++) {
        write_scene(inside[i]);
        cr_expect_eq(load_below(path_of("project")), SAP_OK, "%s", sap_error_message());
        cr_expect_eq(load_below("/"), SAP_OK, "%s", sap_error_message());
    }
    write_scene("../../secret");
    cr_expect_eq(load_below(path_of("project")), SAP_ERROR_IO);
    cr_expect_not_null(strstr(sap_error_message(), "project'"), "%s", sap_error_message());
    cr_expect_eq(load_below(path_of("proj")), SAP_ERROR_IO, "a part of a name is no folder");
    cr_expect_not_null(strstr(sap_error_message(), "must be a folder"), "%s", sap_error_message());
    write_scene("../meshes/hills.txt");
    make("project/mesh");
    cr_expect_eq(load_below(path_of("project/mesh")), SAP_ERROR_IO, "meshes begins with mesh, but is not below it");
}

/* ---- kinds ---- */

static void expect_not_regular(SapStatus status) {
    cr_expect_eq(status, SAP_ERROR_IO);
    cr_expect_not_null(strstr(sap_error_message(), "not a regular file"), "%s", sap_error_message());
}

Test(scene_files, only_regular_files_are_read) {
    SapScene *scene;
    make_project();
    cr_assert_eq(mkfifo(path_of("project/scenes/fifo"), 0600), 0);
    expect_not_regular(sap_scene_load(path_of("project/scenes/fifo"), &scene));
    expect_not_regular(sap_scene_load("/dev/zero", &scene));
    expect_not_regular(sap_scene_load(folder, &scene));
    write_scene("fifo");
    expect_not_regular(load_below(NULL));
    write_scene("near");
    expect_not_regular(load_below(NULL));
}

/* ---- messages ---- */

Test(scene_files, messages_do_not_show_the_content_of_other_files) {
    make_project();
    static const char *const files[] = {"../../secret", "secret.obj", "secret.stl"};
    write_file("project/scenes/secret.obj", "v hunter2 is it\n");
    write_file("project/scenes/secret.stl", "solid x\nhunter2 is the password\n");
    for (size_t i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text, HEAD BALL FREE "post_build: [{op: add_shape, type: %s, file: %s}]\n",
                 i == 0 ? "hfield, hx: 1, hy: 1" : "mesh", files[i]);
        write_file("project/scenes/scene.yaml", text);
        cr_expect_eq(load_below(folder), SAP_ERROR_PARSE, "%s", sap_error_message());
        cr_expect_null(strstr(sap_error_message(), "hunter2"), "%s", sap_error_message());
    }
}

static void expect_printable(const char *text) {
    for (const char *c = text; *c != '\0'; c++)
        cr_expect((unsigned char)*c >= 0x20 && *c != 0x7f, "a control character in: %s", text);
    cr_expect_null(strstr(text, "\xc2\x9b"), "%s", text);
}

Test(scene_files, messages_have_no_control_characters) {
    SapScene *scene;
    SapOptions options;
    cr_expect_eq(sap_scene_load("/tmp/none\033[31m\a\xc2\x9b", &scene), SAP_ERROR_IO);
    expect_printable(sap_error_message());
    cr_expect_not_null(strstr(sap_error_message(), "none?[31m"), "%s", sap_error_message());
    static const char text[] =
        HEAD "bodies: [{id: \"a\\e[2J\"}]\njoints: [{id: \"j\\u009b\", type: \"x\\r\", child: a}]\n";
    cr_expect_neq(sap_scene_parse(text, strlen(text), "na\tme", &scene), SAP_OK);
    expect_printable(sap_error_message());
    cr_expect_eq(sap_options_preset("\033]0;title\a", &options), SAP_ERROR_ARGUMENT);
    expect_printable(sap_error_message());
}
