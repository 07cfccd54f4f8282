/* Work of streams: lists, and a queue per stream. Without PTX_DEFER work runs when it is given, which is one of the orders
 * that CUDA allows. With PTX_DEFER=1 it runs as late as CUDA allows: only when somebody waits for it, and of other streams
 * no more than it depends on. That shows a host that frees or changes memory too early, and one that reads or writes memory
 * in a stream that does not wait for another one's work. */
#include "driver.h"

#include <string.h>
#include <time.h>

static Queue *queues; /* list of those with work to come */
static unsigned long long last_number;

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
    case WORK_EVENT: event_take_place(w->event); break;
    case WORK_WAIT: break; /* the queue has run what it waits for */
    case WORK_HOST:
    case WORK_LIBRARY: w->host_function(w->host_data); break;
    case WORK_GRAPH: graph_run(w); break;
    }
}

/* ---- queues */

void queue_open(Queue *q, int is_blocking) {
    *q = (Queue){.work = {.last = &q->work.first}, .is_blocking = is_blocking, .next = queues};
    queues = q;
}

static int is_open(const Queue *queue) {
    const Queue *q = queues;
    while (q && q != queue)
        q = q->next;
    return q != NULL;
}

static Work *take_first(Queue *q) {
    Work *w = q->work.first;
    q->work.first = w->next;
    q->work.count--;
    if (!w->next)
        q->work.last = &q->work.first;
    return w;
}

/* Runs the work of other queues that comes before w. The default stream and the blocking streams wait for each other.
 * All of that was given earlier, so this ends. */
static void run_before(const Queue *q, const Work *w) {
    Queue *legacy = queue_of(NULL);
    for (Queue *other = queues; other && q == legacy; other = other->next)
        if (other->is_blocking && other != legacy)
            queue_run(other, w->number);
    if (q->is_blocking && q != legacy)
        queue_run(legacy, w->number);
    if (w->kind == WORK_WAIT && is_open(w->place.queue))
        queue_run(w->place.queue, w->place.number);
}

void queue_run(Queue *q, unsigned long long number) {
    while (q->work.first && q->work.first->number <= number && driver_sticky_error == CUDA_SUCCESS) {
        run_before(q, q->work.first);
        Work *w = take_first(q);
        if (driver_sticky_error == CUDA_SUCCESS)
            work_run(w);
        free_owned(w);
        free(w);
    }
}

void queue_close(Queue *q) {
    Queue **place = &queues;
    queue_run(q, ALL_WORK);
    work_clear(&q->work);
    while (*place != q)
        place = &(*place)->next;
    *place = q->next;
}

CUresult place_wait(Place place) {
    if (place.queue && is_open(place.queue))
        queue_run(place.queue, place.number);
    return driver_sticky_error;
}

CUresult work_submit(CUstream stream, Work work) {
    Queue *queue = queue_of(stream);
    CUgraph capture = stream_capture(stream);
    CUresult result = driver_sticky_error == CUDA_SUCCESS ? stream_check(stream, 1) : driver_sticky_error;
    work.number = ++last_number;
    if (work.kind == WORK_EVENT)
        event_set_place(work.event, capture, (Place){queue, work.number});
    if (result != CUDA_SUCCESS)
        ;
    else if (capture)
        work_append(&capture->work, &work);
    else if (getenv("PTX_DEFER"))
        work_append(&queue->work, &work);
    else
        work_run(&work);
    free_owned(&work);
    return result;
}

CUresult work_finish(void) {
    for (Queue *q = queues; q; q = q->next)
        queue_run(q, ALL_WORK);
    for (Queue *q = queues; q; q = q->next)
        work_clear(&q->work);
    return driver_sticky_error;
}
