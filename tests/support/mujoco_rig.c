#include "support/mujoco_rig.h"

#include <math.h>
#include <string.h>

#include <criterion/criterion.h>

#include "support/near.h"

void point_fill(Point *p) {
    *p = (Point){.type = SAP_JOINT_D6,
                 .parent = -1,
                 .dim = {3, 0},
                 .axis = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                 .mass = 2,
                 .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                 .lower = {-INFINITY, -INFINITY, -INFINITY},
                 .upper = {INFINITY, INFINITY, INFINITY},
                 .body_weight = {0.5, 0},
                 .dof_weight = {0.5, 0.5, 0.5}};
    sap_model_arrays_default(&p->m);
    sap_mujoco_arrays_default(&p->law);
    p->m.num_bodies = p->m.num_joints = 1;
    p->m.num_dofs = p->m.num_coords = 3;
    p->m.joint_type = &p->type;
    p->m.joint_parent = &p->parent;
    p->m.joint_child = &p->child;
    p->m.joint_dof_dim = p->dim;
    p->m.joint_axis = p->axis;
    p->m.joint_friction = p->friction;
    p->m.joint_damping = p->damping;
    p->m.joint_limit_lower = p->lower;
    p->m.joint_limit_upper = p->upper;
    p->m.body_mass = &p->mass;
    p->m.body_inertia = p->inertia;
    p->law.body_invweight = p->body_weight;
    p->law.dof_invweight = p->dof_weight;
}

SapModel *point_model(const Point *p) {
    SapModel *model = NULL;
    cr_assert_eq(sap_model_create_mujoco(&p->m, &p->law, &model), SAP_OK, "%s", sap_error_message());
    return model;
}

SapOptions rig_options(void) {
    SapOptions o;
    cr_assert_eq(sap_options_preset("approx64", &o), SAP_OK);
    o.contact_solver = SAP_SOLVER_MUJOCO;
    o.max_contacts = 4;
    o.threads = 1;
    return o;
}

bool rig_open_with(Rig *r, SapModel *model, int worlds, const SapOptions *o) {
    memset(r, 0, sizeof *r);
    r->model = model;
    SapStatus status = sap_solver_create(model, worlds, o, &r->solver);
    if (status == SAP_ERROR_DEVICE || (o->lanes && status == SAP_ERROR_UNSUPPORTED)) {
        sap_model_destroy(model);
        return false;
    }
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    cr_assert_eq(sap_state_create(model, worlds, SAP_F64, &r->in), SAP_OK);
    cr_assert_eq(sap_state_create(model, worlds, SAP_F64, &r->out), SAP_OK);
    cr_assert_eq(sap_control_create(model, worlds, SAP_F64, &r->control), SAP_OK);
    cr_assert_eq(sap_contacts_create(worlds, 1, SAP_F64, &r->contacts), SAP_OK);
    r->control->guess = r->guess;
    r->contacts->mujoco = r->record;
    r->rows = (SapMujocoRows){.capacity = RIG_ROWS,
                              .count = r->count,
                              .type = r->type,
                              .state = r->state,
                              .jacobian = r->J,
                              .pos = r->pos,
                              .R = r->R,
                              .aref = r->aref,
                              .force = r->force,
                              .qacc = r->qacc};
    cr_assert_eq(sap_solver_record_rows(r->solver, &r->rows), SAP_OK, "%s", sap_error_message());
    return true;
}

bool rig_open_isa(Rig *r, SapModel *model, int worlds, SapIsa isa, int lanes) {
    SapOptions o = rig_options();
    o.isa = isa;
    o.lanes = lanes;
    return rig_open_with(r, model, worlds, &o);
}

void rig_open(Rig *r, SapModel *model, int worlds) {
    cr_assert(rig_open_isa(r, model, worlds, SAP_ISA_AUTO, 0));
}

void rig_step(Rig *r, double h) {
    cr_assert_eq(sap_step(r->solver, r->in, r->control, r->contacts, h, r->out), SAP_OK, "%s", sap_error_message());
}

void rig_close(Rig *r) {
    sap_solver_destroy(r->solver);
    sap_state_destroy(r->in);
    sap_state_destroy(r->out);
    sap_control_destroy(r->control);
    sap_contacts_destroy(r->contacts);
    sap_model_destroy(r->model);
}

void rig_set(void *array, int n, const double *values) {
    memcpy(array, values, (size_t)n * sizeof *values);
}

int rig_iterations(const Rig *r, int world) {
    SapWorldReport report;
    cr_assert_eq(sap_solver_report(r->solver, &report), SAP_OK);
    return report.iterations[world];
}

int rig_evaluations(const Rig *r, int world) {
    SapWorldReport report;
    cr_assert_eq(sap_solver_report(r->solver, &report), SAP_OK);
    return report.line_iterations[world];
}

void rig_check(const double *values, const double *expected, int n, double tolerance, const char *what) {
    for (int i = 0; i < n; i++)
        check_near(values[i], expected[i], tolerance, what);
}

const SapMujocoContact rig_on_plane = {.pos = {0, 0, -0.0005},
                                       .frame = {0, 0, 1, 0, 1, 0, -1, 0, 0},
                                       .dist = -0.001,
                                       .friction = {0.4, 0.4, 0.01, 0.001, 0.001},
                                       .solref = {0.02, 1},
                                       .solimp = {0.9, 0.95, 0.001, 0.5, 2},
                                       .dim = 3};

void rig_place(Rig *r, int world, const double *v) {
    const double q[3] = {0, 0, 0.099};
    rig_set((double *)r->in->joint_q + 3 * world, 3, q);
    rig_set((double *)r->in->joint_qd + 3 * world, 3, v);
    rig_set(r->guess + 3 * world, 3, v);
    r->contacts->count[world] = 1;
    r->contacts->body1[world] = 0;
    r->record[world] = rig_on_plane;
}

SapBatch *rig_ball(const char *preset, double c, double z, double height, int worlds) {
    static const int32_t shape_type[2] = {SAP_SHAPE_PLANE, SAP_SHAPE_SPHERE}, shape_body[2] = {-1, 0};
    static const double size[6] = {1, 1, 1, 0.1, 1, 1};
    const double solref[4] = {c, z, c, z}, q[3] = {0, 0, height};
    Point p;
    SapBatch *batch = NULL;
    SapOptions o;
    cr_assert_eq(sap_options_preset(preset, &o), SAP_OK);
    o.contact_solver = SAP_SOLVER_MUJOCO;
    o.threads = 1;
    point_fill(&p);
    p.m.joint_q = q;
    p.m.num_shapes = 2;
    p.m.shape_type = shape_type;
    p.m.shape_body = shape_body;
    p.m.shape_scale = size;
    p.law.shape_solref = solref;
    SapModel *model = point_model(&p);
    cr_assert_eq(sap_batch_create(model, worlds, &o, &batch), SAP_OK, "%s", sap_error_message());
    sap_model_destroy(model);
    return batch;
}

double rig_height(const SapBatch *batch, int world) {
    return ((const double *)sap_batch_state(batch)->joint_q)[3 * world + 2];
}
