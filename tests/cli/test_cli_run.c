/* `sapwood run`: what it reports and writes, and how it ends. */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/run_program.h"

#ifndef SAPWOOD_PROGRAM
#define SAPWOOD_PROGRAM "" /* built without it: the tests are skipped */
#endif

TestSuite(cli, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* state_hash of a run, which must end well. */
static const char *hash_of(const char *arguments) {
    static char hashes[2][32];
    static int next;
    char *hash = hashes[next++ % 2];
    cr_assert_eq(sapwood("run %s --json", arguments), 0, "%s: %s", arguments, err);
    json_t *json = parse_json();
    snprintf(hash, sizeof hashes[0], "%s", text(json, "state_hash"));
    json_decref(json);
    cr_assert_eq(strlen(hash), 16, "%s", hash);
    return hash;
}

Test(cli, run_reports_as_json) {
    cr_assert_eq(sapwood("run quadruped --worlds 5 --steps 7 --dt 0.002 --preset approx64 --set threads=1 --json"), 0,
                 "%s", err);
    json_t *json = parse_json();
    cr_expect_str_eq(text(json, "name"), "quadruped");
    cr_expect_eq(number(json, "worlds"), 5);
    cr_expect_eq(number(json, "steps"), 7);
    cr_expect_eq(number(json, "dt"), 0.002);
    cr_expect_str_eq(text(json, "preset"), "approx64");
    cr_expect_str_eq(text(json, "precision"), "fp64");
    cr_expect_str_eq(text(json, "dtype"), "f64", "stored as it is solved");
    cr_expect_eq(number(json, "threads"), 1);
    cr_expect_gt(number(json, "world_steps_per_second"), 0);
    cr_expect_float_eq(number(json, "ns_per_world_step") * number(json, "world_steps_per_second"), 1e9, 1);
    cr_expect(number(json, "first_step_seconds") > 0 && number(json, "first_step_seconds") < 60);
    cr_expect_gt(number(json, "bytes_per_world"), 8 * (19 + 18), "of q and qd alone");
    cr_expect_eq(number(json, "failed.count"), 0);
    cr_expect(json_is_false(member(json, "interrupted")));
    /* It stands, and settles a little. */
    cr_expect_eq(number(json, "energy.world_0.start.kinetic"), 0);
    cr_expect_gt(number(json, "energy.world_0.end.kinetic"), 0);
    cr_expect_gt(number(json, "energy.mean.start.kinetic"), 0, "worlds 1 .. 4 are perturbed");
    json_decref(json);

    /* In free flight energy is conserved. */
    cr_assert_eq(sapwood("run cube --worlds 1 --steps 7 --dt 0.002 --preset approx64 --json"), 0, "%s", err);
    json = parse_json();
    cr_expect_eq(number(json, "contacts.largest"), 0);
    cr_expect(json_is_null(member(json, "contacts.smallest_gap")), "there is none");
    cr_expect_float_eq(number(json, "energy.world_0.end.kinetic") + number(json, "energy.world_0.end.potential"),
                       number(json, "energy.world_0.start.kinetic") + number(json, "energy.world_0.start.potential"),
                       1e-9);
    json_decref(json);
}

Test(cli, run_reports_as_text_and_is_quiet_in_a_pipe) {
    cr_assert_eq(sapwood("run quadruped --worlds 64 --steps 50"), 0);
    cr_expect_str_empty(err, "%s", err);
    static const char *const parts[] = {
        "quadruped.yaml", "fast32",        "lanes",           "threads",     "world-steps/s",  "worlds failed",
        "0 of 64",        "ns per",        "energy, mean",    "state hash",  "contacts",       "Newton: mean",
        "smallest gap",   "not converged", "first step done", "B per world", "times real time"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        cr_expect(strstr(out, parts[i]), "no '%s' in: %s", parts[i], out);
}

/* Five boxes on a plane, 4 contacts between each two, in 8 slots. */
Test(cli, run_tells_of_contacts_and_of_those_that_found_no_slot) {
    cr_assert_eq(sapwood("run stack5 --worlds 6 --steps 100 --json"), 0, "%s", err);
    json_t *json = parse_json();
    cr_expect_eq(number(json, "contacts.largest"), 20);
    cr_expect(number(json, "contacts.mean") > 10 && number(json, "contacts.mean") <= 20);
    cr_expect_eq(number(json, "contacts.needed.largest"), 20);
    cr_expect_eq(number(json, "contacts.truncated_worlds"), 0);
    cr_expect(number(json, "contacts.steps_looked_at") >= 20 && number(json, "contacts.steps_looked_at") <= 100);
    double gap = number(json, "contacts.smallest_gap");
    cr_expect(-0.01 < gap && gap < 0, "a stack at rest sinks in a little: %g", gap);
    cr_expect_geq(number(json, "newton_iterations.largest"), 1);
    cr_expect_geq(number(json, "newton_iterations.largest"), number(json, "newton_iterations.mean"));
    cr_expect_geq(number(json, "line_search_iterations.largest"), 0);
    cr_expect_eq(number(json, "not_converged.count"), 0);
    json_decref(json);

    cr_assert_eq(sapwood("run stack5 --worlds 6 --steps 100 --set max_contacts=8 --json"), 0, "%s", err);
    json = parse_json();
    cr_expect_eq(number(json, "contacts.slots"), 8);
    cr_expect_eq(number(json, "contacts.largest"), 8);
    cr_expect_eq(number(json, "contacts.needed.largest"), 20);
    cr_expect_eq(number(json, "contacts.truncated_worlds"), 6);
    json_decref(json);
    cr_assert_eq(sapwood("run stack5 --worlds 6 --steps 100 --set max_contacts=8"), 0, "%s", err);
    cr_expect(
        strstr(out, "WARNING          contacts were dropped in 6 of 6 worlds: max_contacts is 8; a world needed 20"),
        "%s", out);
}

Test(cli, run_counts_worlds_that_did_not_converge_by_kind) {
    cr_assert_eq(sapwood("run stack5 --worlds 4 --steps 30 --set max_iterations=1 --json"), 0, "%s", err);
    json_t *json = parse_json();
    cr_expect_eq(number(json, "not_converged.count"), 4);
    cr_expect_eq(number(json, "not_converged.by_status.iteration_limit"), 4);
    cr_expect_eq(number(json, "newton_iterations.largest"), 1);
    json_decref(json);
    cr_assert_eq(sapwood("run stack5 --worlds 4 --steps 30 --set max_iterations=1"), 0, "%s", err);
    cr_expect(strstr(out, "not converged    4 of 4 (iteration limit: 4)\n"), "%s", out);
}

Test(cli, the_state_hash_depends_on_physics_alone) {
    static const char *const ways[] = {"--threads 2 --lanes 1", "--threads 1 --lanes 4", "--threads 2 --lanes 8",
                                       "--threads 3 --isa generic"};
    static const char *const precisions[] = {"--preset approx32", "--preset approx64"};
    char arguments[256], hash[32];
    for (int p = 0; p < 2; p++) {
        snprintf(arguments, sizeof arguments, "quadruped --worlds 13 --steps 20 %s --threads 1 --lanes 1",
                 precisions[p]);
        snprintf(hash, sizeof hash, "%s", hash_of(arguments));
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            snprintf(arguments, sizeof arguments, "quadruped --worlds 13 --steps 20 %s %s", precisions[p], ways[i]);
            cr_expect_str_eq(hash_of(arguments), hash, "%s", arguments);
        }
    }
    cr_expect_str_neq(hash_of("cube --worlds 3 --steps 1"), hash_of("cube --worlds 3 --steps 2"));
    cr_expect_str_neq(hash_of("cube --worlds 3 --seed 1"), hash_of("cube --worlds 3 --seed 2"));
    cr_expect_str_eq(hash_of("cube --worlds 1 --seed 1"), hash_of("cube --worlds 1 --seed 2"),
                     "world 0 is the scene's own");
}

static void trajectory_of(const char *arguments, char *csv, size_t size) {
    cr_assert_eq(sapwood("run %s --trajectory %s", arguments, path_of("t.csv")), 0, "%s", err);
    read_text(path_of("t.csv"), csv, size);
}

Test(cli, a_trajectory_has_names_and_a_row_per_step) {
    static char csv[1 << 16];
    trajectory_of("cube --steps 4 --preset approx64", csv, sizeof csv);
    const char *header = "step,time,cube_free.px,cube_free.py,cube_free.pz,cube_free.qx,cube_free.qy,cube_free.qz,"
                         "cube_free.qw,cube_free.vx,cube_free.vy,cube_free.vz,cube_free.wx,cube_free.wy,cube_free.wz\n";
    cr_assert(strncmp(csv, header, strlen(header)) == 0, "%s", csv);
    cr_assert_eq(count_lines(csv), 1 + 5, "the header, the start and a row for each step");
    const char *row = csv + strlen(header);
    for (int step = 0; step <= 4; step++, row = strchr(row, '\n') + 1) {
        double number[15];
        int at = 0, length;
        for (const char *field = row; at < 15 && sscanf(field, "%lf%n", &number[at], &length) == 1; at++)
            field += length + 1;
        cr_assert_eq(at, 15, "%s", row);
        cr_expect_eq(number[0], step);
        cr_expect_float_eq(number[1], 0.005 * step, 1e-12);
        /* A thrown cube: the velocity falls by g t, the midpoint rule puts it on the parabola. */
        cr_expect_float_eq(number[2], 0.6 * number[1], 1e-12);
        cr_expect_float_eq(number[4], 0.5 + (0.2 - 0.5 * 9.81 * number[1]) * number[1], 1e-12);
        cr_expect_float_eq(number[11], 0.2 - 9.81 * number[1], 1e-12);
    }
}

Test(cli, a_world_does_not_depend_on_how_many_there_are) {
    static char few[1 << 16], many[1 << 16], other[1 << 16];
    trajectory_of("arm3 --steps 9 --worlds 4 --trajectory-world 3", few, sizeof few);
    trajectory_of("arm3 --steps 9 --worlds 19 --trajectory-world 3", many, sizeof many);
    trajectory_of("arm3 --steps 9 --worlds 4 --trajectory-world 2", other, sizeof other);
    cr_expect_str_eq(few, many);
    cr_expect_str_neq(few, other);
}

Test(cli, noise_zero_makes_all_worlds_equal) {
    static char first[1 << 16], last[1 << 16];
    trajectory_of("arm3 --steps 9 --worlds 6 --noise 0", first, sizeof first);
    trajectory_of("arm3 --steps 9 --worlds 6 --noise 0 --trajectory-world 5", last, sizeof last);
    cr_expect_str_eq(first, last);
}

Test(cli, failed_worlds_are_counted_named_and_make_the_exit_code_1) {
    cr_assert_eq(sapwood("run cube --worlds 20 --steps 3 --noise 1e30 --json"), 1, "%s", err);
    json_t *json = parse_json();
    cr_expect_eq(number(json, "failed.count"), 19);
    cr_expect_eq(number(json, "failed.by_status.nonfinite_result"), 19);
    cr_expect_eq(number(json, "failed.by_status.nonfinite_state"), 0);
    cr_assert_eq(json_array_size(member(json, "failed.first")), 10);
    for (size_t i = 0; i < 10; i++)
        cr_expect_eq(json_integer_value(json_array_get(member(json, "failed.first"), i)), (json_int_t)i + 1);
    cr_expect_eq(number(json, "energy.mean.end.kinetic"), number(json, "energy.world_0.end.kinetic"),
                 "the mean is over the worlds that did not fail");
    json_decref(json);
    cr_expect_eq(sapwood("run cube --worlds 20 --steps 3 --noise 1e30"), 1);
    cr_expect(strstr(out, "19 of 20") && strstr(out, "worlds 1 2 3 4 5 6 7 8 9 10 ..."), "%s", out);
}

Test(cli, no_steps_are_a_run_too) {
    cr_assert_eq(sapwood("run cube --steps 0 --json"), 0, "%s", err);
    json_t *json = parse_json();
    cr_expect_eq(number(json, "steps"), 0);
    cr_expect(json_is_null(member(json, "world_steps_per_second")));
    json_decref(json);
}

/* ---- run, with signals and terminals ---- */

/* Starts the program with stdout to a file and stderr to `stderr_file`. */
static pid_t start(int stderr_file, char *const arguments[]) {
    pid_t child = fork();
    cr_assert_neq(child, -1);
    if (child == 0) {
        int stdout_file = open(path_of("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(stdout_file, STDOUT_FILENO);
        dup2(stderr_file, STDERR_FILENO);
        execv(SAPWOOD_PROGRAM, arguments);
        _exit(127);
    }
    return child;
}

static int wait_for(pid_t child) {
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    read_text(path_of("out"), out, sizeof out);
    return WEXITSTATUS(status);
}

#define ARM SAPWOOD_SOURCE_DIR "/bench/scenes/arm3.yaml"

/* Sends a signal to a run that has begun to write its trajectory, and expects the exit code. */
static void end_a_run(int signal_number, int code) {
    char csv[256];
    snprintf(csv, sizeof csv, "%s", path_of("t.csv"));
    char *arguments[] = {"sapwood",      "run",        SAPWOOD_SOURCE_DIR "/bench/scenes/arm3.yaml",
                         "--steps",      "2000000000", "--json",
                         "--trajectory", csv,          NULL};
    int null = open("/dev/null", O_WRONLY);
    pid_t child = start(null, arguments);
    /* Rows reach the file in blocks, so once there is one the program is in its loop. */
    for (int i = 0; i < 10000; i++) {
        FILE *file = fopen(csv, "r");
        bool begun = file && fgetc(file) != EOF;
        if (file)
            fclose(file);
        if (begun)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    kill(child, signal_number);
    cr_assert_eq(wait_for(child), code);
    close(null);
    json_t *json = parse_json();
    cr_expect(json_is_true(member(json, "interrupted")));
    double steps = number(json, "steps");
    json_decref(json);
    cr_expect_gt(steps, 0);

    /* The last row is whole, and belongs to the last step. */
    FILE *file = fopen(csv, "r");
    static char line[4096], last[4096];
    while (fgets(line, sizeof line, file))
        memcpy(last, line, sizeof last);
    fclose(file);
    cr_expect_eq(strtod(last, NULL), steps, "%s", last);
    cr_expect_eq(last[strlen(last) - 1], '\n');
}

Test(cli, an_interrupted_run_reports_what_it_did) {
    end_a_run(SIGINT, 130);
}

Test(cli, a_terminated_run_reports_what_it_did) {
    end_a_run(SIGTERM, 143);
}

/* Waits until the program has a handler for the signal: a bit of SigCgt in /proc/PID/status. */
static void await_handler(pid_t child, int signal_number) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    for (int i = 0; i < 6000; i++) {
        FILE *file = fopen(path, "r");
        unsigned long long caught = 0;
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "SigCgt: %llx", &caught) == 1)
                break;
        if (file)
            fclose(file);
        if (caught & 1ull << (signal_number - 1))
            return;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    cr_assert_fail("the program does not handle signal %d", signal_number);
}

/* Runs a command that would take hours, ends it by a signal, and reads its report. */
static json_t *interrupt(char *const arguments[], int signal_number) {
    int null = open("/dev/null", O_WRONLY);
    pid_t child = start(null, arguments);
    close(null);
    await_handler(child, signal_number);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    kill(child, signal_number);
    cr_assert_eq(wait_for(child), 128 + signal_number, "%s", out);
    return parse_json();
}

Test(cli, interrupted_commands_report_the_cases_that_ended) {
    char *bench[] = {"sapwood", "bench",    "--scene", ARM,        "--worlds", "1", "--repeat",
                     "1000",    "--warmup", "0",       "--format", "json",     NULL};
    char *compare[] = {"sapwood", "compare", ARM, "--worlds", "1", "--steps", "1000000", "--json", NULL};
    char *selftest[] = {"sapwood", "selftest", ARM, "--worlds", "1", "--steps", "2000000000", "--json", NULL};
    char *newton[] = {"sapwood", "bench-newton", "--repeat", "1000", "--worlds", "8", "--format", "json", NULL};
    const struct {
        char *const *command;
        const char *rows;
    } cases[] = {{bench, "rows"}, {compare, "one_step"}, {selftest, "rows"}, {newton, "rows"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int terminated = 0; terminated < 2; terminated++) {
            json_t *json = interrupt(cases[i].command, terminated ? SIGTERM : SIGINT);
            cr_expect_leq(json_array_size(member(json, cases[i].rows)), 14, "%s", cases[i].command[1]);
            json_decref(json);
        }
    }
}

/* A dump of a world of a scene with these numbers of steps in its calls, of which the file then says `steps`. */
static void write_dump(const char *path, int steps) {
    SapScene *scene = NULL;
    SapBatch *batch = NULL;
    cr_assert_eq(sap_scene_load(ARM, &scene), SAP_OK);
    cr_assert_eq(sap_batch_create(scene->model, 1, &scene->options, &batch), SAP_OK);
    cr_assert_eq(sap_batch_guard(batch, 2), SAP_OK);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 777), SAP_OK);
    cr_assert_eq(sap_batch_step(batch, scene->dt, 777), SAP_OK);
    cr_assert_eq(sap_batch_dump(batch, 0, path), SAP_OK);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    /* The numbers of steps are side by side. */
    const int32_t before[2] = {777, 777}, after[2] = {steps, steps};
    static char bytes[1 << 20];
    FILE *file = fopen(path, "r+b");
    cr_assert_not_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    char *at = memmem(bytes, size, before, sizeof before);
    cr_assert_not_null(at);
    fseek(file, at - bytes, SEEK_SET);
    fwrite(after, sizeof after, 1, file);
    fclose(file);
}

Test(cli, a_replay_of_many_steps_compares_every_bit) {
    write_dump(path_of("arm.dump"), 777);
    cr_expect_eq(sapwood("replay %s", path_of("arm.dump")), 0, "%s%s", out, err);
    cr_expect(strstr(out, "the same bits"), "%s", out);
}

Test(cli, a_replay_that_is_terminated_reports_the_calls_that_ended) {
    char path[256];
    snprintf(path, sizeof path, "%s", path_of("long.dump"));
    write_dump(path, 5000000);
    char *replay[] = {"sapwood", "replay", path, "--worlds", "64", "--json", NULL};
    for (int terminated = 0; terminated < 2; terminated++) {
        json_t *json = interrupt(replay, terminated ? SIGTERM : SIGINT);
        cr_expect(json_is_true(member(json, "interrupted")));
        cr_expect(json_is_null(member(json, "same_bits")));
        cr_expect_eq(json_array_size(member(json, "calls")), 0);
        json_decref(json);
    }
}

Test(cli, a_dump_that_asks_for_more_steps_than_a_replay_takes_is_refused) {
    write_dump(path_of("endless.dump"), INT32_MAX);
    cr_expect_eq(sapwood("replay %s", path_of("endless.dump")), 2);
    cr_expect(strstr(err, "endless.dump") && strstr(err, "4294967294 steps") && strstr(err, "at most 10000000"), "%s",
              err);
}

Test(cli, shows_progress_on_a_terminal) {
    int terminal, program_side;
    if (openpty(&terminal, &program_side, NULL, NULL, NULL) != 0)
        cr_skip_test("needs a pseudo-terminal: %s", strerror(errno));
    char *arguments[] = {
        "sapwood", "run", SAPWOOD_SOURCE_DIR "/bench/scenes/quadruped.yaml", "--worlds", "512", "--steps", "600", NULL};
    pid_t child = start(program_side, arguments);
    close(program_side);
    size_t length = 0;
    for (ssize_t n; length < sizeof err - 1; length += (size_t)n) /* until the program is gone */
        if ((n = read(terminal, err + length, sizeof err - 1 - length)) <= 0)
            break;
    err[length] = '\0';
    cr_expect_eq(wait_for(child), 0);
    close(terminal);
    cr_expect(strstr(err, "of 600") && strstr(err, "world-steps/s"), "%s", err);
    cr_expect_null(strchr(err, '\n'), "the bar stays on one line");
    cr_expect_null(strchr(out, '\r'), "and out of the report");
}
