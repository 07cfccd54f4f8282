/* generate [--from SEED] [--count N] [--print]: runs random scenes in ways that must not change a bit, and compares the
 * statuses of their steps with residuals. One seed is one scene with its options. The first scenes together have every
 * pair of levels of the factors of case.h.
 *
 *   --from SEED, --count N   seeds SEED .. SEED + N - 1; default 0 and as many as have all pairs
 *   --print                  writes the scenes to stdout instead, as scene files of `sapwood run`
 *
 * A failure is printed with its seed, with what differs, and with the properties of the run that alone make the
 * difference. Ends with 1 if there is one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sapwood/sapwood.h>

#include "generate/case.h"
#include "generate/scene.h"
#include "generate/truth.h"
#include "support/random.h"
#include "support/ways.h"
#include "support/work.h"

enum { SOLVERS = 6 };

/* What was run. */
typedef struct Totals {
    long scenes, refused, failures, runs;
    Truth truth;
} Totals;

/* The seed that is run, for the message of a crash. */
static volatile sig_atomic_t current;
static const char *program;

static void repeat_with(uint64_t seed) {
    printf("    repeat: %s --from %llu --count 1; the scene: --print\n", program, (unsigned long long)seed);
}

static void crash(int number) {
    char text[64] = "\ngenerate: crash in seed ", digits[16];
    int n = 0, at = (int)strlen(text);
    for (int seed = current; seed > 0 || n == 0; seed /= 10)
        digits[n++] = (char)('0' + seed % 10);
    while (n > 0)
        text[at++] = digits[--n];
    text[at++] = '\n';
    if (write(STDERR_FILENO, text, (size_t)at) >= 0)
        signal(number, SIG_DFL);
    raise(number);
}

/* ---- ways ---- */

enum { WORLDS = 9, STEPS = 2, WAYS = 4 };

/* A scene with its seed. */
typedef struct Job {
    uint64_t seed;
    Case c;
    SapScene *scene;
    Truth truth;
    Subject subject;
} Job;

static SapStatus true_step(SapBatch *batch, const SapScene *scene, void *truth) {
    return truth_step(batch, scene->model, &scene->options, scene->dt, truth);
}

static void make_subject(Job *job) {
    job->subject = (Subject){.scene = job->scene,
                             .seed = job->seed,
                             .worlds = WORLDS,
                             .steps = STEPS,
                             .step = true_step,
                             .context = &job->truth,
                             .own = case_has(&job->c, FACTOR_PARAMETERS, "own"),
                             .poisoned = job->seed % 2,
                             .sensors = job->seed % 3 == 0};
    job->subject.dtype = case_has(&job->c, FACTOR_DTYPE, "preset") ? PRESET_DTYPE
                         : case_has(&job->c, FACTOR_DTYPE, "f32")  ? (int)SAP_F32
                                                                   : (int)SAP_F64;
}

/* The ways besides the first, which is one lane, with properties that are not given here random. */
static Way way_of(const Job *job, int k) {
    static const int lanes[WAYS] = {4, 8, 16, 1}, isa[WAYS] = {SAP_ISA_AVX2, SAP_ISA_AUTO, SAP_ISA_AVX512, 0};
    Random random = random_seed(job->seed * 77u + (uint64_t)k);
    random_bits(&random);
    Way way = {
        .lanes = lanes[k], .threads = 1 + random_below(&random, 3), .isa = isa[k], .split = k == 2, .bare = k == 3};
    way.plan = k == 1 ? SAP_FACTOR_SPARSE : k == 2 ? random_below(&random, 2) : SAP_FACTOR_DENSE;
    way.broad_phase = random_below(&random, 4);
    way.offset = random_below(&random, WORLDS);
    way.multiplier = 1 + random_below(&random, 2);
    way.worlds = k == 1 ? 1 + random_below(&random, 2 * WORLDS) : 0;
    if (k == 1 && random_below(&random, 2))
        way.split = way.given = 1;
    way.resume = k < 2 ? random_below(&random, CALLS) : 0;
    return way;
}

/* ---- failures ---- */

static void fail(const Job *job, Totals *t, const char *what) {
    printf("seed %llu, %s, %s: %s\n", (unsigned long long)job->seed, case_text(&job->c, FACTOR_SOLVER),
           case_text(&job->c, FACTOR_PRESET), what);
    t->failures++;
}

static void print_difference(const Job *job, const Way *way, const Log *expected, const Log *got,
                             const Difference *at) {
    char text[256];
    way_text(way, text, sizeof text);
    printf("    call %d, world %d at place %d, %s[%d] is %.17g instead of %.17g: %s\n", at->call, got->world[at->place],
           at->place, sap_batch_field_names()[at->field], at->element, at->got, at->expected, text);
    way_blame(&job->subject, way, expected, text, sizeof text);
    printf("    alone: %s\n", text);
    repeat_with(job->seed);
}

/* ---- one scene ---- */

static void add_truth(Totals *t, const Job *job) {
    const Truth *truth = &job->truth;
    truth_add(&t->truth, truth);
    if (truth->message[0]) {
        fail(job, t, truth->message);
        repeat_with(job->seed);
    }
}

static void compare(const Job *job, Totals *t, const Log *expected, int k) {
    Way way = way_of(job, k);
    Log log;
    Difference at;
    SapStatus status = way_run(&job->subject, &way, &log);
    t->runs++;
    if (status != SAP_OK) {
        fail(job, t, sap_error_message());
        repeat_with(job->seed);
    } else if (log_differs(expected, &log, &way, &at)) {
        fail(job, t, "other bits");
        print_difference(job, &way, expected, &log, &at);
    }
    log_free(&log);
}

static void run_job(Job *job, Totals *t) {
    Log expected;
    make_subject(job);
    SapStatus status = way_run(&job->subject, &(Way){0}, &expected);
    t->runs++;
    if (status != SAP_OK) {
        printf("seed %llu: refused: %s\n", (unsigned long long)job->seed, sap_error_message());
        t->refused++;
    }
    for (int k = 0; k < WAYS && status == SAP_OK; k++)
        compare(job, t, &expected, k);
    add_truth(t, job);
    log_free(&expected);
}

/* all: by solver. */
static void run_seed(uint64_t seed, bool print, Totals *all) {
    Job job = {.seed = seed, .c = case_of_seed(seed)};
    Totals *t = &all[job.c.level[FACTOR_SOLVER]];
    char *text = scene_text(seed, &job.c);
    current = (sig_atomic_t)seed;
    t->scenes++;
    if (text && print)
        fputs(text, stdout);
    else if (!text || sap_scene_parse(text, strlen(text), "generated", &job.scene) != SAP_OK) {
        printf("seed %llu: refused: %s\n", (unsigned long long)seed, text ? sap_error_message() : "no memory");
        t->refused++;
    } else
        run_job(&job, t);
    sap_scene_destroy(job.scene);
    free(text);
    fflush(stdout);
}

/* ---- the program ---- */

static void add_totals(Totals *sum, const Totals *t) {
    sum->scenes += t->scenes;
    sum->refused += t->refused;
    sum->failures += t->failures;
    sum->runs += t->runs;
    truth_add(&sum->truth, &t->truth);
}

static void print_row(const char *name, const Totals *t) {
    printf("| %s | %ld | %ld | %ld | %.1g | %ld | %ld | %ld | %ld |\n", name, t->scenes, t->runs, t->truth.solved,
           t->truth.worst, t->truth.unsolved, t->truth.failed, t->refused, t->failures);
}

/* Returns whether there was a failure. */
static bool print_totals(const Totals *all) {
    Totals sum = {0};
    printf("| contact_solver | scenes | runs | steps solved | largest residual | not converged | failed | scenes "
           "refused | "
           "failures |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; factor_level(FACTOR_SOLVER, i); i++) {
        print_row(factor_level(FACTOR_SOLVER, i), &all[i]);
        add_totals(&sum, &all[i]);
    }
    print_row("all", &sum);
    return sum.failures > 0 || sum.refused > 0;
}

int main(int argc, char **argv) {
    Totals all[SOLVERS] = {0};
    uint64_t from = 0, count = 0;
    bool print = false;
    program = argv[0];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--from") == 0 && i + 1 < argc)
            from = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--count") == 0 && i + 1 < argc)
            count = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--print") == 0)
            print = true;
        else {
            fprintf(stderr, "usage: %s [--from SEED] [--count N] [--print]\n", argv[0]);
            return 2;
        }
    }
    signal(SIGSEGV, crash);
    signal(SIGABRT, crash);
    signal(SIGFPE, crash);
    if (count == 0)
        count = (uint64_t)work_count(case_covering(), 3);
    for (uint64_t seed = from; seed < from + count; seed++)
        run_seed(seed, print, all);
    return print ? 0 : print_totals(all);
}
