/* `sapwood compare` and `sapwood conform`: options against each other, and the solver against reference data. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "support/run_program.h"

TestSuite(cli, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* ---- compare ---- */

/* A row of a section, "one_step" or "drift", by option and value; NULL without one. */
static json_t *find_row(json_t *json, const char *section, const char *option, const char *value) {
    json_t *rows = member(json, section);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (strcmp(text(row, "option"), option) == 0 && strcmp(text(row, "value"), value) == 0)
            return row;
    }
    return NULL;
}

static json_t *row_of(json_t *json, const char *section, const char *option, const char *value) {
    json_t *row = find_row(json, section, option, value);
    cr_assert_not_null(row, "no row %s=%s in %s", option, value, section);
    return row;
}

static json_t *preset_row(json_t *json, const char *section, const char *preset) {
    return row_of(json, section, "preset", preset);
}

/* The row of a solver. */
static json_t *solver_row(json_t *json, const char *solver) {
    json_t *rows = member(json, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (strcmp(text(json_array_get(rows, i), "solver"), solver) == 0)
            return json_array_get(rows, i);
    cr_assert_fail("no row of %s", solver);
    return NULL;
}

Test(cli, compare_solves_the_same_contacts_with_every_solver) {
    cr_assert_eq(
        sapwood("compare-solvers bench/scenes/stack5.yaml --solvers cone,sap,mujoco,coulomb,pgs,pgs_rows,active_set "
                "--worlds 2 --steps 30 --preset drake --plot %s --json",
                path_of("plot.svg")),
        0, "%s", err);
    json_t *json = parse_json();
    cr_expect_str_eq(text(json, "baseline"), "cone");
    cr_expect_eq(json_array_size(member(json, "rows")), 7);
    json_t *cone = solver_row(json, "cone"), *sap = solver_row(json, "sap"), *pgs = solver_row(json, "pgs");
    cr_expect_eq(number(cone, "v_difference"), 0, "the baseline");
    cr_expect_lt(number(cone, "residual"), 1e-5);
    cr_expect_gt(number(pgs, "residual"), number(cone, "residual"), "50 sweeps are not enough");
    cr_expect_gt(number(sap, "residual"), number(cone, "residual"), "its contacts are compliant");
    cr_expect_lt(number(sap, "own_residual"), 1e-5, "but it is solved: %g", number(sap, "own_residual"));
    cr_expect_gt(number(pgs, "own_residual"), number(sap, "own_residual"));
    cr_expect_lt(number(sap, "v_difference"), 1);
    json_t *mujoco = solver_row(json, "mujoco");
    cr_expect_lt(number(mujoco, "v_difference"), 1);
    cr_expect_lt(number(mujoco, "residual"), 1, "its impulses are in the frames of the others");
    cr_expect_lt(number(mujoco, "momentum_error"), 1e-4);
    cr_expect_lt(number(cone, "momentum_error"), 1e-6);
    cr_expect_eq(number(cone, "failed.count"), 0);
    json_decref(json);
    static char plot[1 << 16];
    read_text(path_of("plot.svg"), plot, sizeof plot);
    cr_expect(strstr(plot, "<svg") && strstr(plot, "active_set"));
    cr_expect(strstr(plot, "each of its own law"), "compliant laws have no floor in the plot");
    cr_expect_eq(sapwood("compare-solvers bench/scenes/stack5.yaml --solvers cone,fast"), 2);
    cr_expect(strstr(err, "fast") && strstr(err, "pgs_rows"), "%s", err);
}

Test(cli, a_dumped_problem_conforms) {
    static const char *const scenes[] = {"bench/scenes/stack5.yaml", "bench/scenes/quadruped.yaml",
                                         "bench/scenes/gripper.yaml"};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(sapwood("dump-problem %s --worlds 0,2 --steps 40", scenes[i]), 0, "%s", err);
        write_text(path_of("problems.json"), out);
        cr_assert_eq(sapwood("conform %s", path_of("problems.json")), 0, "%s%s", out, err);
        cr_expect(strstr(out, "2 passed, 0 failed"), "%s", out);
    }
    cr_expect_eq(sapwood("dump-problem bench/scenes/stack5.yaml --worlds -1"), 2);
}

Test(cli, compare_changes_one_knob_of_the_preset_at_a_time) {
    static const char *const knobs[][3] = {{"preset", "approx64", "reference"},
                                           {"preset", "approx32", "Delta_precision"},
                                           {"preset", "drake", "Delta_model"},
                                           {"free_motion_precision", "fp32", "precision"},
                                           {"contact_solve_precision", "fp32", "precision"},
                                           {"linear_solve_precision", "fp32", "precision"},
                                           {"contact_weight_precision", "fp32", "precision"},
                                           {"contact_geometry_f64", "false", "precision"},
                                           {"contact_weight", "diag_delassus", "model"},
                                           {"contact_point", "contact_midpoint", "model"},
                                           {"position_integration", "sap_euler", "model"},
                                           {"constraint_weight", "mixed", "model"},
                                           {"tendon_limit_window", "violated", "model"},
                                           {"line_search", "monotone_decay", "line search"},
                                           {"line_search", "armijo_decay", "line search"},
                                           {"line_search", "exact_root", "line search"},
                                           {"line_search", "wolfe", "line search"}};
    enum { COUNT = sizeof knobs / sizeof knobs[0] };
    cr_assert_eq(sapwood("compare bench/scenes/arm3.yaml --worlds 5 --steps 20 --json"), 0, "%s", err);
    json_t *json = parse_json();
    cr_expect_eq(number(json, "worlds"), 5);
    cr_expect_eq(number(json, "steps"), 20);
    cr_expect_eq(json_array_size(member(json, "one_step")), json_array_size(member(json, "drift")));
    for (size_t i = 0; i < COUNT; i++) {
        json_t *step = row_of(json, "one_step", knobs[i][0], knobs[i][1]);
        json_t *run = row_of(json, "drift", knobs[i][0], knobs[i][1]);
        cr_expect_str_eq(text(step, "kind"), knobs[i][2], "%s", knobs[i][0]);
        cr_expect_str_eq(text(step, "against"), "approx64");
        cr_expect_eq(number(step, "failed.count") + number(run, "failed.count"), 0);
        cr_expect_eq(number(step, "not_converged.count"), 0);
        cr_expect_geq(number(step, "newton_iterations.mean"), 1, "the drives are solved for");
        cr_expect_leq(number(step, "v_difference.p50"), number(step, "v_difference.p90"));
        cr_expect_leq(number(step, "v_difference.p90"), number(step, "v_difference.p99"));
        cr_expect_leq(number(step, "v_difference.p99"), number(step, "v_difference.max"));
        cr_expect_geq(number(run, "v_difference.largest"), number(run, "v_difference.end"));
        cr_expect_gt(number(run, "ns_per_world_step"), 0);
    }
    double precision = number(preset_row(json, "drift", "approx32"), "v_difference.largest");
    double model = number(preset_row(json, "drift", "drake"), "v_difference.largest");
    cr_expect(0 < precision && precision < 1e-4, "%g", precision);
    cr_expect(precision < model, "%g, %g", precision, model);
    /* Without contacts the integration is all that drake changes. */
    json_t *euler = row_of(json, "drift", "position_integration", "sap_euler");
    cr_expect_eq(model, number(euler, "v_difference.largest"));
    json_decref(json);
}

/* The twin "approx64" of "approx32" if there is such a preset, else approx64. */
static void expected_against(const char *preset, char *against) {
    char path[512];
    size_t stem = strlen(preset) - 2;
    snprintf(against, 64, "%.*s64", (int)stem, preset);
    snprintf(path, sizeof path, SAPWOOD_SOURCE_DIR "/presets/%s.yaml", against);
    if (strcmp(preset + stem, "32") != 0 || access(path, R_OK) != 0)
        strcpy(against, "approx64");
}

Test(cli, compare_has_every_preset_and_each_f32_preset_against_its_f64_twin) {
    cr_assert_eq(sapwood("compare quadruped --worlds 2 --steps 10 --json"), 0, "%s", err);
    json_t *json = parse_json();
    DIR *folder = opendir(SAPWOOD_SOURCE_DIR "/presets");
    cr_assert_not_null(folder);
    int presets = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char preset[64], against[64];
        const char *end = strstr(entry->d_name, ".yaml");
        if (!end)
            continue;
        snprintf(preset, sizeof preset, "%.*s", (int)(end - entry->d_name), entry->d_name);
        expected_against(preset, against);
        json_t *row = preset_row(json, "one_step", preset);
        cr_expect_str_eq(text(row, "against"), against, "%s", preset);
        cr_expect_eq(strcmp(text(row, "kind"), "Delta_precision") == 0, strstr(preset, "32") != NULL, "%s is %s",
                     preset, text(row, "kind"));
        presets++;
    }
    closedir(folder);
    cr_expect_geq(presets, 6);
    json_decref(json);
}

/* The integration moves q and not v, so one step has the same v from the same state, and a run does not. */
Test(cli, compare_takes_each_step_from_the_states_of_the_reference) {
    cr_assert_eq(sapwood("compare cube --worlds 4 --steps 100 --json"), 0, "%s", err);
    json_t *json = parse_json();
    json_t *step = row_of(json, "one_step", "position_integration", "sap_euler");
    json_t *run = row_of(json, "drift", "position_integration", "sap_euler");
    cr_expect_eq(number(step, "v_difference.max"), 0);
    cr_expect_gt(number(step, "q_difference.p50"), 0);
    cr_expect_gt(number(run, "v_difference.largest"), 1e-2, "the runs hit the ground in other steps");
    cr_expect_eq(number(preset_row(json, "one_step", "approx64"), "v_difference.max"), 0,
                 "a step from a state that was written back has the same bits");
    cr_expect_eq(number(preset_row(json, "one_step", "approx64"), "q_difference.max"), 0);
    json_decref(json);
}

/* A convex problem has one minimum, whatever the line search. The stopping rules of the presets are far looser than the
 * difference of their models: 0.002 m/s on the way down of the humanoid. */
Test(cli, compare_solves_tightly_unless_asked_otherwise) {
    static const char *const searches[] = {"monotone_decay", "armijo_decay", "exact_root", "wolfe"};
    static const char *const f64[] = {"approx64", "approx32", "drake", "mujoco64"};
    cr_assert_eq(sapwood("compare humanoid --worlds 8 --json"), 0, "%s", err);
    json_t *tight = parse_json();
    cr_assert_eq(sapwood("compare humanoid --worlds 8 --stopping own --json"), 0, "%s", err);
    json_t *own = parse_json();
    cr_expect_str_eq(text(tight, "stopping"), "tight");
    cr_expect_str_eq(text(own, "stopping"), "own");
    for (int i = 0; i < 4; i++) {
        json_t *row = row_of(tight, "one_step", "line_search", searches[i]);
        cr_expect_lt(number(row, "v_difference.max"), 1e-7, "%s", searches[i]);
        row = preset_row(tight, "one_step", f64[i]);
        cr_expect_lt(number(row, "largest_residual"), 1e-9, "%s", f64[i]);
        cr_expect_lt(number(row, "largest_residual"),
                     1e-2 * number(preset_row(own, "one_step", f64[i]), "largest_residual"), "%s", f64[i]);
    }
    double model = number(preset_row(tight, "one_step", "drake"), "v_difference.max");
    cr_expect(1e-4 < model && model < 1e-2, "Delta_model is %g", model);
    json_decref(tight);
    json_decref(own);
}

Test(cli, compare_applies_a_tolerance_that_is_named) {
    cr_assert_eq(sapwood("compare stack5 --worlds 2 --steps 50 --set max_iterations=1 --json"), 0, "%s", err);
    json_t *json = parse_json();
    json_t *row = preset_row(json, "one_step", "approx64");
    cr_expect_eq(number(row, "newton_iterations.largest"), 1);
    cr_expect_gt(number(row, "not_converged.count"), 0);
    cr_expect_eq(number(row, "not_converged.count"), number(row, "not_converged.by_status.iteration_limit"));
    json_decref(json);
}

Test(cli, compare_moves_the_worlds_with_another_reference) {
    cr_assert_eq(sapwood("compare arm3 --worlds 2 --steps 3 --reference drake --json"), 0, "%s", err);
    json_t *json = parse_json();
    cr_expect_str_eq(text(json, "reference"), "drake");
    cr_expect_str_eq(text(preset_row(json, "one_step", "approx64"), "kind"), "Delta_model");
    cr_expect_str_eq(text(preset_row(json, "one_step", "approx64"), "against"), "drake");
    cr_expect_str_eq(text(preset_row(json, "one_step", "approx32"), "against"), "approx64");
    cr_expect_not_null(find_row(json, "one_step", "contact_point", "witness_point"));
    cr_expect_null(find_row(json, "one_step", "contact_point", "contact_midpoint"));
    json_decref(json);
}

Test(cli, compare_prints_two_sections) {
    cr_assert_eq(sapwood("compare arm3 --worlds 2 --steps 3"), 0, "%s", err);
    const char *step = strstr(out, "\nONE STEP from the same states"), *run = strstr(out, "\nDRIFT over a run");
    cr_assert(step && run && step < run, "%s", out);
    cr_expect(strstr(step, "\nDelta_precision approx32 ") && strstr(step, "\nDelta_model     drake ") &&
                  strstr(step, "\nmodel             contact_weight=diag_delassus "),
              "%s", out);
    cr_expect(strstr(run, "\nDelta_precision approx32 ") && strstr(run, "\nDelta_model     drake "), "%s", out);
    cr_expect_str_empty(err);
}

Test(cli, compare_names_the_worlds_that_failed) {
    cr_assert_eq(sapwood("compare cube --worlds 3 --steps 2 --noise 1e30"), 1, "%s", err);
    cr_expect(strstr(out, "worlds failed    approx64, one step: 2 of 3 (result not finite: 2); worlds 1 2\n"), "%s",
              out);
    cr_assert_eq(sapwood("compare cube --worlds 3 --steps 2 --noise 1e30 --json"), 1, "%s", err);
    json_t *json = parse_json(), *row = preset_row(json, "drift", "approx64");
    cr_expect_eq(number(row, "failed.count"), 2);
    cr_expect_eq(json_integer_value(json_array_get(member(row, "failed.first"), 1)), 2);
    cr_expect_eq(number(preset_row(json, "one_step", "approx64"), "failed.count"), 2);
    json_decref(json);
    cr_assert_eq(sapwood("compare-solvers cube --worlds 3 --steps 2 --noise 1e30 --solvers sap,cone"), 1, "%s", err);
    cr_expect(strstr(out, "worlds failed    sap: 2 of 3 (") && strstr(out, "worlds 1 2\n"), "%s", out);
}

Test(cli, compare_leaves_out_presets_that_the_scene_cannot_have) {
    cr_assert_eq(sapwood("compare tendon_finger --worlds 2 --steps 3 --json"), 0, "%s", err);
    json_t *json = parse_json(), *left_out = member(json, "left_out");
    cr_assert_eq(json_array_size(left_out), 2);
    cr_expect_str_eq(text(json_array_get(left_out, 0), "preset"), "mujoco64");
    cr_expect_not_null(strstr(text(json_array_get(left_out, 0), "reason"), "tendon 'flexor' has points"));
    cr_expect_null(find_row(json, "one_step", "preset", "mujoco64"));
    json_decref(json);
    cr_expect_eq(sapwood("compare tendon_finger --reference mujoco64"), 2);
    cr_expect(strstr(err, "mujoco64") && strstr(err, "tendon 'flexor' has points"), "%s", err);
}

Test(cli, compare_draws_the_differences_of_one_step) {
    static char plot[1 << 16];
    cr_assert_eq(sapwood("compare arm3 --worlds 2 --steps 3 --plot %s", path_of("plot.svg")), 0, "%s", err);
    read_text(path_of("plot.svg"), plot, sizeof plot);
    cr_expect(strstr(plot, "<svg") && strstr(plot, "one step from the same states") && strstr(plot, "</svg>"));
    cr_expect(strstr(plot, ">Delta_model<") && strstr(plot, ">drake - approx64<"), "%s", plot);
    cr_expect(strstr(plot, "m/s and rad/s") && strstr(plot, "<line "), "%s", plot);
    cr_expect_eq(sapwood("compare arm3 --worlds 1 --steps 1 --plot %s", path_of("no/such/folder.svg")), 2);
    cr_expect(strstr(err, "folder.svg"), "%s", err);
}

Test(cli, compare_refuses_settings_of_what_it_compares) {
    static const struct {
        const char *arguments, *named;
    } refused[] = {{"--preset drake", "--preset is 'drake'"},
                   {"--set contact_weight=diag_delassus", "contact_weight is 'diag_delassus'"},
                   {"--set contact_solve_precision=fp32", "contact_solve_precision is 'fp32'"},
                   {"--reference drak", "did you mean 'drake'"},
                   {"--stopping loose", "allowed: tight, own"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        cr_expect_eq(sapwood("compare arm3 --worlds 1 --steps 1 %s", refused[i].arguments), 2);
        cr_expect(strstr(err, refused[i].named), "%s: %s", refused[i].arguments, err);
    }
}

/* ---- conform ---- */

#define REFERENCE SAPWOOD_SOURCE_DIR "/tests/data/reference/f64"
#define DUAL      SAPWOOD_SOURCE_DIR "/tests/data/reference/dual"

/* The last line of what was printed, without its end. */
static const char *last_line(void) {
    size_t length = strlen(out);
    if (length > 0 && out[length - 1] == '\n')
        out[length - 1] = '\0';
    const char *line = strrchr(out, '\n');
    return line ? line + 1 : out;
}

Test(cli, conform_passes_on_all_reference_cases) {
    cr_expect_eq(sapwood("conform --compat " REFERENCE "/*.json.gz"), 0, "%s", err);
    cr_expect_str_eq(last_line(), "342 passed, 0 failed", "%s", out);
    cr_expect_str_empty(err);
}

Test(cli, conform_passes_on_constraints_and_tendons) {
    cr_expect_eq(sapwood("conform " REFERENCE "/../constraints/*.json.gz"), 0, "%s%s", out, err);
    cr_expect(strstr(out, "282 passed, 0 failed"), "%s", out);
}

Test(cli, conform_passes_on_contact_laws) {
    cr_expect_eq(sapwood("conform " REFERENCE "/../laws/*.json.gz"), 0, "%s%s", out, err);
    cr_expect_not_null(strstr(out, "1032 passed, 0 failed"), "%s", out);
}

Test(cli, conform_exits_with_1_where_contact_laws_differ) {
    char command[4096];
    snprintf(command, sizeof command,
             "cp " REFERENCE "/../laws/roll.json.gz %s && sed 's/dissipation: 10/dissipation: 11/' " REFERENCE
             "/../laws/roll.yaml > %s",
             path_of("roll.json.gz"), path_of("roll.yaml"));
    cr_assert_eq(system(command), 0);
    cr_expect_eq(sapwood("conform %s", path_of("roll.json.gz")), 1, "%s%s", out, err);
    cr_expect_not_null(strstr(out, "lagged: trajectory"), "%s", out);
}

/* A stand-in for Python that prints the lines, one for each argument that is a file of MuJoCo. */
static int conform_mujoco(const char *lines) {
    char script[1024];
    snprintf(script, sizeof script, "#!/bin/sh\nfor file; do case $file in *.gz) echo $file;; esac; done\n%s", lines);
    write_text(path_of("python"), script);
    return sapwood("--version >/dev/null && chmod +x %s && export SAPWOOD_PYTHON=%s && '%s' conform --compat " REFERENCE
                   "/arm3.json.gz " REFERENCE "/../mujoco/w*.json.gz",
                   path_of("python"), path_of("python"), SAPWOOD_PROGRAM);
}

Test(cli, conform_lets_python_compare_all_files_of_mujoco_and_adds_its_numbers) {
    cr_expect_eq(conform_mujoco("echo '3 passed, 0 failed'"), 0, "%s", err);
    cr_expect(strstr(out, "walker2d.json.gz\n") && strstr(out, "weld.json.gz\n"), "%s", out);
    cr_expect_str_eq(last_line(), "45 passed, 0 failed", "%s", out);
    cr_expect_eq(conform_mujoco("echo '3 passed, 2 failed'\nexit 1"), 1, "%s", err);
    cr_expect_str_eq(last_line(), "45 passed, 2 failed", "%s", out);
}

Test(cli, conform_says_what_files_of_mujoco_need_where_python_fails) {
    static const char *const scripts[] = {"exit 1", "echo '3 passed, 0 failed'\necho more\nexit 1"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        cr_expect_eq(conform_mujoco(scripts[i]), 2, "%s", out);
        cr_expect(strstr(err, "files of MuJoCo") && strstr(err, "pip install 'sapwood[test]'"), "%s", err);
    }
}

/* In f32 coordinates are known to 1e-7 and vhat = -g/(2 h) to 1e-5 m/s; loops and contacts multiply that. */
Test(cli, conform_shows_what_f32_does_to_constraints) {
    cr_assert_eq(sapwood("conform --knobs --json " REFERENCE "/../constraints/*.json.gz"), 0, "%s%s", out, err);
    json_t *json = parse_json(), *rows = member(json, "constraints");
    cr_assert_eq(json_array_size(rows), 3);
    cr_expect(number(json_array_get(rows, 0), "v") < 1e-9 && number(json_array_get(rows, 0), "q") < 1e-7, "%s", out);
    for (int i = 1; i < 3; i++) {
        double v = number(json_array_get(rows, i), "v"), q = number(json_array_get(rows, i), "q");
        cr_expect(v > 1e-9 && v < 1e-3 && q > 1e-9 && q < 1e-4, "%s", out);
    }
    json_decref(json);
}

Test(cli, conform_exits_with_1_where_constraints_differ) {
    char command[4096];
    snprintf(command, sizeof command,
             "cp " REFERENCE "/../constraints/pendulums_rod.json.gz %s && "
             "sed 's/length: 0.3/length: 0.4/' " REFERENCE "/../constraints/pendulums_rod.yaml > %s",
             path_of("rod.json.gz"), path_of("pendulums_rod.yaml"));
    cr_assert_eq(system(command), 0);
    cr_expect_eq(sapwood("conform %s", path_of("rod.json.gz")), 1, "%s%s", out, err);
    cr_expect(strstr(out, "FAIL") && strstr(out, "0 passed, 11 failed"), "%s", out);
}

Test(cli, conform_reports_as_json) {
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
    cr_assert_eq(sapwood("conform --compat --dump %s " REFERENCE "/cube_tumble.json.gz", path_of("dump.json")), 0, "%s",
                 err);
    char before[64];
    snprintf(before, sizeof before, "%s", last_line());
    cr_assert_eq(sapwood("conform --compat %s", path_of("dump.json")), 0, "%s", err);
    cr_expect_str_eq(last_line(), before);
    cr_expect(strstr(out, " v 0.0e+00"), "the same program gives the same bits: %s", out);
}

Test(cli, conform_recognises_contact_problems_by_their_content) {
    cr_expect_eq(sapwood("conform " DUAL "/*.json.gz"), 0, "%s", err);
    cr_expect(strstr(out, "seed            17 problems, residual "), "%s", out);
    cr_expect(strstr(out, "iterations to 1e-6: median "), "%s", out);
    cr_expect_str_eq(last_line(), "250 passed, 0 failed", "%s", out);
    cr_assert_eq(sapwood("conform --compat --json " DUAL "/seed.json.gz " REFERENCE "/arm3.json.gz"), 0, "%s", err);
    json_t *json = parse_json(), *outputs = member(json, "outputs");
    cr_expect_gt(json_array_size(outputs), 17);
    cr_expect_lt(number(json_array_get(outputs, 0), "errors.z"), 1e-6);
    cr_expect_leq(number(json_array_get(outputs, 0), "iterations"), 8);
    json_decref(json);
    cr_expect_eq(sapwood("conform --dump %s " DUAL "/seed.json.gz", path_of("dump.json")), 2);
    cr_expect(strstr(err, "--dump: "), "%s", err);
}

/* A solution that is not one, and a problem that is not one. */
Test(cli, conform_notices_wrong_impulses) {
    static const char problem[] =
        "{\"format\": \"sapwood-dual-1\", \"set\": \"one\", \"problems\": [{\"name\": \"p\", \"rows\": "
        "[{\"kind\": \"%s\"}], \"b\": [3], \"W\": [[2]], \"lambda\": [%s], \"z\": [0], \"cost\": -2.25, "
        "\"lambda_unique\": true}]}";
    char json[512];
    const struct {
        const char *kind, *lambda;
        int expected;
    } cases[] = {
        {"unilateral", "1.5", 0}, {"unilateral", "1.4", 1}, {"unilateral", "1.5, 2", 2}, {"bilateral", "1.5", 2}};
    for (int i = 0; i < 4; i++) {
        snprintf(json, sizeof json, problem, cases[i].kind, cases[i].lambda);
        write_text(path_of("problem.json"), json);
        cr_expect_eq(sapwood("conform %s", path_of("problem.json")), cases[i].expected, "%d: %s%s", i, out, err);
    }
}

/* Another answer must be noticed: the regularisation of friction is changed. */
Test(cli, conform_exits_with_1_where_answers_differ) {
    cr_expect_eq(sapwood("conform --compat --set friction_regularization=0.01 " REFERENCE "/box_slide.json.gz"), 1,
                 "%s", err);
    cr_expect(strstr(out, "FAIL"), "%s", out);
    cr_expect_null(strstr(last_line(), " 0 failed"), "%s", out);
}

/* What a knob touches has an error of f32's size, which is not zero, and what comes before it in a step has none. */
Test(cli, conform_tells_what_each_precision_in_f32_does) {
    static const struct {
        const char *f32;
        const char *touched, *untouched; /* NULL: nothing comes before */
    } rows[] = {{"none", NULL, NULL},
                {"free_motion_precision", "v_star", NULL},
                {"contact_geometry_f64", "J", "v_star"},
                {"contact_weight_precision", "w", "J"},
                {"contact_solve_precision", "v", "v_star"},
                {"linear_solve_precision", "v", "w"}};
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

/* Terabytes. */
Test(cli, compare_refuses_runs_that_do_not_fit_in_memory) {
    cr_expect_eq(sapwood("compare humanoid --worlds 100000 --steps 100000"), 2);
    cr_expect_not_null(strstr(err, "no memory for"), "%s", err);
    cr_expect_eq(sapwood("run quadruped --worlds 2000000000 --steps 1"), 2);
    cr_expect_not_null(strstr(err, "available, enough for"), "%s", err);
}
