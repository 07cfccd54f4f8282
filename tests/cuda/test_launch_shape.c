/* What the CUDA backend works out on the host, with or without a GPU: where scratch lies, how many threads a world
 * gets, and the arguments with addresses of the device. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "host/cuda/launch_shape.h"
#include "host/cuda/model.h"
#include "host/plan/layout.h"
#include "kernels/step/reset.h"

enum { SHARED_A100 = 166912 };
static const char *const scenes[] = {"bench/scenes/cube",   "bench/scenes/quadruped", "bench/scenes/humanoid",
                                     "bench/scenes/stack5", "tests/scenes/hulls",     "tests/scenes/ball_on_field"};
enum { NUM_SCENES = sizeof scenes / sizeof *scenes };

typedef struct Planned {
    SapScene *scene;
    SapOptions options;
    SapCudaModel model;
    SapDualStepArgs dual;
    SapStepArgs args;
} Planned;

static Planned plan_with(const char *name, const char *preset, SapBroadPhase broad_phase) {
    char path[4096];
    Planned p = {.scene = NULL};
    snprintf(path, sizeof path, "%s/%s.yaml", SAPWOOD_SOURCE_DIR, name);
    cr_assert_eq(sap_scene_load(path, &p.scene), SAP_OK, "%s", sap_error_message());
    p.options = p.scene->options;
    p.options.broad_phase = broad_phase;
    cr_assert_eq(sap_options_set(&p.options, "preset", preset), SAP_OK);
    cr_assert_eq(sap_cuda_model_init(p.scene->model, &p.options, &p.dual, &p.args, &p.model), SAP_OK);
    return p;
}

static Planned plan_contacts(const char *name, const char *preset, int capacity) {
    Planned p = plan_with(name, preset, SAP_BROAD_PHASE_AUTO);
    p.options.max_contacts = capacity;
    cr_assert_eq(sap_cuda_model_init(p.scene->model, &p.options, &p.dual, &p.args, &p.model), SAP_OK);
    return p;
}

static Planned plan(const char *name, const char *preset) {
    return plan_with(name, preset, SAP_BROAD_PHASE_AUTO);
}

static void destroy(Planned *p) {
    sap_scene_destroy(p->scene);
}

/* The arenas of sap_arena_bytes, then the slots of worlds with many contacts and their origins. */
enum { NUM_MORE = 5, NUM_PLACES = SAP_NUM_ARENAS + NUM_MORE };

static void places_of(const SapArenas *a, int at[NUM_PLACES]) {
    const int all[NUM_PLACES] = {a->fm,
                                 a->blocks,
                                 a->few.slots,
                                 a->few.jacobians,
                                 a->few.slot_ints,
                                 a->few.setup,
                                 a->few.setup_ints,
                                 a->tiles,
                                 a->retry,
                                 a->retry_slots,
                                 a->linear[1],
                                 a->collide,
                                 a->pairs,
                                 a->ints,
                                 a->more.slots,
                                 a->more.jacobians,
                                 a->more.slot_ints,
                                 a->more.setup,
                                 a->more.setup_ints};
    memcpy(at, all, sizeof all);
}

static void arrange(Planned *p, int shared_limit, SapKernelKind part, SapCudaShape *shape) {
    SapStatus status = sap_cuda_launch_shape(&p->options, shared_limit, part, &p->args, &p->args.arena, shape);
    cr_assert_eq(status, SAP_OK, "%s", sap_error_message());
}

/* ---- scratch ---- */

/* What a kernel needs of each arena: collision and the step share that of free motion. With a team the origins of
 * all contacts are in one place. */
static void bytes_with(const Planned *p, SapKernelKind part, bool is_thread, size_t bytes[NUM_PLACES]) {
    static const int real_bytes[2] = {4, 8};
    int few = p->args.arena.few_slots, all = p->args.contacts.num_slots;
    size_t of_all[SAP_NUM_ARENAS];
    sap_arena_bytes(&p->args, few, real_bytes, bytes);
    sap_arena_bytes(&p->args, all, real_bytes, of_all);
    for (int i = 0; i < NUM_MORE; i++) {
        bool own = is_thread || SAP_ARENA_SLOTS + i < SAP_ARENA_SLOT_SETUP;
        bytes[SAP_NUM_ARENAS + i] = few < all && own ? of_all[SAP_ARENA_SLOTS + i] : 0;
        if (!own)
            bytes[SAP_ARENA_SLOTS + i] = of_all[SAP_ARENA_SLOTS + i];
    }
    for (int i = SAP_ARENA_COLLIDE; i <= SAP_ARENA_PAIRS && part == SAP_CUDA_STEP; i++)
        bytes[i] = 0;
    for (int i = 1; i < NUM_PLACES && part == SAP_CUDA_COLLIDE; i++)
        if (i != SAP_ARENA_COLLIDE && i != SAP_ARENA_PAIRS)
            bytes[i] = 0;
    if (part == SAP_CUDA_COLLIDE)
        bytes[SAP_ARENA_FM] = (size_t)p->args.plan.layout.I * (p->args.fm_is_f64 ? 8 : 4);
    if (p->args.newton.linear_is_f64) /* it is in the first arena */
        bytes[SAP_ARENA_LINEAR64] = 0;
}

static void bytes_of(const Planned *p, SapKernelKind part, size_t bytes[NUM_PLACES]) {
    bytes_with(p, part, false, bytes);
}

static void check_arenas(const SapArenas *a, const size_t bytes[NUM_PLACES]) {
    int at[NUM_PLACES];
    places_of(a, at);
    for (int i = 0; i < NUM_PLACES; i++) {
        if (bytes[i] == 0)
            continue;
        long long first = at[i] < 0 ? ~at[i] : at[i], end = first + (long long)bytes[i];
        cr_expect_eq(first % (at[i] < 0 ? 64 : 16), 0);
        cr_expect_leq(end, at[i] < 0 ? a->workspace_size : a->size, "arena %d ends at %lld", i, end);
        for (int k = 0; k < i && bytes[i] > 0; k++) {
            long long other = at[k] < 0 ? ~at[k] : at[k];
            bool same_memory = (at[i] < 0) == (at[k] < 0), apart = other + (long long)bytes[k] <= first || end <= other;
            cr_expect(!same_memory || apart || bytes[k] == 0, "arenas %d and %d overlap", i, k);
        }
    }
}

static void check_places(const Planned *p, SapKernelKind part, const SapCudaShape *shape, int limit) {
    const SapArenas *a = &p->args.arena;
    size_t bytes[NUM_PLACES];
    bytes_of(p, part, bytes);
    check_arenas(a, bytes);
    cr_expect_leq(a->size, limit);
    cr_expect_eq(shape->shared_bytes, shape->worlds_per_block * a->size);
    cr_expect_leq(shape->shared_bytes, SHARED_A100);
    cr_expect_eq(shape->workspace_size, a->workspace_size);
}

Test(cuda_plan, arenas_fit_where_they_lie_and_overlap_nowhere) {
    static const int limits[] = {0, 1, 100, 1000, 5000, 20000, 50000, 100000};
    for (int s = 0; s < NUM_SCENES; s++)
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
            Planned p = plan(scenes[s], s % 2 ? "approx32" : "drake");
            SapCudaShape shape;
            p.options.shared_memory = limits[l];
            for (int part = SAP_CUDA_COLLIDE; part <= SAP_CUDA_STEP; part++) {
                arrange(&p, SHARED_A100, (SapKernelKind)part, &shape);
                check_places(&p, (SapKernelKind)part, &shape, limits[l] ? limits[l] : SHARED_A100);
            }
            destroy(&p);
        }
}

/* Global memory has the origins of contacts, the slots of worlds with many contacts and second attempts. */
static bool is_always_outside(int place) {
    return place >= SAP_NUM_ARENAS || (place >= SAP_ARENA_SLOT_SETUP && place <= SAP_ARENA_LINEAR64);
}

Test(cuda_plan, what_every_iteration_reads_is_in_shared_memory_and_its_largest_arena_leaves_it_first) {
    Planned p = plan("bench/scenes/humanoid", "approx32");
    SapCudaShape shape;
    size_t bytes[NUM_PLACES];
    int at[NUM_PLACES], largest = 0;
    arrange(&p, SHARED_A100, SAP_CUDA_STEP, &shape);
    places_of(&p.args.arena, at);
    bytes_of(&p, SAP_CUDA_STEP, bytes);
    for (int i = 0; i < NUM_PLACES; i++) {
        cr_expect(bytes[i] == 0 || (at[i] < 0) == is_always_outside(i), "arena %d", i);
        largest = bytes[i] > bytes[largest] && !is_always_outside(i) ? i : largest;
    }
    p.options.shared_memory = p.args.arena.size - 64;
    arrange(&p, SHARED_A100, SAP_CUDA_STEP, &shape);
    places_of(&p.args.arena, at);
    for (int i = 0; i < NUM_PLACES; i++)
        cr_expect(bytes[i] == 0 || (at[i] < 0) == (is_always_outside(i) || i == largest), "arena %d", i);
    destroy(&p);
}

/* The budget of a world with 8 contacts, in a step that finds them itself and reports nothing of them. */
Test(cuda_plan, a_quadruped_with_eight_contacts_takes_as_much_shared_memory_whatever_the_capacity) {
    static const struct {
        const char *preset;
        int bytes;
    } cases[] = {{"fast32", 5440}, {"approx32", 6720}, {"drake", 10432}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int capacity = 8; capacity <= 128; capacity *= 4) {
            Planned p = plan_contacts("bench/scenes/quadruped", cases[i].preset, capacity);
            SapCudaShape shape;
            p.args.plan.layout = sap_motion_layout(&p.args.plan, false);
            arrange(&p, SHARED_A100, SAP_CUDA_FUSED_STEP, &shape);
            cr_expect_leq(p.args.arena.size, cases[i].bytes, "%s, %d contacts: %d bytes", cases[i].preset, capacity,
                          p.args.arena.size);
            destroy(&p);
        }
}

Test(cuda_plan, worlds_of_a_warp_are_half_of_the_banks_apart) {
    for (int team = 8; team <= 16; team *= 2) {
        Planned p = plan("bench/scenes/cube", "approx32");
        SapCudaShape shape;
        p.options.team_size = team;
        arrange(&p, SHARED_A100, SAP_CUDA_STEP, &shape);
        cr_expect_eq(shape.worlds_per_block, 32 / team);
        cr_expect_eq(p.args.arena.size % 128, 64);
        destroy(&p);
    }
}

Test(cuda_plan, a_block_has_fewer_worlds_where_a_warp_of_them_does_not_fit) {
    Planned p = plan("bench/scenes/quadruped", "approx64");
    SapCudaShape shape;
    p.options.team_size = 8;
    arrange(&p, SHARED_A100, SAP_CUDA_STEP, &shape);
    int size = p.args.arena.size;
    arrange(&p, 2 * size + 64, SAP_CUDA_STEP, &shape);
    cr_expect_eq(shape.worlds_per_block, 2);
    arrange(&p, size, SAP_CUDA_STEP, &shape);
    cr_expect_eq(shape.worlds_per_block, 1);
    destroy(&p);
}

/* ---- a thread per world ---- */

Test(cuda_plan, a_thread_has_what_every_iteration_reads_in_its_local_memory) {
    static const char *const presets[] = {"approx32", "fast32", "approx64", "drake"};
    for (int s = 0; s < NUM_SCENES; s++)
        for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
            Planned p = plan(scenes[s], presets[i]);
            SapCudaShape shape;
            size_t bytes[NUM_PLACES];
            int at[NUM_PLACES];
            cr_assert_eq(sap_cuda_thread_shape(SAP_CUDA_STEP, &p.args, &p.args.arena, &shape), SAP_OK, "%s",
                         sap_error_message());
            bytes_with(&p, SAP_CUDA_STEP, true, bytes);
            check_arenas(&p.args.arena, bytes);
            places_of(&p.args.arena, at);
            cr_expect_eq(p.args.arena.fm, 0, "the kernels take its address for the address of the whole");
            for (int k = 0; k < SAP_ARENA_TILES; k++)
                cr_expect(bytes[k] == 0 || at[k] >= 0, "%s, %s: arena %d", scenes[s], presets[i], k);
            cr_expect(shape.team == 1 && shape.worlds_per_block == 32 && shape.shared_bytes == 0);
            destroy(&p);
        }
}

/* Collision of a fused step reads the kinematics, which end at layout.I, and the integers of the pack hold the status;
 * it overlaps neither. Its integers are in the memory of free motion: slots are filled while threads may still read
 * them. */
static void check_collision(const Planned *p, const char *scene) {
    static const int real_bytes[2] = {4, 8};
    const SapArenas *a = &p->args.arena;
    size_t own[SAP_NUM_ARENAS];
    sap_arena_bytes(&p->args, 0, real_bytes, own);
    int kinematics = p->args.plan.layout.I * (p->args.fm_is_f64 ? 8 : 4);
    cr_expect(a->in_step && a->fm == 0 && a->pairs >= kinematics, "%s", scene);
    cr_expect(a->pairs % 16 == 0 && a->collide % 16 == 0, "%s", scene);
    cr_expect_lt(a->pairs, a->few.slots, "%s", scene);
    cr_expect_geq(a->collide, a->pairs + (int)own[SAP_ARENA_PAIRS], "%s", scene);
    cr_expect_leq(a->collide + (int)own[SAP_ARENA_COLLIDE], a->ints, "%s", scene);
    cr_expect_leq(a->ints + (int)own[SAP_ARENA_PACK_INTS], a->size, "%s", scene);
}

Test(cuda_plan, collision_in_a_step_has_memory_that_the_step_does_not_use_then) {
    for (int s = 0; s < NUM_SCENES; s++)
        for (int is_thread = 0; is_thread < 2; is_thread++) {
            Planned p = plan(scenes[s], s % 2 ? "approx32" : "drake");
            SapCudaShape shape;
            if (is_thread)
                cr_assert_eq(sap_cuda_thread_shape(SAP_CUDA_FUSED_STEP, &p.args, &p.args.arena, &shape), SAP_OK);
            else
                arrange(&p, SHARED_A100, SAP_CUDA_FUSED_STEP, &shape);
            check_collision(&p, scenes[s]);
            destroy(&p);
        }
}

Test(cuda_plan, collision_in_a_step_is_in_the_workspace_if_the_step_is_not_all_in_shared_memory) {
    static const int limits[] = {1, 100, 1000, 5000};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        Planned p = plan("bench/scenes/quadruped", "approx32");
        SapCudaShape shape;
        size_t bytes[NUM_PLACES], own[SAP_NUM_ARENAS];
        static const int real_bytes[2] = {4, 8};
        p.options.shared_memory = limits[l];
        arrange(&p, SHARED_A100, SAP_CUDA_FUSED_STEP, &shape);
        bytes_of(&p, SAP_CUDA_STEP, bytes);
        sap_arena_bytes(&p.args, p.args.arena.few_slots, real_bytes, own);
        bytes[SAP_ARENA_COLLIDE] = own[SAP_ARENA_COLLIDE];
        bytes[SAP_ARENA_PAIRS] = own[SAP_ARENA_PAIRS];
        check_arenas(&p.args.arena, bytes);
        cr_expect(p.args.arena.in_step && p.args.arena.collide < 0 && p.args.arena.pairs < 0);
        cr_expect_leq(p.args.arena.size, limits[l]);
        destroy(&p);
    }
}

Test(cuda_plan, robots_fit_the_local_memory_of_a_thread_and_a_stack_of_boxes_does_not) {
    static const struct {
        const char *scene, *preset;
        bool fits;
    } cases[] = {{"bench/scenes/cube", "drake", true},        {"bench/scenes/quadruped", "approx32", true},
                 {"bench/scenes/quadruped", "fast32", true},  {"bench/scenes/quadruped", "drake", true},
                 {"bench/scenes/humanoid", "approx32", true}, {"bench/scenes/humanoid", "fast32", true},
                 {"bench/scenes/stack5", "approx32", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Planned p = plan(cases[i].scene, cases[i].preset);
        SapCudaShape shape;
        cr_assert_eq(sap_cuda_thread_shape(SAP_CUDA_STEP, &p.args, &p.args.arena, &shape), SAP_OK, "%s",
                     sap_error_message());
        cr_expect_eq(p.args.arena.size <= SAP_THREAD_SCRATCH, cases[i].fits, "%s, %s: %d bytes", cases[i].scene,
                     cases[i].preset, p.args.arena.size);
        destroy(&p);
    }
}

/* ---- teams ---- */

Test(cuda_plan, teams_grow_with_dofs_unless_the_option_says_otherwise) {
    static const struct {
        int nv, contacts, option, team;
    } cases[] = {{6, 4, 0, 8},    {6, 128, 0, 8}, {18, 32, 0, 8},   {24, 128, 0, 8}, {27, 8, 0, 16}, {48, 100, 0, 16},
                 {49, 16, 0, 32}, {96, 8, 0, 32}, {97, 16, 0, 128}, {6, 4, 64, 64},  {60, 16, 8, 8}, {35, 16, 32, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Planned p = plan("bench/scenes/cube", "approx32");
        SapCudaShape shape;
        p.args.plan.nv = cases[i].nv;
        p.args.contacts.capacity = cases[i].contacts;
        p.options.team_size = cases[i].option;
        arrange(&p, SHARED_A100, SAP_CUDA_STEP, &shape);
        cr_expect_eq(shape.team, cases[i].team, "%d dofs, %d contacts: %d", cases[i].nv, cases[i].contacts, shape.team);
        destroy(&p);
    }
}

/* ---- addresses ---- */

/* A word of the arguments that points into a block of the host was forgotten. */
Test(cuda_plan, no_address_of_the_host_is_left_in_the_arguments) {
    for (int s = 0; s < 2 * NUM_SCENES; s++) {
        Planned p = plan_with(scenes[s / 2], "approx32", s % 2 ? SAP_BROAD_PHASE_SWEEP : SAP_BROAD_PHASE_LISTED);
        SapArena arena = {.base = (char *)0x10000};
        sap_cuda_model_carve(&arena, &p.args, 1, &p.model);
        sap_cuda_model_translate(&p.model, &p.args);
        int translated = 0;
        for (size_t at = 0; at + sizeof(uintptr_t) <= sizeof p.args; at += sizeof(uintptr_t)) {
            uintptr_t word;
            memcpy(&word, (const char *)&p.args + at, sizeof word);
            translated += word >= 0x10000 && word < 0x10000 + arena.used;
            for (int i = 0; i < SAP_CUDA_NUM_BLOCKS; i++)
                cr_expect(word - (uintptr_t)p.model.block[i].host >= p.model.block[i].bytes, "byte %zu", at);
        }
        cr_expect_gt(translated, 50);
        const uintptr_t row = (uintptr_t)p.args.plan.tree.row, tree = (uintptr_t)p.model.block[SAP_PLAN_TREE].device;
        cr_expect_eq(row - tree,
                     (uintptr_t)p.model.plan->plan.plan.tree.row - (uintptr_t)p.model.plan->plan.memory[SAP_PLAN_TREE]);
        destroy(&p);
    }
}

Test(cuda_plan, the_arguments_of_a_launch_fit_into_4_kilobytes) {
    cr_expect_leq(sizeof(SapStepArgs) + sizeof(void *), 4096);
    cr_expect_leq(sizeof(SapResetArgs), 4096);
    cr_expect_leq(sizeof(SapMaskArgs), 4096);
}
