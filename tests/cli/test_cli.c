/* The program: what it prints, what it refuses, and how it ends. Each test runs it as a user would, through a shell. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

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

/* ---- usage ---- */

typedef struct Refusal {
    const char *arguments;
    const char *says[3]; /* all of these are in the message */
} Refusal;

Test(cli, refuses_bad_usage_and_names_option_value_and_what_is_allowed) {
    static const Refusal refusals[] = {
        {"", {"command is missing", "run, info, bench"}},
        {"walk", {"'walk'", "run, info, bench"}},
        {"run", {"scene is missing"}},
        {"run cube stack5", {"'stack5'", "one scene", "'cube'"}},
        {"run cube --wolrds 3", {"--wolrds"}},
        {"run cube --worlds 0", {"--worlds", "'0'", "1 .. 2147483647"}},
        {"run cube --worlds 1x", {"--worlds", "'1x'", "1 .. 2147483647"}},
        {"run cube --worlds ''", {"--worlds", "''", "1 .. 2147483647"}},
        {"run cube --worlds 99999999999", {"--worlds", "'99999999999'", "1 .. 2147483647"}},
        {"run cube --steps -1", {"--steps", "'-1'", "0 .. 2147483647"}},
        {"run cube --dt 0", {"--dt", "'0'", "> 0"}},
        {"run cube --dt nan", {"--dt", "'nan'", "> 0"}},
        {"run cube --noise inf", {"--noise", "'inf'", ">= 0"}},
        {"run cube --noise 1e999", {"--noise", "'1e999'", ">= 0"}},
        {"run cube --noise -0.5", {"--noise", "'-0.5'", ">= 0"}},
        {"run cube --seed -1", {"--seed", "'-1'", "0 .. 18446744073709551615"}},
        {"run cube --dtype f16", {"--dtype", "'f16'", "f32, f64"}},
        {"run cube --preset best", {"--preset", "'best'", "approx32, approx64, drake"}},
        {"run cube --set rho", {"--set", "'rho'", "NAME=VALUE"}},
        {"run cube --set rho=2", {"--set", "rho is '2'", "< 1"}},
        {"run cube --set roh=0.5", {"--set", "'roh'", "rho"}},
        {"run cube --threads 5000", {"--threads", "'5000'", "0 .. 1024"}},
        {"run cube --lanes 3", {"--lanes", "'3'", "1, 4, 8"}},
        {"run cube --isa mmx", {"--isa", "'mmx'", "avx2"}},
        {"run cube --trajectory-world 1", {"--trajectory-world", "'1'", "--trajectory"}},
        {"run cube --worlds 2 --trajectory x --trajectory-world 2", {"--trajectory-world", "'2'", "0 .. 1"}},
        {"info", {"scene is missing"}},
        {"info cube --steps 4", {"--steps", "without --probe"}},
        {"info cube --probe --worlds 0", {"--worlds", "'0'", "1 .. 1000000"}},
        {"compare", {"scene is missing"}},
        {"compare cube --steps 0", {"--steps", "'0'", "1 .. 1000000"}},
        {"compare cube --preset drake", {"--preset", "'drake'", "all presets"}},
        {"compare cube --set contact-weight-mode=diag_delassus", {"--set contact_weight_mode", "'diag_delassus'"}},
        {"conform", {"reference files are missing"}},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const Refusal *r = &refusals[i];
        cr_expect_eq(sapwood("%s", r->arguments), 2, "sapwood %s", r->arguments);
        cr_expect_str_empty(out, "sapwood %s", r->arguments);
        for (int k = 0; k < 3 && r->says[k]; k++)
            cr_expect(strstr(err, r->says[k]), "sapwood %s does not say %s but: %s", r->arguments, r->says[k], err);
    }
}

Test(cli, help_and_version_go_to_stdout) {
    static const char *const calls[][2] = {{"--help", "COMMAND"},          {"--version", "sapwood 0."},
                                           {"run --help", "--trajectory"}, {"info --help", "SCENE"},
                                           {"bench --help", "--profile"},  {"compare --help", "--worlds"},
                                           {"conform --help", "--compat"}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        cr_expect_eq(sapwood("%s", calls[i][0]), 0, "sapwood %s", calls[i][0]);
        cr_expect(strstr(out, calls[i][1]), "sapwood %s says: %s", calls[i][0], out);
        cr_expect_str_empty(err);
    }
}

/* ---- input and output ---- */

Test(cli, refuses_a_bad_scene_file_with_file_and_line) {
    write_text(path_of("bad.yaml"), "schema_version: 1\nname: bad\nbodys: []\n");
    static const char *const commands[] = {"run", "info", "bench --scene", "compare"};
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(sapwood("%s %s", commands[i], path_of("bad.yaml")), 2);
        cr_expect(strstr(err, "bad.yaml:3") && strstr(err, "bodys"), "%s", err);
        cr_expect_eq(sapwood("%s %s", commands[i], path_of("none.yaml")), 2);
        cr_expect(strstr(err, "none.yaml"), "%s", err);
        cr_expect_eq(sapwood("%s %s", commands[i], path_of("")), 2, "a folder is no scene");
    }
}

Test(cli, finds_a_scene_by_name_from_any_folder) {
    cr_assert_eq(sapwood("info cube"), 0, "%s", err);
    cr_assert_eq(sapwood("info cube.yaml"), 0, "%s", err);
    cr_assert_eq(sapwood("--version >/dev/null && cd / && '%s' info cube", SAPWOOD_PROGRAM), 0, "%s", err);
    cr_assert(strstr(out, "cube.yaml"), "%s", out);
}

Test(cli, reports_output_that_cannot_be_written) {
    for (int steps = 1; steps <= 1000; steps *= 1000) { /* the error shows when the file is closed, or before */
        cr_expect_eq(sapwood("run cube --steps %d --trajectory /dev/full", steps), 2);
        cr_expect(strstr(err, "--trajectory") && strstr(err, "'/dev/full'"), "%s", err);
    }
    cr_expect_eq(sapwood("run cube --trajectory %s", path_of("no/such/folder.csv")), 2);
    cr_expect(strstr(err, "folder.csv"), "%s", err);
    cr_expect_eq(sapwood("run cube >/dev/full 2>/dev/null; exit $?; :"), 2);
    cr_expect_eq(sapwood("info cube --json >/dev/full 2>/dev/null; exit $?; :"), 2);
}

/* ---- run ---- */

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
        "quadruped.yaml", "approx32",      "lanes",           "threads",     "world-steps/s",  "worlds failed",
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

    cr_assert_eq(sapwood("run stack5 --worlds 6 --steps 100 --set max_rigid_contact=8 --json"), 0, "%s", err);
    json = parse_json();
    cr_expect_eq(number(json, "contacts.slots"), 8);
    cr_expect_eq(number(json, "contacts.largest"), 8);
    cr_expect_eq(number(json, "contacts.needed.largest"), 20);
    cr_expect_eq(number(json, "contacts.truncated_worlds"), 6);
    json_decref(json);
    cr_assert_eq(sapwood("run stack5 --worlds 6 --steps 100 --set max_rigid_contact=8"), 0, "%s", err);
    cr_expect(
        strstr(out,
               "WARNING          contacts were dropped in 6 of 6 worlds: max_rigid_contact is 8; a world needed 20"),
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
    trajectory_of("cube --steps 4 --set free_motion_solve_precision=f64", csv, sizeof csv);
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

Test(cli, an_interrupted_run_reports_what_it_did) {
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
    kill(child, SIGINT);
    cr_assert_eq(wait_for(child), 130);
    close(null);
    json_t *json = parse_json();
    cr_expect(json_is_true(member(json, "interrupted")));
    double steps = number(json, "steps");
    json_decref(json);
    cr_expect_gt(steps, 0);

    /* The last row is whole, and that of the last step. */
    FILE *file = fopen(csv, "r");
    static char line[4096], last[4096];
    while (fgets(line, sizeof line, file))
        memcpy(last, line, sizeof last);
    fclose(file);
    cr_expect_eq(strtod(last, NULL), steps, "%s", last);
    cr_expect_eq(last[strlen(last) - 1], '\n');
}

Test(cli, shows_progress_on_a_terminal) {
    int terminal, program_side;
    cr_assert_eq(openpty(&terminal, &program_side, NULL, NULL, NULL), 0, "%s", strerror(errno));
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

/* ---- info ---- */

Test(cli, info_tells_what_a_scene_holds) {
    cr_assert_eq(sapwood("info quadruped --json"), 0, "%s", err);
    json_t *json = parse_json();
    cr_expect_eq(number(json, "bodies"), 13);
    cr_expect_eq(number(json, "joints_by_type.revolute"), 12);
    cr_expect_eq(number(json, "joints_by_type.free"), 1);
    cr_expect_eq(number(json, "dofs"), 18);
    cr_expect_eq(number(json, "coordinates"), 19);
    cr_expect_eq(number(json, "bytes.state_f32"), 4 * (19 + 18 + 13 * 13));
    cr_expect_eq(number(json, "bytes.state_f64"), 8 * (19 + 18 + 13 * 13));
    cr_expect_eq(number(json, "factor.nonzeros"), 21 + 4 * (7 + 8 + 9), "the trunk, and four legs below it");
    cr_expect_eq(number(json, "factor.dense"), 18 * 19 / 2);
    cr_expect_str_eq(text(json, "options.preset"), "approx32");
    cr_expect_eq(json_array_size(member(json, "tree")), 13);
    cr_expect_str_eq(text(json, "broad_phase"), "listed");
    cr_expect_gt(number(json, "shape_pairs"), 0);
    double mass = 0;
    for (size_t i = 0; i < 13; i++)
        mass += number(json_array_get(member(json, "tree"), i), "mass");
    cr_expect_float_eq(number(json, "total_mass"), mass, 1e-12);
    json_decref(json);
}

Test(cli, info_draws_the_tree_and_lists_the_options) {
    cr_assert_eq(sapwood("info quadruped --preset drake --set rho=0.25"), 0, "%s", err);
    cr_expect(strstr(out, "\n  trunk_free: free, dofs 6") && strstr(out, "\n    fl_abduction: revolute, dofs 1") &&
                  strstr(out, "\n      fl_hip: revolute") && strstr(out, "\n        fl_knee: revolute"),
              "%s", out);
    cr_expect_lt(strstr(out, "fl_knee:"), strstr(out, "fr_abduction:"), "a leg in full before the next");
    cr_expect(strstr(out, "preset drake"), "%s", out);
    const char *rho = strstr(out, "\n  rho ");
    cr_expect(rho && strncmp(rho + strspn(rho, " \nrho"), "0.25\n", 5) == 0, "%s", out);
    cr_expect(strstr(out, "that may touch, broad phase listed\n"), "%s", out);
}

Test(cli, info_counts_the_same_pairs_for_either_broad_phase) {
    cr_assert_eq(sapwood("info quadruped --json"), 0, "%s", err);
    json_t *listed = parse_json();
    cr_assert_eq(sapwood("info quadruped --set broad_phase=sweep --json"), 0, "%s", err);
    json_t *sweep = parse_json();
    cr_expect_str_eq(text(sweep, "broad_phase"), "sweep");
    cr_expect_gt(number(listed, "shape_pairs"), 0);
    cr_expect_eq(number(sweep, "shape_pairs"), number(listed, "shape_pairs"));
    json_decref(listed);
    json_decref(sweep);
}

/* Five boxes on a plane, 4 contacts between each two. */
Test(cli, info_probes_how_many_contacts_a_scene_needs) {
    cr_assert_eq(sapwood("info stack5 --probe --worlds 9 --steps 60 --set max_rigid_contact=8 --json"), 0, "%s", err);
    json_t *json = parse_json();
    double most = number(json, "probe.contacts.largest"), proposal = number(json, "probe.max_rigid_contact");
    cr_expect_eq(most, 20, "%g", most);
    cr_expect(proposal == 28, "a quarter more, in fours: %g", proposal);
    cr_expect(number(json, "probe.contacts.mean") <= number(json, "probe.contacts.largest") &&
              number(json, "probe.contacts.p95") <= most && number(json, "probe.contacts.p95") > 0);
    cr_expect_eq(number(json, "probe.worlds"), 9);
    cr_expect_eq(number(json, "probe.steps"), 60);
    json_decref(json);
    cr_assert_eq(sapwood("info stack5 --probe --worlds 3 --steps 60 --set max_rigid_contact=8"), 0, "%s", err);
    cr_expect(strstr(out, "max_rigid_contact=28; it is 8, TOO FEW"), "%s", out);
    cr_assert_eq(sapwood("info double_pendulum --probe --steps 3"), 0, "%s", err);
    cr_expect(strstr(out, "most 0 per world"), "%s", out);
    cr_assert_eq(sapwood("info stack5"), 0);
    cr_expect_null(strstr(out, "\nprobe "), "%s", out);
}

/* ---- compare ---- */

/* The row of a run, by option and value. */
static json_t *compare_row(json_t *json, const char *option, const char *value) {
    json_t *rows = member(json, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (strcmp(text(row, "option"), option) == 0 && strcmp(text(row, "value"), value) == 0)
            return row;
    }
    cr_assert_fail("no row %s=%s", option, value);
    return NULL;
}

Test(cli, compare_changes_one_knob_of_the_preset_at_a_time) {
    static const char *const knobs[][3] = {{"contact_preset_variant", "approx64", "baseline"},
                                           {"contact_preset_variant", "approx32", "precision"},
                                           {"contact_preset_variant", "drake", "model"},
                                           {"free_motion_solve_precision", "fp32", "precision"},
                                           {"contact_solve_precision", "fp32", "precision"},
                                           {"contact_linear_solve_precision", "fp32", "precision"},
                                           {"sap_contact_weight_precision", "fp32", "precision"},
                                           {"use_f64_boundary_pose", "false", "precision"},
                                           {"contact_weight_mode", "diag_delassus", "model"},
                                           {"contact_point_mode", "contact_midpoint", "model"},
                                           {"position_integration", "sap_euler", "model"},
                                           {"line_search_variant", "monotone_decay", "line search"},
                                           {"line_search_variant", "armijo_decay", "line search"},
                                           {"line_search_variant", "exact_root", "line search"}};
    enum { COUNT = sizeof knobs / sizeof knobs[0] };
    cr_assert_eq(sapwood("compare bench/scenes/arm3.yaml --worlds 5 --steps 20 --json"), 0, "%s", err);
    json_t *json = parse_json();
    cr_expect_eq(number(json, "worlds"), 5);
    cr_expect_eq(number(json, "steps"), 20);
    cr_expect_eq(json_array_size(member(json, "rows")), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        json_t *row = compare_row(json, knobs[i][0], knobs[i][1]);
        cr_expect_str_eq(text(row, "kind"), knobs[i][2], "%s", knobs[i][0]);
        cr_expect_eq(number(row, "failed"), 0);
        cr_expect_eq(number(row, "not_converged"), 0);
        cr_expect_geq(number(row, "newton_iterations.mean"), 1, "the drives are solved for");
        cr_expect_geq(number(row, "newton_iterations.largest"), number(row, "newton_iterations.mean"));
        cr_expect_geq(number(row, "v_difference.largest"), number(row, "v_difference.end"));
        cr_expect_gt(number(row, "ns_per_world_step"), 0);
    }
    json_t *same = compare_row(json, "line_search_variant", "monotone_decay");
    cr_expect_eq(number(same, "v_difference.largest"), 0, "the baseline again, to the bit");
    cr_expect_eq(number(same, "q_difference.largest"), 0);
    double precision = number(compare_row(json, "contact_preset_variant", "approx32"), "v_difference.largest");
    double model = number(compare_row(json, "contact_preset_variant", "drake"), "v_difference.largest");
    cr_expect(0 < precision && precision < 1e-4, "%g", precision);
    cr_expect(precision < model, "%g, %g", precision, model);
    /* Without contacts the integration is all that drake changes. */
    cr_expect_eq(model, number(compare_row(json, "position_integration", "sap_euler"), "v_difference.largest"));
    json_decref(json);
}

Test(cli, compare_prints_a_table) {
    cr_assert_eq(sapwood("compare arm3 --worlds 2 --steps 3"), 0, "%s", err);
    cr_expect(strstr(out, "\nprecision    approx32 ") && strstr(out, "\nmodel        drake ") &&
                  strstr(out, "\nmodel          contact_weight_mode=diag_delassus "),
              "%s", out);
    cr_expect_str_empty(err);
    cr_assert_eq(sapwood("compare cube --worlds 3 --steps 2 --noise 1e30 --json"), 1, "%s", err);
    json_t *json = parse_json();
    cr_expect_eq(number(compare_row(json, "contact_preset_variant", "approx64"), "failed"), 2);
    json_decref(json);
}

/* ---- conform ---- */

#define REFERENCE SAPWOOD_SHARED_DIR "/reference/f64"

static void need_reference(void) {
    if (access(REFERENCE "/arm3.json.gz", R_OK) != 0)
        cr_skip_test("needs ../shared/reference");
}

/* The last line of what was printed, without its end. */
static const char *last_line(void) {
    size_t length = strlen(out);
    if (length > 0 && out[length - 1] == '\n')
        out[length - 1] = '\0';
    const char *line = strrchr(out, '\n');
    return line ? line + 1 : out;
}

Test(cli, conform_passes_on_all_reference_cases) {
    need_reference();
    cr_expect_eq(sapwood("conform --compat " REFERENCE "/*.json.gz"), 0, "%s", err);
    cr_expect_str_eq(last_line(), "342 passed, 0 failed", "%s", out);
    cr_expect_str_empty(err);
}

Test(cli, conform_reports_as_json) {
    need_reference();
    cr_assert_eq(sapwood("conform --compat --json " REFERENCE "/arm3.json.gz"), 0, "%s", err);
    json_t *json = parse_json(), *outputs = member(json, "outputs");
    cr_expect_eq(number(json, "failed"), 0);
    cr_expect_gt(number(json, "passed"), 0);
    cr_expect_eq(number(json, "passed"), json_array_size(outputs));
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        json_t *output = json_array_get(outputs, i);
        cr_expect(json_is_true(member(output, "passed")) && !json_is_false(member(output, "counts_agree")));
        cr_expect_lt(number(output, "errors.v"), 1e-9);
    }
    json_decref(json);
}

Test(cli, conform_accepts_what_it_dumped) {
    need_reference();
    cr_assert_eq(sapwood("conform --compat --dump %s " REFERENCE "/cube_tumble.json.gz", path_of("dump.json")), 0, "%s",
                 err);
    char before[64];
    snprintf(before, sizeof before, "%s", last_line());
    cr_assert_eq(sapwood("conform --compat %s", path_of("dump.json")), 0, "%s", err);
    cr_expect_str_eq(last_line(), before);
    cr_expect(strstr(out, " v 0.0e+00"), "the same program gives the same bits: %s", out);
}

/* Another answer must be noticed: the regularisation of friction is changed. */
Test(cli, conform_exits_with_1_where_answers_differ) {
    need_reference();
    cr_expect_eq(sapwood("conform --compat --set contact_sigma=0.01 " REFERENCE "/box_slide.json.gz"), 1, "%s", err);
    cr_expect(strstr(out, "FAIL"), "%s", out);
    cr_expect_null(strstr(last_line(), " 0 failed"), "%s", out);
}

/* What a knob touches has an error of f32's size, which is not zero, and what comes before it in a step has none. */
Test(cli, conform_tells_what_each_precision_in_f32_does) {
    static const struct {
        const char *f32;
        const char *touched, *untouched; /* NULL: nothing comes before */
    } rows[] = {{"none", NULL, NULL},
                {"free_motion_solve_precision", "v_star", NULL},
                {"use_f64_boundary_pose", "J", "v_star"},
                {"sap_contact_weight_precision", "w", "J"},
                {"contact_solve_precision", "v", "v_star"},
                {"contact_linear_solve_precision", "v", "w"}};
    need_reference();
    cr_assert_eq(sapwood("conform --compat --knobs --json " REFERENCE "/*.json.gz"), 0, "%s", err);
    json_t *json = parse_json(), *knobs = member(json, "knobs");
    cr_assert_eq(json_array_size(knobs), 6);
    for (size_t i = 0; i < 6; i++) {
        json_t *row = json_array_get(knobs, i);
        cr_assert_str_eq(text(row, "f32"), rows[i].f32);
        char path[64];
        snprintf(path, sizeof path, "errors.%s", rows[i].untouched ? rows[i].untouched : "k");
        if (rows[i].untouched)
            cr_expect_lt(number(row, path), 1e-11, "%s: %s", rows[i].f32, path);
        snprintf(path, sizeof path, "errors.%s", rows[i].touched ? rows[i].touched : "v");
        double error = number(row, path), eps = 6e-8;
        cr_expect(rows[i].touched ? error > 1e-9 : error < 1e-9, "%s: %s is %g", rows[i].f32, path, error);
        /* a cost in f32 stops falling at half the digits; what else is rounded is the data of a well-posed problem */
        bool cost_rounded = strcmp(rows[i].f32, "contact_solve_precision") == 0;
        double largest = cost_rounded ? 50 * sqrt(eps) : 2000 * eps;
        cr_expect_lt(number(row, "errors.v"), largest, "%s: v is off by %g", rows[i].f32, number(row, "errors.v"));
        cr_expect(number(row, "failed") == 0 && (cost_rounded || number(row, "not_converged") == 0), "%s", rows[i].f32);
    }
    json_decref(json);
}

Test(cli, conform_refuses_files_it_cannot_read) {
    cr_expect_eq(sapwood("conform %s", path_of("none.json.gz")), 2);
    cr_expect(strstr(err, "none.json.gz"), "%s", err);
    write_text(path_of("bad.json"), "{\"cases\": []}");
    cr_expect_eq(sapwood("conform %s", path_of("bad.json")), 2);
    cr_expect(strstr(err, "bad.json") && strstr(err, "'model'"), "%s", err);
    if (access(REFERENCE "/arm3.json.gz", R_OK) == 0)
        cr_expect_eq(sapwood("conform --dump %s " REFERENCE "/arm3.json.gz", path_of("no/such/folder")), 2);
}
