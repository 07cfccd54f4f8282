#include "host/cpu/active_subtree.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/memory.h"
#include "host/base/number.h"
#include "host/base/pose.h"
#include "host/cpu/dispatch.h"
#include "host/plan/subtree.h"

/* Constants that have a row per link or per dof. The others are by world, shape, constraint or tendon. */
typedef struct Constant {
    size_t at; /* offset in SapConstants */
    int columns;
    bool of_links;
} Constant;

#define OF_LINKS(name, columns)                                                                                        \
    { offsetof(SapConstants, name), columns, true }
#define OF_DOFS(name, columns)                                                                                         \
    { offsetof(SapConstants, name), columns, false }
static const Constant constants[] = {
    OF_LINKS(X_p, 7),        OF_LINKS(X_c_inv, 7),    OF_LINKS(mass, 1),     OF_LINKS(com, 3),
    OF_LINKS(inertia, 6),    OF_DOFS(axis, 3),        OF_DOFS(armature, 1),  OF_DOFS(damping, 1),
    OF_DOFS(friction, 1),    OF_DOFS(target_ke, 1),   OF_DOFS(target_kd, 1), OF_DOFS(effort_limit, 1),
    OF_DOFS(limit_lower, 1), OF_DOFS(limit_upper, 1), OF_DOFS(limit_ke, 1),  OF_DOFS(limit_kd, 1),
};
enum { NUM_CONSTANTS = sizeof constants / sizeof *constants };

/* Arrays of a call that have a row per world with an element per coordinate or dof. q and qd are changed in place. */
/* Results with numbers per dof: impulses of drive, limits and friction, and their forces and all constraint forces;
 * the cache of a dual solver. */
enum { NUM_RESULTS = 8, RESULT_COLUMNS = 11 };
static const int result_columns[NUM_RESULTS] = {1, 1, 1, 1, 1, 1, 1, 4};

enum { ROW_Q, ROW_QD, ROW_JOINT_F, ROW_TARGET_POS, ROW_TARGET_VEL, ROW_ACT, ROW_GUESS, NUM_ROWS };

struct SapActiveSubtree {
    SapSubtreePlan part;
    int world; /* -1: nothing is chosen */
    unsigned version;
    SapStepArgs args, interface_contacts; /* with the layouts of the part, and of its interface_contacts */
    SapDualStepArgs dual;                 /* of a dual solver */
    SapKernels dual_table;                /* its f64 kernels */
    SapKernels law[2];                    /* of the contact laws `similar` and `lagged`, f32 and f64 */
    SapKernelSet kernels;                 /* for one lane */
    int real_bytes[2];                    /* of them */
    void *constant[2][NUM_CONSTANTS];     /* f32 and f64, of the part */
    void *shape_pose[2];                  /* [ns][7] f32 and f64; of the other trees, in the world */
    double *row[NUM_ROWS];                /* [nq or nv] of the part, f32 or f64 as the call's */
    double *kept;                         /* [RESULT_COLUMNS nv] rows of results */
    double *kept_start;                   /* [start_size] row of step_start */
    void *memory;
    size_t bytes;
};

/* ---- creation ---- */

/* Numbers of a row of step_start. */
static size_t start_size(const SapPlan *p) {
    return (size_t)p->nq + (size_t)p->nv + SAP_START_BODY_SIZE * (size_t)p->nb;
}

static void carve(SapArena *arena, const SapPlan *p, SapActiveSubtree *a) {
    for (int f64 = 0; f64 < 2; f64++)
        for (int i = 0; i < NUM_CONSTANTS; i++) {
            size_t rows = (size_t)(constants[i].of_links ? p->nl : p->nv);
            a->constant[f64][i] = sap_arena_carve(arena, rows * (size_t)constants[i].columns, sap_real_bytes(f64));
        }
    for (int f64 = 0; f64 < 2; f64++)
        a->shape_pose[f64] = sap_arena_carve(arena, 7 * (size_t)p->ns, sap_real_bytes(f64));
    for (int i = 0; i < NUM_ROWS; i++)
        SAP_CARVE(arena, a->row[i], i == ROW_Q ? p->nq : p->nv);
    SAP_CARVE(arena, a->kept, RESULT_COLUMNS * (size_t)p->nv);
    SAP_CARVE(arena, a->kept_start, start_size(p));
}

static void find_kernels(const SapSolver *s, SapActiveSubtree *a) {
    for (int f64 = 0; f64 < 2; f64++) {
        a->kernels.pack[f64] = a->kernels.one_lane[f64] = s->kernels.one_lane[f64];
        a->real_bytes[f64] = s->kernels.one_lane[f64]->real_bytes;
        if (s->options.contact_approximation != SAP_APPROXIMATION_SAP) {
            a->law[f64] = sap_law_kernels(s->isa, 1, f64 ? SAP_FP64 : SAP_FP32);
            a->kernels.pack[f64] = &a->law[f64];
        }
    }
    if (!s->args.dual)
        return;
    a->dual_table = *s->kernels.one_lane[1];
    a->dual_table.solve = sap_dual_kernels_find(s->isa, 1, SAP_FP64)->step_solve;
    a->kernels.pack[1] = &a->dual_table;
    a->dual = s->dual;
}

SapStatus sap_active_subtree_create(const SapSolver *s, SapActiveSubtree **out) {
    SapArena arena = {0};
    SapActiveSubtree *a = *out = sap_allocate(1, sizeof *a, "sleeping trees");
    if (!a)
        return SAP_ERROR_MEMORY;
    a->world = -1;
    SAP_TRY(sap_subtree_create(&s->args.plan, &a->part));
    for (int pass = 0; pass < 2; pass++) { /* measure, then carve */
        carve(&arena, &s->args.plan, a);
        if (pass == 0)
            SAP_TRY(sap_arena_allocate(&arena, "sleeping trees"));
        a->memory = arena.base;
    }
    a->bytes = sizeof *a + arena.used + a->part.bytes;
    find_kernels(s, a);
    return SAP_OK;
}

void sap_active_subtree_destroy(SapActiveSubtree *a) {
    if (!a)
        return;
    sap_subtree_free(&a->part);
    free(a->memory);
    free(a);
}

size_t sap_active_subtree_bytes(const SapActiveSubtree *a) {
    return a ? a->bytes : 0;
}

/* ---- choice ---- */

/* A part is not larger than the whole, whose layouts fit. */
static void lay_out(const SapSolver *s, SapActiveSubtree *a) {
    int contacts = s->options.max_contacts;
    a->args = a->interface_contacts = s->args;
    a->args.plan = a->part.plan;
    a->interface_contacts.plan = a->part.interface_contacts;
    a->args.contacts.num_slots = a->interface_contacts.contacts.num_slots = contacts;
    a->args.dual = s->args.dual ? &a->dual : NULL;
    sap_collide_layout(&a->args.plan, contacts, &a->args.collide);
    sap_collide_layout(&a->interface_contacts.plan, contacts, &a->interface_contacts.collide);
    sap_solve_layout(&a->args.plan, contacts, 1, &a->args, &a->dual.layout);
}

static SapField *field_at(SapConstants *c, int i) {
    return (SapField *)((char *)c + constants[i].at);
}

/* The constants of the part's links and dofs in the world. */
static void gather_constants(const SapSolver *s, SapActiveSubtree *a) {
    for (int f64 = 0; f64 < 2; f64++) {
        SapConstants from = s->args.constants[f64];
        a->args.constants[f64] = from;
        for (int i = 0; i < NUM_CONSTANTS; i++) {
            const SapField *source = field_at(&from, i);
            const int *of = constants[i].of_links ? a->part.link_of : a->part.dof_of;
            int n = constants[i].of_links ? a->part.plan.nl : a->part.plan.nv;
            size_t size = sap_real_bytes(f64), width = (size_t)constants[i].columns * size;
            const char *row = (const char *)source->data + (size_t)(a->world * source->stride) * size;
            for (int k = 0; k < n; k++)
                memcpy((char *)a->constant[f64][i] + (size_t)k * width, row + (size_t)of[k] * width, width);
            *field_at(&a->args.constants[f64], i) = (SapField){a->constant[f64][i], 0};
        }
    }
}

/* The poses of shapes for the interface_contacts: in the world for trees that are not in the part. */
static void place_shapes(const SapSolver *s, const SapStepArgs *args, SapActiveSubtree *a) {
    const SapPlan *whole = &s->args.plan;
    for (int shape = 0; shape < whole->ns; shape++) {
        double pose[7], body[7];
        int link = whole->shape_link[shape];
        for (int i = 0; i < 7; i++)
            pose[i] = ((const double *)s->args.constants[1].shape_pose.data)[7 * shape + i];
        if (link >= 0 && a->part.link[link] < 0) {
            size_t at = (size_t)a->world * (size_t)args->body_q.stride + 7 * (size_t)whole->link[link].body;
            for (size_t i = 0; i < 7; i++)
                body[i] = sap_number_at(args->body_q.data, args->body_q.is_f64, at + i);
            pose_compose(body, pose);
            memcpy(pose, body, sizeof pose);
        }
        for (int f64 = 0; f64 < 2; f64++)
            sap_put_numbers(a->shape_pose[f64], f64, 7 * (size_t)shape, pose, 7);
    }
    for (int f64 = 0; f64 < 2; f64++) {
        a->interface_contacts.constants[f64] = a->args.constants[f64];
        a->interface_contacts.constants[f64].shape_pose = (SapField){a->shape_pose[f64], 0};
    }
}

void sap_active_subtree_choose(SapActiveSubtree *a, const SapSolver *s, const SapStepArgs *args,
                               SapSubtreeChoice choice) {
    if (a->world == choice.world && a->version == choice.version)
        return;
    sap_subtree_choose(&s->args.plan, choice.tree, choice.in_part, &a->part);
    lay_out(s, a);
    a->world = choice.world;
    a->version = choice.version;
    gather_constants(s, a);
    place_shapes(s, args, a);
}

/* ---- rows ---- */

/* Copies the part's elements of the world's row to or from a row of the part. */
static void copy_row(const SapActiveSubtree *a, SapBuffer b, int row, bool back) {
    const int *of = row == ROW_Q ? a->part.coord_of : a->part.dof_of;
    int n = row == ROW_Q ? a->part.plan.nq : a->part.plan.nv;
    size_t size = sap_real_bytes(b.is_f64);
    char *world = (char *)b.data + (size_t)a->world * (size_t)b.stride * size, *own = (char *)a->row[row];
    for (int k = 0; k < n; k++)
        if (back)
            memcpy(world + (size_t)of[k] * size, own + (size_t)k * size, size);
        else
            memcpy(own + (size_t)k * size, world + (size_t)of[k] * size, size);
}

/* Redirects the buffer to the part's row, if it has rows. */
static void gather(SapActiveSubtree *a, SapBuffer *b, int row) {
    if (!b->data)
        return;
    copy_row(a, *b, row, false);
    b->data = a->row[row];
    b->stride = 0;
}

static void list_results(SapReportArgs *r, SapExtraReport *x, double **out[NUM_RESULTS]) {
    double **const all[NUM_RESULTS] = {&r->drive,       &r->limit,          &r->friction,         &x->joint_drive,
                                       &x->joint_limit, &x->joint_friction, &x->joint_constraint, &r->dof_cache};
    memcpy(out, all, sizeof all);
}

/* The kernels write [num_worlds][nv][columns] for the nv of the part, so its row is at the beginning of the world's row
 * while it runs. nv: of the model. */
static void begin_results(const SapActiveSubtree *a, size_t nv, SapReportArgs *r, SapExtraReport *extra) {
    double **results[NUM_RESULTS], *kept = a->kept;
    size_t part_nv = (size_t)a->part.plan.nv;
    list_results(r, extra, results);
    for (int i = 0; i < NUM_RESULTS; i++) {
        size_t columns = (size_t)result_columns[i];
        if (!*results[i])
            continue;
        double *row = *results[i] + (size_t)a->world * nv * columns;
        memcpy(kept, row, nv * columns * sizeof *row);
        for (size_t k = 0; k < part_nv; k++)
            memcpy(row + k * columns, kept + (size_t)a->part.dof_of[k] * columns, columns * sizeof *row);
        *results[i] += (size_t)a->world * (nv - part_nv) * columns;
        kept += nv * columns;
    }
}

/* Scatters the results of the part to the row of the world; the other numbers stay. */
static void end_results(const SapActiveSubtree *a, size_t nv, SapReportArgs whole, SapExtraReport extra) {
    double **results[NUM_RESULTS], *kept = a->kept;
    list_results(&whole, &extra, results);
    for (int i = 0; i < NUM_RESULTS; i++) {
        size_t columns = (size_t)result_columns[i];
        if (!*results[i])
            continue;
        double *row = *results[i] + (size_t)a->world * nv * columns;
        for (size_t k = 0; k < (size_t)a->part.plan.nv; k++)
            memcpy(kept + (size_t)a->part.dof_of[k] * columns, row + k * columns, columns * sizeof *row);
        memcpy(row, kept, nv * columns * sizeof *row);
        kept += nv * columns;
    }
}

static void copy_number(double *of_part, double *of_whole, bool back) {
    *(back ? of_whole : of_part) = *(back ? of_part : of_whole);
}

/* Copies the part's numbers of a row of step_start (coordinates, velocities, the motion of every body of the model) from
 * the row of the model, which is kept, to one with the layout of the part, or back. */
static void copy_start(const SapActiveSubtree *a, const SapPlan *whole, double *row, bool back) {
    const SapPlan *part = &a->part.plan;
    double *bodies = row + part->nq + part->nv, *kept_bodies = a->kept_start + whole->nq + whole->nv;
    for (int k = 0; k < part->nq; k++)
        copy_number(row + k, a->kept_start + a->part.coord_of[k], back);
    for (int k = 0; k < part->nv; k++)
        copy_number(row + part->nq + k, a->kept_start + whole->nq + a->part.dof_of[k], back);
    for (int l = 0; l < part->nl; l++)
        for (int i = 0, at = SAP_START_BODY_SIZE * part->link[l].body; i < SAP_START_BODY_SIZE; i++)
            copy_number(bodies + at + i, kept_bodies + at + i, back);
}

/* As begin_results and end_results, for step_start. */
static void begin_start(const SapActiveSubtree *a, const SapPlan *whole, double **start) {
    size_t size = start_size(whole);
    if (!*start)
        return;
    double *row = *start + (size_t)a->world * size;
    memcpy(a->kept_start, row, size * sizeof *row);
    copy_start(a, whole, row, false);
    *start += (size_t)a->world * (size - start_size(&a->part.plan));
}

static void end_start(const SapActiveSubtree *a, const SapPlan *whole, double *start) {
    size_t size = start_size(whole);
    if (!start)
        return;
    double *row = start + (size_t)a->world * size;
    copy_start(a, whole, row, true);
    memcpy(row, a->kept_start, size * sizeof *row);
}

/* ---- runs ---- */

static void run_program(const SapActiveSubtree *a, SapProgram *program, const SapStepArgs *args,
                        const SapScratch *scratch) {
    SapScratch own = *scratch;
    SapPack pack = {.count = 1, .world = {a->world}};
    own.shared = sap_shared_scratch(args, a->real_bytes);
    SapContext ctx = sap_context(args, &pack, &a->kernels, &own);
    program(&ctx);
}

/* The arguments of the call, for the part or its interface_contacts. */
static SapStepArgs args_with(const SapStepArgs *own, const SapStepArgs *call) {
    SapStepArgs args = *call;
    args.plan = own->plan;
    memcpy(args.constants, own->constants, sizeof args.constants);
    args.dual = own->dual;
    args.collide.layout = own->collide.layout;
    args.contacts.num_slots = own->contacts.num_slots;
    args.newton.layout = own->newton.layout;
    args.problem = own->problem;
    args.slot = own->slot;
    args.slot_ints = own->slot_ints;
    args.pack_ints = own->pack_ints;
    args.linear = own->linear;
    return args;
}

void sap_active_subtree_touch(SapActiveSubtree *a, SapSolver *s, const SapStepArgs *call, int worker) {
    SapStepArgs args = args_with(&a->interface_contacts, call);
    gather(a, &args.q_in, ROW_Q);
    gather(a, &args.qd_in, ROW_QD);
    run_program(a, sap_program_collide, &args, &s->scratch[worker]);
}

void sap_active_subtree_step(SapActiveSubtree *a, SapSolver *s, const SapStepArgs *call, int worker) {
    size_t nv = (size_t)s->args.plan.nv;
    SapStepArgs args = args_with(&a->args, call);
    SapExtraReport whole = call->report.extra ? *call->report.extra : (SapExtraReport){0}, extra = whole;
    args.report.extra = call->report.extra ? &extra : NULL;
    gather(a, &args.q_in, ROW_Q);
    gather(a, &args.qd_in, ROW_QD);
    gather(a, &args.joint_f, ROW_JOINT_F);
    gather(a, &args.target_pos, ROW_TARGET_POS);
    gather(a, &args.target_vel, ROW_TARGET_VEL);
    gather(a, &args.act, ROW_ACT);
    gather(a, &args.guess, ROW_GUESS);
    args.q_out = args.q_in;
    args.qd_out = args.qd_in;
    begin_results(a, nv, &args.report, &extra);
    begin_start(a, &s->args.plan, &args.report.step_start);
    run_program(a, sap_program_step, &args, &s->scratch[worker]);
    end_results(a, nv, call->report, whole);
    end_start(a, &s->args.plan, call->report.step_start);
    copy_row(a, call->q_out, ROW_Q, true);
    copy_row(a, call->qd_out, ROW_QD, true);
}
