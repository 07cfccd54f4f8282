/* The solver on the CPU: creation, info and profile. */
#include "host/cpu/solver.h"

#include <sapwood/dual.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/fp_mode.h"
#include "host/base/memory.h"
#include "host/base/stack.h"
#include "host/cpu/dispatch.h"
#include "host/cpu/group.h"
#include "host/cpu/profile.h"
#include "host/cpu/sleep.h"
#include "host/options/capabilities.h"
#include "host/options/options.h"
#include "host/plan/factor_plan.h"
#include "host/plan/layout.h"
#include "host/plan/step_args.h"

/* ---- creation ---- */

static SapStatus create_scratch(SapSolver *s) {
    s->scratch = sap_allocate((size_t)s->threads, sizeof *s->scratch, "solver");
    s->ranges = sap_allocate((size_t)s->threads, sizeof *s->ranges, "solver");
    if (!s->scratch || !s->ranges)
        return SAP_ERROR_MEMORY;
    for (int i = 0; i < s->threads; i++)
        SAP_TRY(sap_scratch_create(&s->args, &s->kernels, &s->scratch[i]));
    return SAP_OK;
}

/* Only for a formulation where it was measured to pay. */
static SapStatus create_order(SapSolver *s) {
    if (!s->formulation->acting_range || !sap_group_pays(s->num_worlds, s->kernels.pack[0]->lanes))
        return SAP_OK;
    s->order = sap_allocate((size_t)s->num_worlds, sizeof *s->order, "solver");
    return s->order ? SAP_OK : SAP_ERROR_MEMORY;
}

static void carve_results(SapArena *arena, int num_worlds, SapStepArgs *args) {
    SAP_CARVE(arena, args->status, num_worlds);
    SAP_CARVE(arena, args->report.iterations, num_worlds);
    SAP_CARVE(arena, args->report.line_iterations, num_worlds);
    SAP_CARVE(arena, args->report.f64_retries, num_worlds);
    SAP_CARVE(arena, args->report.safeguards, num_worlds);
    SAP_CARVE(arena, args->report.active, num_worlds);
    SAP_CARVE(arena, args->report.cost, num_worlds);
    SAP_CARVE(arena, args->report.residual, num_worlds);
}

static SapStatus create_results(SapSolver *s) {
    SapArena arena = {0};
    carve_results(&arena, s->num_worlds, &s->args);
    SAP_TRY(sap_arena_allocate(&arena, "solver results"));
    s->results = arena.base;
    carve_results(&arena, s->num_worlds, &s->args);
    return SAP_OK;
}

void sap_solver_set_results(SapSolver *s, uint32_t *status, const SapReportArgs *report) {
    free(s->results);
    s->results = NULL;
    s->args.status = status;
    s->args.report = *report;
}

SapStatus sap_solver_let_sleep(SapSolver *s, int32_t *asleep) {
    if (s->options.sleep_steps == 0)
        return SAP_OK;
    return sap_sleep_create(s, asleep, &s->sleep);
}

void sap_solver_record_trees(SapSolver *s, int32_t *tree_asleep, double *tree_rest) {
    if (s->sleep)
        sap_sleep_record_trees(s->sleep, tree_asleep, tree_rest);
}

/* Bytes of one thread's scratch. */
static size_t scratch_bytes(const SapSolver *s) {
    const int real_bytes[2] = {s->kernels.pack[0]->real_bytes, s->kernels.pack[1]->real_bytes};
    size_t bytes[SAP_NUM_ARENAS], sum = 0;
    sap_arena_bytes(&s->args, s->args.contacts.num_slots, real_bytes, bytes);
    for (int i = 0; i < SAP_NUM_ARENAS; i++)
        sum += bytes[i];
    return sum;
}

/* Compares all memory that the solver will have, and `bytes_per_world` of its owner, with what is available. */
static SapStatus check_memory(const SapSolver *s, const char *what, size_t bytes_per_world) {
    const double small = 1 << 26; /* as for a single allocation */
    double fixed = (double)scratch_bytes(s) * s->threads;
    double per_world = (double)bytes_per_world + 2 * sizeof(double) + 7 * sizeof(int32_t);
    double bytes = fixed + per_world * s->num_worlds;
    double available = bytes <= small ? small : (double)sap_available_memory();
    if (bytes <= available)
        return SAP_OK;
    return sap_fail(SAP_ERROR_MEMORY,
                    "%s: num_worlds is %d; the worlds take %.3g GB and the scratch of %d threads %.3g GB; %.3g GB are "
                    "available, enough for %.0f worlds",
                    what, s->num_worlds, 1e-9 * per_world * s->num_worlds, s->threads, 1e-9 * fixed, 1e-9 * available,
                    available > fixed ? floor((available - fixed) / per_world) : 0);
}

/* The arguments of the formulation, which the arrays of a call are added to. */
static SapStatus copy_law(SapSolver *s) {
    const SapFormulationArgs *from = &s->plan->formulation;
    if (!from->args)
        return SAP_OK;
    if (!s->law)
        s->law = sap_allocate(1, from->args_bytes, "solver");
    if (!s->law)
        return SAP_ERROR_MEMORY;
    memcpy(s->law, from->args, from->args_bytes);
    s->formulation->set_args(&s->args, s->law);
    return SAP_OK;
}

static SapStatus fill_args(SapSolver *s, int lanes) {
    const SapConstants constants[2] = {s->plan->constants[0].constants, s->plan->constants[1].constants};
    const SapPlan *plan = &s->plan->plan.plan;
    SAP_TRY(sap_step_args_init(sap_model_arrays(s->model), plan, constants, &s->options, lanes, &s->dual, &s->args));
    s->args.num_worlds = s->num_worlds;
    return copy_law(s);
}

static int wanted_threads(const SapSolver *s) {
    return s->options.threads ? s->options.threads : sap_pool_cpus();
}

/* Packs of 16 worlds are for large batches: with less than four for each thread, threads would wait for the last
 * one. */
enum { WIDE_LANES = 16, PACKS_PER_THREAD = 4 };

static bool has_many(const SapSolver *s, int lanes) {
    return s->num_worlds / (lanes * PACKS_PER_THREAD) >= wanted_threads(s);
}

static SapStatus choose_lanes(const SapSolver *s, const char *what, int *lanes) {
    const SapOptions *o = &s->options;
    int most = sap_contact_solver(o->contact_solver)->is_dual ? SAP_DUAL_LANES : WIDE_LANES;
    *lanes = o->lanes;
    if (*lanes > SAP_DUAL_LANES)
        SAP_REQUIRE(o, SAP_CAN_LANES_16, "%s: lanes is %d", what, *lanes);
    if (*lanes && !sap_kernels_find(s->isa, *lanes, SAP_FP32))
        return sap_fail(SAP_ERROR_UNSUPPORTED, "%s: lanes is %d; isa %s in this library allows %s", what, *lanes,
                        sap_isa_name(s->isa), sap_lanes_allowed(s->isa, most).text);
    if (*lanes == 0)
        *lanes = sap_default_lanes(s->isa, o->free_motion_precision, s->num_worlds,
                                   has_many(s, WIDE_LANES) ? most : SAP_DUAL_LANES);
    return SAP_OK;
}

/* Kernels, threads and arguments for packs of `lanes` worlds, if they fit the memory. */
static SapStatus fill_lanes(SapSolver *s, const char *what, int lanes, size_t bytes_per_world) {
    for (int f64 = 0; f64 < 2; f64++) {
        SapPrecision precision = f64 ? SAP_FP64 : SAP_FP32;
        s->kernels.pack[f64] = sap_kernels_find(s->isa, lanes, precision);
        if (s->formulation->own_kernels) {
            s->own_kernels[f64] = sap_own_kernels(s->isa, lanes, precision);
            s->kernels.pack[f64] = &s->own_kernels[f64];
        } else if (s->options.contact_approximation != SAP_APPROXIMATION_SAP) {
            s->own_kernels[f64] = sap_law_kernels(s->isa, lanes, precision);
            s->kernels.pack[f64] = &s->own_kernels[f64];
        }
        s->kernels.one_lane[f64] = sap_kernels_find(s->isa, 1, precision);
    }
    SAP_TRY(fill_args(s, lanes));
    if (s->args.dual) { /* the solve in impulses takes the place of that in velocities */
        s->dual_table = *s->kernels.pack[1];
        s->dual_table.solve = sap_dual_kernels_find(s->isa, lanes, SAP_FP64)->step_solve;
        s->kernels.pack[1] = &s->dual_table;
    }
    int packs = (s->num_worlds - 1) / lanes + 1;
    int threads = wanted_threads(s);
    s->threads = threads < packs ? threads : packs;
    return check_memory(s, what, bytes_per_world);
}

static SapStatus fill_solver(SapSolver *s, const char *what, const SapModel *model, size_t bytes_per_world) {
    SAP_TRY(sap_stack_check(what));
    s->model = sap_model_hold(model);
    s->formulation = sap_formulation_of(&s->options);
    SAP_TRY(sap_solver_complete_model(model, &s->options));
    SAP_TRY(sap_model_plan(s->model, s->options.contact_solver, s->options.broad_phase, &s->plan));
    SAP_TRY(sap_isa_resolve(s->options.isa, &s->isa));
    int lanes = 0; /* set next, which gcc does not see */
    SAP_TRY(choose_lanes(s, what, &lanes));
    SapStatus status = fill_lanes(s, what, lanes, bytes_per_world);
    /* the scratch of a pack has all its worlds: large worlds may fit only in smaller packs */
    while (status == SAP_ERROR_MEMORY && !s->options.lanes && lanes > 1) {
        lanes = sap_fewer_lanes(lanes);
        status = fill_lanes(s, what, lanes, bytes_per_world);
    }
    SAP_TRY(status);
    SAP_TRY(create_results(s));
    SAP_TRY(create_scratch(s));
    SAP_TRY(create_order(s));
    sap_per_world_init(&s->per_world, s->model, &s->plan->plan.plan, &s->options, s->num_worlds);
    return sap_pool_create(s->threads, &s->pool);
}

SapStatus sap_solver_create_for(const char *what, const SapModel *model, int num_worlds, const SapOptions *options,
                                size_t bytes_per_world, SapSolver **out) {
    *out = NULL;
    SapSolver *s = sap_allocate(1, sizeof *s, "solver");
    if (!s)
        return SAP_ERROR_MEMORY;
    s->num_worlds = num_worlds;
    SapStatus status = options ? sap_options_check(options) : sap_options_preset(NULL, &s->options);
    if (status == SAP_OK && options)
        s->options = *options;
    if (status == SAP_OK && s->options.max_contacts == 0) /* a batch chooses it by a probe */
        s->options.max_contacts = SAP_DEFAULT_CONTACTS;
    if (status == SAP_OK)
        status = sap_require(SAP_CAN_SOLVER, s->options.contact_solver, s->options.device, "sap_solver_create");
    if (status == SAP_OK) {
        sap_factor_plan_choose(&s->options, sap_model_arrays(model)->num_dofs, NULL);
        status = fill_solver(s, what, model, bytes_per_world);
    }
    if (status != SAP_OK) {
        sap_solver_destroy(s);
        return status;
    }
    *out = s;
    return SAP_OK;
}

SapStatus sap_solver_create(const SapModel *model, int num_worlds, const SapOptions *options, SapSolver **out) {
    SAP_DEFAULT_FP_MODE();
    SAP_NEED(out);
    *out = NULL;
    SAP_NEED(model);
    if (num_worlds < 1)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_solver_create: num_worlds is %d; it must be at least 1", num_worlds);
    return sap_solver_create_for(__func__, model, num_worlds, options, 0, out);
}

void sap_solver_destroy(SapSolver *s) {
    if (!s)
        return;
    sap_pool_destroy(s->pool);
    for (int i = 0; s->scratch && i < s->threads; i++)
        sap_scratch_free(&s->scratch[i]);
    free(s->scratch);
    free(s->ranges);
    free(s->order);
    free(s->ticks);
    free(s->law);
    sap_sleep_destroy(s->sleep);
    free(s->results);
    sap_per_world_free(&s->per_world);
    sap_model_destroy(s->model);
    free(s);
}

SapStatus sap_solver_report(const SapSolver *s, SapWorldReport *out) {
    SAP_NEED(s);
    SAP_NEED(out);
    const SapReportArgs *r = &s->args.report;
    *out = (SapWorldReport){.status = s->args.status,
                            .iterations = r->iterations,
                            .line_iterations = r->line_iterations,
                            .f64_retries = r->f64_retries,
                            .cost = r->cost,
                            .residual = r->residual,
                            .safeguards = r->safeguards,
                            .active = r->active};
    return SAP_OK;
}

/* Arrays behind the pointer to extra reports, which a batch may have set. */
static void record_slip(SapSolver *s, const SapContactReport *r) {
    SapExtraReport **extra = &s->args.report.extra;
    bool wanted = r->lagged_impulse || r->slip_width;
    if (!wanted && *extra != &s->extra)
        return;
    if (*extra && *extra != &s->extra)
        s->extra = **extra;
    s->extra.lagged_impulse = r->lagged_impulse;
    s->extra.slip_width = r->slip_width;
    *extra = &s->extra;
}

SapStatus sap_solver_record(SapSolver *s, const SapContactReport *report) {
    SAP_NEED(s);
    const SapContactReport none = {0}, *r = report ? report : &none;
    if (r->pair)
        SAP_REQUIRE(&s->options, SAP_CAN_RECORD_PAIR, "sap_solver_record: pair");
    if (r->lagged_impulse || r->slip_width)
        SAP_REQUIRE(&s->options, SAP_CAN_APPROXIMATION, "sap_solver_record: lagged_impulse, slip_width");
    if (r->cache_key)
        SAP_REQUIRE(&s->options, SAP_CAN_RECORD_CACHE_KEY, "sap_solver_record: cache_key");
    /* The arrays that steps fill from now on. */
    SapReportArgs *a = &s->args.report;
#define TAKE(name) a->name = r->name;
    SAP_EACH_CONTACT_REPORT(TAKE)
#undef TAKE
    record_slip(s, r);
    if (s->results || r->cache_key) { /* else the cache is the batch's */
        a->cache_key = r->cache_key;
        a->cache = r->cache;
        a->dof_cache = r->dof_cache;
    }
    return SAP_OK;
}

SapStatus sap_solver_record_constraints(SapSolver *s, const SapConstraintReport *report) {
    SAP_NEED(s);
    const SapConstraintReport none = {0}, *r = report ? report : &none;
    SapReportArgs *a = &s->args.report;
    a->row_impulse = r->impulse;
    a->row_error = r->error;
    a->row_velocity = r->velocity;
    a->row_weight = r->weight;
    a->row_target = r->target;
    a->row_R = r->R;
    a->row_jacobian = r->jacobian;
    a->constraint_wrench = r->wrench;
    a->body_constraint_wrench = r->body_wrench;
    a->constraint_residual = r->residual;
    a->tendon_length = r->tendon_length;
    a->tendon_velocity = r->tendon_velocity;
    a->tendon_force = r->tendon_force;
    a->tendon_limit = r->tendon_limit;
    a->tendon_spring = r->tendon_spring;
    a->tendon_damper = r->tendon_damper;
    a->tendon_friction = r->tendon_friction;
    a->tendon_drive = r->tendon_drive;
    return SAP_OK;
}

int sap_solver_problem_rows(const SapSolver *s) {
    return s && s->args.dual ? (int)sap_dual_max_rows(&s->args.plan, s->args.contacts.capacity) : 0;
}

SapStatus sap_solver_record_problem(SapSolver *s, const SapDualRecord *record) {
    SAP_NEED(s);
    SAP_REQUIRE(&s->options, SAP_CAN_RECORD_PROBLEM, "sap_solver_record_problem");
    s->dual.record = NULL;
    if (!record)
        return SAP_OK;
    const void *const arrays[] = {record->num_blocks, record->kind, record->W,  record->b,
                                  record->mu,         record->lo,   record->hi, record->impulse};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!arrays[i])
            return sap_fail(SAP_ERROR_ARGUMENT, "sap_solver_record_problem: an array of the record is NULL");
    int rows = sap_solver_problem_rows(s);
    if (record->max_rows < rows)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_solver_record_problem: max_rows is %d; it must be at least %d",
                        record->max_rows, rows);
    s->record = *record;
    s->dual.record = &s->record;
    return SAP_OK;
}

const uint32_t *sap_solver_world_status(const SapSolver *solver) {
    return solver ? solver->args.status : NULL;
}

/* The sweep and the tree store their pairs as bits. */
static int count_pairs(const SapPlan *p) {
    int count = p->num_pairs;
    int rows = p->broad_phase == SAP_BROAD_PHASE_SWEEP ? p->ns : p->statics.num_seekers;
    for (size_t i = 0, words = (size_t)rows * (size_t)p->row_words; i < words; i++)
        count += __builtin_popcount(p->allowed[i]);
    return count;
}

SapStatus sap_solver_info(const SapSolver *s, SapSolverInfo *out) {
    SAP_NEED(s);
    SAP_NEED(out);
    size_t per_world = s->results ? sizeof(uint32_t) + 5 * sizeof(int32_t) + 2 * sizeof(double) : 0;
    per_world += s->order ? sizeof *s->order : 0;
    size_t model_bytes =
        s->plan->plan.bytes + s->plan->constants[0].bytes + s->plan->constants[1].bytes + s->plan->formulation.bytes;
    *out = (SapSolverInfo){
        .num_worlds = s->num_worlds,
        .threads = s->threads,
        .lanes = s->kernels.pack[0]->lanes,
        .isa = s->isa,
        .scratch_bytes = s->scratch[0].bytes,
        .model_bytes = model_bytes,
        .total_bytes = sizeof *s + model_bytes +
                       (size_t)s->threads * (s->scratch[0].bytes + sizeof *s->scratch + sizeof *s->ranges) +
                       (size_t)s->num_worlds * per_world + s->per_world.bytes + sap_sleep_bytes(s->sleep),
        .factor_nonzeros = s->args.plan.tree.nnz,
        .shape_pairs = count_pairs(&s->args.plan),
        .broad_phase = (SapBroadPhase)s->args.plan.broad_phase,
    };
    return SAP_OK;
}

/* ---- profile ---- */

SapStatus sap_solver_profile(SapSolver *s, bool on) {
    SAP_NEED(s);
    if (on && !s->ticks)
        s->ticks = sap_allocate((size_t)s->threads, sizeof *s->ticks, "profile");
    if (on && !s->ticks)
        return SAP_ERROR_MEMORY;
    if (on)
        memset(s->ticks, 0, (size_t)s->threads * sizeof *s->ticks);
    for (int i = 0; i < s->threads; i++)
        s->scratch[i].ticks = on ? &s->ticks[i] : NULL;
    return SAP_OK;
}

SapStatus sap_solver_profile_read(const SapSolver *s, SapProfile *out) {
    SAP_NEED(s);
    SAP_NEED(out);
    *out = (SapProfile){0};
    for (int i = 0; s->ticks && i < s->threads; i++)
        sap_profile_add(out, &s->ticks[i], s->kernels.pack[0]->lanes);
    return SAP_OK;
}

/* ---- parameters of worlds ---- */

SapStatus sap_solver_add_per_world(SapSolver *s, SapParameter parameter) {
    return sap_per_world_add(&s->per_world, parameter, &s->args, s->law);
}

SapPerWorld *sap_solver_per_world(SapSolver *s) {
    return &s->per_world;
}
