#include "host/cuda/loop.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/cuda/library_graph.h"

typedef struct SapCudaLoop {
    SapCudaCaptured calls;
    CuFunction condition;
    CuStream stream;  /* captures */
    CuGraphExec exec; /* NULL = not made */
    SapStepArgs args; /* those of exec */
} SapCudaLoop;

/* A graph and what a new node of it depends on. */
typedef struct Place {
    CuGraph graph;
    const CuGraphNode *after; /* [count] */
    const void *edges;        /* [count] as the driver gave them; NULL = plain ones */
    size_t count;
} Place;

/* ---- nodes ---- */

static SapStatus add(const SapCudaBatch *c, const char *what, const Place *place, CuNodeParams *node,
                     CuGraphNode *out) {
    SAP_CU_TRY(c->device->cuda, graph_add, what, (out, place->graph, place->after, place->edges, place->count, node));
    return SAP_OK;
}

/* Adds a node behind *last, which it becomes; NULL = the first of the graph. */
static SapStatus append(const SapCudaBatch *c, const char *what, CuGraph graph, CuNodeParams *node, CuGraphNode *last) {
    CuGraphNode after = *last;
    Place place = {.graph = graph, .after = &after, .count = after ? 1 : 0};
    return add(c, what, &place, node, last);
}

static CuNodeParams kernel_node(CuFunction function, unsigned blocks, unsigned x, unsigned y, unsigned shared,
                                void **parameters) {
    return (CuNodeParams){.type = CU_NODE_KERNEL,
                          .kernel = {.function = function,
                                     .grid = {blocks, 1, 1},
                                     .block = {x, y, 1},
                                     .shared = shared,
                                     .parameters = parameters}};
}

static CuNodeParams stage_node(const SapCudaBatch *c, CuFunction stage, void **parameters) {
    const SapCudaShape *shape = &c->step.shape;
    return kernel_node(stage, c->step.blocks, (unsigned)shape->team, (unsigned)shape->worlds_per_block,
                       (unsigned)shape->shared_bytes, parameters);
}

static CuNodeParams conditional_node(const SapCudaBatch *c, int type, CuGraphHandle condition) {
    return (CuNodeParams){.type = CU_NODE_CONDITIONAL,
                          .conditional = {.handle = condition, .type = type, .size = 1, .context = c->device->context}};
}

/* A condition of a node in the graph, and its value when the graph is launched. */
static SapStatus create_condition(const SapCudaBatch *c, const char *what, CuGraph graph, unsigned value,
                                  CuGraphHandle *out) {
    SAP_CU_TRY(c->device->cuda, condition_create, what,
               (out, graph, c->device->context, value, CU_CONDITION_ASSIGN_DEFAULT));
    return SAP_OK;
}

/* ---- the loop ---- */

/* The calls that solve size[i] systems, if that is the number for which they are needed. */
static SapStatus append_calls(const SapCudaBatch *c, const char *what, CuGraph graph, int i, CuGraphHandle condition,
                              CuGraphNode *last) {
    CuNodeParams choice = conditional_node(c, CU_CONDITION_IF, condition);
    SAP_TRY(append(c, what, graph, &choice, last));
    CuNodeParams calls = {.type = CU_NODE_GRAPH, .child = {.graph = c->loop->calls.graph[i]}};
    CuGraphNode only = NULL;
    return append(c, what, choice.conditional.bodies[0], &calls, &only);
}

/* One iteration: assemble, list the systems, set the conditions, solve, advance. */
static SapStatus fill_body(const SapCudaBatch *c, const char *what, CuGraph body, CuGraphHandle again,
                           SapStepArgs *args) {
    const SapCudaLockstep *s = c->lockstep;
    const SapCudaCaptured *calls = &c->loop->calls;
    CuGraphNode last = NULL;
    SapLoopArgs conditions = {.count = s->list.count, .num_sizes = calls->num_sizes, .again = again};
    for (int i = 0; i < calls->num_sizes; i++) {
        conditions.size[i] = calls->size[i];
        SAP_TRY(create_condition(c, what, body, 0, &conditions.solve[i]));
    }
    void *of_stage[] = {args}, *of_list[] = {(void *)&s->list}, *of_condition[] = {&conditions};
    CuNodeParams assemble = stage_node(c, s->assemble, of_stage), advance = stage_node(c, s->advance, of_stage);
    CuNodeParams list = kernel_node(s->compact, 1, SAP_COMPACT_THREADS, 1, SAP_COMPACT_SHARED, of_list);
    CuNodeParams condition = kernel_node(c->loop->condition, 1, 1, 1, 0, of_condition);
    SAP_TRY(append(c, what, body, &assemble, &last));
    SAP_TRY(append(c, what, body, &list, &last));
    SAP_TRY(append(c, what, body, &condition, &last));
    for (int i = 0; i < calls->num_sizes; i++)
        SAP_TRY(append_calls(c, what, body, i, conditions.solve[i], &last));
    return append(c, what, body, &advance, &last);
}

/* The arguments of the stages in the loop, without those that only other stages read: a graph serves all steps of a
 * call. */
static void loop_args(const SapCudaBatch *c, SapStepArgs *out) {
    memcpy(out, &c->args, sizeof *out); /* with the padding, so that equal arguments have equal bytes */
    memcpy(&out->arena, &c->step.arenas, sizeof out->arena);
    out->first_step = out->end_step = out->num_steps = 0;
    SapBuffer *const parameters[] = {&out->contacts.stiffness, &out->contacts.tau, &out->contacts.mu};
    for (int i = 0; i < 3; i++) /* in the data of the laws by then */
        memset(parameters[i], 0, sizeof *parameters[i]);
    out->collide.enabled = 0;
}

/* Adds the loop to a graph. It begins with an iteration, which closes the worlds that have nothing to solve. */
static SapStatus add_loop(const SapCudaBatch *c, const char *what, const Place *place, SapStepArgs *args,
                          CuGraphNode *out) {
    CuGraphHandle again;
    loop_args(c, args);
    SAP_TRY(create_condition(c, what, place->graph, 1, &again));
    CuNodeParams loop = conditional_node(c, CU_CONDITION_WHILE, again);
    SAP_TRY(add(c, what, place, &loop, out));
    return fill_body(c, what, loop.conditional.bodies[0], again, args);
}

static void forget(SapCudaBatch *c) {
    if (c->loop->exec)
        c->device->cuda->exec_destroy(c->loop->exec); /* a launch that runs ends first */
    c->loop->exec = NULL;
}

static SapStatus instantiate(SapCudaBatch *c, const char *what, CuGraph graph) {
    CuGraphNode node;
    SAP_TRY(add_loop(c, what, &(Place){.graph = graph}, &c->loop->args, &node));
    SAP_CU_TRY(c->device->cuda, instantiate, what, (&c->loop->exec, graph, 0));
    return SAP_OK;
}

/* Makes the graph of the loop for the arguments of the batch. */
static SapStatus make(SapCudaBatch *c, const char *what) {
    const SapCuda *cuda = c->device->cuda;
    CuGraph graph;
    forget(c);
    SAP_CU_TRY(cuda, graph_create, what, (&graph, 0));
    SapStatus status = instantiate(c, what, graph);
    cuda->graph_destroy(graph);
    return status;
}

static bool is_current(const SapCudaBatch *c) {
    SapStepArgs args;
    loop_args(c, &args);
    return c->loop->exec && memcmp(&args, &c->loop->args, sizeof args) == 0;
}

/* ---- batches ---- */

static SapStatus fill(SapCudaBatch *c) {
    static const char what[] = "device cuda";
    const SapCuda *cuda = c->device->cuda;
    if (!cuda->has_graphs)
        return sap_fail(SAP_ERROR_UNSUPPORTED, "the driver has no conditional nodes, which are new in CUDA 12.4");
    SAP_TRY(sap_cuda_device_find_in(c->device, SAP_CUDA_IMAGE_LOOP, "sap_kernel_loop_condition", &c->loop->condition));
    SAP_CU_TRY(cuda, stream_create, what, (&c->loop->stream, CU_STREAM_NON_BLOCKING));
    sap_cuda_lockstep_use_workspace(c->lockstep);
    SAP_TRY(sap_cuda_capture(c, c->loop->stream, &c->loop->calls));
    return make(c, what);
}

/* The host runs the loop from now on. */
static void give_up(SapCudaBatch *c) {
    sap_cuda_lockstep_say(c->lockstep, "the host runs the loop", sap_error_message());
    sap_cuda_loop_destroy(c);
}

void sap_cuda_loop_create(SapCudaBatch *c) {
    c->loop = sap_allocate(1, sizeof *c->loop, "batch");
    if (!c->loop || fill(c) != SAP_OK)
        give_up(c);
    else
        sap_cuda_lockstep_say(c->lockstep, "the loop is a node of a CUDA graph", "");
}

void sap_cuda_loop_destroy(SapCudaBatch *c) {
    const SapCuda *cuda = c->device->cuda;
    if (!c->loop)
        return;
    forget(c);
    sap_cuda_captured_free(cuda, &c->loop->calls);
    if (c->loop->stream)
        cuda->stream_destroy(c->loop->stream);
    free(c->loop);
    c->loop = NULL;
}

/* The graph that the stream captures, if it does. */
static SapStatus find_capture(const SapCudaBatch *c, const char *what, Place *out) {
    int status;
    unsigned long long id;
    *out = (Place){.graph = NULL};
    SAP_CU_TRY(c->device->cuda, capture_info, what,
               (c->stream, &status, &id, &out->graph, &out->after, &out->edges, &out->count));
    if (status != CU_CAPTURE_ACTIVE)
        out->graph = NULL;
    return SAP_OK;
}

bool sap_cuda_loop_is_ready(SapCudaBatch *c, const char *what) {
    Place capture;
    if (!c->loop)
        return false;
    if (is_current(c) || (find_capture(c, what, &capture) == SAP_OK && capture.graph))
        return true;
    if (make(c, what) != SAP_OK)
        give_up(c);
    return c->loop != NULL;
}

SapStatus sap_cuda_loop_launch(SapCudaBatch *c, const char *what) {
    const SapCuda *cuda = c->device->cuda;
    Place capture;
    CuGraphNode node;
    SapStepArgs args;
    SAP_TRY(find_capture(c, what, &capture));
    if (!capture.graph) {
        SAP_CU_TRY(cuda, graph_launch, what, (c->loop->exec, c->stream));
        return SAP_OK;
    }
    SAP_TRY(add_loop(c, what, &capture, &args, &node));
    SAP_CU_TRY(cuda, capture_update, what, (c->stream, &node, NULL, 1, CU_SET_DEPENDENCIES));
    return SAP_OK;
}
