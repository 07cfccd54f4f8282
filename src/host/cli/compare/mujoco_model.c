#include "host/cli/compare/mujoco_model.h"

#include <stdlib.h>

#include <sapwood/mujoco.h>

static double *numbers(int n) {
    return cli_allocate((size_t)n + 1, sizeof(double));
}

bool cli_mujoco_model(const SapModel *model, SapModel **out) {
    const SapModelArrays *m = sap_model_arrays(model);
    double *friction = numbers(3 * m->num_shapes), *body = numbers(2 * m->num_bodies), *dof = numbers(m->num_dofs);
    double *tendon = numbers(m->num_tendons);
    SapMujocoParameters mujoco;
    sap_mujoco_arrays_default(&mujoco);
    bool ok = friction && body && dof && tendon && cli_check(sap_mujoco_weights(model, body, dof, tendon));
    for (int s = 0; ok && s < m->num_shapes; s++)
        friction[3 * s] = m->shape_material_mu[s];
    mujoco.cone = SAP_CONE_ELLIPTIC;
    mujoco.integrator = SAP_INTEGRATOR_DISCRETE;
    mujoco.max_condim = 3;
    mujoco.body_invweight = body;
    mujoco.dof_invweight = dof;
    mujoco.tendon_invweight = tendon;
    mujoco.shape_friction = friction;
    ok = ok && cli_check(sap_model_create_mujoco(m, &mujoco, out));
    free(friction);
    free(body);
    free(dof);
    free(tendon);
    return ok;
}

bool cli_mujoco_tight(const SapModel *model, SapModel **out) {
    SapMujocoParameters tight = *sap_model_mujoco(model);
    tight.tolerance = 1e-15;
    tight.iterations = 1000;
    return cli_check(sap_model_create_mujoco(sap_model_arrays(model), &tight, out));
}
