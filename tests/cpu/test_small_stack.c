/* Threads with a small stack: with less than 128 kB left a call ends with an error that says so, with more it works. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/scene_text.h"

/* Sanitizers put more on the stack. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ENOUGH = 2048 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { ENOUGH = 2048 };
#else
enum { ENOUGH = 160 };
#endif
#else
enum { ENOUGH = 160 };
#endif

enum { WORLDS = 9 };

/* What a thread does with a scene. */
typedef struct Work {
    const char *path, *preset, *solver;
    int lanes;
    SapBatch *batch; /* one that another thread has made; NULL: the thread makes its own */
    SapStatus status;
    char message[256];
} Work;

static SapStatus do_work(Work *w) {
    SapScene *scene = NULL;
    SapStatus status = SAP_OK;
    SapBatch *own = NULL;
    if (w->batch)
        return sap_batch_step(w->batch, 0.005, 5);
    status = sap_scene_load(w->path, &scene);
    if (status == SAP_OK)
        status = sap_options_set(&scene->options, "preset", w->preset);
    if (status == SAP_OK)
        status = sap_options_set(&scene->options, "contact_solver", w->solver);
    if (status == SAP_OK) {
        scene->options.threads = 1;
        scene->options.lanes = w->lanes;
        status = sap_batch_create(scene->model, WORLDS, &scene->options, &own);
    }
    if (status == SAP_OK)
        status = sap_batch_step(own, scene->dt, 20);
    sap_batch_destroy(own);
    sap_scene_destroy(scene);
    return status;
}

static void *work(void *argument) {
    Work *w = argument;
    w->status = do_work(w);
    strncpy(w->message, sap_error_message(), sizeof w->message - 1);
    return NULL;
}

static void run_with_stack(int kilobytes, Work *w) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    cr_assert_eq(pthread_attr_setstacksize(&attributes, (size_t)kilobytes * 1024), 0);
    cr_assert_eq(pthread_create(&thread, &attributes, work, w), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void expect_refusal(int kilobytes, Work w, const char *names) {
    run_with_stack(kilobytes, &w);
    cr_expect_eq(w.status, SAP_ERROR_MEMORY, "%d kB: %s", kilobytes, sap_status_string(w.status));
    cr_expect(strncmp(w.message, names, strlen(names)) == 0 && strstr(w.message, "bytes of stack left"), "%d kB: %s",
              kilobytes, w.message);
}

Test(small_stack, is_refused_by_calls) {
    static const char path[] = SAPWOOD_SOURCE_DIR "/tests/scenes/hulls.yaml";
    SapScene *scene = load(path);
    SapBatch *batch;
    scene->options.threads = 1;
    need(sap_batch_create(scene->model, WORLDS, &scene->options, &batch));
    for (int kilobytes = 48; kilobytes <= 128; kilobytes += 16) {
        expect_refusal(kilobytes, (Work){.path = path, .preset = "drake", .solver = "sap"}, path);
        expect_refusal(kilobytes, (Work){.batch = batch}, "sap_batch_step");
    }
    need(sap_batch_step(batch, 0.005, 5)); /* this thread is unaffected */
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

Test(small_stack, of_160_kB_suffices_for_every_solver) {
    static const char *const scenes[] = {"tests/scenes/hulls", "tests/scenes/linkages", "tests/scenes/ball_on_fields",
                                         "bench/scenes/quadruped"};
    static const char *const solvers[][2] = {{"fast32", "sap"},     {"drake", "sap"},        {"drake", "cone"},
                                             {"drake", "pgs"},      {"drake", "active_set"}, {"mujoco32", "mujoco"},
                                             {"mujoco64", "mujoco"}};
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++)
        for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++)
            for (int lanes = 0; lanes <= 8; lanes += 8) {
                char path[512];
                snprintf(path, sizeof path, "%s/%s.yaml", SAPWOOD_SOURCE_DIR, scenes[s]);
                Work w = {.path = path, .preset = solvers[k][0], .solver = solvers[k][1], .lanes = lanes};
                run_with_stack(ENOUGH, &w);
                bool has = w.status != SAP_ERROR_UNSUPPORTED; /* MuJoCo's law has no distances */
                cr_expect(!has || w.status == SAP_OK, "%s, %s: %s", scenes[s], solvers[k][1], w.message);
            }
}
