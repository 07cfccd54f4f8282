/* Reading the maps of a scene file by tables: the keys a map may have, the types of their values, and their targets.
 *
 * A table is an array of SapSceneField over one target struct; a map is read with several tables at once. Keys that are
 * not given leave their target unchanged, so targets are initialised with the defaults. Two rows with one offset are
 * two names of one key. */
#ifndef SAPWOOD_HOST_SCENE_FIELDS_H
#define SAPWOOD_HOST_SCENE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/model/model.h"
#include "host/base/yaml_tree.h"

/* The kind of a value. Comments give the type of the target and the accepted values. */
typedef enum SapSceneKind {
    SAP_SCENE_NUMBER,               /* double: a number in `range` */
    SAP_SCENE_INTEGER,              /* int32_t: a whole number */
    SAP_SCENE_FLAG,                 /* bool: true or false */
    SAP_SCENE_TEXT,                 /* const char *: a scalar that is not null; owned by the tree */
    SAP_SCENE_VECTOR,               /* double[3]: a list of finite numbers */
    SAP_SCENE_POSE,                 /* double[7]: "identity" or a map of p and q */
    SAP_SCENE_AXIS,                 /* double[3], unit: a direction, or x, -y, 2, ... */
    SAP_SCENE_MODE,                 /* int32_t: a drive's mode, by name or number */
    SAP_SCENE_ENTRY,                /* const SapYamlEntry *: any value, read later */
    SAP_SCENE_UNSUPPORTED,          /* none: only null or an empty list is accepted */
    SAP_SCENE_UNSUPPORTED_FLAG,     /* none: only false is accepted */
    SAP_SCENE_UNSUPPORTED_NUMBER,   /* none: only zero is accepted */
    SAP_SCENE_UNSUPPORTED_VELOCITY, /* none: only a velocity limit too large to have an effect is accepted */
    SAP_SCENE_WITHOUT_EFFECT,       /* none: a flag that is accepted and ignored */
    SAP_SCENE_ELSEWHERE             /* none: any value, read by other code */
} SapSceneKind;

typedef struct SapSceneField {
    const char *key;
    SapSceneKind kind;
    size_t offset;  /* offset of the target in the struct */
    SapRange range; /* range of a number */
    bool required;
} SapSceneField;

/* Rows of tables: a member of a struct, a number with a range, and a key without a target. */
#define SAP_SCENE_FIELD(key, kind, type, member)                                                                       \
    { key, SAP_SCENE_##kind, offsetof(type, member), SAP_RANGE_FINITE, false }
#define SAP_SCENE_REQUIRED(key, kind, type, member)                                                                    \
    { key, SAP_SCENE_##kind, offsetof(type, member), SAP_RANGE_FINITE, true }
#define SAP_SCENE_IN_RANGE(key, range, type, member)                                                                   \
    { key, SAP_SCENE_NUMBER, offsetof(type, member), SAP_RANGE_##range, false }
#define SAP_SCENE_NO_TARGET(key, kind)                                                                                 \
    { key, SAP_SCENE_##kind, 0, SAP_RANGE_FINITE, false }

typedef struct SapSceneTable {
    const SapSceneField *fields;
    int count; /* at most 64 */
    void *target;
} SapSceneTable;

#define SAP_SCENE_TABLE(fields, target)                                                                                \
    { fields, (int)(sizeof(fields) / sizeof(fields)[0]), target }

/* Reads a map. An unknown key, a key given twice under two names, and a missing required key are errors. */
SapStatus sap_scene_read(const SapYamlEntry *map, const SapSceneTable *tables, int num_tables);

/* Fails for a scalar that is not one of `allowed`, a list in words. */
SapStatus sap_scene_refuse(const SapYamlEntry *entry, const char *allowed);

/* Single values, by the same rules as in tables. */
SapStatus sap_scene_number(const SapYamlEntry *entry, SapRange range, double *out);
SapStatus sap_scene_integer(const SapYamlEntry *entry, int low, int high, int *out);
SapStatus sap_scene_flag(const SapYamlEntry *entry, bool *out);
SapStatus sap_scene_text(const SapYamlEntry *entry, const char **out);
SapStatus sap_scene_numbers(const SapYamlEntry *entry, int count, double *out); /* a list of `count` finite numbers */
SapStatus sap_scene_mode(const SapYamlEntry *entry, int32_t *out);
SapStatus sap_scene_axis(const SapYamlEntry *entry, double out[3]);
SapStatus sap_scene_pose(const SapYamlEntry *entry, double out[7]);    /* identity, or a map of p and q */
SapStatus sap_scene_gravity(const SapYamlEntry *entry, double out[3]); /* a number (along z), or a vector */

/* Rejects anything but a list; null is an empty list. */
SapStatus sap_scene_expect_list(const SapYamlEntry *entry);

#endif
