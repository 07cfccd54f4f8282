/* The public side of the table of capabilities: its rows, and one row for each parameter and array. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "host/base/fail.h"
#include "host/base/keyword.h"
#include "host/base/nearest.h"
#include "host/batch/fields.h"
#include "host/options/capabilities.h"

/* ---- names ---- */

enum { MOST_NAMES = SAP_CAN_NUM_ROWS + SAP_NUM_PARAMETERS + SAP_BATCH_NUM_FIELDS };

static const char *names[MOST_NAMES + 1];
static SapCan row_of[MOST_NAMES]; /* of each name */
static int num_names;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_name(const char *name, SapCan row) {
    row_of[num_names] = row;
    names[num_names++] = name;
}

static void list_names(void) {
    for (int row = 0; row < SAP_CAN_NUM_ROWS; row++) {
        const char *name = sap_can((SapCan)row, SAP_SOLVER_SAP, SAP_DEVICE_CPU).name;
        if (name)
            add_name(name, (SapCan)row);
    }
    for (int p = 0; p < SAP_NUM_PARAMETERS; p++)
        add_name(sap_parameter_names()[p], sap_can_of_parameter((SapParameter)p));
    for (int f = 0; f < SAP_BATCH_NUM_FIELDS; f++)
        add_name(sap_batch_field_names()[f], sap_can_of_field(f));
}

const char *const *sap_capability_names(void) {
    pthread_once(&once, list_names);
    return names;
}

/* ---- answers ---- */

SapStatus sap_capability(const char *name, SapContactSolver solver, SapDevice device, SapCapability *out) {
    SAP_NEED(name);
    SAP_NEED(out);
    if ((unsigned)solver >= SAP_NUM_CONTACT_SOLVERS)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_capability: solver is %d; it must be in 0 .. %d", (int)solver,
                        SAP_NUM_CONTACT_SOLVERS - 1);
    if ((unsigned)device > SAP_DEVICE_CUDA)
        return sap_fail(SAP_ERROR_ARGUMENT, "sap_capability: device is %d; it must be in 0 .. %d", (int)device,
                        (int)SAP_DEVICE_CUDA);
    pthread_once(&once, list_names);
    for (int i = 0; i < num_names; i++)
        if (strcmp(names[i], name) == 0) {
            *out = sap_can(row_of[i], solver, device);
            out->name = names[i];
            return SAP_OK;
        }
    SapNearest near = sap_nearest_begin(name);
    for (int i = 0; i < num_names; i++)
        sap_nearest_try(&near, names[i], strlen(names[i]));
    return sap_fail(SAP_ERROR_ARGUMENT, "sap_capability: there is no capability '%.64s'%s", name,
                    sap_nearest_hint(&near).text);
}
