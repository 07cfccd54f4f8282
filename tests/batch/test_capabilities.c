/* The table of capabilities against what the library does: every capability is tried with every formulation on the CPU.
 * YES: it works, and where it changes a result, the result changes. NO: it is refused, and the message has the reason of
 * the table. Not applicable: it is refused, or accepted without changing a bit. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

enum { WORLDS = 2, STEPS = 12, SOLVERS = SAP_NUM_CONTACT_SOLVERS };

/* ---- a trial: a batch of tests/scenes/reports.yaml, or of what a capability makes of it ---- */

typedef struct Trial {
    SapContactSolver solver;
    SapModelArrays a; /* of the scene; its arrays are copies that a trial may write into */
    SapMujocoParameters law;
    SapOptions o;
    double *weights;
    SapModel *scene_model;
    SapBatch *batch;
    const char *scene; /* another one than reports.yaml */
} Trial;

typedef struct Probe {
    const char *name;
    void (*set)(Trial *);       /* asks for it in the model or the options; NULL: nothing */
    SapStatus (*call)(Trial *); /* asks for it in a call, after the first steps; NULL: nothing */
    bool changes;               /* it changes the state, if it works */
    bool always;                /* the call is a part of the trial to compare with too */
    void (*base)(Trial *);      /* in the trial to compare with too; NULL: nothing */
} Probe;

/* Copies of the arrays that trials write into. They are small, and a test is a process: nothing is freed. */
static void *copy(const void *from, size_t bytes) {
    void *to = malloc(bytes + 1);
    cr_assert_not_null(to);
    return memcpy(to, from, bytes);
}
#define COPY(t, array, count) ((t)->a.array = copy((t)->a.array, (size_t)(count) * sizeof *(t)->a.array))
#define INTS(t, array)        ((int32_t *)(uintptr_t)(t)->a.array)
#define REALS(t, array)       ((double *)(uintptr_t)(t)->a.array)

static void begin(Trial *t, SapContactSolver solver, const char *path) {
    SapScene *scene;
    *t = (Trial){.solver = solver};
    cr_assert_eq(sap_scene_load(path, &scene), SAP_OK, "%s", sap_error_message());
    t->scene_model = scene->model;
    t->a = *sap_model_arrays(scene->model);
    cr_assert_eq(sap_options_preset(solver == SAP_SOLVER_MUJOCO ? "mujoco64" : "fast64", &t->o), SAP_OK);
    t->o.contact_solver = solver;
    t->o.threads = 1;
    t->o.max_contacts = 24;
    t->o.restitution_threshold = 0;
    int nc = t->a.num_constraints, nt = t->a.num_tendons, nv = t->a.num_dofs;
    COPY(t, constraint_active, nc);
    COPY(t, constraint_type, nc);
    COPY(t, constraint_side, nc);
    COPY(t, tendon_spring_ke, nt);
    COPY(t, tendon_damping, nt);
    COPY(t, tendon_friction, nt);
    COPY(t, tendon_armature, nt);
    COPY(t, tendon_target_mode, nt);
    COPY(t, tendon_target_kd, nt);
    COPY(t, tendon_limit_lower, nt);
    COPY(t, tendon_limit_upper, nt);
    COPY(t, tendon_term_value, 3 * t->a.num_tendon_terms);
    COPY(t, joint_target_mode, nv);
    COPY(t, joint_target_kd, nv);
    COPY(t, joint_qd, nv);
    COPY(t, shape_material_mu, t->a.num_shapes);
    for (int i = 0; i < nv; i++) /* everything moves */
        REALS(t, joint_qd)[i] = 0.1 + 0.01 * i;
    /* MuJoCo's parameters, which other formulations do not read. */
    size_t nb = (size_t)t->a.num_bodies;
    t->weights = malloc((2 * nb + (size_t)nv + (size_t)nt + 1) * sizeof *t->weights);
    sap_mujoco_arrays_default(&t->law);
    cr_assert_eq(sap_mujoco_weights(t->scene_model, t->weights, t->weights + 2 * nb, t->weights + 2 * nb + nv), SAP_OK);
    t->law.body_invweight = t->weights;
    t->law.dof_invweight = t->weights + 2 * nb;
    t->law.tendon_invweight = t->weights + 2 * nb + nv;
}

static SapStatus open(Trial *t) {
    SapModel *model;
    SapStatus status = sap_model_create_mujoco(&t->a, &t->law, &model);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    status = sap_batch_create(model, WORLDS, &t->o, &t->batch);
    sap_model_destroy(model);
    return status;
}

static uint64_t hash_state(const Trial *t) {
    SapArray q, qd;
    uint64_t hash = 1469598103934665603u;
    cr_assert_eq(sap_batch_array(t->batch, SAP_BATCH_JOINT_Q, &q), SAP_OK);
    cr_assert_eq(sap_batch_array(t->batch, SAP_BATCH_JOINT_QD, &qd), SAP_OK);
    for (int64_t i = 0; i < q.shape[0] * q.strides[0]; i++)
        hash = (hash ^ ((const uint8_t *)q.data)[i]) * 1099511628211u;
    for (int64_t i = 0; i < qd.shape[0] * qd.strides[0]; i++)
        hash = (hash ^ ((const uint8_t *)qd.data)[i]) * 1099511628211u;
    return hash;
}

/* The status of a probe, or of the same trial without it; and the state after some steps. */
static SapStatus run(const Probe *p, SapContactSolver solver, bool with, uint64_t *hash) {
    Trial t;
    begin(&t, solver, "tests/scenes/reports.yaml");
    if (p->base)
        p->base(&t);
    if (with && p->set)
        p->set(&t);
    SapStatus status = open(&t);
    if (status == SAP_OK)
        status = sap_batch_step(t.batch, 0.005, STEPS / 2);
    if (status == SAP_OK && p->call && (with || p->always))
        status = p->call(&t);
    if (status == SAP_OK)
        status = sap_batch_step(t.batch, 0.005, STEPS / 2);
    *hash = status == SAP_OK ? hash_state(&t) : 0;
    sap_batch_destroy(t.batch);
    sap_model_destroy(t.scene_model);
    return status;
}

/* ---- what trials ask for ---- */

static void set_fp32_solve(Trial *t) {
    t->o.contact_solve_precision = SAP_FP32;
}
static void set_fp32_motion(Trial *t) {
    t->o.free_motion_precision = SAP_FP32;
}
static void set_midpoint(Trial *t) {
    t->o.position_integration = SAP_MIDPOINT;
}
static void set_explicit(Trial *t) {
    t->o.gyroscopic = SAP_GYROSCOPIC_EXPLICIT;
}
static void set_implicit(Trial *t) {
    t->o.gyroscopic = SAP_GYROSCOPIC_IMPLICIT;
}
static void set_mean(Trial *t) {
    t->o.velocity_forces = SAP_VELOCITY_MEAN;
}
static void set_speed(Trial *t) {
    t->o.max_joint_speed = 1e-3;
}
static void set_approximation(Trial *t) {
    t->o.contact_approximation = SAP_APPROXIMATION_LAGGED;
}
static void set_line_search(Trial *t) {
    t->o.line_search = SAP_MONOTONE_DECAY;
}
static void set_dense(Trial *t) {
    t->o.factor_plan = SAP_FACTOR_DENSE;
}
static void set_library(Trial *t) {
    t->o.factor_plan = SAP_FACTOR_LIBRARY;
}
static void set_compat(Trial *t) {
    t->o.compat = SAP_COMPAT_SAP_WARP;
}
static void set_coulomb(Trial *t) {
    t->o.friction_law = SAP_FRICTION_COULOMB;
}
static void set_omega(Trial *t) {
    t->o.pgs_omega = 0.5;
}
static void set_material(Trial *t) {
    t->o.contact_compliance = SAP_COMPLIANCE_MATERIAL;
}
static void set_regularised(Trial *t) {
    t->o.contact_compliance = SAP_COMPLIANCE_SAP;
}
static void set_restitution(Trial *t) {
    t->o.restitution = 0.9;
}
static void set_warm(Trial *t) {
    t->o.warm_start = true;
}
static void set_loose(Trial *t) { /* so that a start shows in the result */
    t->o.optimality_rel_tol = 1e-2;
}
static void set_sleep(Trial *t) {
    t->o.sleep_steps = 2;
    t->o.sleep_speed = 1e3;
}
static void set_one_lane(Trial *t) {
    t->o.lanes = 1;
}
static void set_16_lanes(Trial *t) {
    t->o.lanes = 16;
}
static void set_thread(Trial *t) {
    t->o.team_size = 1;
}
static void set_specialize(Trial *t) {
    t->o.specialize = SAP_SPECIALIZE_ON;
}
static void plain_tendon(Trial *t) { /* without what some integrators refuse */
    for (int i = 0; i < t->a.num_tendons; i++) {
        REALS(t, tendon_spring_ke)[i] = 0;
        REALS(t, tendon_damping)[i] = 0;
        INTS(t, tendon_target_mode)[i] = SAP_TARGET_NONE;
        REALS(t, tendon_target_kd)[i] = 0;
    }
}
#define INTEGRATOR(function, NAME)                                                                                     \
    static void function(Trial *t) {                                                                                   \
        plain_tendon(t);                                                                                               \
        t->law.integrator = SAP_INTEGRATOR_##NAME;                                                                     \
    }
INTEGRATOR(set_euler, EULER)
INTEGRATOR(set_rk4, RK4)
INTEGRATOR(set_implicitfast, IMPLICITFAST)
INTEGRATOR(set_discrete, DISCRETE)
static void deactivate(Trial *t, int type) {
    for (int c = 0; c < t->a.num_constraints; c++)
        if (t->a.constraint_type[c] == type)
            INTS(t, constraint_active)[c] = 0;
}
static void set_no_ball(Trial *t) {
    deactivate(t, SAP_CONSTRAINT_BALL);
}
static void set_no_weld(Trial *t) {
    deactivate(t, SAP_CONSTRAINT_WELD);
}
static void set_no_coupler(Trial *t) {
    deactivate(t, SAP_CONSTRAINT_COUPLER);
}
static void set_distance(Trial *t) {
    double *length = calloc((size_t)t->a.num_constraints, sizeof *length);
    length[0] = 0.01;
    t->a.constraint_length = length;
    INTS(t, constraint_type)[0] = SAP_CONSTRAINT_DISTANCE;
}
static void set_side(Trial *t) {
    INTS(t, constraint_side)[2] = SAP_SIDE_UPPER;
}
static int finger(const Trial *t) {
    for (int j = 0; j < t->a.num_joints; j++)
        if (strcmp(t->a.joint_name[j], "finger_a") == 0)
            return t->a.joint_qd_start[j];
    return -1;
}
static void set_no_drive(Trial *t) {
    INTS(t, joint_target_mode)[finger(t)] = SAP_TARGET_NONE;
}
static void set_free_drive(Trial *t) {
    for (int i = 0; i < 6; i++) {
        INTS(t, joint_target_mode)[i] = SAP_TARGET_VELOCITY;
        REALS(t, joint_target_kd)[i] = 50;
    }
}
static void set_no_friction(Trial *t) {
    for (int s = 0; s < t->a.num_shapes; s++)
        REALS(t, shape_material_mu)[s] = 0;
    double *friction = calloc(3 * (size_t)t->a.num_shapes, sizeof *friction);
    t->law.shape_friction = friction;
}
static void set_condim(Trial *t) {
    int32_t *condim = calloc((size_t)t->a.num_shapes, sizeof *condim);
    for (int s = 0; s < t->a.num_shapes; s++)
        condim[s] = 6;
    t->law.shape_condim = condim;
}
static void set_no_terms(Trial *t) {
    for (int i = 0; i < 3 * t->a.num_tendon_terms; i++)
        REALS(t, tendon_term_value)[i] *= 0.5;
}
static void set_path(Trial *t) {
    static const int32_t start[2] = {0, 2}, type[2] = {SAP_TENDON_POINT, SAP_TENDON_POINT}, body[2] = {8, 9};
    static const double point[6] = {0, 0, 0.02, 0, 0, -0.02};
    plain_tendon(t);
    t->a.num_tendons = 1;
    t->a.num_tendon_terms = 2;
    t->a.tendon_start = start;
    t->a.tendon_term_type = type;
    t->a.tendon_term_index = body;
    t->a.tendon_term_value = point;
}
static void set_no_limit(Trial *t) {
    REALS(t, tendon_limit_lower)[0] = -INFINITY;
    REALS(t, tendon_limit_upper)[0] = INFINITY;
}
static void set_no_tendon_friction(Trial *t) {
    REALS(t, tendon_friction)[0] = 0;
}
static void set_armature(Trial *t) {
    REALS(t, tendon_armature)[0] = 0.5;
}
#define TENDON(function, prepare, statement)                                                                           \
    static void function(Trial *t) {                                                                                   \
        prepare(t);                                                                                                    \
        statement;                                                                                                     \
    }
TENDON(set_spring, set_euler, REALS(t, tendon_spring_ke)[0] = 300)
TENDON(set_spring_discrete, set_discrete, REALS(t, tendon_spring_ke)[0] = 300)
TENDON(set_damping, set_euler, REALS(t, tendon_damping)[0] = 3)
TENDON(set_damping_discrete, set_discrete, REALS(t, tendon_damping)[0] = 3)
TENDON(set_damping_implicit, set_implicitfast, REALS(t, tendon_damping)[0] = 3)
TENDON(set_tendon_drive, set_euler, INTS(t, tendon_target_mode)[0] = SAP_TARGET_POSITION)
TENDON(set_drive_discrete, set_discrete, INTS(t, tendon_target_mode)[0] = SAP_TARGET_POSITION)
static void set_drive_kd(Trial *t) {
    set_tendon_drive(t);
    REALS(t, tendon_target_kd)[0] = 3;
}
static void set_drive_kd_implicit(Trial *t) {
    set_drive_kd(t);
    t->law.integrator = SAP_INTEGRATOR_IMPLICITFAST;
}
static void add_actuator(Trial *t, int terms) {
    static int32_t of[2], dof[2];
    static const double arm[2] = {1, 1}, gain[3] = {1, 0, 0}, bias[3] = {3, -5, 0};
    dof[0] = finger(t);
    dof[1] = finger(t) + 1;
    t->law.num_actuators = 1;
    t->law.num_actuator_terms = terms;
    t->law.actuator_term_of = of;
    t->law.actuator_term_dof = dof;
    t->law.actuator_term_arm = arm;
    t->law.actuator_gain = gain;
    t->law.actuator_bias = bias;
}
static void set_actuator(Trial *t) {
    set_euler(t);
    add_actuator(t, 1);
}
static void set_coupled_actuator(Trial *t) {
    set_discrete(t);
    if (t->solver == SAP_SOLVER_MUJOCO) /* others refuse actuators */
        add_actuator(t, 2);
}
static void set_law_euler(Trial *t) { /* the base of trials of integrators */
    set_euler(t);
}

/* Room for any array of a report. */
static void *room(void) {
    return calloc(1 << 20, sizeof(double));
}
static SapStatus call_reset(Trial *t) {
    return sap_batch_reset(t->batch, NULL, 0);
}
static SapStatus call_given(Trial *t) {
    return sap_batch_step_contacts(t->batch, sap_batch_contacts(t->batch), 0.005, 1);
}
static SapStatus call_given_guard(Trial *t) {
    SapStatus status = sap_batch_guard(t->batch, 2);
    return status == SAP_OK ? call_given(t) : status;
}
static SapStatus call_guard(Trial *t) {
    char path[] = "/tmp/capabilities_XXXXXX";
    SapDump *dump = NULL;
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    close(file);
    SapStatus status = sap_batch_guard(t->batch, 2);
    if (status == SAP_OK)
        status = sap_batch_step(t->batch, 0.005, 1);
    if (status == SAP_OK)
        status = sap_batch_dump(t->batch, 1, path);
    if (status == SAP_OK)
        status = sap_dump_load(path, &dump);
    sap_dump_destroy(dump);
    remove(path);
    return status;
}
static SapStatus call_assemble(Trial *t) {
    return sap_batch_assemble(t->batch, NULL, NULL);
}
static SapStatus call_attach(Trial *t) {
    return sap_batch_attach(t->batch, 1, NULL);
}
static SapStatus call_expand(Trial *t) {
    SapArray view;
    return sap_batch_expand(t->batch, SAP_PARAMETER_BODY_MASS, &view);
}
static SapStatus call_raycast(Trial *t) {
    static const double origin[3] = {0, 0, 2}, direction[3] = {0, 0, -1};
    double distance[WORLDS] = {0};
    SapRays rays;
    sap_rays_default(&rays);
    rays.num_rays = rays.shared = 1;
    rays.origin = origin;
    rays.direction = direction;
    rays.distance = distance;
    SapStatus status = sap_batch_raycast(t->batch, &rays);
    cr_expect(status != SAP_OK || distance[0] > 0);
    return status;
}
static SapStatus call_set_sensors(Trial *t) {
    static const int32_t body[1] = {0};
    SapArray view;
    SapStatus status = sap_batch_set_sensors(
        t->batch, &(SapSensors){.num_sites = 1, .site_body = body, .num_touch = 1, .touch_body = body});
    return status == SAP_OK ? sap_batch_array(t->batch, SAP_BATCH_TOUCH_FORCE, &view) : status;
}
static SapStatus call_set_stream(Trial *t) {
    return sap_batch_set_stream(t->batch, NULL);
}
static SapStatus call_host_structs(Trial *t) {
    return sap_batch_state(t->batch) ? SAP_OK : SAP_ERROR_UNSUPPORTED;
}
static SapStatus call_solver(Trial *t) {
    SapSolver *solver;
    SapModel *model;
    cr_assert_eq(sap_model_create_mujoco(&t->a, &t->law, &model), SAP_OK);
    SapStatus status = sap_solver_create(model, 1, &t->o, &solver);
    sap_solver_destroy(solver);
    sap_model_destroy(model);
    return status;
}
static SapStatus call_solver_of_batch(Trial *t) {
    return sap_batch_solver(t->batch) ? SAP_OK : SAP_ERROR_UNSUPPORTED;
}
static SapStatus call_record_pair(Trial *t) {
    return sap_solver_record(sap_batch_solver(t->batch), &(SapContactReport){.pair = room()});
}
static SapStatus call_record_cache(Trial *t) {
    return sap_solver_record(sap_batch_solver(t->batch),
                             &(SapContactReport){.cache_key = room(), .cache = room(), .dof_cache = room()});
}
static SapStatus call_record_constraints(Trial *t) {
    return sap_solver_record_constraints(sap_batch_solver(t->batch), &(SapConstraintReport){.impulse = room()});
}
static SapStatus call_record_problem(Trial *t) {
    SapSolver *solver = sap_batch_solver(t->batch);
    SapDualRecord record = {.max_rows = sap_solver_problem_rows(solver),
                            .num_blocks = room(),
                            .kind = room(),
                            .W = room(),
                            .b = room(),
                            .mu = room(),
                            .lo = room(),
                            .hi = room(),
                            .impulse = room()};
    return sap_solver_record_problem(solver, &record);
}
static SapStatus call_record_rows(Trial *t) {
    SapMujocoRows rows = {.capacity = 64,
                          .count = room(),
                          .type = room(),
                          .state = room(),
                          .jacobian = room(),
                          .pos = room(),
                          .R = room(),
                          .aref = room(),
                          .force = room()};
    return sap_solver_record_rows(sap_batch_solver(t->batch), &rows);
}

static SapStatus call_gradients(Trial *t) {
    SapGradientSteps steps = {.h = 0.005, .steps = 1};
    size_t rows = 2 * (size_t)t->a.num_dofs;
    double *A = malloc(WORLDS * rows * rows * sizeof *A);
    SapStatus status = sap_batch_linearize(t->batch, &steps, A);
    cr_expect(status != SAP_OK || isfinite(A[0]));
    free(A);
    return status;
}

static SapStatus call_gradients_of_grid(Trial *t) {
    int size;
    return sap_gradient_input_size(t->batch, "shape_mesh", &size);
}

static const Probe probes[] = {
    {"contact_solve_fp32", .set = set_fp32_solve, .changes = true},
    {"free_motion_fp32", .set = set_fp32_motion, .changes = true},
    {"midpoint", .set = set_midpoint, .changes = true},
    {"gyroscopic_implicit", .set = set_implicit, .changes = true, .base = set_explicit},
    {"velocity_forces_mean", .set = set_mean, .changes = true},
    {"max_joint_speed", .set = set_speed, .changes = true},
    {"line_search", .set = set_line_search, .changes = true},
    {"contact_approximation", .set = set_approximation, .changes = true},
    {"factor_dense", .set = set_dense},
    {"factor_library", .set = set_library},
    {"compat_sap_warp", .set = set_compat},
    {"friction_coulomb", .set = set_coulomb, .changes = true},
    {"pgs_omega", .set = set_omega, .changes = true},
    {"compliance_material", .set = set_material, .changes = true},
    {"compliance_sap", .set = set_regularised, .changes = true},
    {"restitution", .set = set_restitution, .changes = true},
    {"warm_start", .set = set_warm, .base = set_loose},
    {"sleep", .set = set_sleep, .changes = true},
    {"lanes", .set = set_one_lane},
    {"lanes_16", .set = set_16_lanes},
    {"thread_per_world", .set = set_thread},
    {"specialize", .set = set_specialize},
    {"integrator_euler", .set = set_euler, .changes = true, .base = set_implicitfast},
    {"integrator_rk4", .set = set_rk4, .changes = true, .base = set_law_euler},
    {"integrator_implicitfast", .set = set_implicitfast, .changes = true, .base = set_law_euler},
    {"integrator_discrete", .set = set_discrete, .changes = true, .base = set_law_euler},
    {"constraint_ball", .set = set_no_ball, .changes = true},
    {"constraint_weld", .set = set_no_weld, .changes = true},
    {"constraint_coupler", .set = set_no_coupler, .changes = true},
    {"constraint_distance", .set = set_distance, .changes = true},
    {"constraint_one_sided", .set = set_side, .changes = true},
    {"drive", .set = set_no_drive, .changes = true},
    {"drive_ball", .set = set_free_drive, .changes = true},
    {"friction", .set = set_no_friction, .changes = true},
    {"spin_friction", .set = set_condim, .changes = true},
    {"tendons_over_joints", .set = set_no_terms, .changes = true},
    {"tendons_through_points", .set = set_path, .changes = true},
    {"tendons_with_limit", .set = set_no_limit, .changes = true},
    {"tendons_with_friction", .set = set_no_tendon_friction, .changes = true},
    {"tendons_with_armature", .set = set_armature, .changes = true},
    {"tendons_with_spring", .set = set_spring, .changes = true, .base = set_law_euler},
    {"tendons_with_spring_discrete", .set = set_spring_discrete, .changes = true, .base = set_spring},
    {"tendons_with_damping", .set = set_damping, .changes = true, .base = set_law_euler},
    {"tendons_with_damping_discrete", .set = set_damping_discrete, .changes = true, .base = set_damping},
    {"tendons_with_damping_implicitfast", .set = set_damping_implicit, .changes = true, .base = set_damping},
    {"tendons_with_drive", .set = set_tendon_drive, .changes = true, .base = set_law_euler},
    {"tendons_with_drive_discrete", .set = set_drive_discrete, .changes = true, .base = set_tendon_drive},
    {"tendons_with_drive_kd_implicitfast", .set = set_drive_kd_implicit, .changes = true, .base = set_drive_kd},
    {"actuators", .set = set_actuator, .changes = true, .base = set_law_euler},
    {"actuator_coupled_discrete", .set = set_coupled_actuator, .base = set_discrete},
    {"reset", .call = call_reset, .changes = true},
    {"contacts_of_caller", .call = call_given, .changes = true},
    {"contacts_of_caller_with_guard", .call = call_given_guard},
    {"contacts_of_caller_with_sleep", .set = set_sleep, .call = call_given, .always = true},
    {"contacts_of_caller_with_rk4", .set = set_rk4, .call = call_given, .always = true, .base = set_law_euler},
    {"guard", .call = call_guard, .changes = true},
    {"guard_with_warm_start", .set = set_warm, .call = call_guard, .always = true},
    {"guard_with_sleep", .set = set_sleep, .call = call_guard, .always = true},
    {"assemble", .call = call_assemble, .changes = true},
    {"attach", .call = call_attach, .changes = true},
    {"parameters_with_library", .set = set_library, .call = call_expand},
    {"raycast", .call = call_raycast},
    {"set_sensors", .call = call_set_sensors},
    {"set_stream", .call = call_set_stream},
    {"host_structs", .call = call_host_structs},
    {"gradients", .call = call_gradients},
    {"gradients_of_all_parameters", .call = call_gradients_of_grid},
    {"gradients_with_sleep", .set = set_sleep, .call = call_gradients, .always = true},
    {"gradients_with_mean_velocity_forces", .set = set_mean, .call = call_gradients, .always = true},
    {"gradients_with_compat", .set = set_compat, .call = call_gradients, .always = true},
    {"gradients_with_contact_approximation", .set = set_approximation, .call = call_gradients, .always = true},
    {"solver", .call = call_solver},
    {"solver_of_batch", .call = call_solver_of_batch},
    {"record_pair", .call = call_record_pair},
    {"record_cache_key", .call = call_record_cache},
    {"record_constraints", .call = call_record_constraints},
    {"record_problem", .call = call_record_problem},
    {"record_rows", .call = call_record_rows},
};
enum { NUM_PROBES = sizeof probes / sizeof *probes };

/* Capabilities that other tests try: islands the next one, those of Python its own. */
static const char *const elsewhere[] = {"sleep_trees", "get_state", "linearize",
                                        "decompose",   "numpy",     "contacts_in_gpu_memory"};

static SapCapability answer(const char *name, SapContactSolver solver) {
    SapCapability cell;
    cr_assert_eq(sap_capability(name, solver, SAP_DEVICE_CPU, &cell), SAP_OK, "%s", sap_error_message());
    return cell;
}

static void expect_refused(const SapCapability *cell, SapContactSolver solver, SapStatus status) {
    const char *message = sap_error_message();
    cr_expect(status == SAP_ERROR_UNSUPPORTED, "%s of %s: %s, but the table says no: %s", cell->name,
              sap_contact_solver_names()[solver], sap_status_string(status), cell->reason);
    cr_expect(status == SAP_OK || strstr(message, cell->reason), "%s of %s: '%s' lacks the reason '%s'", cell->name,
              sap_contact_solver_names()[solver], message, cell->reason);
}

static void check(const Probe *p, SapContactSolver solver) {
    SapCapability cell = answer(p->name, solver);
    const char *formulation = sap_contact_solver_names()[solver];
    uint64_t with, without;
    SapStatus status = run(p, solver, true, &with);
    if (cell.support == SAP_SUPPORT_NO) {
        expect_refused(&cell, solver, status);
        return;
    }
    if (status != SAP_OK && strcmp(p->name, "lanes_16") == 0) { /* this machine, or this build */
        cr_expect(strstr(sap_error_message(), "isa "), "%s", sap_error_message());
        return;
    }
    if (cell.support == SAP_SUPPORT_NOT_APPLICABLE && status == SAP_ERROR_UNSUPPORTED)
        return;
    cr_expect_eq(status, SAP_OK, "%s of %s: %s", p->name, formulation, sap_error_message());
    if (status != SAP_OK || (cell.support == SAP_SUPPORT_YES && !p->changes))
        return;
    cr_assert_eq(run(p, solver, false, &without), SAP_OK, "%s of %s: %s", p->name, formulation, sap_error_message());
    if (cell.support == SAP_SUPPORT_YES)
        cr_expect_neq(with, without, "%s of %s: the table says yes, but it changes nothing", p->name, formulation);
    else
        cr_expect_eq(with, without, "%s of %s: the table says that it has no meaning, but it changes the state",
                     p->name, formulation);
}

Test(capabilities, every_formulation_does_what_the_table_says) {
    for (int i = 0; i < NUM_PROBES; i++)
        for (int s = 0; s < SOLVERS; s++)
            check(&probes[i], (SapContactSolver)s);
}

/* ---- parameters and arrays ---- */

/* So that none of MuJoCo's arrays is empty. */
static void set_pair_and_actuator(Trial *t) {
    static const int32_t shapes[2] = {0, 1};
    t->law.num_pairs = 1;
    t->law.pair_shape = shapes;
    set_actuator(t);
}

static SapBatch *plain_batch(SapContactSolver solver) {
    Trial t;
    begin(&t, solver, "tests/scenes/reports.yaml");
    if (solver != SAP_SOLVER_MUJOCO)
        t.o.sleep_steps = 5;
    else
        set_pair_and_actuator(&t);
    cr_assert_eq(open(&t), SAP_OK, "%s", sap_error_message());
    sap_model_destroy(t.scene_model);
    return t.batch;
}

static void expect_answer(const char *name, SapContactSolver solver, SapStatus status, bool empty) {
    SapCapability cell = answer(name, solver);
    if (cell.support == SAP_SUPPORT_NO)
        expect_refused(&cell, solver, status);
    else
        cr_expect_eq(status, SAP_OK, "%s of %s: %s", name, sap_contact_solver_names()[solver], sap_error_message());
    cr_expect(cell.support != SAP_SUPPORT_NOT_APPLICABLE || empty, "%s of %s has elements", name,
              sap_contact_solver_names()[solver]);
}

Test(capabilities, every_parameter_and_array_is_there_or_refused_as_the_table_says) {
    for (int s = 0; s < SOLVERS; s++) {
        SapBatch *batch = plain_batch((SapContactSolver)s);
        SapArray view;
        for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
            expect_answer(sap_parameter_names()[p], (SapContactSolver)s,
                          sap_batch_expand(batch, (SapParameter)p, &view), false);
        for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++) {
            SapStatus status = sap_batch_array(batch, (SapBatchField)f, &view);
            expect_answer(sap_batch_field_names()[f], (SapContactSolver)s, status, view.ndim > 1 && view.shape[1] == 0);
        }
        sap_batch_destroy(batch);
    }
}

/* ---- islands ---- */

static const char islands[] =
    "schema_version: 1\n"
    "name: islands\n"
    "simulation: {dt: 0.005}\n"
    "builder: {gravity: -9.81, rigid_gap: 0.01}\n"
    "ground: true\n"
    "bodies:\n"
    "- {id: a, transform: {p: [0, 0, 0.05]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05}]}\n"
    "- {id: b, transform: {p: [1, 0, 0.05]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05}]}\n"
    "- {id: c, transform: {p: [2, 0, 0.5]}, shapes: [{type: sphere, radius: 0.05}]}\n"
    "joints:\n"
    "- {id: a, type: free, parent: world, child: a}\n"
    "- {id: b, type: free, parent: world, child: b}\n"
    "- {id: c, type: free, parent: world, child: c}\n";

/* The boxes sleep while the ball falls; its height is as in a world that does not sleep. */
Test(capabilities, islands_sleep_where_the_table_says) {
    for (int s = 0; s < SOLVERS; s++) {
        SapScene *scene;
        SapArray asleep;
        double height[2] = {0};
        SapStatus status = SAP_OK;
        SapCapability cell = answer("sleep_trees", (SapContactSolver)s);
        cr_assert_eq(sap_scene_parse(islands, sizeof islands - 1, "islands", &scene), SAP_OK, "%s",
                     sap_error_message());
        for (int sleeps = 0; sleeps < 2 && status == SAP_OK; sleeps++) {
            SapBatch *batch;
            SapOptions o;
            cr_assert_eq(sap_options_preset("fast64", &o), SAP_OK);
            o.contact_solver = (SapContactSolver)s;
            o.sleep_steps = sleeps ? 5 : 0;
            status = sap_batch_create(scene->model, 1, &o, &batch);
            for (int i = 0; i < 40 && status == SAP_OK; i++)
                status = sap_batch_step(batch, 0.005, 1);
            if (status != SAP_OK)
                break;
            cr_assert_eq(sap_batch_array(batch, SAP_BATCH_ASLEEP, &asleep), SAP_OK);
            cr_expect(!sleeps || *(const int32_t *)asleep.data == 2, "%s", sap_contact_solver_names()[s]);
            height[sleeps] = ((const double *)sap_batch_state(batch)->joint_q)[16];
            sap_batch_destroy(batch);
        }
        if (cell.support == SAP_SUPPORT_YES)
            cr_expect(status == SAP_OK && height[0] == height[1], "%s: %s", sap_contact_solver_names()[s],
                      sap_error_message());
        else
            expect_refused(&cell, (SapContactSolver)s, status);
        sap_scene_destroy(scene);
    }
}

/* ---- the list ---- */

static bool has_probe(const char *name) {
    for (int i = 0; i < NUM_PROBES; i++)
        if (strcmp(probes[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i], name) == 0)
            return true;
    for (const char *const *p = sap_parameter_names(); *p; p++)
        if (strcmp(*p, name) == 0)
            return true;
    for (const char *const *f = sap_batch_field_names(); *f; f++)
        if (strcmp(*f, name) == 0)
            return true;
    return false;
}

Test(capabilities, every_capability_is_tried) {
    for (const char *const *name = sap_capability_names(); *name; name++)
        cr_expect(has_probe(*name), "%s", *name);
}

Test(capabilities, names_are_unique_and_every_refusal_has_a_reason) {
    for (const char *const *name = sap_capability_names(); *name; name++) {
        for (const char *const *other = sap_capability_names(); other < name; other++)
            cr_expect_str_neq(*name, *other);
        for (int s = 0; s < SOLVERS; s++)
            for (int d = 0; d <= SAP_DEVICE_CUDA; d++) {
                SapCapability cell;
                cr_assert_eq(sap_capability(*name, (SapContactSolver)s, (SapDevice)d, &cell), SAP_OK);
                cr_expect_eq(cell.support == SAP_SUPPORT_YES, *cell.reason == 0, "%s", *name);
                cr_expect_str_eq(cell.name, *name);
                cr_expect(*cell.group && cell.what, "%s", *name);
            }
    }
}

Test(capabilities, formulations_and_devices_have_the_names_of_their_options) {
    SapOptions o;
    char text[64];
    cr_assert_eq(sap_options_preset(NULL, &o), SAP_OK);
    for (int s = 0; s < SOLVERS; s++) {
        o.contact_solver = (SapContactSolver)s;
        cr_assert_eq(sap_options_get(&o, "contact_solver", text, sizeof text), SAP_OK);
        cr_expect_str_eq(sap_contact_solver_names()[s], text);
    }
    cr_expect_null(sap_contact_solver_names()[SOLVERS]);
    for (int d = 0; d <= SAP_DEVICE_CUDA; d++) {
        o.device = (SapDevice)d;
        cr_assert_eq(sap_options_get(&o, "device", text, sizeof text), SAP_OK);
        cr_expect_str_eq(sap_device_names()[d], text);
    }
    cr_expect_null(sap_device_names()[SAP_DEVICE_CUDA + 1]);
}

Test(capabilities, what_is_not_in_the_table_is_an_error_that_names_it) {
    SapCapability cell;
    cr_expect_eq(sap_capability("gaurd", SAP_SOLVER_SAP, SAP_DEVICE_CPU, &cell), SAP_ERROR_ARGUMENT);
    cr_expect(strstr(sap_error_message(), "'gaurd' (did you mean 'guard'?)"), "%s", sap_error_message());
    cr_expect_eq(sap_capability("guard", (SapContactSolver)6, SAP_DEVICE_CPU, &cell), SAP_ERROR_ARGUMENT);
    cr_expect_str_eq(sap_error_message(), "sap_capability: solver is 6; it must be in 0 .. 5");
    cr_expect_eq(sap_capability("guard", SAP_SOLVER_SAP, (SapDevice)-1, &cell), SAP_ERROR_ARGUMENT);
    cr_expect_str_eq(sap_error_message(), "sap_capability: device is -1; it must be in 0 .. 1");
    cr_expect_eq(sap_capability(NULL, SAP_SOLVER_SAP, SAP_DEVICE_CPU, &cell), SAP_ERROR_ARGUMENT);
    cr_expect_eq(sap_capability("guard", SAP_SOLVER_SAP, SAP_DEVICE_CPU, NULL), SAP_ERROR_ARGUMENT);
}
