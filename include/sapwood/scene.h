/* Scene files: SAP Warp's schema, version 1, in YAML or JSON. docs/scene.md lists every key. */
#ifndef SAPWOOD_SCENE_H
#define SAPWOOD_SCENE_H

#include <stddef.h>

#include <sapwood/model.h>
#include <sapwood/options.h>

SAP_BEGIN_DECLS

typedef struct SapScene {
    SapModel *model; /* owned by the scene unless set to NULL by the caller */
    double dt;       /* s, simulation.dt; default 0.005 */
    int num_worlds;  /* simulation.num_worlds or replicate.num_worlds; default 1 */
    double spacing
        [3]; /* m, replicate.spacing: how viewers lay worlds out; worlds are independent, so no effect on physics; default 0 */
    SapOptions options; /* simulation.solver over its preset */
} SapScene;

/* Reads a scene. A malformed file, an unknown key, a wrong value or a feature this version lacks is an error whose
 * message begins with FILE:LINE and names the key. Nothing half-built remains. */
SAP_API SapStatus sap_scene_load(const char *path, SapScene **out);

/* The same from memory: `text` of `length` bytes; `name` stands for the file in messages. */
SAP_API SapStatus sap_scene_parse(const char *text, size_t length, const char *name, SapScene **out);

SAP_API void sap_scene_destroy(SapScene *scene); /* NULL is allowed */

/* Only the model of a scene. */
SAP_API SapStatus sap_model_load(const char *path, SapModel **out);

SAP_END_DECLS

#endif
