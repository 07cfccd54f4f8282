/* Scratch layouts: the offsets and sizes of the arrays of each stage. */
#ifndef SAPWOOD_HOST_PLAN_LAYOUT_H
#define SAPWOOD_HOST_PLAN_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/data/args.h"

/* Layout of free motion. The plan is complete except for this layout. keeps_poses: something reads the poses of bodies
 * after the contact problem is set up; otherwise it is in their memory too. */
SapMotionLayout sap_motion_layout(const SapPlan *plan, bool keeps_poses);

/* Places the laws of all dofs one after the other: drive, limits and friction, or friction alone for a dof that can
 * have nothing else. Returns the reals of all. */
int sap_place_dof_laws(const SapPlan *plan, int *place);

/* Fills collide.layout of *args for worlds of up to `capacity` contacts; chunk and max_contacts must be set. False if
 * the size does not fit an int. */
int sap_collide_layout(const SapPlan *plan, int capacity, SapCollideArgs *args);

/* Most rows of the problem in impulses of a world with so many contacts. */
long long sap_dual_max_rows(const SapPlan *plan, int contacts);

/* Fills problem, newton.layout, *dual if args->dual is set, slot, slot_ints, pack_ints and linear of *args for packs of
 * `lanes`. False if an offset in `num_slots` slots does not fit an int. */
int sap_solve_layout(const SapPlan *plan, int num_slots, int lanes, SapStepArgs *args, SapDualLayout *dual);

/* The arenas of a world or a pack (SapContext). */
enum {
#define X(name, ...) SAP_ARENA_##name,
    SAP_EACH_ARENA(X, X)
#undef X
        SAP_NUM_ARENAS
};
enum { SAP_ARENA_ALIGNMENT = 64 };
/* Bytes to which the parts of a world with one lane are aligned: two doubles, so that a GPU can load both at once. */
enum { SAP_PART_ALIGNMENT = 16 };

/* Bytes of each arena; 0 if it is not used. num_slots: slots of the arenas of slots and set-up; those of second
 * attempts have all of contacts.num_slots. real_bytes: size of one real, all lanes, in f32 and in f64. */
void sap_arena_bytes(const SapStepArgs *args, int num_slots, const int real_bytes[2], size_t bytes[SAP_NUM_ARENAS]);

/* The first arena: the solve is in the memory of those parts of free motion that are dead by then, and the linear
 * system in the line search's. Offsets in bytes. */
typedef struct SapSharedScratch {
    size_t solve, linear; /* the linear system is in the precision of the options */
    size_t bytes;
} SapSharedScratch;
SapSharedScratch sap_shared_scratch(const SapStepArgs *args, const int real_bytes[2]);

#endif
