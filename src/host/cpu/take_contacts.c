#include "host/cpu/take_contacts.h"

#include "host/base/fail.h"

/* Worlds that a thread takes at once. */
enum { PART = 64 };

typedef struct Job {
    SapSolver *solver;
    const SapTakeArgs *args;
} Job;

static void take_parts(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    int from = worker;
    for (int p; (p = sap_work_ranges_take(job->solver->ranges, worker, num_workers, &from)) >= 0;)
        for (int w = p * PART; w < job->args->num_worlds && w < (p + 1) * PART; w++)
            take_contacts(job->args, w);
}

SapStatus sap_solver_take_contacts(SapSolver *s, const char *what, const SapTakeArgs *args) {
    SAP_TRY(sap_pool_check(s->pool, what));
    sap_work_ranges_start(s->ranges, s->threads, (args->num_worlds - 1) / PART + 1);
    sap_pool_run(s->pool, take_parts, &(Job){s, args});
    return SAP_OK;
}
