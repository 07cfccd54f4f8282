#include "host/cuda/made_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/cuda/mapping.h"

/* ---- the numbers ---- */

/* An int of the arguments that no call of a batch changes, except sap_batch_expand. */
typedef struct Number {
    const char *structure, *name;
    size_t offset; /* in SapStepArgs */
} Number;

/* The numbers of each struct, in its order (kernels/data). Only structs that occur once in the arguments: the constants belong
 * to the type. */
/* clang-format off */
static const Number numbers[] = {
#define OF(name) {"SapPlan", #name, offsetof(SapStepArgs, plan.name)}
    OF(nl), OF(nb), OF(nq), OF(nv), OF(ns), OF(num_articulations), OF(num_levels), OF(num_hulls),
    OF(num_height_fields), OF(broad_phase), OF(num_pairs), OF(row_words), OF(num_constraints), OF(num_tendons),
    OF(num_tendon_terms), OF(num_blocks), OF(num_rows), OF(block_size), OF(mujoco), OF(contact_rows), OF(rk4),
#undef OF
#define OF(name) {"SapMotionLayout", #name, offsetof(SapStepArgs, plan.layout.name)}
    OF(q), OF(v0), OF(state_check), OF(control_check), OF(X), OF(A), OF(inverse), OF(v), OF(rk), OF(passing), OF(S),
    OF(V), OF(a), OF(I), OF(F), OF(f), OF(L), OF(q1), OF(size),
#undef OF
#define OF(name) {"SapNodes", #name, offsetof(SapStepArgs, plan.nodes.name)}
    OF(count), OF(words),
#undef OF
#define OF(name) {"SapContactArgs", #name, offsetof(SapStepArgs, contacts.name)}
    OF(capacity), OF(num_slots), OF(given_capacity), OF(law), OF(midpoint), OF(diag_delassus),
#undef OF
#define OF(name) {"SapCollideArgs", #name, offsetof(SapStepArgs, collide.name)}
    OF(in_step), OF(max_contacts), OF(chunk),
#undef OF
#define OF(name) {"SapCollideLayout", #name, offsetof(SapStepArgs, collide.layout.name)}
    OF(pose), OF(ball), OF(candidate), OF(gap), OF(size), OF(chunk), OF(num_chunk), OF(num_candidates), OF(near),
    OF(num_words), OF(cursor), OF(order), OF(near_static), OF(near_words), OF(num_near_words), OF(tree_cursor),
    OF(ints),
#undef OF
#define OF(name) {"SapNewtonArgs", #name, offsetof(SapStepArgs, newton.name)}
    OF(max_iterations), OF(line_search_max_iterations), OF(line_search), OF(linear_is_f64), OF(dense), OF(lockstep),
#undef OF
#define OF(name) {"SapNewtonLayout", #name, offsetof(SapStepArgs, newton.layout.name)}
    OF(d), OF(lockstep),
#undef OF
#define OF(name) {"SapProblemLayout", #name, offsetof(SapStepArgs, problem.name)}
    OF(v), OF(v0), OF(v_star), OF(guess), OF(Av_star), OF(dv), OF(r), OF(impulse), OF(grad), OF(Ad), OF(w), OF(scale),
    OF(dof_law), OF(dof_gamma), OF(dof_cost), OF(dof_hessian), OF(dof_check), OF(line_keeps), OF(line), OF(touched),
    OF(size),
#undef OF
#define OF(name) {"SapSlotLayout", #name, offsetof(SapStepArgs, slot.name)}
    OF(law), OF(vc), OF(gamma), OF(cost), OF(G), OF(Jd), OF(line), OF(size), OF(x0), OF(x1), OF(frame), OF(phi0),
    OF(w), OF(pair), OF(valid), OF(check), OF(origin_size),
#undef OF
#define OF(name) {"SapSlotInts", #name, offsetof(SapStepArgs, slot_ints.name)}
    OF(num_dofs), OF(couples), OF(dof), OF(has), OF(size), OF(max_columns), OF(record), OF(shape), OF(link), OF(path),
    OF(runs), OF(origin_size),
#undef OF
#define OF(name) {"SapPackInts", #name, offsetof(SapStepArgs, pack_ints.name)}
    OF(num_slots), OF(status), OF(acts), OF(line_acts), OF(size),
#undef OF
#define OF(name) {"SapLinearLayout", #name, offsetof(SapStepArgs, linear.name)}
    OF(L), OF(inverse), OF(x), OF(size),
#undef OF
#define OF(name) {"SapStepArgs", #name, offsetof(SapStepArgs, name)}
    OF(euler), OF(implicit_gyroscopic), OF(compat), OF(fm_is_f64), OF(geometry_is_f64), OF(weight_is_f64),
    OF(solve_is_f64), OF(has_dof_terms), OF(has_gravcomp), OF(method),
#undef OF
};
/* clang-format on */

enum { NUM_NUMBERS = sizeof numbers / sizeof *numbers };

static int number_of(const SapStepArgs *args, const Number *number) {
    int value;
    memcpy(&value, (const char *)args + number->offset, sizeof value);
    return value;
}

bool sap_cuda_made_fits(const SapStepArgs *made_for, const SapStepArgs *args) {
    for (int i = 0; i < NUM_NUMBERS; i++)
        if (number_of(made_for, &numbers[i]) != number_of(args, &numbers[i]))
            return false;
    return true;
}

/* ---- the text ---- */

static void write_structs(FILE *out, const SapStepArgs *args) {
    const char *last = "";
    for (int i = 0; i < NUM_NUMBERS; i++) {
        const Number *n = &numbers[i];
        bool first = strcmp(n->structure, last) != 0;
        if (first)
            fprintf(out, "%s#define SAP_FIXED_%s static constexpr int", i > 0 ? ";\n" : "", n->structure);
        fprintf(out, "%s %s = %d", first ? "" : ",", n->name, number_of(args, n));
        last = n->structure;
    }
    fprintf(out, ";\n");
}

/* The patterns of the tree and of the tree with constraints are of one type: constants if they are the same. */
static void write_patterns(FILE *out, const SapPlan *plan) {
    fprintf(out, "#define SAP_FIXED_SapPattern");
    if (plan->num_blocks == 0)
        fprintf(out, " static constexpr int nnz = %d, num_depths = %d;", plan->tree.nnz, plan->tree.num_depths);
    fprintf(out, "\n");
}

/* The choices of kernels/dialect/choices.h, and blocks per multiprocessor as in the kernels of the presets. */
static void write_choices(FILE *out, const SapStepArgs *args, int team) {
    bool f64 = args->fm_is_f64 || args->newton.linear_is_f64;
    fprintf(out, "#define FM_IS_F64 %d\n", args->fm_is_f64);
    fprintf(out, "#define GEOMETRY_IS_F64 %d\n", args->geometry_is_f64);
    fprintf(out, "#define WEIGHT_IS_F64 %d\n", args->weight_is_f64);
    fprintf(out, "#define SOLVE_STARTS_F64 %d\n", args->solve_is_f64);
    fprintf(out, "#define LINEAR_IS_F64 %d\n", args->newton.linear_is_f64);
    fprintf(out, "#define NUM_BLOCKS %d\n", args->plan.num_blocks);
    fprintf(out, "#define COMPAT %d\n", args->compat);
    fprintf(out, "#define STEP_BLOCKS %d\n", team == 1 ? (f64 ? 8 : 16) : (f64 ? 3 : 4));
}

/* Which types of shapes may touch: bit b of kinds[a], a <= b. A sweep or a tree may find any pair. */
static void find_pair_kinds(const SapPlan *plan, unsigned kinds[SAP_SHAPE_KINDS]) {
    for (int i = 0; i < plan->num_pairs; i++)
        kinds[plan->shape_type[plan->pair[i].shape[0]]] |= 1u << plan->shape_type[plan->pair[i].shape[1]];
    for (int a = 0; plan->allowed && a < plan->ns; a++)
        for (int b = 0; b < plan->ns; b++)
            if (plan->shape_type[a] <= plan->shape_type[b])
                kinds[plan->shape_type[a]] |= 1u << plan->shape_type[b];
}

static void write_pair_kinds(FILE *out, const SapPlan *plan) {
    unsigned kinds[SAP_SHAPE_KINDS] = {0};
    find_pair_kinds(plan, kinds);
    fprintf(out, "#define CLOSED_FORMS_ONLY %d\n#define HAS_PAIR(first, second) (((", sap_cuda_has_closed_forms(plan));
    for (int a = 0; a < SAP_SHAPE_KINDS; a++)
        if (kinds[a])
            fprintf(out, "(first) == %d ? %uu : ", a, kinds[a]);
    fprintf(out, "0u) >> (second)) & 1u)\n");
}

static void write_header(FILE *out, const SapStepArgs *args, const SapPlan *plan, SapCudaPart part, int team,
                         int scratch) {
    fprintf(out, "#define MADE_ARGS_BYTES %zu\n", sizeof *args);
    if (part == SAP_CUDA_COLLIDE)
        fprintf(out, "#define MADE_COLLIDE\n");
    if (team == 1)
        fprintf(out, "#define SAP_THREAD_PER_WORLD\n#define THREAD_SCRATCH %d\n", scratch);
    else
        fprintf(out, "#define TEAM_THREADS %du\n", team);
    write_choices(out, args, team);
    write_pair_kinds(out, plan);
    write_patterns(out, plan);
    write_structs(out, args);
}

char *sap_cuda_made_header(const SapStepArgs *args, const SapPlan *plan, SapCudaPart part, int team, int scratch) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out)
        write_header(out, args, plan, part, team, scratch);
    if (out && fclose(out) == 0)
        return text;
    free(text);
    sap_fail(SAP_ERROR_MEMORY, "device cuda: out of memory for the header of constants");
    return NULL;
}
