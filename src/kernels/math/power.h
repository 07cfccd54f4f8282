/* Powers of numbers between 0 and 1, with the same bits on every target.
 *
 *   t^p = exp(p log t)     t = 2^e m, 1/sqrt(2) <= m < sqrt(2)     log m = 2 artanh((m - 1)/(m + 1))
 *   exp(x) = 2^k exp(r),   k = round(x/log 2), |r| <= log(2)/2
 *
 * The relative error is a few roundings for each unit of |p log t|. */
#undef POWER_FRACTION_BITS
#undef POWER_BIAS
#undef POWER_LEAST
#if SAP_PRECISION == 32
#define POWER_FRACTION_BITS 23
#define POWER_BIAS          127
#define POWER_LEAST         -87.0 /* exp of less is taken as 0 */
#else
#define POWER_FRACTION_BITS 52
#define POWER_BIAS          1023
#define POWER_LEAST         -708.0
#endif

/* log(t) of a normal t > 0 */
KERNEL_FN real real_log(real t) {
    bits raw = real_bits(t), one = real_bits(real_of(1));
    bits fraction = ((scalar_bits)1 << POWER_FRACTION_BITS) - 1 - (raw - raw);
    real m = real_from_bits((raw & fraction) | one), e = CONVERT((raw >> POWER_FRACTION_BITS) - POWER_BIAS, real);
    mask above = m > K(1.4142135623730951);
    m = real_select(above, K(0.5) * m, m);
    e = real_select(above, e + K(1.0), e);
    real s = (m - K(1.0)) / (m + K(1.0)), z = s * s, sum = real_of(0);
    for (int k = 12; k > 0; k--) /* z is at most 0.0295 */
        sum = real_fma(sum, z, real_of(K(1.0) / (scalar)(2 * k + 1)));
    real artanh = real_fma(s * z, sum, s);
    return real_fma(e, real_of(K(0.6931471805599453)), artanh + artanh);
}

/* exp(x) for x <= 0 */
KERNEL_FN real real_exp_negative(real x) {
    mask lost = mask_not(x > K(POWER_LEAST));
    x = real_select(lost, real_of(0), x);
    real shifted = real_fma(x, real_of(K(1.4426950408889634)), real_of(K(TRIG_ROUND))), k = shifted - K(TRIG_ROUND);
    bits scale = (real_bits(shifted) - real_bits(real_of(K(TRIG_ROUND))) + POWER_BIAS) << POWER_FRACTION_BITS;
    real r = real_fma(-k, real_of(K(0.6931471805599453)), x);
    if (SAP_PRECISION == 64) /* the rest of log 2 */
        r = real_fma(-k, real_of(K(2.319046813846299558e-17)), r);
    real sum = real_of(1);
    for (int i = 14; i > 0; i--)
        sum = real_fma(sum * (K(1.0) / (scalar)i), r, real_of(1));
    return real_select(lost, real_of(0), sum * real_from_bits(scale));
}

/* t^p for 0 <= t <= 1, p >= 1; exact products for p = 1 and 2. */
KERNEL_FN real real_power(real t, real p) {
    mask general = (p != K(1.0)) & (p != K(2.0)), zero = t < K(1e-30);
    real out = real_select(p == K(2.0), t * t, t);
    if (mask_any(general))
        out = real_select(general, real_exp_negative(p * real_log(real_select(zero, real_of(1), t))), out);
    return real_select(zero, real_of(0), out);
}
