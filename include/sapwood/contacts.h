/* Contacts of n worlds in slots: world w has count[w] records; its record c is element [w][c] of every array. Host
 * memory.
 *
 * A record is a pair of points and a normal. With the witnesses x0, x1 (the points in world axes),
 *   phi0 = (x1 - x0).n - margin0 - margin1
 * is the signed gap. Points may lie on the surfaces, with the margins of the shapes, or on a core, with its radius as
 * margin: the solver moves them out to x0 + margin0 n and x1 - margin1 n. */
#ifndef SAPWOOD_CONTACTS_H
#define SAPWOOD_CONTACTS_H

#include <sapwood/state.h>

SAP_BEGIN_DECLS

/* The arrays are host memory, row-major. They are the caller's, or the object's if sap_contacts_create made it. */
typedef struct SapContacts {
    int num_worlds;   /* n >= 1 */
    int capacity;     /* slots per world, 1 .. 65535 */
    SapDtype dtype;   /* type of the floating-point arrays */
    int32_t *count;   /* [n] contacts of each world, 0 .. capacity; required */
    int32_t *dropped; /* [n] contacts that found no slot; output of sorting and collision, else may be NULL */

    /* The two sides: shapes, bodies, or both. A shape determines its body and material. -1 = static. sap_collide writes
     * the shapes, which it requires, and the bodies. */
    int32_t *shape0, *shape1; /* [n][capacity] shape index or -1; NULL = all -1 */
    int32_t *body0, *body1;   /* [n][capacity] body index or -1, read where the shape is -1 or absent; NULL = all -1 */

    void *point0, *point1;   /* [n][capacity][3] m, in the frame of the body (the world's if static); required */
    void *normal;            /* [n][capacity][3] world axes, from side 0 to side 1, any length > 0; required */
    void *margin0, *margin1; /* [n][capacity] m; NULL = 0 */

    /* Parameters per record. An array that is NULL, or NaN in a slot, means the values of the shapes. */
    void *stiffness;   /* [n][capacity] N/m, > 0, infinity = rigid */
    void *tau;         /* [n][capacity] s, >= 0, dissipation time; not read by `similar` and `lagged` */
    void *mu;          /* [n][capacity] >= 0, Coulomb friction */
    void *dissipation; /* [n][capacity] s/m, >= 0; read by `similar` and `lagged` only (contact_approximation) */

    /* Contacts of MuJoCo's law, contact_solver = mujoco (mujoco.h): [n][capacity]. That law reads these, shapes and
     * bodies only. The caller's; NULL = none. */
    const struct SapMujocoContact *mujoco;

    /* For warm_start of the dual solvers (docs/dual.md): which contact of its pair a record is, such as the number of a
     * feature, so that it finds its force of the last step in any order of records. [n][capacity], any numbers, the
     * caller's; NULL = its index among the records of the pair. sap_contacts_create leaves it NULL. */
    const int32_t *key;
} SapContacts;

/* Allocates the object and every array, 64-byte aligned: no contacts, shapes and bodies -1, parameters NaN. num_worlds
 * and capacity as above. The caller owns *out, which owns its arrays. */
SAP_API SapStatus sap_contacts_create(int num_worlds, int capacity, SapDtype dtype, SapContacts **out);
/* Frees what sap_contacts_create allocated; NULL is allowed. */
SAP_API void sap_contacts_destroy(SapContacts *contacts);

/* One record of a flat list over all worlds. */
typedef struct SapContactRecord {
    int32_t world;               /* 0 .. num_worlds - 1 */
    int32_t shape0, shape1;      /* shape index or -1 */
    int32_t body0, body1;        /* body index or -1, read where the shape is -1 */
    double point0[3], point1[3]; /* m, in the frame of the body (the world's if static) */
    double normal[3];            /* world axes, from side 0 to side 1, any length > 0 */
    double margin0, margin1;     /* m */
    double gap;                  /* m, phi0: selects the records to keep if a world has too many */
    double stiffness, tau, mu;   /* N/m, s, 1, as in SapContacts; NaN = from the shapes */
    double dissipation;          /* s/m; likewise */
} SapContactRecord;

/* Sorts a flat list into the slots of `contacts`, which sap_contacts_create made, and replaces its former records.
 * records has num_records >= 0 elements and stays the caller's; NULL is allowed for 0 records. The records of a world
 * keep their order in the list. A world with more records than slots keeps the deepest (of equal gaps the earlier) and
 * counts the others in dropped. A record whose world is out of range is an error, and nothing changes. */
SAP_API SapStatus sap_contacts_sort(SapContacts *contacts, const SapContactRecord *records, int num_records);

SAP_END_DECLS

#endif
