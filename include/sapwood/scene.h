/* Scene files: SAP Warp's schema, version 1, in YAML or JSON. docs/scene.md lists every key. */
#ifndef SAPWOOD_SCENE_H
#define SAPWOOD_SCENE_H

#include <stddef.h>

#include <sapwood/model.h>
#include <sapwood/options.h>

SAP_BEGIN_DECLS

typedef struct SapScene {
    SapModel *model;    /* owned by the scene; a caller who sets it to NULL takes over the model */
    double dt;          /* s, simulation.dt, > 0; default 0.005 */
    int num_worlds;     /* simulation.num_worlds or replicate.num_worlds, 1 .. 2^24; default 1 */
    double spacing[3];  /* m, replicate.spacing: distance of worlds in a viewer; no effect on the physics; default 0 */
    SapOptions options; /* the preset, then the explicit values of simulation.solver */
} SapScene;

/* Reads the scene file `path`, a regular file of at most 16 MiB. Mesh and height files that it names are relative to
 * its folder and must be regular files in that folder or below it, after following links. A malformed file, an unknown
 * key, an invalid value or an unsupported feature is an error with a message that begins with FILE:LINE and names the
 * key. The caller owns *out. */
SAP_API SapStatus sap_scene_load(const char *path, SapScene **out);

/* The same; the files that the scene names may also be below the folder asset_root. asset_root NULL = only below the
 * folder of the scene. */
SAP_API SapStatus sap_scene_load_with_root(const char *path, const char *asset_root, SapScene **out);

/* The same from memory: `text` has `length` bytes, is the caller's and need not be zero-terminated; `name` is the file
 * name in messages, and its folder is the scene's. */
SAP_API SapStatus sap_scene_parse(const char *text, size_t length, const char *name, SapScene **out);

/* Frees a scene and the model that it owns; NULL is allowed. */
SAP_API void sap_scene_destroy(SapScene *scene);

/* Reads only the model of a scene file. The caller owns *out. */
SAP_API SapStatus sap_model_load(const char *path, SapModel **out);

SAP_END_DECLS

#endif
