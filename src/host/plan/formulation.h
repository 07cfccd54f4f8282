/* The formulations of the contact problem as the host sees them: one row of data for each that has plans, kernels and
 * scratch of its own. A formulation that needs code has a folder of src/host; the rest of the host calls it through its
 * row. The solvers in impulses (kernels/dual) plan as SAP does. */
#ifndef SAPWOOD_HOST_PLAN_FORMULATION_H
#define SAPWOOD_HOST_PLAN_FORMULATION_H

#include <stdbool.h>
#include <stddef.h>

#include <sapwood/contacts.h>
#include <sapwood/dual.h>
#include <sapwood/options.h>
#include <sapwood/solver.h>
#include <sapwood/state.h>

#include "host/base/records.h"
#include "host/model/parameters.h"
#include "kernels/data/args.h"

/* The numbers of a model as the kernels of a formulation read them: its struct of arguments, and their arrays. */
typedef struct SapFormulationArgs {
    void *args;
    size_t args_bytes;
    void *memory; /* of the arrays */
    size_t bytes;
} SapFormulationArgs;

/* Inverse inertias of worlds, one row for each: body [nb][2], dof [nv], tendon [nt], shape [ns], constraint [nc][2]. */
typedef struct SapWeights {
    double *body, *dof, *tendon, *shape, *constraint;
} SapWeights;

/* Inverse inertias of a model at its initial coordinates: body [nb][2], dof [nv] in public order, tendon [nt]. */
typedef SapStatus SapWeightsOf(const SapModel *model, double *body, double *dof, double *tendon);
/* Free motion of the worlds of a solver (sap_free_motion), which a higher room has. */
typedef SapStatus SapFreeMotionOf(SapSolver *solver, const SapState *in, const SapControl *control, double h,
                                  const SapFreeMotion *out);
/* Reads or changes the pointer at address `pointer`. */
typedef void SapVisitPointer(void *context, const void *pointer);

/* A function that is NULL has nothing to do. */
typedef struct SapFormulation {
    const char *name;    /* of contact_solver, in messages */
    bool own_kernels;    /* its stages replace SAP's, and a GPU has two kernels of it */
    bool dof_terms;      /* drives, limits and friction of dofs are terms of dofs; else there are none, or in blocks */
    bool point_welds;    /* a weld joins two points, as a ball does */
    bool own_motion;     /* free motion has its own gyroscopic force, and a step always solves */
    bool shares_scratch; /* a solve has the memory of the parts of free motion that are dead by then, and its own parts
                            have that of each other; else the end of a step reads them */
    bool has_memory;     /* a step depends on earlier ones, through the cache of dofs */
    bool exact_motion;   /* accelerometers have the acceleration of the last solve */
    int contact_law_size, tendon_laws, row_weights; /* reals of a contact's law; laws of a tendon; numbers of a row */

    /* Parameters that a model needs beyond SapModelArrays: computes them, unless it has them already. */
    SapStatus (*complete)(const SapModel *model, SapWeightsOf *weights);
    SapStatus (*check_model)(const SapModel *model);
    int (*contact_rows)(const SapModel *model); /* of a slot; NULL: 3 */
    int (*is_rk4)(const SapModel *model);
    int (*num_actuators)(const SapModel *model);
    int (*most_rows)(const SapModel *model, int contacts); /* of a world, if steps report them */
    /* Blocks of dofs, between blocks of constraints and tendons; returns their number. out NULL = count them only.
     * dof_of: [nv] internal dof of each public dof. */
    int (*dof_blocks)(const SapModel *model, const SapPlan *plan, const int *dof_of, SapModelConstraint *out);
    /* Where the limits of a block of dofs begin to act. Worlds are grouped by them, if it is not NULL. */
    void (*acting_range)(const SapStepArgs *step, int block, double range[2]);

    /* Arrays of its arguments of which worlds can have rows of their own, as the kernels read them: groups 0 ..
     * num_groups - 1. A parameter of worlds changes the groups in a bit set. */
    int num_groups;
    const SapMujocoParameters *(*parameters)(const SapModel *model);
    unsigned (*groups_of)(SapParameter parameter);
    int (*group_width)(const SapNumbers *numbers, const SapPlan *plan, int group); /* numbers of a world */
    void (*fill_group)(const SapNumbers *numbers, const SapPlan *plan, int group, int f64, void *row);
    SapField *(*group_field)(void *args, int group, int f64);
    SapStatus (*check_numbers)(const SapNumbers *numbers, const SapPlan *plan, SapParameter changed);
    /* Weights of n worlds with numbers of their own, which the first worlds of a solver of SAP in f64 have too, at the
     * model's initial coordinates. */
    SapStatus (*weigh)(const SapNumbers *model, const SapNumbers *worlds, int n, SapSolver *solver, int solver_worlds,
                       SapFreeMotionOf *free_motion, const SapWeights *out);
    void (*allow)(const SapNumbers *numbers, SapParameter parameter, void *args); /* before worlds have their own */

    /* Its parameters of a model in a dump. */
    void (*write_records)(SapRecordWriter *writer, const SapModel *model);
    SapStatus (*read_records)(SapRecords *records, const SapModel *model);

    SapStatus (*create_args)(const SapModel *model, const SapPlan *plan, SapFormulationArgs *out);
    void (*visit_pointers)(void *args, SapVisitPointer *visit, void *context);
    void (*set_args)(SapStepArgs *step, const void *args); /* makes steps read them */
    /* Arrays of a call; control, out and contacts may be NULL. rk: memory of [num_worlds][8][nv] reals of free motion,
     * for stages that are launches. */
    void (*set_state)(void *args, const SapState *in, const SapControl *control, const SapState *out);
    void (*set_contacts)(void *args, const SapContacts *contacts);
    void (*set_stages)(void *args, void *rk);
    bool (*has_records)(const SapContacts *contacts); /* whether they have records in its own form */
} SapFormulation;

enum { SAP_MOST_GROUPS = 16 };

/* By number, which is SapPlan.formulation. */
enum { SAP_NUM_FORMULATIONS = 2 };
extern const SapFormulation sap_formulation_sap, sap_formulation_mujoco;
const SapFormulation *sap_formulation(int number);

/* A contact_solver. Those in impulses read the numbers of SAP's law and replace the stage of its method. */
typedef struct SapContactSolverRow {
    const char *name;
    int formulation;
    bool is_dual;
    SapDualMethod dual_method;
} SapContactSolverRow;
const SapContactSolverRow *sap_contact_solver(SapContactSolver solver);
const SapFormulation *sap_formulation_of(const SapOptions *options);

/* Actuators that a formulation has given the model. */
int sap_model_num_actuators(const SapModel *model);

#endif
