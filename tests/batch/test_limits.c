/* Limits are told when a batch is created: memory for all worlds before any of it is allocated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/base/memory.h"
#include "support/need.h"
#include "support/scene_batch.h"

/* Memory of this process in use, in bytes. */
static double resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return 4096.0 * (double)pages;
}

Test(limits, available_memory_is_known) {
    size_t bytes = sap_available_memory();
    cr_expect_gt(bytes, 1 << 20);
    cr_expect_lt(bytes, (size_t)1 << 50, "%zu", bytes);
}

Test(limits, too_many_worlds_are_refused_before_memory_is_used) {
    SapScene *scene = load("humanoid");
    SapBatch *batch;
    SapSolver *solver;
    double before = resident();
    cr_expect_eq(sap_batch_create(scene->model, 1 << 28, &scene->options, &batch), SAP_ERROR_MEMORY);
    cr_expect_null(batch);
    const char *says = sap_error_message();
    cr_expect(strncmp(says, "sap_batch_create: num_worlds is 268435456; ", 43) == 0 &&
                  strstr(says, "available, enough for"),
              "%s", says);
    cr_expect_eq(sap_batch_create_as(scene->model, INT32_MAX, NULL, SAP_F64, &batch), SAP_ERROR_MEMORY);
    cr_expect_eq(strncmp(sap_error_message(), "sap_batch_create_as: ", 21), 0, "%s", sap_error_message());
    scene->options.max_contacts = 65535;
    scene->options.threads = 1024;
    cr_expect_eq(sap_solver_create(scene->model, INT32_MAX, &scene->options, &solver), SAP_ERROR_MEMORY);
    cr_expect_eq(strncmp(sap_error_message(), "sap_solver_create: ", 19), 0, "%s", sap_error_message());
    cr_expect_lt(resident() - before, 64e6);
    sap_scene_destroy(scene);
}

/* The number that the message gives is the largest that fits, within the memory that others take meanwhile. */
Test(limits, as_many_worlds_as_the_message_says_would_fit) {
    SapScene *scene = load("quadruped");
    SapBatch *batch;
    double fits;
    cr_assert_eq(sap_batch_create(scene->model, 1 << 28, &scene->options, &batch), SAP_ERROR_MEMORY);
    const char *says = strstr(sap_error_message(), "enough for ");
    cr_assert(says && sscanf(says, "enough for %lf worlds", &fits) == 1, "%s", sap_error_message());
    need(sap_batch_create(scene->model, 10000, &scene->options, &batch));
    double per_world = (double)sap_batch_bytes(batch) / 10000;
    sap_batch_destroy(batch);
    cr_expect_lt(fits * per_world, 2 * (double)sap_available_memory(), "%g worlds of %g bytes", fits, per_world);
    cr_expect_gt(fits * per_world, 0.1 * (double)sap_available_memory(), "%g worlds of %g bytes", fits, per_world);
    sap_scene_destroy(scene);
}

Test(limits, other_large_requests_are_refused_too) {
    SapScene *scene = load("humanoid");
    SapState *state;
    SapControl *control;
    SapContacts *contacts;
    double before = resident();
    cr_expect_eq(sap_state_create(scene->model, INT32_MAX, SAP_F64, &state), SAP_ERROR_MEMORY);
    cr_expect_eq(sap_control_create(scene->model, INT32_MAX, SAP_F64, &control), SAP_ERROR_MEMORY);
    cr_expect_eq(sap_contacts_create(INT32_MAX, 65535, SAP_F64, &contacts), SAP_ERROR_MEMORY);
    cr_expect_lt(resident() - before, 64e6);
    sap_scene_destroy(scene);
}

/* ---- large worlds ---- */

/* Balls on a row of columns, `height` in each, with a gap of -1 mm: each presses on the one below. */
static SapModel *columns_of_balls(int count, int height) {
    int32_t *type = calloc((size_t)count, sizeof *type), *parent = calloc((size_t)count, sizeof *parent),
            *child = calloc((size_t)count, sizeof *child), *shape_type = calloc((size_t)count + 1, sizeof *shape_type),
            *shape_body = calloc((size_t)count + 1, sizeof *shape_body);
    double *mass = calloc((size_t)count, sizeof *mass), *inertia = calloc(9 * (size_t)count, sizeof *inertia),
           *q = calloc(7 * (size_t)count, sizeof *q), *scale = calloc(3 * ((size_t)count + 1), sizeof *scale);
    for (int i = 0; i < count; i++) {
        type[i] = SAP_JOINT_FREE, parent[i] = -1, child[i] = i;
        mass[i] = 1, inertia[9 * i] = inertia[9 * i + 4] = inertia[9 * i + 8] = 1e-3;
        q[7 * i] = i / height, q[7 * i + 2] = 0.049 + 0.099 * (i % height), q[7 * i + 6] = 1;
        shape_type[i + 1] = SAP_SHAPE_SPHERE, shape_body[i + 1] = i, scale[3 * (i + 1)] = 0.05;
    }
    shape_type[0] = SAP_SHAPE_PLANE, shape_body[0] = -1;
    SapModelArrays a;
    SapModel *model;
    sap_model_arrays_default(&a);
    a.num_bodies = a.num_joints = count, a.num_dofs = 6 * count, a.num_coords = 7 * count, a.num_shapes = count + 1;
    a.joint_type = type, a.joint_parent = parent, a.joint_child = child, a.joint_q = q;
    a.body_mass = mass, a.body_inertia = inertia;
    a.shape_type = shape_type, a.shape_body = shape_body, a.shape_scale = scale;
    need(sap_model_create(&a, &model));
    void *const all[] = {type, parent, child, shape_type, shape_body, mass, inertia, q, scale};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return model;
}

/* 1,200 dofs with contacts between bodies; every column of four is the same, so its bodies move alike. */
Test(limits, more_than_1024_dofs_step_with_contacts) {
    enum { BALLS = 200, HEIGHT = 4 };
    SapModel *model = columns_of_balls(BALLS, HEIGHT);
    SapOptions options;
    SapBatch *batch;
    need(sap_options_preset("drake", &options));
    options.max_contacts = 2 * BALLS;
    need(sap_batch_create_as(model, 2, &options, SAP_F64, &batch));
    need(sap_batch_step(batch, 0.005, 3));
    const SapState *state = sap_batch_state(batch);
    for (int w = 0; w < 2; w++)
        cr_expect_eq(sap_solver_world_status(sap_batch_solver(batch))[w] & SAP_WORLD_FAILED, 0);
    const double *qd = state->joint_qd;
    for (int i = HEIGHT; i < BALLS; i++)
        cr_assert_float_eq(qd[6 * i + 2], qd[6 * (i % HEIGHT) + 2], 1e-9, "ball %d", i);
    cr_expect_gt(fabs(qd[2]), 1e-6, "the balls press on each other");
    sap_batch_destroy(batch);
    sap_model_destroy(model);
}

/* Large worlds take smaller packs by themselves, and an error where they were asked for more than there is. */
Test(limits, scratch_that_does_not_fit_is_refused_with_its_size) {
    SapModel *model = columns_of_balls(5000, 1);
    SapOptions options;
    SapBatch *batch;
    double before = resident();
    need(sap_options_preset("drake", &options));
    options.max_contacts = 10000;
    options.lanes = 8;
    options.threads = 256;
    cr_expect_eq(sap_batch_create(model, 4096, &options, &batch), SAP_ERROR_MEMORY);
    cr_expect(strstr(sap_error_message(), "the scratch of 256 threads") != NULL, "%s", sap_error_message());
    cr_expect_lt(resident() - before, 256e6);
    sap_model_destroy(model);
}
