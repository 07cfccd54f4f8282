/* Random models and states: valid, the same for a seed on every machine, and with everything a model can have (frames
 * at both ends of a joint, offset centres of mass, full inertias, armature, damping, bodies numbered in another order
 * than joints). */
#ifndef SAPWOOD_TESTS_SUPPORT_RANDOM_MODEL_H
#define SAPWOOD_TESTS_SUPPORT_RANDOM_MODEL_H

#include <stdint.h>

#include <sapwood/model.h>

#include "support/random.h"

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

/* Coordinates of one world [nq] of the order of 1, quaternions unit. */
void random_coordinates(Random *random, const SapModelArrays *model, double *q);

#endif
