/* Which records stand in which slot. A slot holds at most one contact of each world of the pack, and worlds keep the order of their
 * records, so any such arrangement gives the same bits: sums over contacts only gain zeros.
 *
 * Worlds of a pack touch with different bodies at different times. If slot c were record c of each world, its columns would be
 * the union of all their paths, mostly zeros. So records of the same pair are put into the same slot: a merge of the worlds' lists by pair. */

/* Pairs in the order in which collision finds them: by the smaller index, then by the larger. */
KERNEL_FN long long record_key(const Context *ctx, long long at) {
    const SapContactArgs *c = &ctx->args->contacts;
    long long side[2];
    for (int i = 0; i < 2; i++) {
        int shape = c->shape[i] ? c->shape[i][at] : -1, body = c->body[i] ? c->body[i][at] : -1;
        side[i] = shape >= 0 ? shape : (1 << 24) + (long long)body; /* bodies come after shapes */
    }
    long long low = side[0] < side[1] ? side[0] : side[1], high = side[0] < side[1] ? side[1] : side[0];
    return low * (1LL << 32) + high;
}

/* The next record of each lane, and its pair. */
typedef struct SlotMerge {
    int next[SAP_LANES], count[SAP_LANES];
    long long key[SAP_LANES];
} SlotMerge;

KERNEL_FN void slot_merge_look(const Context *ctx, SlotMerge *merge, int l) {
    long long first = (long long)ctx->pack->world[l] * ctx->args->contacts.given_capacity;
    if (merge->next[l] < merge->count[l])
        merge->key[l] = record_key(ctx, first + merge->next[l]);
}

/* The smallest key that is next in some lane; -1 when all lists are at their end. */
KERNEL_FN bool slot_merge_least(const SlotMerge *merge, long long *least) {
    bool any = false;
    for (int l = 0; l < SAP_LANES; l++)
        if (merge->next[l] < merge->count[l] && (!any || merge->key[l] < *least)) {
            *least = merge->key[l];
            any = true;
        }
    return any;
}

/* Fills slots by pair; false if there are not enough. */
STAGE_FN bool slots_merge(const Context *ctx, SlotMerge *merge, int *num_slots) {
    long long least = 0;
    int n = 0;
    for (int l = 0; l < SAP_LANES; l++)
        slot_merge_look(ctx, merge, l);
    for (; slot_merge_least(merge, &least); n++) {
        if (n == ctx->args->contacts.num_slots)
            return false;
        for (int l = 0; l < SAP_LANES; l++) {
            bool takes = merge->next[l] < merge->count[l] && merge->key[l] == least;
            SLOT_INTS(record, n)[l] = takes ? merge->next[l]++ : -1;
            if (takes)
                slot_merge_look(ctx, merge, l);
        }
    }
    *num_slots = n;
    return true;
}

/* Slot c holds record c of each world. */
STAGE_FN int slots_by_number(const Context *ctx, const int *count) {
    int most = 0;
    for (int l = 0; l < SAP_LANES; l++)
        most = count[l] > most ? count[l] : most;
    for (int c = 0; c < most; c++)
        for (int l = 0; l < SAP_LANES; l++)
            SLOT_INTS(record, c)[l] = c < count[l] ? c : -1;
    return most;
}

STAGE_FN int program_fill_slots(const Context *ctx) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    if (!contacts->count)
        return 0;
    TEAM_FOR(once, 1) {
        (void)once;
        SlotMerge merge;
        for (int l = 0; l < SAP_LANES; l++) {
            merge.next[l] = 0;
            merge.count[l] = l < ctx->pack->count ? contacts->count[ctx->pack->world[l]] : 0;
        }
        if (!contacts->align || !slots_merge(ctx, &merge, NUM_SLOTS))
            *NUM_SLOTS = slots_by_number(ctx, merge.count);
    }
    TEAM_SYNC(); /* all read which records stand in their slots, and how many there are */
    return *NUM_SLOTS;
}

/* The same number in a later stage. */
STAGE_FN int program_kept_slots(const Context *ctx) {
    return ctx->args->contacts.count ? *NUM_SLOTS : 0;
}
