#include "host/cpu/sensors.h"

#include "host/base/fail.h"
#include "host/cpu/dispatch.h"

/* A function of the kernels on `items` items: one of the two. */
typedef struct Job {
    SapSolver *solver;
    const SapRayArgs *rays;
    void (*cast)(const SapRayArgs *args, long long begin, long long end);
    const SapSenseArgs *sensors;
    void (*sense)(const SapSenseArgs *args, long long begin, long long end);
    long long items, part; /* a thread takes `part` items at a time */
} Job;

static void run_parts(void *arg, int worker, int num_workers) {
    const Job *job = arg;
    int from = worker;
    for (int p; (p = sap_work_ranges_take(job->solver->ranges, worker, num_workers, &from)) >= 0;) {
        long long begin = p * job->part, end = begin + job->part;
        end = end < job->items ? end : job->items;
        if (job->cast)
            job->cast(job->rays, begin, end);
        else
            job->sense(job->sensors, begin, end);
    }
}

static void run_items(Job *job) {
    enum { FEW = 32, MANY_PARTS = 1 << 20 }; /* items per part; parts of a call, which are counted in an int */
    if (job->items == 0)
        return;
    job->part = job->items / MANY_PARTS + FEW;
    sap_work_ranges_start(job->solver->ranges, job->solver->threads, (int)((job->items - 1) / job->part + 1));
    sap_pool_run(job->solver->pool, run_parts, job);
}

SapStatus sap_solver_raycast(SapSolver *s, const char *what, const SapRayArgs *args) {
    const SapSensorKernels *kernels = sap_sensor_kernels_find(s->isa, args->is_f64 ? SAP_FP64 : SAP_FP32);
    long long n = args->num_worlds, moving = args->sees_moving ? args->shapes.num_moving : 0;
    SAP_TRY(sap_pool_check(s->pool, what));
    /* rays depend on no other parameter */
    for (int w = 0; w < s->num_worlds && s->per_world.parameter[SAP_PARAMETER_SHAPE_MESH].given; w++)
        sap_per_world_refresh(&s->per_world, w);
    run_items(&(Job){.solver = s, .rays = args, .cast = kernels->place_shapes, .items = n * moving});
    run_items(&(Job){.solver = s, .rays = args, .cast = kernels->cast_rays, .items = n * args->num_rays});
    return SAP_OK;
}

SapStatus sap_solver_sense(SapSolver *s, const char *what, const SapSenseArgs *args) {
    const SapSensorKernels *kernels = sap_sensor_kernels_find(s->isa, args->is_f64 ? SAP_FP64 : SAP_FP32);
    long long items = (long long)args->num_worlds * args->items;
    SAP_TRY(sap_pool_check(s->pool, what));
    run_items(&(Job){.solver = s, .sensors = args, .sense = kernels->sense, .items = items});
    return SAP_OK;
}
