/* The material of a contact, combined from its two sides, and its law. docs/contacts.md. */

/* The parameter of a side without a shape: the world's if `own` is present, else `of_all`. */
KERNEL_FN real contact_fallback(const Context *ctx, double *own, double of_all) {
    return own ? buffer_get(buffer_f64(own, 1), 0, ctx->pack) : real_of((scalar)of_all);
}

/* The dissipation of a side of the laws `similar` and `lagged`; without a shape that of the option, or else the first
 * shape's. */
KERNEL_FN real contact_side_dissipation(const Context *ctx, int shape) {
    SapField of_shapes = STAGE_CONSTANTS->shape_dissipation;
    double option = ctx->args->contacts.fallback_dissipation;
    real first = field_get_or(of_shapes, ctx->args->plan.ns > 0 ? 0 : -1, real_of(0), ctx->pack);
    return field_get_or(of_shapes, shape, option >= 0 ? real_of((scalar)option) : first, ctx->pack);
}

/* d = (k1 d0 + k0 d1)/(k0 + k1): the softer side moves most. If one side is rigid it is the other's, of two rigid sides
 * the mean. */
KERNEL_FN real contact_pair_dissipation(const Context *ctx, const int *shape, real k0, real k1) {
    real d0 = contact_side_dissipation(ctx, shape[0]), d1 = contact_side_dissipation(ctx, shape[1]);
    mask rigid0 = mask_not(real_finite(k0)), rigid1 = mask_not(real_finite(k1));
    real of_soft = (k1 * d0 + k0 * d1) / (k0 + k1);
    return real_select(rigid0 & rigid1, K(0.5) * (d0 + d1), real_select(rigid0, d1, real_select(rigid1, d0, of_soft)));
}

/* mu = 2 mu0 mu1/(mu0 + mu1), k = k0 k1/(k0 + k1) (if one side is rigid, k of the other), tau = tau0 + tau1 or d. A
 * value of the record takes precedence. */
KERNEL_FN void contact_pair_parameters(const Context *ctx, int c, LawInput *in) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    const SapConstants *constants = STAGE_CONSTANTS;
    const int *record = SLOT_SETUP_INTS(record, c);
    int shape0 = SLOT_SETUP_INTS(shape, c)[0], shape1 = SLOT_SETUP_INTS(shape, c)[1];
    real tiny = real_of(K(1e-12)), zero = real_of(0), one = real_of(1);

    real fallback_mu = contact_fallback(ctx, contacts->own_fallback_mu, contacts->fallback_mu);
    real mu0 = field_get_or(constants->shape_mu, shape0, fallback_mu, ctx->pack);
    real mu1 = field_get_or(constants->shape_mu, shape1, fallback_mu, ctx->pack);
    mask slippery = mu0 + mu1 <= tiny;
    in->mu = real_select(slippery, zero, K(2.0) * mu0 * mu1 / real_select(slippery, one, mu0 + mu1));
    in->mu = buffer_override(contacts->mu, record, in->mu, ctx->pack);

    real k0 = contact_side_stiffness(ctx, shape0), k1 = contact_side_stiffness(ctx, shape1);
    mask rigid0 = mask_not(real_finite(k0)), rigid1 = mask_not(real_finite(k1));
    in->k = real_select(rigid0, k1, real_select(rigid1, k0, k0 * k1 / (k0 + k1)));
    in->k = buffer_override(contacts->stiffness, record, in->k, ctx->pack);

    if (CONTACT_LAW != CONTACT_LAW_SAP) {
        in->d = contact_pair_dissipation(ctx, SLOT_SETUP_INTS(shape, c), k0, k1);
        in->d = buffer_override(contacts->dissipation, record, in->d, ctx->pack);
        return;
    }
    real fallback_tau = contact_fallback(ctx, contacts->own_fallback_tau, contacts->fallback_tau);
    in->tau = field_get_or(constants->shape_tau, shape0, fallback_tau, ctx->pack) +
              field_get_or(constants->shape_tau, shape1, fallback_tau, ctx->pack);
    in->tau = buffer_override(contacts->tau, record, in->tau, ctx->pack);
}

/* Makes the law of slot c, whose normal velocity at the start of the step is vn0. Worlds without a contact in the slot
 * get law data of 0. */
STAGE_FN void contact_make_law(const Context *ctx, int c, real vn0) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    LawInput in;
    in.phi0 = *SLOT_SETUP(phi0, c);
    in.w = *SLOT_SETUP(w, c);
    contact_pair_parameters(ctx, c, &in);
    in.h = STAGE_H;
    in.beta = real_of((scalar)contacts->beta);
    in.sigma = real_of((scalar)contacts->sigma);
    in.vn0 = vn0;
    in.v_s = real_of((scalar)contacts->stiction_tolerance);
    real *at = SLOT_SETUP(pair, c), zero = real_of(0);
    bool is_sap = CONTACT_LAW == CONTACT_LAW_SAP;
    real loss = is_sap ? in.tau : in.d;
    if (!is_sap)
        in.k = hunt_crossley_stiffness(in.k, in.w, in.h);
    at[0] = in.mu;
    at[1] = in.k;
    at[2] = loss;

    /* an infinite k is lawful: a rigid contact, with the near-rigid bound only */
    mask valid = *SLOT_SETUP(valid, c) != K(0.0);
    mask lawful = (in.mu >= zero) & (in.k > zero) & (loss >= zero) & real_finite(in.mu) & real_finite(loss);
    real check = *SLOT_SETUP(check, c) + check_of(in.phi0) + check_of(in.w);
    *SLOT_SETUP(check, c) = real_select(valid, real_select(lawful, check, real_nan()), *SLOT_SETUP(check, c));

    real *data = SLOT(law, c);
    contact_law_make(CONTACT_LAW, &in, contacts->approximation == SAP_APPROXIMATION_LAGGED, data);
    for (int i = 0; i < SAP_CONTACT_LAW_SIZE; i++)
        data[i] = real_select(valid, data[i], zero);
}

/* Makes the friction of slot c, under the law `lagged`, that of its present normal impulse; a slot without a contact
 * keeps its zeros. */
KERNEL_FN void contact_lag_again(const Context *ctx, int c) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    HuntCrossleyLaw *law = (HuntCrossleyLaw *)SLOT(law, c);
    mask valid = *SLOT_SETUP(valid, c) != K(0.0);
    real v_s = real_select(valid, real_of((scalar)contacts->stiction_tolerance), real_of(0));
    hunt_crossley_lag(law, SLOT(gamma, c)[2], real_of((scalar)contacts->sigma), *SLOT_SETUP(w, c), v_s);
}
