/* The choice of instruction set and lanes (host/cpu/dispatch.c). */
#include <criterion/criterion.h>

#include "host/cpu/dispatch.h"

static const int num_worlds[] = {1, 2, 4, 5, 64, 4096};
enum { NUM_COUNTS = sizeof num_worlds / sizeof num_worlds[0] };

static const SapKernels *default_kernels(SapIsa isa, SapPrecision preset, int worlds, SapPrecision stage) {
    return sap_kernels_find(isa, sap_default_lanes(isa, preset, worlds), stage);
}

Test(dispatch, default_lanes_are_never_those_that_the_compiler_makes_slow) {
    for (SapIsa isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++)
        for (int i = 0; i < 2 * NUM_COUNTS && sap_isa_available(isa); i++) {
            SapPrecision preset = i % 2 ? SAP_FP64 : SAP_FP32;
            for (int f64 = 0; f64 < 2; f64++) {
                const SapKernels *k = default_kernels(isa, preset, num_worlds[i / 2], f64 ? SAP_FP64 : SAP_FP32);
                cr_assert_not_null(k);
                cr_assert(k->lanes_pay, "%s: %d lanes for %d worlds", sap_isa_name(isa), k->lanes, num_worlds[i / 2]);
            }
        }
}

Test(dispatch, one_world_has_one_lane_and_four_worlds_at_most_four) {
    for (SapIsa isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++)
        if (sap_isa_available(isa)) {
            cr_assert_eq(sap_default_lanes(isa, SAP_FP32, 1), 1);
            cr_assert_leq(sap_default_lanes(isa, SAP_FP32, 4), 4);
        }
}

/* clang computes with reals of two registers, so that packs of f32 presets have eight worlds on every machine. */
Test(dispatch, f32_presets_have_eight_lanes_where_eight_doubles_pay) {
    for (SapIsa isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++)
        if (sap_isa_available(isa) && sap_kernels_find(isa, 8, SAP_FP64)->lanes_pay)
            cr_assert_eq(sap_default_lanes(isa, SAP_FP32, 64), 8, "%s", sap_isa_name(isa));
}

Test(dispatch, auto_takes_the_last_instruction_set_that_is_there) {
    SapIsa last = SAP_ISA_GENERIC, found;
    for (SapIsa isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++)
        if (sap_isa_available(isa))
            last = isa;
    cr_assert_eq(sap_isa_resolve(SAP_ISA_AUTO, &found), SAP_OK);
    cr_assert_eq(found, last, "%s, not %s", sap_isa_name(found), sap_isa_name(last));
}
