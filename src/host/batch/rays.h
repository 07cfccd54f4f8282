/* Ray casts of a batch: calls (sap_batch_raycast), and the rays of its sensors. */
#ifndef SAPWOOD_HOST_BATCH_RAYS_H
#define SAPWOOD_HOST_BATCH_RAYS_H

#include "host/batch/backend.h"

enum { SAP_MOST_RAYS = 1 << 24 }; /* of a world */

/* Where the results go; as in SapRayArgs. */
typedef struct SapRayResults {
    SapBuffer distance, normal;
    int *shape;
} SapRayResults;

/* Checks rays, without their results. Messages begin with `what`. */
SapStatus sap_rays_check(const SapBatch *batch, const char *what, const SapRays *rays);

/* Casts rays that were checked in the worlds of a mask (as in sap_batch_reset). */
SapStatus sap_rays_cast(SapBatch *batch, const char *what, const uint8_t *mask, const SapRays *rays,
                        const SapRayResults *results);

#endif
