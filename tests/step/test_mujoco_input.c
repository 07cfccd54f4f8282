/* What MuJoCo's law refuses, by name, and what it takes as MuJoCo does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/mujoco_rig.h"
#include "support/near.h"
#include "support/need.h"
#include "support/scene_text.h"

/* A mass on three slides weighs 1/m in every direction, and its rotation nothing. */
Test(mujoco_input, a_model_without_its_numbers_gets_computed_weights) {
    Point p;
    point_fill(&p);
    SapModel *model = NULL;
    SapSolver *solver = NULL;
    SapOptions o = rig_options();
    cr_assert_eq(sap_model_create(&p.m, &model), SAP_OK);
    cr_assert_null(sap_model_mujoco(model));
    cr_assert_eq(sap_solver_create(model, 1, &o, &solver), SAP_OK, "%s", sap_error_message());
    const SapMujocoParameters *law = sap_model_mujoco(model);
    cr_assert_not_null(law);
    rig_check(law->body_invweight, p.body_weight, 2, 1e-15, "weight of the body");
    rig_check(law->dof_invweight, p.dof_weight, 3, 1e-15, "weights of dofs");
    cr_assert_eq(law->integrator, SAP_INTEGRATOR_DISCRETE);
    sap_solver_destroy(solver);
    sap_model_destroy(model);
}

/* By hand, for a centre of mass at (c, 0, 0) and a diagonal inertia about it: the body weighs 1/m and the mean of
 * 1/I_i, and so does the rotation of its joint. A push at the origin also turns the body, which adds c^2/I_z in y and
 * c^2/I_y in z; dofs have the mean of their three. */
Test(mujoco_input, a_free_body_has_its_weights_by_hand) {
    const double m = 2, c = 0.3, I[3] = {0.5, 0.4, 0.25}, inertia[9] = {I[0], 0, 0, 0, I[1], 0, 0, 0, I[2]};
    const double centre[3] = {c, 0, 0}, turn = (1 / I[0] + 1 / I[1] + 1 / I[2]) / 3;
    const double move = 1 / m + c * c * (1 / I[1] + 1 / I[2]) / 3;
    Point p;
    SapModel *model = NULL;
    SapSolver *solver = NULL;
    SapOptions o = rig_options();
    point_fill(&p);
    p.type = SAP_JOINT_FREE;
    p.m.num_dofs = 6;
    p.m.num_coords = 7;
    p.m.joint_dof_dim = NULL;
    p.m.joint_axis = p.m.joint_friction = p.m.joint_damping = p.m.joint_limit_lower = p.m.joint_limit_upper = NULL;
    p.m.body_inertia = inertia;
    p.m.body_com = centre;
    cr_assert_eq(sap_model_create(&p.m, &model), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_solver_create(model, 1, &o, &solver), SAP_OK, "%s", sap_error_message());
    const SapMujocoParameters *law = sap_model_mujoco(model);
    rig_check(law->body_invweight, (const double[]){1 / m, turn}, 2, 1e-13, "weight of the body");
    rig_check(law->dof_invweight, (const double[]){move, move, move, turn, turn, turn}, 6, 1e-13, "weights of dofs");
    sap_solver_destroy(solver);
    sap_model_destroy(model);
}

/* Two slides along one axis, the first of nearly no mass: M = [[1, 1], [1, 1]] has no inverse to compute weights
 * from. */
Test(mujoco_input, a_model_without_its_numbers_and_without_a_way_to_compute_them_is_refused_by_name) {
    const int32_t type[2] = {SAP_JOINT_PRISMATIC, SAP_JOINT_PRISMATIC}, parent[2] = {-1, 0}, child[2] = {0, 1};
    const double mass[2] = {1e-30, 1}, axis[6] = {1, 0, 0, 1, 0, 0};
    const double inertia[18] = {1e-30, 0, 0, 0, 1e-30, 0, 0, 0, 1e-30, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    Point p;
    SapModel *model = NULL;
    SapSolver *solver = NULL;
    const SapOptions o = rig_options();
    point_fill(&p);
    sap_model_arrays_default(&p.m);
    p.m.name = "dust";
    p.m.num_bodies = p.m.num_joints = p.m.num_dofs = p.m.num_coords = 2;
    p.m.joint_type = type;
    p.m.joint_parent = parent;
    p.m.joint_child = child;
    p.m.joint_axis = axis;
    p.m.body_mass = mass;
    p.m.body_inertia = inertia;
    cr_assert_eq(sap_model_create(&p.m, &model), SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_solver_create(model, 1, &o, &solver), SAP_ERROR_MODEL);
    cr_assert(strstr(sap_error_message(), "model 'dust' has no mass matrix at joint_q"), "%s", sap_error_message());
    sap_model_destroy(model);
}

static void refuse(const Point *p, const char *word) {
    SapModel *model = NULL;
    cr_assert_eq(sap_model_create_mujoco(&p->m, &p->law, &model), SAP_ERROR_MODEL, "%s", word);
    cr_assert(strstr(sap_error_message(), word), "%s", sap_error_message());
}

Test(mujoco_input, numbers_out_of_range_are_refused_by_name) {
    Point p;
    const double nan3[15] = {NAN};
#define REFUSE(field, value)                                                                                           \
    do {                                                                                                               \
        point_fill(&p);                                                                                                \
        p.law.field = value;                                                                                           \
        refuse(&p, #field);                                                                                            \
    } while (0)
    REFUSE(impratio, 0);
    REFUSE(tolerance, -1);
    REFUSE(ls_tolerance, NAN);
    REFUSE(iterations, 0);
    REFUSE(ls_iterations, -3);
    REFUSE(max_condim, 5);
    REFUSE(refsafe, 2);
    REFUSE(cone, (SapMujocoCone)7);
    REFUSE(integrator, (SapMujocoIntegrator)2);
    REFUSE(body_invweight, NULL);
    REFUSE(dof_invweight, NULL);
    REFUSE(dof_limit_solimp, nan3);
    REFUSE(num_pairs, -1);
    REFUSE(num_actuators, 1 << 20);
#undef REFUSE
}

/* An actuator of two dofs; `change` breaks one number. */
static void refuse_actuator(void (*change)(SapMujocoParameters *), const char *word) {
    static const int32_t of[2] = {0, 0}, dof[2] = {0, 2};
    static const double arm[2] = {1, -1};
    Point p;
    point_fill(&p);
    p.law.num_actuators = 1;
    p.law.num_actuator_terms = 2;
    p.law.actuator_term_of = of;
    p.law.actuator_term_dof = dof;
    p.law.actuator_term_arm = arm;
    if (change) {
        change(&p.law);
        refuse(&p, word);
    } else {
        sap_model_destroy(point_model(&p));
    }
}

static void repeat_a_dof(SapMujocoParameters *law) {
    static const int32_t dof[2] = {1, 1};
    law->actuator_term_dof = dof;
}
static void name_no_dof(SapMujocoParameters *law) {
    static const int32_t dof[2] = {0, 3};
    law->actuator_term_dof = dof;
}
static void invent_dynamics(SapMujocoParameters *law) {
    static const int32_t dynamics[1] = {4};
    law->actuator_dynamics = dynamics;
}
static void turn_the_range(SapMujocoParameters *law) {
    static const double range[2] = {1, -1};
    law->actuator_force_range = range;
}
static void leave_out_arms(SapMujocoParameters *law) {
    law->actuator_term_arm = NULL;
}

Test(mujoco_input, actuators_that_are_wrong_are_refused_by_name) {
    refuse_actuator(NULL, NULL);
    refuse_actuator(repeat_a_dof, "actuator_term_dof[1] is 1, as in term 0");
    refuse_actuator(name_no_dof, "actuator_term_dof[1] is 3; allowed: 0 .. 2");
    refuse_actuator(invent_dynamics, "actuator_dynamics[0] is 4; allowed: 0 .. 3");
    refuse_actuator(turn_the_range, "actuator_force_range[0] is 1, -1");
    refuse_actuator(leave_out_arms, "actuator_term_arm is NULL");
}

Test(mujoco_input, pairs_that_are_wrong_are_refused_by_name) {
    const int32_t unknown[2] = {0, 5};
    Point p;
    point_fill(&p);
    p.law.num_pairs = 1;
    refuse(&p, "pair_shape is NULL");
    p.law.pair_shape = unknown;
    refuse(&p, "pair_shape[0] is 0; allowed: 0 .. -1"); /* the model has no shapes */
}

/* A solver of the model is refused with a message that has `word`. */
static void refuse_solver(const Point *p, const SapOptions *o, const char *word) {
    SapModel *model = point_model(p);
    SapSolver *solver = NULL;
    cr_assert_neq(sap_solver_create(model, 1, o, &solver), SAP_OK, "%s", word);
    cr_assert(strstr(sap_error_message(), word), "%s", sap_error_message());
    sap_model_destroy(model);
}

/* Its spring is an entry of A off the diagonal. */
Test(mujoco_input, an_actuator_that_couples_dofs_in_a_discrete_step_is_refused) {
    static const int32_t of[2] = {0, 0}, dof[2] = {0, 2};
    static const double arm[2] = {1, -1}, bias[3] = {0, -5, 0};
    const SapOptions o = rig_options();
    Point p;
    point_fill(&p);
    p.law.num_actuators = 1;
    p.law.num_actuator_terms = 2;
    p.law.actuator_term_of = of;
    p.law.actuator_term_dof = dof;
    p.law.actuator_term_arm = arm;
    p.law.actuator_bias = bias;
    p.law.integrator = SAP_INTEGRATOR_DISCRETE;
    refuse_solver(&p, &o, "actuator 0 moves several dofs");
}

Test(mujoco_input, forces_of_tendons_that_the_law_does_not_have_are_refused_by_name) {
    const int32_t mode[1] = {SAP_TARGET_POSITION}, start[2] = {0, 1}, term[1] = {SAP_TENDON_JOINT}, dof[1] = {1};
    const double value[3] = {1, 0, 0}, one[1] = {1}, weight[1] = {0.5};
    const char *const tendon[1] = {"rope"};
    const SapOptions o = rig_options();
    Point p, plain;
    point_fill(&plain);
    plain.m.num_tendons = plain.m.num_tendon_terms = 1;
    plain.m.tendon_start = start;
    plain.m.tendon_term_type = term;
    plain.m.tendon_term_index = dof;
    plain.m.tendon_term_value = value;
    plain.m.tendon_name = tendon;
    plain.law.tendon_invweight = weight;
    p = plain;
    p.m.tendon_armature = one;
    refuse_solver(&p, &o, "tendon 'rope' has armature");
    p = plain;
    p.m.tendon_target_mode = mode;
    p.m.tendon_target_kd = one;
    p.law.integrator = SAP_INTEGRATOR_DISCRETE;
    refuse_solver(&p, &o, "tendon 'rope' has a drive and integrator discrete");
    p.law.integrator = SAP_INTEGRATOR_IMPLICITFAST;
    refuse_solver(&p, &o, "tendon 'rope' has a drive with kd and integrator implicitfast");
    p = plain;
    p.law.integrator = SAP_INTEGRATOR_DISCRETE;
    p.m.tendon_spring_ke = one;
    refuse_solver(&p, &o, "tendon 'rope' has a spring and integrator discrete");
    p = plain;
    p.law.integrator = SAP_INTEGRATOR_IMPLICITFAST;
    p.m.tendon_damping = one;
    refuse_solver(&p, &o, "tendon 'rope' has damping and integrator implicitfast");
}

Test(mujoco_input, options_that_the_law_does_not_have_are_refused_by_name) {
    Point p;
    point_fill(&p);
    SapOptions o = rig_options();
    o.isa = SAP_ISA_GENERIC;
    o.lanes = 16;
    refuse_solver(&p, &o,
                  "lanes is 16; isa generic in this library allows 0, 1"); /* and 4, unless it is for this machine */
    o = rig_options();
    o.factor_plan = SAP_FACTOR_LIBRARY;
    refuse_solver(&p, &o, "factor_plan");
    o = rig_options();
    o.sleep_steps = 5;
    refuse_solver(&p, &o, "sleep_steps");
    o = rig_options();
    o.velocity_forces = SAP_VELOCITY_MEAN;
    refuse_solver(&p, &o, "velocity_forces");
}

Test(mujoco_input, rows_are_refused_for_another_law) {
    Point p;
    Rig r;
    point_fill(&p);
    rig_open(&r, point_model(&p), 1);
    SapMujocoRows incomplete = r.rows;
    incomplete.R = NULL;
    cr_assert_eq(sap_solver_record_rows(r.solver, &incomplete), SAP_ERROR_ARGUMENT);
    const SapContactReport pair = {.pair = r.R}, cache = {.cache_key = r.type};
    cr_assert_eq(sap_solver_record(r.solver, &pair), SAP_ERROR_UNSUPPORTED);
    cr_assert(strstr(sap_error_message(), "pair: not with contact_solver mujoco on device cpu: contacts have no pair"),
              "%s", sap_error_message());
    cr_assert_eq(sap_solver_record(r.solver, &cache), SAP_ERROR_UNSUPPORTED);
    cr_assert(strstr(sap_error_message(),
                     "cache_key: not with contact_solver mujoco on device cpu: a step starts from the accelerations"),
              "%s", sap_error_message());
    SapOptions o = rig_options();
    o.contact_solver = SAP_SOLVER_SAP;
    SapSolver *other = NULL;
    cr_assert_eq(sap_solver_create(r.model, 1, &o, &other), SAP_OK);
    cr_assert_eq(sap_solver_record_rows(other, &r.rows), SAP_ERROR_UNSUPPORTED);
    sap_solver_destroy(other);
    rig_close(&r);
}

/* ---- what MuJoCo takes ---- */

/* R and aref of the rows of the golden contact with these numbers, in an elliptic cone. */
static int contact_rows(const SapMujocoContact *contact, double *R, double *aref, double *force) {
    Point p;
    Rig r;
    point_fill(&p);
    p.law.cone = SAP_CONE_ELLIPTIC;
    rig_open(&r, point_model(&p), 1);
    rig_place(&r, 0, (const double[]){0.8, -0.3, -0.05});
    r.record[0] = *contact;
    rig_step(&r, 0.005);
    cr_assert_eq(sap_solver_world_status(r.solver)[0] & SAP_WORLD_FAILED, 0);
    int n = r.count[0];
    memcpy(R, r.R, (size_t)n * sizeof *R);
    memcpy(aref, r.aref, (size_t)n * sizeof *aref);
    memcpy(force, r.force, (size_t)n * sizeof *force);
    rig_close(&r);
    return n;
}

/* R of the normal for an impedance: (1 - imp)/imp w with w = 0.5. */
static double R_of(double imp) {
    return (1 - imp) / imp * 0.5;
}

Test(mujoco_input, a_negative_width_of_solimp_is_the_mean_impedance) {
    double R[8], aref[8], force[8];
    SapMujocoContact contact = rig_on_plane;
    memcpy(contact.solimp, (const double[]){0.6, 0.9, -1, 0.5, 2}, sizeof contact.solimp);
    cr_assert_eq(contact_rows(&contact, R, aref, force), 3);
    check_near(R[0], R_of(0.75), 1e-15, "R");
}

Test(mujoco_input, an_impedance_may_fall_with_depth) {
    double R[8], aref[8], force[8];
    SapMujocoContact contact = rig_on_plane;
    memcpy(contact.solimp, (const double[]){0.95, 0.6, 0.0001, 0.5, 2},
           sizeof contact.solimp); /* deeper than its width */
    cr_assert_eq(contact_rows(&contact, R, aref, force), 3);
    check_near(R[0], R_of(0.6), 1e-14, "R");
}

Test(mujoco_input, friction_below_the_least_is_the_least) {
    double R[8], aref[8], force[8];
    SapMujocoContact contact = rig_on_plane;
    contact.friction[0] = contact.friction[1] = 0;
    cr_assert_eq(contact_rows(&contact, R, aref, force), 3);
    check_near(hypot(force[1], force[2]) / force[0], 1e-5, 1e-12, "friction per normal force");
}

Test(mujoco_input, a_solref_of_mixed_signs_is_the_default) {
    double R[2][8], aref[2][8], force[2][8];
    SapMujocoContact contact = rig_on_plane;
    contact_rows(&contact, R[0], aref[0], force[0]);
    memcpy(contact.solref, (const double[]){0.3, -5}, sizeof contact.solref);
    contact_rows(&contact, R[1], aref[1], force[1]);
    cr_assert_eq(memcmp(aref[0], aref[1], 3 * sizeof(double)), 0);
    memcpy(contact.solref, (const double[]){-300, 5}, sizeof contact.solref);
    contact_rows(&contact, R[1], aref[1], force[1]);
    cr_assert_eq(memcmp(aref[0], aref[1], 3 * sizeof(double)), 0);
}

Test(mujoco_input, a_step_of_no_time_is_refused) {
    Point p;
    Rig r;
    point_fill(&p);
    rig_open(&r, point_model(&p), 1);
    const double bad[] = {0, -0.001, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(sap_step(r.solver, r.in, r.control, r.contacts, bad[i], r.out), SAP_ERROR_ARGUMENT);
        cr_assert(strstr(sap_error_message(), "a time step must be finite and greater than 0"), "%s",
                  sap_error_message());
    }
    rig_close(&r);
}

/* An equality whose control is 0 has no rows: the world moves freely, as MuJoCo's does with all constraints
 * disabled. */
Test(mujoco_input, a_world_whose_constraints_are_all_switched_off_moves_freely) {
    static const int32_t type[1] = {SAP_CONSTRAINT_BALL}, body[2] = {-1, 0};
    Point p;
    Rig r;
    point_fill(&p);
    p.m.num_constraints = 1;
    p.m.constraint_type = type;
    p.m.constraint_body = body;
    rig_open(&r, point_model(&p), 1);
    r.contacts->count[0] = 0;
    rig_set(r.in->joint_qd, 3, (const double[]){1, 2, 3});
    rig_step(&r, 0.01);
    cr_assert_eq(r.count[0], 3);
    r.control->constraint_active[0] = 0;
    rig_step(&r, 0.01);
    cr_assert_eq(r.count[0], 0);
    cr_assert_eq(rig_iterations(&r, 0), 0);
    rig_check(r.out->joint_qd, (const double[]){1, 2, 3 - 0.0981}, 3, 1e-14, "velocity");
    rig_close(&r);
}

/* The weight of a body refers to its centre of mass: 0 on a hinge through it. */
Test(mujoco_input, a_body_whose_centre_of_mass_is_fixed_has_contacts) {
    SapScene *scene =
        parse(HEAD "bodies: [{id: a, shapes: [{type: box, hx: 0.3, hy: 0.1, hz: 0.1}]}]\n"
                   "joints: [{id: j, type: revolute, axis: y, parent: world, child: a, parent_xform: {p: [0, 0, 0.15], "
                   "q: {axis_angle: {axis: y, angle: 0.3}}}}]\n");
    SapBatch *batch;
    SapArray status, force;
    need(sap_options_preset("mujoco64", &scene->options));
    need(sap_batch_create(scene->model, 1, &scene->options, &batch));
    need(sap_batch_array(batch, SAP_BATCH_BODY_CONTACT_WRENCH, &force));
    need(sap_batch_step(batch, 0.002, 1));
    need(sap_batch_array(batch, SAP_BATCH_STATUS, &status));
    cr_expect_eq(*(const uint32_t *)status.data & SAP_WORLD_FAILED, 0, "status 0x%x", *(const uint32_t *)status.data);
    cr_expect_gt(((const double *)force.data)[2], 1);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* The velocities after a step of two balls that touch and slide on each other. The contact is the caller's, without the
 * shape of side `missing`, 0 or 1; -1: with both. */
static void slide(double mu0, double mu1, int missing, double v[12]) {
    char text[1024];
    snprintf(text, sizeof text,
             HEAD "ground: false\nbuilder: {gravity: 0}\n"
                  "bodies:\n- {id: a, shapes: [{type: sphere, radius: 0.1, density: 300, mu: %g}]}\n"
                  "- {id: b, transform: {p: [0, 0, 0.199]}, shapes: [{type: sphere, radius: 0.1, mu: %g}]}\n"
                  "joints:\n- {id: fa, type: free, parent: world, child: a}\n"
                  "- {id: fb, type: free, parent: world, child: b}\n",
             mu0, mu1);
    SapScene *scene = parse(text);
    SapBatch *batch;
    SapContacts *contacts;
    need(sap_options_preset("mujoco64", &scene->options));
    need(sap_batch_create(scene->model, 1, &scene->options, &batch));
    need(sap_contacts_create(1, 1, SAP_F64, &contacts));
    SapState *state = sap_batch_state(batch);
    rig_set(state->joint_qd, 3, (const double[]){1, 0.5, 0.2});
    need(sap_collide(sap_batch_solver(batch), state, contacts));
    cr_assert_eq(contacts->count[0], 1);
    if (missing >= 0)
        *(missing == 0 ? contacts->shape0 : contacts->shape1) = -1;
    need(sap_batch_step_contacts(batch, contacts, 0.002, 1));
    memcpy(v, state->joint_qd, 12 * sizeof *v);
    sap_contacts_destroy(contacts);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* Friction is the larger of the two; weights are those of the bodies, with or without a shape. */
Test(mujoco_input, a_side_without_a_shape_has_the_material_of_the_other_and_its_own_weight) {
    double same[12], rough[12], one_sided[12];
    slide(0.1, 0.1, -1, same);
    slide(0.9, 0.1, -1, rough);
    cr_expect_neq(memcmp(same, rough, sizeof same), 0, "friction does not act");
    slide(0.9, 0.1, 0, one_sided);
    cr_expect_eq(memcmp(same, one_sided, sizeof same), 0, "without the first shape");
    slide(0.1, 0.9, 1, one_sided);
    cr_expect_eq(memcmp(same, one_sided, sizeof same), 0, "without the second shape");
}
