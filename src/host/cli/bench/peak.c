/* Each kernel runs twelve independent chains x = x a + b: enough to fill two pipelines with a latency of five cycles,
 * and few enough for sixteen registers. The generic kernel uses the operations of that build: fused ones on arm64,
 * otherwise separate multiplications and additions. */
#include "host/cli/bench/peak.h"

#include <pthread.h>
#include <stdlib.h>

#include "host/cli/common.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { CHAINS = 12 };
#define EACH_CHAIN(X, ...)                                                                                             \
    X(0, __VA_ARGS__)                                                                                                  \
    X(1, __VA_ARGS__)                                                                                                  \
    X(2, __VA_ARGS__)                                                                                                  \
    X(3, __VA_ARGS__)                                                                                                  \
    X(4, __VA_ARGS__)                                                                                                  \
    X(5, __VA_ARGS__)                                                                                                  \
    X(6, __VA_ARGS__)                                                                                                  \
    X(7, __VA_ARGS__)                                                                                                  \
    X(8, __VA_ARGS__)                                                                                                  \
    X(9, __VA_ARGS__)                                                                                                  \
    X(10, __VA_ARGS__)                                                                                                 \
    X(11, __VA_ARGS__)

/* Each chain has a different start value; otherwise the compiler would merge them. */
#define START(k, vector, splat) vector x##k = splat(1 + k);
#define ADVANCE(k, fma)         x##k = fma(x##k, a, b);
#define COLLECT(k, fma)         sum = fma(x##k, a, sum);

/* Defines a function that runs `rounds` of the chains and returns a value that depends on all of them. splat(s) is a
 * vector of equal numbers, fma(x, a, b) is x a + b. */
#define KERNEL(name, attribute, vector, splat, fma)                                                                    \
    attribute static unsigned char name(long rounds) {                                                                 \
        vector a = splat(0.75), b = splat(0.5), sum = splat(0);                                                        \
        EACH_CHAIN(START, vector, splat)                                                                               \
        for (long i = 0; i < rounds; i++) {                                                                            \
            EACH_CHAIN(ADVANCE, fma)                                                                                   \
        }                                                                                                              \
        EACH_CHAIN(COLLECT, fma)                                                                                       \
        union {                                                                                                        \
            vector v;                                                                                                  \
            unsigned char byte;                                                                                        \
        } u = {.v = sum};                                                                                              \
        return u.byte;                                                                                                 \
    }

#define NO_TARGET
#define TARGET(name) __attribute__((target(name)))

#if defined(__x86_64__)
#define MUL_ADD_PS(x, a, b) _mm_add_ps(_mm_mul_ps(x, a), b)
#define MUL_ADD_PD(x, a, b) _mm_add_pd(_mm_mul_pd(x, a), b)
KERNEL(generic_f32, NO_TARGET, __m128, _mm_set1_ps, MUL_ADD_PS)
KERNEL(generic_f64, NO_TARGET, __m128d, _mm_set1_pd, MUL_ADD_PD)
KERNEL(avx2_f32, TARGET("avx2,fma"), __m256, _mm256_set1_ps, _mm256_fmadd_ps)
KERNEL(avx2_f64, TARGET("avx2,fma"), __m256d, _mm256_set1_pd, _mm256_fmadd_pd)
KERNEL(avx512_f32, TARGET("avx512f"), __m512, _mm512_set1_ps, _mm512_fmadd_ps)
KERNEL(avx512_f64, TARGET("avx512f"), __m512d, _mm512_set1_pd, _mm512_fmadd_pd)
enum { GENERIC_LANES = 4 }; /* for f32; half as many for f64 */
#elif defined(__aarch64__)
#define FMA_F32(x, a, b) vfmaq_f32(b, x, a)
#define FMA_F64(x, a, b) vfmaq_f64(b, x, a)
KERNEL(generic_f32, NO_TARGET, float32x4_t, vdupq_n_f32, FMA_F32)
KERNEL(generic_f64, NO_TARGET, float64x2_t, vdupq_n_f64, FMA_F64)
enum { GENERIC_LANES = 4 };
#else
typedef float PairF32 __attribute__((vector_size(8)));
#define SPLAT_F32(s)     ((PairF32){(s), (s)})
#define MUL_ADD(x, a, b) ((x) * (a) + (b))
KERNEL(generic_f32, NO_TARGET, PairF32, SPLAT_F32, MUL_ADD)
KERNEL(generic_f64, NO_TARGET, double, (double), MUL_ADD)
enum { GENERIC_LANES = 2 };
#endif

typedef struct Kernel {
    unsigned char (*run)(long rounds);
    int lanes;
} Kernel;

static Kernel find_kernel(SapIsa isa, SapPrecision precision) {
    bool f64 = precision == SAP_FP64;
#if defined(__x86_64__)
    if (isa == SAP_ISA_AVX2)
        return f64 ? (Kernel){avx2_f64, 4} : (Kernel){avx2_f32, 8};
    if (isa == SAP_ISA_AVX512)
        return f64 ? (Kernel){avx512_f64, 8} : (Kernel){avx512_f32, 16};
#else
    (void)isa;
#endif
    return f64 ? (Kernel){generic_f64, GENERIC_LANES / 2} : (Kernel){generic_f32, GENERIC_LANES};
}

/* ---- measurement ---- */

typedef struct Worker {
    Kernel kernel;
    pthread_t thread;
    volatile unsigned char sink; /* keeps the compiler from removing the kernel */
    double rate;                 /* operations per second of the best burst */
} Worker;

static double time_burst(Worker *w, long rounds) {
    double start = cli_now();
    w->sink = w->kernel.run(rounds);
    return cli_now() - start;
}

/* 20 bursts of about 2 ms: the best one is free of interruptions, and the total is long enough for the CPU clock to
 * settle. */
static void *measure(void *arg) {
    Worker *w = arg;
    long rounds = 1000;
    while (time_burst(w, rounds) < 2e-3)
        rounds *= 2;
    for (int i = 0; i < 20; i++) {
        double rate = 2.0 * CHAINS * w->kernel.lanes * (double)rounds / time_burst(w, rounds);
        if (rate > w->rate)
            w->rate = rate;
    }
    return NULL;
}

/* The calling thread is worker 0. */
static double measure_together(Worker *workers, int threads) {
    int started = 1;
    while (started < threads && pthread_create(&workers[started].thread, NULL, measure, &workers[started]) == 0)
        started++;
    measure(&workers[0]);
    double sum = workers[0].rate;
    for (int i = 1; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].rate;
    }
    return started == threads ? sum : 0;
}

double cli_peak_flops(SapIsa isa, SapPrecision precision, int threads) {
    Worker *workers = cli_allocate((size_t)threads, sizeof *workers);
    if (workers == NULL)
        return 0;
    for (int i = 0; i < threads; i++)
        workers[i].kernel = find_kernel(isa, precision);
    double rate = measure_together(workers, threads);
    free(workers);
    return rate;
}
