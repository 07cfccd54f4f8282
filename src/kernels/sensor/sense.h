/* A measurement of all sensors of a batch, after a step or at a beginning. An item is one sensor of one world: sites,
 * then dofs, then contact sensors, then the status of the world. */

/* The status of a call of several steps that were taken one by one: failures and warnings accumulate. */
KERNEL_FN void sense_status(const SapSenseArgs *args, int world) {
    if (!args->status_before || !(args->elapsed > 0))
        return;
    unsigned before = args->step == 0 ? 0 : args->status_before[world];
    args->status[world] |= before;
    args->status_before[world] = args->status[world] & SAP_WORLD_LASTING;
}

/* item = world * args->items + sensor */
STAGE_FN void sense_item(const SapSenseArgs *args, long long item) {
    int count = args->items, world = (int)(item / count), i = (int)(item % count), dofs = args->num_dofs;
    SapPack pack = pack_of_one(world);
    if (args->mask && !args->mask[world])
        return;
    if (i < args->site.count) {
        if (args->ends)
            sense_site(args, i, &pack);
    } else if (i < args->site.count + dofs) {
        if (args->ends)
            sense_dof(args, i - args->site.count, &pack);
    } else if (i < count - 1) {
        sense_touch(args, i - args->site.count - dofs, &pack);
    } else {
        sense_status(args, world);
    }
}
