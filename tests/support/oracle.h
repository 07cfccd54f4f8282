/* Free motion a second time, in another way: long double, rotation matrices, and time derivatives by Taylor arithmetic
 * instead of formulas for velocities and biases. Slow and plain; what the kernels are held against.
 *
 * Every number of a pose is a polynomial in time, x + x' t + x'' t^2/2, along the motion with constant joint
 * velocities. Forward kinematics on such numbers gives velocities and accelerations of bodies without any rule for how
 * they add up along a tree.
 *
 * All arrays belong to one world. Velocities and forces are in internal order unless said otherwise. */
#ifndef SAPWOOD_TESTS_SUPPORT_ORACLE_H
#define SAPWOOD_TESTS_SUPPORT_ORACLE_H

#include <stdbool.h>

#include <sapwood/model.h>

typedef long double number;

/* World axes; rates at constant joint velocities. */
typedef struct OracleBody {
    number R[3][3];      /* R[i][j]: row i, column j */
    number x[3], x_C[3]; /* origin, centre of mass */
    number omega[3];     /* angular velocity */
    number v[3], v_C[3]; /* of the origin, of the centre of mass */
    number alpha[3];     /* angular acceleration */
    number a[3], a_C[3]; /* of the origin, of the centre of mass */
} OracleBody;

/* bodies: [nb]. Quaternions of q and axes are made unit. */
void oracle_bodies(const SapModelArrays *m, const double *q, const number *v, OracleBody *bodies);

/* A [nv][nv] = sum of J' M J + armature + h damping; tau [nv] = joint_f - damping v - sum of J' (inertial - applied
 * forces). body_f is the public one. */
void oracle_dynamics(const SapModelArrays *m, const double *q, const number *v, const number *joint_f,
                     const double *body_f, double h, number *A, number *tau);
void oracle_energy(const SapModelArrays *m, const double *q, const number *v, number *kinetic, number *potential);

/* Solves A x = b, [n]; A and b are overwritten, b with x. */
void oracle_solve(number *A, number *b, int n);

/* The coordinates after h seconds: exact = at constant velocity v1, no discretisation; else the two integration
 * maps. */
typedef enum OracleMap { ORACLE_EXACT, ORACLE_MIDPOINT, ORACLE_EULER } OracleMap;
void oracle_advance(const SapModelArrays *m, const double *q, const number *v0, const number *v1, double h,
                    OracleMap map, double *q1);

/* Between public and internal order at coordinates q. In and out may not overlap. */
void oracle_internal_velocity(const SapModelArrays *m, const double *q, const double *given, number *internal);
void oracle_public_velocity(const SapModelArrays *m, const double *q, const number *internal, double *out);
void oracle_internal_force(const SapModelArrays *m, const double *q, const double *given, number *internal);
void oracle_public_force(const SapModelArrays *m, const double *q, const number *internal, double *out);

/* The rotation matrix of a quaternion, which need not be quite unit. */
void oracle_rotation(const double *quaternion, number R[3][3]);

#endif
