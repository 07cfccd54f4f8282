/* The types of constraints, and what the rules of constraints and tendons share. */
#ifndef SAPWOOD_HOST_MODEL_CONSTRAINT_TYPES_H
#define SAPWOOD_HOST_MODEL_CONSTRAINT_TYPES_H

#include "host/base/keyword.h"
#include "host/model/model.h"

typedef struct SapConstraintTypeRow {
    SapConstraintType type;
    const char *names[3]; /* names in scenes and messages; the first is shown, the others are aliases */
    int rows;             /* rows of the Jacobian */
    bool joins_bodies;    /* between two bodies; else between two coordinates */
} SapConstraintTypeRow;

enum { SAP_NUM_CONSTRAINT_TYPES = 4 };
extern const SapConstraintTypeRow sap_constraint_types[SAP_NUM_CONSTRAINT_TYPES];

/* The row of a type, or NULL; the row with that name, or NULL. */
const SapConstraintTypeRow *sap_constraint_type(int32_t type);
const SapConstraintTypeRow *sap_constraint_type_named(const char *name);
/* "ball (connect), weld, ..." */
SapList sap_constraint_type_list(void);

/* The joint of a public dof. */
int sap_joint_of_dof(const SapModelArrays *arrays, int dof);
/* The coordinate of a public dof, or -1 for a dof of a ball or free joint. */
int sap_coordinate_of_dof(const SapModelArrays *arrays, int dof);
/* The first joint with dofs on the way from a body to the world, or -1 for a body that cannot move. Bodies with the
 * same joint are joined by fixed joints. */
int sap_moving_joint(const SapModelArrays *arrays, int body);

#endif
