#include "host/cuda/per_world.h"

#include "host/base/fail.h"
#include "host/base/number.h"
#include "host/plan/parameters.h"

void sap_cuda_per_world_init(SapCudaPerWorld *e, const SapModel *model, const SapPlan *plan, const SapOptions *options,
                             int num_worlds) {
    *e = (SapCudaPerWorld){0};
    sap_per_world_init(&e->host, model, plan, options, num_worlds);
    sap_cuda_per_world_copied(e);
}

void sap_cuda_per_world_free(SapCudaPerWorld *e) {
    sap_per_world_free(&e->host);
}

/* Index of the fallback value (contacts without shapes) that depends on the parameter; -1 = none. */
static int fallback_of(SapParameter p) {
    return p == SAP_PARAMETER_SHAPE_MATERIAL_MU ? 0 : p == SAP_PARAMETER_SHAPE_MATERIAL_TAU ? 1 : -1;
}

int sap_cuda_per_world_places(SapCudaPerWorld *e, SapParameter p, SapCudaPlace places[SAP_CUDA_MAX_PLACES]) {
    size_t n = (size_t)e->host.num_worlds;
    size_t width = (size_t)sap_parameter_width(e->host.plan, p);
    unsigned groups = sap_per_world_groups(&e->host, p);
    int count = 0, fallback = fallback_of(p);
    for (int f64 = 0; f64 < 2 && sap_parameter_has_constant(p); f64++)
        if (!e->constants[p][f64])
            places[count++] = (SapCudaPlace){&e->constants[p][f64], n * width * sap_real_bytes(f64)};
    for (int g = 0; groups >> g; g++)
        for (int f64 = 0; f64 < 2 && (groups >> g & 1); f64++)
            if (!e->group[g][f64])
                places[count++] = (SapCudaPlace){&e->group[g][f64], n * (size_t)sap_per_world_group_width(&e->host, g) *
                                                                        sap_real_bytes(f64)};
    if (fallback >= 0 && !e->fallback[fallback])
        places[count++] = (SapCudaPlace){&e->fallback[fallback], n * sizeof(double)};
    if (!e->skipped)
        places[count++] = (SapCudaPlace){&e->skipped, n};
    return count;
}

/* The fields of groups in the arguments of the formulation, which have host addresses, get those of the device. */
static void set_groups(SapCudaPerWorld *e, SapParameter p, void *law) {
    unsigned groups = sap_per_world_groups(&e->host, p);
    for (int g = 0; groups >> g; g++)
        for (int f64 = 0; f64 < 2 && (groups >> g & 1); f64++)
            e->host.formulation->group_field(law, g, f64)->data = e->group[g][f64];
}

SapStatus sap_cuda_per_world_add(SapCudaPerWorld *e, SapParameter p, SapStepArgs *args, void *law) {
    SapStepArgs of_host = *args;
    SAP_TRY(sap_per_world_add(&e->host, p, &of_host, law));
    set_groups(e, p, law);
    e->first = 0;
    e->end = e->host.num_worlds;
    args->has_dof_terms = of_host.has_dof_terms;
    args->has_gravcomp = of_host.has_gravcomp;
    args->skipped = e->skipped;
    for (int f64 = 0; f64 < 2 && sap_parameter_has_constant(p); f64++)
        *sap_parameter_constant(&args->constants[f64], p) =
            (SapField){e->constants[p][f64], e->host.parameter[p].width};
    int fallback = fallback_of(p);
    if (fallback == 0)
        args->contacts.own_fallback_mu = e->fallback[fallback];
    if (fallback == 1)
        args->contacts.own_fallback_tau = e->fallback[fallback];
    return SAP_OK;
}

/* Rows first .. end - 1 of an array with rows of `row` bytes. */
static SapCudaCopy rows_of(void *to, const void *from, int first, int end, size_t row) {
    size_t at = (size_t)first * row;
    return (SapCudaCopy){(char *)to + at, (const char *)from + at, (size_t)(end - first) * row};
}

static void read_worlds(SapCudaPerWorld *e) {
    for (int w = 0; w < e->host.num_worlds; w++)
        if (sap_per_world_refresh(&e->host, w)) {
            e->first = w < e->first ? w : e->first;
            e->end = w + 1 > e->end ? w + 1 : e->end;
        }
}

static int list_copies(const SapCudaPerWorld *e, SapCudaCopy copies[SAP_CUDA_MAX_COPIES]) {
    int count = 0, first = e->first, end = e->end;
    for (int f64 = 0; f64 < 2; f64++) {
        for (int p = 0; p < SAP_NUM_MODEL_PARAMETERS; p++) {
            const SapPerWorldParameter *x = &e->host.parameter[p];
            if (x->given)
                copies[count++] = rows_of(e->constants[p][f64], x->constants[f64], first, end,
                                          (size_t)x->width * sap_real_bytes(f64));
        }
        for (int g = 0; g < SAP_MOST_GROUPS; g++) {
            const SapPerWorldGroup *x = &e->host.group[g];
            if (e->group[g][f64] && x->rows[f64])
                copies[count++] =
                    rows_of(e->group[g][f64], x->rows[f64], first, end, (size_t)x->width * sap_real_bytes(f64));
        }
    }
    for (int i = 0; i < 2; i++)
        if (e->fallback[i] && e->host.fallback[i])
            copies[count++] = rows_of(e->fallback[i], e->host.fallback[i], first, end, sizeof(double));
    copies[count++] = rows_of(e->skipped, e->host.bad, first, end, 1);
    return count;
}

int sap_cuda_per_world_copies(SapCudaPerWorld *e, SapCudaCopy copies[SAP_CUDA_MAX_COPIES]) {
    if (e->host.count == 0)
        return 0;
    read_worlds(e);
    return e->first < e->end ? list_copies(e, copies) : 0;
}

void sap_cuda_per_world_copied(SapCudaPerWorld *e) {
    e->first = e->host.num_worlds;
    e->end = 0;
}
