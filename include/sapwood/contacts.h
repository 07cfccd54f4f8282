/* Contacts of n worlds, in slots: world w has count[w] records, its slot c is element [w][c] of every array. Host memory.
 *
 * A record is a pair of points and a normal. With witnesses x0, x1 (the points in world axes), phi0 = (x1 - x0).n - margin0 -
 * margin1 is the signed gap. Points may lie on the surfaces (margins: the shapes' own) or on a core with the radius as margin:
 * the solver moves them out to x0 + margin0 n and x1 - margin1 n. */
#ifndef SAPWOOD_CONTACTS_H
#define SAPWOOD_CONTACTS_H

#include <sapwood/state.h>

SAP_BEGIN_DECLS

typedef struct SapContacts {
    int num_worlds;   /* n >= 1 */
    int capacity;     /* slots per world, 1 .. 65535 */
    SapDtype dtype;   /* of the floating-point arrays */
    int32_t *count;   /* [n] contacts of each world, 0 .. capacity; required */
    int32_t *dropped; /* [n] contacts that found no slot; written by sap_contacts_sort; may be NULL */

    /* Who touches: shapes, or bodies, or both. A shape gives its body and its material. -1 = static. */
    int32_t *shape0, *shape1; /* [n][capacity] shape index or -1; may be NULL */
    int32_t *body0, *body1;   /* [n][capacity] body index or -1, read where the shape is -1 or absent; may be NULL */

    void *point0, *point1;   /* [n][capacity][3] m, in the frame of the body (the world's if static); required */
    void *normal;            /* [n][capacity][3] world axes, from shape 0 to shape 1, any length > 0; required */
    void *margin0, *margin1; /* [n][capacity] m; NULL = 0 */

    /* A record's own parameters; NULL, or NaN in a slot, means those of its shapes. */
    void *stiffness; /* [n][capacity] N/m, > 0 */
    void *tau;       /* [n][capacity] s, >= 0 */
    void *mu;        /* [n][capacity] >= 0 */
} SapContacts;

/* Allocates every array (64-byte aligned, owned by the object): no contacts, shapes and bodies -1, own parameters NaN. */
SAP_API SapStatus sap_contacts_create(int num_worlds, int capacity, SapDtype dtype, SapContacts **out);
SAP_API void sap_contacts_destroy(SapContacts *contacts); /* NULL is allowed */

/* One record of a flat list over all worlds. */
typedef struct SapContactRecord {
    int32_t world;               /* 0 .. num_worlds - 1 */
    int32_t shape0, shape1;      /* or -1 */
    int32_t body0, body1;        /* or -1 */
    double point0[3], point1[3]; /* m, in the frame of the body (the world's if static) */
    double normal[3];            /* world axes, from shape 0 to shape 1, any length > 0 */
    double margin0, margin1;     /* m */
    double gap;                  /* m, phi0: which contacts to keep when a world has too many */
    double stiffness, tau, mu;   /* NaN = those of the shapes */
} SapContactRecord;

/* Sorts a flat list into the slots of `contacts` (made by sap_contacts_create), whose former contents are replaced. Within a
 * world the order of the list is kept. A world with more records than slots keeps the deepest (ties: the earlier), in the
 * order of the list, and counts the others in dropped. A record whose world is out of range is an error, and nothing is changed. */
SAP_API SapStatus sap_contacts_sort(SapContacts *contacts, const SapContactRecord *records, int num_records);

SAP_END_DECLS

#endif
