/* factor_plan = library on a GPU: the bits of the CPU's lockstep solve, which the stand-in for cuSOLVER and cuBLAS
 * makes possible by calling the same LAPACK and BLAS.
 *
 * lockstep_bits SCENE PRESET CONTACTS [BOUND]
 *
 * CONTACTS: what sap_batch_info must say of them. BOUND: the largest difference of positions, where bits may differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

enum { WORLDS = 3, STEPS = 4 };

static void check_difference(SapBatch *cpu, SapBatch *gpu, double bound) {
    double *a = backend_read(cpu, SAP_BATCH_JOINT_Q), *b = backend_read(gpu, SAP_BATCH_JOINT_Q), most = 0;
    for (size_t i = 0; i < backend_bytes(cpu, SAP_BATCH_JOINT_Q) / sizeof *a; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    CHECK(most <= bound, "positions differ by %g; the bound is %g", most, bound);
    free(a);
    free(b);
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: lockstep_bits SCENE PRESET CONTACTS [BOUND]\n");
        return 2;
    }
    int iterations = 0;
    SapScene *scene = backend_scene(argv[1]);
    const SapModel *model = scene->model;
    SapOptions options;
    SapBatchInfo info;
    NEED(sap_options_preset(argv[2], &options));
    options.max_rigid_contact = 32;
    options.factor_plan = SAP_FACTOR_LIBRARY;
    SapBatch *cpu = backend_batch(model, WORLDS, &options, SAP_DEVICE_CPU);
    SapBatch *gpu = backend_batch(model, WORLDS, &options, SAP_DEVICE_CUDA);
    NEED(sap_batch_info(gpu, &info));
    CHECK(strstr(info.factor, argv[3]), "the factor is '%s'", info.factor);
    backend_disturb(cpu, 7);
    backend_disturb(gpu, 7);
    for (int call = 0; call < 2; call++) { /* steps of one call, and one more in a call of its own */
        NEED(sap_batch_step(cpu, scene->dt, call ? 1 : STEPS - 1));
        NEED(sap_batch_step(gpu, scene->dt, call ? 1 : STEPS - 1));
        if (argc == 5)
            check_difference(cpu, gpu, atof(argv[4]));
        else
            backend_same(cpu, gpu, call ? "the last step" : "the first steps");
        int *of_worlds = backend_read(gpu, SAP_BATCH_ITERATIONS);
        for (int w = 0; w < WORLDS; w++)
            iterations += of_worlds[w];
        free(of_worlds);
    }
    CHECK(iterations > 0, "no world had a system to solve");
    sap_batch_destroy(cpu);
    sap_batch_destroy(gpu);
    sap_scene_destroy(scene);
    printf("ok: %d iterations in the last steps\n", iterations);
    return 0;
}
