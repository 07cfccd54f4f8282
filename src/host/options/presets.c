#include "host/options/presets.h"

#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/options/options.h"
#include "host/base/keyword.h"
#include "host/base/nearest.h"
#include "host/base/yaml_tree.h"

static const char default_preset[] = "fast32";

static const struct {
    const char *alias, *name;
} aliases[] = {{"approx_32", "approx32"}, {"approx_64", "approx64"}, {"fast_32", "fast32"},
               {"fast_64", "fast64"},     {"mujoco_32", "mujoco32"}, {"mujoco_64", "mujoco64"}};

/* ---- preset files ---- */

/* The option that a preset may set beside those that every preset sets. */
static const char law_option[] = "contact_solver";

static SapStatus apply_entry(SapOptions *options, const SapYamlEntry *entry) {
    if (!sap_option_is_in_presets(entry->key) && strcmp(entry->key, law_option) != 0)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "not an option that presets fill");
    if (entry->node->kind != SAP_YAML_SCALAR || sap_keyword_is_none(sap_keyword(entry->node->text).text))
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the value must be a single word, and not none");
    return sap_options_set(options, entry->key, entry->node->text);
}

static SapStatus check_complete(const char *name, const SapYamlNode *map) {
    for (const char *const *option = sap_options_names(); *option != NULL; option++)
        if (sap_option_is_in_presets(*option) && sap_yaml_find(map, *option) == NULL)
            return sap_fail(SAP_ERROR_PARSE, "%s: key '%s' is missing", name, *option);
    return SAP_OK;
}

static SapStatus apply_tree(SapOptions *options, const char *name, const SapYamlTree *tree) {
    const SapYamlEntry *root = sap_yaml_root(tree);
    if (root->node->kind != SAP_YAML_MAP)
        return sap_yaml_fail(root, SAP_ERROR_PARSE, "a preset is a map of options to values");
    SAP_TRY(check_complete(name, root->node));
    for (int i = 0; i < root->node->count; i++)
        SAP_TRY(apply_entry(options, &root->node->entries[i]));
    return SAP_OK;
}

SapStatus sap_options_apply_preset_text(SapOptions *options, const char *name, const char *text) {
    SapOptions result = *options;
    SapYamlTree *tree;
    SAP_TRY(sap_yaml_parse(text, strlen(text), name, &tree));
    SapStatus status = apply_tree(&result, name, tree);
    sap_yaml_destroy(tree);
    if (status == SAP_OK)
        *options = result;
    return status;
}

/* ---- presets by name ---- */

static const char *name_of_word(const char *word) {
    if (sap_keyword_is_none(word))
        return default_preset;
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(aliases[i].alias, word) == 0)
            return aliases[i].name;
    return word;
}

SapStatus sap_options_apply_preset(SapOptions *options, const char *preset) {
    if (preset == NULL)
        preset = default_preset;
    SapKeyword word = sap_keyword(preset);
    const char *name = name_of_word(word.text);
    for (int i = 0; sap_embedded_preset_names[i] != NULL; i++)
        if (strcmp(sap_embedded_preset_names[i], name) == 0)
            return sap_options_apply_preset_text(options, name, sap_embedded_preset_texts[i]);
    SapList allowed = sap_list_of_names(sap_embedded_preset_names);
    return sap_fail(SAP_ERROR_ARGUMENT, "unknown preset '%.64s'%s; allowed: %s", preset,
                    sap_hint(preset, allowed.text).text, allowed.text);
}

SapStatus sap_options_preset(const char *preset, SapOptions *options) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(options);
    SapOptions result;
    sap_options_reset(&result);
    SAP_TRY(sap_options_apply_preset(&result, preset));
    *options = result;
    return SAP_OK;
}

SapStatus sap_options_name_preset(const SapOptions *options, const char **name) {
    *name = "custom";
    for (int i = 0; sap_embedded_preset_names[i] != NULL; i++) {
        SapOptions preset = *options;
        SAP_TRY(sap_options_apply_preset_text(&preset, sap_embedded_preset_names[i], sap_embedded_preset_texts[i]));
        if (sap_options_same_preset(options, &preset) && preset.contact_solver == options->contact_solver)
            *name = sap_embedded_preset_names[i];
    }
    return SAP_OK;
}

const char *const *sap_preset_names(void) {
    return sap_embedded_preset_names;
}
