/* Options by name, their ranges, and the presets. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/base/number_text.h"
#include "host/options/presets.h"

static SapOptions options;

static void setup(void) {
    cr_assert_eq(sap_options_preset(NULL, &options), SAP_OK, "%s", sap_error_message());
}

TestSuite(options, .init = setup);

/* ---- helpers ---- */

static void set(const char *name, const char *value) {
    SapStatus status = sap_options_set(&options, name, value);
    cr_assert_eq(status, SAP_OK, "%s = %s: %s", name, value, sap_error_message());
}

static void expect_value(const char *name, const char *expected) {
    char text[64];
    cr_assert_eq(sap_options_get(&options, name, text, sizeof text), SAP_OK, "%s", sap_error_message());
    cr_expect_str_eq(text, expected, "%s is '%s', not '%s'", name, text, expected);
}

/* Setting fails, changes nothing, and the message has all parts. */
static void check_refused(SapStatus expected, const char *name, const char *value, const char *const *parts) {
    SapOptions before = options;
    SapStatus status = sap_options_set(&options, name, value);
    cr_assert_eq(status, expected, "%s = %s: %s", name, value, sap_status_string(status));
    cr_assert_eq(memcmp(&before, &options, sizeof options), 0, "%s = %s changed something", name, value);
    for (; *parts != NULL; parts++)
        cr_expect(strstr(sap_error_message(), *parts), "'%s' is not in: %s", *parts, sap_error_message());
}

#define REFUSED_AS(status, name, value, ...)                                                                           \
    check_refused((status), (name), (value), (const char *const[]){__VA_ARGS__, NULL})
#define REFUSED(name, value, ...) REFUSED_AS(SAP_ERROR_ARGUMENT, name, value, __VA_ARGS__)

/* ---- every option: its default, another value, as they are shown ---- */

static const struct {
    const char *name, *fallback, *other;
} all[] = {
    {"free_motion_precision", "fp32", "fp64"},
    {"contact_solve_precision", "fp32", "fp64"},
    {"linear_solve_precision", "fp32", "fp64"},
    {"contact_weight_precision", "fp32", "fp64"},
    {"contact_geometry_f64", "false", "true"},
    {"contact_weight", "body_inertia", "diag_delassus"},
    {"contact_point", "witness_point", "contact_midpoint"},
    {"position_integration", "sap_euler", "midpoint"},
    {"constraint_weight", "split", "mixed"},
    {"tendon_limit_window", "reach", "violated"},
    {"gyroscopic", "implicit", "explicit"},
    {"velocity_forces", "start", "mean"},
    {"max_joint_speed", "none", "100"},
    {"max_contacts", "0", "65535"},
    {"given_contacts", "0", "64"},
    {"max_contacts_per_pair", "4", "8"},
    {"fallback_mu", "none", "0.3"},
    {"fallback_stiffness", "10000000000", "123456.789"},
    {"near_rigid", "1", "0"},
    {"friction_regularization", "0.001", "1e-05"},
    {"fallback_tau", "none", "0"},
    {"diag_shift", "0", "1e-12"},
    {"constraint_speed", "none", "2.5"},
    {"contact_solver", "sap", "cone"},
    {"contact_approximation", "sap", "lagged"},
    {"stiction_tolerance", "0.0001", "1e-05"},
    {"lagged_passes", "1", "8"},
    {"fallback_dissipation", "none", "0"},
    {"friction_law", "convex", "coulomb"},
    {"pgs_omega", "1", "1.3"},
    {"contact_compliance", "rigid", "sap"},
    {"restitution", "0", "1"},
    {"restitution_rule", "moreau", "clamped"},
    {"restitution_threshold", "0.05", "0"},
    {"restitution_guard", "true", "false"},
    {"push_factor", "0.2", "1"},
    {"max_push", "1", "0"},
    {"warm_start", "false", "true"},
    {"max_iterations", "0", "-1"},
    {"optimality_abs_tol", "1e-14", "0"},
    {"optimality_rel_tol", "1e-06", "0.1"},
    {"cost_abs_tol", "none", "1e-30"},
    {"cost_rel_tol", "none", "0.005"},
    {"line_search", "wolfe", "exact_root"},
    {"line_search_max_iterations", "0", "1000000"},
    {"armijo_c", "0.0001", "0.5"},
    {"armijo_rho", "0.8", "0.333333333333333315"},
    {"armijo_slop", "none", "2.2204460492503131e-13"},
    {"compat", "none", "sap_warp"},
    {"sleep_steps", "0", "10"},
    {"sleep_speed", "0.001", "0.5"},
    {"threads", "0", "1024"},
    {"lanes", "0", "8"},
    {"isa", "auto", "avx2"},
    {"broad_phase", "auto", "sweep"},
    {"factor_plan", "sparse", "dense"},
    {"device", "cpu", "cuda"},
    {"cuda_device", "0", "1023"},
    {"team_size", "0", "128"},
    {"shared_memory", "0", "1048576"},
    {"specialize", "off", "on"},
};

enum { NUM_ALL = sizeof all / sizeof all[0] };

Test(options, the_names_are_all_fields_in_order) {
    const char *const *names = sap_options_names();
    for (int i = 0; i < NUM_ALL; i++) {
        cr_assert_not_null(names[i]);
        cr_expect_str_eq(names[i], all[i].name);
    }
    cr_assert_null(names[NUM_ALL]);
}

Test(options, defaults_are_the_documented_ones) {
    for (int i = 0; i < NUM_ALL; i++)
        expect_value(all[i].name, all[i].fallback);
    cr_assert(isnan(options.fallback_mu) && isnan(options.fallback_tau) && isnan(options.cost_abs_tol) &&
              isnan(options.cost_rel_tol) && isnan(options.armijo_slop));
    cr_assert_eq(sap_options_check(&options), SAP_OK);
}

Test(options, every_option_can_be_set_and_read_back_and_changes_no_other) {
    for (int i = 0; i < NUM_ALL; i++) {
        setup();
        set(all[i].name, all[i].other);
        cr_assert_eq(sap_options_check(&options), SAP_OK, "%s", sap_error_message());
        for (int k = 0; k < NUM_ALL; k++)
            if (k != i)
                expect_value(all[k].name, all[k].fallback);
        char text[64];
        cr_assert_eq(sap_options_get(&options, all[i].name, text, sizeof text), SAP_OK);
        cr_expect_str_neq(text, all[i].fallback);
        SapOptions first = options;
        set(all[i].name, text);
        cr_expect_eq(memcmp(&first, &options, sizeof options), 0, "%s does not read back", all[i].name);
        set(all[i].name, all[i].fallback);
        expect_value(all[i].name, all[i].fallback);
    }
}

Test(options, set_writes_the_field_of_that_name) {
    set("max_contacts", "7");
    set("armijo_rho", "0.25");
    set("isa", "avx512");
    set("line_search", "armijo_decay");
    set("contact_geometry_f64", "yes");
    set("lanes", "4");
    cr_assert_eq(options.max_contacts, 7);
    cr_assert_eq(options.armijo_rho, 0.25);
    cr_assert_eq(options.isa, SAP_ISA_AVX512);
    cr_assert_eq(options.line_search, SAP_ARMIJO_DECAY);
    cr_assert_eq(options.contact_geometry_f64, true);
    cr_assert_eq(options.lanes, 4);
}

Test(options, words_are_stripped_lower_cased_and_dashes_are_underscores) {
    set("  Line-Search_Variant\n", "\t EXACT-Root ");
    expect_value("LINE_search-variant ", "exact_root");
    set("armijo_rho", " 0.5 ");
    expect_value("armijo_rho", "0.5");
    set("contact_geometry_f64", "True");
    expect_value("contact_geometry_f64", "true");
}

Test(options, f32_and_f64_are_other_names_of_the_precisions) {
    set("free_motion_precision", "f64");
    cr_assert_eq(options.free_motion_precision, SAP_FP64);
    set("free_motion_precision", " F32");
    cr_assert_eq(options.free_motion_precision, SAP_FP32);
}

Test(options, booleans_are_words_or_digits) {
    static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no", "off", "0"};
    for (int i = 0; i < 4; i++) {
        set("contact_geometry_f64", yes[i]);
        cr_expect(options.contact_geometry_f64);
        set("contact_geometry_f64", no[i]);
        cr_expect(!options.contact_geometry_f64);
    }
}

Test(options, none_and_null_give_the_default_that_is_computed) {
    static const char *const names[] = {"fallback_mu",  "fallback_tau", "cost_abs_tol",
                                        "cost_rel_tol", "armijo_slop",  "fallback_dissipation"};
    for (int i = 0; i < 6; i++) {
        set(names[i], "0.5");
        expect_value(names[i], "0.5");
        set(names[i], i % 2 ? "None" : "null");
        expect_value(names[i], "none");
    }
    REFUSED("armijo_rho", "none", "option armijo_rho is 'none'", "a number > 0 and < 1");
    REFUSED("threads", "null", "option threads is 'null'", "0 .. 1024");
}

Test(options, block_size_is_accepted_and_changes_nothing) {
    SapOptions before = options;
    char text[64];
    set("block_size", "0");
    set("Block-Size", " 256 ");
    set("block_size", "none");
    cr_assert_eq(memcmp(&before, &options, sizeof options), 0);
    cr_assert_eq(sap_options_get(&options, "block_size", text, sizeof text), SAP_ERROR_ARGUMENT);
}

Test(options, none_for_an_option_of_the_preset_keeps_the_value) {
    set("contact_weight", "diag_delassus");
    set("contact_weight", "None");
    set("contact_geometry_f64", "null");
    expect_value("contact_weight", "diag_delassus");
    expect_value("contact_geometry_f64", "false");
}

/* ---- refusals ---- */

Test(options, an_unknown_name_lists_all_names) {
    SapOptions before = options;
    cr_assert_eq(sap_options_set(&options, "max_iteration", "3"), SAP_ERROR_ARGUMENT);
    cr_assert_eq(memcmp(&before, &options, sizeof options), 0);
    cr_expect(strstr(sap_error_message(), "unknown option 'max_iteration' (did you mean 'max_iterations'?)"));
    cr_expect(strstr(sap_error_message(), "preset"));
    for (int i = 0; i < NUM_ALL; i++)
        cr_expect(strstr(sap_error_message(), all[i].name), "%s is not in: %s", all[i].name, sap_error_message());
    char text[64];
    cr_assert_eq(sap_options_get(&options, "nothing", text, sizeof text), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), "unknown option 'nothing'"));
}

Test(options, an_option_that_is_gone_lists_those_that_are_left) {
    REFUSED("on_failure", "pgs", "unknown option 'on_failure'", "allowed: ", "contact_solver");
}

Test(options, an_unknown_word_lists_the_known) {
    REFUSED("line_search", "golden", "option line_search is 'golden'",
            "monotone_decay, armijo_decay, "
            "exact_root, wolfe");
    REFUSED("contact_solve_precision", "fp16", "'fp16'", "fp32, fp64, f32, f64");
    REFUSED("contact_weight", "", "''", "body_inertia, diag_delassus");
    REFUSED("contact_point", "mid", "witness_point, contact_midpoint");
    REFUSED("position_integration", "euler", "midpoint, sap_euler");
    REFUSED("contact_geometry_f64", "2", "'2'", "true, false");
    REFUSED("compat", "drake", "none, sap_warp");
    REFUSED("lanes", "2", "'2'", "0, 1, 4, 8, 16");
    REFUSED("isa", "sse2", "auto, generic, avx2, avx512");
    REFUSED("broad_phase", "octree", "auto, listed, explicit, nxn, sweep, sap, tree");
    REFUSED("factor_plan", "tiled", "sparse, dense, library, auto");
    REFUSED("device", "gpu", "option device is 'gpu'", "cpu, cuda");
    REFUSED("team_size", "24", "'24'", "0, 1, 8, 16, 32, 64, 128");
    REFUSED("specialize", "fast", "option specialize is 'fast'", "off, auto, on");
}

Test(options, integers_out_of_range_say_what_is_allowed) {
    static const struct {
        const char *name, *low, *high, *allowed;
    } ranges[] = {
        {"max_contacts", "-1", "65536", "0 .. 65535"},
        {"block_size", "-1", "257", "0 .. 256, or none"},
        {"max_iterations", "-2", "1000001", "-1 .. 1000000"},
        {"line_search_max_iterations", "-1", "1000001", "0 .. 1000000"},
        {"threads", "-1", "1025", "0 .. 1024"},
        {"cuda_device", "-1", "1024", "0 .. 1023"},
        {"shared_memory", "-1", "1048577", "0 .. 1048576"},
    };
    for (int i = 0; i < 7; i++) {
        REFUSED(ranges[i].name, ranges[i].low, ranges[i].name, ranges[i].low, "an integer", ranges[i].allowed);
        REFUSED(ranges[i].name, ranges[i].high, ranges[i].high, ranges[i].allowed);
        REFUSED(ranges[i].name, "99999999999999999999", "99999999999999999999", ranges[i].allowed);
        REFUSED(ranges[i].name, "2147483648", ranges[i].allowed);
        REFUSED(ranges[i].name, "1.5", "'1.5'", ranges[i].allowed);
        REFUSED(ranges[i].name, "", "''", ranges[i].allowed);
        REFUSED(ranges[i].name, "many", "'many'", ranges[i].allowed);
    }
}

Test(options, numbers_out_of_range_say_what_is_allowed) {
    static const struct {
        const char *name, *bad, *allowed;
    } ranges[] = {
        {"fallback_mu", "-0.1", "a finite number >= 0, or none"},
        {"fallback_stiffness", "0", "a finite number > 0"},
        {"near_rigid", "-1e-300", "a finite number >= 0"},
        {"friction_regularization", "0", "a finite number > 0"},
        {"fallback_tau", "-1", "a finite number >= 0, or none"},
        {"stiction_tolerance", "0", "a finite number > 0"},
        {"lagged_passes", "0", "an integer 1 .. 8"},
        {"fallback_dissipation", "-1", "a finite number >= 0, or none"},
        {"diag_shift", "-1", "a finite number >= 0"},
        {"optimality_abs_tol", "-1", "a finite number >= 0"},
        {"optimality_rel_tol", "-1", "a finite number >= 0"},
        {"cost_abs_tol", "-1", "a finite number >= 0, or none"},
        {"cost_rel_tol", "-1", "a finite number >= 0, or none"},
        {"armijo_c", "0", "a number > 0 and < 1"},
        {"armijo_c", "1", "a number > 0 and < 1"},
        {"armijo_rho", "0", "a number > 0 and < 1"},
        {"armijo_rho", "1", "a number > 0 and < 1"},
        {"armijo_slop", "-1", "a finite number >= 0, or none"},
    };
    static const char *const never[] = {"nan", "inf", "-inf", "1e999", "0x10", "", "-", "1e", "1 2", "0,5", "zero"};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        REFUSED(ranges[i].name, ranges[i].bad, ranges[i].name, ranges[i].bad, ranges[i].allowed);
        for (size_t k = 0; k < sizeof never / sizeof never[0]; k++)
            REFUSED(ranges[i].name, never[k], ranges[i].name, never[k], ranges[i].allowed);
    }
}

Test(options, very_long_names_and_values_are_refused) {
    static char text[100000];
    memset(text, '1', sizeof text - 1);
    REFUSED("armijo_rho", text, "option armijo_rho is '111", "a number > 0 and < 1");
    REFUSED(text, "1", "unknown option '111", "isa");
    REFUSED("isa", text, "auto, generic");
    REFUSED("preset", text, "approx32");
    memset(text, ' ', sizeof text - 1); /* nothing at the far end is overlooked */
    memcpy(text, "0.5", 3);
    set("armijo_rho", text);
    text[200] = 'x';
    REFUSED("armijo_rho", text, "option armijo_rho is '0.5 ");
    memset(text, '0', 200);
    memcpy(text, "0.5", 3);
    memcpy(text + 100, "e5", 3);
    REFUSED("armijo_rho", text, "option armijo_rho is '0.500");
}

Test(options, null_arguments_are_refused) {
    char text[64];
    cr_expect_eq(sap_options_preset("drake", NULL), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_options_set(NULL, "armijo_rho", "0.5"), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_options_set(&options, NULL, "0.5"), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_options_set(&options, "armijo_rho", NULL), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_options_check(NULL), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_options_get(NULL, "armijo_rho", text, sizeof text), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_options_get(&options, NULL, text, sizeof text), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_options_get(&options, "armijo_rho", NULL, 5), SAP_ERROR_ARGUMENT);
}

Test(options, get_refuses_a_text_that_is_too_small) {
    char text[16] = "untouched";
    cr_expect_eq(sap_options_get(&options, "contact_weight", text, 12), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), "size is 12") && strstr(sap_error_message(), "needs 13 bytes"));
    cr_expect_str_eq(text, "untouched");
    cr_expect_eq(sap_options_get(&options, "contact_weight", text, 13), SAP_OK);
    cr_expect_str_eq(text, "body_inertia");
    cr_expect_eq(sap_options_get(&options, "armijo_rho", text, 0), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_options_get(&options, "armijo_rho", text, -1), SAP_ERROR_ARGUMENT);
}

/* ---- check ---- */

static void expect_check_fails(const char *part, const char *allowed) {
    cr_expect_eq(sap_options_check(&options), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), part), "'%s' is not in: %s", part, sap_error_message());
    cr_expect(strstr(sap_error_message(), allowed), "'%s' is not in: %s", allowed, sap_error_message());
    setup();
}

Test(options, check_finds_fields_out_of_range) {
    options.armijo_rho = 1;
    expect_check_fails("option armijo_rho is '1'", "< 1");
    options.armijo_rho = NAN;
    expect_check_fails("option armijo_rho is 'none'", "< 1");
    options.cost_rel_tol = INFINITY;
    expect_check_fails("option cost_rel_tol is 'inf'", ">= 0, or none");
    options.threads = -5;
    expect_check_fails("option threads is '-5'", "0 .. 1024");
    options.lanes = 3;
    expect_check_fails("option lanes is '3'", "0, 1, 4, 8, 16");
    options.isa = (SapIsa)17;
    expect_check_fails("option isa is '17'", "auto");
    options.free_motion_precision = (SapPrecision)-1;
    expect_check_fails("option free_motion_precision is '-1'", "fp32");
    memset(&options.contact_geometry_f64, 0x55, 1);
    expect_check_fails("option contact_geometry_f64 is '85'", "true");
    options.max_contacts = -1;
    expect_check_fails("option max_contacts is '-1'", "0 .. 65535");
}

Test(options, check_refuses_an_options_struct_that_was_never_filled) {
    memset(&options, 0, sizeof options);
    cr_expect_eq(sap_options_check(&options), SAP_ERROR_ARGUMENT);
    memset(&options, 0xff, sizeof options);
    cr_expect_eq(sap_options_check(&options), SAP_ERROR_ARGUMENT);
}

/* ---- keywords without a field ---- */

Test(options, fixed_keywords_take_only_the_value_that_changes_nothing) {
    static const struct {
        const char *name, *only, *other, *why;
    } fixed[] = {
        {"capture_contact_jacobian_snapshots", "false", "true", "not kept"},
        {"collect_iteration_stats", "False", "1", "always collected"},
        {"check_line_search_errors", "no", "yes", "always reported"},
        {"graph_conditional", "TRUE", "false", "when its worlds are done"},
    };
    for (int i = 0; i < 4; i++) {
        SapOptions before = options;
        set(fixed[i].name, fixed[i].only);
        cr_expect_eq(memcmp(&before, &options, sizeof options), 0);
        REFUSED_AS(SAP_ERROR_UNSUPPORTED, fixed[i].name, fixed[i].other, fixed[i].name, fixed[i].other, fixed[i].why);
        REFUSED(fixed[i].name, "maybe", fixed[i].name, "'maybe'", "allowed: ");
    }
}

/* ---- presets ---- */

enum { NUM_PRESETS = 7, FIRST_OF_MUJOCO = 5 };
static const char *const preset_names[] = {"fast32", "fast64", "approx32", "approx64", "drake", "mujoco32", "mujoco64"};
static const struct {
    const char *name, *values[NUM_PRESETS];
} presets[] = {
    {"free_motion_precision", {"fp32", "fp64", "fp32", "fp64", "fp64", "fp32", "fp64"}},
    {"contact_solve_precision", {"fp32", "fp64", "fp64", "fp64", "fp64", "fp32", "fp64"}},
    {"linear_solve_precision", {"fp32", "fp64", "fp32", "fp64", "fp64", "fp32", "fp64"}},
    {"contact_weight_precision", {"fp32", "fp64", "fp32", "fp64", "fp64", "fp32", "fp64"}},
    {"contact_geometry_f64", {"false", "true", "false", "true", "true", "false", "true"}},
    {"contact_weight",
     {"body_inertia", "body_inertia", "body_inertia", "body_inertia", "diag_delassus", "body_inertia", "body_inertia"}},
    {"contact_point",
     {"witness_point", "witness_point", "witness_point", "witness_point", "contact_midpoint", "witness_point",
      "witness_point"}},
    {"position_integration", {"sap_euler", "sap_euler", "midpoint", "midpoint", "sap_euler", "midpoint", "midpoint"}},
    {"constraint_weight", {"split", "split", "split", "split", "mixed", "split", "split"}},
    {"tendon_limit_window", {"reach", "reach", "reach", "reach", "violated", "reach", "reach"}},
    {"gyroscopic", {"implicit", "implicit", "explicit", "explicit", "explicit", "explicit", "explicit"}},
    {"line_search", {"wolfe", "wolfe", "wolfe", "wolfe", "exact_root", "wolfe", "wolfe"}},
};
enum { NUM_OF_PRESETS = sizeof presets / sizeof *presets };

static bool is_in_presets(const char *name) {
    for (int i = 0; i < NUM_OF_PRESETS; i++)
        if (strcmp(presets[i].name, name) == 0)
            return true;
    return false;
}

static void expect_preset(int k) {
    for (int i = 0; i < NUM_OF_PRESETS; i++)
        expect_value(presets[i].name, presets[i].values[k]);
    expect_value("preset", preset_names[k]);
}

Test(options, presets_are_the_documented_table) {
    for (int k = 0; k < NUM_PRESETS; k++) {
        cr_expect_str_eq(sap_preset_names()[k], preset_names[k]);
        cr_assert_eq(sap_options_preset(preset_names[k], &options), SAP_OK);
        expect_preset(k);
        cr_assert_eq(sap_options_check(&options), SAP_OK);
        for (int i = 0; i < NUM_ALL; i++) { /* the rest is the same in all, but for the law */
            bool is_law = strcmp(all[i].name, "contact_solver") == 0;
            if (!is_in_presets(all[i].name))
                expect_value(all[i].name, is_law && k >= FIRST_OF_MUJOCO ? "mujoco" : all[i].fallback);
        }
    }
    cr_assert_null(sap_preset_names()[NUM_PRESETS]);
}

Test(options, presets_of_mujoco_choose_their_law_and_the_others_leave_it) {
    set("preset", "mujoco-64");
    expect_value("contact_solver", "mujoco");
    set("preset", "fast32");
    expect_value("contact_solver", "mujoco");
    set("contact_solver", "sap");
    expect_value("preset", "fast32");
    set("contact_solver", "pgs");
    expect_value("preset", "fast32");
}

Test(options, presets_have_aliases_and_a_default) {
    static const struct {
        const char *word;
        int preset;
    } words[] = {{NULL, 0},          {"none", 0},     {"approx_32", 2}, {"Approx-32", 2},
                 {" approx_64 ", 3}, {"APPROX64", 3}, {"approx-64", 3}, {"Drake", 4},
                 {"null", 0},        {"fast-32", 0},  {"fast_64", 1}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        cr_assert_eq(sap_options_preset(words[i].word, &options), SAP_OK, "%s", sap_error_message());
        expect_preset(words[i].preset);
    }
}

Test(options, an_unknown_preset_lists_the_known) {
    SapOptions before = options;
    cr_assert_eq(sap_options_preset("approx16", &options), SAP_ERROR_ARGUMENT);
    cr_assert_eq(memcmp(&before, &options, sizeof options), 0);
    cr_assert(strstr(sap_error_message(), "unknown preset 'approx16' (did you mean 'approx32'?); allowed: fast32, "
                                          "fast64, approx32, approx64, drake, mujoco32, mujoco64"));
    REFUSED("preset", "approx16", "unknown preset 'approx16'",
            "fast32, fast64, approx32, approx64, drake, mujoco32, mujoco64");
    REFUSED("preset", "custom", "unknown preset 'custom'");
}

Test(options, explicit_values_after_the_preset_survive) {
    set("threads", "3");
    set("armijo_rho", "0.25");
    set("contact_weight", "diag_delassus");
    set("preset", "approx-64"); /* overwrites its twelve, and no other */
    expect_preset(3);
    expect_value("threads", "3");
    expect_value("armijo_rho", "0.25");
    set("contact_point", "contact_midpoint");
    expect_value("contact_point", "contact_midpoint");
    expect_value("contact_weight", "body_inertia");
    expect_value("preset", "custom");
}

static const char complete[] = "free_motion_precision: fp64\ncontact_solve_precision: fp32\n"
                               "linear_solve_precision: fp64\ncontact_weight_precision: fp64\n"
                               "contact_geometry_f64: yes\ncontact_weight: diag_delassus\n"
                               "contact_point: contact_midpoint\nconstraint_weight: mixed\n"
                               "tendon_limit_window: reach\ngyroscopic: implicit\nline_search: wolfe\n";

/* Applies the eleven lines above and `more`; expects failure with that part in the message, and nothing changed. */
static void expect_bad_preset(const char *text, const char *more, const char *part) {
    char whole[1024];
    SapOptions before = options;
    snprintf(whole, sizeof whole, "%s%s", text, more);
    cr_expect_neq(sap_options_apply_preset_text(&options, "test", whole), SAP_OK, "%s", more);
    cr_expect(strstr(sap_error_message(), part), "'%s' is not in: %s", part, sap_error_message());
    cr_expect_eq(memcmp(&before, &options, sizeof options), 0);
}

Test(options, a_preset_text_must_have_exactly_the_twelve_options) {
    char whole[1024];
    snprintf(whole, sizeof whole, "%sposition_integration: sap_euler\n", complete);
    cr_assert_eq(sap_options_apply_preset_text(&options, "test", whole), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(options.contact_solve_precision, SAP_FP32);
    cr_assert_eq(options.position_integration, SAP_EULER);
    expect_bad_preset(complete, "", "'position_integration' is missing");
    expect_bad_preset(complete, "position_integration: sap_euler\narmijo_rho: 0.5\n", "armijo_rho");
    expect_bad_preset(complete, "position_integration: rk4\n", "'rk4'; allowed: midpoint, sap_euler");
    expect_bad_preset(complete, "position_integration: none\n", "single word");
    expect_bad_preset(complete, "position_integration: [midpoint]\n", "single word");
    expect_bad_preset(complete, "position_integration: midpoint\nposition_integration: midpoint\n",
                      "position_integration");
    expect_bad_preset("", "[midpoint]", "map");
    expect_bad_preset("", "a: [", "test");
    expect_bad_preset("", "", "");
}

/* ---- numbers as text ---- */

Test(number_text, numbers_read_back_as_themselves) {
    static const double values[] = {0,
                                    1,
                                    -1,
                                    0.1,
                                    1e-300,
                                    DBL_MAX,
                                    DBL_MIN,
                                    DBL_TRUE_MIN,
                                    1 / 3.0,
                                    1e22,
                                    123456789.123456789,
                                    2.2204460492503131e-13};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[SAP_NUMBER_TEXT_SIZE];
        double back = NAN;
        sap_double_to_text(values[i], text);
        cr_assert(sap_text_to_double(text, &back), "%s", text);
        cr_assert_eq(back, values[i], "%s", text);
    }
    char text[SAP_NUMBER_TEXT_SIZE];
    sap_double_to_text(0.1, text);
    cr_assert_str_eq(text, "0.1");
}

Test(number_text, the_locale_of_the_program_does_not_matter) {
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL)
        cr_skip_test("needs a locale with a decimal comma");
    char text[SAP_NUMBER_TEXT_SIZE];
    double value = 0;
    sap_double_to_text(1.5, text);
    cr_assert_str_eq(text, "1.5");
    cr_assert(sap_text_to_double("2.5", &value) && value == 2.5);
    cr_assert(!sap_text_to_double("2,5", &value));
}

/* ---- names of SAP Warp ---- */

Test(options, names_of_sap_warp_stand_for_the_plain_ones) {
    static const struct {
        const char *alias, *name, *value;
    } names[] = {
        {"contact_preset_variant", "preset", "drake"},
        {"free_motion_solve_precision", "free_motion_precision", "fp32"},
        {"contact_linear_solve_precision", "linear_solve_precision", "fp32"},
        {"sap_contact_weight_precision", "contact_weight_precision", "fp32"},
        {"use_f64_boundary_pose", "contact_geometry_f64", "false"},
        {"contact_weight_mode", "contact_weight", "body_inertia"},
        {"contact_point_mode", "contact_point", "witness_point"},
        {"max_rigid_contact", "max_contacts", "17"},
        {"contact_beta", "near_rigid", "0.5"},
        {"contact_sigma", "friction_regularization", "0.25"},
        {"contact_tau_d", "fallback_tau", "0.125"},
        {"line_search_variant", "line_search", "armijo_decay"},
        {"rho", "armijo_rho", "0.5"},
        {"Line-Search-Relative-Slop", "armijo_slop", "0.25"},
    };
    SapOptions o;
    char text[64];
    cr_assert_eq(sap_options_preset("approx64", &o), SAP_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_expect_eq(sap_options_set(&o, names[i].alias, names[i].value), SAP_OK, "%s", sap_error_message());
        cr_expect_eq(sap_options_get(&o, names[i].name, text, sizeof text), SAP_OK);
        cr_expect_str_eq(text, names[i].value, "%s", names[i].alias);
        cr_expect_eq(sap_options_get(&o, names[i].alias, text, sizeof text), SAP_OK);
        cr_expect_str_eq(text, names[i].value, "%s", names[i].alias);
        for (const char *const *name = sap_options_names(); *name; name++)
            cr_expect_str_neq(*name, names[i].alias);
    }
}
