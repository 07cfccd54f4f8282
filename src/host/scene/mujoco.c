/* The section `mujoco`: the parameters of MuJoCo's law, by the names that they have in SapMujocoParameters. An array is a
 * flat list of all its numbers. */
#include "host/scene/mujoco.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/mujoco/parameters.h"
#include "host/scene/builder.h"
#include "host/scene/fields.h"

enum { MAX_ARRAYS = 64 };

/* The keys of the section. */
typedef struct Keys {
    SapMujocoParameters parameters;
    bool refsafe, eulerdamp, warmstart, rows_of_worlds;
    const SapYamlEntry *cone, *integrator, *array[MAX_ARRAYS];
} Keys;

static const SapSceneField fields[] = {
    SAP_SCENE_FIELD("cone", ENTRY, Keys, cone),
    SAP_SCENE_FIELD("integrator", ENTRY, Keys, integrator),
    SAP_SCENE_FIELD("refsafe", FLAG, Keys, refsafe),
    SAP_SCENE_FIELD("eulerdamp", FLAG, Keys, eulerdamp),
    SAP_SCENE_FIELD("warmstart", FLAG, Keys, warmstart),
    SAP_SCENE_FIELD("rows_of_worlds", FLAG, Keys, rows_of_worlds),
    SAP_SCENE_FIELD("impratio", NUMBER, Keys, parameters.impratio),
    SAP_SCENE_FIELD("tolerance", NUMBER, Keys, parameters.tolerance),
    SAP_SCENE_FIELD("ls_tolerance", NUMBER, Keys, parameters.ls_tolerance),
    SAP_SCENE_FIELD("iterations", INTEGER, Keys, parameters.iterations),
    SAP_SCENE_FIELD("ls_iterations", INTEGER, Keys, parameters.ls_iterations),
    SAP_SCENE_FIELD("max_condim", INTEGER, Keys, parameters.max_condim),
    SAP_SCENE_FIELD("num_pairs", INTEGER, Keys, parameters.num_pairs),
    SAP_SCENE_FIELD("num_actuators", INTEGER, Keys, parameters.num_actuators),
    SAP_SCENE_FIELD("num_actuator_terms", INTEGER, Keys, parameters.num_actuator_terms),
};

/* Reads the keys, with a table of the arrays made of their names. */
static SapStatus read_keys(const SapYamlEntry *entry, const SapModelArrays *model, Keys *keys) {
    SapSceneField arrays[MAX_ARRAYS];
    SapMujocoArray array;
    int count = 0;
    for (; count < MAX_ARRAYS && sap_mujoco_array(model, &keys->parameters, count, &array); count++)
        arrays[count] = (SapSceneField){.key = array.name,
                                        .kind = SAP_SCENE_ENTRY,
                                        .offset = offsetof(Keys, array) + (size_t)count * sizeof keys->array[0]};
    const SapSceneTable tables[] = {SAP_SCENE_TABLE(fields, keys), {arrays, count, keys}};
    return sap_scene_read(entry, tables, 2);
}

/* One of some words, as the number of the same index. */
static SapStatus read_word(const SapYamlEntry *entry, const char *const *words, int count, const char *allowed,
                           int *out) {
    const char *text;
    SAP_TRY(sap_scene_text(entry, &text));
    for (int i = 0; i < count; i++)
        if (words[i] != NULL && strcmp(text, words[i]) == 0) {
            *out = i;
            return SAP_OK;
        }
    return sap_scene_refuse(entry, allowed);
}

static SapStatus read_words(Keys *keys) {
    static const char *const cones[] = {[SAP_CONE_PYRAMIDAL] = "pyramidal", [SAP_CONE_ELLIPTIC] = "elliptic"};
    static const char *const integrators[] = {[SAP_INTEGRATOR_EULER] = "Euler",
                                              [SAP_INTEGRATOR_RK4] = "RK4",
                                              [SAP_INTEGRATOR_IMPLICITFAST] = "implicitfast",
                                              [SAP_INTEGRATOR_DISCRETE] = "discrete"};
    int cone = (int)keys->parameters.cone, integrator = (int)keys->parameters.integrator;
    if (keys->cone != NULL)
        SAP_TRY(read_word(keys->cone, cones, 2, "pyramidal, elliptic", &cone));
    if (keys->integrator != NULL)
        SAP_TRY(read_word(keys->integrator, integrators, 5, "Euler, RK4, implicitfast, discrete", &integrator));
    keys->parameters.cone = (SapMujocoCone)cone;
    keys->parameters.integrator = (SapMujocoIntegrator)integrator;
    keys->parameters.refsafe = keys->refsafe;
    keys->parameters.eulerdamp = keys->eulerdamp;
    keys->parameters.warmstart = keys->warmstart;
    keys->parameters.rows_of_worlds = keys->rows_of_worlds;
    return SAP_OK;
}

/* ---- arrays ---- */

/* A number, or an infinity; the parameters check which of them may be infinite. */
static SapStatus read_number(const SapYamlEntry *entry, double *out) {
    bool negative = entry->node->kind == SAP_YAML_SCALAR && entry->node->text[0] == '-';
    return sap_scene_number(entry, negative ? SAP_RANGE_FINITE_OR_NEG_INF : SAP_RANGE_FINITE_OR_INF, out);
}

static SapStatus read_array(const SapYamlEntry *entry, const SapMujocoArray *array, SapMujocoParameters *parameters) {
    const SapYamlNode *node = entry->node;
    SAP_TRY(sap_scene_expect_list(entry));
    if (node->count != array->count)
        return sap_yaml_fail(entry, SAP_ERROR_PARSE, "a list of %d; allowed: a list of %d numbers", node->count,
                             array->count);
    void *data = sap_allocate((size_t)array->count + 1, sizeof(double), "numbers of MuJoCo's law");
    memcpy((char *)parameters + array->offset, &data, sizeof data);
    if (data == NULL)
        return SAP_ERROR_MEMORY;
    for (int i = 0; i < node->count; i++)
        SAP_TRY(array->whole ? sap_scene_integer(&node->entries[i], INT32_MIN, INT32_MAX, (int32_t *)data + i)
                             : read_number(&node->entries[i], (double *)data + i));
    return SAP_OK;
}

static SapStatus read_arrays(const SapModelArrays *model, Keys *keys) {
    SapMujocoArray array;
    for (int i = 0; i < MAX_ARRAYS && sap_mujoco_array(model, &keys->parameters, i, &array); i++)
        if (keys->array[i] != NULL)
            SAP_TRY(read_array(keys->array[i], &array, &keys->parameters));
    return SAP_OK;
}

static void free_arrays(const SapModelArrays *model, SapMujocoParameters *parameters) {
    SapMujocoArray array;
    for (int i = 0; sap_mujoco_array(model, parameters, i, &array); i++) {
        void *data;
        memcpy(&data, (char *)parameters + array.offset, sizeof data);
        free(data);
    }
}

SapStatus sap_scene_read_mujoco(const SapYamlEntry *entry, SapModel *model) {
    Keys keys = {.cone = NULL};
    const SapModelArrays *arrays = sap_model_arrays(model);
    sap_mujoco_arrays_default(&keys.parameters);
    keys.refsafe = keys.parameters.refsafe;
    keys.eulerdamp = keys.parameters.eulerdamp;
    keys.warmstart = keys.parameters.warmstart;
    keys.rows_of_worlds = keys.parameters.rows_of_worlds;
    SAP_TRY(read_keys(entry, arrays, &keys));
    SAP_TRY(read_words(&keys));
    SAP_TRY(sap_mujoco_check_counts(&keys.parameters));
    SapStatus status = read_arrays(arrays, &keys);
    if (status == SAP_OK) {
        status = sap_mujoco_give(model, &keys.parameters);
        if (status != SAP_OK) {
            char message[512];
            snprintf(message, sizeof message, "%s", sap_error_message());
            sap_yaml_fail(entry, status, "%s", message);
        }
    }
    free_arrays(arrays, &keys.parameters);
    return status;
}
