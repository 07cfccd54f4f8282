/* The numbers of MuJoCo's law: an owned copy of the caller's arrays, one row of a table per array. */
#include "host/mujoco/parameters.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/model/model.h"
#include "host/mujoco/weights.h"
#include "kernels/mujoco/data.h"

/* ---- the table ---- */

typedef struct Field {
    const char *name;
    size_t offset; /* of the pointer in SapMujocoParameters */
    SapModelRows rows;
    size_t count; /* offset of the number of rows in SapMujocoParameters, if that has it; 0: `rows` of the model */
    int columns;
    bool whole;                         /* int32 instead of f64; their ranges are checked by name */
    bool required, from_zero, infinite; /* from_zero: >= 0; infinite: infinity is allowed */
    const double *row;                  /* default of every row; NULL = zeros */
} Field;

static const double solref[2] = {0.02, 1}, solimp[5] = {0.9, 0.95, 0.001, 0.5, 2}, one[1] = {1}, none[1] = {INFINITY},
                    three[1] = {3}, friction[3] = {1, 0.005, 0.0001}, pair_friction[5] = {1, 1, 0.005, 0.0001, 0.0001},
                    unbounded[2] = {-INFINITY, INFINITY}, gain[3] = {1, 0, 0};

#define FIELD(field, owner, width, ...)                                                                                \
    {                                                                                                                  \
        .name = #field, .offset = offsetof(SapMujocoParameters, field), .rows = SAP_ROWS_##owner, .columns = width,    \
        __VA_ARGS__                                                                                                    \
    }
#define OWN(field, counter, width, ...)                                                                                \
    {                                                                                                                  \
        .name = #field, .offset = offsetof(SapMujocoParameters, field),                                                \
        .count = offsetof(SapMujocoParameters, counter), .columns = width, __VA_ARGS__                                 \
    }
#define RANGE                .infinite = true, .row = unbounded
#define SOLREF(field, owner) FIELD(field, owner, 2, .row = solref)
#define SOLIMP(field, owner) FIELD(field, owner, 5, .row = solimp)
static const Field fields[] = {
    FIELD(body_invweight, BODIES, 2, .required = true, .from_zero = true),
    FIELD(dof_invweight, DOFS, 1, .required = true, .from_zero = true),
    FIELD(dof_stiffness, DOFS, 1, .from_zero = true),
    FIELD(dof_spring_ref, DOFS, 1, .row = NULL),
    FIELD(dof_drive_range, DOFS, 2, .infinite = true), /* filled in from the effort limits */
    FIELD(dof_limit_margin, DOFS, 1, .row = NULL),
    SOLREF(dof_limit_solref, DOFS),
    SOLIMP(dof_limit_solimp, DOFS),
    SOLREF(dof_friction_solref, DOFS),
    SOLIMP(dof_friction_solimp, DOFS),
    FIELD(joint_ball_limit, JOINTS, 1, .from_zero = true, .infinite = true, .row = none),
    SOLREF(constraint_solref, CONSTRAINTS),
    SOLIMP(constraint_solimp, CONSTRAINTS),
    FIELD(constraint_torquescale, CONSTRAINTS, 1, .row = one),
    FIELD(constraint_invweight, CONSTRAINTS, 2, .from_zero = true), /* filled in from bodies, dofs and tendons */
    FIELD(tendon_invweight, TENDONS, 1, .required = true, .from_zero = true),
    FIELD(tendon_limit_margin, TENDONS, 1, .row = NULL),
    SOLREF(tendon_limit_solref, TENDONS),
    SOLIMP(tendon_limit_solimp, TENDONS),
    SOLREF(tendon_friction_solref, TENDONS),
    SOLIMP(tendon_friction_solimp, TENDONS),
    FIELD(shape_condim, SHAPES, 1, .whole = true, .row = three),
    FIELD(shape_priority, SHAPES, 1, .whole = true),
    FIELD(shape_solmix, SHAPES, 1, .from_zero = true, .row = one),
    FIELD(shape_margin, SHAPES, 1, .row = NULL),
    FIELD(shape_invweight, SHAPES, 1, .from_zero = true), /* filled in from the bodies */
    FIELD(shape_friction, SHAPES, 3, .from_zero = true, .row = friction),
    SOLREF(shape_solref, SHAPES),
    SOLIMP(shape_solimp, SHAPES),
    OWN(pair_shape, num_pairs, 2, .whole = true, .required = true),
    OWN(pair_condim, num_pairs, 1, .whole = true, .row = three),
    OWN(pair_margin, num_pairs, 1, .row = NULL),
    OWN(pair_friction, num_pairs, 5, .from_zero = true, .row = pair_friction),
    OWN(pair_solref, num_pairs, 2, .row = solref),
    OWN(pair_solreffriction, num_pairs, 2, .row = NULL),
    OWN(pair_solimp, num_pairs, 5, .row = solimp),
    OWN(actuator_gain, num_actuators, 3, .row = gain),
    OWN(actuator_bias, num_actuators, 3, .row = NULL),
    OWN(actuator_ctrl_range, num_actuators, 2, RANGE),
    OWN(actuator_force_range, num_actuators, 2, RANGE),
    OWN(actuator_dynamics, num_actuators, 1, .whole = true),
    OWN(actuator_tau, num_actuators, 1, .from_zero = true, .row = one),
    OWN(actuator_early, num_actuators, 1, .whole = true),
    OWN(actuator_act_range, num_actuators, 2, RANGE),
    OWN(actuator_term_of, num_actuator_terms, 1, .whole = true, .required = true),
    OWN(actuator_term_dof, num_actuator_terms, 1, .whole = true, .required = true),
    OWN(actuator_term_arm, num_actuator_terms, 1, .required = true),
    FIELD(dof_actuator_range, DOFS, 2, RANGE),
};
enum { NUM_FIELDS = sizeof fields / sizeof *fields };

void sap_mujoco_arrays_default(SapMujocoParameters *arrays) {
    if (arrays)
        *arrays = (SapMujocoParameters){.cone = SAP_CONE_PYRAMIDAL,
                                        .integrator = SAP_INTEGRATOR_EULER,
                                        .impratio = 1,
                                        .tolerance = 1e-8,
                                        .iterations = 100,
                                        .ls_tolerance = 0.01,
                                        .ls_iterations = 50,
                                        .refsafe = 1,
                                        .eulerdamp = 1,
                                        .warmstart = 1,
                                        .max_condim = 6};
}

/* ---- checks ---- */

static SapStatus check_flag(const char *name, int value) {
    if (value != 0 && value != 1)
        return sap_fail(SAP_ERROR_MODEL, "mujoco.%s is %d; allowed: 0, 1", name, value);
    return SAP_OK;
}

static SapStatus check_count(const char *name, int value) {
    enum { MOST = 100000 };
    if (value < 1 || value > MOST)
        return sap_fail(SAP_ERROR_MODEL, "mujoco.%s is %d; allowed: 1 .. %d", name, value, MOST);
    return SAP_OK;
}

static SapStatus check_options(const SapMujocoParameters *a) {
    int condim = a->max_condim;
    if (a->cone != SAP_CONE_PYRAMIDAL && a->cone != SAP_CONE_ELLIPTIC)
        return sap_fail(SAP_ERROR_MODEL, "mujoco.cone is %d; allowed: 0 pyramidal, 1 elliptic", (int)a->cone);
    if (a->integrator != SAP_INTEGRATOR_EULER && a->integrator != SAP_INTEGRATOR_RK4 &&
        a->integrator != SAP_INTEGRATOR_IMPLICITFAST && a->integrator != SAP_INTEGRATOR_DISCRETE)
        return sap_fail(SAP_ERROR_MODEL, "mujoco.integrator is %d; allowed: 0 Euler, 1 RK4, 3 implicitfast, 4 discrete",
                        (int)a->integrator);
    if (!(a->impratio > 0 && isfinite(a->impratio)))
        return sap_fail(SAP_ERROR_MODEL, "mujoco.impratio is %g; it must be finite and > 0", a->impratio);
    if (!(a->tolerance >= 0 && isfinite(a->tolerance)))
        return sap_fail(SAP_ERROR_MODEL, "mujoco.tolerance is %g; it must be finite and >= 0", a->tolerance);
    if (!(a->ls_tolerance > 0 && isfinite(a->ls_tolerance)))
        return sap_fail(SAP_ERROR_MODEL, "mujoco.ls_tolerance is %g; it must be finite and > 0", a->ls_tolerance);
    if (condim != 1 && condim != 3 && condim != 4 && condim != 6)
        return sap_fail(SAP_ERROR_MODEL, "mujoco.max_condim is %d; allowed: 1, 3, 4, 6", condim);
    SAP_TRY(check_count("iterations", a->iterations));
    SAP_TRY(check_count("ls_iterations", a->ls_iterations));
    SAP_TRY(check_flag("refsafe", a->refsafe));
    SAP_TRY(check_flag("eulerdamp", a->eulerdamp));
    SAP_TRY(check_flag("rows_of_worlds", a->rows_of_worlds));
    return check_flag("warmstart", a->warmstart);
}

static SapStatus check_field(const Field *f, const double *data, int rows) {
    for (int i = 0; i < rows * f->columns; i++) {
        bool fine = (isfinite(data[i]) || (f->infinite && isinf(data[i]))) && (!f->from_zero || data[i] >= 0);
        if (!fine)
            return sap_fail(SAP_ERROR_MODEL, "mujoco.%s[%d][%d] is %g; it must be finite%s%s", f->name, i / f->columns,
                            i % f->columns, data[i], f->from_zero ? " and >= 0" : "",
                            f->infinite ? ", or infinite" : "");
    }
    return SAP_OK;
}

static SapStatus check_condims(const SapMujocoParameters *a, const char *name, const int32_t *condim, int count) {
    for (int i = 0; i < count; i++) {
        int n = condim[i];
        if ((n != 1 && n != 3 && n != 4 && n != 6) || n > a->max_condim)
            return sap_fail(SAP_ERROR_MODEL, "mujoco.%s[%d] is %d; allowed: 1, 3, 4, 6, at most max_condim = %d", name,
                            i, n, a->max_condim);
    }
    return SAP_OK;
}

/* An array of numbers 0 .. end - 1. */
static SapStatus check_indices(const char *name, const int32_t *index, int count, int end) {
    for (int i = 0; i < count; i++)
        if (index[i] < 0 || index[i] >= end)
            return sap_fail(SAP_ERROR_MODEL, "mujoco.%s[%d] is %d; allowed: 0 .. %d", name, i, (int)index[i], end - 1);
    return SAP_OK;
}

static SapStatus check_pairs(const SapMujocoParameters *a, int num_shapes) {
    SAP_TRY(check_indices("pair_shape", a->pair_shape, 2 * a->num_pairs, num_shapes));
    for (int p = 0; p < a->num_pairs; p++)
        for (int q = 0; q < p; q++) {
            const int32_t *x = a->pair_shape + 2 * p, *y = a->pair_shape + 2 * q;
            if ((x[0] == y[0] && x[1] == y[1]) || (x[0] == y[1] && x[1] == y[0]))
                return sap_fail(SAP_ERROR_MODEL, "mujoco.pair_shape[%d] is %d, %d, which is pair %d already", p,
                                (int)x[0], (int)x[1], q);
        }
    return check_condims(a, "pair_condim", a->pair_condim, a->num_pairs);
}

/* The dofs of actuators have coordinates. */
static SapStatus check_terms(const SapModelArrays *m, const SapMujocoParameters *a) {
    const int32_t *of = a->actuator_term_of, *dof = a->actuator_term_dof;
    SAP_TRY(check_indices("actuator_term_of", of, a->num_actuator_terms, a->num_actuators));
    SAP_TRY(check_indices("actuator_term_dof", dof, a->num_actuator_terms, m->num_dofs));
    for (int k = 0; k < a->num_actuator_terms; k++) {
        if (k > 0 && of[k] < of[k - 1])
            return sap_fail(SAP_ERROR_MODEL, "mujoco.actuator_term_of[%d] is %d after %d; actuators must increase", k,
                            (int)of[k], (int)of[k - 1]);
        for (int i = k - 1; i >= 0 && of[i] == of[k]; i--)
            if (dof[i] == dof[k])
                return sap_fail(SAP_ERROR_MODEL, "mujoco.actuator_term_dof[%d] is %d, as in term %d of the actuator", k,
                                (int)dof[k], i);
    }
    for (int j = 0; j < m->num_joints; j++)
        for (int k = 0; k < a->num_actuator_terms; k++)
            if ((m->joint_type[j] == SAP_JOINT_BALL || m->joint_type[j] == SAP_JOINT_FREE) &&
                dof[k] >= m->joint_qd_start[j] && dof[k] < m->joint_qd_start[j + 1])
                return sap_fail(
                    SAP_ERROR_MODEL,
                    "mujoco.actuator_term_dof[%d] is %d, of joint '%s', a ball or free joint; actuators move "
                    "other joints",
                    k, (int)dof[k], m->joint_name[j]);
    return SAP_OK;
}

static SapStatus check_range(const char *name, const double *bounds, int rows) {
    for (int i = 0; i < rows; i++)
        if (!(bounds[2 * i] <= bounds[2 * i + 1]))
            return sap_fail(SAP_ERROR_MODEL, "mujoco.%s[%d] is %g, %g; the lower bound must not be above", name, i,
                            bounds[2 * i], bounds[2 * i + 1]);
    return SAP_OK;
}

static SapStatus check_actuators(const SapModelArrays *m, const SapMujocoParameters *a) {
    int n = a->num_actuators;
    SAP_TRY(check_indices("actuator_dynamics", a->actuator_dynamics, n, SAP_MUJOCO_DYNAMICS_FILTEREXACT + 1));
    SAP_TRY(check_indices("actuator_early", a->actuator_early, n, 2));
    SAP_TRY(check_range("actuator_ctrl_range", a->actuator_ctrl_range, n));
    SAP_TRY(check_range("actuator_force_range", a->actuator_force_range, n));
    SAP_TRY(check_range("actuator_act_range", a->actuator_act_range, n));
    SAP_TRY(check_range("dof_actuator_range", a->dof_actuator_range, m->num_dofs));
    return check_terms(m, a);
}

SapStatus sap_mujoco_check_counts(const SapMujocoParameters *a) {
    const struct {
        const char *name;
        int count;
    } counts[] = {{"num_pairs", a->num_pairs},
                  {"num_actuators", a->num_actuators},
                  {"num_actuator_terms", a->num_actuator_terms}};
    enum { MOST = 1 << 16 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count < 0 || counts[i].count > MOST)
            return sap_fail(SAP_ERROR_MODEL, "mujoco.%s is %d; allowed: 0 .. %d", counts[i].name, counts[i].count,
                            MOST);
    return SAP_OK;
}

/* ---- copies ---- */

/* The pointer of an array. */
static void *get_array(const SapMujocoParameters *a, const Field *f) {
    void *data;
    memcpy(&data, (const char *)a + f->offset, sizeof data);
    return data;
}

static void set_array(SapMujocoParameters *a, const Field *f, void *data) {
    memcpy((char *)a + f->offset, &data, sizeof data);
}

/* Rows of an array. */
static int rows_of(const SapModelArrays *m, const SapMujocoParameters *a, const Field *f) {
    int count;
    memcpy(&count, (const char *)a + f->count, sizeof count);
    return f->count ? count : sap_model_rows(m, f->rows);
}

bool sap_mujoco_array(const SapModelArrays *model, const SapMujocoParameters *a, int i, SapMujocoArray *out) {
    if (i >= NUM_FIELDS)
        return false;
    const Field *f = &fields[i];
    *out = (SapMujocoArray){f->name, f->offset, rows_of(model, a, f) * f->columns, f->whole};
    return true;
}

/* ---- numbers of worlds ---- */

/* The rules that arrays have beyond those of their rows. */
static SapStatus check_rules(const SapModelArrays *m, const SapMujocoParameters *a, SapParameter p) {
    switch (p) {
    case SAP_PARAMETER_MUJOCO_SHAPE_CONDIM: return check_condims(a, "shape_condim", a->shape_condim, m->num_shapes);
    case SAP_PARAMETER_MUJOCO_PAIR_CONDIM: return check_condims(a, "pair_condim", a->pair_condim, a->num_pairs);
    case SAP_PARAMETER_MUJOCO_DOF_DRIVE_RANGE: return check_range("dof_drive_range", a->dof_drive_range, m->num_dofs);
    case SAP_PARAMETER_MUJOCO_ACTUATOR_CTRL_RANGE:
    case SAP_PARAMETER_MUJOCO_ACTUATOR_FORCE_RANGE:
    case SAP_PARAMETER_MUJOCO_ACTUATOR_ACT_RANGE:
    case SAP_PARAMETER_MUJOCO_DOF_ACTUATOR_RANGE: return check_actuators(m, a);
    default: return p <= SAP_PARAMETER_MUJOCO_LS_ITERATIONS ? check_options(a) : SAP_OK;
    }
}

SapStatus sap_mujoco_check_parameter(const SapNumbers *numbers, SapParameter p) {
    const SapModelArrays *m = &numbers->arrays;
    const SapMujocoParameters *a = &numbers->mujoco;
    if (p < SAP_NUM_MODEL_PARAMETERS)
        return SAP_OK;
    for (int i = 0; i < NUM_FIELDS; i++)
        if (get_array(a, &fields[i]) == sap_parameter_get(numbers, p) && !fields[i].whole)
            SAP_TRY(check_field(&fields[i], get_array(a, &fields[i]), rows_of(m, a, &fields[i])));
    return check_rules(m, a, p);
}

/* ---- extensions ---- */

/* The extension of a model. */
typedef struct Extension {
    SapModelCache cache;
    SapMujocoParameters parameters; /* no pointer is NULL */
} Extension;

static void free_extension(SapModelCache *cache) {
    SapMujocoParameters *parameters = &((Extension *)cache)->parameters;
    for (int i = 0; i < NUM_FIELDS; i++)
        free(get_array(parameters, &fields[i]));
    free(cache);
}

static SapStatus copy_field(const SapModelArrays *m, const SapMujocoParameters *from, const Field *f,
                            SapMujocoParameters *to) {
    int rows = rows_of(m, from, f), count = rows * f->columns;
    const void *given = get_array(from, f);
    if (!given && f->required && rows > 0)
        return sap_fail(SAP_ERROR_MODEL, "mujoco.%s is NULL; the law needs it", f->name);
    size_t size = f->whole ? sizeof(int32_t) : sizeof(double);
    void *data = sap_allocate((size_t)count + 1, size, "numbers of MuJoCo's law");
    set_array(to, f, data);
    if (!data)
        return SAP_ERROR_MEMORY;
    if (given)
        memcpy(data, given, (size_t)count * size);
    for (int i = 0; i < count && !given && f->row; i++)
        if (f->whole)
            ((int32_t *)data)[i] = (int32_t)f->row[i % f->columns];
        else
            ((double *)data)[i] = f->row[i % f->columns];
    return f->whole ? SAP_OK : check_field(f, data, rows);
}

/* The bounds of drives that are not given. */
static void fill_ranges(const SapModelArrays *m, SapMujocoParameters *to) {
    double *range = (double *)to->dof_drive_range; /* our own copy */
    for (int i = 0; i < m->num_dofs; i++) {
        range[2 * i] = -m->joint_effort_limit[i];
        range[2 * i + 1] = m->joint_effort_limit[i];
    }
}

/* A copy of the parameters in *to, to be freed also after a failure. */
static SapStatus copy_parameters(const SapModelArrays *model, const SapMujocoParameters *from,
                                 SapMujocoParameters *to) {
    *to = *from;
    for (int i = 0; i < NUM_FIELDS; i++)
        set_array(to, &fields[i], NULL);
    SAP_TRY(check_options(from));
    SAP_TRY(sap_mujoco_check_counts(from));
    for (int i = 0; i < NUM_FIELDS; i++)
        SAP_TRY(copy_field(model, from, &fields[i], to));
    if (!from->shape_invweight)
        sap_mujoco_weigh_shapes(model, to->body_invweight, (double *)to->shape_invweight); /* our own copy */
    if (!from->constraint_invweight)
        sap_mujoco_weigh_constraints(model, to->body_invweight, to->dof_invweight, to->tendon_invweight,
                                     (double *)to->constraint_invweight);
    if (!from->dof_drive_range)
        fill_ranges(model, to);
    SAP_TRY(check_range("dof_drive_range", to->dof_drive_range, model->num_dofs));
    SAP_TRY(check_condims(to, "shape_condim", to->shape_condim, model->num_shapes));
    SAP_TRY(check_pairs(to, model->num_shapes));
    return check_actuators(model, to);
}

/* ---- models ---- */

SapStatus sap_mujoco_give(const SapModel *model, const SapMujocoParameters *parameters) {
    Extension *extension = sap_allocate(1, sizeof *extension, "parameters of MuJoCo's law");
    if (!extension)
        return SAP_ERROR_MEMORY;
    extension->cache.free = free_extension;
    SapStatus status = copy_parameters(&model->arrays, parameters, &extension->parameters);
    if (status != SAP_OK || !sap_model_extend(model, &extension->cache))
        free_extension(&extension->cache);
    return status;
}

SapStatus sap_model_create_mujoco(const SapModelArrays *arrays, const SapMujocoParameters *mujoco, SapModel **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(arrays);
    SAP_NEED(mujoco);
    SapModel *model;
    SAP_TRY(sap_model_create_with(arrays, NULL, &model));
    SapStatus status = sap_mujoco_give(model, mujoco);
    if (status == SAP_OK)
        *out = model;
    else
        sap_model_destroy(model);
    return status;
}

const SapMujocoParameters *sap_model_mujoco(const SapModel *model) {
    const SapModelCache *extension = model ? sap_model_extension(model) : NULL;
    return extension ? &((const Extension *)extension)->parameters : NULL;
}
