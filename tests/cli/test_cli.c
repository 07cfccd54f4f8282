/* The program: usage, input and output, and what it tells of a scene. Each test runs it as a user would, through a
 * shell. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/run_program.h"

TestSuite(cli, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* ---- usage ---- */

typedef struct Refusal {
    const char *arguments;
    const char *says[3]; /* all of these are in the message */
} Refusal;

Test(cli, refuses_bad_usage_and_names_option_value_and_what_is_allowed) {
    static const Refusal refusals[] = {
        {"", {"the command is missing", "sapwood help"}},
        {"walk", {"'walk'", "demo, run, info, bench"}},
        {"--json", {"the command is missing"}},
        {"--json run cube", {"--json", "'run'", "--version"}},
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
        {"run cube --preset best",
         {"--preset", "'best'", "fast32, fast64, approx32, approx64, drake, mujoco32, mujoco64"}},
        {"run cube --set rho", {"--set", "'rho'", "NAME=VALUE"}},
        {"run cube --set rho=2", {"--set", "rho is '2'", "< 1"}},
        {"run cube --set armjo_rho=0.5", {"--set", "'armjo_rho'", "armijo_rho"}},
        {"run cube --threads 5000", {"--threads", "'5000'", "0 .. 1024"}},
        {"run cube --lanes 3", {"--lanes", "'3'", "1, 4, 8, 16"}},
        {"run cube --isa mmx", {"--isa", "'mmx'", "avx2"}},
        {"run cube --device gpu", {"--device", "'gpu'", "did you mean 'cuda'"}},
        {"run cube --trajectory-world 1", {"--trajectory-world", "'1'", "--trajectory"}},
        {"run cube --worlds 2 --trajectory x --trajectory-world 2", {"--trajectory-world", "'2'", "0 .. 1"}},
        {"info", {"scene is missing"}},
        {"demo --worlds 0", {"--worlds", "'0'", "1 .. 100000"}},
        {"demo --seconds -1", {"--seconds", "'-1'", "> 0"}},
        {"demo --port 70000", {"--port", "'70000'", "1 .. 65535"}},
        {"demo walk stack", {"'stack'", "one demo", "'walk'"}},
        {"info cube --steps 4", {"--steps", "without --probe"}},
        {"info cube --probe --worlds 0", {"--worlds", "'0'", "1 .. 1000000"}},
        {"compare", {"scene is missing"}},
        {"compare cube --steps 0", {"--steps", "'0'", "1 .. 1000000"}},
        {"compare cube --preset drake", {"--preset", "'drake'", "all presets"}},
        {"compare cube --set contact-weight-mode=diag_delassus", {"--set contact_weight", "'diag_delassus'"}},
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
                                           {"conform --help", "--compat"}, {"conform --help", "reference file"}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        cr_expect_eq(sapwood("%s", calls[i][0]), 0, "sapwood %s", calls[i][0]);
        cr_expect(strstr(out, calls[i][1]), "sapwood %s says: %s", calls[i][0], out);
        cr_expect_str_empty(err);
    }
}

Test(cli, help_and_h_are_other_words_for_the_option_help) {
    static const char *const calls[][3] = {{"--help", "-h", "help"},
                                           {"run --help", "run -h", "help run"},
                                           {"replay --help", "replay -h", "help replay"},
                                           {"conform --help", "conform -h", "help conform"}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        static char help[sizeof out];
        cr_expect_eq(sapwood("%s", calls[i][0]), 0);
        memcpy(help, out, sizeof out);
        for (int k = 1; k < 3; k++) {
            cr_expect_eq(sapwood("%s", calls[i][k]), 0, "sapwood %s: %s", calls[i][k], err);
            cr_expect_str_eq(out, help, "sapwood %s", calls[i][k]);
        }
    }
    cr_expect_eq(sapwood("help benhc"), 2);
    cr_expect(strstr(err, "'benhc' (did you mean 'bench'?)"), "%s", err);
}

Test(cli, version_is_json_on_request) {
    static const char *const calls[] = {"--version --json", "--json --version", "-V --json"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        cr_assert_eq(sapwood("%s", calls[i]), 0, "%s: %s", calls[i], err);
        json_t *json = parse_json();
        cr_expect_str_eq(text(json, "name"), "sapwood");
        cr_expect_str_eq(text(json, "version"), sap_version());
        cr_expect(*text(json, "commit") && *text(json, "compiler"));
        json_decref(json);
    }
}

/* A copy of the program in a folder of its own; the command line that follows is run by a shell. */
static int run_copy(const char *command) {
    return sapwood("--version >/dev/null && cd '%s' && mkdir -p bin libexec/sapwood tools && cp '%s' bin && %s",
                   path_of(""), SAPWOOD_PROGRAM, command);
}

Test(cli, a_missing_separate_program_is_named_with_where_it_was_looked_for) {
    cr_expect_eq(run_copy("bin/sapwood selftest"), 2);
    cr_expect(strstr(err, "sapwood-selftest, which is missing") && strstr(err, "bin/../libexec/sapwood") &&
                  strstr(err, "make build"),
              "%s", err);
}

#define PROGRAM(folder) "printf '#!/bin/sh\\necho " folder " $*' >" folder "/sapwood-conform && chmod +x " folder "/*"

Test(cli, a_separate_program_is_beside_the_program_or_in_libexec_or_in_path) {
    cr_expect_eq(run_copy(PROGRAM("tools") " && PATH=tools:$PATH bin/sapwood conform a --json"), 0, "%s", err);
    cr_expect_str_eq(out, "tools a --json\n");
    cr_expect_eq(run_copy(PROGRAM("libexec/sapwood") " && PATH=tools:$PATH bin/sapwood conform b"), 0, "%s", err);
    cr_expect_str_eq(out, "libexec/sapwood b\n");
    cr_expect_eq(run_copy(PROGRAM("bin") " && PATH=tools:$PATH bin/sapwood conform c"), 0, "%s", err);
    cr_expect_str_eq(out, "bin c\n");
}

/* Lines of the help that begin with an option, after spaces: `name` has its dashes and its length. */
static int count_option(const char *help, const char *name, int length) {
    int count = 0;
    for (const char *line = help; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n ");
        count += strncmp(line, name, (size_t)length) == 0 && strchr("= \n", line[length]);
    }
    return count;
}

Test(cli, help_lists_every_option_once) {
    static const char *const commands[] = {
        "demo",   "run",      "info",         "bench",        "compare",         "conform",
        "replay", "selftest", "dump-problem", "bench-newton", "bench-collision", "compare-solvers"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        int options = 0;
        cr_assert_eq(sapwood("%s --help", commands[i]), 0);
        for (const char *line = strstr(out, "\n      --"); line; line = strstr(line, "\n      --"), options++) {
            line += strlen("\n      ");
            int length = (int)strcspn(line, "= \n");
            cr_expect_eq(count_option(out, line, length), 1, "%s --help: %.*s", commands[i], length, line);
        }
        cr_expect_geq(options, 5, "%s --help lists its options", commands[i]);
    }
}

Test(cli, help_has_no_option_that_the_command_refuses) {
    static const char *const refused[][4] = {{"replay", "--preset drake", "--device cpu", "--asset-root ."},
                                             {"conform", "--preset drake", "--device cpu", "--asset-root ."},
                                             {"dump-problem", "--device cuda"},
                                             {"compare", "--preset drake"},
                                             {"selftest", "--preset drake"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (int k = 1; k < 4 && refused[i][k]; k++) {
            int length = (int)strcspn(refused[i][k], " ");
            cr_expect_eq(sapwood("%s --help", refused[i][0]), 0);
            cr_expect_eq(count_option(out, refused[i][k], length), 0, "%s --help: %s", refused[i][0], refused[i][k]);
            cr_expect_eq(sapwood("%s %s x", refused[i][0], refused[i][k]), 2);
            cr_expect(strstr(err, "--preset is 'drake'") || strstr(err, "unrecognized option"), "%s", err);
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

Test(cli, lists_the_scenes_that_have_names) {
    static const char *const commands[] = {"run", "info", "bench"};
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(sapwood("%s --list", commands[i]), 0, "%s", err);
        cr_expect(strstr(out, "quadruped ") && strstr(out, "humanoid ") && strstr(out, "cube "), "%s", out);
    }
}

Test(cli, names_the_nearest_scene_and_where_it_looked) {
    static const char *const commands[] = {"run", "info", "bench --scene", "compare"};
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(sapwood("%s quadrupe", commands[i]), 2);
        cr_expect(strstr(err, "did you mean 'quadruped'") && strstr(err, "searched: the current folder, bench/scenes"),
                  "%s", err);
        cr_expect_str_empty(out, "no header above an empty table: %s", out);
    }
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
    cr_expect_str_eq(text(json, "options.preset"), "fast32");
    cr_expect_eq(json_array_size(member(json, "tree")), 13);
    cr_expect_str_eq(text(json, "broad_phase"), "listed");
    cr_expect_gt(number(json, "shape_pairs"), 0);
    double mass = 0;
    for (size_t i = 0; i < 13; i++)
        mass += number(json_array_get(member(json, "tree"), i), "mass");
    cr_expect_float_eq(number(json, "total_mass"), mass, 1e-12);
    json_decref(json);
}

Test(cli, info_tells_how_many_contact_slots_a_world_has) {
    cr_assert_eq(sapwood("info quadruped"), 0, "%s", err);
    cr_expect(strstr(out, "contact slots      32 per world, by max_contacts"), "%s", out);
    cr_assert_eq(sapwood("info quadruped --set max_contacts=0"), 0, "%s", err);
    cr_expect(strstr(out, "contact slots      20 per world, chosen by a probe"), "%s", out);
}

Test(cli, info_says_that_lagged_wants_a_gap) {
    static const char scene[] = "schema_version: 1\nsimulation: {solver: {contact_approximation: lagged}}\n"
                                "builder: {rigid_gap: %s}\nbodies: [{id: a, shapes: [{type: sphere, radius: 1}]}]\n"
                                "joints: [{id: f, type: free, parent: world, child: a}]\n";
    char text[1024];
    for (int wide = 0; wide < 2; wide++) {
        snprintf(text, sizeof text, scene, wide ? "0.01" : "0");
        write_text(path_of("law.yaml"), text);
        cr_assert_eq(sapwood("info %s", path_of("law.yaml")), 0, "%s", err);
        cr_expect_not_null(strstr(out, "contact law        lagged"), "%s", out);
        cr_expect_eq(strstr(out, "all gaps are 0") == NULL, wide, "%s", out);
    }
}

Test(cli, info_lists_constraints_and_warns_of_errors) {
    cr_assert_eq(sapwood("info tests/data/reference/constraints/gripper_coupler.yaml"), 0, "%s", err);
    cr_expect(strstr(out, "mirror: coupler, second, first, error 0.004"), "%s", out);
    cr_expect(strstr(out, "warning: constraint mirror is off by 0.004"), "%s", out);
    cr_expect(!strstr(out, "redundant"), "%s", out);
    cr_assert_eq(sapwood("info tests/scenes/linkages.yaml"), 0, "%s", err);
    cr_expect(strstr(out, "warning: constraint loop is off by 0.264 m or rad in initial state"), "%s", out);
    cr_expect(strstr(out, "sap_batch_assemble"), "%s", out);
    cr_assert_eq(sapwood("info tests/data/reference/constraints/own_tendon_path.yaml --json"), 0, "%s", err);
    json_t *json = parse_json(), *tendon = json_array_get(member(json, "tendons"), 0);
    cr_expect_str_eq(text(tendon, "name"), "strap");
    cr_expect_str_eq(text(tendon, "kind"), "spatial");
    cr_expect_eq(json_array_size(member(json, "constraints")), 0);
    json_decref(json);
}

Test(cli, info_warns_of_a_heavy_body_on_a_light_one_and_names_both) {
    const char *scene = "printf 'schema_version: 1\\nsimulation: {dt: 0.005}\\nbodies:\\n"
                        "- {id: box, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05, density: 1000}]}\\n"
                        "- {id: block, shapes: [{type: box, hx: 0.5, hy: 0.5, hz: 0.5, density: %d}]}\\n"
                        "joints: [{id: a, type: free, parent: world, child: box}, "
                        "{id: b, type: free, parent: world, child: block}]\\n"
                        "articulations: [{id: a, joints: [a]}, {id: b, joints: [b]}]\\n' > heavy.yaml";
    char command[2048];
    snprintf(command, sizeof command, scene, 10000);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(sapwood("info heavy.yaml"), 0, "%s", err);
    cr_expect(strstr(out, "warning: body box (1 kg) is pressed 0.0621 m into its ground where body block (1e+04 kg"),
              "%s", out);
    cr_assert_eq(sapwood("info heavy.yaml --set near_rigid=0.1"), 0, "%s", err);
    cr_expect(!strstr(out, "warning: body"), "%s", out);
    snprintf(command, sizeof command, scene, 1000);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(sapwood("info heavy.yaml"), 0, "%s", err);
    cr_expect(!strstr(out, "warning: body"), "%s", out);
    cr_assert_eq(remove("heavy.yaml"), 0);
}

/* The loop of a planar linkage closed by a ball: the row out of the plane moves nothing. */
Test(cli, info_counts_redundant_rows) {
    cr_assert_eq(sapwood("info tests/data/reference/constraints/fourbar_ball.yaml"), 0, "%s", err);
    cr_expect(strstr(out, "redundant rows in the initial state: 1 of 3"), "%s", out);
    cr_assert_eq(sapwood("info linkage_walker"), 0, "%s", err);
    cr_expect(strstr(out, "redundant rows in the initial state: 4 of 12"), "%s", out);
    cr_assert_eq(sapwood("info stewart --json"), 0, "%s", err);
    json_t *json = parse_json(), *rows = member(json, "constraint_rows");
    cr_expect(number(rows, "count") == 18 && number(rows, "independent") == 18);
    json_decref(json);
}

Test(cli, info_describes_the_machine_for_a_report_of_a_bug) {
    cr_assert_eq(sapwood("info --machine --json"), 0, "%s", err);
    json_t *json = parse_json();
    cr_expect_str_eq(text(json, "version"), sap_version());
    cr_expect(*text(json, "cpu.name") && *text(json, "system.release") && *text(json, "system.c_library"));
    cr_expect_geq(number(json, "cpu.cpus"), 1);
    cr_expect_gt(number(json, "cpu.memory_bytes"), 1e8);
    cr_expect_str_eq(text(json, "cpu.instruction_sets.generic"), "yes");
    char chosen[16], path[64];
    snprintf(chosen, sizeof chosen, "%s", text(json, "cpu.isa"));
    snprintf(path, sizeof path, "cpu.instruction_sets.%s", chosen);
    cr_expect_str_eq(text(json, path), "yes", "the chosen instruction set is one that works");
    cr_expect_not_null(member(json, "gpus"), "a list, or why there is none");
    json_decref(json);
    cr_assert_eq(sapwood("info --machine"), 0, "%s", err);
    cr_expect(strstr(out, "\n  instruction_sets") && strstr(out, chosen) && strstr(out, "\ngpus "), "%s", out);
}

/* A report is pasted into public pages: of the environment it has what Sapwood reads, and nothing else. */
Test(cli, the_description_of_the_machine_has_only_the_variables_of_sapwood) {
    setenv("SAPWOOD_PYTHON", "some\033python", 1);
    setenv("MY_TOKEN_SAPWOOD_", "secret", 1);
    cr_assert_eq(sapwood("info --machine"), 0, "%s", err);
    cr_expect(strstr(out, "SAPWOOD_PYTHON") && strstr(out, "some?python") && !strstr(out, "secret"), "%s", out);
}

/* The line of `info` of a joint. */
static const char *line_of(const char *joint) {
    static char text[512];
    const char *line = strstr(out, joint);
    cr_assert_not_null(line, "%s: %s", joint, out);
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
    return text;
}

Test(cli, info_shows_the_robot_first) {
    cr_assert_eq(sapwood("info quadruped"), 0, "%s", err);
    cr_expect(strstr(out, "bodies 13, total mass 13.58 kg, dofs 18\n"), "%s", out);
    cr_expect(strstr(out, "\ntrunk_free ") && strstr(out, "\n  fl_abduction ") && strstr(out, "\n    fl_hip ") &&
                  strstr(out, "\n      fl_knee "),
              "%s", out);
    cr_expect_lt(strstr(out, " fl_knee "), strstr(out, " fr_abduction "), "a leg in full before the next");
    cr_expect_lt(strstr(out, "hr_knee"), strstr(out, "contact slots"), "the robot before what it costs");
    const char *knee = line_of(" fl_knee");
    cr_expect(strstr(knee, " revolute ") && strstr(knee, "-143.2 .. -5.73 deg") && strstr(knee, "40 N m") &&
                  strstr(knee, " fl_shank ") && strstr(knee, "207 g") &&
                  strstr(knee, "capsule 30 x 210 mm, sphere 50 mm"),
              "%s", knee);
    cr_expect(strstr(line_of("(world)"), "plane"), "%s", out);
    cr_expect(strstr(out, "that may touch, broad phase listed\n"), "%s", out);
    cr_assert_eq(sapwood("info gripper"), 0, "%s", err);
    cr_expect(strstr(line_of("close_left"), "-30 .. 50 mm") && strstr(line_of("close_left"), "20 N "), "%s", out);
}

Test(cli, info_lists_options_on_request) {
    cr_assert_eq(sapwood("info quadruped --preset drake --set rho=0.25"), 0, "%s", err);
    cr_expect(strstr(out, "drake, and ") && strstr(out, "rho=0.25") && strstr(out, "--options lists all"), "%s", out);
    cr_expect_null(strstr(out, "optimality_abs_tol"), "%s", out);
    cr_assert_eq(sapwood("info quadruped --preset drake --set rho=0.25 --options"), 0, "%s", err);
    const char *rho = strstr(out, "\n  armijo_rho ");
    cr_expect(rho && strncmp(rho + strspn(rho, " \narmijo_rho"), "0.25\n", 5) == 0, "%s", out);
    cr_expect_not_null(strstr(out, "optimality_abs_tol"), "%s", out);
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
    cr_assert_eq(sapwood("info stack5 --probe --worlds 9 --steps 60 --set max_contacts=8 --json"), 0, "%s", err);
    json_t *json = parse_json();
    double most = number(json, "probe.contacts.largest"), proposal = number(json, "probe.max_contacts");
    cr_expect_eq(most, 20, "%g", most);
    cr_expect(proposal == 28, "a quarter more, in fours: %g", proposal);
    cr_expect(number(json, "probe.contacts.mean") <= number(json, "probe.contacts.largest") &&
              number(json, "probe.contacts.p95") <= most && number(json, "probe.contacts.p95") > 0);
    cr_expect_eq(number(json, "probe.worlds"), 9);
    cr_expect_eq(number(json, "probe.steps"), 60);
    json_decref(json);
    cr_assert_eq(sapwood("info stack5 --probe --worlds 3 --steps 60 --set max_contacts=8"), 0, "%s", err);
    cr_expect(strstr(out, "max_contacts=28; it is 8, TOO FEW"), "%s", out);
    cr_assert_eq(sapwood("info double_pendulum --probe --steps 3"), 0, "%s", err);
    cr_expect(strstr(out, "max 0 per world"), "%s", out);
    cr_assert_eq(sapwood("info stack5"), 0);
    cr_expect_null(strstr(out, "\nprobe "), "%s", out);
}

/* ---- files and names ---- */

#define NAMED_SCENE                                                                                                    \
    "schema_version: 1\nname: \"n\\e[31m\\u009b\"\nbodies: [{id: \"b\\e[2J\", shapes: [{type: sphere, radius: 1}]}]\n" \
    "joints: [{id: \"j\\e]0;x\\a\", type: free, child: \"b\\e[2J\"}]\n"

Test(cli, names_are_printed_without_escape_sequences) {
    static const char *const commands[] = {"info %s",
                                           "info %s --json",
                                           "run %s --steps 2",
                                           "run %s --json",
                                           "compare %s --worlds 1 --steps 2",
                                           "selftest %s --worlds 1 --steps 2"};
    char path[4096], command[4200];
    snprintf(path, sizeof path, "%s", path_of("scene.yaml"));
    write_text(path, NAMED_SCENE);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(command, sizeof command, commands[i], path);
        cr_expect_eq(sapwood("%s", command), 0, "%s: %s", command, err);
        cr_expect(strchr(out, '\033') == NULL && strchr(out, '\a') == NULL && strstr(out, "\xc2\x9b") == NULL, "%s: %s",
                  command, out);
    }
    cr_expect_eq(sapwood("run \"$(printf 'no\\033[31mfile')\""), 2);
    cr_expect_null(strchr(err, '\033'), "%s", err);
}

/* The first and last characters of the two ranges of bidirectional controls, and what is left of their names. */
#define REVERSED(part) part "\\u202a\\u202e\\u2066\\u2069" part

Test(cli, names_are_printed_without_bidirectional_overrides) {
    static const char *const commands[] = {"info", "run --steps 2", "compare --worlds 1 --steps 2"};
    static const char *const overrides[] = {"\u202a", "\u202e", "\u2066", "\u2069"};
    write_text(path_of("scene.yaml"),
               "schema_version: 1\nname: \"" REVERSED(
                   "n") "\"\n"
                        "bodies: [{id: \"" REVERSED(
                            "b") "\", shapes: [{type: sphere, radius: 1}]}]\n"
                                 "joints: [{id: \"" REVERSED("j") "\", type: free, child: \"" REVERSED(
                                     "b") "\"}]\n"
                                          "constraints: [{id: \"" REVERSED(
                                              "c") "\", type: ball, body_a: world, body_b: "
                                                   "\"" REVERSED("b") "\", "
                                                                      "point_a: [0, 0, 0]}]\n"
                                                                      "keyframes: [{name: \"" REVERSED("k") "\"}]\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        cr_expect_eq(sapwood("%s %s", commands[i], path_of("scene.yaml")), 0, "%s: %s", commands[i], err);
        for (size_t k = 0; k < sizeof overrides / sizeof *overrides; k++)
            cr_expect(!strstr(out, overrides[k]) && !strstr(err, overrides[k]), "%s: %s%s", commands[i], out, err);
    }
    cr_expect_eq(sapwood("run \"$(printf 'no\\342\\200\\256file')\""), 2);
    cr_expect(strstr(err, "no???file"), "%s", err);
}

Test(cli, assets_are_below_the_scene_or_the_asset_root) {
    char path[4096], root[4096];
    snprintf(path, sizeof path, "%s", path_of("scene.yaml"));
    write_text(path, "schema_version: 1\nbodies: [{id: b, shapes: [{type: sphere, radius: 1}]}]\n"
                     "joints: [{id: j, type: free, child: b}]\n"
                     "post_build: [{op: add_shape, type: hfield, hx: 1, hy: 1, file: ../sapwood_hills.txt}]\n");
    snprintf(root, sizeof root, "%s", path_of("../sapwood_hills.txt"));
    write_text(root, "0 1\n2 3\n");
    cr_expect_eq(sapwood("info %s", path), 2);
    cr_expect_not_null(strstr(err, "asset root"), "%s", err);
    cr_expect_eq(sapwood("info %s --asset-root %s", path, path_of("..")), 0, "%s", err);
    cr_expect_eq(sapwood("info %s --asset-root %s", path, path_of("none")), 2);
    remove(root);
}
