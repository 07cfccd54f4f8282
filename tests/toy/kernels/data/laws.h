/* The laws of contacts, one row each: LAW(name, reals of its data per contact). law/law.h calls name_make, name_evaluate, ... of the
 * chosen one; law/laws.h includes the headers that define them. */
#ifndef SAPWOOD_KERNELS_DATA_LAWS_H
#define SAPWOOD_KERNELS_DATA_LAWS_H

#define SAP_CONTACT_LAWS(LAW) LAW(sap_contact, 8) LAW(spring, 1)

/* SAP_LAW_sap_contact, ... */
enum {
#define LAW(name, size) SAP_LAW_##name,
    SAP_CONTACT_LAWS(LAW)
#undef LAW
        SAP_NUM_CONTACT_LAWS
};

/* Reals of the data of a dof's potentials (law/sap_dof.h). */
enum { SAP_DOF_LAW_SIZE = 10 };

#endif
