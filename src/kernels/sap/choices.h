/* The constants of SAP's law (solve/formulation.h). */
#ifndef SAPWOOD_KERNELS_SAP_CHOICES_H
#define SAPWOOD_KERNELS_SAP_CHOICES_H

#define CONTACT_ROWS     3
#define CONTACT_LAW      0
#define HAS_DOF_TERMS    1
#define LINES_HAVE_COST  1
#define IDLE_BLOCKS_MOVE 1
#define IS_FIRST_STAGE   1
#define IS_LAST_STAGE    1
#define NORMS_ARE_READ   1
#define ADVANCES_WITH_V  0
#define REPORTS_ROWS     0

#endif
