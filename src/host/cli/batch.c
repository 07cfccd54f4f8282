#include "host/cli/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/cluster/cluster.h"
#include "host/cli/number.h"

SapDtype cli_default_dtype(const SapOptions *options) {
    return options->free_motion_precision == SAP_FP64 ? SAP_F64 : SAP_F32;
}

/* ---- host copies of a batch on a GPU ---- */

/* An array of the batch that is copied, and its target. */
typedef struct Copied {
    SapBatchField field;
    void *data;
    size_t bytes;
} Copied;

enum { NUM_COPIED = 9 };

typedef struct CliCopy {
    SapState *state;
    SapSolver *solver;
    SapContacts contacts;
    Copied array[NUM_COPIED];
} CliCopy;

static void *add_array(CliCopy *copy, int i, SapBatchField field, int worlds, size_t size) {
    copy->array[i] = (Copied){field, cli_allocate((size_t)worlds, size), (size_t)worlds * size};
    return copy->array[i].data;
}

static bool fill_copy(const SapScene *scene, SapOptions options, int worlds, SapDtype dtype, CliBatch *b) {
    CliCopy *copy = b->copy;
    options.device = SAP_DEVICE_CPU;
    options.max_contacts = b->where.capacity;
    if (!cli_check(sap_solver_create(scene->model, worlds, &options, &copy->solver)) ||
        !cli_check(sap_state_create(scene->model, worlds, dtype, &copy->state)))
        return false;
    copy->contacts = (SapContacts){.num_worlds = worlds, .capacity = b->where.capacity};
    copy->array[0] = (Copied){SAP_BATCH_JOINT_Q, copy->state->joint_q, b->q_bytes};
    copy->array[1] = (Copied){SAP_BATCH_JOINT_QD, copy->state->joint_qd, b->qd_bytes};
    copy->contacts.count = add_array(copy, 2, SAP_BATCH_CONTACT_COUNT, worlds, sizeof(int32_t));
    copy->contacts.dropped = add_array(copy, 3, SAP_BATCH_CONTACT_DROPPED, worlds, sizeof(int32_t));
    b->report.status = add_array(copy, 4, SAP_BATCH_STATUS, worlds, sizeof(uint32_t));
    b->report.iterations = add_array(copy, 5, SAP_BATCH_ITERATIONS, worlds, sizeof(int32_t));
    b->report.line_iterations = add_array(copy, 6, SAP_BATCH_LINE_ITERATIONS, worlds, sizeof(int32_t));
    b->report.cost = add_array(copy, 7, SAP_BATCH_COST, worlds, sizeof(double));
    b->report.residual = add_array(copy, 8, SAP_BATCH_RESIDUAL, worlds, sizeof(double));
    for (int i = 0; i < NUM_COPIED; i++)
        if (copy->array[i].data == NULL)
            return false;
    b->solver = copy->solver;
    b->state = copy->state;
    b->contacts = &copy->contacts;
    return true;
}

static void free_copy(CliCopy *copy) {
    if (copy == NULL)
        return;
    sap_solver_destroy(copy->solver);
    sap_state_destroy(copy->state);
    for (int i = 2; i < NUM_COPIED; i++) /* the first two belong to the state */
        free(copy->array[i].data);
    free(copy);
}

bool cli_batch_pull(CliBatch *b) {
    for (int i = 0; b->copy && i < NUM_COPIED; i++) {
        const Copied *c = &b->copy->array[i];
        if (!cli_check(sap_batch_read(b->batch, c->field, c->data, c->bytes)))
            return false;
    }
    return true;
}

bool cli_batch_push(CliBatch *b) {
    for (int i = 0; b->copy && i < 2; i++) {
        const Copied *c = &b->copy->array[i];
        if (!cli_check(sap_batch_write(b->batch, c->field, c->data, c->bytes)))
            return false;
    }
    return true;
}

/* ---- creation ---- */

static bool fill_own(CliBatch *b, bool bodies) {
    b->solver = sap_batch_solver(b->batch);
    b->state = sap_batch_state(b->batch);
    b->contacts = sap_batch_contacts(b->batch);
    if (!bodies)
        b->state->body_q = b->state->body_qd = NULL;
    return cli_check(sap_solver_report(b->solver, &b->report));
}

static bool fill_batch(const SapScene *scene, const SapOptions *options, int worlds, SapDtype dtype, bool bodies,
                       CliBatch *b) {
    size_t number = cli_number_bytes(dtype);
    if (!cli_check(sap_batch_create_as(scene->model, worlds, options, dtype, &b->batch)) ||
        !cli_check(sap_batch_info(b->batch, &b->where)))
        return false;
    b->arrays = sap_model_arrays(scene->model);
    b->dt = scene->dt;
    b->q_bytes = (size_t)worlds * (size_t)b->arrays->num_coords * number;
    b->qd_bytes = (size_t)worlds * (size_t)b->arrays->num_dofs * number;
    if (b->where.device != SAP_DEVICE_CPU && (b->copy = cli_allocate(1, sizeof *b->copy)) == NULL)
        return false;
    if (!(b->copy ? fill_copy(scene, *options, worlds, dtype, b) : fill_own(b, bodies)))
        return false;
    b->failed = cli_allocate((size_t)worlds, sizeof *b->failed);
    b->seen = cli_allocate((size_t)worlds, sizeof *b->seen);
    return b->failed && b->seen && cli_check(sap_solver_info(b->solver, &b->info)) && cli_batch_pull(b);
}

/* The options of this rank: its own GPU and threads, unless the user chose them. */
static SapOptions rank_options(const SapOptions *options) {
    SapOptions own = *options;
    if (own.threads == 0)
        own.threads = cli_cluster_threads();
    int gpus;
    if (own.device == SAP_DEVICE_CUDA && own.cuda_device == 0 && sap_device_count(&gpus) == SAP_OK && gpus > 0)
        own.cuda_device = cli_cluster_local_rank() % gpus; /* a launcher may show each rank its own GPU only */
    return own;
}

bool cli_batch_create(const SapScene *scene, const SapOptions *options, int worlds, SapDtype dtype, bool bodies,
                      CliBatch *out) {
    SapOptions own = rank_options(options);
    int first, count;
    *out = (CliBatch){0};
    if (!cli_cluster_part(worlds, &first, &count))
        return false;
    out->first = first;
    out->total = worlds;
    if (fill_batch(scene, &own, count, dtype, bodies, out))
        return true;
    cli_batch_free(out);
    return false;
}

void cli_batch_free(CliBatch *batch) {
    free(batch->failed);
    free(batch->seen);
    free_copy(batch->copy);
    sap_batch_destroy(batch->batch);
    *batch = (CliBatch){0};
}

/* ---- noise ---- */

/* The output function of splitmix64: every bit of x reaches every bit of the result. */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Uses 53 random bits. */
double cli_random_unit(uint64_t seed, uint64_t world, uint64_t index) {
    return (double)(mix(mix(mix(seed) ^ world) ^ index) >> 11) * 0x1p-52 - 1;
}

bool cli_batch_perturb(CliBatch *batch, uint64_t seed, double noise) {
    size_t nv = (size_t)batch->arrays->num_dofs, first = (size_t)batch->first;
    float *f32 = batch->state->joint_qd;
    double *f64 = batch->state->joint_qd;
    for (size_t w = first == 0; w < (size_t)batch->state->num_worlds && noise > 0; w++)
        for (size_t i = 0; i < nv; i++) {
            double change = noise * cli_random_unit(seed, first + w, i);
            if (batch->state->dtype == SAP_F32)
                f32[w * nv + i] = (float)(f32[w * nv + i] + change);
            else
                f64[w * nv + i] += change;
        }
    return cli_batch_push(batch);
}

/* ---- stepping ---- */

bool cli_batch_step(CliBatch *batch, int steps) {
    return cli_check(sap_batch_step(batch->batch, batch->dt, steps)) && cli_check(sap_batch_synchronize(batch->batch));
}

bool cli_batch_gather(CliBatch *batch) {
    const uint32_t *status = batch->report.status;
    if (!cli_batch_pull(batch))
        return false;
    for (int w = 0; w < batch->state->num_worlds; w++) {
        batch->failed[w] |= status[w] & SAP_WORLD_FAILED;
        batch->seen[w] |= status[w] & ~(uint32_t)SAP_WORLD_FAILED;
    }
    return true;
}

/* ---- results ---- */

const CliFailure cli_failures[CLI_NUM_FAILURES] = {
    {SAP_WORLD_NONFINITE_STATE, "nonfinite_state", "state not finite"},
    {SAP_WORLD_NONFINITE_CONTROL, "nonfinite_control", "control not finite"},
    {SAP_WORLD_NOT_SPD, "not_spd", "mass matrix not positive definite"},
    {SAP_WORLD_NONFINITE_RESULT, "nonfinite_result", "result not finite"},
    {SAP_WORLD_BAD_CONTACT, "bad_contact", "contact out of range or not finite"},
    {SAP_WORLD_TOO_FAST, "too_fast", "faster than max_joint_speed"},
    {SAP_WORLD_BAD_CONSTRAINT, "bad_constraint", "distance constraint without a direction"}};

/* What to look for, and where. */
typedef struct Search {
    const CliBatch *batch;
    const uint32_t *status; /* [worlds] */
    uint32_t bits;
} Search;

static void add_worlds(void *state, void *mine) {
    CliFailures *out = state;
    const Search *search = mine;
    for (int w = 0; w < search->batch->state->num_worlds; w++) {
        uint32_t found = search->status[w] & search->bits;
        if (!found)
            continue;
        out->total++;
        for (int i = 0; i < CLI_NUM_FAILURES; i++)
            out->count[i] += (found & cli_failures[i].bit) != 0;
        if (out->num_shown < CLI_MAX_SHOWN)
            out->shown[out->num_shown++] = search->batch->first + w;
    }
}

CliFailures cli_batch_failures(const CliBatch *batch) {
    CliFailures out = {0};
    cli_cluster_chain(&out, sizeof out, add_worlds, &(Search){batch, batch->failed, SAP_WORLD_FAILED});
    return out;
}

CliFailures cli_batch_seen(const CliBatch *batch, uint32_t bits) {
    CliFailures out = {0};
    cli_cluster_chain(&out, sizeof out, add_worlds, &(Search){batch, batch->seen, bits});
    return out;
}

void cli_counts_print(const CliFailure *bits, const int *count, int n) {
    const char *separator = " (";
    for (int i = 0; i < n; i++)
        if (count[i]) {
            printf("%s%s: %d", separator, bits[i].words, count[i]);
            separator = ", ";
        }
    fputs(separator[0] == ',' ? ")" : "", stdout);
}

void cli_failures_print(const CliFailures *f, int worlds) {
    printf("%d of %d", f->total, worlds);
    cli_counts_print(cli_failures, f->count, CLI_NUM_FAILURES);
    fputs(f->total ? "; worlds" : "", stdout);
    for (int i = 0; i < f->num_shown; i++)
        printf(" %d", f->shown[i]);
    puts(f->num_shown < f->total ? " ..." : "");
}

json_t *cli_counts_json(int total, const CliFailure *bits, const int *count, int n) {
    json_t *by_status = json_object();
    for (int i = 0; i < n; i++)
        cli_json_put(&by_status, bits[i].key, json_integer(count[i]));
    return json_pack("{si so}", "count", total, "by_status", by_status);
}

json_t *cli_failures_json(const CliFailures *f) {
    json_t *json = cli_counts_json(f->total, cli_failures, f->count, CLI_NUM_FAILURES), *first = json_array();
    for (int i = 0; i < f->num_shown; i++)
        json_array_append_new(first, json_integer(f->shown[i]));
    cli_json_put(&json, "first", first);
    return json;
}

bool cli_batch_energies(CliBatch *batch, double *energies) {
    const SapFreeMotion wanted = {.energy = energies};
    return cli_check(sap_free_motion(batch->solver, batch->state, NULL, batch->dt, &wanted));
}

typedef struct EnergySum {
    double world[2], sum[2], worlds;
} EnergySum;

typedef struct Energies {
    const CliBatch *batch;
    const double *of;
} Energies;

static void add_energies(void *state, void *mine) {
    EnergySum *out = state;
    const Energies *e = mine;
    for (int w = 0; w < e->batch->state->num_worlds; w++) {
        if (e->batch->failed[w])
            continue;
        out->worlds++;
        out->sum[0] += e->of[2 * w];
        out->sum[1] += e->of[2 * w + 1];
    }
    if (e->batch->first == 0)
        memcpy(out->world, e->of, sizeof out->world);
}

CliEnergy cli_batch_summarise(const CliBatch *batch, const double *energies) {
    EnergySum sum = {{0}, {0}, 0};
    cli_cluster_chain(&sum, sizeof sum, add_energies, &(Energies){batch, energies});
    CliEnergy out = {.world = {sum.world[0], sum.world[1]}};
    for (int i = 0; i < 2; i++)
        out.mean[i] = sum.worlds > 0 ? sum.sum[i] / sum.worlds : (double)NAN;
    return out;
}

double cli_batch_bytes(const CliBatch *batch) {
    return cli_cluster_sum((double)sap_batch_bytes(batch->batch));
}

static uint64_t fnv1a(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

typedef struct Bytes {
    const void *data;
    size_t size;
} Bytes;

static void add_bytes(void *state, void *mine) {
    const Bytes *bytes = mine;
    *(uint64_t *)state = fnv1a(*(const uint64_t *)state, bytes->data, bytes->size);
}

uint64_t cli_batch_hash(const CliBatch *batch) {
    uint64_t hash = 0xcbf29ce484222325u;
    cli_cluster_chain(&hash, sizeof hash, add_bytes, &(Bytes){batch->state->joint_q, batch->q_bytes});
    cli_cluster_chain(&hash, sizeof hash, add_bytes, &(Bytes){batch->state->joint_qd, batch->qd_bytes});
    return hash;
}

uint64_t cli_batch_hash_all(const CliBatch *batch) {
    const SapWorldReport *r = &batch->report;
    size_t n = (size_t)batch->state->num_worlds;
    uint64_t hash = cli_batch_hash(batch);
    hash = fnv1a(hash, r->status, n * sizeof *r->status);
    hash = fnv1a(hash, r->iterations, n * sizeof *r->iterations);
    hash = fnv1a(hash, r->line_iterations, n * sizeof *r->line_iterations);
    hash = fnv1a(hash, r->cost, n * sizeof *r->cost);
    hash = fnv1a(hash, r->residual, n * sizeof *r->residual);
    return fnv1a(hash, batch->contacts->count, n * sizeof *batch->contacts->count);
}

/* ---- device ---- */

static SapDeviceInfo gpu_of(const SapBatchInfo *where) {
    SapDeviceInfo gpu;
    if (sap_device_info(where->cuda_device, &gpu) != SAP_OK)
        gpu = (SapDeviceInfo){.name = "unknown"};
    return gpu;
}

void cli_gpu_print(const SapBatchInfo *where) {
    printf("%s, %d threads per world (%s), %s (%s), kernels %s, factor %s, %d worlds per block, %d blocks, shared "
           "memory %d bytes, workspace %zu bytes",
           gpu_of(where).name, where->team_size, cli_shown(where->mapping).text, where->step_kernel, where->step_reason,
           cli_shown(where->kernels).text, cli_shown(where->factor).text, where->worlds_per_block, where->blocks,
           where->shared_bytes, where->workspace_bytes);
}

void cli_batch_print_where(const CliBatch *batch) {
    if (batch->where.device == SAP_DEVICE_CPU)
        printf("%s, lanes %d, threads %d", cli_isa(batch->info.isa).text, batch->info.lanes, batch->info.threads);
    else
        cli_gpu_print(&batch->where);
}

json_t *cli_gpu_json(const SapBatchInfo *where) {
    const SapDeviceInfo gpu = gpu_of(where);
    return json_pack("{so si si si so ss ss so so si si si sI sI sI}", "name", cli_json_text(gpu.name),
                     "compute_capability", gpu.capability, "driver_version", gpu.driver_version, "team_size",
                     where->team_size, "mapping", cli_json_text(where->mapping), "step_kernel", where->step_kernel,
                     "step_reason", where->step_reason, "kernels", cli_json_text(where->kernels), "factor",
                     cli_json_text(where->factor), "worlds_per_block", where->worlds_per_block, "blocks", where->blocks,
                     "shared_bytes", where->shared_bytes, "workspace_bytes", (json_int_t)where->workspace_bytes,
                     "local_bytes", (json_int_t)where->local_bytes, "device_bytes", (json_int_t)where->device_bytes);
}

void cli_batch_put_where(const CliBatch *batch, json_t **json) {
    bool cpu = batch->where.device == SAP_DEVICE_CPU;
    cli_json_put(json, "device", json_string(cpu ? "cpu" : "cuda"));
    cli_json_put(json, "isa", cpu ? json_string(cli_isa(batch->info.isa).text) : json_null());
    cli_json_put(json, "lanes", cpu ? json_integer(batch->info.lanes) : json_null());
    cli_json_put(json, "threads", cpu ? json_integer(batch->info.threads) : json_null());
    if (!cpu)
        cli_json_put(json, "gpu", cli_gpu_json(&batch->where));
}
