/* `sapwood replay DUMP`: steps the world of a dump again, reports why it failed, and compares every bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/common.h"
#include "host/cli/interrupt.h"
#include "host/cli/number.h"

/* ---- command line ---- */

typedef struct ReplayArgs {
    const char *path;
    CliSettings settings;
    int worlds;
    bool json;
} ReplayArgs;

enum { KEY_WORLDS = 256, KEY_THREADS, KEY_LANES, KEY_JSON };

static const struct argp_option options[] = {
    {"worlds", KEY_WORLDS, "N", 0, "Copies of the world to step; default 1", 1},
    {"threads", KEY_THREADS, "T", 0, "Worker threads; 0 (default) uses one per CPU", 2},
    {"lanes", KEY_LANES, "L", 0, "Worlds per SIMD pack: 1, 4, 8, 16 (avx512); 0 (default) selects automatically", 2},
    {"json", KEY_JSON, NULL, 0, "Print the report as JSON", 3},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
    ReplayArgs *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->settings; return 0;
    case KEY_WORLDS: a->worlds = cli_int(state, "--worlds", arg, 1, INT_MAX); return 0;
    case KEY_THREADS: cli_settings_add(state, &a->settings, "--threads", "threads", arg); return 0;
    case KEY_LANES: cli_settings_add(state, &a->settings, "--lanes", "lanes", arg); return 0;
    case KEY_JSON: a->json = true; return 0;
    case ARGP_KEY_ARG:
        if (a->path != NULL)
            argp_error(state, "'%s' is one argument too many; a replay has one dump", arg);
        a->path = arg;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "the dump is missing"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- status ---- */

static const struct {
    uint32_t bit;
    const char *name;
} status_names[] = {{SAP_WORLD_NONFINITE_STATE, "NONFINITE_STATE"},
                    {SAP_WORLD_NONFINITE_CONTROL, "NONFINITE_CONTROL"},
                    {SAP_WORLD_NOT_SPD, "NOT_SPD"},
                    {SAP_WORLD_NONFINITE_RESULT, "NONFINITE_RESULT"},
                    {SAP_WORLD_BAD_CONTACT, "BAD_CONTACT"},
                    {SAP_WORLD_BAD_PARAMETERS, "BAD_PARAMETERS"},
                    {SAP_WORLD_TOO_FAST, "TOO_FAST"},
                    {SAP_WORLD_BAD_CONSTRAINT, "BAD_CONSTRAINT"},
                    {SAP_WORLD_OPTIMAL, "OPTIMAL"},
                    {SAP_WORLD_COST_SETTLED, "COST_SETTLED"},
                    {SAP_WORLD_ITERATION_LIMIT, "ITERATION_LIMIT"},
                    {SAP_WORLD_LINE_SEARCH_FAILED, "LINE_SEARCH_FAILED"},
                    {SAP_WORLD_NO_DESCENT, "NO_DESCENT"},
                    {SAP_WORLD_COST_STALLED, "COST_STALLED"},
                    {SAP_WORLD_CONTACTS_TRUNCATED, "CONTACTS_TRUNCATED"},
                    {SAP_WORLD_FAST_SPIN, "FAST_SPIN"},
                    {SAP_WORLD_MAY_TUNNEL, "MAY_TUNNEL"},
                    {SAP_WORLD_DEEP_CONTACT, "DEEP_CONTACT"},
                    {SAP_WORLD_UNBOUNDED, "UNBOUNDED"},
                    {SAP_WORLD_COULOMB_NOT_CONVERGED, "COULOMB_NOT_CONVERGED"},
                    {SAP_WORLD_BOUNCE_REDUCED, "BOUNCE_REDUCED"}};
enum { NUM_STATUS_NAMES = sizeof status_names / sizeof *status_names };

typedef struct StatusText {
    char text[512];
} StatusText;

/* "NONFINITE_STATE, FAST_SPIN", or "none". */
static StatusText status_text(uint32_t status) {
    StatusText out = {"none"};
    size_t used = 0;
    for (int i = 0; i < NUM_STATUS_NAMES; i++)
        if (status & status_names[i].bit)
            used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%s", used ? ", " : "",
                                     status_names[i].name);
    return out;
}

static json_t *status_json(uint32_t status) {
    json_t *list = json_array();
    for (int i = 0; i < NUM_STATUS_NAMES; i++)
        if (status & status_names[i].bit)
            json_array_append_new(list, json_string(status_names[i].name));
    return list;
}

/* ---- inputs that are not finite ---- */

typedef struct BadNumber {
    const char *array, *owner; /* owner: joint, body or tendon; NULL: every number is finite */
    size_t index;
    double value;
} BadNumber;

static const char *joint_of(const SapModelArrays *a, const int32_t *start, size_t index) {
    int j = 0;
    while (j + 1 < a->num_joints && (size_t)start[j + 1] <= index)
        j++;
    return a->joint_name[j];
}

/* The first number of call `call` that is not finite. */
static BadNumber find_bad_number(const SapDump *d, int call) {
    const SapModelArrays *a = sap_model_arrays(d->model);
    size_t nq = (size_t)a->num_coords, nv = (size_t)a->num_dofs, nb = 6 * (size_t)a->num_bodies;
    size_t nt = (size_t)a->num_tendons;
    /* The inputs of a call. */
    const struct {
        const char *name;
        const void *data;
        size_t width;
        const int32_t *start; /* first index of each joint; NULL: six numbers per body, or one per tendon */
    } arrays[] = {{"joint_q", d->inputs.joint_q, nq, a->joint_q_start},
                  {"joint_qd", d->inputs.joint_qd, nv, a->joint_qd_start},
                  {"joint_f", d->controls.joint_f, nv, a->joint_qd_start},
                  {"body_f", d->controls.body_f, nb, NULL},
                  {"joint_target_pos", d->controls.joint_target_pos, nv, a->joint_qd_start},
                  {"joint_target_vel", d->controls.joint_target_vel, nv, a->joint_qd_start},
                  {"joint_act", d->controls.joint_act, nv, a->joint_qd_start},
                  {"tendon_target_pos", d->controls.tendon_target_pos, nt, NULL},
                  {"tendon_target_vel", d->controls.tendon_target_vel, nt, NULL},
                  {"tendon_act", d->controls.tendon_act, nt, NULL},
                  {"tendon_f", d->controls.tendon_f, nt, NULL}};
    /* Test the numbers of the call, array by array. */
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        for (size_t i = 0; i < arrays[k].width; i++) {
            double value = cli_number_at(arrays[k].data, d->inputs.dtype, (size_t)call * arrays[k].width + i);
            const char *owner = arrays[k].start                        ? joint_of(a, arrays[k].start, i)
                                : arrays[k].data == d->controls.body_f ? a->body_name[i / 6]
                                                                       : a->tendon_name[i];
            if (!isfinite(value))
                return (BadNumber){arrays[k].name, owner, i, value};
        }
    return (BadNumber){0};
}

/* The dof with the largest |joint_qd| before a call. */
static size_t fastest_dof(const SapDump *d, int call, double *speed) {
    size_t nv = (size_t)sap_model_arrays(d->model)->num_dofs, fastest = 0;
    *speed = 0;
    for (size_t i = 0; i < nv; i++) {
        double v = fabs(cli_number_at(d->inputs.joint_qd, d->inputs.dtype, (size_t)call * nv + i));
        if (!(v <= *speed)) {
            *speed = v;
            fastest = i;
        }
        if (isnan(v))
            break;
    }
    return fastest;
}

/* ---- stepping again ---- */

typedef struct Replay {
    const ReplayArgs *args;
    const SapDump *dump;
    SapOptions options;
    SapSolverInfo info;             /* of the CPU; zeros on a GPU */
    char *q, *qd;                   /* [worlds] states after a call */
    uint32_t *status;               /* [worlds] */
    uint32_t *call;                 /* [num_calls] status of world 0 after each call */
    bool *follows;                  /* [num_calls] the next call begins with the result of this one */
    int ended;                      /* calls that ended before an interruption */
    bool whole;                     /* nothing was interrupted */
    int same_calls;                 /* calls with the status of the dump, in all copies */
    int failed_step;                /* of the last call, from 1; 0: no step fails */
    uint32_t failure;               /* status in that step */
    bool same_state, same_counters; /* of the last call, in all copies */
} Replay;

static size_t q_bytes(const Replay *r) {
    return (size_t)sap_model_arrays(r->dump->model)->num_coords * cli_number_bytes(r->dump->inputs.dtype);
}

static size_t qd_bytes(const Replay *r) {
    return (size_t)sap_model_arrays(r->dump->model)->num_dofs * cli_number_bytes(r->dump->inputs.dtype);
}

/* Whether the states of all copies are those at q and qd. */
static bool states_are(const Replay *r, const void *q, const void *qd) {
    for (size_t w = 0; w < (size_t)r->args->worlds; w++)
        if (memcmp(r->q + w * q_bytes(r), q, q_bytes(r)) != 0 || memcmp(r->qd + w * qd_bytes(r), qd, qd_bytes(r)) != 0)
            return false;
    return true;
}

static bool read_states(Replay *r, SapBatch *batch) {
    size_t n = (size_t)r->args->worlds;
    return cli_check(sap_batch_read(batch, SAP_BATCH_JOINT_Q, r->q, n * q_bytes(r))) &&
           cli_check(sap_batch_read(batch, SAP_BATCH_JOINT_QD, r->qd, n * qd_bytes(r))) &&
           cli_check(sap_batch_read(batch, SAP_BATCH_STATUS, r->status, n * sizeof *r->status));
}

/* Compares one array of 4 or 8 bytes per world with the value of the dump. */
static bool array_is(Replay *r, SapBatch *batch, SapBatchField field, const void *value, size_t size, bool *same) {
    size_t n = (size_t)r->args->worlds;
    char *data = cli_allocate(n, size);
    bool ok = data && cli_check(sap_batch_read(batch, field, data, n * size));
    for (size_t w = 0; w < n && ok; w++)
        *same &= memcmp(data + w * size, value, size) == 0;
    free(data);
    return ok;
}

static bool compare_counters(Replay *r, SapBatch *batch) {
    const SapDump *d = r->dump;
    bool *same = &r->same_counters;
    *same = true;
    return array_is(r, batch, SAP_BATCH_ITERATIONS, &d->iterations, sizeof d->iterations, same) &&
           array_is(r, batch, SAP_BATCH_LINE_ITERATIONS, &d->line_iterations, sizeof d->line_iterations, same) &&
           array_is(r, batch, SAP_BATCH_CONTACT_COUNT, &d->contact_count, sizeof d->contact_count, same) &&
           array_is(r, batch, SAP_BATCH_COST, &d->cost, sizeof d->cost, same) &&
           array_is(r, batch, SAP_BATCH_RESIDUAL, &d->residual, sizeof d->residual, same);
}

/* Takes the steps of a call, as calls of at most CHUNK, so that an interruption ends soon. Of the status of the world,
 * some bits belong to all steps and the others to the last one (sap_batch_step). */
static bool take_steps(Replay *r, const SapDumpCall *call, SapBatch *batch) {
    enum { CHUNK = 256 };
    const uint32_t of_all_steps = SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED | SAP_WORLD_CONTACTS_TRUNCATED;
    uint32_t *seen = cli_allocate((size_t)r->args->worlds, sizeof *seen);
    bool ok = seen != NULL;
    for (int done = 0, n; ok && done < call->num_steps && !cli_interrupted(); done += n) {
        n = call->num_steps - done < CHUNK ? call->num_steps - done : CHUNK;
        ok = cli_check(sap_batch_step(batch, call->h, n)) && read_states(r, batch);
        for (int w = 0; ok && w < r->args->worlds; w++) {
            seen[w] |= r->status[w] & of_all_steps;
            r->status[w] |= seen[w];
        }
    }
    free(seen);
    return ok;
}

/* Repeats call k and compares its results. */
static bool repeat_call(Replay *r, int k, SapBatch *batch) {
    const SapDump *d = r->dump;
    const SapDumpCall *call = &d->calls[k];
    bool last = k == d->num_calls - 1, same = true;
    if (!take_steps(r, call, batch) || cli_interrupted())
        return cli_interrupted();
    r->ended++;
    for (int w = 0; w < r->args->worlds; w++)
        same &= r->status[w] == call->status;
    r->call[k] = r->status[0];
    r->same_calls += same;
    if (!last) {
        r->follows[k] = states_are(r, (const char *)d->inputs.joint_q + (size_t)(k + 1) * q_bytes(r),
                                   (const char *)d->inputs.joint_qd + (size_t)(k + 1) * qd_bytes(r));
        return true;
    }
    r->same_state = states_are(r, d->results.joint_q, d->results.joint_qd);
    return compare_counters(r, batch);
}

/* Takes the steps of call k one by one until the world fails. */
static bool find_failed_step(Replay *r, int k, SapBatch *batch) {
    const SapDumpCall *call = &r->dump->calls[k];
    if (!(call->status & SAP_WORLD_FAILED))
        return true;
    for (int step = 1; step <= call->num_steps && !cli_interrupted(); step++) {
        if (!cli_check(sap_batch_step(batch, call->h, 1)) || !read_states(r, batch))
            return false;
        if (r->status[0] & SAP_WORLD_FAILED) {
            r->failed_step = step;
            r->failure = r->status[0];
            return true;
        }
    }
    return true;
}

/* Creates the batch of a call and passes it on. */
static bool with_batch(Replay *r, int k, bool (*use)(Replay *, int, SapBatch *)) {
    SapBatch *batch;
    if (!cli_check(sap_dump_batch(r->dump, k, r->args->worlds, &r->options, &batch)))
        return false;
    bool ok = use(r, k, batch);
    if (ok && r->options.device == SAP_DEVICE_CPU)
        ok = cli_check(sap_solver_info(sap_batch_solver(batch), &r->info));
    sap_batch_destroy(batch);
    return ok;
}

static bool replay(Replay *r) {
    size_t n = (size_t)r->args->worlds, calls = (size_t)r->dump->num_calls;
    r->q = cli_allocate(n, q_bytes(r));
    r->qd = cli_allocate(n, qd_bytes(r));
    r->status = cli_allocate(n, sizeof *r->status);
    r->call = cli_allocate(calls, sizeof *r->call);
    r->follows = cli_allocate(calls, sizeof *r->follows);
    if (!r->q || !r->qd || !r->status || !r->call || !r->follows)
        return false;
    cli_catch_interrupt();
    for (int k = 0; k < r->dump->num_calls && !cli_interrupted(); k++)
        if (!with_batch(r, k, repeat_call))
            return false;
    bool ok = cli_interrupted() || with_batch(r, r->dump->num_calls - 1, find_failed_step);
    r->whole = !cli_interrupted();
    return ok;
}

static bool is_same(const Replay *r) {
    return r->same_calls == r->dump->num_calls && r->same_state && r->same_counters;
}

/* ---- the report ---- */

static void print_call(const Replay *r, int k) {
    const SapDump *d = r->dump;
    const SapModelArrays *a = sap_model_arrays(d->model);
    double speed;
    const char *joint = joint_of(a, a->joint_qd_start, fastest_dof(d, k, &speed));
    bool last = k == d->num_calls - 1;
    printf("call %-3d         %d steps of %g s, fastest joint %s %.4g before: %s%s%s\n", k - d->num_calls + 1,
           d->calls[k].num_steps, d->calls[k].h, cli_shown(joint).text, speed, status_text(d->calls[k].status).text,
           r->call[k] == d->calls[k].status ? "" : "; the replay differs",
           last || r->follows[k] ? "" : "; the state was changed after it");
}

static void print_cause(const Replay *r) {
    const SapDump *d = r->dump;
    int last = d->num_calls - 1;
    if (r->failed_step == 0) {
        printf("%-16s none: the world did not fail in the last call\n", "failure");
        return;
    }
    printf("%-16s %s, in step %d of %d of the last call\n", "failure", status_text(r->failure & SAP_WORLD_FAILED).text,
           r->failed_step, d->calls[last].num_steps);
    BadNumber bad = find_bad_number(d, last);
    if (bad.owner)
        printf("%-16s %s[%zu] (%s) is %g before the last call\n", "cause", bad.array, bad.index,
               cli_shown(bad.owner).text, bad.value);
}

static void print_human(const Replay *r) {
    const SapDump *d = r->dump;
    const SapModelArrays *a = sap_model_arrays(d->model);
    printf("%-16s %s (%s: bodies %d, dofs %d)\n", "dump", cli_shown(r->args->path).text, cli_shown(a->name).text,
           a->num_bodies, a->num_dofs);
    printf("%-16s %d of %d, states %s\n", "world", d->world, d->num_worlds, d->inputs.dtype == SAP_F64 ? "f64" : "f32");
    for (int k = 0; k < r->ended; k++)
        print_call(r, k);
    if (r->whole)
        print_cause(r);
    printf("%-16s ", "replay");
    if (r->options.device == SAP_DEVICE_CPU)
        printf("%s, lanes %d, threads %d, ", cli_isa(r->info.isa).text, r->info.lanes, r->info.threads);
    printf("worlds %d: ", r->args->worlds);
    if (!r->whole) {
        printf("INTERRUPTED after %d of %d calls\n", r->ended, d->num_calls);
        return;
    }
    puts(is_same(r) ? "the same bits" : "DIFFERENT");
    if (!is_same(r))
        printf("%-16s status of %d of %d calls, state %s, counters and cost %s\n", "same", r->same_calls, d->num_calls,
               r->same_state ? "same" : "different", r->same_counters ? "same" : "different");
}

static json_t *call_json(const Replay *r, int k) {
    const SapDumpCall *call = &r->dump->calls[k];
    bool last = k == r->dump->num_calls - 1;
    return json_pack("{so si so so so}", "h", cli_json_real(call->h), "num_steps", call->num_steps, "status",
                     status_json(call->status), "replayed_status", status_json(r->call[k]), "state_changed_after",
                     last ? json_null() : json_boolean(!r->follows[k]));
}

static json_t *cause_json(const SapDump *d) {
    BadNumber bad = find_bad_number(d, d->num_calls - 1);
    return bad.owner ? json_pack("{ss sI so}", "array", bad.array, "index", (json_int_t)bad.index, "owner",
                                 cli_json_text(bad.owner))
                     : json_null();
}

static json_t *report_json(const Replay *r) {
    const SapDump *d = r->dump;
    json_t *json = json_object(), *calls = json_array();
    for (int k = 0; k < r->ended; k++)
        json_array_append_new(calls, call_json(r, k));
    cli_json_put(&json, "dump", cli_json_text(r->args->path));
    cli_json_put(&json, "name", cli_json_text(sap_model_arrays(d->model)->name));
    cli_json_put(&json, "world", json_integer(d->world));
    cli_json_put(&json, "num_worlds", json_integer(d->num_worlds));
    cli_json_put(&json, "calls", calls);
    cli_json_put(&json, "failure", status_json(r->failure & SAP_WORLD_FAILED));
    cli_json_put(&json, "failed_step", json_integer(r->failed_step));
    cli_json_put(&json, "nonfinite_input", cause_json(d));
    cli_json_put(&json, "copies", json_integer(r->args->worlds));
    cli_json_put(&json, "threads", json_integer(r->info.threads));
    cli_json_put(&json, "interrupted", json_boolean(!r->whole));
    cli_json_put(&json, "same_bits", r->whole ? json_boolean(is_same(r)) : json_null());
    return json;
}

static bool report(const Replay *r) {
    if (r->args->json)
        return cli_json_print(report_json(r));
    print_human(r);
    return true;
}

/* ---- the command ---- */

static int replay_dump(const ReplayArgs *args, const SapDump *dump) {
    Replay r = {.args = args, .dump = dump, .options = dump->options};
    r.options.device = SAP_DEVICE_CPU;
    if (r.options.factor_plan == SAP_FACTOR_LIBRARY) /* for a GPU only */
        r.options.factor_plan = SAP_FACTOR_SPARSE;
    r.options.threads = r.options.lanes = 0;
    r.options.isa = SAP_ISA_AUTO;
    bool ok = cli_settings_apply(&args->settings, &r.options) && replay(&r) && report(&r);
    int code = !ok ? CLI_EXIT_BAD : !r.whole ? cli_exit_interrupted() : is_same(&r) ? CLI_EXIT_OK : CLI_EXIT_DIFFERENT;
    free(r.q);
    free(r.qd);
    free(r.status);
    free(r.call);
    free(r.follows);
    return code;
}

int cli_replay(int argc, char **argv) {
    const struct argp_child children[] = {{cli_settings_argp(0), 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "DUMP",
        .doc = "Steps the world of DUMP, a file of the guard (docs/guard.md), again. Reports in which "
               "step and why it failed, and whether every bit is the same.",
        .children = children};
    ReplayArgs args = {.worlds = 1};
    if (argp_parse(&argp, argc, argv, 0, NULL, &args) != 0)
        return CLI_EXIT_BAD;
    SapDump *dump;
    if (!cli_check(sap_dump_load(args.path, &dump)))
        return CLI_EXIT_BAD;
    int code = replay_dump(&args, dump);
    sap_dump_destroy(dump);
    return code;
}
