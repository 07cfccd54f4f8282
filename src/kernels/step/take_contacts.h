/* Takes the contacts of the caller into the contact arrays of a batch: counts, and the records of each world, slot by
 * slot. An array that the caller does not give is filled with one value. A CPU calls take_contacts for each world; on
 * a GPU each world has a team.
 *
 * A count above the records that there are, or above the slots of the batch, leaves the rest in `dropped`. A negative
 * count, or a side that does not exist, makes the world have one record with the shape NO_SUCH_SHAPE, which the step
 * refuses as it does any bad record. So no later reader of the arrays meets an index out of range. */
#ifndef SAPWOOD_KERNELS_STEP_TAKE_CONTACTS_H
#define SAPWOOD_KERNELS_STEP_TAKE_CONTACTS_H

#include "kernels/data/args.h"
#include "kernels/dialect/team.h"

/* SapContacts has 15 arrays of records. */
enum { SAP_TAKE_MAX_ROWS = 15, SAP_NO_SUCH_SHAPE = -2 };

typedef enum SapTakeType { SAP_TAKE_I32, SAP_TAKE_F32, SAP_TAKE_F64 } SapTakeType;

/* An array of records. */
typedef struct SapTakeRow {
    const void *from;        /* [num_worlds][from_capacity][width]; NULL = `fill` in every slot */
    void *to;                /* [num_worlds][to_capacity][width] */
    SapTakeType given, type; /* of `from` and of `to`: both I32 or neither */
    int width;
    double fill;
} SapTakeRow;

typedef struct SapTakeArgs {
    int num_worlds, from_capacity, to_capacity;
    int num_shapes, num_bodies;
    const int *count, *dropped;      /* [num_worlds] of the caller; count NULL = no contacts, dropped NULL = none */
    const int *shape[2], *body[2];   /* [num_worlds][from_capacity] of the caller; NULL = all -1 */
    int *own_count, *own_dropped;    /* [num_worlds] */
    int *own_shape[2], *own_body[2]; /* [num_worlds][to_capacity]; own_body may be NULL */
    int num_rows;
    SapTakeRow row[SAP_TAKE_MAX_ROWS];
} SapTakeArgs;
static_assert(sizeof(SapTakeArgs) <= SAP_MAX_LAUNCH_BYTES, "the arguments of a launch are too large");

/* Number `at` of `from`, or the fill, to number `to` of the row. */
TEAM_FN void take_number(const SapTakeRow *row, long long at, long long to) {
    if (row->type == SAP_TAKE_I32) {
        ((int *)row->to)[to] = row->from ? ((const int *)row->from)[at] : (int)row->fill;
        return;
    }
    double x = !row->from                   ? row->fill
               : row->given == SAP_TAKE_F64 ? ((const double *)row->from)[at]
                                            : (double)((const float *)row->from)[at];
    if (row->type == SAP_TAKE_F64)
        ((double *)row->to)[to] = x;
    else
        ((float *)row->to)[to] = (float)x;
}

/* Whether the sides of the record exist: a body counts where there is no shape. */
TEAM_FN bool take_exists(const SapTakeArgs *args, long long record) {
    for (int side = 0; side < 2; side++) {
        int shape = args->shape[side] ? args->shape[side][record] : -1;
        int body = shape < 0 && args->body[side] ? args->body[side][record] : -1;
        if (shape < -1 || shape >= args->num_shapes || body < -1 || body >= args->num_bodies)
            return false;
    }
    return true;
}

/* Takes the contacts of one world. */
TEAM_FN void take_contacts(const SapTakeArgs *args, int world) {
    long long first = (long long)world * args->from_capacity, own = (long long)world * args->to_capacity;
    int found = args->count ? args->count[world] : 0, lost = args->dropped ? args->dropped[world] : 0;
    int most = args->from_capacity < args->to_capacity ? args->from_capacity : args->to_capacity;
    int kept = found < most ? found : most;
    bool sound = found >= 0;
    for (int c = 0; c < kept; c++)
        sound = take_exists(args, first + c) && sound;
    TEAM_SYNC(); /* the caller's arrays may belong to the batch */
    TEAM_ONCE() {
        args->own_count[world] = sound ? kept : 1;
        args->own_dropped[world] = (sound ? found - kept : 0) + (lost > 0 ? lost : 0);
        for (int side = 0; side < 2 && !sound; side++) {
            args->own_shape[side][own] = SAP_NO_SUCH_SHAPE;
            if (args->own_body[side])
                args->own_body[side][own] = -1;
        }
    }
    for (int r = 0; r < args->num_rows && sound; r++) {
        const SapTakeRow *row = &args->row[r];
        TEAM_FOR(i, kept * row->width)
            take_number(row, first * row->width + i, own * row->width + i);
    }
}

#endif
