/* Reading the values and maps of a scene file; see fields.h. */
#include "host/scene/fields.h"

#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "host/base/expression.h"
#include "host/base/fail.h"
#include "host/base/unit_vector.h"
#include "host/base/keyword.h"
#include "host/base/nearest.h"

/* ---- scalars ---- */

SapStatus sap_scene_refuse(const SapYamlEntry *entry, const char *allowed) {
    char quote[SAP_QUOTE_SIZE];
    SapHint hint = entry->node->kind == SAP_YAML_SCALAR ? sap_hint(entry->node->text, allowed) : (SapHint){""};
    return sap_yaml_fail(entry, SAP_ERROR_PARSE, "%s%s; allowed: %s", sap_yaml_describe(entry->node, quote), hint.text,
                         allowed);
}

/* A range of plain numbers in words. */
static const char *range_text(SapRange range) {
    switch (range) {
    case SAP_RANGE_NON_NEGATIVE: return "a finite number >= 0";
    case SAP_RANGE_POSITIVE: return "a finite number > 0";
    case SAP_RANGE_LENGTH: return "a finite number, at most 1e15 in absolute value";
    case SAP_RANGE_LENGTH_FROM_0: return "a finite number >= 0, at most 1e15";
    case SAP_RANGE_GAIN: return "0, or a finite number >= 1e-20";
    case SAP_RANGE_POSITIVE_OR_INF: return "a number > 0, or inf";
    case SAP_RANGE_FINITE_OR_NEG_INF: return "a finite number or -inf";
    case SAP_RANGE_FINITE_OR_INF: return "a finite number or inf";
    default: return "a finite number";
    }
}

SapStatus sap_scene_number(const SapYamlEntry *entry, SapRange range, double *out) {
    SapExpressionError error;
    char quote[SAP_QUOTE_SIZE];
    double value;
    if (entry->node->kind != SAP_YAML_SCALAR || sap_yaml_is_null(entry->node))
        return sap_scene_refuse(entry, range_text(range));
    if (!sap_expression_evaluate(entry->node->text, &value, &error))
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "%s, column %d: %s; allowed: %s",
                             sap_quote(entry->node->text, quote), error.column, error.what, range_text(range));
    if (!sap_range_holds(range, value))
        return sap_scene_refuse(entry, range_text(range));
    *out = value;
    return SAP_OK;
}

SapStatus sap_scene_integer(const SapYamlEntry *entry, int low, int high, int *out) {
    char allowed[64], quote[SAP_QUOTE_SIZE];
    double value;
    SAP_TRY(sap_scene_number(entry, SAP_RANGE_FINITE, &value));
    if (value == floor(value) && value >= low && value <= high) {
        *out = (int)value;
        return SAP_OK;
    }
    snprintf(allowed, sizeof allowed, "a whole number from %d to %d", low, high);
    return sap_yaml_fail(entry, SAP_ERROR_PARSE, "%s; allowed: %s", sap_quote(entry->node->text, quote), allowed);
}

SapStatus sap_scene_flag(const SapYamlEntry *entry, bool *out) {
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    const SapYamlNode *node = entry->node;
    for (size_t i = 0; node->kind == SAP_YAML_SCALAR && node->plain && i < sizeof words / sizeof *words; i++)
        if (strcasecmp(node->text, words[i]) == 0) {
            *out = i % 2 == 1;
            return SAP_OK;
        }
    return sap_scene_refuse(entry, "true or false");
}

SapStatus sap_scene_text(const SapYamlEntry *entry, const char **out) {
    if (entry->node->kind != SAP_YAML_SCALAR || entry->node->text[0] == '\0' || sap_yaml_is_null(entry->node))
        return sap_scene_refuse(entry, "a text");
    *out = entry->node->text;
    return SAP_OK;
}

SapStatus sap_scene_mode(const SapYamlEntry *entry, int32_t *out) {
    static const char *const names[] = {
        [SAP_TARGET_NONE] = "none",         [SAP_TARGET_POSITION] = "position",
        [SAP_TARGET_VELOCITY] = "velocity", [SAP_TARGET_POSITION_VELOCITY] = "position_velocity",
        [SAP_TARGET_EFFORT] = "effort",
    };
    const int count = (int)(sizeof names / sizeof *names);
    const SapYamlNode *node = entry->node;
    for (int i = 0; node->kind == SAP_YAML_SCALAR && i < count; i++)
        if (strcasecmp(node->text, names[i]) == 0 || (node->text[0] == '0' + i && node->text[1] == '\0')) {
            *out = i;
            return SAP_OK;
        }
    return sap_scene_refuse(entry, "none (0), position (1), velocity (2), position_velocity (3), effort (4)");
}

/* ---- lists of numbers ---- */

SapStatus sap_scene_expect_list(const SapYamlEntry *entry) {
    if (entry->node->kind == SAP_YAML_LIST || sap_yaml_is_null(entry->node))
        return SAP_OK;
    return sap_scene_refuse(entry, "a list");
}

SapStatus sap_scene_numbers(const SapYamlEntry *entry, int count, double *out) {
    char allowed[64];
    snprintf(allowed, sizeof allowed, "a list of %d numbers", count);
    if (entry->node->kind != SAP_YAML_LIST)
        return sap_scene_refuse(entry, allowed);
    if (entry->node->count != count)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "a list of %d; allowed: %s", entry->node->count, allowed);
    for (int i = 0; i < count; i++)
        SAP_TRY(sap_scene_number(&entry->node->entries[i], SAP_RANGE_FINITE, &out[i]));
    return SAP_OK;
}

SapStatus sap_scene_gravity(const SapYamlEntry *entry, double out[3]) {
    if (entry->node->kind == SAP_YAML_LIST)
        return sap_scene_numbers(entry, 3, out);
    double along_z;
    SAP_TRY(sap_scene_number(entry, SAP_RANGE_FINITE, &along_z));
    out[0] = out[1] = 0;
    out[2] = along_z;
    return SAP_OK;
}

/* ---- directions and poses ---- */

/* x, y, z, 0, 1 or 2, with an optional sign before a letter. */
static bool axis_token(const SapYamlNode *node, double out[3]) {
    if (node->kind != SAP_YAML_SCALAR)
        return false;
    const char *text = node->text;
    double sign = text[0] == '-' ? -1 : 1;
    bool has_sign = text[0] == '-' || text[0] == '+';
    text += has_sign;
    if (text[0] == '\0' || text[1] != '\0')
        return false;
    int letter = tolower((unsigned char)text[0]);
    int axis = letter >= 'x' && letter <= 'z' ? letter - 'x' : -1;
    if (!has_sign && letter >= '0' && letter <= '2')
        axis = letter - '0';
    if (axis < 0)
        return false;
    for (int i = 0; i < 3; i++)
        out[i] = i == axis ? sign : 0;
    return true;
}

/* A nonzero vector, not normalised. */
static SapStatus read_direction(const SapYamlEntry *entry, double out[3]) {
    if (axis_token(entry->node, out))
        return SAP_OK;
    if (entry->node->kind != SAP_YAML_LIST)
        return sap_scene_refuse(entry, "x, y, z (with a sign or not), 0, 1, 2, or a list of 3 numbers");
    SAP_TRY(sap_scene_numbers(entry, 3, out));
    if (out[0] == 0 && out[1] == 0 && out[2] == 0)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "the zero vector has no direction");
    return SAP_OK;
}

/* A vector that is unit to rounding is left unchanged, so that a scene written from a model gives an identical model.
 * */
static bool is_unit_to_rounding(const double *v, int n) {
    return sap_has_length_one(v, n, 4 * DBL_EPSILON);
}

/* Scales first, so that the squares of very large or small numbers stay in range. */
static void normalise(double *v, int n) {
    if (is_unit_to_rounding(v, n))
        return;
    double largest = 0, length = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(v[i]));
    for (int i = 0; i < n; i++) {
        v[i] /= largest;
        length += v[i] * v[i];
    }
    for (int i = 0; i < n; i++)
        v[i] /= sqrt(length);
}

SapStatus sap_scene_axis(const SapYamlEntry *entry, double out[3]) {
    double v[3];
    SAP_TRY(read_direction(entry, v));
    normalise(v, 3);
    memcpy(out, v, sizeof v);
    return SAP_OK;
}

static bool is_identity(const SapYamlNode *node) {
    return node->kind == SAP_YAML_SCALAR && strcasecmp(node->text, "identity") == 0;
}

typedef struct AxisAngle {
    const SapYamlEntry *axis;
    double angle;
} AxisAngle;

/* An axis that is not of unit length changes the length of the quaternion [axis sin(angle/2), cos(angle/2)]; the
 * quaternion is normalised, not the axis. SAP Warp does the same, so its scenes start from the same pose here. */
static SapStatus read_axis_angle(const SapYamlEntry *entry, double q[4]) {
    static const SapSceneField fields[] = {
        SAP_SCENE_REQUIRED("axis", ENTRY, AxisAngle, axis),
        SAP_SCENE_REQUIRED("angle", NUMBER, AxisAngle, angle),
    };
    AxisAngle turn;
    double axis[3];
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &turn), 1));
    SAP_TRY(read_direction(turn.axis, axis));
    for (int i = 0; i < 3; i++)
        q[i] = axis[i] * sin(0.5 * turn.angle);
    q[3] = cos(0.5 * turn.angle);
    normalise(q, 4);
    return SAP_OK;
}

static SapStatus read_unit_quaternion(const SapYamlEntry *entry, double q[4]) {
    double v[4];
    SAP_TRY(sap_scene_numbers(entry, 4, v));
    double length = sap_length_of(v, 4);
    if (!sap_has_length_one(v, 4, SAP_UNIT_TOLERANCE))
        return sap_yaml_fail(entry, SAP_ERROR_PARSE,
                             "[%g, %g, %g, %g] has length %.9g; allowed: a unit quaternion x, y, z, w to %g", v[0],
                             v[1], v[2], v[3], length, SAP_UNIT_TOLERANCE);
    for (int i = 0; i < 4; i++)
        q[i] = is_unit_to_rounding(v, 4) ? v[i] : v[i] / length;
    return SAP_OK;
}

static SapStatus read_quaternion(const SapYamlEntry *entry, double q[4]) {
    static const SapSceneField fields[] = {{"axis_angle", SAP_SCENE_ENTRY, 0, SAP_RANGE_FINITE, true}};
    const SapYamlEntry *axis_angle = NULL;
    static const double identity[4] = {0, 0, 0, 1};
    if (is_identity(entry->node)) {
        memcpy(q, identity, sizeof identity);
        return SAP_OK;
    }
    if (entry->node->kind == SAP_YAML_LIST)
        return read_unit_quaternion(entry, q);
    if (entry->node->kind != SAP_YAML_MAP)
        return sap_scene_refuse(entry, "identity, a list of x, y, z, w, or a map with axis_angle");
    SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &axis_angle), 1));
    return read_axis_angle(axis_angle, q);
}

SapStatus sap_scene_pose(const SapYamlEntry *entry, double out[7]) {
    typedef struct Pose {
        double p[3];
        const SapYamlEntry *q;
    } Pose;
    static const SapSceneField fields[] = {
        SAP_SCENE_FIELD("p", VECTOR, Pose, p),
        SAP_SCENE_FIELD("q", ENTRY, Pose, q),
    };
    Pose pose = {.q = NULL};
    double q[4] = {0, 0, 0, 1};
    if (!is_identity(entry->node)) {
        if (entry->node->kind != SAP_YAML_MAP)
            return sap_scene_refuse(entry, "identity, or a map of p and q");
        SAP_TRY(sap_scene_read(entry, &(SapSceneTable)SAP_SCENE_TABLE(fields, &pose), 1));
        if (pose.q != NULL)
            SAP_TRY(read_quaternion(pose.q, q));
    }
    memcpy(out, pose.p, sizeof pose.p);
    memcpy(out + 3, q, sizeof q);
    return SAP_OK;
}

/* ---- known keys that are not supported ---- */

static SapStatus unsupported(const SapYamlEntry *entry, const char *what) {
    return sap_yaml_fail(entry, SAP_ERROR_UNSUPPORTED, "%s", what);
}

static SapStatus expect_nothing(const SapYamlEntry *entry) {
    if (sap_yaml_is_null(entry->node) || (entry->node->kind != SAP_YAML_SCALAR && entry->node->count == 0))
        return SAP_OK;
    return unsupported(entry, "not supported in this version");
}

static SapStatus expect_false(const SapYamlEntry *entry) {
    bool flag = false; /* initialised for gcc, which warns although it is always set */
    SAP_TRY(sap_scene_flag(entry, &flag));
    return flag ? unsupported(entry, "true is not supported in this version; allowed: false") : SAP_OK;
}

static SapStatus expect_zero(const SapYamlEntry *entry) {
    double value;
    SAP_TRY(sap_scene_number(entry, SAP_RANGE_FINITE, &value));
    return value != 0 ? unsupported(entry, "only 0 is supported in this version") : SAP_OK;
}

/* Velocity limits are not supported. 1e6 is the default of the format, and is written by tools that export every field.
 * */
static SapStatus expect_no_velocity_limit(const SapYamlEntry *entry) {
    double value;
    SAP_TRY(sap_scene_number(entry, SAP_RANGE_POSITIVE_OR_INF, &value));
    return value < 1e6
               ? unsupported(entry, "velocities cannot be limited in this version; allowed: 1e6 and more, or inf")
               : SAP_OK;
}

/* ---- maps ---- */

static SapStatus read_value(const SapYamlEntry *entry, const SapSceneField *field, void *target) {
    switch (field->kind) {
    case SAP_SCENE_NUMBER: return sap_scene_number(entry, field->range, target);
    case SAP_SCENE_INTEGER: return sap_scene_integer(entry, INT32_MIN, INT32_MAX, target);
    case SAP_SCENE_FLAG: return sap_scene_flag(entry, target);
    case SAP_SCENE_TEXT: return sap_scene_text(entry, target);
    case SAP_SCENE_VECTOR: return sap_scene_numbers(entry, 3, target);
    case SAP_SCENE_POSE: return sap_scene_pose(entry, target);
    case SAP_SCENE_AXIS: return sap_scene_axis(entry, target);
    case SAP_SCENE_MODE: return sap_scene_mode(entry, target);
    case SAP_SCENE_ENTRY: memcpy(target, &entry, sizeof entry); return SAP_OK;
    case SAP_SCENE_UNSUPPORTED: return expect_nothing(entry);
    case SAP_SCENE_UNSUPPORTED_FLAG: return expect_false(entry);
    case SAP_SCENE_UNSUPPORTED_NUMBER: return expect_zero(entry);
    case SAP_SCENE_UNSUPPORTED_VELOCITY: return expect_no_velocity_limit(entry);
    case SAP_SCENE_WITHOUT_EFFECT: return sap_scene_flag(entry, &(bool){false});
    case SAP_SCENE_ELSEWHERE: return SAP_OK;
    }
    return SAP_OK;
}

static bool has_target(const SapSceneField *field) {
    return field->kind <= SAP_SCENE_ENTRY;
}

static int find_field(const SapSceneTable *table, const char *key) {
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->fields[i].key, key) == 0)
            return i;
    return -1;
}

static SapStatus unknown_key(const SapYamlEntry *entry, const SapSceneTable *tables, int num_tables) {
    char quote[SAP_QUOTE_SIZE];
    SapList allowed = {.length = 0};
    for (int t = 0; t < num_tables; t++)
        for (int i = 0; i < tables[t].count; i++)
            sap_list_add(&allowed, tables[t].fields[i].key);
    return sap_fail_at(sap_yaml_name(entry->node->tree), entry->line, SAP_ERROR_PARSE, "unknown key %s%s; allowed: %s",
                       sap_quote(entry->key, quote), sap_hint(entry->key, allowed.text).text, allowed.text);
}

/* A row that was read before and has the same target as row i, or -1. */
static int same_target(const SapSceneTable *table, uint64_t seen, int i) {
    for (int k = 0; k < table->count && has_target(&table->fields[i]); k++)
        if (k != i && (seen >> k & 1) && has_target(&table->fields[k]) &&
            table->fields[k].offset == table->fields[i].offset)
            return k;
    return -1;
}

static SapStatus read_key(const SapYamlEntry *entry, const SapSceneTable *table, int i, uint64_t *seen) {
    int other = same_target(table, *seen, i);
    if (other >= 0)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "given a second time; '%s' means the same",
                             table->fields[other].key);
    *seen |= (uint64_t)1 << i;
    const SapSceneField *field = &table->fields[i];
    return read_value(entry, field, has_target(field) ? (char *)table->target + field->offset : NULL);
}

static SapStatus check_required(const SapYamlEntry *map, const SapSceneTable *table, uint64_t seen) {
    for (int i = 0; i < table->count; i++)
        if (table->fields[i].required && !(seen >> i & 1))
            return sap_yaml_fail(map, SAP_ERROR_PARSE, "the key '%s' is missing", table->fields[i].key);
    return SAP_OK;
}

SapStatus sap_scene_read(const SapYamlEntry *map, const SapSceneTable *tables, int num_tables) {
    enum { MAX_TABLES = 4 };
    uint64_t seen[MAX_TABLES] = {0};
    const SapYamlNode *node = map->node;
    if (node->kind != SAP_YAML_MAP && !sap_yaml_is_null(node))
        return sap_scene_refuse(map, "a map");
    for (int e = 0; e < node->count; e++) {
        const SapYamlEntry *entry = &node->entries[e];
        int t = 0, i = -1;
        while (t < num_tables && (i = find_field(&tables[t], entry->key)) < 0)
            t++;
        if (t == num_tables)
            return unknown_key(entry, tables, num_tables);
        SAP_TRY(read_key(entry, &tables[t], i, &seen[t]));
    }
    for (int t = 0; t < num_tables; t++)
        SAP_TRY(check_required(map, &tables[t], seen[t]));
    return SAP_OK;
}
