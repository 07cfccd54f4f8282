/* A world's result is a function of its own numbers: not of the lanes, the threads, the instruction set, the number of
 * worlds, its place among them, the storage, or whether the step was in place. One hash per world is compared with
 * ==. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/hash_worlds.h"
#include "host/cpu/dispatch.h"
#include "support/need.h"
#include "support/random_model.h"
#include "support/work.h"

enum { MAX_WORLDS = 1000, STEPS = 30, LINKS = 14 };
static const double H = 0.005;

/* How a batch is run. World i holds content (i * multiplier + offset) % worlds. */
typedef struct Run {
    SapPrecision precision;
    SapDtype dtype;
    SapIsa isa;
    int lanes, threads, worlds, steps;
    int multiplier, offset;
    bool ping_pong;
} Run;

static SapSolver *make_solver(const SapModel *model, const Run *run) {
    SapOptions options;
    need(sap_options_preset("approx32", &options));
    options.free_motion_solve_precision = run->precision;
    options.isa = run->isa;
    options.lanes = run->lanes;
    options.threads = run->threads;
    options.constraint_speed = 1; /* random states are far off the constraints */
    SapSolver *solver;
    need(sap_solver_create(model, run->worlds, &options, &solver));
    SapSolverInfo info;
    need(sap_solver_info(solver, &info));
    cr_assert(info.lanes == run->lanes && info.isa == run->isa);
    return solver;
}

static int content_of(const Run *run, int world) {
    return (int)(((long)world * run->multiplier + run->offset) % run->worlds);
}

/* Fills hash[c] for every content c < run->worlds. */
static void run_batch(const SapModel *model, const Run *run, uint64_t *hash) {
    const SapModelArrays *m = sap_model_arrays(model);
    SapSolver *solver = make_solver(model, run);
    HashBatch a = hash_batch_create(m, run->worlds, run->dtype), b = hash_batch_create(m, run->worlds, run->dtype);
    for (int i = 0; i < run->worlds; i++)
        hash_fill(&a, i, (uint64_t)content_of(run, i));
    HashBatch *in = &a, *out = run->ping_pong ? &b : &a;
    for (int step = 0; step < run->steps; step++) {
        need(sap_step(solver, &in->state, &a.control, NULL, H, &out->state));
        HashBatch *swap = in;
        in = out;
        out = swap;
    }
    const uint32_t *status = sap_solver_world_status(solver);
    for (int i = 0; i < run->worlds; i++)
        hash[content_of(run, i)] = hash_world(in, i, status[i]);
    hash_batch_destroy(&a);
    hash_batch_destroy(&b);
    sap_solver_destroy(solver);
}

/* Lanes that the instruction set does not have are passed over. */
static void check_run(const SapModel *model, const Run *run, const uint64_t *reference) {
    static uint64_t hash[MAX_WORLDS];
    if (!sap_kernels_find(run->isa, run->lanes, SAP_FP32))
        return;
    run_batch(model, run, hash);
    for (int c = 0; c < run->worlds; c++)
        cr_assert_eq(hash[c], reference[c],
                     "content %d differs: %s, %d lanes, %d threads, %d worlds, %s storage, multiplier %d, %s", c,
                     sap_isa_name(run->isa), run->lanes, run->threads, run->worlds,
                     run->dtype == SAP_F32 ? "f32" : "f64", run->multiplier, run->ping_pong ? "ping-pong" : "in place");
}

/* Failed worlds keep their state and would compare equal for the wrong reason. */
static void check_worlds_moved(const SapModel *model, const Run *run) {
    static uint64_t before[MAX_WORLDS], after[MAX_WORLDS];
    Run shorter = *run;
    shorter.steps--;
    run_batch(model, &shorter, before);
    run_batch(model, run, after);
    for (int c = 0; c < run->worlds; c++) {
        cr_assert_neq(before[c], after[c], "world %d stands still", c);
        cr_assert(c == 0 || after[c] != after[c - 1], "worlds %d and %d are the same", c - 1, c);
    }
}

static const int lane_counts[] = {1, 4, 8, 16}, thread_counts[] = {1, 2, 3, 5};
static const int world_counts[] = {1, 3, 4, 5, 7, 32, 33, 1000};
enum { NUM_LANES = 4, NUM_THREADS = 4, NUM_WORLDS = 8 };

/* Every lane, thread and world count, for one instruction set. */
static void check_counts(const SapModel *model, Run run, int steps, int max_worlds, const uint64_t *reference) {
    run.steps = steps;
    for (int l = 0; l < NUM_LANES; l++) {
        for (int t = 0; t < NUM_THREADS; t++) {
            for (int w = 0; w < NUM_WORLDS && world_counts[w] <= max_worlds; w++) {
                run.lanes = lane_counts[l];
                run.threads = thread_counts[t];
                run.worlds = world_counts[w];
                check_run(model, &run, reference);
            }
        }
    }
}

/* The same contents at other places of the batch; multipliers are coprime to the counts. */
static void check_places(const SapModel *model, Run run, int max_worlds, const uint64_t *reference) {
    for (int l = 0; l < NUM_LANES; l++) {
        run.lanes = lane_counts[l];
        run.threads = 2;
        run.multiplier = 7;
        run.offset = 3;
        run.worlds = 33;
        check_run(model, &run, reference);
        run.worlds = 5;
        check_run(model, &run, reference);
        run.multiplier = 617;
        run.offset = 13;
        run.worlds = max_worlds;
        check_run(model, &run, reference);
    }
}

static void check_storage_and_ping_pong(const SapModel *model, Run run, const uint64_t *reference) {
    run.worlds = 33;
    run.threads = 2;
    for (int l = 0; l < NUM_LANES; l++) {
        run.lanes = lane_counts[l];
        run.ping_pong = true;
        check_run(model, &run, reference);
        if (run.precision == SAP_FP32) {
            run.dtype = SAP_F64;
            check_run(model, &run, reference);
            run.dtype = SAP_F32;
        }
        run.ping_pong = false;
    }
}

/* The best instruction set takes the full table. The others, in which a fused multiply-add may be a call, take fewer
 * worlds and fewer steps. */
static void check_model(SapModel *model, SapPrecision precision) {
    static uint64_t reference[MAX_WORLDS], early[MAX_WORLDS];
    Run run = {.precision = precision, .dtype = precision == SAP_FP32 ? SAP_F32 : SAP_F64, .multiplier = 1};
    need(sap_isa_resolve(SAP_ISA_AUTO, &run.isa));
    int max_worlds = work_scale() < 1 ? 33 : MAX_WORLDS;
    run.lanes = run.threads = 1;
    run.worlds = max_worlds;
    run.steps = work_scale() < 1 ? 8 : STEPS;
    run_batch(model, &run, reference);
    check_worlds_moved(model, &run);
    check_counts(model, run, run.steps, max_worlds, reference);
    check_places(model, run, max_worlds, reference);
    check_storage_and_ping_pong(model, run, reference);

    run.steps = 5;
    run_batch(model, &run, early);
    for (int isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++) {
        if (isa == (int)run.isa || !sap_isa_available((SapIsa)isa))
            continue;
        Run other = run;
        other.isa = (SapIsa)isa;
        check_counts(model, other, other.steps, 33, early);
    }
    sap_model_destroy(model);
}

static void check_scene(const char *name, SapPrecision precision) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.yaml", SAPWOOD_SOURCE_DIR, name);
    SapModel *model;
    need(sap_model_load(path, &model));
    check_model(model, precision);
}

/* Model i of six: scenes, one of them with every kind of constraint, all kinds of joints, and trees. */
static void check_case(int i, SapPrecision precision) {
    const char *const scenes[] = {"bench/scenes/quadruped", "bench/scenes/humanoid", "bench/scenes/gripper",
                                  "tests/scenes/linkages"};
    if (i < 4)
        check_scene(scenes[i], precision);
    else
        check_model(i == 4 ? random_chain_of_all(11) : random_forest(5, LINKS), precision);
}

typedef struct Case {
    int model;
    SapPrecision precision;
} Case;

ParameterizedTestParameters(determinism, a_world_has_the_same_bits_however_it_is_run) {
    static Case cases[12];
    for (int i = 0; i < 12; i++)
        cases[i] = (Case){i / 2, i % 2 ? SAP_FP64 : SAP_FP32};
    return cr_make_param_array(Case, cases, 12);
}

ParameterizedTest(const Case *c, determinism, a_world_has_the_same_bits_however_it_is_run) {
    check_case(c->model, c->precision);
}
