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

#include "generate/run.h"
#include "generate/scene.h"
#include "support/random.h"
#include "support/work.h"

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

/* ---- variants ---- */

/* Four ways to run worlds besides the first, which is one lane, with the rest random. */
enum { VARIANTS = 4 };

static Variant variant_of(const Job *job, int k) {
    Random random = random_seed(job->seed * 77u + (uint64_t)k);
    random_bits(&random);
    static const int lanes[VARIANTS] = {4, 8, 16, 1}, isa[VARIANTS] = {SAP_ISA_AVX2, SAP_ISA_AUTO, SAP_ISA_AVX512, 0};
    Variant v = {.lanes = lanes[k], .threads = 1 + random_below(&random, 3), .isa = isa[k]};
    v.plan = k == 1 ? SAP_FACTOR_SPARSE : k == 2 ? random_below(&random, 2) : SAP_FACTOR_DENSE;
    v.broad_phase = random_below(&random, 4);
    v.rotation = random_below(&random, WORLDS);
    v.subset = k == 1 ? 1 << random_below(&random, 3) : 0;
    v.resume = k < 2 && job->scene->options.sleep_steps == 0 ? random_below(&random, CALLS) : 0;
    v.split = k == 2;
    v.bare = k == 3;
    return v;
}

/* ---- failures ---- */

/* Names the properties of a variant that alone make a difference. */
static void blame(const Job *job, const Variant *v, const Log *expected) {
    int found = 0;
    for (int i = 0; i < NUM_PROPERTIES; i++) {
        Variant one = {0};
        ((int *)&one)[i] = ((const int *)v)[i];
        Log log;
        Difference at;
        if (((const int *)v)[i] && run(job, &one, &log) == SAP_OK && log_differs(expected, &log, &one, &at))
            printf("%s %s (%d)", found++ ? "," : "    alone:", property_names[i], ((const int *)v)[i]);
        log_free(&log);
    }
    printf(found ? "\n" : "    no property alone\n");
}

static void print_variant(const Variant *v) {
    for (int i = 0; i < NUM_PROPERTIES; i++)
        if (((const int *)v)[i])
            printf(", %s %d", property_names[i], ((const int *)v)[i]);
    printf("\n");
}

static void print_difference(const Job *job, const Variant *v, const Difference *at, const Log *expected) {
    printf("seed %llu, %s, %s: call %d, world %d, %s[%d] is %.17g instead of %.17g (%g)", (unsigned long long)job->seed,
           case_text(&job->c, FACTOR_SOLVER), case_text(&job->c, FACTOR_PRESET), at->call, at->world,
           sap_batch_field_names()[at->field], at->element, at->got, at->expected, at->got - at->expected);
    print_variant(v);
    blame(job, v, expected);
    repeat_with(job->seed);
}

/* ---- one scene ---- */

static void add_truth(Totals *t, const Job *job, const Truth *truth) {
    t->truth.solved += truth->solved;
    t->truth.unsolved += truth->unsolved;
    t->truth.failed += truth->failed;
    t->truth.idle += truth->idle;
    t->truth.worst = truth->worst > t->truth.worst ? truth->worst : t->truth.worst;
    if (!truth->message[0])
        return;
    printf("seed %llu, %s, %s: %s\n", (unsigned long long)job->seed, case_text(&job->c, FACTOR_SOLVER),
           case_text(&job->c, FACTOR_PRESET), truth->message);
    repeat_with(job->seed);
    t->failures++;
}

static void compare(const Job *job, Totals *t, const Log *expected, int k) {
    Variant v = variant_of(job, k);
    Log log;
    Difference at;
    SapStatus status = run(job, &v, &log);
    t->runs++;
    if (status != SAP_OK) {
        printf("seed %llu: %s", (unsigned long long)job->seed, sap_error_message());
        print_variant(&v);
        repeat_with(job->seed);
        t->failures++;
    } else if (log_differs(expected, &log, &v, &at)) {
        print_difference(job, &v, &at, expected);
        t->failures++;
    }
    add_truth(t, job, &log.truth);
    log_free(&log);
}

static void run_job(const Job *job, Totals *t) {
    Log expected;
    SapStatus status = run(job, &(Variant){0}, &expected);
    t->runs++;
    if (status != SAP_OK) {
        printf("seed %llu: refused: %s\n", (unsigned long long)job->seed, sap_error_message());
        t->refused++;
    }
    for (int k = 0; k < VARIANTS && status == SAP_OK; k++)
        compare(job, t, &expected, k);
    log_free(&expected);
}

static void run_seed(uint64_t seed, bool print, Totals *t) {
    Job job = {.seed = seed, .c = case_of_seed(seed)};
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

static void print_totals(const Totals *t, uint64_t from) {
    long steps = t->truth.solved + t->truth.unsolved + t->truth.failed + t->truth.idle;
    printf("%ld scenes from seed %llu, %ld runs, %ld scenes refused, %ld failures; statuses of %ld steps: %ld solved "
           "with a "
           "residual of at most %.2g, %ld not converged, %ld failed, %ld without a problem\n",
           t->scenes, (unsigned long long)from, t->runs, t->refused, t->failures, steps, t->truth.solved,
           t->truth.worst, t->truth.unsolved, t->truth.failed, t->truth.idle);
}

int main(int argc, char **argv) {
    Totals totals = {0};
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
        run_seed(seed, print, &totals);
    if (!print)
        print_totals(&totals, from);
    return totals.failures > 0 || totals.refused > 0;
}
