#include "host/cpu/dispatch.h"

#include <stdio.h>
#include <string.h>

#include "host/base/fail.h"

/* Every build of the kernels exports a table per precision for SAP, its other contact laws, MuJoCo's law, the dual
 * solvers and the sensors, and in f64 one for derivatives (kernels/target). generated/cpu_kernels.h lists the builds of
 * this library. */
#define PAIR(name)                                                                                                     \
    { &name##_f32, &name##_f64 }

#define KERNELS(ISA, isa, lanes)                                                                                       \
    extern const SapKernels sap_kernels_##isa##_x##lanes##_f32, sap_kernels_##isa##_x##lanes##_f64;                    \
    extern const SapKernels sap_mujoco_kernels_##isa##_x##lanes##_f32, sap_mujoco_kernels_##isa##_x##lanes##_f64;      \
    extern const SapLawKernels sap_law_kernels_##isa##_x##lanes##_f32, sap_law_kernels_##isa##_x##lanes##_f64;
#define DUAL_KERNELS(ISA, isa, lanes)                                                                                  \
    extern const SapDualKernels sap_dual_kernels_##isa##_x##lanes##_f32, sap_dual_kernels_##isa##_x##lanes##_f64;      \
    extern const SapGradientKernels sap_gradient_kernels_##isa##_x##lanes;
#define SENSOR_KERNELS(ISA, isa)                                                                                       \
    extern const SapSensorKernels sap_sensor_kernels_##isa##_f32, sap_sensor_kernels_##isa##_f64;
#include "cpu_kernels.h"
#undef KERNELS
#undef DUAL_KERNELS
#undef SENSOR_KERNELS

/* In the order of instruction sets. [precision] */
typedef struct StepBuild {
    SapIsa isa;
    int lanes;
    const SapKernels *sap[2], *mujoco[2];
    const SapLawKernels *law[2];
} StepBuild;
static const StepBuild step_builds[] = {
#define KERNELS(ISA, isa, lanes)                                                                                       \
    {SAP_ISA_##ISA, lanes, PAIR(sap_kernels_##isa##_x##lanes), PAIR(sap_mujoco_kernels_##isa##_x##lanes),              \
     PAIR(sap_law_kernels_##isa##_x##lanes)},
#define DUAL_KERNELS(ISA, isa, lanes)
#define SENSOR_KERNELS(ISA, isa)
#include "cpu_kernels.h"
#undef KERNELS
#undef DUAL_KERNELS
#undef SENSOR_KERNELS
};
typedef struct DualBuild {
    SapIsa isa;
    int lanes;
    const SapDualKernels *dual[2];
    const SapGradientKernels *gradients;
} DualBuild;
static const DualBuild dual_builds[] = {
#define KERNELS(ISA, isa, lanes)
#define DUAL_KERNELS(ISA, isa, lanes)                                                                                  \
    {SAP_ISA_##ISA, lanes, PAIR(sap_dual_kernels_##isa##_x##lanes), &sap_gradient_kernels_##isa##_x##lanes},
#define SENSOR_KERNELS(ISA, isa)
#include "cpu_kernels.h"
#undef KERNELS
#undef DUAL_KERNELS
#undef SENSOR_KERNELS
};
typedef struct SensorBuild {
    SapIsa isa;
    const SapSensorKernels *sensors[2];
} SensorBuild;
static const SensorBuild sensor_builds[] = {
#define KERNELS(ISA, isa, lanes)
#define DUAL_KERNELS(ISA, isa, lanes)
#define SENSOR_KERNELS(ISA, isa) {SAP_ISA_##ISA, PAIR(sap_sensor_kernels_##isa)},
#include "cpu_kernels.h"
};
enum {
    NUM_STEP_BUILDS = sizeof step_builds / sizeof step_builds[0],
    NUM_DUAL_BUILDS = sizeof dual_builds / sizeof dual_builds[0],
    NUM_SENSOR_BUILDS = sizeof sensor_builds / sizeof sensor_builds[0]
};

static bool machine_has(SapIsa isa) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (isa == SAP_ISA_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (isa == SAP_ISA_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd");
#endif
    return isa == SAP_ISA_GENERIC;
}

/* The last build for `isa` or a smaller instruction set with these lanes; NULL if there is none. */
static const StepBuild *find_step(SapIsa isa, int lanes) {
    for (int i = NUM_STEP_BUILDS; i-- > 0;)
        if (step_builds[i].isa <= isa && step_builds[i].lanes == lanes)
            return &step_builds[i];
    return NULL;
}

bool sap_isa_available(SapIsa isa) {
    for (int i = 0; i < NUM_STEP_BUILDS; i++)
        if (step_builds[i].isa == isa)
            return machine_has(isa);
    return false;
}

const char *sap_isa_name(SapIsa isa) {
    switch (isa) {
    case SAP_ISA_AUTO: return "auto";
    case SAP_ISA_GENERIC: return "generic";
    case SAP_ISA_AVX2: return "avx2";
    case SAP_ISA_AVX512: return "avx512";
    }
    return "unknown";
}

SapStatus sap_isa_resolve(SapIsa wanted, SapIsa *out) {
    if (wanted != SAP_ISA_AUTO) {
        if (!sap_isa_available(wanted))
            return sap_fail(SAP_ERROR_DEVICE,
                            "isa '%s' is not available on this machine or in this build; 'auto' chooses one",
                            sap_isa_name(wanted));
        *out = wanted;
        return SAP_OK;
    }
    *out = SAP_ISA_GENERIC;
    for (int isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++)
        if (sap_isa_available((SapIsa)isa))
            *out = (SapIsa)isa;
    return SAP_OK;
}

const SapKernels *sap_kernels_find(SapIsa isa, int lanes, SapPrecision precision) {
    const StepBuild *build = sap_isa_available(isa) ? find_step(isa, lanes) : NULL;
    return build ? build->sap[precision] : NULL;
}

const SapDualKernels *sap_dual_kernels_find(SapIsa isa, int lanes, SapPrecision precision) {
    for (int i = sap_isa_available(isa) ? NUM_DUAL_BUILDS : 0; i-- > 0;)
        if (dual_builds[i].isa <= isa && dual_builds[i].lanes == lanes)
            return dual_builds[i].dual[precision];
    return NULL;
}

const SapGradientKernels *sap_gradient_kernels_find(SapIsa isa, int lanes) {
    for (int i = sap_isa_available(isa) ? NUM_DUAL_BUILDS : 0; i-- > 0;)
        if (dual_builds[i].isa <= isa && dual_builds[i].lanes == lanes)
            return dual_builds[i].gradients;
    return NULL;
}

const SapSensorKernels *sap_sensor_kernels_find(SapIsa isa, SapPrecision precision) {
    for (int i = sap_isa_available(isa) ? NUM_SENSOR_BUILDS : 0; i-- > 0;)
        if (sensor_builds[i].isa <= isa)
            return sensor_builds[i].sensors[precision];
    return NULL;
}

SapKernels sap_own_kernels(SapIsa isa, int lanes, SapPrecision precision) {
    const StepBuild *build = find_step(isa, lanes);
    const SapKernels *own = build->mujoco[precision];
    SapKernels k = *build->sap[precision];
    k.free_motion = own->free_motion;
    k.poses = own->poses;
    k.contact_geometry = own->contact_geometry;
    k.contact_weight = own->contact_weight;
    k.constraint_geometry = own->constraint_geometry;
    k.constraint_weight = own->constraint_weight;
    k.solve = own->solve;
    k.linear_assemble = own->linear_assemble;
    k.linear_solve = own->linear_solve;
    k.velocity = own->velocity;
    k.measure = own->measure;
    k.finish = own->finish;
    k.inspect = own->inspect;
    return k;
}

SapKernels sap_law_kernels(SapIsa isa, int lanes, SapPrecision precision) {
    const StepBuild *build = find_step(isa, lanes);
    SapKernels k = *build->sap[precision];
    k.solve = build->law[precision]->solve;
    return k;
}

SapLanesText sap_lanes_allowed(SapIsa isa, int most) {
    SapLanesText list = {"0"};
    for (int lanes = 1; lanes <= most; lanes++)
        if (find_step(isa, lanes)) {
            size_t used = strlen(list.text);
            snprintf(list.text + used, sizeof list.text - used, ", %d", lanes);
        }
    return list;
}

int sap_fewer_lanes(int lanes) {
    return lanes > 4 ? lanes / 2 : 1;
}

/* Whether packs of `lanes` worlds pay in every precision: f64 is the wider one, and every preset has a stage in it. */
static bool lanes_pay(SapIsa isa, int lanes) {
    const SapKernels *f32 = sap_kernels_find(isa, lanes, SAP_FP32), *f64 = sap_kernels_find(isa, lanes, SAP_FP64);
    return f32 && f32->lanes_pay && f64->lanes_pay;
}

int sap_default_lanes(SapIsa isa, SapPrecision precision, int num_worlds, int most) {
    /* One register of the instruction set; two for the f64 stages of a preset that is f32 otherwise. */
    int lanes = (isa == SAP_ISA_AVX512 ? 8 : 4) * (precision == SAP_FP32 ? 2 : 1);
    while (lanes > 1 && (lanes > most || num_worlds == 1 || (num_worlds <= 4 && lanes > 4) || !lanes_pay(isa, lanes)))
        lanes = sap_fewer_lanes(lanes);
    return lanes;
}
