/* Assigns contact records to slots. A slot holds one contact between the same two sides in several worlds of the pack,
 * at most one per world. Shapes, bodies, their paths and constants are therefore the same for all lanes; only points
 * and normals differ.
 *
 * The lists of the worlds are merged: the next slot is for the first pair, in the order of sides_key, among the next
 * records of all worlds, and takes the next record of every world that has this pair. Each world keeps the order of its
 * records, so any assignment gives the same bits: it only adds zeros to sums over contacts. */

/* The two sides of a record: a shape each, or a body if there is no shape. */
typedef struct Sides {
    int shape[2], body[2];
} Sides;

KERNEL_FN Sides record_sides(const Context *ctx, long long at) {
    const SapContactArgs *c = &ctx->args->contacts;
    Sides s;
    for (int i = 0; i < 2; i++) {
        s.shape[i] = c->shape[i] ? c->shape[i][at] : -1;
        s.body[i] = s.shape[i] < 0 && c->body[i] ? c->body[i][at] : -1;
    }
    return s;
}

KERNEL_FN bool sides_equal(const Sides *a, const Sides *b) {
    return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1] && a->body[0] == b->body[0] &&
           a->body[1] == b->body[1];
}

/* Pairs in the order in which collision finds them: by the smaller index, then by the larger; bodies after shapes. */
KERNEL_FN unsigned long long sides_key(const Sides *s) {
    unsigned side[2];
    for (int i = 0; i < 2; i++)
        side[i] = s->shape[i] >= 0 ? (unsigned)s->shape[i] : (1u << 31) + ((unsigned)s->body[i] + 1u);
    unsigned low = side[0] < side[1] ? side[0] : side[1], high = side[0] < side[1] ? side[1] : side[0];
    return ((unsigned long long)low << 32) + high;
}

/* Sets the sides of slot c. The geometry stage checks their indices. */
KERNEL_FN void slot_put_sides(const Context *ctx, int c, const Sides *s) {
    for (int i = 0; i < 2; i++) {
        SLOT_SETUP_INTS(shape, c)[i] = s->shape[i];
        SLOT_SETUP_INTS(link, c)[i] = s->body[i];
    }
}

/* The next record of each lane. */
typedef struct SlotMerge {
    int next[SAP_LANES], count[SAP_LANES];
    Sides sides[SAP_LANES];
    unsigned long long key[SAP_LANES];
} SlotMerge;

/* Reads the sides and key of the next record of lane l. */
KERNEL_FN void slot_merge_look(const Context *ctx, SlotMerge *merge, int l) {
    long long first = (long long)ctx->pack->world[l] * ctx->args->contacts.given_capacity;
    if (merge->next[l] >= merge->count[l])
        return;
    merge->sides[l] = record_sides(ctx, first + merge->next[l]);
    merge->key[l] = sides_key(&merge->sides[l]);
}

/* The lane whose next record has the smallest key; -1 if all lists are at their end. */
KERNEL_FN int slot_merge_least(const SlotMerge *merge) {
    int least = -1;
    for (int l = 0; l < SAP_LANES; l++)
        if (merge->next[l] < merge->count[l] && (least < 0 || merge->key[l] < merge->key[least]))
            least = l;
    return least;
}

/* Fills the slots and returns their number. */
STAGE_FN int slots_merge(const Context *ctx, SlotMerge *merge) {
    int n = 0;
    for (int l = 0; l < SAP_LANES; l++)
        slot_merge_look(ctx, merge, l);
    for (int least; (least = slot_merge_least(merge)) >= 0; n++) {
        Sides sides = merge->sides[least];
        slot_put_sides(ctx, n, &sides);
        for (int l = 0; l < SAP_LANES; l++) {
            bool takes = merge->next[l] < merge->count[l] && sides_equal(&merge->sides[l], &sides);
            SLOT_SETUP_INTS(record, n)[l] = takes ? merge->next[l]++ : -1;
            if (takes)
                slot_merge_look(ctx, merge, l);
        }
    }
    return n;
}

/* The number of records of lane l. */
KERNEL_FN int slot_records(const Context *ctx, int l) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    int count = l < ctx->pack->count ? contacts->count[ctx->pack->world[l]] : 0;
    return count < contacts->given_capacity ? count : contacts->given_capacity; /* not written if no pair can touch */
}

/* The slots of a pack of one world are its records, each filled by the thread that computes its geometry. */
KERNEL_FN int slots_of_one_world(const Context *ctx) {
    int n = slot_records(ctx, 0);
    long long first = (long long)ctx->pack->world[0] * ctx->args->contacts.given_capacity;
    TEAM_ONCE() {
        *NUM_SLOTS = n;
    }
    TEAM_FOR(c, n) {
        Sides sides = record_sides(ctx, first + c);
        slot_put_sides(ctx, c, &sides);
        SLOT_SETUP_INTS(record, c)[0] = c;
    }
    return n;
}

/* The slots of several worlds. A pack of several lanes has one thread. */
KERNEL_FN int slots_of_all_lanes(const Context *ctx) {
    SlotMerge merge;
    for (int l = 0; l < SAP_LANES; l++) {
        merge.next[l] = 0;
        merge.count[l] = slot_records(ctx, l);
    }
    return *NUM_SLOTS = slots_merge(ctx, &merge);
}

/* Fills the slots of the pack and returns their number. */
STAGE_FN int stage_fill_slots(const Context *ctx) {
    PROFILE(ctx, SAP_SECTION_SLOTS);
    if (!ctx->args->contacts.count)
        return 0;
    return SAP_LANES == 1 ? slots_of_one_world(ctx) : slots_of_all_lanes(ctx);
}

/* The number of slots, for later stages. */
STAGE_FN int stage_stored_slots(const Context *ctx) {
    return ctx->args->contacts.count ? *NUM_SLOTS : 0;
}
