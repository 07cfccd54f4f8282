/* Contacts for kernels that run without a solver: the arguments sap_step would make of a SapContacts. */
#ifndef SAPWOOD_TESTS_SUPPORT_KERNEL_CONTACTS_H
#define SAPWOOD_TESTS_SUPPORT_KERNEL_CONTACTS_H

#include "support/hash_contacts.h"
#include "support/kernel_batch.h"

/* Contacts of content i + `first` for world i, at the poses of its state, which `plain` (kernels of a team of one)
 * finds. The caller destroys them, after the batch. */
static inline SapContacts *kernel_batch_add_contacts(KernelBatch *k, uint64_t first, const SapKernels *const plain[2]) {
    SapContacts *c;
    SapKernelSet set = kernel_set(plain);
    cr_assert_eq(sap_contacts_create(k->batch.n, HASH_SLOTS, k->batch.state.dtype, &c), SAP_OK);
    for (int w = 0; w < k->batch.n; w++) {
        SapPack pack = sap_pack_at(w, k->batch.n, 1);
        SapContext ctx = sap_context(&k->args, &pack, &set, &k->scratch);
        sap_program_kinematics(&ctx);
        hash_fill_contacts(&k->batch, c, w, first + (uint64_t)w, 0);
    }
    sap_step_args_set_contacts(&k->args, c);
    return c;
}

/* Steps find their own contacts. The caller destroys them, after the batch. */
static inline SapContacts *kernel_batch_collide(KernelBatch *k) {
    SapContacts *c;
    cr_assert_eq(sap_contacts_create(k->batch.n, k->args.contacts.capacity, k->batch.state.dtype, &c), SAP_OK);
    sap_step_args_set_contacts(&k->args, c);
    k->args.collide.enabled = 1;
    return c;
}

/* A hash of world w's records, gone on from `hash`. */
static inline uint64_t hash_records(uint64_t hash, const SapContacts *c, int w) {
    hash = hash * 31 + (uint64_t)c->count[w] * 65536 + (uint64_t)c->dropped[w];
    for (int i = 0; i < c->count[w]; i++) {
        int at = w * c->capacity + i;
        hash = hash * 31 + (uint64_t)c->shape0[at] * 65536 + (uint64_t)c->shape1[at];
        hash = hash_row(hash, c->point0, c->dtype, at, 3);
        hash = hash_row(hash, c->point1, c->dtype, at, 3);
        hash = hash_row(hash, c->normal, c->dtype, at, 3);
    }
    return hash;
}

#endif
