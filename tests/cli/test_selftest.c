/* `sapwood selftest`, and --device of the other commands, on a machine without a GPU: a driver that does not exist
 * makes every machine one. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

#ifndef SAPWOOD_PROGRAM
#define SAPWOOD_PROGRAM "" /* built without it: the tests are skipped */
#endif

static void setup(void) {
    if (SAPWOOD_PROGRAM[0] == '\0')
        cr_skip_test("built without the program");
    setenv("SAPWOOD_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
}

TestSuite(selftest, .init = setup, .timeout = 120);

static char out[1 << 16];

/* Standard output and errors of `sapwood ARGUMENTS` in `out`; returns how it ended. */
static int sapwood(const char *arguments) {
    char command[1024];
    snprintf(command, sizeof command, "cd '%s' && '%s' %s 2>&1", SAPWOOD_SOURCE_DIR, SAPWOOD_PROGRAM, arguments);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
    int status = pclose(pipe);
    cr_assert(WIFEXITED(status), "%s", out);
    return WEXITSTATUS(status);
}

static void expect_text(const char *part) {
    cr_expect(strstr(out, part), "'%s' is not in: %s", part, out);
}

Test(selftest, the_cpu_with_all_its_lanes_has_the_bits_of_one_lane) {
    cr_assert_eq(sapwood("selftest --worlds 11 --steps 20 cube quadruped"), 0, "%s", out);
    expect_text("14 cases, 0 differ"); /* two scenes in every preset */
    expect_text("device: cpu");
    expect_text(" CPUs, "); /* before the compiler */
    cr_expect(strstr(out, "clang ") || strstr(out, "gcc "), "no compiler in: %s", out);
}

Test(selftest, the_report_is_json_where_that_is_wanted) {
    json_error_t error;
    cr_assert_eq(sapwood("selftest --worlds 3 --steps 5 cube --json"), 0, "%s", out);
    json_t *json = json_loads(out, 0, &error), *rows = json_object_get(json, "rows");
    cr_assert_not_null(json, "%s: %s", error.text, out);
    cr_expect_eq(json_array_size(rows), 7); /* one per preset */
    for (size_t i = 0; i < json_array_size(rows); i++)
        cr_expect(json_is_true(json_object_get(json_array_get(rows, i), "same")));
    cr_expect_eq(json_integer_value(json_object_get(json, "different")), 0);
    json_t *machine = json_object_get(json, "machine");
    cr_expect(json_is_string(json_object_get(json, "commit")));
    cr_expect(json_is_string(json_object_get(machine, "cpu")));
    cr_expect(json_is_string(json_object_get(machine, "compiler")));
    cr_expect_gt(json_integer_value(json_object_get(machine, "cpus")), 0);
    json_decref(json);
}

Test(selftest, without_a_gpu_commands_say_so_and_end_with_2) {
    cr_expect_eq(sapwood("selftest --device cuda cube"), 2);
    expect_text("sapwood: device cuda: no driver: /nowhere/libcuda.so.1");
    cr_expect_eq(sapwood("run cube --device cuda --steps 1"), 2);
    expect_text("allowed here: cpu");
    cr_expect_eq(sapwood("bench --scene cube --device cuda --steps 1 --worlds 1"), 2);
    expect_text("allowed here: cpu");
}

Test(selftest, wrong_arguments_are_refused) {
    cr_expect_eq(sapwood("selftest --device gpu"), 2);
    expect_text("option device is 'gpu'");
    expect_text("allowed: cpu, cuda");
    cr_expect_eq(sapwood("selftest --preset drake"), 2);
    expect_text("a self-test runs all presets");
    cr_expect_eq(sapwood("selftest no_such_scene"), 2);
    expect_text("no_such_scene");
}
