/* Small worlds of MuJoCo's law: a mass on three slides, with all that steps of some worlds need. */
#ifndef SAPWOOD_TESTS_SUPPORT_MUJOCO_RIG_H
#define SAPWOOD_TESTS_SUPPORT_MUJOCO_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <sapwood/mujoco.h>
#include <sapwood/sapwood.h>

/* A body of 2 kg on three slides x, y, z, with MuJoCo's weights. */
typedef struct Point {
    SapModelArrays m;
    SapMujocoParameters law;
    int32_t type, parent, child, dim[2];
    double axis[9], mass, inertia[9], friction[3], damping[3], lower[3], upper[3];
    double body_weight[2], dof_weight[3];
} Point;

void point_fill(Point *p);
SapModel *point_model(const Point *p);

enum { RIG_ROWS = 16, RIG_WORLDS = 11 };

/* A solver with all that a step of some worlds needs. */
typedef struct Rig {
    SapModel *model;
    SapSolver *solver;
    SapState *in, *out;
    SapControl *control;
    SapContacts *contacts;
    SapMujocoContact record[RIG_WORLDS];
    double guess[RIG_WORLDS * 6];
    SapMujocoRows rows;
    int32_t count[RIG_WORLDS], type[RIG_WORLDS * RIG_ROWS], state[RIG_WORLDS * RIG_ROWS];
    double J[RIG_WORLDS * RIG_ROWS * 6], pos[RIG_WORLDS * RIG_ROWS], R[RIG_WORLDS * RIG_ROWS],
        aref[RIG_WORLDS * RIG_ROWS], force[RIG_WORLDS * RIG_ROWS], qacc[RIG_WORLDS * 6];
} Rig;

/* Options of the law in f64, one thread. */
SapOptions rig_options(void);

/* Opens a rig on a model, which it owns; rig_open_with returns false if this machine does not have the instruction set
 * of the options, or the build not the lanes. rig_open_isa: lanes 0 = as many as one register of f64 has, 1, 4 or 8. */
bool rig_open_with(Rig *r, SapModel *model, int worlds, const SapOptions *o);
bool rig_open_isa(Rig *r, SapModel *model, int worlds, SapIsa isa, int lanes);
void rig_open(Rig *r, SapModel *model, int worlds);
void rig_step(Rig *r, double h);
void rig_close(Rig *r);

/* Copies n numbers. */
void rig_set(void *array, int n, const double *values);

/* Newton iterations, and evaluations of line searches, of a world in the last step. */
int rig_iterations(const Rig *r, int world);
int rig_evaluations(const Rig *r, int world);

/* Checks n numbers to an absolute tolerance. */
void rig_check(const double *values, const double *expected, int n, double tolerance, const char *what);

/* The sphere of the golden contact: on the plane z = 0, at height 0.099, radius 0.1. */
extern const SapMujocoContact rig_on_plane;

/* A world of the point with the golden contact and this velocity; the warm start is a = 0. */
void rig_place(Rig *r, int world, const double *v);

/* A ball of 0.1 m above a plane in a batch with our own collision, with solref (c, z); `preset` of f64 or f32. */
SapBatch *rig_ball(const char *preset, double c, double z, double height, int worlds);
/* Its height, in f64. */
double rig_height(const SapBatch *batch, int world);

#endif
