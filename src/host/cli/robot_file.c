#include "host/cli/robot_file.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/common.h"
#include "host/cli/python.h"

bool cli_is_robot_file(const char *path) {
    static const char *const endings[] = {".xml", ".mjcf", ".urdf"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static bool convert(const char *path, bool mujoco, const char *scene) {
    char purpose[PATH_MAX + 64];
    snprintf(purpose, sizeof purpose, "%s: MJCF and URDF are read by", path);
    return cli_python(purpose, "mujoco",
                      (const char *const[]){"convert", "--law", mujoco ? "mujoco" : "sap", path, scene, NULL});
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place) {
    (void)info, (void)type, (void)place;
    return remove(path);
}

bool cli_robot_file_load(const char *path, bool mujoco, SapScene **out) {
    const char *parent = secure_getenv("TMPDIR");
    char folder[PATH_MAX], scene[PATH_MAX + 16];
    snprintf(folder, sizeof folder, "%s/sapwood-XXXXXX", parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (access(path, R_OK) != 0)
        return cli_fail("%s: %s", path, strerror(errno));
    if (mkdtemp(folder) == NULL)
        return cli_fail("%s: %s", folder, strerror(errno));
    snprintf(scene, sizeof scene, "%s/scene.yaml", folder);
    bool ok = convert(path, mujoco, scene) && cli_check(sap_scene_load(scene, out));
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return ok;
}
