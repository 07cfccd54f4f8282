/* Models and states of MuJoCo's reference files (docs/conform.md) in our conventions. */
#ifndef SAPWOOD_LAB_CONFORM_MUJOCO_FILE_H
#define SAPWOOD_LAB_CONFORM_MUJOCO_FILE_H

#include <stdbool.h>

#include <jansson.h>

#include <sapwood/mujoco.h>
#include <sapwood/sapwood.h>

/* The arrays of mjModel that are read, by their names there. [columns] per row; the comments give the rows. */
#define MUJOCO_DOUBLES(X)                                                                                              \
    X(qpos0, nq, 1)                                                                                                    \
    X(qpos_spring, nq, 1)                                                                                              \
    X(body_pos, nbody, 3)                                                                                              \
    X(body_quat, nbody, 4)                                                                                             \
    X(body_ipos, nbody, 3)                                                                                             \
    X(body_iquat, nbody, 4)                                                                                            \
    X(body_mass, nbody, 1)                                                                                             \
    X(body_inertia, nbody, 3)                                                                                          \
    X(body_invweight0, nbody, 2)                                                                                       \
    X(jnt_pos, njnt, 3)                                                                                                \
    X(jnt_axis, njnt, 3)                                                                                               \
    X(jnt_stiffness, njnt, 1)                                                                                          \
    X(jnt_range, njnt, 2)                                                                                              \
    X(jnt_margin, njnt, 1)                                                                                             \
    X(jnt_solref, njnt, 2)                                                                                             \
    X(jnt_solimp, njnt, 5)                                                                                             \
    X(dof_armature, nv, 1)                                                                                             \
    X(dof_damping, nv, 1)                                                                                              \
    X(dof_frictionloss, nv, 1)                                                                                         \
    X(dof_solref, nv, 2)                                                                                               \
    X(dof_solimp, nv, 5)                                                                                               \
    X(dof_invweight0, nv, 1)                                                                                           \
    X(eq_solref, neq, 2)                                                                                               \
    X(eq_solimp, neq, 5)                                                                                               \
    X(eq_data, neq, 12)                                                                                                \
    X(tendon_range, ntendon, 2)                                                                                        \
    X(tendon_margin, ntendon, 1)                                                                                       \
    X(tendon_frictionloss, ntendon, 1)                                                                                 \
    X(tendon_length0, ntendon, 1)                                                                                      \
    X(tendon_invweight0, ntendon, 1)                                                                                   \
    X(tendon_solref_lim, ntendon, 2)                                                                                   \
    X(tendon_solimp_lim, ntendon, 5)                                                                                   \
    X(tendon_solref_fri, ntendon, 2)                                                                                   \
    X(tendon_solimp_fri, ntendon, 5)                                                                                   \
    X(tendon_stiffness, ntendon, 1)                                                                                    \
    X(tendon_damping, ntendon, 1)                                                                                      \
    X(geom_pos, ngeom, 3)                                                                                              \
    X(geom_quat, ngeom, 4)                                                                                             \
    X(geom_size, ngeom, 3)                                                                                             \
    X(geom_priority, ngeom, 1)                                                                                         \
    X(geom_condim, ngeom, 1)                                                                                           \
    X(geom_solmix, ngeom, 1)                                                                                           \
    X(geom_solref, ngeom, 2)                                                                                           \
    X(geom_solimp, ngeom, 5)                                                                                           \
    X(geom_margin, ngeom, 1)                                                                                           \
    X(geom_gap, ngeom, 1)                                                                                              \
    X(geom_friction, ngeom, 3)                                                                                         \
    X(jnt_actfrcrange, njnt, 2)                                                                                        \
    X(actuator_gear, nu, 6)                                                                                            \
    X(actuator_ctrlrange, nu, 2)                                                                                       \
    X(actuator_forcerange, nu, 2)
#define MUJOCO_INTS(X)                                                                                                 \
    X(body_parentid, nbody, 1)                                                                                         \
    X(body_weldid, nbody, 1)                                                                                           \
    X(jnt_type, njnt, 1)                                                                                               \
    X(jnt_bodyid, njnt, 1)                                                                                             \
    X(jnt_qposadr, njnt, 1)                                                                                            \
    X(jnt_dofadr, njnt, 1)                                                                                             \
    X(jnt_limited, njnt, 1)                                                                                            \
    X(jnt_actfrclimited, njnt, 1)                                                                                      \
    X(geom_bodyid, ngeom, 1)                                                                                           \
    X(geom_type, ngeom, 1)                                                                                             \
    X(geom_contype, ngeom, 1)                                                                                          \
    X(geom_conaffinity, ngeom, 1)                                                                                      \
    X(actuator_trntype, nu, 1)                                                                                         \
    X(actuator_trnid, nu, 2)                                                                                           \
    X(actuator_gaintype, nu, 1)                                                                                        \
    X(actuator_biastype, nu, 1)                                                                                        \
    X(actuator_ctrllimited, nu, 1)                                                                                     \
    X(actuator_forcelimited, nu, 1)                                                                                    \
    X(eq_type, neq, 1)                                                                                                 \
    X(eq_objtype, neq, 1)                                                                                              \
    X(eq_obj1id, neq, 1)                                                                                               \
    X(eq_obj2id, neq, 1)                                                                                               \
    X(eq_active0, neq, 1)                                                                                              \
    X(tendon_adr, ntendon, 1)                                                                                          \
    X(tendon_num, ntendon, 1)                                                                                          \
    X(tendon_limited, ntendon, 1)

/* The models of a file: with the file's tolerance, then with tolerance 0 and each integrator. */
enum { MUJOCO_LOOSE, MUJOCO_EULER, MUJOCO_IMPLICITFAST, MUJOCO_DISCRETE, MUJOCO_RK4, MUJOCO_NUM_MODELS };

typedef struct MujocoFile {
    const char *path;   /* the caller's */
    const json_t *json; /* the caller's */
    int nq, nv, nu, nbody, njnt, ngeom, neq, ntendon, nsite, nwrap, npair;
#define DOUBLES(name, rows, columns) double *name;
    MUJOCO_DOUBLES(DOUBLES)
#undef DOUBLES
#define INTS(name, rows, columns) int *name;
    MUJOCO_INTS(INTS)
#undef INTS
    double *site_pos, *site_quat, *wrap_prm;
    double *actuator_gainprm, *actuator_biasprm; /* [nu][3]: the numbers that an affine actuator reads */
    int *site_bodyid, *wrap_type, *wrap_objid;

    double h;
    int *body;                          /* [nbody] our body, -1 = static */
    double *pose;                       /* [nbody][7] of static bodies: in the world */
    SapModel *model[MUJOCO_NUM_MODELS]; /* MUJOCO_...: they differ in tolerance and integrator */
} MujocoFile;

/* Whether a file has this form. */
bool mujoco_file_is(const json_t *json);

/* Builds the models of a file. False with a message on stderr. Close it also after a failure. */
bool mujoco_file_open(const char *path, const json_t *json, MujocoFile *out);
void mujoco_file_close(MujocoFile *file);

/* A number of the file's options. */
double mujoco_file_option(const MujocoFile *file, const char *name);

/* The orthogonal matrix T [nv][nv] at positions qpos: v = T qvel is our internal velocity. MuJoCo's angular velocity of
 * free and ball joints is in the axes of the body. */
void mujoco_file_turn(const MujocoFile *file, const double *qpos, double *T);

/* Our joint_q, joint_qd and joint_f from qpos, and from velocities and forces in internal order. */
void mujoco_file_state(const MujocoFile *file, const double *qpos, const double *v, double *joint_q, double *joint_qd);
void mujoco_file_force(const MujocoFile *file, const double *qpos, const double *f, double *joint_f);

/* Whether our step has all forces of an integrator: implicit springs and dampers of tendons and actuators, and fluids,
 * are not part of it, nor are forces that change between the stages of RK4. */
bool mujoco_file_has_forces(const MujocoFile *file, int model);

/* Whether our collision finds the contacts of the file as MuJoCo does: planes, spheres and capsules only. */
bool mujoco_file_has_contacts(const MujocoFile *file);

/* Forces of actuators and of springs and dampers of tendons, in MuJoCo's dofs. ctrl: [nu]. */
void mujoco_file_actuate(const MujocoFile *file, const double *qpos, const double *qvel, const double *ctrl, double *f);

/* MuJoCo's qpos and qvel from ours. */
void mujoco_file_from_state(const MujocoFile *file, const double *joint_q, const double *joint_qd, double *qpos,
                            double *qvel);

#endif
