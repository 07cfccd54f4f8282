#define _GNU_SOURCE /* CPU_SET, pthread_setaffinity_np */
#include "host/cpu/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/stack.h"

/* A step of a small batch takes microseconds, and waking a sleeping thread takes tens of microseconds. Both sides
 * therefore spin before they sleep. */
enum { SPINS = 2000 };

typedef struct Worker {
    struct SapPool *pool;
    pthread_t thread;
    int index;
} Worker;

struct SapPool {
    int num_workers;
    int num_started; /* threads, not counting the caller */
    pid_t process;   /* where these threads run */
    Worker *worker;
    SapPoolFn *fn;
    void *arg;
    bool stop;
    atomic_uint round;  /* incremented by each run: a new value is the signal to start */
    atomic_int working; /* threads that have not finished this round */
    pthread_mutex_t mutex;
    pthread_cond_t started, finished;
};

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void await_round(SapPool *pool, unsigned seen) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool->round, memory_order_acquire) != seen)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load_explicit(&pool->round, memory_order_acquire) == seen)
        pthread_cond_wait(&pool->started, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

static void await_finish(SapPool *pool) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool->working, memory_order_acquire) == 0)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load_explicit(&pool->working, memory_order_acquire) != 0)
        pthread_cond_wait(&pool->finished, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

static void *work(void *arg) {
    Worker *me = arg;
    SapPool *pool = me->pool;
    sap_fp_mode_enter(); /* a thread starts in the mode of its creator */
    for (unsigned round = 0;; round++) {
        await_round(pool, round);
        if (pool->stop)
            return NULL;
        pool->fn(pool->arg, me->index, pool->num_workers);
        if (atomic_fetch_sub_explicit(&pool->working, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->finished);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
}

static void start_round(SapPool *pool) {
    atomic_store_explicit(&pool->working, pool->num_started, memory_order_relaxed);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add_explicit(&pool->round, 1, memory_order_release);
    pthread_cond_broadcast(&pool->started);
    pthread_mutex_unlock(&pool->mutex);
}

/* fork copies the calling thread only. */
static bool threads_are_elsewhere(const SapPool *pool) {
    return pool->num_started > 0 && pool->process != getpid();
}

SapStatus sap_pool_check(const SapPool *pool, const char *what) {
    SAP_TRY(sap_stack_check(what));
    if (!threads_are_elsewhere(pool))
        return SAP_OK;
    return sap_fail(SAP_ERROR_UNSUPPORTED,
                    "%s: created with %d threads in process %d, of which this process, %d, is a fork without these "
                    "threads; create it here, or with threads = 1",
                    what, pool->num_workers, (int)pool->process, (int)getpid());
}

void sap_pool_run(SapPool *pool, SapPoolFn *fn, void *arg) {
    pool->fn = fn;
    pool->arg = arg;
    if (pool->num_started > 0)
        start_round(pool);
    fn(arg, 0, pool->num_workers);
    if (pool->num_started > 0)
        await_finish(pool);
}

int sap_pool_cpus(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}

/* Worker w is pinned to the w-th CPU of the process's mask. Worker 0 is the caller's thread and is not pinned. */
static void pin(Worker *worker) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || worker->pool->num_workers > CPU_COUNT(&allowed))
        return;
    int skip = worker->index;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && skip-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(worker->thread, sizeof one, &one);
            return;
        }
    }
}

/* The default size of stacks follows a limit of the process (ulimit -s), which may be low. */
static int start_thread(Worker *worker) {
    pthread_attr_t attributes;
    size_t size = 0;
    pthread_attr_init(&attributes);
    if (pthread_attr_getstacksize(&attributes, &size) == 0 && size < 2 * SAP_STACK_BYTES)
        pthread_attr_setstacksize(&attributes, 2 * SAP_STACK_BYTES);
    int error = pthread_create(&worker->thread, &attributes, work, worker);
    pthread_attr_destroy(&attributes);
    return error;
}

/* Starts the threads of workers 1, 2, ... They block all signals, so that handlers run in the caller's threads. */
static SapStatus start_threads(SapPool *pool) {
    sigset_t all, before;
    int error = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 1; i < pool->num_workers && error == 0; i++) {
        Worker *worker = &pool->worker[i];
        *worker = (Worker){.pool = pool, .index = i};
        error = start_thread(worker);
        if (error == 0) {
            pool->num_started++;
            pin(worker);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MEMORY, "cannot start thread %d of %d; use fewer threads", pool->num_started + 2,
                    pool->num_workers);
}

SapStatus sap_pool_create(int num_workers, SapPool **out) {
    /* The pool and its synchronisation objects. */
    *out = NULL;
    SapPool *pool = sap_allocate(1, sizeof *pool, "thread pool");
    if (!pool)
        return SAP_ERROR_MEMORY;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->started, NULL);
    pthread_cond_init(&pool->finished, NULL);
    /* The workers. */
    pool->num_workers = num_workers;
    pool->worker = sap_allocate((size_t)num_workers, sizeof *pool->worker, "thread pool");
    if (!pool->worker) {
        sap_pool_destroy(pool);
        return SAP_ERROR_MEMORY;
    }
    /* The threads; worker 0 is the caller. */
    pool->process = getpid();
    SapStatus status = start_threads(pool);
    if (status != SAP_OK) {
        sap_pool_destroy(pool);
        return status;
    }
    *out = pool;
    return SAP_OK;
}

static void end_threads(SapPool *pool) {
    pool->stop = true;
    start_round(pool);
    for (int i = 1; i <= pool->num_started; i++)
        pthread_join(pool->worker[i].thread, NULL);
}

void sap_pool_destroy(SapPool *pool) {
    if (!pool)
        return;
    if (!threads_are_elsewhere(pool)) { /* else these objects have waiting threads that never leave them */
        if (pool->num_started > 0)
            end_threads(pool);
        pthread_cond_destroy(&pool->finished);
        pthread_cond_destroy(&pool->started);
        pthread_mutex_destroy(&pool->mutex);
    }
    free(pool->worker);
    free(pool);
}
