/* Scenes: the text of a scene file for a case, random where the case leaves it open. */
#ifndef SAPWOOD_TESTS_GENERATE_SCENE_H
#define SAPWOOD_TESTS_GENERATE_SCENE_H

#include "generate/case.h"

/* A YAML scene that has what the case asks for, with its options. The same for a seed on every machine. The caller
 * frees it; NULL without memory. */
char *scene_text(uint64_t seed, const Case *c);

#endif
