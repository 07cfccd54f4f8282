/* Derivatives of a step of a batch: its Jacobians, and products with them. docs/gradients.md.
 *
 * A step maps the state x = [q ; qd] and inputs u, controls and parameters, to x' = f(x, u). Tangent vectors of a state
 * have 2 nv numbers in the public order of dofs: dq, where a quaternion has a rotation vector, exp(dq) q, in world axes
 * for a free joint and in the axes of the joint frame for a ball joint; then dqd.
 *
 * The functions compute in f64, whatever the precision of the batch, and solve each step to `tolerance`: a derivative
 * belongs to a solution, and a loose one may have other contacts sliding. The batch itself does not change, unless a
 * comment says so. Arrays are f64 in host memory.
 *
 * Refused with SAP_ERROR_UNSUPPORTED: devices other than the CPU, contact_solver other than sap, compat,
 * velocity_forces = mean, sleep_steps > 0, factor_plan = library. */
#ifndef SAPWOOD_GRADIENTS_H
#define SAPWOOD_GRADIENTS_H

#include <stdint.h>

#include <sapwood/batch.h>

SAP_BEGIN_DECLS

/* What became of the derivatives of a world, as bits. FAILED and NOT_CONVERGED: its numbers are NaN. */
typedef enum SapGradientStatus {
    SAP_GRADIENT_FAILED = 1,        /* a step failed (SAP_WORLD_FAILED), or a parameter of the world is invalid */
    SAP_GRADIENT_NOT_CONVERGED = 2, /* a solve did not reach the tolerance */
    SAP_GRADIENT_KINK = 4,          /* a contact is on the edge of its region: the derivative is one side's */
    SAP_GRADIENT_FROZEN = 8,        /* the points of some contact are taken as fixed to their bodies */
    SAP_GRADIENT_TRUNCATED = 16     /* contacts were dropped */
} SapGradientStatus;

typedef struct SapGradientOptions {
    double tolerance;   /* optimality_rel_tol of the solves; > 0; default 1e-10 */
    int max_iterations; /* of a solve; > 0; default 100 */
    double kink;        /* relative distance from the edge of a region below which KINK is set; >= 0; default 1e-6 */
} SapGradientOptions;

SAP_API void sap_gradient_options_default(SapGradientOptions *out);

/* An array of inputs. name: a control (joint_f, joint_target_pos, joint_target_vel, joint_act, body_f, tendon_f,
 * tendon_target_pos, tendon_target_vel, tendon_act) or a parameter of worlds that sap_gradient_input_size knows. */
typedef struct SapGradientInput {
    const char *name;
    double *data; /* see the functions */
} SapGradientInput;

/* *size = the numbers of an input of a world, `count` below: those of the array of that name. Refuses what the functions
 * below refuse. */
SAP_API SapStatus sap_gradient_input_size(const SapBatch *batch, const char *name, int *size);

/* The steps to differentiate. */
typedef struct SapGradientSteps {
    double h;                          /* s, time step */
    int steps;                         /* >= 1, with constant inputs */
    const SapState *state;             /* where they begin; NULL = the batch's. Only joint_q and joint_qd are read */
    const SapControl *control;         /* NULL = the batch's */
    const SapGradientOptions *options; /* NULL = the defaults */
    const SapGradientInput *inputs;    /* [num_inputs] */
    int num_inputs;
    uint32_t *status; /* [num_worlds] SapGradientStatus; NULL = not wanted */
    double *margin;   /* [num_worlds] the smallest relative distance of a contact from the edge of its region, 0 .. 1;
                       * NULL = not wanted */
} SapGradientSteps;

/* A = dx'/dx: [num_worlds][2 nv][2 nv], and dx'/du of each input to its data: [num_worlds][2 nv][count]. */
SAP_API SapStatus sap_batch_linearize(SapBatch *batch, const SapGradientSteps *steps, double *A);

/* The product from the left: end [num_worlds][2 nv], the gradient of a number with respect to x', gives the gradients
 * with respect to x, `start` [num_worlds][2 nv], and to each input, its data: [num_worlds][count]. start may be end. */
SAP_API SapStatus sap_batch_vjp(SapBatch *batch, const SapGradientSteps *steps, const double *end, double *start);

/* The product from the right: tangent [num_worlds][2 nv] of x is replaced by that of x'. The data of inputs are their
 * tangents, [num_worlds][count], which are only read. */
SAP_API SapStatus sap_batch_jvp(SapBatch *batch, const SapGradientSteps *steps, double *tangent);

/* Steps the batch as the functions above do, in f64 and to their tolerance, from steps->state to the state of the
 * batch. inputs and margin are not read. status: SAP_GRADIENT_FAILED and NOT_CONVERGED. */
SAP_API SapStatus sap_batch_step_exactly(SapBatch *batch, const SapGradientSteps *steps);

SAP_END_DECLS

#endif
