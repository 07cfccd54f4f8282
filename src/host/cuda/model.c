#include "host/cuda/model.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/number.h"
#include "host/plan/arrays.h"
#include "host/plan/step_args.h"

static SapStatus list_blocks(SapCudaModel *out) {
    const SapPlanOwner *plan = &out->plan->plan;
    for (int i = 0; i < SAP_PLAN_NUM_BLOCKS; i++) {
        out->block[i].host = plan->memory[i];
        out->block[i].bytes = plan->block_bytes[i];
    }
    for (int f64 = 0; f64 < 2; f64++) {
        out->block[SAP_CUDA_CONSTANTS + f64].host = out->plan->constants[f64].memory;
        out->block[SAP_CUDA_CONSTANTS + f64].bytes = out->plan->constants[f64].bytes;
    }
    const SapFormulationArgs *law = &out->plan->formulation;
    if (!law->args)
        return SAP_OK;
    out->law = sap_allocate(1, law->args_bytes, "device cuda");
    if (!out->law)
        return SAP_ERROR_MEMORY;
    memcpy(out->law, law->args, law->args_bytes);
    out->block[SAP_CUDA_LAW_NUMBERS].host = law->memory;
    out->block[SAP_CUDA_LAW_NUMBERS].bytes = law->bytes;
    out->block[SAP_CUDA_LAW_ARGS].host = out->law;
    out->block[SAP_CUDA_LAW_ARGS].bytes = law->args_bytes;
    return SAP_OK;
}

SapStatus sap_cuda_model_init(const SapModel *model, const SapOptions *options, SapDualStepArgs *dual,
                              SapStepArgs *args, SapCudaModel *out) {
    const SapModelArrays *m = sap_model_arrays(model);
    *out = (SapCudaModel){.arrays = m, .formulation = sap_formulation_of(options)};
    SAP_TRY(sap_model_plan(model, options->contact_solver, options->broad_phase, &out->plan));
    SAP_TRY(list_blocks(out));
    const SapConstants constants[2] = {out->plan->constants[0].constants, out->plan->constants[1].constants};
    return sap_step_args_init(m, &out->plan->plan.plan, constants, options, 1, dual, args);
}

void sap_cuda_model_carve(SapArena *arena, const SapStepArgs *args, int num_worlds, SapCudaModel *model) {
    for (int i = 0; i < SAP_CUDA_NUM_BLOCKS; i++)
        model->block[i].device = sap_arena_carve(arena, model->block[i].bytes, 1);
    if (args->plan.rk4)
        model->formulation->set_stages(
            model->law,
            sap_arena_carve(arena, 8 * (size_t)num_worlds * (size_t)args->plan.nv, sap_real_bytes(args->fm_is_f64)));
}

/* ---- addresses ---- */

/* Translates the pointer at address `pointer`, which points into one of the blocks. The pointer of an empty array may
 * point anywhere and becomes NULL. */
static void translate(void *context, const void *pointer) {
    const SapCudaModel *model = context;
    uintptr_t address;
    memcpy(&address, pointer, sizeof address);
    for (int i = 0; i < SAP_CUDA_NUM_BLOCKS; i++) {
        uintptr_t offset = address - (uintptr_t)model->block[i].host;
        if (offset >= model->block[i].bytes)
            continue;
        address = (uintptr_t)model->block[i].device + offset;
        memcpy((void *)pointer, &address, sizeof address);
        return;
    }
    memset((void *)pointer, 0, sizeof address);
}

#define TRANSLATE(member, count) translate(model, &p->member);

static void translate_pattern(SapCudaModel *model, const SapPattern *p) {
    SAP_PATTERN_ARRAYS(TRANSLATE, p, 0)
}

static void translate_plan(SapCudaModel *model, const SapPlan *p) {
    SAP_PLAN_TREE_ARRAYS(TRANSLATE, p)
    SAP_PLAN_PAIR_ARRAYS(TRANSLATE, p)
    SAP_PLAN_MODEL_ARRAYS(TRANSLATE, p)
    SAP_PLAN_HULL_ARRAYS(TRANSLATE)
    translate_pattern(model, &p->tree);
    translate_pattern(model, &p->closed);
}

void sap_cuda_model_translate(SapCudaModel *model, SapStepArgs *args) {
    if (model->law) {
        model->formulation->visit_pointers(model->law, translate, model);
        model->formulation->set_args(args, model->block[SAP_CUDA_LAW_ARGS].device);
    }
    translate_plan(model, &args->plan);
    /* SapConstants consists of fields only */
    _Static_assert(sizeof(SapConstants) % sizeof(SapField) == 0, "SapConstants is an array of SapField");
    for (int f64 = 0; f64 < 2; f64++) {
        SapField *field = (SapField *)(void *)&args->constants[f64];
        for (size_t i = 0; i < sizeof(SapConstants) / sizeof(SapField); i++)
            translate(model, &field[i].data);
    }
}

void sap_cuda_model_free(SapCudaModel *model) {
    free(model->law);
    model->law = NULL;
}
