/* The lists of src with a law and a method more. */
#ifndef SAPWOOD_KERNELS_DATA_LISTS_H
#define SAPWOOD_KERNELS_DATA_LISTS_H

#define SAP_CONTACT_LAWS(LAW) LAW(sap_contact, 8) LAW(spring, 11)

#define SAP_METHODS(METHOD) METHOD(newton) METHOD(descent)

#endif
