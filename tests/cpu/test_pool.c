/* The thread pool: every worker once per round, whatever the number of CPUs; and that a step allocates nothing. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/cpu/work_ranges.h"
#include "host/cpu/pool.h"
#include "support/sample_model.h"
#include "support/work.h"

enum { MAX_WORKERS = 8 };

static SapPool *pool_of(int workers) {
    SapPool *pool;
    cr_assert_eq(sap_pool_create(workers, &pool), SAP_OK, "%s", sap_error_message());
    return pool;
}

/* ---- rounds ---- */

/* Plain integers on purpose: a round that overlaps the next would be a race for the thread sanitizer to find. */
typedef struct Rounds {
    int calls[MAX_WORKERS];
    int workers; /* as told to the function */
    pthread_t thread[MAX_WORKERS];
    int round;
} Rounds;

static void count_call(void *arg, int worker, int num_workers) {
    Rounds *r = arg;
    r->calls[worker]++;
    r->thread[worker] = pthread_self();
    if (worker == 0)
        r->workers = num_workers;
}

Test(pool, every_worker_runs_once_per_round) {
    for (int workers = 1; workers <= MAX_WORKERS; workers++) {
        /* rounds with more workers than CPUs take a thousand times as long */
        int rounds = (int)((workers <= sap_pool_cpus() ? 5000 : 300) * work_scale()) + 10;
        SapPool *pool = pool_of(workers);
        Rounds r = {0};
        for (r.round = 0; r.round < rounds; r.round++) {
            sap_pool_run(pool, count_call, &r);
            cr_assert_eq(r.workers, workers);
            for (int w = 0; w < MAX_WORKERS; w++)
                cr_assert_eq(r.calls[w], w < workers ? r.round + 1 : 0, "worker %d of %d, round %d", w, workers,
                             r.round);
        }
        sap_pool_destroy(pool);
    }
}

Test(pool, worker_0_is_the_caller_and_each_worker_keeps_its_thread) {
    SapPool *pool = pool_of(4);
    Rounds first = {0};
    sap_pool_run(pool, count_call, &first);
    cr_assert(pthread_equal(first.thread[0], pthread_self()));
    for (int w = 1; w < 4; w++)
        for (int k = 0; k < w; k++)
            cr_assert(!pthread_equal(first.thread[w], first.thread[k]));
    for (int i = 0; i < 100; i++) {
        Rounds r = {0};
        sap_pool_run(pool, count_call, &r);
        for (int w = 0; w < 4; w++)
            cr_assert(pthread_equal(r.thread[w], first.thread[w]));
    }
    sap_pool_destroy(pool);
}

static void pause_ms(long ms) {
    struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

/* Workers look for a while before they sleep: rounds that come late find them asleep, and some workers finish late. */
static void count_slowly(void *arg, int worker, int num_workers) {
    Rounds *r = arg;
    if ((worker + r->round) % 3 == 0)
        pause_ms(1);
    count_call(arg, worker, num_workers);
}

Test(pool, sleeping_and_late_workers_are_waited_for) {
    SapPool *pool = pool_of(5);
    Rounds r = {0};
    for (r.round = 0; r.round < 60; r.round++) {
        if (r.round % 4 == 0)
            pause_ms(3);
        sap_pool_run(pool, count_slowly, &r);
        for (int w = 0; w < 5; w++)
            cr_assert_eq(r.calls[w], r.round + 1);
    }
    sap_pool_destroy(pool);
}

/* ---- dealing ---- */

enum { MAX_PACKS = 1000 };

/* Plain integers: a pack that two workers had would be a race too. */
typedef struct Packs {
    SapWorkRange deal[MAX_WORKERS];
    int taken[MAX_PACKS], by[MAX_PACKS];
    int slow; /* this worker waits until the others are done; -1: none */
    atomic_int left;
} Packs;

static void take_packs(void *arg, int worker, int num_workers) {
    Packs *p = arg;
    int from = worker;
    for (int i = 0; i < 2000 && worker == p->slow && atomic_load(&p->left) > 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    for (int pack; (pack = sap_work_ranges_take(p->deal, worker, num_workers, &from)) >= 0;) {
        p->taken[pack]++;
        p->by[pack] = worker;
        atomic_fetch_sub(&p->left, 1);
    }
}

static void deal_packs(Packs *p, int workers, int packs, int slow) {
    SapPool *pool = pool_of(workers);
    memset(p, 0, sizeof *p);
    p->slow = slow;
    atomic_init(&p->left, packs);
    sap_work_ranges_start(p->deal, workers, packs);
    sap_pool_run(pool, take_packs, p);
    sap_pool_destroy(pool);
}

Test(pool, every_pack_is_dealt_once) {
    static Packs p;
    static const int counts[] = {1, 2, 7, 64, MAX_PACKS};
    for (int workers = 1; workers <= MAX_WORKERS; workers++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            deal_packs(&p, workers, counts[i], -1);
            for (int k = 0; k < counts[i]; k++)
                cr_assert_eq(p.taken[k], 1, "pack %d of %d, %d workers", k, counts[i], workers);
        }
}

Test(pool, the_packs_of_a_slow_worker_are_taken_by_others) {
    static Packs p;
    for (int slow = 0; slow < 3; slow++) {
        deal_packs(&p, 3, 30, slow);
        for (int k = 0; k < 30; k++)
            cr_assert(p.taken[k] == 1 && p.by[k] != slow, "pack %d was taken %d times, by worker %d", k, p.taken[k],
                      p.by[k]);
    }
}

Test(pool, a_worker_begins_with_its_own_range) {
    SapWorkRange deal[3];
    sap_work_ranges_start(deal, 3, 10);
    for (int w = 2; w >= 0; w--) {
        int from = w;
        cr_expect_eq(sap_work_ranges_take(deal, w, 3, &from), 10 * w / 3);
    }
}

/* ---- lifetime ---- */

Test(pool, can_be_made_and_destroyed_many_times) {
    for (int i = 0; i < (int)(300 * work_scale()) + 20; i++) {
        Rounds r = {0};
        SapPool *pool = pool_of(1 + i % MAX_WORKERS);
        if (i % 3) /* some are never used */
            sap_pool_run(pool, count_call, &r);
        if (i % 7 == 0)
            pause_ms(1); /* some are asleep */
        sap_pool_destroy(pool);
    }
    sap_pool_destroy(NULL);
}

Test(pool, several_pools_do_not_disturb_each_other) {
    SapPool *a = pool_of(3), *b = pool_of(2);
    Rounds ra = {0}, rb = {0};
    for (int i = 0; i < 500; i++) {
        sap_pool_run(a, count_call, &ra);
        sap_pool_run(b, count_call, &rb);
    }
    for (int w = 0; w < 3; w++)
        cr_assert(ra.calls[w] == 500 && rb.calls[w] == (w < 2 ? 500 : 0));
    sap_pool_destroy(a);
    sap_pool_destroy(b);
}

Test(pool, sees_the_cpus_of_this_process) {
    cr_assert_geq(sap_pool_cpus(), 1);
}

/* ---- a step allocates nothing ----
 * The whole program's allocator is replaced by one that counts and asks glibc. Sanitizers bring their own. */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_ALLOCATOR 0
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#undef OWN_ALLOCATOR
#define OWN_ALLOCATOR 0
#endif
#ifndef OWN_ALLOCATOR
#define OWN_ALLOCATOR 1
#endif

#if OWN_ALLOCATOR
static atomic_long allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, size);
}
void *realloc(void *p, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(p, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(alignment, size);
}
int posix_memalign(void **out, size_t alignment, size_t size) {
    atomic_fetch_add(&allocations, 1);
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

/* A contact in every world, of body 0 with the ground that presses on it from below. */
static SapContacts *touching(int worlds) {
    SapContacts *c;
    cr_assert_eq(sap_contacts_create(worlds, 2, SAP_F32, &c), SAP_OK);
    for (int w = 0; w < worlds; w++) {
        c->count[w] = 1;
        c->body1[2 * w] = 0;
        ((float *)c->normal)[6 * w + 2] = 1;
        ((float *)c->margin0)[2 * w] = 100; /* deep, wherever the body is */
    }
    return c;
}

static void check_steps_allocate_nothing(SapPrecision precision, int threads) {
    enum { WORLDS = 50 };
    SampleModel sample;
    SapModel *model;
    sample_model_init(&sample);
    cr_assert_eq(sap_model_create(&sample.arrays, &model), SAP_OK);
    SapOptions options;
    cr_assert_eq(sap_options_preset("approx32", &options), SAP_OK);
    options.free_motion_precision = precision;
    options.threads = threads;
    SapSolver *solver;
    SapState *a, *b;
    SapControl *control;
    cr_assert_eq(sap_solver_create(model, WORLDS, &options, &solver), SAP_OK);
    cr_assert_eq(sap_state_create(model, WORLDS, SAP_F32, &a), SAP_OK);
    cr_assert_eq(sap_state_create(model, WORLDS, SAP_F64, &b), SAP_OK);
    cr_assert_eq(sap_control_create(model, WORLDS, SAP_F32, &control), SAP_OK);
    ((float *)a->joint_qd)[7] = 1e30f; /* failing worlds allocate nothing either */
    long start = atomic_load(&allocations);
    SapContacts *contacts = touching(WORLDS);
    cr_assert_gt(atomic_load(&allocations), start, "what the library allocates is not counted");

    long before = atomic_load(&allocations);
    for (int i = 0; i < 50; i++) {
        sap_step(solver, a, control, contacts, 0.001, b);
        sap_step(solver, b, NULL, NULL, 0.001, a);
        sap_forward_kinematics(solver, a);
    }
    long after = atomic_load(&allocations);
    cr_assert_eq(after, before, "%ld allocations in 100 steps", after - before);
    cr_assert(sap_step(solver, a, control, contacts, 0.001, b) == SAP_OK &&
                  (sap_solver_world_status(solver)[WORLDS - 1] & (SAP_WORLD_OPTIMAL | SAP_WORLD_COST_SETTLED)),
              "nothing was solved");

    sap_contacts_destroy(contacts);
    sap_control_destroy(control);
    sap_state_destroy(a);
    sap_state_destroy(b);
    sap_solver_destroy(solver);
    sap_model_destroy(model);
}

/* Every call finds new values in one world, and bad ones in another. */
static void check_parameters_allocate_nothing(int threads) {
    enum { WORLDS = 20 };
    SampleModel sample;
    SapModel *model;
    SapBatch *batch;
    SapOptions options;
    sample_model_init(&sample);
    cr_assert_eq(sap_model_create(&sample.arrays, &model), SAP_OK);
    cr_assert_eq(sap_options_preset("approx32", &options), SAP_OK);
    options.threads = threads;
    cr_assert_eq(sap_batch_create(model, WORLDS, &options, &batch), SAP_OK);
    SapArray mass, inertia;
    cr_assert_eq(sap_batch_expand(batch, SAP_PARAMETER_BODY_MASS, &mass), SAP_OK);
    cr_assert_eq(sap_batch_expand(batch, SAP_PARAMETER_BODY_INERTIA, &inertia), SAP_OK);
    ((double *)inertia.data)[7 * inertia.strides[0] / 8] = -1;
    long before = atomic_load(&allocations);
    for (int i = 0; i < 50; i++) {
        ((double *)mass.data)[3 * mass.shape[1]] += 0.1;
        ((double *)inertia.data)[7 * inertia.strides[0] / 8] -= 1;
        cr_assert_eq(sap_batch_step(batch, 0.001, 1), SAP_OK);
    }
    long after = atomic_load(&allocations);
    cr_assert_eq(after, before, "%ld allocations in 50 steps", after - before);
    cr_assert_eq(sap_solver_world_status(sap_batch_solver(batch))[7], (uint32_t)SAP_WORLD_BAD_PARAMETERS);
    sap_batch_destroy(batch);
    sap_model_destroy(model);
}

Test(pool, steps_that_read_new_parameters_allocate_nothing) {
    for (int threads = 1; threads <= 3; threads++)
        check_parameters_allocate_nothing(threads);
}

Test(pool, steps_allocate_nothing) {
    for (int threads = 1; threads <= 4; threads++) {
        check_steps_allocate_nothing(SAP_FP32, threads);
        check_steps_allocate_nothing(SAP_FP64, threads);
    }
}
#endif
