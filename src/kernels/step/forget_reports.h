/* The reports of a world that failed or that a call skips are 0: what its solve leaves behind, such as a NaN, may have
 * other bits on other machines. The functions process one world. */
#ifndef SAPWOOD_KERNELS_STEP_FORGET_REPORTS_H
#define SAPWOOD_KERNELS_STEP_FORGET_REPORTS_H

#include "kernels/data/args.h"
#include "kernels/dialect/team.h"

/* Sets the n numbers of a world to 0, if the array is present. */
TEAM_FN void forget_numbers(double *data, int world, int n) {
    if (data)
        TEAM_FOR(i, n)
            data[(long long)world * n + i] = 0;
}

TEAM_FN void forget_ints(int *data, int world, int n) {
    if (data)
        TEAM_FOR(i, n)
            data[(long long)world * n + i] = 0;
}

/* The reports of the rows of the problem. */
TEAM_FN void forget_rows(const SapRowReport *r, int world, int nv) {
    int *const ints[3] = {r->type, r->id, r->state};
    double *const numbers[8] = {r->pos, r->margin, r->velocity, r->imp, r->R, r->aref, r->cost, r->force};
    for (int i = 0; i < 3; i++)
        forget_ints(ints[i], world, r->capacity);
    for (int i = 0; i < 8; i++)
        forget_numbers(numbers[i], world, r->capacity);
    for (int k = 0; k < r->capacity; k++)
        forget_numbers(r->jacobian, world * r->capacity + k, nv);
    forget_ints(r->count, world, 1);
    forget_ints(r->active, world, 1);
    forget_numbers(r->qacc, world, nv);
}

/* The reports of contacts. */
TEAM_FN void forget_contacts(const SapReportArgs *r, int world, int capacity, int nv) {
    double *const threes[5] = {r->impulse, r->velocity, r->pair, r->position, r->force};
    for (int i = 0; i < 5; i++)
        forget_numbers(threes[i], world, 3 * capacity);
    forget_numbers(r->frame, world, 9 * capacity);
    forget_numbers(r->gap, world, capacity);
    forget_numbers(r->weight, world, capacity);
    forget_ints(r->region, world, capacity);
    for (int k = 0; r->jacobian && k < capacity; k++)
        forget_numbers(r->jacobian, world * capacity + k, 3 * nv);
}

/* The reports of constraints and tendons. */
TEAM_FN void forget_constraints(const SapReportArgs *r, int world, const SapPlan *plan) {
    double *const rows[6] = {r->row_impulse, r->row_error, r->row_velocity, r->row_weight, r->row_target, r->row_R};
    double *const tendons[8] = {r->tendon_length, r->tendon_velocity, r->tendon_force,    r->tendon_limit,
                                r->tendon_spring, r->tendon_damper,   r->tendon_friction, r->tendon_drive};
    for (int i = 0; i < 6; i++)
        forget_numbers(rows[i], world, plan->num_rows);
    forget_numbers(r->row_jacobian, world, plan->num_rows * plan->nv);
    forget_numbers(r->constraint_wrench, world, 6 * plan->num_constraints);
    forget_numbers(r->body_constraint_wrench, world, 6 * plan->nb);
    forget_numbers(r->constraint_residual, world, 1);
    for (int i = 0; i < 8; i++)
        forget_numbers(tendons[i], world, plan->num_tendons);
}

/* All reports of the world. Counters too: they belong to no solve. */
TEAM_RARE_FN void forget_reports(const SapStepArgs *args, int world) {
    const SapReportArgs *r = &args->report;
    const SapPlan *plan = &args->plan;
    int *const counters[5] = {r->iterations, r->line_iterations, r->f64_retries, r->safeguards, r->active};
    double *const dofs[3] = {r->drive, r->limit, r->friction};
    for (int i = 0; i < 5; i++)
        forget_ints(counters[i], world, 1);
    forget_numbers(r->cost, world, 1);
    forget_numbers(r->residual, world, 1);
    for (int i = 0; i < 3; i++)
        forget_numbers(dofs[i], world, plan->nv);
    forget_numbers(r->wrench, world, 6 * plan->nb);
    forget_contacts(r, world, args->contacts.capacity, plan->nv);
    forget_constraints(r, world, plan);
    if (!r->extra)
        return;
    double *const forces[4] = {r->extra->joint_drive, r->extra->joint_limit, r->extra->joint_friction,
                               r->extra->joint_constraint};
    for (int i = 0; i < 4; i++)
        forget_numbers(forces[i], world, plan->nv);
    forget_rows(&r->extra->rows, world, plan->nv);
}

#endif
