#include "host/plan/per_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/model/check.h"
#include "host/model/label.h"
#include "host/model/shape_types.h"
#include "host/plan/parameters.h"
#include "host/plan/step_args.h"

void sap_per_world_init(SapPerWorld *e, const SapModel *model, const SapPlan *plan, const SapOptions *options,
                        int num_worlds) {
    const SapModelArrays *m = sap_model_arrays(model);
    const SapFormulation *formulation = sap_formulation_of(options);
    *e = (SapPerWorld){.model = m,
                       .formulation = formulation,
                       .numbers = {.arrays = *m},
                       .plan = plan,
                       .options = options,
                       .num_worlds = num_worlds};
    if (formulation->parameters)
        e->numbers.mujoco = *formulation->parameters(model);
}

void sap_per_world_free(SapPerWorld *e) {
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        free(e->parameter[p].given);
        free(e->parameter[p].seen);
        free(e->parameter[p].constants[0]);
        free(e->parameter[p].constants[1]);
    }
    for (int g = 0; g < SAP_MOST_GROUPS; g++) {
        free(e->group[g].rows[0]);
        free(e->group[g].rows[1]);
    }
    free(e->fallback[0]);
    free(e->fallback[1]);
    free(e->bad);
    free(e->changed);
    *e = (SapPerWorld){0};
}

/* ---- one world ---- */

static void *row_of(void *array, const SapPerWorldParameter *x, int w) {
    return (char *)array + (size_t)w * x->row;
}

static void *constants_of(const SapPerWorldParameter *x, int f64, int w) {
    return (char *)x->constants[f64] + (size_t)w * (size_t)x->width * sap_real_bytes(f64);
}

static bool has_changed(const SapPerWorldParameter *x, int w) {
    return memcmp(row_of(x->given, x, w), row_of(x->seen, x, w), x->row) != 0;
}

SapNumbers sap_per_world_numbers(const SapPerWorld *e, int w) {
    SapNumbers numbers = e->numbers;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        if (e->parameter[p].seen)
            sap_parameter_set(&numbers, p, row_of(e->parameter[p].seen, &e->parameter[p], w));
    return numbers;
}

/* Worlds choose grids of height fields; other shapes keep what the model has. */
static SapStatus check_grids(const SapModelArrays *model, const SapModelArrays *m) {
    for (int s = 0; s < m->num_shapes; s++) {
        int chosen = m->shape_mesh[s], own = model->shape_mesh[s];
        SapGrids allowed = {own, own + 1};
        if (chosen != own && sap_shape_data(m->shape_type[s]) == SAP_SHAPE_DATA_GRID)
            allowed = sap_height_field_choices(model, s);
        if (chosen < allowed.first || chosen >= allowed.end)
            return sap_fail(SAP_ERROR_MODEL, "shape_mesh[%d] of %s is %d; a world can choose %d .. %d", s,
                            sap_shape_label(m, s).text, chosen, allowed.first, allowed.end - 1);
    }
    return SAP_OK;
}

/* Parameters of a world. */
typedef struct Set {
    bool has[SAP_NUM_PARAMETERS];
} Set;

static Set all_given(const SapPerWorld *e) {
    Set all;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        all.has[p] = e->parameter[p].given;
    return all;
}

/* Checks the rules of parameters. */
static SapStatus check_rules(const SapPerWorld *e, const SapNumbers *numbers, const Set *which) {
    const SapFormulation *f = e->formulation;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        if (!which->has[p])
            continue;
        if (p < SAP_NUM_MODEL_PARAMETERS)
            SAP_TRY(sap_model_check_parameter(&numbers->arrays, p));
        if (f->check_numbers)
            SAP_TRY(f->check_numbers(numbers, e->plan, p));
    }
    return which->has[SAP_PARAMETER_SHAPE_MESH] ? check_grids(e->model, &numbers->arrays) : SAP_OK;
}

static void convert_row(SapPerWorld *e, const SapNumbers *numbers, SapParameter p, int w) {
    const SapPerWorldParameter *x = &e->parameter[p];
    for (int f64 = 0; f64 < 2 && sap_parameter_has_constant(p); f64++)
        sap_parameter_put(numbers, e->plan, p, f64, constants_of(x, f64, w));
    if (p == SAP_PARAMETER_SHAPE_MATERIAL_MU)
        e->fallback[0][w] = sap_fallback_mu(&numbers->arrays, e->options);
    if (p == SAP_PARAMETER_SHAPE_MATERIAL_TAU)
        e->fallback[1][w] = sap_fallback_tau(&numbers->arrays, e->options);
}

int sap_per_world_group_width(const SapPerWorld *e, int group) {
    return e->formulation->group_width(&e->numbers, e->plan, group);
}

unsigned sap_per_world_groups(const SapPerWorld *e, SapParameter p) {
    unsigned all = e->formulation->groups_of ? e->formulation->groups_of(p) : 0, some = 0;
    for (int g = 0; all >> g; g++)
        if ((all >> g & 1) && sap_per_world_group_width(e, g) > 0)
            some |= 1u << g;
    return some;
}

static void fill_group(SapPerWorld *e, const SapNumbers *numbers, int group, int w) {
    const SapPerWorldGroup *x = &e->group[group];
    for (int f64 = 0; f64 < 2; f64++)
        e->formulation->fill_group(numbers, e->plan, group, f64,
                                   (char *)x->rows[f64] + (size_t)w * (size_t)x->width * sap_real_bytes(f64));
}

/* Converts the parameters of `which` of world w, and the groups that they are in. */
static void convert(SapPerWorld *e, const SapNumbers *numbers, const Set *which, int w) {
    unsigned groups = 0;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        if (which->has[p]) {
            convert_row(e, numbers, p, w);
            groups |= sap_per_world_groups(e, p);
        }
    for (int g = 0; g < SAP_MOST_GROUPS; g++)
        if (groups >> g & 1)
            fill_group(e, numbers, g, w);
}

/* Copies changed rows from `given` to `seen`. Returns whether there are any; `changed` has the parameters. */
static bool read_changes(SapPerWorld *e, int w, Set *changed) {
    bool any = false;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        const SapPerWorldParameter *x = &e->parameter[p];
        changed->has[p] = x->given && has_changed(x, w);
        if (!changed->has[p])
            continue;
        memcpy(row_of(x->seen, x, w), row_of(x->given, x, w), x->row);
        any = true;
    }
    return any;
}

bool sap_per_world_refresh(SapPerWorld *e, int w) {
    Set changed;
    if (!read_changes(e, w, &changed))
        return false;
    e->changed[w] = 1;
    if (e->bad[w]) /* values given together with invalid ones are not converted yet */
        changed = all_given(e);
    SapNumbers numbers = sap_per_world_numbers(e, w);
    e->bad[w] = check_rules(e, &numbers, &changed) != SAP_OK;
    if (!e->bad[w])
        convert(e, &numbers, &changed, w);
    return true;
}

bool sap_per_world_take_change(SapPerWorld *e, int w) {
    bool changed = e->changed && e->changed[w];
    if (changed)
        e->changed[w] = 0;
    return changed;
}

SapNumbers sap_per_world_given(const SapPerWorld *e, int w) {
    SapNumbers numbers = e->numbers;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        if (e->parameter[p].given)
            sap_parameter_set(&numbers, p, row_of(e->parameter[p].given, &e->parameter[p], w));
    return numbers;
}

SapStatus sap_per_world_check(const SapPerWorld *e, int w) {
    SapNumbers numbers = sap_per_world_given(e, w);
    Set all = all_given(e);
    return check_rules(e, &numbers, &all);
}

/* ---- parameters ---- */

static SapStatus allocate_rows(SapPerWorld *e, void *pointer, size_t width, size_t size) {
    void **out = pointer;
    *out = sap_allocate((size_t)e->num_worlds * width, size, "parameters of worlds");
    e->bytes += *out ? (size_t)e->num_worlds * width * size : 0;
    return *out ? SAP_OK : SAP_ERROR_MEMORY;
}

static void free_parameter(SapPerWorld *e, SapPerWorldParameter *x) {
    size_t n = (size_t)e->num_worlds, size = n * x->row;
    size_t width[2] = {n * (size_t)x->width * sizeof(float), n * (size_t)x->width * sizeof(double)};
    e->bytes -= (x->given ? size : 0) + (x->seen ? size : 0);
    for (int f64 = 0; f64 < 2; f64++) {
        e->bytes -= x->constants[f64] ? width[f64] : 0;
        free(x->constants[f64]);
    }
    free(x->given);
    free(x->seen);
    *x = (SapPerWorldParameter){0};
}

static SapStatus allocate_parameter(SapPerWorld *e, SapParameter p) {
    SapPerWorldParameter *x = &e->parameter[p];
    x->size = sap_parameter_rows(&e->numbers, p) * sap_parameter_columns(p);
    x->width = sap_parameter_width(e->plan, p);
    x->row = (size_t)x->size * sap_parameter_bytes(p);
    for (int f64 = 0; f64 < 2 && x->width > 0; f64++)
        SAP_TRY(allocate_rows(e, &x->constants[f64], (size_t)x->width, sap_real_bytes(f64)));
    SAP_TRY(allocate_rows(e, &x->seen, (size_t)x->size, sap_parameter_bytes(p)));
    if (!e->bad)
        SAP_TRY(allocate_rows(e, &e->bad, 1, sizeof *e->bad));
    if (!e->changed)
        SAP_TRY(allocate_rows(e, &e->changed, 1, sizeof *e->changed));
    double **fallback = p == SAP_PARAMETER_SHAPE_MATERIAL_MU    ? &e->fallback[0]
                        : p == SAP_PARAMETER_SHAPE_MATERIAL_TAU ? &e->fallback[1]
                                                                : NULL;
    if (fallback && !*fallback)
        SAP_TRY(allocate_rows(e, fallback, 1, sizeof **fallback));
    return allocate_rows(e, &x->given, (size_t)x->size, sap_parameter_bytes(p));
}

static void fill_parameter(SapPerWorld *e, SapParameter p) {
    const SapPerWorldParameter *x = &e->parameter[p];
    const void *values = sap_parameter_get(&e->numbers, p);
    for (int w = 0; w < e->num_worlds; w++) {
        memcpy(row_of(x->given, x, w), values, x->row);
        memcpy(row_of(x->seen, x, w), values, x->row);
        SapNumbers numbers = sap_per_world_numbers(e, w);
        convert_row(e, &numbers, p, w);
    }
}

/* ---- groups ---- */

/* Groups that a failure leaves behind are freed with the others. */
static SapStatus allocate_groups(SapPerWorld *e, unsigned groups) {
    for (int g = 0; g < SAP_MOST_GROUPS; g++) {
        SapPerWorldGroup *x = &e->group[g];
        x->width = groups >> g & 1 ? sap_per_world_group_width(e, g) : x->width;
        for (int f64 = 0; f64 < 2; f64++)
            if ((groups >> g & 1) && !x->rows[f64])
                SAP_TRY(allocate_rows(e, &x->rows[f64], (size_t)x->width, sap_real_bytes(f64)));
    }
    return SAP_OK;
}

/* Fills the groups of a parameter and makes the kernels read them. */
static void add_groups(SapPerWorld *e, SapParameter p, void *law) {
    unsigned groups = sap_per_world_groups(e, p);
    for (int w = 0; w < e->num_worlds && groups; w++) {
        SapNumbers numbers = sap_per_world_numbers(e, w);
        for (int g = 0; g < SAP_MOST_GROUPS; g++)
            if (groups >> g & 1)
                fill_group(e, &numbers, g, w);
    }
    for (int g = 0; g < SAP_MOST_GROUPS; g++)
        for (int f64 = 0; f64 < 2 && (groups >> g & 1); f64++)
            *e->formulation->group_field(law, g, f64) = (SapField){e->group[g].rows[f64], e->group[g].width};
    if (e->formulation->allow)
        e->formulation->allow(&e->numbers, p, law);
}

/* ---- adding ---- */

/* A world may now have friction or a limit that the model does not have. */
static bool adds_joint_terms(SapParameter p) {
    return p == SAP_PARAMETER_JOINT_FRICTION || p == SAP_PARAMETER_JOINT_LIMIT_KE ||
           p == SAP_PARAMETER_JOINT_LIMIT_LOWER || p == SAP_PARAMETER_JOINT_LIMIT_UPPER;
}

SapStatus sap_per_world_add(SapPerWorld *e, SapParameter p, SapStepArgs *args, void *law) {
    SapPerWorldParameter *x = &e->parameter[p];
    if (x->given)
        return SAP_OK;
    SapStatus status = allocate_groups(e, sap_per_world_groups(e, p));
    if (status == SAP_OK)
        status = allocate_parameter(e, p);
    if (status != SAP_OK) {
        free_parameter(e, x);
        return status;
    }
    fill_parameter(e, p);
    add_groups(e, p, law);
    e->count++;
    for (int f64 = 0; f64 < 2 && sap_parameter_has_constant(p); f64++)
        *sap_parameter_constant(&args->constants[f64], p) = (SapField){x->constants[f64], x->width};
    if (p == SAP_PARAMETER_SHAPE_MATERIAL_MU)
        args->contacts.own_fallback_mu = e->fallback[0];
    if (p == SAP_PARAMETER_SHAPE_MATERIAL_TAU)
        args->contacts.own_fallback_tau = e->fallback[1];
    args->has_dof_terms |= adds_joint_terms(p);
    args->has_gravcomp |= p == SAP_PARAMETER_BODY_GRAVCOMP;
    args->skipped = e->bad;
    return SAP_OK;
}
