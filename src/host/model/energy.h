/* Mechanical energy of one world. */
#ifndef SAPWOOD_HOST_MODEL_ENERGY_H
#define SAPWOOD_HOST_MODEL_ENERGY_H

#include <sapwood/model.h>

/* energy[0] is the kinetic energy of the bodies without armature; energy[1] is the potential energy in gravity less
 * what body_gravcomp compensates, zero at the world origin. pose [nb][7] and velocity [nb][6] as in SapFreeMotion:
 * [omega ; v of the body's origin]. */
void sap_energy(const SapModelArrays *model, const double *pose, const double *velocity, double *energy);

#endif
