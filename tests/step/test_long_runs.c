/* Scenes with contact for 10,000 steps: nothing fails, nothing blows up, what stands keeps standing. A few worlds each,
 * whose free bodies begin up to a millimetre apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sapwood/sapwood.h>

#include "support/need.h"
#include "support/random_model.h"
#include "support/work.h"

enum { NUM_WORLDS = 5, STEPS = 10000, CHUNK = 10 };

typedef struct LongRun {
    const char *scene; /* path in the source tree */
    double drop;       /* m: how far anything falls before it lands, at most */
    bool passive;      /* no drive: the energy never rises */
    bool rests;        /* in the end nothing moves */
    double drift;      /* m: how far a body may be in the end from where it began; infinity = anywhere */
} LongRun;

static const LongRun long_runs[] = {
    {"bench/scenes/stack5.yaml", 0.006, true, true, 0.02}, {"tests/scenes/tower.yaml", 0.006, true, true, 0.02},
    {"tests/scenes/corner.yaml", 0.03, true, true, 0.05},  {"tests/scenes/pinch.yaml", 0.002, false, true, 0.05},
    {"tests/scenes/wedge.yaml", 0.002, true, true, 0.005}, {"tests/scenes/ball_on_field.yaml", 0.2, true, false, 2},
    {"tests/scenes/hulls.yaml", 0.65, true, true, 2},
};
enum { NUM_RUNS = sizeof long_runs / sizeof *long_runs };

static int steps(void) {
    int scaled = (int)(STEPS * work_scale()) / CHUNK * CHUNK;
    return scaled < CHUNK ? CHUNK : scaled;
}

/* ---- a run ---- */

typedef struct Run {
    const LongRun *what;
    const char *preset;
    SapScene *scene;
    const SapModelArrays *m;
    SapBatch *batch;
    double *q, *v, *body_q;        /* f64, live */
    double energy[NUM_WORLDS][2];  /* kinetic, potential */
    double first[NUM_WORLDS];      /* their sum at the beginning */
    double *start;                 /* body_q at the beginning */
    double most_energy, most_deep; /* J above the beginning, m; over worlds and steps */
    int unconverged;               /* chunks of steps with a world that did not converge */
} Run;

static double total_mass(const SapModelArrays *m) {
    double sum = 0;
    for (int b = 0; b < m->num_bodies; b++)
        sum += m->body_mass[b];
    return sum;
}

static double gravity_size(const SapModelArrays *m) {
    return sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] + m->gravity[2] * m->gravity[2]);
}

/* Worlds after the first begin with their free bodies up to a millimetre higher, and as far aside. */
static void spread_worlds(Run *run) {
    Random random = random_seed(3);
    for (int w = 1; w < NUM_WORLDS; w++)
        for (int j = 0; j < run->m->num_joints; j++) {
            double *p = run->q + w * run->m->num_coords + run->m->joint_q_start[j];
            if (run->m->joint_type[j] != SAP_JOINT_FREE)
                continue;
            for (int i = 0; i < 3; i++)
                p[i] += random_between(&random, i == 2 ? 0 : -1e-3, 1e-3);
        }
}

static void measure_energy(Run *run) {
    SapFreeMotion out = {.energy = run->energy[0]};
    need(sap_free_motion(sap_batch_solver(run->batch), sap_batch_state(run->batch), NULL, run->scene->dt, &out));
}

static Run *run_create(const LongRun *what, const char *preset) {
    char path[512];
    Run *run = calloc(1, sizeof *run);
    cr_assert_not_null(run);
    run->what = what;
    run->preset = preset;
    snprintf(path, sizeof path, "%s/%s", SAPWOOD_SOURCE_DIR, what->scene);
    need(sap_scene_load(path, &run->scene));
    need(sap_options_set(&run->scene->options, "preset", preset));
    run->scene->options.threads = 1;
    need(sap_batch_create_as(run->scene->model, NUM_WORLDS, &run->scene->options, SAP_F64, &run->batch));
    run->m = sap_model_arrays(run->scene->model);
    SapState *state = sap_batch_state(run->batch);
    run->q = state->joint_q;
    run->v = state->joint_qd;
    run->body_q = state->body_q;
    spread_worlds(run);
    need(sap_forward_kinematics(sap_batch_solver(run->batch), state));
    size_t bytes = (size_t)(NUM_WORLDS * run->m->num_bodies * 7) * sizeof(double);
    run->start = malloc(bytes);
    cr_assert_not_null(run->start);
    memcpy(run->start, run->body_q, bytes);
    measure_energy(run);
    for (int w = 0; w < NUM_WORLDS; w++)
        run->first[w] = run->energy[w][0] + run->energy[w][1];
    return run;
}

static void run_destroy(Run *run) {
    free(run->start);
    sap_batch_destroy(run->batch);
    sap_scene_destroy(run->scene);
    free(run);
}

/* ---- checks on the way ---- */

static void check_status(Run *run, int step) {
    SapWorldReport report;
    bool unconverged = false;
    need(sap_solver_report(sap_batch_solver(run->batch), &report));
    for (int w = 0; w < NUM_WORLDS; w++) {
        cr_assert((report.status[w] & (SAP_WORLD_FAILED | SAP_WORLD_CONTACTS_TRUNCATED)) == 0,
                  "%s %s: world %d reports %#x by step %d", run->what->scene, run->preset, w,
                  (unsigned)report.status[w], step);
        unconverged = unconverged || (report.status[w] & SAP_WORLD_NOT_CONVERGED) != 0;
    }
    run->unconverged += unconverged;
}

static void check_finite(const Run *run, int step) {
    for (int i = 0; i < NUM_WORLDS * run->m->num_coords; i++)
        cr_assert(isfinite(run->q[i]), "%s %s: coordinate %d is %g at step %d", run->what->scene, run->preset, i,
                  run->q[i], step);
    for (int i = 0; i < NUM_WORLDS * run->m->num_dofs; i++)
        cr_assert(isfinite(run->v[i]), "%s %s: velocity %d is %g at step %d", run->what->scene, run->preset, i,
                  run->v[i], step);
}

static void note_energy(Run *run) {
    measure_energy(run);
    for (int w = 0; w < NUM_WORLDS; w++)
        run->most_energy = fmax(run->most_energy, run->energy[w][0] + run->energy[w][1] - run->first[w]);
}

static void note_depth(Run *run) {
    SapArray gap;
    const SapContacts *contacts = sap_batch_contacts(run->batch);
    need(sap_batch_array(run->batch, SAP_BATCH_CONTACT_GAP, &gap));
    const double *phi = gap.data;
    for (int w = 0; w < NUM_WORLDS; w++)
        for (int c = 0; c < contacts->count[w]; c++)
            run->most_deep = fmax(run->most_deep, -phi[w * gap.shape[1] + c]);
}

static void run_steps(Run *run, int from, int to) {
    for (int step = from; step < to; step += CHUNK) {
        need(sap_batch_step(run->batch, run->scene->dt, CHUNK));
        check_status(run, step + CHUNK);
        check_finite(run, step + CHUNK);
        note_energy(run);
        note_depth(run);
    }
}

/* ---- checks in the end ---- */

/* J. Rounding, and what a contact's spring held in the beginning: a tenth of a millimetre of height. */
static double energy_slack(const Run *run) {
    return total_mass(run->m) * gravity_size(run->m) * 1e-4;
}

/* m. All the weight (and the force of a drive) on one contact of the softest pair, and the speed of the longest fall
 * stopped by it: W/k + v sqrt(M/k). Twice, for boxes land on corners and bounce. */
static double depth_bound(const Run *run) {
    double k = INFINITY, mass = total_mass(run->m), weight = mass * gravity_size(run->m);
    for (int s = 0; s < run->m->num_shapes; s++)
        k = fmin(k, run->m->shape_material_ke[s] / 2);
    if (!run->what->passive)
        weight += 50;
    return 2 * (weight / k + sqrt(2 * gravity_size(run->m) * run->what->drop * mass / k));
}

static double most_drift(const Run *run) {
    double most = 0;
    for (int b = 0; b < NUM_WORLDS * run->m->num_bodies; b++) {
        const double *p = run->body_q + 7 * b, *p0 = run->start + 7 * b;
        most = fmax(most, sqrt(pow(p[0] - p0[0], 2) + pow(p[1] - p0[1], 2) + pow(p[2] - p0[2], 2)));
    }
    return most;
}

static double most_kinetic(const Run *run) {
    double most = 0;
    for (int w = 0; w < NUM_WORLDS; w++)
        most = fmax(most, run->energy[w][0]);
    return most;
}

static void print_run(const Run *run) {
    printf("%-32s %-8s drift %.2e m, depth %.2e of %.2e m, energy rise %.1e of %.1e J, kinetic %.1e J in the end, "
           "not converged in %d of %d\n",
           run->what->scene, run->preset, most_drift(run), run->most_deep, depth_bound(run), run->most_energy,
           energy_slack(run), most_kinetic(run), run->unconverged, steps() / CHUNK);
}

static void check_run(const Run *run) {
    const LongRun *what = run->what;
    cr_expect(run->most_deep <= depth_bound(run), "%s: %g m deep, more than %g", what->scene, run->most_deep,
              depth_bound(run));
    cr_expect(most_drift(run) <= what->drift, "%s: a body went %g m, more than %g", what->scene, most_drift(run),
              what->drift);
    if (what->passive)
        cr_expect(run->most_energy <= energy_slack(run), "%s: the energy rose by %g J, more than %g", what->scene,
                  run->most_energy, energy_slack(run));
    /* 1 mm/s of everything; only after the whole run */
    if (what->rests && steps() == STEPS)
        cr_expect(most_kinetic(run) <= 0.5e-6 * total_mass(run->m), "%s: %g J of motion are left", what->scene,
                  most_kinetic(run));
}

/* Criterion hands it to another process: no pointers. */
typedef struct Case {
    int run, f64;
} Case;

ParameterizedTestParameters(long_runs, ten_thousand_steps_stay_bounded_and_what_stands_keeps_standing) {
    static Case cases[2 * NUM_RUNS];
    for (int i = 0; i < 2 * NUM_RUNS; i++)
        cases[i] = (Case){i / 2, i % 2};
    return cr_make_param_array(Case, cases, 2 * NUM_RUNS);
}

ParameterizedTest(const Case *c, long_runs, ten_thousand_steps_stay_bounded_and_what_stands_keeps_standing) {
    Run *run = run_create(&long_runs[c->run], c->f64 ? "approx64" : "approx32");
    run_steps(run, 0, steps());
    print_run(run);
    check_run(run);
    run_destroy(run);
}

/* ---- creep ---- */

/* Sticking friction is a slow creep: slip = R_t gamma_t with R_t = sigma w (docs/contact_law.md). The friction of a
 * step carries the weight, sum gamma_t = m g h, so a contact that carried it alone would slip with sigma w m g h. w m
 * is (1/3) sum of 1 + m q^2/I: below 5 where the lever is not longer than twice the radius of gyration. */
Test(long_runs, a_pinched_capsule_creeps_no_faster_than_regularised_friction_allows) {
    for (int preset = 0; preset < 2; preset++) {
        Run *run = run_create(&long_runs[3], preset ? "approx64" : "approx32");
        int settle = steps() / 10 / CHUNK * CHUNK, body = sap_model_find_body(run->scene->model, "capsule");
        double z[NUM_WORLDS];
        run_steps(run, 0, settle);
        for (int w = 0; w < NUM_WORLDS; w++)
            z[w] = run->body_q[7 * (w * run->m->num_bodies + body) + 2];
        run_steps(run, settle, steps());
        double h = run->scene->dt, time = h * (steps() - settle);
        double allowed = 5 * run->scene->options.friction_regularization * gravity_size(run->m) * h * time;
        for (int w = 0; w < NUM_WORLDS; w++) {
            double creep = z[w] - run->body_q[7 * (w * run->m->num_bodies + body) + 2];
            printf("pinch %s, world %d: creeps %.3g m in %.3g s, allowed %.3g\n", run->preset, w, creep, time, allowed);
            cr_expect(fabs(creep) <= allowed, "world %d crept %g m in %g s, more than %g", w, creep, time, allowed);
        }
        run_destroy(run);
    }
}
