/* The scenes that are found by name: the files of the first folder of bench/scenes that exists. */
#ifndef SAPWOOD_HOST_CLI_SCENE_LIST_H
#define SAPWOOD_HOST_CLI_SCENE_LIST_H

#include <dirent.h>

#include "host/cli/common.h"

typedef struct CliSceneFiles {
    struct dirent **entry; /* [count] in alphabetical order; d_name ends in .yaml */
    int count;
} CliSceneFiles;

bool cli_scene_files(CliSceneFiles *out);
void cli_scene_files_free(CliSceneFiles *files);

/* The option --list: prints name, size and path of every scene. Returns an exit code. */
int cli_scene_list(const CliSettings *settings);

#endif
