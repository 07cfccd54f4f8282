/* Options by name. Each option has one row in the table below, from which reading, writing, checking and messages
 * follow. */
#include "host/options/options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/number_text.h"
#include "host/options/presets.h"
#include "host/base/keyword.h"
#include "host/base/nearest.h"

/* ---- the table ---- */

typedef enum OptionKind { KIND_CHOICE, KIND_BOOL, KIND_INT, KIND_REAL } OptionKind;

/* A keyword and its value. The first keyword of a value is the one shown, the others are aliases. */
typedef struct Choice {
    const char *word;
    int value;
} Choice;

typedef struct Option {
    const char *name;
    size_t offset;
    OptionKind kind;
    bool preset;           /* set by presets; "none" keeps the preset's value */
    bool search;           /* how the minimum is found, not which: it is no part of what names a preset */
    bool open;             /* low and high are excluded; otherwise included */
    bool none;             /* "none" is allowed and stored as NaN */
    double low, high;      /* range of a number; high may be infinity, but the number itself must be finite */
    double fallback;       /* default of a number or of a choice */
    const Choice *choices; /* the last one has a NULL word */
} Option;

static const Choice precisions[] = {
    {"fp32", SAP_FP32}, {"fp64", SAP_FP64}, {"f32", SAP_FP32}, {"f64", SAP_FP64}, {NULL, 0}};
static const Choice weights[] = {{"body_inertia", SAP_BODY_INERTIA}, {"diag_delassus", SAP_DIAG_DELASSUS}, {NULL, 0}};
static const Choice points[] = {
    {"witness_point", SAP_WITNESS_POINT}, {"contact_midpoint", SAP_CONTACT_MIDPOINT}, {NULL, 0}};
static const Choice integrations[] = {{"midpoint", SAP_MIDPOINT}, {"sap_euler", SAP_EULER}, {NULL, 0}};
static const Choice constraint_weights[] = {{"split", SAP_WEIGHT_SPLIT}, {"mixed", SAP_WEIGHT_MIXED}, {NULL, 0}};
static const Choice limit_windows[] = {{"reach", SAP_WINDOW_REACH}, {"violated", SAP_WINDOW_VIOLATED}, {NULL, 0}};
static const Choice gyroscopics[] = {
    {"explicit", SAP_GYROSCOPIC_EXPLICIT}, {"implicit", SAP_GYROSCOPIC_IMPLICIT}, {NULL, 0}};
static const Choice velocities[] = {{"start", SAP_VELOCITY_OF_START}, {"mean", SAP_VELOCITY_MEAN}, {NULL, 0}};
static const Choice contact_solvers[] = {{"sap", SAP_SOLVER_SAP},
                                         {"cone", SAP_SOLVER_CONE},
                                         {"pgs", SAP_SOLVER_PGS},
                                         {"pgs_rows", SAP_SOLVER_PGS_ROWS},
                                         {"active_set", SAP_SOLVER_ACTIVE_SET},
                                         {"mujoco", SAP_SOLVER_MUJOCO},
                                         {NULL, 0}};
static const Choice friction_laws[] = {{"convex", SAP_FRICTION_CONVEX}, {"coulomb", SAP_FRICTION_COULOMB}, {NULL, 0}};
static const Choice compliances[] = {
    {"rigid", SAP_COMPLIANCE_RIGID}, {"material", SAP_COMPLIANCE_MATERIAL}, {"sap", SAP_COMPLIANCE_SAP}, {NULL, 0}};
static const Choice approximations[] = {{"sap", SAP_APPROXIMATION_SAP},
                                        {"similar", SAP_APPROXIMATION_SIMILAR},
                                        {"lagged", SAP_APPROXIMATION_LAGGED},
                                        {NULL, 0}};
static const Choice restitution_rules[] = {
    {"moreau", SAP_RESTITUTION_MOREAU}, {"clamped", SAP_RESTITUTION_CLAMPED}, {NULL, 0}};
static const Choice line_searches[] = {{"monotone_decay", SAP_MONOTONE_DECAY},
                                       {"armijo_decay", SAP_ARMIJO_DECAY},
                                       {"exact_root", SAP_EXACT_ROOT},
                                       {"wolfe", SAP_WOLFE},
                                       {NULL, 0}};
static const Choice compats[] = {{"none", SAP_COMPAT_NONE}, {"sap_warp", SAP_COMPAT_SAP_WARP}, {NULL, 0}};
static const Choice lane_counts[] = {{"0", 0}, {"1", 1}, {"4", 4}, {"8", 8}, {"16", 16}, {"auto", 0}, {NULL, 0}};
static const Choice isas[] = {{"auto", SAP_ISA_AUTO},
                              {"generic", SAP_ISA_GENERIC},
                              {"avx2", SAP_ISA_AVX2},
                              {"avx512", SAP_ISA_AVX512},
                              {NULL, 0}};
static const Choice broad_phases[] = {{"auto", SAP_BROAD_PHASE_AUTO},       {"listed", SAP_BROAD_PHASE_LISTED},
                                      {"explicit", SAP_BROAD_PHASE_LISTED}, {"nxn", SAP_BROAD_PHASE_LISTED},
                                      {"sweep", SAP_BROAD_PHASE_SWEEP},     {"sap", SAP_BROAD_PHASE_SWEEP},
                                      {"tree", SAP_BROAD_PHASE_TREE},       {NULL, 0}};
static const Choice factor_plans[] = {{"sparse", SAP_FACTOR_SPARSE},
                                      {"dense", SAP_FACTOR_DENSE},
                                      {"library", SAP_FACTOR_LIBRARY},
                                      {"auto", SAP_FACTOR_AUTO},
                                      {NULL, 0}};
static const Choice devices[] = {{"cpu", SAP_DEVICE_CPU}, {"cuda", SAP_DEVICE_CUDA}, {NULL, 0}};
static const Choice team_sizes[] = {{"0", 0},   {"1", 1},     {"8", 8},    {"16", 16}, {"32", 32},
                                    {"64", 64}, {"128", 128}, {"auto", 0}, {NULL, 0}};
static const Choice specializations[] = {
    {"off", SAP_SPECIALIZE_OFF}, {"auto", SAP_SPECIALIZE_AUTO}, {"on", SAP_SPECIALIZE_ON}, {NULL, 0}};
static const Choice truths[] = {{"true", 1}, {"false", 0}, {"yes", 1}, {"no", 0}, {"on", 1},
                                {"off", 0},  {"1", 1},     {"0", 0},   {NULL, 0}};

#define CHOICE(words) .kind = KIND_CHOICE, .choices = (words)
#define BOOL          .kind = KIND_BOOL, .choices = truths
#define INT(l, h)     .kind = KIND_INT, .low = (l), .high = (h)
#define REAL(l)       .kind = KIND_REAL, .low = (l), .high = INFINITY
#define BETWEEN(l, h) .kind = KIND_REAL, .low = (l), .high = (h), .open = true
#define FROM_TO(l, h) .kind = KIND_REAL, .low = (l), .high = (h)
#define OR_NONE       .none = true, .fallback = NAN
#define PRESET        .preset = true

/* Each line: X(field, how it is parsed, its default). */
#define OPTIONS(X)                                                                                                     \
    X(free_motion_precision, CHOICE(precisions), PRESET)                                                               \
    X(contact_solve_precision, CHOICE(precisions), PRESET)                                                             \
    X(linear_solve_precision, CHOICE(precisions), PRESET)                                                              \
    X(contact_weight_precision, CHOICE(precisions), PRESET)                                                            \
    X(contact_geometry_f64, BOOL, PRESET)                                                                              \
    X(contact_weight, CHOICE(weights), PRESET)                                                                         \
    X(contact_point, CHOICE(points), PRESET)                                                                           \
    X(position_integration, CHOICE(integrations), PRESET)                                                              \
    X(constraint_weight, CHOICE(constraint_weights), PRESET)                                                           \
    X(tendon_limit_window, CHOICE(limit_windows), PRESET)                                                              \
    X(gyroscopic, CHOICE(gyroscopics), PRESET)                                                                         \
    X(velocity_forces, CHOICE(velocities), .fallback = SAP_VELOCITY_OF_START)                                          \
    X(max_joint_speed, REAL(0), .open = true, OR_NONE)                                                                 \
    X(max_contacts, INT(0, 65535), .fallback = 0)                                                                      \
    X(given_contacts, INT(0, 65535), .fallback = 0)                                                                    \
    X(max_contacts_per_pair, INT(1, 8), .fallback = 4)                                                                 \
    X(fallback_mu, REAL(0), OR_NONE)                                                                                   \
    X(fallback_stiffness, REAL(0), .open = true, .fallback = 1e10)                                                     \
    X(near_rigid, REAL(0), .fallback = 1)                                                                              \
    X(friction_regularization, REAL(0), .open = true, .fallback = 1e-3)                                                \
    X(fallback_tau, REAL(0), OR_NONE)                                                                                  \
    X(diag_shift, REAL(0), .fallback = 0)                                                                              \
    X(constraint_speed, REAL(0), .open = true, OR_NONE)                                                                \
    X(contact_solver, CHOICE(contact_solvers), .fallback = SAP_SOLVER_SAP)                                             \
    X(contact_approximation, CHOICE(approximations), .fallback = SAP_APPROXIMATION_SAP)                                \
    X(stiction_tolerance, REAL(0), .open = true, .fallback = 1e-4)                                                     \
    X(lagged_passes, INT(1, 8), .fallback = 1)                                                                         \
    X(fallback_dissipation, REAL(0), OR_NONE)                                                                          \
    X(friction_law, CHOICE(friction_laws), .fallback = SAP_FRICTION_CONVEX)                                            \
    X(pgs_omega, BETWEEN(0, 2), .fallback = 1)                                                                         \
    X(contact_compliance, CHOICE(compliances), .fallback = SAP_COMPLIANCE_RIGID)                                       \
    X(restitution, FROM_TO(0, 1), .fallback = 0)                                                                       \
    X(restitution_rule, CHOICE(restitution_rules), .fallback = SAP_RESTITUTION_MOREAU)                                 \
    X(restitution_threshold, REAL(0), .fallback = 0.05)                                                                \
    X(restitution_guard, BOOL, .fallback = 1)                                                                          \
    X(push_factor, FROM_TO(0, 1), .fallback = 0.2)                                                                     \
    X(max_push, REAL(0), .fallback = 1)                                                                                \
    X(warm_start, BOOL, .fallback = 0)                                                                                 \
    X(max_iterations, INT(-1, 1000000), .fallback = 0)                                                                 \
    X(optimality_abs_tol, REAL(0), .fallback = 1e-14)                                                                  \
    X(optimality_rel_tol, REAL(0), .fallback = 1e-6)                                                                   \
    X(cost_abs_tol, REAL(0), OR_NONE)                                                                                  \
    X(cost_rel_tol, REAL(0), OR_NONE)                                                                                  \
    X(line_search, CHOICE(line_searches), PRESET, .search = true)                                                      \
    X(line_search_max_iterations, INT(0, 1000000), .fallback = 0)                                                      \
    X(armijo_c, BETWEEN(0, 1), .fallback = 1e-4)                                                                       \
    X(armijo_rho, BETWEEN(0, 1), .fallback = 0.8)                                                                      \
    X(armijo_slop, REAL(0), OR_NONE)                                                                                   \
    X(compat, CHOICE(compats), .fallback = SAP_COMPAT_NONE)                                                            \
    X(sleep_steps, INT(0, 1000000), .fallback = 0)                                                                     \
    X(sleep_speed, REAL(0), .open = true, .fallback = 1e-3)                                                            \
    X(threads, INT(0, 1024), .fallback = 0)                                                                            \
    X(lanes, CHOICE(lane_counts), .fallback = 0)                                                                       \
    X(isa, CHOICE(isas), .fallback = SAP_ISA_AUTO)                                                                     \
    X(broad_phase, CHOICE(broad_phases), .fallback = SAP_BROAD_PHASE_AUTO)                                             \
    X(factor_plan, CHOICE(factor_plans), .fallback = SAP_FACTOR_SPARSE)                                                \
    X(device, CHOICE(devices), .fallback = SAP_DEVICE_CPU)                                                             \
    X(cuda_device, INT(0, 1023), .fallback = 0)                                                                        \
    X(team_size, CHOICE(team_sizes), .fallback = 0)                                                                    \
    X(shared_memory, INT(0, 1048576), .fallback = 0)                                                                   \
    X(specialize, CHOICE(specializations), .fallback = SAP_SPECIALIZE_OFF)

#define OPTION_LINE(field, ...) {.name = #field, .offset = offsetof(SapOptions, field), __VA_ARGS__},
#define OPTION_NAME(field, ...) #field,

static const Option options_table[] = {OPTIONS(OPTION_LINE)};
static const char *const option_names[] = {OPTIONS(OPTION_NAME) NULL};

enum { NUM_OPTIONS = sizeof options_table / sizeof options_table[0] };

static const char preset_name[] = "preset";

/* The names that SAP Warp has for options. */
static const struct {
    const char *alias, *name;
} name_aliases[] = {
    {"contact_preset_variant", "preset"},
    {"free_motion_solve_precision", "free_motion_precision"},
    {"contact_linear_solve_precision", "linear_solve_precision"},
    {"sap_contact_weight_precision", "contact_weight_precision"},
    {"use_f64_boundary_pose", "contact_geometry_f64"},
    {"contact_weight_mode", "contact_weight"},
    {"contact_point_mode", "contact_point"},
    {"max_rigid_contact", "max_contacts"},
    {"contact_beta", "near_rigid"},
    {"contact_sigma", "friction_regularization"},
    {"contact_tau_d", "fallback_tau"},
    {"line_search_variant", "line_search"},
    {"rho", "armijo_rho"},
    {"line_search_relative_slop", "armijo_slop"},
};

/* Keywords of SAP Warp that have no field here: parsed, checked and ignored. */
static const Option ignored_table[] = {
    {.name = "block_size", INT(0, 256), .none = true}, /* the size of the factor's tiles, which is fixed here */
};

enum { NUM_IGNORED = sizeof ignored_table / sizeof ignored_table[0] };

/* Keywords of which only the value without effect is accepted. */
typedef struct Fixed {
    const char *name;
    bool value;
    const char *why;
} Fixed;

static const Fixed fixed_table[] = {
    {"capture_contact_jacobian_snapshots", false, "contact Jacobians live in scratch memory and are not kept"},
    {"collect_iteration_stats", false, "iteration counts are always collected, per world"},
    {"check_line_search_errors", false, "line search failures are always reported, in the status of each world"},
    {"graph_conditional", true, "a solve always ends when its worlds are done"},
};

enum { NUM_FIXED = sizeof fixed_table / sizeof fixed_table[0] };

/* ---- fields; enums are stored as int ---- */

/* Each enum of SapOptions. */
#define AS_INT(type) sizeof(type) == sizeof(int)
_Static_assert(AS_INT(SapPrecision) && AS_INT(SapPositionIntegration) && AS_INT(SapContactSolver) &&
                   AS_INT(SapFrictionLaw) && AS_INT(SapContactApproximation) && AS_INT(SapContactCompliance) &&
                   AS_INT(SapRestitutionRule) && AS_INT(SapLineSearch) && AS_INT(SapFactorPlan) &&
                   AS_INT(SapGyroscopic) && AS_INT(SapVelocityForces) && AS_INT(SapContactWeight) &&
                   AS_INT(SapContactPoint) && AS_INT(SapConstraintWeight) && AS_INT(SapLimitWindow) &&
                   AS_INT(SapBroadPhase) && AS_INT(SapCompat) && AS_INT(SapIsa) && AS_INT(SapDevice) &&
                   AS_INT(SapSpecialize),
               "an enum of SapOptions is as large as an int");
#undef AS_INT

/* A bool is read as a byte: an uninitialised one may hold any value, and checking it must be well defined. */
static double get_field(const SapOptions *options, const Option *option) {
    const char *at = (const char *)options + option->offset;
    double real;
    int integer;
    switch (option->kind) {
    case KIND_REAL: memcpy(&real, at, sizeof real); return real;
    case KIND_BOOL: return *(const unsigned char *)at;
    case KIND_CHOICE:
    case KIND_INT: break;
    }
    memcpy(&integer, at, sizeof integer);
    return integer;
}

static void put_field(SapOptions *options, const Option *option, double value) {
    char *at = (char *)options + option->offset;
    int integer;
    switch (option->kind) {
    case KIND_REAL: memcpy(at, &value, sizeof value); return;
    case KIND_BOOL: *(bool *)at = value != 0; return;
    case KIND_CHOICE:
    case KIND_INT: break;
    }
    integer = (int)value;
    memcpy(at, &integer, sizeof integer);
}

/* ---- keywords ---- */

static bool same(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static const Choice *find_word(const Choice *choices, const char *word) {
    for (; choices->word != NULL; choices++)
        if (same(choices->word, word))
            return choices;
    return NULL;
}

static const Choice *find_value(const Choice *choices, double value) {
    for (; choices->word != NULL; choices++)
        if (choices->value == value)
            return choices;
    return NULL;
}

/* ---- allowed values ---- */

static SapList list_of_choices(const Choice *choices) {
    SapList list = {.length = 0};
    for (; choices->word != NULL; choices++)
        sap_list_add(&list, choices->word);
    return list;
}

static SapList range_text(const Option *option) {
    SapList list = {.length = 0};
    const char *none = option->none ? ", or none" : "";
    char low[SAP_NUMBER_TEXT_SIZE], high[SAP_NUMBER_TEXT_SIZE], text[128];
    sap_double_to_text(option->low, low);
    sap_double_to_text(option->high, high);
    if (option->kind == KIND_INT)
        snprintf(text, sizeof text, "an integer %s .. %s%s", low, high, none);
    else if (isinf(option->high))
        snprintf(text, sizeof text, "a finite number %s %s%s", option->open ? ">" : ">=", low, none);
    else if (option->open)
        snprintf(text, sizeof text, "a number > %s and < %s%s", low, high, none);
    else
        snprintf(text, sizeof text, "a number %s .. %s%s", low, high, none);
    sap_list_add(&list, text);
    return list;
}

/* The "allowed: ..." part of messages about an option. */
static SapList allowed_text(const Option *option) {
    return option->choices != NULL ? list_of_choices(option->choices) : range_text(option);
}

static SapStatus fail_value(const Option *option, const char *value) {
    SapList allowed = allowed_text(option);
    SapHint hint = option->choices != NULL ? sap_hint(value, allowed.text) : (SapHint){""};
    return sap_fail(SAP_ERROR_ARGUMENT, "option %s is '%.64s'%s; allowed: %s", option->name, value, hint.text,
                    allowed.text);
}

/* ---- one option ---- */

static bool in_range(const Option *option, double value) {
    if (option->choices != NULL)
        return find_value(option->choices, value) != NULL;
    if (isnan(value))
        return option->none;
    if (isinf(value))
        return false;
    return option->open ? value > option->low && value < option->high : value >= option->low && value <= option->high;
}

static bool read_number(const Option *option, const char *text, double *value) {
    int integer;
    if (option->kind == KIND_REAL)
        return sap_text_to_double(text, value);
    if (!sap_text_to_int(text, &integer))
        return false;
    *value = integer;
    return true;
}

static bool read_value(const Option *option, const char *text, double *value) {
    if (option->none && sap_keyword_is_none(sap_keyword(text).text)) {
        *value = (double)NAN;
        return true;
    }
    if (option->choices == NULL)
        return read_number(option, sap_strip(text).text, value);
    const Choice *choice = find_word(option->choices, sap_keyword(text).text);
    if (choice != NULL)
        *value = choice->value;
    return choice != NULL;
}

static SapStatus read_checked(const Option *option, const char *text, double *value) {
    return read_value(option, text, value) && in_range(option, *value) ? SAP_OK : fail_value(option, text);
}

static SapStatus set_option(SapOptions *options, const Option *option, const char *text) {
    double value;
    if (option->preset && sap_keyword_is_none(sap_keyword(text).text))
        return SAP_OK;
    SAP_TRY(read_checked(option, text, &value));
    put_field(options, option, value);
    return SAP_OK;
}

static void value_text(const Option *option, double value, char text[SAP_NUMBER_TEXT_SIZE]) {
    const Choice *choice = option->choices != NULL ? find_value(option->choices, value) : NULL;
    if (choice != NULL)
        snprintf(text, SAP_NUMBER_TEXT_SIZE, "%s", choice->word);
    else if (isnan(value))
        snprintf(text, SAP_NUMBER_TEXT_SIZE, "none");
    else
        sap_double_to_text(value, text);
}

static const Option *find_option(const char *word) {
    for (int i = 0; i < NUM_OPTIONS; i++)
        if (same(options_table[i].name, word))
            return &options_table[i];
    return NULL;
}

static SapStatus fail_name(const char *name) {
    SapList list = sap_list_of_names(sap_options_names());
    return sap_fail(SAP_ERROR_ARGUMENT, "unknown option '%.64s'%s; allowed: %s, %s", name,
                    sap_hint(name, list.text).text, preset_name, list.text);
}

/* ---- keywords without a field ---- */

static const Option *find_ignored(const char *word) {
    for (int i = 0; i < NUM_IGNORED; i++)
        if (same(ignored_table[i].name, word))
            return &ignored_table[i];
    return NULL;
}

static const Fixed *find_fixed(const char *word) {
    for (int i = 0; i < NUM_FIXED; i++)
        if (same(fixed_table[i].name, word))
            return &fixed_table[i];
    return NULL;
}

static SapStatus set_fixed(const Fixed *fixed, const char *text) {
    const char *only = fixed->value ? "true" : "false";
    const Choice *given = find_word(truths, sap_keyword(text).text);
    if (given == NULL)
        return sap_fail(SAP_ERROR_ARGUMENT, "option %s is '%.64s'; allowed: %s", fixed->name, text, only);
    if (given->value == fixed->value)
        return SAP_OK;
    return sap_fail(SAP_ERROR_UNSUPPORTED, "option %s is '%.64s'; only %s is supported: %s", fixed->name, text, only,
                    fixed->why);
}

/* ---- public ---- */

SapKeyword sap_option_word(const char *name) {
    SapKeyword word = sap_keyword(name);
    for (size_t i = 0; i < sizeof name_aliases / sizeof *name_aliases; i++)
        if (same(name_aliases[i].alias, word.text))
            return sap_keyword(name_aliases[i].name);
    return word;
}

void sap_options_reset(SapOptions *options) {
    memset(options, 0, sizeof *options);
    for (int i = 0; i < NUM_OPTIONS; i++)
        put_field(options, &options_table[i], options_table[i].fallback);
}

bool sap_option_is_in_presets(const char *name) {
    const Option *option = find_option(name);
    return option != NULL && option->preset;
}

bool sap_options_same_preset(const SapOptions *a, const SapOptions *b) {
    for (int i = 0; i < NUM_OPTIONS; i++)
        if (options_table[i].preset && !options_table[i].search &&
            get_field(a, &options_table[i]) != get_field(b, &options_table[i]))
            return false;
    return true;
}

SapStatus sap_options_set(SapOptions *options, const char *name, const char *value) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(options);
    SAP_NEED(name);
    SAP_NEED(value);
    SapKeyword word = sap_option_word(name);
    const Option *option = find_option(word.text);
    if (option != NULL)
        return set_option(options, option, value);
    const Option *ignored = find_ignored(word.text);
    if (ignored != NULL)
        return read_checked(ignored, value, &(double){0});
    const Fixed *fixed = find_fixed(word.text);
    if (fixed != NULL)
        return set_fixed(fixed, value);
    return same(word.text, preset_name) ? sap_options_apply_preset(options, value) : fail_name(name);
}

SapStatus sap_options_check(const SapOptions *options) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(options);
    for (int i = 0; i < NUM_OPTIONS; i++) {
        double value = get_field(options, &options_table[i]);
        if (in_range(&options_table[i], value))
            continue;
        char text[SAP_NUMBER_TEXT_SIZE];
        value_text(&options_table[i], value, text);
        return fail_value(&options_table[i], text);
    }
    return SAP_OK;
}

SapStatus sap_options_get(const SapOptions *options, const char *name, char *text, int size) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(options);
    SAP_NEED(name);
    SAP_NEED(text);
    char number[SAP_NUMBER_TEXT_SIZE];
    const char *value = number;
    SapKeyword word = sap_option_word(name);
    const Option *option = find_option(word.text);
    if (option != NULL)
        value_text(option, get_field(options, option), number);
    else if (same(word.text, preset_name))
        SAP_TRY(sap_options_name_preset(options, &value));
    else
        return fail_name(name);
    if (size <= 0 || strlen(value) >= (size_t)size)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: size is %d; option %s is '%s' and needs %zu bytes", __func__, size,
                        word.text, value, strlen(value) + 1);
    memcpy(text, value, strlen(value) + 1);
    return SAP_OK;
}

const char *const *sap_options_names(void) {
    return option_names;
}
