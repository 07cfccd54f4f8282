/* The sizes of the data of laws, in reals. */
#ifndef SAPWOOD_KERNELS_DATA_LAWS_H
#define SAPWOOD_KERNELS_DATA_LAWS_H

/* Reals of the law of a contact (sap/contact.h). */
enum { SAP_CONTACT_LAW_SIZE = 8 };

/* Reals of data for the potentials of one dof (sap/dof.h), and of a dof that has neither drive nor limits. */
enum { SAP_DOF_LAW_SIZE = 10, SAP_DOF_FRICTION_SIZE = 2 };

/* Reals of the law of a row (contact/row.h), and the laws of the row of a tendon. */
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
