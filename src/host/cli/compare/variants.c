/* The variants of a step. Presets come from the library. The options that are changed alone, and their values, are those
 * in which presets differ from the reference, so that a new preset or a new option of presets is compared at once. */
#include <string.h>

#include "host/cli/compare/compare.h"
#include "host/cli/compare/mujoco_model.h"

static const char preset_option[] = "preset";
static const char law_option[] = "contact_solver";
static const char search_option[] = "line_search";
static const char *const searches[] = {"monotone_decay", "armijo_decay", "exact_root", "wolfe"};

/* The options that end a solve, with values that solve to rounding. In f64 the optimality test ends a solve, or a change
 * of the cost that is rounding; in f32 the rounding of the cost does (docs/solve.md). */
static const struct {
    const char *name, *tight;
} stopping[] = {{search_option, "exact_root"}, {"optimality_abs_tol", "1e-14"}, {"optimality_rel_tol", "1e-12"},
                {"cost_abs_tol", "1e-30"},     {"cost_rel_tol", "1e-15"},       {"max_iterations", "100"}};

enum { NUM_STOPPING = sizeof stopping / sizeof *stopping, NUM_SEARCHES = sizeof searches / sizeof *searches };

static bool same(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static bool is_stopping(const char *option) {
    for (int i = 0; i < NUM_STOPPING; i++)
        if (same(option, stopping[i].name))
            return true;
    return false;
}

/* ---- presets by name ---- */

/* "approx64" for "approx32"; NULL for a preset without such a twin. */
static const char *f64_twin(const char *preset) {
    size_t stem = strlen(preset) - 2;
    if (strlen(preset) < 2 || !same(preset + stem, "32"))
        return NULL;
    for (const char *const *other = sap_preset_names(); *other != NULL; other++)
        if (strlen(*other) == stem + 2 && strncmp(*other, preset, stem) == 0 && same(*other + stem, "64"))
            return *other;
    return NULL;
}

static bool differ(const SapOptions *a, const SapOptions *b, const char *option) {
    return !same(cli_option(a, option).text, cli_option(b, option).text);
}

/* The preset without the scene's options. */
static SapOptions plain(const char *preset) {
    SapOptions o = {0};
    cli_check(sap_options_preset(preset, &o));
    return o;
}

/* A precision is an option in which a preset and its twin differ. */
static bool is_precision(const char *option) {
    for (const char *const *preset = sap_preset_names(); *preset != NULL; preset++) {
        const char *twin = f64_twin(*preset);
        SapOptions a = plain(*preset), b = plain(twin ? twin : *preset);
        if (differ(&a, &b, option))
            return true;
    }
    return false;
}

/* ---- options ---- */

/* The scene's options, the preset, the common stopping rule, --set. */
static bool options_of(const Compare *c, const char *preset, SapOptions *o) {
    *o = c->scene.scene->options;
    if (!cli_check(sap_options_set(o, preset_option, preset)))
        return false;
    for (int i = 0; !c->args->own_stopping && i < NUM_STOPPING; i++)
        if (!cli_check(sap_options_set(o, stopping[i].name, stopping[i].tight)))
            return false;
    return cli_settings_apply(&c->args->settings, o);
}

/* The options that --set may not change are those that are changed alone, except those that end a solve. */
const char *cli_compare_fixed_option(const CompareArgs *args, CliText *value) {
    SapOptions reference = plain(args->reference), set = reference;
    if (!cli_settings_apply(&args->settings, &set))
        return NULL;
    for (const char *const *preset = sap_preset_names(); *preset != NULL; preset++) {
        SapOptions other = plain(*preset);
        for (const char *const *option = sap_options_names(); *option != NULL; option++)
            if (differ(&reference, &set, *option) && differ(&reference, &other, *option) && !is_stopping(*option) &&
                !same(*option, law_option)) {
                *value = cli_option(&set, *option);
                return *option;
            }
    }
    return NULL;
}

/* ---- what a difference is the effect of ---- */

static const char *kind_of_option(const char *option) {
    if (same(option, law_option))
        return "law";
    if (is_stopping(option))
        return same(option, search_option) ? "line search" : "stopping";
    return is_precision(option) ? "precision" : "model";
}

/* Compares two presets. Options that end a solve do not count, because a tight solve does not depend on them. */
static const char *kind_of_presets(const SapOptions *a, const SapOptions *b) {
    bool precision = false, model = false;
    for (const char *const *option = sap_options_names(); *option != NULL; option++) {
        if (!differ(a, b, *option) || is_stopping(*option))
            continue;
        if (same(*option, law_option))
            return "Delta_law";
        *(is_precision(*option) ? &precision : &model) = true;
    }
    return precision && model ? "Delta" : precision ? "Delta_precision" : model ? "Delta_model" : "Delta_stopping";
}

/* ---- the list ---- */

static int find(const Compare *c, const char *option, const char *value) {
    for (int i = 0; i < c->num_variants; i++)
        if (same(c->variant[i].option, option) && same(c->variant[i].value.text, value))
            return i;
    return -1;
}

static bool add(Compare *c, const char *option, const char *value, const char *kind, int against, SapOptions o) {
    if (c->num_variants == COMPARE_VARIANTS)
        return cli_fail("more than %d presets and options to compare", COMPARE_VARIANTS);
    CompareVariant *v = &c->variant[c->num_variants++];
    *v = (CompareVariant){.option = option, .kind = kind, .against = against, .options = o};
    snprintf(v->value.text, sizeof v->value.text, "%s", value);
    return true;
}

/* Whether the scene can run with the options. Presets of MuJoCo's law do not accept every scene; the others do, or the
 * reference does not either. A solver of that law gives the model its numbers. */
static bool accepts(Compare *c, const char *preset, const SapOptions *o) {
    SapSolver *solver;
    const SapModel *model = c->scene.scene->model;
    if (o->contact_solver != SAP_SOLVER_MUJOCO)
        return true;
    if (sap_solver_create(model, 1, o, &solver) == SAP_OK) {
        sap_solver_destroy(solver);
        return c->law_model || c->args->own_stopping || cli_mujoco_tight(model, &c->law_model);
    }
    CompareLeftOut *out = &c->left_out[c->num_left_out++];
    out->preset = preset;
    snprintf(out->reason, sizeof out->reason, "%s", sap_error_message());
    return false;
}

SapModel *cli_compare_model(const Compare *c, int variant) {
    bool own = c->law_model != NULL && c->variant[variant].options.contact_solver == SAP_SOLVER_MUJOCO;
    return own ? c->law_model : c->scene.scene->model;
}

static bool is_left_out(const Compare *c, const char *preset) {
    for (int i = 0; i < c->num_left_out; i++)
        if (same(c->left_out[i].preset, preset))
            return true;
    return false;
}

/* A preset, after its twin, with which it is compared; others are compared with the reference. */
static bool add_preset(Compare *c, const char *preset) {
    SapOptions o, own = plain(preset);
    const char *twin = f64_twin(preset);
    if (find(c, preset_option, preset) >= 0 || is_left_out(c, preset))
        return true;
    if (twin && !add_preset(c, twin))
        return false;
    if (!options_of(c, preset, &o))
        return false;
    if (own.contact_solver != plain(c->args->reference).contact_solver && o.contact_solver != own.contact_solver)
        return true; /* --set replaces its law, and leaves nothing of it */
    if (!accepts(c, preset, &o))
        return true;
    int against = twin ? find(c, preset_option, twin) : 0;
    against = against < 0 ? 0 : against;
    return add(c, preset_option, preset, kind_of_presets(&o, &c->variant[against].options), against, o);
}

static bool add_knob(Compare *c, const char *option, const char *value) {
    SapOptions o = c->variant[0].options;
    if (find(c, option, value) >= 0)
        return true;
    return cli_check(sap_options_set(&o, option, value)) && add(c, option, value, kind_of_option(option), 0, o);
}

/* The values of an option in the presets of the reference's law. */
static bool add_knobs_of(Compare *c, const char *option) {
    SapOptions reference = plain(c->args->reference);
    bool ok = true;
    for (const char *const *preset = sap_preset_names(); ok && *preset != NULL; preset++) {
        SapOptions o = plain(*preset);
        if (o.contact_solver == reference.contact_solver && differ(&o, &reference, option))
            ok = add_knob(c, option, cli_option(&o, option).text);
    }
    return ok;
}

static bool add_knobs(Compare *c) {
    static const char *const order[] = {"precision", "model", "stopping"};
    bool ok = true;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (const char *const *option = sap_options_names(); ok && *option != NULL; option++)
            if (same(kind_of_option(*option), order[i]) && (c->args->own_stopping || !is_stopping(*option)))
                ok = add_knobs_of(c, *option);
    for (int i = 0; ok && i < NUM_SEARCHES; i++)
        ok = add_knob(c, search_option, searches[i]);
    return ok;
}

bool cli_compare_variants(Compare *c) {
    SapOptions o;
    if (!options_of(c, c->args->reference, &o))
        return false;
    if (!accepts(c, c->args->reference, &o))
        return c->num_left_out && cli_fail("--reference is '%s': %s", c->args->reference, c->left_out[0].reason);
    bool ok = add(c, preset_option, c->args->reference, "reference", 0, o);
    for (const char *const *preset = sap_preset_names(); ok && *preset != NULL; preset++)
        ok = add_preset(c, *preset);
    return ok && add_knobs(c);
}

bool cli_compare_is_preset(const CompareVariant *v) {
    return same(v->option, preset_option);
}

CompareName cli_compare_name(const CompareVariant *v) {
    CompareName name;
    if (cli_compare_is_preset(v))
        snprintf(name.text, sizeof name.text, "%s", v->value.text);
    else
        snprintf(name.text, sizeof name.text, "%s=%s", v->option, v->value.text);
    return name;
}
