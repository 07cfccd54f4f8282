/* The contact solve of a world is a function of its own numbers: not of the lanes, the threads, the instruction set,
 * the number of worlds or its place among them, although the worlds of a pack have different contacts, patterns and
 * numbers of iterations. Every quantity of every step is compared with ==. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/hash_contacts.h"
#include "support/hash_worlds.h"
#include "host/cpu/dispatch.h"
#include "support/need.h"
#include "support/presets.h"
#include "support/random_model.h"
#include "support/sample_model.h"
#include "support/scene_batch.h"
#include "support/work.h"

enum { MAX_WORLDS = 33, STEPS = 4 };
static const double H = 0.005;

/* World i holds content (i * multiplier + offset) % worlds. */
typedef struct Run {
    SapOptions options;
    int worlds, multiplier, offset;
    SapDtype dtype;
} Run;

typedef uint64_t Hashes[MAX_WORLDS][STEPS][NUM_HASHES];

/* What the contents of a batch made happen, to know that the test tests something. */
typedef struct Seen {
    int with_contacts, without, failed, not_converged, f64_retries;
    int iterations[101];
} Seen;

static int content_of(const Run *run, int world) {
    return (world * run->multiplier + run->offset) % run->worlds;
}

static void look(Seen *seen, const SapSolver *solver, const SapContacts *contacts, int world) {
    SapWorldReport w;
    need(sap_solver_report(solver, &w));
    seen->with_contacts += contacts->count[world] > 0;
    seen->without += contacts->count[world] == 0;
    seen->failed += (w.status[world] & SAP_WORLD_FAILED) != 0;
    seen->not_converged += (w.status[world] & SAP_WORLD_NOT_CONVERGED) != 0;
    seen->f64_retries += w.f64_retries[world];
    seen->iterations[w.iterations[world] < 100 ? w.iterations[world] : 100]++;
}

/* Fills hashes[c] for every content c < run->worlds. */
static void run_batch(const SapModel *model, const Run *run, Hashes hashes, Seen *seen) {
    const SapModelArrays *m = sap_model_arrays(model);
    SapSolver *solver;
    SapContacts *contacts;
    need(sap_solver_create(model, run->worlds, &run->options, &solver));
    need(sap_contacts_create(run->worlds, HASH_SLOTS, run->dtype, &contacts));
    HashBatch batch = hash_batch_create(m, run->worlds, run->dtype);
    HashReport report = hash_report_create(solver, m, run->worlds);
    for (int i = 0; i < run->worlds; i++)
        hash_fill(&batch, i, (uint64_t)content_of(run, i));
    need(sap_forward_kinematics(solver, &batch.state));
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < run->worlds; i++)
            hash_fill_contacts(&batch, contacts, i, (uint64_t)content_of(run, i), step);
        need(sap_step(solver, &batch.state, &batch.control, contacts, H, &batch.state));
        for (int i = 0; i < run->worlds; i++) {
            hash_step(&batch, solver, &report, i, contacts->count[i], hashes[content_of(run, i)][step]);
            if (seen)
                look(seen, solver, contacts, i);
        }
    }
    hash_report_destroy(&report);
    hash_batch_destroy(&batch);
    sap_contacts_destroy(contacts);
    sap_solver_destroy(solver);
}

/* Only SAP has packs of 16 worlds, with avx512. */
static bool has_lanes(const SapOptions *o) {
    return sap_kernels_find(o->isa, o->lanes, SAP_FP32) && (o->lanes <= 8 || o->contact_solver == SAP_SOLVER_SAP);
}

static void check_run(const SapModel *model, const Run *run, Hashes reference) {
    static Hashes hashes;
    if (!has_lanes(&run->options))
        return;
    run_batch(model, run, hashes, NULL);
    for (int step = 0; step < STEPS; step++)
        for (int q = 0; q < NUM_HASHES; q++)
            for (int c = 0; c < run->worlds; c++)
                cr_assert_eq(hashes[c][step][q], reference[c][step][q],
                             "%s of content %d differs first, in step %d: %s, %d lanes, %d threads, %d worlds, "
                             "multiplier %d; %#llx, not %#llx",
                             hash_names[q], c, step, sap_isa_name(run->options.isa), run->options.lanes,
                             run->options.threads, run->worlds, run->multiplier, (unsigned long long)hashes[c][step][q],
                             (unsigned long long)reference[c][step][q]);
}

static void check_seen(const Seen *seen) {
    int kinds = 0;
    char text[512] = "";
    for (int k = 0; k <= 100; k++) {
        kinds += seen->iterations[k] > 0;
        if (seen->iterations[k] && strlen(text) < sizeof text - 32)
            snprintf(text + strlen(text), 32, " %d:%d", k, seen->iterations[k]);
    }
    cr_log_info("%d solves with contacts, %d without, %d failed, %d not converged, %d f64_retries; iterations:%s",
                seen->with_contacts, seen->without, seen->failed, seen->not_converged, seen->f64_retries, text);
    cr_assert_eq(seen->failed, 0);
    cr_assert(seen->with_contacts > 30 && seen->without > 10 && kinds >= 4);
}

static const int lane_counts[] = {1, 4, 8, 16}, world_counts[] = {1, 3, 5, 8, 33};

static void check_model(const SapModel *model, const SapOptions *options, SapDtype dtype) {
    static Hashes reference;
    Seen seen = {0};
    Run run = {.options = *options, .worlds = MAX_WORLDS, .multiplier = 1, .dtype = dtype};
    need(sap_isa_resolve(SAP_ISA_AUTO, &run.options.isa));
    run.options.max_rigid_contact = HASH_SLOTS;
    run.options.lanes = run.options.threads = 1;
    run_batch(model, &run, reference, &seen);
    check_seen(&seen);
    for (int l = 0; l < 4; l++) {
        run.options.lanes = lane_counts[l];
        run.multiplier = 1;
        run.offset = 0;
        for (int threads = work_scale() < 1 ? 3 : 1; threads <= 3; threads++) {
            run.options.threads = threads;
            for (int w = 0; w < 5; w++) {
                run.worlds = world_counts[w];
                check_run(model, &run, reference);
            }
        }
        run.multiplier = 7; /* other neighbours; coprime to the counts */
        run.offset = 3;
        for (int w = 1; w < 5; w++) {
            run.worlds = world_counts[w];
            check_run(model, &run, reference);
        }
    }
}

/* The other instruction sets; a fused multiply-add may be a call there. */
static void check_isas(const SapModel *model, const SapOptions *options) {
    static Hashes reference;
    Run run = {.options = *options, .worlds = MAX_WORLDS, .multiplier = 1, .dtype = SAP_F64};
    run.options.max_rigid_contact = HASH_SLOTS;
    need(sap_isa_resolve(SAP_ISA_AUTO, &run.options.isa));
    run.options.threads = 1;
    run_batch(model, &run, reference, NULL);
    run.options.lanes = 0;
    for (int isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++) {
        run.options.isa = (SapIsa)isa;
        for (int l = 0; l < 4 && sap_isa_available((SapIsa)isa); l++) {
            run.options.lanes = lane_counts[l];
            check_run(model, &run, reference);
        }
    }
}

/* Models: one articulation of all kinds of joints with drives, limits and friction; two articulations and no joint
 * terms, where a pack without contacts has nothing to solve. */
static SapModel *forest(void) {
    return hash_model_with_terms(random_forest(5, 9), 3);
}

static void check_preset(const char *preset) {
    SapModel *models[] = {forest(), sample_model_create()};
    for (int variant = SAP_MONOTONE_DECAY; variant <= SAP_WOLFE; variant++) {
        SapOptions options;
        need(sap_options_preset(preset, &options));
        options.line_search_variant = (SapLineSearch)variant;
        for (int k = 0; k < 2; k++)
            check_model(models[k], &options, k == 0 ? SAP_F64 : SAP_F32);
    }
    sap_model_destroy(models[0]);
    sap_model_destroy(models[1]);
}

ParameterizedTestParameters(contact_sameness, a_world_has_the_same_bits_for_any_lanes_threads_batch_size_and_position) {
    return preset_params();
}

ParameterizedTest(const int *preset, contact_sameness,
                  a_world_has_the_same_bits_for_any_lanes_threads_batch_size_and_position) {
    check_preset(preset_names[*preset]);
}

/* The solvers in impulses, each in another preset. */
static const struct {
    const char *preset;
    SapContactSolver solver;
    SapFrictionLaw law;
    SapContactCompliance compliance;
} dual_ways[] = {{"drake", SAP_SOLVER_CONE, SAP_FRICTION_CONVEX, SAP_COMPLIANCE_RIGID},
                 {"approx32", SAP_SOLVER_CONE, SAP_FRICTION_COULOMB, SAP_COMPLIANCE_MATERIAL},
                 {"approx64", SAP_SOLVER_PGS, SAP_FRICTION_CONVEX, SAP_COMPLIANCE_SAP},
                 {"fast32", SAP_SOLVER_PGS_ROWS, SAP_FRICTION_CONVEX, SAP_COMPLIANCE_RIGID},
                 {"approx32", SAP_SOLVER_ACTIVE_SET, SAP_FRICTION_CONVEX, SAP_COMPLIANCE_RIGID}};

ParameterizedTestParameters(contact_sameness, a_solve_in_impulses_has_the_same_bits_too) {
    static int all[] = {0, 1, 2, 3, 4};
    return cr_make_param_array(int, all, 5);
}

ParameterizedTest(const int *way, contact_sameness, a_solve_in_impulses_has_the_same_bits_too) {
    SapModel *models[] = {forest(), sample_model_create()};
    SapOptions options;
    need(sap_options_preset(dual_ways[*way].preset, &options));
    options.contact_solver = dual_ways[*way].solver;
    options.friction_law = dual_ways[*way].law;
    options.contact_compliance = dual_ways[*way].compliance;
    options.restitution = 0.3;
    for (int k = 0; k < 2; k++)
        check_model(models[k], &options, k == 0 ? SAP_F64 : SAP_F32);
    check_isas(models[0], &options);
    sap_model_destroy(models[0]);
    sap_model_destroy(models[1]);
}

/* Free motion in f64 and a solve in f32: a world that has nothing to solve must not go through f32 for its neighbours'
 * sake. */
Test(contact_sameness, mixed_precisions) {
    SapModel *models[] = {forest(), sample_model_create()};
    for (int mixed = 0; mixed < 8; mixed++) {
        SapOptions options;
        need(sap_options_preset("approx64", &options));
        options.free_motion_solve_precision = mixed & 1 ? SAP_FP32 : SAP_FP64;
        options.contact_solve_precision = mixed & 2 ? SAP_FP64 : SAP_FP32;
        options.contact_linear_solve_precision = mixed & 4 ? SAP_FP64 : SAP_FP32;
        options.line_search_variant = SAP_EXACT_ROOT;
        for (int k = 0; k < 2; k++)
            check_model(models[k], &options, SAP_F64);
    }
    sap_model_destroy(models[0]);
    sap_model_destroy(models[1]);
}

/* Newton's matrix in full has more zeros, and not another number. */
Test(contact_sameness, factor_plans) {
    static Hashes reference;
    const char *const presets[] = {"approx32", "approx64", "drake"};
    SapModel *models[] = {forest(), sample_model_create()};
    for (int p = 0; p < 3; p++)
        for (int k = 0; k < 2; k++) {
            Run run = {.worlds = MAX_WORLDS, .multiplier = 1, .dtype = SAP_F64};
            need(sap_options_preset(presets[p], &run.options));
            run.options.max_rigid_contact = HASH_SLOTS;
            run.options.threads = 1;
            run_batch(models[k], &run, reference, NULL);
            run.options.factor_plan = SAP_FACTOR_DENSE;
            check_run(models[k], &run, reference);
        }
    sap_model_destroy(models[0]);
    sap_model_destroy(models[1]);
}

/* The velocities of ten worlds of a scene after 30 steps, in memory that the caller frees. */
static void *run_scene(const SapScene *scene, const char *preset, int lanes, SapFactorPlan plan, size_t *bytes) {
    const SapModelArrays *a = sap_model_arrays(scene->model);
    SapOptions options = scene->options;
    enum { WORLDS = 10 };
    need(sap_options_set(&options, "contact_preset_variant", preset));
    options.lanes = lanes;
    options.threads = 1;
    options.factor_plan = plan;
    SapBatch *batch = create(scene, WORLDS, &options);
    for (int w = 0; w < WORLDS; w++)
        set_content(batch, a, w, w);
    need(sap_batch_step(batch, H, (int)(30 * work_scale()) + 6));
    const SapState *state = sap_batch_state(batch);
    *bytes = (size_t)WORLDS * (size_t)a->num_dofs * (state->dtype == SAP_F64 ? 8 : 4);
    void *v = malloc(*bytes);
    memcpy(v, state->joint_qd, *bytes);
    sap_batch_destroy(batch);
    return v;
}

/* Worlds of a pack touch at different times, so their tiles differ; alone, in a pack and with all tiles they are the
 * same. */
Test(contact_sameness, tiles_of_other_worlds_in_scenes) {
    const char *const scenes[] = {"stack5", "gripper"}, *const presets[] = {"approx32", "drake"};
    for (int s = 0; s < 2; s++)
        for (int p = 0; p < 2; p++) {
            SapScene *scene = load(scenes[s]);
            size_t bytes;
            void *alone = run_scene(scene, presets[p], 1, SAP_FACTOR_SPARSE, &bytes);
            void *pack = run_scene(scene, presets[p], 8, SAP_FACTOR_SPARSE, &bytes);
            void *dense = run_scene(scene, presets[p], 8, SAP_FACTOR_DENSE, &bytes);
            cr_expect_eq(memcmp(alone, pack, bytes), 0, "%s, %s: lanes", scenes[s], presets[p]);
            cr_expect_eq(memcmp(alone, dense, bytes), 0, "%s, %s: all tiles", scenes[s], presets[p]);
            free(alone), free(pack), free(dense);
            sap_scene_destroy(scene);
        }
}

Test(contact_sameness, instruction_sets) {
    const char *const presets[] = {"approx32", "drake"};
    SapModel *model = forest();
    for (int p = 0; p < 2; p++) {
        SapOptions options;
        need(sap_options_preset(presets[p], &options));
        options.line_search_variant = SAP_EXACT_ROOT;
        check_isas(model, &options);
    }
    sap_model_destroy(model);
}
