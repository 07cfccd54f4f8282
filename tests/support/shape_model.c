/* Free bodies with shapes: see shape_model.h. */
#include "support/shape_model.h"

#include <string.h>

#include <criterion/criterion.h>

static const double cube[8][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                  {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
static const int32_t cube_start[2] = {0, 8}, grid_size[2] = {SHAPE_MODEL_GRID, SHAPE_MODEL_GRID};

void shape_model_init(ShapeModel *m) {
    memset(m, 0, sizeof *m);
    SapModelArrays *a = &m->a;
    sap_model_arrays_default(a);
    a->joint_type = m->joint;
    a->joint_parent = m->parent;
    a->joint_child = m->child;
    a->body_mass = m->mass;
    a->body_inertia = m->inertia[0];
    a->joint_q = m->q[0];
    a->shape_type = m->type;
    a->shape_body = m->body;
    a->shape_mesh = m->mesh;
    a->shape_collision_group = m->group;
    a->shape_flags = m->flags;
    a->shape_transform = m->pose[0];
    a->shape_scale = m->size[0];
    a->shape_margin = m->margin;
    a->shape_gap = m->gap;
    a->num_meshes = a->num_height_fields = 1;
    a->num_mesh_vertices = 8;
    a->mesh_start = cube_start;
    a->mesh_vertices = cube[0];
    a->height_field_size = grid_size;
    a->num_heights = SHAPE_MODEL_GRID * SHAPE_MODEL_GRID;
    a->heights = m->heights[0];
}

int shape_model_body(ShapeModel *m, double x, double y, double z) {
    int b = m->a.num_bodies++;
    cr_assert(b < SHAPE_MODEL_BODIES, "a test model has more than %d bodies", SHAPE_MODEL_BODIES);
    m->joint[b] = SAP_JOINT_FREE;
    m->parent[b] = -1;
    m->child[b] = b;
    m->mass[b] = 1;
    m->inertia[b][0] = m->inertia[b][4] = m->inertia[b][8] = 0.05;
    m->q[b][0] = x;
    m->q[b][1] = y;
    m->q[b][2] = z;
    m->q[b][6] = 1;
    return b;
}

int shape_model_shape(ShapeModel *m, int body, SapShapeType type, double sx, double sy, double sz) {
    int s = m->a.num_shapes++;
    cr_assert(s < SHAPE_MODEL_SHAPES, "a test model has more than %d shapes", SHAPE_MODEL_SHAPES);
    m->type[s] = (int32_t)type;
    m->body[s] = body;
    m->mesh[s] = type == SAP_SHAPE_HULL || type == SAP_SHAPE_HEIGHT_FIELD ? 0 : -1;
    m->group[s] = 1;
    m->flags[s] = SAP_SHAPE_VISIBLE | SAP_SHAPE_COLLIDES;
    m->pose[s][6] = 1;
    m->size[s][0] = sx;
    m->size[s][1] = sy;
    m->size[s][2] = sz;
    return s;
}

SapModel *shape_model_create(ShapeModel *m) {
    SapModelArrays *a = &m->a;
    a->num_joints = a->num_bodies;
    if (a->num_dofs == 0) { /* unless the test has joints of its own */
        a->num_dofs = 6 * a->num_bodies;
        a->num_coords = 7 * a->num_bodies;
    }
    SapModel *model;
    SapStatus status = sap_model_create(a, &model);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
    return model;
}
