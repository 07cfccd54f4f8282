/* The contact laws and the methods of the solve that the kernels are built with, one row each. */
#ifndef SAPWOOD_KERNELS_DATA_LISTS_H
#define SAPWOOD_KERNELS_DATA_LISTS_H

/* LAW(name, reals of data per contact): law/law.h calls name_make, name_evaluate, ...; law/laws.h includes the header
 * that defines them. */
#define SAP_CONTACT_LAWS(LAW) LAW(sap_contact, 8)

/* METHOD(name): solve/solve.h calls name_solve; solve/methods.h includes the header that defines it. */
#ifdef SAP_SET_MUJOCO
#define SAP_METHODS(METHOD) METHOD(newton) METHOD(mujoco)
#else
#define SAP_METHODS(METHOD) METHOD(newton)
#endif

#endif
