/* Interface between options.c and presets.c. */
#ifndef SAPWOOD_HOST_OPTIONS_OPTIONS_H
#define SAPWOOD_HOST_OPTIONS_OPTIONS_H

#include <sapwood/options.h>

#include "host/base/keyword.h"

/* Sets every option to its default; options that presets fill get their first choice. */
void sap_options_reset(SapOptions *options);

/* The name of an option as a keyword, with the plain name in place of SAP Warp's. */
SapKeyword sap_option_word(const char *name);

/* Whether presets fill the option of that name (exact match). */
bool sap_option_is_in_presets(const char *name);

/* Whether two sets of options agree in all options that presets fill. */
bool sap_options_same_preset(const SapOptions *a, const SapOptions *b);

#endif
