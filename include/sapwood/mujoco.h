/* MuJoCo's law: the numbers of a model that MuJoCo has and the other laws do not, contacts in MuJoCo's form, and the
 * rows of the problem as MuJoCo lists them. A solver uses it with the option contact_solver = mujoco. docs/mujoco.md
 * has the equations. */
#ifndef SAPWOOD_MUJOCO_H
#define SAPWOOD_MUJOCO_H

#include <stdint.h>

#include <sapwood/batch.h>
#include <sapwood/model.h>
#include <sapwood/solver.h>

SAP_BEGIN_DECLS

/* The cone of friction. */
typedef enum SapMujocoCone {
    SAP_CONE_PYRAMIDAL = 0, /* "pyramidal": edges of a pyramid, MuJoCo's default */
    SAP_CONE_ELLIPTIC = 1   /* "elliptic" */
} SapMujocoCone;

/* How a step follows from the solve. */
typedef enum SapMujocoIntegrator {
    SAP_INTEGRATOR_EULER = 0,        /* "Euler": semi-implicit; damping of dofs implicit if eulerdamp is on */
    SAP_INTEGRATOR_RK4 = 1,          /* "RK4": four stages with a solve each; contacts from collision only */
    SAP_INTEGRATOR_IMPLICITFAST = 3, /* "implicitfast": damping, and the gyroscopic force of free bodies, implicit */
    SAP_INTEGRATOR_DISCRETE = 4      /* "discrete": springs, dampers and rows at the end of the step, in one solve */
} SapMujocoIntegrator;

/* The numbers of MuJoCo's law. All arrays are host memory, row-major; arrays of dofs are in public order. As an
 * argument of sap_model_create_mujoco they are the caller's and are copied: a "required" array must not be NULL unless
 * its length is 0, any other may be NULL and then has the given default. Limits, friction, damping, armature, frames,
 * tendons and drives come from SapModelArrays (joint_friction is MuJoCo's frictionloss; a drive is a servo). Numbers
 * are finite. solref is two numbers, time constant and damping ratio, both > 0, or stiffness and damping, both <= 0; a
 * pair of different signs acts as the default, as in MuJoCo. solimp is d0, dw, width, mid, power, clamped as MuJoCo
 * does. */
typedef struct SapMujocoParameters {
    SapMujocoCone cone;             /* default pyramidal */
    SapMujocoIntegrator integrator; /* default Euler */
    double impratio;                /* > 0, default 1: friction is that much stiffer than the normal */
    double tolerance;               /* >= 0, default 1e-8, of the stopping tests; in f32 at least 1e-6 is used */
    int iterations;                 /* 1 .. 100000, default 100 */
    double ls_tolerance;            /* > 0, default 0.01, of the line search relative to tolerance */
    int ls_iterations;              /* 1 .. 100000, default 50: evaluations of one line search */
    int refsafe;                    /* 0 or 1, default 1: time constants are at least 2 h */
    int eulerdamp;                  /* 0 or 1, default 1: implicit damping in Euler */
    int warmstart;                  /* 0 or 1, default 1: a solve starts from the last acceleration; 0: from v* */
    int rows_of_worlds;             /* 0 or 1, default 0: dofs have rows of limits and friction also where the model has
                                       neither, so that worlds may have them (sap_batch_expand) */
    int max_condim;                 /* 1, 3, 4 or 6, default 6: the largest condim of any contact; up to 3 is faster */

    /* Weights. sap_mujoco_weights computes the three arrays. */
    const double *body_invweight;  /* [nb][2] 1/kg, 1/(kg m^2), >= 0: MuJoCo's body_invweight0; required */
    const double *dof_invweight;   /* [nv] 1/kg or 1/(kg m^2), >= 0: dof_invweight0; required */
    const double *dof_stiffness;   /* [nv] N/m or N m/rad, >= 0, explicit spring of dofs with a coordinate; default 0 */
    const double *dof_spring_ref;  /* [nv] m or rad, where the spring is at rest; default 0 */
    const double *dof_drive_range; /* [nv][2] N or N m, bounds of a drive, or infinite; default -+ joint_effort_limit */
    const double *dof_limit_margin;    /* [nv] m or rad; default 0 */
    const double *dof_limit_solref;    /* [nv][2]; default 0.02 1 */
    const double *dof_limit_solimp;    /* [nv][5]; default 0.9 0.95 0.001 0.5 2 */
    const double *dof_friction_solref; /* [nv][2] of joint_friction; default as above */
    const double *dof_friction_solimp; /* [nv][5]; default as above */
    const double
        *joint_ball_limit; /* [nj] rad, >= 0, largest angle of a ball joint, whose margin and softness are those
                                        of its first dof; infinity allowed; default infinity */

    const double *constraint_solref;      /* [nc][2]; default as above */
    const double *constraint_solimp;      /* [nc][5]; default as above */
    const double *constraint_torquescale; /* [nc] m, rotation of a weld against its translation; default 1 */
    const double *constraint_invweight; /* [nc][2] >= 0, translation and rotation: sums over MuJoCo's two bodies, which
                                           * may be parts of ours, joints or tendons; default: of ours */

    const double *tendon_invweight;       /* [nt] >= 0: tendon_invweight0; required */
    const double *tendon_limit_margin;    /* [nt] m or rad; default 0 */
    const double *tendon_limit_solref;    /* [nt][2]; default as above */
    const double *tendon_limit_solimp;    /* [nt][5]; default as above */
    const double *tendon_friction_solref; /* [nt][2]; default as above */
    const double *tendon_friction_solimp; /* [nt][5]; default as above */

    /* Shapes, for contacts that collision finds; two shapes are mixed as MuJoCo mixes geoms. The distance at
     * which collision finds a contact is shape_margin + shape_gap of SapModelArrays, of which shape_margin is to be 0:
     * shape_gap is MuJoCo's margin + gap. */
    const int32_t *shape_condim;   /* [ns] 1, 3, 4 or 6; default 3 */
    const int32_t *shape_priority; /* [ns] any; default 0 */
    const double *shape_solmix;    /* [ns] >= 0; default 1 */
    const double *shape_margin;    /* [ns] m, MuJoCo's margin without its gap; default 0 */
    const double
        *shape_invweight; /* [ns] 1/kg, >= 0, translational invweight0 of the geom's body, which may be a part of
                                      ours; default: its body's, 0 if static */
    const double *shape_friction; /* [ns][3] slide, spin, roll, >= 0; default 1 0.005 0.0001 */
    const double *shape_solref;   /* [ns][2]; default as above */
    const double *shape_solimp;   /* [ns][5]; default as above */

    /* Pairs of shapes with explicit parameters instead of mixed ones; the two shapes may be in any order. The shapes
     * must be allowed to collide, and the sum of their shape_gap must cover MuJoCo's margin + gap of the pair. */
    int num_pairs;               /* np >= 0, default 0 */
    const int32_t *pair_shape;   /* [np][2] two shapes, 0 .. ns - 1; a pair is listed once; required */
    const int32_t *pair_condim;  /* [np] 1, 3, 4 or 6; default 3 */
    const double *pair_margin;   /* [np] m, without the gap; default 0 */
    const double *pair_friction; /* [np][5] slide, slide, spin, roll, roll, >= 0; default 1 1 0.005 0.0001 0.0001 */
    const double *pair_solref;   /* [np][2]; default as above */
    const double *pair_solreffriction; /* [np][2] (0, 0): as solref; of elliptic cones only; default 0 0 */
    const double *pair_solimp;         /* [np][5]; default as above */

    /* General actuators, beside drives. Actuator a has the force F = clamp((g0 + g1 l + g2 w) u + b0 + b1 l + b2 w),
     * with the length l = sum r q and the rate w = sum r v over its terms, each a dof with a moment arm r: a gear,
     * times the coefficients of a fixed tendon. It pushes each dof by r F. The input u is the clamped control
     * (actuator_ctrl of SapControl), or the activation (actuator_act of SapState), which follows the control.
     * docs/mujoco.md. */
    int num_actuators;                  /* nu >= 0, default 0 */
    int num_actuator_terms;             /* nr >= 0, default 0 */
    const double *actuator_gain;        /* [nu][3] g0, g1, g2; default 1 0 0 */
    const double *actuator_bias;        /* [nu][3] b0, b1, b2; default 0 */
    const double *actuator_ctrl_range;  /* [nu][2] lower, upper, or infinite; default infinite */
    const double *actuator_force_range; /* [nu][2] N or N m, of F; default infinite */
    const int32_t *actuator_dynamics; /* [nu] 0 none, 1 integrator, 2 filter, 3 filterexact (enum mjtDyn); default 0 */
    const double *actuator_tau;       /* [nu] s, >= 0, time constant of a filter; default 1 */
    const int32_t *actuator_early;    /* [nu] 0 or 1: F has the activation of the end of the step; default 0 */
    const double *actuator_act_range; /* [nu][2] of the activation; default infinite */
    const int32_t *actuator_term_of;  /* [nr] actuator of each term, 0 .. nu - 1, increasing; required */
    const int32_t *actuator_term_dof; /* [nr] dof, 0 .. nv - 1, of a joint other than ball and free, once per actuator;
                                          required */
    const double *actuator_term_arm;  /* [nr] r; required */
    const double *dof_actuator_range; /* [nv][2] N or N m, of the sum of the actuators' forces; default infinite */
} SapMujocoParameters;

/* Sets every field to its default. Does nothing for NULL. */
SAP_API void sap_mujoco_arrays_default(SapMujocoParameters *arrays);

/* sap_model_create with the numbers of MuJoCo's law. MuJoCo's first body of an equality is body b of the constraint,
 * the second is body a. The caller owns *out. */
SAP_API SapStatus sap_model_create_mujoco(const SapModelArrays *arrays, const SapMujocoParameters *mujoco,
                                          SapModel **out);

/* The numbers of a model, owned by the model; NULL if it has none. A model that was created without them, such as that
 * of a scene, gets some with its first solver or batch of this law: computed weights, shape_friction = (mu, 0.005,
 * 0.0001) and shape_margin of its shapes, integrator discrete (Euler if a tendon has a spring or damping), max_condim
 * 3, else the defaults. */
SAP_API const SapMujocoParameters *sap_model_mujoco(const SapModel *model);

/* Computes MuJoCo's weights of a model at its initial coordinates, from the inverse of the mass matrix with armature:
 * body [nb][2], dof [nv] in public order, tendon [nt], as body_invweight, dof_invweight and tendon_invweight above. An
 * array of no elements may be NULL. SAP_ERROR_MODEL if the mass matrix is singular. */
SAP_API SapStatus sap_mujoco_weights(const SapModel *model, double *body, double *dof, double *tendon);

/* Computes the weights of worlds of a batch of this law from their own masses, inertias, centres of mass, armature and
 * tendons, at the model's initial coordinates, as mj_setConst does, and writes them to the parameters
 * mujoco_body_invweight, _dof_invweight, _tendon_invweight, _shape_invweight and _constraint_invweight, which it expands
 * (sap_batch_expand). A shape or constraint to which the model gives another weight than its bodies' keeps it. mask:
 * [n] 1 = the world takes part; NULL = all. SAP_ERROR_MODEL if the mass matrix of a world is singular or its values
 * violate a rule; the weights of no world change then. */
SAP_API SapStatus sap_mujoco_update_weights(SapBatch *batch, const uint8_t *mask);

/* A contact in MuJoCo's form (mjContact). SapContacts.mujoco is an array of these. */
typedef struct SapMujocoContact {
    double pos[3];            /* m, world axes: one point for both bodies */
    double frame[9];          /* n (from side 0 to side 1), t1, t2 in world axes, orthonormal */
    double dist;              /* m, negative in penetration */
    double includemargin;     /* m; the contact acts where dist < includemargin */
    double friction[5];       /* slide, slide, spin, roll, roll; at least 1e-5 is used */
    double solref[2];         /* as in SapMujocoParameters */
    double solreffriction[2]; /* (0, 0): as solref; of elliptic cones only */
    double solimp[5];
    double dim; /* condim: 1, 3, 4 or 6 */
} SapMujocoContact;

/* The rows of the problem in MuJoCo's order. The arrays are the caller's, host; all but the last six are required. Rows
 * from `count` on are 0. */
typedef struct SapMujocoRows {
    int capacity;     /* rows per world, >= 1; further rows are counted only */
    int32_t *count;   /* [n] rows of each world; more than capacity: some are missing */
    int32_t *type;    /* [n][capacity] 0 equality, 1 dof friction, 2 tendon friction, 3 joint limit, 4 tendon limit,
                         5 frictionless contact, 6 edge of a pyramid, 7 elliptic contact */
    int32_t *state;   /* [n][capacity] 0 satisfied, 1 quadratic, 2 linear negative, 3 linear positive, 4 cone */
    double *jacobian; /* [n][capacity][nv] dofs in internal order (SapFreeMotion) */
    double *pos;      /* [n][capacity] m or rad, negative in violation of a limit or contact */
    double *R;        /* [n][capacity] regularisation */
    double *aref;     /* [n][capacity] reference acceleration */
    double *force;    /* [n][capacity] N or N m */
    /* may be NULL */
    double *qacc;      /* [n][nv] acceleration that the solve found, dofs in internal order */
    int32_t *id;       /* [n][capacity] constraint, dof (of a limit too; the first of a ball joint), tendon, or contact:
                          its place in SapContacts */
    double *margin;    /* [n][capacity] m or rad; a limit or contact acts where pos < margin */
    double *velocity;  /* [n][capacity] J v at the start of the step */
    double *impedance; /* [n][capacity] d of solimp, 0 .. 1 */
    double *cost;      /* [n][capacity] J, its share in l(v); of an elliptic contact all in its first row */
} SapMujocoRows;

/* Makes every further step write its rows; rows NULL stops that. The struct is copied; its arrays must stay valid.
 * SAP_ERROR_UNSUPPORTED if the solver has another law. */
SAP_API SapStatus sap_solver_record_rows(SapSolver *solver, const SapMujocoRows *rows);

SAP_END_DECLS

#endif
