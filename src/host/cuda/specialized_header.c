#include "host/cuda/specialized_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/cuda/choose.h"

/* ---- the numbers ---- */

/* An int of the arguments that no call of a batch changes, except sap_batch_expand. */
typedef struct Number {
    const char *structure, *name;
    size_t offset; /* in SapStepArgs, or in SapArenas */
} Number;

/* The numbers of each struct, in its order (kernels/data). Only structs that occur once in the arguments: the constants
 * belong to the type. */
/* clang-format off */
static const Number numbers[] = {
#define OF(name) {"SapPlan", #name, offsetof(SapStepArgs, plan.name)}
    OF(nl), OF(nb), OF(nq), OF(nv), OF(ns), OF(num_articulations), OF(num_levels), OF(num_hulls),
    OF(num_height_fields), OF(broad_phase), OF(num_pairs), OF(row_words), OF(num_constraints), OF(num_tendons),
    OF(num_tendon_terms), OF(num_blocks), OF(num_rows), OF(block_size), OF(formulation), OF(contact_rows), OF(rk4),
#undef OF
#define OF(name) {"SapMotionLayout", #name, offsetof(SapStepArgs, plan.layout.name)}
    OF(q), OF(v0), OF(checks), OF(A), OF(v), OF(rk), OF(X), OF(overlap_begin), OF(S), OF(V), OF(a), OF(state_check),
    OF(control_check), OF(I), OF(F), OF(f), OF(inverse), OF(L), OF(q1), OF(size),
#undef OF
#define OF(name) {"SapNodes", #name, offsetof(SapStepArgs, plan.nodes.name)}
    OF(count), OF(words),
#undef OF
#define OF(name) {"SapContactArgs", #name, offsetof(SapStepArgs, contacts.name)}
    OF(capacity), OF(num_slots), OF(given_capacity), OF(midpoint), OF(diag_delassus),
    OF(approximation),
#undef OF
#define OF(name) {"SapCollideArgs", #name, offsetof(SapStepArgs, collide.name)}
    OF(max_contacts), OF(chunk),
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
    OF(dof_law), OF(dof_gamma), OF(dof_cost), OF(dof_hessian), OF(dof_check), OF(search), OF(line_keeps), OF(line),
    OF(touched), OF(size),
#undef OF
#define OF(name) {"SapSlotLayout", #name, offsetof(SapStepArgs, slot.name)}
    OF(vc), OF(gamma), OF(cost), OF(G), OF(Jd), OF(line), OF(size), OF(x0), OF(x1), OF(frame), OF(phi0),
    OF(w), OF(pair), OF(valid), OF(check), OF(setup_size),
#undef OF
#define OF(name) {"SapSlotInts", #name, offsetof(SapStepArgs, slot_ints.name)}
    OF(num_dofs), OF(couples), OF(dof), OF(has), OF(size), OF(max_columns), OF(record), OF(shape), OF(link), OF(path),
    OF(runs), OF(setup_size),
#undef OF
#define OF(name) {"SapPackInts", #name, offsetof(SapStepArgs, pack_ints.name)}
    OF(num_slots), OF(status), OF(acts), OF(size),
#undef OF
#define OF(name) {"SapLinearLayout", #name, offsetof(SapStepArgs, linear.name)}
    OF(L), OF(inverse), OF(x), OF(size),
#undef OF
#define OF(name) {"SapStepArgs", #name, offsetof(SapStepArgs, name)}
    OF(euler), OF(implicit_gyroscopic), OF(mean_velocity_forces), OF(compat), OF(fm_is_f64), OF(geometry_is_f64), OF(weight_is_f64),
    OF(solve_is_f64), OF(has_dof_terms), OF(has_gravcomp),
#undef OF
};
/* clang-format on */

enum { NUM_NUMBERS = sizeof numbers / sizeof *numbers };

/* The places of arenas, which belong to a phase of a step. Those of contact slots depend on the world. */
/* clang-format off */
static const Number places[] = {
#define OF(name) {"SapArenas", #name, offsetof(SapArenas, name)}
    OF(fm), OF(solve), OF(ints), OF(collide), OF(pairs), OF(tiles), OF(retry), OF(retry_slots), OF(blocks),
    OF(few_slots), OF(in_step), OF(size),
#undef OF
};
/* clang-format on */

enum { NUM_PLACES = sizeof places / sizeof *places };

static int number_of(const void *structs, const Number *number) {
    int value;
    memcpy(&value, (const char *)structs + number->offset, sizeof value);
    return value;
}

bool sap_cuda_specialized_fits(const SapStepArgs *made_for, const SapStepArgs *args) {
    for (int i = 0; i < NUM_NUMBERS; i++)
        if (number_of(made_for, &numbers[i]) != number_of(args, &numbers[i]))
            return false;
    return true;
}

/* ---- tables ---- */

/* An array of the plan. Its elements are ints, or structs of ints and then floats. */
typedef struct Table {
    const char *structure, *name, *type;
    const void *data;
    int count, ints, floats; /* elements; numbers of each */
} Table;

enum { MOST_TABLES = 32 };

#define TABLE(of, name, type, count, ints, floats)                                                                     \
    { of, #name, type, plan->name, count, ints, floats }
#define INTS(name, count) TABLE("SapPlan", name, "int", count, 1, 0)

/* The tables that loops over links, dofs, rows of matrices and pairs read. The patterns of the tree and of the tree
 * with constraints are of one type: they are constants if they are the same. Returns their number. */
static int list_tables(const SapPlan *plan, Table tables[MOST_TABLES]) {
    const SapPattern *tree = &plan->tree;
    int descendants = tree->nnz;
    for (int i = 0; i < plan->nv; i++)
        descendants += tree->row[i].num_desc;
    /* Tables of the plan, and of the pattern of the tree. */
    const Table of_plan[] = {
        TABLE("SapPlan", link, "SapLink", plan->nl, 14, 3),
        INTS(child, plan->nl),
        INTS(level_start, plan->num_levels + 1),
        INTS(level_link, plan->nl),
        INTS(body_link, plan->nb),
        INTS(shape_link, plan->ns),
        INTS(dof_public, plan->nv),
        INTS(dof_coord, plan->nv),
        INTS(dof_driven, plan->nv),
        INTS(dof_limited, plan->nv),
        INTS(dof_law, plan->nv),
        INTS(shape_type, plan->ns),
        INTS(shape_mesh, plan->ns),
        TABLE("SapPlan", pair, "SapPair", plan->num_pairs, 2, 0),
    };
    const Table of_tree[] = {
        {"SapPattern", "row", "SapPatternRow", tree->row, plan->nv, 5, 0},
        {"SapPattern", "ancestor", "int", tree->ancestor, tree->nnz, 1, 0},
        {"SapPattern", "descendant", "SapDescendant", tree->descendant, descendants, 2, 0},
        {"SapPattern", "depth_start", "int", tree->depth_start, tree->num_depths + 1, 1, 0},
        {"SapPattern", "depth_dof", "int", tree->depth_dof, plan->nv, 1, 0},
    };
    /* The tables of the pattern are constants only without constraints. */
    enum { OF_PLAN = sizeof of_plan / sizeof *of_plan, OF_TREE = sizeof of_tree / sizeof *of_tree };
    int of_pattern = plan->num_blocks == 0 ? OF_TREE : 0;
    memcpy(tables, of_plan, sizeof of_plan);
    memcpy(tables + OF_PLAN, of_tree, (size_t)of_pattern * sizeof *tables);
    return OF_PLAN + of_pattern;
}

/* ---- the text ---- */

static void write_numbers(FILE *out, const void *structs, const Number *list, int count) {
    const char *last = "";
    for (int i = 0; i < count; i++) {
        const Number *n = &list[i];
        bool first = strcmp(n->structure, last) != 0;
        if (first)
            fprintf(out, "%s#define SAP_SPECIALIZED_%s static constexpr int", i > 0 ? ";\n" : "", n->structure);
        fprintf(out, "%s %s = %d", first ? "" : ",", n->name, number_of(structs, n));
        last = n->structure;
    }
    fprintf(out, ";\n");
}

static void write_patterns(FILE *out, const SapPlan *plan) {
    fprintf(out, "#define SAP_SPECIALIZED_SapPattern");
    if (plan->num_blocks == 0)
        fprintf(out, " static constexpr int nnz = %d, num_depths = %d;", plan->tree.nnz, plan->tree.num_depths);
    fprintf(out, "\n");
}

static void write_number(FILE *out, const char *at, bool is_float) {
    int number;
    float real;
    memcpy(&number, at, sizeof number);
    memcpy(&real, at, sizeof real);
    if (is_float)
        fprintf(out, "%af,", (double)real);
    else
        fprintf(out, "%d,", number);
}

/* One array, as a definition. */
static void write_table(FILE *out, const Table *t) {
    int numbers_each = t->ints + t->floats;
    const char *at = t->data;
    fprintf(out, " static __device__ const %s %s_%s[] = {", t->type, t->structure, t->name);
    for (int i = 0; i < t->count; i++) {
        fputs(numbers_each > 1 ? "{" : "", out);
        for (int k = 0; k < numbers_each; k++, at += sizeof(int))
            write_number(out, at, k >= t->ints);
        fputs(numbers_each > 1 ? "}," : "", out);
    }
    fprintf(out, "};");
}

/* Macros for one struct: the arrays, and pointers to them that hide its fields. Empty arrays are left out. */
static void write_tables_of(FILE *out, const char *structure, const Table *tables, int count) {
    fprintf(out, "#define SAP_TABLES_%s", structure);
    for (int i = 0; i < count; i++)
        if (strcmp(tables[i].structure, structure) == 0 && tables[i].count > 0)
            write_table(out, &tables[i]);
    fprintf(out, "\n#define SAP_POINTERS_%s", structure);
    for (int i = 0; i < count; i++)
        if (strcmp(tables[i].structure, structure) == 0 && tables[i].count > 0)
            fprintf(out, " static constexpr const %s *%s = %s_%s;", tables[i].type, tables[i].name, structure,
                    tables[i].name);
    fprintf(out, "\n");
}

/* A thread that has a world runs through all rows of a table, so that loops over them can be unrolled. The threads of a
 * team have different rows: they gain nothing. */
static void write_tables(FILE *out, const SapPlan *plan, int team) {
    Table tables[MOST_TABLES];
    int count = team == 1 ? list_tables(plan, tables) : 0;
    write_tables_of(out, "SapPlan", tables, count);
    write_tables_of(out, "SapPattern", tables, count);
}

/* The lists of dofs and links of EACH_DOF and EACH_LINK (kernels/dialect/lane.h). Links are in the order of the model,
 * branch after branch, unless one of them comes before its parent; then level after level. */
static void write_lists(FILE *out, const SapPlan *plan) {
    bool in_order = true;
    for (int l = 0; l < plan->nl; l++)
        in_order &= plan->link[l].parent < l;
    fprintf(out, "#define NUM_DOFS %d\n#define MOST_PATH %d\n", plan->nv,
            plan->tree.num_depths > 1 ? plan->tree.num_depths : 1);
    fprintf(out, "#define SAP_EACH_DOF(X, ...)");
    for (int i = 0; i < plan->nv; i++)
        fprintf(out, " X(%d, __VA_ARGS__)", i);
    fprintf(out, "\n#define SAP_EACH_LINK(X, ...)");
    for (int i = 0; i < plan->nl; i++)
        fprintf(out, " X(%d, __VA_ARGS__)", in_order ? i : plan->level_link[i]);
    fprintf(out, "\n");
}

/* The row of the kernel set (kernels/data/kernel_sets.h), and blocks per multiprocessor as in the kernels of the presets. */
static void write_choices(FILE *out, const SapStepArgs *args, const SapPlan *plan, int team) {
    bool f64 = args->fm_is_f64 || args->newton.linear_is_f64;
    fprintf(out, "#define SAP_SET_specialized %d, %d, %d, %d, %d, ARG, %d, 0, %d\n", args->fm_is_f64,
            args->geometry_is_f64, args->weight_is_f64, args->solve_is_f64, args->newton.linear_is_f64, args->compat,
            sap_cuda_has_closed_forms(plan));
    fprintf(out, "#define SPECIALIZED_IN_F64 %d\n",
            f64 || args->geometry_is_f64 || args->weight_is_f64 || args->solve_is_f64);
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
    fprintf(out, "#define HAS_PAIR(first, second) (((");
    for (int a = 0; a < SAP_SHAPE_KINDS; a++)
        if (kinds[a])
            fprintf(out, "(first) == %d ? %uu : ", a, kinds[a]);
    fprintf(out, "0u) >> (second)) & 1u)\n");
}

static void write_header(FILE *out, const SapStepArgs *args, const SapPlan *plan, SapKernelKind part, int team,
                         const SapArenas *arenas) {
    fprintf(out, "#define SPECIALIZED_ARGS_BYTES %zu\n", sizeof *args);
    if (part == SAP_CUDA_COLLIDE)
        fprintf(out, "#define SPECIALIZED_COLLIDE\n");
    if (team == 1)
        fprintf(out, "#define SAP_THREAD_PER_WORLD\n#define THREAD_SCRATCH %d\n", arenas->size);
    else
        fprintf(out, "#define TEAM_THREADS %du\n", team);
    write_choices(out, args, plan, team);
    write_pair_kinds(out, plan);
    write_patterns(out, plan);
    write_numbers(out, args, numbers, NUM_NUMBERS);
    write_numbers(out, arenas, places, NUM_PLACES);
    write_tables(out, plan, team);
    if (team == 1)
        write_lists(out, plan);
}

char *sap_cuda_specialized_header(const SapStepArgs *args, const SapPlan *plan, SapKernelKind part, int team,
                                  const SapArenas *arenas) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out)
        write_header(out, args, plan, part, team, arenas);
    if (out && fclose(out) == 0)
        return text;
    free(text);
    sap_fail(SAP_ERROR_MEMORY, "device cuda: out of memory for the header of constants");
    return NULL;
}
