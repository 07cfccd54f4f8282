/* The numbers of the contact laws, and the sizes of law data. */
#ifndef SAPWOOD_KERNELS_DATA_LAWS_H
#define SAPWOOD_KERNELS_DATA_LAWS_H

#include "kernels/data/lists.h"

/* SAP_LAW_sap_contact, ... */
enum {
#define LAW(name, size) SAP_LAW_##name,
    SAP_CONTACT_LAWS(LAW)
#undef LAW
        SAP_NUM_CONTACT_LAWS
};

/* SAP_LAW_SIZE_sap_contact, ...: reals of data per contact. */
enum {
#define LAW(name, size) SAP_LAW_SIZE_##name = size,
    SAP_CONTACT_LAWS(LAW)
#undef LAW
};

/* Reals of data for the potentials of one dof (law/sap_dof.h). */
enum { SAP_DOF_LAW_SIZE = 10 };

#endif
