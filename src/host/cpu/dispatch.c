#include "host/cpu/dispatch.h"

#include <stddef.h>

#include "host/base/fail.h"

/* Every build exports two tables per lane count and precision (kernels/target/cpu.c, dual_cpu.c), and one per precision
 * (sensor_cpu.c). */
#define DECLARE(isa, lanes)                                                                                            \
    extern const SapKernels sap_kernels_##isa##_x##lanes##_f32;                                                        \
    extern const SapKernels sap_kernels_##isa##_x##lanes##_f64;                                                        \
    extern const SapDualKernels sap_dual_kernels_##isa##_x##lanes##_f32;                                               \
    extern const SapDualKernels sap_dual_kernels_##isa##_x##lanes##_f64;
#define DECLARE_SENSORS(isa)                                                                                           \
    extern const SapSensorKernels sap_sensor_kernels_##isa##_f32;                                                      \
    extern const SapSensorKernels sap_sensor_kernels_##isa##_f64;
#define DECLARE_ISA(isa) DECLARE(isa, 1) DECLARE(isa, 4) DECLARE(isa, 8) DECLARE_SENSORS(isa)
/* MuJoCo's law has one or two lane counts per instruction set (kernels/target/mujoco_cpu.c, cmake/kernels.cmake). */
#define DECLARE_MUJOCO(isa, lanes)                                                                                     \
    extern const SapKernels sap_mujoco_kernels_##isa##_x##lanes##_f32;                                                 \
    extern const SapKernels sap_mujoco_kernels_##isa##_x##lanes##_f64;
#define MUJOCO_PAIR(isa, lanes)                                                                                        \
    { &sap_mujoco_kernels_##isa##_x##lanes##_f32, &sap_mujoco_kernels_##isa##_x##lanes##_f64 }
#define PAIR(isa, lanes)                                                                                               \
    { &sap_kernels_##isa##_x##lanes##_f32, &sap_kernels_##isa##_x##lanes##_f64 }
#define TABLES(isa) PAIR(isa, 1), PAIR(isa, 4), PAIR(isa, 8)
#define DUAL_PAIR(isa, lanes)                                                                                          \
    { &sap_dual_kernels_##isa##_x##lanes##_f32, &sap_dual_kernels_##isa##_x##lanes##_f64 }
#define DUAL_TABLES(isa)                                                                                               \
    { DUAL_PAIR(isa, 1), DUAL_PAIR(isa, 4), DUAL_PAIR(isa, 8) }
#define SENSOR_TABLES(isa)                                                                                             \
    { &sap_sensor_kernels_##isa##_f32, &sap_sensor_kernels_##isa##_f64 }

DECLARE_ISA(generic)
DECLARE_MUJOCO(generic, 1)
#if SAPWOOD_HAVE_AVX2
DECLARE_ISA(avx2)
DECLARE_MUJOCO(avx2, 4)
#if SAPWOOD_HAVE_MUJOCO_AVX2_X8
DECLARE_MUJOCO(avx2, 8)
#endif
#endif
#if SAPWOOD_HAVE_AVX512
DECLARE_ISA(avx512)
DECLARE_MUJOCO(avx512, 8)
#endif
#if SAPWOOD_HAVE_AVX512_X16
extern const SapKernels sap_kernels_avx512_x16_f32, sap_kernels_avx512_x16_f64;
DECLARE_MUJOCO(avx512, 16)
#endif

/* [isa][lanes 1, 4, 8, 16][precision] */
static const SapKernels *const tables[][4][2] = {
    [SAP_ISA_GENERIC] = {TABLES(generic)},
#if SAPWOOD_HAVE_AVX2
    [SAP_ISA_AVX2] = {TABLES(avx2)},
#endif
#if SAPWOOD_HAVE_AVX512_X16
    [SAP_ISA_AVX512] = {TABLES(avx512), PAIR(avx512, 16)},
#elif SAPWOOD_HAVE_AVX512
    [SAP_ISA_AVX512] = {TABLES(avx512)},
#endif
};
/* [isa][lanes 1, 4, 8][precision] */
static const SapDualKernels *const dual_tables[][3][2] = {
    [SAP_ISA_GENERIC] = DUAL_TABLES(generic),
#if SAPWOOD_HAVE_AVX2
    [SAP_ISA_AVX2] = DUAL_TABLES(avx2),
#endif
#if SAPWOOD_HAVE_AVX512
    [SAP_ISA_AVX512] = DUAL_TABLES(avx512),
#endif
};
static const SapSensorKernels *const sensor_tables[][2] = {
    [SAP_ISA_GENERIC] = SENSOR_TABLES(generic),
#if SAPWOOD_HAVE_AVX2
    [SAP_ISA_AVX2] = SENSOR_TABLES(avx2),
#endif
#if SAPWOOD_HAVE_AVX512
    [SAP_ISA_AVX512] = SENSOR_TABLES(avx512),
#endif
};
/* [isa][one register of f64, of f32][precision] */
static const SapKernels *const mujoco_tables[][2][2] = {
    [SAP_ISA_GENERIC] = {MUJOCO_PAIR(generic, 1)},
#if SAPWOOD_HAVE_AVX2 && SAPWOOD_HAVE_MUJOCO_AVX2_X8
    [SAP_ISA_AVX2] = {MUJOCO_PAIR(avx2, 4), MUJOCO_PAIR(avx2, 8)},
#elif SAPWOOD_HAVE_AVX2
    [SAP_ISA_AVX2] = {MUJOCO_PAIR(avx2, 4)},
#endif
#if SAPWOOD_HAVE_AVX512_X16
    [SAP_ISA_AVX512] = {MUJOCO_PAIR(avx512, 8), MUJOCO_PAIR(avx512, 16)},
#elif SAPWOOD_HAVE_AVX512
    [SAP_ISA_AVX512] = {MUJOCO_PAIR(avx512, 8)},
#endif
};
enum { NUM_TABLES = sizeof tables / sizeof tables[0] };

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

bool sap_isa_available(SapIsa isa) {
    return isa > SAP_ISA_AUTO && (int)isa < NUM_TABLES && tables[isa][0][0] != NULL && machine_has(isa);
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
    for (int isa = SAP_ISA_GENERIC; isa < NUM_TABLES; isa++)
        if (sap_isa_available((SapIsa)isa))
            *out = (SapIsa)isa;
    return SAP_OK;
}

/* The row of a table for a number of lanes; -1 if there is none. */
static int row_of(int lanes) {
    return lanes == 1 ? 0 : lanes == 4 ? 1 : lanes == 8 ? 2 : lanes == 16 ? 3 : -1;
}

const SapKernels *sap_kernels_find(SapIsa isa, int lanes, SapPrecision precision) {
    int row = row_of(lanes);
    return row < 0 || !sap_isa_available(isa) ? NULL : tables[isa][row][precision];
}

const SapDualKernels *sap_dual_kernels_find(SapIsa isa, int lanes, SapPrecision precision) {
    int row = row_of(lanes);
    return row < 0 || row > 2 || !sap_isa_available(isa) ? NULL : dual_tables[isa][row][precision];
}

const SapSensorKernels *sap_sensor_kernels_find(SapIsa isa, SapPrecision precision) {
    return sap_isa_available(isa) ? sensor_tables[isa][precision] : NULL;
}

int sap_own_lanes(SapIsa isa, SapPrecision precision) {
    const SapKernels *wide = mujoco_tables[isa][1][0];
    return precision == SAP_FP32 && wide ? wide->lanes : mujoco_tables[isa][0][0]->lanes;
}

SapKernels sap_own_kernels(SapIsa isa, int lanes, SapPrecision precision) {
    const SapKernels *own = mujoco_tables[isa][lanes != sap_own_lanes(isa, SAP_FP64)][precision];
    SapKernels k = *sap_kernels_find(isa, lanes, precision);
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
