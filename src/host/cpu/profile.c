#include "host/cpu/profile.h"

#include <time.h>

#include "kernels/dialect/profile.h"

static const char *const names[SAP_NUM_SECTIONS] = {
    [SAP_SECTION_LOAD] = "load",
    [SAP_SECTION_KINEMATICS] = "kinematics",
    [SAP_SECTION_DYNAMICS] = "dynamics",
    [SAP_SECTION_MASS_MATRIX] = "mass matrix",
    [SAP_SECTION_FREE_FACTOR] = "free factor",
    [SAP_SECTION_BROAD_PHASE] = "broad phase",
    [SAP_SECTION_NARROW_PHASE] = "narrow phase",
    [SAP_SECTION_RECORDS] = "records",
    [SAP_SECTION_SLOTS] = "slots",
    [SAP_SECTION_GEOMETRY] = "geometry",
    [SAP_SECTION_WEIGHT] = "weight",
    [SAP_SECTION_SETUP] = "setup",
    [SAP_SECTION_EVALUATE] = "evaluate",
    [SAP_SECTION_ASSEMBLY] = "assembly",
    [SAP_SECTION_FACTOR] = "factor",
    [SAP_SECTION_LINE_SEARCH] = "line search",
    [SAP_SECTION_INTEGRATE] = "integrate",
    [SAP_SECTION_STORE] = "store",
    [SAP_SECTION_REST] = "rest",
};

const char *sap_section_name(SapSection stage) {
    return (int)stage >= 0 && stage < SAP_NUM_SECTIONS ? names[stage] : "unknown";
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double sap_ticks_begin(SapTicks *ticks) {
    if (!ticks)
        return 0;
    double start = seconds();
    ticks->stage = SAP_SECTION_REST;
    ticks->last = profile_now();
    return start;
}

void sap_ticks_rest(SapTicks *ticks) {
    if (ticks)
        profile_enter(ticks, SAP_SECTION_REST);
}

void sap_ticks_end(SapTicks *ticks, double start) {
    if (!ticks)
        return;
    profile_enter(ticks, SAP_SECTION_REST);
    ticks->seconds += seconds() - start;
}

void sap_profile_add(SapProfile *profile, const SapTicks *ticks, int lanes) {
    double all = 0;
    for (int i = 0; i < SAP_NUM_SECTIONS; i++)
        all += (double)ticks->of[i];
    for (int i = 0; i < SAP_NUM_SECTIONS && all > 0; i++)
        profile->seconds[i] += ticks->seconds * (double)ticks->of[i] / all;
    for (int i = 0; i < 2; i++)
        profile->factors[i] += (double)ticks->factors[i] * lanes;
}
