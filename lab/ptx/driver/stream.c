/* Streams, captures and events. */
#include "driver.h"

#include <time.h>

struct CUstream_st {
    Queue queue;
    CUgraph capture; /* NULL = not capturing */
    int is_relaxed;  /* the capture allows calls that others do not */
    int is_invalid;  /* it will fail */
    CUstream next;   /* of those that capture */
};

struct CUevent_st {
    struct timespec time;
    int recorded;
    Place place;     /* of the work that records it; no queue: never recorded */
    CUgraph capture; /* recorded in this capture; NULL: in none */
};

static CUstream capturing; /* list */

/* ---- streams */

/* The default stream and that of a thread, which always exist. */
Queue *queue_of(CUstream s) {
    static Queue legacy, per_thread;
    if (!legacy.work.last) {
        queue_open(&legacy, 1);
        queue_open(&per_thread, 1);
    }
    if (s == CU_STREAM_PER_THREAD)
        return &per_thread;
    return !s || s == CU_STREAM_LEGACY ? &legacy : &s->queue;
}

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

CUgraph stream_capture(CUstream s) {
    return object_is_live(OBJECT_STREAM, s) ? s->capture : NULL;
}

int stream_is_capturing(CUstream s) {
    return stream_capture(s) != NULL;
}

/* Work of the default stream would have to wait for a blocking stream that captures. */
CUresult stream_check(CUstream given, int spoils) {
    if (queue_of(given) != queue_of(NULL))
        return CUDA_SUCCESS;
    for (CUstream s = capturing; s; s = s->next)
        if (s->queue.is_blocking) {
            s->is_invalid |= spoils;
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    return CUDA_SUCCESS;
}

static CUresult create_stream(CUstream *out, unsigned flags) {
    REQUIRE(out && flags <= CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
    *out = object_create(OBJECT_STREAM, sizeof **out);
    REQUIRE(*out, CUDA_ERROR_OUT_OF_MEMORY);
    queue_open(&(*out)->queue, flags != CU_STREAM_NON_BLOCKING);
    return CUDA_SUCCESS;
}

API cuStreamCreate(CUstream *out, unsigned flags) {
    ENTER_CONTEXT();
    return create_stream(out, flags);
}

API cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
    ENTER_CONTEXT();
    (void)priority;
    return create_stream(out, flags);
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
    if (s->capture)
        drop_capture(s);
    queue_close(&s->queue);
    object_destroy(OBJECT_STREAM, s);
    return driver_sticky_error;
}

CUresult stream_wait(CUstream s) {
    return place_wait((Place){queue_of(s), ALL_WORK});
}

static CUresult synchronize(CUstream s) {
    REQUIRE(stream_is_valid(s), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(!stream_is_capturing(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return stream_wait(s);
}

API cuStreamSynchronize(CUstream s) {
    ENTER_CONTEXT();
    return synchronize(s);
}

API cuStreamQuery(CUstream s) {
    ENTER_CONTEXT();
    return synchronize(s);
}

/* Programming guide, "Prohibited and Unhandled Operations". That a capture takes in another stream, which waits for one of
 * its events, is not known here. */
API cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags) {
    ENTER_CONTEXT();
    (void)flags;
    REQUIRE(stream_is_valid(s) && object_is_live(OBJECT_EVENT, e), CUDA_ERROR_INVALID_HANDLE);
    CUgraph capture = stream_capture(s);
    if (capture && e->capture != capture) {
        s->is_invalid = 1;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    REQUIRE(!e->capture || capture, CUDA_ERROR_CAPTURED_EVENT);
    if (capture || !e->place.queue)
        return driver_sticky_error;
    return work_submit(s, (Work){.kind = WORK_WAIT, .place = e->place});
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
    TRY(stream_check(s, 0));
    *status = stream_is_capturing(s) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

/* ---- events */

void event_take_place(CUevent e) {
    clock_gettime(CLOCK_MONOTONIC, &e->time);
    e->recorded = 1;
}

void event_set_place(CUevent e, CUgraph capture, Place place) {
    e->capture = capture;
    e->place = place;
}

static CUresult wait_for(CUevent e) {
    REQUIRE(object_is_live(OBJECT_EVENT, e), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(!e->capture, CUDA_ERROR_CAPTURED_EVENT);
    return place_wait(e->place);
}

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
    return wait_for(e);
}

API cuEventQuery(CUevent e) {
    ENTER_CONTEXT();
    return wait_for(e);
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
