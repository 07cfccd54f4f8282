#include "host/cpu/work_ranges.h"

#include <stdint.h>

void sap_work_ranges_start(SapWorkRange *ranges, int num_workers, int num_packs) {
    for (int w = 0; w < num_workers; w++) {
        atomic_init(&ranges[w].next, (int)((int64_t)num_packs * w / num_workers));
        ranges[w].end = (int)((int64_t)num_packs * (w + 1) / num_workers);
    }
}

int sap_work_ranges_take(SapWorkRange *ranges, int worker, int num_workers, int *from) {
    do {
        /* Load before incrementing, so that repeated attempts on an empty range do not overflow the counter. */
        SapWorkRange *d = &ranges[*from];
        if (atomic_load_explicit(&d->next, memory_order_relaxed) < d->end) {
            int pack = atomic_fetch_add_explicit(&d->next, 1, memory_order_relaxed);
            if (pack < d->end)
                return pack;
        }
        *from = (*from + 1) % num_workers;
    } while (*from != worker);
    return -1;
}
