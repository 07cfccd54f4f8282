/* One hash per world. Content number c (state and control) is the same numbers wherever it is put: any row of any
 * batch, in f32 or f64 storage; and two worlds have the same hash if and only if all their numbers have the same
 * bits. */
#ifndef SAPWOOD_TESTS_SUPPORT_HASH_WORLDS_H
#define SAPWOOD_TESTS_SUPPORT_HASH_WORLDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sapwood/state.h>

#include "support/number.h"
#include "support/random_model.h"

/* The arrays of n worlds, ours: kernels and solvers both take them. */
typedef struct HashBatch {
    const SapModelArrays *m;
    int n;
    SapState state;
    SapControl control;
} HashBatch;

static inline HashBatch hash_batch_create(const SapModelArrays *m, int n, SapDtype dtype) {
    size_t size = number_width(dtype), worlds = (size_t)n;
    size_t nq = worlds * (size_t)m->num_coords, nv = worlds * (size_t)m->num_dofs, nb = worlds * (size_t)m->num_bodies;
    HashBatch batch = {.m = m, .n = n};
    batch.state = (SapState){.num_worlds = n,
                             .dtype = dtype,
                             .joint_q = calloc(nq, size),
                             .joint_qd = calloc(nv, size),
                             .body_q = calloc(nb * 7, size),
                             .body_qd = calloc(nb * 6, size)};
    batch.control =
        (SapControl){.num_worlds = n, .dtype = dtype, .joint_f = calloc(nv, size), .body_f = calloc(nb * 6, size)};
    return batch;
}

static inline void hash_batch_destroy(HashBatch *batch) {
    free(batch->state.joint_q);
    free(batch->state.joint_qd);
    free(batch->state.body_q);
    free(batch->state.body_qd);
    free(batch->control.joint_f);
    free(batch->control.body_f);
}

/* Every number is rounded to f32, so that storage makes no difference. */
static inline void hash_put_row(void *data, SapDtype dtype, int row, const double *values, int n) {
    for (int i = 0; i < n; i++)
        number_put(data, dtype, (size_t)row * (size_t)n + (size_t)i, (double)(float)values[i]);
}

/* Puts content number `content` into world `row`. */
static inline void hash_fill(HashBatch *batch, int row, uint64_t content) {
    enum { MAX = 512 };
    const SapModelArrays *m = batch->m;
    double x[MAX];
    Random random = random_seed(1000003 * (content + 1));
    if (m->num_coords > MAX || 6 * m->num_bodies > MAX)
        abort();
    random_coordinates(&random, m, x);
    hash_put_row(batch->state.joint_q, batch->state.dtype, row, x, m->num_coords);
    random_numbers(&random, 1, x, m->num_dofs);
    hash_put_row(batch->state.joint_qd, batch->state.dtype, row, x, m->num_dofs);
    random_numbers(&random, 0.5, x, m->num_dofs);
    hash_put_row(batch->control.joint_f, batch->control.dtype, row, x, m->num_dofs);
    random_numbers(&random, 0.5, x, 6 * m->num_bodies);
    hash_put_row(batch->control.body_f, batch->control.dtype, row, x, 6 * m->num_bodies);
}

/* FNV-1a over the bit patterns of a row as f64, eight bytes at a time with a final mix of each. */
static inline uint64_t hash_row(uint64_t hash, const void *data, SapDtype dtype, int row, int n) {
    for (int i = 0; i < n; i++) {
        double value = number_get(data, dtype, (size_t)row * (size_t)n + (size_t)i);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Hashes everything a step writes. */
static inline uint64_t hash_world(const HashBatch *batch, int row, uint32_t status) {
    const SapModelArrays *m = batch->m;
    const SapState *s = &batch->state;
    uint64_t hash = 0xcbf29ce484222325u ^ status;
    hash = hash_row(hash, s->joint_q, s->dtype, row, m->num_coords);
    hash = hash_row(hash, s->joint_qd, s->dtype, row, m->num_dofs);
    hash = hash_row(hash, s->body_q, s->dtype, row, 7 * m->num_bodies);
    return hash_row(hash, s->body_qd, s->dtype, row, 6 * m->num_bodies);
}

#endif
