/* The law of contacts as sap/constraint.h calls it. CONTACT_LAW is a constant of the entry file, so a law costs the
 * others nothing. */

KERNEL_FN void contact_law_make(int law, const LawInput *in, bool lagged, real *data) {
    if (law == CONTACT_LAW_SAP)
        sap_contact_make(in, data);
    else
        *(HuntCrossleyLaw *)data = hunt_crossley_law(in, lagged);
}

KERNEL_FN void contact_law_evaluate(int law, const real *data, Vec3 v, LawValue *out) {
    if (law == CONTACT_LAW_SAP) {
        sap_contact_evaluate(data, v, out);
        return;
    }
    HuntCrossleyLaw own = *(const HuntCrossleyLaw *)data;
    hunt_crossley_evaluate(&own, v, out);
}

KERNEL_FN real contact_law_cost(int law, const real *data, Vec3 v) {
    if (law == CONTACT_LAW_SAP)
        return sap_contact_cost(data, v);
    HuntCrossleyLaw own = *(const HuntCrossleyLaw *)data;
    return hunt_crossley_cost(&own, v);
}

KERNEL_FN real contact_law_region(int law, const real *data, Vec3 v) {
    return law == CONTACT_LAW_SAP ? sap_contact_region(data, v)
                                  : hunt_crossley_region((const HuntCrossleyLaw *)data, v);
}
