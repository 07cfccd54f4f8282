/* Entry file of the CPU target for MuJoCo's law. It exports one table,
 * sap_mujoco_kernels_<isa>_x<lanes>_f<precision>, with the stages that differ from SAP's; the host takes the others,
 * such as collision, from the table of cpu.c (cpu/dispatch.h). Neither law costs the other an instruction. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <sapwood/solver.h>

#include "kernels/data/table.h"
#include "kernels/mujoco/data.h"
#include "kernels/target/calls_cpu.h"
#include "kernels/dialect/team.h"
#include "kernels/dialect/bits.h"

#include "kernels/mujoco/stages.h"

#define PASTE_OF(isa, lanes, precision) sap_mujoco_kernels_##isa##_x##lanes##_f##precision
#define PASTE(isa, lanes, precision)    PASTE_OF(isa, lanes, precision)
#define TABLE                           PASTE(SAP_ISA_NAME, SAP_LANES, SAP_PRECISION)

extern const SapKernels TABLE;
const SapKernels TABLE = {
    .lanes = SAP_LANES,
    .free_motion = stage_free_motion,
    .poses = stage_poses,
    .contact_geometry = stage_contact_geometry,
    .contact_weight = stage_contact_weight,
    .constraint_geometry = stage_constraint_geometry,
    .constraint_weight = stage_constraint_weight,
    .solve = stage_solve,
    .linear_assemble = stage_linear_assemble,
    .linear_solve = stage_linear_solve,
    .velocity = stage_velocity,
    .measure = stage_measure,
    .finish = stage_finish,
    .inspect = stage_inspect,
};
