/* A toy law: a linear spring on a contact's velocity. Its data are larger than those of sap_contact, unused but for the
 * first.
 *
 *   l = k/2 |v|^2      gamma = -k v      G = k E,      k = 1/w: as stiff as the contact is heavy */

KERNEL_FN void spring_make(const LawInput *in, real *data) {
    data[0] = K(1.0) / in->w;
}

KERNEL_FN real spring_cost(const real *data, Vec3 v) {
    return K(0.5) * data[0] * vec3_dot(v, v);
}

KERNEL_FN void spring_evaluate(const real *data, Vec3 v, LawValue *out) {
    real zero = real_of(0), k = data[0];
    out->cost = spring_cost(data, v);
    out->gamma = vec3_scale(-k, v);
    out->G[0] = out->G[1] = out->G[2] = k;
    out->G[3] = out->G[4] = out->G[5] = zero;
}

KERNEL_FN real spring_region(const real *data, Vec3 v) {
    (void)v;
    return real_select(data[0] > K(0.0), real_of(1), real_of(0));
}
