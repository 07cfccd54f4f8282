/* Selectors of operations: by index, by joint, or all. */
#include "host/scene/selectors.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/number_text.h"

static const SapSceneField selector_fields[] = {
    SAP_SCENE_FIELD("index", ENTRY, SapSceneSelector, index),
    SAP_SCENE_FIELD("range", ENTRY, SapSceneSelector, range),
    SAP_SCENE_FIELD("joint", ENTRY, SapSceneSelector, joint),
    SAP_SCENE_FIELD("joint_label", ENTRY, SapSceneSelector, joint),
    SAP_SCENE_FIELD("joints", ENTRY, SapSceneSelector, joints),
    SAP_SCENE_FIELD("joint_labels", ENTRY, SapSceneSelector, joints),
    SAP_SCENE_FIELD("label_prefix", ENTRY, SapSceneSelector, label_prefix),
    SAP_SCENE_FIELD("match", ENTRY, SapSceneSelector, match),
    SAP_SCENE_FIELD("constraint", ENTRY, SapSceneSelector, constraint),
    SAP_SCENE_FIELD("constraints", ENTRY, SapSceneSelector, constraints),
    SAP_SCENE_FIELD("tendon", ENTRY, SapSceneSelector, tendon),
    SAP_SCENE_FIELD("tendons", ENTRY, SapSceneSelector, tendons),
};

SapSceneTable sap_scene_selector_keys(SapSceneSelector *target) {
    return (SapSceneTable)SAP_SCENE_TABLE(selector_fields, target);
}

/* ---- selected rows ---- */

static SapStatus select_row(const SapSceneBuilder *builder, SapSceneSelection *selection, int row) {
    if (selection->count == selection->capacity) {
        int capacity = selection->capacity == 0 ? 64 : 2 * selection->capacity;
        int *larger = realloc(selection->rows, (size_t)capacity * sizeof *larger);
        if (larger == NULL)
            return sap_scene_out_of_memory(builder);
        selection->rows = larger;
        selection->capacity = capacity;
    }
    selection->rows[selection->count++] = row;
    return SAP_OK;
}

static SapStatus select_span(const SapSceneBuilder *builder, SapSceneSelection *selection, int start, int end) {
    for (int i = start; i < end; i++)
        SAP_TRY(select_row(builder, selection, i));
    return SAP_OK;
}

/* ---- by index ---- */

SapStatus sap_scene_read_index(const SapYamlEntry *entry, int count, int limit, int *out) {
    SAP_TRY(sap_scene_integer(entry, -count, limit, out));
    if (*out < 0)
        *out += count;
    return SAP_OK;
}

/* "head:N", "tail:N" or "from:N" with 0 <= N <= count. */
static bool parse_named_range(const char *text, int count, int *start, int *end) {
    static const char *const names[] = {"head:", "tail:", "from:"};
    int n, which = 0;
    while (which < 3 && strncmp(text, names[which], strlen(names[which])) != 0)
        which++;
    if (which == 3 || !sap_text_to_int(text + strlen(names[which]), &n) || n < 0 || n > count)
        return false;
    *start = which == 0 ? 0 : which == 1 ? count - n : n;
    *end = which == 0 ? n : count;
    return true;
}

static SapStatus read_range(const SapYamlEntry *entry, int count, int *start, int *end) {
    const SapYamlNode *node = entry->node;
    *start = 0;
    *end = count;
    if (node->kind == SAP_YAML_LIST && node->count == 2) {
        SAP_TRY(sap_scene_read_index(&node->entries[0], count, count, start));
        if (!sap_yaml_is_null(node->entries[1].node))
            SAP_TRY(sap_scene_read_index(&node->entries[1], count, count, end));
    } else if (node->kind != SAP_YAML_SCALAR ||
               (strcmp(node->text, "all") != 0 && !parse_named_range(node->text, count, start, end))) {
        char quote[SAP_QUOTE_SIZE];
        return sap_yaml_fail(entry, SAP_ERROR_PARSE,
                             "%s; allowed: all, head:N, tail:N, from:N with N from 0 to %d, or [start, end]",
                             sap_yaml_describe(node, quote), count);
    }
    if (*start >= *end)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "from %d to %d there is nothing; the array has %d entries", *start,
                             *end, count);
    return SAP_OK;
}

/* ---- by joint ---- */

/* The dofs or coordinates of one joint. */
static SapStatus select_joint(const SapSceneBuilder *builder, SapSceneSelection *selection, SapModelRows rows, int j) {
    const SapSceneJoint *joint = sap_scene_joint(builder, j);
    if (rows == SAP_ROWS_COORDS)
        return select_span(builder, selection, joint->first_coord, joint->first_coord + joint->num_coords);
    return select_span(builder, selection, joint->first_dof, joint->first_dof + joint->num_dofs);
}

static SapStatus select_named(const SapSceneBuilder *builder, SapSceneSelection *selection, SapModelRows rows,
                              const SapYamlEntry *entry) {
    int joint;
    SAP_TRY(sap_scene_read_joint_name(builder, entry, &joint));
    return select_joint(builder, selection, rows, joint);
}

static SapStatus select_list(const SapSceneBuilder *builder, SapSceneSelection *selection, SapModelRows rows,
                             const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(select_named(builder, selection, rows, &list->node->entries[i]));
    return SAP_OK;
}

/* All joints whose label starts with the text (prefix) or contains it. */
static SapStatus select_matching(const SapSceneBuilder *builder, SapSceneSelection *selection, SapModelRows rows,
                                 const SapYamlEntry *entry, bool prefix) {
    const char *text;
    SAP_TRY(sap_scene_text(entry, &text));
    for (int j = 0; j < sap_scene_count(builder, SAP_ROWS_JOINTS); j++) {
        const char *label = sap_scene_joint(builder, j)->label;
        if (prefix ? strncmp(label, text, strlen(text)) == 0 : strstr(label, text) != NULL)
            SAP_TRY(select_joint(builder, selection, rows, j));
    }
    return SAP_OK;
}

/* ---- by constraint or tendon ---- */

static bool is_named_row(SapModelRows rows) {
    return rows == SAP_ROWS_CONSTRAINTS || rows == SAP_ROWS_TENDONS;
}

static SapStatus select_row_named(const SapSceneBuilder *builder, SapSceneSelection *selection, SapModelRows rows,
                                  const SapYamlEntry *entry) {
    const char *name;
    SAP_TRY(sap_scene_text(entry, &name));
    bool tendon = rows == SAP_ROWS_TENDONS;
    int row = sap_scene_find_name(tendon ? &builder->tendon_names : &builder->constraint_names, name);
    return row >= 0
               ? select_row(builder, selection, row)
               : sap_scene_refuse(entry, tendon ? "the id or label of a tendon" : "the id or label of a constraint");
}

static SapStatus select_rows_named(const SapSceneBuilder *builder, SapSceneSelection *selection, SapModelRows rows,
                                   const SapYamlEntry *list) {
    SAP_TRY(sap_scene_expect_list(list));
    for (int i = 0; i < list->node->count; i++)
        SAP_TRY(select_row_named(builder, selection, rows, &list->node->entries[i]));
    return SAP_OK;
}

/* All rows whose label contains the text. */
static SapStatus select_rows_matching(const SapSceneBuilder *builder, SapSceneSelection *selection, SapModelRows rows,
                                      const SapYamlEntry *entry) {
    const char *text;
    SAP_TRY(sap_scene_text(entry, &text));
    for (int i = 0; i < sap_scene_count(builder, rows); i++) {
        const char *label =
            rows == SAP_ROWS_TENDONS ? sap_scene_tendon(builder, i)->label : sap_scene_constraint(builder, i)->label;
        if (strstr(label, text) != NULL)
            SAP_TRY(select_row(builder, selection, i));
    }
    return SAP_OK;
}

/* ---- by the given selector ---- */

/* The given selector, or NULL; more than one is an error. */
static SapStatus only_selector(const SapSceneSelector *selector, const SapYamlEntry **out) {
    const SapYamlEntry *const given[] = {
        selector->index, selector->range,      selector->joint,       selector->joints, selector->label_prefix,
        selector->match, selector->constraint, selector->constraints, selector->tendon, selector->tendons};
    *out = NULL;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (given[i] != NULL && *out != NULL)
            return sap_yaml_fail(given[i], SAP_ERROR_PARSE, "a second selector; '%s' is given already", (*out)->key);
        if (given[i] != NULL)
            *out = given[i];
    }
    return SAP_OK;
}

static SapStatus select_by(const SapSceneBuilder *builder, const SapSceneSelector *selector, SapModelRows rows,
                           SapSceneSelection *selection) {
    int count = sap_scene_count(builder, rows), start, end;
    if (selector->index != NULL) {
        SAP_TRY(sap_scene_read_index(selector->index, count, count - 1, &start));
        return select_row(builder, selection, start);
    }
    if (selector->range != NULL) {
        SAP_TRY(read_range(selector->range, count, &start, &end));
        return select_span(builder, selection, start, end);
    }
    if (selector->constraint != NULL || selector->tendon != NULL)
        return select_row_named(builder, selection, rows,
                                selector->tendon != NULL ? selector->tendon : selector->constraint);
    if (selector->constraints != NULL || selector->tendons != NULL)
        return select_rows_named(builder, selection, rows,
                                 selector->tendons != NULL ? selector->tendons : selector->constraints);
    if (selector->match != NULL && is_named_row(rows))
        return select_rows_matching(builder, selection, rows, selector->match);
    if (selector->joint != NULL)
        return select_named(builder, selection, rows, selector->joint);
    if (selector->joints != NULL)
        return select_list(builder, selection, rows, selector->joints);
    if (selector->label_prefix != NULL)
        return select_matching(builder, selection, rows, selector->label_prefix, true);
    if (selector->match != NULL)
        return select_matching(builder, selection, rows, selector->match, false);
    return select_span(builder, selection, 0, count);
}

/* Selectors by name fit only arrays of the things that they name. */
static SapStatus check_selector(const SapSceneSelector *s, SapModelRows rows, const SapYamlEntry *given) {
    bool by_constraint = given != NULL && (given == s->constraint || given == s->constraints);
    bool by_tendon = given != NULL && (given == s->tendon || given == s->tendons);
    bool by_joint = given != NULL && (given == s->joint || given == s->joints || given == s->label_prefix);
    if (given == NULL || given == s->index || given == s->range)
        return SAP_OK;
    switch (rows) {
    case SAP_ROWS_SHAPES:
        return sap_yaml_fail(given, SAP_ERROR_PARSE, "the array has one entry per shape; allowed: index, range");
    case SAP_ROWS_CONSTRAINTS:
        return !by_tendon && !by_joint ? SAP_OK
                                       : sap_yaml_fail(given, SAP_ERROR_PARSE,
                                                       "the array has one entry per constraint; allowed: constraint, "
                                                       "constraints, index, range, match");
    case SAP_ROWS_TENDONS:
        return !by_constraint && !by_joint ? SAP_OK
                                           : sap_yaml_fail(given, SAP_ERROR_PARSE,
                                                           "the array has one entry per tendon; allowed: tendon, "
                                                           "tendons, index, range, match");
    default:
        return !by_constraint && !by_tendon
                   ? SAP_OK
                   : sap_yaml_fail(given, SAP_ERROR_PARSE, "the array has no entries of constraints or tendons");
    }
}

SapStatus sap_scene_select(const SapSceneBuilder *builder, const SapSceneSelector *selector, SapModelRows rows,
                           const SapYamlEntry *op, SapSceneSelection *selection) {
    const SapYamlEntry *given;
    char quote[SAP_QUOTE_SIZE];
    SAP_TRY(only_selector(selector, &given));
    SAP_TRY(check_selector(selector, rows, given));
    SAP_TRY(select_by(builder, selector, rows, selection));
    if (selection->count == 0)
        return sap_yaml_fail(given != NULL ? given : op, SAP_ERROR_PARSE, "%s selects nothing",
                             given != NULL ? sap_yaml_describe(given->node, quote) : "the operation");
    return SAP_OK;
}
