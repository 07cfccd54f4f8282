#include "host/cpu/profile.h"

#include <time.h>

#include "kernels/dialect/profile.h"

static const char *const names[SAP_NUM_STAGES] = {
    [SAP_STAGE_LOAD] = "load",
    [SAP_STAGE_KINEMATICS] = "kinematics",
    [SAP_STAGE_DYNAMICS] = "dynamics",
    [SAP_STAGE_MASS_MATRIX] = "mass matrix",
    [SAP_STAGE_FREE_FACTOR] = "free factor",
    [SAP_STAGE_BROAD_PHASE] = "broad phase",
    [SAP_STAGE_NARROW_PHASE] = "narrow phase",
    [SAP_STAGE_RECORDS] = "records",
    [SAP_STAGE_SLOTS] = "slots",
    [SAP_STAGE_GEOMETRY] = "geometry",
    [SAP_STAGE_WEIGHT] = "weight",
    [SAP_STAGE_SETUP] = "setup",
    [SAP_STAGE_EVALUATE] = "evaluate",
    [SAP_STAGE_ASSEMBLY] = "assembly",
    [SAP_STAGE_FACTOR] = "factor",
    [SAP_STAGE_LINE_SEARCH] = "line search",
    [SAP_STAGE_INTEGRATE] = "integrate",
    [SAP_STAGE_STORE] = "store",
    [SAP_STAGE_REST] = "rest",
};

const char *sap_stage_name(SapStage stage) {
    return (int)stage >= 0 && stage < SAP_NUM_STAGES ? names[stage] : "unknown";
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
    ticks->stage = SAP_STAGE_REST;
    ticks->last = profile_now();
    return start;
}

void sap_ticks_rest(SapTicks *ticks) {
    if (ticks)
        profile_enter(ticks, SAP_STAGE_REST);
}

void sap_ticks_end(SapTicks *ticks, double start) {
    if (!ticks)
        return;
    profile_enter(ticks, SAP_STAGE_REST);
    ticks->seconds += seconds() - start;
}

void sap_profile_add(SapProfile *profile, const SapTicks *ticks, int lanes) {
    double all = 0;
    for (int i = 0; i < SAP_NUM_STAGES; i++)
        all += (double)ticks->of[i];
    for (int i = 0; i < SAP_NUM_STAGES && all > 0; i++)
        profile->seconds[i] += ticks->seconds * (double)ticks->of[i] / all;
    for (int i = 0; i < 2; i++)
        profile->factors[i] += (double)ticks->factors[i] * lanes;
}
