/* Models put together link by link: the arrays of a SapModelArrays in fixed-size storage that tests write into. */
#ifndef SAPWOOD_TESTS_SUPPORT_MODEL_PARTS_H
#define SAPWOOD_TESTS_SUPPORT_MODEL_PARTS_H

#include <sapwood/model.h>

enum { PARTS_LINKS = 48, PARTS_DOFS = 6 * PARTS_LINKS, PARTS_COORDS = 7 * PARTS_LINKS };

/* Link j is joint j and the body child[j], which is body j unless a test changes it. */
typedef struct ModelParts {
    int nl, nq, nv;
    double gravity[3];
    int32_t type[PARTS_LINKS], parent[PARTS_LINKS], child[PARTS_LINKS], dof_dim[PARTS_LINKS][2];
    int32_t q_start[PARTS_LINKS + 1], qd_start[PARTS_LINKS + 1];
    double X_p[PARTS_LINKS][7], X_c[PARTS_LINKS][7];
    double axis[PARTS_DOFS][3], armature[PARTS_DOFS], damping[PARTS_DOFS];
    double mass[PARTS_LINKS], com[PARTS_LINKS][3], inertia[PARTS_LINKS][9]; /* by body */
    double q[PARTS_COORDS], qd[PARTS_DOFS], f[PARTS_DOFS];
} ModelParts;

/* No links yet, gravity (0, 0, -9.81). */
void parts_init(ModelParts *parts);

/* Adds a link below body `parent` (-1 = world) and returns its number: identity frames, mass 1 kg, inertia 0.1 kg m^2
 * about every axis, centre of mass at the origin, z axes, zero coordinates. nlin and nang are read for D6 joints
 * only. */
int parts_add(ModelParts *parts, int parent, SapJointType type, int nlin, int nang);

/* Small setters. */
void parts_set_axis(ModelParts *parts, int dof, double x, double y, double z);
void parts_set_com(ModelParts *parts, int body, double x, double y, double z);
void parts_set_inertia(ModelParts *parts, int body, double xx, double yy, double zz);

/* The model; a test fails where it is refused. The caller destroys it. */
SapModel *parts_model(const ModelParts *parts);

#endif
