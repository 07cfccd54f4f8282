/* The public calls of the solver: each checks its arguments, converts them to kernel arguments, and runs a program. */
#include <sapwood/solver.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/options/capabilities.h"
#include "host/cpu/solver.h"
#include "host/model/energy.h"
#include "host/model/model.h"
#include "host/plan/step_args.h"

/* ---- arguments of a call ---- */

/* Messages begin with `what`, the function that the user called. */
static SapStatus check_batch(const SapSolver *s, const char *what, const char *part, int num_worlds, SapDtype dtype) {
    if (num_worlds != s->num_worlds)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: %s: num_worlds is %d; the solver has %d", what, part, num_worlds,
                        s->num_worlds);
    if (dtype != SAP_F32 && dtype != SAP_F64)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: %s: dtype is %d; it must be SAP_F32 or SAP_F64", what, part,
                        (int)dtype);
    return SAP_OK;
}

static SapStatus check_state(const SapSolver *s, const char *what, const char *part, const SapState *state) {
    SAP_TRY(sap_pool_check(s->pool, what));
    if (!state)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: %s is NULL", what, part);
    SAP_TRY(check_batch(s, what, part, state->num_worlds, state->dtype));
    if (!state->joint_q || !state->joint_qd)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: %s: %s is NULL", what, part, state->joint_q ? "joint_qd" : "joint_q");
    return SAP_OK;
}

static bool are_apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x + a_bytes <= y || y + b_bytes <= x;
}

static SapStatus check_apart(const char *a_name, const void *a, size_t a_bytes, const char *b_name, const void *b,
                             size_t b_bytes) {
    if (!are_apart(a, a_bytes, b, b_bytes))
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_step: %s and %s overlap; they must be apart", a_name, b_name);
    return SAP_OK;
}

/* Two arrays of a state may be identical (in place) or disjoint, but must not overlap partly. */
static SapStatus check_overlap(const char *name, const void *a, size_t a_bytes, const void *b, size_t b_bytes,
                               bool same_layout) {
    if (!are_apart(a, a_bytes, b, b_bytes) && !(a == b && same_layout))
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_step: %s of in and out overlap; they must be the same array or apart",
                        name);
    return SAP_OK;
}

static SapStatus check_in_place(const SapSolver *s, const SapState *in, const SapState *out) {
    const SapPlan *p = &s->args.plan;
    size_t in_size = sap_real_bytes(in->dtype == SAP_F64), out_size = sap_real_bytes(out->dtype == SAP_F64),
           n = (size_t)s->num_worlds;
    size_t nq = n * (size_t)p->nq, nv = n * (size_t)p->nv, nu = n * (size_t)sap_model_num_actuators(s->model);
    bool same = in->dtype == out->dtype;
    SAP_TRY(check_overlap("actuator_act", in->actuator_act, nu * in_size, out->actuator_act, nu * out_size, same));
    SAP_TRY(check_overlap("joint_q", in->joint_q, nq * in_size, out->joint_q, nq * out_size, same));
    SAP_TRY(check_overlap("joint_qd", in->joint_qd, nv * in_size, out->joint_qd, nv * out_size, same));
    SAP_TRY(check_apart("in->joint_q", in->joint_q, nq * in_size, "out->joint_qd", out->joint_qd, nv * out_size));
    SAP_TRY(check_apart("in->joint_qd", in->joint_qd, nv * in_size, "out->joint_q", out->joint_q, nq * out_size));
    return check_apart("out->joint_q", out->joint_q, nq * out_size, "out->joint_qd", out->joint_qd, nv * out_size);
}

static SapStatus set_control(const SapSolver *s, const char *what, const SapControl *control, SapStepArgs *args) {
    if (control)
        SAP_TRY(check_batch(s, what, "control", control->num_worlds, control->dtype));
    sap_step_args_set_control(args, control, sap_model_arrays(s->model));
    return SAP_OK;
}

static SapStatus check_contacts(const SapSolver *s, const char *what, const SapContacts *c) {
    SAP_TRY(check_batch(s, what, "contacts", c->num_worlds, c->dtype));
    if (c->capacity < 1 || c->capacity > s->options.max_contacts)
        return sap_fail(SAP_ERROR_ARGUMENT,
                        "%s: contacts: capacity is %d; it must be in 1 .. max_contacts, which is %d", what, c->capacity,
                        s->options.max_contacts);
    bool own_form = s->formulation->has_records && s->formulation->has_records(c); /* it reads those */
    const struct {
        const char *name;
        const void *data;
        bool needed;
    } required[] = {{"count", c->count, true},
                    {"point0", c->point0, !own_form},
                    {"point1", c->point1, !own_form},
                    {"normal", c->normal, !own_form}};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!required[i].data && required[i].needed)
            return sap_fail(SAP_ERROR_ARGUMENT, "%s: contacts: %s is NULL", what, required[i].name);
    return SAP_OK;
}

static SapStatus check_counts(const char *what, const SapContacts *c) {
    for (int w = 0; w < c->num_worlds; w++)
        if (c->count[w] < 0 || c->count[w] > c->capacity)
            return sap_fail(SAP_ERROR_ARGUMENT, "%s: contacts: count[%d] is %d; it must be in 0 .. %d", what, w,
                            c->count[w], c->capacity);
    return SAP_OK;
}

/* Collision writes the shapes of its contacts and the number of dropped contacts, so these arrays are required. */
static SapStatus check_own_contacts(const SapSolver *s, const char *what, const SapContacts *c) {
    SAP_TRY(check_contacts(s, what, c));
    if (!c->shape0 || !c->shape1 || !c->dropped)
        return sap_fail(SAP_ERROR_ARGUMENT, "%s: contacts: %s is NULL; collision writes it", what,
                        !c->shape0   ? "shape0"
                        : !c->shape1 ? "shape1"
                                     : "dropped");
    return SAP_OK;
}

SapStatus sap_solver_check_arrays(const SapSolver *s, const char *what, const SapState *state,
                                  const SapControl *control, const SapContacts *own_contacts) {
    SAP_TRY(check_state(s, what, "state", state));
    SAP_TRY(check_batch(s, what, "control", control->num_worlds, control->dtype));
    return own_contacts ? check_own_contacts(s, what, own_contacts) : SAP_OK;
}

/* The arguments of the formulation. */
static void set_law(SapSolver *s, const SapState *in, const SapControl *control, const SapState *out,
                    const SapContacts *contacts) {
    if (!s->law)
        return;
    s->formulation->set_state(s->law, in, control, out);
    s->formulation->set_contacts(s->law, contacts);
}

/* ---- steps and collision ---- */

SapStatus sap_step(SapSolver *solver, const SapState *in, const SapControl *control, const SapContacts *contacts,
                   double h, SapState *out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(solver);
    SAP_TRY(check_state(solver, __func__, "in", in));
    SAP_TRY(check_state(solver, __func__, "out", out));
    SAP_TRY(sap_check_timestep(__func__, h));
    SAP_TRY(check_in_place(solver, in, out));
    SapStepArgs args = solver->args;
    args.h = h;
    sap_step_args_set_input(&args, in);
    SAP_TRY(set_control(solver, __func__, control, &args));
    set_law(solver, in, control, out, contacts);
    solver->dual.contact_key = contacts ? contacts->key : NULL;
    if (contacts) {
        if (solver->args.plan.rk4 && solver->options.max_contacts > 0)
            for (int w = 0; w < solver->num_worlds && contacts->count; w++)
                if (contacts->count[w] > 0)
                    SAP_REQUIRE(&solver->options, SAP_CAN_CONTACTS_OF_CALLER_RK4, "sap_step: contacts: world %d has %d",
                                w, contacts->count[w]);
        SAP_TRY(check_contacts(solver, __func__, contacts));
        SAP_TRY(check_counts(__func__, contacts));
        sap_step_args_set_contacts(&args, contacts);
    }
    sap_step_args_set_output(&args, out);
    sap_solver_run(solver, &(SapRun){.args = &args, .program = sap_program_step});
    return SAP_OK;
}

SapStatus sap_collide(SapSolver *solver, const SapState *state, SapContacts *contacts) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(solver);
    SAP_TRY(check_state(solver, __func__, "state", state));
    SAP_NEED(contacts);
    SAP_TRY(check_own_contacts(solver, __func__, contacts));
    SapStepArgs args = solver->args;
    sap_step_args_set_input(&args, state);
    sap_step_args_set_contacts(&args, contacts);
    args.collide.enabled = 1;
    args.num_steps = 0; /* collision only */
    sap_solver_run(solver, &(SapRun){.args = &args, .program = sap_program_collide});
    return SAP_OK;
}

/* ---- kinematics and free motion ---- */

SapStatus sap_forward_kinematics_of(SapSolver *solver, const char *what, SapState *state, const uint8_t *mask) {
    SAP_TRY(check_state(solver, what, "state", state));
    SapStepArgs args = solver->args;
    sap_step_args_set_input(&args, state);
    sap_step_args_set_bodies(&args, state);
    args.num_steps = 0;
    sap_solver_run(solver, &(SapRun){.args = &args, .program = sap_program_kinematics, .mask = mask});
    return SAP_OK;
}

SapStatus sap_forward_kinematics(SapSolver *solver, SapState *state) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(solver);
    return sap_forward_kinematics_of(solver, __func__, state, NULL);
}

/* Computes the energy from poses and velocities; allocates these temporarily if the caller does not request them. */
static SapStatus inspect_with_energy(SapSolver *s, const SapStepArgs *args, SapInspectArgs *inspect, double *energy) {
    size_t bodies = (size_t)s->num_worlds * (size_t)s->args.plan.nb;
    double *pose = NULL, *velocity = NULL;
    SapStatus status = SAP_OK;
    if (!inspect->body_pose)
        inspect->body_pose = pose = sap_allocate(bodies, 7 * sizeof(double), "energy");
    if (!inspect->body_velocity)
        inspect->body_velocity = velocity = sap_allocate(bodies, 6 * sizeof(double), "energy");
    if (!inspect->body_pose || !inspect->body_velocity) {
        status = SAP_ERROR_MEMORY;
    } else {
        sap_solver_run(s, &(SapRun){.args = args, .program = sap_program_inspect});
        for (int w = 0; w < s->num_worlds; w++) {
            if (s->args.status[w] & SAP_WORLD_BAD_PARAMETERS)
                continue;
            SapNumbers numbers = sap_per_world_numbers(&s->per_world, w);
            sap_energy(&numbers.arrays, inspect->body_pose + (size_t)w * 7 * (size_t)s->args.plan.nb,
                       inspect->body_velocity + (size_t)w * 6 * (size_t)s->args.plan.nb, energy + 2 * w);
        }
    }
    free(pose);
    free(velocity);
    return status;
}

SapStatus sap_free_motion(SapSolver *solver, const SapState *in, const SapControl *control, double h,
                          const SapFreeMotion *out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(solver);
    SAP_NEED(out);
    SAP_TRY(check_state(solver, __func__, "in", in));
    SAP_TRY(sap_check_timestep(__func__, h));
    SapStepArgs args = solver->args;
    args.h = h;
    SapInspectArgs inspect = {.v_star = out->v_star,
                              .A = out->A,
                              .tau = out->tau,
                              .v0 = out->joint_qd,
                              .body_pose = out->body_pose,
                              .body_velocity = out->body_velocity,
                              .body_bias = out->body_bias};
    args.inspect = &inspect;
    sap_step_args_set_input(&args, in);
    SAP_TRY(set_control(solver, __func__, control, &args));
    set_law(solver, in, control, NULL, NULL);
    size_t nv = (size_t)solver->args.plan.nv;
    if (out->A) /* the kernels write the entries of the tree pattern only */
        memset(out->A, 0, (size_t)solver->num_worlds * nv * nv * sizeof *out->A);
    if (out->energy)
        return inspect_with_energy(solver, &args, &inspect, out->energy);
    sap_solver_run(solver, &(SapRun){.args = &args, .program = sap_program_inspect});
    return SAP_OK;
}
