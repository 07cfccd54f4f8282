/* Reading the maps of a scene file by tables: which keys a map may have, what their values are and where they go.
 *
 * A table is an array of SapSceneField over one target struct; a map is read with several tables at once. Values that are
 * not given leave their target untouched, so targets start out with the defaults. Two rows with one offset are two names of
 * one thing. */
#ifndef SAPWOOD_HOST_SCENE_FIELDS_H
#define SAPWOOD_HOST_SCENE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/model/model.h"
#include "host/base/yaml_tree.h"

typedef enum SapSceneKind {                             /* target type: value */
                            SAP_SCENE_NUMBER,           /* double: a number in `range` */
                            SAP_SCENE_INTEGER,          /* int32_t: a whole number */
                            SAP_SCENE_FLAG,             /* bool: true or false */
                            SAP_SCENE_TEXT,             /* const char *: a scalar that is not null; owned by the tree */
                            SAP_SCENE_VECTOR,           /* double[3]: a list of finite numbers */
                            SAP_SCENE_POSE,             /* double[7]: "identity" or a map of p and q */
                            SAP_SCENE_AXIS,             /* double[3], unit: a direction, or x, -y, 2, ... */
                            SAP_SCENE_MODE,             /* int32_t: a drive's mode, by name or number */
                            SAP_SCENE_ENTRY,            /* const SapYamlEntry *: anything, read later */
                            SAP_SCENE_UNSUPPORTED,      /* none: only nothing or an empty list is accepted */
                            SAP_SCENE_UNSUPPORTED_FLAG, /* none: only false is accepted */
                            SAP_SCENE_UNSUPPORTED_NUMBER, /* none: only zero is accepted */
                            SAP_SCENE_UNSUPPORTED_VELOCITY, /* none: only a velocity limit too large to matter is accepted */
                            SAP_SCENE_WITHOUT_EFFECT,       /* none: a flag that is accepted and has no meaning here */
                            SAP_SCENE_ELSEWHERE             /* none: anything, read by other code */
} SapSceneKind;

typedef struct SapSceneField {
    const char *key;
    SapSceneKind kind;
    size_t offset;  /* of the target in the struct */
    SapRange range; /* of a number */
    bool required;
} SapSceneField;

/* Rows of tables: a member of a struct, the same as a number in a range, and a key without a target. */
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

/* Reads a map; a key that is in none of the tables, given twice under two names, or missing though required is an error. */
SapStatus sap_scene_read(const SapYamlEntry *map, const SapSceneTable *tables, int num_tables);

/* A scalar that should have been one of `allowed`, which is a list in words. */
SapStatus sap_scene_refuse(const SapYamlEntry *entry, const char *allowed);

/* The single values, by the same rules as in tables. */
SapStatus sap_scene_number(const SapYamlEntry *entry, SapRange range, double *out);
SapStatus sap_scene_integer(const SapYamlEntry *entry, int low, int high, int *out);
SapStatus sap_scene_flag(const SapYamlEntry *entry, bool *out);
SapStatus sap_scene_text(const SapYamlEntry *entry, const char **out);
SapStatus sap_scene_numbers(const SapYamlEntry *entry, int count, double *out); /* a list of `count` finite numbers */
SapStatus sap_scene_mode(const SapYamlEntry *entry, int32_t *out);
SapStatus sap_scene_axis(const SapYamlEntry *entry, double out[3]);
SapStatus sap_scene_gravity(const SapYamlEntry *entry, double out[3]); /* along z, or a vector */

/* Refuses what is not a list of maps or scalars; null is a list without items. */
SapStatus sap_scene_expect_list(const SapYamlEntry *entry);

/* Whether x is in the range, and the range in words. Only for ranges of plain numbers. */
bool sap_scene_in_range(SapRange range, double x);
const char *sap_scene_range_text(SapRange range);

#endif
