/* The constants of SAP's law (solve/formulation.h). */
#ifndef SAPWOOD_KERNELS_SAP_CHOICES_H
#define SAPWOOD_KERNELS_SAP_CHOICES_H

/* The laws of contacts: `sap`; `similar` and `lagged`, which differ in their data only. An entry file chooses. */
#define CONTACT_LAW_SAP           0
#define CONTACT_LAW_HUNT_CROSSLEY 1
#ifndef CONTACT_LAW
#define CONTACT_LAW CONTACT_LAW_SAP
#endif
/* Solves of a step: several with `lagged` only, by the option lagged_passes. */
#define CONTACT_PASSES (CONTACT_LAW == CONTACT_LAW_SAP ? 1 : ctx->args->contacts.lagged_passes)

#define CONTACT_ROWS     3
#define HAS_DOF_TERMS    1
#define LINES_HAVE_COST  1
#define IDLE_BLOCKS_MOVE 1
#define IS_FIRST_STAGE   1
#define IS_LAST_STAGE    1
#define NORMS_ARE_READ   1
#define ADVANCES_WITH_V  0
#define REPORTS_ROWS     0

#endif
