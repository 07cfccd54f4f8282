/* The floating-point mode of a thread. Results have the same bits everywhere only if operations round to nearest and
 * keep denormals, and bad numbers propagate only if exceptions do not trap. A caller may have set another mode:
 * fesetround, feenableexcept, torch.set_flush_denormal, or any library linked with -ffast-math, which changes it when
 * it is loaded.
 *
 * Every public function that computes begins with SAP_DEFAULT_FP_MODE(). */
#ifndef SAPWOOD_HOST_BASE_FP_MODE_H
#define SAPWOOD_HOST_BASE_FP_MODE_H

#include <stdint.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <fenv.h>
#endif

/* The control words of a thread. */
typedef struct SapFpMode {
#if defined(__x86_64__)
    uint32_t mxcsr; /* SSE and AVX */
    uint16_t x87;   /* strtod and printf round by it */
#elif defined(__aarch64__)
    uint64_t fpcr;
#else
    fenv_t environment;
#endif
} SapFpMode;

/* Round to nearest, denormals kept, no traps. Returns the mode before. */
static inline SapFpMode sap_fp_mode_enter(void) {
    SapFpMode before;
#if defined(__x86_64__)
    const uint16_t x87 = 0x37f;
    before.mxcsr = __builtin_ia32_stmxcsr();
    __asm__ volatile("fnstcw %0" : "=m"(before.x87));
    if (before.mxcsr != 0x1f80)
        __builtin_ia32_ldmxcsr(0x1f80);
    if (before.x87 != x87)
        __asm__ volatile("fldcw %0" : : "m"(x87));
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(before.fpcr));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
#else
    fegetenv(&before.environment);
    fesetenv(FE_DFL_ENV);
#endif
    return before;
}

/* Restores a mode, and on x86 the exception flags that were raised before. */
static inline void sap_fp_mode_leave(const SapFpMode *before) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(before->mxcsr);
    if (before->x87 != 0x37f)
        __asm__ volatile("fldcw %0" : : "m"(before->x87));
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before->fpcr));
#else
    fesetenv(&before->environment);
#endif
}

/* The default mode until the end of the block, whichever way it is left. */
#define SAP_DEFAULT_FP_MODE()                                                                                          \
    __attribute__((cleanup(sap_fp_mode_leave), unused)) const SapFpMode sap_fp_mode_ = sap_fp_mode_enter()

#endif
