/* The calls of a batch and its solver in any order, with legal and illegal arguments: every call ends with a status, an
 * illegal one with a message, and nothing crashes, leaks or moves a world that did not take part.
 *
 * The input is a program: each operation is one byte, and its arguments are the bytes that follow. */
#include <math.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "fuzz/fuzz.h"

enum { WORLDS = 5, MOST_OPERATIONS = 40 };

/* A cart with a pendulum, a ball and the ground. */
static const char scene_text[] =
    "schema_version: 1\n"
    "ground: {}\n"
    "bodies:\n"
    "- {id: cart, shapes: [{type: box, hx: 0.2, hy: 0.1, hz: 0.1}]}\n"
    "- {id: pole, xform: {p: [0, 0, 0.3]}, shapes: [{type: capsule, radius: 0.05, half_height: 0.2}]}\n"
    "- {id: ball, xform: {p: [1, 0, 0.1]}, shapes: [{type: sphere, radius: 0.1}]}\n"
    "joints:\n"
    "- {id: slide, type: prismatic, parent: world, child: cart, axis: x}\n"
    "- {id: hinge, type: revolute, parent: cart, child: pole, axis: y}\n"
    "- {id: free, type: free, parent: world, child: ball}\n";

/* ---- the input ---- */

typedef struct Input {
    const uint8_t *at, *end;
} Input;

static uint8_t byte(Input *in) {
    return in->at < in->end ? *in->at++ : 0;
}

/* An integer that is mostly near `low .. high`, sometimes far away. */
static int integer(Input *in, int low, int high) {
    static const int others[] = {-1, INT32_MIN, INT32_MAX, 65536, 0, 1};
    int b = byte(in);
    return b >= 250 ? others[b - 250] : low - 1 + b % (high - low + 3);
}

static double real(Input *in) {
    static const double others[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-310, 1e39, 0};
    int b = byte(in);
    return b >= 248 ? others[b - 248] : (b - 124) / 16.0;
}

/* ---- the machine ---- */

typedef struct Machine {
    SapScene *scene;
    SapBatch *batch; /* NULL before the first creation */
} Machine;

static void create(Machine *m, Input *in) {
    static const char *const presets[] = {"approx32", "approx64", "drake", "", NULL};
    SapOptions o;
    sap_batch_destroy(m->batch);
    m->batch = NULL;
    if (fuzz_checked(sap_options_preset(presets[byte(in) % 5], &o)) != SAP_OK)
        return;
    o.isa = SAP_ISA_GENERIC;
    o.threads = 1 + byte(in) % 2;
    o.lanes = (int)(const uint8_t[]){0, 1, 4, 8, 3, 16}[byte(in) % 6];
    o.max_contacts = integer(in, 1, 16);
    SapDtype dtype = (SapDtype)integer(in, 0, 1);
    fuzz_checked(sap_batch_create_as(byte(in) == 255 ? NULL : m->scene->model, WORLDS, &o, dtype, &m->batch));
}

static void set_option(Input *in) {
    SapOptions o;
    char value[8], text[64];
    const char *const *names = sap_options_names();
    int count = 0;
    while (names[count] != NULL)
        count++;
    FUZZ_REQUIRE(sap_options_preset(NULL, &o) == SAP_OK);
    const char *name = names[byte(in) % count];
    for (size_t i = 0; i < sizeof value - 1; i++)
        value[i] = (char)byte(in);
    value[sizeof value - 1] = '\0';
    if (fuzz_checked(sap_options_set(&o, name, value)) == SAP_OK)
        FUZZ_REQUIRE(sap_options_check(&o) == SAP_OK && sap_options_get(&o, name, text, sizeof text) == SAP_OK);
}

/* Writes one number somewhere into a field that steps read. */
static void write_field(Machine *m, Input *in) {
    SapArray view;
    SapBatchField field = (SapBatchField)integer(in, SAP_BATCH_JOINT_Q, SAP_BATCH_NUM_FIELDS - 1);
    SapStatus status = fuzz_checked(sap_batch_array(m->batch, field, &view));
    FUZZ_REQUIRE(m->batch == NULL || (int)field < 0 || field >= SAP_BATCH_NUM_FIELDS || status == SAP_OK ||
                 status == SAP_ERROR_UNSUPPORTED);
    double value = real(in);
    size_t at = byte(in) + 256u * byte(in);
    if (status != SAP_OK || view.data == NULL || field > SAP_BATCH_JOINT_ACT)
        return;
    size_t size = (size_t)(view.shape[0] * view.strides[0]) / (view.type == SAP_TYPE_F64 ? 8 : 4);
    if (view.type == SAP_TYPE_F64)
        ((double *)view.data)[at % size] = value;
    else
        ((float *)view.data)[at % size] = (float)value;
}

static void copy_field(Machine *m, Input *in) {
    static double host[1 << 14];
    SapBatchField field = (SapBatchField)integer(in, 0, SAP_BATCH_NUM_FIELDS - 1);
    SapArray view;
    size_t bytes = 0;
    if (sap_batch_array(m->batch, field, &view) == SAP_OK)
        bytes = (size_t)(view.shape[0] * view.strides[0]);
    size_t wrong = byte(in) % 4 == 0 ? 8 : 0;
    if (bytes + wrong > sizeof host)
        return;
    SapStatus status = fuzz_checked(sap_batch_read(m->batch, field, host, bytes + wrong));
    FUZZ_REQUIRE(status != SAP_OK || wrong == 0);
    fuzz_checked(sap_batch_write(m->batch, field, byte(in) == 0 ? NULL : host, bytes + wrong));
}

static void set_parameter(Machine *m, Input *in) {
    SapArray view;
    SapStatus status =
        fuzz_checked(sap_batch_expand(m->batch, (SapParameter)integer(in, 0, SAP_NUM_PARAMETERS - 1), &view));
    double value = real(in);
    size_t at = byte(in) + 256u * byte(in);
    if (status == SAP_OK && view.type == SAP_TYPE_I32)
        ((int32_t *)view.data)[at % ((size_t)(view.shape[0] * view.strides[0]) / 4)] = (int32_t)(at % 8) - 2;
    else if (status == SAP_OK)
        ((double *)view.data)[at % ((size_t)(view.shape[0] * view.strides[0]) / 8)] = value;
    fuzz_checked(sap_batch_check_parameters(m->batch));
}

static void reset(Machine *m, Input *in) {
    uint8_t mask[WORLDS];
    for (int w = 0; w < WORLDS; w++)
        mask[w] = byte(in) & 1;
    fuzz_checked(sap_batch_reset(m->batch, byte(in) % 3 == 0 ? NULL : mask, integer(in, 0, 0)));
    fuzz_checked(sap_batch_forward_kinematics(m->batch, mask));
}

static void step(Machine *m, Input *in) {
    double h = byte(in) % 8 == 0 ? real(in) : 0.005;
    int steps = integer(in, 0, 3);
    SapStatus status = fuzz_checked(sap_batch_step(m->batch, h, steps > 100 ? 3 : steps));
    FUZZ_REQUIRE(m->batch == NULL || !(h > 0 && isfinite(h)) || steps < 0 || status == SAP_OK);
}

/* Calls of the solver with contacts of the caller. */
static void solver_calls(Machine *m, Input *in) {
    SapSolver *solver = sap_batch_solver(m->batch);
    SapState *state = sap_batch_state(m->batch);
    SapContacts *contacts;
    SapContactRecord records[4];
    memset(records, 0, sizeof records);
    for (int i = 0; i < 4; i++) {
        records[i] = (SapContactRecord){.world = integer(in, 0, WORLDS - 1),
                                        .shape0 = integer(in, -1, 4),
                                        .shape1 = integer(in, -1, 4),
                                        .body0 = integer(in, -1, 3),
                                        .body1 = integer(in, -1, 3),
                                        .point0 = {real(in)},
                                        .normal = {real(in), 0, real(in)},
                                        .gap = real(in),
                                        .stiffness = real(in),
                                        .tau = real(in),
                                        .mu = real(in)};
    }
    if (fuzz_checked(sap_contacts_create(WORLDS, integer(in, 1, 4), SAP_F64, &contacts)) != SAP_OK)
        return;
    fuzz_checked(sap_contacts_sort(contacts, records, integer(in, 0, 3) % 5));
    fuzz_checked(sap_step(solver, state, sap_batch_control(m->batch), contacts, 0.005, state));
    fuzz_checked(sap_collide(solver, state, contacts));
    fuzz_checked(sap_free_motion(solver, state, NULL, 0.005, &(SapFreeMotion){0}));
    sap_contacts_destroy(contacts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Machine m = {0};
    Input in = {data, data + size};
    FUZZ_REQUIRE(sap_scene_parse(scene_text, strlen(scene_text), "api", &m.scene) == SAP_OK);
    for (int i = 0; i < MOST_OPERATIONS && in.at < in.end; i++)
        switch (byte(&in) % 9) {
        case 0: create(&m, &in); break;
        case 1: set_option(&in); break;
        case 2: write_field(&m, &in); break;
        case 3: copy_field(&m, &in); break;
        case 4: set_parameter(&m, &in); break;
        case 5: reset(&m, &in); break;
        case 6:
        case 7: step(&m, &in); break;
        case 8: solver_calls(&m, &in); break;
        }
    sap_scene_destroy(m.scene); /* the batch keeps the model alive */
    sap_batch_destroy(m.batch);
    return 0;
}
