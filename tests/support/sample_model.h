/* A small model with every joint type, two articulations and every shape type, for tests to build and to break.
 *
 *   articulation 0: torso (free) - thigh (revolute) - foot (ball)
 *                   torso        - arm (D6: 2 linear, 3 angular axes) - hand (fixed)
 *   articulation 1: cart (prismatic, from the world) - pole (revolute)
 */
#ifndef SAPWOOD_TESTS_SUPPORT_SAMPLE_MODEL_H
#define SAPWOOD_TESTS_SUPPORT_SAMPLE_MODEL_H

#include <math.h>
#include <string.h>

#include <sapwood/model.h>

#include "support/need.h"

enum { SAMPLE_NB = 7, SAMPLE_NJ = 7, SAMPLE_NV = 17, SAMPLE_NQ = 19, SAMPLE_NS = 7, SAMPLE_NA = 2 };
enum { SAMPLE_BASE, SAMPLE_HIP, SAMPLE_ANKLE, SAMPLE_SHOULDER, SAMPLE_WRIST, SAMPLE_RAIL, SAMPLE_HINGE }; /* joints */

/* The arrays a model cannot do without, and a few others; `arrays` points at them. */
typedef struct SampleModel {
    SapModelArrays arrays;
    int32_t type[SAMPLE_NJ], parent[SAMPLE_NJ], child[SAMPLE_NJ], dof_dim[SAMPLE_NJ][2];
    int32_t articulation_start[SAMPLE_NA + 1], filter_pairs[1][2];
    double axis[SAMPLE_NV][3], mass[SAMPLE_NB], inertia[SAMPLE_NB][9];
    int32_t shape_type[SAMPLE_NS], shape_body[SAMPLE_NS];
    double shape_scale[SAMPLE_NS][3];
    const char *body_name[SAMPLE_NB], *joint_name[SAMPLE_NJ];
} SampleModel;

static inline void sample_model_joints(SampleModel *m) {
    /* The last two joints move the bodies 6 and 5: a joint need not have the index of its child. */
    static const int32_t type[] = {SAP_JOINT_FREE,  SAP_JOINT_REVOLUTE,  SAP_JOINT_BALL,    SAP_JOINT_D6,
                                   SAP_JOINT_FIXED, SAP_JOINT_PRISMATIC, SAP_JOINT_REVOLUTE};
    static const int32_t parent[] = {-1, 0, 1, 0, 3, -1, 6}, child[] = {0, 1, 2, 3, 4, 6, 5};
    static const int32_t dof_dim[][2] = {{3, 3}, {0, 1}, {0, 3}, {2, 3}, {0, 0}, {1, 0}, {0, 1}};
    static const char *const name[] = {"base", "hip", "ankle", "shoulder", "wrist", "rail", "hinge"};
    memcpy(m->type, type, sizeof type);
    memcpy(m->parent, parent, sizeof parent);
    memcpy(m->child, child, sizeof child);
    memcpy(m->dof_dim, dof_dim, sizeof dof_dim);
    memcpy(m->joint_name, name, sizeof name);
    m->articulation_start[1] = SAMPLE_RAIL;
    m->articulation_start[2] = SAMPLE_NJ;
    m->filter_pairs[0][1] = 3;
}

static inline void sample_model_dofs(SampleModel *m) {
    static const double axis[][3] = {
        {0},                                                   /* 6: hip, set below */
        {0},       {0},       {0},                             /* 7 .. 9: ankle, ignored */
        {1, 0, 0}, {0, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}, /* 10 .. 14: shoulder */
        {1, 0, 0}, {0, 1, 0},                                  /* 15, 16: rail, hinge */
    };
    memcpy(m->axis[6], axis, sizeof axis);
    m->axis[6][0] = 0.6;
    m->axis[6][1] = 0.8;
}

static inline void sample_model_bodies(SampleModel *m) {
    static const char *const name[] = {"torso", "thigh", "foot", "arm", "hand", "pole", "cart"};
    memcpy(m->body_name, name, sizeof name);
    for (int i = 0; i < SAMPLE_NB; i++) {
        m->mass[i] = 1 + i;
        m->inertia[i][0] = 0.1;
        m->inertia[i][4] = 0.2;
        m->inertia[i][8] = 0.25;
        m->inertia[i][1] = m->inertia[i][3] = 0.01;
    }
}

static inline void sample_model_shapes(SampleModel *m) {
    static const int32_t type[] = {SAP_SHAPE_PLANE,    SAP_SHAPE_SPHERE, SAP_SHAPE_CAPSULE, SAP_SHAPE_ELLIPSOID,
                                   SAP_SHAPE_CYLINDER, SAP_SHAPE_BOX,    SAP_SHAPE_CONE};
    static const double scale[][3] = {{0, 0, 0},     {0.1, 0, 0},     {0.1, 0.2, 0}, {0.1, 0.2, 0.3},
                                      {0.1, 0.2, 0}, {0.1, 0.2, 0.3}, {0.1, 0.2, 0}};
    memcpy(m->shape_type, type, sizeof type);
    memcpy(m->shape_scale, scale, sizeof scale);
    for (int s = 0; s < SAMPLE_NS; s++)
        m->shape_body[s] = s - 1;
}

static inline void sample_model_init(SampleModel *m) {
    memset(m, 0, sizeof *m);
    sample_model_joints(m);
    sample_model_dofs(m);
    sample_model_bodies(m);
    sample_model_shapes(m);
    sap_model_arrays_default(&m->arrays);
    SapModelArrays *a = &m->arrays;
    a->name = "sample";
    a->num_bodies = SAMPLE_NB;
    a->num_joints = SAMPLE_NJ;
    a->num_dofs = SAMPLE_NV;
    a->num_coords = SAMPLE_NQ;
    a->num_shapes = SAMPLE_NS;
    a->num_articulations = SAMPLE_NA;
    a->num_filter_pairs = 1;
    a->joint_type = m->type;
    a->joint_parent = m->parent;
    a->joint_child = m->child;
    a->joint_dof_dim = m->dof_dim[0];
    a->articulation_start = m->articulation_start;
    a->body_filter_pairs = m->filter_pairs[0];
    a->joint_axis = m->axis[0];
    a->body_mass = m->mass;
    a->body_inertia = m->inertia[0];
    a->shape_type = m->shape_type;
    a->shape_body = m->shape_body;
    a->shape_scale = m->shape_scale[0];
    a->body_name = m->body_name;
    a->joint_name = m->joint_name;
}

/* The model as it is; the caller destroys it. */
static inline SapModel *sample_model_create(void) {
    SampleModel sample;
    SapModel *model;
    sample_model_init(&sample);
    need(sap_model_create(&sample.arrays, &model));
    return model;
}

#endif
