/* Streams and events. Work of all streams runs in the order it was given, which is one of the orders CUDA allows: at
 * once, or with PTX_DEFER=1 only when somebody waits for it, which shows a host that frees or changes memory too
 * early. */
#include "driver.h"

#include <string.h>
#include <time.h>

struct CUstream_st {
    CUgraph capture; /* NULL = not capturing */
    int is_relaxed;  /* the capture allows calls that others do not */
    int is_invalid;  /* it will fail */
    CUstream next;   /* of those that capture */
};

struct CUevent_st {
    struct timespec time;
    int recorded;
};

static WorkList deferred = {.last = &deferred.first};
static CUstream capturing; /* list */

/* ---- lists */

Work *work_append(WorkList *list, const Work *work) {
    Work *copy = malloc(sizeof *copy);
    *copy = *work;
    copy->next = NULL;
    copy->origin = work;
    if (work->params) {
        size_t size = work->function->kernel->params_size + 64;
        copy->params = malloc(size);
        memcpy(copy->params, work->params, size);
    }
    if (work->kind == WORK_LIBRARY) {
        copy->host_data = malloc(work->size);
        memcpy(copy->host_data, work->host_data, work->size);
    }
    if (work->body)
        copy->body = graph_clone(work->body);
    *list->last = copy;
    list->last = &copy->next;
    list->count++;
    return copy;
}

static void free_owned(Work *work) {
    free(work->params);
    if (work->kind == WORK_LIBRARY)
        free(work->host_data);
    if (work->body)
        graph_destroy(work->body);
}

void work_clear(WorkList *list) {
    for (Work *work = list->first, *next; work; work = next) {
        next = work->next;
        free_owned(work);
        free(work);
    }
    *list = (WorkList){.last = &list->first};
}

/* ---- running */

static CUresult error_of(PtxFailure failure) {
    switch (failure) {
    case PTX_OK: return CUDA_SUCCESS;
    case PTX_BAD_ADDRESS: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case PTX_MISALIGNED: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case PTX_ASSERT: return CUDA_ERROR_ASSERT;
    case PTX_TRAP:
    case PTX_REPORTED: return CUDA_ERROR_LAUNCH_FAILED;
    }
    return CUDA_ERROR_UNKNOWN;
}

static int is_device(const void *pointer) {
    return (u64)pointer - ARENA_BASE < ARENA_SIZE;
}

static void run_copy(const Work *w) {
    memmove(w->to, w->from, w->size);
    if (is_device(w->to) && is_device(w->from))
        ptx_copy_states((u64)w->to, (u64)w->from, w->size);
    else if (is_device(w->to))
        ptx_mark_written((u64)w->to, w->size);
}

static void run_set(const Work *w) {
    for (size_t i = 0; i < w->size; i += w->value_bytes)
        memcpy((char *)w->to + i, &w->value, w->value_bytes);
    ptx_mark_written((u64)w->to, w->size);
}

void work_run(Work *w) {
    switch (w->kind) {
    case WORK_LAUNCH:
        w->launch.params = w->params;
        driver_sticky_error = error_of(ptx_launch(module_tables(w->function->module), w->function->kernel, &w->launch));
        break;
    case WORK_COPY: run_copy(w); break;
    case WORK_SET: run_set(w); break;
    case WORK_EVENT:
        clock_gettime(CLOCK_MONOTONIC, &w->event->time);
        w->event->recorded = 1;
        break;
    case WORK_HOST:
    case WORK_LIBRARY: w->host_function(w->host_data); break;
    case WORK_GRAPH: graph_run(w); break;
    }
}

CUresult work_submit(CUstream stream, Work work) {
    CUgraph capture = object_is_live(OBJECT_STREAM, stream) ? stream->capture : NULL;
    CUresult result = driver_sticky_error;
    if (result != CUDA_SUCCESS)
        ;
    else if (capture)
        work_append(&capture->work, &work);
    else if (getenv("PTX_DEFER"))
        work_append(&deferred, &work);
    else
        work_run(&work);
    free_owned(&work);
    return result;
}

CUresult work_finish(void) {
    for (Work *w = deferred.first; w && driver_sticky_error == CUDA_SUCCESS; w = w->next)
        work_run(w);
    work_clear(&deferred);
    return driver_sticky_error;
}

/* ---- streams */

int stream_is_valid(CUstream s) {
    return !s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD || object_is_live(OBJECT_STREAM, s);
}

int stream_any_capturing(void) {
    return capturing != NULL;
}

CUresult stream_forbid_in_capture(void) {
    CUresult result = CUDA_SUCCESS;
    for (CUstream s = capturing; s; s = s->next)
        if (!s->is_relaxed) {
            s->is_invalid = 1;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

int stream_is_capturing(CUstream s) {
    return object_is_live(OBJECT_STREAM, s) && s->capture;
}

static CUresult create_stream(CUstream *out) {
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    *out = object_create(OBJECT_STREAM, sizeof **out);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API cuStreamCreate(CUstream *out, unsigned flags) {
    ENTER_CONTEXT();
    (void)flags;
    return create_stream(out);
}

API cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
    ENTER_CONTEXT();
    (void)flags, (void)priority;
    return create_stream(out);
}

static void end_capture(CUstream s) {
    CUstream *place = &capturing;
    while (*place != s)
        place = &(*place)->next;
    *place = s->next;
    s->capture = NULL;
}

static void drop_capture(CUstream s) {
    graph_destroy(s->capture);
    end_capture(s);
}

API cuStreamDestroy(CUstream s) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_STREAM, s), CUDA_ERROR_INVALID_HANDLE);
    CUresult result = work_finish();
    if (s->capture)
        drop_capture(s);
    object_destroy(OBJECT_STREAM, s);
    return result;
}

static CUresult synchronize(CUstream s) {
    REQUIRE(stream_is_valid(s), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(!stream_is_capturing(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return work_finish();
}

API cuStreamSynchronize(CUstream s) {
    ENTER_CONTEXT();
    return synchronize(s);
}

API cuStreamQuery(CUstream s) {
    ENTER_CONTEXT();
    return synchronize(s);
}

API cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags) {
    ENTER_CONTEXT();
    (void)flags;
    REQUIRE(stream_is_valid(s) && object_is_live(OBJECT_EVENT, e), CUDA_ERROR_INVALID_HANDLE);
    return driver_sticky_error; /* all streams run in one order */
}

API cuLaunchHostFunc(CUstream s, CUhostFn function, void *data) {
    ENTER_CONTEXT();
    REQUIRE(stream_is_valid(s), CUDA_ERROR_INVALID_HANDLE);
    return work_submit(s, (Work){.kind = WORK_HOST, .host_function = function, .host_data = data});
}

/* ---- capture */

API cuStreamBeginCapture(CUstream s, CUstreamCaptureMode mode) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_STREAM, s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REQUIRE(!s->capture, CUDA_ERROR_ILLEGAL_STATE);
    s->capture = graph_create(OBJECT_GRAPH);
    REQUIRE(s->capture, CUDA_ERROR_OUT_OF_MEMORY);
    s->is_relaxed = mode == CU_STREAM_CAPTURE_MODE_RELAXED;
    s->is_invalid = 0;
    s->next = capturing;
    capturing = s;
    return CUDA_SUCCESS;
}

API cuStreamEndCapture(CUstream s, CUgraph *out) {
    ENTER_CONTEXT();
    REQUIRE(out && object_is_live(OBJECT_STREAM, s), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(s->capture, CUDA_ERROR_ILLEGAL_STATE);
    *out = NULL;
    if (s->is_invalid) {
        drop_capture(s);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    *out = s->capture;
    end_capture(s);
    return CUDA_SUCCESS;
}

API cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status) {
    ENTER_CONTEXT();
    REQUIRE(status && stream_is_valid(s), CUDA_ERROR_INVALID_VALUE);
    *status = stream_is_capturing(s) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

/* ---- events */

API cuEventCreate(CUevent *out, unsigned flags) {
    ENTER_CONTEXT();
    (void)flags;
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    *out = object_create(OBJECT_EVENT, sizeof **out);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API cuEventDestroy(CUevent e) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_EVENT, e), CUDA_ERROR_INVALID_HANDLE);
    CUresult result = work_finish();
    object_destroy(OBJECT_EVENT, e);
    return result;
}

API cuEventRecord(CUevent e, CUstream s) {
    ENTER_CONTEXT();
    REQUIRE(stream_is_valid(s) && object_is_live(OBJECT_EVENT, e), CUDA_ERROR_INVALID_HANDLE);
    return work_submit(s, (Work){.kind = WORK_EVENT, .event = e});
}

API cuEventSynchronize(CUevent e) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_EVENT, e), CUDA_ERROR_INVALID_HANDLE);
    return work_finish();
}

API cuEventQuery(CUevent e) {
    ENTER_CONTEXT();
    REQUIRE(object_is_live(OBJECT_EVENT, e), CUDA_ERROR_INVALID_HANDLE);
    return work_finish();
}

API cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
    ENTER_CONTEXT();
    REQUIRE(milliseconds, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(object_is_live(OBJECT_EVENT, from) && object_is_live(OBJECT_EVENT, to), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(from->recorded && to->recorded, CUDA_ERROR_INVALID_HANDLE);
    double seconds =
        (double)(to->time.tv_sec - from->time.tv_sec) + 1e-9 * (double)(to->time.tv_nsec - from->time.tv_nsec);
    *milliseconds = (float)(1e3 * seconds);
    return CUDA_SUCCESS;
}
