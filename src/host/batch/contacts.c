/* Contact slots: their memory, and sorting a flat list into them. */
#include <sapwood/contacts.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/number.h"

enum { MAX_CAPACITY = 65535 };

/* The object and its arrays are in one block. */
static void carve(SapArena *arena, SapContacts *c, SapContacts **object) {
    size_t size = sap_real_bytes(c->dtype == SAP_F64);
    size_t n = (size_t)c->num_worlds, slots = n * (size_t)c->capacity;
    SAP_CARVE(arena, *object, 1);
    SAP_CARVE(arena, c->count, n);
    SAP_CARVE(arena, c->dropped, n);
    int32_t **ints[] = {&c->shape0, &c->shape1, &c->body0, &c->body1};
    for (int i = 0; i < 4; i++)
        SAP_CARVE(arena, *ints[i], slots);
    void **vectors[] = {&c->point0, &c->point1, &c->normal},
         **scalars[] = {&c->margin0, &c->margin1, &c->stiffness, &c->tau, &c->mu, &c->dissipation};
    for (int i = 0; i < 3; i++)
        *vectors[i] = sap_arena_carve(arena, slots, 3 * size);
    for (int i = 0; i < 6; i++)
        *scalars[i] = sap_arena_carve(arena, slots, size);
}

static void clear_slots(SapContacts *c) {
    size_t slots = (size_t)c->num_worlds * (size_t)c->capacity;
    for (size_t i = 0; i < slots; i++) {
        c->shape0[i] = c->shape1[i] = -1;
        c->body0[i] = c->body1[i] = -1;
        sap_put_number(c->stiffness, c->dtype == SAP_F64, i, NAN);
        sap_put_number(c->tau, c->dtype == SAP_F64, i, NAN);
        sap_put_number(c->mu, c->dtype == SAP_F64, i, NAN);
        sap_put_number(c->dissipation, c->dtype == SAP_F64, i, NAN);
    }
}

SapStatus sap_contacts_create(int num_worlds, int capacity, SapDtype dtype, SapContacts **out) {
    SAP_NEED(out);
    *out = NULL;
    if (num_worlds < 1)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_contacts_create: num_worlds is %d; it must be at least 1", num_worlds);
    if (capacity < 1 || capacity > MAX_CAPACITY)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_contacts_create: capacity is %d; it must be in 1 .. %d", capacity,
                        MAX_CAPACITY);
    if (dtype != SAP_F32 && dtype != SAP_F64)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_contacts_create: dtype is %d; it must be SAP_F32 or SAP_F64",
                        (int)dtype);
    SapContacts c = {.num_worlds = num_worlds, .capacity = capacity, .dtype = dtype}, *object = NULL;
    SapArena arena = {0};
    carve(&arena, &c, &object);
    SAP_TRY(sap_arena_allocate(&arena, "contacts"));
    carve(&arena, &c, &object);
    clear_slots(&c);
    *object = c;
    *out = object;
    return SAP_OK;
}

void sap_contacts_destroy(SapContacts *contacts) {
    free(contacts);
}

/* ---- sorting ---- */

static void put_record(SapContacts *c, size_t slot, const SapContactRecord *r) {
    c->shape0[slot] = r->shape0;
    c->shape1[slot] = r->shape1;
    c->body0[slot] = r->body0;
    c->body1[slot] = r->body1;
    for (size_t i = 0; i < 3; i++) {
        sap_put_number(c->point0, c->dtype == SAP_F64, 3 * slot + i, r->point0[i]);
        sap_put_number(c->point1, c->dtype == SAP_F64, 3 * slot + i, r->point1[i]);
        sap_put_number(c->normal, c->dtype == SAP_F64, 3 * slot + i, r->normal[i]);
    }
    sap_put_number(c->margin0, c->dtype == SAP_F64, slot, r->margin0);
    sap_put_number(c->margin1, c->dtype == SAP_F64, slot, r->margin1);
    sap_put_number(c->stiffness, c->dtype == SAP_F64, slot, r->stiffness);
    sap_put_number(c->tau, c->dtype == SAP_F64, slot, r->tau);
    sap_put_number(c->mu, c->dtype == SAP_F64, slot, r->mu);
    sap_put_number(c->dissipation, c->dtype == SAP_F64, slot, r->dissipation);
}

typedef struct Candidate {
    double gap;
    int index; /* in the flat list */
} Candidate;

/* Deepest first. A gap that is NaN counts as deepest, so that it gets a slot and stops its world. */
static int deeper(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    double gx = isnan(x->gap) ? -INFINITY : x->gap, gy = isnan(y->gap) ? -INFINITY : y->gap;
    if (gx != gy)
        return gx < gy ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static int earlier(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    return x->index < y->index ? -1 : 1;
}

/* Copies the candidates of one world to its slots. */
static void fill_world(SapContacts *c, int world, Candidate *candidate, int n, const SapContactRecord *records) {
    int kept = n < c->capacity ? n : c->capacity;
    if (n > kept) {
        qsort(candidate, (size_t)n, sizeof *candidate, deeper);
        qsort(candidate, (size_t)kept, sizeof *candidate, earlier);
    }
    for (int i = 0; i < kept; i++)
        put_record(c, (size_t)world * (size_t)c->capacity + (size_t)i, &records[candidate[i].index]);
    c->count[world] = kept;
    c->dropped[world] = n - kept;
}

SapStatus sap_contacts_sort(SapContacts *c, const SapContactRecord *records, int num_records) {
    SAP_DEFAULT_FP_MODE();
    /* Arguments. */
    SAP_NEED(c);
    if (num_records < 0)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_contacts_sort: num_records is %d; it must not be negative",
                        num_records);
    if (num_records > 0)
        SAP_NEED(records);
    for (int i = 0; i < num_records; i++)
        if (records[i].world < 0 || records[i].world >= c->num_worlds)
            return sap_fail(SAP_ERROR_ARGUMENT, "sap_contacts_sort: records[%d].world is %d; it must be in 0 .. %d", i,
                            records[i].world, c->num_worlds - 1);
    /* Scratch. */
    Candidate *candidate = NULL;
    int *start = NULL;
    SapArena arena = {0};
    SAP_TRY(SAP_CARVE_ALL(&arena, "sap_contacts_sort", SAP_PART(candidate, num_records),
                          SAP_PART(start, c->num_worlds + 1)));
    /* Stable counting sort by world. */
    for (int i = 0; i < num_records; i++)
        start[records[i].world + 1]++;
    for (int w = 0; w < c->num_worlds; w++)
        start[w + 1] += start[w];
    for (int i = 0; i < num_records; i++)
        candidate[start[records[i].world]++] = (Candidate){records[i].gap, i};
    /* Slots of each world. */
    for (int w = 0, first = 0; w < c->num_worlds; first = start[w++])
        fill_world(c, w, candidate + first, start[w] - first, records);
    free(arena.base);
    return SAP_OK;
}
