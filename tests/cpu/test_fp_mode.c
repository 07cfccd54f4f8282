/* The floating-point mode of the caller: whatever it is, results have the same bits, every call leaves it as it was,
 * and numbers that are bad do not trap. */
#include <fenv.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/scene_batch.h"

/* ---- modes ---- */

enum { DEFAULT, FLUSH, UPWARD, DOWNWARD, TOWARDZERO, TRAPS, NUM_MODES };
static const char *const mode_names[NUM_MODES] = {
    "default", "denormals are flushed to zero", "upward", "downward", "towards 0", "exceptions trap"};

static void flush_denormals(void) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr | 1u << 24));
#endif
}

static void set_mode(int mode) {
    fesetenv(FE_DFL_ENV);
    switch (mode) {
    case FLUSH: flush_denormals(); break;
    case UPWARD: fesetround(FE_UPWARD); break;
    case DOWNWARD: fesetround(FE_DOWNWARD); break;
    case TOWARDZERO: fesetround(FE_TOWARDZERO); break;
    case TRAPS: feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW); break;
    default: break;
    }
}

/* The control bits; the flags of exceptions are not a mode. */
static uint32_t control_word(void) {
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() & ~0x3fu;
#else
    return (uint32_t)fegetround();
#endif
}

/* Makes a call under `mode` and checks that it leaves the mode as it was. */
#define UNDER(mode, call)                                                                                              \
    do {                                                                                                               \
        set_mode(mode);                                                                                                \
        uint32_t before_ = control_word();                                                                             \
        SapStatus status_ = (call);                                                                                    \
        uint32_t after_ = control_word();                                                                              \
        fesetenv(FE_DFL_ENV);                                                                                          \
        need(status_);                                                                                                 \
        cr_assert_eq(after_, before_, "%s: %s changes the mode", mode_names[mode], #call);                             \
    } while (0)

/* ---- results ---- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_field(uint64_t hash, SapBatch *batch, SapBatchField field) {
    SapArray view;
    need(sap_batch_array(batch, field, &view));
    return hash_bytes(hash, view.data, (size_t)(view.shape[0] * view.strides[0]));
}

static uint64_t hash_batch(SapBatch *batch) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int field = 0; field <= SAP_BATCH_CONTACT_NORMAL; field++)
        hash = hash_field(hash, batch, (SapBatchField)field);
    return hash;
}

/* World w gets a small push in every dof, so that it leaves its symmetric start. */
static void push(SapBatch *batch, const SapModelArrays *a, int worlds) {
    for (int w = 0; w < worlds; w++)
        set_content(batch, a, w, w);
}

/* ---- tests ---- */

enum { WORLDS = 6, STEPS = 300 };

/* Everything from the file to the last step. */
static uint64_t simulate(const char *name, int mode, int later_mode, int threads) {
    char path[4096], value[64];
    SapScene *scene;
    SapBatch *batch;
    SapArray mass;
    snprintf(path, sizeof path, "%s/bench/scenes/%s.yaml", SAPWOOD_SOURCE_DIR, name);
    UNDER(mode, sap_scene_load(path, &scene));
    scene->options.threads = threads;
    UNDER(mode, sap_options_set(&scene->options, "optimality_rel_tol", "1.1e-6"));
    UNDER(mode, sap_options_get(&scene->options, "optimality_rel_tol", value, sizeof value));
    cr_assert_str_eq(value, "1.1e-06");
    UNDER(mode, sap_batch_create(scene->model, WORLDS, &scene->options, &batch));
    UNDER(mode, sap_batch_expand(batch, SAP_PARAMETER_BODY_MASS, &mass));
    for (int i = 0; i < mass.shape[1]; i++)
        ((double *)mass.data)[i] *= 1.1;
    push(batch, sap_model_arrays(scene->model), WORLDS);
    UNDER(later_mode, sap_batch_check_parameters(batch));
    UNDER(later_mode, sap_batch_step(batch, scene->dt, STEPS));
    UNDER(later_mode, sap_batch_reset(batch, (const uint8_t[WORLDS]){0, 1}, 0));
    UNDER(later_mode, sap_batch_forward_kinematics(batch, (const uint8_t[WORLDS]){0, 1}));
    UNDER(later_mode, sap_batch_step(batch, scene->dt, STEPS));
    uint64_t hash = hash_batch(batch);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
    return hash;
}

static void check_scene(const char *name, int threads) {
    uint64_t expected = simulate(name, DEFAULT, DEFAULT, threads);
    for (int mode = FLUSH; mode < NUM_MODES; mode++) {
        cr_expect_eq(simulate(name, mode, mode, threads), expected, "%s, %s, %d threads", name, mode_names[mode],
                     threads);
        cr_expect_eq(simulate(name, mode, DEFAULT, threads), expected, "%s, created with %s, %d threads", name,
                     mode_names[mode], threads);
        cr_expect_eq(simulate(name, DEFAULT, mode, threads), expected, "%s, stepped with %s, %d threads", name,
                     mode_names[mode], threads);
    }
}

Test(fp_mode, changes_no_bit_of_a_result) {
    check_scene("gripper", 1);
    check_scene("gripper", 3);
    check_scene("quadruped", 2);
}

/* Workers made under another mode than the caller's would give equal worlds different bits. */
Test(fp_mode, equal_worlds_stay_equal_on_all_threads) {
    enum { MANY = 64 };
    for (int mode = FLUSH; mode < NUM_MODES; mode++) {
        SapScene *scene = load("gripper");
        SapBatch *batch;
        scene->options.threads = 4;
        UNDER(mode, sap_batch_create(scene->model, MANY, &scene->options, &batch));
        for (int w = 0; w < MANY; w++)
            set_content(batch, sap_model_arrays(scene->model), w, 1);
        need(sap_batch_step(batch, scene->dt, STEPS));
        const SapState *s = sap_batch_state(batch);
        size_t bytes = (size_t)sap_model_arrays(scene->model)->num_coords * (s->dtype == SAP_F64 ? 8 : 4);
        for (size_t w = 1; w < MANY; w++)
            cr_expect_arr_eq((const char *)s->joint_q + w * bytes, s->joint_q, bytes, "world %zu, %s", w,
                             mode_names[mode]);
        sap_batch_destroy(batch);
        sap_scene_destroy(scene);
    }
}

Test(fp_mode, bad_numbers_do_not_trap) {
    SapScene *scene = load("quadruped");
    SapBatch *batch = create(scene, WORLDS, &scene->options);
    float *q = sap_batch_state(batch)->joint_q;
    q[0] = (float)NAN;
    q[sap_model_arrays(scene->model)->num_coords] = 3e38f;
    UNDER(TRAPS, sap_batch_step(batch, scene->dt, 3));
    cr_expect(sap_solver_world_status(sap_batch_solver(batch))[0] & SAP_WORLD_NONFINITE_STATE);
    sap_batch_destroy(batch);
    sap_scene_destroy(scene);
}

/* The other calls that compute: a solver's, and calls that only sort, copy or convert. */
Test(fp_mode, is_the_same_after_every_other_call) {
    SapScene *scene = load("quadruped");
    const SapModelArrays *a = sap_model_arrays(scene->model);
    for (int mode = FLUSH; mode < NUM_MODES; mode++) {
        SapModel *model, *copy;
        SapState *state;
        SapControl *control;
        SapContacts *contacts;
        SapSolver *solver;
        SapOptions options;
        double energy[2];
        const SapContactRecord record = {.normal = {0, 0, 1}};
        UNDER(mode, sap_model_create(a, &model));
        UNDER(mode, sap_model_copy(a, &copy));
        UNDER(mode, sap_options_preset("drake", &options));
        UNDER(mode, sap_options_check(&options));
        UNDER(mode, sap_state_create(model, 1, SAP_F32, &state));
        UNDER(mode, sap_control_create(model, 1, SAP_F32, &control));
        UNDER(mode, sap_contacts_create(1, 8, SAP_F32, &contacts));
        UNDER(mode, sap_contacts_sort(contacts, &record, 1));
        UNDER(mode, sap_solver_create(model, 1, &options, &solver));
        UNDER(mode, sap_step(solver, state, control, contacts, 0.01, state));
        UNDER(mode, sap_collide(solver, state, contacts));
        UNDER(mode, sap_forward_kinematics(solver, state));
        UNDER(mode, sap_free_motion(solver, state, control, 0.01, &(SapFreeMotion){.energy = energy}));
        sap_solver_destroy(solver);
        sap_contacts_destroy(contacts);
        sap_control_destroy(control);
        sap_state_destroy(state);
        sap_model_destroy(copy);
        sap_model_destroy(model);
    }
    sap_scene_destroy(scene);
}
