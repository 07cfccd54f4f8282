/* What presets.c needs to know of options. */
#ifndef SAPWOOD_HOST_OPTIONS_OPTIONS_H
#define SAPWOOD_HOST_OPTIONS_OPTIONS_H

#include <sapwood/options.h>

/* Every option to its default; those that presets fill get their first choice. */
void sap_options_reset(SapOptions *options);

/* Whether presets fill the option of that (exact) name. */
bool sap_option_is_in_presets(const char *name);

/* Whether two options agree in all that presets fill. */
bool sap_options_same_preset(const SapOptions *a, const SapOptions *b);

#endif
