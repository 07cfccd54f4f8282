/* The CPU's entry: built once per instruction set (SAP_ISA_NAME), lane count (SAP_LANES) and precision (SAP_PRECISION).
 * It exports one table, sap_kernels_<isa>_x<lanes>_f<precision>. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <sapwood/solver.h>

#include "kernels/data/args.h"
#include "kernels/target/calls_cpu.h"
#include "kernels/dialect/team.h"

#include "kernels/step/stages.h"

#define PASTE_OF(isa, lanes, precision) sap_kernels_##isa##_x##lanes##_f##precision
#define PASTE(isa, lanes, precision)    PASTE_OF(isa, lanes, precision)
#define TABLE                           PASTE(SAP_ISA_NAME, SAP_LANES, SAP_PRECISION)

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
    .free_motion = program_free_motion,
    .place = program_place,
    .collide = program_collide,
    .fill_slots = program_fill_slots,
    .contact_geometry = program_contact_geometry,
    .contact_weight = program_contact_weight,
    .solve = program_solve,
    .kept_slots = program_kept_slots,
    .solve_begin = program_solve_begin,
    .solve_assemble = program_solve_assemble,
    .solve_advance = program_solve_advance,
    .solve_finish = program_solve_finish,
    .linear_solve = program_linear_solve,
    .finish = program_finish,
    .inspect = program_inspect,
    .kinematics = program_kinematics,
#if SAP_LANES == 1
    .convex = program_convex,
#endif
    .sincos = sincos_array,
};
