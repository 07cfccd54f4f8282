/* Dumps: writing a world of a batch with a guard, and reading it again (sapwood/guard.h).
 *
 * Records of the file: version, world, dtype, options; model/...; mujoco/... with that law; parameters/...; calls/..., with one row per kept
 * call; results/... of the last call. */
#include <sapwood/guard.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/sapwood.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/records.h"
#include "host/batch/fields.h"
#include "host/batch/guard.h"
#include "host/model/model.h"
#include "host/model/model_records.h"
#include "host/model/parameters.h"
#include "host/plan/formulation.h"
#include "host/plan/step_args.h"

enum { MAX_FILE_BYTES = 1 << 30 };
enum { WORLD, NUM_WORLDS, NUM_WORLD_NUMBERS };
enum { ITERATIONS, LINE_ITERATIONS, CONTACT_COUNT, NUM_COUNTERS };
enum { COST, RESIDUAL, NUM_NUMBERS };

static SapRecordType real_type(SapDtype dtype) {
    return dtype == SAP_F64 ? SAP_RECORD_F64 : SAP_RECORD_F32;
}

/* The record of an array: its type, and the bytes of an element. */
static SapRecordType row_type(const SapBatch *b, const SapBatchRow *row) {
    SapElementType type = sap_batch_row_type(b, row);
    return type == SAP_TYPE_I32 ? SAP_RECORD_I32 : type == SAP_TYPE_U32 ? SAP_RECORD_U32 : real_type(b->dtype);
}

static size_t row_size(const SapBatch *b, const SapBatchRow *row) {
    return sap_batch_row_type(b, row) == SAP_TYPE_F64 ? sizeof(double) : sizeof(int32_t);
}

/* ---- writing ---- */

static const char what[] = "sap_batch_dump";

/* The options as lines "name=value". */
static SapStatus write_options(SapRecordWriter *writer, const SapOptions *options) {
    enum { LINE = 128, MOST = 64 };
    static_assert(sizeof(SapOptions) / sizeof(int) <= 2 * MOST, "a line for each option");
    char text[MOST][LINE], value[64];
    const char *lines[MOST];
    const char *const *names = sap_options_names();
    size_t count = 0;
    for (; names[count] != NULL && count < MOST; count++) {
        SAP_TRY(sap_options_get(options, names[count], value, sizeof value));
        snprintf(text[count], LINE, "%s=%s", names[count], value);
        lines[count] = text[count];
    }
    sap_records_put_texts(writer, "", "options", lines, count);
    return SAP_OK;
}

static SapRecordType record_type(SapParameter p) {
    return sap_parameter_bytes(p) == sizeof(int32_t) ? SAP_RECORD_I32 : SAP_RECORD_F64;
}

static void write_parameters(SapRecordWriter *writer, const SapBatch *b, int world) {
    const SapPerWorld *e = b->backend->per_world(b);
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        if (e->parameter[p].given) {
            const SapPerWorldParameter *x = &e->parameter[p];
            sap_records_put(writer, "parameters/", sap_parameter_names()[p], record_type(p),
                            (const char *)x->seen + (size_t)world * x->row, (size_t)x->size);
        }
}

/* An array of the kept calls; `host` has room for it. */
static SapStatus write_kept(SapRecordWriter *writer, SapBatch *b, int world, const SapBatchRow *row, char *host) {
    const SapGuard *g = b->guard;
    size_t bytes = sap_batch_row_bytes(b, row), count = 0;
    long long first = g->num_calls < g->room ? 0 : g->num_calls - g->room;
    for (long long call = first; call < g->num_calls; call++, count++)
        SAP_TRY(sap_guard_read(b, what, call, row, world, host + count * bytes));
    sap_records_put(writer, "calls/", row->name, row_type(b, row), host, count * bytes / row_size(b, row));
    return SAP_OK;
}

/* Time step and number of steps of the kept calls. */
static void write_steps(SapRecordWriter *writer, const SapGuard *g) {
    double h[SAP_GUARD_MAX_CALLS];
    int32_t num_steps[SAP_GUARD_MAX_CALLS];
    size_t count = 0;
    for (long long call = g->num_calls < g->room ? 0 : g->num_calls - g->room; call < g->num_calls; call++, count++) {
        h[count] = g->call[call % g->room].h;
        num_steps[count] = g->call[call % g->room].num_steps;
    }
    sap_records_put(writer, "calls/", "h", SAP_RECORD_F64, h, count);
    sap_records_put(writer, "calls/", "num_steps", SAP_RECORD_I32, num_steps, count);
}

/* The most bytes per world of an input. */
static size_t widest_input(const SapBatch *b) {
    size_t widest = sizeof(double);
    for (int i = 0; i < sap_batch_num_rows; i++) {
        size_t bytes =
            sap_guard_is_input(b->formulation, &sap_batch_rows[i]) ? sap_batch_row_bytes(b, &sap_batch_rows[i]) : 0;
        widest = bytes > widest ? bytes : widest;
    }
    return widest;
}

static SapStatus write_calls(SapRecordWriter *writer, SapBatch *b, int world) {
    char *host = sap_allocate((size_t)b->guard->room, widest_input(b), "a dump");
    if (!host)
        return SAP_ERROR_MEMORY;
    SapStatus status = write_kept(writer, b, world, sap_batch_row(SAP_BATCH_STATUS), host);
    for (int i = 0; i < sap_batch_num_rows && status == SAP_OK; i++)
        if (sap_guard_is_input(b->formulation, &sap_batch_rows[i]))
            status = write_kept(writer, b, world, &sap_batch_rows[i], host);
    free(host);
    write_steps(writer, b->guard);
    return status;
}

/* Copies the row of the world in the array of a field to `host`. */
static SapStatus read_row(SapBatch *b, SapBatchField field, int world, void *host) {
    const SapBatchRow *row = sap_batch_row(field);
    size_t bytes = sap_batch_row_bytes(b, row);
    const char *from = sap_batch_row_get(&b->arrays, row);
    return b->backend->read(b, what, from + (size_t)world * bytes, host, bytes);
}

static SapStatus write_results(SapRecordWriter *writer, SapBatch *b, int world) {
    int32_t counters[NUM_COUNTERS];
    double numbers[NUM_NUMBERS];
    SAP_TRY(read_row(b, SAP_BATCH_ITERATIONS, world, &counters[ITERATIONS]));
    SAP_TRY(read_row(b, SAP_BATCH_LINE_ITERATIONS, world, &counters[LINE_ITERATIONS]));
    SAP_TRY(read_row(b, SAP_BATCH_CONTACT_COUNT, world, &counters[CONTACT_COUNT]));
    SAP_TRY(read_row(b, SAP_BATCH_COST, world, &numbers[COST]));
    SAP_TRY(read_row(b, SAP_BATCH_RESIDUAL, world, &numbers[RESIDUAL]));
    sap_records_put(writer, "results/", "counters", SAP_RECORD_I32, counters, NUM_COUNTERS);
    sap_records_put(writer, "results/", "numbers", SAP_RECORD_F64, numbers, NUM_NUMBERS);
    double *state = sap_allocate((size_t)(b->nq > b->nv ? b->nq : b->nv), sizeof *state, "a dump");
    SapStatus status = state ? read_row(b, SAP_BATCH_JOINT_Q, world, state) : SAP_ERROR_MEMORY;
    if (status == SAP_OK) {
        sap_records_put(writer, "results/", "joint_q", real_type(b->dtype), state, (size_t)b->nq);
        status = read_row(b, SAP_BATCH_JOINT_QD, world, state);
    }
    if (status == SAP_OK)
        sap_records_put(writer, "results/", "joint_qd", real_type(b->dtype), state, (size_t)b->nv);
    free(state);
    return status;
}

static SapStatus write_dump(SapRecordWriter *writer, SapBatch *b, int world) {
    const char *version = sap_version();
    const int32_t numbers[NUM_WORLD_NUMBERS] = {[WORLD] = world, [NUM_WORLDS] = b->num_worlds},
                  dtype = (int32_t)b->dtype;
    sap_records_put_texts(writer, "", "version", &version, 1);
    sap_records_put(writer, "", "world", SAP_RECORD_I32, numbers, NUM_WORLD_NUMBERS);
    sap_records_put(writer, "", "dtype", SAP_RECORD_I32, &dtype, 1);
    SAP_TRY(write_options(writer, &b->options));
    sap_model_write_records(writer, sap_model_arrays(b->model));
    if (b->formulation->write_records)
        b->formulation->write_records(writer, b->model);
    write_parameters(writer, b, world);
    SAP_TRY(write_calls(writer, b, world));
    return write_results(writer, b, world);
}

SapStatus sap_batch_dump(SapBatch *batch, int world, const char *path) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(batch);
    SAP_NEED(path);
    if (world < 0 || world >= batch->num_worlds)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: world is %d; it must be in 0 .. %d", what, world,
                        batch->num_worlds - 1);
    if (!batch->guard || batch->guard->num_calls == 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: %s", what,
                        batch->guard ? "there was no step since sap_batch_guard"
                                     : "the batch has no guard; sap_batch_guard adds one");
    SapRecordWriter writer;
    SAP_TRY(sap_records_create(path, &writer));
    SapStatus status = write_dump(&writer, batch, world);
    if (status == SAP_OK)
        return sap_records_close(&writer, true);
    char message[768];
    snprintf(message, sizeof message, "%s", sap_error_message());
    sap_records_close(&writer, false);
    return sap_fail(status, "%s", message);
}

/* ---- reading ---- */

/* The public struct is the first member, so that a pointer to it is also a pointer to the owner. */
typedef struct OwnedDump {
    SapDump dump;
    SapModel *model;
    SapDumpCall *calls;
    SapRecords records;                        /* the arrays point into it */
    SapBatchArrays arrays;                     /* the inputs of all calls; other arrays are NULL */
    const void *parameter[SAP_NUM_PARAMETERS]; /* NULL: not expanded */
} OwnedDump;

static SapStatus check_version(SapRecords *records) {
    const char *const *text;
    SAP_TRY(sap_records_get_texts(records, "", "version", 1, &text));
    const char *version = text[0];
    free((void *)text);
    if (strcmp(version, sap_version()) == 0)
        return SAP_OK;
    return sap_fail_at(records->path, 0, SAP_ERROR_UNSUPPORTED,
                       "the dump is of version %.32s, and this is version %s, which may compute other bits", version,
                       sap_version());
}

static SapStatus read_options(SapRecords *records, SapOptions *options) {
    const char *const *names = sap_options_names(), *const * lines;
    size_t count = 0;
    while (names[count] != NULL)
        count++;
    SAP_TRY(sap_options_preset(NULL, options));
    SAP_TRY(sap_records_get_texts(records, "", "options", count, &lines));
    SapStatus status = SAP_OK;
    for (size_t i = 0; i < count && status == SAP_OK; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(lines[i], names[i], length) != 0 || lines[i][length] != '=')
            status = sap_fail_at(records->path, 0, SAP_ERROR_PARSE, "option %zu is '%.64s'; it must be %s=...", i,
                                 lines[i], names[i]);
        else
            status = sap_options_set(options, names[i], lines[i] + length + 1);
    }
    free((void *)lines);
    return status == SAP_OK ? sap_options_check(options) : status;
}

static SapStatus read_header(OwnedDump *d) {
    const void *world, *dtype;
    SapDump *dump = &d->dump;
    SAP_TRY(sap_records_get(&d->records, "", "world", SAP_RECORD_I32, NUM_WORLD_NUMBERS, &world));
    SAP_TRY(sap_records_get(&d->records, "", "dtype", SAP_RECORD_I32, 1, &dtype));
    dump->world = ((const int32_t *)world)[WORLD];
    dump->num_worlds = ((const int32_t *)world)[NUM_WORLDS];
    int type = *(const int32_t *)dtype;
    if (dump->num_worlds < 1 || dump->world < 0 || dump->world >= dump->num_worlds)
        return sap_fail_at(d->records.path, 0, SAP_ERROR_PARSE, "world is %d of %d; it must be in 0 .. n - 1",
                           dump->world, dump->num_worlds);
    if (type != SAP_F32 && type != SAP_F64)
        return sap_fail_at(d->records.path, 0, SAP_ERROR_PARSE, "dtype is %d; it must be 0 or 1", type);
    dump->inputs.dtype = dump->controls.dtype = dump->results.dtype = (SapDtype)type;
    return read_options(&d->records, &dump->options);
}

static SapStatus read_parameters(OwnedDump *d) {
    SapNumbers numbers = {.arrays = *sap_model_arrays(d->model)};
    const SapFormulation *f = sap_formulation_of(&d->dump.options);
    if (f->parameters && f->parameters(d->model))
        numbers.mujoco = *f->parameters(d->model);
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        const char *name = sap_parameter_names()[p];
        const void *data;
        size_t size =
            (size_t)sap_parameter_rows(&numbers, (SapParameter)p) * (size_t)sap_parameter_columns((SapParameter)p);
        if (sap_records_find(&d->records, "parameters/", name) == NULL)
            continue;
        SAP_TRY(sap_records_get(&d->records, "parameters/", name, record_type((SapParameter)p), size, &data));
        d->parameter[p] = data;
    }
    return SAP_OK;
}

static SapStatus read_call(OwnedDump *d, int k, double h, int num_steps, uint32_t status) {
    d->calls[k] = (SapDumpCall){h, num_steps, status};
    if (h > 0 && isfinite(h) && num_steps > 0)
        return SAP_OK;
    return sap_fail_at(d->records.path, 0, SAP_ERROR_PARSE, "call %d has %d steps of %g s; both must be positive", k,
                       num_steps, h);
}

/* A replay of more steps would not end in a reasonable time. */
static SapStatus check_steps(const OwnedDump *d, int count) {
    static const long long most = 10000000;
    long long steps = 0;
    for (int k = 0; k < count; k++)
        steps += d->calls[k].num_steps;
    if (steps <= most)
        return SAP_OK;
    return sap_fail_at(d->records.path, 0, SAP_ERROR_PARSE, "the calls have %lld steps; a dump has at most %lld", steps,
                       most);
}

static SapStatus read_calls(OwnedDump *d) {
    const SapRecord *record = sap_records_find(&d->records, "calls/", "h");
    size_t count = record != NULL ? record->count : 0;
    const void *h, *num_steps, *status;
    if (count < 1 || count > SAP_GUARD_MAX_CALLS)
        return sap_fail_at(d->records.path, 0, SAP_ERROR_PARSE, "there are %zu calls; there must be 1 .. %d", count,
                           SAP_GUARD_MAX_CALLS);
    SAP_TRY(sap_records_get(&d->records, "calls/", "h", SAP_RECORD_F64, count, &h));
    SAP_TRY(sap_records_get(&d->records, "calls/", "num_steps", SAP_RECORD_I32, count, &num_steps));
    SAP_TRY(sap_records_get(&d->records, "calls/", "status", SAP_RECORD_U32, count, &status));
    d->calls = sap_allocate(count, sizeof *d->calls, "a dump");
    if (!d->calls)
        return SAP_ERROR_MEMORY;
    for (int k = 0; k < (int)count; k++)
        SAP_TRY(
            read_call(d, k, ((const double *)h)[k], ((const int32_t *)num_steps)[k], ((const uint32_t *)status)[k]));
    d->dump.calls = d->calls;
    d->dump.num_calls = (int)count;
    return check_steps(d, (int)count);
}

/* A batch of one world of the dump as far as the sizes of its arrays go. */
static SapBatch shape_of(const OwnedDump *d) {
    const SapModelArrays *a = sap_model_arrays(d->model);
    return (SapBatch){.num_worlds = 1,
                      .dtype = d->dump.inputs.dtype,
                      .nq = a->num_coords,
                      .nv = a->num_dofs,
                      .nb = a->num_bodies,
                      .formulation = sap_formulation_of(&d->dump.options),
                      .num_actuators = sap_model_num_actuators(d->model),
                      .num_constraints = a->num_constraints,
                      .num_tendons = a->num_tendons};
}

static SapStatus read_input(OwnedDump *d, const SapBatch *shape, const SapBatchRow *row) {
    size_t width = sap_batch_row_bytes(shape, row) / row_size(shape, row);
    const void *data;
    SAP_TRY(sap_records_get(&d->records, "calls/", row->name, row_type(shape, row), (size_t)d->dump.num_calls * width,
                            &data));
    sap_batch_row_set(&d->arrays, row, (void *)data);
    return SAP_OK;
}

static SapStatus read_arrays(OwnedDump *d) {
    const SapBatch shape = shape_of(d);
    const int calls = d->dump.num_calls;
    const void *data;
    for (int i = 0; i < sap_batch_num_rows; i++)
        if (sap_guard_is_input(shape.formulation, &sap_batch_rows[i]))
            SAP_TRY(read_input(d, &shape, &sap_batch_rows[i]));
    d->dump.inputs = d->arrays.state;
    d->dump.controls = d->arrays.control;
    d->dump.inputs.dtype = d->dump.controls.dtype = shape.dtype;
    d->dump.inputs.num_worlds = d->dump.controls.num_worlds = calls;
    SAP_TRY(sap_records_get(&d->records, "results/", "joint_q", real_type(shape.dtype), (size_t)shape.nq, &data));
    d->dump.results.joint_q = (void *)data;
    SAP_TRY(sap_records_get(&d->records, "results/", "joint_qd", real_type(shape.dtype), (size_t)shape.nv, &data));
    d->dump.results.joint_qd = (void *)data;
    d->dump.results.num_worlds = 1;
    return SAP_OK;
}

static SapStatus read_results(OwnedDump *d) {
    const void *data;
    SAP_TRY(sap_records_get(&d->records, "results/", "counters", SAP_RECORD_I32, NUM_COUNTERS, &data));
    d->dump.iterations = ((const int32_t *)data)[ITERATIONS];
    d->dump.line_iterations = ((const int32_t *)data)[LINE_ITERATIONS];
    d->dump.contact_count = ((const int32_t *)data)[CONTACT_COUNT];
    SAP_TRY(sap_records_get(&d->records, "results/", "numbers", SAP_RECORD_F64, NUM_NUMBERS, &data));
    d->dump.cost = ((const double *)data)[COST];
    d->dump.residual = ((const double *)data)[RESIDUAL];
    return SAP_OK;
}

static SapStatus fill_dump(OwnedDump *d) {
    SAP_TRY(check_version(&d->records));
    SAP_TRY(read_header(d));
    const SapFormulation *formulation = sap_formulation_of(&d->dump.options);
    SAP_TRY(sap_model_read_records(&d->records, &d->model));
    if (formulation->read_records)
        SAP_TRY(formulation->read_records(&d->records, d->model));
    d->dump.model = d->model;
    SAP_TRY(read_parameters(d));
    SAP_TRY(read_calls(d));
    SAP_TRY(read_arrays(d));
    SAP_TRY(read_results(d));
    return sap_records_check_used(&d->records);
}

/* Reads `bytes`, or the file if that is NULL. */
static SapStatus open_dump(const char *path, const void *bytes, size_t size, SapDump **out) {
    OwnedDump *d = sap_allocate(1, sizeof *d, "a dump");
    if (!d)
        return SAP_ERROR_MEMORY;
    SapStatus status =
        bytes ? sap_records_parse(bytes, size, path, &d->records) : sap_records_load(path, MAX_FILE_BYTES, &d->records);
    if (status == SAP_OK)
        status = fill_dump(d);
    d->records.path = NULL; /* the caller's */
    if (status == SAP_OK)
        *out = &d->dump;
    else
        sap_dump_destroy(&d->dump);
    return status;
}

SapStatus sap_dump_load(const char *path, SapDump **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(path);
    return open_dump(path, NULL, 0, out);
}

SapStatus sap_dump_parse(const void *bytes, size_t size, const char *name, SapDump **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(bytes);
    SAP_NEED(name);
    return open_dump(name, bytes, size, out);
}

void sap_dump_destroy(SapDump *dump) {
    OwnedDump *d = (OwnedDump *)dump;
    if (!d)
        return;
    sap_model_destroy(d->model);
    sap_records_free(&d->records);
    free(d->calls);
    free(d);
}

/* ---- stepping again ---- */

static SapStatus put_parameters(const OwnedDump *d, SapBatch *batch, int num_worlds) {
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        SapArray view;
        if (!d->parameter[p])
            continue;
        SAP_TRY(sap_batch_expand(batch, (SapParameter)p, &view));
        for (int w = 0; w < num_worlds; w++)
            memcpy((char *)view.data + (size_t)w * (size_t)view.strides[0], d->parameter[p], (size_t)view.strides[0]);
    }
    return SAP_OK;
}

/* Writes the inputs of a call to all worlds; `host` has room for any of them. */
static SapStatus put_inputs(const OwnedDump *d, int call, SapBatch *batch, char *host) {
    size_t num_worlds = (size_t)batch->num_worlds;
    for (int i = 0; i < sap_batch_num_rows; i++) {
        const SapBatchRow *row = &sap_batch_rows[i];
        size_t bytes = sap_batch_row_bytes(batch, row);
        const char *from = sap_batch_row_get(&d->arrays, row);
        if (!sap_guard_is_input(batch->formulation, row) || !from) /* another formulation may read more */
            continue;
        for (size_t w = 0; w < num_worlds; w++)
            memcpy(host + w * bytes, from + (size_t)call * bytes, bytes);
        SAP_TRY(sap_batch_write(batch, (SapBatchField)row->field, host, num_worlds * bytes));
    }
    return SAP_OK;
}

static SapStatus fill_batch(const OwnedDump *d, int call, SapBatch *batch) {
    char *host = sap_allocate((size_t)batch->num_worlds, widest_input(batch), "the inputs of a dump");
    SapStatus status = host ? put_parameters(d, batch, batch->num_worlds) : SAP_ERROR_MEMORY;
    if (status == SAP_OK)
        status = put_inputs(d, call, batch, host);
    free(host);
    return status;
}

SapStatus sap_dump_batch(const SapDump *dump, int call, int num_worlds, const SapOptions *options, SapBatch **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(dump);
    if (call < 0 || call >= dump->num_calls)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_dump_batch: call is %d; it must be in 0 .. %d", call,
                        dump->num_calls - 1);
    SapOptions own = dump->options;
    SapBatch *batch;
    own.device = SAP_DEVICE_CPU;
    if (own.factor_plan == SAP_FACTOR_LIBRARY) /* for a GPU only */
        own.factor_plan = SAP_FACTOR_SPARSE;
    SAP_TRY(sap_batch_create_as(dump->model, num_worlds, options ? options : &own, dump->inputs.dtype, &batch));
    SapStatus status = fill_batch((const OwnedDump *)dump, call, batch);
    if (status == SAP_OK)
        *out = batch;
    else
        sap_batch_destroy(batch);
    return status;
}
