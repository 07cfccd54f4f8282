#include "host/cuda/library_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/cuda/arrays.h"

static const char what[] = "a graph of cuSOLVER's calls";

/* ---- known systems ---- */

/* One system for each world: H = (n + 1) I + 1 / (1 + |i - j|), positive definite, and contacts J' (G J) of ones. */
typedef struct Known {
    const SapCudaBatch *c;
    int n, num_worlds, is_f64;
    size_t number;              /* bytes */
    void *matrix, *vector, *J;  /* [n][n]; [num_worlds][n]; [rows][n], NULL = no contacts */
    unsigned char *expected[2]; /* [2] vectors and info of the direct call, and of the graph */
} Known;

static size_t matrix_bytes(const Known *k) {
    return (size_t)k->n * (size_t)k->n * k->number;
}

static size_t vector_bytes(const Known *k) {
    return (size_t)k->num_worlds * (size_t)k->n * k->number;
}

static size_t rows_bytes(const Known *k) {
    return (size_t)k->c->lockstep->systems.J.stride * k->number;
}

static size_t info_bytes(const Known *k) {
    return (size_t)k->num_worlds * sizeof(int);
}

static void put(const Known *k, void *array, size_t i, double x) {
    if (k->is_f64)
        ((double *)array)[i] = x;
    else
        ((float *)array)[i] = (float)x;
}

/* Right-hand sides differ from world to world, so that a mistaken address shows. */
static void fill_known(const Known *k) {
    size_t n = (size_t)k->n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            put(k, k->matrix, i * n + j, (i == j ? k->n + 1 : 0) + 1 / (1 + fabs((double)i - (double)j)));
    for (size_t i = 0; i < (size_t)k->num_worlds * n; i++)
        put(k, k->vector, i, 1 + (double)(i % 7) + (double)(i / n));
    for (size_t i = 0; k->J && i < n; i++)
        put(k, k->J, i, 1);
}

static void free_known(Known *k) {
    free(k->matrix);
    free(k->vector);
    free(k->J);
    free(k->expected[0]);
    free(k->expected[1]);
}

static SapStatus create_known(const SapCudaBatch *c, Known *k) {
    const SapLibraryArgs *systems = &c->lockstep->systems;
    *k = (Known){.c = c,
                 .n = (int)systems->vector.stride,
                 .num_worlds = c->args.num_worlds,
                 .is_f64 = systems->matrix.is_f64,
                 .number = systems->matrix.is_f64 ? sizeof(double) : sizeof(float)};
    k->matrix = sap_allocate(1, matrix_bytes(k), what);
    k->vector = sap_allocate(1, vector_bytes(k), what);
    for (int i = 0; i < 2; i++)
        k->expected[i] = sap_allocate(1, vector_bytes(k) + info_bytes(k), what);
    if (systems->J.data)
        k->J = sap_allocate(1, rows_bytes(k), what);
    if (!k->matrix || !k->vector || !k->expected[0] || !k->expected[1] || (systems->J.data && !k->J))
        return SAP_ERROR_MEMORY;
    fill_known(k);
    return SAP_OK;
}

/* Gives every world the same array: the first from the host, the others on the device. */
static SapStatus upload_to_all(const Known *k, void *to, const void *from, size_t bytes) {
    const SapCudaBatch *c = k->c;
    SAP_TRY(sap_cuda_upload(c, what, to, from, bytes));
    for (size_t done = 1, all = (size_t)k->num_worlds, more; done < all; done += more) {
        more = done < all - done ? done : all - done;
        SAP_CU_TRY(c->device->cuda, copy_on_device, what,
                   (sap_cuda_address(to) + done * bytes, sap_cuda_address(to), more * bytes, c->stream));
    }
    return SAP_OK;
}

static SapStatus put_contacts(const Known *k) {
    const SapLibraryArgs *systems = &k->c->lockstep->systems;
    if (!k->J)
        return SAP_OK;
    SAP_TRY(upload_to_all(k, systems->J.data, k->J, rows_bytes(k)));
    return upload_to_all(k, systems->GJ.data, k->J, rows_bytes(k));
}

/* The libraries overwrite H and the right-hand sides. */
static SapStatus put_systems(const Known *k) {
    const SapLibraryArgs *systems = &k->c->lockstep->systems;
    SAP_TRY(upload_to_all(k, systems->matrix.data, k->matrix, matrix_bytes(k)));
    return sap_cuda_upload(k->c, what, systems->vector.data, k->vector, vector_bytes(k));
}

static SapStatus get_solutions(const Known *k, unsigned char *out) {
    const SapLibraryArgs *systems = &k->c->lockstep->systems;
    SAP_TRY(sap_cuda_download(k->c, what, out, systems->vector.data, vector_bytes(k)));
    return sap_cuda_download(k->c, what, out + vector_bytes(k), systems->info, info_bytes(k));
}

/* ---- graphs ---- */

/* All worlds, a quarter and a sixteenth of them: a call solves at most four times the systems that it is needed for. */
static void choose_sizes(int num_worlds, SapCudaCaptured *out) {
    out->num_sizes = 0;
    for (int i = 0, n = num_worlds; i < SAP_LOOP_SIZES; i++, n = (n + 3) / 4)
        if (i == 0 || n < out->size[out->num_sizes - 1])
            out->size[out->num_sizes++] = n;
}

static SapStatus solve_directly(const Known *k, int count) {
    const SapCudaLockstep *s = k->c->lockstep;
    SAP_TRY(put_systems(k));
    SAP_TRY(sap_cuda_library_set_stream(s->library, k->c->stream));
    return sap_cuda_lockstep_call(s, count);
}

/* In the mode of this thread a call that allocates memory fails, and so does the capture. */
static SapStatus capture(const SapCudaBatch *c, CuStream stream, int count, CuGraph *out) {
    const SapCuda *cuda = c->device->cuda;
    SAP_TRY(sap_cuda_library_set_stream(c->lockstep->library, stream));
    SAP_CU_TRY(cuda, capture_begin, what, (stream, CU_CAPTURE_THREAD_LOCAL));
    SapStatus status = sap_cuda_lockstep_call(c->lockstep, count);
    CuResult ended = cuda->capture_end(stream, out);
    if (status == SAP_OK)
        return sap_cuda_status(cuda, ended, sap_cu_name_capture_end, what);
    char message[160];
    snprintf(message, sizeof message, "%s", sap_error_message());
    return sap_fail(status, "in a capture, %s", message);
}

static SapStatus solve_by_graph(const Known *k, CuGraphExec exec) {
    const SapCuda *cuda = k->c->device->cuda;
    SAP_TRY(put_systems(k));
    SAP_CU_TRY(cuda, graph_launch, what, (exec, k->c->stream));
    return SAP_OK;
}

static SapStatus compare(const Known *k, CuGraphExec exec, const char *when) {
    SAP_TRY(solve_by_graph(k, exec));
    SAP_TRY(get_solutions(k, k->expected[1]));
    if (memcmp(k->expected[0], k->expected[1], vector_bytes(k) + info_bytes(k)) == 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_UNSUPPORTED, "%s: its solutions differ from those of direct calls%s", what, when);
}

/* Direct calls with every number of systems come between two launches. */
static SapStatus test_launches(const Known *k, const SapCudaCaptured *captured, int i, CuGraphExec exec) {
    SAP_TRY(solve_directly(k, captured->size[i]));
    SAP_TRY(get_solutions(k, k->expected[0]));
    SAP_TRY(compare(k, exec, ""));
    for (int j = 0; j < captured->num_sizes; j++)
        SAP_TRY(solve_directly(k, captured->size[j]));
    return compare(k, exec, " after other calls");
}

static SapStatus test_graph(const Known *k, const SapCudaCaptured *captured, int i) {
    const SapCuda *cuda = k->c->device->cuda;
    CuGraphExec exec;
    SAP_CU_TRY(cuda, instantiate, what, (&exec, captured->graph[i], 0));
    SapStatus status = test_launches(k, captured, i, exec);
    cuda->exec_destroy(exec);
    return status;
}

static SapStatus capture_and_test(const Known *k, CuStream stream, SapCudaCaptured *out) {
    SAP_TRY(put_contacts(k));
    SAP_TRY(
        sap_cuda_lockstep_list(k->c->lockstep, k->c->device, k->c->stream, what)); /* no world is active: all follow */
    /* the first call of a kind may allocate and load, which a capture does not allow */
    for (int i = 0; i < out->num_sizes; i++)
        SAP_TRY(solve_directly(k, out->size[i]));
    SAP_CU_TRY(k->c->device->cuda, stream_synchronize, what, (k->c->stream));
    for (int i = 0; i < out->num_sizes; i++)
        SAP_TRY(capture(k->c, stream, out->size[i], &out->graph[i]));
    for (int i = 0; i < out->num_sizes; i++)
        SAP_TRY(test_graph(k, out, i));
    return SAP_OK;
}

SapStatus sap_cuda_capture(const SapCudaBatch *c, CuStream stream, SapCudaCaptured *out) {
    Known known;
    SapStatus status = create_known(c, &known);
    choose_sizes(c->args.num_worlds, out);
    if (status == SAP_OK)
        status = capture_and_test(&known, stream, out);
    free_known(&known);
    return status;
}

void sap_cuda_captured_free(const SapCuda *cuda, SapCudaCaptured *captured) {
    for (int i = 0; i < SAP_LOOP_SIZES; i++)
        if (captured->graph[i])
            cuda->graph_destroy(captured->graph[i]);
}
