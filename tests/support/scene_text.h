/* Scenes as texts: parts to put together, and the messages where they are refused. */
#ifndef SAPWOOD_TESTS_SUPPORT_SCENE_TEXT_H
#define SAPWOOD_TESTS_SUPPORT_SCENE_TEXT_H

#include <stddef.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

static inline SapScene *load(const char *path) {
    SapScene *scene;
    SapStatus status = sap_scene_load(path, &scene);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    return scene;
}

static inline SapScene *parse(const char *text) {
    SapScene *scene;
    SapStatus status = sap_scene_parse(text, strlen(text), "scene.yaml", &scene);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    return scene;
}

static inline const SapModelArrays *arrays_of(const SapScene *scene) {
    return sap_model_arrays(scene->model);
}

/* Parts of scenes: a header, one free ball, a revolute and a prismatic joint in a row. */
#define HEAD "schema_version: 1\n"
#define BALL "bodies: [{id: ball, shapes: [{type: sphere, radius: 0.1}]}]\n"
#define FREE "joints: [{id: ball_free, type: free, parent: world, child: ball}]\n"
#define CHAIN                                                                                                          \
    HEAD "bodies:\n"                                                                                                   \
         "- {id: a, shapes: [{type: sphere, radius: 0.1}]}\n"                                                          \
         "- {id: b, shapes: [{type: sphere, radius: 0.1}, {type: box, hx: 0.1, hy: 0.1, hz: 0.1}]}\n"                  \
         "- {id: c, shapes: [{type: sphere, radius: 0.1}], transform: {p: [1, 2, 3]}}\n"                               \
         "joints:\n"                                                                                                   \
         "- {id: turn, label: arm/turn, type: revolute, parent: world, child: a, axis: z}\n"                           \
         "- {id: push, label: arm/push, type: prismatic, parent: a, child: b, axis: x}\n"                              \
         "- {id: fly, type: free, parent: world, child: c}\n"

/* ---- refusals ---- */

typedef struct Failure {
    const char *text;
    const char *start;    /* of the message, with the line */
    const char *parts[3]; /* found in it: the key, the value, what is allowed */
} Failure;

static inline void expect_failures_with(SapStatus expected, const Failure *failures, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const Failure *failure = &failures[i];
        SapScene *scene = (SapScene *)&scene;
        SapStatus status = sap_scene_parse(failure->text, strlen(failure->text), "scene.yaml", &scene);
        const char *message = sap_error_message();
        cr_expect_eq(status, expected, "%s\n%s: %s", failure->text, sap_status_string(status), message);
        cr_expect_null(scene);
        if (status == SAP_OK) {
            sap_scene_destroy(scene);
            continue;
        }
        cr_expect(strncmp(message, failure->start, strlen(failure->start)) == 0, "%s\n'%s' does not begin with '%s'",
                  failure->text, message, failure->start);
        for (int k = 0; k < 3 && failure->parts[k] != NULL; k++)
            cr_expect(strstr(message, failure->parts[k]) != NULL, "%s\n'%s' does not have '%s'", failure->text, message,
                      failure->parts[k]);
    }
}

#define EXPECT_FAILURES(...)                                                                                           \
    expect_failures_with(SAP_ERROR_PARSE, (const Failure[]){__VA_ARGS__},                                              \
                         sizeof((const Failure[]){__VA_ARGS__}) / sizeof(Failure))
#define EXPECT_UNSUPPORTED(...)                                                                                        \
    expect_failures_with(SAP_ERROR_UNSUPPORTED, (const Failure[]){__VA_ARGS__},                                        \
                         sizeof((const Failure[]){__VA_ARGS__}) / sizeof(Failure))

#endif
