/* Random models and states: valid, the same for a seed on every machine, and with everything a model can have (frames
 * at both ends of a joint, offset centres of mass, full inertias, armature, damping, bodies numbered in another order
 * than joints). */
#ifndef SAPWOOD_TESTS_SUPPORT_RANDOM_MODEL_H
#define SAPWOOD_TESTS_SUPPORT_RANDOM_MODEL_H

#include <stdint.h>

#include <sapwood/model.h>

/* ---- numbers ---- */

typedef struct Random {
    uint64_t state;
} Random;

Random random_seed(uint64_t seed);
uint64_t random_bits(Random *random);
double random_between(Random *random, double low, double high); /* uniform */
int random_below(Random *random, int n);                        /* 0 .. n - 1 */
void random_unit(Random *random, double *v, int n);             /* a unit vector of n numbers */
void random_quaternion(Random *random, double *q);              /* uniform over rotations */

/* ---- models ---- */

/* A joint type and, for D6, its numbers of axes. */
typedef struct JointKind {
    SapJointType type;
    int nlin, nang;
} JointKind;

/* Every kind of joint: fixed, prismatic, revolute, ball, free, and D6 with each of its 15 pairs of axis counts. */
enum { NUM_JOINT_KINDS = 20 };
extern const JointKind joint_kinds[NUM_JOINT_KINDS];

/* A text such as "d6(2,3)". Static. */
const char *joint_kind_name(JointKind kind);

/* One chain, the first joint from the world. Only the first may be free. */
SapModel *random_chain(uint64_t seed, const JointKind *kinds, int num_links);

/* A chain with one joint of each type, D6 with two linear and three angular axes. */
SapModel *random_chain_of_all(uint64_t seed);

/* num_links links of random kinds in one or more trees. */
SapModel *random_forest(uint64_t seed, int num_links);

/* ---- states ---- */

/* Coordinates of one world [nq] of the order of 1 (quaternions unit), and n numbers of size `scale`. */
void random_coordinates(Random *random, const SapModelArrays *model, double *q);
void random_numbers(Random *random, double scale, double *x, int n);

#endif
