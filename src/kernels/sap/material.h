/* The material of a contact, combined from its two sides, and its law. docs/contacts.md. */

/* The parameter of a side without a shape: the world's if `own` is present, else `of_all`. */
KERNEL_FN real contact_fallback(const Context *ctx, SapBuffer own, double of_all) {
    return own.data ? buffer_get(own, 0, ctx->pack) : real_of((scalar)of_all);
}

/* mu = 2 mu0 mu1/(mu0 + mu1), k = k0 k1/(k0 + k1) (if one side is rigid, k of the other), tau = tau0 + tau1. A value of
 * the record takes precedence. */
KERNEL_FN void contact_pair_parameters(const Context *ctx, int c, real *mu, real *k, real *tau) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    const SapConstants *constants = STAGE_CONSTANTS;
    int shape0 = SLOT_SETUP_INTS(shape, c)[0], shape1 = SLOT_SETUP_INTS(shape, c)[1];
    real tiny = real_of(K(1e-12)), zero = real_of(0), one = real_of(1);

    real fallback_mu = contact_fallback(ctx, contacts->own_fallback_mu, contacts->fallback_mu);
    real mu0 = field_get_or(constants->shape_mu, shape0, fallback_mu, ctx->pack);
    real mu1 = field_get_or(constants->shape_mu, shape1, fallback_mu, ctx->pack);
    mask slippery = mu0 + mu1 <= tiny;
    *mu = real_select(slippery, zero, K(2.0) * mu0 * mu1 / real_select(slippery, one, mu0 + mu1));

    real k0 = contact_side_stiffness(ctx, shape0), k1 = contact_side_stiffness(ctx, shape1);
    mask rigid0 = mask_not(real_finite(k0)), rigid1 = mask_not(real_finite(k1));
    *k = real_select(rigid0, k1, real_select(rigid1, k0, k0 * k1 / (k0 + k1)));

    real fallback_tau = contact_fallback(ctx, contacts->own_fallback_tau, contacts->fallback_tau);
    *tau = field_get_or(constants->shape_tau, shape0, fallback_tau, ctx->pack) +
           field_get_or(constants->shape_tau, shape1, fallback_tau, ctx->pack);

    *mu = buffer_override(contacts->mu, SLOT_SETUP_INTS(record, c), *mu, ctx->pack);
    *k = buffer_override(contacts->stiffness, SLOT_SETUP_INTS(record, c), *k, ctx->pack);
    *tau = buffer_override(contacts->tau, SLOT_SETUP_INTS(record, c), *tau, ctx->pack);
}

/* Makes the law of slot c. Worlds without a contact in the slot get law data of 0. */
STAGE_FN void contact_make_law(const Context *ctx, int c) {
    const SapContactArgs *contacts = &ctx->args->contacts;
    LawInput in;
    in.phi0 = *SLOT_SETUP(phi0, c);
    in.w = *SLOT_SETUP(w, c);
    contact_pair_parameters(ctx, c, &in.mu, &in.k, &in.tau);
    in.h = STAGE_H;
    in.beta = real_of((scalar)contacts->beta);
    in.sigma = real_of((scalar)contacts->sigma);
    real *at = SLOT_SETUP(pair, c), zero = real_of(0);
    at[0] = in.mu;
    at[1] = in.k;
    at[2] = in.tau;

    /* an infinite k is lawful: a rigid contact, with the near-rigid bound only */
    mask valid = *SLOT_SETUP(valid, c) != K(0.0);
    mask lawful = (in.mu >= zero) & (in.k > zero) & (in.tau >= zero) & real_finite(in.mu) & real_finite(in.tau);
    real check = *SLOT_SETUP(check, c) + check_of(in.phi0) + check_of(in.w);
    *SLOT_SETUP(check, c) = real_select(valid, real_select(lawful, check, real_nan()), *SLOT_SETUP(check, c));

    real *data = SLOT(law, c);
    sap_contact_make(&in, data);
    for (int i = 0; i < SAP_CONTACT_LAW_SIZE; i++)
        data[i] = real_select(valid, data[i], zero);
}
