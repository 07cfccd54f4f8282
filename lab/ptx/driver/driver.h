/* A stand-in for the CUDA driver library: the part of its API that a host side like ours calls, on top of the PTX
 * runtime. Only public names of <cuda.h> are exported; <cuda.h> itself maps a name to its version (cuMemAlloc is
 * cuMemAlloc_v2).
 *
 *   guard.c     what every call begins with: the lock, injected failures, the state of the library
 *   objects.c   handles: which are live, and what was not released in the end
 *   library.c   what the stand-ins for NVIDIA's libraries call
 *   work.c      work in the queues of streams
 *   image.c     PTX text and fatbins
 *   device.c context.c module.c memory.c stream.c launch.c graph.c error.c    the API */
#ifndef PTX_DRIVER_H
#define PTX_DRIVER_H

#define _GNU_SOURCE
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "../runtime/device_memory.h"
#include "../runtime/launch.h"

#define API __attribute__((visibility("default"))) CUresult CUDAAPI

/* ---- guard.c */

typedef struct Guard {
    CUresult error;
} Guard;
Guard guard_enter(const char *function, int needs_context);
void guard_leave(Guard *guard);

/* Begins a function of the API: returns from it if the call fails by injection or for want of cuInit. */
#define ENTER_(needs_context)                                                                                          \
    Guard guard __attribute__((cleanup(guard_leave))) = guard_enter(__func__, needs_context);                          \
    if (guard.error != CUDA_SUCCESS)                                                                                   \
    return guard.error
#define ENTER()         ENTER_(0)
#define ENTER_CONTEXT() ENTER_(1)

#define REQUIRE(condition, error)                                                                                      \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return error;                                                                                              \
    } while (0)
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        CUresult result_ = (call);                                                                                     \
        if (result_ != CUDA_SUCCESS)                                                                                   \
            return result_;                                                                                            \
    } while (0)

extern int driver_initialised;
/* The error of an earlier launch, which all later calls of the context return, as CUDA does. */
extern CUresult driver_sticky_error;
/* Explains an error on standard error: the real library would not, but a test is read by people. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- objects.c */

typedef enum {
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_MODULE,
    OBJECT_GRAPH,
    OBJECT_BODY,
    OBJECT_GRAPH_EXEC,
    OBJECT_PINNED,
    NUM_OBJECT_KINDS
} ObjectKind;
/* Zeroed memory of the size, live until object_destroy. NULL if there is none. */
void *object_create(ObjectKind kind, size_t size);
int object_is_live(ObjectKind kind, const void *object);
void object_destroy(ObjectKind kind, void *object);

/* ---- device.c, context.c */

int device_exists(CUdevice device);
int device_capability(void); /* 80, 90, 100: PTX_DEVICE */
int device_shared_optin(void);
int driver_version(void); /* of CUDA: 13000 */
int context_is_current(void);
int context_num_retained(void);

/* ---- image.c */

/* The PTX of an image, as text to free. */
CUresult image_ptx(const void *image, char **out);

/* ---- module.c */

struct CUfunc_st {
    CUmodule module;
    const Kernel *kernel;
    int max_dynamic_shared;
};
const DeviceModule *module_tables(CUmodule module);

/* ---- work.c */

typedef enum {
    WORK_LAUNCH,
    WORK_COPY,
    WORK_SET,
    WORK_EVENT,
    WORK_WAIT, /* for work of another queue */
    WORK_HOST,
    WORK_LIBRARY, /* of a stand-in for one of NVIDIA's libraries: what would be its kernels */
    WORK_GRAPH    /* a graph in a graph, or the launch of one */
} WorkKind;

/* A piece of work in the queue of a stream: that of the number, and all before it. */
typedef struct Place {
    struct Queue *queue;
    unsigned long long number;
} Place;
#define ALL_WORK (~0ull)

typedef struct Work {
    WorkKind kind;
    unsigned long long number; /* work given later has a larger one, in all queues */
    Place place;               /* wait */
    CUfunction function;       /* launch */
    PtxLaunch launch;
    unsigned char *params; /* owned */
    void *to;              /* copy, set */
    const void *from;
    size_t size;
    unsigned value;
    unsigned value_bytes;
    CUevent event;
    CUhostFn host_function;    /* host, library */
    void *host_data;           /* library: owned, of `size` bytes */
    CUgraph body;              /* graph: owned */
    const struct Work *origin; /* in a graph made executable: the node of the graph it comes from */
    struct Work *next;
} Work;

typedef struct WorkList {
    Work *first, **last;
    size_t count;
} WorkList;

Work *work_append(WorkList *list, const Work *work); /* copies it, and what it owns */
void work_clear(WorkList *list);
/* Runs it, keeps it for the next synchronisation, or records it in the graph the stream captures. Takes what it
 * owns. */
CUresult work_submit(CUstream stream, Work work);
void work_run(Work *work);
CUresult work_finish(void); /* runs everything */

typedef struct Queue {
    WorkList work;
    int is_blocking; /* ordered with the default stream */
    struct Queue *next;
} Queue;

void queue_open(Queue *queue, int is_blocking);
void queue_close(Queue *queue); /* runs what is left */
void queue_run(Queue *queue, unsigned long long number);
CUresult place_wait(Place place);

/* ---- stream.c */

Queue *queue_of(CUstream stream);
CUgraph stream_capture(CUstream stream); /* NULL: it does not capture */
/* Whether work can be given to it; spoils: if not, the capture in its way fails. */
CUresult stream_check(CUstream stream, int spoils);
CUresult stream_wait(CUstream stream);
void event_take_place(CUevent event);
void event_set_place(CUevent event, CUgraph capture, Place place);
int stream_is_valid(CUstream stream);
int stream_is_capturing(CUstream stream);
int stream_any_capturing(void);
/* To be called by what no capture allows: all captures fail. */
CUresult stream_forbid_in_capture(void);

/* ---- launch.c */

u64 launch_local_bytes(void); /* local memory taken so far */
CUresult launch_prepare(Work *work, CUfunction f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                        void **params, void **extra);

/* ---- graph.c */

struct CUgraph_st {
    WorkList work;
};
/* kind: OBJECT_GRAPH, which the user destroys, or OBJECT_BODY, which belongs to a node. */
CUgraph graph_create(ObjectKind kind);
CUgraph graph_clone(CUgraph graph); /* as a body */
void graph_destroy(CUgraph graph);
void graph_run(const Work *work);

#endif
