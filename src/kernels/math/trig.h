/* Sine and cosine with the same bits on every target. docs/trig.md derives the error bounds.
 *
 * Reduction x = k pi/2 + r: pi/2 is the sum of three numbers P1 + P2 + P3 of the working precision. x - k P1 is exact,
 * because it is a multiple of the last bit of P1 and smaller than 1. Then r + lo = x - k P1 - k P2 - k P3, where lo is
 * the rounding error of r. On |r| <= 0.9 (pi/4 and a margin for a k that is off by one) sine and cosine are polynomials
 * in z = r^2:
 *   sin r = r + r z P(z)        cos r = 1 - z/2 + z^2 Q(z)
 * Beyond TRIG_LIMIT the spacing of floating-point numbers makes an angle meaningless (f32: 0.06 rad). The result is
 * then NaN, which fails the world. */
#undef TRIG_LIMIT
#undef TRIG_ROUND
#if SAP_PRECISION == 32
#define TRIG_LIMIT 1048576.0  /* 2^20 */
#define TRIG_ROUND 12582912.0 /* 1.5 2^23: adding it rounds to an integer, which is then in the low bits */
#else
#define TRIG_LIMIT 1099511627776.0    /* 2^40 */
#define TRIG_ROUND 6755399441055744.0 /* 1.5 2^52 */
#endif

/* sin(r) = r + r z P(z); relative error of the polynomial below 0.08 ulp */
KERNEL_FN real trig_sin_poly(real z) {
#if SAP_PRECISION == 32
    const scalar p[] = {K(-0.1666666716337204), K(0.0083333300426602364), K(-0.00019839234300889075),
                        K(2.7154360395797994e-06)};
    enum { DEGREE = 3 };
#else
    const scalar p[] = {K(-0.16666666666666666),   K(0.0083333333333333245),   K(-0.00019841269841251231),
                        K(2.7557319210196332e-06), K(-2.5052103519284336e-08), K(1.6058162028230698e-10),
                        K(-7.5678587706337911e-13)};
    enum { DEGREE = 6 };
#endif
    real s = real_of(p[DEGREE]);
    for (int i = DEGREE - 1; i >= 0; i--)
        s = real_fma(s, z, real_of(p[i]));
    return s;
}

/* cos(r) = 1 - z/2 + z^2 Q(z); error below 0.06 ulp of 1 */
KERNEL_FN real trig_cos_poly(real z) {
#if SAP_PRECISION == 32
    const scalar q[] = {K(0.041666660457849503), K(-0.0013887881068512797), K(2.4469067284371704e-05)};
    enum { DEGREE = 2 };
#else
    const scalar q[] = {K(0.041666666666666657),    K(-0.0013888888888883076), K(2.4801587293213554e-05),
                        K(-2.7557314811385352e-07), K(2.0875705577140008e-09), K(-1.13551788827563e-11)};
    enum { DEGREE = 5 };
#endif
    real c = real_of(q[DEGREE]);
    for (int i = DEGREE - 1; i >= 0; i--)
        c = real_fma(c, z, real_of(q[i]));
    return c;
}

/* 0 where |x| <= TRIG_LIMIT, else NaN. */
KERNEL_FN real trig_check(real x) {
    return real_select(real_abs(x) <= K(TRIG_LIMIT), real_of(0), real_of(0) / real_of(0));
}

/* Sine and cosine of x. */
KERNEL_FN void real_sincos(real x, real *sine, real *cosine) {
#if SAP_PRECISION == 32
    const scalar P1 = K(0x1.921fb6p+0), P2 = K(-0x1.777a5cp-25), P3 = K(-0x1.ee59dap-50);
#else
    const scalar P1 = K(1.5707963267948966), P2 = K(6.123233995736766e-17), P3 = K(-1.4973849048591698e-33);
#endif
    /* k = round(x 2/pi), and its low bits as the quadrant */
    real shifted = real_fma(x, real_of(K(0.63661977236758138)), real_of(K(TRIG_ROUND)));
    bits quadrant = real_bits(shifted);
    real k = shifted - K(TRIG_ROUND);

    /* r + lo = x - k P1 - k P2 - k P3 */
    real r1 = real_fma(-k, real_of(P1), x);
    real p = k * P2;
    real p_lo = real_fma(k, real_of(P2), -p); /* k P2 = p + p_lo exactly */
    real r = r1 - p;
    real b = r - r1; /* r1 - p = r + ((r1 - (r - b)) - (p + b)) exactly, also where r1 and p cancel */
    real lo = real_fma(-k, real_of(P3), ((r1 - (r - b)) - (p + b)) - p_lo);
    real z = r * r;

    /* s = sin(r + lo), c = cos(r + lo), to first order in lo */
    real s = r + real_fma(r * z, trig_sin_poly(z), lo);
    real half = K(0.5) * z;
    real w = K(1.0) - half;
    real c = w + (real_fma(z * z, trig_cos_poly(z), (K(1.0) - w) - half) - r * lo);

    /* (sine, cosine) by quadrant: 0 (s, c), 1 (c, -s), 2 (-s, -c), 3 (-c, s) */
    mask swap = (quadrant & 1) != 0;
    mask negative_s = (quadrant & 2) != 0;
    mask negative_c = ((quadrant + 1) & 2) != 0;
    real check = trig_check(x);
    real s1 = real_select(swap, c, s);
    real c1 = real_select(swap, s, c);
    *sine = real_select(negative_s, -s1, s1) + check;
    *cosine = real_select(negative_c, -c1, c1) + check;
}

/* atan(t) = t + t z Q(z), z = t^2, on |t| <= sqrt(2) - 1; relative error below 0.07 ulp (f32: 0.03) */
KERNEL_FN real trig_atan_poly(real z) {
#if SAP_PRECISION == 32
    const scalar q[] = {K(-0.3333333432674408), K(0.19999977946281433),  K(-0.14284150302410126),
                        K(0.11071360856294632), K(-0.08624643832445145), K(0.05048054829239845)};
    enum { DEGREE = 5 };
#else
    const scalar q[] = {K(-0.3333333333333333),  K(0.19999999999995519),  K(-0.14285714284666184),
                        K(0.11111111015227572),  K(-0.09090904576954117), K(0.07692183163650894),
                        K(-0.06664511064599371), K(0.05858145587628202),  K(-0.050854323376990765),
                        K(0.0392311556198723),   K(-0.01917627151752634)};
    enum { DEGREE = 10 };
#endif
    real c = real_of(q[DEGREE]);
    for (int i = DEGREE - 1; i >= 0; i--)
        c = real_fma(c, z, real_of(q[i]));
    return c;
}

/* The angle in [0, pi/2] of the point (c, s), s >= 0, c >= 0, not both 0. The point is turned by 0, pi/4 or pi/2 into
 * the range of the polynomial: atan(s/c) = pi/4 + atan((s - c)/(s + c)) = pi/2 - atan(c/s). */
KERNEL_FN real real_atan2_positive(real s, real c) {
    const scalar T = K(0.41421356237309503); /* tan(pi/8) */
    mask low = s <= T * c, high = c <= T * s;
    real above = real_select(low, s, real_select(high, -c, s - c));
    real below = real_select(low, c, real_select(high, s, s + c));
    /* the angle of the turn, to twice the precision: turn (pi/2 rounded + rest) */
    const scalar rest = SAP_PRECISION == 32 ? K(-4.371139000186241e-08) : K(6.123233995736766e-17);
    real turn = real_select(low, real_of(0), real_select(high, real_of(1), real_of(K(0.5))));
    real t = above / below, z = t * t;
    return turn * K(1.5707963267948966) + (t + real_fma(t * z, trig_atan_poly(z), turn * rest));
}
