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

static void put_equality(const SapNumbers *numbers, int c, double *row) {
    const SapMujocoParameters *a = &numbers->mujoco;
    memcpy(row + SAP_MUJOCO_WEIGHT, a->constraint_invweight + 2 * c, 2 * sizeof *row);
    row[SAP_MUJOCO_TORQUESCALE] = a->constraint_torquescale[c];
    put_impedance(row, SAP_MUJOCO_IMPEDANCE, (Impedance){a->constraint_solref, a->constraint_solimp}, c);
    /* not used */
    put_impedance(row, SAP_MUJOCO_FRICTIONLOSS_IMPEDANCE, (Impedance){a->constraint_solref, a->constraint_solimp}, c);
}

static void put_dof(const SapNumbers *numbers, const SapModelConstraint *b, double *row) {
    const SapModelArrays *m = &numbers->arrays;
    const SapMujocoParameters *a = &numbers->mujoco;
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

static void put_tendon(const SapNumbers *numbers, int t, double *row) {
    const SapModelArrays *m = &numbers->arrays;
    const SapMujocoParameters *a = &numbers->mujoco;
    row[SAP_MUJOCO_WEIGHT] = row[SAP_MUJOCO_WEIGHT + 1] = a->tendon_invweight[t];
    row[SAP_MUJOCO_LOWER] = m->tendon_limit_lower[t];
    row[SAP_MUJOCO_UPPER] = m->tendon_limit_upper[t];
    row[SAP_MUJOCO_LIMIT_MARGIN] = a->tendon_limit_margin[t];
    row[SAP_MUJOCO_FRICTIONLOSS] = m->tendon_friction[t];
    put_impedance(row, SAP_MUJOCO_IMPEDANCE, (Impedance){a->tendon_limit_solref, a->tendon_limit_solimp}, t);
    put_impedance(row, SAP_MUJOCO_FRICTIONLOSS_IMPEDANCE,
                  (Impedance){a->tendon_friction_solref, a->tendon_friction_solimp}, t);
}

static void put_block(const SapNumbers *numbers, const SapPlan *plan, int i, double *row) {
    const SapModelConstraint *b = &plan->block[i];
    if (b->laws == 1)
        put_equality(numbers, b->index, row);
    else if (b->kind == SAP_BLOCK_TENDON)
        put_tendon(numbers, b->index, row);
    else
        put_dof(numbers, b, row);
}

/* ---- other groups ---- */

static void put_link(const SapNumbers *numbers, const SapPlan *plan, int i, double *row) {
    *row = numbers->mujoco.body_invweight[2 * plan->link[i].body];
}

static void put_forces(const SapNumbers *numbers, const SapPlan *plan, int i, double *row) {
    const SapModelArrays *m = &numbers->arrays;
    const SapMujocoParameters *a = &numbers->mujoco;
    int given = plan->dof_public[i];
    bool driven = m->joint_target_mode[given] != SAP_TARGET_NONE;
    row[SAP_MUJOCO_DAMPING] = m->joint_damping[given];
    row[SAP_MUJOCO_STIFFNESS] = a->dof_stiffness[given];
    row[SAP_MUJOCO_SPRING_REF] = a->dof_spring_ref[given];
    row[SAP_MUJOCO_DRIVE_KP] = driven ? m->joint_target_ke[given] : 0;
    row[SAP_MUJOCO_DRIVE_KD] = driven ? m->joint_target_kd[given] : 0;
    row[SAP_MUJOCO_DRIVE_LOWER] = a->dof_drive_range[2 * given];
    row[SAP_MUJOCO_DRIVE_UPPER] = a->dof_drive_range[2 * given + 1];
}

/* The number of shapes with a lower priority: f32 has it exactly, and the order is that of the priorities. */
static int rank_of(const SapNumbers *numbers, int shape) {
    const int32_t *priority = numbers->mujoco.shape_priority;
    int rank = 0;
    for (int s = 0; s < numbers->arrays.num_shapes; s++)
        rank += priority[s] < priority[shape];
    return rank;
}

static void put_shape(const SapNumbers *numbers, const SapPlan *plan, int i, double *row) {
    const SapMujocoParameters *a = &numbers->mujoco;
    (void)plan;
    row[SAP_MUJOCO_SHAPE_CONDIM] = a->shape_condim[i];
    row[SAP_MUJOCO_SHAPE_PRIORITY] = rank_of(numbers, i);
    row[SAP_MUJOCO_SHAPE_SOLMIX] = a->shape_solmix[i];
    row[SAP_MUJOCO_SHAPE_MARGIN] = a->shape_margin[i];
    row[SAP_MUJOCO_SHAPE_WEIGHT] = a->shape_invweight[i];
    memcpy(row + SAP_MUJOCO_SHAPE_FRICTION, a->shape_friction + 3 * i, 3 * sizeof *row);
    memcpy(row + SAP_MUJOCO_SHAPE_SOLREF, a->shape_solref + 2 * i, 2 * sizeof *row);
    memcpy(row + SAP_MUJOCO_SHAPE_SOLIMP, a->shape_solimp + 5 * i, 5 * sizeof *row);
}

static void put_pair(const SapNumbers *numbers, const SapPlan *plan, int i, double *row) {
    const SapMujocoParameters *a = &numbers->mujoco;
    (void)plan;
    row[SAP_MUJOCO_PAIR_CONDIM] = a->pair_condim[i];
    row[SAP_MUJOCO_PAIR_MARGIN] = a->pair_margin[i];
    memcpy(row + SAP_MUJOCO_PAIR_FRICTION, a->pair_friction + 5 * i, 5 * sizeof *row);
    memcpy(row + SAP_MUJOCO_PAIR_SOLREF, a->pair_solref + 2 * i, 2 * sizeof *row);
    memcpy(row + SAP_MUJOCO_PAIR_SOLREFFRICTION, a->pair_solreffriction + 2 * i, 2 * sizeof *row);
    memcpy(row + SAP_MUJOCO_PAIR_SOLIMP, a->pair_solimp + 5 * i, 5 * sizeof *row);
}

static void put_actuator(const SapNumbers *numbers, const SapPlan *plan, int i, double *row) {
    const SapMujocoParameters *a = &numbers->mujoco;
    (void)plan;
    memcpy(row + SAP_MUJOCO_ACTUATOR_GAIN, a->actuator_gain + 3 * i, 3 * sizeof *row);
    memcpy(row + SAP_MUJOCO_ACTUATOR_BIAS, a->actuator_bias + 3 * i, 3 * sizeof *row);
    memcpy(row + SAP_MUJOCO_ACTUATOR_CTRL, a->actuator_ctrl_range + 2 * i, 2 * sizeof *row);
    memcpy(row + SAP_MUJOCO_ACTUATOR_FORCE, a->actuator_force_range + 2 * i, 2 * sizeof *row);
    memcpy(row + SAP_MUJOCO_ACTUATOR_ACT, a->actuator_act_range + 2 * i, 2 * sizeof *row);
    row[SAP_MUJOCO_ACTUATOR_TAU] = a->actuator_tau[i];
}

static void put_arm(const SapNumbers *numbers, const SapPlan *plan, int i, double *row) {
    (void)plan;
    *row = numbers->mujoco.actuator_term_arm[i];
}

static void put_actuator_range(const SapNumbers *numbers, const SapPlan *plan, int i, double *row) {
    memcpy(row, numbers->mujoco.dof_actuator_range + 2 * plan->dof_public[i], 2 * sizeof *row);
}

static void put_options(const SapNumbers *numbers, const SapPlan *plan, int i, double *row) {
    const SapMujocoParameters *a = &numbers->mujoco;
    (void)plan, (void)i;
    row[SAP_MUJOCO_OPTION_IMPRATIO] = a->impratio;
    row[SAP_MUJOCO_OPTION_TOLERANCE] = a->tolerance;
    row[SAP_MUJOCO_OPTION_ITERATIONS] = a->iterations;
    row[SAP_MUJOCO_OPTION_LS_TOLERANCE] = a->ls_tolerance;
    row[SAP_MUJOCO_OPTION_LS_ITERATIONS] = a->ls_iterations;
}

/* ---- the table of groups ---- */

typedef struct Group {
    int columns;
    void (*put)(const SapNumbers *numbers, const SapPlan *plan, int i, double *row);
} Group;

static const Group groups[SAP_MUJOCO_NUM_GROUPS] = {
    [SAP_MUJOCO_BLOCKS] = {SAP_MUJOCO_BLOCK_SIZE, put_block},
    [SAP_MUJOCO_LINKS] = {1, put_link},
    [SAP_MUJOCO_DOFS] = {SAP_MUJOCO_DOF_SIZE, put_forces},
    [SAP_MUJOCO_SHAPES] = {SAP_MUJOCO_SHAPE_SIZE, put_shape},
    [SAP_MUJOCO_PAIRS] = {SAP_MUJOCO_PAIR_SIZE, put_pair},
    [SAP_MUJOCO_ACTUATORS] = {SAP_MUJOCO_ACTUATOR_SIZE, put_actuator},
    [SAP_MUJOCO_ARMS] = {1, put_arm},
    [SAP_MUJOCO_ACTUATOR_RANGES] = {2, put_actuator_range},
    [SAP_MUJOCO_OPTIONS] = {SAP_MUJOCO_OPTION_SIZE, put_options},
};
enum { MOST_COLUMNS = SAP_MUJOCO_BLOCK_SIZE };

static int rows_of_group(const SapNumbers *numbers, const SapPlan *plan, int group) {
    switch (group) {
    case SAP_MUJOCO_BLOCKS: return plan->num_blocks;
    case SAP_MUJOCO_LINKS: return plan->nl;
    case SAP_MUJOCO_SHAPES: return plan->ns;
    case SAP_MUJOCO_PAIRS: return numbers->mujoco.num_pairs;
    case SAP_MUJOCO_ACTUATORS: return numbers->mujoco.num_actuators;
    case SAP_MUJOCO_ARMS: return numbers->mujoco.num_actuator_terms;
    case SAP_MUJOCO_OPTIONS: return 1;
    default: return plan->nv;
    }
}

int sap_mujoco_group_width(const SapNumbers *numbers, const SapPlan *plan, int group) {
    return rows_of_group(numbers, plan, group) * groups[group].columns;
}

void sap_mujoco_fill_group(const SapNumbers *numbers, const SapPlan *plan, int group, int f64, void *out) {
    int columns = groups[group].columns;
    for (int i = 0, n = rows_of_group(numbers, plan, group); i < n; i++) {
        double row[MOST_COLUMNS] = {0};
        groups[group].put(numbers, plan, i, row);
        for (int k = 0; k < columns; k++)
            sap_put_number(out, f64, (size_t)(columns * i + k), row[k]);
    }
}

SapField *sap_mujoco_group_field(void *args, int group, int f64) {
    return &((SapMujocoArgs *)args)->number[group][f64];
}

/* The groups that have a parameter. */
unsigned sap_mujoco_groups_of(SapParameter p) {
    switch (p) {
    case SAP_PARAMETER_JOINT_DAMPING:
    case SAP_PARAMETER_JOINT_TARGET_KE:
    case SAP_PARAMETER_JOINT_TARGET_KD:
    case SAP_PARAMETER_MUJOCO_DOF_STIFFNESS:
    case SAP_PARAMETER_MUJOCO_DOF_SPRING_REF:
    case SAP_PARAMETER_MUJOCO_DOF_DRIVE_RANGE: return 1u << SAP_MUJOCO_DOFS;
    case SAP_PARAMETER_JOINT_FRICTION:
    case SAP_PARAMETER_JOINT_LIMIT_LOWER:
    case SAP_PARAMETER_JOINT_LIMIT_UPPER:
    case SAP_PARAMETER_TENDON_LIMIT_LOWER:
    case SAP_PARAMETER_TENDON_LIMIT_UPPER:
    case SAP_PARAMETER_TENDON_FRICTION: return 1u << SAP_MUJOCO_BLOCKS;
    case SAP_PARAMETER_MUJOCO_BODY_INVWEIGHT: return 1u << SAP_MUJOCO_LINKS;
    case SAP_PARAMETER_MUJOCO_DOF_ACTUATOR_RANGE: return 1u << SAP_MUJOCO_ACTUATOR_RANGES;
    case SAP_PARAMETER_MUJOCO_ACTUATOR_TERM_ARM: return 1u << SAP_MUJOCO_ARMS;
    default: break;
    }
    return p < SAP_PARAMETER_MUJOCO_IMPRATIO         ? 0
           : p <= SAP_PARAMETER_MUJOCO_LS_ITERATIONS ? 1u << SAP_MUJOCO_OPTIONS
           : p < SAP_PARAMETER_MUJOCO_SHAPE_CONDIM   ? 1u << SAP_MUJOCO_BLOCKS
           : p < SAP_PARAMETER_MUJOCO_PAIR_CONDIM    ? 1u << SAP_MUJOCO_SHAPES
           : p < SAP_PARAMETER_MUJOCO_ACTUATOR_GAIN  ? 1u << SAP_MUJOCO_PAIRS
                                                     : 1u << SAP_MUJOCO_ACTUATORS;
}

/* ---- options ---- */

/* What dofs, actuators and tendons have: in the model, or in some world with parameters of its own. */
typedef struct Features {
    bool damped, driven, servo_damped, tendons_pull, couples;
} Features;

static Features find_features(const SapNumbers *numbers) {
    const SapMujocoParameters *a = &numbers->mujoco;
    const SapModelArrays *m = &numbers->arrays;
    Features f = {0};
    for (int i = 0; i < m->num_dofs; i++) {
        f.damped |= m->joint_damping[i] > 0;
        f.driven |= m->joint_target_mode[i] != SAP_TARGET_NONE;
        f.servo_damped |= m->joint_target_mode[i] != SAP_TARGET_NONE && m->joint_target_kd[i] > 0;
    }
    for (int i = 0; i < a->num_actuators; i++)
        f.servo_damped |= sap_mujoco_has_rate(a, i);
    for (int k = 1; k < a->num_actuator_terms; k++)
        f.couples |=
            a->actuator_term_of[k] == a->actuator_term_of[k - 1] && sap_mujoco_has_rate(a, a->actuator_term_of[k]);
    for (int t = 0; t < m->num_tendons; t++)
        f.tendons_pull |= m->tendon_spring_ke[t] > 0 || m->tendon_damping[t] > 0 || sap_mujoco_tendon_has_drive(m, t);
    return f;
}

/* Which of them the step computes, on top of those that it computes already. */
static void add_features(const SapMujocoParameters *a, const Features *f, SapMujocoArgs *args) {
    bool euler = a->integrator == SAP_INTEGRATOR_EULER && a->eulerdamp;
    args->damped |= args->implicitfast ? f->damped || f->servo_damped : f->damped && euler;
    args->driven |= f->driven ? SAP_MUJOCO_HAS_SERVOS : 0;
    args->couples |= args->implicitfast && f->couples;
    args->tendons_pull |= f->tendons_pull;
}

static void set_options(const SapNumbers *numbers, SapMujocoArgs *args) {
    const SapMujocoParameters *a = &numbers->mujoco;
    Features features = find_features(numbers);
    args->elliptic = a->cone == SAP_CONE_ELLIPTIC;
    args->discrete = a->integrator == SAP_INTEGRATOR_DISCRETE;
    args->implicitfast = a->integrator == SAP_INTEGRATOR_IMPLICITFAST;
    args->driven = a->num_actuators > 0 ? SAP_MUJOCO_HAS_ACTUATORS : 0;
    add_features(a, &features, args);
    args->num_actuators = a->num_actuators;
    args->num_pairs = a->num_pairs;
    args->refsafe = a->refsafe;
    args->warmstart = a->warmstart;
}

/* Worlds may have dampers, springs and gains where the model has none. */
void sap_mujoco_allow(const SapNumbers *numbers, SapParameter p, void *args) {
    const SapMujocoParameters *a = &numbers->mujoco;
    bool gains = p == SAP_PARAMETER_MUJOCO_ACTUATOR_GAIN || p == SAP_PARAMETER_MUJOCO_ACTUATOR_BIAS;
    Features f = find_features(numbers);
    f.damped |= p == SAP_PARAMETER_JOINT_DAMPING;
    f.servo_damped |= gains || (p == SAP_PARAMETER_JOINT_TARGET_KD && f.driven);
    f.couples |= gains && a->num_actuator_terms > a->num_actuators;
    f.tendons_pull |= p == SAP_PARAMETER_TENDON_SPRING_KE || p == SAP_PARAMETER_TENDON_DAMPING;
    add_features(a, &f, args);
}

/* ---- lists ---- */

/* The terms by actuator, and by dof in the order of actuators. */
static void fill_lists(const SapMujocoParameters *a, const SapPlan *plan, const SapMujocoArgs *args) {
    int *pair_shape = (int *)args->pair_shape, *start = (int *)args->dof_term_start, *list = (int *)args->dof_term;
    SapMujocoActuator *actuator = (SapMujocoActuator *)args->actuator;
    SapMujocoTerm *term = (SapMujocoTerm *)args->term;
    int next = 0;
    memcpy(pair_shape, a->pair_shape, 2 * (size_t)a->num_pairs * sizeof *pair_shape);
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

/* The lists of the arguments: X(pointer, elements). */
#define LISTS(X)                                                                                                       \
    X(pair_shape, 2 * a->num_pairs)                                                                                    \
    X(actuator, a->num_actuators)                                                                                      \
    X(term, a->num_actuator_terms)                                                                                     \
    X(dof_term_start, plan->nv + 1)                                                                                    \
    X(dof_term, a->num_actuator_terms)

/* Carves lists, and numbers in f32 and in f64. */
static void carve_args(SapArena *arena, const SapNumbers *numbers, const SapPlan *plan, SapMujocoArgs *args) {
    const SapMujocoParameters *a = &numbers->mujoco;
#define X(list, count) SAP_CARVE(arena, args->list, count);
    LISTS(X)
#undef X
    for (int g = 0; g < SAP_MUJOCO_NUM_GROUPS; g++)
        for (int f64 = 0; f64 < 2; f64++)
            args->number[g][f64].data =
                sap_arena_carve(arena, (size_t)sap_mujoco_group_width(numbers, plan, g), sap_real_bytes(f64));
}

void sap_mujoco_visit_pointers(void *args, SapVisitPointer *visit, void *context) {
    SapMujocoArgs *m = args;
#define X(list, count) visit(context, &m->list);
    LISTS(X)
#undef X
    for (int g = 0; g < SAP_MUJOCO_NUM_GROUPS; g++)
        for (int f64 = 0; f64 < 2; f64++)
            visit(context, &m->number[g][f64].data);
}

SapStatus sap_mujoco_create_args(const SapModel *model, const SapPlan *plan, SapFormulationArgs *out) {
    SapArena arena = {0};
    const SapNumbers numbers = {model->arrays, *sap_model_mujoco(model)};
    SapMujocoArgs *args = out->args = sap_allocate(1, sizeof *args, "plan");
    if (!args)
        return SAP_ERROR_MEMORY;
    carve_args(&arena, &numbers, plan, args);
    SAP_TRY(sap_arena_allocate(&arena, "plan"));
    carve_args(&arena, &numbers, plan, args);
    *out = (SapFormulationArgs){args, sizeof *args, arena.base, arena.used};
    /* Lists, numbers in both precisions, options. */
    fill_lists(&numbers.mujoco, plan, args);
    for (int g = 0; g < SAP_MUJOCO_NUM_GROUPS; g++)
        for (int f64 = 0; f64 < 2; f64++)
            sap_mujoco_fill_group(&numbers, plan, g, f64, (void *)args->number[g][f64].data);
    set_options(&numbers, args);
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
    const double *of =
        (const double *)step->mujoco->number[SAP_MUJOCO_BLOCKS][1].data + (size_t)block * SAP_MUJOCO_BLOCK_SIZE;
    range[0] = of[SAP_MUJOCO_LOWER] + of[SAP_MUJOCO_LIMIT_MARGIN];
    range[1] = of[SAP_MUJOCO_UPPER] - of[SAP_MUJOCO_LIMIT_MARGIN];
}
