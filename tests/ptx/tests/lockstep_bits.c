/* factor_plan = library on a GPU: the bits of the CPU's lockstep solve, which the stand-in for cuSOLVER makes possible by calling the
 * same LAPACK.
 *
 * lockstep_bits SCENE PRESET [WORLDS STEPS] */
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"

int main(int argc, char **argv) {
    if (argc != 3 && argc != 5) {
        fprintf(stderr, "usage: lockstep_bits SCENE PRESET [WORLDS STEPS]\n");
        return 2;
    }
    int worlds = argc == 5 ? atoi(argv[3]) : 3, steps = argc == 5 ? atoi(argv[4]) : 4, iterations = 0;
    SapScene *scene = backend_scene(argv[1]);
    const SapModel *model = scene->model;
    SapOptions options;
    NEED(sap_options_preset(argv[2], &options));
    options.max_rigid_contact = 32;
    options.factor_plan = SAP_FACTOR_LIBRARY;
    SapBatch *cpu = backend_batch(model, worlds, &options, SAP_DEVICE_CPU);
    SapBatch *gpu = backend_batch(model, worlds, &options, SAP_DEVICE_CUDA);
    backend_disturb(cpu, 7);
    backend_disturb(gpu, 7);
    for (int call = 0; call < 2; call++) { /* steps of one call, and one more in a call of its own */
        NEED(sap_batch_step(cpu, scene->dt, call ? 1 : steps - 1));
        NEED(sap_batch_step(gpu, scene->dt, call ? 1 : steps - 1));
        backend_same(cpu, gpu, call ? "the last step" : "the first steps");
        int *of_worlds = backend_read(gpu, SAP_BATCH_ITERATIONS);
        for (int w = 0; w < worlds; w++)
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
