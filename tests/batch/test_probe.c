/* The number of contact slots that a batch chooses: enough for its worlds, few, and the same for every batch. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/scene_batch.h"
#include "support/shape_model.h"

static int capacity_of(const SapModel *model, int worlds, const SapOptions *options) {
    SapBatch *batch;
    SapBatchInfo info;
    need(sap_batch_create(model, worlds, options, &batch));
    need(sap_batch_info(batch, &info));
    sap_batch_destroy(batch);
    return info.capacity;
}

static int probed(const SapModel *model, const SapOptions *options) {
    int slots;
    need(sap_batch_probe_contacts(model, options, &slots));
    return slots;
}

Test(probe, chooses_the_slots_of_a_batch_that_leaves_them_open) {
    SapScene *scene = load("quadruped");
    scene->options.max_contacts = 0;
    int slots = probed(scene->model, &scene->options);
    cr_expect(slots >= 8 && slots <= 32, "%d", slots);
    cr_expect_eq(capacity_of(scene->model, 1, &scene->options), slots);
    cr_expect_eq(capacity_of(scene->model, 100, &scene->options), slots);
    scene->options.max_contacts = 23;
    cr_expect_eq(capacity_of(scene->model, 1, &scene->options), 23, "a number that is given stays");
    sap_scene_destroy(scene);
}

/* Worlds that move drop nothing, and have the bits of worlds with ample slots. */
Test(probe, leaves_room_for_every_contact) {
    static const char *const names[] = {"quadruped", "humanoid", "gripper", "stack5", "cube"};
    enum { WORLDS = 8, STEPS = 200 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        SapScene *scene = load(names[i]);
        const SapModelArrays *a = sap_model_arrays(scene->model);
        SapBatch *batch[2];
        for (int k = 0; k < 2; k++) {
            scene->options.max_contacts = k ? 200 : 0;
            batch[k] = create(scene, WORLDS, &scene->options);
            for (int w = 0; w < WORLDS; w++)
                set_content(batch[k], a, w, w);
            for (int step = 0; step < STEPS; step++) {
                need(sap_batch_step(batch[k], scene->dt, 1));
                for (int w = 0; w < WORLDS; w++)
                    cr_assert_eq(sap_batch_contacts(batch[k])->dropped[w], 0, "%s, step %d", names[i], step);
            }
        }
        const SapState *one = sap_batch_state(batch[0]), *two = sap_batch_state(batch[1]);
        size_t width = one->dtype == SAP_F64 ? sizeof(double) : sizeof(float);
        cr_expect_eq(memcmp(one->joint_q, two->joint_q, WORLDS * (size_t)a->num_coords * width), 0, "%s", names[i]);
        sap_batch_destroy(batch[0]);
        sap_batch_destroy(batch[1]);
        sap_scene_destroy(scene);
    }
}

Test(probe, gives_a_model_no_more_slots_than_its_shapes_can_use) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, shape_model_body(&m, 0, 0, 1), SAP_SHAPE_SPHERE, 0.1, 0, 0);
    SapModel *model = shape_model_create(&m);
    cr_expect_eq(probed(model, NULL), 1, "a sphere alone touches nothing");
    sap_model_destroy(model);
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    model = shape_model_create(&m);
    cr_expect_eq(probed(model, NULL), 1, "a sphere touches a plane at one point");
    sap_model_destroy(model);
}

Test(probe, is_left_out_for_a_large_model) {
    ShapeModel m;
    shape_model_init(&m);
    shape_model_shape(&m, -1, SAP_SHAPE_PLANE, 0, 0, 0);
    for (int i = 0; i < SHAPE_MODEL_BODIES; i++) /* 192 dofs */
        shape_model_shape(&m, shape_model_body(&m, i, 0, 1), SAP_SHAPE_BOX, 0.1, 0.1, 0.1);
    SapModel *model = shape_model_create(&m);
    cr_expect_eq(probed(model, NULL), SAP_DEFAULT_CONTACTS);
    sap_model_destroy(model);
}

Test(probe, refuses_bad_arguments) {
    SapScene *scene = load("cube");
    int slots = 7;
    cr_expect_eq(sap_batch_probe_contacts(NULL, NULL, &slots), SAP_ERROR_ARGUMENT);
    cr_expect_eq(slots, 0);
    cr_expect_eq(sap_batch_probe_contacts(scene->model, NULL, NULL), SAP_ERROR_ARGUMENT);
    scene->options.max_iterations = -2;
    cr_expect_eq(sap_batch_probe_contacts(scene->model, &scene->options, &slots), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), "max_iterations"), "%s", sap_error_message());
    sap_scene_destroy(scene);
}

Test(probe, is_not_asked_by_a_solver_without_a_batch) {
    SapScene *scene = load("quadruped");
    SapSolver *solver;
    SapContacts *contacts;
    SapState *state;
    scene->options.max_contacts = 0;
    need(sap_solver_create(scene->model, 1, &scene->options, &solver));
    need(sap_state_create(scene->model, 1, SAP_F32, &state));
    need(sap_contacts_create(1, SAP_DEFAULT_CONTACTS, SAP_F32, &contacts));
    cr_expect_eq(sap_collide(solver, state, contacts), SAP_OK, "%s", sap_error_message());
    sap_contacts_destroy(contacts);
    sap_state_destroy(state);
    sap_solver_destroy(solver);
    sap_scene_destroy(scene);
}
