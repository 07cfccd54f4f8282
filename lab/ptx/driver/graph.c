/* Graphs: the work in the order it was added, which is one of the orders its dependencies allow. A node is its piece of
 * work.
 *
 * The conditions of conditional nodes live as long as the process: those of a graph outlive it in what was made of
 * it. */
#include "driver.h"

#include <string.h>

struct CUgraphExec_st {
    WorkList work;
};

/* ---- graphs and bodies */

CUgraph graph_create(ObjectKind kind) {
    CUgraph graph = object_create(kind, sizeof *graph);
    if (graph)
        graph->work.last = &graph->work.first;
    return graph;
}

int graph_is_live(CUgraph g) {
    return object_is_live(OBJECT_GRAPH, g) || object_is_live(OBJECT_BODY, g);
}

void graph_destroy(CUgraph g) {
    work_clear(&g->work);
    object_destroy(object_is_live(OBJECT_GRAPH, g) ? OBJECT_GRAPH : OBJECT_BODY, g);
}

static void append_all(WorkList *to, const WorkList *from) {
    for (const Work *w = from->first; w; w = w->next)
        work_append(to, w);
}

CUgraph graph_clone(CUgraph g) {
    CUgraph copy = graph_create(OBJECT_BODY);
    append_all(&copy->work, &g->work);
    return copy;
}

API cuGraphCreate(CUgraph *out, unsigned flags) {
    ENTER_CONTEXT();
    REQUIRE(out && flags == 0, CUDA_ERROR_INVALID_VALUE);
    *out = graph_create(OBJECT_GRAPH);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API cuGraphDestroy(CUgraph g) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_GRAPH, g), CUDA_ERROR_INVALID_VALUE);
    graph_destroy(g);
    return CUDA_SUCCESS;
}

/* ---- conditions */

typedef struct Condition {
    struct Condition *next;
    CUgraph graph; /* which has the node, and only one */
    unsigned first_value, value;
    int assigns, is_used;
} Condition;
static Condition *conditions;
static int num_running; /* launches of graphs, 0 or 1 */

static Condition *find_condition(u64 handle) {
    Condition *c = conditions;
    while (c && (u64)c != handle)
        c = c->next;
    return c;
}

API cuGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph g, CUcontext context, unsigned value,
                                   unsigned flags) {
    ENTER_CONTEXT();
    REQUIRE(out && context && graph_is_live(g), CUDA_ERROR_INVALID_VALUE);
    Condition *c = calloc(1, sizeof *c);
    REQUIRE(c, CUDA_ERROR_OUT_OF_MEMORY);
    *c = (Condition){
        .next = conditions, .graph = g, .first_value = value, .assigns = flags & CU_GRAPH_COND_ASSIGN_DEFAULT};
    conditions = c;
    *out = (u64)c;
    return CUDA_SUCCESS;
}

static int set_condition(u64 handle, u32 value) {
    Condition *c = find_condition(handle);
    if (c && num_running)
        c->value = value;
    return c && num_running;
}

int graph_has_conditions(CUgraph g) {
    for (const Work *w = g->work.first; w; w = w->next)
        if (w->kind == WORK_CONDITIONAL || (w->body && graph_has_conditions(w->body)))
            return 1;
    return 0;
}

static void assign_conditions(CUgraph g) {
    for (const Work *w = g->work.first; w; w = w->next) {
        Condition *c = w->kind == WORK_CONDITIONAL ? find_condition(w->condition) : NULL;
        if (c && c->assigns)
            c->value = c->first_value;
        if (w->body)
            assign_conditions(w->body);
    }
}

/* ---- running */

static void run_all(CUgraph g) {
    for (Work *w = g->work.first; w && driver_sticky_error == CUDA_SUCCESS; w = w->next)
        work_run(w);
}

static void run_conditional(const Work *w) {
    const Condition *c = find_condition(w->condition);
    while (c->value && driver_sticky_error == CUDA_SUCCESS) {
        run_all(w->body);
        if (w->conditional == CU_GRAPH_COND_TYPE_IF)
            break;
    }
}

void graph_run(const Work *w) {
    if (w->is_launch)
        assign_conditions(w->body);
    ptx_condition_setter = set_condition;
    num_running += w->is_launch;
    if (w->kind == WORK_CONDITIONAL)
        run_conditional(w);
    else
        run_all(w->body);
    num_running -= w->is_launch;
}

/* ---- nodes */

static CUresult prepare_node(Work *work, const CUDA_KERNEL_NODE_PARAMS *p) {
    unsigned grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ}, block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
    return launch_prepare(work, p->func, grid, block, p->sharedMemBytes, p->kernelParams, p->extra);
}

API cuGraphAddKernelNode(CUgraphNode *node, CUgraph g, const CUgraphNode *dependencies, size_t count,
                         const CUDA_KERNEL_NODE_PARAMS *p) {
    ENTER_CONTEXT();
    (void)dependencies, (void)count; /* nodes given earlier */
    REQUIRE(node && p && p->func && object_is_live(OBJECT_GRAPH, g), CUDA_ERROR_INVALID_VALUE);
    Work work;
    TRY(prepare_node(&work, p));
    *node = (CUgraphNode)work_append(&g->work, &work);
    free(work.params);
    return CUDA_SUCCESS;
}

static CUresult kernel_node(Work *work, const CUDA_KERNEL_NODE_PARAMS_v3 *p) {
    unsigned grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ}, block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
    REQUIRE(p->func, CUDA_ERROR_INVALID_VALUE);
    return launch_prepare(work, p->func, grid, block, p->sharedMemBytes, p->kernelParams, p->extra);
}

static CUresult child_node(Work *work, const CUDA_CHILD_GRAPH_NODE_PARAMS *p) {
    REQUIRE(graph_is_live(p->graph) && p->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!graph_has_conditions(p->graph), CUDA_ERROR_NOT_SUPPORTED); /* as the real one */
    *work = (Work){.kind = WORK_GRAPH, .body = graph_clone(p->graph)};
    return CUDA_SUCCESS;
}

static CUresult conditional_node(Work *work, CUgraph g, const CUDA_CONDITIONAL_NODE_PARAMS *p) {
    Condition *c = find_condition(p->handle);
    REQUIRE(c && c->graph == g && !c->is_used && p->size == 1 && p->ctx, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(p->type == CU_GRAPH_COND_TYPE_IF || p->type == CU_GRAPH_COND_TYPE_WHILE, CUDA_ERROR_NOT_SUPPORTED);
    c->is_used = 1;
    *work = (Work){
        .kind = WORK_CONDITIONAL, .conditional = p->type, .condition = p->handle, .body = graph_create(OBJECT_BODY)};
    return CUDA_SUCCESS;
}

static CUresult prepare_any(Work *work, CUgraph g, const CUgraphNodeParams *p) {
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_node(work, &p->kernel);
    case CU_GRAPH_NODE_TYPE_GRAPH: return child_node(work, &p->graph);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return conditional_node(work, g, &p->conditional);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* Work runs in the order it was added, so every node has to depend on the one before. */
static int follows_the_last(CUgraph g, const CUgraphNode *dependencies, size_t count) {
    const Work *last = NULL;
    for (const Work *w = g->work.first; w; w = w->next)
        last = w;
    return last ? count == 1 && dependencies && (const Work *)dependencies[0] == last : count == 0;
}

API cuGraphAddNode(CUgraphNode *node, CUgraph g, const CUgraphNode *dependencies, const CUgraphEdgeData *edges,
                   size_t count, CUgraphNodeParams *p) {
    ENTER_CONTEXT();
    REQUIRE(node && p && !edges && graph_is_live(g), CUDA_ERROR_INVALID_VALUE);
    if (!follows_the_last(g, dependencies, count))
        complain("a node that does not depend on the one before: the stand-in runs chains only");
    REQUIRE(follows_the_last(g, dependencies, count), CUDA_ERROR_NOT_SUPPORTED);
    Work work, *added;
    TRY(prepare_any(&work, g, p));
    *node = (CUgraphNode)(added = work_append(&g->work, &work));
    free(work.params);
    if (work.body)
        graph_destroy(work.body);
    if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        p->conditional.phGraph_out = &added->body;
    return CUDA_SUCCESS;
}

API cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *count) {
    ENTER_CONTEXT();
    REQUIRE(count && object_is_live(OBJECT_GRAPH, g), CUDA_ERROR_INVALID_VALUE);
    size_t room = nodes ? *count : 0, i = 0;
    for (Work *w = g->work.first; w && i < room; w = w->next)
        nodes[i++] = (CUgraphNode)w;
    *count = nodes ? i : g->work.count;
    return CUDA_SUCCESS;
}

/* What the body of a conditional node may have. */
static int is_body(CUgraph g) {
    for (const Work *w = g->work.first; w; w = w->next)
        if (w->kind == WORK_EVENT || w->kind == WORK_HOST || (w->body && !is_body(w->body)))
            return 0;
    return 1;
}

static int bodies_are_valid(CUgraph g) {
    for (const Work *w = g->work.first; w; w = w->next)
        if (w->kind == WORK_CONDITIONAL && !is_body(w->body))
            return 0;
    return 1;
}

API cuGraphInstantiate(CUgraphExec *out, CUgraph g, unsigned long long flags) {
    ENTER_CONTEXT();
    (void)flags;
    REQUIRE(out && object_is_live(OBJECT_GRAPH, g) && bodies_are_valid(g), CUDA_ERROR_INVALID_VALUE);
    *out = object_create(OBJECT_GRAPH_EXEC, sizeof **out);
    REQUIRE(*out, CUDA_ERROR_OUT_OF_MEMORY);
    (*out)->work.last = &(*out)->work.first;
    append_all(&(*out)->work, &g->work);
    return CUDA_SUCCESS;
}

/* New parameters for a launch of the graph `e` was made from. */
API cuGraphExecKernelNodeSetParams(CUgraphExec e, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
    ENTER_CONTEXT();
    REQUIRE(node && p && p->func && object_is_live(OBJECT_GRAPH_EXEC, e), CUDA_ERROR_INVALID_VALUE);
    Work *w = e->work.first, prepared;
    while (w && w->origin != (const Work *)node)
        w = w->next;
    REQUIRE(w && w->kind == WORK_LAUNCH, CUDA_ERROR_INVALID_VALUE);
    TRY(prepare_node(&prepared, p));
    free(w->params);
    w->function = prepared.function;
    w->launch = prepared.launch;
    w->params = prepared.params;
    return CUDA_SUCCESS;
}

API cuGraphExecDestroy(CUgraphExec e) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_GRAPH_EXEC, e), CUDA_ERROR_INVALID_VALUE);
    CUresult result = work_finish();
    work_clear(&e->work);
    object_destroy(OBJECT_GRAPH_EXEC, e);
    return result;
}

API cuGraphUpload(CUgraphExec e, CUstream s) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_GRAPH_EXEC, e) && stream_is_valid(s), CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* Into a stream that captures, the graph becomes a node. */
API cuGraphLaunch(CUgraphExec e, CUstream s) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_GRAPH_EXEC, e) && stream_is_valid(s), CUDA_ERROR_INVALID_VALUE);
    CUgraph body = graph_create(OBJECT_BODY);
    REQUIRE(body, CUDA_ERROR_OUT_OF_MEMORY);
    append_all(&body->work, &e->work);
    if (stream_is_capturing(s) && graph_has_conditions(body)) {
        graph_destroy(body);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return work_submit(s, (Work){.kind = WORK_GRAPH, .body = body, .is_launch = !stream_is_capturing(s)});
}
