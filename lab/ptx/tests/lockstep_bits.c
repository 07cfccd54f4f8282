/* factor_plan = library on a GPU: the bits of the same stages on a CPU (tests/support/lockstep.h), which the stand-in for
 * cuSOLVER and cuBLAS makes possible by calling the same LAPACK and BLAS.
 *
 * lockstep_bits SCENE PRESET CONTACTS [BOUND]
 *
 * CONTACTS: what sap_batch_info must say of them. BOUND: the largest difference of positions, where bits may differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "host/batch/backend.h"
#include "host/cpu/dispatch.h"
#include "host/model/model.h"
#include "host/plan/model_plan.h"
#include "host/plan/step_args.h"
#include "support/lockstep.h"

enum { WORLDS = 3, STEPS = 4 };

static void check_difference(SapBatch *cpu, SapBatch *gpu, double bound) {
    double *a = backend_read(cpu, SAP_BATCH_JOINT_Q), *b = backend_read(gpu, SAP_BATCH_JOINT_Q), most = 0;
    for (size_t i = 0; i < backend_bytes(cpu, SAP_BATCH_JOINT_Q) / sizeof *a; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    CHECK(most <= bound, "positions differ by %g; the bound is %g", most, bound);
    free(a);
    free(b);
}

/* Steps of a batch on the CPU in lockstep, in place of its own. */
static void step_reference(const SapBatch *batch, double h, int steps) {
    const SapBatchArrays *arrays = &batch->arrays;
    const SapModelArrays *m = sap_model_arrays(batch->model);
    SapKernelSet kernels;
    const SapModelPlan *plan;
    SapOptions options = batch->options;
    SapDualStepArgs dual;
    SapStepArgs args;
    for (int f64 = 0; f64 < 2; f64++)
        kernels.pack[f64] = kernels.one_lane[f64] = sap_kernels_find(SAP_ISA_GENERIC, 1, f64 ? SAP_FP64 : SAP_FP32);
    options.factor_plan = SAP_FACTOR_LIBRARY;
    options.device = SAP_DEVICE_CUDA; /* whose stages these are */
    NEED(sap_model_plan((SapModel *)batch->model, SAP_SOLVER_SAP, options.broad_phase, &plan));
    const SapConstants constants[2] = {plan->constants[0].constants, plan->constants[1].constants};
    NEED(sap_step_args_init(m, &plan->plan.plan, constants, &options, 1, &dual, &args));
    args.num_worlds = batch->num_worlds;
    args.h = h;
    args.collide.enabled = 1;
    args.status = arrays->status;
    args.report = arrays->report;
    sap_step_args_set_input(&args, &arrays->state);
    sap_step_args_set_output(&args, &arrays->state);
    sap_step_args_set_control(&args, &arrays->control, m);
    sap_step_args_set_contacts(&args, &arrays->contacts);
    Lockstep lockstep = lockstep_create(&args, &kernels);
    for (int i = 0; i < steps; i++)
        lockstep_step(&lockstep, -1);
    lockstep_destroy(&lockstep);
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
    options.max_contacts = 32;
    SapBatch *cpu = backend_batch(model, WORLDS, &options, SAP_DEVICE_CPU);
    options.factor_plan = SAP_FACTOR_LIBRARY;
    SapBatch *gpu = backend_batch(model, WORLDS, &options, SAP_DEVICE_CUDA);
    NEED(sap_batch_info(gpu, &info));
    CHECK(strstr(info.factor, argv[3]), "the factor is '%s'", info.factor);
    backend_disturb(cpu, 7);
    backend_disturb(gpu, 7);
    for (int call = 0; call < 2; call++) { /* steps of one call, and one more in a call of its own */
        step_reference(cpu, scene->dt, call ? 1 : STEPS - 1);
        NEED(sap_batch_step(gpu, scene->dt, call ? 1 : STEPS - 1));
        if (argc == 5)
            check_difference(cpu, gpu, atof(argv[4]));
        else
            backend_same_without_sensors(cpu, gpu, call ? "the last step" : "the first steps");
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
