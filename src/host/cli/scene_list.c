#include "host/cli/scene_list.h"

#include <stdlib.h>
#include <string.h>

static int is_scene_file(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

bool cli_scene_files(CliSceneFiles *out) {
    for (const char *const *folder = cli_scene_folders(); *folder; folder++) {
        out->count = scandir(*folder, &out->entry, is_scene_file, alphasort);
        if (out->count >= 0)
            return true;
    }
    return cli_fail("there is no folder bench/scenes here");
}

void cli_scene_files_free(CliSceneFiles *files) {
    for (int i = 0; i < files->count; i++)
        free(files->entry[i]);
    free(files->entry);
}

static bool list_scene(const char *file, const CliSettings *settings) {
    CliScene scene;
    if (!cli_scene_open(file, settings, &scene))
        return false;
    printf("%-24.*s bodies %3d, dofs %3d, shapes %3d  %s\n", (int)strlen(file) - 5, file, scene.arrays->num_bodies,
           scene.arrays->num_dofs, scene.arrays->num_shapes, cli_shown(scene.path).text);
    cli_scene_close(&scene);
    return true;
}

int cli_scene_list(const CliSettings *settings) {
    CliSceneFiles files;
    if (!cli_scene_files(&files))
        return CLI_EXIT_BAD;
    bool ok = true;
    for (int i = 0; i < files.count; i++)
        ok &= list_scene(files.entry[i]->d_name, settings);
    cli_scene_files_free(&files);
    return ok ? CLI_EXIT_OK : CLI_EXIT_BAD;
}
