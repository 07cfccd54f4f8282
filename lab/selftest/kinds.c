#include "lab/selftest/kinds.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/sensors.h>

#include "host/cli/machine.h"

enum { WORLDS = 70, WARM_UP = 40 }; /* more than two warps; steps after which feet touch the ground */

typedef enum Act { STEP, REPORT, SENSE, CAST, VARY, MASK, STREAM, GRAPH } Act;

typedef struct Kind {
    const char *name, *scene, *preset;
    const char *settings[4][2]; /* option and value */
    const char *kernel;         /* a part of the name of its step kernel; NULL: any */
    bool is_made;               /* kernels made for the batch */
    Act act;
} Kind;

static const Kind kinds[] = {
    {"teams of 8 threads", "quadruped", "fast32", {{"team_size", "8"}}, "step_fast32", false, STEP},
    {"teams of 32 threads", "quadruped", "approx32", {{"team_size", "32"}}, "step_approx32", false, STEP},
    {"teams of 128 threads, f64", "quadruped", "drake", {{"team_size", "128"}}, "step_approx64", false, STEP},
    {"a thread per world", "quadruped", "fast32", {{"team_size", "1"}}, "step_thread_fast32", false, STEP},
    {"a thread per world, f64", "quadruped", "drake", {{"team_size", "1"}}, "step_thread_approx64", false, STEP},
    {"made for the batch, teams", "quadruped", "fast32", {{"team_size", "8"}, {"specialize", "on"}}, NULL, true, STEP},
    {"made for the batch, threads",
     "quadruped",
     "fast32",
     {{"team_size", "1"}, {"specialize", "on"}},
     NULL,
     true,
     STEP},
    {"scratch in global memory",
     "quadruped",
     "fast32",
     {{"team_size", "8"}, {"shared_memory", "1024"}},
     NULL,
     false,
     STEP},
    {"pairs that wait", "humanoid", "fast32", {{"team_size", "16"}}, NULL, false, STEP},
    {"constraints", "stewart", "approx32", {{NULL}}, NULL, false, STEP},
    {"tendons", "tendon_finger", "approx32", {{NULL}}, NULL, false, STEP},
    {"dual, cone", "quadruped", "drake", {{"contact_solver", "cone"}}, "cone", false, STEP},
    {"dual, pgs", "quadruped", "drake", {{"contact_solver", "pgs"}}, "pgs", false, STEP},
    {"dual, active set", "cube", "drake", {{"contact_solver", "active_set"}}, "active_set", false, STEP},
    {"MuJoCo's law", "quadruped", "mujoco32", {{NULL}}, "mujoco", false, STEP},
    {"MuJoCo's law, f64", "quadruped", "mujoco64", {{NULL}}, "mujoco", false, STEP},
    {"reports", "quadruped", "fast32", {{NULL}}, NULL, false, REPORT},
    {"sensors", "quadruped", "fast32", {{NULL}}, NULL, false, SENSE},
    {"rays", "quadruped", "fast32", {{NULL}}, NULL, false, CAST},
    {"parameters of worlds", "quadruped", "fast32", {{NULL}}, NULL, false, VARY},
    {"a mask on the device", "quadruped", "fast32", {{NULL}}, NULL, false, MASK},
    {"a stream of the caller", "quadruped", "fast32", {{NULL}}, NULL, false, STREAM},
    {"a graph", "quadruped", "fast32", {{NULL}}, NULL, false, GRAPH},
};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

int selftest_num_kinds(void) {
    return NUM_KINDS;
}

const char *selftest_kind_name(int kind) {
    return kinds[kind].name;
}

/* ---- the driver, for what a caller does with it ---- */

/* X(name, symbol, parameters) */
#define FUNCTIONS(X)                                                                                                   \
    X(init, "cuInit", (unsigned))                                                                                      \
    X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                                              \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int))                                                                  \
    X(set_current, "cuCtxSetCurrent", (void *))                                                                        \
    X(stream_create, "cuStreamCreate", (void **, unsigned))                                                            \
    X(stream_destroy, "cuStreamDestroy_v2", (void *))                                                                  \
    X(begin_capture, "cuStreamBeginCapture_v2", (void *, int))                                                         \
    X(end_capture, "cuStreamEndCapture", (void *, void **))                                                            \
    X(instantiate, "cuGraphInstantiateWithFlags", (void **, void *, unsigned long long))                               \
    X(launch, "cuGraphLaunch", (void *, void *))                                                                       \
    X(exec_destroy, "cuGraphExecDestroy", (void *))                                                                    \
    X(graph_destroy, "cuGraphDestroy", (void *))                                                                       \
    X(allocate, "cuMemAlloc_v2", (unsigned long long *, size_t))                                                       \
    X(free_memory, "cuMemFree_v2", (unsigned long long))                                                               \
    X(upload, "cuMemcpyHtoD_v2", (unsigned long long, const void *, size_t))

#define POINTER(name, symbol, parameters) int(*name) parameters;
typedef struct Driver {
    FUNCTIONS(POINTER)
    int device;
    void *context;
} Driver;

static bool need(int result, const char *function) {
    return result == 0 || cli_fail("%s failed: CUDA error %d", function, result);
}

static bool find(void *library, const char *symbol, void *pointer) {
    void *found = dlsym(library, symbol);
    memcpy(pointer, &found, sizeof found);
    return found || cli_fail("the driver has no %s", symbol);
}

static bool open_driver(int device, Driver *d) {
    const char *path = getenv("SAPWOOD_CUDA_DRIVER");
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW);
    if (!library)
        return cli_fail("%s", dlerror());
#define FIND(name, symbol, parameters) &&find(library, symbol, &d->name)
    d->device = device;
    return true FUNCTIONS(FIND) && need(d->init(0), "cuInit") &&
           need(d->retain(&d->context, device), "cuDevicePrimaryCtxRetain") &&
           need(d->set_current(d->context), "cuCtxSetCurrent");
}

static void close_driver(Driver *d) {
    d->set_current(NULL);
    d->release(d->device);
}

/* ---- both sides ---- */

typedef struct Pair {
    SapBatch *cpu, *gpu;
    const SapModelArrays *model;
    double dt;
} Pair;

/* The same call on both batches; the argument names the batch `b`. */
#define BOTH(call)                                                                                                     \
    do {                                                                                                               \
        for (int side_ = 0; side_ < 2; side_++) {                                                                      \
            SapBatch *b = side_ ? pair->gpu : pair->cpu;                                                               \
            if (!cli_check(call))                                                                                      \
                return false;                                                                                          \
        }                                                                                                              \
    } while (0)

/* Gives every world velocities of its own. */
static SapStatus disturb(SapBatch *b) {
    SapArray view;
    SapStatus status = sap_batch_array(b, SAP_BATCH_JOINT_QD, &view);
    size_t size = view.type == SAP_TYPE_F64 ? 8 : 4, count = (size_t)(view.shape[0] * view.shape[1]);
    double *values = calloc(count ? count : 1, sizeof *values);
    for (size_t i = 0; values && i < count; i++) {
        double x = 0.3 * sin(1.7 * (double)i + 0.1 * (double)(i % 7));
        if (size == sizeof(float))
            ((float *)values)[i] = (float)x;
        else
            values[i] = x;
    }
    if (status == SAP_OK && values)
        status = sap_batch_write(b, SAP_BATCH_JOINT_QD, values, count * size);
    free(values);
    return status;
}

static SapStatus request(SapBatch *b, SapBatchField first, SapBatchField last) {
    SapStatus status = SAP_OK;
    SapArray view;
    for (int f = first; f <= (int)last && status == SAP_OK; f++)
        status = sap_batch_array(b, (SapBatchField)f, &view);
    return status;
}

/* Whether an array has the same bits; fields that a batch does not have are the same. */
static bool same_field(const Pair *pair, SapBatchField field, bool *out) {
    SapArray view;
    *out = true;
    if (sap_batch_array(pair->cpu, field, &view) != SAP_OK)
        return true;
    size_t bytes = (size_t)(view.shape[0] * view.strides[0]);
    char *here = malloc(bytes + 1), *there = malloc(bytes + 1);
    bool ok = here && there &&
              (bytes == 0 || (cli_check(sap_batch_read(pair->cpu, field, here, bytes)) &&
                              cli_check(sap_batch_read(pair->gpu, field, there, bytes))));
    *out = ok && memcmp(here, there, bytes) == 0;
    free(here);
    free(there);
    return ok;
}

/* The first array whose bits differ; NULL: none. */
static bool compare(const Pair *pair, SapBatchField first, SapBatchField last, const char **differs) {
    for (int f = first; f <= (int)last && !*differs; f++) {
        bool same;
        if (!same_field(pair, (SapBatchField)f, &same))
            return false;
        if (!same)
            *differs = sap_batch_field_names()[f];
    }
    return true;
}

/* ---- what a kind does ---- */

static bool step(Pair *pair, int calls) {
    for (int i = 0; i < calls; i++)
        BOTH(sap_batch_step(b, pair->dt, 1 + i % 3));
    return true;
}

static SapStatus set_sensors(SapBatch *b) {
    static const int32_t body[2] = {0, -1}, touch[1] = {0}, with[1] = {SAP_TOUCH_ANY};
    static const double pose[2][7] = {{0.1, 0, 0, 0, 0, 0, 1}, {[6] = 1}};
    static const double origin[2][3] = {{0.1, 0, 0}, {-0.1, 0, 0}}, direction[2][3] = {{0, 0, -1}, {0.2, 0, -1}};
    SapRays rays;
    sap_rays_default(&rays);
    rays.num_rays = 2;
    rays.shared = 1;
    rays.origin = origin;
    rays.direction = direction;
    rays.body = 0;
    SapStatus status = sap_batch_set_sensors(b, &(SapSensors){.num_sites = 2,
                                                              .site_body = body,
                                                              .site_pose = pose[0],
                                                              .num_touch = 1,
                                                              .touch_body = touch,
                                                              .touch_with = with,
                                                              .num_ray_sensors = 1,
                                                              .ray_sensor = &rays});
    return status == SAP_OK ? request(b, SAP_BATCH_SITE_Q, SAP_BATCH_RAY_SHAPE) : status;
}

static bool cast(Pair *pair, const char **differs) {
    enum { RAYS = 40 };
    static double origin[RAYS][3], direction[RAYS][3], distance[2][WORLDS * RAYS];
    SapRays rays;
    for (int i = 0; i < RAYS; i++) {
        double turn = 6.283185307179586 * i / RAYS;
        memcpy(direction[i], (double[3]){cos(turn), sin(turn), -0.7}, sizeof direction[i]);
    }
    sap_rays_default(&rays);
    rays.num_rays = RAYS;
    rays.dtype = SAP_F64;
    rays.shared = 1;
    rays.origin = origin;
    rays.direction = direction;
    rays.body = rays.exclude_body = 0;
    for (int side = 0; side < 2; side++) {
        rays.distance = distance[side];
        if (!cli_check(sap_batch_raycast(side ? pair->gpu : pair->cpu, &rays)))
            return false;
    }
    if (memcmp(distance[0], distance[1], sizeof distance[0]) != 0)
        *differs = "distances of rays";
    return true;
}

static SapStatus vary(SapBatch *b) {
    SapArray mass, friction;
    SapStatus status = sap_batch_expand(b, SAP_PARAMETER_BODY_MASS, &mass);
    if (status == SAP_OK)
        status = sap_batch_expand(b, SAP_PARAMETER_SHAPE_MATERIAL_MU, &friction);
    for (int w = 0; w < WORLDS && status == SAP_OK; w++) {
        *(double *)((char *)mass.data + w * mass.strides[0]) *= 1 + 0.01 * w;
        *(double *)((char *)friction.data + w * friction.strides[0]) *= 1 - 0.005 * w;
    }
    return status;
}

static bool mask(Pair *pair, Driver *d) {
    uint8_t worlds[WORLDS] = {0};
    unsigned long long memory;
    for (int w = 0; w < WORLDS; w += 3)
        worlds[w] = 1;
    if (!need(d->allocate(&memory, sizeof worlds), "cuMemAlloc") ||
        !need(d->upload(memory, worlds, sizeof worlds), "cuMemcpyHtoD"))
        return false;
    bool ok = cli_check(sap_batch_reset(pair->cpu, worlds, 0)) &&
              cli_check(sap_batch_reset(pair->gpu, (const uint8_t *)(uintptr_t)memory, 0)) &&
              cli_check(sap_batch_synchronize(pair->gpu));
    return need(d->free_memory(memory), "cuMemFree") && ok && step(pair, 5);
}

static bool capture(Pair *pair, Driver *d, void *stream) {
    void *graph, *executable;
    if (!step(pair, 2) || !need(d->begin_capture(stream, 0), "cuStreamBeginCapture") ||
        !cli_check(sap_batch_set_stream(pair->gpu, stream)) || !cli_check(sap_batch_step(pair->gpu, pair->dt, 2)) ||
        !need(d->end_capture(stream, &graph), "cuStreamEndCapture") ||
        !need(d->instantiate(&executable, graph, 0), "cuGraphInstantiate"))
        return false;
    /* in the order of the batch's work, which the capture has not waited for */
    bool ok = cli_check(sap_batch_set_stream(pair->gpu, NULL)) && cli_check(sap_batch_synchronize(pair->gpu));
    for (int i = 0; i < 5 && ok; i++)
        ok = need(d->launch(executable, stream), "cuGraphLaunch") && cli_check(sap_batch_step(pair->cpu, pair->dt, 2));
    ok = ok && cli_check(sap_batch_set_stream(pair->gpu, stream)) && cli_check(sap_batch_synchronize(pair->gpu));
    d->exec_destroy(executable);
    d->graph_destroy(graph);
    return ok && step(pair, 2);
}

static bool in_stream(Pair *pair, Driver *d, Act act) {
    void *stream;
    if (!need(d->stream_create(&stream, 1), "cuStreamCreate"))
        return false;
    bool ok =
        act == GRAPH ? capture(pair, d, stream) : cli_check(sap_batch_set_stream(pair->gpu, stream)) && step(pair, 10);
    ok = cli_check(sap_batch_set_stream(pair->gpu, NULL)) && cli_check(sap_batch_synchronize(pair->gpu)) && ok;
    d->stream_destroy(stream);
    return ok;
}

static bool with_driver(Pair *pair, int device, Act act) {
    Driver d;
    if (!open_driver(device, &d))
        return false;
    bool ok = act == MASK ? mask(pair, &d) : in_stream(pair, &d, act);
    close_driver(&d);
    return ok;
}

static bool act(Pair *pair, const Kind *kind, int device, const char **differs) {
    bool to_driver = kind->act >= MASK;
    BOTH(disturb(b));
    if (kind->act == REPORT)
        BOTH(request(b, SAP_BATCH_CONTACT_IMPULSE, SAP_BATCH_BODY_CONTACT_WRENCH));
    if (kind->act == SENSE)
        BOTH(set_sensors(b));
    if (kind->act == VARY)
        BOTH(vary(b));
    BOTH(sap_batch_step(b, pair->dt, WARM_UP));
    if (to_driver ? !with_driver(pair, device, kind->act) : !step(pair, 10))
        return false;
    if (kind->act == CAST && !cast(pair, differs))
        return false;
    if (!compare(pair, SAP_BATCH_JOINT_Q, (SapBatchField)(SAP_BATCH_CONTACT_BODY0 - 1), differs))
        return false;
    if (kind->act == REPORT)
        return compare(pair, SAP_BATCH_CONTACT_IMPULSE, SAP_BATCH_BODY_CONTACT_WRENCH, differs);
    return kind->act != SENSE || compare(pair, SAP_BATCH_SITE_Q, SAP_BATCH_RAY_SHAPE, differs);
}

/* ---- results ---- */

/* Why the batch is not of the kind; false: it is. */
static bool is_another(const Kind *kind, const SapBatchInfo *info, char *text, size_t size) {
    bool other = kind->kernel && !strstr(info->step_kernel, kind->kernel);
    bool not_made = kind->is_made && strncmp(info->kernels, "made for", 8) != 0;
    if (other)
        snprintf(text, size, "the kernel is %s: %s", info->step_kernel, info->mapping);
    if (not_made)
        snprintf(text, size, "%s", info->kernels);
    return other || not_made;
}

static json_t *compare_sides(Pair *pair, const Kind *kind) {
    SapBatchInfo info;
    char text[640];
    const char *differs = NULL;
    if (!cli_check(sap_batch_info(pair->gpu, &info)))
        return NULL;
    if (is_another(kind, &info, text, sizeof text))
        return json_pack("{so}", "skipped", cli_json_text(text));
    double start = cli_now();
    if (!act(pair, kind, info.cuda_device, &differs))
        return NULL;
    return json_pack("{sb so ss so so so si sI sI so}", "same", differs == NULL, "differs",
                     differs ? json_string(differs) : json_null(), "scene", kind->scene, "kernel",
                     cli_json_text(info.step_kernel), "mapping", cli_json_text(info.mapping), "kernels",
                     cli_json_text(info.kernels), "team_size", info.team_size, "local_bytes",
                     (json_int_t)info.local_bytes, "device_bytes", (json_int_t)info.device_bytes, "seconds",
                     cli_json_real(cli_now() - start));
}

static bool set_options(const CliSettings *settings, const Kind *kind, SapOptions *o) {
    if (!cli_check(sap_options_set(o, "preset", kind->preset)) || !cli_settings_apply(settings, o))
        return false;
    for (int i = 0; i < 4 && kind->settings[i][0]; i++)
        if (!cli_check(sap_options_set(o, kind->settings[i][0], kind->settings[i][1])))
            return false;
    return true;
}

static json_t *run_kind(const CliScene *scene, const CliSettings *settings, const Kind *kind) {
    SapOptions o = scene->scene->options, cpu;
    Pair pair = {.model = sap_model_arrays(scene->scene->model), .dt = scene->scene->dt};
    json_t *result = NULL;
    if (!set_options(settings, kind, &o))
        return NULL;
    cpu = o;
    cpu.device = SAP_DEVICE_CPU;
    cpu.team_size = 0;
    SapStatus status = sap_batch_create(scene->scene->model, WORLDS, &o, &pair.gpu);
    if (status == SAP_ERROR_UNSUPPORTED)
        return json_pack("{so}", "skipped", cli_json_text(sap_error_message()));
    if (cli_check(status) && cli_check(sap_batch_create(scene->scene->model, WORLDS, &cpu, &pair.cpu)))
        result = compare_sides(&pair, kind);
    sap_batch_destroy(pair.cpu);
    sap_batch_destroy(pair.gpu);
    return result;
}

json_t *selftest_kind(const CliSettings *settings, int kind) {
    const CliSettings none = {.asset_root = settings->asset_root};
    CliScene scene = {.scene = NULL};
    json_t *result = NULL;
    if (cli_scene_open(kinds[kind].scene, &none, &scene))
        result = run_kind(&scene, settings, &kinds[kind]);
    cli_scene_close(&scene);
    return result;
}
