/* The choice of instruction set and lanes (host/cpu/dispatch.c). */
#include <criterion/criterion.h>

#include <string.h>

#include <sapwood/sapwood.h>

#include "host/cpu/dispatch.h"
#include "support/need.h"
#include "support/sample_model.h"

static const int num_worlds[] = {1, 2, 4, 5, 64, 4096};
enum { NUM_COUNTS = sizeof num_worlds / sizeof num_worlds[0] };

static const SapKernels *default_kernels(SapIsa isa, SapPrecision preset, int worlds, SapPrecision stage) {
    return sap_kernels_find(isa, sap_default_lanes(isa, preset, worlds, 16), stage);
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
            cr_assert_eq(sap_default_lanes(isa, SAP_FP32, 1, 16), 1);
            cr_assert_leq(sap_default_lanes(isa, SAP_FP32, 4, 16), 4);
        }
}

/* clang computes with reals of two registers, so that packs of f32 presets have eight worlds on every machine. */
Test(dispatch, f32_presets_have_at_least_eight_lanes_where_eight_doubles_pay) {
    for (SapIsa isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++)
        if (sap_kernels_find(isa, 8, SAP_FP64) && sap_kernels_find(isa, 8, SAP_FP64)->lanes_pay)
            cr_assert_geq(sap_default_lanes(isa, SAP_FP32, 64, 16), 8, "%s", sap_isa_name(isa));
}

Test(dispatch, sixteen_lanes_are_for_f32_presets_where_the_library_has_them) {
    for (SapIsa isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++)
        if (sap_isa_available(isa)) {
            bool has = sap_kernels_find(isa, 16, SAP_FP32) != NULL;
            cr_assert_eq(sap_default_lanes(isa, SAP_FP32, 64, 16) == 16, has, "%s", sap_isa_name(isa));
            cr_assert_leq(sap_default_lanes(isa, SAP_FP32, 64, 8), 8);
            cr_assert_leq(sap_default_lanes(isa, SAP_FP64, 64, 16), 8);
            cr_assert_null(sap_dual_kernels_find(isa, 16, SAP_FP64));
        }
}

Test(dispatch, auto_takes_the_last_instruction_set_that_is_there) {
    SapIsa last = SAP_ISA_GENERIC, found;
    for (SapIsa isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++)
        if (sap_isa_available(isa))
            last = isa;
    cr_assert_eq(sap_isa_resolve(SAP_ISA_AUTO, &found), SAP_OK);
    cr_assert_eq(found, last, "%s, not %s", sap_isa_name(found), sap_isa_name(last));
}

/* The lanes of a solver, or 0 where it is refused. */
static int lanes_of(const SapModel *model, int worlds, const SapOptions *o) {
    SapSolver *solver;
    SapSolverInfo info = {0};
    if (sap_solver_create(model, worlds, o, &solver) == SAP_OK)
        need(sap_solver_info(solver, &info));
    sap_solver_destroy(solver);
    return info.lanes;
}

Test(dispatch, sixteen_lanes_are_refused_by_name_where_there_are_none) {
    SapModel *model = sample_model_create();
    SapOptions o;
    need(sap_options_preset("approx32", &o));
    o.lanes = 16;
    for (SapIsa isa = SAP_ISA_GENERIC; isa <= SAP_ISA_AVX512; isa++)
        if (sap_isa_available(isa)) {
            o.isa = isa;
            o.contact_solver = SAP_SOLVER_SAP;
            cr_assert_eq(lanes_of(model, 3, &o), sap_kernels_find(isa, 16, SAP_FP32) ? 16 : 0);
            o.contact_solver = SAP_SOLVER_PGS;
            cr_assert_eq(lanes_of(model, 3, &o), 0);
            cr_assert(strstr(sap_error_message(), "lanes is 16: not with contact_solver pgs"), "%s",
                      sap_error_message());
        }
    sap_model_destroy(model);
}

Test(dispatch, packs_are_wide_only_if_every_thread_has_four_of_them) {
    SapModel *model = sample_model_create();
    SapOptions o;
    need(sap_options_preset("fast32", &o));
    SapIsa best;
    need(sap_isa_resolve(SAP_ISA_AUTO, &best));
    int widest = sap_default_lanes(best, SAP_FP32, 4096, 16);
    for (o.threads = 1; o.threads <= 3; o.threads++) {
        cr_assert_eq(lanes_of(model, 64 * o.threads, &o), widest);
        cr_assert_leq(lanes_of(model, 64 * o.threads - 1, &o), 8);
    }
    sap_model_destroy(model);
}
