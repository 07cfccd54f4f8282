/* `sapwood bench`: what it measures, prints and refuses. Times are only held against each other, never against a
 * clock. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/run_program.h"
#include "support/work.h"

TestSuite(cli_bench, .init = make_folder, .fini = remove_folder, .timeout = 240);

/* The rows of a bench, which must end well. */
static json_t *rows_of(const char *arguments) {
    cr_assert_eq(sapwood("bench --format json %s", arguments), 0, "%s: %s%s", arguments, out, err);
    json_t *json = parse_json(), *rows = json_incref(member(json, "rows"));
    json_decref(json);
    return rows;
}

static json_t *row_at(json_t *rows, size_t i) {
    cr_assert_lt(i, json_array_size(rows));
    return json_array_get(rows, i);
}

/* Fields of a line of CSV, commas in quotes not counted. */
static int count_fields(const char *line) {
    int fields = 1;
    bool quoted = false;
    for (; *line && (*line != '\n' || quoted); line++) {
        quoted ^= *line == '"';
        fields += *line == ',' && !quoted;
    }
    return fields;
}

/* ---- usage ---- */

typedef struct Refusal {
    const char *arguments;
    const char *says[3]; /* all of these are in the message */
} Refusal;

Test(cli_bench, refuses_bad_usage_and_names_option_value_and_what_is_allowed) {
    static const Refusal refusals[] = {
        {"cube", {"'cube'", "--scene"}},
        {"--scene cube,,stack5", {"--scene", "empty"}},
        {"--scene no_such_scene", {"no_such_scene"}},
        {"--worlds 1,,2", {"--worlds", "'1,,2'", "1 .. 2147483647"}},
        {"--worlds 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", {"--worlds", "at most 16"}},
        {"--worlds 0", {"--worlds", "'0'", "1 .. 2147483647"}},
        {"--steps 0", {"--steps", "'0'", "1 .. 1000000"}},
        {"--warmup -1", {"--warmup", "'-1'", "0 .. 1000000"}},
        {"--repeat 0", {"--repeat", "'0'", "1 .. 1000"}},
        {"--preset approx32,best",
         {"--preset", "'best'", "fast32, fast64, approx32, approx64, drake, mujoco32, mujoco64"}},
        {"--line-search exact", {"--line-search", "'exact'", "monotone_decay, armijo_decay, exact_root, wolfe"}},
        {"--line-search exact_root --set line_search=armijo_decay", {"line_search", "--line-search"}},
        {"--lanes 2", {"--lanes", "'2'", "0, 1, 4, 8, 16"}},
        {"--threads 2000", {"--threads", "'2000'", "0 .. 1024"}},
        {"--set threads=2", {"--set threads", "'2'", "--threads"}},
        {"--set lanes=4", {"--set lanes", "'4'", "--lanes"}},
        {"--device abacus", {"--device", "'abacus'", "cpu"}},
        {"--seed -1", {"--seed", "'-1'", "0 .. 18446744073709551615"}},
        {"--control-noise -1", {"--control-noise", "'-1'", ">= 0"}},
        {"--hostile rude", {"--hostile", "'rude'", "nan, wild"}},
        {"--format xml", {"--format", "'xml'", "human, csv, json"}},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const Refusal *r = &refusals[i];
        cr_expect_eq(sapwood("bench %s", r->arguments), 2, "bench %s", r->arguments);
        for (int k = 0; k < 3 && r->says[k]; k++)
            cr_expect(strstr(err, r->says[k]), "bench %s does not say %s but: %s", r->arguments, r->says[k], err);
    }
}

/* ---- rows ---- */

Test(cli_bench, prints_a_row_per_case) {
    cr_assert_eq(sapwood("bench --scene cube --worlds 1,64,200 --threads 1,2 --lanes 4 --steps 3 --warmup 2 --repeat 2 "
                         "--preset approx32,drake --format json"),
                 0, "%s", err);
    json_t *json = parse_json(), *rows = member(json, "rows");
    /* One world cannot use two threads: that case is the same as with one, and left out. */
    cr_assert_eq(json_array_size(rows), 2 * (3 + 2));
    for (size_t i = 0; i < 10; i++) {
        json_t *row = row_at(rows, i);
        cr_expect_str_eq(text(row, "preset"), i < 5 ? "approx32" : "drake");
        cr_expect_eq(number(row, "lanes"), 4);
        cr_expect(number(row, "ns_min") <= number(row, "ns_per_world_step") &&
                  number(row, "ns_per_world_step") <= number(row, "ns_max"));
        /* 620 + 6 80, and d^2 + 15 d - 2 for the depths 1 .. 6 */
        cr_expect_eq(number(row, "flops_per_world_step"), 1494);
        double share = number(row, "share_of_peak");
        cr_expect(share > 0 && share < 1, "%g", share);
        cr_expect(json_is_true(member(row, "repeatable")));
    }
    cr_expect_eq(json_array_size(member(json, "flatness")), 4, "200 worlds against 64, two presets, 1 and 2 threads");
    cr_expect_eq(json_array_size(member(json, "scaling")), 4, "2 threads against 1, two presets, 64 and 200 worlds");
    cr_expect_gt(number(json, "machine.cpus"), 0);
    cr_expect_eq(number(json, "plan.warmup"), 2);
    cr_expect_str_not_empty(text(json, "commit"));
    cr_expect_str_not_empty(text(json, "machine.cpu"));
    json_decref(json);
}

Test(cli_bench, has_collision_in_its_steps_and_tells_of_contacts_and_iterations) {
    json_t *rows = rows_of("--scene stack5,arm3 --worlds 9 --steps 4 --warmup 20 --repeat 1"), *stack = row_at(rows, 0);
    cr_expect_eq(number(stack, "contacts.mean"), 20, "four of each of five boxes");
    cr_expect_eq(number(stack, "contacts.largest"), 20);
    cr_expect_eq(number(stack, "contacts.p95"), 20);
    cr_expect_geq(number(stack, "newton_iterations.mean"), 1);
    cr_expect_geq(number(stack, "line_search_iterations.largest"), 1);
    double deepest = number(stack, "penetration.largest"), p95 = number(stack, "penetration.p95");
    cr_expect(deepest > 1e-5 && deepest < 1e-2 && p95 > 0 && p95 <= deepest, "p95 %g, most %g", p95, deepest);
    double stops = 0;
    const char *key;
    json_t *share;
    json_object_foreach(member(stack, "stopped_by"), key, share) stops += json_number_value(share);
    cr_expect(fabs(stops - 1) < 1e-12, "the shares of the stopping tests make %g", stops);
    cr_expect(json_is_null(member(row_at(rows, 1), "penetration.largest")), "arm3 touches nothing");
    json_decref(rows);
}

Test(cli_bench, tells_what_a_world_takes_in_memory) {
    json_t *rows = rows_of("--scene cube --worlds 4096 --threads 1 --lanes 8 --steps 1 --warmup 0 --repeat 1"),
           *row = row_at(rows, 0);
    double bytes = number(row, "bytes_per_world"), arrays = number(row, "array_bytes_per_world");
    /* q 7, qd 6, body 13, control 4 6 + 6, four points of 2 shapes and 11 numbers; status and sleep, four counters, cost
     * and residual, contacts and dropped */
    cr_expect_eq(arrays, 4 * (7 + 6 + 13 + 4 * 6 + 6) + 4 * (2 * 4 + 11 * 4) + 2 * 4 + 4 * 4 + 2 * 8 + 2 * 4, "%g",
                 arrays);
    cr_expect(bytes >= arrays && bytes < 1.3 * arrays, "%g bytes, the arrays need %g", bytes, arrays);
    json_decref(rows);
}

Test(cli_bench, ends_with_the_same_states_for_any_threads_and_lanes) {
    json_t *rows =
        rows_of("--scene quadruped --worlds 33 --threads 1,2 --lanes 1,4,8 --steps 9 --warmup 10 --repeat 1");
    cr_assert_eq(json_array_size(rows), 6);
    for (size_t i = 1; i < 6; i++) {
        cr_expect_str_eq(text(row_at(rows, i), "state_hash"), text(row_at(rows, 0), "state_hash"));
        cr_expect_eq(number(row_at(rows, i), "newton_iterations.mean"),
                     number(row_at(rows, 0), "newton_iterations.mean"));
    }
    json_decref(rows);
}

Test(cli_bench, targets_move_by_seed_and_only_where_noise_is_wanted) {
    static const char *const calls[] = {"--seed 0", "--seed 1", "--control-noise 0", "--control-noise 0.1"};
    char hashes[4][32];
    for (int i = 0; i < 4; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "--scene arm3 --worlds 2 --steps 5 --warmup 3 --repeat 1 %s", calls[i]);
        json_t *rows = rows_of(arguments);
        snprintf(hashes[i], sizeof hashes[i], "%s", text(row_at(rows, 0), "state_hash"));
        json_decref(rows);
        for (int k = 0; k < i; k++)
            cr_expect_str_neq(hashes[i], hashes[k], "%s and %s", calls[i], calls[k]);
    }
}

Test(cli_bench, takes_processor_time_where_asked) {
    cr_assert_eq(sapwood("bench --scene cube --worlds 64 --threads 1 --steps 2 --warmup 0 --repeat 1 --processor-time "
                         "--format json"),
                 0, "%s", err);
    json_t *json = parse_json();
    cr_expect_str_eq(text(json, "plan.clock"), "processor");
    cr_expect_gt(number(row_at(member(json, "rows"), 0), "ns_per_world_step"), 0);
    json_decref(json);
}

Test(cli_bench, names_the_knobs_that_are_not_the_presets) {
    json_t *rows =
        rows_of("--scene cube --worlds 1 --steps 1 --warmup 0 --repeat 1 --line-search exact_root,armijo_decay "
                "--set friction_regularization=1e-4");
    cr_assert_eq(json_array_size(rows), 2);
    cr_expect_str_eq(text(row_at(rows, 0), "line_search"), "exact_root");
    cr_expect_str_eq(text(row_at(rows, 1), "knobs.line_search"), "armijo_decay");
    cr_expect_str_eq(text(row_at(rows, 1), "knobs.friction_regularization"), "0.0001");
    cr_expect_null(json_object_get(member(row_at(rows, 1), "knobs"), "rho"));
    json_decref(rows);
}

/* ---- formats ---- */

Test(cli_bench, prints_csv_with_as_many_fields_in_every_line) {
    cr_assert_eq(
        sapwood("bench --scene cube --scene bench/scenes/arm3.yaml --worlds 64,65 --threads 1 --steps 2 --warmup 1 "
                "--repeat 1 --bodies --profile --format csv"),
        0, "%s", err);
    cr_assert_eq(count_lines(out), 1 + 4);
    cr_expect(strncmp(out, "scene,preset,line_search,worlds,", 32) == 0, "%s", out);
    cr_expect(strstr(out, "\ncube,fast32,wolfe,64,") && strstr(out, "\narm3,fast32,wolfe,65,"), "%s", out);
    cr_expect(strstr(out, ",ns_narrow_phase,") && strstr(out, ",ns_line_search,"), "%s", out);
    int fields = count_fields(out);
    for (const char *line = out; (line = strchr(line, '\n')) && line[1]; line++)
        cr_expect_eq(count_fields(line + 1), fields, "%s", line + 1);
}

Test(cli_bench, prints_a_table_that_can_be_read) {
    cr_assert_eq(sapwood("bench --scene cube --worlds 64,65 --threads 1,2 --steps 2 --warmup 60 --repeat 2"), 0, "%s",
                 err);
    static const char *const says[] = {
        "ns/w-step",       "65 to 64 worlds: ", "2 threads to 1: ",     "penetration p95",
        "bytes per world", "state hash",        "stopped by optimality"};
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        cr_expect(strstr(out, says[i]), "no '%s' in: %s", says[i], out);
    cr_expect_str_empty(err);
}

/* ---- profile ---- */

Test(cli_bench, a_profile_has_every_stage_and_they_make_the_whole) {
    json_t *rows = rows_of("--scene quadruped --worlds 64 --threads 2 --steps 8 --warmup 20 --repeat 1 --profile");
    json_t *row = row_at(rows, 0), *stages = member(row, "profile.stages"), *stage;
    const char *key;
    double ns = 0, share = 0;
    cr_expect_eq(json_object_size(stages), 19);
    json_object_foreach(stages, key, stage) {
        cr_expect_gt(number(stage, "ns"), 0, "%s", key);
        ns += number(stage, "ns");
        share += number(stage, "share");
    }
    cr_expect(fabs(share - 1) < 1e-9, "the shares make %g", share);
    cr_expect(fabs(ns / number(row, "ns_per_world_step") - 1) < 1e-9);
    cr_expect_gt(number(row, "profile.overhead"), 0);
    double factor = number(row, "profile.share_of_peak.factor"),
           free_motion = number(row, "profile.share_of_peak.free_motion");
    cr_expect(factor > 0 && factor < 1 && free_motion > 0 && free_motion < 1, "%g %g", factor, free_motion);
    json_decref(rows);
    cr_assert_eq(sapwood("bench --scene cube --worlds 8 --steps 2 --warmup 60 --repeat 1 --profile"), 0, "%s", err);
    cr_expect(strstr(out, "line search  ") && strstr(out, "of the peak of multiply-adds"), "%s", out);
}

/* ---- trouble ---- */

Test(cli_bench, worlds_that_fail_are_named_and_make_the_exit_code_1) {
    write_text(path_of("fast.yaml"),
               "schema_version: 1\nname: fast\nbuilder: {gravity: -9.81}\nground: false\n"
               "bodies:\n- {id: ball, shapes: [{type: sphere, radius: 0.1}]}\n"
               "joints:\n- {id: free, type: free, parent: world, child: ball}\n"
               "post_build:\n- {op: set_array, array: joint_qd, values: [0, 0, 0, 1e30, 0, 0]}\n");
    const char *cases = "--worlds 3 --threads 1 --steps 2 --warmup 1 --repeat 1";
    cr_assert_eq(sapwood("bench --scene %s %s --format json", path_of("fast.yaml"), cases), 1, "%s", err);
    json_t *json = parse_json(), *row = row_at(member(json, "rows"), 0);
    cr_expect_eq(number(row, "failed.count"), 3);
    cr_expect_eq(json_array_size(member(row, "failed.first")), 3);
    json_decref(json);
    cr_assert_eq(sapwood("bench --scene %s %s", path_of("fast.yaml"), cases), 1);
    cr_expect(strstr(out, "FAILED: 3 worlds: 0 1 2\n"), "%s", out);
}

Test(cli_bench, contacts_that_found_no_slot_are_named_and_make_the_exit_code_1) {
    const char *cases = "--scene stack5 --worlds 3 --set max_contacts=8 --threads 1 --steps 2 --warmup 1 --repeat 1";
    cr_assert_eq(sapwood("bench %s --format json", cases), 1, "%s", err);
    json_t *json = parse_json(), *row = row_at(member(json, "rows"), 0);
    cr_expect_eq(number(row, "truncated.count"), 3);
    cr_expect_eq(number(row, "contact_slots"), 8);
    cr_expect_eq(number(row, "contacts_needed"), 20);
    json_decref(json);
    cr_assert_eq(sapwood("bench %s", cases), 1);
    cr_expect(strstr(out, "CONTACTS DROPPED: 3 worlds: 0 1 2\n") && strstr(out, "a world needed 20"), "%s", out);
}

Test(cli_bench, a_hostile_world_fails_nobody_and_leaves_the_others_their_bits) {
    static const char *const kinds[] = {"nan", "wild"};
    for (int i = 0; i < 2; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments,
                 "--scene quadruped --worlds 33 --threads 2 --steps 6 --warmup 9 --repeat 2 --hostile %s", kinds[i]);
        json_t *rows = rows_of(arguments), *row = row_at(rows, 0);
        cr_expect_str_eq(text(row, "hostile.kind"), kinds[i]);
        cr_expect(json_is_true(member(row, "hostile.others_same")));
        cr_expect_gt(number(row, "hostile.time_ratio"), 0);
        cr_expect_eq(number(row, "failed.count"), 0, "the hostile world is not counted");
        json_decref(rows);
    }
}

/* ---- other benches ---- */

Test(cli_bench, of_collision_has_every_pair_of_types_and_five_scenes_in_both_precisions) {
    if (work_scale() < 1)
        cr_skip_test("it measures for minutes in a build with sanitizers");
    cr_assert_eq(sapwood("bench-collision --repeat 1 --format json"), 0, "%s", err);
    json_t *json = parse_json(), *rows = member(json, "rows");
    int pairs = 0, scenes = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        bool is_pair = strcmp(text(row, "kind"), "pair") == 0;
        pairs += is_pair;
        scenes += !is_pair;
        cr_expect_gt(number(row, "collision_ns"), 0);
        cr_expect(strcmp(text(row, "name"), "none") == 0 || number(row, "contacts") > 0.3, "%s: %g contacts",
                  text(row, "name"), number(row, "contacts"));
        cr_expect(is_pair == json_is_null(member(row, "step_ns")));
    }
    cr_expect_eq(pairs, 2 * (1 + 7 + 7 + 7 * 8 / 2),
                 "none, plane and height field with seven, and these among each other");
    cr_expect_eq(scenes, 2 * 5);
    json_decref(json);
}

Test(cli_bench, of_iterations_and_collision_refuse_other_values) {
    cr_expect_eq(sapwood("bench-newton --precision f32,f16"), 2);
    cr_expect(strstr(err, "--precision") && strstr(err, "'f16'") && strstr(err, "f32, f64"), "%s", err);
    cr_expect_eq(sapwood("bench-collision --format xml"), 2);
    cr_expect(strstr(err, "--format") && strstr(err, "'xml'") && strstr(err, "human, csv, json"), "%s", err);
}

Test(cli_bench, measures_newton_iterations_on_both_plans) {
    cr_assert_eq(sapwood("bench-newton --worlds 8 --precision f64 --repeat 1 --format json"), 0, "%s", err);
    json_t *json = parse_json(), *rows = member(json, "rows");
    cr_assert_eq(json_array_size(rows), 7 * 6 * 2, "nv, nc, plan");
    for (size_t i = 0; i < 7 * 6 * 2; i += 2) {
        json_t *sparse = json_array_get(rows, i), *dense = json_array_get(rows, i + 1);
        cr_expect_str_eq(text(sparse, "plan"), "sparse");
        cr_expect_str_eq(text(dense, "plan"), "dense");
        double least = number(sparse, "nc") > 1 ? 3.5 : 3; /* one contact is solved after three */
        cr_expect(number(sparse, "iterations") >= least && number(sparse, "iterations") <= 4,
                  "worlds took %g iterations", number(sparse, "iterations"));
        cr_expect_eq(number(sparse, "evaluations"), number(dense, "evaluations"), "the plans give other bits");
        cr_expect(number(sparse, "evaluations") >= 1 && number(sparse, "evaluations") < 10);
        double saved = number(dense, "flops_per_world_iteration") - number(sparse, "flops_per_world_iteration");
        cr_expect(number(sparse, "nv") == 6 ? saved == 0 : saved > 0, "%g", saved);
    }
    json_decref(json);
}
