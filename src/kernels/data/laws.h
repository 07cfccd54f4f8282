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

/* Reals of data for the potentials of one dof (law/sap_dof.h), and of a dof that has neither drive nor limits. */
enum { SAP_DOF_LAW_SIZE = 10, SAP_DOF_FRICTION_SIZE = 2 };

/* Reals of the law of a row (law/row.h), and the laws of the row of a tendon. */
enum { SAP_ROW_LAW_SIZE = 5 };
enum {
    SAP_TENDON_LOWER,
    SAP_TENDON_UPPER,
    SAP_TENDON_SPRING,       /* the whole spring, or its part below the rest band */
    SAP_TENDON_SPRING_UPPER, /* the part above the rest band */
    SAP_TENDON_DAMPER,
    SAP_TENDON_FRICTION,
    SAP_TENDON_ARMATURE,
    SAP_TENDON_DRIVE,
    SAP_TENDON_LAWS
};

#endif
