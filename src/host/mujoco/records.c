/* The parameters of MuJoCo's law as records of a dump: its options and counts, and its arrays by their names. */
#include <math.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/mujoco/parameters.h"
#include "host/mujoco/plan.h"

static const char prefix[] = "mujoco/";

/* The numbers of SapMujocoParameters that are not arrays: X(field, type). */
#define NUMBERS(X)                                                                                                     \
    X(cone, SapMujocoCone)                                                                                             \
    X(integrator, SapMujocoIntegrator)                                                                                 \
    X(impratio, double)                                                                                                \
    X(tolerance, double)                                                                                               \
    X(iterations, int)                                                                                                 \
    X(ls_tolerance, double)                                                                                            \
    X(ls_iterations, int)                                                                                              \
    X(refsafe, int)                                                                                                    \
    X(eulerdamp, int)                                                                                                  \
    X(warmstart, int)                                                                                                  \
    X(rows_of_worlds, int)                                                                                             \
    X(max_condim, int)                                                                                                 \
    X(num_pairs, int)                                                                                                  \
    X(num_actuators, int)                                                                                              \
    X(num_actuator_terms, int)
#define COUNT(field, type) +1
enum { NUM_NUMBERS = 0 NUMBERS(COUNT) };

static void *array_of(const SapMujocoParameters *a, const SapMujocoArray *array) {
    void *data;
    memcpy(&data, (const char *)a + array->offset, sizeof data);
    return data;
}

void sap_mujoco_write_records(SapRecordWriter *writer, const SapModel *model) {
    const SapMujocoParameters *a = sap_model_mujoco(model);
    SapMujocoArray array;
#define NUMBER(field, type) (double)a->field,
    const double numbers[NUM_NUMBERS] = {NUMBERS(NUMBER)};
#undef NUMBER
    sap_records_put(writer, prefix, "numbers", SAP_RECORD_F64, numbers, NUM_NUMBERS);
    for (int i = 0; sap_mujoco_array(&model->arrays, a, i, &array); i++)
        sap_records_put(writer, prefix, array.name, array.whole ? SAP_RECORD_I32 : SAP_RECORD_F64, array_of(a, &array),
                        (size_t)array.count);
}

/* The numbers, of which those of a whole type are in its range; the rest is checked with the parameters. */
static SapStatus read_numbers(SapRecords *records, SapMujocoParameters *a) {
    const void *data;
    SAP_TRY(sap_records_get(records, prefix, "numbers", SAP_RECORD_F64, NUM_NUMBERS, &data));
    const double *x = data;
#define RANGE(field, type)                                                                                             \
    if (sizeof(type) == sizeof(int) && !(fabs(*x) <= INT_MAX))                                                         \
        return sap_fail_at(records->path, 0, SAP_ERROR_PARSE, "mujoco/numbers: %s is %g; it must be whole", #field,    \
                           *x);                                                                                        \
    a->field = (type)*x++;
    NUMBERS(RANGE)
#undef RANGE
    return sap_mujoco_check_counts(a);
}

SapStatus sap_mujoco_read_records(SapRecords *records, const SapModel *model) {
    SapMujocoParameters a;
    SapMujocoArray array;
    sap_mujoco_arrays_default(&a);
    SAP_TRY(read_numbers(records, &a));
    for (int i = 0; sap_mujoco_array(&model->arrays, &a, i, &array); i++) {
        const void *data;
        SAP_TRY(sap_records_get(records, prefix, array.name, array.whole ? SAP_RECORD_I32 : SAP_RECORD_F64,
                                (size_t)array.count, &data));
        memcpy((char *)&a + array.offset, &data, sizeof data);
    }
    return sap_mujoco_give(model, &a);
}
