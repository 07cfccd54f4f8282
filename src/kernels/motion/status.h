/* The status of the worlds of a pack (SAP_WORLD_...). */

/* Overwrites the status of the worlds. */
STAGE_FN void put_status(const Context *ctx, bits status) {
    TEAM_ONCE() {
        FOR_LANES(l) {
            if (l < ctx->pack->count)
                ctx->args->status[ctx->pack->world[l]] = (unsigned)LANE(status, l);
        }
    }
}

/* Clears the status in the first step of a call. In later steps the lasting bits stay, so a failed world keeps its
 * state for the rest of the call. */
STAGE_FN void begin_status(const Context *ctx) {
    const unsigned lasting = SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED | SAP_WORLD_CONTACTS_TRUNCATED |
                             SAP_WORLD_FAST_SPIN | SAP_WORLD_UNBOUNDED | SAP_WORLD_COULOMB_NOT_CONVERGED;
    TEAM_ONCE() {
        for (int l = 0; l < ctx->pack->count; l++)
            ctx->args->status[ctx->pack->world[l]] &= ctx->step == 0 ? 0 : lasting;
    }
}

/* Adds bits to the status of the worlds. */
STAGE_FN void add_status(const Context *ctx, bits status) {
    TEAM_ONCE() {
        FOR_LANES(l) {
            if (l < ctx->pack->count)
                ctx->args->status[ctx->pack->world[l]] |= (unsigned)LANE(status, l);
        }
    }
}

KERNEL_FN bits get_status(const Context *ctx) {
    bits status;
    FOR_LANES(l) LANE(status, l) = (scalar_bits)ctx->args->status[ctx->pack->world[l]];
    return status;
}
