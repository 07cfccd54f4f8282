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

void sap_per_world_init(SapPerWorld *e, const SapModelArrays *model, const SapPlan *plan, const SapOptions *options,
                        int num_worlds) {
    *e = (SapPerWorld){.model = model, .plan = plan, .options = options, .num_worlds = num_worlds};
}

void sap_per_world_free(SapPerWorld *e) {
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        free(e->parameter[p].given);
        free(e->parameter[p].seen);
        free(e->parameter[p].constants[0]);
        free(e->parameter[p].constants[1]);
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

SapModelArrays sap_per_world_model(const SapPerWorld *e, int w) {
    SapModelArrays m = *e->model;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        if (e->parameter[p].seen)
            sap_parameter_set(&m, p, row_of(e->parameter[p].seen, &e->parameter[p], w));
    return m;
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

/* Checks the rules of the expanded parameters in the bit set `which`. */
static SapStatus check_rules(const SapPerWorld *e, const SapModelArrays *m, uint64_t which) {
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        if (e->parameter[p].given && (which >> p & 1))
            SAP_TRY(sap_model_check_parameter(m, p));
    return which >> SAP_PARAMETER_SHAPE_MESH & 1 ? check_grids(e->model, m) : SAP_OK;
}

static void convert_row(SapPerWorld *e, const SapModelArrays *m, SapParameter p, int w) {
    const SapPerWorldParameter *x = &e->parameter[p];
    for (int f64 = 0; f64 < 2; f64++)
        sap_parameter_put(m, e->plan, p, f64, constants_of(x, f64, w));
    if (p == SAP_PARAMETER_SHAPE_MATERIAL_MU)
        e->fallback[0][w] = sap_fallback_mu(m, e->options);
    if (p == SAP_PARAMETER_SHAPE_MATERIAL_TAU)
        e->fallback[1][w] = sap_fallback_tau(m, e->options);
}

static const uint64_t all_parameters = (UINT64_C(1) << SAP_NUM_PARAMETERS) - 1;

/* Copies changed rows from `given` to `seen`; returns the bit set of changed parameters. */
static uint64_t read_changes(SapPerWorld *e, int w) {
    uint64_t changed = 0;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++) {
        const SapPerWorldParameter *x = &e->parameter[p];
        if (!x->given || !has_changed(x, w))
            continue;
        memcpy(row_of(x->seen, x, w), row_of(x->given, x, w), x->row);
        changed |= UINT64_C(1) << p;
    }
    return changed;
}

bool sap_per_world_refresh(SapPerWorld *e, int w) {
    uint64_t changed = read_changes(e, w);
    if (!changed)
        return false;
    e->changed[w] = 1;
    if (e->bad[w]) /* values given together with invalid ones are not converted yet */
        changed = all_parameters;
    SapModelArrays m = sap_per_world_model(e, w);
    e->bad[w] = check_rules(e, &m, changed) != SAP_OK;
    for (int p = 0; p < SAP_NUM_PARAMETERS && !e->bad[w]; p++)
        if (e->parameter[p].given && (changed >> p & 1))
            convert_row(e, &m, p, w);
    return true;
}

bool sap_per_world_take_change(SapPerWorld *e, int w) {
    bool changed = e->changed && e->changed[w];
    if (changed)
        e->changed[w] = 0;
    return changed;
}

SapStatus sap_per_world_check(const SapPerWorld *e, int w) {
    SapModelArrays m = *e->model;
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        if (e->parameter[p].given)
            sap_parameter_set(&m, p, row_of(e->parameter[p].given, &e->parameter[p], w));
    return check_rules(e, &m, all_parameters);
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
    x->size = sap_parameter_rows(e->model, p) * sap_parameter_columns(p);
    x->width = sap_parameter_width(e->plan, p);
    x->row = (size_t)x->size * sap_parameter_bytes(p);
    for (int f64 = 0; f64 < 2; f64++)
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
    const void *values = sap_parameter_get(e->model, p);
    for (int w = 0; w < e->num_worlds; w++) {
        memcpy(row_of(x->given, x, w), values, x->row);
        memcpy(row_of(x->seen, x, w), values, x->row);
        SapModelArrays m = sap_per_world_model(e, w);
        convert_row(e, &m, p, w);
    }
}

/* A world may now have friction or a limit that the model does not have. */
static bool adds_joint_terms(SapParameter p) {
    return p == SAP_PARAMETER_JOINT_FRICTION || p == SAP_PARAMETER_JOINT_LIMIT_KE ||
           p == SAP_PARAMETER_JOINT_LIMIT_LOWER || p == SAP_PARAMETER_JOINT_LIMIT_UPPER;
}

static SapBuffer fallback_rows(double *data) {
    return (SapBuffer){.data = data, .stride = 1, .is_f64 = 1};
}

SapStatus sap_per_world_add(SapPerWorld *e, SapParameter p, SapStepArgs *args) {
    SapPerWorldParameter *x = &e->parameter[p];
    if (x->given)
        return SAP_OK;
    SapStatus status = allocate_parameter(e, p);
    if (status != SAP_OK) {
        free_parameter(e, x);
        return status;
    }
    fill_parameter(e, p);
    e->count++;
    for (int f64 = 0; f64 < 2; f64++)
        *sap_parameter_constant(&args->constants[f64], p) = (SapField){x->constants[f64], x->width};
    if (p == SAP_PARAMETER_SHAPE_MATERIAL_MU)
        args->contacts.own_fallback_mu = fallback_rows(e->fallback[0]);
    if (p == SAP_PARAMETER_SHAPE_MATERIAL_TAU)
        args->contacts.own_fallback_tau = fallback_rows(e->fallback[1]);
    args->has_dof_terms |= adds_joint_terms(p);
    args->has_gravcomp |= p == SAP_PARAMETER_BODY_GRAVCOMP;
    args->skipped = e->bad;
    return SAP_OK;
}
