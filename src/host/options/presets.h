/* Presets: named bundles of the options for precision and discretisation, one file each in presets/. */
#ifndef SAPWOOD_HOST_OPTIONS_PRESETS_H
#define SAPWOOD_HOST_OPTIONS_PRESETS_H

#include <sapwood/options.h>

/* Name ("approx32") and text of each presets/NAME.yaml, in the same order; both end with NULL. The build makes them. */
extern const char *const sap_embedded_preset_names[];
extern const char *const sap_embedded_preset_texts[];

/* Overwrites the options that presets fill; NULL and "none" mean approx32. */
SapStatus sap_options_apply_preset(SapOptions *options, const char *preset);

/* The same from the text of a preset file: a flat mapping of exactly those options. `name` stands for the file in
 * messages. *options is untouched on failure. */
SapStatus sap_options_apply_preset_text(SapOptions *options, const char *name, const char *text);

/* The preset whose values the options have, or "custom". */
SapStatus sap_options_name_preset(const SapOptions *options, const char **name);

#endif
