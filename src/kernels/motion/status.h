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

/* Begins the status of a step, which is in scratch until the step ends. It is clear in the first step of a call. In
 * later steps the lasting bits stay, so a failed world keeps its state for the rest of the call. */
STAGE_FN void begin_status(const Context *ctx) {
    TEAM_ONCE() {
        for (int l = 0; l < SAP_LANES; l++)
            STATUS(l) = ctx->step == 0 ? 0 : (int)(ctx->args->status[ctx->pack->world[l]] & SAP_WORLD_LASTING);
    }
}

/* Continues with the status that put_status kept from the stage before: on a GPU that was another launch. */
KERNEL_FN void resume_status(const Context *ctx) {
    TEAM_ONCE() {
        for (int l = 0; l < SAP_LANES; l++)
            STATUS(l) = (int)ctx->args->status[ctx->pack->world[l]];
    }
}

/* Adds bits to the status of the step. */
STAGE_FN void add_status(const Context *ctx, bits status) {
    TEAM_ONCE() {
        FOR_LANES(l) STATUS(l) |= (int)LANE(status, l);
    }
}

KERNEL_FN bits get_status(const Context *ctx) {
    bits status;
    FOR_LANES(l) LANE(status, l) = (scalar_bits)(unsigned)STATUS(l);
    return status;
}
