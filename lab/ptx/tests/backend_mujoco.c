/* A batch of MuJoCo's law on the GPU has the bits of one on the CPU: every integrator with both cones, contacts of
 * three and six rows, precisions, team sizes, scratch in shared memory and in the workspace; with actuators, a pair of
 * shapes, and in every second case worlds with parameters of their own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <sapwood/mujoco.h>

#include "backend.h"

enum { WORLDS = 3, WARM_UP = 100, STEPS = 3 };

typedef struct Case {
    const char *scene, *preset;
    SapMujocoIntegrator integrator;
    SapMujocoCone cone;
    int condim, team, shared;
    bool touches; /* it has contacts */
} Case;

#define ROBOT    "bench/scenes/quadruped.yaml"
#define BOXES    "bench/scenes/stack5.yaml"
#define CUBE     "bench/scenes/cube.yaml"
#define PENDULUM "bench/scenes/double_pendulum.yaml"
static const Case cases[] = {
    {ROBOT, "approx64", SAP_INTEGRATOR_EULER, SAP_CONE_PYRAMIDAL, 3, 0, 0, true},
    {ROBOT, "mujoco32", SAP_INTEGRATOR_DISCRETE, SAP_CONE_ELLIPTIC, 3, 16, 0, true},
    {ROBOT, "fast32", SAP_INTEGRATOR_IMPLICITFAST, SAP_CONE_PYRAMIDAL, 6, 32, 0, true},
    {ROBOT, "mujoco64", SAP_INTEGRATOR_RK4, SAP_CONE_ELLIPTIC, 6, 64, 2048, true},
    {ROBOT, "mujoco32", SAP_INTEGRATOR_RK4, SAP_CONE_PYRAMIDAL, 3, 8, 0, true},
    {BOXES, "mujoco64", SAP_INTEGRATOR_IMPLICITFAST, SAP_CONE_ELLIPTIC, 4, 8, 0, true},
    {PENDULUM, "mujoco64", SAP_INTEGRATOR_RK4, SAP_CONE_PYRAMIDAL, 3, 8, 0, false},
    {PENDULUM, "mujoco64", SAP_INTEGRATOR_DISCRETE, SAP_CONE_PYRAMIDAL, 3, 128, 0, false},
    {CUBE, "mujoco64", SAP_INTEGRATOR_EULER, SAP_CONE_ELLIPTIC, 3, 8, 0, true},
    {CUBE, "mujoco32", SAP_INTEGRATOR_EULER, SAP_CONE_PYRAMIDAL, 6, 16, 0, true},
};

/* An activation with a gain that depends on the state on the last dof, and a servo of the last two dofs, which is a
 * motor in a discrete step. The first two shapes are a pair. */
static void add_extras(const SapModelArrays *m, SapMujocoParameters *law) {
    static const double gain[6] = {0.2, -0.1, -0.05, 0.3, 0, 0}, bias[6] = {0, 0, 0, 0, -0.4, -0.2};
    static const double tau[2] = {0.02, 1}, arm[3] = {1.5, 0.7, -0.4}, friction[5] = {0.4, 0.5, 0.01, 0.001, 0.002};
    static const int32_t dynamics[2] = {3, 0}, of[3] = {0, 1, 1}, shapes[2] = {1, 0};
    static int32_t dof[3];
    dof[0] = dof[1] = m->num_dofs - 1;
    dof[2] = m->num_dofs - 2;
    law->num_pairs = m->num_shapes > 1;
    law->pair_shape = shapes;
    law->pair_friction = friction;
    if (m->joint_type[m->num_joints - 1] == SAP_JOINT_FREE)
        return;
    law->num_actuators = 2;
    law->num_actuator_terms = 3;
    law->actuator_gain = gain;
    law->actuator_bias = law->integrator == SAP_INTEGRATOR_DISCRETE ? NULL : bias;
    law->actuator_dynamics = dynamics;
    law->actuator_tau = tau;
    law->actuator_term_of = of;
    law->actuator_term_dof = dof;
    law->actuator_term_arm = arm;
}

/* The model of a scene with joint friction, and the numbers of the law as the case has them. */
static SapModel *model_of(const SapScene *scene, const Case *c) {
    SapModelArrays arrays = *sap_model_arrays(scene->model);
    SapMujocoParameters law;
    SapModel *model;
    int nb = arrays.num_bodies, nv = arrays.num_dofs, ns = arrays.num_shapes;
    double *body = calloc(2 * (size_t)nb, sizeof *body), *dof = calloc((size_t)nv, sizeof *dof);
    double *friction = calloc((size_t)nv, sizeof *friction);
    int32_t *condim = calloc((size_t)ns + 1, sizeof *condim);
    NEED(sap_mujoco_weights(scene->model, body, dof, NULL));
    sap_mujoco_arrays_default(&law);
    for (int s = 0; s < ns; s++)
        condim[s] = c->condim;
    for (int i = 0; i < nv; i++)
        friction[i] = i % 2 ? 0.05 : 0;
    arrays.joint_friction = friction;
    law.integrator = c->integrator;
    law.cone = c->cone;
    law.impratio = 2;
    law.max_condim = c->condim;
    law.body_invweight = body;
    law.dof_invweight = dof;
    law.shape_condim = condim;
    add_extras(&arrays, &law);
    NEED(sap_model_create_mujoco(&arrays, &law, &model));
    free(body);
    free(dof);
    free(condim);
    free(friction);
    return model;
}

/* Asks for all arrays that the law has, so that every step records them. */
static void ask_for_all(SapBatch *batch) {
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++)
        if (backend_has(batch, (SapBatchField)f))
            backend_bytes(batch, (SapBatchField)f);
}

/* Gives worlds other values of parameters of every group of numbers. */
static void vary_worlds(SapBatch *batch, const SapModel *model) {
    const SapParameter varied[] = {
        SAP_PARAMETER_BODY_MASS,           SAP_PARAMETER_JOINT_DAMPING,           SAP_PARAMETER_JOINT_FRICTION,
        SAP_PARAMETER_MUJOCO_TOLERANCE,    SAP_PARAMETER_MUJOCO_BODY_INVWEIGHT,   SAP_PARAMETER_MUJOCO_DOF_INVWEIGHT,
        SAP_PARAMETER_MUJOCO_SHAPE_SOLREF, SAP_PARAMETER_MUJOCO_SHAPE_FRICTION,   SAP_PARAMETER_MUJOCO_PAIR_FRICTION,
        SAP_PARAMETER_MUJOCO_ACTUATOR_TAU, SAP_PARAMETER_MUJOCO_ACTUATOR_TERM_ARM};
    const SapMujocoParameters *law = sap_model_mujoco(model);
    for (size_t k = 0; k < sizeof varied / sizeof *varied; k++) {
        SapArray view;
        if ((varied[k] == SAP_PARAMETER_MUJOCO_PAIR_FRICTION && law->num_pairs == 0) ||
            (varied[k] >= SAP_PARAMETER_MUJOCO_ACTUATOR_TAU && law->num_actuators == 0))
            continue;
        NEED(sap_batch_expand(batch, varied[k], &view));
        for (int64_t i = 0, n = view.shape[0] * view.strides[0] / 8; i < n; i++)
            ((double *)view.data)[i] *= 1 + 0.3 * sin(12.9898 * (double)k + 78.233 * (double)i);
    }
}

static SapBatch *run_batch(const SapModel *model, const SapOptions *o, double dt, SapDevice device, SapBatch *start,
                           bool own_parameters) {
    SapBatch *batch = backend_batch(model, WORLDS, o, device);
    ask_for_all(batch);
    backend_copy_worlds(start, batch);
    if (own_parameters)
        vary_worlds(batch, model);
    NEED(sap_batch_step(batch, dt, 1));
    NEED(sap_batch_step(batch, dt, STEPS - 1));
    return batch;
}

static void check_case(const Case *c, int number) {
    char what[256];
    SapScene *scene = backend_scene(c->scene);
    SapModel *model = model_of(scene, c);
    SapOptions o = scene->options;
    NEED(sap_options_set(&o, "preset", c->preset));
    NEED(sap_options_set(&o, "contact_solver", "mujoco"));
    o.team_size = c->team;
    o.shared_memory = c->shared;
    SapBatch *start = backend_batch(model, WORLDS, &o, SAP_DEVICE_CPU);
    backend_disturb(start, (uint64_t)number + 1);
    NEED(sap_batch_step(start, scene->dt, WARM_UP));
    SapBatch *expected = run_batch(model, &o, scene->dt, SAP_DEVICE_CPU, start, number % 2);
    SapBatch *got = run_batch(model, &o, scene->dt, SAP_DEVICE_CUDA, start, number % 2);
    snprintf(what, sizeof what, "%s, %s, integrator %d, cone %d, condim %d, team %d", c->scene, c->preset,
             (int)c->integrator, (int)c->cone, c->condim, c->team);
    backend_same(expected, got, what);
    /* a case without contacts, or without iterations where there are contacts, would show little */
    int32_t *contacts = backend_read(got, SAP_BATCH_CONTACT_COUNT),
            *iterations = backend_read(got, SAP_BATCH_ITERATIONS);
    int touching = 0;
    for (int w = 0; w < WORLDS; w++)
        touching += contacts[w];
    CHECK((touching > 0) == c->touches, "%s: %d contacts", what, touching);
    CHECK(contacts[0] == 0 || iterations[0] > 0, "%s: no iterations", what);
    uint32_t *status = backend_read(got, SAP_BATCH_STATUS), all = 0;
    for (int w = 0; w < WORLDS; w++)
        all |= status[w];
    CHECK(!(all & SAP_WORLD_FAILED), "%s: status %x", what, (unsigned)all);
    printf("%s: same bits (%d contacts, %d iterations in world 0)\n", what, touching, iterations[0]);
    fflush(stdout);
    free(contacts);
    free(iterations);
    free(status);
    sap_batch_destroy(start);
    sap_batch_destroy(expected);
    sap_batch_destroy(got);
    sap_model_destroy(model);
    sap_scene_destroy(scene);
}

int main(void) {
    /* keeps the kernels loaded from one case to the next */
    SapScene *scene = backend_scene("bench/scenes/cube.yaml");
    SapOptions o = scene->options;
    o.contact_solver = SAP_SOLVER_MUJOCO;
    SapBatch *holder = backend_batch(scene->model, 1, &o, SAP_DEVICE_CUDA);
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++)
        check_case(&cases[i], i);
    sap_batch_destroy(holder);
    sap_scene_destroy(scene);
    return 0;
}
