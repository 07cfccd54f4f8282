/* The dual solvers on a team of real threads with a real barrier: the same bits as on one thread, for every method,
 * with safeguards, contradictory targets and Coulomb's law. Built with the thread sanitizer too, where a missing
 * barrier shows itself as a race; barrier_mutants.sh removes each barrier in turn to see that it does.
 * SAPWOOD_TEST_SCALE below 0.01 is the short run for that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "kernels/data/dual.h"
#include "support/team_threads.h"
#include "support/work.h"

extern const SapDualKernels sap_dual_kernels_team_x1_f32, sap_dual_kernels_team_x1_f64;
extern const SapDualKernels sap_dual_kernels_generic_x1_f32, sap_dual_kernels_generic_x1_f64;
static const SapDualKernels *const team_kernels[2] = {&sap_dual_kernels_team_x1_f32, &sap_dual_kernels_team_x1_f64};
static const SapDualKernels *const plain_kernels[2] = {&sap_dual_kernels_generic_x1_f32,
                                                       &sap_dual_kernels_generic_x1_f64};

enum { BLOCKS = 6, ROWS = 12 };
static const int kinds[BLOCKS] = {SAP_DUAL_CONTACT, SAP_DUAL_UNILATERAL, SAP_DUAL_CONTACT,
                                  SAP_DUAL_FREE,    SAP_DUAL_BOX,        SAP_DUAL_CONTACT};
static const int rows[BLOCKS] = {0, 3, 4, 7, 8, 9};

typedef struct Numbers {
    double W[ROWS * ROWS], R[ROWS], b[ROWS], mu[BLOCKS], lo[BLOCKS], hi[BLOCKS], guess[ROWS];
} Numbers;

typedef struct Results {
    double impulse[ROWS], velocity[ROWS], cost, residual;
    uint32_t status;
    int32_t iterations, inner, safeguards, active, region[BLOCKS];
} Results;

static double random_real(uint64_t *state) { /* -1 .. 1 */
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* How rows 3 and 11, which push against each other, differ. */
enum { AT_EASE, CONTRADICTORY, NEARLY };

/* W = J J' of rank 9. b need not be in the range of W unless all is at ease. */
static Numbers make(uint64_t seed, int contradictory) {
    Numbers p = {0};
    double J[ROWS][9], v[9];
    for (int k = 0; k < 9; k++)
        v[k] = random_real(&seed);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 9; k++)
            J[i][k] =
                contradictory && i == 11 ? -J[3][k] * (contradictory == NEARLY && k ? 1.0001 : 1) : random_real(&seed);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 9; k++) {
            p.b[i] -= J[i][k] * v[k];
            for (int j = 0; j < ROWS; j++)
                p.W[i * ROWS + j] += J[i][k] * J[j][k];
        }
    for (int i = 0; i < ROWS; i++) {
        p.R[i] = contradictory ? 0 : 1e-3;
        p.b[i] += contradictory ? 1 + random_real(&seed) : 0;
        p.guess[i] = 0.1 * random_real(&seed);
    }
    for (int b = 0; b < BLOCKS; b++) {
        p.mu[b] = 0.5 + 0.4 * random_real(&seed);
        p.lo[b] = -0.2;
        p.hi[b] = 0.3;
    }
    return p;
}

typedef struct Way {
    SapDualMethod method;
    SapFrictionLaw law;
    int max_iterations;
    double tolerance;
    bool warm;
    int contradictory;
} Way;

/* Tolerance 0 is never met: answers end at their rounding, and with few iterations all safeguards run. */
static Way ways[] = {{SAP_DUAL_CONE, SAP_FRICTION_CONVEX, -1, 1e-4, false, AT_EASE},
                     {SAP_DUAL_CONE, SAP_FRICTION_CONVEX, 2, 0, true, AT_EASE},
                     {SAP_DUAL_CONE, SAP_FRICTION_CONVEX, 8, 0, true, AT_EASE},
                     {SAP_DUAL_CONE, SAP_FRICTION_CONVEX, 0, 0, false, AT_EASE},
                     {SAP_DUAL_CONE, SAP_FRICTION_CONVEX, -1, 1e-4, false, CONTRADICTORY},
                     {SAP_DUAL_CONE, SAP_FRICTION_COULOMB, -1, 1e-4, false, AT_EASE},
                     {SAP_DUAL_PGS, SAP_FRICTION_CONVEX, 5, 1e-4, true, AT_EASE},
                     {SAP_DUAL_PGS, SAP_FRICTION_COULOMB, 3, 0, false, AT_EASE},
                     {SAP_DUAL_PGS_ROWS, SAP_FRICTION_CONVEX, 5, 1e-4, false, AT_EASE},
                     {SAP_DUAL_ACTIVE_SET, SAP_FRICTION_CONVEX, -1, 1e-4, false, AT_EASE},
                     {SAP_DUAL_ACTIVE_SET, SAP_FRICTION_CONVEX, -1, 0, false, AT_EASE},
                     {SAP_DUAL_ACTIVE_SET, SAP_FRICTION_CONVEX, -1, 1e-4, false, CONTRADICTORY},
                     {SAP_DUAL_ACTIVE_SET_SINGLE, SAP_FRICTION_CONVEX, 3, 1e-4, true, CONTRADICTORY},
                     {SAP_DUAL_CONE, SAP_FRICTION_CONVEX, -1, 1e-6, false, NEARLY}};

static SapBuffer buffer(const double *data, int stride) {
    return (SapBuffer){.data = (void *)(uintptr_t)data, .stride = stride, .is_f64 = 1};
}

typedef struct Job {
    const SapDualKernels *kernels;
    SapDualArgs args;
    void *scratch;
} Job;

static void solve(void *arg) {
    const Job *job = arg;
    SapPack pack = {.count = 1};
    job->kernels->solve(&job->args, &pack, job->scratch);
}

static Results run(const SapDualKernels *kernels, const Numbers *p, const Way *way, int team) {
    Results r = {0};
    Job job = {.kernels = kernels,
               .args = {.shape = {BLOCKS, ROWS, kinds, rows},
                        .W = buffer(p->W, ROWS * ROWS),
                        .R = buffer(p->R, ROWS),
                        .b = buffer(p->b, ROWS),
                        .mu = buffer(p->mu, BLOCKS),
                        .lo = buffer(p->lo, BLOCKS),
                        .hi = buffer(p->hi, BLOCKS),
                        .guess = buffer(way->warm ? p->guess : NULL, ROWS),
                        .impulse = buffer(r.impulse, ROWS),
                        .velocity = buffer(r.velocity, ROWS),
                        .cost = buffer(&r.cost, 1),
                        .residual = buffer(&r.residual, 1),
                        .status = &r.status,
                        .iterations = &r.iterations,
                        .inner_iterations = &r.inner,
                        .safeguards = &r.safeguards,
                        .active = &r.active,
                        .region = r.region}};
    sap_dual_options_default(&job.args.options);
    job.args.options.method = way->method;
    job.args.options.friction_law = way->law;
    job.args.options.max_iterations = way->max_iterations;
    job.args.options.optimality_rel_tol = way->tolerance;
    size_t bytes = kernels->scratch(BLOCKS, ROWS) * (size_t)kernels->real_bytes;
    job.scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(job.scratch, 0xff, bytes); /* NaN: nothing may depend on scratch that was not written */
    if (team > 0)
        team_run(team, solve, &job);
    else
        solve(&job);
    free(job.scratch);
    return r;
}

ParameterizedTestParameters(dual_team, bits_do_not_depend_on_the_team) {
    return cr_make_param_array(Way, ways, sizeof ways / sizeof *ways);
}
ParameterizedTest(Way *way, dual_team, bits_do_not_depend_on_the_team) {
    bool is_short = work_scale() < 0.01;
    for (uint64_t seed = 1; seed <= (is_short ? 2 : 6); seed++) {
        Numbers p = make(seed, way->contradictory);
        for (int f64 = is_short; f64 < 2; f64++) {
            Results plain = run(plain_kernels[f64], &p, way, 0);
            for (int team = is_short ? 3 : 1; team <= (is_short ? 3 : 8); team++) {
                Results threads = run(team_kernels[f64], &p, way, team);
                cr_expect(memcmp(&threads, &plain, sizeof plain) == 0, "method %d, team of %d, seed %d: status %x %x",
                          (int)way->method, team, (int)seed, threads.status, plain.status);
            }
        }
    }
}
