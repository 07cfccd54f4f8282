/* The arguments of the kernels of MuJoCo's law: its parameters, f32 and f64, and lists of its actuators. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/mujoco/plan.h"
#include "kernels/mujoco/data.h"

/* ---- parameters of blocks ---- */

/* Softness of one kind of rows. */
typedef struct Impedance {
    const double *solref, *solimp;
} Impedance;

static void put_impedance(double *row, int first, Impedance from, int i) {
    memcpy(row + first, from.solref + 2 * i, 2 * sizeof *row);
    memcpy(row + first + 2, from.solimp + 5 * i, 5 * sizeof *row);
}

static void put_equality(const SapModel *model, int c, double *row) {
    const SapMujocoParameters *a = sap_model_mujoco(model);
    memcpy(row + SAP_MUJOCO_WEIGHT, a->constraint_invweight + 2 * c, 2 * sizeof *row);
    row[SAP_MUJOCO_TORQUESCALE] = a->constraint_torquescale[c];
    put_impedance(row, SAP_MUJOCO_IMPEDANCE, (Impedance){a->constraint_solref, a->constraint_solimp}, c);
    /* not used */
    put_impedance(row, SAP_MUJOCO_FRICTIONLOSS_IMPEDANCE, (Impedance){a->constraint_solref, a->constraint_solimp}, c);
}

static void put_dof(const SapModel *model, const SapModelConstraint *b, double *row) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = sap_model_mujoco(model);
    int i = b->index;
    bool is_dof = b->kind == SAP_BLOCK_DOF, is_limit = b->kind == SAP_BLOCK_BALL_LIMIT;
    row[SAP_MUJOCO_WEIGHT] = row[SAP_MUJOCO_WEIGHT + 1] = a->dof_invweight[i];
    row[SAP_MUJOCO_LOWER] = is_dof ? m->joint_limit_lower[i] : is_limit ? -a->joint_ball_limit[b->link[1]] : -INFINITY;
    row[SAP_MUJOCO_UPPER] = is_dof ? m->joint_limit_upper[i] : INFINITY;
    row[SAP_MUJOCO_LIMIT_MARGIN] = a->dof_limit_margin[i];
    row[SAP_MUJOCO_FRICTIONLOSS] = is_limit ? 0 : m->joint_friction[i];
    put_impedance(row, SAP_MUJOCO_IMPEDANCE, (Impedance){a->dof_limit_solref, a->dof_limit_solimp}, i);
    put_impedance(row, SAP_MUJOCO_FRICTIONLOSS_IMPEDANCE, (Impedance){a->dof_friction_solref, a->dof_friction_solimp},
                  i);
}

static void put_tendon(const SapModel *model, int t, double *row) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = sap_model_mujoco(model);
    row[SAP_MUJOCO_WEIGHT] = row[SAP_MUJOCO_WEIGHT + 1] = a->tendon_invweight[t];
    row[SAP_MUJOCO_LOWER] = m->tendon_limit_lower[t];
    row[SAP_MUJOCO_UPPER] = m->tendon_limit_upper[t];
    row[SAP_MUJOCO_LIMIT_MARGIN] = a->tendon_limit_margin[t];
    row[SAP_MUJOCO_FRICTIONLOSS] = m->tendon_friction[t];
    put_impedance(row, SAP_MUJOCO_IMPEDANCE, (Impedance){a->tendon_limit_solref, a->tendon_limit_solimp}, t);
    put_impedance(row, SAP_MUJOCO_FRICTIONLOSS_IMPEDANCE,
                  (Impedance){a->tendon_friction_solref, a->tendon_friction_solimp}, t);
}

static void put_block(const SapModel *model, const SapModelConstraint *b, double *row) {
    memset(row, 0, SAP_MUJOCO_BLOCK_SIZE * sizeof *row);
    if (b->laws == 1)
        put_equality(model, b->index, row);
    else if (b->kind == SAP_BLOCK_TENDON)
        put_tendon(model, b->index, row);
    else
        put_dof(model, b, row);
}

/* ---- numbers and options ---- */

/* Row i of an array, in f32 or f64. */
static void put_row(const SapField fields[2], int f64, int i, int columns, const double *row) {
    for (int k = 0; k < columns; k++)
        sap_put_number((void *)fields[f64].data, f64, (size_t)(columns * i + k), row[k]);
}

static void set_options(const SapModel *model, SapMujocoArgs *args) {
    const SapMujocoParameters *a = sap_model_mujoco(model);
    const SapModelArrays *m = &model->arrays;
    /* What the dofs, actuators and tendons of the model have. */
    bool damped = false, driven = false, servo_damped = false, pull = false, couples = false;
    for (int i = 0; i < m->num_dofs; i++) {
        damped |= m->joint_damping[i] > 0;
        driven |= m->joint_target_mode[i] != SAP_TARGET_NONE;
        servo_damped |= m->joint_target_mode[i] != SAP_TARGET_NONE && m->joint_target_kd[i] > 0;
    }
    for (int i = 0; i < a->num_actuators; i++)
        servo_damped |= sap_mujoco_has_rate(a, i);
    for (int k = 1; k < a->num_actuator_terms; k++)
        couples |=
            a->actuator_term_of[k] == a->actuator_term_of[k - 1] && sap_mujoco_has_rate(a, a->actuator_term_of[k]);
    for (int t = 0; t < m->num_tendons; t++)
        pull |= m->tendon_spring_ke[t] > 0 || m->tendon_damping[t] > 0 || sap_mujoco_tendon_has_drive(m, t);
    /* Cone, integrator and the terms that it makes implicit. */
    args->elliptic = a->cone == SAP_CONE_ELLIPTIC;
    args->discrete = a->integrator == SAP_INTEGRATOR_DISCRETE;
    args->implicitfast = a->integrator == SAP_INTEGRATOR_IMPLICITFAST;
    args->damped =
        args->implicitfast ? damped || servo_damped : damped && a->eulerdamp && a->integrator == SAP_INTEGRATOR_EULER;
    args->driven = (driven ? SAP_MUJOCO_SERVOS : 0) | (a->num_actuators > 0 ? SAP_MUJOCO_ACTUATORS : 0);
    args->couples = args->implicitfast && couples;
    args->num_actuators = a->num_actuators;
    args->num_pairs = a->num_pairs;
    args->tendons_pull = pull;
    /* Options of the rows and of the solve. */
    args->refsafe = a->refsafe;
    args->warmstart = a->warmstart;
    args->iterations = a->iterations;
    args->ls_iterations = a->ls_iterations;
    args->tolerance = a->tolerance;
    args->ls_tolerance = a->ls_tolerance;
    args->impratio = a->impratio;
}

static void fill_numbers(const SapModel *model, const SapPlan *plan, int f64, SapMujocoArgs *args) {
    const SapModelArrays *m = &model->arrays;
    const SapMujocoParameters *a = sap_model_mujoco(model);
    double row[SAP_MUJOCO_BLOCK_SIZE];
    for (int k = 0; k < plan->num_blocks; k++) {
        put_block(model, &plan->block[k], row);
        put_row(args->block, f64, k, SAP_MUJOCO_BLOCK_SIZE, row);
    }
    for (int l = 0; l < plan->nl; l++)
        put_row(args->link, f64, l, 1, &a->body_invweight[2 * plan->link[l].body]);
    for (int i = 0; i < plan->nv; i++) {
        int given = plan->dof_public[i];
        bool driven = m->joint_target_mode[given] != SAP_TARGET_NONE;
        const double dof[SAP_MUJOCO_DOF_SIZE] = {
            [SAP_MUJOCO_DAMPING] = m->joint_damping[given],
            [SAP_MUJOCO_STIFFNESS] = a->dof_stiffness[given],
            [SAP_MUJOCO_SPRING_REF] = a->dof_spring_ref[given],
            [SAP_MUJOCO_DRIVE_KP] = driven ? m->joint_target_ke[given] : 0,
            [SAP_MUJOCO_DRIVE_KD] = driven ? m->joint_target_kd[given] : 0,
            [SAP_MUJOCO_DRIVE_LOWER] = a->dof_drive_range[2 * given],
            [SAP_MUJOCO_DRIVE_UPPER] = a->dof_drive_range[2 * given + 1],
        };
        put_row(args->dof, f64, i, SAP_MUJOCO_DOF_SIZE, dof);
    }
}

static void fill_shapes(const SapModel *model, int f64, SapMujocoArgs *args) {
    const SapMujocoParameters *a = sap_model_mujoco(model);
    for (int s = 0; s < model->arrays.num_shapes; s++) {
        double row[SAP_MUJOCO_SHAPE_SIZE];
        row[SAP_MUJOCO_SHAPE_SOLMIX] = a->shape_solmix[s];
        row[SAP_MUJOCO_SHAPE_MARGIN] = a->shape_margin[s];
        row[SAP_MUJOCO_SHAPE_WEIGHT] = a->shape_invweight[s];
        memcpy(row + SAP_MUJOCO_SHAPE_FRICTION, a->shape_friction + 3 * s, 3 * sizeof *row);
        memcpy(row + SAP_MUJOCO_SHAPE_SOLREF, a->shape_solref + 2 * s, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_SHAPE_SOLIMP, a->shape_solimp + 5 * s, 5 * sizeof *row);
        put_row(args->shape, f64, s, SAP_MUJOCO_SHAPE_SIZE, row);
    }
}

static void fill_pairs(const SapModel *model, int f64, SapMujocoArgs *args) {
    const SapMujocoParameters *a = sap_model_mujoco(model);
    for (int p = 0; p < a->num_pairs; p++) {
        double row[SAP_MUJOCO_PAIR_SIZE];
        row[SAP_MUJOCO_PAIR_MARGIN] = a->pair_margin[p];
        memcpy(row + SAP_MUJOCO_PAIR_FRICTION, a->pair_friction + 5 * p, 5 * sizeof *row);
        memcpy(row + SAP_MUJOCO_PAIR_SOLREF, a->pair_solref + 2 * p, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_PAIR_SOLREFFRICTION, a->pair_solreffriction + 2 * p, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_PAIR_SOLIMP, a->pair_solimp + 5 * p, 5 * sizeof *row);
        put_row(args->pair, f64, p, SAP_MUJOCO_PAIR_SIZE, row);
    }
}

/* ---- actuators ---- */

static void fill_actuators(const SapModel *model, const SapPlan *plan, int f64, SapMujocoArgs *args) {
    const SapMujocoParameters *a = sap_model_mujoco(model);
    for (int i = 0; i < a->num_actuators; i++) {
        double row[SAP_MUJOCO_ACTUATOR_SIZE];
        memcpy(row + SAP_MUJOCO_ACTUATOR_GAIN, a->actuator_gain + 3 * i, 3 * sizeof *row);
        memcpy(row + SAP_MUJOCO_ACTUATOR_BIAS, a->actuator_bias + 3 * i, 3 * sizeof *row);
        memcpy(row + SAP_MUJOCO_ACTUATOR_CTRL, a->actuator_ctrl_range + 2 * i, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_ACTUATOR_FORCE, a->actuator_force_range + 2 * i, 2 * sizeof *row);
        memcpy(row + SAP_MUJOCO_ACTUATOR_ACT, a->actuator_act_range + 2 * i, 2 * sizeof *row);
        row[SAP_MUJOCO_ACTUATOR_TAU] = a->actuator_tau[i];
        put_row(args->actuator_number, f64, i, SAP_MUJOCO_ACTUATOR_SIZE, row);
    }
    for (int k = 0; k < a->num_actuator_terms; k++)
        put_row(args->arm, f64, k, 1, &a->actuator_term_arm[k]);
    for (int i = 0; i < plan->nv; i++)
        put_row(args->actuator_range, f64, i, 2, &a->dof_actuator_range[2 * plan->dof_public[i]]);
}

/* The terms by actuator, and by dof in the order of actuators. */
static void fill_lists(const SapMujocoParameters *a, const SapPlan *plan, const SapMujocoArgs *args) {
    int *whole = (int *)args->shape_whole, *pair_condim = (int *)args->pair_condim;
    int *pair_shape = (int *)args->pair_shape, *start = (int *)args->dof_term_start, *list = (int *)args->dof_term;
    SapMujocoActuator *actuator = (SapMujocoActuator *)args->actuator;
    SapMujocoTerm *term = (SapMujocoTerm *)args->term;
    int next = 0;
    for (int s = 0; s < plan->ns; s++) {
        whole[SAP_MUJOCO_SHAPE_WHOLE_SIZE * s + SAP_MUJOCO_SHAPE_CONDIM] = a->shape_condim[s];
        whole[SAP_MUJOCO_SHAPE_WHOLE_SIZE * s + SAP_MUJOCO_SHAPE_PRIORITY] = a->shape_priority[s];
    }
    memcpy(pair_shape, a->pair_shape, 2 * (size_t)a->num_pairs * sizeof *pair_shape);
    memcpy(pair_condim, a->pair_condim, (size_t)a->num_pairs * sizeof *pair_condim);
    for (int i = 0; i < a->num_actuators; i++) {
        int first = next;
        while (next < a->num_actuator_terms && a->actuator_term_of[next] == i)
            next++;
        actuator[i] = (SapMujocoActuator){a->actuator_dynamics[i], a->actuator_early[i], first, next};
    }
    int count = 0;
    for (int i = 0; i < plan->nv; i++) {
        start[i] = count;
        for (int k = 0; k < a->num_actuator_terms; k++)
            if (a->actuator_term_dof[k] == plan->dof_public[i]) {
                term[k] = (SapMujocoTerm){a->actuator_term_of[k], i, plan->dof_coord[i]};
                list[count++] = k;
            }
    }
    start[plan->nv] = count;
}

/* ---- all of them ---- */

/* The arrays of the arguments: X(pointer, elements); numbers are in f32 and in f64. */
#define LISTS(X)                                                                                                       \
    X(shape_whole, plan->ns *SAP_MUJOCO_SHAPE_WHOLE_SIZE)                                                              \
    X(pair_shape, 2 * a->num_pairs)                                                                                    \
    X(pair_condim, a->num_pairs)                                                                                       \
    X(actuator, a->num_actuators)                                                                                      \
    X(term, a->num_actuator_terms)                                                                                     \
    X(dof_term_start, plan->nv + 1)                                                                                    \
    X(dof_term, a->num_actuator_terms)
#define NUMBERS(X)                                                                                                     \
    X(block, plan->num_blocks *SAP_MUJOCO_BLOCK_SIZE)                                                                  \
    X(link, plan->nl)                                                                                                  \
    X(shape, plan->ns *SAP_MUJOCO_SHAPE_SIZE)                                                                          \
    X(dof, plan->nv *SAP_MUJOCO_DOF_SIZE)                                                                              \
    X(pair, a->num_pairs *SAP_MUJOCO_PAIR_SIZE)                                                                        \
    X(actuator_number, a->num_actuators *SAP_MUJOCO_ACTUATOR_SIZE)                                                     \
    X(arm, a->num_actuator_terms)                                                                                      \
    X(actuator_range, 2 * plan->nv)

static void carve_args(SapArena *arena, const SapMujocoParameters *a, const SapPlan *plan, SapMujocoArgs *args) {
#define X(list, count) SAP_CARVE(arena, args->list, count);
    LISTS(X)
#undef X
#define X(field, count)                                                                                                \
    for (int f64 = 0; f64 < 2; f64++)                                                                                  \
        args->field[f64].data = sap_arena_carve(arena, (size_t)(count), sap_real_bytes(f64));
    NUMBERS(X)
#undef X
}

void sap_mujoco_visit_pointers(void *args, SapVisitPointer *visit, void *context) {
    SapMujocoArgs *m = args;
#define X(list, count) visit(context, &m->list);
    LISTS(X)
#undef X
#define X(field, count) visit(context, &m->field[0].data), visit(context, &m->field[1].data);
    NUMBERS(X)
#undef X
}

SapStatus sap_mujoco_create_args(const SapModel *model, const SapPlan *plan, SapFormulationArgs *out) {
    SapArena arena = {0};
    const SapMujocoParameters *a = sap_model_mujoco(model);
    SapMujocoArgs *args = out->args = sap_allocate(1, sizeof *args, "plan");
    if (!args)
        return SAP_ERROR_MEMORY;
    carve_args(&arena, a, plan, args);
    SAP_TRY(sap_arena_allocate(&arena, "plan"));
    carve_args(&arena, a, plan, args);
    *out = (SapFormulationArgs){args, sizeof *args, arena.base, arena.used};
    /* Lists, numbers in both precisions, options. */
    fill_lists(a, plan, args);
    for (int f64 = 0; f64 < 2; f64++) {
        fill_numbers(model, plan, f64, args);
        fill_shapes(model, f64, args);
        fill_pairs(model, f64, args);
        fill_actuators(model, plan, f64, args);
    }
    set_options(model, args);
    return SAP_OK;
}

/* ---- arguments of a call ---- */

void sap_mujoco_set_args(SapStepArgs *step, const void *args) {
    step->mujoco = args;
}

static SapBuffer rows_of(const void *data, int count, SapDtype dtype) {
    return (SapBuffer){.data = (void *)(uintptr_t)data, .stride = count, .is_f64 = dtype == SAP_F64};
}

void sap_mujoco_set_state(void *args, const SapState *in, const SapControl *control, const SapState *out) {
    SapMujocoArgs *m = args;
    int n = m->num_actuators;
    m->ctrl = control ? rows_of(control->actuator_ctrl, n, control->dtype) : (SapBuffer){0};
    m->act_in = rows_of(in->actuator_act, n, in->dtype);
    m->act_out = out ? rows_of(out->actuator_act, n, out->dtype) : (SapBuffer){0};
}

void sap_mujoco_set_contacts(void *args, const SapContacts *c) {
    ((SapMujocoArgs *)args)->contact =
        c ? rows_of(c->mujoco, SAP_MUJOCO_CONTACT_SIZE * c->capacity, SAP_F64) : (SapBuffer){0};
}

void sap_mujoco_set_stages(void *args, void *rk) {
    ((SapMujocoArgs *)args)->rk = rk;
}

void sap_mujoco_acting_range(const SapStepArgs *step, int block, double range[2]) {
    const double *of = (const double *)step->mujoco->block[1].data + (size_t)block * SAP_MUJOCO_BLOCK_SIZE;
    range[0] = of[SAP_MUJOCO_LOWER] + of[SAP_MUJOCO_LIMIT_MARGIN];
    range[1] = of[SAP_MUJOCO_UPPER] - of[SAP_MUJOCO_LIMIT_MARGIN];
}
