#include "host/plan/formulation.h"

const SapFormulation sap_formulation_sap = {.name = "sap",
                                            .dof_terms = true,
                                            .shares_scratch = true,
                                            .contact_law_size = SAP_CONTACT_LAW_SIZE,
                                            .tendon_laws = SAP_TENDON_LAWS,
                                            .row_weights = 1};

static const SapFormulation *const formulations[SAP_NUM_FORMULATIONS] = {&sap_formulation_sap, &sap_formulation_mujoco};

const SapFormulation *sap_formulation(int number) {
    return formulations[number];
}

static const SapContactSolverRow solvers[] = {
    [SAP_SOLVER_SAP] = {"sap", 0, false, SAP_DUAL_CONE},
    [SAP_SOLVER_CONE] = {"cone", 0, true, SAP_DUAL_CONE},
    [SAP_SOLVER_PGS] = {"pgs", 0, true, SAP_DUAL_PGS},
    [SAP_SOLVER_PGS_ROWS] = {"pgs_rows", 0, true, SAP_DUAL_PGS_ROWS},
    [SAP_SOLVER_ACTIVE_SET] = {"active_set", 0, true, SAP_DUAL_ACTIVE_SET},
    [SAP_SOLVER_MUJOCO] = {"mujoco", 1, false, SAP_DUAL_CONE},
};

const SapContactSolverRow *sap_contact_solver(SapContactSolver solver) {
    return &solvers[solver];
}

const SapFormulation *sap_formulation_of(const SapOptions *options) {
    return formulations[solvers[options->contact_solver].formulation];
}

int sap_model_num_actuators(const SapModel *model) {
    int sum = 0;
    for (int i = 0; i < SAP_NUM_FORMULATIONS; i++)
        sum += formulations[i]->num_actuators ? formulations[i]->num_actuators(model) : 0;
    return sum;
}
