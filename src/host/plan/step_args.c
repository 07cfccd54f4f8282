#include "host/plan/step_args.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "host/base/fail.h"
#include "host/options/capabilities.h"
#include "host/plan/formulation.h"
#include "host/plan/layout.h"

static bool is_f64(SapPrecision precision) {
    return precision == SAP_FP64;
}

/* The smallest positive friction coefficient of all shapes, for contacts without a shape; 0.1 if there is none. */
double sap_fallback_mu(const SapModelArrays *m, const SapOptions *o) {
    double least = INFINITY;
    for (int i = 0; i < m->num_shapes; i++)
        if (m->shape_material_mu[i] > 0 && m->shape_material_mu[i] < least)
            least = m->shape_material_mu[i];
    return !isnan(o->fallback_mu) ? o->fallback_mu : isfinite(least) ? least : 0.1;
}

static double value_or(double value, double otherwise) {
    return isnan(value) ? otherwise : value;
}

double sap_fallback_tau(const SapModelArrays *m, const SapOptions *o) {
    return value_or(o->fallback_tau, m->num_shapes > 0 ? m->shape_material_tau[0] : 0);
}

static void set_contact_options(const SapModelArrays *m, const SapOptions *o, SapContactArgs *c) {
    c->capacity = o->max_contacts;
    c->fallback_mu = sap_fallback_mu(m, o);
    c->fallback_stiffness = o->fallback_stiffness;
    c->fallback_tau = sap_fallback_tau(m, o);
    c->beta = o->near_rigid;
    c->sigma = o->friction_regularization;
    c->diag_shift = o->diag_shift;
    c->midpoint = o->contact_point == SAP_CONTACT_MIDPOINT;
    c->diag_delassus = o->contact_weight == SAP_DIAG_DELASSUS;
    c->approximation = (int)o->contact_approximation;
    c->lagged_passes = o->contact_approximation == SAP_APPROXIMATION_LAGGED ? o->lagged_passes : 1;
    c->stiction_tolerance = o->stiction_tolerance;
    c->fallback_dissipation = o->fallback_dissipation;
}

static void set_constraint_options(const SapModelArrays *m, const SapOptions *o, SapConstraintArgs *c) {
    c->speed = value_or(o->constraint_speed, INFINITY);
    c->mixed = o->constraint_weight == SAP_WEIGHT_MIXED;
    c->violated = o->tendon_limit_window == SAP_WINDOW_VIOLATED;
    c->active = m->constraint_active;
}

/* A limit of iterations: 0 is the automatic one, -1 none at all. */
static int limit_of(int option, int automatic) {
    return option == 0 ? automatic : option < 0 ? 0 : option;
}

/* The options of the solvers in impulses. They compute in f64. */
static SapStatus set_dual_options(const SapPlan *plan, const SapOptions *o, SapStepArgs *args, SapDualStepArgs *d) {
    enum { MAX_ROWS = 3072 };
    const SapContactSolverRow *solver = sap_contact_solver(o->contact_solver);
    if (!solver->is_dual)
        return SAP_OK;
    args->dual = d;
    /* Reject what the method cannot solve. */
    long long rows = sap_dual_max_rows(plan, o->max_contacts);
    if (rows > MAX_ROWS)
        return sap_fail(SAP_ERROR_ARGUMENT,
                        "option max_contacts is %d: the world can have %lld rows, and contact_solver %s allows %d",
                        o->max_contacts, rows, solver->name, MAX_ROWS);
    /* Precision, targets of the rows, options of the method. */
    args->solve_is_f64 = 1;
    args->newton.linear_is_f64 = 1;
    d->compliance = (int)o->contact_compliance;
    d->warm_start = o->warm_start;
    d->moreau = o->restitution_rule == SAP_RESTITUTION_MOREAU;
    d->restitution = o->restitution;
    d->bounce_guard = o->restitution > 0 && o->restitution_guard;
    d->restitution_threshold = o->restitution_threshold;
    d->push_factor = o->push_factor;
    d->max_push = o->max_push;
    d->options = (SapDualOptions){.method = solver->dual_method,
                                  .friction_law = o->friction_law,
                                  .optimality_rel_tol = o->optimality_rel_tol,
                                  .optimality_abs_tol = o->optimality_abs_tol,
                                  .max_iterations = o->max_iterations == 0 ? -1 : limit_of(o->max_iterations, 0),
                                  .pgs_omega = o->pgs_omega,
                                  .precision = SAP_FP64};
    return SAP_OK;
}

/* The tolerances of the cost test that a line search has unless they are set. */
static const struct {
    double abs, rel;
} cost_tolerances[] = {
    [SAP_MONOTONE_DECAY] = {0, 5e-3},    /* SAP Warp's: loose */
    [SAP_ARMIJO_DECAY] = {1e-30, 1e-15}, /* Drake's, as for exact_root: the optimality test decides */
    [SAP_EXACT_ROOT] = {1e-30, 1e-15},
    [SAP_WOLFE] = {0, 1e-6},
};

/* The loose test of monotone_decay is SAP Warp's, for the law `sap`. The ramp of friction of the others is narrow: their
 * solve would end far from the minimum, and the next one would start there. */
static double cost_tolerance(const SapOptions *o) {
    bool is_sap = o->contact_approximation == SAP_APPROXIMATION_SAP;
    return cost_tolerances[!is_sap && o->line_search == SAP_MONOTONE_DECAY ? SAP_WOLFE : o->line_search].rel;
}

/* Resolves defaults that depend on the line search. A short step changes the cost little, however far the minimum is,
 * so the cost test reads only steps of at least 1/2; SAP Warp's reads all. */
static void set_newton_options(const SapOptions *o, SapNewtonArgs *n) {
    bool every_step =
        o->compat == SAP_COMPAT_SAP_WARP && (o->line_search == SAP_MONOTONE_DECAY || o->line_search == SAP_WOLFE);
    n->max_iterations = limit_of(o->max_iterations, 100);
    n->line_search_max_iterations =
        limit_of(o->line_search_max_iterations, o->line_search == SAP_EXACT_ROOT ? 100 : 40); /* 100 is Drake's */
    n->line_search = o->line_search;
    n->linear_is_f64 = is_f64(o->linear_solve_precision);
    n->optimality_abs_tol = o->optimality_abs_tol;
    n->optimality_rel_tol = o->optimality_rel_tol;
    n->cost_abs_tol = value_or(o->cost_abs_tol, cost_tolerances[o->line_search].abs);
    n->cost_rel_tol = value_or(o->cost_rel_tol, cost_tolerance(o));
    n->alpha_min = every_step ? 0 : 0.5;
    n->cost_decides = o->compat == SAP_COMPAT_SAP_WARP;
    n->armijo_c = o->armijo_c;
    n->rho = o->armijo_rho;
    n->relative_slop = value_or(o->armijo_slop, 1000 * DBL_EPSILON); /* of differences of costs */
}

static bool has_limit(const SapModelArrays *m, const SapPlan *plan, int i) {
    bool finite = isfinite(m->joint_limit_lower[i]) || isfinite(m->joint_limit_upper[i]);
    return plan->dof_limited[i] && finite && m->joint_limit_ke[i] > 0;
}

/* Whether any dof has a drive, a limit or friction. */
static bool find_joint_terms(const SapModelArrays *m, const SapPlan *plan) {
    for (int i = 0; i < m->num_dofs; i++)
        if (plan->dof_driven[i] || m->joint_friction[i] > 0 || has_limit(m, plan, i))
            return true;
    return false;
}

static bool find_gravcomp(const SapModelArrays *m) {
    for (int b = 0; b < m->num_bodies; b++)
        if (m->body_gravcomp[b] != 0)
            return true;
    return false;
}

SapStatus sap_step_args_init(const SapModelArrays *m, const SapPlan *plan, const SapConstants constants[2],
                             const SapOptions *o, int lanes, SapDualStepArgs *dual, SapStepArgs *args) {
    const SapFormulation *f = sap_formulation(plan->formulation);
    /* Precisions and integration. */
    *args = (SapStepArgs){.plan = *plan,
                          .constants = {constants[0], constants[1]},
                          .num_steps = 1,
                          .euler = o->position_integration == SAP_EULER,
                          .implicit_gyroscopic = o->gyroscopic == SAP_GYROSCOPIC_IMPLICIT && !f->own_motion,
                          .mean_velocity_forces = o->velocity_forces == SAP_VELOCITY_MEAN,
                          .compat = o->compat == SAP_COMPAT_SAP_WARP,
                          .fm_is_f64 = is_f64(o->free_motion_precision),
                          .geometry_is_f64 = o->contact_geometry_f64,
                          .weight_is_f64 = is_f64(o->contact_weight_precision),
                          .solve_is_f64 = is_f64(o->contact_solve_precision),
                          .has_dof_terms = f->own_motion || find_joint_terms(m, plan),
                          .has_gravcomp = find_gravcomp(m),
                          .max_joint_speed = value_or(o->max_joint_speed, 0)};
    /* Solver and contacts. */
    SAP_TRY(sap_require_options(o));
    set_contact_options(m, o, &args->contacts);
    set_constraint_options(m, o, &args->constraints);
    set_newton_options(o, &args->newton);
    SAP_TRY(set_dual_options(plan, o, args, dual));
    args->newton.dense = o->factor_plan != SAP_FACTOR_SPARSE;
    args->newton.lockstep = o->factor_plan == SAP_FACTOR_LIBRARY;
    args->contacts.num_slots = lanes * o->max_contacts;
    /* Collision and scratch layouts. */
    args->collide.max_contacts = o->max_contacts_per_pair;
    args->collide.chunk = 8;
    if (!sap_collide_layout(plan, o->max_contacts, &args->collide))
        return sap_fail(SAP_ERROR_MEMORY, "solver: %d shapes are too many for one world", m->num_shapes);
    if (!sap_solve_layout(plan, args->contacts.num_slots, lanes, args, &dual->layout))
        return sap_fail(SAP_ERROR_MEMORY, "solver: %d contacts of %d dofs are too many for one world", o->max_contacts,
                        m->num_dofs);
    return SAP_OK;
}

/* ---- arguments of a call ---- */

SapStatus sap_check_timestep(const char *what, double h) {
    if (!(h > 0 && isfinite(h)))
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: h is %g; a time step must be finite and greater than 0", what, h);
    return SAP_OK;
}

static SapBuffer buffer(void *data, int stride, SapDtype dtype) {
    return (SapBuffer){.data = data, .stride = stride, .is_f64 = dtype == SAP_F64};
}

void sap_step_args_set_input(SapStepArgs *args, const SapState *in) {
    args->q_in = buffer(in->joint_q, args->plan.nq, in->dtype);
    args->qd_in = buffer(in->joint_qd, args->plan.nv, in->dtype);
}

void sap_step_args_set_bodies(SapStepArgs *args, const SapState *out) {
    args->body_q = buffer(out->body_q, 7 * args->plan.nb, out->dtype);
    args->body_qd = buffer(out->body_qd, 6 * args->plan.nb, out->dtype);
}

void sap_step_args_set_output(SapStepArgs *args, const SapState *out) {
    args->q_out = buffer(out->joint_q, args->plan.nq, out->dtype);
    args->qd_out = buffer(out->joint_qd, args->plan.nv, out->dtype);
    sap_step_args_set_bodies(args, out);
}

/* An array of the control, or the model's own, which has one row for all worlds. */
static SapBuffer control_rows(const SapControl *control, void *data, int stride, const double *of_model) {
    return data ? buffer(data, stride, control->dtype) : buffer((void *)of_model, 0, SAP_F64);
}

static void set_constraint_control(SapConstraintArgs *args, const SapControl *c, const SapModelArrays *m) {
    int nt = m->num_tendons;
    args->active = c->constraint_active ? c->constraint_active : m->constraint_active;
    args->active_stride = c->constraint_active ? m->num_constraints : 0;
    args->target_pos = control_rows(c, c->tendon_target_pos, nt, m->tendon_target_pos);
    args->target_vel = control_rows(c, c->tendon_target_vel, nt, m->tendon_target_vel);
    args->act = buffer(c->tendon_act, nt, c->dtype);
    args->f = buffer(nt > 0 ? c->tendon_f : NULL, nt, c->dtype);
}

void sap_step_args_set_control(SapStepArgs *args, const SapControl *control, const SapModelArrays *m) {
    const SapControl none = {0}, *c = control ? control : &none;
    int nv = args->plan.nv;
    args->target_pos = control_rows(c, c->joint_target_pos, nv, m->joint_target_pos);
    args->target_vel = control_rows(c, c->joint_target_vel, nv, m->joint_target_vel);
    args->act = control_rows(c, c->joint_act, nv, m->joint_act);
    args->joint_f = control ? buffer(c->joint_f, nv, c->dtype) : buffer((void *)m->joint_f, 0, SAP_F64);
    args->body_f = buffer(c->body_f, 6 * args->plan.nb, c->dtype);
    args->guess = buffer(c->guess, nv, c->dtype);
    set_constraint_control(&args->constraints, c, m);
}

void sap_step_args_set_contacts(SapStepArgs *args, const SapContacts *c) {
    SapContactArgs *a = &args->contacts;
    int n = c->capacity;
    a->given_capacity = n;
    a->count = c->count;
    a->dropped = c->dropped;
    a->shape[0] = c->shape0;
    a->shape[1] = c->shape1;
    a->body[0] = c->body0;
    a->body[1] = c->body1;
    a->point[0] = buffer(c->point0, 3 * n, c->dtype);
    a->point[1] = buffer(c->point1, 3 * n, c->dtype);
    a->normal = buffer(c->normal, 3 * n, c->dtype);
    a->margin[0] = buffer(c->margin0, n, c->dtype);
    a->margin[1] = buffer(c->margin1, n, c->dtype);
    sap_step_args_set_parameters(args, c);
}

void sap_step_args_set_parameters(SapStepArgs *args, const SapContacts *c) {
    SapContactArgs *a = &args->contacts;
    int n = c->capacity;
    a->stiffness = buffer(c->stiffness, n, c->dtype);
    a->tau = buffer(c->tau, n, c->dtype);
    a->mu = buffer(c->mu, n, c->dtype);
    a->dissipation = buffer(c->dissipation, n, c->dtype);
}
