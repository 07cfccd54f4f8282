/* Prints one line per build of the kernels, precision, model and way of stepping: the hash of a few worlds after some
 * steps. test_compilers.sh builds it with every compiler and optimisation there is; all must print the same, which is
 * also what tests/data/hash_world.txt holds, so that machines agree as well.
 *
 * Nothing here goes through libm, whose last bit differs between versions: models and contents are made of +, -, *, /
 * and sqrt. */
#include <stdio.h>

#include <criterion/criterion.h>

#include <sapwood/solver.h>

#include "plain/end_on_failure.h"
#include "support/kernel_batch.h"
#include "support/random_model.h"

enum { WORLDS = 5, STEPS = 20 };

typedef struct Build {
    const char *name;
    const SapKernels *kernels[2]; /* f32, f64 */
} Build;

#define DECLARE(name) extern const SapKernels sap_kernels_##name##_f32, sap_kernels_##name##_f64;
#define BUILD(name)   {#name, {&sap_kernels_##name##_f32, &sap_kernels_##name##_f64}},
DECLARE(generic_x1)
DECLARE(generic_x4)
DECLARE(avx2_x4)

/* The second build has lanes: of AVX2, or of NEON, which is the baseline of arm64. */
static const Build builds[] = {BUILD(generic_x1)
#if HASH_AVX2
                                   BUILD(avx2_x4)
#elif HASH_NEON
                                   BUILD(generic_x4)
#endif
};

typedef struct Way {
    const char *name;
    int euler, compat;
} Way;

static const Way ways[] = {{"midpoint", 0, 0}, {"euler", 1, 0}, {"compat", 0, 1}};

/* The hashes of all worlds in one. */
static uint64_t run(const SapModel *model, const Build *build, int precision, const Way *way) {
    KernelBatch k = kernel_batch_create(model, WORLDS, precision, build->kernels, 0.005);
    uint64_t hash = 0;
    k.args.euler = way->euler;
    k.args.compat = way->compat;
    for (int step = 0; step < STEPS; step++) {
        for (int first = 0; first < WORLDS; first += build->kernels[0]->lanes)
            kernel_batch_run(&k, sap_program_step, first);
    }
    for (int w = 0; w < WORLDS; w++) {
        if (k.status[w] & (SAP_WORLD_FAILED | SAP_WORLD_NOT_CONVERGED))
            plain_fail(true, __FILE__, __LINE__, way->name, "world %d has status %#x", w, (unsigned)k.status[w]);
        hash = 31 * hash + hash_world(&k.batch, w, k.status[w]);
    }
    kernel_batch_destroy(&k);
    return hash;
}

static void print_model(const char *name, SapModel *model) {
    for (size_t b = 0; b < sizeof builds / sizeof *builds; b++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            for (int precision = 32; precision <= 64; precision += 32)
                printf("%-10s f%d %-8s %-8s %016llx\n", builds[b].name, precision, name, ways[w].name,
                       (unsigned long long)run(model, &builds[b], precision, &ways[w]));
    sap_model_destroy(model);
}

int main(void) {
    print_model("chain", random_chain_of_all(11));
    print_model("forest", random_forest(5, 14));
    return 0;
}
