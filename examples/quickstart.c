#include <sapwood/sapwood.h>
#include <stdio.h>

int main(void) {
    SapScene *scene = NULL;
    SapState *state = NULL;
    SapSolver *solver = NULL;
    int ok = sap_scene_load("bench/scenes/quadruped.yaml", &scene) == SAP_OK &&
             sap_state_create(scene->model, 1024, SAP_F32, &state) == SAP_OK &&
             sap_solver_create(scene->model, 1024, &scene->options, &solver) == SAP_OK;
    for (int i = 0; i < 100 && ok; i++)
        ok = sap_step(solver, state, NULL, NULL, scene->dt, state) == SAP_OK; /* in place, with the scene's control */
    if (ok)
        printf("height of world 0: %g m\n", ((float *)state->joint_q)[2]);
    else
        fprintf(stderr, "%s\n", sap_error_message());
    sap_solver_destroy(solver);
    sap_state_destroy(state);
    sap_scene_destroy(scene);
    return !ok;
}
