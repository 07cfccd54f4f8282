/* Graphs: the work in the order it was added, which is one of the orders its dependencies allow. A node is its piece of
 * work. */
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

/* ---- running */

void graph_run(const Work *graph) {
    for (Work *w = graph->body->work.first; w && driver_sticky_error == CUDA_SUCCESS; w = w->next)
        work_run(w);
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

API cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *count) {
    ENTER_CONTEXT();
    REQUIRE(count && object_is_live(OBJECT_GRAPH, g), CUDA_ERROR_INVALID_VALUE);
    size_t room = nodes ? *count : 0, i = 0;
    for (Work *w = g->work.first; w && i < room; w = w->next)
        nodes[i++] = (CUgraphNode)w;
    *count = nodes ? i : g->work.count;
    return CUDA_SUCCESS;
}

API cuGraphInstantiate(CUgraphExec *out, CUgraph g, unsigned long long flags) {
    ENTER_CONTEXT();
    (void)flags;
    REQUIRE(out && object_is_live(OBJECT_GRAPH, g), CUDA_ERROR_INVALID_VALUE);
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
    return work_submit(s, (Work){.kind = WORK_GRAPH, .body = body});
}
