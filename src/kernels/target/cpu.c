/* Entry file of the CPU target, compiled once per instruction set (SAP_ISA_NAME), lane count (SAP_LANES) and precision
 * (SAP_PRECISION). It exports one table, sap_kernels_<isa>_x<lanes>_f<precision>. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <sapwood/solver.h>

#include "kernels/data/table.h"
#include "kernels/target/calls_cpu.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"

#include "kernels/sap/stages.h"

#define PASTE_OF(isa, lanes, precision) sap_kernels_##isa##_x##lanes##_f##precision
#define PASTE(isa, lanes, precision)    PASTE_OF(isa, lanes, precision)
#define TABLE                           PASTE(SAP_ISA_NAME, SAP_LANES, SAP_PRECISION)

/* Sine and cosine of n scalars, for tests. Lanes past the end repeat the last number. */
static void sincos_array(const void *x, void *s, void *c, int n) {
    const scalar *in = (const scalar *)x;
    scalar *sine = (scalar *)s, *cosine = (scalar *)c;
    for (int first = 0; first < n; first += SAP_LANES) {
        real a = real_of(0), sa, ca;
        FOR_LANES(l) LANE(a, l) = in[first + l < n ? first + l : n - 1];
        real_sincos(a, &sa, &ca);
        FOR_LANES(l) {
            if (first + l < n) {
                sine[first + l] = LANE(sa, l);
                cosine[first + l] = LANE(ca, l);
            }
        }
    }
}

extern const SapKernels TABLE;
const SapKernels TABLE = {
    .lanes = SAP_LANES,
    .real_bytes = sizeof(real),
    .lanes_pay = LANES_PAY,
    .free_motion = stage_free_motion,
    .poses = stage_poses,
    .collide = stage_collide,
    .fill_slots = stage_fill_slots,
    .contact_geometry = stage_contact_geometry,
    .contact_weight = stage_contact_weight,
    .constraint_geometry = stage_constraint_geometry,
    .constraint_weight = stage_constraint_weight,
    .solve = stage_solve,
    .stored_slots = stage_stored_slots,
    .lockstep_begin = stage_lockstep_begin,
    .lockstep_assemble = stage_lockstep_assemble,
    .lockstep_advance = stage_lockstep_advance,
    .lockstep_finish = stage_lockstep_finish,
    .linear_assemble = stage_linear_assemble,
    .linear_solve = stage_linear_solve,
    .velocity = stage_velocity,
    .measure = stage_measure,
    .finish = stage_finish,
    .inspect = stage_inspect,
    .kinematics = stage_kinematics,
#if SAP_LANES == 1
    .convex = stage_convex,
#endif
    .sincos = sincos_array,
};
