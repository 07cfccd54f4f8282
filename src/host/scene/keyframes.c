/* Keyframes and collision filters of a scene: the sections that refer to all others. */
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/scene/builder.h"

/* ---- keyframes ---- */

/* Limits the memory that a few lines of a file can request; the largest model has 2 SAP_MAX_JOINTS coordinates. */
enum { MAX_KEYFRAME_COORDS = 2 * SAP_MAX_JOINTS * SAP_MAX_KEYFRAMES };

typedef struct KeyframeKeys {
    const char *name;
    const SapYamlEntry *joint_q, *joint_qd;
} KeyframeKeys;

/* Reads a list of numbers into the new rows of a table. */
static SapStatus read_numbers(const SapYamlEntry *entry, SapSceneNumber *out, int count) {
    _Static_assert(sizeof(SapSceneNumber) == sizeof(double), "a row is a number");
    return sap_scene_numbers(entry, count, &out->value);
}

/* Default: the initial coordinates and zero velocities. */
static SapStatus read_keyframe(SapSceneBuilder *builder, const SapYamlEntry *entry) {
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("name", TEXT, KeyframeKeys, name),
        SAP_SCENE_FIELD("joint_q", ENTRY, KeyframeKeys, joint_q),
        SAP_SCENE_FIELD("joint_qd", ENTRY, KeyframeKeys, joint_qd),
    };
    /* Check the limits and read the keys. */
    KeyframeKeys keys = {0};
    int coords = sap_scene_count(builder, SAP_ROWS_COORDS), dofs = sap_scene_count(builder, SAP_ROWS_DOFS);
    void *row;
    if (entry->node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(entry, "a map of name, joint_q and joint_qd");
    if (sap_scene_count(builder, SAP_ROWS_KEYFRAMES) == SAP_MAX_KEYFRAMES ||
        sap_scene_count(builder, SAP_ROWS_KEYFRAME_COORDS) > MAX_KEYFRAME_COORDS - coords)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "too many keyframes; allowed: %d of %d coordinates in all",
                             SAP_MAX_KEYFRAMES, MAX_KEYFRAME_COORDS);
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &keys), 1));
    /* Coordinates. */
    SAP_TRY(sap_scene_append_many(builder, SAP_ROWS_KEYFRAME_COORDS, coords, &row));
    for (int i = 0; i < coords; i++)
        ((SapSceneNumber *)row)[i].value = sap_scene_coord(builder, i)->q;
    if (keys.joint_q != NULL)
        SAP_TRY(read_numbers(keys.joint_q, row, coords));
    /* Velocities. */
    SAP_TRY(sap_scene_append_many(builder, SAP_ROWS_KEYFRAME_DOFS, dofs, &row));
    if (keys.joint_qd != NULL)
        SAP_TRY(read_numbers(keys.joint_qd, row, dofs));
    /* Name. */
    SAP_TRY(sap_scene_append(builder, SAP_ROWS_KEYFRAMES, &row));
    *(SapSceneKeyframe *)row = (SapSceneKeyframe){keys.name};
    return SAP_OK;
}

SapStatus sap_scene_read_keyframes(SapSceneBuilder *builder, const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(read_keyframe(builder, &list->node->entries[i]));
    return SAP_OK;
}

/* ---- collision filters ---- */

/* The labels of shapes in alphabetical order; they need not be unique. */
typedef struct ShapeLabel {
    const char *label;
    int shape;
} ShapeLabel;

typedef struct ShapeLabels {
    ShapeLabel *sorted;
    int count;
} ShapeLabels;

static int compare_labels(const void *a, const void *b) {
    return strcmp(((const ShapeLabel *)a)->label, ((const ShapeLabel *)b)->label);
}

static SapStatus sort_labels(const SapSceneBuilder *builder, ShapeLabels *labels) {
    int shapes = sap_scene_count(builder, SAP_ROWS_SHAPES);
    labels->sorted = malloc((size_t)shapes * sizeof *labels->sorted + 1);
    if (labels->sorted == NULL)
        return sap_scene_out_of_memory(builder);
    for (int s = 0; s < shapes; s++)
        if (sap_scene_shape(builder, s)->label != NULL)
            labels->sorted[labels->count++] = (ShapeLabel){sap_scene_shape(builder, s)->label, s};
    qsort(labels->sorted, (size_t)labels->count, sizeof *labels->sorted, compare_labels);
    return SAP_OK;
}

static SapStatus read_shape_name(const ShapeLabels *labels, const SapYamlEntry *entry, int32_t *out) {
    ShapeLabel wanted = {0};
    SAP_TRY(sap_scene_text(entry, &wanted.label));
    const ShapeLabel *end = labels->sorted + labels->count;
    const ShapeLabel *found =
        labels->count > 0 ? bsearch(&wanted, labels->sorted, (size_t)labels->count, sizeof wanted, compare_labels)
                          : NULL;
    if (found == NULL)
        return sap_scene_refuse(entry, "the label of a shape");
    bool before = found > labels->sorted && compare_labels(found - 1, found) == 0;
    bool after = found + 1 < end && compare_labels(found, found + 1) == 0;
    if (before || after)
        return sap_scene_refuse(entry, "a label that only one shape has");
    *out = found->shape;
    return SAP_OK;
}

static SapStatus expect_two(const SapYamlEntry *entry, const char *what) {
    return entry->node->kind == SAP_YAML_LIST && entry->node->count == 2 ? SAP_OK : sap_scene_refuse(entry, what);
}

static SapStatus read_filter(SapSceneBuilder *builder, const ShapeLabels *labels, const SapYamlEntry *entry) {
    typedef struct Keys {
        const SapYamlEntry *bodies, *shapes;
    } Keys;
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("bodies", ENTRY, Keys, bodies),
        SAP_SCENE_FIELD("shapes", ENTRY, Keys, shapes),
    };
    /* Keys: exactly one of bodies and shapes. */
    Keys keys = {0};
    void *row;
    if (entry->node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(entry, "a map of bodies or shapes");
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &keys), 1));
    if ((keys.bodies == NULL) == (keys.shapes == NULL))
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "one of the keys 'bodies' and 'shapes' is needed, and not both");
    /* The two members. */
    SapScenePair pair;
    const SapYamlEntry *two = keys.bodies != NULL ? keys.bodies : keys.shapes;
    SAP_TRY(expect_two(two, keys.bodies != NULL ? "a list of 2 bodies" : "a list of 2 shapes"));
    for (int i = 0; i < 2; i++) {
        const SapYamlEntry *member = &two->node->entries[i];
        int body;
        if (keys.shapes != NULL) {
            SAP_TRY(read_shape_name(labels, member, &pair.members[i]));
            continue;
        }
        SAP_TRY(sap_scene_read_body_name(builder, member, false, &body));
        pair.members[i] = body;
    }
    /* Append the pair. */
    SAP_TRY(sap_scene_append(builder, keys.bodies != NULL ? SAP_ROWS_FILTER_PAIRS : SAP_ROWS_SHAPE_FILTER_PAIRS, &row));
    *(SapScenePair *)row = pair;
    return SAP_OK;
}

static SapStatus read_filters(SapSceneBuilder *builder, const ShapeLabels *labels, const SapYamlEntry *list) {
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(read_filter(builder, labels, &list->node->entries[i]));
    return SAP_OK;
}

SapStatus sap_scene_read_collision_filters(SapSceneBuilder *builder, const SapYamlEntry *list) {
    ShapeLabels labels = {0};
    SAP_TRY(sap_scene_expect_list(list));
    SAP_TRY(sort_labels(builder, &labels));
    SapStatus status = read_filters(builder, &labels, list);
    free(labels.sorted);
    return status;
}
