/* The guard: a dump of any world repeats its last call bit for bit, with any number of threads, lanes and copies; it
 * holds the parameters and options of the world; what is not a whole dump of this version is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/base/records.h"
#include "host/model/model.h"
#include "support/need.h"
#include "support/sample_model.h"

enum { WORLDS = 5, CALLS = 3, NV = 18, NQ = 19 };

static const char *path(void) {
    static char text[64];
    snprintf(text, sizeof text, "/tmp/sapwood_guard_%d.dump", (int)getpid());
    return text;
}

static SapScene *quadruped(void) {
    SapScene *scene = NULL;
    need(sap_scene_load(SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml", &scene));
    return scene;
}

/* Worlds that differ in velocity, mass and target, after some steps. */
static SapBatch *moving_batch(const SapScene *scene, const SapOptions *options, SapDtype dtype, int guard) {
    SapBatch *batch = NULL;
    SapArray mass, target, velocity;
    need(sap_batch_create_as(scene->model, WORLDS, options, dtype, &batch));
    need(sap_batch_guard(batch, guard));
    need(sap_batch_expand(batch, SAP_PARAMETER_BODY_MASS, &mass));
    need(sap_batch_array(batch, SAP_BATCH_JOINT_TARGET_POS, &target));
    need(sap_batch_array(batch, SAP_BATCH_JOINT_QD, &velocity));
    for (int w = 0; w < WORLDS; w++) {
        ((double *)mass.data)[w * mass.shape[1]] *= 1 + 0.1 * w;
        for (int i = 0; i < NV; i++)
            if (dtype == SAP_F64)
                ((double *)velocity.data)[w * NV + i] += 0.05 * w;
            else
                ((float *)velocity.data)[w * NV + i] += 0.05f * (float)w;
    }
    need(sap_batch_step(batch, scene->dt, 4));
    return batch;
}

/* Compares an array of world w of a with all worlds of b. */
static void expect_same(SapBatch *a, int w, SapBatch *b, SapBatchField field) {
    SapArray x, y;
    need(sap_batch_array(a, field, &x));
    need(sap_batch_array(b, field, &y));
    for (int v = 0; v < y.shape[0]; v++)
        cr_expect_eq(memcmp((char *)x.data + w * x.strides[0], (char *)y.data + v * y.strides[0], (size_t)x.strides[0]),
                     0, "%s of copy %d", sap_batch_field_names()[field], v);
}

static void expect_repeats(SapBatch *batch, int w, const SapDump *dump, int copies, const SapOptions *options) {
    static const SapBatchField fields[] = {SAP_BATCH_JOINT_Q,  SAP_BATCH_JOINT_QD,     SAP_BATCH_STATUS,
                                           SAP_BATCH_COST,     SAP_BATCH_ITERATIONS,   SAP_BATCH_LINE_ITERATIONS,
                                           SAP_BATCH_RESIDUAL, SAP_BATCH_CONTACT_COUNT};
    int last = dump->num_calls - 1;
    SapBatch *again = NULL;
    need(sap_dump_batch(dump, last, copies, options, &again));
    need(sap_batch_step(again, dump->calls[last].h, dump->calls[last].num_steps));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        expect_same(batch, w, again, fields[i]);
    sap_batch_destroy(again);
}

Test(guard, a_dump_repeats_the_last_call_with_any_threads_lanes_and_copies) {
    for (int dtype = SAP_F32; dtype <= SAP_F64; dtype++) {
        SapScene *scene = quadruped();
        SapOptions o = scene->options;
        o.threads = 2;
        SapBatch *batch = moving_batch(scene, &o, (SapDtype)dtype, CALLS);
        need(sap_batch_step(batch, scene->dt, 3));
        for (int w = 0; w < WORLDS; w += 2) {
            SapDump *dump = NULL;
            need(sap_batch_dump(batch, w, path()));
            need(sap_dump_load(path(), &dump));
            cr_expect(dump->world == w && dump->num_worlds == WORLDS && dump->num_calls == 2);
            cr_expect(dump->calls[0].num_steps == 4 && dump->calls[1].num_steps == 3 && dump->calls[1].h == scene->dt);
            cr_expect_null(sap_model_difference(dump->model, scene->model));
            for (int lanes = 1; lanes <= 8; lanes *= 2) {
                o.lanes = lanes == 2 ? 0 : lanes;
                o.threads = lanes == 1 ? 1 : 3;
                expect_repeats(batch, w, dump, lanes == 4 ? 9 : 1, &o);
            }
            expect_repeats(batch, w, dump, 1, NULL);
            sap_dump_destroy(dump);
        }
        sap_batch_destroy(batch);
        sap_scene_destroy(scene);
    }
    remove(path());
}

/* A NaN in one world: the dump has it, and its history from before. */
Test(guard, a_world_with_a_nan_is_repeated_with_its_status) {
    SapScene *scene = quadruped();
    SapBatch *batch = moving_batch(scene, &scene->options, SAP_F32, CALLS);
    SapDump *dump = NULL;
    need(sap_batch_step(batch, scene->dt, 1));
    ((float *)sap_batch_state(batch)->joint_q)[3 * NQ + 8] = NAN;
    need(sap_batch_step(batch, scene->dt, 2));
    need(sap_batch_dump(batch, 3, path()));
    need(sap_dump_load(path(), &dump));
    cr_assert_eq(dump->num_calls, CALLS);
    cr_expect_eq(dump->calls[CALLS - 1].status, SAP_WORLD_NONFINITE_STATE);
    cr_expect_eq(dump->calls[CALLS - 2].status & SAP_WORLD_FAILED, 0u);
    const float *q = dump->inputs.joint_q;
    cr_expect(isnan(q[(CALLS - 1) * NQ + 8]) && isfinite(q[(CALLS - 2) * NQ + 8]));
    expect_repeats(batch, 3, dump, 4, NULL);
    sap_dump_destroy(dump);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    remove(path());
}

/* The result of a call is the input of the next, which the guard has kept, in a ring. */
Test(guard, the_kept_calls_follow_each_other) {
    SapScene *scene = quadruped();
    SapBatch *batch = moving_batch(scene, &scene->options, SAP_F64, CALLS);
    SapDump *dump = NULL;
    for (int i = 0; i < 2 * CALLS + 1; i++)
        need(sap_batch_step(batch, scene->dt, 1 + i));
    need(sap_batch_dump(batch, 2, path()));
    need(sap_dump_load(path(), &dump));
    cr_assert_eq(dump->num_calls, CALLS);
    for (int k = 0; k < CALLS; k++) {
        SapBatch *again = NULL;
        cr_expect_eq(dump->calls[k].num_steps, CALLS + 2 + k);
        need(sap_dump_batch(dump, k, 1, NULL, &again));
        need(sap_batch_step(again, dump->calls[k].h, dump->calls[k].num_steps));
        const double *next =
            k + 1 < CALLS ? (const double *)dump->inputs.joint_q + (k + 1) * NQ : dump->results.joint_q;
        cr_expect_eq(memcmp(sap_batch_state(again)->joint_q, next, NQ * sizeof *next), 0, "after call %d", k);
        cr_expect_eq(sap_solver_world_status(sap_batch_solver(again))[0], dump->calls[k].status);
        sap_batch_destroy(again);
    }
    sap_dump_destroy(dump);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    remove(path());
}

/* Inputs that are zero are not copied: a place of the ring must not show what an earlier call left in it. */
Test(guard, an_input_that_is_zero_again_is_kept_as_zero) {
    SapScene *scene = quadruped();
    SapBatch *batch = moving_batch(scene, &scene->options, SAP_F64, CALLS);
    double *force = (double *)sap_batch_control(batch)->joint_f + NV;
    for (int round = 0; round < 2; round++) {
        SapDump *dump = NULL;
        for (int k = 0; k < CALLS; k++) {
            force[2] = round == 0 ? k + 1 : 0;
            force[7] = k == 1 ? -0.0 : 0;
            need(sap_batch_step(batch, scene->dt, 1));
        }
        need(sap_batch_dump(batch, 1, path()));
        need(sap_dump_load(path(), &dump));
        const double *kept = dump->controls.joint_f;
        for (int k = 0; k < CALLS; k++) {
            cr_expect_eq(kept[k * NV + 2], round == 0 ? k + 1 : 0, "round %d, call %d", round, k);
            cr_expect_eq(!!signbit(kept[k * NV + 7]), k == 1, "the sign of a zero, round %d, call %d", round, k);
        }
        sap_dump_destroy(dump);
    }
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    remove(path());
}

/* Every array of a model, hulls, height fields, keyframes and names too, survives. */
Test(guard, a_model_and_all_options_are_the_same_after_a_dump) {
    static const char *const scenes[] = {"tests/scenes/hulls.yaml", "tests/scenes/ball_on_field.yaml",
                                         "bench/scenes/humanoid.yaml"};
    for (int i = 0; i < 3; i++) {
        char file[512];
        SapScene *scene = NULL;
        SapBatch *batch = NULL;
        SapDump *dump = NULL;
        snprintf(file, sizeof file, "%s/%s", SAPWOOD_SOURCE_DIR, scenes[i]);
        need(sap_scene_load(file, &scene));
        scene->options.friction_regularization = 0.1 / 3;
        scene->options.max_joint_speed = 1e5 / 3;
        need(sap_batch_create(scene->model, 2, &scene->options, &batch));
        need(sap_batch_guard(batch, 1));
        need(sap_batch_step(batch, scene->dt, 1));
        need(sap_batch_dump(batch, 1, path()));
        need(sap_dump_load(path(), &dump));
        cr_expect_null(sap_model_difference(dump->model, scene->model), "%s", scenes[i]);
        for (const char *const *name = sap_options_names(); *name; name++) {
            char before[64], after[64];
            need(sap_options_get(&scene->options, *name, before, sizeof before));
            need(sap_options_get(&dump->options, *name, after, sizeof after));
            cr_expect(strcmp(before, after) == 0 || strcmp(*name, "max_contacts") == 0, "%s", *name);
        }
        sap_dump_destroy(dump);
        sap_batch_destroy(batch);
        sap_scene_destroy(scene);
    }
    remove(path());
}

/* Constraints that are switched off, tendons that are driven. */
Test(guard, the_control_of_constraints_and_tendons_is_repeated) {
    SapScene *scene = NULL;
    SapBatch *batch = NULL;
    SapDump *dump = NULL;
    SapArray active, force;
    need(sap_scene_load(SAPWOOD_SOURCE_DIR "/tests/scenes/linkages.yaml", &scene));
    need(sap_batch_create_as(scene->model, WORLDS, &scene->options, SAP_F64, &batch));
    need(sap_batch_guard(batch, CALLS));
    need(sap_batch_array(batch, SAP_BATCH_CONSTRAINT_ACTIVE, &active));
    need(sap_batch_array(batch, SAP_BATCH_TENDON_F, &force));
    cr_assert(active.shape[1] > 0 && force.shape[1] > 0);
    ((int32_t *)active.data)[2 * active.shape[1]] = 0;
    ((double *)force.data)[2 * force.shape[1]] = 0.25;
    need(sap_batch_step(batch, scene->dt, 5));
    need(sap_batch_step(batch, scene->dt, 5));
    need(sap_batch_dump(batch, 2, path()));
    need(sap_dump_load(path(), &dump));
    cr_expect_null(sap_model_difference(dump->model, scene->model));
    cr_expect_eq(((const int32_t *)dump->controls.constraint_active)[active.shape[1]], 0);
    cr_expect_eq(((const double *)dump->controls.tendon_f)[force.shape[1]], 0.25);
    expect_repeats(batch, 2, dump, 3, NULL);
    sap_dump_destroy(dump);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    remove(path());
}

/* ---- arguments ---- */

static void refuses(SapStatus status, SapStatus expected, const char *words) {
    cr_expect_eq(status, expected, "status %d: %s", (int)status, sap_error_message());
    cr_expect(strstr(sap_error_message(), words) != NULL, "the message is: %s", sap_error_message());
}

/* Steps that start from the last one, and worlds that rest, have a memory which a dump does not hold. */
Test(guard, refuses_steps_with_a_memory) {
    SapScene *scene = quadruped();
    for (int k = 0; k < 2; k++) {
        SapOptions o = scene->options;
        SapBatch *batch = NULL;
        o.contact_solver = SAP_SOLVER_CONE;
        o.warm_start = k == 0;
        o.sleep_steps = 10 * k;
        need(sap_batch_create(scene->model, 1, &o, &batch));
        cr_expect_eq(sap_batch_guard(batch, 2), SAP_ERROR_UNSUPPORTED);
        cr_expect(strstr(sap_error_message(), k ? "sleep_steps" : "warm_start"), "%s", sap_error_message());
        sap_batch_destroy(batch);
    }
    sap_scene_destroy(scene);
}

Test(guard, refuses_bad_arguments) {
    SapScene *scene = quadruped();
    SapBatch *batch = NULL;
    SapDump *dump = NULL;
    need(sap_batch_create(scene->model, WORLDS, &scene->options, &batch));
    refuses(sap_batch_guard(NULL, 3), SAP_ERROR_ARGUMENT, "batch");
    refuses(sap_batch_guard(batch, 0), SAP_ERROR_ARGUMENT, "calls is 0; it must be in 1 .. 1024");
    refuses(sap_batch_guard(batch, 1025), SAP_ERROR_ARGUMENT, "calls is 1025");
    refuses(sap_batch_dump(batch, 0, path()), SAP_ERROR_ARGUMENT, "has no guard");
    need(sap_batch_guard(batch, 3));
    need(sap_batch_guard(batch, 3));
    refuses(sap_batch_guard(batch, 4), SAP_ERROR_ARGUMENT, "a guard of 3 already");
    refuses(sap_batch_dump(batch, 0, path()), SAP_ERROR_ARGUMENT, "there was no step");
    need(sap_batch_step(batch, scene->dt, 1));
    refuses(sap_batch_dump(batch, WORLDS, path()), SAP_ERROR_ARGUMENT, "world is 5; it must be in 0 .. 4");
    refuses(sap_batch_dump(batch, -1, path()), SAP_ERROR_ARGUMENT, "world is -1; it must be in 0 .. 4");
    refuses(sap_batch_dump(batch, 0, NULL), SAP_ERROR_ARGUMENT, "path");
    refuses(sap_batch_dump(batch, 0, "/no/such/folder/x"), SAP_ERROR_IO, "cannot be created");
    refuses(sap_batch_dump(batch, 0, "/dev/null"), SAP_ERROR_IO, "not a regular file");
    cr_expect_neq(access(path(), F_OK), 0, "a dump that failed left a file");
    need(sap_batch_dump(batch, 0, path()));
    need(sap_dump_load(path(), &dump));
    SapBatch *again = NULL;
    refuses(sap_dump_batch(dump, 1, 1, NULL, &again), SAP_ERROR_ARGUMENT, "call is 1; it must be in 0 .. 0");
    refuses(sap_dump_batch(dump, 0, 0, NULL, &again), SAP_ERROR_ARGUMENT, "num_worlds is 0");
    sap_dump_destroy(dump);
    refuses(sap_dump_load("/no/such/file", &dump), SAP_ERROR_IO, "cannot be opened");
    refuses(sap_dump_load("/dev/zero", &dump), SAP_ERROR_IO, "not a regular file");
    refuses(sap_dump_load(SAPWOOD_SOURCE_DIR "/README.md", &dump), SAP_ERROR_PARSE, "not a file of records");
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    remove(path());
}

/* ---- files ---- */

typedef struct Bytes {
    char *data;
    size_t size;
} Bytes;

static Bytes dump_bytes(void) {
    SapScene *scene = quadruped();
    SapBatch *batch = moving_batch(scene, &scene->options, SAP_F32, CALLS);
    need(sap_batch_dump(batch, 1, path()));
    FILE *file = fopen(path(), "rb");
    Bytes b = {malloc(1 << 20), 0};
    b.size = fread(b.data, 1, 1 << 20, file);
    fclose(file);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    remove(path());
    return b;
}

/* The place of a text in the file. */
static char *find(const Bytes *b, const char *text) {
    char *at = memmem(b->data, b->size, text, strlen(text));
    cr_assert_not_null(at, "%s", text);
    return at;
}

Test(guard, a_dump_of_another_version_is_refused_with_both) {
    Bytes b = dump_bytes();
    SapDump *dump = NULL;
    memcpy(find(&b, sap_version()), "9.8.7", 5);
    refuses(sap_dump_parse(b.data, b.size, "x.dump", &dump), SAP_ERROR_UNSUPPORTED, "9.8.7");
    refuses(sap_dump_parse(b.data, b.size, "x.dump", &dump), SAP_ERROR_UNSUPPORTED, sap_version());
    free(b.data);
}

/* Its lines of options come from a file: a value that is not one is not taken. */
Test(guard, a_dump_with_a_bad_option_is_refused_by_name) {
    static const char *const changes[][3] = {
        {"threads=0", "threads=x", "threads is 'x'"},
        {"optimality_rel_tol=1e-06", "optimality_rel_tol=-1e-6", "optimality_rel_tol"},
        {"max_contacts_per_pair=4", "max_contacts_per_pair=9", "max_contacts_per_pair is '9'"},
        {"friction_law=convex", "friction_low=convex", "it must be friction_law="},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        Bytes b = dump_bytes();
        SapDump *dump = NULL;
        memcpy(find(&b, changes[i][0]), changes[i][1], strlen(changes[i][0]));
        cr_expect_neq(sap_dump_parse(b.data, b.size, "x.dump", &dump), SAP_OK, "%s", changes[i][1]);
        cr_expect_null(dump);
        cr_expect(strstr(sap_error_message(), changes[i][2]) != NULL, "the message is: %s", sap_error_message());
        free(b.data);
    }
}

Test(guard, a_dump_that_ends_early_is_refused) {
    Bytes b = dump_bytes();
    for (size_t size = 0; size < b.size; size += 1 + size / 97) {
        SapDump *dump = NULL;
        SapStatus status = sap_dump_parse(b.data, size, "x.dump", &dump);
        cr_assert(status != SAP_OK && dump == NULL, "%zu of %zu bytes are accepted", size, b.size);
    }
    free(b.data);
}

/* Each record loses an element, gets another type, is renamed. */
Test(guard, a_record_with_another_count_type_or_name_is_refused) {
    Bytes b = dump_bytes();
    int records = 0;
    for (size_t at = 16; at < b.size; records++) {
        char name[48];
        uint32_t type;
        uint64_t count;
        memcpy(name, b.data + at, 48);
        memcpy(&type, b.data + at + 48, 4);
        memcpy(&count, b.data + at + 56, 8);
        size_t bytes = (size_t)count * (type == SAP_RECORD_F64 ? 8 : type == SAP_RECORD_TEXT ? 1 : 4);
        for (int change = 0; change < 4; change++) {
            char header[64];
            SapDump *dump = NULL;
            memcpy(header, b.data + at, 64);
            uint64_t other = change == 0 ? UINT64_MAX / 8 : change == 1 ? count + 1000000 : count;
            uint32_t kind = change == 2 ? (type + 1) % 5 : type;
            memcpy(b.data + at + 56, &other, 8);
            memcpy(b.data + at + 48, &kind, 4);
            if (change == 3)
                b.data[at] ^= 1;
            cr_expect_neq(sap_dump_parse(b.data, b.size, "x.dump", &dump), SAP_OK, "record %s, change %d", name,
                          change);
            sap_dump_destroy(dump);
            memcpy(b.data + at, header, 64);
        }
        at += 64 + (bytes + 7) / 8 * 8;
    }
    cr_expect(records > 60, "%d records", records);
    SapDump *dump = NULL;
    need(sap_dump_parse(b.data, b.size, "x.dump", &dump));
    sap_dump_destroy(dump);
    free(b.data);
}

/* One byte after the other: an error, or a dump whose world can be stepped. */
Test(guard, a_dump_with_a_changed_byte_is_an_error_or_a_dump) {
    Bytes b = dump_bytes();
    uint32_t random = 1;
    for (int i = 0; i < 3000; i++) {
        random = random * 1664525u + 1013904223u;
        size_t at = (size_t)(random >> 4) % b.size;
        char kept = b.data[at];
        SapDump *dump = NULL;
        b.data[at] = (char)(kept ^ (1 << (random & 7)));
        if (sap_dump_parse(b.data, b.size, "x.dump", &dump) == SAP_OK && i % 50 == 0) {
            SapBatch *batch = NULL;
            if (sap_dump_batch(dump, 0, 1, NULL, &batch) == SAP_OK)
                need(sap_batch_step(batch, dump->calls[0].h, 1));
            sap_batch_destroy(batch);
        }
        sap_dump_destroy(dump);
        b.data[at] = kept;
    }
    free(b.data);
}
