/* Contact laws: functions of the contact velocity only, independent of dofs and of other contacts.
 *
 *   law_make       fills the law's data from the contact and its material
 *   law_evaluate   cost l, impulse gamma = -dl/dv and curvature G at a velocity
 *   law_cost       the cost alone
 *   law_region     the region of the law at a velocity, as a number for reports
 *
 * Each is one switch over the rows of data/lists.h. Data of 0 mean no contact: every law then gives 0. */

/* The switch is constant while there is only one law. */
#define LAW_SWITCH(law) switch (SAP_NUM_CONTACT_LAWS == 1 ? 0 : (law))

KERNEL_FN void law_make(int law, const LawInput *in, real *data) {
#define LAW(name, size)                                                                                                \
    case SAP_LAW_##name: name##_make(in, data); break;
    LAW_SWITCH(law) {
        SAP_CONTACT_LAWS(LAW)
    }
#undef LAW
}

KERNEL_FN void law_evaluate(int law, const real *data, Vec3 v, LawValue *out) {
#define LAW(name, size)                                                                                                \
    case SAP_LAW_##name: name##_evaluate(data, v, out); break;
    LAW_SWITCH(law) {
        SAP_CONTACT_LAWS(LAW)
    default: __builtin_unreachable(); /* tells the compiler that *out is always set */
    }
#undef LAW
}

KERNEL_FN real law_cost(int law, const real *data, Vec3 v) {
    real cost = real_of(0);
#define LAW(name, size)                                                                                                \
    case SAP_LAW_##name: cost = name##_cost(data, v); break;
    LAW_SWITCH(law) {
        SAP_CONTACT_LAWS(LAW)
    }
#undef LAW
    return cost;
}

KERNEL_FN real law_region(int law, const real *data, Vec3 v) {
    real region = real_of(0);
#define LAW(name, size)                                                                                                \
    case SAP_LAW_##name: region = name##_region(data, v); break;
    LAW_SWITCH(law) {
        SAP_CONTACT_LAWS(LAW)
    }
#undef LAW
    return region;
}

/* Reals of a law's data. */
KERNEL_FN int law_size(int law) {
    int n = 0;
#define LAW(name, size)                                                                                                \
    case SAP_LAW_##name: n = size; break;
    LAW_SWITCH(law) {
        SAP_CONTACT_LAWS(LAW)
    }
#undef LAW
    return n;
}

#undef LAW_SWITCH
