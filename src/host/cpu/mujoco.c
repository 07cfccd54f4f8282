/* The public calls of MuJoCo's law that need a solver. */
#include <sapwood/mujoco.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/cpu/solver.h"
#include "host/mujoco/weights.h"
#include "host/options/capabilities.h"

/* ---- weights ---- */

SapStatus sap_mujoco_weights(const SapModel *model, double *body, double *dof, double *tendon) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(model);
    const SapModelArrays *m = sap_model_arrays(model);
    if (m->num_bodies > 0)
        SAP_NEED(body);
    if (m->num_dofs > 0)
        SAP_NEED(dof);
    if (m->num_tendons > 0)
        SAP_NEED(tendon);
    SapOptions options;
    SapSolver *solver;
    SAP_TRY(sap_options_preset("approx64", &options));
    options.threads = 1;
    options.max_contacts = 1;
    SAP_TRY(sap_solver_create(model, 1, &options, &solver));
    const SapNumbers numbers = {.arrays = *m};
    const SapWeights out = {.body = body, .dof = dof, .tendon = tendon};
    SapStatus status = sap_mujoco_weigh(&numbers, 1, solver, 1, sap_free_motion, &out);
    sap_solver_destroy(solver);
    return status;
}

SapStatus sap_solver_complete_model(const SapModel *model, const SapOptions *options) {
    const SapFormulation *f = sap_formulation_of(options);
    return f->complete ? f->complete(model, sap_mujoco_weights) : SAP_OK;
}

/* ---- rows ---- */

SapStatus sap_solver_record_rows(SapSolver *s, const SapMujocoRows *rows) {
    SAP_NEED(s);
    SAP_REQUIRE(&s->options, SAP_CAN_RECORD_ROWS, "sap_solver_record_rows");
    const SapMujocoRows none = {0}, *r = rows ? rows : &none;
    bool complete = r->count && r->type && r->state && r->jacobian && r->pos && r->R && r->aref && r->force;
    if (rows && (!complete || r->capacity < 1))
        return sap_fail(SAP_ERROR_ARGUMENT,
                        "sap_solver_record_rows: %s; all arrays are required, and a capacity of 1 or more",
                        complete ? "capacity is below 1" : "an array is NULL");
    s->extra.rows = (SapRowReport){.capacity = r->capacity,
                                   .count = r->count,
                                   .type = r->type,
                                   .id = r->id,
                                   .state = r->state,
                                   .jacobian = r->jacobian,
                                   .pos = r->pos,
                                   .margin = r->margin,
                                   .velocity = r->velocity,
                                   .imp = r->impedance,
                                   .R = r->R,
                                   .aref = r->aref,
                                   .cost = r->cost,
                                   .force = r->force,
                                   .qacc = r->qacc};
    s->args.report.extra = rows ? &s->extra : NULL;
    return SAP_OK;
}
