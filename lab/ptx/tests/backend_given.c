/* A batch on the GPU that steps with contacts of the caller has the bits of one on the CPU, and, with the contacts that
 * its own collision found, those of a batch that finds them: presets, teams, a thread per world, solvers in impulses and
 * MuJoCo's law; with parameters of records, keys and records of MuJoCo's form, bad records, and more than there are
 * slots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/mujoco.h>

#include "backend.h"

enum { WORLDS = 5, WARM_UP = 100, STEPS = 3, MAX_SETTINGS = 3 };

typedef struct Case {
    const char *scene;
    int team;
    bool reports;
    struct {
        const char *name, *value;
    } setting[MAX_SETTINGS];
} Case;

#define ROBOT "bench/scenes/quadruped.yaml"
#define BOXES "bench/scenes/stack5.yaml"
static const Case cases[] = {
    {ROBOT, 8, false, {{"preset", "approx32"}}},
    {ROBOT, 32, true, {{"preset", "approx64"}}},
    {ROBOT, 1, false, {{"preset", "fast32"}}},
    {BOXES, 16, false, {{"preset", "drake"}, {"max_contacts", "7"}}},
    {"tests/scenes/hulls.yaml", 0, true, {{"preset", "approx64"}}},
    {ROBOT, 8, false, {{"preset", "approx64"}, {"contact_solver", "cone"}, {"warm_start", "true"}}},
    {BOXES, 64, true, {{"preset", "approx64"}, {"contact_solver", "pgs"}}},
    {ROBOT, 16, true, {{"preset", "mujoco64"}, {"contact_solver", "mujoco"}}},
    {BOXES, 8, false, {{"preset", "mujoco32"}, {"contact_solver", "mujoco"}}},
};

static SapOptions options_of(const SapScene *scene, const Case *c, char *what, size_t size) {
    SapOptions o = scene->options;
    int at = snprintf(what, size, "%s, team %d", c->scene, c->team);
    for (int i = 0; i < MAX_SETTINGS && c->setting[i].name; i++) {
        NEED(sap_options_set(&o, c->setting[i].name, c->setting[i].value));
        at += snprintf(what + at, size - (size_t)at, ", %s", c->setting[i].value);
    }
    o.team_size = c->team;
    return o;
}

static void *address_of(SapBatch *batch, SapBatchField field) {
    SapArray view;
    NEED(sap_batch_array(batch, field, &view));
    return view.data;
}

/* The contact arrays of a batch, on its device; bodies are not read where there are shapes. */
static SapContacts contacts_of(SapBatch *batch) {
    SapArray view;
    NEED(sap_batch_array(batch, SAP_BATCH_CONTACT_POINT0, &view));
    return (SapContacts){.num_worlds = (int)view.shape[0],
                         .capacity = (int)view.shape[1],
                         .dtype = view.type == SAP_TYPE_F64 ? SAP_F64 : SAP_F32,
                         .count = address_of(batch, SAP_BATCH_CONTACT_COUNT),
                         .dropped = address_of(batch, SAP_BATCH_CONTACT_DROPPED),
                         .shape0 = address_of(batch, SAP_BATCH_CONTACT_SHAPE0),
                         .shape1 = address_of(batch, SAP_BATCH_CONTACT_SHAPE1),
                         .point0 = view.data,
                         .point1 = address_of(batch, SAP_BATCH_CONTACT_POINT1),
                         .normal = address_of(batch, SAP_BATCH_CONTACT_NORMAL),
                         .margin0 = address_of(batch, SAP_BATCH_CONTACT_MARGIN0),
                         .margin1 = address_of(batch, SAP_BATCH_CONTACT_MARGIN1)};
}

static void same_field(SapBatch *a, SapBatch *b, SapBatchField field, const char *what) {
    size_t bytes = backend_bytes(a, field);
    void *x = backend_read(a, field), *y = backend_read(b, field);
    CHECK(memcmp(x, y, bytes) == 0, "%s: %s differs", what, sap_batch_field_names()[field]);
    free(x);
    free(y);
}

static long long sum(SapBatch *batch, SapBatchField field) {
    int32_t *values = backend_read(batch, field);
    long long total = 0;
    for (int w = 0; w < WORLDS; w++)
        total += values[w];
    free(values);
    return total;
}

static SapBatch *batch_of(const SapScene *scene, const SapOptions *o, SapDevice device, SapBatch *start, bool reports) {
    SapBatch *batch = backend_batch(scene->model, WORLDS, o, device);
    for (int f = 0; reports && f < SAP_BATCH_NUM_FIELDS; f++)
        if (backend_has(batch, (SapBatchField)f))
            backend_bytes(batch, (SapBatchField)f);
    backend_copy_worlds(start, batch);
    return batch;
}

/* Contacts that collision found: on both devices a batch that finds them, and one that is given them. */
static void check_own_contacts(const Case *c) {
    char what[256];
    SapScene *scene = backend_scene(c->scene);
    SapOptions o = options_of(scene, c, what, sizeof what);
    SapBatch *start = backend_batch(scene->model, WORLDS, &scene->options, SAP_DEVICE_CPU);
    backend_disturb(start, 1);
    NEED(sap_batch_step(start, scene->dt, WARM_UP));
    SapBatch *find[2], *given[2];
    for (int d = 0; d < 2; d++) {
        find[d] = batch_of(scene, &o, (SapDevice)d, start, false);
        given[d] = batch_of(scene, &o, (SapDevice)d, start, c->reports);
    }
    long long contacts = 0;
    for (int k = 0; k < STEPS; k++) {
        for (int d = 0; d < 2; d++) {
            NEED(sap_batch_step(find[d], scene->dt, 1));
            SapContacts of = contacts_of(find[d]);
            NEED(sap_batch_step_contacts(given[d], &of, scene->dt, 1));
            for (int f = SAP_BATCH_JOINT_Q; f <= SAP_BATCH_BODY_QD; f++)
                same_field(find[d], given[d], (SapBatchField)f, what);
            same_field(find[d], given[d], SAP_BATCH_STATUS, what);
            same_field(find[d], given[d], SAP_BATCH_CONTACT_DROPPED, what);
        }
        backend_same(given[0], given[1], what);
        contacts += sum(given[1], SAP_BATCH_CONTACT_COUNT);
    }
    for (int d = 0; d < 2; d++) { /* the same records for three steps, from the arrays of the batch itself */
        SapContacts own = contacts_of(given[d]);
        NEED(sap_batch_step_contacts(given[d], &own, scene->dt, 3));
        NEED(sap_batch_step(given[d], scene->dt, 2)); /* then its own again */
    }
    backend_same(given[0], given[1], what);
    CHECK(contacts > 0, "%s: no contacts", what);
    printf("%s: same bits (%lld contacts)\n", what, contacts);
    fflush(stdout);
    for (int d = 0; d < 2; d++) {
        sap_batch_destroy(find[d]);
        sap_batch_destroy(given[d]);
    }
    sap_batch_destroy(start);
    sap_scene_destroy(scene);
}

/* ---- records of any kind ---- */

enum { SLOTS = 12 };

static double unit(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) * 0x1p-24;
}

/* Writes an array of the batch that holds the records. */
static void put_array(SapBatch *holder, SapBatchField field, const void *values) {
    NEED(sap_batch_write(holder, field, values, backend_bytes(holder, field)));
}

/* Records between bodies and the world: some with parameters, one world bad, one with a negative count, and one that
 * found more than there is room for. `holder` is a batch in f64 that only has the memory. */
static SapContacts any_contacts(SapBatch *holder, int num_bodies, bool keys, bool mujoco) {
    static int32_t count[WORLDS], shape[WORLDS * SLOTS], body[WORLDS * SLOTS], key[WORLDS * SLOTS];
    static double point0[WORLDS * SLOTS * 3], point1[WORLDS * SLOTS * 3], normal[WORLDS * SLOTS * 3],
        number[WORLDS * SLOTS], mu[WORLDS * SLOTS];
    static SapMujocoContact record[WORLDS * SLOTS];
    unsigned seed = 5;
    for (int w = 0; w < WORLDS; w++)
        count[w] = (int[WORLDS]){3, -2, 5, SLOTS + 4, 4}[w];
    for (int i = 0; i < WORLDS * SLOTS; i++) {
        shape[i] = -1;
        body[i] = (int)(unit(&seed) * num_bodies);
        key[i] = 100 - i;
        number[i] = unit(&seed) < 0.5 ? NAN : 1e-3 * unit(&seed);
        mu[i] = unit(&seed) < 0.5 ? NAN : unit(&seed);
        for (int k = 0; k < 3; k++) {
            point0[3 * i + k] = 0.3 * unit(&seed) - 0.15;
            point1[3 * i + k] = 0.2 * unit(&seed) - 0.1;
            normal[3 * i + k] = k == 2 ? 1 : 0.2 * unit(&seed);
        }
        record[i] = (SapMujocoContact){.pos = {point0[3 * i], point0[3 * i + 1], 0},
                                       .frame = {0, 0, 1, 0, 1, 0, -1, 0, 0},
                                       .dist = -0.002 * unit(&seed),
                                       .friction = {unit(&seed), 0.4, 0.01, 0.001, 0.001},
                                       .solref = {0.02, 1},
                                       .solimp = {0.9, 0.95, 0.001, 0.5, 2},
                                       .dim = 3};
    }
    body[2 * SLOTS + 4] = num_bodies; /* there is none */
    put_array(holder, SAP_BATCH_CONTACT_COUNT, count);
    put_array(holder, SAP_BATCH_CONTACT_SHAPE0, shape);
    put_array(holder, SAP_BATCH_CONTACT_SHAPE1, shape);
    put_array(holder, SAP_BATCH_CONTACT_BODY1, body);
    put_array(holder, SAP_BATCH_CONTACT_POINT0, point0);
    put_array(holder, SAP_BATCH_CONTACT_POINT1, point1);
    put_array(holder, SAP_BATCH_CONTACT_NORMAL, normal);
    put_array(holder, SAP_BATCH_CONTACT_TAU, number);
    put_array(holder, SAP_BATCH_CONTACT_MU, mu);
    put_array(holder, SAP_BATCH_CONTACT_KEY, key);
    put_array(holder, SAP_BATCH_CONTACT_MUJOCO, record);
    SapContacts c = contacts_of(holder);
    c.dropped = NULL;
    c.margin0 = c.margin1 = NULL;
    c.body1 = address_of(holder, SAP_BATCH_CONTACT_BODY1);
    c.tau = address_of(holder, SAP_BATCH_CONTACT_TAU);
    c.mu = address_of(holder, SAP_BATCH_CONTACT_MU);
    c.key = keys ? address_of(holder, SAP_BATCH_CONTACT_KEY) : NULL;
    c.mujoco = mujoco ? address_of(holder, SAP_BATCH_CONTACT_MUJOCO) : NULL;
    return c;
}

static void check_any_contacts(const Case *c, bool keys, bool mujoco, int room) {
    char what[300];
    SapScene *scene = backend_scene(c->scene);
    SapOptions o = options_of(scene, c, what, sizeof what);
    o.max_contacts = o.given_contacts = room;
    strcat(what, mujoco ? ", records of MuJoCo's form" : keys ? ", keys" : ", any records");
    SapOptions plain;
    NEED(sap_options_preset("approx64", &plain));
    plain.max_contacts = plain.given_contacts = SLOTS;
    int num_bodies = sap_model_arrays(scene->model)->num_bodies;
    SapBatch *start = backend_batch(scene->model, WORLDS, &scene->options, SAP_DEVICE_CPU), *holder[2], *batch[2];
    backend_disturb(start, 2);
    for (int d = 0; d < 2; d++) {
        holder[d] = backend_batch(scene->model, WORLDS, &plain, (SapDevice)d);
        batch[d] = batch_of(scene, &o, (SapDevice)d, start, c->reports);
        SapContacts given = any_contacts(holder[d], num_bodies, keys, mujoco);
        for (int k = 0; k < 2; k++)
            NEED(sap_batch_step_contacts(batch[d], &given, 0.002, 2));
    }
    backend_same(batch[0], batch[1], what);
    uint32_t *status = backend_read(batch[1], SAP_BATCH_STATUS);
    int32_t *dropped = backend_read(batch[1], SAP_BATCH_CONTACT_DROPPED);
    CHECK(status[1] == SAP_WORLD_BAD_CONTACT && status[2] == SAP_WORLD_BAD_CONTACT, "%s: %#x and %#x", what, status[1],
          status[2]);
    CHECK(!(status[0] & SAP_WORLD_FAILED) && !(status[4] & SAP_WORLD_FAILED), "%s: %#x and %#x", what, status[0],
          status[4]);
    CHECK(status[3] & SAP_WORLD_CONTACTS_TRUNCATED && dropped[3] == SLOTS + 4 - room, "%s: %#x, %d dropped", what,
          status[3], dropped[3]);
    free(status);
    free(dropped);
    for (int d = 0; d < 2; d++) { /* none; the step after it finds its own */
        NEED(sap_batch_step_contacts(batch[d], NULL, 0.002, 1));
        NEED(sap_batch_step(batch[d], 0.002, 1));
    }
    backend_same(batch[0], batch[1], what);
    printf("%s: same bits\n", what);
    fflush(stdout);
    for (int d = 0; d < 2; d++) {
        sap_batch_destroy(holder[d]);
        sap_batch_destroy(batch[d]);
    }
    sap_batch_destroy(start);
    sap_scene_destroy(scene);
}

/* An array in host memory is refused by its name, and nothing changes. */
static void check_host_memory(void) {
    SapScene *scene = backend_scene(ROBOT);
    SapBatch *batch = backend_batch(scene->model, WORLDS, &scene->options, SAP_DEVICE_CUDA);
    double mu[1] = {0};
    SapContacts c = contacts_of(batch);
    c.mu = mu;
    CHECK(sap_batch_step_contacts(batch, &c, 0.002, 1) == SAP_ERROR_ARGUMENT, "host memory is read");
    CHECK(strstr(sap_error_message(), "mu is in host memory"), "%s", sap_error_message());
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

int main(void) {
    enum { NUM_CASES = sizeof cases / sizeof *cases, CONE = 5, MUJOCO = 7 };
    /* keeps the kernels loaded from one case to the next */
    SapScene *scene = backend_scene("bench/scenes/cube.yaml");
    SapBatch *holder = backend_batch(scene->model, 1, &scene->options, SAP_DEVICE_CUDA);
    for (int i = 0; i < NUM_CASES; i++)
        check_own_contacts(&cases[i]);
    check_any_contacts(&cases[0], false, false, 8);
    check_any_contacts(&cases[2], false, false, SLOTS);
    check_any_contacts(&cases[3], false, false, 5);
    check_any_contacts(&cases[CONE], true, false, 8);
    check_any_contacts(&cases[MUJOCO], false, true, 8);
    check_host_memory();
    sap_batch_destroy(holder);
    sap_scene_destroy(scene);
    return 0;
}
