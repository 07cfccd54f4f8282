/* Limits are told when a batch is created: memory for all worlds before any of it is allocated, and dofs. */
#include <stdio.h>
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
    scene->options.max_rigid_contact = 65535;
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
    need(sap_batch_create(scene->model, 1000, &scene->options, &batch));
    double per_world = (double)sap_batch_bytes(batch) / 1000;
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

/* A chain of 1025 pendulums. */
Test(limits, too_many_dofs_are_refused_at_creation) {
    enum { JOINTS = 1025 };
    static int32_t type[JOINTS], parent[JOINTS], child[JOINTS];
    static double mass[JOINTS], inertia[9 * JOINTS], axis[3 * JOINTS];
    SapModelArrays a;
    SapModel *model;
    SapBatch *batch;
    sap_model_arrays_default(&a);
    a.num_bodies = a.num_joints = a.num_dofs = a.num_coords = JOINTS;
    for (int i = 0; i < JOINTS; i++) {
        type[i] = SAP_JOINT_REVOLUTE;
        parent[i] = i - 1;
        child[i] = i;
        mass[i] = inertia[9 * i] = inertia[9 * i + 4] = inertia[9 * i + 8] = axis[3 * i] = 1;
    }
    a.joint_type = type, a.joint_parent = parent, a.joint_child = child, a.joint_axis = axis;
    a.body_mass = mass, a.body_inertia = inertia;
    need(sap_model_create(&a, &model));
    cr_expect_eq(sap_batch_create(model, 1, NULL, &batch), SAP_ERROR_UNSUPPORTED);
    cr_expect_not_null(strstr(sap_error_message(), "sap_batch_create: the model has 1025 dofs"), "%s",
                       sap_error_message());
    sap_model_destroy(model);
}
